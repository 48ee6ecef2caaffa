"""Intervals: a value with the bounds that a bootstrap gives it.

What is drawn again decides what an interval speaks about. Over *rows* (episodes, questions, images) it says how the
value would change with other rows about the same concepts; over *clusters* (all rows about one meaning) with other
concepts; over worlds, `metrics.seeds.over_seeds`, with everything made anew. A claim needs the widest that covers what
it claims.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from recombine.store.key import Key

RESAMPLES = 1_000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its confidence interval, which always holds the value.

    A bootstrap of a curved score, such as an F1 at its peak, lies to one side of the score of all rows; the bound that
    misses the value is moved to it.

    >>> Interval(33.333, 33.001, 33.332)
    Interval(value=33.333, low=33.001, high=33.333)
    """

    value: float
    low: float
    high: float
    p: float | None = field(default=None, compare=False, repr=False)
    """How likely a value at least as far from zero would be if zero were true, where a test says so."""

    def __post_init__(self) -> None:
        if self.value < self.low:
            object.__setattr__(self, "low", self.value)
        if self.value > self.high:
            object.__setattr__(self, "high", self.value)

    @property
    def width(self) -> float:
        return self.high - self.low

    def plain(self) -> dict[str, float]:
        """The value and its bounds, for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def text(self, format: str = ".1f") -> str:
        return f"{self.value:{format}} [{self.low:{format}}, {self.high:{format}}]"

    def short(self, format: str = ".1f") -> str:
        """The value with half the width of its interval."""
        return f"{self.value:{format}} ± {self.width / 2:{format}}"


def bootstrap(
    values: np.ndarray,
    key: Key,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    cluster: np.ndarray | None = None,
) -> list[Interval]:
    """The mean of each column with its percentile interval; rows are resampled together: float[n, columns].

    With a cluster for each row, int[n], whole clusters are resampled.
    """
    if cluster is not None:
        return _over_clusters(values, key, resamples, level, cluster)
    rng, n = key.rng(), len(values)
    means = np.stack([values[rng.integers(0, n, n)].mean(axis=0) for _ in range(resamples)])
    return _bounded(values.mean(axis=0), means, level)


def bootstrap_of(
    statistic: Callable[[np.ndarray], np.ndarray],
    cluster: np.ndarray,
    key: Key,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Interval]:
    """Any statistics of rows, int[rows] -> float[statistics], with percentile intervals over clusters, int[n]."""
    again = np.stack([statistic(rows) for rows in _redrawn(cluster, key, resamples)])
    return _bounded(statistic(np.arange(len(cluster))), again, level)


def _over_clusters(values: np.ndarray, key: Key, resamples: int, level: float, cluster: np.ndarray) -> list[Interval]:
    """As `bootstrap_of` with the mean, from the sums of the clusters."""
    number, size = _numbered(cluster)
    sums = np.stack([np.bincount(number, column) for column in values.T], axis=1)
    rng, n = key.rng(), len(size)
    means = []
    for _ in range(resamples):
        drawn = rng.integers(0, n, n)
        means.append(sums[drawn].sum(axis=0) / size[drawn].sum())
    return _bounded(values.mean(axis=0), np.stack(means), level)


def _redrawn(cluster: np.ndarray, key: Key, resamples: int) -> Iterator[np.ndarray]:
    """The rows of as many clusters as there are, drawn with replacement; in an order that tells nothing."""
    number, size = _numbered(cluster)
    rows, start = np.argsort(number, kind="stable"), np.cumsum(size) - size
    rng, shuffle = key.rng(), (key / "order").rng()
    for _ in range(resamples):
        drawn = rng.integers(0, len(size), len(size))
        sizes = size[drawn]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield shuffle.permutation(rows[np.repeat(start[drawn], sizes) + within])


def _numbered(cluster: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The clusters counted from 0, and how many rows each has."""
    _, number, size = np.unique(cluster, return_inverse=True, return_counts=True)
    return number, size


def _bounded(values: np.ndarray, again: np.ndarray, level: float) -> list[Interval]:
    low, high = np.quantile(again, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [Interval(*map(float, column)) for column in zip(values, low, high)]


def share(right: int, asked: int) -> Interval:
    """A share with Wilson's 95 % interval.

    >>> share(9, 10).text(".2f")
    '0.90 [0.60, 0.98]'
    """
    value, z = right / asked, 1.959964
    middle, half = value + z**2 / (2 * asked), z * (value * (1 - value) / asked + z**2 / (4 * asked**2)) ** 0.5
    low, high = ((middle + sign * half) / (1 + z**2 / asked) for sign in (-1, 1))
    return Interval(value, max(0.0, min(low, value)), min(1.0, max(high, value)))
