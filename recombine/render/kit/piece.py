"""Pieces: loose triangles that know their normals, their part and their tint; models are built of them.

A designer speaks of a place on a vehicle as in a drawing: (s, w, h), the way back from the nose, the way out to the
left and the height above the ground, all in shares of the vehicle's length. A piece keeps it as (x, y, z) with x = -s,
so that x points ahead, y to the left and z up.

All arithmetic here is of the four operations and square roots, which every machine rounds alike; what comes from sines
and powers is `settled` first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

BODY = ""
"""The name of what is no part."""

CREASE = 41.3
"""Degrees between two faces from which on the edge between them is sharp."""

CROWD = 48
"""Where more corners meet than this, every face has a normal of its own."""

Point = Sequence[float]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some triangles, counter-clockwise from outside."""

    corners: np.ndarray  # float64[t, 3, 3]
    normals: np.ndarray  # float64[t, 3, 3], of length one
    part: np.ndarray  # str[t]
    tint: np.ndarray  # float64[t]
    face: np.ndarray  # int64[t]; what is cut out of one triangle keeps its number

    def __len__(self) -> int:
        return len(self.corners)

    def __getitem__(self, which: np.ndarray) -> "Piece":
        return Piece(*(column[which] for column in self.columns()))

    def columns(self) -> tuple[np.ndarray, ...]:
        """Corners, normals, parts, tints and faces."""
        return self.corners, self.normals, self.part, self.tint, self.face

    def named(self, part: str) -> "Piece":
        """The same, all one part."""
        return replace(self, part=names(part, len(self)))

    def otherwise(self, part: str) -> "Piece":
        """The same; what was no part is this one."""
        return replace(self, part=np.where(self.part == BODY, part, self.part))

    def tinted(self, tint: float) -> "Piece":
        """The same in another brightness."""
        return replace(self, tint=np.full(len(self), tint))

    def moved(self, s: float = 0.0, w: float = 0.0, h: float = 0.0) -> "Piece":
        """The same elsewhere."""
        return replace(self, corners=self.corners + np.array((-s, w, h)))

    def mirrored(self) -> "Piece":
        """The same on the other side of the vehicle."""
        flip = np.array((1.0, -1.0, 1.0))
        return replace(self, corners=(self.corners * flip)[:, ::-1], normals=(self.normals * flip)[:, ::-1])

    def turned(self, axis: str, degrees: float, about: Point = (0.0, 0.0, 0.0)) -> "Piece":
        """The same turned: about s the left side goes up, about w the nose goes up, about h the nose goes left."""
        one, two = {"s": (1, 2), "w": (0, 2), "h": (0, 1)}[axis]
        cos, sin = settled(np.cos(np.radians(degrees))), settled(np.sin(np.radians(degrees)))
        centre = place(about)

        def turn(vectors: np.ndarray) -> np.ndarray:
            out = vectors.copy()
            out[..., one] = cos * vectors[..., one] - sin * vectors[..., two]
            out[..., two] = sin * vectors[..., one] + cos * vectors[..., two]
            return out

        return replace(self, corners=turn(self.corners - centre) + centre, normals=turn(self.normals))


# --- making -------------------------------------------------------------------------------------------------------


def names(part: str, count: int) -> np.ndarray:
    """One name for many triangles."""
    return np.full(count, part, dtype="U32")


def together(pieces: Iterable[Piece], keep: bool = False) -> Piece:
    """Several pieces as one; `keep` the numbers of their faces where they are pieces of one already."""
    found, start = [], 0
    for piece in pieces:
        found.append(piece if keep else replace(piece, face=piece.face + start))
        start += int(piece.face.max(initial=-1)) + 1
    return Piece(*(np.concatenate(column) for column in zip(*(piece.columns() for piece in found))))


def sides(piece: Piece) -> Piece:
    """A piece and its mirror image."""
    return together([piece, piece.mirrored()])


def pair(part: str, piece: Piece) -> Piece:
    """A piece on the left and its mirror image on the right; {} in the name of the part is the side."""
    return together([piece.named(part.format("left")), piece.mirrored().named(part.format("right"))])


def facets(corners: np.ndarray, crease: float = CREASE) -> Piece:
    """Triangles as a piece: without those that are no more than a line, and smooth but where an edge is sharp."""
    one, two, three = corners[:, 0], corners[:, 1], corners[:, 2]
    kept = corners[length(cross(two - one, three - one)) > 1e-10]
    return Piece(kept, smooth(kept, crease), names(BODY, len(kept)), np.ones(len(kept)), np.arange(len(kept)))


def closed(corners: np.ndarray, crease: float = CREASE) -> Piece:
    """The triangles of a closed surface, all turned outward."""
    one, two, three = corners[:, 0], corners[:, 1], corners[:, 2]
    volume = float((one * cross(two, three)).sum())
    return facets(corners if volume >= 0 else corners[:, ::-1], crease)


def grid(points: np.ndarray) -> np.ndarray:
    """The triangles of a grid of points float64[m, n, 3]: every mesh is cut along its shorter diagonal."""
    a, b, c, d = (part.reshape(-1, 3) for part in (points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]))
    first = (length(a - c) <= length(b - d) + 1e-9)[:, None, None]
    one = np.where(first, np.stack([a, b, c], axis=1), np.stack([a, b, d], axis=1))
    two = np.where(first, np.stack([a, c, d], axis=1), np.stack([b, c, d], axis=1))
    return np.stack([one, two], axis=1).reshape(-1, 3, 3)


def lid(ring: np.ndarray) -> np.ndarray:
    """The triangles within a convex ring of points float64[n, 3]."""
    first = np.broadcast_to(ring[0], ring[2:].shape)
    return np.stack([first, ring[1:-1], ring[2:]], axis=1)


def smooth(corners: np.ndarray, crease: float = CREASE) -> np.ndarray:
    """The normals of all corners: of the faces around a point by their size, those that bend too far aside."""
    if not len(corners):
        return np.zeros((0, 3, 3))
    out = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = out / np.maximum(length(out), 1e-300)[:, None]
    _, found = np.unique(np.round(corners.reshape(-1, 3), 7) + 0.0, axis=0, return_inverse=True)
    point = found.reshape(-1)
    crowded = np.flatnonzero((np.bincount(point) > CROWD)[point])
    point[crowded] = len(point) + np.arange(len(crowded))
    order = np.argsort(point, kind="stable")
    count = np.unique(point, return_counts=True)[1]
    each = np.repeat(count, count)  # how many corners meet where this one is
    start = np.repeat(np.cumsum(count) - count, count)
    mine = np.repeat(np.arange(len(order)), each)
    theirs = np.repeat(start, each) + np.arange(len(mine)) - np.repeat(np.cumsum(each) - each, each)
    mine, theirs = order[mine], order[theirs]
    bend = (unit[mine // 3] * unit[theirs // 3]).sum(axis=1)
    near = bend > settled(np.cos(np.radians(crease)))
    total = np.zeros((len(order), 3))
    np.add.at(total, mine[near], out[theirs[near] // 3])
    size = length(total)[:, None]
    return np.where(size > 1e-300, total / np.maximum(size, 1e-300), np.repeat(unit, 3, axis=0)).reshape(-1, 3, 3)


# --- arithmetic ---------------------------------------------------------------------------------------------------


def place(point: Point) -> np.ndarray:
    """(s, w, h) as (x, y, z)."""
    return places([point])[0]


def places(points: Iterable[Point]) -> np.ndarray:
    """Many (s, w, h) as (x, y, z), float64[n, 3]."""
    return np.array([(-s, w, h) for s, w, h in points], np.float64)


def settled(numbers: Any) -> np.ndarray:
    """Sines and powers without their last digits, in which machines differ."""
    return np.round(numbers, 12) + 0.0


def circle(count: int, start: float = 0.0, stop: float = 360.0) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of evenly spread angles, the last one left out where they go all the way round."""
    angles = np.radians(
        start + (stop - start) * np.arange(count) / (count if abs(stop - start - 360.0) < 1e-9 else count - 1)
    )
    return settled(np.cos(angles)), settled(np.sin(angles))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The vector product."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    return np.stack([x, y, a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]], axis=-1)


def length(vectors: np.ndarray) -> np.ndarray:
    """The lengths of vectors."""
    return np.sqrt(vectors[..., 0] * vectors[..., 0] + vectors[..., 1] * vectors[..., 1] + vectors[..., 2] ** 2)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length one in the same directions."""
    return vectors / np.maximum(length(vectors), 1e-300)[..., None]
