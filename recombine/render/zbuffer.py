"""The z-buffer: which triangle is nearest at every spot of a picture, seen from the camera or from a lamp.

A picture is a grid of spots at whole numbers. The points of the instances are projected once: column, row, and how near
they are, which is one over their depth and so changes evenly across a flat triangle. Then every triangle that faces the
viewer claims the spots within it where it is nearer than those before. Both triangles at an edge find the same spots on
their side of it, so there are no gaps; a spot exactly on the edge belongs to the nearer one, or the earlier.

What is written into a spot is an owner: the number of the instance in its scene and that of the triangle in its model.
"""

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.instances import COS, MODEL, PLACE_X, PLACE_Y, PLACE_Z, SIN, SIZE
from recombine.render.intersect import Vector
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP

TRIANGLES = 1 << 24
"""Owners are instance * TRIANGLES + triangle."""

BEHIND = 0.05
"""What is nearer than this to the plane of a viewer, or behind it, is not seen."""


@step
def in_world(rows: np.ndarray, row: int, point: np.ndarray) -> Vector:
    """A point of a model where an instance has it."""
    x, y, z = rows[row, SIZE] * point[0], rows[row, SIZE] * point[1], rows[row, SIZE] * point[2]
    cos, sin = rows[row, COS], rows[row, SIN]
    return rows[row, PLACE_X] + cos * x - sin * y, rows[row, PLACE_Y] + sin * x + cos * y, rows[row, PLACE_Z] + z


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
    (height, width), owned = near.shape, len(owner) > 0
    right_most, bottom_most = float(width - 1), float(height - 1)
    start = 0
    for row in range(len(rows)):
        model = int(rows[row, MODEL])
        first = first_triangle[model]
        for t in range(first, first_triangle[model + 1]):
            i, j, k = start + corners[t, 0], start + corners[t, 1], start + corners[t, 2]
            ax, ay, bx, by, cx, cy = seen[i, 0], seen[i, 1], seen[j, 0], seen[j, 1], seen[k, 0], seen[k, 1]
            area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)
            if not area > 0:
                continue
            low_x, high_x = max(min(ax, bx, cx), 0.0), min(max(ax, bx, cx), right_most)
            low_y, high_y = max(min(ay, by, cy), 0.0), min(max(ay, by, cy), bottom_most)
            left, top = int(np.ceil(low_x)), int(np.ceil(low_y))
            right, bottom = int(high_x), int(high_y)
            if left > right or top > bottom or high_x < 0 or high_y < 0:
                continue
            aw, bw, cw = seen[i, 2], seen[j, 2], seen[k, 2]
            least = min(aw, bw, cw)
            most = max(aw, bw, cw)
            # How far a spot lies within each edge: slope_x * x + (slope_y * y + at), never negative inside.
            a_x, a_y, a_at = cy - by, bx - cx, by * cx - bx * cy
            b_x, b_y, b_at = ay - cy, cx - ax, cy * ax - cx * ay
            c_x, c_y, c_at = by - ay, ax - bx, ay * bx - ax * by
            one = 1 / area
            slope_x, slope_y = one * (a_x * aw + b_x * bw + c_x * cw), one * (a_y * aw + b_y * bw + c_y * cw)
            number = np.int32(row * TRIANGLES + (t - first))
            for y in range(top, bottom + 1):
                a_line, b_line, c_line = a_y * y + a_at, b_y * y + b_at, c_y * y + c_at
                w_line = aw + slope_y * (y - ay)
                for x in range(left, right + 1):
                    if a_x * x + a_line >= 0 and b_x * x + b_line >= 0 and c_x * x + c_line >= 0:
                        w = np.float32(min(max(w_line + slope_x * (x - ax), least), most))
                        if w > near[y, x]:
                            near[y, x] = w
                            if owned:
                                owner[y, x] = number
        start += first_point[model + 1] - first_point[model]
