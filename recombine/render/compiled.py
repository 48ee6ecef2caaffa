"""How the loops of the renderer are compiled.

Division by zero gives infinity, as in NumPy, and nothing is reordered: every machine computes the same numbers. Small
steps are always copied into the loops that take them; a call would cost more than they do.

Compiled loops are kept on disk. Numba makes them anew when the file of a loop changes, but not when a loop it calls
lives in another file; here any change to a file with loops makes all of them anew.
"""

from collections.abc import Callable
from hashlib import blake2s
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A loop, or a large step of one."""
    return _kept(njit(cache=True, error_model="numpy")(function))


def step(function: F) -> F:
    """A small step within a kernel, which is kept with it."""
    compiled: Any = njit(error_model="numpy", forceinline=True)(function)
    return compiled


def _sources() -> str:
    """A digest of all files with loops."""
    texts = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return blake2s(b"".join(text for text in texts if b"render.compiled import" in text)).hexdigest()


_SOURCES = _sources()


def _kept(compiled: Any) -> Any:
    """The same, kept on disk for these sources only."""
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _SOURCES)
    return compiled
