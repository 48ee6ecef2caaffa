"""Real files of CLEVR are drawn as their images were: the camera is found again, and angles are read as drawn."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine import render_dataset
from recombine.benchmarks.clevr.formats import SceneFile, write_scenes
from recombine.benchmarks.clevr.laws import LANGUAGE
from recombine.benchmarks.clevr.redraw import HEIGHT, WIDTH, scenes_to_draw
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.scenes import Scenes


@pytest.fixture(scope="module")
def made() -> Scenes:
    return LANGUAGE.world.sample(6, Key(4))


def real_file(scenes: Scenes, file: Path) -> Path:
    """The scenes as a real file tells them: pixels of 480 x 320 in wholes, no camera, angles that are radians."""
    x, y, depth = Camera(WIDTH, HEIGHT).project(scenes.position.astype(float), scenes.extra["camera"][:, None])
    pixel = np.stack([np.round(x), np.round(y), depth], axis=-1).astype(np.float32)
    rotation = np.radians(scenes.extra["rotation"])
    write_scenes(file, SceneFile.of(replace(scenes, extra={"pixel": pixel, "rotation": rotation}), "real"))
    return file


def test_camera_and_angles_are_found_again(made: Scenes, tmp_path: Path) -> None:
    found = scenes_to_draw(real_file(made, tmp_path / "scenes.json"))
    assert np.abs(found.extra["camera"] - made.extra["camera"]).max() < 0.02
    there = np.arange(made.places) < made.count[:, None]
    assert np.allclose(found.extra["rotation"][there], made.extra["rotation"][there] % 360, atol=1e-2)
    assert not found.extra["lamps"].any()


def test_files_of_our_own_are_taken_as_they_are(made: Scenes, tmp_path: Path) -> None:
    write_scenes(tmp_path / "own.json", SceneFile.of(made))
    found = scenes_to_draw(tmp_path / "own.json")
    for name in ("camera", "rotation", "lamps"):
        assert np.allclose(found.extra[name], made.extra[name], atol=1e-4)


def test_a_scene_file_is_rendered_like_a_dataset(made: Scenes, tmp_path: Path) -> None:
    out = render_dataset(real_file(made, tmp_path / "scenes.json"), tmp_path / "out", "images")
    assert json.loads((out / "recipe.json").read_text())["parameters"]["dataset"]["width"] == WIDTH
    again = render_dataset(out, tmp_path / "again", "images")
    first, second = ((folder / "images" / "images-00000.parquet").read_bytes() for folder in (out, again))
    assert len(first) == len(second)


def test_pixels_that_no_camera_sees_are_refused(made: Scenes, tmp_path: Path) -> None:
    file = real_file(made, tmp_path / "scenes.json")
    text = json.loads(file.read_text())
    text["scenes"][2]["objects"][0]["pixel_coords"][0] += 60
    file.write_text(json.dumps(text))
    with pytest.raises(UserError, match=r"scene 2 of .*scenes.json: no camera"):
        scenes_to_draw(file)


def test_files_that_tell_too_little_are_refused(made: Scenes, tmp_path: Path) -> None:
    write_scenes(tmp_path / "bare.json", SceneFile.of(replace(made, extra={}), "bare"))
    with pytest.raises(UserError, match="pixel_coords"):
        scenes_to_draw(tmp_path / "bare.json")
