"""Scoring solvers: one table for all of them on any benchmark, and one sentence for what cannot be scored."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import benchmarks
from recombine.benchmarks.clevr import pipeline as of_clevr
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.benchmarks.closure.pipeline import CLOSURE_SCALES, ClosureScale
from recombine.benchmarks.concept_world import pipeline as of_worlds
from recombine.benchmarks.curi import pipeline as of_curi
from recombine.benchmarks.scoring import brief, over_worlds, score
from recombine.benchmarks.super_clevr import pipeline as of_vehicles
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.store.errors import UserError
from recombine.tasks.examples import Examples, Observed
from tests.commands import Run, refused
from tests.conftest import TINY

MINE = """
import numpy as np

def sure(test):
    said = np.zeros(((~test.given).sum(), len(test.answers)))
    said[:, 0] = 1
    return said

def short(test):
    return np.ones((1, 1))

def nan(test):
    return np.full(((~test.given).sum(), len(test.answers)), np.nan)

def failing(test):
    raise KeyError("color")

def leaving(test):
    raise SystemExit(3)

def strong(test):
    return sure(test)
"""


@pytest.fixture(autouse=True, scope="module")
def small_scales() -> Iterator[None]:
    """Every benchmark has a scale that tests can afford."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(of_curi.SCALES, "tiny", TINY)
        patch.setitem(of_clevr.CLEVR_SCALES, "tiny", ClevrScale("tiny", 40, 40, 20, 5))
        patch.setitem(CLOSURE_SCALES, "tiny", ClosureScale("tiny", 40, 40, 20, 5, (36, 36, 36)))
        patch.setitem(of_worlds.SHARES, "tiny", 0.02)
        patch.setitem(of_vehicles.SCALES, "tiny", SuperClevrScale("tiny", 30, 10, 10, 4, 4))
        yield


FEW: dict[str, dict[str, Any]] = {
    "curi": {"splits": ["boolean"], "first": 8, "edition": "release"},
    "clevr": {},
    "closure": {"splits": ["or_mat"]},
    "concept-world": {"splits": ["sequences"]},
    "super-clevr": {},
}


def test_every_benchmark_can_be_scored() -> None:
    assert set(benchmarks.names()) == set(FEW)


@pytest.mark.parametrize("benchmark", FEW)
def test_all_baselines_stand_beside_the_ideal_learners(benchmark: str) -> None:
    table = score(None, benchmark, scale="tiny", **FEW[benchmark])
    names = [*benchmarks.get(benchmark).study.baselines, "strong", "weak"]
    rows = table.json()
    tests = list(dict.fromkeys(row["test"] for row in rows))
    assert [(row["test"], row["solver"]) for row in rows] == [(test, name) for test in tests for name in names]
    first = table.columns[3].name
    strong = {row["test"]: row[first]["value"] for row in rows if row["solver"] == "strong"}  # type: ignore[index]
    assert all(row[first]["value"] <= strong[row["test"]] for row in rows)  # type: ignore[index]


def test_a_model_is_trained_once_for_all_tests_with_the_same_training() -> None:
    lessons: list[Examples] = []

    class First:
        def fit(self, train: Examples, key: object) -> None:
            lessons.append(train)

        def predict(self, test: Observed) -> np.ndarray:
            return np.eye(len(test.answers))[np.zeros(np.count_nonzero(~test.given), int)]

    table = score([First, "chance"], "concept-world", ["sequences", "patterns"], scale="tiny")
    assert len(lessons) == 2 and [len(train.answers) for train in lessons] == [3, 4]
    assert [row[1] for row in table.rows[:4]] == ["First", "chance", "strong", "weak"] and len(table.rows) == 4 * 4
    shared = [column.name for column in table.columns[3:]]
    assert shared == ["F1", "accuracy", "probability", "F1 red", "F1 blue"], "the scores that all tests have"


def test_every_training_begins_with_a_solver_that_has_learnt_nothing() -> None:
    class Counting:
        fits = 0

        def fit(self, train: Examples, key: object) -> None:
            self.fits += 1

        def predict(self, test: Observed) -> np.ndarray:
            assert self.fits == 1
            return np.eye(len(test.answers))[np.zeros(np.count_nonzero(~test.given), int)]

    mine = Counting()
    score([mine], "concept-world", ["sequences", "patterns"], scale="tiny")
    assert mine.fits == 0


def test_a_file_may_import_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text(MINE)
    (tmp_path / "mine.py").write_text("from beside_it import sure")
    assert score(f"{tmp_path}/mine.py:sure", "clevr", scale="tiny").rows[0][1] == "sure"


def test_the_scores_of_classes_are_there_and_the_terminal_shows_the_first_ones() -> None:
    table = score("chance", "concept-world", ["sequences"], scale="tiny")
    names = [column.name for column in table.columns]
    assert names == ["test", "solver", "units", "F1", "accuracy", "probability", "F1 red", "F1 blue", "F1 mixed"]
    assert [column.name for column in brief(table).columns] == ["test", "solver", "F1", "accuracy"]
    assert [row[:2] for row in brief(table).rows] == [row[:2] for row in table.rows]


def test_scores_of_several_worlds_are_averaged_with_an_interval_over_them() -> None:
    tables = [score("majority", "clevr", scale="tiny", seed=seed) for seed in (0, 1, 2)]
    both = over_worlds(tables)
    values = [table.rows[0][3].value for table in tables]  # type: ignore[union-attr]
    found = both.rows[0][3]
    assert found.value == pytest.approx(sum(values) / 3) and found.low < found.value < found.high  # type: ignore[union-attr]
    assert both.title.endswith("seed 0, seeds 3") and "3 worlds" in both.note and over_worlds(tables[:1]) is tables[0]


def test_the_ideal_learners_are_not_told_twice() -> None:
    table = score(["weak", "chance"], "clevr", scale="tiny")
    assert [row[1] for row in table.rows] == ["weak", "chance", "strong"]


def test_bad_words_are_refused_before_any_work() -> None:
    with pytest.raises(UserError, match="there is no benchmark 'chess'"):
        score("chance", "chess")
    with pytest.raises(UserError, match=r"there is no solver 'guess'; choose one of chance, .*weak, or write FILE.py"):
        score("guess", "curi")
    with pytest.raises(UserError, match="CLEVR has no split 'boolean'"):
        score("chance", "clevr", ["boolean"], scale="tiny")
    with pytest.raises(UserError, match="concept-world has no option 'edition'"):
        score("chance", "concept-world", edition="release")
    with pytest.raises(UserError, match="there are no 'soft' negatives"):
        score("chance", "curi", negatives="soft", scale="tiny")
    with pytest.raises(UserError, match="two solvers are called 'chance'"):
        score(["chance", "chance"], "curi")


# --- the command


def test_the_command_prints_a_table_of_all_solvers(invoke: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    ran = invoke("eval", "clevr", "--scale", "tiny", "--solver", "majority", "--solver", f"{tmp_path}/mine.py:sure")
    assert ran.code == 0
    assert [name in ran.said for name in ("majority", "sure", "strong", "weak", "chance")] == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("short", "short must give probabilities of shape (100, 28) (asked rows, answers), not (1, 1)"),
        ("nan", "nan must give probabilities, but some are not finite"),
        ("failing", "failing has failed: KeyError: 'color' (mine.py, line 16)"),
        ("leaving", "leaving has failed: SystemExit: 3 (mine.py, line 19)"),
        ("strong", "'strong' is the name of an ideal learner; give your solver another name"),
        ("missing", "defines no 'missing'"),
    ],
)
def test_a_solver_of_ones_own_that_goes_wrong_is_told(invoke: Run, tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    refused(invoke("eval", "clevr", "--scale", "tiny", "--solver", f"{tmp_path}/mine.py:{name}"), expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("clevr", "--solver", "nowhere.py:f"), "there is no file nowhere.py"),
        (("clevr", "--solver", "guess"), "there is no solver 'guess'"),
        (("clevr", "--split", "boolean"), "CLEVR has no split 'boolean'"),
        (("curi", "--split", "chess"), "CURI has no split 'chess'"),
        (("curi", "--split", "boolean", "--first", "61"), "has 60 test episodes at this scale, not 61"),
        (("closure", "--split", "chess"), "CLOSURE has no test 'chess'"),
        (("closure", "--episodes", "5"), "No such option: --episodes"),
        (("nowhere", "--solver", "chance"), "there is no benchmark and no folder 'nowhere'; choose clevr"),
        (("curi", "--split", "boolean", "--scale", "vast"), "there is no scale 'vast'"),
    ],
)
def test_bad_words_of_the_command_are_refused(invoke: Run, words: tuple[str, ...], expected: str) -> None:
    refused(invoke("eval", *words, *(() if "--scale" in words else ("--scale", "tiny"))), expected)
