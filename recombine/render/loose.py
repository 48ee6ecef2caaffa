"""Loose triangles: what files of meshes hold, whatever their format."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from recombine.store.errors import UserError

MOST = 500_000
"""Points or triangles of a file."""
LARGEST = 128 * 2**20
"""Bytes of a file."""
MOST_NAMES = 1_000
LONGEST_NAME = 80


class Loose(NamedTuple):
    """Triangles that share nothing but the names of their groups."""

    corners: np.ndarray  # float64[t, 3, 3]
    normals: np.ndarray  # float64[t, 3, 3]; NaN where the file has none
    group: np.ndarray  # int64[t], into names
    names: tuple[str, ...]  # "" for triangles outside any group


def too_many(file: Path, most: int) -> UserError:
    return UserError(f"{file} has more than {most:,} points or triangles; simplify it")


def check_names(file: Path, names: tuple[str, ...]) -> None:
    """Refuse a file with names that are no names."""
    if len(names) > MOST_NAMES:
        raise UserError(f"{file} has {len(names):,} groups, but {MOST_NAMES:,} are allowed; join some")
    if long := [name for name in names if len(name) > LONGEST_NAME]:
        raise UserError(f"{file} has a group '{long[0][:20]}...' whose name is longer than {LONGEST_NAME} characters")
