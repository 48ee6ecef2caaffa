"""Intervals over a few seeds cover the truth as often as they say."""

import numpy as np
import pytest

from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import difference, over_seeds
from recombine.store.key import Key

WIDE = (-np.inf, np.inf)


@pytest.mark.parametrize("seeds", [2, 3, 10, 40])
def test_95_of_100_intervals_cover_the_mean(seeds: int) -> None:
    samples = Key(1).rng().normal(3.0, 1.0, (4_000, seeds))
    covered = np.mean([found.low <= 3.0 <= found.high for found in (over_seeds(row, *WIDE) for row in samples)])
    assert covered == pytest.approx(0.95, abs=0.014)  # four standard errors


@pytest.mark.parametrize(("one", "other", "spread"), [(3, 3, 1.0), (10, 10, 1.0), (3, 10, 4.0), (10, 3, 4.0)])
def test_a_difference_is_covered_at_least_as_often(one: int, other: int, spread: float) -> None:
    rng = Key(2).rng()
    pairs = zip(rng.normal(2.0, 1.0, (4_000, one)), rng.normal(0.5, spread, (4_000, other)))
    covered = np.mean([found.low <= 1.5 <= found.high for found in (difference(*pair, *WIDE) for pair in pairs)])
    assert 0.93 < covered < 0.985  # Welch's is nearly right, and rounding down its freedom widens it


def test_one_seed_alone_says_nothing() -> None:
    one, three = np.array([0.5]), np.array([0.1, 0.2, 0.3])
    assert over_seeds(one) == Interval(0.5, 0.0, 1.0)
    assert (difference(one, three).low, difference(three, one).high) == (-1.0, 1.0)


def test_a_difference_turned_round_has_the_other_sign() -> None:
    one, other = np.array([0.5, 0.7, 0.9]), np.array([0.1, 0.2])
    there, back = difference(one, other), difference(other, one)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
