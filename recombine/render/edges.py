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
from recombine.render.shadow import ONE, ZERO
from recombine.world.camera import POSITION

SMOOTH, OUTLINE, UNEVEN, SHARP = range(4)
"""What a pixel may be: one light, more than one primitive, changing light, and light that changes very quickly."""

CONTRAST, STRONG = 12, 28
"""Neighbours on the same primitive that differ by more, of 255, are uneven, and sharp."""

SPOTS = (
    (-0.56, -0.19), (0.19, -0.56), (0.56, 0.19), (-0.19, 0.56),
    (-0.05, -0.38), (0.38, -0.05), (0.05, 0.38), (-0.38, 0.05),
)  # fmt: skip
"""Where a pixel is looked at, down and right from its middle: as wide as CLEVR's filter of one and a half pixels."""

FEW = 4
"""So many of the spots come first. The others follow where an outline parts these, and where a pixel is sharp: the
highlight on a round edge is thinner than four spots can tell, and would become a row of dashes."""

LEVELS = 4096
"""The steps of light that the screen tells apart."""

STEPS: Any = np.float32(LEVELS - 1)
HALF: Any = np.float32(0.5)


@step
def _level(light: float) -> int:
    level: Any = np.uint32(min(max(light, ZERO), ONE) * STEPS + HALF)
    return level


@kernel
def encode(light: np.ndarray, screen: np.ndarray, coded: np.ndarray) -> None:
    """Light as brightness on the screen."""
    for i in range(coded.shape[0]):
        red, green, blue, line = light[0, i], light[1, i], light[2, i], coded[i]
        for j in range(len(line)):
            line[j, 0] = screen[_level(red[j])]
            line[j, 1] = screen[_level(green[j])]
            line[j, 2] = screen[_level(blue[j])]


@kernel
def find_edges(owner: np.ndarray, coded: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Which pixels show another primitive than a neighbour, or the same one in a very different light; and where."""
    height, width = owner.shape
    edge[:] = SMOOTH
    for i in range(height):
        for j in range(width):
            if j > 0 and owner[i, j - 1] != owner[i, j]:
                edge[i, j - 1], edge[i, j] = OUTLINE, OUTLINE
            if i > 0 and owner[i - 1, j] != owner[i, j]:
                edge[i - 1, j], edge[i, j] = OUTLINE, OUTLINE
    for i in range(height):
        for j in range(width):
            if owner[i, j] != NOTHING and edge[i, j] != OUTLINE:
                for k, m in ((max(i - 1, 0), j), (i, max(j - 1, 0))):
                    if edge[k, m] != OUTLINE:
                        kind = _kind(coded, i, j, k, m)
                        edge[i, j], edge[k, m] = max(edge[i, j], kind), max(edge[k, m], kind)
    found, many = np.empty(owner.size, np.int64), 0
    for i in range(height):
        for j in range(width):
            if edge[i, j] != SMOOTH:
                found[many] = i * width + j
                many += 1
    return found[:many]


@step
def _kind(coded: np.ndarray, i: int, j: int, k: int, m: int) -> int:
    """What two neighbours on the same primitive are, by how much their colours differ."""
    contrast = np.int64(0)  # of bytes the difference would wrap around
    for channel in range(3):
        contrast = max(contrast, abs(np.int64(coded[i, j, channel]) - np.int64(coded[k, m, channel])))
    if contrast <= CONTRAST:
        return SMOOTH
    return SHARP if contrast > STRONG else UNEVEN


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
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For every spot of every edge: the primitive to shade anew, the point of it, and else the pixel to copy from.

    The spots of edge p are start[p]:start[p + 1]; `start` comes first.
    """
    height, width = owner.shape
    most, start = len(pixels) * len(SPOTS), np.zeros(len(pixels) + 1, np.int64)
    found, points, source = np.empty(most, np.int32), np.empty((most, 3), np.float32), np.empty(most, np.int64)
    around, likely = np.empty(9, np.int32), np.empty(9, np.int64)
    eye = (view[POSITION, 0], view[POSITION, 1], view[POSITION, 2])
    for p in range(len(pixels)):
        i, j = pixels[p] // width, pixels[p] % width
        many, spot = _around(owner, edge, i, j, around, likely), start[p]
        more = edge[i, j] == SHARP
        for k in range(len(SPOTS)):
            if k == FEW and not more:
                break
            way, first = ray(view, focal, width, height, i + SPOTS[k][0], j + SPOTS[k][1]), NOTHING
            far = to_ground(view, way)
            for one in range(many):
                hit = meet(rows, around[one], eye, way) if around[one] != NOTHING else far
                if hit < far or (around[one] == NOTHING and first == NOTHING):
                    far, first = hit, one
            found[spot] = NOTHING
            source[spot] = pixels[p] if first == NOTHING else likely[first]
            if edge[i, j] == OUTLINE:
                more |= source[spot] != source[start[p]]
            elif first != NOTHING and around[first] != NOTHING:
                found[spot] = around[first]
                points[spot, 0], points[spot, 1], points[spot, 2] = place(view, way, far)
            spot += 1
        start[p + 1] = spot
    return start, found[: start[-1]], points[: start[-1]], source[: start[-1]]


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
    if edge[i, j] != OUTLINE:  # it shows one primitive only, and will be shaded anew
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
    start: np.ndarray,
    source: np.ndarray,
    order: np.ndarray,
    seen: np.ndarray,
    light: np.ndarray,
    screen: np.ndarray,
    coded: np.ndarray,
) -> None:
    """Give every edge the mean colour of its spots: seen anew where they were shaded, `order`, else copied."""
    flat_coded, fresh = coded.reshape(-1, 3), np.full(len(source), NOTHING, np.int64)
    for k in range(len(order)):
        fresh[order[k]] = k
    for channel in range(3):
        flat = light[channel].reshape(-1)
        for p in range(len(pixels)):
            total = ZERO
            for spot in range(start[p], start[p + 1]):
                total += min(flat[source[spot]] if fresh[spot] == NOTHING else seen[channel, fresh[spot]], ONE)
            mean: Any = np.float32(total / (start[p + 1] - start[p]))
            flat_coded[pixels[p], channel] = screen[_level(mean)]
