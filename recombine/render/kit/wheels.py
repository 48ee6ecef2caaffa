"""Wheels and what turns with them, about axes along w. Those with one good side show it to +w, the left."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.render.kit.piece import Piece, Point, circle, place, together
from recombine.render.kit.shapes import revolve, rings, tube
from recombine.render.kit.tints import HOLE, RUBBER


def wheel(at: Point, radius: float, thick: float = 0.045, rim: float = 0.7, spokes: int = 5, around: int = 20) -> Piece:
    """The wheel of a car: `at` is the middle of its outer face, and the rim is a share of the radius.

    Its spokes are painted: of the sectors around it, those between spokes are dark.
    """
    r, t = radius, thick
    profile = [
        (-0.10 * t, 0.0), (-0.14 * t, 0.2 * r), (-0.30 * t, (rim - 0.09) * r), (-0.03 * t, (rim + 0.02) * r),
        (-0.02 * t, 0.9 * r), (-0.25 * t, r), (-0.80 * t, r), (-t, 0.85 * r), (-t, 0.0),
    ]  # fmt: skip
    made = revolve(profile, at, "w", around, 35.0)
    x, y, z = (made.corners.sum(axis=1) / 3 - place(at)).T
    out, face = np.sqrt(x * x + z * z) / r, y > -0.4 * t
    sector = np.floor(np.degrees(np.arctan2(x, z)) % 360 / 360 * around)
    between = (sector + 0.5) % (around / spokes) > around / spokes / 2
    tint = np.where((out < rim + 0.01) & face, 1.0, RUBBER)
    return replace(made, tint=np.where(between & face & (out > 0.22) & (out < rim - 0.06), HOLE, tint))


def ring(at: Point, radius: float, high: float, wide: float, around: int = 24, section: int = 6) -> Piece:
    """A ring: `radius` to the middle of its section, which is so high and wide, each a half."""
    cos, sin = circle(around)
    up, out = circle(section)
    away = radius + high * up
    points = [np.stack([away * c, wide * out, away * s], axis=1) for c, s in zip(cos, sin)]
    return rings(np.array(points) + place(at), 60.0, loop=True)


def tyre(
    at: Point, radius: float, high: float, wide: float, around: int = 28, section: int = 5, knobs: float = 0.0
) -> Piece:
    """A tyre of this outer radius; its section is so high and wide, each a half; knobs are a share of the height."""
    cos, sin = circle(around)
    up, out = circle(section)
    points = []
    for i, (c, s) in enumerate(zip(cos, sin)):
        away = radius - high + high * up * (1 - knobs * (i % 2) * (up > 0.2))
        points.append(np.stack([away * c, wide * out, away * s], axis=1))
    return rings(np.array(points) + place(at), 60.0, loop=True).tinted(RUBBER)


def disc(at: Point, radius: float, wide: float, around: int = 16, bevel: float = 0.2) -> Piece:
    """A disc, so wide to either side, its rim cut by a share of the radius."""
    inner = (1 - bevel) * radius
    return revolve([(-wide, inner), *([(0.0, radius)] if bevel else []), (wide, inner)], at, "w", around, 30.0)


def wires(at: Point, inner: float, outer: float, wide: float, count: int, thick: float, lean: float = 55.0) -> Piece:
    """Thin spokes from both flanges of a hub to a rim, which leave the hub at an angle, to and fro."""
    s, w, h = at
    cos, sin = circle(count)
    out = []
    for i in range(count):
        side, way = (1 if i % 2 else -1), (1 if i % 4 < 2 else -1)
        (a, _), (b, _) = circle(2, 360.0 * i / count + way * lean, 360.0 * i / count + way * lean + 1)
        foot = (s + inner * a, w + side * wide, h + inner * b)
        out.append(tube([foot, (s + outer * cos[i], w, h + outer * sin[i])], thick, 3))
    return together(out)


def arms(
    at: Point, inner: float, outer: float, wide: Sequence[float], thick: float, count: int, start: float = 90.0
) -> Piece:
    """Cast spokes from a hub to a rim, so wide at either end."""
    s, w, h = at
    cos, sin = circle(count, start, start + 360.0)
    ways = ([(s + r * c, w, h + r * d) for r in (inner, outer)] for c, d in zip(cos, sin))
    return together(tube(way, wide, 6, flat=thick / wide[0]) for way in ways)


def chain(front: Point, back: Point, w: float, thick: float, steps: int = 5) -> Piece:
    """A chain around two wheels, each (s, h, radius)."""
    way = []
    for (s, h, r), start in ((front, 90.0), (back, 270.0)):
        cos, sin = circle(steps + 1, start, start + 180.0)
        way += [(s + r * c, w, h + r * d) for c, d in zip(cos, sin)]
    return tube(way, thick, 4, loop=True, crease=50.0)
