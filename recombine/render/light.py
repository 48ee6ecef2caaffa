"""Light on many points at once: what reaches them of a lamp, and what they throw back toward the eye.

Points are float32 columns (x, y, z, and the normal there), so that a loop does eight of them at a time; `light` is what
reaches them of one lamp, per unit of its colour.
"""

import math
from typing import Any

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.intersect import Vector
from recombine.render.lamps import (
    AIM_X,
    AIM_Y,
    AIM_Z,
    LAMP_BLUE,
    LAMP_GREEN,
    LAMP_RADIUS,
    LAMP_RED,
    LAMP_X,
    LAMP_Y,
    LAMP_Z,
)
from recombine.render.primitives import AXES, BOX, CYLINDER, DETAIL, KIND, SPHERE, X, Y, Z
from recombine.render.rays import size_of, within
from recombine.render.shadow import ONE, ZERO, hidden, hidden_by_ball, hidden_by_box, hidden_by_cylinder, mean, scaled

QUARTER_OVER_PI: Any = np.float32(0.25 / math.pi)
TINY: Any = np.float32(1e-6)


LANES = 8
"""How many points are done at a time; the rest of a stretch costs as much as many more."""


@step
def padded(n: int) -> int:
    """The number of points, and a few more to fill the last lanes."""
    return n + (-n) % LANES


@step
def single(vector: Vector) -> Vector:
    """A vector in float32."""
    x: Any = np.float32(vector[0])
    y: Any = np.float32(vector[1])
    z: Any = np.float32(vector[2])
    return x, y, z


@step
def place_of(lamps: np.ndarray, lamp: int) -> Vector:
    return lamps[lamp, LAMP_X], lamps[lamp, LAMP_Y], lamps[lamp, LAMP_Z]


@step
def color_of(lamps: np.ndarray, lamp: int, share: float) -> Vector:
    return share * lamps[lamp, LAMP_RED], share * lamps[lamp, LAMP_GREEN], share * lamps[lamp, LAMP_BLUE]


@step
def aim_of(lamps: np.ndarray, lamp: int) -> Vector:
    return lamps[lamp, AIM_X], lamps[lamp, AIM_Y], lamps[lamp, AIM_Z]


@step
def falling(way: Vector, aim: Vector, normal: Vector) -> float:
    """The light that falls on a surface from a lamp: `way` leads to the lamp, which looks along `aim`."""
    x, y, z = way
    upright = x * normal[0] + y * normal[1] + z * normal[2]
    toward = -(x * aim[0] + y * aim[1] + z * aim[2])
    close = ONE / (x * x + y * y + z * z)
    return max(upright, ZERO) * max(toward, ZERO) * close * close


@kernel
def shine(
    lamps: np.ndarray,
    lamp: int,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    light: np.ndarray,
) -> None:
    """What reaches points with the normals a, b, c of a lamp that nothing hides."""
    place, aim = single(place_of(lamps, lamp)), single(aim_of(lamps, lamp))
    for i in range(len(light)):
        way = (place[0] - x[i], place[1] - y[i], place[2] - z[i])
        light[i] = falling(way, aim, (a[i], b[i], c[i]))


@kernel
def shine_up(lamps: np.ndarray, lamp: int, x: np.ndarray, y: np.ndarray, light: np.ndarray) -> None:
    """What reaches points of the ground of a lamp that nothing hides."""
    place, aim = single(place_of(lamps, lamp)), single(aim_of(lamps, lamp))
    for i in range(len(light)):
        light[i] = falling((place[0] - x[i], place[1] - y[i], place[2]), aim, (ZERO, ZERO, ONE))


@kernel
def dim(
    rows: np.ndarray,
    row: int,
    lamps: np.ndarray,
    lamp: int,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    light: np.ndarray,
) -> None:
    """Take away what a primitive hides of a lamp."""
    kind, size = int(rows[row, KIND]), single(size_of(rows, row))
    detail: Any = np.float32(rows[row, DETAIL])
    radius: Any = np.float32(lamps[lamp, LAMP_RADIUS])
    turn = (
        single((rows[row, AXES], rows[row, AXES + 3], rows[row, AXES + 6])),
        single((rows[row, AXES + 1], rows[row, AXES + 4], rows[row, AXES + 7])),
        single((rows[row, AXES + 2], rows[row, AXES + 5], rows[row, AXES + 8])),
    )
    place, centre = place_of(lamps, lamp), (rows[row, X], rows[row, Y], rows[row, Z])
    goal = single(within(rows, row, place[0] - centre[0], place[1] - centre[1], place[2] - centre[2]))
    middle = single(centre)
    if kind == SPHERE:
        for i in range(len(light)):
            at = _local(turn, x[i] - middle[0], y[i] - middle[1], z[i] - middle[2])
            way = (goal[0] - at[0], goal[1] - at[1], goal[2] - at[2])
            light[i] *= ONE - hidden_by_ball(scaled(at, size), scaled(way, size), radius / mean(size))
    elif kind == BOX:
        for i in range(len(light)):
            at = _local(turn, x[i] - middle[0], y[i] - middle[1], z[i] - middle[2])
            way = (goal[0] - at[0], goal[1] - at[1], goal[2] - at[2])
            light[i] *= ONE - hidden_by_box(size, detail, at, way, radius)
    elif kind == CYLINDER:
        for i in range(len(light)):
            at = _local(turn, x[i] - middle[0], y[i] - middle[1], z[i] - middle[2])
            way = (goal[0] - at[0], goal[1] - at[1], goal[2] - at[2])
            light[i] *= ONE - hidden_by_cylinder(size, at, way, radius)
    else:
        for i in range(len(light)):
            at = _local(turn, x[i] - middle[0], y[i] - middle[1], z[i] - middle[2])
            way = (goal[0] - at[0], goal[1] - at[1], goal[2] - at[2])
            light[i] *= ONE - hidden(kind, size, detail, at, way, radius)


@step
def _local(turn: tuple[Vector, Vector, Vector], x: float, y: float, z: float) -> Vector:
    one, two, three = turn
    return (
        one[0] * x + one[1] * y + one[2] * z,
        two[0] * x + two[1] * y + two[2] * z,
        three[0] * x + three[1] * y + three[2] * z,
    )


@kernel
def gloss(
    lamps: np.ndarray,
    lamp: int,
    eye: Vector,
    axis: Vector,
    lobe: Vector,
    mirror: tuple[float, float],
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    bend: np.ndarray,
    light: np.ndarray,
) -> None:
    """Turn the light that reaches points into what their gloss and their mirror throw toward the eye.

    Both are brightest where the normal lies halfway between lamp and eye. `lobe` is the share of the gloss and its
    widths along and across brushes that run in rings about the upright `axis`; `mirror` is that of the mirror, and its
    width, which grows by how far the normal turns within a pixel: `bend` is the square of that.
    """
    place, eye, axis = single(place_of(lamps, lamp)), single(eye), single(axis)
    share, along, across = single((lobe[0] / (lobe[1] * lobe[2]), 1 / (lobe[1] * lobe[1]), 1 / (lobe[2] * lobe[2])))
    strength, narrowest = np.float32(mirror[0]), np.float32(mirror[1] * mirror[1])
    for i in range(len(light)):
        to_lamp = (place[0] - x[i], place[1] - y[i], place[2] - z[i])
        to_eye = (eye[0] - x[i], eye[1] - y[i], eye[2] - z[i])
        nearer, closer = ONE / math.sqrt(_dot(to_lamp, to_lamp)), ONE / math.sqrt(_dot(to_eye, to_eye))
        half = (
            to_lamp[0] * nearer + to_eye[0] * closer,
            to_lamp[1] * nearer + to_eye[1] * closer,
            to_lamp[2] * nearer + to_eye[2] * closer,
        )
        normal = (a[i], b[i], c[i])
        squared, up, aside = _dot(half, half), _dot(half, normal), _dot(half, to_eye) * closer
        # The ring through the point, as far as it lies within the surface.
        ring_x, ring_y = axis[1] - y[i], x[i] - axis[0]
        off = ring_x * a[i] + ring_y * b[i]
        ring = (ring_x - off * a[i], ring_y - off * b[i], -off * c[i])
        around = _dot(half, ring)
        around = around * around / max(_dot(ring, ring), TINY)
        up = up * up
        wide = around * along + (squared - up - around) * across + up
        width = narrowest + bend[i]
        narrow = squared - up + up * width
        bright = share / (wide * wide) + strength * width / (narrow * narrow)
        light[i] *= QUARTER_OVER_PI * squared * squared * squared * bright / max(aside * aside, TINY)


@step
def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def add(shares: Vector, light: np.ndarray, red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> None:
    """Add a share of the light to each channel of what the eye sees."""
    shares = single(shares)
    for i in range(len(light)):
        red[i] += shares[0] * light[i]
        green[i] += shares[1] * light[i]
        blue[i] += shares[2] * light[i]
