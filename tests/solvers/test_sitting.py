"""Sitting an exam: only what may be observed is handed over, what comes back is checked, and marks are pooled."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.benchmarks.curi.world import CuriWorld
from recombine.metrics.intervals import bootstrap
from recombine.metrics.votes import right
from recombine.solvers.sitting import checked, sit, taught
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples, Observed

ROWS, ANSWERS = 60, ("a", "b", "c")


@pytest.fixture(scope="module")
def examples() -> Examples:
    rows = np.arange(ROWS)
    given_ = rows % 5 == 0
    target = Key(1).rng().integers(0, 3, ROWS)
    return Examples(CuriWorld().sample(ROWS, Key(0)), (), ANSWERS, rows, rows, target, rows // 5, given_)


def taken(examples: Examples, rows: np.ndarray) -> Examples:
    return replace(
        examples,
        **{name: getattr(examples, name)[rows] for name in ("scene", "concept", "target", "group", "given")},
    )


def exam_of(examples: Examples, pieces: int) -> Exam:
    def cut() -> Iterator[Examples]:
        for rows in np.array_split(np.arange(ROWS), pieces):
            yield taken(examples, rows)

    return Exam("some", ANSWERS, lambda: examples, cut, lambda asked, said: right(asked.asked, said), Key(2))


class Fixed:
    """Says of a scene what its number makes it say."""

    def __init__(self) -> None:
        self.seen: list[Observed] = []

    def fit(self, train: Examples, key: Key) -> Self:
        self.train = train
        return self

    def predict(self, test: Observed) -> np.ndarray:
        self.seen.append(test)
        table = Key(3).rng().dirichlet(np.ones(3), ROWS)
        return table[test.scene[~test.given]]


def test_a_score_is_the_same_however_the_test_is_cut(examples: Examples) -> None:
    whole, cut = (sit(Fixed(), exam_of(examples, pieces)) for pieces in (1, 6))
    assert whole == cut and whole.units == len(examples.asked)


def test_a_score_is_the_mean_of_its_marks_with_the_interval_of_the_bootstrap(examples: Examples) -> None:
    marks = right(examples.asked, Fixed().predict(examples.observed()))
    for name, found in sit(Fixed(), exam_of(examples, 3)).scores.items():
        assert [found] == bootstrap(marks[name][:, None], Key(2) / name)


def test_a_solver_is_handed_what_may_be_observed_and_nothing_else(examples: Examples) -> None:
    solver = Fixed()
    sit(solver, exam_of(examples, 4))
    assert [type(test) for test in solver.seen] == [Observed] * 4
    assert not any(hasattr(test, hidden) for test in solver.seen for hidden in ("target", "concept", "asked"))


def test_training_examples_are_made_only_for_those_who_need_them(examples: Examples) -> None:
    def never() -> Examples:
        raise AssertionError("made")

    class Unneeding(Fixed):
        def needs_training(self, few_shot: bool) -> bool:
            return not few_shot

    assert taught(Fixed(), exam_of(examples, 1), Key(0)).train is examples  # type: ignore[attr-defined]
    taught(Unneeding(), replace(exam_of(examples, 1), train=never, few_shot=True), Key(0))
    with pytest.raises(AssertionError, match="made"):
        taught(Unneeding(), replace(exam_of(examples, 1), train=never), Key(0))


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda row: sum(row) > 0.01), min_size=1))
def test_every_distribution_is_accepted_as_it_is(rows: list[list[float]]) -> None:
    said = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    np.testing.assert_array_equal(checked(said.tolist(), said.shape, "it"), said)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (np.full((4, 2), 0.5), r"it must give probabilities of shape \(4, 3\) \(asked rows, answers\), not \(4, 2\)"),
        (np.full(4, 0.5), r"not \(4,\)"),
        (np.full((4, 3), np.nan), "some are not finite"),
        (np.full((4, 3), np.inf), "some are not finite"),
        (np.array([[1.5, -0.5, 0.0]] * 4), "some are negative"),
        (np.full((4, 3), 0.5), "some rows do not sum to 1 but to 1.5"),
        (np.zeros((4, 3)), "some rows do not sum to 1 but to 0"),
        ("yes", "it must give an array of probabilities, not str"),
        (None, "not NoneType|not finite|of shape"),
    ],
)
def test_what_is_not_a_distribution_is_refused_in_one_sentence(said: object, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        checked(said, (4, 3), "it")
