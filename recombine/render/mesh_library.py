"""The library: models as the loops of the renderer read them, made once for all scenes that show them.

All models stand one after the other in the same arrays. The triangles of a model are kept in the order of its
hierarchy. A closed piece of a model is seen from outside only; what is open, such as a sheet of metal, is seen from both
sides: its triangles are there twice.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.hierarchy import BOXES, build
from recombine.render.models import Model

MOST_TRIANGLES = 1 << 22
"""No model has more."""


class Library(NamedTuple):
    """The triangles of m models. Model i has the points first_point[i]:first_point[i + 1], and so on."""

    first_point: np.ndarray  # int64[m + 1]
    first_triangle: np.ndarray  # int64[m + 1]
    first_node: np.ndarray  # int64[m + 1]
    points: np.ndarray  # float64[v, 3]
    corners: np.ndarray  # int32[t, 3], into the points of the model
    normals: np.ndarray  # float32[t, 9], of the three corners
    facing: np.ndarray  # float32[t, 3], of the whole triangle
    bend: np.ndarray  # float32[t], how far the normal turns per length
    part: np.ndarray  # int16[t]
    tint: np.ndarray  # float32[t]
    rays: np.ndarray  # float32[t, 9], a corner and the ways to the two others
    boxes: np.ndarray  # float32[n, BOXES], the nodes of the hierarchies
    children: np.ndarray  # int32[n, 2]


class Measures(NamedTuple):
    """What is known of m models as wholes."""

    low: np.ndarray  # float64[m, 3], the corners of their boxes
    high: np.ndarray  # float64[m, 3]
    reach: np.ndarray  # float64[m], the radius of the ball around the middle of the box
    area: np.ndarray  # float64[m, parts + 1], of the body and of every part, as shares of the whole


@lru_cache(maxsize=16)
def library(models: tuple[Model, ...]) -> Library:
    """The models of a scene; made once for the same ones."""
    made = [_made(model) for model in models]
    columns = {name: np.concatenate([one[name] for one in made]) if made else _EMPTY[name] for name in _EMPTY}
    return Library(*(_starts([len(one[name]) for one in made]) for name in ("points", "corners", "boxes")), **columns)


@lru_cache(maxsize=16)
def measures(models: tuple[Model, ...]) -> Measures:
    """The boxes, balls and areas of models."""
    low = np.array([model.points.min(axis=0) for model in models]).reshape(-1, 3)
    high = np.array([model.points.max(axis=0) for model in models]).reshape(-1, 3)
    far = [np.linalg.norm(m.points - 0.5 * (a + b), axis=1).max() for m, a, b in zip(models, low, high)]
    area = np.zeros((len(models), max((len(model.parts) for model in models), default=0) + 1))
    for row, model in enumerate(models):
        one, two, three = (model.points[model.triangles[:, corner]] for corner in range(3))
        np.add.at(area[row], model.part.astype(np.int64) + 1, np.linalg.norm(np.cross(two - one, three - one), axis=1))
        area[row] /= max(area[row].sum(), 1e-30)
    return Measures(low, high, np.array(far), area)


_EMPTY = {
    "points": np.zeros((0, 3)),
    "corners": np.zeros((0, 3), np.int32),
    "normals": np.zeros((0, 9), np.float32),
    "facing": np.zeros((0, 3), np.float32),
    "bend": np.zeros(0, np.float32),
    "part": np.zeros(0, np.int16),
    "tint": np.zeros(0, np.float32),
    "rays": np.zeros((0, 9), np.float32),
    "boxes": np.zeros((0, BOXES), np.float32),
    "children": np.zeros((0, 2), np.int32),
}
"""The columns of no model."""


def _starts(sizes: list[int]) -> np.ndarray:
    return np.cumsum([0, *sizes])


@lru_cache(maxsize=256)
def _made(model: Model) -> dict[str, np.ndarray]:
    """The columns of one model."""
    open_ones = np.flatnonzero(~closed(model))
    triangles = np.concatenate([model.triangles, model.triangles[open_ones, ::-1]]).astype(np.int32)
    normals = np.concatenate([model.normals, -model.normals[open_ones, ::-1]])
    source = np.concatenate([np.arange(len(model.triangles)), open_ones])
    corners = model.points[triangles]
    boxes, children, order = build(corners.min(axis=1), corners.max(axis=1))
    triangles, normals, corners, source = triangles[order], normals[order], corners[order], source[order]
    one, two, three = corners[:, 0], corners[:, 1], corners[:, 2]
    return {
        "points": np.ascontiguousarray(model.points, np.float64),
        "corners": triangles,
        "normals": normals.reshape(-1, 9).astype(np.float32),
        "facing": _unit(np.cross(two - one, three - one)).astype(np.float32),
        "bend": _bend(corners, normals).astype(np.float32),
        "part": model.part[source].astype(np.int16),
        "tint": model.tint[source].astype(np.float32),
        "rays": np.concatenate([one, two - one, three - one], axis=1).astype(np.float32),
        "boxes": boxes.copy(),
        "children": children.copy(),
    }


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30)


def _bend(corners: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """How far the normal turns along the edge of a triangle where it turns most, per length."""
    turned = np.linalg.norm(normals - np.roll(normals, 1, axis=1), axis=-1)
    length = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1)
    return (turned / np.maximum(length, 1e-9)).max(axis=1, initial=0.0)


# --- closed pieces ------------------------------------------------------------------------------------------------


def closed(model: Model) -> np.ndarray:
    """Which triangles belong to a piece that has an inside and faces outward, bool[t].

    Such a piece has every edge as often one way as the other, and a positive volume. Points at the same place are one.
    """
    if not len(model.triangles):
        return np.zeros(0, bool)
    _, point = np.unique(model.points, axis=0, return_inverse=True)
    corners = point.reshape(-1)[model.triangles]
    piece = _pieces(corners, int(point.max()) + 1)[corners[:, 0]]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]).astype(np.int64)
    sign = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    name = edges.min(axis=1) * (int(point.max()) + 1) + edges.max(axis=1)
    _, edge = np.unique(name, return_inverse=True)
    balance = np.bincount(edge, sign, edge.max() + 1)
    torn = np.zeros(piece.max() + 1, bool)
    torn[np.tile(piece, 3)[balance[edge] != 0]] = True
    one, two, three = (model.points[model.triangles[:, corner]] for corner in range(3))
    volume = np.bincount(piece, np.einsum("ti,ti->t", one, np.cross(two, three)), len(torn))
    return (~torn & (volume > 0))[piece]


@kernel
def _pieces(corners: np.ndarray, points: int) -> np.ndarray:
    """The piece that every point belongs to: the least point that triangles link it with."""
    parent = np.arange(points)
    for t in range(len(corners)):
        for k in range(1, 3):
            a, b = corners[t, 0], corners[t, k]
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            parent[max(a, b)] = min(a, b)
    for a in range(points):
        parent[a] = parent[parent[a]]
    return parent
