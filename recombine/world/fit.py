"""Fitting: how the images of real files of CLEVR were made, as far as the files do not tell.

They say where the centre of every object lies in the image (px, py, rounded to whole pixels) and how deep (exactly),
but not where the camera stood. Three numbers per scene are enough to explain all of them. And they say how far every
object was turned, but not in which unit.
"""

import numpy as np

from recombine.world.camera import Camera

STEPS = 10
NUDGE = 1e-5
"""What a coordinate of the camera is moved by to see what follows."""

WEIGHTS = np.array([1.0, 1.0, 1e4])
"""How much px, py and depth count: pixels are rounded to wholes, depths to about 1e-5."""


def fit_camera(camera: Camera, position: np.ndarray, pixel: np.ndarray, present: np.ndarray) -> np.ndarray:
    """The jitter float64[n, 3] that brings positions [n, k, 3] closest to their pixels, where bool[n, k] they exist.

    Gauss-Newton from no jitter at all. A scene without objects keeps none.
    """
    weight = present[..., None] * WEIGHTS

    def residual(jitter: np.ndarray) -> np.ndarray:
        seen = np.stack(camera.project(position, jitter[:, None]), axis=-1)
        return ((seen - pixel) * weight).reshape(len(position), -1)

    jitter = np.zeros((len(position), 3))
    for _ in range(STEPS):
        off = residual(jitter)
        slope = np.stack([(residual(jitter + nudge) - off) / NUDGE for nudge in NUDGE * np.eye(3)], axis=-1)
        jitter = jitter - np.einsum("nij,nj->ni", np.linalg.pinv(slope), off)
    return jitter


def worst_pixel(
    camera: Camera, position: np.ndarray, pixel: np.ndarray, present: np.ndarray, jitter: np.ndarray
) -> np.ndarray:
    """How far, in pixels along a side, the worst centre of each scene lies from where it should, float64[n]."""
    px, py, _ = camera.project(position, jitter[:, None])
    off = np.maximum(np.abs(px - pixel[..., 0]), np.abs(py - pixel[..., 1]))
    return np.where(present, off, 0.0).max(axis=1, initial=0.0)


def drawn_rotation(rotation: np.ndarray) -> np.ndarray:
    """The degrees by which objects are turned in the images, from the `rotation` in their files.

    It looks like degrees, from 0 to 360, but the released renderer took it for radians.

    >>> drawn_rotation(np.array([0.0, 1.0, 90.0])).round(2)
    array([  0.  ,  57.3 , 116.62])
    """
    return np.degrees(rotation) % 360
