"""Shading: what the eye sees of points of primitives.

Lamps light them, less what other primitives hide; the floor glows at them from below; and a mirror shows what stands in
the direction that it throws the eye's ray to. In a mirror there is no gloss, there are shadows on the floor only, and a
second mirror shows the floor. The sky is black.
"""

import math

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.floor import floor_at, ground_light
from recombine.render.intersect import MISS, Vector, dot
from recombine.render.lamps import LAMP_BLUE, LAMP_GREEN, LAMP_RED
from recombine.render.light import add, aim_of, color_of, dim, falling, gloss, padded, place_of, shine
from recombine.render.materials import ACROSS, ALONG, DIFFUSE, GLOSS, MIRROR, PLAIN, SHINE, TINT, painted
from recombine.render.primitives import (
    BLUE,
    GRAIN,
    GREEN,
    MATERIAL,
    OBJECT,
    RED,
    TEXTURE,
    X,
    Y,
    Z,
)
from recombine.render.rays import meet, outward, turning, within
from recombine.render.things import BALL_REACH, BALL_X, BALL_Y, BALL_Z, FIRST, LAST, may_hide

OFF = 1e-3
"""How far above a surface a mirrored ray starts."""

HAZE = 0.8
"""How soon a gloss loses sight of the floor as it turns up from the horizon."""

CONTACT = 0.1
"""At this height a surface that faces the floor receives half of its light."""

SPREAD = 0.2
"""How much wider a mirror's highlight gets, for every angle that the normal turns within a pixel."""

CHUNK = 512
"""How many points are shaded at once."""

PX, PY, PZ, NX, NY, NZ, LIGHT, DULL, SHINY, GLOW, IMAGE, BELOW, BOUNCE, KEEP, BEND = (
    *range(8),
    10,
    13,
    16,
    19,
    20,
    21,
    22,
)
WORK = BEND + 1
"""The lines of the work space: points, normals, the light of a lamp; three channels each of what is thrown back evenly,
what is thrown back by the gloss, the glow of the floor and what a mirror shows; how much of that glow the surface and
its gloss throw back, the share of its colour that a texture keeps, and how far the normal turns within a pixel.
"""


@kernel
def shade_all(
    rows: np.ndarray,
    things: np.ndarray,
    balls: np.ndarray,
    lamps: np.ndarray,
    materials: np.ndarray,
    chart: np.ndarray,
    position: np.ndarray,
    focal: float,
    start: np.ndarray,
    points: np.ndarray,
    work: np.ndarray,
    seen: np.ndarray,
) -> None:
    """What the eye sees of points [3, n]: seen[3, n]. Those of primitive i are start[i]:start[i + 1]."""
    eye = (position[0], position[1], position[2])
    for row in range(len(rows)):
        for low in range(start[row], start[row + 1], CHUNK):
            high = min(low + CHUNK, start[row + 1])
            _shade(rows, things, balls, lamps, materials, chart, eye, focal, row, points[:, low:high], work)
            for channel in range(3):
                _mix(rows, row, materials, channel, work, seen[channel][low:high])


@kernel
def _shade(
    rows: np.ndarray,
    things: np.ndarray,
    balls: np.ndarray,
    lamps: np.ndarray,
    materials: np.ndarray,
    chart: np.ndarray,
    eye: Vector,
    focal: float,
    row: int,
    points: np.ndarray,
    work: np.ndarray,
) -> None:
    """What reaches points of one primitive, no more than CHUNK of them, and what they throw back of it."""
    n = points.shape[1]
    for i in range(n):
        point = (np.float64(points[0, i]), np.float64(points[1, i]), np.float64(points[2, i]))
        work[PX, i], work[PY, i], work[PZ, i] = point
        way = (point[0] - eye[0], point[1] - eye[1], point[2] - eye[2])
        work[NX, i], work[NY, i], work[NZ, i] = outward(rows, row, point, way)
        work[BEND, i] = (SPREAD / focal * turning(rows, row, point)) ** 2 * dot(way, way)
    full = padded(n)  # the points beyond the last are left over from before, and nobody looks at them
    for line in range(DULL, SHINY + 3):
        for i in range(full):
            work[line, i] = 0.0
    for lamp in range(len(lamps)):
        _light(rows, things, balls, lamps, lamp, materials, eye, row, full, work)
    _gather(rows, things, lamps, materials, chart, eye, row, n, work)


@kernel
def _light(
    rows: np.ndarray,
    things: np.ndarray,
    balls: np.ndarray,
    lamps: np.ndarray,
    lamp: int,
    materials: np.ndarray,
    eye: Vector,
    row: int,
    n: int,
    work: np.ndarray,
) -> None:
    """Add what the points throw back of one lamp."""
    x, y, z, light = work[PX][:n], work[PY][:n], work[PZ][:n], work[LIGHT][:n]
    a, b, c = work[NX][:n], work[NY][:n], work[NZ][:n]
    shine(lamps, lamp, x, y, z, a, b, c, light)
    for thing in range(len(things)):
        if may_hide(balls[row], things[thing], lamps, lamp):
            for other in range(int(things[thing, FIRST]), int(things[thing, LAST])):
                if other != row and may_hide(balls[row], balls[other], lamps, lamp):
                    dim(rows, other, lamps, lamp, x, y, z, light)
    add(color_of(lamps, lamp, 1.0), light, work[DULL][:n], work[DULL + 1][:n], work[DULL + 2][:n])
    material, thing = int(rows[row, MATERIAL]), int(rows[row, OBJECT])
    lobe = (materials[material, GLOSS], materials[material, ALONG], materials[material, ACROSS])
    mirror = (materials[material, MIRROR], materials[material, SHINE])
    axis = (things[thing, BALL_X], things[thing, BALL_Y], things[thing, BALL_Z])
    gloss(lamps, lamp, eye, axis, lobe, mirror, x, y, z, a, b, c, work[BEND][:n], light)
    add(color_of(lamps, lamp, 1.0), light, work[SHINY][:n], work[SHINY + 1][:n], work[SHINY + 2][:n])


@kernel
def _gather(
    rows: np.ndarray,
    things: np.ndarray,
    lamps: np.ndarray,
    materials: np.ndarray,
    chart: np.ndarray,
    eye: Vector,
    row: int,
    n: int,
    work: np.ndarray,
) -> None:
    """The glow of the floor around the points, what their mirror shows, and what is left of the light by a texture."""
    material = int(rows[row, MATERIAL])
    diffuse, lobe, mirror = materials[material, DIFFUSE], materials[material, GLOSS], materials[material, MIRROR]
    for i in range(n):
        point = (np.float64(work[PX, i]), np.float64(work[PY, i]), np.float64(work[PZ, i]))
        normal = (np.float64(work[NX, i]), np.float64(work[NY, i]), np.float64(work[NZ, i]))
        glow = floor_at(chart, lamps, point[0] + point[2] * normal[0], point[1] + point[2] * normal[1])
        image, bounce = (0.0, 0.0, 0.0), 0.5 * lobe
        if mirror > 0:
            away = mirrored(eye, point, normal)
            start = (point[0] + OFF * normal[0], point[1] + OFF * normal[1], point[2] + OFF * normal[2])
            image = _image(rows, things, lamps, materials, chart, row, start, away)
            bounce = lobe * min(max(0.5 - HAZE * away[2], 0.0), 1.0)
        for channel in range(3):
            work[GLOW + channel, i], work[IMAGE + channel, i] = glow[channel], mirror * image[channel]
        work[BELOW, i], work[BOUNCE, i] = diffuse * from_below(point[2], normal[2]), bounce
        work[KEEP, i] = pattern(rows, row, point, normal)


@step
def from_below(height: float, up: float) -> float:
    """The share of its light that a surface receives from the floor; close above the floor it shades itself."""
    return (0.5 - 0.5 * up) * (1 - max(-up, 0.0) * CONTACT / (max(height, 0.0) + CONTACT))


@kernel
def _mix(rows: np.ndarray, row: int, materials: np.ndarray, channel: int, work: np.ndarray, seen: np.ndarray) -> None:
    """One channel of what the eye sees, in the colour of the primitive."""
    n, material = len(seen), int(rows[row, MATERIAL])
    share, tint, color = materials[material, DIFFUSE], materials[material, TINT], rows[row, RED + channel]
    dull, shiny, glow = work[DULL + channel][:n], work[SHINY + channel][:n], work[GLOW + channel][:n]
    image, bounce, keep, below = work[IMAGE + channel][:n], work[BOUNCE][:n], work[KEEP][:n], work[BELOW][:n]
    lamp, paint = np.float32(share / math.pi), np.float32(color)
    white, tinted = np.float32(1 - tint), np.float32(tint * color)
    for i in range(n):
        even = lamp * dull[i] + below[i] * glow[i] + image[i]
        seen[i] = keep[i] * paint * even + (white + tinted * keep[i]) * (shiny[i] + bounce[i] * glow[i])


# --- mirrors ------------------------------------------------------------------------------------------------------


@step
def mirrored(eye: Vector, point: Vector, normal: Vector) -> Vector:
    """The direction, of length one, in which a mirror throws the eye's ray."""
    x, y, z = point[0] - eye[0], point[1] - eye[1], point[2] - eye[2]
    scale = 1 / math.sqrt(x * x + y * y + z * z)
    twice = 2 * (x * normal[0] + y * normal[1] + z * normal[2])
    return scale * (x - twice * normal[0]), scale * (y - twice * normal[1]), scale * (z - twice * normal[2])


@step
def _image(
    rows: np.ndarray,
    things: np.ndarray,
    lamps: np.ndarray,
    materials: np.ndarray,
    chart: np.ndarray,
    own: int,
    start: Vector,
    way: Vector,
) -> Vector:
    """What stands in a mirror: `way` leads from it."""
    hit, row = nearest(rows, things, own, start, way)
    if row < 0:
        return ground_light(chart, lamps, start, way)
    point = (start[0] + hit * way[0], start[1] + hit * way[1], start[2] + hit * way[2])
    normal = outward(rows, row, point, way)
    red, green, blue = floor_at(chart, lamps, point[0] + point[2] * normal[0], point[1] + point[2] * normal[1])
    below = math.pi * from_below(point[2], normal[2])
    red, green, blue = below * red, below * green, below * blue
    for lamp in range(len(lamps)):
        place = place_of(lamps, lamp)
        light = falling((place[0] - point[0], place[1] - point[1], place[2] - point[2]), aim_of(lamps, lamp), normal)
        red += light * lamps[lamp, LAMP_RED]
        green += light * lamps[lamp, LAMP_GREEN]
        blue += light * lamps[lamp, LAMP_BLUE]
    material = int(rows[row, MATERIAL])
    dull, mirror = materials[material, DIFFUSE] / math.pi, materials[material, MIRROR]
    image = (0.0, 0.0, 0.0)
    if mirror > 0:
        image = ground_light(chart, lamps, point, mirrored(start, point, normal))
    keep = pattern(rows, row, point, normal)
    return (
        keep * rows[row, RED] * (dull * red + mirror * image[0]),
        keep * rows[row, GREEN] * (dull * green + mirror * image[1]),
        keep * rows[row, BLUE] * (dull * blue + mirror * image[2]),
    )


@step
def nearest(rows: np.ndarray, things: np.ndarray, own: int, start: Vector, way: Vector) -> tuple[float, int]:
    """The first primitive that a ray of length one meets, and how far away; -1 where there is none."""
    hit, found = MISS, -1
    for thing in range(len(things)):
        x, y, z = things[thing, BALL_X] - start[0], things[thing, BALL_Y] - start[1], things[thing, BALL_Z] - start[2]
        ahead, reach = x * way[0] + y * way[1] + z * way[2], things[thing, BALL_REACH]
        if ahead < -reach or x * x + y * y + z * z - ahead * ahead > reach * reach:
            continue
        for row in range(int(things[thing, FIRST]), int(things[thing, LAST])):
            if row != own:
                far = meet(rows, row, start, way)
                if far < hit:
                    hit, found = far, row
    return hit, found


@step
def pattern(rows: np.ndarray, row: int, point: Vector, normal: Vector) -> float:
    """The share of its colour that a primitive keeps at a point: textures lie flat on the side that it faces."""
    texture = int(rows[row, TEXTURE])
    if texture == PLAIN:
        return 1.0
    x, y, z = within(rows, row, point[0] - rows[row, X], point[1] - rows[row, Y], point[2] - rows[row, Z])
    a, b, c = within(rows, row, normal[0], normal[1], normal[2])
    grain = rows[row, GRAIN]
    if abs(c) >= max(abs(a), abs(b)):
        return painted(texture, x / grain, y / grain)
    return painted(texture, y / grain, z / grain) if abs(a) > abs(b) else painted(texture, x / grain, z / grain)
