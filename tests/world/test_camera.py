"""The camera agrees with its own rays and with the pixel coordinates of real CLEVR scenes."""

import json
from pathlib import Path

import numpy as np
import pytest

from recombine.world.camera import Camera

DATA = Path(__file__).parents[2] / "../shared/data/clevr"
FILES = ("CLEVR_train_scenes_first400.json", "CLEVR_val_scenes_first8.json")


def real_objects() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places and pixel coordinates [n, 10, 3] of the real scenes, and which of them exist [n, 10]."""
    missing = [name for name in FILES if not (DATA / name).exists()]
    if missing:
        pytest.skip(f"real CLEVR scenes {missing} are not in {DATA}")
    scenes = [scene for name in FILES for scene in json.loads((DATA / name).read_text())["scenes"]]
    place, pixel, present = np.zeros((len(scenes), 10, 3)), np.zeros((len(scenes), 10, 3)), np.zeros((len(scenes), 10))
    for n, scene in enumerate(scenes):
        for i, thing in enumerate(scene["objects"]):
            place[n, i], pixel[n, i], present[n, i] = thing["3d_coords"], thing["pixel_coords"], 1
    return place, pixel, present.astype(bool)


def fitted_jitter(camera: Camera, place: np.ndarray, pixel: np.ndarray, present: np.ndarray) -> np.ndarray:
    """The camera jitter of each scene by Gauss-Newton; depths are exact, so they weigh more than rounded pixels."""
    weight = present[..., None] * np.array([1.0, 1.0, 100.0])

    def residual(jitter: np.ndarray) -> np.ndarray:
        seen = np.stack(camera.project(place, jitter[:, None]), axis=-1)
        return ((seen - pixel) * weight).reshape(len(place), -1)

    jitter = np.zeros((len(place), 3))
    for _ in range(6):
        slope = np.stack([(residual(jitter + step) - residual(jitter)) / 1e-5 for step in 1e-5 * np.eye(3)], axis=-1)
        jitter = jitter - np.einsum("nij,nj->ni", np.linalg.pinv(slope), residual(jitter))
    return jitter


def test_real_pixel_coordinates_are_reproduced() -> None:
    place, pixel, present = real_objects()
    camera = Camera(480, 320)
    jitter = fitted_jitter(camera, place, pixel, present)
    px, py, depth = camera.project(place, jitter[:, None])
    assert len(place) == 408
    assert np.abs(jitter).max() < 0.51
    assert max(np.abs(px - pixel[..., 0])[present].max(), np.abs(py - pixel[..., 1])[present].max()) <= 0.6
    assert np.abs(depth - pixel[..., 2])[present].max() < 0.01


def test_a_point_on_a_ray_projects_onto_its_pixel() -> None:
    camera, jitter = Camera(24, 16), np.array([[0.1, -0.4, 0.3], [0.0, 0.0, 0.0]])
    position = np.asarray(camera.base) + jitter
    points = position[:, None, None] + 7 * camera.rays(jitter)
    px, py, depth = camera.project(points, jitter[:, None, None])
    np.testing.assert_allclose(px, np.broadcast_to(np.arange(24) + 0.5, (2, 16, 24)))
    np.testing.assert_allclose(py, np.broadcast_to(np.arange(16)[:, None] + 0.5, (2, 16, 24)))
    np.testing.assert_allclose(depth, 7)


def test_the_axes_are_orthonormal_and_the_image_is_upright() -> None:
    camera, jitter = Camera(480, 320), np.random.default_rng(0).uniform(-0.5, 0.5, (20, 3))
    axes = camera.view(jitter)[:, 1:]
    np.testing.assert_allclose(axes @ axes.swapaxes(1, 2), np.broadcast_to(np.eye(3), (20, 3, 3)), atol=1e-12)
    higher, lower = (camera.project(np.array([0.0, 0.0, z]), jitter)[1] for z in (1, 0))
    assert (higher < lower).all()
