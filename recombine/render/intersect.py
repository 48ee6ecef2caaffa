"""Rays and primitives: where a ray enters a primitive, and which way the surface faces there.

Rays are given in the axes of a primitive, from its centre (`at`, `toward`), and are as long as their direction says: a
ray along the camera's axis counts depth. Only sums, products, quotients and square roots are used, so every machine
finds the same hits.
"""

import math

import numpy as np

from recombine.render.compiled import kernel, step
from recombine.render.primitives import BOX, CAPSULE, CONE, CYLINDER, DISC, SPHERE, TORUS

Vector = tuple[float, float, float]
MISS = np.inf

NEAR = 1e-6
"""What a ray meets before this is where it starts."""

HALVINGS = 60
"""How often an interval is halved to find a root."""


@kernel
def enter(kind: int, size: Vector, detail: float, at: Vector, toward: Vector) -> float:
    """How far a ray goes before it enters a primitive; MISS where it never does, or starts inside."""
    if kind == BOX:
        return _enter_box(size, detail, at, toward)
    if kind == CAPSULE:
        return _enter_capsule(size[0], size[2] - size[0], at, toward)
    if kind == TORUS:
        return _enter_torus(size[0] - size[2], size[2], at, toward)
    if kind == DISC:
        return _enter_disc(size, at, toward)
    # The others are scaled to the box from -1 to 1.
    at = (at[0] / size[0], at[1] / size[1], at[2] / size[2])
    toward = (toward[0] / size[0], toward[1] / size[1], toward[2] / size[2])
    if kind == SPHERE:
        return _first(_round(dot(toward, toward), dot(at, toward), dot(at, at) - 1.0))
    if kind == CYLINDER:
        (x, y, z), (dx, dy, dz) = at, toward
        return _first(_within(_round(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - 1.0), z, dz, 1.0))
    if kind == CONE:
        return _enter_cone(detail, at, toward)
    return _enter_wedge(at, toward)


@step
def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@step
def _first(stretch: tuple[float, float]) -> float:
    """Where a stretch of a ray begins; MISS where it is empty or began before the ray did."""
    return stretch[0] if NEAR < stretch[0] <= stretch[1] else MISS


@step
def _round(squared_speed: float, along: float, outside: float) -> tuple[float, float]:
    """The stretch of a ray where squared_speed t² + 2 along t + outside is not positive."""
    inside = along * along - squared_speed * outside
    if inside < 0:
        return MISS, -MISS
    root = math.sqrt(inside)
    return (-along - root) / squared_speed, (-along + root) / squared_speed


@step
def _within(stretch: tuple[float, float], start: float, speed: float, half: float) -> tuple[float, float]:
    """The part of a stretch between two parallel faces."""
    one, other = (-half - start) / speed, (half - start) / speed
    return max(stretch[0], min(one, other)), min(stretch[1], max(one, other))


@step
def _below(stretch: tuple[float, float], start: float, speed: float) -> tuple[float, float]:
    """The part of a stretch where start + speed t is not positive."""
    crossing = -start / speed
    if speed > 0:
        return stretch[0], min(stretch[1], crossing)
    if speed < 0:
        return max(stretch[0], crossing), stretch[1]
    return stretch if start <= 0 else (MISS, -MISS)


# --- boxes --------------------------------------------------------------------------------------------------------


@step
def _slabs(size: Vector, at: Vector, toward: Vector) -> tuple[float, float]:
    stretch = _within((-MISS, MISS), at[0], toward[0], size[0])
    stretch = _within(stretch, at[1], toward[1], size[1])
    return _within(stretch, at[2], toward[2], size[2])


@step
def _enter_box(size: Vector, edge: float, at: Vector, toward: Vector) -> float:
    hit = _first(_slabs(size, at, toward))
    if hit == MISS or edge == 0:
        return hit
    flat = 0
    for axis in range(3):
        flat += abs(at[axis] + hit * toward[axis]) <= size[axis] - edge
    return hit if flat >= 2 else _enter_round_box(size, edge, at, toward)


@kernel
def _enter_round_box(size: Vector, edge: float, at: Vector, toward: Vector) -> float:
    """A box with round edges, entered beside the flat part of its sides: through one of twelve capsules."""
    x, y, z = size[0] - edge, size[1] - edge, size[2] - edge
    dx, dy, dz = toward
    hit = MISS
    for one in (-1.0, 1.0):
        for other in (-1.0, 1.0):  # an edge that lies ahead on both axes is left by the ray, not entered
            if one * dx < 0 or other * dy < 0:
                hit = min(hit, _enter_capsule(edge, z, (at[0] - one * x, at[1] - other * y, at[2]), toward))
            if one * dy < 0 or other * dz < 0:
                hit = min(hit, _enter_capsule(edge, x, (at[1] - one * y, at[2] - other * z, at[0]), (dy, dz, dx)))
            if one * dz < 0 or other * dx < 0:
                hit = min(hit, _enter_capsule(edge, y, (at[2] - one * z, at[0] - other * x, at[1]), (dz, dx, dy)))
    return hit


@step
def _enter_wedge(at: Vector, toward: Vector) -> float:
    stretch = _slabs((1.0, 1.0, 1.0), at, toward)
    return _first(_below(stretch, at[0] + at[2], toward[0] + toward[2]))


# --- round things -------------------------------------------------------------------------------------------------


@step
def _enter_capsule(radius: float, half: float, at: Vector, toward: Vector) -> float:
    """A tube about z with a ball at either end, at half and -half."""
    (x, y, z), (dx, dy, dz) = at, toward
    speed, along, outside = dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - radius * radius
    tube = _round(speed, along, outside)
    if not tube[0] <= tube[1]:  # nothing sticks out of the tube
        return MISS
    if tube[0] > NEAR and abs(z + tube[0] * dz) <= half:
        return tube[0]
    hit = MISS
    for end in (-half, half):
        off = z - end
        hit = min(hit, _first(_round(speed + dz * dz, along + off * dz, outside + off * off)))
    return hit


@step
def _enter_disc(size: Vector, at: Vector, toward: Vector) -> float:
    hit = -at[2] / toward[2]
    if not NEAR < hit < MISS:
        return MISS
    x, y = (at[0] + hit * toward[0]) / size[0], (at[1] + hit * toward[1]) / size[1]
    return hit if x * x + y * y <= 1 else MISS


@kernel
def _enter_cone(top: float, at: Vector, toward: Vector) -> float:
    """A cone of radius one at z = -1 and `top` at z = 1."""
    (x, y, z), (dx, dy, dz) = at, toward
    middle, slope = (1 + top) / 2, (1 - top) / 2
    here = middle - slope * z  # the radius at the height of the start, and how it shrinks on the way
    shrink = slope * dz
    speed, along = dx * dx + dy * dy - shrink * shrink, x * dx + y * dy + here * shrink
    inside = along * along - speed * (x * x + y * y - here * here)
    hit = MISS
    if inside >= 0:
        root = math.sqrt(inside)
        for sign in (-1.0, 1.0):
            t = (-along + sign * root) / speed
            if NEAR < t < hit and abs(z + t * dz) <= 1:
                hit = t
    for end, radius in ((-1.0, 1.0), (1.0, top)):
        t = (end - z) / dz
        across, up = x + t * dx, y + t * dy
        if NEAR < t < hit and across * across + up * up <= radius * radius:
            hit = t
    return hit


@kernel
def _enter_torus(ring: float, tube: float, at: Vector, toward: Vector) -> float:
    """A tube around a ring; where the ray meets it is the first root of a quartic."""
    (x, y, z), (dx, dy, dz) = at, toward
    around = _round(dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - (ring + tube) * (ring + tube))
    start, stop = _within(around, z, dz, tube)
    if not max(start, NEAR) < stop:
        return MISS
    # Start there and measure in units of the stretch, so that all numbers stay near one.
    start = max(start, NEAR)
    x, y, z, stop = x + start * dx, y + start * dy, z + start * dz, stop - start
    speed, along = dx * dx + dy * dy + dz * dz, x * dx + y * dy + z * dz
    rest = x * x + y * y + z * z + ring * ring - tube * tube
    flat = 4 * ring * ring
    quartic = (
        rest * rest - flat * (x * x + y * y),
        4 * along * rest - 2 * flat * (x * dx + y * dy),
        4 * along * along + 2 * speed * rest - flat * (dx * dx + dy * dy),
        4 * speed * along,
        speed * speed,
    )
    if quartic[0] <= 0:
        return MISS  # inside already
    hit = _first_root(quartic, stop)
    return start + hit if hit < stop else MISS


@kernel
def _first_root(q: tuple[float, float, float, float, float], stop: float) -> float:
    """The first place in (0, stop) where a quartic, positive at 0, becomes negative; MISS where it never does.

    Between the turns of a curve there is at most one root: those of the slope's slope are known, and lead to the turns
    of the slope, and these to the roots.
    """
    bends = _round(12 * q[4], 3 * q[3], 2 * q[2])
    before, low = 0.0, 0.0
    for i in range(3):
        until = stop if i == 2 or not bends[0] <= bends[1] else min(max(bends[i], 0.0), stop)
        turn = _root(q[1], 2 * q[2], 3 * q[3], 4 * q[4], 0.0, before, until)
        for end in (turn, until):
            if end > low and _value(q[0], q[1], q[2], q[3], q[4], end) < 0:
                return _root(q[0], q[1], q[2], q[3], q[4], low, end)
            low = max(low, end)
        before = until
    return MISS


@step
def _value(a: float, b: float, c: float, d: float, e: float, t: float) -> float:
    return a + t * (b + t * (c + t * (d + t * e)))


@kernel
def _root(a: float, b: float, c: float, d: float, e: float, low: float, high: float) -> float:
    """Where a polynomial changes its sign between low and high; high where it does not."""
    rising = _value(a, b, c, d, e, low) < 0
    if rising == (_value(a, b, c, d, e, high) < 0):
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if (_value(a, b, c, d, e, middle) < 0) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# --- surfaces -----------------------------------------------------------------------------------------------------


@step
def facing(kind: int, size: Vector, detail: float, at: Vector, toward: Vector) -> Vector:
    """The unit normal of the surface at a point of it, in the axes of the primitive; `toward` is how a ray came."""
    x, y, z = at[0] / size[0], at[1] / size[1], at[2] / size[2]
    if kind == SPHERE:
        return unit(x / size[0], y / size[1], z / size[2])
    if kind == BOX:
        return _facing_box(size, detail, at)
    if kind == CYLINDER:
        return _facing_cylinder(size, detail, x, y, z)
    if kind == CONE:
        return _facing_cone(size, detail, x, y, z)
    if kind == CAPSULE:
        half = size[2] - size[0]
        return unit(at[0], at[1], at[2] - min(max(at[2], -half), half))
    if kind == TORUS:
        shrink = 1 - (size[0] - size[2]) / math.sqrt(at[0] * at[0] + at[1] * at[1])
        return unit(at[0] * shrink, at[1] * shrink, at[2])
    if kind == DISC:
        return 0.0, 0.0, (-1.0 if toward[2] > 0 else 1.0)
    return _facing_wedge(size, x, y, z)


@step
def curvature(kind: int, size: Vector, detail: float, at: Vector) -> float:
    """How far the normal turns per length on the surface near a point of it, roughly; most across edges and rims."""
    if kind == BOX:
        outside = 0
        for axis in range(3):
            outside += abs(at[axis]) > size[axis] - detail
        return 1 / detail if outside > 1 else 0.0
    if kind == CYLINDER:
        radius = math.sqrt(at[0] * at[0] + at[1] * at[1])
        if abs(at[2]) <= size[2] - detail:
            return 1 / size[0]
        return 1 / detail if radius > size[0] - detail else 0.0
    if kind in (SPHERE, CONE, CAPSULE):
        return 1 / min(size[0], size[1])
    return 1 / size[2] if kind == TORUS else 0.0


@step
def unit(x: float, y: float, z: float) -> Vector:
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@step
def _signed(size: float, sign: float) -> float:
    return size if sign > 0 else -size


@step
def _one_if(so: bool) -> float:
    return 1.0 if so else 0.0


@step
def _facing_box(size: Vector, edge: float, at: Vector) -> Vector:
    # How far the point stands out of the box within, and at sharp edges on which face it lies.
    x, y, z = abs(at[0]) - size[0] + edge, abs(at[1]) - size[1] + edge, abs(at[2]) - size[2] + edge
    most = max(x, max(y, z))
    if edge < 1e-9 or most <= 0:
        x, y, z = _one_if(x == most), _one_if(y == most), _one_if(z == most)
    x, y, z = unit(max(x, 0.0), max(y, 0.0), max(z, 0.0))
    return _signed(x, at[0]), _signed(y, at[1]), _signed(z, at[2])


@step
def _facing_cylinder(size: Vector, rim: float, x: float, y: float, z: float) -> Vector:
    """Flat or round, and turning from one to the other over the rim."""
    radius = math.sqrt(x * x + y * y)
    out, up = (radius - 1) * size[0] + rim, (abs(z) - 1) * size[2] + rim
    if rim < 1e-9 or max(out, up) <= 0:
        out, up = _one_if(out > up), _one_if(out <= up)
    out, up = max(out, 0.0), max(up, 0.0)
    across = out / max(radius, 1e-9)
    return unit(across * x / size[0] * size[0], across * y / size[1] * size[0], _signed(up, z))


@step
def _facing_cone(size: Vector, top: float, x: float, y: float, z: float) -> Vector:
    radius = math.sqrt(x * x + y * y)
    side = abs(radius - ((1 + top) / 2 - (1 - top) / 2 * z))
    if 1 - abs(z) < side:
        return 0.0, 0.0, _signed(1.0, z)
    radius = max(radius, 1e-9)
    return unit(x / radius / size[0], y / radius / size[1], (1 - top) / 2 / size[2])


@step
def _facing_wedge(size: Vector, x: float, y: float, z: float) -> Vector:
    ramp, back, bottom, side = abs(x + z), abs(1 + x), abs(1 + z), abs(1 - abs(y))
    least = min(min(ramp, back), min(bottom, side))
    if ramp == least:
        return unit(1 / size[0], 0.0, 1 / size[2])
    if back == least:
        return -1.0, 0.0, 0.0
    if bottom == least:
        return 0.0, 0.0, -1.0
    return 0.0, _signed(1.0, y), 0.0
