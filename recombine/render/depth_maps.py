"""Depth maps: what every lamp sees, and so what it does not see.

A map is a z-buffer from the place of a lamp, whose frame fits the instances of the scene. What it holds is the height
of the surface nearest to the lamp: a length of the world, measured toward the lamp from the middle of the world, that
changes evenly across flat surfaces (so it is stretched a little near the lamp). A point is hidden where the map holds
something higher than the point.

A lamp is a square that faces the middle of the world, as the map does. Seen from a point through the height of what is
in its way, the lamp is a window of the map; the point receives the share of that window that is free. The window grows
with the height of what is in the way, so shadows are sharp where things touch and soft far from what throws them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.lamps import AIM_X, LAMP_RADIUS, LAMP_X
from recombine.render.zbuffer import BEHIND, cover, project
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP

FREE = -1e6
"""The height in a map where a lamp sees nothing but the ground."""
MARGIN = 4
"""Texels of a map that are free on every side."""
NEAREST = 0.1
"""What is so near to a lamp, of its distance from the middle of the world, does not widen its map."""
BLOCK = 4
"""The side of the blocks of a map, in texels."""

BIAS: Any = np.float32(0.012)
"""How much higher than a point something must be to hide it."""
SHARPEST: Any = np.float32(0.6)
"""The least half width of a window, in texels."""

# --- the frame of a map: the columns of its row --------------------------------------------------------------------

ACROSS, UPWARD, AHEAD, DISTANCE, COLUMN, LINE, SPREAD, FLOOR, HIGHEST = 0, 3, 6, 9, 10, 12, 14, 16, 19
"""The axes of the lamp's view; how far it is from the middle of the world, at which it looks; where a slope of the view
is in the map, a scale and a start each for columns and for lines; by how many columns and lines the half width of a
window grows per height; the height of the floor, per column, per line, and at the first texel; the highest point."""
FRAME = 20

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
_HALF: Any = np.float32(0.5)


@kernel
def see(
    rows: np.ndarray,
    first_point: np.ndarray,
    points: np.ndarray,
    first_triangle: np.ndarray,
    corners: np.ndarray,
    lamps: np.ndarray,
    seen: np.ndarray,
    maps: np.ndarray,
    frames: np.ndarray,
) -> None:
    """Fill the maps float32[lamps, side, side] and their frames; `seen` is work space for all points."""
    view, unowned = np.empty((4, 3)), np.empty((0, 0), np.int32)
    for lamp in range(len(lamps)):
        _face(lamps, lamp, view)
        project(rows, first_point, points, view, 1.0, 0.0, 0.0, seen)
        _fit(seen, view, lamps[lamp, LAMP_RADIUS], maps.shape[1], frames[lamp])
        for i in range(maps.shape[1]):
            for j in range(maps.shape[2]):
                maps[lamp, i, j] = FREE
        cover(rows, first_point, first_triangle, corners, seen, maps[lamp], unowned)


@kernel
def _face(lamps: np.ndarray, lamp: int, view: np.ndarray) -> None:
    """The view of a lamp that looks at the middle of the world."""
    x, y, z = lamps[lamp, AIM_X], lamps[lamp, AIM_X + 1], lamps[lamp, AIM_X + 2]
    across = math.sqrt(x * x + y * y)
    right = (y / across, -x / across, 0.0) if across > 1e-9 else (1.0, 0.0, 0.0)
    up = (right[1] * z, -right[0] * z, right[0] * y - right[1] * x)
    for axis in range(3):
        view[POSITION, axis] = lamps[lamp, LAMP_X + axis]
        view[RIGHT, axis], view[UP, axis], view[FORWARD, axis] = right[axis], up[axis], lamps[lamp, AIM_X + axis]


@kernel
def _fit(seen: np.ndarray, view: np.ndarray, radius: float, side: int, frame: np.ndarray) -> None:
    """The frame of a map that holds all points; they are put into it, those behind the lamp nowhere."""
    high = math.sqrt(view[POSITION, 0] ** 2 + view[POSITION, 1] ** 2 + view[POSITION, 2] ** 2)
    left, right, top, bottom = np.inf, -np.inf, np.inf, -np.inf
    for i in range(len(seen)):
        if 0 < seen[i, 2] < 1 / (NEAREST * high):
            left, right = min(left, seen[i, 0]), max(right, seen[i, 0])
            top, bottom = min(top, seen[i, 1]), max(bottom, seen[i, 1])
    if not (left < right and top < bottom):
        left, right, top, bottom = -1.0, 1.0, -1.0, 1.0
    wide, tall = (side - 1 - 2 * MARGIN) / (right - left), (side - 1 - 2 * MARGIN) / (bottom - top)
    start_x, start_y = MARGIN - wide * left, MARGIN - tall * top
    frame[HIGHEST] = FREE
    for i in range(len(seen)):
        seen[i, 0] = start_x + wide * seen[i, 0] if seen[i, 2] > 0 else np.nan
        seen[i, 1] = start_y + tall * seen[i, 1]
        seen[i, 2] = high * (high * seen[i, 2] - 1)
        frame[HIGHEST] = max(frame[HIGHEST], seen[i, 2])
    for axis in range(3):
        frame[ACROSS + axis], frame[UPWARD + axis] = view[RIGHT, axis], view[UP, axis]
        frame[AHEAD + axis] = view[FORWARD, axis]
    frame[DISTANCE], frame[COLUMN], frame[COLUMN + 1], frame[LINE], frame[LINE + 1] = high, wide, start_x, tall, start_y
    half = 0.5 * math.sqrt(math.pi) * radius / (high * high)
    frame[SPREAD], frame[SPREAD + 1] = half * wide, half * tall
    # Of the floor: nearness changes evenly with the slopes of the view.
    scale = -high * high / max(view[POSITION, 2], 1e-6)
    frame[FLOOR], frame[FLOOR + 1] = scale * view[RIGHT, 2] / wide, -scale * view[UP, 2] / tall
    frame[FLOOR + 2] = scale * view[FORWARD, 2] - high - frame[FLOOR] * start_x - frame[FLOOR + 1] * start_y


# --- shadows on the floor -----------------------------------------------------------------------------------------


class Blockers(NamedTuple):
    """What maps say of the floor; blocks are BLOCK by BLOCK texels."""

    sums: np.ndarray  # float32[lamps, side + 1, side + 1], how many texels before a line and a column hide the floor
    counts: np.ndarray  # float64[blocks + 1, blocks + 1], the same of the texels in blocks
    totals: np.ndarray  # float64[blocks + 1, blocks + 1], and the sum of their heights above the floor
    height: np.ndarray  # float32[lamps, blocks, blocks], how high above the floor is what dims the floor in a block
    dims: np.ndarray  # uint8[lamps, blocks, blocks], whether something does
    bounds: np.ndarray  # float64[lamps, 4], the first and last column and line where something does


def blockers(lamps: int, side: int) -> Blockers:
    """Room for what the maps of lamps say."""
    blocks = side // BLOCK
    counts, totals = np.zeros((2, blocks + 1, blocks + 1))
    height, dims = np.empty((lamps, blocks, blocks), np.float32), np.empty((lamps, blocks, blocks), np.uint8)
    return Blockers(
        np.zeros((lamps, side + 1, side + 1), np.float32), counts, totals, height, dims, np.empty((lamps, 4))
    )


@kernel
def block(maps: np.ndarray, frames: np.ndarray, found: Blockers) -> None:
    """Find what dims the floor."""
    counts, totals = found.counts, found.totals
    for lamp in range(len(maps)):
        height, dims, bounds = found.height[lamp], found.dims[lamp], found.bounds[lamp]
        highest = _sum_up(maps[lamp], frames[lamp], found.sums[lamp], counts, totals)
        blocks, across, along = len(dims), frames[lamp, SPREAD] / BLOCK, frames[lamp, SPREAD + 1] / BLOCK
        bounds[0], bounds[1], bounds[2], bounds[3] = np.inf, -np.inf, np.inf, -np.inf
        for i in range(blocks):
            for j in range(blocks):
                high = _mean(counts, totals, i, j, int(highest * along) + 1, int(highest * across) + 1)
                dims[i, j] = 1 if high > 0 else 0
                if high > 0:  # once more, in the window of this height
                    high = max(_mean(counts, totals, i, j, int(high * along) + 1, int(high * across) + 1), 0.5 * high)
                    bounds[0], bounds[1] = min(bounds[0], j * BLOCK - 0.5), max(bounds[1], (j + 1) * BLOCK - 0.5)
                    bounds[2], bounds[3] = min(bounds[2], i * BLOCK - 0.5), max(bounds[3], (i + 1) * BLOCK - 0.5)
                height[i, j] = high
        for side in range(4):  # beyond the map a window may still reach into it
            reach = 1 + highest * frames[lamp, SPREAD + side // 2]
            if side % 2 == 0 and bounds[side] < 0:
                bounds[side] -= reach
            elif side % 2 == 1 and bounds[side] > (blocks - 1) * BLOCK:
                bounds[side] += reach
        for i in range(blocks):
            for j in range(blocks):
                if dims[i, j] == 0:
                    height[i, j] = _beside(height, dims, i, j)


@kernel
def _sum_up(heights: np.ndarray, frame: np.ndarray, sums: np.ndarray, counts: np.ndarray, totals: np.ndarray) -> float:
    """Sum up the texels that hide the floor, and say how high the highest is."""
    side, blocks = len(heights), len(counts) - 1
    slope_x, slope_y, start = _single(frame, FLOOR), _single(frame, FLOOR + 1), _single(frame, FLOOR + 2)
    for i in range(blocks + 1):
        for j in range(blocks + 1):
            counts[i, j], totals[i, j] = 0.0, 0.0
    highest = _ZERO
    for i in range(side):
        count, above, below, line = _ZERO, sums[i], sums[i + 1], heights[i]
        floor = slope_y * np.float32(i) + start
        for j in range(side):
            high = line[j] - (slope_x * np.float32(j) + floor)
            if high > BIAS:
                count += _ONE
                counts[i // BLOCK + 1, j // BLOCK + 1] += 1
                totals[i // BLOCK + 1, j // BLOCK + 1] += high
                highest = max(highest, high)
            below[j + 1] = above[j + 1] + count
    for i in range(blocks):
        count, total = 0.0, 0.0
        for j in range(blocks):
            count, total = count + counts[i + 1, j + 1], total + totals[i + 1, j + 1]
            counts[i + 1, j + 1], totals[i + 1, j + 1] = counts[i, j + 1] + count, totals[i, j + 1] + total
    return highest


@step
def _mean(counts: np.ndarray, totals: np.ndarray, i: int, j: int, tall: int, wide: int) -> float:
    """The mean height of what hides the floor around a block; zero where nothing does."""
    blocks = len(counts) - 1
    top, bottom, left, right = max(i - tall, 0), min(i + tall + 1, blocks), max(j - wide, 0), min(j + wide + 1, blocks)
    count = counts[bottom, right] - counts[bottom, left] - counts[top, right] + counts[top, left]
    total = totals[bottom, right] - totals[bottom, left] - totals[top, right] + totals[top, left]
    return total / count if count > 0.5 else 0.0


@kernel
def _beside(height: np.ndarray, dims: np.ndarray, i: int, j: int) -> float:
    """The mean height of the blocks beside one that is not dimmed."""
    count, total = 0.0, 0.0
    for a in range(max(i - 1, 0), min(i + 2, len(dims))):
        for b in range(max(j - 1, 0), min(j + 2, len(dims))):
            if dims[a, b] == 1:
                count, total = count + 1, total + height[a, b]
    return total / count if count > 0 else 0.0


@step
def _single(frame: np.ndarray, column: int) -> float:
    number: Any = np.float32(frame[column])
    return number


@kernel
def dimmed(frame: np.ndarray, bounds: np.ndarray, x: float, y: float, dx: float, dy: float, n: int) -> tuple[int, int]:
    """Which of the points x + i dx, y + i dy of the floor a lamp's blockers may dim, the last excluded."""
    across, by_across = frame[ACROSS] * x + frame[ACROSS + 1] * y, frame[ACROSS] * dx + frame[ACROSS + 1] * dy
    up, by_up = frame[UPWARD] * x + frame[UPWARD + 1] * y, frame[UPWARD] * dx + frame[UPWARD + 1] * dy
    ahead, by_ahead = (
        frame[AHEAD] * x + frame[AHEAD + 1] * y + frame[DISTANCE],
        frame[AHEAD] * dx + frame[AHEAD + 1] * dy,
    )
    low, high = 0.0, float(n)
    # Each bound is a line of the map, and a place that no point is before it: value + i * slope >= 0.
    for k in range(5):
        if k == 4:
            value, slope = ahead - BEHIND, by_ahead
        elif k < 2:
            off, sign = frame[COLUMN + 1] - bounds[k], 1.0 if k == 0 else -1.0
            value, slope = (
                sign * (frame[COLUMN] * across + off * ahead),
                sign * (frame[COLUMN] * by_across + off * by_ahead),
            )
        else:
            off, sign = frame[LINE + 1] - bounds[k], 1.0 if k == 2 else -1.0
            value, slope = sign * (off * ahead - frame[LINE] * up), sign * (off * by_ahead - frame[LINE] * by_up)
        if slope > 0:
            low = max(low, -value / slope)
        elif slope < 0:
            high = min(high, 1 - value / slope)
        elif value < 0:
            high = 0.0
    return int(min(low, float(n))), int(max(high, 0.0))


@kernel
def dim_floor(
    frame: np.ndarray,
    sums: np.ndarray,
    height: np.ndarray,
    dims: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    wanted: np.ndarray,
    light: np.ndarray,
) -> None:
    """Take away what is hidden of a lamp from points of the floor, where wanted."""
    rx, ry, ux, uy = (
        _single(frame, ACROSS), _single(frame, ACROSS + 1), _single(frame, UPWARD), _single(frame, UPWARD + 1),
    )  # fmt: skip
    fx, fy, far = _single(frame, AHEAD), _single(frame, AHEAD + 1), _single(frame, DISTANCE)
    wide, start_x, tall, start_y = (
        _single(frame, COLUMN), _single(frame, COLUMN + 1), _single(frame, LINE), _single(frame, LINE + 1),
    )  # fmt: skip
    side, blocks, per_block = np.int32(len(sums)), np.int32(len(dims)), np.float32(1 / BLOCK)
    most, last, four = np.float32(side - 1), np.float32(blocks - 1), np.float32(4)
    spread_u, spread_v = _single(frame, SPREAD), _single(frame, SPREAD + 1)
    flat, heights = sums.reshape(-1), height.reshape(-1)
    for i in range(len(light)):
        if wanted[i] == 0:
            continue
        near = _ONE / (far + fx * x[i] + fy * y[i])
        u = start_x + wide * near * (rx * x[i] + ry * y[i]) + _HALF  # the first texel lies between 0 and 1
        v = start_y - tall * near * (ux * x[i] + uy * y[i]) + _HALF
        a, b = np.int32(min(max(v * per_block, _ZERO), last)), np.int32(min(max(u * per_block, _ZERO), last))
        if dims[a, b] == 0:
            continue
        high = _between(heights, blocks, v * per_block - _HALF, u * per_block - _HALF)
        half_u, half_v = max(spread_u * high, SHARPEST), max(spread_v * high, SHARPEST)
        left, right = min(max(u - half_u, _ZERO), most), min(max(u + half_u, _ZERO), most)
        top, bottom = min(max(v - half_v, _ZERO), most), min(max(v + half_v, _ZERO), most)
        hidden = _between(flat, side, bottom, right) - _between(flat, side, bottom, left)
        hidden -= _between(flat, side, top, right) - _between(flat, side, top, left)
        light[i] *= min(max(_ONE - hidden / (four * half_u * half_v), _ZERO), _ONE)


@step
def _between(table: np.ndarray, side: int, line: float, column: float) -> float:
    """The value of a square table at a place between its entries."""
    last = np.float32(side - np.int32(1))
    line, column = min(max(line, _ZERO), last), min(max(column, _ZERO), last)
    i, j = min(np.int32(line), side - np.int32(2)), min(np.int32(column), side - np.int32(2))
    a, b = line - np.float32(i), column - np.float32(j)
    k = np.int64(i * side + j)
    upper = table[k] + b * (table[k + 1] - table[k])
    lower = table[k + side] + b * (table[k + side + 1] - table[k + side])
    return upper + a * (lower - upper)


# --- shadows on models --------------------------------------------------------------------------------------------

TAPS = (
    (-0.875, -0.875), (-0.625, 0.125), (-0.375, -0.375), (-0.125, 0.625),
    (0.125, -0.625), (0.375, 0.375), (0.625, -0.125), (0.875, 0.875),
)  # fmt: skip
"""Where a window is looked at, in half widths: no two in the same line or column."""

GRAZING: Any = np.float32(1e-3)
STEEPEST: Any = np.float32(0.25)
"""The most that the height of a surface changes per texel for a window not to see it as in the way of itself."""


@kernel
def dim_points(
    heights: np.ndarray, frame: np.ndarray, points: np.ndarray, light: np.ndarray, work: np.ndarray, chosen: np.ndarray
) -> None:
    """Take away what is hidden of a lamp from points.

    points float32[9, n] are places, normals and the way that their triangles face; `work` float32[8, n] and `chosen`
    int32[n] are work space.
    """
    columns, lines, level, slope_u, slope_v, above, hidden = (
        work[0], work[1], work[2], work[3], work[4], work[5], work[6],
    )  # fmt: skip
    many = 0
    for i in range(len(light)):
        chosen[many] = i
        many += light[i] > _ZERO
    _find(frame, points, chosen[:many], columns, lines, level, slope_u, slope_v)
    spread_u, spread_v, top = _single(frame, SPREAD), _single(frame, SPREAD + 1), _single(frame, HIGHEST)
    flat, side, most, share = (
        heights.reshape(-1),
        np.int32(len(heights)),
        np.float32(len(heights) - 1),
        np.float32(1 / len(TAPS)),
    )
    for k in range(many):
        above[k] = max(top - level[k], _ZERO)
        hidden[k] = _ZERO
    for again in range(2):
        left = 0
        for k in range(many):
            wide, tall = max(spread_u * above[k], SHARPEST), max(spread_v * above[k], SHARPEST)
            count, total = _ZERO, _ZERO
            for tap in range(len(TAPS)):
                u = min(max(columns[k] + np.float32(TAPS[tap][0]) * wide, _ZERO), most) + _HALF
                v = min(max(lines[k] + np.float32(TAPS[tap][1]) * tall, _ZERO), most) + _HALF
                j, i = np.int32(u), np.int32(v)
                plane = level[k] + slope_u[k] * (np.float32(j) - columns[k]) + slope_v[k] * (np.float32(i) - lines[k])
                high = flat[i * side + j] - plane
                count += _ONE if high > _ZERO else _ZERO
                total += high if high > _ZERO else _ZERO
            hidden[k] = count * share
            above[k] = total / max(count, _ONE)
            # What no tap hides, or every one, will not change in a narrower window.
            if again == 0:
                i = chosen[k]
                light[i] *= _ONE - hidden[k] if count == 0 or count == len(TAPS) else _ONE
                columns[left], lines[left], level[left], above[left] = columns[k], lines[k], level[k], above[k]
                slope_u[left], slope_v[left], chosen[left] = slope_u[k], slope_v[k], i
                left += (count > 0) & (count < len(TAPS))
            else:
                light[chosen[k]] *= _ONE - hidden[k]
        many = left


@kernel
def _find(
    frame: np.ndarray,
    points: np.ndarray,
    chosen: np.ndarray,
    columns: np.ndarray,
    lines: np.ndarray,
    level: np.ndarray,
    slope_u: np.ndarray,
    slope_v: np.ndarray,
) -> None:
    """Where points are in a map, how high, and how the height of their surface changes with columns and lines."""
    rx, ry, rz = _single(frame, ACROSS), _single(frame, ACROSS + 1), _single(frame, ACROSS + 2)
    ux, uy, uz = _single(frame, UPWARD), _single(frame, UPWARD + 1), _single(frame, UPWARD + 2)
    fx, fy, fz = _single(frame, AHEAD), _single(frame, AHEAD + 1), _single(frame, AHEAD + 2)
    far, wide, start_x = _single(frame, DISTANCE), _single(frame, COLUMN), _single(frame, COLUMN + 1)
    tall, start_y = _single(frame, LINE), _single(frame, LINE + 1)
    px, py, pz, nx, ny, nz = points[0], points[1], points[2], points[6], points[7], points[8]
    for k in range(len(chosen)):
        i = chosen[k]
        x, y, z, a, b, c = px[i], py[i], pz[i], nx[i], ny[i], nz[i]
        across, up, ahead = rx * x + ry * y + rz * z, ux * x + uy * y + uz * z, fx * x + fy * y + fz * z
        near = _ONE / (far + ahead)
        columns[k], lines[k] = start_x + wide * near * across, start_y - tall * near * up
        level[k] = -far * ahead * near + BIAS
        right, upward, forward = rx * a + ry * b + rz * c, ux * a + uy * b + uz * c, fx * a + fy * b + fz * c
        toward = right * across + upward * up + forward * (far + ahead)
        scale = far * far / min(toward, -GRAZING) if toward < _ZERO else _ZERO
        slope_u[k] = min(max(scale * right / wide, -STEEPEST), STEEPEST)
        slope_v[k] = min(max(-scale * upward / tall, -STEEPEST), STEEPEST)


@step
def seen_by(heights: np.ndarray, frame: np.ndarray, x: float, y: float, z: float) -> bool:
    """Whether a lamp sees a point, by the one texel that it lies in."""
    across = frame[ACROSS] * x + frame[ACROSS + 1] * y + frame[ACROSS + 2] * z
    up = frame[UPWARD] * x + frame[UPWARD + 1] * y + frame[UPWARD + 2] * z
    ahead = frame[AHEAD] * x + frame[AHEAD + 1] * y + frame[AHEAD + 2] * z
    near = 1 / (frame[DISTANCE] + ahead)
    j, i = frame[COLUMN + 1] + frame[COLUMN] * near * across + 0.5, frame[LINE + 1] - frame[LINE] * near * up + 0.5
    if not (0 <= i < len(heights) and 0 <= j < len(heights)):
        return True
    return heights[int(i), int(j)] < -frame[DISTANCE] * ahead * near + 4 * BIAS
