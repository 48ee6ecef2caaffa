"""OBJ files: points, normals and faces in lines of text, under the names of groups (`g` or `o`).

Faces with more than three corners are cut into fans. Textures and materials are left aside.
"""

from io import BytesIO
from itertools import pairwise
from math import isfinite, nan
from pathlib import Path

import numpy as np

from recombine.render.loose import LARGEST, MOST, MOST_NAMES, Loose, check_names, too_many
from recombine.store.errors import UserError
from recombine.store.untrusted import read_bytes

LONGEST_LINE = 2**16
MOST_LINES = 5 * MOST

Corner = tuple[int, int]
"""A point and a normal, by their places among those of the file; -1 for no normal."""


def read_obj(file: Path) -> Loose:
    """The triangles of an OBJ file."""
    points: list[list[float]] = []
    normals: list[list[float]] = []
    corners: list[Corner] = []
    group: list[int] = []
    names, current = {"": 0}, 0
    whole = read_bytes(file, LARGEST, "simplify it")
    if whole.count(b"\n") > MOST_LINES:
        raise UserError(f"{file} has more than {MOST_LINES:,} lines; simplify it")
    for number, raw in enumerate(BytesIO(whole), 1):
        if max(len(points), len(normals), len(group)) > MOST:
            raise too_many(file, MOST)
        if len(raw) > LONGEST_LINE:
            raise UserError(f"{file}, line {number} is longer than {LONGEST_LINE:,} characters")
        line = raw.decode("utf-8", "replace")
        word, *rest = line.partition("#")[0].split() or [""]
        try:
            if word in ("v", "vn"):
                (points if word == "v" else normals).append(_numbers(rest))
            elif word in ("g", "o"):
                current = names.setdefault(" ".join(rest), len(names))
                if len(names) > MOST_NAMES:
                    break
            elif word == "f":
                face = [_corner(text, len(points), len(normals)) for text in rest]
                for one, two in pairwise(face[1:]):
                    corners += face[0], one, two
                    group.append(current)
        except (ValueError, IndexError):
            raise UserError(f"{file}, line {number}: '{line.strip()[:80]}' cannot be read") from None
    check_names(file, tuple(names))
    known = np.array([*normals, [nan, nan, nan]])
    places = np.array(corners, np.int64).reshape(-1, 3, 2)
    return Loose(
        np.array(points, np.float64).reshape(-1, 3)[places[..., 0]],
        known[places[..., 1]],
        np.array(group, np.int64),
        tuple(names),
    )


def _numbers(texts: list[str]) -> list[float]:
    found = [float(texts[i]) for i in range(3)]
    if not all(map(isfinite, found)):
        raise ValueError("not finite")
    return found


def _corner(text: str, points: int, normals: int) -> Corner:
    """The point of a corner and its normal, from 3, 3/1, 3//2 or 3/1/2; negative numbers count from the end."""
    numbers = text.split("/")
    return _place(numbers[0], points), _place(numbers[2], normals) if len(numbers) > 2 and numbers[2] else -1


def _place(text: str, count: int) -> int:
    number = int(text)
    found = number - 1 if number > 0 else count + number
    if not 0 <= found < count:
        raise ValueError(f"{number} is out of range")
    return found
