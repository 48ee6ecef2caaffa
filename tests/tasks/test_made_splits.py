"""Splits made automatically: combinations are held out, atoms are kept, and what was written is what is read."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from recombine import Clevr, Closure, Curi, Key, UserError
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.split_exam import Known, items_of
from recombine.benchmarks.clevr.study import of_exam
from recombine.benchmarks.closure.pipeline import ClosureScale
from recombine.benchmarks.concept_world.made_experiments import atom, described
from recombine.benchmarks.study import Study
from recombine.store.store import Store
from recombine.tasks.made_splits import (
    HOWS,
    Items,
    MadeSplit,
    _counted,
    _divergences,
    atoms_of,
    check_wish,
    divergence,
    make_split,
    measures,
    need_atoms,
    read_split,
)
from tests.commands import Run, refused
from tests.conftest import TINY

FEW = ClevrScale("few", 150, 2, 60)


@pytest.fixture(scope="module")
def clevr(own_home: Path) -> Clevr:
    return Clevr(FEW, store=Store(own_home))


@pytest.fixture(scope="module")
def items(tiny: Curi) -> Items:
    return tiny.split_items()._replace(word=tiny.atom)


def test_divergence_is_one_minus_the_chernoff_coefficient() -> None:
    p, q = np.array([3.0, 1.0, 0.0]), np.array([1.0, 2.0, 1.0])
    plain = 1 - sum((a / 4) ** 0.1 * (b / 4) ** 0.9 for a, b in zip(p, q))
    assert divergence(p, q, 0.1) == pytest.approx(plain)
    assert _divergences(np.stack([p, q]), np.stack([q, q]), 0.1) == pytest.approx([plain, 0.0])


@pytest.mark.parametrize("how", HOWS)
def test_every_atom_of_the_test_is_trained(items: Items, how: str) -> None:
    made = make_split(items, how, "made", "curi", Key(3))
    split = made.split()
    train, test = ([c for c in items.concepts if side(c)] for side in (split.train, split.test))
    assert train and test and not set(train) & set(test) and made.measured["atoms only tested"] == 0
    need_atoms("made", train, test, items.word)
    assert 0 < made.measured["tested"] <= 0.3 and made.measured["new compounds"] > 0


@pytest.mark.parametrize("wish", [("mcd", np.nan, None), ("mcd", 0.2, np.nan), ("mcd", 0.2, None, np.nan)])
def test_what_is_no_number_is_refused(wish: tuple[Any, ...]) -> None:
    with pytest.raises(UserError, match=r"nan|divergence is for mcd"):
        check_wish(*wish)


def test_a_split_of_maximum_divergence_diverges_more_than_one_by_lot_and_leaks_nothing(items: Items) -> None:
    made = make_split(items, "mcd", "made", "curi", Key(3))
    senses = np.unique(items.sense)
    chosen = (Key(3) / "lot").rng().permutation(senses)[: len(senses) // 5]
    lot = measures(items, np.isin(items.sense, chosen))
    assert made.measured["compound divergence"] > 2 * lot["compound divergence"]
    assert made.measured["leaks"] == 0 and made.measured["atom divergence"] < 0.04
    more = make_split(items._replace(most_atoms=0.2), "mcd", "made", "curi", Key(3))
    assert more.measured["compound divergence"] > made.measured["compound divergence"]


def all_sides(items: Items, share: float) -> float:
    """The largest divergence of compounds of all sides there are, among those that keep the bounds."""
    sides = np.array([*product((False, True), repeat=len(items.concepts))])
    sides = sides[np.abs(sides.mean(axis=1) - share) <= 0.25 * share]
    every = np.arange(len(items.concepts))
    atoms, compounds = (one.dense(every) for one in _counted(items, every))
    test = sides @ atoms
    fine = ((test == 0) | (test < atoms.sum(axis=0))).all(axis=1)
    fine &= _divergences(atoms.sum(axis=0) - test, test, 0.5) <= items.most_atoms
    test = sides[fine] @ compounds
    return float(_divergences(compounds.sum(axis=0) - test, test, 0.1).max())


def test_the_search_comes_near_to_the_best_of_all_sides() -> None:
    """In languages so small that all can be tried; before single exchanges it came to three quarters."""
    words, share = [*"abcdefghi"], 0.25
    for seed in range(4):
        rng, some = np.random.default_rng(seed), set[tuple[str, ...]]()
        while len(some) < 16:
            some.add(tuple(sorted(rng.choice(words, rng.integers(2, 5), replace=False))))
        concepts = [described(one) for one in sorted(some)]
        items = Items(concepts, np.arange(16), np.ones(16), True, atom, 0.06)
        made = make_split(items, "mcd", "made", "own", Key(seed), share)
        assert made.measured["atom divergence"] <= 0.06 and made.measured["atoms only tested"] == 0
        assert 0.9 * all_sides(items, share) <= made.measured["compound divergence"] <= all_sides(items, share) + 1e-6


def test_the_same_key_gives_the_same_split_and_another_another(items: Items) -> None:
    first, same, other = (make_split(items, "pairwise", "made", "curi", Key(seed)) for seed in (1, 1, 2))
    assert first.plain() == same.plain() != other.plain()


def test_a_split_is_read_as_it_was_written(items: Items, tmp_path: Path, tiny: Curi) -> None:
    for how in ("mcd", "orthotopic"):
        made = make_split(items, how, how, "curi", Key(3))
        read = read_split(made.write(tmp_path / f"{how}.json"), "curi", tiny.atom)
        assert {**made.plain(), "measured": {}} == read.plain()


def test_every_command_takes_the_file(own_home: Path, tmp_path: Path) -> None:
    tiny, file = Curi(TINY, "release", store=Store(own_home)), str(tmp_path / "box.json")
    made = tiny.made_split(file, how="orthotopic")
    gap = tiny.gap([file]).of()[0]
    assert gap.split == "box" and gap.gap.strong.value >= gap.gap.weak.value
    rows = list(tiny.rows([file], first=3))
    assert {row.split for row in rows} == {"box"}
    signature = tiny.benchmark.language.signature
    assert all(made.holds_out(atoms_of(signature.parse(row.concept), tiny.atom)) for row in rows)
    assert tiny.show(file, 1).split == "box" and len(tiny.episodes(file)) == 60


@pytest.mark.parametrize("study", ["clevr", "closure"])
def test_questions_are_split_by_pairs_of_words(study: str, clevr: Clevr, own_home: Path, tmp_path: Path) -> None:
    opened: Study = clevr if study == "clevr" else Closure(ClosureScale("few", 150, 2, 60), store=Store(own_home))
    file = str(tmp_path / "pairs.json")
    made = opened.made_split(file, how="pairwise")
    (exam,) = opened.exams([file])
    train, pieces = exam.train(), list(exam.pieces())
    assert not any(made.holds_out(atoms_of(program)) for program in train.concepts)
    assert all(made.holds_out(atoms_of(piece.concepts[i])) for piece in pieces for i in np.unique(piece.concept))
    (trial,) = opened.gap([file]).of()
    assert trial.gap.strong.value == 100 and trial.gap.gap.value > 10
    assert opened.show(file, 1, "test").terminal()
    if isinstance(opened, Closure):
        folder = opened.make(tmp_path / "made", [file])
        sides = {part: pq.read_table(folder / "pairs" / part) for part in ("train", "val", "test")}
        for part, table in sides.items():
            programs = [read_program(json.loads(text)) for text in table["program"].to_pylist()]
            assert {made.holds_out(atoms_of(program)) for program in programs} == {part == "test"}
            assert set(table["split"].to_pylist()) == {"pairs"}
        Path(file).write_text(json.dumps({**json.loads(Path(file).read_text()), "pairs": made.plain()["pairs"][1:]}))
        with pytest.raises(UserError, match="exists and is not empty"):
            opened.make(folder, [file])  # the file says something else now


def test_the_weak_learner_takes_a_question_for_the_closest_that_it_knows(clevr: Clevr) -> None:
    made = MadeSplit("mine", "own", "clevr", (("filter[color,red]", "filter[shape,cube]"),))
    known, parse = Known(made, clevr.study.dialect), clevr.benchmark.language.signature.parse
    asked = parse("count(filter[color,red](filter[shape,cube](scene)))")
    found = known.closest(asked)
    assert len(found) == 7 + 2 and asked not in found  # seven other colours, two other shapes
    same = parse("count(filter[color,red](filter[shape,sphere](scene)))")
    assert known.closest(same) == (same,) and same in found


def test_the_gap_is_zero_where_nothing_of_the_test_is_held_out(clevr: Clevr) -> None:
    assert items_of(of_exam.training(clevr.study)).weight.sum() == 1_500
    (trial,) = clevr.gap().of()
    assert trial.gap.gap.value == 0


def written(tmp_path: Path, **said: object) -> Path:
    file = tmp_path / "mine.json"
    plain = {"recombine_split": 1, "name": "mine", "how": "own", "benchmark": "clevr", **said}
    file.write_text(json.dumps(plain))
    return file


def test_a_file_whose_name_is_no_name_of_a_split_is_refused_before_any_work(clevr: Clevr, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be the name"):
        clevr.made_split(tmp_path / "b].json")
    assert not (tmp_path / "b].json").exists()


def test_a_split_without_atoms_on_one_side_is_refused(clevr: Clevr, tmp_path: Path) -> None:
    file = written(tmp_path, pairs=[["filter[color,red]", "scene"]])
    with pytest.raises(UserError, match=r"has filter\[color,red\] on the test side and nowhere on the training side"):
        clevr.gap([str(file)])
    with pytest.raises(UserError, match="has no concepts on its test side"):
        clevr.gap([str(written(tmp_path, pairs=[["chess", "scene"]]))])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"pairs": [["one"]]}, "must hold either pairs of atoms, or the concepts of train and test"),
        ({}, "must hold either"),
        ({"train": ["a"], "test": ["a"]}, "a is on both sides"),
        ({"pairs": [["a", "b"]], "benchmark": "curi"}, "is a split of curi, not of clevr"),
        ({"pairs": [["a", "b"]], "name": "../up"}, "cannot be the name"),
        ({"recombine_split": 7}, "is no split of this version"),
        ({"train": ["a"], "test": ["b"]}, "questions are split by pairs of words"),
    ],
)
def test_a_file_that_is_no_split_is_refused(said: dict[str, object], told: str, clevr: Clevr, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        clevr.exams([str(written(tmp_path, **said))])


def test_the_command_line(invoke: Run, tmp_path: Path) -> None:
    for words, told in (
        (("clevr", "--how", "chess"), "there is no way 'chess' to make a split"),
        (("clevr", "--share", "0.9"), "share is the part that is tested"),
        (("clevr", "--how", "pairwise", "--divergence", "0.4"), "divergence is for mcd"),
    ):
        refused(invoke("split", *words, "--workers", "1", "--out", tmp_path / "none.json"), told)
    assert not (tmp_path / "none.json").exists()
    refused(invoke("gap", "clevr", "--split", tmp_path / "none.json"), "there is no split and no file")
