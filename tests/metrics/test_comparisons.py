"""Many comparisons at once: Holm's correction keeps its promise, and an order is decided step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from recombine.metrics.comparisons import ALPHA, holm, ordered, together
from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import borrowed, difference, over_seeds, student_p
from recombine.report.findings import FAILS, HOLDS, OPEN, Case, Verdict, finding_tables
from recombine.report.findings import together as judged_together
from recombine.store.errors import UserError
from recombine.store.key import Key

LAW = settings(deadline=None, max_examples=100)
chances = st.lists(st.floats(0, 1), max_size=12)


@LAW
@given(st.floats(-60, 60), st.floats(1, 200))
def test_the_p_value_of_students_t(t: float, freedom: float) -> None:
    assert student_p(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-6, abs=1e-13)


def test_a_p_value_is_below_5_percent_where_the_interval_leaves_zero_out() -> None:
    rng = Key(1).rng()
    for _ in range(300):
        one, other = rng.normal(0.6, 1, rng.integers(2, 9)), rng.normal(0, 1, rng.integers(2, 9))
        for found in (over_seeds(one, -np.inf, np.inf), difference(one, other, -np.inf, np.inf)):
            assert (found.p < ALPHA) == (found.low > 0 or found.high < 0)
        assert over_seeds(one, -9, 9).p == pytest.approx(stats.ttest_1samp(one, 0).pvalue)


def test_one_seed_has_no_evidence_and_equal_seeds_have_all() -> None:
    assert over_seeds(np.array([0.4])).p == difference(np.array([0.4]), np.array([0.1, 0.2])).p == 1
    assert over_seeds(np.array([0.4, 0.4])).p == 0
    assert over_seeds(np.zeros(3)).p == 1


def test_one_seed_may_borrow_the_spread_of_others() -> None:
    assert borrowed(np.array([0.5]), 0.0) == Interval(0.5, 0.5, 0.5)
    one, four = borrowed(np.array([50.0]), 3.0, 0, 100), borrowed(np.full(4, 50.0), 3.0, 0, 100)
    assert one.width == pytest.approx(2 * four.width) == pytest.approx(2 * 1.96 * 3)


@LAW
@given(chances)
def test_holm_is_his_step_down_procedure(p: list[float]) -> None:
    """Plainly: from the smallest on, reject while p <= alpha / (tests left)."""
    adjusted = holm(p)
    for alpha in (0.01, 0.05, 0.3):
        rejected = set()
        for left, i in zip(range(len(p), 0, -1), np.argsort(p, kind="stable").tolist()):
            if p[i] * left > alpha:
                break
            rejected.add(i)
        assert {i for i, value in enumerate(adjusted) if value <= alpha} == rejected
    assert all(one <= other <= 1 for one, other in zip(p, adjusted))


def test_of_many_comparisons_without_any_difference_5_in_100_lists_have_one_decided() -> None:
    rng, lists = Key(2).rng(), 400
    wrong = [min(holm([over_seeds(v, -9, 9).p for v in rng.normal(size=(20, 5))])) < ALPHA for _ in range(lists)]
    assert np.mean(wrong) == pytest.approx(0.05, abs=0.033)  # three standard errors


def test_intervals_without_a_test_are_left_as_they_are() -> None:
    plain, tested = Interval(1, 0.5, 2), Interval(1, 0.5, 2, p=0.03)
    assert [found.p for found in together([plain, tested, tested])] == [None, 0.06, 0.06]


def test_findings_are_decided_in_view_of_their_number() -> None:
    case, other = (Case("one", Interval(1, 0.1, 2, p=p)) for p in (0.03, 1e-4))
    alone, many = Verdict("a", (case,), "runs"), Verdict("b", (case, other), "runs")
    assert alone.mark == many.mark == HOLDS
    assert [[case.mark for case in one.cases] for one in judged_together([alone, many])] == [[OPEN], [OPEN, HOLDS]]
    assert finding_tables([alone])[0].rows[0][2] == HOLDS
    assert [row[2] for row in finding_tables([alone, many])[0].rows] == [OPEN, OPEN]
    assert judged_together([Verdict("c", (), "runs")])[0].mark == OPEN
    assert Case("not so", Interval(-1, -2, 0.1, p=0.03)).mark == FAILS


# --- orders


def values(*rows: list[float]) -> dict[str, np.ndarray]:
    return {name: np.array(row) for name, row in zip("abc", rows)}


def test_an_order_is_decided_where_every_step_is() -> None:
    found = ordered(values([9, 9.1, 9.2, 9.0, 9.1], [5, 5.1, 5.0, 5.2, 5.1], [4.9, 5.2, 4.8, 5.3, 5.0]), "abc")
    assert found.holds and not found.decided
    assert found.open == (("b", "c"),)
    assert (found.in_order, found.seeds) == (3, 5)
    assert found.text() == (
        "1 of 2 steps of the order are decided over 5 seeds, and all of it holds in 3 of them; open: b and c."
    )
    assert ordered(values([9, 9.1, 9.2], [5, 5.1, 5.0], [1, 1.1, 1.2]), "abc").decided
    assert not ordered(values([9, 9.1, 9.2], [5, 5.1, 5.0], [1, 1.1, 1.2]), "cba").holds


def test_seeds_are_compared_with_themselves() -> None:
    """What all values of a seed have in common does not hide the order."""
    world = Key(3).rng().normal(0, 10, 5)
    found = ordered({"a": world + np.array([1, 1.1, 0.9, 1.0, 1.2]), "b": world}, "ab")
    assert found.decided and found.in_order == 5


def test_an_order_needs_the_same_seeds_of_every_name() -> None:
    with pytest.raises(UserError, match="the same seeds"):
        ordered({"a": np.zeros(2), "b": np.zeros(3)}, "ab")
    with pytest.raises(UserError, match="no values of c"):
        ordered({"a": np.zeros(2), "b": np.zeros(2)}, "abc")
