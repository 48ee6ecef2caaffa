"""Curves and outlines: what a designer draws on paper before it becomes a surface."""

from collections.abc import Callable, Sequence

import numpy as np

from recombine.render.kit.piece import Point, circle, settled

Outline = Sequence[Point]
"""The corners of a flat shape, in the two coordinates of a view."""


def curve(points: Sequence[Point], steps: int, loop: bool = False) -> np.ndarray:
    """A smooth way through points, `steps` pieces from each to the next (centripetal Catmull-Rom), float64[n, d]."""
    p = np.asarray(points, np.float64)
    if steps == 1 or (len(p) < 3 and not loop):
        return p
    before, after = (p[-1:], p[:2]) if loop else (2 * p[:1] - p[1:2], 2 * p[-1:] - p[-2:-1])
    p = np.concatenate([before, p, after])
    gap = np.sqrt(np.sqrt(np.maximum(((p[1:] - p[:-1]) ** 2).sum(axis=1), 1e-18)))
    out = []
    for i in range(1, len(p) - 2):
        a, b, c = gap[i - 1], gap[i], gap[i + 1]
        one = ((p[i] - p[i - 1]) / a - (p[i + 1] - p[i - 1]) / (a + b) + (p[i + 1] - p[i]) / b) * b
        two = ((p[i + 1] - p[i]) / b - (p[i + 2] - p[i]) / (b + c) + (p[i + 2] - p[i + 1]) / c) * b
        for step in range(steps):
            t = step / steps
            ends = (1 + 2 * t) * (1 - t) * (1 - t) * p[i] + t * t * (3 - 2 * t) * p[i + 1]
            out.append(ends + t * (1 - t) * (1 - t) * one - t * t * (1 - t) * two)
    return np.array(out if loop else [*out, p[-2]])


def line(points: float | Sequence[Point]) -> Callable[[np.ndarray], np.ndarray]:
    """A smooth function through points (a, b) that rises and falls only where they do; a number stays the same."""
    if isinstance(points, int | float):
        return lambda at: np.full(np.shape(at), float(points))
    x, y = np.asarray(points, np.float64).T
    gap, slope = x[1:] - x[:-1], (y[1:] - y[:-1]) / (x[1:] - x[:-1])
    tangent = np.concatenate([slope[:1], np.zeros(len(x) - 2), slope[-1:]])
    for i in range(1, len(x) - 1):
        if slope[i - 1] * slope[i] > 0:
            one, two = 2 * gap[i] + gap[i - 1], gap[i] + 2 * gap[i - 1]
            tangent[i] = (one + two) / (one / slope[i - 1] + two / slope[i])

    def at(where: np.ndarray) -> np.ndarray:
        where = np.clip(where, x[0], x[-1])
        i = np.clip(np.searchsorted(x, where, side="right") - 1, 0, len(gap) - 1)
        t = (where - x[i]) / gap[i]
        ends = (1 + 2 * t) * (1 - t) * (1 - t) * y[i] + t * t * (3 - 2 * t) * y[i + 1]
        return ends + gap[i] * (t * (1 - t) * (1 - t) * tangent[i] - t * t * (1 - t) * tangent[i + 1])

    return at


# --- outlines -----------------------------------------------------------------------------------------------------


def rounded(outline: Outline, radius: float | Sequence[float], steps: int = 2) -> list[Point]:
    """An outline whose corners are cut round, all alike or each by a radius of its own."""
    p = np.asarray(outline, np.float64)
    radii = np.broadcast_to(radius, len(p))
    out: list[Point] = []
    for before, at, after, r in zip(np.roll(p, 1, axis=0), p, np.roll(p, -1, axis=0), radii):
        one, two = before - at, after - at
        reach = min(float(r), *(0.49 * float(np.sqrt((way * way).sum())) for way in (one, two)))
        if reach <= 0:
            out.append(tuple(at))
            continue
        one, two = (at + reach * way / np.sqrt((way * way).sum()) for way in (one, two))
        for t in np.arange(steps + 1) / steps:
            out.append(tuple((1 - t) * (1 - t) * one + 2 * t * (1 - t) * at + t * t * two))
    return out


def rectangle(a0: float, a1: float, b0: float, b1: float, radius: float = 0.0, steps: int = 2) -> list[Point]:
    """A rectangle, round at the corners."""
    return rounded([(a0, b0), (a1, b0), (a1, b1), (a0, b1)], radius, steps)


def ellipse(a: float, b: float, width: float, height: float | None = None, count: int = 16) -> list[Point]:
    """An ellipse around a point, or a circle."""
    cos, sin = circle(count)
    return [(float(x), float(y)) for x, y in zip(a + width * cos, b + (width if height is None else height) * sin)]


def arch(s: float, radius: float, gap: float = 1.15) -> list[Point]:
    """The opening around a wheel that stands on the ground: half a circle above its axle, open below."""
    wide = gap * radius
    return [(s + wide, 0.0), *ellipse(s, radius, wide, count=16)[:9], (s - wide, 0.0)]


def row(count: int, start: float, stop: float, gap: float) -> list[tuple[float, float]]:
    """So many equal stretches from start to stop, with gaps between them."""
    each = (stop - start - gap * (count - 1)) / count
    return [(start + i * (each + gap), start + i * (each + gap) + each) for i in range(count)]


def superellipse(count: int, exponent: float) -> tuple[np.ndarray, np.ndarray]:
    """A ring between a diamond (1), a circle (2) and a square (large)."""
    cos, sin = circle(count)
    return tuple(settled(np.sign(x) * np.abs(x) ** (2 / exponent)) for x in (cos, sin))  # type: ignore[return-value]


def shrunk(outline: Outline, by: float) -> list[Point]:
    """An outline whose sides have moved inward."""
    ring = np.asarray(outline, np.float64)
    after = np.roll(ring, -1, axis=0)
    turn = 1.0 if float((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum()) > 0 else -1.0
    step = after - ring
    step = step / np.sqrt((step * step).sum(axis=1))[:, None]
    inward = turn * np.stack([-step[:, 1], step[:, 0]], axis=1)
    both = inward + np.roll(inward, 1, axis=0)
    moved = ring + by * both / np.maximum((both * inward).sum(axis=1), 0.25)[:, None]
    return [(float(a), float(b)) for a, b in moved]


def scaled(outline: Outline, by: float) -> list[Point]:
    """An outline grown or shrunk about its middle."""
    ring = np.asarray(outline, np.float64)
    middle = ring.sum(axis=0) / len(ring)
    return [(float(a), float(b)) for a, b in middle + by * (ring - middle)]
