"""From pieces to a model: of the right size, on its origin, with numbered parts."""

from collections.abc import Iterable, Sequence

import numpy as np

from recombine.render.kit.piece import BODY, Piece, cross, length, together, unit
from recombine.render.models import Model

FIT = 0.05
"""How far the sides of a box may be off before it is fitted."""


def finish(name: str, pieces: Iterable[Piece], box: Sequence[float], ground: float, parts: Sequence[str]) -> Model:
    """The model whose box is exactly so long, wide and high, and whose origin is so high above the ground."""
    whole = together(pieces)
    if unknown := sorted(set(whole.part.tolist()) - {BODY, *parts}):
        raise ValueError(f"{name} has no part '{unknown[0]}'")
    low, high = whole.corners.min(axis=(0, 1)), whole.corners.max(axis=(0, 1))
    scale = np.asarray(box, np.float64) / (high - low)
    off = scale / box[0] - 1
    if (np.abs(off) > FIT).any():
        raise ValueError(f"{name} must grow by {', '.join(f'{100 * x:.1f} %' for x in off)} in length, width, height")
    middle = (low + high) / 2 * np.array((1.0, 1.0, 0.0)) + low * np.array((0.0, 0.0, 1.0))
    corners = (whole.corners - middle) * scale - np.array((0.0, 0.0, ground))
    points, triangles = np.unique(np.round(corners.reshape(-1, 3), 5) + 0.0, axis=0, return_inverse=True)
    triangles = triangles.reshape(-1, 3).astype(np.int32)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    solid = length(cross(b - a, c - a)) > 1e-10
    number = {BODY: -1, **{part: i for i, part in enumerate(parts)}}
    return Model(
        name,
        points,
        triangles[solid],
        unit(np.round(unit(whole.normals / scale), 6))[solid],
        np.array([number[part] for part in whole.part[solid].tolist()], np.int16),
        whole.tint[solid].astype(np.float32),
        tuple(parts),
    )
