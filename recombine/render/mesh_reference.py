"""The plain reference of the renderer of models: every ray against every triangle, in NumPy.

What the middle of a pixel shows is the nearest triangle on its ray; a point is in the shadow of a lamp if a triangle
stands between it and the middle of the lamp. Nothing is left out, nothing is approximated, and it takes long.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recombine.render.eye import NOTHING
from recombine.render.instances import Instances
from recombine.render.lamps import LAMP_X, LAMP_Z, lamp_table
from recombine.world.camera import POSITION, Camera

AT_ONCE = 1 << 21
"""How many pairs of rays and triangles are looked at together."""


class Seen(NamedTuple):
    """What the middle of every pixel of a picture shows."""

    objects: np.ndarray  # int64[height, width]
    parts: np.ndarray  # int64[height, width]
    depth: np.ndarray  # float64[height, width]


class Triangles(NamedTuple):
    """The triangles of a scene in the world."""

    corners: np.ndarray  # float64[t, 3, 3]
    object: np.ndarray  # int64[t]
    part: np.ndarray  # int64[t]


def triangles_of(instances: Instances, scene: int) -> Triangles:
    """All triangles of a scene."""
    corners, objects, parts = [np.zeros((0, 3, 3))], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for row in range(instances.first[scene], instances.first[scene + 1]):
        model, angle = instances.models[instances.model[row]], np.radians(instances.turn[row])
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        points = instances.position[row] + instances.size[row] * model.points @ turn.T
        corners.append(points[model.triangles])
        objects.append(np.full(len(model.triangles), instances.object[row]))
        parts.append(model.part.astype(np.int64))
    return Triangles(np.concatenate(corners), np.concatenate(objects), np.concatenate(parts))


def cast(instances: Instances, scene: int, width: int, height: int) -> Seen:
    """What the camera sees of a scene."""
    camera, jitter, triangles = Camera(width, height), instances.camera[scene], triangles_of(instances, scene)
    eye, ways = camera.view(jitter)[POSITION], camera.rays(jitter).reshape(-1, 3)
    down = ways[:, 2] < 0
    depth = np.where(down, -eye[2] / np.where(down, ways[:, 2], -1), np.inf)
    found = np.full(len(ways), -1)
    for rows, far, which in _nearest(np.broadcast_to(eye, ways.shape), ways, triangles.corners):
        closer = far < depth[rows]
        depth[rows] = np.where(closer, far, depth[rows])
        found[rows] = np.where(closer, which, found[rows])
    objects, parts = np.append(triangles.object, NOTHING)[found], np.append(triangles.part, NOTHING)[found]
    return Seen(*(layer.reshape(height, width) for layer in (objects, parts, depth)))


def shadowed(instances: Instances, scene: int, points: np.ndarray) -> np.ndarray:
    """Which points float64[n, 3] the middle of each lamp does not see, bool[lamps, n]."""
    corners, lamps = triangles_of(instances, scene).corners, lamp_table(instances.lamps[scene : scene + 1])[0]
    hidden = np.zeros((len(lamps), len(points)), bool)
    for lamp in range(len(lamps)):
        for rows, far, _ in _nearest(points, lamps[lamp, LAMP_X : LAMP_Z + 1] - points, corners):
            hidden[lamp, rows] = far < 1
    return hidden


def _nearest(start: np.ndarray, way: np.ndarray, corners: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """For a stretch of the rays at a time: how far the nearest triangle is, and its number."""
    if not len(corners):
        return
    stretch = max(1, AT_ONCE // len(corners))
    for first in range(0, len(start), stretch):
        rows = slice(first, first + stretch)
        far = _meet(start[rows], way[rows], corners)
        which = far.argmin(axis=1)
        yield rows, np.take_along_axis(far, which[:, None], axis=1)[:, 0], which


def _meet(start: np.ndarray, way: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How far rays go before they meet triangles, from either side, float64[rays, triangles]; infinite for never."""
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    aside = np.cross(way[:, None], two)
    facing = np.einsum("ti,rti->rt", one, aside)
    off = start[:, None] - corners[:, 0]
    upward = np.cross(off, one)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("rti,rti->rt", off, aside) / facing
        v = np.einsum("ri,rti->rt", way, upward) / facing
        far = np.einsum("ti,rti->rt", two, upward) / facing
        return np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0), far, np.inf)
