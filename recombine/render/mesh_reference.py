"""The plain reference of the renderer of models: every ray against every triangle, in NumPy.

What the middle of a pixel shows is the nearest triangle on its ray; a point is in the shadow of a lamp if a triangle
stands between it and the middle of the lamp. Nothing is left out, nothing is approximated, and it takes long.
"""

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
    floor = np.where(down, -eye[2] / np.where(down, ways[:, 2], -1), np.inf)
    far, found = nearest(eye, ways, triangles.corners)
    found = np.where(far < floor, found, -1)
    objects, parts = np.append(triangles.object, NOTHING)[found], np.append(triangles.part, NOTHING)[found]
    return Seen(*(layer.reshape(height, width) for layer in (objects, parts, np.minimum(far, floor))))


def shadowed(instances: Instances, scene: int, points: np.ndarray) -> np.ndarray:
    """Which points float64[n, 3] the middle of each lamp does not see, bool[lamps, n]."""
    corners, lamps = triangles_of(instances, scene).corners, lamp_table(instances.lamps[scene : scene + 1])[0]
    places = lamps[:, LAMP_X : LAMP_Z + 1]
    return np.array([nearest(place, points - place, corners)[0] < 1 for place in places])


def nearest(start: np.ndarray, ways: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far rays from one place go before they meet a triangle, from either side, and which; infinite, -1 for none.

    With the corners a, b, c of a triangle seen from the start, a way is u a + v b + w c, of which u, v and w are
    volumes: a ray meets the triangle where all three have the same sign.
    """
    far, found = np.full(len(ways), np.inf), np.full(len(ways), -1)
    a, b, c = (corners[:, corner] - start for corner in range(3))
    volume = np.einsum("ti,ti->t", a, np.cross(b, c))
    for first in range(0, len(ways), max(1, AT_ONCE // max(len(corners), 1))):
        rows = slice(first, first + max(1, AT_ONCE // max(len(corners), 1)))
        u, v, w = (ways[rows] @ side.T for side in (np.cross(b, c), np.cross(c, a), np.cross(a, b)))
        inside = ((u >= 0) & (v >= 0) & (w >= 0)) | ((u <= 0) & (v <= 0) & (w <= 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            way = volume / (u + v + w)
        way = np.where(inside & (way > 0), way, np.inf)
        if len(corners):
            found[rows] = way.argmin(axis=1)
            far[rows] = np.take_along_axis(way, found[rows, None], axis=1)[:, 0]
    return far, np.where(np.isfinite(far), found, -1)
