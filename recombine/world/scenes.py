"""Scenes: a batch of scenes as columns. One scene is a batch of one.

A set of objects is a mask: one unsigned integer per scene, bit i for object i. So `having` is a lookup, filtering is
`&`, counting is `np.bitwise_count`, "there is" is `!= 0` and "all" is `== present`.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recombine.world.vocabulary import Vocabulary

ABSENT = 255
"""The code in the places of `codes` where there is no object."""


def mask_dtype(places: int) -> np.dtype:
    """The smallest unsigned integer that holds one bit per place."""
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        if places <= np.dtype(dtype).itemsize * 8:
            return np.dtype(dtype)
    raise ValueError(f"a scene holds at most 64 objects, not {places}")


@dataclass(frozen=True, eq=False)
class Scenes:
    """A batch of n scenes with room for k objects each."""

    vocabulary: Vocabulary
    count: np.ndarray  # uint8[n]
    codes: Mapping[str, np.ndarray]  # attribute -> uint8[n, k], ABSENT where there is no object
    position: np.ndarray  # float32[n, k, 3], zero where there is no object
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Further columns, first axis n: rotation[n, k], pixel[n, k, 3], camera[n, 3], ..."""

    def __len__(self) -> int:
        return len(self.count)

    @property
    def places(self) -> int:
        """k: how many objects a scene may hold."""
        return self.position.shape[1]

    @cached_property
    def present(self) -> np.ndarray:
        """The mask of all objects, mask[n]."""
        return ((1 << self.count.astype(np.uint64)) - 1).astype(mask_dtype(self.places))

    def having(self, attribute: str, value: str) -> np.ndarray:
        """The objects with this value, mask[n]."""
        return pack(self.codes[attribute] == self.vocabulary[attribute].code(value))

    def sharing(self, attribute: str) -> np.ndarray:
        """For each object, the others with the same value, mask[n, k]."""
        codes = self.codes[attribute]
        same = (codes[:, :, None] == codes[:, None, :]) & (codes != ABSENT)[:, None, :]
        same &= ~np.eye(self.places, dtype=bool)
        return pack(same & (codes != ABSENT)[:, :, None])

    def __getitem__(self, index: np.ndarray | slice) -> "Scenes":
        """The scenes at these places, in this order."""
        return Scenes(
            self.vocabulary,
            self.count[index],
            {name: column[index] for name, column in self.codes.items()},
            self.position[index],
            {name: column[index] for name, column in self.extra.items()},
        )

    def objects(self, scene: int) -> list[dict[str, str]]:
        """One scene in plain words: a dictionary of attribute values per object."""
        return [
            {a.name: a.values[self.codes[a.name][scene, i]] for a in self.vocabulary}
            for i in range(int(self.count[scene]))
        ]


def pack(truth: np.ndarray) -> np.ndarray:
    """bool[..., k] -> mask[...]: bit i is truth[..., i]."""
    dtype = mask_dtype(truth.shape[-1])
    mask = np.zeros(truth.shape[:-1], dtype)
    for i in range(truth.shape[-1]):
        mask |= truth[..., i].astype(dtype) << dtype.type(i)
    return mask


def join(batches: list[Scenes]) -> Scenes:
    """The batches one after the other; all share vocabulary, room and columns."""
    first = batches[0]
    return Scenes(
        first.vocabulary,
        np.concatenate([batch.count for batch in batches]),
        {name: np.concatenate([batch.codes[name] for batch in batches]) for name in first.codes},
        np.concatenate([batch.position for batch in batches]),
        {name: np.concatenate([batch.extra[name] for batch in batches]) for name in first.extra},
    )


def digest_of(batches: Iterable[Scenes]) -> str:
    """Of everything that the scenes say, batch by batch."""
    digest = hashlib.blake2b(digest_size=16)
    for batch in batches:
        columns = {"count": batch.count, "position": batch.position, **batch.codes, **batch.extra}
        digest.update(
            repr((batch.vocabulary, [(name, one.dtype, one.shape) for name, one in columns.items()])).encode()
        )
        for one in columns.values():
            digest.update(np.ascontiguousarray(one).data)
    return digest.hexdigest()
