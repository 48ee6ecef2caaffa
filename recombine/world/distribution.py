"""Worlds: which scenes there are, and how often.

A world makes scenes (`sample`) and knows which scenes it can make (`contains`); the law is that it contains what it
makes. `Uniform` has objects without places, `Without` holds combinations of values out of another world.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import ABSENT, Scenes, join
from recombine.world.vocabulary import Attribute, Vocabulary


class World(Protocol):
    """A distribution over scenes."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def high(self) -> int:
        """The most objects that a scene may hold."""

    def sample(self, n: int, key: Key) -> Scenes:
        """n independent scenes."""

    def contains(self, scenes: Scenes) -> np.ndarray:
        """Which of the scenes this world can make, bool[n]."""


@dataclass(frozen=True)
class Uniform:
    """Between low and high objects per scene, every attribute uniform and independent; all places are zero."""

    vocabulary: Vocabulary
    low: int
    high: int

    def sample(self, n: int, key: Key) -> Scenes:
        count = draw_counts(n, self.low, self.high, key / "count")
        present = places_taken(count, self.high)
        codes = {a.name: draw_codes(a, present, key / a.name) for a in self.vocabulary}
        return Scenes(self.vocabulary, count, codes, np.zeros((n, self.high, 3), np.float32))

    def contains(self, scenes: Scenes) -> np.ndarray:
        return well_formed(scenes, self.vocabulary, self.low, self.high)


@dataclass(frozen=True)
class Without:
    """A world less the scenes that hold an object with a held-out combination, such as {"shape": "cube"}."""

    world: World
    held_out: tuple[Mapping[str, str], ...]

    patience = 1000
    """How many rounds without a single scene it takes to give up."""

    @property
    def vocabulary(self) -> Vocabulary:
        return self.world.vocabulary

    @property
    def high(self) -> int:
        return self.world.high

    def sample(self, n: int, key: Key) -> Scenes:
        kept = [self._kept(self.world.sample(n, key / 0))]
        misses = 0
        while (missing := n - sum(map(len, kept))) > 0:
            kept.append(self._kept(self.world.sample(missing, key / len(kept))))
            misses = 0 if len(kept[-1]) else misses + 1
            if misses == self.patience:
                raise UserError(f"no scene is left without {self.held_out}; hold out less")
        return join(kept)

    def contains(self, scenes: Scenes) -> np.ndarray:
        return self.world.contains(scenes) & ~self._held_out(scenes)

    def _kept(self, scenes: Scenes) -> Scenes:
        return scenes[~self._held_out(scenes)]

    def _held_out(self, scenes: Scenes) -> np.ndarray:
        """Which scenes hold a held-out combination, bool[n]."""
        found = np.zeros(len(scenes), bool)
        for combination in self.held_out:
            objects = scenes.present
            for attribute, value in combination.items():
                objects = objects & scenes.having(attribute, value)
            found |= objects != 0
        return found


def draw_counts(n: int, low: int, high: int, key: Key) -> np.ndarray:
    """Numbers of objects, uniform between low and high, uint8[n]."""
    return key.rng().integers(low, high, n, dtype=np.uint8, endpoint=True)


def places_taken(count: np.ndarray, places: int) -> np.ndarray:
    """Where there are objects, bool[n, places]."""
    return np.arange(places) < count[:, None]


def draw_codes(attribute: Attribute, present: np.ndarray, key: Key) -> np.ndarray:
    """Uniform values of one attribute where objects are present, uint8[n, k]."""
    codes = key.rng().integers(0, len(attribute.values), present.shape, dtype=np.uint8)
    return np.where(present, codes, np.uint8(ABSENT))


def well_formed(scenes: Scenes, vocabulary: Vocabulary, low: int, high: int) -> np.ndarray:
    """Which scenes have a possible count, a value wherever there is an object and none elsewhere, bool[n]."""
    fine = (scenes.count >= low) & (scenes.count <= high)
    present = places_taken(scenes.count, scenes.places)
    for attribute in vocabulary:
        codes = scenes.codes[attribute.name]
        fine &= np.where(present, codes < len(attribute.values), codes == ABSENT).all(axis=1)
    return fine
