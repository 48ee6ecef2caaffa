"""The eye: which primitive every pixel of an image shows, how deep it lies and which way it faces.

Of equally deep primitives the earlier one is seen. What lies below the ground is not seen.
"""

import math

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.intersect import Vector, enter
from recombine.render.primitives import AXES, DEPTH, DETAIL, HEIGHT, KIND, REACH, SPHERE, WIDTH, X, Y, Z
from recombine.render.rays import outward, place, ray, size_of, to_ground, within
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP

NOTHING = -1
"""What a pixel shows that shows the ground."""

HAIR = 1 + 1e-9
"""What rounding may add to a length."""


@kernel
def look(rows: np.ndarray, view: np.ndarray, focal: float, far: np.ndarray, owner: np.ndarray) -> None:
    """For every pixel the depth and the number of what it shows: NOTHING where that is the ground, or the sky."""
    height, width = far.shape
    for i in range(height):
        far[i] = to_ground(view, ray(view, focal, width, height, i, 0))  # a row of the image is level
    owner[:] = NOTHING
    for row in range(len(rows)):
        _look_at(rows, row, view, focal, far, owner)


@kernel
def _look_at(rows: np.ndarray, row: int, view: np.ndarray, focal: float, far: np.ndarray, owner: np.ndarray) -> None:
    """Let one primitive own the pixels where it is nearer than those before it."""
    height, width = far.shape
    x, y, z = rows[row, X] - view[POSITION, 0], rows[row, Y] - view[POSITION, 1], rows[row, Z] - view[POSITION, 2]
    deep = x * view[FORWARD, 0] + y * view[FORWARD, 1] + z * view[FORWARD, 2]
    across = x * view[RIGHT, 0] + y * view[RIGHT, 1] + z * view[RIGHT, 2]
    up = x * view[UP, 0] + y * view[UP, 1] + z * view[UP, 2]
    left, right, top, bottom = _bounds(rows, row, view, focal, (across, up, deep), width, height)
    kind, size, detail = int(rows[row, KIND]), size_of(rows, row), rows[row, DETAIL]
    at = within(rows, row, -x, -y, -z)
    rx, ry, rz = within(rows, row, view[RIGHT, 0], view[RIGHT, 1], view[RIGHT, 2])
    ux, uy, uz = within(rows, row, view[UP, 0], view[UP, 1], view[UP, 2])
    fx, fy, fz = within(rows, row, view[FORWARD, 0], view[FORWARD, 1], view[FORWARD, 2])
    for i in range(top, bottom):
        v = (height / 2 - 0.5 - i) / focal
        for j in range(left, right):
            u = (j + 0.5 - width / 2) / focal
            hit = enter(kind, size, detail, at, (fx + u * rx + v * ux, fy + u * ry + v * uy, fz + u * rz + v * uz))
            if hit < far[i, j]:
                far[i, j], owner[i, j] = hit, row


@step
def _bounds(
    rows: np.ndarray, row: int, view: np.ndarray, focal: float, centre: Vector, width: int, height: int
) -> tuple[int, int, int, int]:
    """The part of the image that a primitive may reach, ends excluded: within its ball as well as within its box."""
    across, up, deep = centre
    left, right = _span(across, deep, rows[row, REACH] * HAIR, focal, width)
    top, bottom = _span(-up, deep, rows[row, REACH] * HAIR, focal, height)
    if rows[row, KIND] == SPHERE:
        return left, right, top, bottom
    least, most, low, high = float(right), float(left), float(bottom), float(top)
    for corner in range(8):
        x = rows[row, WIDTH] if corner & 1 else -rows[row, WIDTH]
        y = rows[row, DEPTH] if corner & 2 else -rows[row, DEPTH]
        z = rows[row, HEIGHT] if corner & 4 else -rows[row, HEIGHT]
        a = rows[row, AXES] * x + rows[row, AXES + 1] * y + rows[row, AXES + 2] * z
        b = rows[row, AXES + 3] * x + rows[row, AXES + 4] * y + rows[row, AXES + 5] * z
        c = rows[row, AXES + 6] * x + rows[row, AXES + 7] * y + rows[row, AXES + 8] * z
        far = deep + a * view[FORWARD, 0] + b * view[FORWARD, 1] + c * view[FORWARD, 2]
        if far <= 0:  # such a corner is no bound
            return left, right, top, bottom
        column = width / 2 + focal * (across + a * view[RIGHT, 0] + b * view[RIGHT, 1] + c * view[RIGHT, 2]) / far
        line = height / 2 - focal * (up + a * view[UP, 0] + b * view[UP, 1] + c * view[UP, 2]) / far
        least, most, low, high = min(least, column), max(most, column), min(low, line), max(high, line)
    return max(left, int(least)), min(right, int(most) + 1), max(top, int(low)), min(bottom, int(high) + 1)


@step
def _span(offset: float, depth: float, radius: float, focal: float, size: int) -> tuple[int, int]:
    """The columns or rows of an image that a ball may reach, the end excluded."""
    # The slopes of the two tangents, in the plane of the camera's axis and one side of the image.
    spread = radius * math.sqrt(offset * offset + depth * depth - radius * radius)
    scale = depth * depth - radius * radius
    start = math.floor(size / 2 + focal * (offset * depth - spread) / scale)
    stop = math.ceil(size / 2 + focal * (offset * depth + spread) / scale)
    return max(0, start), min(size, stop)


@kernel
def number(rows: np.ndarray, column: int, owner: np.ndarray, numbers: np.ndarray) -> None:
    """The object, or the part, that every pixel shows."""
    for i in range(owner.shape[0]):
        for j in range(owner.shape[1]):
            numbers[i, j] = NOTHING if owner[i, j] == NOTHING else int(rows[owner[i, j], column])


@kernel
def face(
    rows: np.ndarray, view: np.ndarray, focal: float, far: np.ndarray, owner: np.ndarray, normals: np.ndarray
) -> None:
    """The normal of every pixel; up on the ground."""
    height, width = far.shape
    for i in range(height):
        for j in range(width):
            normal = (0.0, 0.0, 1.0)
            if owner[i, j] != NOTHING:
                way = ray(view, focal, width, height, i, j)
                normal = outward(rows, owner[i, j], place(view, way, far[i, j]), way)
            normals[i, j, 0], normals[i, j, 1], normals[i, j, 2] = normal
