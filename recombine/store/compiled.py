"""Compiled loops, kept on disk for exactly the sources that they were made from.

Numba makes a kept loop anew when its own file changes, but not when a loop that it calls lives in another file. Here a
loop is kept under a digest of its file and of all files with compiled loops that this one imports, or that these do.
"""

import re
from collections.abc import Callable
from functools import cache
from hashlib import blake2s
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numba import njit

IMPORTED = re.compile(rb"^from (recombine[\w.]*) import", re.MULTILINE)
UNCALLED: dict[str, Any] = {"no_cfunc_wrapper": True}
"""What C would call a loop by takes time to compile, and nothing calls it so."""
MINE = re.compile(rb"^from recombine\.(store|render)\.compiled import", re.MULTILINE)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A compiled loop: `@compiled`, or `@compiled(error_model="numpy")`; the options are those of `numba.njit`."""
    if function is None:
        return lambda one: compiled(one, **options)
    made: Any = njit(cache=True, **UNCALLED, **options)(function)
    kept: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp"):
        kept._source_stamp = (kept._source_stamp, digest_of(Path(function.__code__.co_filename)))
    return made


@cache
def digest_of(file: Path) -> str:
    """The digest of a file and of all files with compiled loops that it depends on."""
    todo, texts = [file], dict[Path, bytes]()
    while todo:
        one = todo.pop()
        if one in texts:
            continue
        text = one.read_bytes()
        if one == file or MINE.search(text):
            texts[one] = text
            todo += [found for name in IMPORTED.findall(text) if (found := _file_of(name.decode()))]
    return blake2s(b"\0".join(texts[one] for one in sorted(texts))).hexdigest()


@cache
def _file_of(module: str) -> Path | None:
    spec = find_spec(module)
    return Path(spec.origin) if spec and spec.origin else None
