"""The library: models as the loops of the renderer read them, made once for all scenes that show them.

All models stand one after the other in the same arrays. The triangles of a model are kept in the order of its
hierarchy. A closed piece of a model is seen from outside only; what is open, such as a sheet of metal, is seen from
both sides: its triangles are there twice.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.hierarchy import BOXES, build
from recombine.render.models import Model

MOST_TRIANGLES = 1 << 22
"""No model has more."""


NORMALS, FACING, BEND, TINT, PART = 0, 9, 12, 13, 14
SURFACE = 16
"""The columns of a surface, which fills a line of a processor's cache: the normals of the three corners, that of the
triangle, how far the normal turns per length, the tint and the part."""


class Library(NamedTuple):
    """The triangles of m models. Model i has the points first_point[i]:first_point[i + 1], and so on."""

    first_point: np.ndarray  # int64[m + 1]
    first_triangle: np.ndarray  # int64[m + 1]
    first_node: np.ndarray  # int64[m + 1]
    points: np.ndarray  # float64[v, 3]
    corners: np.ndarray  # int32[t, 3], into the points of the model
    surface: np.ndarray  # float32[t, SURFACE], what a triangle looks like
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


_EMPTY: dict[str, np.ndarray] = {
    "points": np.zeros((0, 3)),
    "corners": np.zeros((0, 3), np.int32),
    "surface": np.zeros((0, SURFACE), np.float32),
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
    surface = np.zeros((len(corners), SURFACE), np.float32)
    surface[:, NORMALS:FACING], surface[:, FACING:BEND] = (
        normals.reshape(-1, 9),
        _unit(np.cross(two - one, three - one)),
    )
    surface[:, BEND], surface[:, TINT] = _bend(corners, normals), model.tint[source]
    surface[:, PART] = model.part[source]
    return {
        "points": np.ascontiguousarray(model.points, np.float64),
        "corners": triangles,
        "surface": surface,
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

TOUCH = 1e-4
"""Edges that are nearer than this to each other, in units of the model, meet."""
MOST_EDGES = 1 << 13
"""A model with more edges that have no exact partner is taken as open."""


def closed(model: Model) -> np.ndarray:
    """Which triangles belong to a piece that has an inside and faces outward, bool[t].

    Along every edge of such a piece as many triangles run one way as the other, and its volume is positive. Where the
    edge of one triangle meets two edges of others, it is enough that they cover it.
    """
    if not len(model.triangles):
        return np.zeros(0, bool)
    places, point = np.unique(model.points, axis=0, return_inverse=True)
    corners = point.reshape(-1)[model.triangles].astype(np.int64)
    piece = _pieces(corners, len(places))[corners[:, 0]]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    sign = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    _, edge = np.unique(edges.min(axis=1) * len(places) + edges.max(axis=1), return_inverse=True)
    lone = np.flatnonzero(np.bincount(edge, sign)[edge] != 0)
    ends, own = places[edges[lone]], np.tile(piece, 3)[lone]
    torn = np.zeros(len(places), bool)
    torn[own[~_covered(ends, own)] if len(lone) <= MOST_EDGES else own] = True
    one, two, three = (model.points[model.triangles[:, corner]] for corner in range(3))
    volume = np.bincount(piece, np.einsum("ti,ti->t", one, np.cross(two, three)), len(places))
    return (~torn & (volume > 0))[piece]


@kernel
def _covered(ends: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Which edges float64[e, 2, 3] others of their piece cover that run the other way, bool[e]."""
    covered = np.ones(len(ends), np.bool_)
    for i in range(len(ends)):
        for third in range(1, 3):
            found, s = False, third / 3
            x = ends[i, 0, 0] + s * (ends[i, 1, 0] - ends[i, 0, 0])
            y = ends[i, 0, 1] + s * (ends[i, 1, 1] - ends[i, 0, 1])
            z = ends[i, 0, 2] + s * (ends[i, 1, 2] - ends[i, 0, 2])
            for j in range(len(ends)):
                if found or piece[j] != piece[i]:
                    continue
                a, b, c = ends[j, 1, 0] - ends[j, 0, 0], ends[j, 1, 1] - ends[j, 0, 1], ends[j, 1, 2] - ends[j, 0, 2]
                u, v, w = x - ends[j, 0, 0], y - ends[j, 0, 1], z - ends[j, 0, 2]
                along, long = u * a + v * b + w * c, a * a + b * b + c * c
                against = a * (ends[i, 1, 0] - ends[i, 0, 0])
                against += b * (ends[i, 1, 1] - ends[i, 0, 1]) + c * (ends[i, 1, 2] - ends[i, 0, 2])
                found = (
                    against < 0 and 0 <= along <= long and u * u + v * v + w * w - along * along / long < TOUCH * TOUCH
                )
            covered[i] &= found
    return covered


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
