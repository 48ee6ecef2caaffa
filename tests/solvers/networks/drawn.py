"""Sets of objects for the networks' laws: random vectors in scenes of given sizes."""

import numpy as np

from recombine.store.key import Key


def vectors(count: np.ndarray, size: int, key: Key) -> np.ndarray:
    """Objects of so many numbers, float64[n, most, size], zero where a scene has none."""
    drawn = key.rng().normal(size=(len(count), int(count.max()), size))
    return np.where((np.arange(count.max()) < count[:, None])[..., None], drawn, 0.0)
