"""The floor below models: lit as that of the ray tracer, with the shadows of depth maps."""

import math

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.depth_maps import Blockers, block, dim_floor, dimmed
from recombine.render.floor import FLOOR, MAP, MAP_REACH, NEAR, bleed, fade, lay
from recombine.render.light import add, color_of, shine_up
from recombine.render.rays import place, ray
from recombine.world.camera import POSITION, RIGHT

WORK = 3
"""The lines of the work space: x, y, and the light of a lamp."""


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
    chart: np.ndarray,
    light: np.ndarray,
) -> None:
    """The light of the floor: chart[3, MAP, MAP] around the middle of the world, and light[3, height, width] as seen.

    Shadows are laid only where wanted uint8[height + 1, width]; its last line is for all of the chart. `rows` are
    instances; `work` and `chosen` are work space of one line of the wider of both.
    """
    _, height, width = light.shape
    sums, heights, dims, bounds = found.sums, found.height, found.dims, found.bounds
    block(maps, frames, found)
    for i in range(MAP + height):
        seen, x, y, dx, dy = _line(view, focal, width, height, i)
        n, out = (MAP, chart[:, i]) if i < MAP else (width, light[:, i - MAP])
        red, green, blue = out[0], out[1], out[2]
        lay(0.0, 0.0, red)
        lay(0.0, 0.0, green)
        lay(0.0, 0.0, blue)
        if not seen:
            continue
        want, px, py, shine = wanted[height if i < MAP else i - MAP], work[0][:n], work[1][:n], work[2][:n]
        lay(x, dx, px)
        lay(y, dy, py)
        for lamp in range(len(lamps)):
            shine_up(lamps, lamp, px, py, shine)
            a, b = dimmed(frames[lamp], bounds[lamp], x, y, dx, dy, n)
            if a < b:
                dim_floor(frames[lamp], sums[lamp], heights[lamp], dims[lamp], px[a:b], py[a:b], want[a:b], shine[a:b])
            add(color_of(lamps, lamp, FLOOR / math.pi), shine, red, green, blue)
        for row in range(len(rows)):
            bleed(rows[row], x, y, dx, dy, px, py, shine, red, green, blue)
        if max(x * x + y * y, (x + n * dx) ** 2 + (y + n * dy) ** 2) > NEAR * NEAR:
            fade(px, py, red)
            fade(px, py, green)
            fade(px, py, blue)


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
