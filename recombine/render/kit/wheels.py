"""Wheels, for the left side: their outer face looks to +w."""

from dataclasses import replace

import numpy as np

from recombine.render.kit.piece import Piece, Point, circle, place, together
from recombine.render.kit.shapes import revolve, rings, tube

TYRE, GAP = 0.42, 0.28
"""The tints of tyres and of what one sees between spokes."""


def wheel(at: Point, radius: float, thick: float = 0.045, rim: float = 0.7, spokes: int = 5, dish: float = 0.25,
          around: int = 20) -> Piece:  # fmt: skip
    """A car's wheel: `at` is the middle of its outer face; the rim is a share of the radius, the dish of thickness."""
    r, t = radius, thick
    profile = [
        (-0.10 * t, 0.0), (-0.14 * t, 0.2 * r), (-(dish + 0.05) * t, (rim - 0.09) * r), (-0.03 * t, (rim + 0.02) * r),
        (-0.02 * t, 0.9 * r), (-0.25 * t, r), (-0.8 * t, r), (-t, 0.85 * r), (-t, 0.0),
    ]  # fmt: skip
    made = revolve(profile, at, "w", around, 35.0)
    middle = made.corners.sum(axis=1) / 3 - place(at)
    out = np.sqrt(middle[:, 0] * middle[:, 0] + middle[:, 2] * middle[:, 2]) / r
    sector = np.floor((np.degrees(np.arctan2(middle[:, 0], middle[:, 2])) % 360) / 360 * around)
    # The sectors of a spoke, and those between it and the next.
    each = around / spokes
    gap = ((sector + 0.5) % each) > each / 2
    face = middle[:, 1] > -0.45 * t
    tint = np.where((out > rim + 0.01) | ~face, TYRE, 1.0)
    tint = np.where(face & gap & (out > 0.22) & (out < rim - 0.06), GAP, tint)
    return replace(made, tint=tint)


def ring(at: Point, radius: float, high: float, wide: float, around: int = 24, section: int = 6, turn: float = 0.0
         ) -> Piece:  # fmt: skip
    """A ring around the axis w: `radius` to the middle of its section, which is so high and wide, each a half."""
    cos, sin = circle(around)
    up, out = circle(section, turn, turn + 360.0)
    points = np.array([[((radius + high * u) * c, wide * o, (radius + high * u) * s) for u, o in zip(up, out)]
                       for c, s in zip(cos, sin)])  # fmt: skip
    return rings(points + place(at), 60.0, loop=True)


def tyre(at: Point, radius: float, high: float, wide: float, around: int = 28, section: int = 7, knobs: float = 0.0
         ) -> Piece:  # fmt: skip
    """The tyre of a cycle: its section is so high and wide, each a half; knobs stand out by a share of its height."""
    cos, sin = circle(around)
    up, out = circle(section)
    points = []
    for i, (c, s) in enumerate(zip(cos, sin)):
        grown = 1 + (knobs if i % 2 else -knobs) * (up > 0.2)
        away = radius - high + high * up * grown
        points.append(np.stack([away * c, wide * out, away * s], axis=1))
    return rings(np.array(points) + place(at), 30.0 if knobs else 60.0, loop=True).tinted(TYRE)


def belt(front: Point, back: Point, w: float, thick: float, wide: float = 1.0, steps: int = 6) -> Piece:
    """A chain around two wheels (s, h, radius)."""
    way = []
    for (s, h, r), start in ((front, 90.0), (back, 270.0)):
        cos, sin = circle(steps + 1, start, start + 180.0)
        way += [(s + r * float(c), w, h + r * float(d)) for c, d in zip(cos, sin)]
    return tube(way, thick, 4, flat=wide, loop=True, crease=50.0)


def disc(at: Point, radius: float, wide: float, around: int = 16, bevel: float = 0.2) -> Piece:
    """A disc around the axis w, half as wide as said to either side, its rim cut."""
    profile = [(-wide, 0.0), (-wide, (1 - bevel) * radius), (0.0, radius), (wide, (1 - bevel) * radius), (wide, 0.0)]
    return revolve(profile, at, "w", around, 30.0)


def wires(at: Point, inner: float, outer: float, wide: float, count: int, thick: float, lean: float = 0.5) -> Piece:
    """The spokes of a wheel: thin, from the flanges of the hub to the rim, leaning to and fro."""
    s, w, h = at
    out = []
    for i in range(count):
        side, way = (1 if i % 2 else -1), (1 if i % 4 < 2 else -1)
        cos, sin = (float(x[0]) for x in circle(2, 360.0 * i / count, 360.0 * i / count + 1))
        a, b = (float(x[0]) for x in circle(2, 360.0 * i / count + way * lean, 360.0 * i / count + way * lean + 1))
        foot, head = (s + inner * a, w + side * wide, h + inner * b), (s + outer * cos, w, h + outer * sin)
        out.append(tube([foot, head], thick, 3))
    return together(out)


def arms(at: Point, inner: float, outer: float, wide: tuple[float, float], thick: float, count: int,
         start: float = 90.0) -> Piece:  # fmt: skip
    """The cast spokes of a wheel: from the hub to the rim, so wide at either end."""
    s, w, h = at
    out = []
    for i in range(count):
        angle = start + 360.0 * i / count
        cos, sin = (float(x[0]) for x in circle(2, angle, angle + 1))
        foot, head = (s + inner * cos, w, h + inner * sin), (s + outer * cos, w, h + outer * sin)
        out.append(tube([foot, head], wide, 6, flat=thick / wide[0]))
    return together(out)
