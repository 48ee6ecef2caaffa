"""Intervals: a value with the bounds that a bootstrap gives it."""

from dataclasses import dataclass

import numpy as np

from recombine.store.key import Key

RESAMPLES = 1_000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its confidence interval."""

    value: float
    low: float
    high: float

    def text(self, format: str = ".1f") -> str:
        return f"{self.value:{format}} [{self.low:{format}}, {self.high:{format}}]"


def bootstrap(values: np.ndarray, key: Key, resamples: int = RESAMPLES, level: float = LEVEL) -> list[Interval]:
    """The mean of each column with its percentile interval; rows are resampled together: float[n, columns]."""
    rng, n = key.rng(), len(values)
    means = np.stack([values[rng.integers(0, n, n)].mean(axis=0) for _ in range(resamples)])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [Interval(*map(float, column)) for column in zip(values.mean(axis=0), low, high)]


def share(right: int, asked: int) -> Interval:
    """A share with Wilson's 95 % interval.

    >>> share(9, 10).text(".2f")
    '0.90 [0.60, 0.98]'
    """
    value, z = right / asked, 1.959964
    middle, half = value + z**2 / (2 * asked), z * (value * (1 - value) / asked + z**2 / (4 * asked**2)) ** 0.5
    low, high = ((middle + sign * half) / (1 + z**2 / asked) for sign in (-1, 1))
    return Interval(value, max(0.0, min(low, value)), min(1.0, max(high, value)))
