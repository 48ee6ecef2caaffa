"""Paper-scale checks: minutes and gigabytes. `make full` runs them after its report has filled the store."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recombine import Curi
from recombine.benchmarks.curi.published import FIGURE, RECOMPUTED, SPACE
from recombine.store.store import Store

pytestmark = pytest.mark.full

HOME = os.environ.get("RECOMBINE_HOME")
"""The user's own store, noted before the tests get one of their own."""


@pytest.fixture(scope="module")
def paper() -> Iterator[Curi]:
    home = Path(HOME or "~/.cache/recombine").expanduser().absolute()
    with Curi("paper", "release", workers=2, store=Store(home)) as curi:
        yield curi


def test_the_concept_space_has_the_published_size(paper: Curi) -> None:
    assert abs(len(paper.study.space) - SPACE) <= 0.015 * SPACE


def test_both_oracles_score_as_recomputed(paper: Curi) -> None:
    found = {trial.split: trial.gap for trial in paper.gap().of("mAP")}
    assert {*found} == {*RECOMPUTED["mAP"]}
    for split, (strong, weak) in RECOMPUTED["mAP"].items():
        allowed = 7.0 if split == "concept-iid" else 2.5
        assert abs(found[split].strong.value - strong) <= allowed, split
        assert abs(found[split].weak.value - weak) <= allowed, split


def test_the_gaps_come_in_the_published_order(paper: Curi) -> None:
    ours = {trial.split: trial.gap.gap.value for trial in paper.gap().of("mAP")}
    theirs = {split: strong - weak for split, (strong, weak) in FIGURE["mAP"].items()}
    for one in theirs:
        for other in theirs:
            if theirs[one] - theirs[other] > 0.05:  # Intrinsic and Complexity are equal in the figure
                assert ours[one] > ours[other], (one, other)
