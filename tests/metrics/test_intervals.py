"""Bootstrap intervals: they cover the truth as often as they say, and rows are resampled together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recombine.metrics.gap import gap
from recombine.metrics.intervals import Interval, bootstrap
from recombine.store.key import Key

LAW = settings(deadline=None, max_examples=30)
tables = st.tuples(st.integers(1, 20), st.integers(1, 3)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-1, 1))
)


@LAW
@given(tables)
def test_the_value_is_the_mean_and_lies_between_the_extremes(values: np.ndarray) -> None:
    for interval, column in zip(bootstrap(values, Key(1), 50), values.T, strict=True):
        assert interval.value == pytest.approx(column.mean(), abs=1e-12)
        assert column.min() - 1e-9 <= interval.low <= interval.high <= column.max() + 1e-9


def test_95_of_100_intervals_cover_the_mean() -> None:
    trials, n = 400, 60
    samples = Key(2).rng().normal(3.0, 1.0, (n, trials))
    covered = sum(i.low <= 3.0 <= i.high for i in bootstrap(samples, Key(3), 300))
    assert 0.90 <= covered / trials <= 0.98  # .94 expected at n = 60, standard error .012


def test_the_width_is_that_of_the_normal_approximation() -> None:
    values = Key(4).rng().normal(size=(500, 1))
    (found,) = bootstrap(values, Key(5))
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(500), rel=0.1)


def test_a_higher_level_gives_a_wider_interval() -> None:
    values = Key(4).rng().normal(size=(50, 1))
    (narrow,), (wide,) = (bootstrap(values, Key(5), level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@LAW
@given(arrays(float, st.integers(1, 30), elements=st.floats(0, 1)))
def test_rows_are_resampled_together_so_a_column_keeps_its_distance_to_itself(column: np.ndarray) -> None:
    one, same, apart = bootstrap(np.stack([column, column, column - column], axis=1), Key(6), 50)
    assert one == same
    assert apart == Interval(0.0, 0.0, 0.0)


@LAW
@given(arrays(float, st.integers(1, 30), elements=st.floats(0, 1)))
def test_the_gap_of_equal_learners_is_exactly_zero(score: np.ndarray) -> None:
    found = gap("iid", "mAP", score, score.copy(), len(score), Key(7))
    assert found.gap == Interval(0.0, 0.0, 0.0)
    assert found.strong == found.weak


def test_the_key_decides_the_bounds() -> None:
    values = Key(4).rng().normal(size=(50, 2))
    assert bootstrap(values, Key(1)) == bootstrap(values, Key(1))
    assert bootstrap(values, Key(1)) != bootstrap(values, Key(2))


def test_a_gap_is_strong_less_weak_in_percent() -> None:
    found = gap("boolean", "mAP", np.array([0.9, 0.7]), np.array([0.5, 0.1]), 2, Key(1))
    assert (found.strong.value, found.weak.value, found.gap.value) == pytest.approx((80.0, 30.0, 50.0))
    assert (found.gap.low, found.gap.high) == pytest.approx((40.0, 60.0))


def test_an_interval_prints_its_bounds() -> None:
    assert Interval(12.34, 11.0, 13.99).text() == "12.3 [11.0, 14.0]"
