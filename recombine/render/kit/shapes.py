"""Shapes: the solids that vehicles are put together from. All are closed, and take places as (s, w, h)."""

from collections.abc import Callable, Sequence

import numpy as np

from recombine.render.kit.curves import Outline, curve, line, rounded, shrunk, superellipse
from recombine.render.kit.piece import CREASE, Piece, Point, circle, closed, cross, grid, lid, place, places, unit


def rings(points: np.ndarray, crease: float = CREASE, loop: bool = False) -> Piece:
    """The surface over rings of points, float64[m, n, 3], with lids at both ends, or closed to a loop."""
    around = np.concatenate([points, points[:, :1]], axis=1)
    if loop:
        return closed(grid(np.concatenate([around, around[:1]])), crease)
    return closed(np.concatenate([grid(around), lid(points[0]), lid(points[-1])[:, ::-1]]), crease)


def loft(
    sections: Sequence[Point], around: int = 16, exponent: float = 2.0, steps: int = 1, crease: float = CREASE
) -> Piece:
    """A body through sections (s, half width, bottom, top[, exponent]) from the nose back.

    A section is round where the exponent is 2, and the more of a box the larger that is.
    """
    out = []
    for s, half, bottom, top, power in curve([(*row, exponent)[:5] for row in sections], steps):
        across, up = superellipse(around, power)
        out.append(np.stack([np.full(around, -s), half * across, (bottom + top + (top - bottom) * up) / 2], axis=1))
    return rings(np.array(out), crease)


def tube(
    path: Sequence[Point], radius: float | Sequence[float], around: int = 6, steps: int = 1, flat: float = 1.0,
    loop: bool = False, crease: float = 60.0,
) -> Piece:  # fmt: skip
    """A tube along a path, of one radius or one at every point; `flat` is its height beside its width."""
    radii = np.broadcast_to(np.asarray(radius, np.float64), len(path))
    way = curve([(*point, r) for point, r in zip(path, radii)], steps, loop)
    at, thick = way[:, :3] * np.array((-1.0, 1.0, 1.0)), way[:, 3]
    if loop:
        along = unit(np.roll(at, -1, axis=0) - np.roll(at, 1, axis=0))
    else:
        step = unit(at[1:] - at[:-1])
        along = unit(np.concatenate([step[:1], step[1:] + step[:-1], step[-1:]]))
    cos, sin = circle(around)
    side = cross(along[0], np.array((0.0, 0.0, 1.0)))
    if float((side * side).sum()) < 1e-6:
        side = np.array((0.0, 1.0, 0.0))
    out = []
    for here, ahead, r in zip(at, along, thick):
        side = unit(side - ahead * float((side * ahead).sum()))
        out.append(here + r * (cos[:, None] * side + flat * sin[:, None] * cross(side, ahead)))
    return rings(np.array(out), crease, loop)


def revolve(profile: Sequence[Point], at: Point, axis: str = "w", around: int = 16, crease: float = CREASE) -> Piece:
    """A profile of (way along the axis, radius) turned about an axis along s, w or h through a point."""
    cos, sin = circle(around)
    along, one, two = {"s": (0, 1, 2), "w": (1, 2, 0), "h": (2, 0, 1)}[axis]
    out = np.zeros((len(profile), around, 3))
    for i, (far, radius) in enumerate(profile):
        out[i, :, along] = -far if axis == "s" else far
        out[i, :, one], out[i, :, two] = radius * cos, radius * sin
    return rings(out + place(at), crease)


def ball(at: Point, radii: float | Point, around: int = 12, along: int = 6) -> Piece:
    """A ball, or an ellipsoid with three radii."""
    s, w, h = np.broadcast_to(np.asarray(radii, np.float64), 3)
    cos, sin = circle(along + 1, -90.0, 90.0)
    x, y = circle(around)
    points = np.stack([-s * cos[:, None] * x, w * cos[:, None] * y, h * sin[:, None] + 0 * x], axis=-1)
    return rings(points + place(at), 89.0)


# --- slabs --------------------------------------------------------------------------------------------------------


def box(s: Point, w: Point, h: Point, bevel: float = 0.0) -> Piece:
    """A box between two values of each coordinate, its edges cut."""
    outline = rounded([(s[0], w[0]), (s[1], w[0]), (s[1], w[1]), (s[0], w[1])], bevel, 1)
    return _slab(outline, h, bevel, lambda a, b, far: (a, b, far))


def plate(outline: Outline, w: Point, bevel: float = 0.0) -> Piece:
    """A convex outline (s, h) between two distances from the middle, its edges cut."""
    return _slab(outline, w, bevel, lambda a, b, far: (a, far, b))


def _slab(outline: Outline, far: Point, bevel: float, put: Callable[[float, float, float], Point]) -> Piece:
    """A convex outline drawn out, smaller at both ends by the bevel."""
    levels = [(far[0], outline), (far[1], outline)]
    if bevel:
        small = shrunk(outline, bevel)
        levels = [(far[0], small), (far[0] + bevel, outline), (far[1] - bevel, outline), (far[1], small)]
    return rings(np.array([places(put(a, b, level) for a, b in each) for level, each in levels]), 50.0)


# --- wings --------------------------------------------------------------------------------------------------------

AIRFOIL = (
    (0.0, 0.0), (0.03, 0.22), (0.12, 0.4), (0.35, 0.5), (0.7, 0.3), (1.0, 0.03),
    (1.0, -0.03), (0.7, -0.22), (0.35, -0.36), (0.12, -0.3), (0.03, -0.18),
)  # fmt: skip
"""The section of a wing, from the leading edge over the top to the trailing edge and back: (way back, way up)."""


def wing(stations: Sequence[tuple[Point, Point, float]]) -> Piece:
    """A wing over stations (leading edge, trailing edge, thickness), round at its tip.

    It is as thick as said in the direction at right angles to its chord and its span: a fin is a wing too.
    """
    lead, trail = (places(station[k] for station in stations) for k in (0, 1))  # type: ignore[misc]
    thick = np.array([thickness for _, _, thickness in stations])
    span = lead[-1] + trail[-1] - lead[0] - trail[0]
    end, chord = unit(span) * thick[-1] / 2, trail[-1] - lead[-1]
    lead = np.concatenate([lead, [lead[-1] + end + 0.08 * chord]])
    trail = np.concatenate([trail, [trail[-1] + end - 0.08 * chord]])
    back, up = (np.array(AIRFOIL)[:, k : k + 1] for k in (0, 1))
    sections = [
        one + back * (two - one) + t * up * unit(cross(span, two - one))
        for one, two, t in zip(lead, trail, [*thick, thick[-1] / 4])
    ]
    return rings(np.array(sections), 35.0)


# --- bodies -------------------------------------------------------------------------------------------------------


def fender(
    at: Point, radius: float, start: float, stop: float, half: float, thick: float = 0.006, crown: float = 0.4,
    steps: int = 10,
) -> Piece:  # fmt: skip
    """A sheet around a wheel from one angle to another (0 ahead, 90 up, 180 behind), arched across."""
    cos, sin = circle(steps + 1, start, stop)
    outer = [(w * half, radius + crown * half * up) for w, up in ((-1, 0), (-0.6, 0.7), (0, 1), (0.6, 0.7), (1, 0))]
    inner = [(w - 0.4 * thick * w / half, r - thick) for w, r in (outer[4], outer[2], outer[0])]
    points = np.array([[(r * c, w, r * s) for w, r in (*outer, *inner)] for c, s in zip(cos, sin)])
    return rings(points + place(at), 50.0)


Level = tuple[float, float, float, float | Sequence[Point]]
"""A line around a body: the s of its nose and of its tail, its half width, its height: a number or points (s, h)."""


def hull(
    plan: Outline, levels: Sequence[Level], crown: float | Sequence[Point] = 0.0, steps: int = 1, crease: float = CREASE
) -> Piece:
    """A body between level lines, from below to above, as cars, cabins and buses have.

    `plan` is the left half of its outline from above, from (0, 0) at the nose to (1, 0) at the tail: (length, half
    width) in shares. The top is arched by `crown`, a height or points (s, height).
    """
    u, v = np.clip(curve(plan, steps), 0, 1).T
    rows = []
    for nose, tail, half, height in levels:
        s = nose + u * (tail - nose)
        rows.append(np.stack([-s, half * v, line(height)(s)], axis=1))
    fade = np.minimum(1, np.minimum(u, 1 - u) / 0.12)
    rise = line(crown)(-rows[-1][:, 0]) * fade * (2 - fade)
    for far, up in ((0.5, 0.75), (1.0, 1.0)):
        rows.append(rows[len(levels) - 1] * np.array((1.0, 1 - far, 1.0)) + (up * rise)[:, None] * np.array((0, 0, 1)))
    left = grid(np.array([rows[0] * np.array((1.0, 0.0, 1.0)), *rows]))
    return closed(np.concatenate([left, (left * np.array((1.0, -1.0, 1.0)))[:, ::-1]]), crease)
