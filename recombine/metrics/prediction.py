"""Does one number of every test foretell another: the gap what networks lose there?

Tests are few, so the order is compared and not the size (Spearman's rank correlation); its p-value is that of all
orders, each counted. The interval over tests says how far the answer hangs on the choice of tests, the interval over
networks how far it hangs on the choice of networks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from recombine.metrics.intervals import LEVEL, RESAMPLES, Interval
from recombine.store.errors import UserError
from recombine.store.key import Key

FEWEST = 4
ALL_ORDERS = 9
"""Up to so many tests every order is counted; of more, a sample is."""
SAMPLED = 100_000


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 1 on; equal values share the mean of their ranks.

    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of ranks; nan where one of them is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0, 9.0]), np.array([2.0, 4.0, 5.0, 6.0]))
    1.0
    """
    a, b = (ranks(values) - ranks(values).mean() for values in (one, other))
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float("nan") if size == 0 else float(np.clip(a @ b / size, -1, 1))


def chance_of(one: np.ndarray, other: np.ndarray, key: Key) -> float:
    """How likely a correlation at least as far from zero is if all orders were equally likely."""
    a, b = (ranks(values) - ranks(values).mean() for values in (one, other))
    n = len(a)
    orders = _every_order(n) if n <= ALL_ORDERS else np.argsort(key.rng().random((SAMPLED, n)), axis=1)
    reached = np.abs(b[orders] @ a) >= abs(a @ b) - 1e-9
    return float(reached.mean()) if n <= ALL_ORDERS else float((reached.sum() + 1) / (SAMPLED + 1))


def _every_order(n: int) -> np.ndarray:
    return np.fromiter(permutations(range(n)), np.dtype((np.int8, n)), factorial(n))


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well a number foretells what networks lose, test by test."""

    tests: tuple[str, ...]
    networks: tuple[str, ...]
    foretold: np.ndarray  # float[tests]
    lost: np.ndarray  # float[tests, networks]
    over_tests: Interval
    over_networks: Interval
    each: Mapping[str, float]
    """The correlation for every network by itself."""

    @property
    def value(self) -> float:
        return self.over_tests.value

    def text(self) -> str:
        """One sentence."""
        p = self.over_tests.p
        assert p is not None
        return (
            f"Spearman {self.value:+.2f} over {len(self.tests)} tests (p = {p:.2g}; 95 % interval over tests "
            f"{_ends(self.over_tests)}, over {len(self.networks)} networks {_ends(self.over_networks)})"
        )


def _ends(found: Interval) -> str:
    return f"[{found.low:+.2f}, {found.high:+.2f}]"


def predicts(foretold: Mapping[str, float], lost: Mapping[str, Mapping[str, float]], key: Key) -> Prediction:
    """Compare a number of every test with the mean of what networks lose there; networks know all the tests."""
    tests = [test for test in foretold if test in lost]
    if len(tests) < FEWEST:
        raise UserError(f"a correlation needs at least {FEWEST} tests that both sides know, not {len(tests)}")
    networks = [name for name in lost[tests[0]] if all(name in lost[test] for test in tests)]
    if not networks:
        raise UserError("there is no network with a value for every test")
    x = np.array([foretold[test] for test in tests])
    y = np.array([[lost[test][name] for name in networks] for test in tests])
    if not np.ptp(x) or not np.ptp(y.mean(axis=1)):
        raise UserError("values that are the same for all tests have no order to compare")
    value, p = spearman(x, y.mean(axis=1)), chance_of(x, y.mean(axis=1), key / "orders")
    draw, again = (key / "tests").rng(), []
    for _ in range(RESAMPLES):
        rows = draw.integers(0, len(tests), len(tests))
        again.append(spearman(x[rows], y[rows].mean(axis=1)))
    draw, others = (key / "networks").rng(), []
    for _ in range(RESAMPLES):
        columns = draw.integers(0, len(networks), len(networks))
        others.append(spearman(x, y[:, columns].mean(axis=1)))
    return Prediction(
        tuple(tests),
        tuple(networks),
        x,
        y,
        _bounded(value, again, p),
        _bounded(value, others, p),
        {name: spearman(x, y[:, i]) for i, name in enumerate(networks)},
    )


def _bounded(value: float, again: Sequence[float], p: float) -> Interval:
    """Samples in which all values are equal have no correlation and are left out."""
    low, high = np.nanquantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high), p)
