"""The compositionality gap: how much an ideal learner loses when it knows the training concepts only."""

from dataclasses import dataclass

import numpy as np

from recombine.metrics.intervals import Interval, bootstrap
from recombine.store.key import Key


@dataclass(frozen=True)
class Gap:
    """Strong and weak oracle on one split by one metric, in percent, with intervals over episodes."""

    split: str
    metric: str
    strong: Interval
    weak: Interval
    gap: Interval
    episodes: int


def gap(split: str, metric: str, strong: np.ndarray, weak: np.ndarray, episodes: int, key: Key) -> Gap:
    """The gap between two learners' scores on the same units (episodes or batches of them), each between 0 and 1."""
    columns = 100 * np.stack([strong, weak, strong - weak], axis=1)
    of_strong, of_weak, of_gap = bootstrap(columns, key)
    return Gap(split, metric, of_strong, of_weak, of_gap, episodes)
