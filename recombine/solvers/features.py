"""What one can count in a scene without understanding it.

>>> from recombine.world.vocabulary import Attribute, Vocabulary
>>> words = Vocabulary((Attribute("color", ("red", "blue")), Attribute("shape", ("cube", "ball"))))
>>> codes = {"color": np.array([[0, 1, 1]], np.uint8), "shape": np.array([[0, 0, 1]], np.uint8)}
>>> scene = Scenes(words, np.array([3], np.uint8), codes, np.zeros((1, 3, 3), np.float32))
>>> values(scene).tolist()  # three objects; red, blue; cubes, balls
[[3, 1, 2, 2, 1]]
>>> bindings(scene).tolist()  # red, blue; cubes, balls; red cubes, red balls, blue cubes, blue balls
[[1, 2, 2, 1, 1, 0, 1, 1]]
"""

from itertools import combinations

import numpy as np

from recombine.world.scenes import ABSENT, Scenes


def values(scenes: Scenes) -> np.ndarray:
    """How many objects there are, and how many have each value of each attribute, uint8[n, features]."""
    return np.concatenate([scenes.count[:, None], *_singles(scenes)], axis=1)


def bindings(scenes: Scenes) -> np.ndarray:
    """How many objects have each value, and each pair of values of two attributes, uint8[n, features]."""
    pairs = [
        (scenes.codes[a.name].astype(int) * len(b.values) + scenes.codes[b.name], len(a.values) * len(b.values))
        for a, b in combinations(scenes.vocabulary, 2)
    ]
    return np.concatenate([*_singles(scenes), *(_counts(scenes, *pair) for pair in pairs)], axis=1)


def _singles(scenes: Scenes) -> list[np.ndarray]:
    return [_counts(scenes, scenes.codes[a.name], len(a.values)) for a in scenes.vocabulary]


def _counts(scenes: Scenes, codes: np.ndarray, kinds: int) -> np.ndarray:
    """How often each code occurs among the objects of each scene, uint8[n, kinds]."""
    there = next(iter(scenes.codes.values())) != ABSENT
    found = np.zeros((len(scenes), kinds), np.uint8)
    for place in range(scenes.places):
        rows = np.flatnonzero(there[:, place])
        found[rows, codes[rows, place]] += 1
    return found
