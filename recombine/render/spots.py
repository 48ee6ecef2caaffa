"""Spots: where pixels are looked at, and which of these looks are shaded.

The spots of a picture lie half a pixel apart: in the middle of every pixel, of its sides and at its corners. So a pixel
has nine, which count for its colour as a tent over two pixels does, and all but the middle one are shared with its
neighbours. What the middle shows is always shaded. Another spot borrows the light of its own pixel's middle if it shows
a like surface; else that of a neighbour's middle which does; else it is shaded too, as on spokes and wires.
"""

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.eye import NOTHING
from recombine.render.instances import MODEL
from recombine.render.mesh_library import Library
from recombine.render.zbuffer import TRIANGLES

LIKE = 0.85
"""The cosine of the angle within which surfaces of a part are lit alike."""

AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
WEIGHTS = (1, 2, 1, 2, 2, 1, 2, 1)
"""What the spots around the middle of a pixel count, in sixteenths; the middle counts the rest."""

UNKNOWN = -2


@step
def like(rows: np.ndarray, library: Library, one: int, other: int) -> bool:
    """Whether two owners are surfaces of the same part that face nearly the same way."""
    if one == other:
        return True
    row = one // TRIANGLES
    if other == NOTHING or one == NOTHING or row != other // TRIANGLES:
        return False
    first = library.first_triangle[int(rows[row, MODEL])]
    a, b = first + one % TRIANGLES, first + other % TRIANGLES
    if library.part[a] != library.part[b] or library.tint[a] != library.tint[b]:
        return False
    facing = library.facing
    return facing[a, 0] * facing[b, 0] + facing[a, 1] * facing[b, 1] + facing[a, 2] * facing[b, 2] > LIKE


@kernel
def choose_spots(
    rows: np.ndarray,
    library: Library,
    owner: np.ndarray,
    source: np.ndarray,
    unlike: np.ndarray,
    floor: np.ndarray,
    spots: np.ndarray,
) -> int:
    """Say which spots are shaded: spots[:n] are their places in the lattice, and n is returned.

    source int32, in the shape of the lattice, is the number in `spots` of the one that a spot takes its light from;
    unlike uint8[height, width] has a bit for every spot around a pixel's middle that does not take it from there; floor
    uint8[height + 1, width] says which pixels show some of the floor.
    """
    height, width = unlike.shape
    flat, stride, many = owner.reshape(-1), 2 * width + 1, 0
    for i in range(owner.shape[0]):
        for j in range(owner.shape[1]):
            source[i, j] = UNKNOWN
    for i in range(height):
        for j in range(width):
            if owner[2 * i + 1, 2 * j + 1] != NOTHING:
                source[2 * i + 1, 2 * j + 1], spots[many] = many, (2 * i + 1) * stride + 2 * j + 1
                many += 1
    for i in range(height):
        for j in range(width):
            middle, bits, ground = owner[2 * i + 1, 2 * j + 1], 0, 0
            for k in range(8):
                a, b = 2 * i + 1 + AROUND[k][0], 2 * j + 1 + AROUND[k][1]
                one = owner[a, b]
                if one == NOTHING:
                    ground = 1
                if one == middle or like(rows, library, one, middle):
                    continue
                bits |= 1 << k
                if one != NOTHING and source[a, b] == UNKNOWN:
                    source[a, b] = _borrow(rows, library, owner, source, a, b)
                    if source[a, b] == UNKNOWN:
                        source[a, b], spots[many] = many, a * stride + b
                        many += 1
            unlike[i, j] = bits
            floor[i, j] = 1 if ground == 1 or middle == NOTHING else 0
    return many


@step
def _borrow(rows: np.ndarray, library: Library, owner: np.ndarray, source: np.ndarray, a: int, b: int) -> int:
    """The middle of a pixel next to a spot that shows a like surface."""
    for i in range(a - 1 + a % 2, a + 2, 2):
        for j in range(b - 1 + b % 2, b + 2, 2):
            if 0 <= i < owner.shape[0] and 0 <= j < owner.shape[1] and like(rows, library, owner[a, b], owner[i, j]):
                return source[i, j]
    return UNKNOWN
