"""Small compiled loops for others, in the place of NumPy's calls that take seconds to compile."""

import numpy as np

from recombine.store.compiled import compiled


@compiled
def copy(values: np.ndarray, into: np.ndarray) -> None:
    """`into[:] = values`, without a text for shapes that differ."""
    for i in range(len(into)):
        into[i] = values[i]


@compiled
def permutation(rng: np.random.Generator, n: int) -> np.ndarray:
    """What `rng.permutation(n)` gives, by the same draws."""
    order = np.arange(n)
    for last in range(n - 1, 0, -1):
        mask = 1
        while mask < last:
            mask = 2 * mask + 1
        other = rng.integers(0, 1 << 32) & mask
        while other > last:
            other = rng.integers(0, 1 << 32) & mask
        order[last], order[other] = order[other], order[last]
    return order
