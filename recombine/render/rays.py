"""Rays of the camera and rays of the world, and where they meet primitives of the table.

`view` is where the camera stands and its axes, as in `recombine.world.camera`; `focal` its focal length in pixels. The
ray of a pixel has depth one, so how far it goes is how deep it gets.
"""

import numpy as np

from recombine.render.compiled import step
from recombine.render.intersect import MISS, Vector, curvature, enter, facing
from recombine.render.primitives import AXES, DEPTH, DETAIL, HEIGHT, KIND, WIDTH, X, Y, Z
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP


@step
def ray(view: np.ndarray, focal: float, width: int, height: int, i: float, j: float) -> Vector:
    """The direction of the middle of the pixel in row i and column j."""
    u, v = (j + 0.5 - width / 2) / focal, (height / 2 - 0.5 - i) / focal
    return (
        view[FORWARD, 0] + u * view[RIGHT, 0] + v * view[UP, 0],
        view[FORWARD, 1] + u * view[RIGHT, 1] + v * view[UP, 1],
        view[FORWARD, 2] + u * view[RIGHT, 2] + v * view[UP, 2],
    )


@step
def to_ground(view: np.ndarray, way: Vector) -> float:
    """How far a ray of the camera goes before it meets the ground; MISS where it never does."""
    return -view[POSITION, 2] / way[2] if way[2] < 0 else MISS


@step
def place(view: np.ndarray, way: Vector, far: float) -> Vector:
    """Where a ray of the camera gets to."""
    return view[POSITION, 0] + far * way[0], view[POSITION, 1] + far * way[1], view[POSITION, 2] + far * way[2]


@step
def size_of(rows: np.ndarray, row: int) -> Vector:
    return rows[row, WIDTH], rows[row, DEPTH], rows[row, HEIGHT]


@step
def within(rows: np.ndarray, row: int, x: float, y: float, z: float) -> Vector:
    """A direction of the world in the axes of a primitive."""
    return (
        rows[row, AXES] * x + rows[row, AXES + 3] * y + rows[row, AXES + 6] * z,
        rows[row, AXES + 1] * x + rows[row, AXES + 4] * y + rows[row, AXES + 7] * z,
        rows[row, AXES + 2] * x + rows[row, AXES + 5] * y + rows[row, AXES + 8] * z,
    )


@step
def meet(rows: np.ndarray, row: int, start: Vector, way: Vector) -> float:
    """How far a ray goes before it enters a primitive."""
    at = within(rows, row, start[0] - rows[row, X], start[1] - rows[row, Y], start[2] - rows[row, Z])
    toward = within(rows, row, way[0], way[1], way[2])
    return enter(int(rows[row, KIND]), size_of(rows, row), rows[row, DETAIL], at, toward)


@step
def outward(rows: np.ndarray, row: int, point: Vector, way: Vector) -> Vector:
    """The normal of a primitive at a point of it, in the axes of the world; `way` is how a ray came there."""
    at = within(rows, row, point[0] - rows[row, X], point[1] - rows[row, Y], point[2] - rows[row, Z])
    toward = within(rows, row, way[0], way[1], way[2])
    x, y, z = facing(int(rows[row, KIND]), size_of(rows, row), rows[row, DETAIL], at, toward)
    return (
        rows[row, AXES] * x + rows[row, AXES + 1] * y + rows[row, AXES + 2] * z,
        rows[row, AXES + 3] * x + rows[row, AXES + 4] * y + rows[row, AXES + 5] * z,
        rows[row, AXES + 6] * x + rows[row, AXES + 7] * y + rows[row, AXES + 8] * z,
    )


@step
def turning(rows: np.ndarray, row: int, point: Vector) -> float:
    """How far the normal of a primitive turns per length near a point of it."""
    at = within(rows, row, point[0] - rows[row, X], point[1] - rows[row, Y], point[2] - rows[row, Z])
    return curvature(int(rows[row, KIND]), size_of(rows, row), rows[row, DETAIL], at)
