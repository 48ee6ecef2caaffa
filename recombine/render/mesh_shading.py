"""Shading of models: what the eye sees at spots of their surfaces, by the arithmetic of the ray tracer.

Lamps light them, less what depth maps say is hidden; the floor glows at them from below; a mirror shows what stands in
the direction that it throws the eye's ray to, found by hierarchies. In a mirror there is no gloss, and a second mirror
shows the floor.

Spots are shaded in groups: those of one instance that throw light back in the same way.
"""

import math
from typing import NamedTuple

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.depth_maps import dim_points, seen_by
from recombine.render.floor import floor_at, ground_light
from recombine.render.hierarchy import first_met
from recombine.render.instances import (
    BLUE,
    BOX_LOW,
    BOX_SIDE,
    CELLS,
    COS,
    GREEN,
    MATERIAL,
    MIDDLE_X,
    MIDDLE_Y,
    MIDDLE_Z,
    MODEL,
    PATTERN,
    PLACE_X,
    PLACE_Y,
    PLACE_Z,
    PLAIN,
    REACH,
    RED,
    SIN,
    SIZE,
)
from recombine.render.intersect import MISS, Vector, dot
from recombine.render.lamps import LAMP_BLUE, LAMP_GREEN, LAMP_RED
from recombine.render.light import add, aim_of, color_of, falling, gloss, padded, place_of, shine, single
from recombine.render.materials import ACROSS, ALONG, DIFFUSE, GLOSS, MATERIALS, MIRROR, SHINE, TINT, material_table
from recombine.render.mesh_library import Library
from recombine.render.patterns import shade_of
from recombine.render.shading import CHUNK, HAZE, SPREAD, _from_below, _mirrored
from recombine.render.zbuffer import TRIANGLES
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP

KINDS = 2 * len(MATERIALS)
"""The ways to throw light back: every material plain, and every material with a pattern."""
PATTERNED = SHINE + 1
"""The column of the table of kinds with the share of light that is thrown back evenly in the colours of a pattern."""

OFF = 2e-3
"""How far above a surface a mirrored ray starts."""
GRAZING = 0.02
"""The least cosine at which a mirrored ray leaves the surface."""


class Stage(NamedTuple):
    """A scene as shading reads it."""

    rows: np.ndarray  # float64[k, columns], its instances
    looks: np.ndarray  # float64[looks, columns]
    chosen: np.ndarray  # int64[k, parts + 1], which look the body and every part has
    kinds: np.ndarray  # float64[KINDS, columns]
    lamps: np.ndarray  # float64[lamps, columns]
    maps: np.ndarray  # float32[lamps, side, side]
    frames: np.ndarray  # float64[lamps, FRAME]
    chart: np.ndarray  # float32[3, MAP, MAP], the light of the floor
    eye: np.ndarray  # float64[4, 3], the place and the axes of the camera


class Room(NamedTuple):
    """Work space."""

    work: np.ndarray  # float32[WORK, CHUNK]
    chosen: np.ndarray  # int32[CHUNK]
    stack: np.ndarray  # int32[DEEP]
    entered: np.ndarray  # float32[DEEP]


PX, PY, PZ, NX, NY, NZ, FX, FY, FZ, LIGHT, BEND, EVEN, BELOW, BOUNCE = range(14)
DULL, SHINY, GLOW, IMAGE, PAINT, SPARE = 14, 17, 20, 23, 26, 29
WORK = SPARE + 8
"""The lines of the work space: points, normals, which way triangles face, the light of a lamp, how far the normal turns
within a pixel, the shares that are thrown back evenly of lamps and of the floor, and by the gloss of the floor; three
channels each of the light of the lamps thrown back evenly and by the gloss, of the glow of the floor, of what a mirror
shows, and of the paint; and room for shadows."""


def kind_table() -> np.ndarray:
    """The ways to throw light back, float64[KINDS, columns]: as in `materials`, and one column for patterns."""
    plain = np.column_stack([material_table(), np.zeros(len(MATERIALS))])
    painted = plain.copy()
    painted[:, [DIFFUSE, MIRROR, GLOSS]] *= 0.5
    painted[:, PATTERNED] = 0.5 * MATERIALS["rubber"].diffuse
    painted[:, GLOSS] = np.maximum(painted[:, GLOSS], 0.5 * plain[:, GLOSS])
    painted[[*MATERIALS].index("rubber"), GLOSS] = MATERIALS["rubber"].gloss
    return np.concatenate([plain, painted])


@step
def look_of(stage: Stage, library: Library, owner: int) -> int:
    """The row of the look at an owner."""
    row = owner // TRIANGLES
    t = library.first_triangle[int(stage.rows[row, MODEL])] + owner % TRIANGLES
    return stage.chosen[row, library.part[t] + 1]


@kernel
def group_spots(stage: Stage, library: Library, owner: np.ndarray, spots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of spots by group, and where each group starts; a group is an instance times a kind."""
    groups, flat = len(stage.rows) * KINDS, owner.reshape(-1)
    start, group = np.zeros(groups + 2, np.int64), np.empty(len(spots), np.int32)
    for k in range(len(spots)):
        one = flat[spots[k]]
        look = look_of(stage, library, one)
        kind = int(stage.looks[look, MATERIAL]) + (0 if stage.looks[look, PATTERN] == PLAIN else KINDS // 2)
        group[k] = (one // TRIANGLES) * KINDS + kind
        start[group[k] + 2] += 1
    for g in range(2, groups + 2):
        start[g] += start[g - 1]
    order = np.empty(len(spots), np.int32)
    for k in range(len(spots)):
        order[start[group[k] + 1]] = k
        start[group[k] + 1] += 1
    return order, start[: groups + 1]


@kernel
def shade_spots(
    stage: Stage,
    library: Library,
    focal: float,
    owner: np.ndarray,
    seen: np.ndarray,
    first_seen: np.ndarray,
    spots: np.ndarray,
    order: np.ndarray,
    start: np.ndarray,
    highest: np.ndarray,
    room: Room,
    light: np.ndarray,
) -> None:
    """What the eye sees at spots: light float32[3, n].

    `seen` are the points of the instances in the lattice, those of instance i from first_seen[i] on.
    """
    for row in range(len(stage.rows)):
        for kind in range(KINDS):
            group = row * KINDS + kind
            for low in range(start[group], start[group + 1], CHUNK):
                part = order[low : min(low + CHUNK, start[group + 1])]
                _place(stage, library, focal, owner, seen, first_seen[row], spots, part, kind, room.work)
                _light(stage, row, stage.kinds[kind], len(part), highest, room)
                _gather(stage, library, row, stage.kinds[kind], len(part), room)
                _mix(stage.kinds[kind], room.work, part, light)


@kernel
def _place(
    stage: Stage,
    library: Library,
    focal: float,
    owner: np.ndarray,
    seen: np.ndarray,
    first: int,
    spots: np.ndarray,
    part: np.ndarray,
    kind: int,
    work: np.ndarray,
) -> None:
    """Where spots are in the world, which way they face, and how they are painted."""
    height, width, flat, view = owner.shape[0] // 2, owner.shape[1] // 2, owner.reshape(-1), stage.eye
    for k in range(len(part)):
        spot = spots[part[k]]
        line, column = spot // owner.shape[1], spot % owner.shape[1]
        row = flat[spot] // TRIANGLES
        t = library.first_triangle[int(stage.rows[row, MODEL])] + flat[spot] % TRIANGLES
        one, two, three, far = _within(seen, library.corners, t, first, float(column), float(line))
        u, v = (0.5 * column - 0.5 * width) / focal, (0.5 * height - 0.5 * line) / focal
        way = (
            view[FORWARD, 0] + u * view[RIGHT, 0] + v * view[UP, 0],
            view[FORWARD, 1] + u * view[RIGHT, 1] + v * view[UP, 1],
            view[FORWARD, 2] + u * view[RIGHT, 2] + v * view[UP, 2],
        )
        normal = _toward(_normal(stage, library, row, t, one, two, three), way)
        facing = _turned(stage, row, library.facing[t, 0], library.facing[t, 1], library.facing[t, 2])
        point = (
            view[POSITION, 0] + far * way[0],
            view[POSITION, 1] + far * way[1],
            view[POSITION, 2] + far * way[2],
        )
        work[PX, k], work[PY, k], work[PZ, k] = point
        work[NX, k], work[NY, k], work[NZ, k] = normal
        work[FX, k], work[FY, k], work[FZ, k] = facing
        bend = SPREAD / focal * library.bend[t] / stage.rows[row, SIZE]
        work[BEND, k] = bend * bend * far * far * dot(way, way)
        look = stage.chosen[row, library.part[t] + 1]
        for channel in range(3):
            work[PAINT + channel, k] = stage.looks[look, RED + channel] * library.tint[t]
        even = stage.kinds[kind, DIFFUSE]
        if stage.kinds[kind, PATTERNED] > 0:
            even += stage.kinds[kind, PATTERNED] * _painted(stage, row, look, point, way, far / focal, facing)
        work[EVEN, k] = even


@step
def _within(
    seen: np.ndarray, corners: np.ndarray, t: int, first: int, x: float, y: float
) -> tuple[float, float, float, float]:
    """The shares of its corners in the place of a triangle that a spot shows, and how deep that lies."""
    i, j, k = first + corners[t, 0], first + corners[t, 1], first + corners[t, 2]
    ax, ay, bx, by, cx, cy = seen[i, 0] - x, seen[i, 1] - y, seen[j, 0] - x, seen[j, 1] - y, seen[k, 0] - x, seen[k, 1] - y
    one, two, three = (cx * by - bx * cy) * seen[i, 2], (ax * cy - cx * ay) * seen[j, 2], (bx * ay - ax * by) * seen[k, 2]
    one, two, three = max(one, 0.0), max(two, 0.0), max(three, 0.0)
    scale = 1 / max(one + two + three, 1e-300)
    one, two, three = scale * one, scale * two, scale * three
    return one, two, three, one / seen[i, 2] + two / seen[j, 2] + three / seen[k, 2]


@step
def _turned(stage: Stage, row: int, x: float, y: float, z: float) -> Vector:
    """A direction of a model in the axes of the world."""
    cos, sin = stage.rows[row, COS], stage.rows[row, SIN]
    return cos * x - sin * y, sin * x + cos * y, np.float64(z)


@step
def _normal(stage: Stage, library: Library, row: int, t: int, one: float, two: float, three: float) -> Vector:
    """The normal between the corners of a triangle, in the world."""
    n = library.normals
    x = one * n[t, 0] + two * n[t, 3] + three * n[t, 6]
    y = one * n[t, 1] + two * n[t, 4] + three * n[t, 7]
    z = one * n[t, 2] + two * n[t, 5] + three * n[t, 8]
    scale = 1 / math.sqrt(max(x * x + y * y + z * z, 1e-12))
    return _turned(stage, row, scale * x, scale * y, scale * z)


@step
def _toward(normal: Vector, way: Vector) -> Vector:
    """A normal that does not look away from the eye, which looks along `way`."""
    scale = 1 / math.sqrt(dot(way, way))
    away = scale * dot(normal, way) + GRAZING
    if away <= 0:
        return normal
    x, y, z = normal[0] - away * scale * way[0], normal[1] - away * scale * way[1], normal[2] - away * scale * way[2]
    scale = 1 / math.sqrt(x * x + y * y + z * z)
    return scale * x, scale * y, scale * z


@kernel
def _painted(
    stage: Stage, row: int, look: int, point: Vector, way: Vector, pixel: float, facing: Vector
) -> float:
    """The share of its colour that the pattern of a surface keeps; `pixel` is how wide a pixel is there."""
    rows, looks, view = stage.rows, stage.looks, stage.eye
    cells = looks[look, CELLS]
    at = _into(rows, row, point[0] - rows[row, PLACE_X], point[1] - rows[row, PLACE_Y], point[2] - rows[row, PLACE_Z])
    inward = _into(rows, row, -facing[0], -facing[1], -facing[2])
    length = 1 / max(math.sqrt(dot(inward, inward)), 1e-9)
    away = dot(way, facing)
    away = 1 / (away if away < -0.1 else -0.1)
    right, up = away * dot((view[RIGHT, 0], view[RIGHT, 1], view[RIGHT, 2]), facing), away * dot((view[UP, 0], view[UP, 1], view[UP, 2]), facing)
    across = _into(
        rows,
        row,
        pixel * (view[RIGHT, 0] - right * way[0]),
        pixel * (view[RIGHT, 1] - right * way[1]),
        pixel * (view[RIGHT, 2] - right * way[2]),
    )
    down = _into(
        rows,
        row,
        pixel * (view[UP, 0] - up * way[0]),
        pixel * (view[UP, 1] - up * way[1]),
        pixel * (view[UP, 2] - up * way[2]),
    )
    wide = (abs(across[0]) + abs(down[0]), abs(across[1]) + abs(down[1]), abs(across[2]) + abs(down[2]))
    size = rows[row, SIZE]
    place = (
        at[0] - rows[row, BOX_LOW] / rows[row, BOX_SIDE],
        at[1] - rows[row, BOX_LOW + 1] / rows[row, BOX_SIDE + 1],
        at[2] - rows[row, BOX_LOW + 2] / rows[row, BOX_SIDE + 2],
    )
    return shade_of(
        int(looks[look, PATTERN]),
        cells,
        place,
        (length * inward[0], length * inward[1], length * inward[2]),
        wide,
    )


@step
def _into(rows: np.ndarray, row: int, x: float, y: float, z: float) -> Vector:
    """A way of the world in the box of an instance, whose sides have length one."""
    cos, sin, size = rows[row, COS], rows[row, SIN], rows[row, SIZE]
    return (
        (cos * x + sin * y) / (size * rows[row, BOX_SIDE]),
        (cos * y - sin * x) / (size * rows[row, BOX_SIDE + 1]),
        z / (size * rows[row, BOX_SIDE + 2]),
    )


@kernel
def _light(stage: Stage, row: int, kind: np.ndarray, count: int, highest: np.ndarray, room: Room) -> None:
    """Add what points throw back of all lamps."""
    work, n = room.work, padded(count)  # the points beyond the last are left over from before, and nobody looks at them
    x, y, z, light = work[PX][:n], work[PY][:n], work[PZ][:n], work[LIGHT][:n]
    a, b, c = work[NX][:n], work[NY][:n], work[NZ][:n]
    for line in range(DULL, SHINY + 3):
        for i in range(n):
            work[line, i] = 0.0
    eye = (stage.eye[POSITION, 0], stage.eye[POSITION, 1], stage.eye[POSITION, 2])
    axis = (stage.rows[row, MIDDLE_X], stage.rows[row, MIDDLE_Y], stage.rows[row, MIDDLE_Z])
    lobe, mirror = (kind[GLOSS], kind[ALONG], kind[ACROSS]), (kind[MIRROR], kind[SHINE])
    for lamp in range(len(stage.lamps)):
        shine(stage.lamps, lamp, x, y, z, a, b, c, light)
        dim_points(
            stage.maps[lamp], stage.frames[lamp], highest[lamp], x, y, z, work[FX], work[FY], work[FZ], light[:count], work[SPARE:], room.chosen
        )
        color = color_of(stage.lamps, lamp, 1.0)
        add(color, light, work[DULL][:n], work[DULL + 1][:n], work[DULL + 2][:n])
        gloss(stage.lamps, lamp, eye, axis, lobe, mirror, x, y, z, a, b, c, work[BEND][:n], light)
        add(color, light, work[SHINY][:n], work[SHINY + 1][:n], work[SHINY + 2][:n])


@kernel
def _gather(stage: Stage, library: Library, row: int, kind: np.ndarray, n: int, room: Room) -> None:
    """The glow of the floor around points, and what their mirror shows."""
    work, view = room.work, stage.eye
    eye = (view[POSITION, 0], view[POSITION, 1], view[POSITION, 2])
    for i in range(n):
        point = (np.float64(work[PX, i]), np.float64(work[PY, i]), np.float64(work[PZ, i]))
        normal = (np.float64(work[NX, i]), np.float64(work[NY, i]), np.float64(work[NZ, i]))
        glow = floor_at(stage.chart, stage.lamps, point[0] + point[2] * normal[0], point[1] + point[2] * normal[1])
        image, bounce = (0.0, 0.0, 0.0), 0.5 * kind[GLOSS]
        if kind[MIRROR] > 0:
            facing = (np.float64(work[FX, i]), np.float64(work[FY, i]), np.float64(work[FZ, i]))
            away = _leaving(_mirrored(eye, point, normal), facing)
            begin = (point[0] + OFF * facing[0], point[1] + OFF * facing[1], point[2] + OFF * facing[2])
            image = _image(stage, library, begin, away, room)
            bounce = kind[GLOSS] * min(max(0.5 - HAZE * away[2], 0.0), 1.0)
        for channel in range(3):
            work[GLOW + channel, i], work[IMAGE + channel, i] = glow[channel], kind[MIRROR] * image[channel]
        work[BELOW, i], work[BOUNCE, i] = _from_below(point[2], normal[2]), bounce


@step
def _leaving(way: Vector, facing: Vector) -> Vector:
    """A way that leaves a surface."""
    short = GRAZING - dot(way, facing)
    if short <= 0:
        return way
    x, y, z = way[0] + short * facing[0], way[1] + short * facing[1], way[2] + short * facing[2]
    scale = 1 / math.sqrt(x * x + y * y + z * z)
    return scale * x, scale * y, scale * z


@kernel
def _mix(kind: np.ndarray, work: np.ndarray, part: np.ndarray, light: np.ndarray) -> None:
    """What the eye sees of points, in their colours."""
    lamp, tint = np.float32(1 / math.pi), np.float32(kind[TINT])
    white = np.float32(1) - tint
    for channel in range(3):
        dull, shiny, glow, image = work[DULL + channel], work[SHINY + channel], work[GLOW + channel], work[IMAGE + channel]
        paint, even, below, bounce, out = work[PAINT + channel], work[EVEN], work[BELOW], work[BOUNCE], work[LIGHT]
        for i in range(len(part)):
            out[i] = paint[i] * (even[i] * (lamp * dull[i] + below[i] * glow[i]) + image[i]) + (
                white + tint * paint[i]
            ) * (shiny[i] + bounce[i] * glow[i])
        for i in range(len(part)):
            light[channel, part[i]] = out[i]


# --- mirrors ------------------------------------------------------------------------------------------------------


@kernel
def _image(stage: Stage, library: Library, start: Vector, way: Vector, room: Room) -> Vector:
    """What stands in a mirror: `way`, of length one, leads from it."""
    far, row, t = nearest(stage, library, start, way, room)
    if row < 0:
        return ground_light(stage.chart, stage.lamps, start, way)
    rows, lamps = stage.rows, stage.lamps
    point = (start[0] + far * way[0], start[1] + far * way[1], start[2] + far * way[2])
    one, two, three = _shares(rows, library, row, t, point)
    normal = _toward(_normal(stage, library, row, t, one, two, three), way)
    red, green, blue = floor_at(stage.chart, lamps, point[0] + point[2] * normal[0], point[1] + point[2] * normal[1])
    below = math.pi * _from_below(point[2], normal[2])
    red, green, blue = below * red, below * green, below * blue
    for lamp in range(len(lamps)):
        place = place_of(lamps, lamp)
        light = falling((place[0] - point[0], place[1] - point[1], place[2] - point[2]), aim_of(lamps, lamp), normal)
        if light > 0 and seen_by(stage.maps[lamp], stage.frames[lamp], point[0], point[1], point[2]):
            red += light * lamps[lamp, LAMP_RED]
            green += light * lamps[lamp, LAMP_GREEN]
            blue += light * lamps[lamp, LAMP_BLUE]
    look = stage.chosen[row, library.part[t] + 1]
    kind = int(stage.looks[look, MATERIAL]) + (0 if stage.looks[look, PATTERN] == PLAIN else KINDS // 2)
    even, mirror, image = stage.kinds[kind, DIFFUSE], stage.kinds[kind, MIRROR], (0.0, 0.0, 0.0)
    if stage.kinds[kind, PATTERNED] > 0:
        facing = _turned(stage, row, library.facing[t, 0], library.facing[t, 1], library.facing[t, 2])
        even += stage.kinds[kind, PATTERNED] * _painted(stage, row, look, point, way, 0.02 * far, facing)
    if mirror > 0:
        image = ground_light(stage.chart, lamps, point, _mirrored(start, point, normal))
    even, tint = even / math.pi, np.float64(library.tint[t])
    return (
        tint * stage.looks[look, RED] * (even * red + mirror * image[0]),
        tint * stage.looks[look, GREEN] * (even * green + mirror * image[1]),
        tint * stage.looks[look, BLUE] * (even * blue + mirror * image[2]),
    )


@kernel
def nearest(stage: Stage, library: Library, start: Vector, way: Vector, room: Room) -> tuple[float, int, int]:
    """How far the first triangle is that a ray of length one meets before the floor, its instance, or -1, and itself."""
    rows, found, triangle = stage.rows, -1, -1
    hit = -start[2] / way[2] if way[2] < 0 else MISS
    for row in range(len(rows)):
        x, y, z = rows[row, MIDDLE_X] - start[0], rows[row, MIDDLE_Y] - start[1], rows[row, MIDDLE_Z] - start[2]
        ahead, reach = x * way[0] + y * way[1] + z * way[2], rows[row, REACH]
        if ahead < -reach or ahead - reach > hit or x * x + y * y + z * z - ahead * ahead > reach * reach:
            continue
        model, cos, sin, scale = int(rows[row, MODEL]), rows[row, COS], rows[row, SIN], 1 / rows[row, SIZE]
        x, y, z = start[0] - rows[row, PLACE_X], start[1] - rows[row, PLACE_Y], start[2] - rows[row, PLACE_Z]
        far, t = first_met(
            library.boxes,
            library.children,
            library.first_node[model],
            library.rays,
            library.first_triangle[model],
            single((scale * (cos * x + sin * y), scale * (cos * y - sin * x), scale * z)),
            single((scale * (cos * way[0] + sin * way[1]), scale * (cos * way[1] - sin * way[0]), scale * way[2])),
            np.float32(min(hit, 1e6)),
            room.stack,
            room.entered,
        )
        if t >= 0:
            hit, found, triangle = np.float64(far), row, t
    return hit, found, triangle


@step
def _shares(rows: np.ndarray, library: Library, row: int, t: int, point: Vector) -> Vector:
    """The shares of its corners in a point of a triangle."""
    cos, sin, scale, rays = rows[row, COS], rows[row, SIN], 1 / rows[row, SIZE], library.rays
    x, y, z = point[0] - rows[row, PLACE_X], point[1] - rows[row, PLACE_Y], point[2] - rows[row, PLACE_Z]
    x, y, z = scale * (cos * x + sin * y) - rays[t, 0], scale * (cos * y - sin * x) - rays[t, 1], scale * z - rays[t, 2]
    a, b = (rays[t, 3], rays[t, 4], rays[t, 5]), (rays[t, 6], rays[t, 7], rays[t, 8])
    aa, ab, bb, pa, pb = dot(a, a), dot(a, b), dot(b, b), dot((x, y, z), a), dot((x, y, z), b)
    scale = 1 / max(aa * bb - ab * ab, 1e-30)
    two, three = scale * (bb * pa - ab * pb), scale * (aa * pb - ab * pa)
    two, three = min(max(two, 0.0), 1.0), min(max(three, 0.0), 1.0)
    return max(1 - two - three, 0.0), two, three
