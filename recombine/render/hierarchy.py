"""Hierarchies: boxes within boxes around the triangles of a model, so that a ray meets few of them.

A node holds the boxes of its two children and says what each child is: another node, or a leaf, a run of triangles side
by side. So the triangles of a model are kept in the order of its leaves. A hierarchy is built once per model, in the
axes of the model; a ray is turned into these axes. All of it is float32.
"""

from typing import Any

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.intersect import Vector

LEAF = 4
"""The most triangles of a leaf."""
BINS = 16
"""How many places along an axis are tried to part the triangles of a node."""
DEEP = 64
"""No hierarchy has so many levels."""
TOO_DEEP = 32
"""From this level on nodes are parted in the middle: that is enough for four billion triangles."""

BOXES = 12
"""The columns of a node: for each child the lower and the upper corner of its box."""

ROUNDING = 1e-6
"""How much larger than its triangles a box is, of its place."""
FAR = 1e30
"""Where the box around nothing begins."""
HARDLY: Any = np.float32(1e-12)
"""Instead of zero, in denominators."""
SLACK: Any = np.float32(1e-5)
"""How far outside a triangle, of its size, it still counts as met: a ray must not slip between two of them."""
NEVER: Any = np.float32(np.inf)
ZERO: Any = np.float32(0)
ONE: Any = np.float32(1)


@step
def leaf(start: int, count: int) -> int:
    """What a node says of a child that is a leaf: a negative number."""
    return -1 - (start * 8 + count)


@kernel
def build(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hierarchy of triangles in boxes low, high [t, 3]: boxes, children, and the order of the triangles.

    The first node is the root, and has one child.
    """
    count = len(low)
    order, rest = np.arange(count), np.empty(count, np.int64)
    boxes, children = np.empty((count + 1, BOXES), np.float32), np.empty((count + 1, 2), np.int32)
    box, bins, many = np.empty(6), np.empty((BINS, 6)), np.empty(BINS, np.int64)
    stack, waiting, made = np.zeros((DEEP, 4), np.int64), 1, 1
    stack[0, 1] = count
    _write(boxes, 0, 1, _nothing(box))
    children[0, 1] = leaf(0, 0)
    while waiting > 0:
        waiting -= 1
        start, stop, node, side = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        _nothing(box)
        for k in range(start, stop):
            _join(box, low, high, order[k])
        _write(boxes, node, side, box)
        if stop - start <= LEAF:
            children[node, side] = leaf(start, stop - start)
            continue
        half = (start + stop) // 2
        if waiting < TOO_DEEP:
            half = _part(low, high, order, start, stop, rest, box, bins, many)
        children[node, side] = made
        for last in range(2):  # the first half is done next
            stack[waiting, 0], stack[waiting, 1] = (start, half) if last else (half, stop)
            stack[waiting, 2], stack[waiting, 3] = made, 1 - last
            waiting += 1
        made += 1
    return boxes[:made], children[:made], order


@step
def _nothing(box: np.ndarray) -> np.ndarray:
    """The box around nothing."""
    for axis in range(3):
        box[axis], box[3 + axis] = FAR, -FAR
    return box


@step
def _join(box: np.ndarray, low: np.ndarray, high: np.ndarray, i: int) -> None:
    """Let a box hold another one."""
    for axis in range(3):
        box[axis], box[3 + axis] = min(box[axis], low[i, axis]), max(box[3 + axis], high[i, axis])


@step
def _write(boxes: np.ndarray, node: int, side: int, box: np.ndarray) -> None:
    for axis in range(3):
        boxes[node, 6 * side + axis] = box[axis] - ROUNDING * (1 + abs(box[axis]))
        boxes[node, 6 * side + 3 + axis] = box[3 + axis] + ROUNDING * (1 + abs(box[3 + axis]))


@kernel
def _part(
    low: np.ndarray,
    high: np.ndarray,
    order: np.ndarray,
    start: int,
    stop: int,
    rest: np.ndarray,
    box: np.ndarray,
    bins: np.ndarray,
    many: np.ndarray,
) -> int:
    """Part the triangles order[start:stop] in two, and say where.

    The best place is where the areas of both boxes, times the number of triangles in them, are smallest.
    """
    best, best_axis, best_bin, best_least, best_wide = np.inf, -1, 0, 0.0, 1.0
    for axis in range(3):
        least, most = np.inf, -np.inf
        for k in range(start, stop):
            place = low[order[k], axis] + high[order[k], axis]
            least, most = min(least, place), max(most, place)
        if not most > least:
            continue
        for bin in range(BINS):
            many[bin] = 0
            _nothing(bins[bin])
        for k in range(start, stop):
            bin = _bin(low[order[k], axis] + high[order[k], axis], least, most - least)
            many[bin] += 1
            _join(bins[bin], low, high, order[k])
        for bin in range(BINS - 1):
            cost = _cost(bins, many, 0, bin + 1, box) + _cost(bins, many, bin + 1, BINS, box)
            if cost < best:
                best, best_axis, best_bin, best_least, best_wide = cost, axis, bin, least, most - least
    if best_axis < 0:
        return (start + stop) // 2
    left, kept = start, 0
    for k in range(start, stop):
        i = order[k]
        if _bin(low[i, best_axis] + high[i, best_axis], best_least, best_wide) <= best_bin:
            order[left] = i
            left += 1
        else:
            rest[kept] = i
            kept += 1
    for k in range(kept):
        order[left + k] = rest[k]
    return left


@step
def _bin(place: float, least: float, wide: float) -> int:
    return min(int(BINS * ((place - least) / wide)), BINS - 1)


@kernel
def _cost(bins: np.ndarray, many: np.ndarray, start: int, stop: int, box: np.ndarray) -> float:
    """The area of the box around some bins, times the triangles in them; infinite where there are none."""
    _nothing(box)
    count = 0
    for bin in range(start, stop):
        count += many[bin]
        if many[bin] > 0:
            for axis in range(3):
                box[axis], box[3 + axis] = min(box[axis], bins[bin, axis]), max(box[3 + axis], bins[bin, 3 + axis])
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return count * (x * y + y * z + z * x) if count > 0 else np.inf


# --- rays ---------------------------------------------------------------------------------------------------------


@step
def _inverse(number: float) -> float:
    return ONE / (number if abs(number) > HARDLY else HARDLY)


@step
def _enter(boxes: np.ndarray, node: int, side: int, start: Vector, inverse: Vector, most: float) -> float:
    """How far a ray goes before it enters the box of a child; NEVER where it does not, or not before `most`."""
    c = 6 * side
    ax, bx = (boxes[node, c] - start[0]) * inverse[0], (boxes[node, c + 3] - start[0]) * inverse[0]
    ay, by = (boxes[node, c + 1] - start[1]) * inverse[1], (boxes[node, c + 4] - start[1]) * inverse[1]
    az, bz = (boxes[node, c + 2] - start[2]) * inverse[2], (boxes[node, c + 5] - start[2]) * inverse[2]
    enter = max(max(min(ax, bx), min(ay, by)), max(min(az, bz), ZERO))
    leave = min(min(max(ax, bx), max(ay, by)), min(max(az, bz), most))
    return enter if enter <= leave else NEVER


@step
def _meet(corners: np.ndarray, t: int, start: Vector, way: Vector) -> float:
    """How far a ray goes before it meets a triangle from outside; NEVER where it does not."""
    ax, ay, az = corners[t, 3], corners[t, 4], corners[t, 5]
    bx, by, bz = corners[t, 6], corners[t, 7], corners[t, 8]
    px, py, pz = way[1] * bz - way[2] * by, way[2] * bx - way[0] * bz, way[0] * by - way[1] * bx
    facing = ax * px + ay * py + az * pz
    if not facing > ZERO:
        return NEVER
    x, y, z = start[0] - corners[t, 0], start[1] - corners[t, 1], start[2] - corners[t, 2]
    slack = SLACK * facing
    u = x * px + y * py + z * pz
    if u < -slack or u > facing + slack:
        return NEVER
    qx, qy, qz = y * az - z * ay, z * ax - x * az, x * ay - y * ax
    v = way[0] * qx + way[1] * qy + way[2] * qz
    if v < -slack or u + v > facing + slack:
        return NEVER
    far = (bx * qx + by * qy + bz * qz) / facing
    return far if far > ZERO else NEVER


@kernel
def first_met(
    boxes: np.ndarray,
    children: np.ndarray,
    root: int,
    corners: np.ndarray,
    first: int,
    start: Vector,
    way: Vector,
    most: float,
    stack: np.ndarray,
    entered: np.ndarray,
) -> tuple[float, int]:
    """How far the first triangle is that a ray meets from outside before it has gone `most`, and its number, or -1.

    `root` is the number of the model's first node and `first` that of its first triangle. `corners` float32[t, 9] are a
    corner of every triangle and the ways to the two others; `stack` int32[DEEP] and `entered` float32[DEEP] are work
    space.
    """
    inverse = (_inverse(way[0]), _inverse(way[1]), _inverse(way[2]))
    found, node, waiting = -1, 0, 0
    while True:
        if node >= 0:
            row = root + node
            near, far = _enter(boxes, row, 0, start, inverse, most), _enter(boxes, row, 1, start, inverse, most)
            one, two = children[row, 0], children[row, 1]
            if far < near:
                near, far, one, two = far, near, two, one
            if far < NEVER:
                stack[waiting], entered[waiting] = two, far
                waiting += 1
            if near < NEVER:
                node = one
                continue
        else:
            run = -1 - node
            for t in range(first + run // 8, first + run // 8 + run % 8):
                far = _meet(corners, t, start, way)
                if far < most:
                    most, found = far, t
        while waiting > 0 and entered[waiting - 1] >= most:
            waiting -= 1
        if waiting == 0:
            return most, found
        waiting -= 1
        node = stack[waiting]
