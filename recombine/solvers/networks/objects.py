"""Sets of objects for networks: scenes of different sizes without padding.

Scenes with the same number of objects form a group, one dense tensor; what is found for each group is put back into the
order of the scenes. So nothing is computed for objects that are not there, and no mask can be forgotten.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class ObjectSets(NamedTuple):
    """Scenes as sets of object vectors."""

    groups: tuple[Tensor, ...]
    """Scenes of one size each, float[scenes, objects, d]."""
    back: Tensor
    """For every scene, its row when the groups follow one another, int64[scenes]."""

    def restored(self, parts: Sequence[Tensor]) -> Tensor:
        """One tensor per group, a row per scene, in the order of the scenes."""
        return torch.cat(list(parts))[self.back]


def grouped(vectors: np.ndarray, count: np.ndarray) -> ObjectSets:
    """float[n, k, d] with so many objects in each scene, as sets."""
    sizes = np.unique(count)
    rows = [np.flatnonzero(count == size) for size in sizes]
    back = np.empty(len(count), np.int64)
    back[np.concatenate(rows)] = np.arange(len(count))
    groups = tuple(torch.from_numpy(vectors[row, :size]) for row, size in zip(rows, sizes))
    return ObjectSets(groups, torch.from_numpy(back))


def alike(vectors: Tensor) -> ObjectSets:
    """Scenes that all have the same number of objects, float[n, k, d]."""
    return ObjectSets((vectors,), torch.arange(len(vectors), device=vectors.device))
