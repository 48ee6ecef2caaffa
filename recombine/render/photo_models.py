"""Models for the photo renderer: the same instances as bodies of triangles.

A pattern fills the box of a model, so its triangles are cut along the borders of its cells; blotches, with no flat
borders, are made of small pieces. Every piece has one colour.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from recombine.render.instances import (
    CHECKERED,
    DOTTED,
    MIDDLE_X,
    MIDDLE_Z,
    PLAIN,
    STRIPED,
    VSTRIPED,
    Instances,
    Looks,
    instance_table,
)
from recombine.render.materials import DARKER, MATERIALS
from recombine.render.mesh_library import measures
from recombine.render.models import Model
from recombine.render.patterns import shade_of
from recombine.render.studio import Body, brushed
from recombine.render.tessellate import Surface

AXES = {STRIPED: (2,), VSTRIPED: (0,), CHECKERED: (0, 1, 2), DOTTED: (0, 1, 2)}
"""The axes of the box along which a pattern has cells."""
FINE = 4
"""The pieces of a cell of blotches, along a side."""

Corners = np.ndarray
"""float64[t, 3, 6]: the corners of triangles, place and normal."""


def bodies_of_models(instances: Instances, scene: int) -> list[Body]:
    """The instances of a scene."""
    middles = instance_table(instances)[:, MIDDLE_X : MIDDLE_Z + 1]
    return [
        brushed(body, middles[row])
        for row in range(instances.first[scene], instances.first[scene + 1])
        for body in _bodies(instances, row)
    ]


def _bodies(k: Instances, row: int) -> Iterator[Body]:
    """The parts of an instance, each once for every tint in it."""
    model, materials = k.models[k.model[row]], [*MATERIALS.values()]
    paints = slice(k.painted[row], k.painted[row + 1])
    own = dict(zip(k.part[paints].tolist(), range(paints.start, paints.stop)))
    for part, tint in np.unique(np.stack([model.part, model.tint], axis=1), axis=0).tolist():
        looks, look = (k.paint, own[part]) if part in own else (k.body, row)
        chosen = (model.part == part) & (model.tint == np.float32(tint))
        corners = np.concatenate([model.points[model.triangles[chosen]], model.normals[chosen]], axis=2)
        color = tint * looks.color[look]
        for pieces, pattern in _painted(model, corners, looks, look):
            surface = _placed(k, row, pieces)
            body = Body(surface, int(k.object[row]), int(part), materials[looks.material[look]], tuple(color.tolist()))
            if pattern is not None:
                body = replace(body, coat=(MATERIALS["rubber"], tuple((pattern * color).tolist())))
            yield body


def _placed(k: Instances, row: int, corners: Corners) -> Surface:
    angle = np.radians(k.turn[row])
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    flat = corners.reshape(-1, 6)
    normals = flat[:, 3:] / np.maximum(np.linalg.norm(flat[:, 3:], axis=1, keepdims=True), 1e-12)
    surface = Surface(k.size[row] * flat[:, :3], normals, np.arange(len(flat)).reshape(-1, 3))
    return surface.placed(k.position[row], turn)


# --- patterns -----------------------------------------------------------------------------------------------------


def _painted(model: Model, corners: Corners, looks: Looks, look: int) -> Iterator[tuple[Corners, float | None]]:
    """The pieces of each colour of a pattern, and the share of the colour that they keep; None without a pattern."""
    pattern, cells = int(looks.pattern[look]), float(looks.cells[look])
    if pattern == PLAIN:
        yield corners, None
        return
    known = measures((model,))
    low, side = known.low[0], np.maximum(known.high[0] - known.low[0], 1e-9)
    for axis in AXES[pattern]:
        corners = cut(corners, axis, low[axis], side[axis] / (cells * (FINE if pattern == DOTTED else 1)))
    shade = _shades(pattern, cells, corners, low, side)
    for keep in (1.0, DARKER):
        pieces = corners[(shade > 0.5 * (1 + DARKER)) == (keep == 1.0)]
        if len(pieces):
            yield pieces, keep


def _shades(pattern: int, cells: float, corners: Corners, low: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The share of its colour that the middle of every triangle keeps."""
    at = (corners[:, :, :3].mean(axis=1) - low) / side
    out = np.cross(corners[:, 1, :3] - corners[:, 0, :3], corners[:, 2, :3] - corners[:, 0, :3]) / side
    inward = -out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-30)
    nothing = (0.0, 0.0, 0.0)
    return np.array(
        [shade_of(pattern, cells, tuple(p), tuple(w), nothing) for p, w in zip(at.tolist(), inward.tolist())]
    )


def cut(corners: Corners, axis: int, start: float, width: float) -> Corners:
    """The triangles, cut by the planes start + i * width across an axis."""
    done = []
    while len(corners):
        place = (corners[:, :, axis] - start) / width
        plane = np.floor(place.min(axis=1) + 1e-6) + 1
        whole = place.max(axis=1) <= plane + 1e-6
        done.append(corners[whole])
        corners, place, plane = corners[~whole], place[~whole], plane[~whole]
        below, above = _split(corners, place - plane[:, None])
        done.append(below)
        corners = above
    return np.concatenate([np.zeros((0, 3, 6)), *done])


def _split(corners: Corners, height: np.ndarray) -> tuple[Corners, Corners]:
    """What of triangles lies below height zero, and what above; every one has corners on both sides."""
    # One corner is alone on its side; turn it to the front.
    up = height > 0
    lone = np.where(up.sum(axis=1) == 1, up.argmax(axis=1), (~up).argmax(axis=1))
    turned = (lone[:, None] + np.arange(3)) % 3
    height, up = np.take_along_axis(height, turned, axis=1), np.take_along_axis(up, turned, axis=1)
    a, b, c = np.moveaxis(np.take_along_axis(corners, turned[:, :, None], axis=1), 1, 0)
    one = a + (height[:, 0] / (height[:, 0] - height[:, 1]))[:, None] * (b - a)
    two = a + (height[:, 0] / (height[:, 0] - height[:, 2]))[:, None] * (c - a)
    tip, base = np.stack([a, one, two], axis=1), np.concatenate([np.stack([one, b, c], 1), np.stack([one, c, two], 1)])
    alone = up[:, 0]
    both = np.concatenate([alone, alone])
    return np.concatenate([tip[~alone], base[both]]), np.concatenate([tip[alone], base[~both]])
