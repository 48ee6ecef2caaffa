"""Sets of objects for the networks' laws: random vectors in scenes of given sizes."""

import numpy as np

from recombine.store.key import Key
from recombine.world.scenes import Scenes


def vectors(count: np.ndarray, size: int, key: Key) -> np.ndarray:
    """Objects of so many numbers, float64[n, most, size], zero where a scene has none."""
    drawn = key.rng().normal(size=(len(count), int(count.max()), size))
    return np.where((np.arange(count.max()) < count[:, None])[..., None], drawn, 0.0)


class Painted:
    """Pictures in which every object is a box of noise."""

    def __init__(self, scenes: Scenes) -> None:
        rng = np.random.default_rng(0)
        self.count = scenes.count.astype(np.uint8)
        low = rng.uniform(0, 0.6, (len(scenes), scenes.places, 2))
        self.boxes = np.concatenate([low, low + rng.uniform(0.1, 0.4, low.shape)], axis=-1).astype(np.float32)
        self.pixels = rng.integers(0, 256, (len(scenes), 48, 64, 3), np.uint8)

    def __len__(self) -> int:
        return len(self.count)

    def take(self, rows: np.ndarray) -> np.ndarray:
        return self.pixels[rows]
