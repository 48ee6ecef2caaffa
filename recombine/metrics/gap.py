"""The compositionality gap: how much an ideal learner loses when it knows the training concepts only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recombine.metrics.intervals import Interval, bootstrap, bootstrap_of
from recombine.metrics.seeds import over_seeds
from recombine.store.errors import UserError
from recombine.store.key import Key

Over = Literal["episodes", "meanings", "worlds"]
"""What was drawn again: episodes of the same concepts, other concepts with all their episodes, or everything."""
FEWEST_WORLDS = 5


@dataclass(frozen=True)
class Gap:
    """Strong and weak oracle on one split by one metric, in percent, with intervals."""

    split: str
    metric: str
    strong: Interval
    weak: Interval
    gap: Interval
    episodes: int
    over: Over = "episodes"


def gap(
    split: str,
    metric: str,
    strong: np.ndarray,
    weak: np.ndarray,
    episodes: int,
    key: Key,
    meaning: np.ndarray | None = None,
) -> Gap:
    """The gap between two learners' scores on the same units (episodes or batches of them), each between 0 and 1.

    With the meaning of each unit, int[units], the intervals are over meanings.
    """
    columns = 100 * np.stack([strong, weak, strong - weak], axis=1)
    of_strong, of_weak, of_gap = bootstrap(columns, key, cluster=meaning)
    return Gap(split, metric, of_strong, of_weak, of_gap, episodes, "episodes" if meaning is None else "meanings")


def gap_of(
    split: str, metric: str, scores: Callable[[np.ndarray], tuple[float, float]], meaning: np.ndarray, key: Key
) -> Gap:
    """The same over meanings, for scores that are no mean over episodes: of the strong and the weak learner by rows."""

    def percent(rows: np.ndarray) -> np.ndarray:
        strong, weak = scores(rows)
        return 100 * np.array([strong, weak, strong - weak])

    of_strong, of_weak, of_gap = bootstrap_of(percent, meaning, key)
    return Gap(split, metric, of_strong, of_weak, of_gap, len(meaning), "meanings")


def gap_to_best(
    split: str, metric: str, strong: np.ndarray, others: Mapping[str, np.ndarray], key: Key, cluster: np.ndarray | None
) -> tuple[Gap, str]:
    """Strong minus the best of several learners that do not recombine, and which of them that is.

    Scores are float[units] each, between 0 and 1. The best is chosen anew in every sample, so that the intervals allow
    for the choice.
    """
    if not others:
        raise UserError("there is no learner to compare the strong one with")
    table = np.stack(list(others.values()))

    def percent(rows: np.ndarray) -> np.ndarray:
        best = table[:, rows].mean(axis=1).max()
        return 100 * np.array([strong[rows].mean(), best, strong[rows].mean() - best])

    known, best, lost = bootstrap_of(percent, np.arange(len(strong)) if cluster is None else cluster, key)
    over: Over = "episodes" if cluster is None else "meanings"
    return Gap(split, metric, known, best, lost, len(strong), over), list(others)[int(table.mean(axis=1).argmax())]


def over_worlds(gaps: Sequence[Gap]) -> Gap:
    """One gap from those of several worlds, each made anew from its own seed: means, and intervals over worlds."""
    if len({(one.split, one.metric) for one in gaps}) != 1:
        raise UserError("gaps over worlds must be of one split and one metric")
    if len(gaps) < FEWEST_WORLDS:
        raise UserError(f"an interval over worlds needs at least {FEWEST_WORLDS} seeds, not {len(gaps)}")
    of_strong, of_weak, of_gap = (
        over_seeds(np.array([getattr(one, name).value for one in gaps]), low, 100.0)
        for name, low in (("strong", 0.0), ("weak", 0.0), ("gap", -100.0))
    )
    return Gap(gaps[0].split, gaps[0].metric, of_strong, of_weak, of_gap, sum(one.episodes for one in gaps), "worlds")


def widest(gaps: Sequence[Gap]) -> Gap:
    """Of the same gap with several intervals, that with the widest: the one to print beside a claim."""
    return max(gaps, key=lambda one: one.gap.width)


def mean_drop(before: Mapping[str, Gap], after: Mapping[str, Gap]) -> tuple[float, float]:
    """How much smaller the gaps of the same splits are on average, and the standard error over splits."""
    if before.keys() != after.keys() or len(before) < 2:
        raise UserError("a mean drop needs the same splits before and after, at least two")
    drops = [before[split].gap.value - after[split].gap.value for split in before]
    return float(np.mean(drops)), float(np.std(drops, ddof=1) / len(drops) ** 0.5)
