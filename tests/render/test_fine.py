"""Fine pictures: nearer to what a scene looks like, and of the same size."""

import numpy as np
import pytest

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.render.fine import fine, modelled, traced
from recombine.render.raytrace import raytrace
from recombine.store.key import Key


@pytest.mark.parametrize("shade", [0, 1, 77, 128, 254, 255])
def test_what_is_of_one_colour_stays_so(shade: int) -> None:
    drawn = fine(lambda wide, high: np.full((2, high, wide, 3), shade, np.uint8), 8, 6, 3)
    assert drawn.shape == (2, 6, 8, 3) and (drawn == shade).all()


def test_light_is_averaged_and_not_what_the_screen_is_told() -> None:
    def half(wide: int, high: int) -> np.ndarray:
        return np.repeat(255 * (np.arange(high * wide).reshape(1, high, wide, 1) % 2), 3, axis=-1).astype(np.uint8)

    assert (fine(half, 4, 4) == 188).all()


def test_a_fine_picture_is_nearer_to_a_very_fine_one() -> None:
    scenes = ClevrWorld().sample(3, Key(1) / "fine")
    best = traced(scenes, 120, 90, 6).astype(float)
    plain = raytrace(scenes, 120, 90, ("rgb",)).rgb
    assert plain is not None and np.array_equal(traced(scenes, 120, 90, 1), plain)
    off = [np.square(some - best).mean() for some in (plain, traced(scenes, 120, 90))]
    assert off[1] < off[0] / 3


def test_vehicles_are_fine_too_and_datasets_keep_their_bytes() -> None:
    world = VehicleWorld()
    scenes = world.sample(1, Key(3) / "fine")
    plain = world.stage.draw(scenes, 96, 72, ("rgb",)).rgb
    assert plain is not None
    best = modelled(world.stage.instances(scenes), 96, 72, 6).astype(float)
    off = [np.square(some - best).mean() for some in (plain, world.stage.fine(scenes, 96, 72))]
    assert off[1] < off[0] / 2
