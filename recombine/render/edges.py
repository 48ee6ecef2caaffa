"""Edges: pixels that show more than one thing, looked at in several spots.

A spot may show another primitive than the middle of its pixel, but only one that is seen next to it. Where the outline
of a primitive runs through a pixel, the light of the nearest pixel within that outline will do; where the light of one
primitive changes quickly, as in a mirror or a texture, the spot is shaded anew.
"""

from typing import Any

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.eye import NOTHING
from recombine.render.rays import meet, place, ray, to_ground
from recombine.world.camera import POSITION

SMOOTH, OUTLINE, UNEVEN = range(3)
"""What a pixel may be."""

CONTRAST = 12
"""Neighbours on the same primitive that differ by more, of 255, are uneven."""

SPOTS = ((-0.56, -0.19), (0.19, -0.56), (0.56, 0.19), (-0.19, 0.56))
"""Where a pixel is looked at, down and right from its middle: as wide as CLEVR's filter of one and a half pixels."""

LEVELS = 4096
"""The steps of light that the screen tells apart."""


@step
def _level(light: float) -> int:
    level: Any = np.uint32(min(max(light, 0.0), 1.0) * (LEVELS - 1) + 0.5)
    return level


@kernel
def encode(light: np.ndarray, screen: np.ndarray, coded: np.ndarray) -> None:
    """Light as brightness on the screen."""
    for i in range(coded.shape[0]):
        for j in range(coded.shape[1]):
            coded[i, j, 0] = screen[_level(light[0, i, j])]
            coded[i, j, 1] = screen[_level(light[1, i, j])]
            coded[i, j, 2] = screen[_level(light[2, i, j])]


@kernel
def find_edges(pixels: np.ndarray, owner: np.ndarray, coded: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Which pixels show another primitive than a neighbour, or the same one in a very different light; and where.

    `pixels` are those that show primitives.
    """
    height, width = owner.shape
    edge[:] = SMOOTH
    for pixel in pixels:
        i, j = pixel // width, pixel % width
        for k, m in ((i - 1, j), (i, j - 1), (i + 1, j), (i, j + 1)):
            if 0 <= k < height and 0 <= m < width and owner[k, m] != owner[i, j]:
                edge[i, j], edge[k, m] = OUTLINE, OUTLINE
    for pixel in pixels:
        i, j = pixel // width, pixel % width
        for k, m in ((i - 1, j), (i, j - 1)):
            if (
                k >= 0
                and m >= 0
                and edge[i, j] != OUTLINE
                and edge[k, m] != OUTLINE
                and _differ(coded[i, j], coded[k, m])
            ):
                edge[i, j], edge[k, m] = UNEVEN, UNEVEN
    found, many = np.empty(5 * len(pixels), np.int64), 0
    for i in range(height):
        for j in range(width):
            if edge[i, j] != SMOOTH:
                found[many] = i * width + j
                many += 1
    return found[:many]


@step
def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two neighbours have very different colours."""
    contrast = np.int64(0)  # of bytes the difference would wrap around
    for channel in range(3):
        contrast = max(contrast, abs(np.int64(one[channel]) - np.int64(other[channel])))
    return bool(contrast > CONTRAST)


@kernel
def by_primitive(owner: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The places where an array is not NOTHING, in order of its values: those of value i are start[i]:start[i + 1]."""
    start, shown = np.zeros(count + 2, np.int64), 0
    for value in owner:
        if value != NOTHING:
            start[value + 2] += 1
            shown += 1
    for value in range(2, count + 2):
        start[value] += start[value - 1]
    order = np.empty(shown, np.int64)
    for i in range(len(owner)):
        if owner[i] != NOTHING:
            order[start[owner[i] + 1]] = i
            start[owner[i] + 1] += 1
    return start[: count + 1], order


@kernel
def points_of(view: np.ndarray, focal: float, far: np.ndarray, pixels: np.ndarray) -> np.ndarray:
    """The points that pixels show, float32[3, n]."""
    height, width = far.shape
    points = np.empty((3, len(pixels)), np.float32)
    for k in range(len(pixels)):
        i, j = pixels[k] // width, pixels[k] % width
        points[0, k], points[1, k], points[2, k] = place(view, ray(view, focal, width, height, i, j), far[i, j])
    return points


@kernel
def spread(pixels: np.ndarray, seen: np.ndarray, light: np.ndarray) -> None:
    """Put what was seen of points into the pixels that show them."""
    for channel in range(3):
        flat = light[channel].reshape(-1)
        for k in range(len(pixels)):
            flat[pixels[k]] = seen[channel, k]


@kernel
def look_again(
    rows: np.ndarray, view: np.ndarray, focal: float, owner: np.ndarray, edge: np.ndarray, pixels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every spot of every edge: the primitive to shade anew, the point of it, and else the pixel to copy from."""
    height, width = owner.shape
    found, source = np.empty(len(pixels) * len(SPOTS), np.int32), np.empty(len(pixels) * len(SPOTS), np.int64)
    points, around, likely = np.empty((len(found), 3), np.float32), np.empty(9, np.int32), np.empty(9, np.int64)
    eye = (view[POSITION, 0], view[POSITION, 1], view[POSITION, 2])
    for p in range(len(pixels)):
        i, j = pixels[p] // width, pixels[p] % width
        many = _around(owner, edge, i, j, around, likely)
        for k in range(len(SPOTS)):
            spot, (down, right) = p * len(SPOTS) + k, SPOTS[k]
            way, first = ray(view, focal, width, height, i + down, j + right), NOTHING
            far = to_ground(view, way)
            for one in range(many):
                hit = meet(rows, around[one], eye, way) if around[one] != NOTHING else far
                if hit < far or (around[one] == NOTHING and first == NOTHING):
                    far, first = hit, one
            found[spot] = NOTHING
            source[spot] = pixels[p] if first == NOTHING else likely[first]
            if edge[i, j] == UNEVEN and first != NOTHING and around[first] != NOTHING:
                found[spot] = around[first]
                points[spot, 0], points[spot, 1], points[spot, 2] = place(view, way, far)
    return found, points, source


@step
def _around(owner: np.ndarray, edge: np.ndarray, i: int, j: int, around: np.ndarray, likely: np.ndarray) -> int:
    """What is seen in and around a pixel, the pixel to copy each from, and how many there are."""
    many = 0
    for a in range(max(i - 1, 0), min(i + 2, owner.shape[0])):
        for b in range(max(j - 1, 0), min(j + 2, owner.shape[1])):
            known = False
            for k in range(many):
                known |= around[k] == owner[a, b]
            if not known:
                around[many] = owner[a, b]
                likely[many] = _inward(owner, edge, i, j, owner[a, b])
                many += 1
    return many


@step
def _inward(owner: np.ndarray, edge: np.ndarray, i: int, j: int, row: int) -> int:
    """The pixel nearest to another one that shows this primitive, or the ground: one not on an outline, if there is."""
    height, width = owner.shape
    best, found = 100, i * width + j
    if edge[i, j] == UNEVEN:  # it shows one primitive only, and will be shaded anew
        return found
    for a in range(max(i - 2, 0), min(i + 3, height)):
        for b in range(max(j - 2, 0), min(j + 3, width)):
            if owner[a, b] == row:
                off = (a - i) * (a - i) + (b - j) * (b - j)
                if edge[a, b] == OUTLINE:
                    off += 10  # there may be a thin rim in another light, or the dark below a round edge
                if off < best:
                    best, found = off, a * width + b
    return found


@kernel
def blend(
    pixels: np.ndarray,
    source: np.ndarray,
    order: np.ndarray,
    seen: np.ndarray,
    light: np.ndarray,
    screen: np.ndarray,
    coded: np.ndarray,
) -> None:
    """Give every edge the mean colour of its spots: seen anew where they were shaded, `order`, else copied."""
    width, fresh = coded.shape[1], np.full(len(source), NOTHING, np.int64)
    for k in range(len(order)):
        fresh[order[k]] = k
    for channel in range(3):
        flat = light[channel].reshape(-1)
        for p in range(len(pixels)):
            total = 0.0
            for spot in range(p * len(SPOTS), (p + 1) * len(SPOTS)):
                total += min(flat[source[spot]] if fresh[spot] == NOTHING else seen[channel, fresh[spot]], 1.0)
            coded[pixels[p] // width, pixels[p] % width, channel] = screen[_level(total / len(SPOTS))]
