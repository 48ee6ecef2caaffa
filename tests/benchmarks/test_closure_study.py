"""CLOSURE's tests on CLEVR's scenes, from questions to gaps."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.laws import plainly
from recombine.benchmarks.clevr.pipeline import ClevrPipeline
from recombine.benchmarks.clevr.shapes import shape_of
from recombine.benchmarks.closure.families import BASELINES, CLOSURE_FAMILIES, ENGLISH, FAMILIES
from recombine.benchmarks.closure.pipeline import CLOSURE_SCALES, PARTS, ClosureScale, programs_of
from recombine.benchmarks.closure.study import KINDS, Closure
from recombine.benchmarks.closure.tests import CLOSURE_SPLITS, possible_in_clevr
from recombine.store.errors import UserError
from recombine.store.store import Store

SMALL = ClosureScale("small", 150, 300, 1, closure=(36, 36, 72))
"""Enough scenes for the questions that one family of a baseline must give."""
TESTS = tuple(CLOSURE_FAMILIES)
TEMPLATES = {"closure": CLOSURE_FAMILIES, "baseline": BASELINES}
every_test = pytest.mark.parametrize("test", TESTS)


@pytest.fixture(scope="module")
def closure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Closure]:
    """In shards of 64 scenes, so that the halves of the validation scenes meet inside a shard."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClevrPipeline, "shard", 64)
        with Closure(SMALL, store=Store(tmp_path_factory.mktemp("closure"))) as loaded:
            yield loaded


# ---- Questions ----


@every_test
@pytest.mark.parametrize("kind", KINDS)
def test_every_template_gives_the_same_number_of_questions(closure: Closure, test: str, kind: str) -> None:
    for part, count in zip(PARTS, SMALL.closure):
        found = Counter(closure.study.questions(test, part, kind)["question_family_index"].to_pylist())
        templates = TEMPLATES[kind][test]
        assert found == {template.index: count // len(templates) for template in templates}


def test_the_paper_has_3600_questions_per_test_and_36_for_training() -> None:
    counts = CLOSURE_SCALES["paper"].closure
    assert counts == (36, 3_600, 3_600)
    assert all(count % len(families) == 0 for count in counts for families in CLOSURE_FAMILIES.values())


def test_a_test_without_questions_is_told(own_home: Path) -> None:
    with Closure(ClosureScale("few", 20, 30, 10, 5, closure=(2, 8, 8)), store=Store(own_home)) as few:
        with pytest.raises(UserError, match="test 'compare_mat' has no questions in its part test; take a larger"):
            few.report(own_home / "page.md")
        assert not (own_home / "page.md").exists()


@every_test
def test_answers_come_in_equal_parts(closure: Closure, test: str) -> None:
    for part in PARTS:
        table = closure.study.questions(test, part)
        for family in CLOSURE_FAMILIES[test]:
            kind = family.shape.head.out
            if kind in ("bool", "number"):
                rows = zip(table["question_family_index"].to_pylist(), table["answer"].to_pylist())
                found = Counter(answer for index, answer in rows if index == family.index)
                assert {*found} == ({"yes", "no"} if kind == "bool" else {"1", "2", "3"})
                assert max(found.values()) - min(found.values()) <= 1


@every_test
@pytest.mark.parametrize("kind", KINDS)
def test_questions_are_about_the_scenes_of_their_part(closure: Closure, test: str, kind: str) -> None:
    halves = {"train": (0, 150), "val": (0, 150), "test": (150, 300)}
    for part, (low, high) in halves.items():
        table = closure.study.questions(test, part, kind)
        images = table["image_index"].to_numpy()
        assert low <= images.min() and images.max() < high
        scenes = closure.clevr.scenes("train" if part == "train" else "val")
        for program, image, row in zip(programs_of(table), images.tolist(), table.to_pylist()):
            answer = plainly(program, scenes, image)
            words = {"bool": ("no", "yes"), "number": tuple(map(str, range(11)))}.get(program.head.out)
            assert (words or scenes.vocabulary[program.head.out].values)[answer] == row["answer"]


@every_test
def test_questions_are_spread_over_their_scenes(closure: Closure, test: str) -> None:
    images = closure.study.questions(test, "test")["image_index"].to_numpy()
    assert np.count_nonzero(images >= 225) >= 15  # of 72: about half


@every_test
def test_a_question_has_the_program_that_it_is_read_as(closure: Closure, test: str) -> None:
    table = closure.study.questions(test, "test")
    for row, program in zip(table.to_pylist(), programs_of(table)):
        family = CLOSURE_FAMILIES[test][row["question_family_index"]]
        assert FAMILIES.family_of(program) is family and row["family"] == family.name
        assert ENGLISH.read(row["question"]) is program


# ---- What CLEVR holds out ----


def test_no_program_shape_of_closure_occurs_in_generated_clevr(closure: Closure) -> None:
    asked = {shape_of(program) for program in programs_of(closure.clevr.questions(part="train").table)}
    held_out = {shape_of(program) for test in TESTS for program in programs_of(closure.study.questions(test, "test"))}
    assert len(held_out) == 46
    assert len(asked) == 78  # all that CLEVR's families have
    assert not asked & held_out


@every_test
def test_a_question_is_held_out_by_its_own_test_and_a_baseline_by_none(closure: Closure, test: str) -> None:
    for program in programs_of(closure.study.questions(test, "test")):
        assert [name for name, split in CLOSURE_SPLITS.items() if split.test(program)] == [test]
        assert not possible_in_clevr(program)
    for program in programs_of(closure.study.questions(test, "test", "baseline")):
        assert possible_in_clevr(program)


# ---- The gap ----


@every_test
def test_the_gap_is_zero_on_the_baseline_and_only_there(closure: Closure, test: str) -> None:
    baseline, found = (closure.study.gaps(test, "test", kind) for kind in ("baseline", "closure"))
    assert baseline.gap.value == baseline.gap.low == baseline.gap.high == 0
    assert baseline.strong.value == baseline.weak.value == found.strong.value == 100
    assert found.gap.low > 0
    assert found.gap.value == pytest.approx(found.strong.value - found.weak.value)
    assert found.episodes == baseline.episodes == 72


@every_test
def test_the_weak_learner_is_sometimes_right(closure: Closure, test: str) -> None:
    scores = closure.study.scores(test)
    assert 0 < scores.weak.mean() < 1 and scores.weak.max() == 1
    assert (scores.weak <= scores.strong).all()


def test_gaps_are_those_of_the_tests_that_are_named(closure: Closure) -> None:
    records = closure.gap(["or_mat"]).json()
    assert [(record["test"], record["control"]) for record in records] == [
        ("or_mat/closure", False),
        ("or_mat/baseline", True),
    ]
    assert records[0]["gap"] == closure.study.gaps("or_mat").gap.value


def test_evidence_says_what_the_questions_show(closure: Closure) -> None:
    rows = {what: values for what, *values in closure.evidence().rows}
    assert rows["questions"] == [len(closure.clevr.questions(part=part)) for part in PARTS]
    assert rows["families of 90 that occur"][0] == 90
    assert rows["questions with the shape of a CLOSURE test"] == [0, 0, 0]


# ---- Seeds and refusals ----


def test_another_seed_asks_other_questions(closure: Closure) -> None:
    with Closure(SMALL, 1, store=closure.clevr.study.store) as other:
        assert (
            other.study.questions("or_mat", "train")["question"]
            != (closure.study.questions("or_mat", "train")["question"])
        )


def test_what_is_not_there_is_refused(closure: Closure) -> None:
    with pytest.raises(UserError, match="CLOSURE has no test 'or_mats'"):
        closure.study.questions("or_mats", "val")
    with pytest.raises(UserError, match="no part 'dev'"):
        closure.show("or_mat", 0, "dev")
    with pytest.raises(UserError, match="no question 36 of or_mat; choose one from 0 to 35"):
        closure.show("or_mat", 36)
