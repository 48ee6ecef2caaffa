"""Does one number foretell another: ranks, all orders, and intervals that say what they are over."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from recombine.benchmarks.closure import published as closure
from recombine.benchmarks.concept_world import published as concept_world
from recombine.benchmarks.curi import published as curi
from recombine.metrics import prediction
from recombine.metrics.prediction import chance_of, predicts, ranks, spearman
from recombine.store.errors import UserError
from recombine.store.key import Key

LAW = settings(deadline=None, max_examples=25)
few = arrays(float, st.integers(4, 5), elements=st.integers(-3, 3).map(float))


@LAW
@given(few, st.randoms(use_true_random=False))
def test_ranks_and_correlation_are_those_of_scipy(one: np.ndarray, random: object) -> None:
    other = np.array([random.randint(0, 4) for _ in one], float)  # type: ignore[attr-defined]
    assert ranks(one).tolist() == stats.rankdata(one).tolist()
    if np.ptp(one) and np.ptp(other):
        assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)
    else:
        assert np.isnan(spearman(one, other))


@LAW
@given(few)
def test_the_chance_counts_every_order(one: np.ndarray) -> None:
    other = np.arange(len(one), dtype=float) ** 2
    if not np.ptp(one):
        return
    found = [abs(spearman(one, np.array(order))) >= abs(spearman(one, other)) - 1e-9 for order in permutations(other)]
    assert chance_of(one, other, Key(1)) == pytest.approx(np.mean(found))


def test_of_many_tests_a_sample_of_orders_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = np.arange(7, dtype=float), np.array([1, 0, 3, 6, 2, 5, 4], float)
    exact = chance_of(one, other, Key(1))
    monkeypatch.setattr(prediction, "ALL_ORDERS", 3)
    assert chance_of(one, other, Key(1)) == pytest.approx(exact, abs=0.005)
    assert chance_of(np.arange(40.0), np.arange(40.0), Key(1)) > 0


def losses(*rows: list[float]) -> dict[str, dict[str, float]]:
    return {name: dict(zip(("net", "other"), row)) for name, row in zip("abcdef", rows)}


def test_who_foretells_perfectly_has_a_correlation_of_one() -> None:
    found = predicts({"a": 1, "b": 2, "c": 3, "d": 4}, losses([1, 2], [2, 3], [3, 9], [40, 10]), Key(1))
    assert found.value == found.over_networks.low == found.over_networks.high == 1
    assert found.over_tests.p == pytest.approx(2 / 24)
    assert found.each == {"net": 1.0, "other": 1.0}
    assert found.text().startswith("Spearman +1.00 over 4 tests (p = 0.083; 95 % interval over tests [")


def test_networks_that_disagree_widen_the_interval_over_networks() -> None:
    found = predicts({"a": 1, "b": 2, "c": 3, "d": 4}, losses([1, 9], [2, 8], [3, 7], [9, 0]), Key(1))
    assert (found.over_networks.low, found.over_networks.high) == (-1, 1)


def test_only_what_both_sides_know_is_compared() -> None:
    found = predicts({"a": 1, "b": 2, "c": 3, "d": 4, "z": 5}, losses([1, 2], [2, 3], [3, 9], [4, 1], [5, 1]), Key(1))
    assert found.tests == ("a", "b", "c", "d")
    with pytest.raises(UserError, match="at least 4 tests that both sides know, not 1"):
        predicts({"a": 1}, losses([1, 2]), Key(1))
    with pytest.raises(UserError, match="have no order"):
        predicts(dict.fromkeys("abcd", 1.0), losses([1, 2], [2, 3], [3, 9], [4, 1]), Key(1))
    with pytest.raises(UserError, match="no network with a value for every test"):
        predicts(dict.fromkeys("abcd", 1.0), {name: {name: 1.0} for name in "abcd"}, Key(1))


def test_what_the_papers_networks_lose() -> None:
    assert len(closure.losses()) == 7 and all(len(row) == 7 for row in closure.losses().values())
    assert np.mean(list(closure.losses()["embed_spa_mat"].values())) == pytest.approx(1.5, abs=0.05)
    assert len(concept_world.losses()) == 8 and all(len(row) == 5 for row in concept_world.losses().values())
    assert "instance-iid" not in curi.losses() and len(curi.losses("image")) == 8


def test_orders_foretell_closures_losses() -> None:
    """The smaller the fragments that are new, the more is lost."""
    small = dict.fromkeys(("and_mat_spa", "or_mat", "or_mat_spa"), -2.0)
    middle = dict.fromkeys(("embed_spa_mat", "embed_mat_spa"), -3.0)
    large = dict.fromkeys(("compare_mat", "compare_mat_spa"), -4.0)
    found = predicts({**small, **middle, **large}, closure.losses(), Key(1))
    assert found.value == pytest.approx(0.79, abs=0.005)
    assert found.over_tests.p == pytest.approx(0.048, abs=0.002)
