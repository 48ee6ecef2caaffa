"""Real files of CLEVR, ready to be drawn: what they leave out is fitted, what they say in odd units is put right."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from recombine.benchmarks.clevr.formats import SceneFile, read_scenes
from recombine.render.rendering import as_dataset
from recombine.store.errors import UserError
from recombine.world.camera import Camera
from recombine.world.distribution import places_taken
from recombine.world.fit import drawn_rotation, fit_camera, worst_pixel
from recombine.world.scenes import Scenes

WIDTH, HEIGHT = 480, 320
"""The size of CLEVR's images."""
FAR = 2.0
"""Pixels that a centre may lie from where its file says."""


def scenes_to_draw(path: Path | str) -> Scenes:
    """The scenes of a file as their images show them.

    Files that we wrote tell where the camera stood, and are taken as they are. Real ones do not: the camera is fitted
    to the pixel coordinates, the lamps stay where they are without jitter, and `rotation` is read as it was drawn.
    """
    file = read_scenes(path)
    if not len(file):
        raise UserError(f"{path} holds no scenes")
    return file.scenes if "camera" in file.scenes.extra else as_drawn(file, str(path))


@contextmanager
def opened(file: Path) -> Iterator[Path]:
    """A scene file as the folder of a dataset, for as long as it is needed."""
    with as_dataset(scenes_to_draw(file), "clevr", WIDTH, HEIGHT, file.name) as folder:
        yield folder


def as_drawn(file: SceneFile, name: str) -> Scenes:
    """Real scenes with camera, lamps, and angles in degrees."""
    scenes = file.scenes
    if missing := [column for column in ("pixel", "rotation") if column not in scenes.extra]:
        said = {"pixel": "pixel_coords", "rotation": "rotation"}[missing[0]]
        raise UserError(f"{name} does not say the {said} of its objects, so its images cannot be drawn again")
    present, camera = places_taken(scenes.count, scenes.places), Camera(WIDTH, HEIGHT)
    position, pixel = scenes.position.astype(float), scenes.extra["pixel"].astype(float)
    jitter = fit_camera(camera, position, pixel, present)
    off = worst_pixel(camera, position, pixel, present, jitter)
    if off.max() > FAR:
        scene = int(off.argmax())
        raise UserError(
            f"scene {scene} of {name}: no camera of CLEVR sees its objects where pixel_coords say; the "
            f"closest is off by {off[scene]:.0f} pixels of an image of {WIDTH} x {HEIGHT}"
        )
    rotation = drawn_rotation(scenes.extra["rotation"].astype(float))
    lamps = np.zeros((len(scenes), 3, 3), np.float32)
    fitted = {"camera": jitter.astype(np.float32), "rotation": rotation.astype(np.float32), "lamps": lamps}
    return replace(scenes, extra={**scenes.extra, **fitted})
