"""CURI's world: the grid, and the frequencies known of the released scenes."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.benchmarks.curi.world import CuriWorld
from recombine.store.key import Key
from recombine.world.scenes import ABSENT, Scenes


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld(first_bin=0).sample(60_000, Key(11))


@pytest.mark.parametrize("first_bin", [0, 1])
def test_made_scenes_are_contained(first_bin: int) -> None:
    world = CuriWorld(first_bin)
    made = world.sample(2000, Key(1))
    assert world.contains(made).all()
    assert not CuriWorld(1 - first_bin).contains(made).any()


def test_an_object_in_another_cell_is_not_contained() -> None:
    world = CuriWorld()
    made = world.sample(5, Key(1))
    moved = made.codes["locationX"].copy()
    moved[3, 0] += 1
    assert list(world.contains(replace(made, codes={**made.codes, "locationX": moved}))) == [1, 1, 1, 0, 1]


def test_the_key_decides_the_scenes() -> None:
    one, again, other = (CuriWorld().sample(20, Key(seed)).position for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_the_grid_has_eight_columns_and_rows_counted_from_the_first_bin(scenes: Scenes) -> None:
    for axis, (name, side) in enumerate((("locationX", 30), ("locationY", 20))):
        codes = scenes.codes[name]
        cell = np.floor(np.round(scenes.extra["pixel"][..., axis]) / side)
        np.testing.assert_array_equal(codes[codes != ABSENT], cell.clip(0, 7)[codes != ABSENT])


def test_large_objects_and_cubes_are_more_frequent(scenes: Scenes) -> None:
    def shares(attribute: str) -> np.ndarray:
        codes = scenes.codes[attribute]
        return np.bincount(codes[codes != ABSENT]) / np.sum(scenes.count, dtype=int)

    np.testing.assert_allclose(shares("size"), [0.45, 0.55], atol=0.02)
    np.testing.assert_allclose(shares("shape"), [0.35, 0.31, 0.34], atol=0.03)
    np.testing.assert_allclose(np.bincount(scenes.count)[2:] / len(scenes), 0.25, atol=0.01)


def test_two_published_concepts_are_true_as_often_as_in_the_release(scenes: Scenes) -> None:
    # Colours are independent of the rest, so their probability given the count replaces counting rare scenes.
    count = scenes.count.astype(int)
    all_blue, all_but_one_gray = 8.0**-count, count * 8.0 ** (1 - count) * 7 / 8 + 8.0**-count
    absent = scenes.codes["color"] == ABSENT
    beyond = (~absent & (scenes.codes["locationX"] > scenes.codes["locationY"])).any(axis=1)
    assert np.mean(all_blue * beyond) == pytest.approx(0.00367, abs=0.0002)
    assert np.mean(all_but_one_gray * (scenes.having("shape", "cube") != 0)) == pytest.approx(0.0443, abs=0.001)
