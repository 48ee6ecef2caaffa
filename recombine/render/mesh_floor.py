"""The floor below models: lit as that of the ray tracer, with the shadows of depth maps."""

import math

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.depth_maps import Blockers, block, dim_floor
from recombine.render.floor import FLOOR, MAP, MAP_REACH, NEAR, bleed, fade, lay
from recombine.render.light import add, color_of, shine_up
from recombine.render.rays import place, ray
from recombine.world.camera import POSITION, RIGHT

WORK = 7
"""The lines of the work space: x, y, the light of a lamp, and four for shadows."""


@kernel
def light_floor(
    rows: np.ndarray,
    lamps: np.ndarray,
    view: np.ndarray,
    focal: float,
    maps: np.ndarray,
    frames: np.ndarray,
    found: Blockers,
    wanted: np.ndarray,
    work: np.ndarray,
    chosen: np.ndarray,
    chart: np.ndarray,
    light: np.ndarray,
) -> None:
    """The light of the floor: chart[3, MAP, MAP] around the middle of the world, and light[3, height, width] as seen.

    Shadows are laid only where wanted uint8[height + 1, width]; its last line is for all of the chart. `rows` are
    instances; `work` and `chosen` are work space of one line of the wider of both.
    """
    _, height, width = light.shape
    for lamp in range(len(lamps)):
        block(maps[lamp], frames[lamp], found)
        for i in range(MAP + height):
            seen, x, y, dx, dy = _line(view, focal, width, height, i)
            if not seen:
                continue
            n = MAP if i < MAP else width
            px, py, shine = work[0][:n], work[1][:n], work[2][:n]
            lay(x, dx, px)
            lay(y, dy, py)
            shine_up(lamps, lamp, px, py, shine)
            dim_floor(frames[lamp], found, px, py, wanted[height if i < MAP else i - MAP], shine, work[3:], chosen)
            out = chart[:, i] if i < MAP else light[:, i - MAP]
            if lamp == 0:
                for channel in range(3):
                    lay(0.0, 0.0, out[channel])
            add(color_of(lamps, lamp, FLOOR / math.pi), shine, out[0], out[1], out[2])
    for i in range(MAP + height):
        seen, x, y, dx, dy = _line(view, focal, width, height, i)
        n = MAP if i < MAP else width
        out = chart[:, i] if i < MAP else light[:, i - MAP]
        if not seen:
            for channel in range(3):
                lay(0.0, 0.0, out[channel])
            continue
        px, py, shine = work[0][:n], work[1][:n], work[2][:n]
        lay(x, dx, px)
        lay(y, dy, py)
        for row in range(len(rows)):
            bleed(rows[row], x, y, dx, dy, px, py, shine, out[0], out[1], out[2])
        if max(x * x + y * y, (x + n * dx) ** 2 + (y + n * dy) ** 2) > NEAR * NEAR:
            for channel in range(3):
                fade(px, py, out[channel])


@kernel
def _line(view: np.ndarray, focal: float, width: int, height: int, i: int) -> tuple[bool, float, float, float, float]:
    """Whether a line of the chart, or of the picture after it, shows the ground; where it starts, and its steps."""
    if i < MAP:
        step = 2 * MAP_REACH / MAP
        return True, 0.5 * step - MAP_REACH, (i + 0.5) * step - MAP_REACH, step, 0.0
    way = ray(view, focal, width, height, i - MAP, 0)
    if way[2] >= 0:
        return False, 0.0, 0.0, 0.0, 0.0
    far = -view[POSITION, 2] / way[2]
    x, y, _ = place(view, way, far)
    return True, x, y, far * view[RIGHT, 0] / focal, far * view[RIGHT, 1] / focal
