"""Soft shadows: the share of a lamp that a primitive hides from a point.

Seen from the point, a lamp is a disc and a primitive a dark shape. Where an outline of the shape crosses the disc, the
disc is cut along a line: how far the line lies from the middle, in radii of the disc at the outline's distance, gives
the share in closed form. So shadows are smooth without sampling, and sharp where things touch.

`at` is the point and `toward` the way from there to the middle of the lamp, in the axes of the primitive; `radius` is
that of the lamp. A share `ahead` of the way brings one past an outline, where the disc has shrunk to ahead * radius.

All numbers are float32 and nothing branches, so that a row of points is done eight at a time.
"""

import math
from typing import Any

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.intersect import Vector
from recombine.render.primitives import BOX, CAPSULE, CONE, CYLINDER, DISC, SPHERE, TORUS

ZERO: Any = np.float32(0)
QUARTER: Any = np.float32(0.25)
HALF: Any = np.float32(0.5)
ONE: Any = np.float32(1)
THREE: Any = np.float32(3)
LEAST: Any = np.float32(1e-9)
"""Instead of zero, in denominators."""
TOUCH: Any = np.float32(1e-3)
"""What is closer than this touches: rounding must not decide on the light below a thing that stands on the ground."""


@kernel
def hidden(kind: int, size: Vector, detail: float, at: Vector, toward: Vector, radius: float) -> float:
    """The share of a lamp that a primitive hides."""
    if kind == SPHERE:
        return hidden_by_ball(scaled(at, size), scaled(toward, size), radius / mean(size))
    if kind == BOX:
        return hidden_by_box(size, detail, at, toward, radius)
    if kind in (CYLINDER, DISC):
        return hidden_by_cylinder(size, at, toward, radius)
    if kind == CAPSULE:
        return _hidden_by_capsule(size, at, toward, radius)
    if kind == CONE:
        return _hidden_by_cone(size, detail, at, toward, radius)
    if kind == TORUS:
        return _hidden_by_torus(size, at, toward, radius)
    return _hidden_by_wedge(size, at, toward, radius)


@step
def scaled(vector: Vector, size: Vector) -> Vector:
    """A vector in units of a primitive's half sizes."""
    return vector[0] / size[0], vector[1] / size[1], vector[2] / size[2]


@step
def mean(size: Vector) -> float:
    return (size[0] + size[1] + size[2]) / THREE


@step
def _cut(x: float) -> float:
    """The share of a disc on the dark side of a line x radii from its middle; positive where the middle is dark."""
    x = min(max(x, -ONE), ONE)
    return HALF + x * (HALF + QUARTER - QUARTER * x * x)


@step
def _strip(near: float, far: float) -> float:
    """The share of a disc between two parallel lines."""
    return max(_cut(near) + _cut(far) - ONE, ZERO)


@step
def hidden_by_ball(at: Vector, toward: Vector, radius: float) -> float:
    """What the ball of radius one hides."""
    (x, y, z), (dx, dy, dz) = at, toward
    along = x * dx + y * dy + z * dz
    ahead = -along / (dx * dx + dy * dy + dz * dz)
    off = math.sqrt(max(x * x + y * y + z * z + ahead * along, ZERO))
    scale = ONE / (radius * max(ahead, LEAST))
    share = _strip((ONE - off) * scale, (ONE + off) * scale) * min(ONE, scale * scale)
    return share if ahead > ZERO else ZERO


@step
def hidden_by_box(size: Vector, edge: float, at: Vector, toward: Vector, radius: float) -> float:
    """A box hides what lies between its outlines for each of three pairs, one along each axis."""
    width, depth, height = size[0] - edge, size[1] - edge, size[2] - edge
    x = _between_edges(depth, height, edge, at[1], at[2], toward[1], toward[2], radius)
    y = _between_edges(height, width, edge, at[2], at[0], toward[2], toward[0], radius)
    z = _between_edges(width, depth, edge, at[0], at[1], toward[0], toward[1], radius)
    return x * y * z


@step
def _between_edges(
    width: float, height: float, edge: float, x: float, y: float, dx: float, dy: float, radius: float
) -> float:
    """The share of the lamp between two parallel outlines of a box, looking along them."""
    moment, far = x * dy - y * dx, math.sqrt(dx * dx + dy * dy)
    reach, off = width * abs(dy) + height * abs(dx) + edge * far, abs(moment)
    # The corner on the ray's side, and how far along the ray it is passed.
    corner_x = width if dy * moment > ZERO else -width
    corner_y = -height if dx * moment > ZERO else height
    ahead = (corner_x - x) * dx + (corner_y - y) * dy
    scale = far / (radius * max(ahead, LEAST))
    share = _strip((reach - off) * scale, (reach + off) * scale)
    # Where the corner lies behind, no outline crosses the lamp: the point is between the outlines, or past them. Below
    # a round edge it counts as past: the eye would see such a dark line on the ground in dashes.
    between = ONE if max(abs(x) - width, abs(y) - height) < TOUCH else ZERO
    return share if ahead > ZERO else between


@step
def hidden_by_cylinder(size: Vector, at: Vector, toward: Vector, radius: float) -> float:
    """A cylinder hides what lies between its two sides and between its two rims."""
    squash = size[0] / size[1]
    (x, y, z), (dx, dy, dz) = (at[0], at[1] * squash, at[2]), (toward[0], toward[1] * squash, toward[2])
    speed = max(dx * dx + dy * dy, LEAST)
    slow = ONE / math.sqrt(speed)
    off = abs(x * dy - y * dx) * slow
    ahead = -(x * dx + y * dy) * slow * slow
    scale = ONE / (radius * max(ahead, LEAST))
    sides = _strip((size[0] - off) * scale, (size[0] + off) * scale)
    # The ray is between the sides for this much before and after; there it passes the rim.
    half = math.sqrt(max(size[0] * size[0] - off * off, ZERO)) * slow
    height, reach = z + ahead * dz, size[2] + half * abs(dz)
    rim = ahead - half if height * dz > ZERO else ahead + half
    scale = math.sqrt(speed / (speed + dz * dz)) / (radius * max(rim, LEAST))
    rims = _strip((reach - abs(height)) * scale, (reach + abs(height)) * scale)
    # Where the rim lies behind, the point is below or above: does the ray meet the cylinder before it leaves the tube?
    out = z + (ahead + half) * dz
    within = x * x + y * y < size[0] * size[0] and max(z, out) > -size[2] and min(z, out) < size[2]
    return sides * rims if rim > ZERO else (sides if within else ZERO)


@step
def _hidden_by_capsule(size: Vector, at: Vector, toward: Vector, radius: float) -> float:
    """What the ball hides that stands where the ray passes the axis."""
    thick, half = size[0], size[2] - size[0]
    speed = max(toward[0] * toward[0] + toward[1] * toward[1], LEAST)
    ahead = -(at[0] * toward[0] + at[1] * toward[1]) / speed
    height = min(max(at[2] + ahead * toward[2], -half), half)
    at = (at[0] / thick, at[1] / thick, (at[2] - height) / thick)
    return hidden_by_ball(at, (toward[0] / thick, toward[1] / thick, toward[2] / thick), radius / thick)


@step
def _hidden_by_cone(size: Vector, top: float, at: Vector, toward: Vector, radius: float) -> float:
    """What a cone hides: its side, where the ray is deepest within it or passes it closest."""
    squash, slope = size[0] / size[1], (ONE - top) * HALF * size[0] / size[2]
    (x, y, z), (dx, dy, dz) = (at[0], at[1] * squash, at[2]), (toward[0], toward[1] * squash, toward[2])
    speed = max(dx * dx + dy * dy, LEAST)
    flat = math.sqrt(speed)
    off, passing = abs(x * dy - y * dx) / flat, -(x * dx + y * dy) / speed
    lean = min(max(-slope * dz / flat, -ONE + LEAST), ONE - LEAST)
    deepest = passing + off * lean / (flat * math.sqrt(max(ONE - lean * lean, LEAST)))
    one, other = (-size[2] - z) / dz, (size[2] - z) / dz
    ahead = min(max(deepest, min(one, other)), max(one, other))
    wide = (ONE + top) * HALF * size[0] - slope * (z + ahead * dz)
    away = math.sqrt(off * off + (ahead - passing) * (ahead - passing) * speed)
    disc = radius * max(ahead, LEAST)
    share = _strip((wide - away) / (disc * math.sqrt(ONE + slope * slope)), (wide + away) / disc)
    return share if ahead > ZERO else ZERO


@step
def _hidden_by_torus(size: Vector, at: Vector, toward: Vector, radius: float) -> float:
    """What the tube hides near the place where the ray crosses the plane of the ring, within the outer rim."""
    tube = size[2]
    ring = size[0] - tube
    ahead = -at[2] / _not_zero(toward[2])
    x, y = at[0] + ahead * toward[0], at[1] + ahead * toward[1]
    away = math.sqrt(x * x + y * y)
    outward = (x * toward[0] + y * toward[1]) / max(away, LEAST)
    off = abs(ring - away) * abs(toward[2]) / math.sqrt(max(outward * outward + toward[2] * toward[2], LEAST))
    scale = ONE / (radius * max(ahead, LEAST))
    return _strip((tube - off) * scale, (tube + off) * scale) * hidden_by_cylinder(size, at, toward, radius)


@step
def _hidden_by_wedge(size: Vector, at: Vector, toward: Vector, radius: float) -> float:
    """What lies between its outlines along each of its edges; along y there are only three."""
    x = _between_edges(size[1], size[2], ZERO, at[1], at[2], toward[1], toward[2], radius)
    z = _between_edges(size[0], size[1], ZERO, at[0], at[1], toward[0], toward[1], radius)
    # Along the ramp, too, the outline is a rectangle: from the ramp down to the lower edge at the back.
    steep = math.sqrt(size[0] * size[0] + size[2] * size[2])
    half = size[0] * size[2] / steep
    height, rise = (at[0] * size[2] + at[2] * size[0]) / steep, (toward[0] * size[2] + toward[2] * size[0]) / steep
    ramp = _between_edges(size[1], half, ZERO, at[1], height + half, toward[1], rise, radius)
    back = _past(-size[0] - at[0], -size[2] - at[2], toward[0], toward[2])
    front = _past(size[0] - at[0], -size[2] - at[2], toward[0], toward[2])
    top = _past(-size[0] - at[0], size[2] - at[2], toward[0], toward[2])
    left, right = _leftmost(_leftmost(back, front), top), _rightmost(_rightmost(back, front), top)
    scale = math.sqrt(toward[0] * toward[0] + toward[2] * toward[2]) / radius
    share = _strip(left[0] * scale / max(left[1], LEAST), -right[0] * scale / max(right[1], LEAST))
    return x * z * ramp * share if max(left[1], right[1]) > ZERO else ZERO


@step
def _past(x: float, y: float, dx: float, dy: float) -> tuple[float, float]:
    """How far left of a ray a point lies, and how far along it, in lengths of the ray."""
    return x * dy - y * dx, x * dx + y * dy


@step
def _leftmost(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return a if a[0] > b[0] else b


@step
def _rightmost(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return a if a[0] < b[0] else b


@step
def _not_zero(x: float) -> float:
    return x if abs(x) > LEAST else LEAST
