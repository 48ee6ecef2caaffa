import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.store.recipe import Recipe

RECIPE = Recipe("scenes", 1, {"count": 10, "values": ("red", "blue")}, {"language": "abc"})


@dataclass(frozen=True)
class Training:
    steps: int = 10
    rate: float = 0.1


@dataclass(frozen=True)
class OtherTraining:
    steps: int = 10
    rate: float = 0.1


@dataclass
class Mutable:
    steps: int = 10


@dataclass(frozen=True)
class Typed:
    type: str = "car"


def with_parameter(value: object) -> Recipe:
    return replace(RECIPE, parameters={"deep": {"list": [0, value]}})


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "episodes"},
        {"version": 2},
        {"parameters": {"count": 11, "values": ("red", "blue")}},
        {"parameters": {"count": 10.0, "values": ("red", "blue")}},
        {"parameters": {"count": 10, "values": ("blue", "red")}},
        {"parameters": {"count": 10}},
        {"inputs": {"language": "abd"}},
        {"inputs": {"world": "abc"}},
        {"inputs": {}},
    ],
)
def test_every_field_changes_the_digest(change):
    assert replace(RECIPE, **change).digest != RECIPE.digest


@pytest.mark.parametrize("training", [Training(steps=11), Training(rate=0.2), OtherTraining()])
def test_every_field_and_the_type_of_a_dataclass_change_the_digest(training):
    assert with_parameter(training).digest != with_parameter(Training()).digest


@settings(deadline=None)
@given(st.dictionaries(st.text(), SCALARS | st.lists(SCALARS)))
def test_parameters_are_written_exactly_and_in_one_order(parameters):
    recipe = replace(RECIPE, parameters=parameters)
    backwards = replace(RECIPE, parameters=dict(reversed(parameters.items())))
    assert json.loads(recipe.canonical())["parameters"] == parameters
    assert recipe.canonical() == backwards.canonical()


@settings(deadline=None)
@given(SCALARS, SCALARS)
def test_different_values_have_different_digests(one, other):
    assert (with_parameter(one).digest == with_parameter(other).digest) == (repr(one) == repr(other))


def test_a_dataclass_is_written_with_its_type_and_every_field():
    plain = json.loads(with_parameter(Training()).canonical())
    assert plain["parameters"]["deep"]["list"][1] == {"type": "Training", "steps": 10, "rate": 0.1}


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        {1, 2},
        b"red",
        len,
        Training,
        {1: "one"},
        np.float64(1),
        np.int64(1),
        Mutable(),
        Typed(),
    ],
)
def test_what_cannot_be_written_is_refused_and_located(value):
    with pytest.raises(TypeError, match=r"parameters\.deep\.list\[1\]"):
        with_parameter(value).canonical()


def test_a_field_of_a_dataclass_is_located():
    with pytest.raises(TypeError, match=r"parameters\.deep\.list\[1\]\.rate"):
        with_parameter(Training(rate=float("nan"))).canonical()


def test_a_digest_does_not_drift():
    assert RECIPE.digest == "38d1a72ee6cc27df5aaf1dba74dfd166"
