"""Visibility: how many pixels of each object can be seen, without a renderer.

An object is one of three solids that rest on the ground: a sphere, a cube (half-edge = radius, turned about z) or an
upright cylinder (half-height = radius). An object owns a pixel when the ray through the pixel's centre meets it first.
Corners of cubes may run into each other, and then share their tops: what two objects share belongs to the earlier one.

`kind` int64[n, k] says which solid stands in each place (NOTHING: none), `body` float64[n, k, 4] where and how:
x, y, radius, rotation in degrees.

Two facts keep the search short: every solid is convex, so it meets a row of pixels in one run; and every solid holds a
ball of its radius, whose run is known in closed form and only has to be grown at its two ends.
"""

import math
from typing import NamedTuple

import numpy as np

from recombine.store.compiled import compiled
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP, Camera

SPHERE, CUBE, CYLINDER = range(3)
NOTHING = -1
KINDS = {"sphere": SPHERE, "cube": CUBE, "cylinder": CYLINDER}
ALL = np.iinfo(np.int64).max

TIE = 1e-9
"""Depths that differ by less are the same."""

_ENCLOSING = (1.0, math.sqrt(3.0), math.sqrt(2.0))
"""The radius of the ball around each kind of solid of radius one."""


Vector = tuple[float, float, float]


class Lens(NamedTuple):
    """What the kernels know of a camera."""

    focal: float
    width: int
    height: int


class Solid(NamedTuple):
    """One object as the camera sees it. Numbers only: kernels pass them faster than arrays."""

    place: int
    kind: int
    radius: float
    reach: float  # the radius of the ball around it
    centre: Vector  # right, up, forward of the camera
    position: Vector  # the camera, seen from within the object: centre at the origin, faces along the axes
    right: Vector
    up: Vector
    forward: Vector
    columns: tuple[int, int]  # the image box of that ball, the ends excluded
    rows: tuple[int, int]


def lens_of(camera: Camera) -> Lens:
    """The numbers of a camera that its place does not change."""
    return Lens(camera.focal, camera.width, camera.height)


def visible_pixels(
    kind: np.ndarray, body: np.ndarray, camera: Camera, jitter: np.ndarray, enough: int = ALL
) -> np.ndarray:
    """The visible pixels of every object, int64[n, k]; an object's count may stop anywhere from `enough` on."""
    return _count_all(kind.astype(np.int64), body.astype(np.float64), camera.view(jitter), lens_of(camera), enough)


def all_visible(kind: np.ndarray, body: np.ndarray, camera: Camera, jitter: np.ndarray, enough: int) -> np.ndarray:
    """Which scenes show at least `enough` pixels of every object, bool[n]."""
    return _all_visible(kind.astype(np.int64), body.astype(np.float64), camera.view(jitter), lens_of(camera), enough)


@compiled(error_model="numpy")
def _all_visible(kind: np.ndarray, body: np.ndarray, views: np.ndarray, lens: Lens, enough: int) -> np.ndarray:
    fine = np.ones(len(kind), np.bool_)
    covered = np.zeros(lens.width, np.bool_)
    for scene in range(len(kind)):
        taken = np.flatnonzero(kind[scene] != NOTHING)
        solids = [_look(int(i), kind[scene, i], body[scene, i], views[scene], lens) for i in taken]
        for place in range(len(taken)):
            if _count(solids, place, lens, enough, covered) < enough:
                fine[scene] = False
                break
    return fine


@compiled(error_model="numpy")
def _count_all(kind: np.ndarray, body: np.ndarray, views: np.ndarray, lens: Lens, enough: int) -> np.ndarray:
    counts = np.zeros(kind.shape, np.int64)
    covered = np.zeros(lens.width, np.bool_)
    for scene in range(len(kind)):
        taken = np.flatnonzero(kind[scene] != NOTHING)
        solids = [_look(int(i), kind[scene, i], body[scene, i], views[scene], lens) for i in taken]
        for place, i in enumerate(taken):
            counts[scene, i] = _count(solids, place, lens, enough, covered)
    return counts


@compiled(error_model="numpy")
def _look(place: int, kind: int, body: np.ndarray, view: np.ndarray, lens: Lens) -> Solid:
    """See one object from where the camera stands."""
    x, y, radius, rotation = body
    cos, sin = math.cos(math.radians(rotation)), math.sin(math.radians(rotation))
    position = _turn(view[POSITION, 0] - x, view[POSITION, 1] - y, view[POSITION, 2] - radius, cos, sin)
    right = _turn(view[RIGHT, 0], view[RIGHT, 1], view[RIGHT, 2], cos, sin)
    up = _turn(view[UP, 0], view[UP, 1], view[UP, 2], cos, sin)
    forward = _turn(view[FORWARD, 0], view[FORWARD, 1], view[FORWARD, 2], cos, sin)
    centre = (-_dot(position, right), -_dot(position, up), -_dot(position, forward))
    reach = radius * _ENCLOSING[kind]
    columns = _span(centre[0], centre[2], reach, lens.focal, lens.width)
    rows = _span(-centre[1], centre[2], reach, lens.focal, lens.height)
    return Solid(place, kind, radius, reach, centre, position, right, up, forward, columns, rows)


@compiled(error_model="numpy")
def _turn(x: float, y: float, z: float, cos: float, sin: float) -> Vector:
    return cos * x + sin * y, cos * y - sin * x, z


@compiled(error_model="numpy")
def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled(error_model="numpy")
def _span(offset: float, depth: float, radius: float, focal: float, size: int) -> tuple[int, int]:
    """The columns or rows of an image that a ball may reach, the end excluded."""
    # The slopes of the two tangents, in the plane of the camera's axis and one side of the image.
    spread = radius * math.sqrt(offset * offset + depth * depth - radius * radius)
    scale = depth * depth - radius * radius
    start = math.floor(size / 2 + focal * (offset * depth - spread) / scale)
    stop = math.ceil(size / 2 + focal * (offset * depth + spread) / scale)
    return max(0, start), min(size, stop)


@compiled(error_model="numpy")
def _count(solids: list[Solid], i: int, lens: Lens, enough: int, covered: np.ndarray) -> int:
    """The visible pixels of solid i, rows nearest to its middle first; stops as soon as there are enough."""
    solid = solids[i]
    rivals = [j for j in range(len(solids)) if j != i and _may_hide(solids[j], solid)]
    if enough < ALL:
        found = _surely(solids, i, rivals, lens, enough)
        if found >= enough:
            return found
    top, bottom = solid.rows
    found = 0
    for step in range(bottom - top):
        row = _row(solid, step)
        start, stop = _run(solid, row, lens)
        found += stop - start
        if len(rivals):
            found -= _hidden(solid, solids, rivals, row, start, stop, lens, covered)
        if found >= enough:
            break
    return found


@compiled(error_model="numpy", inline="always")
def _row(solid: Solid, step: int) -> int:
    """The rows of a solid's box, those nearest to its middle first."""
    offset = (step + 1) // 2
    return (solid.rows[0] + solid.rows[1]) // 2 + (offset if step % 2 == 0 else -offset)


@compiled(error_model="numpy")
def _surely(solids: list[Solid], i: int, rivals: list[int], lens: Lens, enough: int) -> int:
    """Pixels that solid i shows at least: those of the ball within it, less the boxes of its rivals."""
    solid = solids[i]
    left, right = solid.columns
    found = 0
    for step in range(solid.rows[1] - solid.rows[0]):
        row = _row(solid, step)
        start, stop = _run_of_ball(solid, _slope_of_row(row, lens), lens)
        start, stop = max(start, left), min(stop, right)
        free = stop - start
        for j in rivals:
            if solids[j].rows[0] <= row < solids[j].rows[1]:
                free -= max(0, min(stop, solids[j].columns[1]) - max(start, solids[j].columns[0]))
        found += max(0, free)
        if found >= enough:
            break
    return found


@compiled(error_model="numpy")
def _may_hide(other: Solid, solid: Solid) -> bool:
    """Whether the boxes meet, and no plane has the other solid behind it and both the camera and this one before it."""
    if not (_meet(solid.columns, other.columns) and _meet(solid.rows, other.rows)):
        return False
    (x, y, z), far = solid.centre, other.centre
    normal = (far[0] - x, far[1] - y, far[2] - z)
    distance = math.sqrt(_dot(normal, normal))
    return distance < solid.reach + other.reach or _dot(far, normal) < other.reach * distance


@compiled(error_model="numpy")
def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@compiled(error_model="numpy")
def _run(solid: Solid, row: int, lens: Lens) -> tuple[int, int]:
    """The columns at which a row of pixels meets the solid, the last excluded."""
    v = _slope_of_row(row, lens)
    left, right = solid.columns
    start, stop = _run_of_ball(solid, v, lens)
    start, stop = max(start, left), min(stop, right)
    if solid.kind == SPHERE:
        return start, max(start, stop)
    if start >= stop:
        start = left
        while start < right and _depth(solid, _slope_of_column(start, lens), v) == np.inf:
            start += 1
        stop = start
    while start > left and _depth(solid, _slope_of_column(start - 1, lens), v) < np.inf:
        start -= 1
    while stop < right and _depth(solid, _slope_of_column(stop, lens), v) < np.inf:
        stop += 1
    return start, stop


@compiled(error_model="numpy")
def _run_of_ball(solid: Solid, v: float, lens: Lens) -> tuple[int, int]:
    """The columns at which the row of slope v meets the ball within the solid, the last excluded."""
    x, y, z = solid.centre
    # The ray (u, v, 1) meets the ball where (u x + v y + z)² >= reach (u² + v² + 1): between two roots of u.
    reach = x * x + y * y + z * z - solid.radius * solid.radius
    rest, scale = v * y + z, reach - x * x
    inside = x * x * rest * rest + scale * (rest * rest - reach * (1 + v * v))
    if inside < 0:
        return 0, 0
    root = math.sqrt(inside)
    middle = lens.width / 2 - 0.5
    start = math.ceil(middle + lens.focal * (x * rest - root) / scale)
    stop = math.floor(middle + lens.focal * (x * rest + root) / scale) + 1
    return start, stop


@compiled(error_model="numpy")
def _hidden(
    solid: Solid,
    solids: list[Solid],
    rivals: list[int],
    row: int,
    start: int,
    stop: int,
    lens: Lens,
    covered: np.ndarray,
) -> int:
    """How many pixels of this run of a solid its rivals hide; `covered` is all False before and after."""
    v = _slope_of_row(row, lens)
    hidden = 0
    for j in rivals:
        other = solids[j]
        if not (other.rows[0] <= row < other.rows[1] and _meet(other.columns, (start, stop))):
            continue
        first, last = _run(other, row, lens)
        head_start = TIE if other.place < solid.place else -TIE
        for column in range(max(start, first), min(stop, last)):
            u = _slope_of_column(column, lens)
            if not covered[column] and _depth(other, u, v) < _depth(solid, u, v) + head_start:
                covered[column] = True
                hidden += 1
    covered[start:stop] = False
    return hidden


@compiled(error_model="numpy", inline="always")
def _slope_of_column(column: int, lens: Lens) -> float:
    return (column + 0.5 - lens.width / 2) / lens.focal


@compiled(error_model="numpy", inline="always")
def _slope_of_row(row: int, lens: Lens) -> float:
    return (lens.height / 2 - 0.5 - row) / lens.focal


@compiled(error_model="numpy", inline="always")
def _depth(solid: Solid, u: float, v: float) -> float:
    """The depth at which the ray of slopes u, v enters the solid; infinite where it misses."""
    (x, y, z), radius = solid.position, solid.radius
    dx = solid.forward[0] + u * solid.right[0] + v * solid.up[0]
    dy = solid.forward[1] + u * solid.right[1] + v * solid.up[1]
    dz = solid.forward[2] + u * solid.right[2] + v * solid.up[2]
    if solid.kind == SPHERE:
        enter, leave = _round(dx * dx + dy * dy + dz * dz, x * dx + y * dy + z * dz, x * x + y * y + z * z, radius)
    elif solid.kind == CYLINDER:
        enter, leave = _within(_round(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y, radius), z, dz, radius)
    else:
        enter, leave = _within(_within(_within((-np.inf, np.inf), x, dx, radius), y, dy, radius), z, dz, radius)
    return enter if enter <= leave else np.inf


@compiled(error_model="numpy", inline="always")
def _round(squared_speed: float, along: float, squared_distance: float, radius: float) -> tuple[float, float]:
    """The stretch of a ray within a ball or an endless tube; empty where it misses."""
    inside = along * along - squared_speed * (squared_distance - radius * radius)
    if inside < 0:
        return np.inf, -np.inf
    root = math.sqrt(inside)
    return (-along - root) / squared_speed, (-along + root) / squared_speed


@compiled(error_model="numpy", inline="always")
def _within(stretch: tuple[float, float], start: float, speed: float, radius: float) -> tuple[float, float]:
    """The part of a stretch between two parallel faces."""
    one, other = (-radius - start) / speed, (radius - start) / speed
    return max(stretch[0], min(one, other)), min(stretch[1], max(one, other))
