"""A small z-buffer to look at models with: which triangle every pixel shows."""

import numpy as np
from numba import njit

from recombine.render.models import Model


@njit(cache=True)
def nearest(corners: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest triangle of every pixel and 1 / its depth; corners float64[t, 3, (column, row, 1 / depth)]."""
    owner, best = np.full((height, width), -1, np.int32), np.zeros((height, width))
    for t in range(len(corners)):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners[t, 0], corners[t, 1], corners[t, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0:
            continue
        top, bottom = max(0, int(min(ay, by, cy))), min(height - 1, int(max(ay, by, cy)))
        left, right = max(0, int(min(ax, bx, cx))), min(width - 1, int(max(ax, bx, cx)))
        for i in range(top, bottom + 1):
            for j in range(left, right + 1):
                x, y = j + 0.5, i + 0.5
                a = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                b = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                c = 1 - a - b
                if a >= 0 and b >= 0 and c >= 0:
                    near = a * az + b * bz + c * cz
                    if near > best[i, j]:
                        best[i, j], owner[i, j] = near, t
    return owner, best


def axes(turn: float, height: float) -> np.ndarray:
    """Right, up and forward of someone who looks at the origin from an angle (0: from ahead, 90: from the left)."""
    a, b = np.radians(turn), np.radians(height)
    forward = -np.array([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(right, forward), forward])


def seen(model: Model, turn: float, height: float = 27.0, pixels: int = 300, zoom: float = 700.0,
         size: float = 3.5, far: float = 11.3, up: float | None = None):  # fmt: skip
    """What a square image around a model shows: triangle (-1: none), and the axes and depths of the view."""
    view = axes(turn, height)
    middle = (model.points.min(axis=0) + model.points.max(axis=0)) / 2
    at = size * (model.points - (middle if up is None else np.array([0, 0, up]))) @ view.T + np.array([0, 0, far])
    flat = np.stack([pixels / 2 + zoom * at[:, 0] / at[:, 2], pixels / 2 - zoom * at[:, 1] / at[:, 2], 1 / at[:, 2]], 1)
    owner, near = nearest(flat[model.triangles], pixels, pixels)
    return owner, near, view, flat
