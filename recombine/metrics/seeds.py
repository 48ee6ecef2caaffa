"""Means over seeds, with the interval that Student's t gives to so few."""

import numpy as np

from recombine.metrics.intervals import Interval

# The 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.960


def over_seeds(values: np.ndarray, low: float = 0.0, high: float = 1.0) -> Interval:
    """The mean over seeds with its 95 % interval, within the bounds of the score; one seed alone says nothing.

    >>> over_seeds(np.array([0.5, 0.6, 0.7])).text(".3f")
    '0.600 [0.352, 0.848]'
    """
    n, mean = len(values), float(np.mean(values))
    if n == 1:
        return Interval(mean, low, high)
    half = _student(n - 1) * float(np.std(values, ddof=1)) / n**0.5
    return Interval(mean, max(low, mean - half), min(high, mean + half))


def difference(one: np.ndarray, other: np.ndarray, low: float = -1.0, high: float = 1.0) -> Interval:
    """The mean of one minus that of other, over seeds that have nothing to do with each other, with Welch's interval.

    Its degrees of freedom are rounded down.

    >>> difference(np.array([0.5, 0.6, 0.7]), np.array([0.1, 0.2])).text("+.3f")
    '+0.450 [+0.121, +0.779]'
    """
    apart = float(np.mean(one) - np.mean(other))
    if min(len(one), len(other)) == 1:
        return Interval(apart, low, high)
    errors = [float(np.var(values, ddof=1)) / len(values) for values in (one, other)]
    if sum(errors) == 0:
        return Interval(apart, apart, apart)
    freedom = sum(errors) ** 2 / sum(error**2 / (len(values) - 1) for error, values in zip(errors, (one, other)))
    half = _student(int(freedom + 1e-9)) * sum(errors) ** 0.5
    return Interval(apart, max(low, apart - half), min(high, apart + half))


def _student(freedom: int) -> float:
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL
