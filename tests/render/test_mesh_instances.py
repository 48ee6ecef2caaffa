"""Instances: batches, words, and what cannot be drawn."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recombine.render.instances import Instance, Instances, Look, Looks, gather, instance_table, look_table
from recombine.render.mesh_scene import draw_models
from recombine.render.mesh_visibility import visible_pixels
from recombine.render.models import Model
from recombine.store.errors import UserError
from tests.render.toys import TOYS, scene, street

CAR = Instance(0, "car", (0, 0, 0), 10.0, 2.0, Look("red"), {"roof": Look("blue")})


def test_a_scene_of_a_batch_is_a_batch_of_one() -> None:
    scenes = street(3, 1)
    for i in range(3):
        one, rows = scenes[i], scenes.scene == i
        np.testing.assert_array_equal(one.first, [0, rows.sum()])
        np.testing.assert_array_equal(instance_table(one), instance_table(scenes)[rows])
        (looks, chosen), (all_looks, all_chosen) = look_table(one), look_table(scenes)
        np.testing.assert_array_equal(looks[chosen], all_looks[all_chosen[rows]])
    np.testing.assert_array_equal(scenes[-1].camera, scenes[2].camera)


def test_only_painted_parts_have_another_look() -> None:
    looks, chosen = look_table(scene(CAR, CAR._replace(object=1, position=(2, 2, 0), paint={})))
    roof = TOYS[0].parts.index("roof")
    assert chosen[0, roof + 1] == 2 and set(np.delete(chosen[0], roof + 1)) == {0}
    assert set(chosen[1]) == {1}
    np.testing.assert_allclose(looks[2, :3], np.array([42, 75, 215]) / 255)


def with_look(instances: Instances, **columns: Any) -> Instances:
    return replace(
        instances, body=replace(instances.body, **{name: np.array(value) for name, value in columns.items()})
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"position": [[np.nan, 0, 1]]}, "object 0 of scene 0 has a number that is not finite"),
        ({"turn": [np.inf]}, "object 0 of scene 0 has a number that is not finite"),
        ({"size": [0.0]}, "object 0 of scene 0 has a size that is not positive"),
        ({"size": [1e6]}, "object 0 of scene 0 is larger than 100"),
        ({"position": [[1e6, 0, 1]]}, "object 0 of scene 0 is farther than 100"),
        ({"position": [[12, -11, 1]]}, "object 0 of scene 0 is behind the camera"),
        ({"object": [-2]}, "scene 0 has a number that is negative"),
        ({"model": [7]}, "object 0 of scene 0 has an unknown model; there are 2"),
        ({"part": [9]}, "object 0 of scene 0 has a painted part that its model does not have"),
        ({"camera": [[0, np.nan, 0]]}, "the jitter of the camera is not 3 finite numbers"),
        ({"lamps": np.zeros((1, 2, 3))}, "the jitter of the lamps is not 9 finite numbers"),
    ],
)
def test_impossible_instances_are_named(change: dict[str, Any], sentence: str) -> None:
    wrong = replace(scene(CAR), **{name: np.array(value) for name, value in change.items()})
    for draw in (lambda: draw_models(wrong, 16, 12), lambda: visible_pixels(wrong, 16, 12)):
        with pytest.raises(UserError, match=sentence):
            draw()


@pytest.mark.parametrize(
    ("look", "sentence"),
    [
        ({"color": [[0.5, 0.5, 1.5]]}, "a color that is not three shares"),
        ({"material": [5]}, "unknown material; known are rubber, metal"),
        ({"pattern": [5]}, "unknown pattern; known are none, striped"),
        ({"cells": [0.0]}, "a pattern without cells"),
    ],
)
def test_impossible_looks_are_named(look: dict[str, Any], sentence: str) -> None:
    one = scene(CAR)
    painted = Looks(**{**vars(one.paint), **{name: np.array(value) for name, value in look.items()}})
    for wrong in (with_look(one, **look), replace(one, paint=painted)):
        with pytest.raises(UserError, match=f"object 0 of scene 0 has an? .*{sentence.removeprefix('a ')}"):
            draw_models(wrong, 16, 12)


def test_objects_of_a_scene_rise_and_are_not_too_many() -> None:
    with pytest.raises(UserError, match="object 0 of scene 0 is out of order"):
        draw_models(scene(CAR, CAR), 16, 12)
    with pytest.raises(UserError, match="more than 127 objects"):
        draw_models(scene(*(CAR._replace(object=i) for i in range(128))), 16, 12)


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (CAR._replace(model="tram"), "'tram' is not a model that can be drawn; choose one of car, bike"),
        (CAR._replace(paint={"wing": Look()}), "the model 'car' has no part 'wing'; it has roof, bumper"),
        (CAR._replace(look=Look("pink")), "'pink' is not a color"),
        (CAR._replace(look=Look(material="wood")), "'wood' is not a material"),
        (CAR._replace(look=Look(pattern="tartan")), "'tartan' is not a pattern"),
    ],
)
def test_unknown_words_are_refused(one: Instance, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        gather([[one]], TOYS, np.zeros((1, 3)), np.zeros((1, 3, 3)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"triangles": np.zeros((0, 3), np.int32)}, "has no triangles"),
        ({"points": np.full_like(TOYS[0].points, np.nan)}, "has a number that is not finite"),
        ({"triangles": TOYS[0].triangles + 100_000}, "a triangle between points that it does not have"),
        ({"part": TOYS[0].part + 50}, "a triangle of a part that it does not have"),
        ({"triangles": np.zeros((5_000_000, 3), np.int32)}, "5,000,000 triangles, but 4,194,304 at most"),
    ],
)
def test_impossible_models_are_named(change: dict[str, Any], sentence: str) -> None:
    wrong: Model = replace(TOYS[0], **change)
    with pytest.raises(UserError, match=f"the model 'car' has .*{sentence.removeprefix('has ')}"):
        draw_models(replace(scene(CAR), models=(wrong, TOYS[1])), 16, 12)
