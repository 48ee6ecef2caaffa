"""Lamps: CLEVR's three area lamps and its sun.

Lengths are those of the world. An area lamp is a square that faces the middle of the world and shines with the cosine
of the angle to its axis: a surface that it faces at distance d receives power / (4 d²). A surface that faces the sun
receives the sun's power anywhere. Places and powers of the area lamps are CLEVR's; the sun's power and width, which
stands for all light that is scattered about, were fitted to real images.
"""

import math
from dataclasses import dataclass

import numpy as np

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Lamp:
    """An area lamp where it stands without jitter."""

    name: str
    position: Vector
    side: float
    power: float
    color: Vector = (1.0, 1.0, 1.0)  # shares of light


KEY = Lamp("key", (6.44671, -2.90517, 4.2584), 0.5, 100.0, (1.0, 0.9323, 0.8167))
FILL = Lamp("fill", (-4.67112, -4.0136, 3.01122), 0.5, 30.0, (0.7617, 0.8177, 1.0))
BACK = Lamp("back", (-1.1685, 2.64602, 5.81574), 1.0, 50.0)
AREA_LAMPS = (KEY, FILL, BACK)
"""In the order of a scene's `lamps` column; their jitter is added to their positions."""

SUN_DIRECTION: Vector = (11.66081, -6.62799, 25.82317)
SUN_POWER = 0.72
SUN_WIDTH = 0.4
"""How wide the sun looks: its side at distance one."""

SUN_DISTANCE = 1000.0
"""Where the sun stands for the kernels, which know area lamps only: far enough to shine evenly."""

# --- what the kernels know of a lamp: the columns of its row -------------------------------------------------------

LAMP_X, LAMP_Y, LAMP_Z, AIM_X, AIM_Y, AIM_Z, LAMP_RADIUS, LAMP_RED, LAMP_GREEN, LAMP_BLUE = range(10)


def lamp_table(jitter: np.ndarray) -> np.ndarray:
    """The lamps and the sun of n scenes, float64[n, 3, 3] -> float64[n, 4, columns].

    The radius is that of a disc as large as the lamp; the colour is what a surface receives that faces it at distance
    one.
    """
    lamps = (*AREA_LAMPS, _sun())
    table = np.zeros((len(jitter), len(lamps), LAMP_BLUE + 1))
    for row, lamp in enumerate(lamps):
        table[:, row, LAMP_X : LAMP_Z + 1] = lamp.position
        table[:, row, LAMP_RADIUS] = lamp.side / math.sqrt(math.pi)
        table[:, row, LAMP_RED : LAMP_BLUE + 1] = np.array(lamp.color) * lamp.power / 4
    place = table[..., LAMP_X : LAMP_Z + 1]
    place[:, : len(AREA_LAMPS)] += jitter
    table[..., AIM_X : AIM_Z + 1] = -place / np.sqrt((place**2).sum(axis=-1, keepdims=True))
    return table


def _sun() -> Lamp:
    """The sun as an area lamp that is far away, large and bright."""
    x, y, z = (SUN_DISTANCE / math.hypot(*SUN_DIRECTION) * axis for axis in SUN_DIRECTION)
    return Lamp("sun", (x, y, z), SUN_WIDTH * SUN_DISTANCE, 4 * SUN_POWER * SUN_DISTANCE**2)
