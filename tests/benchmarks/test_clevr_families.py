"""Families: each program has one, each one makes its programs."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family, build
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS, signature
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.shapes import Description, Filling, filling_of, parts_of, shape_of
from recombine.benchmarks.closure.families import BASELINES, CLOSURE_FAMILIES, FAMILIES
from recombine.store.errors import UserError

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the real samples are not at {DATA}")


def real(file: str) -> list[dict[str, Any]]:
    content = json.loads((DATA / file).read_text())
    return content["questions"] if isinstance(content, dict) else content


def random_filling(family: Family, rng: np.random.Generator) -> Filling:
    """Slots filled so that the family's conditions on names hold."""
    filling: Filling = {}
    outermost = [slot for slot in family.slots if slot[0] == "D"][-1]
    for slot in family.slots:
        if slot[0] == "R":
            filling[slot] = str(rng.choice(DIRECTIONS))
            continue
        allowed = {attribute.name for attribute in CLEVR_VOCABULARY if rng.random() < 0.5}
        if slot == outermost and family.outer is not None:
            allowed = set(family.outer)
        elif slot == outermost and family.name == "same_relate":  # where it names nothing, the family is another
            allowed |= {"size", "color", "material"}
        allowed -= {attribute for named, attribute in family.unnamed if named == slot}
        values = {each.name: str(rng.choice(each.values)) for each in CLEVR_VOCABULARY}
        filling[slot] = Description(**{name: value for name, value in values.items() if name in allowed})
    return filling


def test_every_file_has_its_number_of_families() -> None:
    counts = Counter(family.name for family in CLEVR_FAMILIES)
    assert list(counts.items()) == [
        ("compare_integer", 9),
        ("comparison", 16),
        ("three_hop", 6),
        ("single_and", 5),
        ("same_relate", 28),
        ("single_or", 8),
        ("one_hop", 6),
        ("two_hop", 6),
        ("zero_hop", 6),
    ]
    assert {test: len(families) for test, families in CLOSURE_FAMILIES.items()} == {
        "embed_spa_mat": 4,
        "embed_mat_spa": 4,
        "compare_mat": 9,
        "compare_mat_spa": 9,
        "and_mat_spa": 12,
        "or_mat": 4,
        "or_mat_spa": 4,
    }
    assert [family.index for family in CLEVR_FAMILIES] == list(range(90))


def test_no_two_families_make_the_same_programs() -> None:
    assert len({(family.shape, family.outer) for family in FAMILIES}) == len(FAMILIES) == 136


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.name}-{family.index}")
def test_what_a_family_builds_is_recognised(family: Family) -> None:
    rng = np.random.default_rng(family.index)
    for _ in range(20):
        filling = random_filling(family, rng)
        program = build(family, filling)
        assert FAMILIES.family_of(program) is family
        assert filling_of(program) == filling
        assert shape_of(program) is family.shape


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.name}-{family.index}")
def test_slots_that_must_differ_are_parts_of_the_program(family: Family) -> None:
    program = build(family, random_filling(family, np.random.default_rng(0)))
    assert set(family.apart) <= set(parts_of(program))


def test_a_match_names_neither_what_is_matched_nor_what_is_asked() -> None:
    (family,) = (
        family for family in CLOSURE_FAMILIES["compare_mat"] if "same[size]" in repr(family) and family.index == 2
    )
    assert family.final == "equal_color"
    assert family.unnamed == {("D1", "size"), ("D2", "size"), ("D2", "color"), ("D3", "color")}


def test_no_closure_shape_is_one_of_clevrs() -> None:
    clevr = {family.shape for family in CLEVR_FAMILIES}
    assert not [family for family in FAMILIES[90:] if family.shape in clevr]


def test_baselines_are_clevr_families_with_the_same_answers() -> None:
    for test, families in BASELINES.items():
        assert {family.final for family in families} == {family.final for family in CLOSURE_FAMILIES[test]}


@pytest.mark.parametrize(
    "text",
    [
        "count(filter[size,small](filter[color,red](scene)))",  # not in the order of filters
        "count(filter[color,red](filter[color,blue](scene)))",
        "count(filter[size,small](filter[color,red](union(scene, scene))))",  # two names outside an 'or'
        "exist(intersect(scene, scene))",
        "exist(same[size](unique(same[size](unique(scene)))))",
    ],
)
def test_other_programs_have_no_family(text: str) -> None:
    program = signature().parse(text)
    assert FAMILIES.family_of(program) is None
    with pytest.raises(UserError, match="No question family"):
        FAMILIES.recognise(program)


def test_an_open_slot_is_an_error_that_names_it() -> None:
    with pytest.raises(UserError, match=r"needs a filling for R1, D2\."):
        build(CLEVR_FAMILIES[72], {"D1": Description()})


@needs_data
def test_families_answer_with_the_functions_of_the_release() -> None:
    facts = json.loads((DATA / "clevr/family_index_map.json").read_text())
    assert [family.final for family in CLEVR_FAMILIES] == facts["final_function_by_family"]
    assert [family.name for family in CLEVR_FAMILIES] == [name for name, _ in facts["family_index_to_template"]]


@needs_data
def test_real_programs_have_their_published_family() -> None:
    for question in real("clevr/questions_with_programs_47.json"):
        family = FAMILIES.family_of(read_program(question["program"]))
        assert family is CLEVR_FAMILIES[question["question_family_index"]]
    for question in real("closure/closure_val_images0-7.json"):
        family = FAMILIES.family_of(read_program(question["program"]))
        assert family is CLOSURE_FAMILIES[question["family"]][question["question_family_index"]]
