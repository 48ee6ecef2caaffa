"""CLEVR's world: it contains what it makes, and holds out what it should."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.benchmarks.clevr.study import Clevr
from recombine.benchmarks.clevr.world import COGENT, LAMPS, ClevrWorld, Condition
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

OWN = Vocabulary(
    (
        Attribute("size", ("tiny", "small", "large")),
        Attribute("color", ("pink", "teal")),
        Attribute("material", ("wood", "glass", "metal")),
        Attribute("shape", ("cube", "sphere")),
        Attribute("pattern", ("plain", "striped")),
    )
)
OWN_RADII = (("tiny", 0.3), ("small", 0.4), ("large", 0.6))
RED_CUBE = {"shape": "cube", "color": "red"}
SMALL_CUBE = {"size": "small", "shape": "cube"}
RED_METAL = {"color": "red", "material": "metal"}
WORLDS = {
    "CLEVR": ClevrWorld(),
    "A": ClevrWorld(cogent="A"),
    "B": ClevrWorld(cogent="B"),
    "no red cube": ClevrWorld(held_out=(RED_CUBE,)),
    "no small cube, no red metal": ClevrWorld(held_out=(SMALL_CUBE, RED_METAL)),
    "own": ClevrWorld(2, 4, OWN, OWN_RADII, held_out=({"pattern": "striped", "material": "glass"},), min_pixels=50),
}


def having(scenes: Scenes, pair: dict[str, str]) -> np.ndarray:
    """Which objects have all these values, bool[n, k]."""
    return np.logical_and.reduce(
        [scenes.codes[name] == scenes.vocabulary[name].code(value) for name, value in pair.items()]
    )


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_contains_what_it_makes(name: str) -> None:
    world = WORLDS[name]
    made = world.sample(300, Key(1))
    assert world.contains(made).all()
    assert made.places == world.high and not any(having(made, dict(pair)).any() for pair in world.avoided)
    assert {a.name: made.codes[a.name].shape for a in world.vocabulary} == {
        a.name: (300, world.high) for a in world.vocabulary
    }


@pytest.mark.parametrize("name", ["A", "no red cube", "no small cube, no red metal"])
def test_a_world_does_not_contain_what_it_holds_out(name: str) -> None:
    made = WORLDS["CLEVR"].sample(300, Key(2))
    wrong = np.logical_or.reduce([having(made, dict(pair)).any(axis=1) for pair in WORLDS[name].avoided])
    assert wrong.any() and not wrong.all()
    np.testing.assert_array_equal(WORLDS[name].contains(made), ~wrong)


def test_the_key_decides_the_scenes() -> None:
    one, again, other = (WORLDS["CLEVR"].sample(20, Key(seed)) for seed in (1, 1, 2))
    for column in ("rotation", "pixel", "camera", "lamps"):
        np.testing.assert_array_equal(one.extra[column], again.extra[column])
        assert not np.array_equal(one.extra[column], other.extra[column])


def test_holding_out_changes_only_the_objects_that_it_concerns() -> None:
    free, held = (WORLDS[name].sample(200, Key(3)) for name in ("CLEVR", "no red cube"))
    np.testing.assert_array_equal(free.position, held.position)
    changed = np.logical_or.reduce([free.codes[a.name] != held.codes[a.name] for a in CLEVR_VOCABULARY])
    assert changed.any()
    np.testing.assert_array_equal(changed, having(free, RED_CUBE))


@pytest.mark.parametrize("condition", COGENT)
def test_cogent_colours_are_uniform_among_those_allowed(condition: str) -> None:
    made = WORLDS[condition].sample(4000, Key(4))
    for shape, colors in (*COGENT[condition].allowed, ("sphere", CLEVR_VOCABULARY["color"].values)):
        shaped = having(made, {"shape": shape})
        shares = np.array([having(made, {"shape": shape, "color": color}).sum() / shaped.sum() for color in colors])
        np.testing.assert_allclose(shares, 1 / len(colors), atol=0.02)


def test_counts_stay_uniform_where_a_shape_and_size_is_held_out() -> None:
    made = WORLDS["no small cube, no red metal"].sample(1000, Key(5))
    np.testing.assert_array_equal(made.count, WORLDS["CLEVR"].sample(1000, Key(5)).count)


def test_lamps_are_jittered_by_at_most_one() -> None:
    made = WORLDS["CLEVR"].sample(200, Key(6))
    lamps = made.extra["lamps"]
    assert lamps.shape == (200, len(LAMPS), 3) and lamps.dtype == np.float32
    assert lamps.min() < -0.9 and lamps.max() > 0.9 and np.abs(lamps).max() <= 1
    bright = np.where(np.arange(200)[:, None, None] == 7, lamps + 3, lamps)
    fine = WORLDS["CLEVR"].contains(replace(made, extra={**made.extra, "lamps": bright}))
    assert list(np.flatnonzero(~fine)) == [7]


def test_counts_and_sizes_are_as_in_clevr() -> None:
    made = WORLDS["CLEVR"].sample(4000, Key(7))
    np.testing.assert_allclose(np.bincount(made.count)[3:] / 4000, 1 / 8, atol=0.02)
    there = made.codes["size"] != ABSENT
    np.testing.assert_allclose(
        made.position[..., 2][there], np.array([0.35, 0.7])[made.codes["size"][there]], atol=1e-6
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cogent": "C"}, "A and B"),
        ({"held_out": ({"shape": "cube"},)}, "at least two"),
        ({"held_out": ({"shape": "cube", "color": "pink"},)}, "not a color"),
        ({"held_out": ({"shape": "cube", "texture": "pink"},)}, "no attribute 'texture'"),
        ({"held_out": tuple({"shape": "cube", "color": c} for c in CLEVR_VOCABULARY["color"].values)}, "held out"),
        ({"vocabulary": OWN}, "no solid has the size tiny"),
        ({"vocabulary": Vocabulary((Attribute("size", ("small",)), Attribute("shape", ("cone",))))}, "shape cone"),
        ({"vocabulary": Vocabulary((Attribute("size", ("small",)),))}, "no attribute 'shape'"),
        ({"vocabulary": Vocabulary((*CLEVR_VOCABULARY, Attribute("number", ("1",))))}, "cannot be called number"),
        ({"low": 5, "high": 4}, "1 to 64"),
    ],
)
def test_an_impossible_world_says_why(settings: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ClevrWorld(**settings)


def test_a_new_shape_takes_the_room_of_a_solid() -> None:
    shapes = Attribute("shape", ("cube", "sphere", "cylinder", "cone"))
    vocabulary = Vocabulary((*(a for a in CLEVR_VOCABULARY if a.name != "shape"), shapes))
    world = ClevrWorld(vocabulary=vocabulary, solids=(("cone", "cylinder"),))
    scenes = world.sample(200, Key(3))
    assert world.contains(scenes).all()
    assert (scenes.codes["shape"] == shapes.code("cone")).any()
    with pytest.raises(UserError, match="solids"):
        ClevrWorld(vocabulary=vocabulary)
    with pytest.raises(UserError, match="there is no solid torus"):
        ClevrWorld(vocabulary=vocabulary, solids=(("cone", "torus"),))


# ---- Conditions of one's own ----


def test_cogent_is_a_condition_like_any_other() -> None:
    for name, condition in COGENT.items():
        mine = ClevrWorld(held_out=Condition.read(str(condition)).held_out)
        theirs, scenes = ClevrWorld(cogent=name).sample(40, Key(2)), mine.sample(40, Key(2))
        for attribute in CLEVR_VOCABULARY.by_name:
            np.testing.assert_array_equal(scenes.codes[attribute], theirs.codes[attribute])
    assert COGENT["A"].swapped == COGENT["B"] and {*COGENT["B"].swapped.allowed[0][1]} == {*COGENT["A"].allowed[0][1]}


@pytest.mark.parametrize("text", ["cube: gray,blue,brown,yellow", "metal: red, blue ; rubber: green", "small: cube"])
def test_what_the_test_shows_is_held_out_from_training(text: str) -> None:
    condition = Condition.read(text)
    sides = [ClevrWorld(held_out=side.held_out).sample(120, Key(4)) for side in (condition, condition.swapped)]
    values = dict(condition.allowed)
    seen: list[set[tuple[str, str]]] = []
    for scenes in sides:
        things = [thing for i in range(len(scenes)) for thing in scenes.objects(i)]
        seen.append({(thing[condition.attribute], thing[condition.other]) for thing in things})
    assert not {pair for pair in seen[0] & seen[1] if pair[0] in values}
    for value, others in values.items():
        assert {other for one, other in seen[0] if one == value} == {*others}
        every = {*CLEVR_VOCABULARY[condition.other].values}
        assert {other for one, other in seen[1] if one == value} == every - {*others}
    assert Condition.read(str(condition)) == condition


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the condition is empty"),
        ("cube", "'cube' is no condition; write a value, a colon"),
        ("cube: ", "'cube:' is no condition"),
        ("cube: red; cube: blue", "'cube: blue' is no condition"),
        ("cone: red", "no attribute has the value 'cone'"),
        ("cube: red, metal", "'metal' is not a color"),
        ("cube: red; metal: blue", "'metal' is not a shape"),
        ("cube: sphere", "two attributes, not about shape alone"),
        ("metal: cube,sphere,cylinder", "'metal' stands with every shape"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Condition.read(text)


@pytest.mark.parametrize("swapped", [False, True])
def test_pairs_that_are_held_out_never_occur_but_in_their_test(swapped: bool, tmp_path: Path) -> None:
    few = ClevrScale("few", 60, 2, 2, 1)
    scenes = Clevr(few, hold_out="cube: gray,blue; sphere: red", swapped=swapped, store=Store(tmp_path)).scenes("train")
    seen = {(one["shape"], one["color"]) for i in range(len(scenes)) for one in scenes.objects(i)}
    out = {("cube", "gray"), ("cube", "blue"), ("sphere", "red")}
    about = {pair for pair in seen if pair[0] != "cylinder"}
    assert about == out if swapped else not about & out and len(about) == 16 - len(out)
    assert len(seen - about) == 8
