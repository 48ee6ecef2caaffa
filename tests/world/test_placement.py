"""Placed scenes obey every rule of CLEVR, broken ones do not, and real scenes obey the rules of spacing."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.placement import Placement, Spacing
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

REAL = Path(__file__).parents[2] / "../shared/data/clevr/CLEVR_train_scenes_first400.json"
VOCABULARY = Vocabulary(
    (
        Attribute("color", ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")),
        Attribute("shape", ("cube", "sphere", "cylinder")),
        Attribute("material", ("rubber", "metal")),
        Attribute("size", ("small", "large")),
    )
)
CLEVR = Placement(VOCABULARY, 3, 10, (("small", 0.35), ("large", 0.7)), Camera(320, 240), 200)
COGENT = replace(
    CLEVR,
    allowed=(("cube", ("gray", "blue", "brown", "yellow")), ("cylinder", ("red", "green", "purple", "cyan"))),
)


def changed(scenes: Scenes, column: str, index: tuple[int, ...], value: float) -> Scenes:
    """The scenes with one number of one column replaced."""
    if column == "position":
        return replace(scenes, position=_with(scenes.position, index, value))
    if column in scenes.codes:
        return replace(scenes, codes={**scenes.codes, column: _with(scenes.codes[column], index, value)})
    return replace(scenes, extra={**scenes.extra, column: _with(scenes.extra[column], index, value)})


def _with(column: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    column = column.copy()
    column[index] = value
    return column


@pytest.mark.parametrize("world", [CLEVR, COGENT])
def test_made_scenes_are_contained(world: Placement) -> None:
    assert world.contains(world.sample(500, Key(1))).all()


@pytest.mark.parametrize(
    ("column", "index", "value"),
    [
        ("position", (2, 0, 0), 3.1),  # off the table
        ("position", (2, 0, 2), 0.5),  # in the air
        ("color", (2, 0), 8),
        ("material", (2, 0), ABSENT),
        ("rotation", (2, 0), -1),
        ("camera", (2, 1), 0.6),
        ("pixel", (2, 0, 1), 7),
    ],
)
def test_a_broken_scene_is_not_contained(column: str, index: tuple[int, ...], value: float) -> None:
    contained = CLEVR.contains(changed(CLEVR.sample(5, Key(1)), column, index, value))
    assert list(contained) == [True, True, False, True, True]


def test_objects_moved_together_are_not_spaced() -> None:
    scenes = CLEVR.sample(5, Key(1))
    position = scenes.position.copy()
    position[2, 0, :2] = position[2, 1, :2] + 0.1
    assert list(CLEVR.spaced(replace(scenes, position=position))) == [True, True, False, True, True]


def test_hidden_objects_are_not_contained() -> None:
    anything = replace(CLEVR, min_pixels=0)
    scenes = anything.sample(2000, Key(1))
    shown = np.where(scenes.codes["shape"] == ABSENT, 200, CLEVR.visible_pixels(scenes)).min(axis=1) >= 200
    assert anything.contains(scenes).all()
    np.testing.assert_array_equal(CLEVR.contains(scenes), shown)
    assert 0.1 < shown.mean() < 0.9


def test_the_key_decides_the_scenes() -> None:
    one, again, other = (CLEVR.sample(20, Key(seed)) for seed in (1, 1, 2))
    for column in ("position", "count"):
        np.testing.assert_array_equal(getattr(one, column), getattr(again, column))
        assert not np.array_equal(getattr(one, column), getattr(other, column))
    for name in one.extra:
        np.testing.assert_array_equal(one.extra[name], again.extra[name])


def test_no_scenes_are_scenes() -> None:
    assert CLEVR.contains(CLEVR.sample(0, Key(1))).shape == (0,)


def test_counts_camera_and_free_attributes_stay_uniform() -> None:
    scenes = CLEVR.sample(8000, Key(4))
    np.testing.assert_allclose(np.bincount(scenes.count, minlength=11)[3:] / 8000, 1 / 8, atol=0.015)
    np.testing.assert_allclose(scenes.extra["camera"].std(axis=0), 1 / np.sqrt(12), atol=0.01)
    color = scenes.codes["color"]
    np.testing.assert_allclose(np.bincount(color[color != ABSENT]) / (color != ABSENT).sum(), 1 / 8, atol=0.01)


def test_allowed_colours_leave_spheres_free() -> None:
    scenes = COGENT.sample(2000, Key(5))
    seen = {shape: set() for shape in VOCABULARY["shape"].values}
    for shape, color in zip(scenes.codes["shape"].flat, scenes.codes["color"].flat):
        if shape != ABSENT:
            seen[VOCABULARY["shape"].values[shape]].add(VOCABULARY["color"].values[color])
    assert seen == {**{k: set(v) for k, v in COGENT.allowed}, "sphere": set(VOCABULARY["color"].values)}
    assert not COGENT.contains(CLEVR.sample(100, Key(5))).all()


def test_impossible_rules_say_so() -> None:
    with pytest.raises(UserError, match="visible pixels"):
        replace(CLEVR, min_pixels=10**6).sample(1, Key(1))
    with pytest.raises(UserError, match="room"):
        replace(CLEVR, spacing=Spacing(reach=0.5, tries=1)).sample(1, Key(1))
    with pytest.raises(UserError, match="choose from"):
        replace(CLEVR, radii=(("tiny", 0.1),))


def real_scenes() -> Scenes:
    if not REAL.exists():
        pytest.skip(f"the real CLEVR scenes are not at {REAL}")
    real = json.loads(REAL.read_text())["scenes"]
    count = np.array([len(scene["objects"]) for scene in real], np.uint8)
    codes = {a.name: np.full((len(real), 10), ABSENT, np.uint8) for a in VOCABULARY}
    position = np.zeros((len(real), 10, 3), np.float32)
    for n, scene in enumerate(real):
        for i, thing in enumerate(scene["objects"]):
            position[n, i] = thing["3d_coords"]
            for attribute in VOCABULARY:
                codes[attribute.name][n, i] = attribute.code(thing[attribute.name])
    return Scenes(VOCABULARY, count, codes, position)


def test_real_scenes_obey_the_rules_of_spacing() -> None:
    assert CLEVR.spaced(real_scenes()).all()
