"""Cameras: from places in the world to pixels and back.

A camera is a pinhole that stands at its base plus a small jitter, looks at the target and keeps the z axis upright. The
jitter is drawn per scene and kept with it, so a scene can be seen again exactly. Pixels count from the top left corner
of the image; the centre of the first pixel is (0.5, 0.5). Depth is measured along the axis of the camera.

>>> px, py, depth = Camera(480, 320).project(np.zeros(3), np.zeros(3))
>>> float(px), float(py), round(float(depth), 2)
(240.0, 160.0, 11.26)
"""

from dataclasses import dataclass

import numpy as np

POSITION, RIGHT, UP, FORWARD = range(4)
"""The rows of a view."""


@dataclass(frozen=True)
class Camera:
    """A camera for images of this width and height, as in CLEVR."""

    width: int
    height: int
    base: tuple[float, float, float] = (7.48113, -6.50764, 5.34367)
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    lens: float = 35.0  # mm
    sensor: float = 32.0  # mm, along the width
    jitter: float = 0.5  # the most that a coordinate of the base may move, either way

    @property
    def focal(self) -> float:
        """The focal length in pixels."""
        return self.lens / self.sensor * self.width

    def view(self, jitter: np.ndarray) -> np.ndarray:
        """Where the camera stands and its three axes: float64[..., 3] -> float64[..., 4, 3]."""
        position = np.asarray(self.base) + np.asarray(jitter, np.float64)
        forward = _unit(np.asarray(self.target) - position)
        right = _unit(np.cross(forward, (0.0, 0.0, 1.0)))
        return np.stack([position, right, np.cross(right, forward), forward], axis=-2)

    def project(self, points: np.ndarray, jitter: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pixel coordinates (not rounded) and depths of points[..., 3]; jitter[..., 3] broadcasts against them."""
        view = self.view(jitter)
        sight = np.asarray(points, np.float64) - view[..., POSITION, :]
        across, up, depth = (np.sum(sight * view[..., axis, :], axis=-1) for axis in (RIGHT, UP, FORWARD))
        return self.width / 2 + self.focal * across / depth, self.height / 2 - self.focal * up / depth, depth

    def rays(self, jitter: np.ndarray) -> np.ndarray:
        """The directions of the pixel centres, of depth one: float64[..., 3] -> float64[..., height, width, 3]."""
        view = self.view(jitter)[..., None, None, :, :]
        across = (np.arange(self.width) + 0.5 - self.width / 2) / self.focal
        up = (self.height / 2 - 0.5 - np.arange(self.height)) / self.focal
        return view[..., FORWARD, :] + across[:, None] * view[..., RIGHT, :] + up[:, None, None] * view[..., UP, :]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
