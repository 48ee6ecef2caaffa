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
from recombine.render.hierarchy import DEEP, first_met
from recombine.render.instances import (
    BLUE,
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
from recombine.render.mesh_library import BEND as TURNING
from recombine.render.mesh_library import FACING, NORMALS, PART, Library
from recombine.render.mesh_library import TINT as TINTED
from recombine.render.patterns import painted
from recombine.render.shading import CHUNK, HAZE, SPREAD, from_below, mirrored
from recombine.render.zbuffer import TRIANGLES
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP

KINDS = 2 * len(MATERIALS)
"""The ways to throw light back: every material plain, and every material with a pattern."""
PATTERNED = SHINE + 1
"""The column of the table of kinds with the share of light that is thrown back evenly in the colours of a pattern."""

OFF = 2e-3
"""How far above a surface a mirrored ray starts."""
GRAZING = 0.02
"""The least cosine at which an eye sees a surface, and at which a mirrored ray leaves it."""
BLUR = 0.02
"""How wide a pattern is smoothed in a mirror, per distance."""


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
    """Work space for a chunk of spots."""

    work: np.ndarray  # float32[WORK, CHUNK]
    chosen: np.ndarray  # int32[CHUNK]
    ways: np.ndarray  # float64[7, CHUNK], where mirrored rays start, where they go, and how far
    met: np.ndarray  # int32[2, CHUNK], the instance and the triangle that they meet
    stack: np.ndarray  # int32[DEEP]
    entered: np.ndarray  # float32[DEEP]


PX, PY, PZ, NX, NY, NZ, FX, FY, FZ, LIGHT, BEND, EVEN, BELOW, BOUNCE = range(14)
DULL, SHINY, GLOW, IMAGE, PAINT, SPARE = 14, 17, 20, 23, 26, 29
WORK = SPARE + 8
"""The lines of the work space: points, normals, which way triangles face, the light of a lamp, how far the normal turns
within a pixel, the shares that are thrown back evenly of lamps and of the floor, and by the gloss of the floor; three
channels each of the light of the lamps thrown back evenly and by the gloss, of the glow of the floor, of what a mirror
shows, and of the paint; and room for shadows."""


def work_space() -> Room:
    return Room(
        np.zeros((WORK, CHUNK), np.float32),
        np.empty(CHUNK, np.int32),
        np.empty((7, CHUNK)),
        np.empty((2, CHUNK), np.int32),
        np.empty(DEEP, np.int32),
        np.empty(DEEP, np.float32),
    )


def kind_table() -> np.ndarray:
    """The ways to throw light back, float64[KINDS, columns]: as in `materials`, and one column for patterns."""
    plain = np.column_stack([material_table(), np.zeros(len(MATERIALS))])
    half = plain.copy()
    half[:, [DIFFUSE, MIRROR, GLOSS]] *= 0.5
    half[:, PATTERNED] = 0.5 * MATERIALS["rubber"].diffuse
    half[[*MATERIALS].index("rubber"), GLOSS] = MATERIALS["rubber"].gloss
    return np.concatenate([plain, half])


@step
def kind_of(looks: np.ndarray, look: int) -> int:
    """How a surface with a look throws light back."""
    return int(looks[look, MATERIAL]) + (0 if looks[look, PATTERN] == PLAIN else KINDS // 2)


@kernel
def group_spots(
    stage: Stage, first: np.ndarray, surface: np.ndarray, owner: np.ndarray, spots: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of spots by group, and where each group starts; a group is an instance times a kind.

    `first` are the first triangles of the instances in the library, whose surfaces are the other column.
    """
    looks, chosen, groups, flat = stage.looks, stage.chosen, len(stage.rows) * KINDS, owner.reshape(-1)
    start, group = np.zeros(groups + 2, np.int64), np.empty(len(spots), np.int32)
    for k in range(len(spots)):
        row = flat[spots[k]] // TRIANGLES
        t = first[row] + flat[spots[k]] % TRIANGLES
        group[k] = row * KINDS + kind_of(looks, chosen[row, int(surface[t, PART]) + 1])
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
                place_spots(stage, library, row, kind, focal, owner, seen, first_seen[row], spots, part, room)
                light_spots(stage, row, kind, len(part), room)
                gather_glow(stage, kind, len(part), room)
                if stage.kinds[kind, MIRROR] > 0:
                    trace_mirrors(stage, library, kind, len(part), room)
                    show_mirrors(stage, library, kind, len(part), room)
                _mix(stage.kinds[kind], room.work, part, light)


# --- where spots are ----------------------------------------------------------------------------------------------


@kernel
def place_spots(
    stage: Stage,
    library: Library,
    row: int,
    kind: int,
    focal: float,
    owner: np.ndarray,
    seen: np.ndarray,
    first_seen: int,
    spots: np.ndarray,
    part: np.ndarray,
    room: Room,
) -> None:
    """Where spots of an instance are in the world, which way they face, and how they are painted."""
    rows, looks, chosen, view, work = stage.rows, stage.looks, stage.chosen, stage.eye, room.work
    corners, surface = library.corners, library.surface
    first, cos, sin = library.first_triangle[int(rows[row, MODEL])], rows[row, COS], rows[row, SIN]
    even, patterned = stage.kinds[kind, DIFFUSE], stage.kinds[kind, PATTERNED]
    height, stride, flat = owner.shape[0] // 2, owner.shape[1], owner.reshape(-1)
    spread = SPREAD / (focal * rows[row, SIZE])
    for k in range(len(part)):
        spot = spots[part[k]]
        t = first + flat[spot] % TRIANGLES
        line, column = spot // stride, spot % stride
        one, two, three, far = within(seen, corners, t, first_seen, float(column), float(line))
        u, v = (0.5 * column - 0.5 * (stride // 2)) / focal, (0.5 * height - 0.5 * line) / focal
        way = (
            view[FORWARD, 0] + u * view[RIGHT, 0] + v * view[UP, 0],
            view[FORWARD, 1] + u * view[RIGHT, 1] + v * view[UP, 1],
            view[FORWARD, 2] + u * view[RIGHT, 2] + v * view[UP, 2],
        )
        x, y, z = view[POSITION, 0] + far * way[0], view[POSITION, 1] + far * way[1], view[POSITION, 2] + far * way[2]
        work[PX, k], work[PY, k], work[PZ, k] = x, y, z
        work[NX, k], work[NY, k], work[NZ, k] = _toward(normal_at(surface, t, one, two, three, cos, sin), way)
        facing = _turned(surface[t, FACING], surface[t, FACING + 1], surface[t, FACING + 2], cos, sin)
        work[FX, k], work[FY, k], work[FZ, k] = facing
        work[BEND, k] = (spread * surface[t, TURNING] * far) ** 2 * dot(way, way)
        look = chosen[row, int(surface[t, PART]) + 1]
        for channel in range(3):
            work[PAINT + channel, k] = looks[look, RED + channel] * surface[t, TINTED]
        work[EVEN, k] = even
        if patterned > 0:
            work[EVEN, k] += patterned * painted(rows, row, looks, look, view, (x, y, z), way, far / focal, facing)


@step
def within(
    points: np.ndarray, corners: np.ndarray, t: int, first: int, x: float, y: float
) -> tuple[float, float, float, float]:
    """The shares of its corners in the place of a triangle that a spot shows, and how deep that lies."""
    i, j, k = first + corners[t, 0], first + corners[t, 1], first + corners[t, 2]
    ax, ay, bx, by = points[i, 0] - x, points[i, 1] - y, points[j, 0] - x, points[j, 1] - y
    cx, cy = points[k, 0] - x, points[k, 1] - y
    # By area in the picture, and by how near the corners are.
    one, two, three = max(cx * by - bx * cy, 0.0), max(ax * cy - cx * ay, 0.0), max(bx * ay - ax * by, 0.0)
    area = one + two + three
    one, two, three = one * points[i, 2], two * points[j, 2], three * points[k, 2]
    near = max(one + two + three, 1e-300)
    return one / near, two / near, three / near, area / near


@step
def _turned(x: float, y: float, z: float, cos: float, sin: float) -> Vector:
    """A direction of a model in the axes of the world."""
    return cos * x - sin * y, sin * x + cos * y, np.float64(z)


@step
def normal_at(surface: np.ndarray, t: int, one: float, two: float, three: float, cos: float, sin: float) -> Vector:
    """The normal between the corners of a triangle, in the world."""
    n = NORMALS
    x = one * surface[t, n] + two * surface[t, n + 3] + three * surface[t, n + 6]
    y = one * surface[t, n + 1] + two * surface[t, n + 4] + three * surface[t, n + 7]
    z = one * surface[t, n + 2] + two * surface[t, n + 5] + three * surface[t, n + 8]
    scale = 1 / math.sqrt(max(x * x + y * y + z * z, 1e-12))
    return _turned(scale * x, scale * y, scale * z, cos, sin)


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


# --- light --------------------------------------------------------------------------------------------------------


@kernel
def light_spots(stage: Stage, row: int, kind: int, count: int, room: Room) -> None:
    """Add what points throw back of all lamps."""
    rows, lamps, kinds, view, work = stage.rows, stage.lamps, stage.kinds, stage.eye, room.work
    n = padded(count)  # the points beyond the last are left over from before, and nobody looks at them
    x, y, z, light, bend = work[PX][:n], work[PY][:n], work[PZ][:n], work[LIGHT][:n], work[BEND][:n]
    a, b, c = work[NX][:n], work[NY][:n], work[NZ][:n]
    dull, shiny = work[DULL : DULL + 3], work[SHINY : SHINY + 3]
    for channel in range(3):
        for i in range(n):
            dull[channel, i], shiny[channel, i] = 0.0, 0.0
    eye = (view[POSITION, 0], view[POSITION, 1], view[POSITION, 2])
    axis = (rows[row, MIDDLE_X], rows[row, MIDDLE_Y], rows[row, MIDDLE_Z])
    lobe = (kinds[kind, GLOSS], kinds[kind, ALONG], kinds[kind, ACROSS])
    mirror = (kinds[kind, MIRROR], kinds[kind, SHINE])
    for lamp in range(len(lamps)):
        shine(lamps, lamp, x, y, z, a, b, c, light)
        dim_points(stage.maps[lamp], stage.frames[lamp], work[:LIGHT], light[:count], work[SPARE:], room.chosen)
        color = color_of(lamps, lamp, 1.0)
        add(color, light, dull[0][:n], dull[1][:n], dull[2][:n])
        gloss(lamps, lamp, eye, axis, lobe, mirror, x, y, z, a, b, c, bend, light)
        add(color, light, shiny[0][:n], shiny[1][:n], shiny[2][:n])


@kernel
def gather_glow(stage: Stage, kind: int, count: int, room: Room) -> None:
    """The glow of the floor around points."""
    chart, lamps, work, bounce = stage.chart, stage.lamps, room.work, 0.5 * stage.kinds[kind, GLOSS]
    for i in range(count):
        a, b, c = np.float64(work[NX, i]), np.float64(work[NY, i]), np.float64(work[NZ, i])
        x, y, z = np.float64(work[PX, i]), np.float64(work[PY, i]), np.float64(work[PZ, i])
        work[GLOW, i], work[GLOW + 1, i], work[GLOW + 2, i] = floor_at(chart, lamps, x + z * a, y + z * b)
        work[BELOW, i], work[BOUNCE, i] = from_below(z, c), bounce
        work[IMAGE, i], work[IMAGE + 1, i], work[IMAGE + 2, i] = 0.0, 0.0, 0.0


@kernel
def _mix(kind: np.ndarray, work: np.ndarray, part: np.ndarray, light: np.ndarray) -> None:
    """What the eye sees of points, in their colours."""
    lamp, tint = np.float32(1 / math.pi), np.float32(kind[TINT])
    white = np.float32(1) - tint
    even, below, bounce, out = work[EVEN], work[BELOW], work[BOUNCE], work[LIGHT]
    for channel in range(3):
        dull, shiny, glow = work[DULL + channel], work[SHINY + channel], work[GLOW + channel]
        image, paint = work[IMAGE + channel], work[PAINT + channel]
        for i in range(len(part)):
            dim = even[i] * (lamp * dull[i] + below[i] * glow[i]) + image[i]
            out[i] = paint[i] * dim + (white + tint * paint[i]) * (shiny[i] + bounce[i] * glow[i])
        for i in range(len(part)):
            light[channel, part[i]] = out[i]


# --- mirrors ------------------------------------------------------------------------------------------------------


@kernel
def trace_mirrors(stage: Stage, library: Library, kind: int, count: int, room: Room) -> None:
    """Follow the rays that points throw back as mirrors: where they start and go, and what they meet."""
    rows, view, work, ways, met, gloss = stage.rows, stage.eye, room.work, room.ways, room.met, stage.kinds[kind, GLOSS]
    boxes, children, rays = library.boxes, library.children, library.rays
    first_node, first_triangle, stack, entered = library.first_node, library.first_triangle, room.stack, room.entered
    eye = (view[POSITION, 0], view[POSITION, 1], view[POSITION, 2])
    for i in range(count):
        x, y, z = np.float64(work[PX, i]), np.float64(work[PY, i]), np.float64(work[PZ, i])
        a, b, c = np.float64(work[FX, i]), np.float64(work[FY, i]), np.float64(work[FZ, i])
        normal = (np.float64(work[NX, i]), np.float64(work[NY, i]), np.float64(work[NZ, i]))
        way = _leaving(mirrored(eye, (x, y, z), normal), (a, b, c))
        start = (x + OFF * a, y + OFF * b, z + OFF * c)
        met[0, i], met[1, i], far = -1, -1, -start[2] / way[2] if way[2] < 0 else MISS
        for row in range(len(rows)):
            x, y, z = rows[row, MIDDLE_X] - start[0], rows[row, MIDDLE_Y] - start[1], rows[row, MIDDLE_Z] - start[2]
            ahead, reach = x * way[0] + y * way[1] + z * way[2], rows[row, REACH]
            if ahead < -reach or ahead - reach > far or x * x + y * y + z * z - ahead * ahead > reach * reach:
                continue
            model = int(rows[row, MODEL])
            x, y, z = start[0] - rows[row, PLACE_X], start[1] - rows[row, PLACE_Y], start[2] - rows[row, PLACE_Z]
            hit, t = first_met(
                boxes, children, first_node[model], rays, first_triangle[model],
                single(_into(rows, row, x, y, z)), single(_into(rows, row, way[0], way[1], way[2])),
                np.float32(min(far, 1e6)), stack, entered,
            )  # fmt: skip
            if t >= 0:
                far, met[0, i], met[1, i] = np.float64(hit), row, t
        ways[0, i], ways[1, i], ways[2, i] = start
        ways[3, i], ways[4, i], ways[5, i] = way
        ways[6, i] = far
        work[BOUNCE, i] = gloss * min(max(0.5 - HAZE * way[2], 0.0), 1.0)


@step
def _leaving(way: Vector, facing: Vector) -> Vector:
    """A way that leaves a surface."""
    short = GRAZING - dot(way, facing)
    if short <= 0:
        return way
    x, y, z = way[0] + short * facing[0], way[1] + short * facing[1], way[2] + short * facing[2]
    scale = 1 / math.sqrt(x * x + y * y + z * z)
    return scale * x, scale * y, scale * z


@step
def _into(rows: np.ndarray, row: int, x: float, y: float, z: float) -> Vector:
    """A way of the world in the axes of the model of an instance, and in its lengths."""
    cos, sin, scale = rows[row, COS], rows[row, SIN], 1 / rows[row, SIZE]
    return scale * (cos * x + sin * y), scale * (cos * y - sin * x), scale * z


@kernel
def show_mirrors(stage: Stage, library: Library, kind: int, count: int, room: Room) -> None:
    """What mirrored rays see."""
    rows, looks, chosen, kinds, lamps = stage.rows, stage.looks, stage.chosen, stage.kinds, stage.lamps
    chart, view, share, work, ways, met = stage.chart, stage.eye, kinds[kind, MIRROR], room.work, room.ways, room.met
    surface, rays = library.surface, library.rays
    for i in range(count):
        start, way, far = (ways[0, i], ways[1, i], ways[2, i]), (ways[3, i], ways[4, i], ways[5, i]), ways[6, i]
        row, t = met[0, i], met[1, i]
        if row < 0:
            red, green, blue = ground_light(chart, lamps, start, way)
            work[IMAGE, i], work[IMAGE + 1, i], work[IMAGE + 2, i] = share * red, share * green, share * blue
            continue
        x, y, z = start[0] + far * way[0], start[1] + far * way[1], start[2] + far * way[2]
        cos, sin, look = rows[row, COS], rows[row, SIN], chosen[row, int(surface[t, PART]) + 1]
        one, two, three = _shares(rows, row, rays, t, (x, y, z))
        normal = _toward(normal_at(surface, t, one, two, three, cos, sin), way)
        red, green, blue = floor_at(chart, lamps, x + z * normal[0], y + z * normal[1])
        below = math.pi * from_below(z, normal[2])
        red, green, blue = below * red, below * green, below * blue
        for lamp in range(len(lamps)):
            place = place_of(lamps, lamp)
            light = falling((place[0] - x, place[1] - y, place[2] - z), aim_of(lamps, lamp), normal)
            if light > 0 and seen_by(stage.maps[lamp], stage.frames[lamp], x, y, z):
                red += light * lamps[lamp, LAMP_RED]
                green += light * lamps[lamp, LAMP_GREEN]
                blue += light * lamps[lamp, LAMP_BLUE]
        other = kind_of(looks, look)
        even, mirror, image = kinds[other, DIFFUSE], kinds[other, MIRROR], (0.0, 0.0, 0.0)
        if kinds[other, PATTERNED] > 0:
            facing = _turned(surface[t, FACING], surface[t, FACING + 1], surface[t, FACING + 2], cos, sin)
            shade = painted(rows, row, looks, look, view, (x, y, z), way, BLUR * far, facing)
            even += kinds[other, PATTERNED] * shade
        if mirror > 0:
            image = ground_light(chart, lamps, (x, y, z), mirrored(start, (x, y, z), normal))
        even, share_of_hit = even / math.pi, share * surface[t, TINTED]
        work[IMAGE, i] = share_of_hit * looks[look, RED] * (even * red + mirror * image[0])
        work[IMAGE + 1, i] = share_of_hit * looks[look, GREEN] * (even * green + mirror * image[1])
        work[IMAGE + 2, i] = share_of_hit * looks[look, BLUE] * (even * blue + mirror * image[2])


@step
def _shares(rows: np.ndarray, row: int, rays: np.ndarray, t: int, point: Vector) -> Vector:
    """The shares of its corners in a point of a triangle."""
    x, y, z = _into(
        rows, row, point[0] - rows[row, PLACE_X], point[1] - rows[row, PLACE_Y], point[2] - rows[row, PLACE_Z]
    )
    x, y, z = x - rays[t, 0], y - rays[t, 1], z - rays[t, 2]
    a, b = (rays[t, 3], rays[t, 4], rays[t, 5]), (rays[t, 6], rays[t, 7], rays[t, 8])
    aa, ab, bb, pa, pb = dot(a, a), dot(a, b), dot(b, b), dot((x, y, z), a), dot((x, y, z), b)
    scale = 1 / max(aa * bb - ab * ab, 1e-30)
    two, three = min(max(scale * (bb * pa - ab * pb), 0.0), 1.0), min(max(scale * (aa * pb - ab * pa), 0.0), 1.0)
    return max(1 - two - three, 0.0), two, three
