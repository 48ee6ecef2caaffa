"""The camera of a scene is found from where its objects are seen, in made scenes and in real ones."""

from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.formats import read_scenes
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.distribution import places_taken
from recombine.world.fit import drawn_rotation, fit_camera, worst_pixel
from recombine.world.scenes import Scenes

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "clevr"
CAMERA = Camera(480, 320)
"""The camera of the published images."""
ENOUGH = 0.6
"""Pixels: coordinates in files are rounded, which alone is up to half a pixel."""


def pixels(scenes: Scenes) -> np.ndarray:
    return np.stack(CAMERA.project(scenes.position, scenes.extra["camera"][:, None]), axis=-1)


def fitted(scenes: Scenes, pixel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The jitter of every scene, and how far its worst centre is off."""
    present = places_taken(scenes.count, scenes.places)
    jitter = fit_camera(CAMERA, scenes.position.astype(float), pixel, present)
    return jitter, worst_pixel(CAMERA, scenes.position.astype(float), pixel, present, jitter)


def test_exact_pixels_give_back_the_camera() -> None:
    scenes = ClevrWorld().sample(30, Key(1))
    jitter, off = fitted(scenes, pixels(scenes))
    np.testing.assert_allclose(jitter, scenes.extra["camera"], atol=1e-6)
    assert off.max() < 1e-4


def test_rounded_pixels_are_explained() -> None:
    scenes = ClevrWorld().sample(30, Key(2))
    pixel = pixels(scenes)
    pixel[..., :2] = np.round(pixel[..., :2])
    jitter, off = fitted(scenes, pixel)
    np.testing.assert_allclose(jitter, scenes.extra["camera"], atol=0.02)
    assert off.max() <= ENOUGH


def test_a_pixel_that_is_wrong_is_not_explained() -> None:
    scenes = ClevrWorld().sample(5, Key(3))
    pixel = pixels(scenes)
    pixel[2, 1, 0] += 9
    _, off = fitted(scenes, pixel)
    assert off[2] > 3
    assert np.delete(off, 2).max() < 1e-4


def test_a_scene_without_objects_keeps_no_jitter() -> None:
    jitter = fit_camera(CAMERA, np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros((1, 2), bool))
    assert not jitter.any()


@pytest.mark.parametrize(
    ("name", "many"), [("CLEVR_train_scenes_first400.json", 400), ("CLEVR_val_scenes_first8.json", 8)]
)
def test_centres_of_real_scenes_are_where_their_files_say(name: str, many: int) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"the real scenes are not in {DATA}")
    scenes = read_scenes(DATA / name).scenes
    jitter, off = fitted(scenes, scenes.extra["pixel"].astype(float))
    assert len(off) == many
    assert off.max() <= ENOUGH
    assert np.abs(jitter).max() <= CAMERA.jitter + 1e-3


def test_the_rotation_of_files_is_drawn_as_radians() -> None:
    np.testing.assert_allclose(drawn_rotation(np.array([np.pi, 100 * np.pi + 1])), [180, np.degrees(1)])
