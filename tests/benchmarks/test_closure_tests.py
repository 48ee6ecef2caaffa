"""CLOSURE's tests: each family is held out for its own reason, and CLEVR knows none of them."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family, build
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS, signature
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.shapes import Description, Filling, shape_of
from recombine.benchmarks.closure.families import BASELINES, CLOSURE_FAMILIES
from recombine.benchmarks.closure.tests import CLEVR_SHAPES, CLOSURE_SPLITS, kind, possible_in_clevr
from recombine.language.expr import Expr
from recombine.language.query import any_of

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the real samples are not at {DATA}")
CLOSURE = [family for families in CLOSURE_FAMILIES.values() for family in families]
parse = signature().parse


def programs(family: Family, number: int = 20) -> Iterator[Expr]:
    """Random programs of a family that obey its conditions on names."""
    rng = np.random.default_rng(family.index)
    outermost = [slot for slot in family.slots if slot[0] == "D"][-1]
    for _ in range(number):
        filling: Filling = {}
        for slot in family.slots:
            if slot[0] == "R":
                filling[slot] = str(rng.choice(DIRECTIONS))
                continue
            named = {attribute.name for attribute in CLEVR_VOCABULARY if rng.random() < 0.5}
            if slot == outermost and family.outer is not None:
                named = set(family.outer)
            named -= {attribute for other, attribute in family.unnamed if other == slot}
            filling[slot] = Description(**{each: str(rng.choice(CLEVR_VOCABULARY[each].values)) for each in named})
        yield build(family, filling)


def satisfied(program: Expr) -> list[str]:
    return [name for name, split in CLOSURE_SPLITS.items() if split.test(program)]


def test_every_test_has_its_split() -> None:
    assert CLOSURE_SPLITS.keys() == CLOSURE_FAMILIES.keys()
    assert all(name == split.name and split.title and split.about for name, split in CLOSURE_SPLITS.items())


def test_a_shape_of_clevr_is_written_once() -> None:
    assert len(CLEVR_SHAPES) == len({family.shape for family in CLEVR_FAMILIES}) == 78


@pytest.mark.parametrize("family", CLOSURE, ids=lambda family: f"{family.name}-{family.index}")
def test_a_closure_family_is_held_out_by_its_own_test_alone(family: Family) -> None:
    assert family.shape not in CLEVR_SHAPES
    for program in programs(family):
        assert satisfied(program) == [family.test]
        assert not possible_in_clevr(program)


@pytest.mark.parametrize("family", CLEVR_FAMILIES, ids=lambda family: f"{family.name}-{family.index}")
def test_a_clevr_family_is_held_out_by_no_test(family: Family) -> None:
    some = list(programs(family))
    assert not [program for program in some if satisfied(program)]
    assert any(possible_in_clevr(program) for program in some)
    assert all(shape_of(program) in CLEVR_SHAPES for program in some)


def test_no_program_is_on_both_sides() -> None:
    held_out = any_of(split.test for split in CLOSURE_SPLITS.values())
    for family in (*CLEVR_FAMILIES, *CLOSURE):
        assert not [program for program in programs(family) if held_out(program) and possible_in_clevr(program)]


def test_baselines_are_possible_in_clevr() -> None:
    assert BASELINES.keys() == CLOSURE_SPLITS.keys()
    for families in BASELINES.values():
        for family in families:
            assert family.shape in CLEVR_SHAPES
            assert sum(map(possible_in_clevr, programs(family))) >= 19  # a part may happen to meet itself


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("count(union(filter[shape,cube](scene), filter[shape,sphere](scene)))", True),
        ("count(union(filter[shape,cube](scene), filter[shape,cube](scene)))", False),  # a set beside itself
        ("count(filter[color,red](filter[size,small](union(scene, filter[shape,cube](scene)))))", False),  # two names
        ("count(filter[color,red](union(scene, filter[shape,cube](scene))))", True),
        ("count(filter[size,small](filter[color,red](scene)))", False),  # not in the order of filters
        ("exist(same[size](unique(same[size](unique(scene)))))", False),
    ],
)
def test_what_is_possible_in_clevr(text: str, possible: bool) -> None:
    assert possible_in_clevr(parse(text)) == possible


def test_a_set_is_simple_spatial_or_matching_whatever_describes_it() -> None:
    assert kind(parse("filter[color,red](scene)")) == "simple"
    assert kind(parse("filter[color,red](relate[left](unique(scene)))")) == "spatial"
    assert kind(parse("same[size](unique(scene))")) == "matching"
    assert kind(parse("filter[color,red](union(scene, scene))")) == "union"


def test_splits_are_sentences() -> None:
    assert {name: repr(split.test) for name, split in CLOSURE_SPLITS.items()} == {
        "embed_spa_mat": "has a matching relation from an object that is itself found by a spatial relation",
        "embed_mat_spa": "has a spatial relation from an object that is itself found by a matching relation",
        "compare_mat": "compares an object of a matching set with an object of a simple set",
        "compare_mat_spa": "compares an object of a matching set with an object of a spatial set",
        "and_mat_spa": "has an intersection of a matching set and a spatial set",
        "or_mat": "has a union of a matching set and a simple set",
        "or_mat_spa": "has a union of a matching set and a spatial set",
    }


@needs_data
def test_real_questions_are_on_their_sides() -> None:
    for question in json.loads((DATA / "closure/closure_val_images0-7.json").read_text())["questions"]:
        assert satisfied(read_program(question["program"])) == [question["family"]]
    clevr = json.loads((DATA / "clevr/questions_with_programs_47.json").read_text())
    for question in clevr["questions"] if isinstance(clevr, dict) else clevr:
        program = read_program(question["program"])
        assert possible_in_clevr(program)
        assert not satisfied(program)
