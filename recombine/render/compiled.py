"""How the loops of the renderer are compiled.

Division by zero gives infinity, as in NumPy, and nothing is reordered: every machine computes the same numbers. Small
steps are always copied into the loops that take them; a call would cost more than they do.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

from recombine.store.compiled import compiled

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A loop, or a large step of one."""
    made: Any = compiled(function, error_model="numpy")
    return made


def step(function: F) -> F:
    """A small step within a kernel, which is kept with it."""
    made: Any = njit(error_model="numpy", forceinline=True)(function)
    return made
