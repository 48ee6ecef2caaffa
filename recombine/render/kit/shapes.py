"""Shapes: the solids that vehicles are put together from. All are closed, and take places as (s, w, h)."""

from collections.abc import Sequence

import numpy as np

from recombine.render.kit.curves import Outline, curve, line, rounded, shrunk, superellipse
from recombine.render.kit.piece import (
    CREASE,
    Piece,
    Point,
    circle,
    closed,
    cross,
    grid,
    lid,
    place,
    places,
    sides,
    together,
    unit,
)


def rings(points: np.ndarray, crease: float = CREASE, loop: bool = False) -> Piece:
    """The surface over rings of points, float64[m, n, 3], with lids at both ends, or closed to a loop."""
    around = np.concatenate([points, points[:, :1]], axis=1)
    if loop:
        return closed(grid(np.concatenate([around, around[:1]])), crease)
    return closed(np.concatenate([grid(around), lid(points[0]), lid(points[-1])[:, ::-1]]), crease)


def loft(sections: Sequence[Point], steps: int = 3, around: int = 16, exponent: float = 2.0,
         crease: float = CREASE) -> Piece:  # fmt: skip
    """A body through sections (s, half width, bottom, top[, exponent[, w of the middle]]), from the nose back."""
    rows = [(*row, *(exponent, 0.0)[len(row) - 4 :]) for row in sections]
    out = []
    for s, half, bottom, top, power, w in curve(rows, steps):
        across, up = superellipse(around, power)
        high, middle = max(top - bottom, 0.0) / 2, (top + bottom) / 2
        half = max(half, 0.0)
        out.append(np.stack([np.full(around, -s), w + half * across, middle + high * up], axis=1))
    return rings(np.array(out), crease)


def tube(path: Sequence[Point], radius: float | Sequence[float], around: int = 6, steps: int = 1,
         flat: float = 1.0, loop: bool = False, crease: float = 60.0) -> Piece:  # fmt: skip
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
    for i in range(len(at)):
        side = unit(side - along[i] * float((side * along[i]).sum()))
        up = cross(side, along[i])
        # At a bend the section is mitred: wider in the plane of the bend, so that the tube keeps its thickness.
        out.append(at[i] + thick[i] * (cos[:, None] * side + flat * sin[:, None] * up))
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


def box(s: Point, w: Point, h: Point, bevel: float = 0.0) -> Piece:
    """A box between two values of each coordinate, its edges cut."""
    outline = rounded([(s[0], w[0]), (s[1], w[0]), (s[1], w[1]), (s[0], w[1])], bevel, 1)
    return _slab(outline, h, bevel, lambda a, b, far: (a, b, far))


def plate(outline: Outline, w: Point, bevel: float = 0.0) -> Piece:
    """An outline (s, h) between two distances from the middle."""
    return _slab(outline, w, bevel, lambda a, b, far: (a, far, b))


def _slab(outline: Outline, far: Point, bevel: float, put) -> Piece:  # type: ignore[no-untyped-def]
    """A convex outline drawn out, thinner at both ends by the bevel."""
    ring = np.asarray(outline, np.float64)
    small = np.array(shrunk(outline, bevel))
    levels = [(far[0], small), (far[0] + bevel, ring), (far[1] - bevel, ring), (far[1], small)] if bevel else [
        (far[0], ring), (far[1], ring)]  # fmt: skip
    return rings(np.array([places([put(a, b, level) for a, b in each]) for level, each in levels]), 50.0)


def wing(stations: Sequence[tuple[Point, Point, float]], steps: int = 1, tip: float = 0.5) -> Piece:
    """A wing over stations (leading edge, trailing edge, thickness), thin at its trailing edge and round at the tip.

    Places are (s, w, h); the wing is as thick in the direction that is at right angles to its chord and its span.
    `tip` is how far the end is rounded off, in shares of the last thickness.
    """
    lead = curve([one for one, _, _ in stations], steps) * np.array((-1.0, 1.0, 1.0))
    trail = curve([two for _, two, _ in stations], steps) * np.array((-1.0, 1.0, 1.0))
    thick = curve([(three,) for _, _, three in stations], steps)[:, 0]
    middle = (lead + trail) / 2
    span = middle[-1] - middle[0]
    end = unit(span) * thick[-1] * tip
    lead, trail = (np.concatenate([edge, edge[-1:] + end + sign * 0.08 * (trail[-1:] - lead[-1:])])
                   for edge, sign in ((lead, 1), (trail, -1)))  # fmt: skip
    thick = np.concatenate([thick, thick[-1:] * 0.25])
    along = np.array(AIRFOIL)
    out = []
    for one, two, t in zip(lead, trail, thick):
        up = unit(cross(span, two - one))
        out.append(one + along[:, :1] * (two - one) + t * along[:, 1:] * up)
    return rings(np.array(out), 35.0)


AIRFOIL = (
    (0.0, 0.0), (0.03, 0.22), (0.12, 0.4), (0.35, 0.5), (0.7, 0.3), (1.0, 0.03),
    (1.0, -0.03), (0.7, -0.22), (0.35, -0.36), (0.12, -0.3), (0.03, -0.18),
)  # fmt: skip
"""A section of a wing, from the leading edge over the top to the trailing edge and back: chord and thickness are one."""


def fender(at: Point, radius: float, start: float, stop: float, half: float, thick: float = 0.006,
           crown: float = 0.4, steps: int = 10) -> Piece:  # fmt: skip
    """A sheet around a wheel from one angle to another (0 ahead, 90 up, 180 behind), arched across."""
    cos, sin = circle(steps + 1, start, stop)
    across = ((-1.0, -1.0), (-0.6, -0.3), (0.0, 0.0), (0.6, -0.3), (1.0, -1.0))
    ring = [(w * half, radius + crown * half * (1 + drop)) for w, drop in across]
    ring += [(w * (half - 0.4 * thick), r - thick) for w, r in ((w * half, r) for w, r in ring[::-1]) for w in (w / half,)]
    points = np.array([[(r * c, w, r * s) for w, r in ring] for c, s in zip(cos, sin)])
    return rings(points + place(at), 50.0)


def hull(plan: Outline, levels: Sequence[tuple[float, float, float, float | Sequence[Point]]],
         crown: float | Sequence[Point] = 0.0, steps: int = 2, strips: int = 2, crease: float = CREASE) -> Piece:  # fmt: skip
    """A body between level lines, as cars, cabins and buses have.

    `plan` is the left half of its outline from above, from (0, 0) at the nose to (1, 0) at the tail: (length, half
    width) in shares. A level, from below to above, is (s of its nose, s of its tail, its half width, its height: a
    number or points (s, h)). The top is arched by `crown`, a height or points (s, height).
    """
    u, v = np.clip(curve(plan, steps), 0, 1).T
    fade = np.minimum(1, np.minimum(u, 1 - u) / 0.12)
    rise, rows = line(crown), []
    for nose, tail, half, height in levels:
        s = nose + u * (tail - nose)
        rows.append(np.stack([-s, half * v, line(height)(s)], axis=1))
    bottom, top = rows[0], rows[-1]
    low = bottom * np.array((1.0, 0.0, 1.0))
    cap = []
    for k in range(1, strips + 1):
        far = k / strips
        up = rise(-top[:, 0]) * fade * (2 - fade) * (1 - (1 - far) * (1 - far))
        cap.append(top * np.array((1.0, 1 - far, 1.0)) + np.stack([0 * up, 0 * up, up], axis=1))
    half_body = grid(np.array([low, *rows, *cap]))
    return closed(np.concatenate([half_body, (half_body * np.array((1.0, -1.0, 1.0)))[:, ::-1]]), crease)


__all__ = ["ball", "box", "fender", "hull", "loft", "plate", "revolve", "rings", "sides", "together", "tube", "wing"]
