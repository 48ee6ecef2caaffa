"""Worlds contain what they make, and nothing that breaks their rules."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.distribution import Uniform, Without, World
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

VOCABULARY = Vocabulary((Attribute("color", ("red", "blue", "green")), Attribute("shape", ("cube", "sphere"))))
PLAIN = Uniform(VOCABULARY, 1, 4)
RED_CUBES_OUT = Without(PLAIN, ({"color": "red", "shape": "cube"},))
WORLDS = pytest.mark.parametrize("world", [PLAIN, RED_CUBES_OUT])


def same(a: Scenes, b: Scenes) -> bool:
    return np.array_equal(a.count, b.count) and all(np.array_equal(a.codes[name], b.codes[name]) for name in a.codes)


@WORLDS
def test_made_scenes_are_contained(world: World) -> None:
    scenes = world.sample(2000, Key(1))
    assert len(scenes) == 2000
    assert world.contains(scenes).all()


@WORLDS
def test_the_key_decides_the_scenes(world: World) -> None:
    assert same(world.sample(50, Key(1)), world.sample(50, Key(1)))
    assert not same(world.sample(50, Key(1)), world.sample(50, Key(2)))


@WORLDS
def test_no_scenes_are_scenes(world: World) -> None:
    assert world.contains(world.sample(0, Key(1))).shape == (0,)


def test_a_value_that_does_not_exist_is_not_contained() -> None:
    scenes = PLAIN.sample(10, Key(1))
    for broken in (3, ABSENT):
        color = scenes.codes["color"].copy()
        color[4, 0] = broken
        contained = PLAIN.contains(replace(scenes, codes={**scenes.codes, "color": color}))
        assert list(np.flatnonzero(~contained)) == [4]


def test_a_count_that_is_too_low_is_not_contained() -> None:
    assert not replace(PLAIN, low=4).contains(replace(PLAIN, high=3).sample(10, Key(1))).any()


def test_counts_and_values_are_uniform() -> None:
    scenes = PLAIN.sample(40_000, Key(3))
    np.testing.assert_allclose(np.bincount(scenes.count, minlength=5)[1:] / 40_000, 0.25, atol=0.015)
    color = scenes.codes["color"]
    np.testing.assert_allclose(np.bincount(color[color != ABSENT]) / np.sum(scenes.count, dtype=int), 1 / 3, atol=0.015)


def test_held_out_combinations_never_appear_but_their_parts_do() -> None:
    scenes = RED_CUBES_OUT.sample(1000, Key(1))
    red, cube = scenes.having("color", "red"), scenes.having("shape", "cube")
    assert not (red & cube).any()
    assert red.any() and cube.any()
    assert 0 < RED_CUBES_OUT.contains(PLAIN.sample(1000, Key(1))).sum() < 1000


def test_holding_out_everything_says_so() -> None:
    with pytest.raises(UserError, match="hold out less"):
        Without(PLAIN, ({"shape": "cube"}, {"shape": "sphere"})).sample(1, Key(1))
