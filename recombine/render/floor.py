"""The floor: light on the ground, row by row.

Along a row of pixels the ground runs straight, so a row of the image, or of a map, is a start, a step and a number of
points. Shadows are laid over it only where the cone behind a primitive meets the row, and the light that things throw
at the ground only around them.
"""

import math
from typing import Any

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.intersect import Vector
from recombine.render.lamps import LAMP_BLUE, LAMP_GREEN, LAMP_RADIUS, LAMP_RED, LAMP_X, LAMP_Y, LAMP_Z
from recombine.render.light import LANES, add, aim_of, color_of, dim, falling, padded, shine_up
from recombine.render.rays import place, ray
from recombine.render.things import BALL_X, BALL_Y, BALL_Z, FIRST, LAST, THING_BLUE, THING_GREEN, THING_RED
from recombine.world.camera import POSITION, RIGHT

FLOOR = 0.66
"""The share of light that the ground throws back, of any colour."""

NEARBY = 4.0
"""How far a thing throws light at the ground, in units of its height."""
BLEED = 0.03
"""The light that the ground receives right beside a thing, per share of its colour."""

FADE = 40.0
"""At this distance from the middle of the world half of the ground's light is left, and soon after nothing."""
NEAR = 15.0
"""So far there is no telling that it fades."""

MAP = 64
"""The points along a side of the map of the floor."""
MAP_REACH = 6.0
"""How far the map extends from the middle of the world."""

CONE = 7
"""A cone: its tip, its axis, and the squared cosine of its half angle (0: so wide that everything is within)."""

_ONE: Any = np.float32(1)
_FADE: Any = np.float32(1 / FADE**2)


@kernel
def light_floor(
    rows: np.ndarray,
    things: np.ndarray,
    balls: np.ndarray,
    lamps: np.ndarray,
    view: np.ndarray,
    focal: float,
    work: np.ndarray,
    chart: np.ndarray,
    light: np.ndarray,
) -> None:
    """The light of the floor: chart[3, MAP, MAP] around the middle of the world, and light[3, height, width] as seen.

    The floor is lit also where something stands before it; above the horizon there is none.
    """
    _, height, width = light.shape
    wholes, singles, step = cones(things, lamps), cones(balls, lamps), 2 * MAP_REACH / MAP
    for i in range(MAP + height):
        if i < MAP:
            red, green, blue = chart[0, i], chart[1, i], chart[2, i]
            x, y, dx, dy = 0.5 * step - MAP_REACH, (i + 0.5) * step - MAP_REACH, step, 0.0
        else:
            red, green, blue = light[0, i - MAP], light[1, i - MAP], light[2, i - MAP]
            way = ray(view, focal, width, height, i - MAP, 0)
            if way[2] >= 0:
                red[:], green[:], blue[:] = 0.0, 0.0, 0.0
                continue
            far = -view[POSITION, 2] / way[2]
            x, y, _ = place(view, way, far)
            dx, dy = far * view[RIGHT, 0] / focal, far * view[RIGHT, 1] / focal
        floor_row(rows, things, lamps, wholes, singles, x, y, dx, dy, work, red, green, blue)


@kernel
def cones(balls: np.ndarray, lamps: np.ndarray) -> np.ndarray:
    """The cones behind balls outside of which a lamp is seen whole, float64[lamps, balls, CONE]."""
    found = np.zeros((len(lamps), len(balls), CONE))
    for lamp in range(len(lamps)):
        for ball in range(len(balls)):
            x = balls[ball, 0] - lamps[lamp, LAMP_X]
            y = balls[ball, 1] - lamps[lamp, LAMP_Y]
            z = balls[ball, 2] - lamps[lamp, LAMP_Z]
            away, wide = math.sqrt(x * x + y * y + z * z), balls[ball, 3] + lamps[lamp, LAMP_RADIUS]
            tip, cone = lamps[lamp, LAMP_RADIUS] / wide, found[lamp, ball]
            cone[0], cone[1] = lamps[lamp, LAMP_X] + tip * x, lamps[lamp, LAMP_Y] + tip * y
            cone[2] = lamps[lamp, LAMP_Z] + tip * z
            cone[3], cone[4], cone[5] = x / away, y / away, z / away
            cone[6] = max(0.0, 1.0 - wide * wide / (away * away))
    return found


@step
def _in_cone(cone: np.ndarray, x: float, y: float, dx: float, dy: float, n: int) -> tuple[int, int]:
    """The points of a row on the ground that may lie in a cone, the last excluded."""
    px, py, pz = x - cone[0], y - cone[1], -cone[2]
    start, step = px * cone[3] + py * cone[4] + pz * cone[5], dx * cone[3] + dy * cone[4]
    # The points i with (start + i step)² >= cosine² |p + i d|² and start + i step > 0.
    a = step * step - cone[6] * (dx * dx + dy * dy)
    if a >= 0 or cone[6] == 0:
        return 0, n
    b = start * step - cone[6] * (px * dx + py * dy)
    low, high = _between(-a, -b, -start * start + cone[6] * (px * px + py * py + pz * pz), n)
    return (low, high) if start + 0.5 * (low + high) * step > 0 else (0, 0)


@step
def _between(a: float, b: float, c: float, n: int) -> tuple[int, int]:
    """The numbers i from 0 to n with a i² + 2 b i + c <= 0, and perhaps one more at either end, the last excluded."""
    root = b * b - a * c
    if root <= 0:
        return 0, 0
    root = math.sqrt(root)
    return int(min(max((-b - root) / a, 0.0), n)), int(min(max((-b + root) / a + 1.0, 0.0), n))


@kernel
def floor_row(
    rows: np.ndarray,
    things: np.ndarray,
    lamps: np.ndarray,
    wholes: np.ndarray,
    singles: np.ndarray,
    x: float,
    y: float,
    dx: float,
    dy: float,
    work: np.ndarray,
    red: np.ndarray,
    green: np.ndarray,
    blue: np.ndarray,
) -> None:
    """The light that leaves the points x + i dx, y + i dy of the ground.

    `wholes` and `singles` are the cones behind things and behind primitives.
    """
    n = len(red)
    px, py, pz, light = work[0][:n], work[1][:n], work[2][:n], work[3][:n]
    lay(x, dx, px)
    lay(y, dy, py)
    lay(0.0, 0.0, pz)
    lay(0.0, 0.0, red)
    lay(0.0, 0.0, green)
    lay(0.0, 0.0, blue)
    for lamp in range(len(lamps)):
        shine_up(lamps, lamp, px, py, light)
        for thing in range(len(things)):
            start, stop = _in_cone(wholes[lamp, thing], x, y, dx, dy, n)
            for row in range(int(things[thing, FIRST]), int(things[thing, LAST]) if start < stop else 0):
                start, stop = _in_cone(singles[lamp, row], x, y, dx, dy, n)
                if start < stop:
                    start, stop = start - start % LANES, min(padded(stop), n)
                    dim(rows, row, lamps, lamp, px[start:stop], py[start:stop], pz[start:stop], light[start:stop])
        add(color_of(lamps, lamp, FLOOR / math.pi), light, red, green, blue)
    for thing in range(len(things)):
        bleed(things[thing], x, y, dx, dy, px, py, light, red, green, blue)
    if max(x * x + y * y, (x + n * dx) ** 2 + (y + n * dy) ** 2) > NEAR * NEAR:
        fade(px, py, red)
        fade(px, py, green)
        fade(px, py, blue)


@kernel
def lay(start: float, step: float, line: np.ndarray) -> None:
    """Evenly spaced numbers."""
    first: Any = np.float32(start)
    pace: Any = np.float32(step)
    for i in range(len(line)):
        line[i] = first + pace * np.float32(np.int32(i))


@kernel
def bleed(
    thing: np.ndarray,
    x: float,
    y: float,
    dx: float,
    dy: float,
    px: np.ndarray,
    py: np.ndarray,
    light: np.ndarray,
    red: np.ndarray,
    green: np.ndarray,
    blue: np.ndarray,
) -> None:
    """Add the light that a thing throws at the ground around it."""
    x, y, reach = x - thing[BALL_X], y - thing[BALL_Y], NEARBY * thing[BALL_Z]
    start, stop = _between(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - reach * reach, len(px))
    if start >= stop:
        return
    px, py, light = px[start:stop], py[start:stop], light[start:stop]
    middle_x, middle_y, scale = np.float32(thing[BALL_X]), np.float32(thing[BALL_Y]), np.float32(1 / (reach * reach))
    for i in range(len(light)):
        off_x, off_y = px[i] - middle_x, py[i] - middle_y
        close = max(_ONE - (off_x * off_x + off_y * off_y) * scale, np.float32(0))
        light[i] = close * close * close * close
    shares = (BLEED * thing[THING_RED], BLEED * thing[THING_GREEN], BLEED * thing[THING_BLUE])
    add(shares, light, red[start:stop], green[start:stop], blue[start:stop])


@kernel
def fade(px: np.ndarray, py: np.ndarray, color: np.ndarray) -> None:
    for i in range(len(color)):
        color[i] *= _left(px[i], py[i])


@step
def _left(x: float, y: float) -> float:
    """The share of the ground's light that is left at this distance from the middle of the world."""
    far = (x * x + y * y) * _FADE
    far = far * far
    return _ONE / (_ONE + far * far)


# --- the floor, seen from elsewhere -------------------------------------------------------------------------------


@step
def ground_light(chart: np.ndarray, lamps: np.ndarray, start: Vector, way: Vector) -> Vector:
    """What a ray sees that meets nothing but the ground or the black sky."""
    if way[2] >= -1e-3:
        return 0.0, 0.0, 0.0
    far = -start[2] / way[2]
    return floor_at(chart, lamps, start[0] + far * way[0], start[1] + far * way[1])


@step
def floor_at(chart: np.ndarray, lamps: np.ndarray, x: float, y: float) -> Vector:
    """The light of the floor at a place: from the map, or beyond it without shadows."""
    a, b = (x / MAP_REACH + 1) * (0.5 * MAP) - 0.5, (y / MAP_REACH + 1) * (0.5 * MAP) - 0.5
    if not (0 <= a < MAP - 1 and 0 <= b < MAP - 1):
        return _open_floor(lamps, x, y)
    i, j = int(a), int(b)
    a, b = a - i, b - j
    return _blend(chart, 0, i, j, a, b), _blend(chart, 1, i, j, a, b), _blend(chart, 2, i, j, a, b)


@step
def _blend(chart: np.ndarray, channel: int, i: int, j: int, a: float, b: float) -> float:
    near = (1 - a) * chart[channel, j, i] + a * chart[channel, j, i + 1]
    return (1 - b) * near + b * ((1 - a) * chart[channel, j + 1, i] + a * chart[channel, j + 1, i + 1])


@kernel
def _open_floor(lamps: np.ndarray, x: float, y: float) -> Vector:
    """The light of a floor on which nothing stands."""
    red, green, blue = 0.0, 0.0, 0.0
    for lamp in range(len(lamps)):
        way = (lamps[lamp, LAMP_X] - x, lamps[lamp, LAMP_Y] - y, lamps[lamp, LAMP_Z])
        light = falling(way, aim_of(lamps, lamp), (0.0, 0.0, 1.0))
        red += light * lamps[lamp, LAMP_RED]
        green += light * lamps[lamp, LAMP_GREEN]
        blue += light * lamps[lamp, LAMP_BLUE]
    left = FLOOR / math.pi * _left(x, y)
    return left * red, left * green, left * blue
