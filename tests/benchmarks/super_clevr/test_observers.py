"""Ideal observers: exact beliefs, and nothing lost without noise."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.runner import token_rows
from recombine.benchmarks.super_clevr.factors import variant
from recombine.benchmarks.super_clevr.guided import referents
from recombine.benchmarks.super_clevr.observers import SEEN, Belief, imagined, likely, seen
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.benchmarks.super_clevr.shifts import SHIFTS, observers, shift_named
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.world.scenes import ABSENT

WORLD = VehicleWorld()
SCENES = WORLD.sample(30, Key(0))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SuperClevr:
    scale = SuperClevrScale("few", 6, 6, 24, 5, 1)
    return SuperClevr(scale, noise=0.2, store=Store(tmp_path_factory.mktemp("store")))


@pytest.mark.parametrize("split", SHIFTS)
def test_without_noise_the_gap_is_zero(study: SuperClevr, split: str) -> None:
    exam = study.exams([split])[0]
    for who in observers(SHIFTS[split], study.study, 0.0).values():
        for piece in exam.pieces():
            assert (exam.mark(piece, who.predict(piece.observed()))["probability"] == 1).all()


def test_a_wrong_belief_costs_and_a_right_one_pays(study: SuperClevr) -> None:
    gaps = {trial.test: trial.gap.gap.value for trial in study.gap(["long-to-oppo", "long-to-long"]).trials}
    assert gaps["long-to-oppo"] > 2 and gaps["long-to-long"] < 0


def test_what_is_believed_follows_bayes() -> None:
    belief, noise = Belief.of(variant(WORLD, "long", "co-1")), 0.3
    rng = np.random.default_rng(0)
    sizes = {name: len(WORLD.chances(name)) for name in SEEN}
    codes = {name: rng.integers(0, many, 5) for name, many in sizes.items()}
    found = likely(belief, noise, codes)["pair"].reshape(5, sizes["shape"], sizes["color"])

    def chance(name: str, true: int, saw: int) -> float:
        return 1 - noise if true == saw else noise / (sizes[name] - 1)

    for row in range(5):
        plain = np.array(
            [
                belief.pair[s, c] * chance("shape", s, codes["shape"][row]) * chance("color", c, codes["color"][row])
                for s, c in product(range(sizes["shape"]), range(sizes["color"]))
            ]
        ).reshape(sizes["shape"], sizes["color"])
        assert found[row] == pytest.approx(plain / plain.sum())


def test_imagined_worlds_are_as_frequent_as_believed() -> None:
    belief = Belief.of(variant(WORLD, "long", "co-2"))
    worlds = imagined(SCENES[:1], belief, 0.4, 4_000, Key(1))
    held = likely(belief, 0.4, {name: SCENES.codes[name][0, :1] for name in SEEN})
    colors = belief.pair.shape[1]
    drawn = worlds.codes["shape"][:, 0].astype(int) * colors + worlds.codes["color"][:, 0]
    share = np.bincount(drawn, minlength=held["pair"].shape[1]) / 4_000
    assert np.abs(share - held["pair"][0]).max() < 0.04
    assert (worlds.position == SCENES.position[0]).all()


def test_worlds_drawn_for_a_question_are_those_in_which_it_makes_sense(study: SuperClevr) -> None:
    piece = next(iter(study.exams(["rd"])[0].pieces()))
    rows = np.arange(0, len(piece.scene), 3)
    programs, scene = [piece.concepts[row] for row in piece.concept[rows]], piece.scene[rows]
    assert len(programs) == 40 and {len(referents(one) or ()) for one in programs} >= {0, 1, 2, 3}
    who = replace(observers(SHIFTS["rd"], study.study, 0.1)["strong"], worlds=1_000)
    assert who.belief is not None
    shown, tokens = seen(piece.scenes, WORLD, 0.1, Key(3)), token_rows(programs, study.study.asking.dialect)
    worlds = imagined(shown, who.belief, 0.1, 1_000, Key(4))
    plain = who._votes(tokens, worlds, scene, np.ones((40, 1_000)))
    guided = who._ask_again(programs, tokens, shown[scene], 0)
    known = plain.sum(axis=1) > 250  # worlds that make sense, of 1,000 that were drawn for the scene
    assert known.sum() > 20
    said = [some[known] / some[known].sum(axis=1, keepdims=True) for some in (plain, guided)]
    off = np.abs(said[0] - said[1]).sum(axis=1) / 2
    assert off.max() < 0.12 and off.mean() < 0.03


def test_noise_changes_as_many_values_as_it_says() -> None:
    shown = seen(SCENES, WORLD, 0.25, Key(2))
    there = SCENES.codes["shape"] != ABSENT
    for name in SEEN:
        assert 0.15 < (shown.codes[name] != SCENES.codes[name])[there].mean() < 0.35
        assert (shown.codes[name][~there] == ABSENT).all()
        assert shown.codes[name][there].max() < len(WORLD.chances(name))


def test_both_observers_see_the_same_and_answer_the_same_again(study: SuperClevr) -> None:
    exam = study.exams(["co-1-to-co-0"])[0]
    piece = next(iter(exam.pieces()))
    one, again = (study.learners(exam)["weak"].predict(piece.observed()) for _ in range(2))
    assert (one == again).all() and one.sum(axis=1) == pytest.approx(1)


def test_any_two_variants_are_a_shift_and_others_are_refused(study: SuperClevr) -> None:
    assert shift_named("slt-to-tail").trained == "slt"
    for name in ("long-to-co-1", "boolean", "long-to-"):
        with pytest.raises(UserError, match=f"Super-CLEVR has no split '{name}'"):
            study.exams([name])
    with pytest.raises(UserError, match="noise is the probability"):
        SuperClevr(noise=1.0)


def test_gap_and_degrade_are_zero_without_noise_and_grow_with_it(tmp_path: Path) -> None:
    noisy = SuperClevr(SuperClevrScale("few", 2, 2, 12, 5, 1), store=Store(tmp_path)).by_noise((0.0, 0.1))
    gaps = {shift: (clear, dim) for _, shift, clear, dim in noisy.gaps().rows}
    assert gaps.keys() == SHIFTS.keys() and all(clear == 0 for clear, _ in gaps.values())
    assert gaps["long-to-oppo"][1] > 2
    observers_rows = noisy.degrades().rows[:2]
    assert observers_rows[0] == ("observer, noise 0 %", 100, 0, 100, 0, 0, 0) and observers_rows[1][2] > 2
    gap, *degrades = noisy.figures()
    assert "long-to-oppo" in gap.svg and all("P-NSVQA" in one.svg for one in degrades)
