"""Things: the objects of a scene as wholes, each a ball around its primitives."""

import math

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.lamps import LAMP_RADIUS, LAMP_X, LAMP_Y, LAMP_Z
from recombine.render.primitives import OBJECT, REACH, RED, X

BALL_X, BALL_Y, BALL_Z, BALL_REACH, FIRST, LAST, THING_RED, THING_GREEN, THING_BLUE = range(9)
"""The columns of the table: the ball, the primitives from FIRST to before LAST, and their mean colour."""


@kernel
def things_of(rows: np.ndarray) -> np.ndarray:
    """The objects of a scene, float64[objects, columns]."""
    things = np.zeros((int(rows[-1, OBJECT]) + 1 if len(rows) else 0, THING_BLUE + 1))
    for row in range(len(rows)):
        thing = things[int(rows[row, OBJECT])]
        if thing[LAST] == 0:
            thing[FIRST] = row
        thing[LAST] = row + 1
        for axis in range(3):
            thing[BALL_X + axis] += rows[row, X + axis]
            thing[THING_RED + axis] += rows[row, RED + axis]
    for i in range(len(things)):
        _enclose(rows, things[i])
    return things


@step
def _enclose(rows: np.ndarray, thing: np.ndarray) -> None:
    """Turn sums over the primitives of a thing into means, and let its ball hold them all."""
    for axis in range(3):
        thing[BALL_X + axis] /= thing[LAST] - thing[FIRST]
        thing[THING_RED + axis] /= thing[LAST] - thing[FIRST]
    for row in range(int(thing[FIRST]), int(thing[LAST])):
        x, y, z = thing[BALL_X] - rows[row, X], thing[BALL_Y] - rows[row, X + 1], thing[BALL_Z] - rows[row, X + 2]
        thing[BALL_REACH] = max(thing[BALL_REACH], math.sqrt(x * x + y * y + z * z) + rows[row, REACH])


@kernel
def balls_of(rows: np.ndarray) -> np.ndarray:
    """The balls around single primitives, float64[p, 4]: the first columns of a table of things."""
    balls = np.empty((len(rows), BALL_REACH + 1))
    for row in range(len(rows)):
        for axis in range(3):
            balls[row, axis] = rows[row, X + axis]
        balls[row, BALL_REACH] = rows[row, REACH]
    return balls


@step
def may_hide(ball: np.ndarray, other: np.ndarray, lamps: np.ndarray, lamp: int) -> bool:
    """Whether another ball comes near the straight way from a ball to a lamp."""
    wx, wy, wz = lamps[lamp, LAMP_X] - ball[0], lamps[lamp, LAMP_Y] - ball[1], lamps[lamp, LAMP_Z] - ball[2]
    x, y, z = other[0] - ball[0], other[1] - ball[1], other[2] - ball[2]
    ahead = (x * wx + y * wy + z * wz) / (wx * wx + wy * wy + wz * wz)
    ahead = min(max(ahead, 0.0), 1.0)
    x, y, z = x - ahead * wx, y - ahead * wy, z - ahead * wz
    wide = other[BALL_REACH] + (1 - ahead) * ball[BALL_REACH] + ahead * lamps[lamp, LAMP_RADIUS]
    return x * x + y * y + z * z < wide * wide
