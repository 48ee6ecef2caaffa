"""Bootstrap intervals: they cover the truth as often as they say, and rows are resampled together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recombine.metrics.confusion import confusion, f1
from recombine.metrics.gap import Gap, gap, gap_of, gap_to_best, mean_drop, over_worlds, widest
from recombine.metrics.intervals import Interval, bootstrap, bootstrap_of
from recombine.store.errors import UserError
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


# --- an interval holds its value


@LAW
@given(*[st.floats(-10, 10)] * 3)
def test_a_value_never_lies_outside_its_own_interval(value: float, low: float, high: float) -> None:
    found = Interval(value, low, high)
    assert found.low <= found.value <= found.high
    assert found.low == min(low, value) and found.high == max(high, value)


def test_the_f1_of_a_guess_lies_in_its_interval() -> None:
    """A guess in equal parts has the highest F1 of all samples, so that a bootstrap never reaches it."""
    truth, said = (rows.ravel() for rows in np.meshgrid(np.arange(3), np.arange(3)))
    truth, said = np.tile(truth, 100), np.tile(said, 100)
    (found,) = bootstrap_of(
        lambda rows: np.array([f1(confusion(truth[rows], said[rows], 3)).min()]), np.arange(len(truth)), Key(1), 200
    )
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(1 / 3)


# --- clusters


@LAW
@given(st.integers(1, 30).flatmap(lambda n: st.tuples(arrays(float, (n, 2), elements=st.floats(-1, 1)),
                                                      arrays(int, n, elements=st.integers(0, 5)))))  # fmt: skip
def test_the_quick_way_over_clusters_is_the_mean_of_the_rows_of_the_drawn_ones(
    given_: tuple[np.ndarray, np.ndarray],
) -> None:
    values, cluster = given_
    quick = bootstrap(values, Key(1), 40, cluster=cluster)
    plain = bootstrap_of(lambda rows: values[rows].mean(axis=0), cluster, Key(1), 40)
    for one, other in zip(quick, plain, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-9)


def test_where_every_row_is_its_own_cluster_nothing_changes() -> None:
    values = Key(4).rng().normal(size=(200, 2))
    for one, other in zip(bootstrap(values, Key(1)), bootstrap(values, Key(1), cluster=np.arange(200))):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_rows_that_say_the_same_count_once() -> None:
    """Ten copies of each row: over rows the interval is too narrow by the square root of ten, over clusters right."""
    once = Key(4).rng().normal(size=(100, 1))
    tenfold, cluster = np.repeat(once, 10, axis=0), np.repeat(np.arange(100), 10)
    (true,), (over_rows,) = bootstrap(once, Key(5)), bootstrap(tenfold, Key(5))
    (over_clusters,) = bootstrap(tenfold, Key(5), cluster=cluster)
    assert over_clusters.width == pytest.approx(true.width)
    assert over_rows.width == pytest.approx(true.width / 10**0.5, rel=0.1)


def test_95_of_100_intervals_over_clusters_cover_the_mean() -> None:
    """Clusters of unequal size with a part that their rows share."""
    rng, covered, trials = Key(7).rng(), 0, 150
    for trial in range(trials):
        cluster = np.repeat(np.arange(50), rng.integers(1, 9, 50))
        rows = 3 + rng.normal(size=50)[cluster] + rng.normal(size=len(cluster))
        (found,) = bootstrap(rows[:, None], Key(8) / trial, 200, cluster=cluster)
        covered += found.low <= 3 <= found.high
    assert 0.88 <= covered / trials <= 0.98


# --- gaps over meanings and worlds


def test_a_gap_over_meanings_has_the_same_value_and_other_bounds() -> None:
    rng = Key(9).rng()
    meaning = rng.integers(0, 8, 400)
    strong, weak = 0.9 + 0 * meaning, rng.random(8)[meaning]
    rows, meanings = (gap("counting", "mAP", strong, weak, 400, Key(1), over) for over in (None, meaning))
    assert rows.gap.value == meanings.gap.value
    assert (rows.over, meanings.over) == ("episodes", "meanings")
    assert widest([rows, meanings]) is meanings
    assert meanings.gap.width > 3 * rows.gap.width


def test_a_gap_by_a_pooled_score_over_meanings() -> None:
    meaning = np.repeat(np.arange(20), 5)
    strong, weak = np.ones(100), Key(1).rng().random(20)[meaning]
    by_rows = gap_of("s", "accuracy", lambda rows: (strong[rows].mean(), weak[rows].mean()), meaning, Key(2))
    by_means = gap("s", "accuracy", strong, weak, 100, Key(2), meaning)
    assert (by_rows.gap.low, by_rows.gap.high) == pytest.approx((by_means.gap.low, by_means.gap.high))


def test_worlds_are_the_units_of_an_interval_over_worlds() -> None:
    gaps = [gap("s", "mAP", np.array([0.9]), np.array([0.5 + world / 100]), 1, Key(world)) for world in range(5)]
    found = over_worlds(gaps)
    assert (found.gap.value, found.over, found.episodes) == (pytest.approx(38.0), "worlds", 5)
    assert found.gap.low == pytest.approx(38 - 2.776 * np.std(range(5), ddof=1) / 5**0.5)
    with pytest.raises(UserError, match="at least 5 seeds, not 4"):
        over_worlds(gaps[:4])
    with pytest.raises(UserError, match="one split"):
        over_worlds([*gaps, gap("other", "mAP", np.array([1.0]), np.array([1.0]), 1, Key(1))])


def test_the_mean_drop_has_the_standard_error_over_splits() -> None:
    def gaps(*values: float) -> dict[str, Gap]:
        return {
            str(i): gap(str(i), "mAP", np.array([1.0]), np.array([1 - v / 100]), 1, Key(1))
            for i, v in enumerate(values)
        }

    assert mean_drop(gaps(80, 70, 60, 0), gaps(78, 66, 54, 0)) == pytest.approx((3.0, np.std([2, 4, 6, 0], ddof=1) / 2))
    with pytest.raises(UserError, match="the same splits"):
        mean_drop(gaps(1, 2), gaps(1, 2, 3))


def test_the_gap_to_the_best_takes_the_best_and_allows_for_the_choice() -> None:
    rng = Key(11).rng()
    strong, one, other = np.ones(80), rng.random(80), rng.random(80)
    found, name = gap_to_best("s", "accuracy", strong, {"one": one, "other": other}, Key(1), None)
    best = max(one.mean(), other.mean())
    assert (found.weak.value, found.gap.value) == pytest.approx((100 * best, 100 * (1 - best)))
    assert name == ("one" if one.mean() > other.mean() else "other")
    alone, _ = gap_to_best("s", "accuracy", strong, {name: {"one": one, "other": other}[name]}, Key(1), None)
    assert found.gap.value == alone.gap.value and found.gap.high <= alone.gap.high
    with pytest.raises(UserError, match="no learner"):
        gap_to_best("s", "accuracy", strong, {}, Key(1), None)
