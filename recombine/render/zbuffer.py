"""The z-buffer: which triangle is nearest at every spot of a picture, seen from the camera or from a lamp.

A picture is a grid of spots at whole numbers. The points of the instances are projected once: column, row, and how near
they are, which is one over their depth and so changes evenly across a flat triangle. Then every triangle that faces the
viewer claims the spots within it where it is nearer than those before. Both triangles at an edge find the same spots on
their side of it, so there are no gaps; a spot exactly on the edge belongs to the nearer one, or the earlier.

What is written into a spot is an owner: the number of the instance in its scene and that of the triangle in its model.
"""

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.eye import NOTHING
from recombine.render.instances import COS, MODEL, PLACE_X, PLACE_Y, PLACE_Z, SIN, SIZE
from recombine.render.intersect import Vector
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP

TRIANGLES = 1 << 24
"""Owners are instance * TRIANGLES + triangle."""

RUN = 1024
"""How many triangles are looked through at once."""

SLACK = 1e-6
"""How far beyond an edge spots are still asked whether they lie within it."""
LEVEL = 1e-3
"""What an edge goes up or down by at least for its crossing with a line of spots to be known so well."""
FAR = 1e9
SLIVER = 1e-9
"""A triangle of no larger area is not seen."""

BEHIND = 0.05
"""What is nearer than this to the plane of a viewer, or behind it, is not seen."""


@kernel
def ground(view: np.ndarray, focal: float, line: float, near: np.ndarray, owner: np.ndarray) -> None:
    """The empty floor in all spots; `line` is where the axis of the viewer, who does not lean, meets the picture."""
    for i in range(near.shape[0]):
        down = view[FORWARD, 2] + (line - i) / focal * view[UP, 2]
        level = np.float32(max(-down / view[POSITION, 2], 0.0))
        for j in range(near.shape[1]):
            near[i, j], owner[i, j] = level, NOTHING


@kernel
def project(
    rows: np.ndarray,
    first_point: np.ndarray,
    points: np.ndarray,
    view: np.ndarray,
    focal: float,
    column: float,
    line: float,
    seen: np.ndarray,
) -> None:
    """The points of all instances, one after the other, as a viewer sees them: column, row, nearness.

    `column` and `line` are where the axis of the viewer meets the picture. Points behind the viewer have no nearness.
    """
    k = 0
    for row in range(len(rows)):
        # The axes of the viewer, in those of the instance.
        cos, sin, size, model = rows[row, COS], rows[row, SIN], rows[row, SIZE], int(rows[row, MODEL])
        x, y = rows[row, PLACE_X] - view[POSITION, 0], rows[row, PLACE_Y] - view[POSITION, 1]
        z = rows[row, PLACE_Z] - view[POSITION, 2]
        across = x * view[RIGHT, 0] + y * view[RIGHT, 1] + z * view[RIGHT, 2]
        up = x * view[UP, 0] + y * view[UP, 1] + z * view[UP, 2]
        deep = x * view[FORWARD, 0] + y * view[FORWARD, 1] + z * view[FORWARD, 2]
        rx, ry, rz = _within(view, RIGHT, cos, sin, size)
        ux, uy, uz = _within(view, UP, cos, sin, size)
        fx, fy, fz = _within(view, FORWARD, cos, sin, size)
        for i in range(first_point[model], first_point[model + 1]):
            x, y, z = points[i, 0], points[i, 1], points[i, 2]
            depth = deep + fx * x + fy * y + fz * z
            near = 1 / depth if depth > BEHIND else 0.0
            seen[k, 0] = column + focal * near * (across + rx * x + ry * y + rz * z)
            seen[k, 1] = line - focal * near * (up + ux * x + uy * y + uz * z)
            seen[k, 2] = near
            k += 1


@step
def _within(view: np.ndarray, axis: int, cos: float, sin: float, size: float) -> Vector:
    """An axis of a viewer in those of an instance, times its size."""
    x, y, z = view[axis, 0], view[axis, 1], view[axis, 2]
    return size * (cos * x + sin * y), size * (cos * y - sin * x), size * z


@kernel
def cover(
    rows: np.ndarray,
    first_point: np.ndarray,
    first_triangle: np.ndarray,
    corners: np.ndarray,
    seen: np.ndarray,
    near: np.ndarray,
    owner: np.ndarray,
) -> None:
    """Let all triangles own the spots where they are nearer than what `near` float32[height, width] says.

    An empty `owner` is left alone: then only how near they are is wanted.
    """
    start, facing = 0, np.empty(RUN, np.int32)
    for row in range(len(rows)):
        model = int(rows[row, MODEL])
        first, last = first_triangle[model], first_triangle[model + 1]
        points = seen[start : start + first_point[model + 1] - first_point[model]]
        for low in range(first, last, RUN):
            many = _find_facing(corners[low : min(low + RUN, last)], points, near.shape[1], near.shape[0], facing)
            for k in range(many):
                t = low + facing[k]
                _claim(corners, t, points, near, owner, np.int32(row * TRIANGLES + (t - first)))
        start += len(points)


@kernel
def _find_facing(corners: np.ndarray, points: np.ndarray, width: int, height: int, facing: np.ndarray) -> int:
    """The triangles that face the viewer and whose box holds a spot, and how many there are. Nothing branches."""
    many, right_most, bottom_most = 0, width - 1.0, height - 1.0
    for t in range(len(corners)):
        i, j, k = corners[t, 0], corners[t, 1], corners[t, 2]
        ax, ay, bx, by, cx, cy = points[i, 0], points[i, 1], points[j, 0], points[j, 1], points[k, 0], points[k, 1]
        area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)
        left, right = max(min(min(ax, bx), cx), 0.0), min(max(max(ax, bx), cx), right_most)
        top, bottom = max(min(min(ay, by), cy), 0.0), min(max(max(ay, by), cy), bottom_most)
        facing[many] = t
        many += (area > SLIVER) & (np.ceil(left) <= np.floor(right)) & (np.ceil(top) <= np.floor(bottom))
    return many


@step
def _claim(corners: np.ndarray, t: int, points: np.ndarray, near: np.ndarray, owner: np.ndarray, number: int) -> None:
    """Let a triangle own the spots within it where it is nearest."""
    i, j, k = corners[t, 0], corners[t, 1], corners[t, 2]
    ax, ay, bx, by, cx, cy = points[i, 0], points[i, 1], points[j, 0], points[j, 1], points[k, 0], points[k, 1]
    aw, bw, cw, owned = points[i, 2], points[j, 2], points[k, 2], len(owner) > 0
    left, right = max(min(min(ax, bx), cx), 0.0), min(max(max(ax, bx), cx), near.shape[1] - 1.0)
    top, bottom = max(min(min(ay, by), cy), 0.0), min(max(max(ay, by), cy), near.shape[0] - 1.0)
    # How far a spot lies within each edge: slope_x * x + (slope_y * y + at), never negative inside. An edge seen from
    # the triangle on its other side has exactly the opposite numbers.
    a_x, a_y, a_at = cy - by, bx - cx, by * cx - bx * cy
    b_x, b_y, b_at = ay - cy, cx - ax, cy * ax - cx * ay
    c_x, c_y, c_at = by - ay, ax - bx, ay * bx - ax * by
    one = 1 / ((cx - ax) * (by - ay) - (bx - ax) * (cy - ay))
    slope_x, slope_y = one * (a_x * aw + b_x * bw + c_x * cw), one * (a_y * aw + b_y * bw + c_y * cw)
    a_one, b_one, c_one = _inverse(a_x), _inverse(b_x), _inverse(c_x)
    for y in range(int(np.ceil(top)), int(bottom) + 1):
        a_line, b_line, c_line = a_y * y + a_at, b_y * y + b_at, c_y * y + c_at
        w_line = aw + slope_y * (y - ay)
        low = max(max(_least(a_one, a_line), _least(b_one, b_line)), max(_least(c_one, c_line), left))
        high = min(min(_most(a_one, a_line), _most(b_one, b_line)), min(_most(c_one, c_line), right))
        for x in range(int(np.ceil(low)), int(np.floor(high)) + 1):
            if (a_x * x + a_line >= 0) & (b_x * x + b_line >= 0) & (c_x * x + c_line >= 0):
                w = np.float32(w_line + slope_x * (x - ax))
                if w > near[y, x]:
                    near[y, x] = w
                    if owned:
                        owner[y, x] = number


@step
def _inverse(slope: float) -> float:
    """Zero for an edge that runs nearly along the lines of spots: where it crosses one cannot be told."""
    return -1 / slope if abs(slope) > LEVEL else 0.0


@step
def _least(inverse: float, line: float) -> float:
    """The first place of a line of spots within an edge, and a little before it."""
    return inverse * line - SLACK if inverse < 0 else -FAR


@step
def _most(inverse: float, line: float) -> float:
    """The last place of a line of spots within an edge, and a little after it."""
    return inverse * line + SLACK if inverse > 0 else FAR
