"""Patterns: the textures of Super-CLEVR, painted through the box of a model rather than on its surface.

A place in the box is three numbers from 0 to 1, along the length, the width and the height. A pattern has two colours,
the second one darker, in `cells` bands or cubes along a side of the box. What is seen of a pattern is its mean over the
width of a pixel, so it does not flicker where its cells are smaller than pixels.

A painted surface throws half of the light back as a dull surface in the colours of the pattern does, and half as its
own material in its own colour does.
"""

import math

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.instances import (
    BOX_LOW,
    BOX_SIDE,
    CELLS,
    CHECKERED,
    COS,
    DOTTED,
    PATTERN,
    PLACE_X,
    PLACE_Y,
    PLACE_Z,
    SIN,
    SIZE,
    STRIPED,
    VSTRIPED,
)
from recombine.render.intersect import Vector, dot
from recombine.render.materials import DARKER
from recombine.world.camera import RIGHT, UP

INWARD = 0.25
"""How far below a surface the pattern is looked up, in cells: cells end exactly where boxes do."""

SLANT = 0.1
"""The least cosine at which a surface is seen, for the width of a pixel on it."""

BITS = 0xFFFFFFFF


@kernel
def painted(
    rows: np.ndarray,
    row: int,
    looks: np.ndarray,
    look: int,
    view: np.ndarray,
    point: Vector,
    way: Vector,
    pixel: float,
    facing: Vector,
) -> float:
    """The share of its colour that an instance keeps at a point that a ray along `way` meets.

    `pixel` is how wide a pixel is there, seen straight on; `facing` is which way the surface faces.
    """
    x, y, z = _into(
        rows, row, point[0] - rows[row, PLACE_X], point[1] - rows[row, PLACE_Y], point[2] - rows[row, PLACE_Z]
    )
    at = (
        x - rows[row, BOX_LOW] / rows[row, BOX_SIDE],
        y - rows[row, BOX_LOW + 1] / rows[row, BOX_SIDE + 1],
        z - rows[row, BOX_LOW + 2] / rows[row, BOX_SIDE + 2],
    )
    a, b, c = _into(rows, row, -facing[0], -facing[1], -facing[2])
    scale = 1 / max(math.sqrt(a * a + b * b + c * c), 1e-9)
    one, other = _along(rows, row, view, RIGHT, way, pixel, facing), _along(rows, row, view, UP, way, pixel, facing)
    wide = (abs(one[0]) + abs(other[0]), abs(one[1]) + abs(other[1]), abs(one[2]) + abs(other[2]))
    return shade_of(int(looks[look, PATTERN]), looks[look, CELLS], at, (scale * a, scale * b, scale * c), wide)


@step
def _along(
    rows: np.ndarray, row: int, view: np.ndarray, axis: int, way: Vector, pixel: float, facing: Vector
) -> Vector:
    """The way across a surface, in the box of an instance, when the eye moves by a pixel along an axis of its view."""
    x, y, z, against = view[axis, 0], view[axis, 1], view[axis, 2], min(dot(way, facing), -SLANT)
    off = (x * facing[0] + y * facing[1] + z * facing[2]) / against
    return _into(rows, row, pixel * (x - off * way[0]), pixel * (y - off * way[1]), pixel * (z - off * way[2]))


@step
def _into(rows: np.ndarray, row: int, x: float, y: float, z: float) -> Vector:
    """A way of the world in the box of an instance, whose sides have length one."""
    cos, sin, scale = rows[row, COS], rows[row, SIN], 1 / rows[row, SIZE]
    return (
        scale * (cos * x + sin * y) / rows[row, BOX_SIDE],
        scale * (cos * y - sin * x) / rows[row, BOX_SIDE + 1],
        scale * z / rows[row, BOX_SIDE + 2],
    )


@step
def _wave(x: float, wide: float) -> float:
    """The mean of a wave over a width around a place: 1 in even cells, -1 in odd ones."""
    wide = max(wide, 1e-6)
    return (_sum(x + 0.5 * wide) - _sum(x - 0.5 * wide)) / wide


@step
def _sum(x: float) -> float:
    """The sum of that wave up to a place."""
    return 1 - abs(x - 2 * math.floor(0.5 * x) - 1)


@kernel
def shade_of(pattern: int, cells: float, at: Vector, inward: Vector, wide: Vector) -> float:
    """The share of its colour that a surface keeps at a place in the box.

    `inward`, of length one, leads below the surface, and `wide` is how far a pixel extends along each side of the box.
    """
    x, y, z = cells * at[0], cells * at[1], cells * at[2]
    if pattern == DOTTED:
        even = _blotches(x, y, z, cells * max(wide[0], wide[1], wide[2]))
    else:
        x, y, z = x + INWARD * inward[0], y + INWARD * inward[1], z + INWARD * inward[2]
        if pattern == STRIPED:
            even = _wave(z, cells * wide[2])
        elif pattern == VSTRIPED:
            even = _wave(x, cells * wide[0])
        elif pattern == CHECKERED:
            even = _wave(x, cells * wide[0]) * _wave(y, cells * wide[1]) * _wave(z, cells * wide[2])
        else:
            even = 1.0
    return 0.5 * (1 + DARKER) + 0.5 * (1 - DARKER) * even


@step
def _hash(x: int, y: int, z: int) -> int:
    """A number of 32 bits that looks random."""
    h = (x * 0x8DA6B343 ^ y * 0xD8163841 ^ z * 0xCB1AB31F) & BITS
    h = ((h ^ h >> 15) * 0x2C1B3C6D) & BITS
    h = ((h ^ h >> 12) * 0x297A2D39) & BITS
    return h ^ h >> 15


@kernel
def _blotches(x: float, y: float, z: float, wide: float) -> float:
    """Cells around scattered points, light or dark by chance: 1 in a light one, -1 in a dark one."""
    i, j, k = math.floor(x), math.floor(y), math.floor(z)
    x, y, z = x - i, y - j, z - k
    light, dark = 100.0, 100.0
    for a in range(-1, 2):
        for b in range(-1, 2):
            for c in range(-1, 2):
                h = _hash(i + a, j + b, k + c)
                u, v, w = x - a - (h & 1023) / 1024, y - b - (h >> 10 & 1023) / 1024, z - c - (h >> 20 & 1023) / 1024
                off = u * u + v * v + w * w
                if h >> 31:
                    dark = min(dark, off)
                else:
                    light = min(light, off)
    # The border lies where both are equally near; near it the difference of distances is twice the way to it.
    beyond = (math.sqrt(dark) - math.sqrt(light)) / max(wide, 1e-6)
    return min(max(beyond, -1.0), 1.0) * min(1.0, 1.0 / max(wide, 1e-6))
