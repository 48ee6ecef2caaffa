"""Surfaces of triangles: primitives for renderers that know no curves.

Every corner of a triangle lies on the surface of its primitive and has the normal that the ray tracer sees there, in
the axes of the primitive. Surfaces are sheets, grids of points bent into shape; flat sides are cut up too, for what
changes along them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from recombine.render.primitives import KINDS

AROUND = 96
"""The pieces of a circle about the axis of a primitive."""
BEND = 8
"""The pieces of a right angle in a rounded edge, and of a soft rim."""
ACROSS = 12
"""The pieces of a flat side."""


class Surface(NamedTuple):
    """Triangles."""

    points: np.ndarray  # float64[v, 3]
    normals: np.ndarray  # float64[v, 3], of length one
    faces: np.ndarray  # int64[f, 3], into the points; counter-clockwise from outside

    def placed(self, position: np.ndarray, rotation: np.ndarray) -> "Surface":
        """The surface in the world."""
        return Surface(self.points @ rotation.T + position, self.normals @ rotation.T, self.faces)

    def apart(self) -> "Surface":
        """The same triangles, none of which shares a corner with another."""
        corners = self.faces.reshape(-1)
        return Surface(self.points[corners], self.normals[corners], np.arange(len(corners)).reshape(-1, 3))


def tessellate(kind: int, scale: np.ndarray, detail: float) -> Surface:
    """The surface of a primitive, in its own axes."""
    return _SHAPES[KINDS[kind]](np.asarray(scale, np.float64), float(detail))


# --- sheets -------------------------------------------------------------------------------------------------------


def _sheet(points: np.ndarray, normals: np.ndarray) -> Surface:
    """The triangles of a grid of points, float64[m, n, 3]."""
    m, n, _ = points.shape
    corner = np.arange(m * n).reshape(m, n)
    a, b, c, d = (part.reshape(-1) for part in (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return _solid(Surface(points.reshape(-1, 3), _unit(normals).reshape(-1, 3), faces))


def _solid(surface: Surface) -> Surface:
    """The surface without triangles that have shrunk to a line, all turned the way of their normals."""
    one, two, three = (surface.points[surface.faces[:, corner]] for corner in range(3))
    out = np.cross(two - one, three - one)
    area, size = np.linalg.norm(out, axis=1), np.ptp(surface.points, axis=0).max()
    inward = np.einsum("fi,fi->f", out, surface.normals[surface.faces].sum(axis=1)) < 0
    faces = np.where(inward[:, None], surface.faces[:, ::-1], surface.faces)
    return surface._replace(faces=faces[area > 1e-12 * size * size])


def together(sheets: Sequence[Surface]) -> Surface:
    """Several surfaces as one."""
    first = np.cumsum([0, *(len(sheet.points) for sheet in sheets)])
    return Surface(
        np.concatenate([sheet.points for sheet in sheets]),
        np.concatenate([sheet.normals for sheet in sheets]),
        np.concatenate([sheet.faces + start for sheet, start in zip(sheets, first)]),
    )


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _revolved(profile: np.ndarray, scale: np.ndarray) -> Surface:
    """A profile turned about z and stretched: float64[m, 4], radius and height and the normal's share of each."""
    angle = np.linspace(0, 2 * np.pi, AROUND + 1)
    radius, height, out, up = (column[:, None] for column in profile.T)
    flat = np.ones_like(angle)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height * flat], axis=-1)
    normals = np.stack([out * np.cos(angle), out * np.sin(angle), up * flat], axis=-1)
    return _sheet(points * scale, normals / np.where(scale > 0, scale, 1))


def _flat(one: Sequence[float], two: Sequence[float], three: Sequence[float], four: Sequence[float]) -> Surface:
    """A flat side between four corners, of which two may be one."""
    a, b = np.meshgrid(np.linspace(0, 1, ACROSS + 1), np.linspace(0, 1, ACROSS + 1), indexing="ij")
    a, b = a[..., None], b[..., None]
    corners = [np.array(corner, np.float64) for corner in (one, two, three, four)]
    points = (1 - a) * ((1 - b) * corners[0] + b * corners[3]) + a * ((1 - b) * corners[1] + b * corners[2])
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return _sheet(points, np.broadcast_to(normal, points.shape))


# --- round things -------------------------------------------------------------------------------------------------


def _ball(scale: np.ndarray, detail: float) -> Surface:
    angle = np.linspace(-np.pi / 2, np.pi / 2, AROUND // 2 + 1)
    return _revolved(_arc(angle, 1.0, 0.0, 0.0), scale)


def _arc(angle: np.ndarray, radius: float, out: float, up: float) -> np.ndarray:
    """The profile of a circle around the point (out, up)."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([out + radius * cos, up + radius * sin, cos, sin], axis=1)


def _cylinder(scale: np.ndarray, rim: float) -> Surface:
    """Sharp, but its normals turn over the rims: those of a rim of 45 degrees at the edge."""
    width, height = scale[0], scale[2]
    z = np.concatenate([np.linspace(-1, rim / height - 1, BEND + 1), np.linspace(rim / height - 1, 1 - rim / height)])
    z = np.unique(np.concatenate([z, -z]))
    turned = np.maximum(0, (np.abs(z) - 1) * height + rim) if rim > 0 else np.zeros_like(z)
    side = np.stack([np.ones_like(z), z, np.full_like(z, width * (rim or 1)), np.sign(z) * turned * height], axis=1)
    r = np.unique(np.concatenate([np.linspace(0, 1 - rim / width, ACROSS + 1), np.linspace(1 - rim / width, 1, BEND)]))
    leaning = np.maximum(0, (r - 1) * width + rim) if rim > 0 else np.zeros_like(r)
    lids = [
        np.stack([r, np.full_like(r, end), leaning * width, np.full_like(r, end * height * (rim or 1))], axis=1)
        for end in (-1.0, 1.0)
    ]
    return together([_revolved(profile, scale) for profile in (side, *lids)])


def _cone(scale: np.ndarray, top: float) -> Surface:
    step = np.linspace(-1, 1, ACROSS + 1)
    flat = np.ones_like(step)
    side = np.stack([(1 + top) / 2 - (1 - top) / 2 * step, step, flat, (1 - top) / 2 * flat], axis=1)
    lids = [_lid(radius, end) for radius, end in ((1.0, -1.0), (top, 1.0)) if radius > 0]
    return together([_revolved(profile, scale) for profile in (side, *lids)])


def _lid(radius: float, end: float) -> np.ndarray:
    r = np.linspace(0, radius, ACROSS + 1)
    return np.stack([r, np.full_like(r, end), np.zeros_like(r), np.full_like(r, end or 1.0)], axis=1)


def _capsule(scale: np.ndarray, detail: float) -> Surface:
    radius, half, quarter = scale[0], scale[2] - scale[0], np.linspace(0, np.pi / 2, AROUND // 4 + 1)
    tube = np.linspace(-half, half, ACROSS + 1)
    flat = np.ones_like(tube)
    middle = np.stack([radius * flat, tube, flat, 0 * flat], axis=1)
    profile = [_arc(quarter - np.pi / 2, radius, 0.0, -half), middle, _arc(quarter, radius, 0.0, half)]
    return _revolved(np.concatenate(profile), np.ones(3))


def _torus(scale: np.ndarray, detail: float) -> Surface:
    angle = np.linspace(-np.pi, np.pi, AROUND // 2 + 1)
    return _revolved(_arc(angle, scale[2], scale[0] - scale[2], 0.0), np.ones(3))


def _disc(scale: np.ndarray, detail: float) -> Surface:
    return _revolved(_lid(1.0, 0.0), scale)


# --- flat things --------------------------------------------------------------------------------------------------


def _box(scale: np.ndarray, edge: float) -> Surface:
    """Six sides, each bent at its edges as far as halfway to the next side."""
    return together([_side(scale, edge, axis, sign) for axis in range(3) for sign in (-1.0, 1.0)])


def _side(scale: np.ndarray, edge: float, axis: int, sign: float) -> Surface:
    one, two = (axis + 1) % 3, (axis + 2) % 3
    (a, lean_a), (b, lean_b) = _across(scale[one], edge), _across(scale[two], edge)
    points, normals = np.empty((2, len(a), len(b), 3))
    points[..., one], points[..., two], points[..., axis] = a[:, None], b, sign * (scale[axis] - edge)
    normals[..., one], normals[..., two], normals[..., axis] = lean_a[:, None], lean_b, sign
    normals = _unit(normals)
    return _sheet(points + edge * normals, normals)


def _across(half: float, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """Along one direction of a side: points of the box within, and how far the surface leans outward there."""
    inner = np.linspace(edge - half, half - edge, ACROSS + 1)
    if edge == 0:
        return inner, np.zeros_like(inner)
    lean = np.tan(np.linspace(0, np.pi / 4, BEND // 2 + 1))[1:]
    ends = np.ones_like(lean)
    places = np.concatenate([inner[0] * ends, inner, inner[-1] * ends])
    return places, np.concatenate([-lean[::-1], np.zeros_like(inner), lean])


def _wedge(scale: np.ndarray, detail: float) -> Surface:
    low, left, right = -1.0, -1.0, 1.0
    back = [(-1.0, left, low), (-1.0, left, 1.0), (-1.0, right, 1.0), (-1.0, right, low)]
    front = [(1.0, left, low), (1.0, right, low)]
    sides = [
        _flat(*(back[i] for i in (0, 1, 2, 3))),
        _flat(back[0], back[3], front[1], front[0]),
        _flat(front[0], front[1], back[2], back[1]),
        _flat(back[0], front[0], back[1], back[1]),
        _flat(back[3], back[2], front[1], front[1]),
    ]
    return together([_solid(side._replace(points=side.points * scale, normals=_unit(side.normals / scale)))
                      for side in map(_outside, sides)])  # fmt: skip


def _outside(side: Surface) -> Surface:
    """A side of a shape around the origin, facing away from it."""
    away = np.sign(np.einsum("i,i->", side.normals[0], side.points.mean(axis=0)))
    return _solid(side._replace(normals=side.normals * (away or 1.0)))


_SHAPES: dict[str, Callable[[np.ndarray, float], Surface]] = {
    "sphere": _ball,
    "box": _box,
    "cylinder": _cylinder,
    "cone": _cone,
    "capsule": _capsule,
    "torus": _torus,
    "disc": _disc,
    "wedge": _wedge,
}
