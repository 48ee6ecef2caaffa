"""Solvers of one's own: what may be one, how large tests are handed over, and how failures are told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.benchmarks.curi.world import CuriWorld
from recombine.solvers.features import values
from recombine.solvers.user_solver import inputs, own, parts, read_solver
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed

SCENES = CuriWorld().sample(50, Key(0))


def some(rows: int, groups: int, seed: int) -> Examples:
    """Rows in no order, some of them given."""
    rng = np.random.default_rng(seed)
    scene, target = rng.integers(0, 50, rows), rng.integers(0, 2, rows)
    return Examples(
        SCENES, (), ("no", "yes"), scene, scene, target, rng.integers(0, groups, rows), rng.random(rows) < 0.4
    )


def by_row(test: Observed) -> np.ndarray:
    """Depends on the scene, on the group, and on what the group shows."""
    shown = np.zeros(100)
    np.add.at(shown, test.group[test.given], test.shown + 0.5)
    asked = ~test.given
    weight = 1 + SCENES.count[test.scene[asked]] + test.group[asked] + shown[test.group[asked]]
    return np.stack([1 / weight, 1 - 1 / weight], axis=1)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 2**32), st.integers(1, 30))
def test_parts_are_whole_groups_that_make_up_the_test(rows: int, groups: int, seed: int, most: int) -> None:
    test = some(rows, groups, seed).observed()
    found = list(parts(test, most))
    asked = np.count_nonzero(~test.given)
    assert sorted(np.concatenate([places for places, _ in found]).tolist()) == list(range(asked))
    for _, part in found:
        assert len(part.group) <= most or len(np.unique(part.group)) == 1
    named = [set(part.group.tolist()) for _, part in found]
    assert sum(map(len, named)) == len(np.unique(test.group))
    said = np.empty((asked, 2))
    for places, part in found:
        said[places] = by_row(part)
    np.testing.assert_allclose(said, by_row(test))


def test_the_inputs_of_a_row_are_its_scene_and_what_its_group_shows() -> None:
    examples = some(60, 4, 1)
    test, counts = examples.observed(), values(SCENES).astype(float)
    found, asked = inputs(test), np.flatnonzero(~test.given)
    assert found.shape == (len(asked), 3 * counts.shape[1]) and found.dtype == np.float32
    for place, row in enumerate(asked):
        here = (test.group == test.group[row]) & test.given
        means = [
            counts[test.scene[here & (examples.target == answer)]].mean(axis=0)
            if (here & (examples.target == answer)).any()
            else np.zeros(counts.shape[1])
            for answer in (0, 1)
        ]
        np.testing.assert_allclose(found[place], [*counts[test.scene[row]], *means[0], *means[1]], rtol=1e-6)


def test_where_nothing_is_shown_the_inputs_are_the_scene_alone() -> None:
    rows = np.arange(10)
    test = Examples(SCENES, (), ("a", "b"), rows, rows, rows % 2, rows, rows < 0).observed()
    np.testing.assert_array_equal(inputs(test), values(SCENES)[:10])


class Counting:
    """Learns how frequent the answers are, and returns nothing from `fit`."""

    def fit(self, train: Examples, key: Key) -> None:
        self.share = np.bincount(train.target, minlength=2) / len(train.target)

    def predict(self, test: Observed) -> np.ndarray:
        return np.tile(self.share, (int(np.count_nonzero(~test.given)), 1))


@pytest.mark.parametrize("made", [Counting, Counting()])
def test_a_class_or_an_object_is_trained_and_answers(made: Any) -> None:
    examples = some(40, 4, 2)
    solver = own(made)
    assert solver.name == "Counting" and solver.needs_training(few_shot=True)
    said = solver.fit(examples, Key(0)).predict(examples.observed())
    np.testing.assert_allclose(said[:, 1], examples.target.mean())


def test_a_function_has_nothing_to_learn() -> None:
    examples = some(40, 4, 3)
    assert own(by_row).name == "by_row" and not own(by_row).needs_training(few_shot=False)
    np.testing.assert_allclose(own(by_row).predict(examples.observed()), by_row(examples.observed()))


def failing(test: Observed) -> np.ndarray:
    raise ZeroDivisionError("first line\nsecond line")


@pytest.mark.parametrize(
    ("solver", "expected"),
    [
        (failing, "failing has failed: ZeroDivisionError: first line second line"),
        (lambda test: np.zeros((1, 5)), r"must give probabilities of shape \(\d+, 2\)"),
        (lambda test: np.full((np.count_nonzero(~test.given), 2), np.nan), "some are not finite"),
        (lambda test: "yes", "must give an array of probabilities, not str"),
    ],
)
def test_a_failure_is_told_in_one_sentence(solver: Callable, expected: str) -> None:
    with pytest.raises(UserError, match=expected) as told:
        own(solver).predict(some(40, 4, 4).observed())
    assert "\n" not in str(told.value)


def test_what_cannot_answer_is_no_solver() -> None:
    with pytest.raises(UserError, match="int is no solver: give a function"):
        own(3)


def test_a_solver_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Half:\n    share: 'float' = 0.5\n\n"
        "    def predict(self, test):\n        return [[self.share] * 2 for _ in range((~test.given).sum())]\n"
    )
    examples = some(20, 3, 5)
    np.testing.assert_array_equal(read_solver(f"{file}:Half").predict(examples.observed()), 0.5)
    with pytest.raises(UserError, match=r"mine.py defines no 'Third'"):
        read_solver(f"{file}:Third")
    with pytest.raises(UserError, match=r"there is no file .*nowhere.py; write FILE.py:NAME"):
        read_solver(f"{tmp_path / 'nowhere.py'}:Half")
    file.write_text("def broken(:\n")
    with pytest.raises(UserError, match=r"mine.py cannot be read: SyntaxError"):
        read_solver(f"{file}:broken")
