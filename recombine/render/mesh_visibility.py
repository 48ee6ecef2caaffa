"""Visibility of models: how many pixels of every object and of every part a picture shows, without drawing it.

The same z-buffer as that of the picture finds what the middle of every pixel shows, so the counts are those of its
`objects` and `parts`; there is no light, and all scenes of a batch are done in one loop.
"""

from typing import NamedTuple

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.eye import NOTHING
from recombine.render.instances import MODEL, Instances, check, instance_table
from recombine.render.mesh_library import PART, Library, library
from recombine.render.zbuffer import TRIANGLES, cover, ground, project
from recombine.world.camera import Camera


class Visible(NamedTuple):
    """Pixels that are seen of k instances."""

    objects: np.ndarray  # int64[k]
    parts: np.ndarray  # int64[k, parts], zero where the model has fewer parts


def visible_pixels(instances: Instances, width: int = 320, height: int = 240) -> Visible:
    """How many pixels of a picture of this size show each object and each of its parts."""
    camera = Camera(width, height)
    check(instances, camera)
    known, rows = library(instances.models), instance_table(instances)
    most = max((len(model.parts) for model in instances.models), default=0)
    counts = np.zeros((len(rows), most + 1), np.int64)
    _count(rows, instances.first, known, camera.view(instances.camera), camera.focal, width, height, counts)
    return Visible(counts.sum(axis=1), counts[:, 1:])


@kernel
def _count(
    rows: np.ndarray,
    first: np.ndarray,
    known: Library,
    views: np.ndarray,
    focal: float,
    width: int,
    height: int,
    counts: np.ndarray,
) -> None:
    """The pixels of the body of every instance, and of its parts: counts[k, parts + 1]."""
    near, owner = np.empty((height, width), np.float32), np.empty((height, width), np.int32)
    first_point, first_triangle, surface = known.first_point, known.first_triangle, known.surface
    room = np.empty((0, 3))
    for scene in range(len(first) - 1):
        here, points = rows[first[scene] : first[scene + 1]], 0
        for row in range(len(here)):
            model = int(here[row, MODEL])
            points += first_point[model + 1] - first_point[model]
        if points > len(room):
            room = np.empty((points, 3))
        seen = room[:points]
        ground(views[scene], focal, 0.5 * height - 0.5, near, owner)
        project(here, first_point, known.points, views[scene], focal, 0.5 * width - 0.5, 0.5 * height - 0.5, seen)
        cover(here, first_point, first_triangle, known.corners, seen, near, owner)
        top, bottom = height, 0
        for k in range(points):
            top, bottom = min(top, int(max(seen[k, 1], 0.0))), max(bottom, int(min(seen[k, 1] + 1, height - 1.0)) + 1)
        for i in range(top, bottom):
            for j in range(width):
                if owner[i, j] != NOTHING:
                    row = owner[i, j] // TRIANGLES
                    t = first_triangle[int(here[row, MODEL])] + owner[i, j] % TRIANGLES
                    counts[first[scene] + row, int(surface[t, PART]) + 1] += 1
