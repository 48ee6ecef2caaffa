"""Spots: where pixels are looked at, and which of these looks are shaded.

The spots of a picture lie half a pixel apart: in the middle of every pixel, of its sides and at its corners. So a pixel
has nine, which count for its colour as a tent over two pixels does, and all but the middle one are shared with its
neighbours. What the middle shows is always shaded. Another spot borrows the light of its own pixel's middle if it shows
a like surface; else that of a neighbour's middle which does; else it is shaded too, as on spokes and wires.
"""

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.eye import NOTHING
from recombine.render.mesh_library import FACING, PART, TINT
from recombine.render.zbuffer import TRIANGLES

LIKE = 0.95
"""The cosine of the angle within which surfaces of a part are lit alike."""

AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
WEIGHTS = (1, 2, 1, 2, 2, 1, 2, 1)
"""What the spots around the middle of a pixel count, in sixteenths; the middle counts the rest."""

UNKNOWN = -2

TILE = 8
"""The side of the squares of pixels in which instances are looked for."""


@step
def like(one: int, other: int, first: np.ndarray, surface: np.ndarray) -> bool:
    """Whether two owners are surfaces of the same part that face nearly the same way.

    `first` are the first triangles of the instances in the library, whose surfaces are the other column.
    """
    if one == other:
        return True
    row = one // TRIANGLES
    if other == NOTHING or one == NOTHING or row != other // TRIANGLES:
        return False
    a, b = first[row] + one % TRIANGLES, first[row] + other % TRIANGLES
    if surface[a, PART] != surface[b, PART] or surface[a, TINT] != surface[b, TINT]:
        return False
    angle = surface[a, FACING] * surface[b, FACING]
    angle += surface[a, FACING + 1] * surface[b, FACING + 1] + surface[a, FACING + 2] * surface[b, FACING + 2]
    return angle > LIKE


@kernel
def choose_spots(
    first: np.ndarray,
    surface: np.ndarray,
    owner: np.ndarray,
    busy: np.ndarray,
    source: np.ndarray,
    unlike: np.ndarray,
    floor: np.ndarray,
    spots: np.ndarray,
) -> int:
    """Say which spots are shaded: spots[:n] are their places in the lattice, and n is returned.

    `busy` uint8 says in which squares of TILE by TILE pixels to look. `source` int32, in the shape of the lattice, is
    the number in `spots` of the one that a spot takes its light from. `unlike` uint8[height, width] has a bit for every
    spot around a pixel's middle that does not take it from there. `floor` uint8[height + 1, width] says which pixels
    show some of the floor.
    """
    height, width = unlike.shape
    stride, many = 2 * width + 1, 0
    for i in range(height):
        for j in range(width):
            floor[i, j], unlike[i, j] = 1, 0
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(2 * top, 2 * bottom + 1):
            for j in range(2 * left, 2 * right + 1):
                source[i, j] = UNKNOWN
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(2 * top + 1, 2 * bottom, 2):
            for j in range(2 * left + 1, 2 * right, 2):
                if owner[i, j] != NOTHING:
                    source[i, j], spots[many] = many, i * stride + j
                    many += 1
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(top, bottom):
            for j in range(left, right):
                middle, bits, ground = owner[2 * i + 1, 2 * j + 1], 0, 0
                for k in range(8):
                    a, b = 2 * i + 1 + AROUND[k][0], 2 * j + 1 + AROUND[k][1]
                    one = owner[a, b]
                    ground |= one == NOTHING
                    if one == middle or like(one, middle, first, surface):
                        continue
                    bits |= 1 << k
                    if one == NOTHING or source[a, b] != UNKNOWN:
                        continue
                    for c in range(a - 1 + a % 2, a + 2, 2):  # the middles of pixels next to the spot
                        for d in range(b - 1 + b % 2, b + 2, 2):
                            if (
                                source[a, b] == UNKNOWN
                                and 0 <= c < owner.shape[0]
                                and 0 <= d < owner.shape[1]
                                and like(one, owner[c, d], first, surface)
                            ):
                                source[a, b] = source[c, d]
                    if source[a, b] == UNKNOWN:
                        source[a, b], spots[many] = many, a * stride + b
                        many += 1
                unlike[i, j] = bits
                floor[i, j] = 1 if ground or middle == NOTHING else 0
    return many


@step
def tile_of(tile: int, busy: np.ndarray, height: int, width: int) -> tuple[int, int, int, int]:
    """The pixels of a tile, ends excluded: none if it is not busy."""
    i, j = tile // busy.shape[1], tile % busy.shape[1]
    if busy[i, j] == 0:
        return 0, 0, 0, 0
    return i * TILE, min((i + 1) * TILE, height), j * TILE, min((j + 1) * TILE, width)


@kernel
def find_busy(points: np.ndarray, first: np.ndarray, busy: np.ndarray) -> None:
    """Which tiles the boxes of instances meet; the points of instance i in the lattice are first[i]:first[i + 1]."""
    for i in range(busy.shape[0]):
        for j in range(busy.shape[1]):
            busy[i, j] = 0
    for row in range(len(first) - 1):
        left, right, top, bottom = np.inf, -np.inf, np.inf, -np.inf
        for k in range(first[row], first[row + 1]):
            left, right = min(left, points[k, 0]), max(right, points[k, 0])
            top, bottom = min(top, points[k, 1]), max(bottom, points[k, 1])
        # A spot on the side of a pixel belongs to two.
        a, b = max(int(top - 2) // (2 * TILE), 0), min(int(bottom + 2) // (2 * TILE), busy.shape[0] - 1)
        c, d = max(int(left - 2) // (2 * TILE), 0), min(int(right + 2) // (2 * TILE), busy.shape[1] - 1)
        for i in range(a, b + 1):
            for j in range(c, d + 1):
                busy[i, j] = 1
