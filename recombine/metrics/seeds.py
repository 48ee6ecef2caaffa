"""Means over seeds, with the interval that Student's t gives to so few, and the p-value of being zero."""

from math import exp, lgamma, log, log1p

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
        return Interval(mean, low, high, p=1.0)
    error = float(np.std(values, ddof=1)) / n**0.5
    half = _student(n - 1) * error
    return Interval(mean, max(low, mean - half), min(high, mean + half), _p_value(mean, error, n - 1))


def borrowed(values: np.ndarray, deviation: float, low: float = 0.0, high: float = 1.0) -> Interval:
    """The mean over however few seeds, with the 95 % interval of a standard deviation over seeds known from elsewhere.

    >>> borrowed(np.array([0.5]), 0.1).text(".3f")
    '0.500 [0.304, 0.696]'
    """
    mean, error = float(np.mean(values)), deviation / len(values) ** 0.5
    half = _NORMAL * error
    return Interval(mean, max(low, mean - half), min(high, mean + half))


def difference(one: np.ndarray, other: np.ndarray, low: float = -1.0, high: float = 1.0) -> Interval:
    """The mean of one minus that of other, over seeds that have nothing to do with each other, with Welch's interval.

    Its degrees of freedom are rounded down.

    >>> difference(np.array([0.5, 0.6, 0.7]), np.array([0.1, 0.2])).text("+.3f")
    '+0.450 [+0.121, +0.779]'
    """
    apart = float(np.mean(one) - np.mean(other))
    if min(len(one), len(other)) == 1:
        return Interval(apart, low, high, p=1.0)
    errors = [float(np.var(values, ddof=1)) / len(values) for values in (one, other)]
    if sum(errors) == 0:
        return Interval(apart, apart, apart, _p_value(apart, 0.0, 1))
    freedom = sum(errors) ** 2 / sum(error**2 / (len(values) - 1) for error, values in zip(errors, (one, other)))
    freedom, error = int(freedom + 1e-9), sum(errors) ** 0.5
    half = _student(freedom) * error
    return Interval(apart, max(low, apart - half), min(high, apart + half), _p_value(apart, error, freedom))


def _student(freedom: int) -> float:
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL


def _p_value(mean: float, error: float, freedom: int) -> float:
    """Of a mean that is so many standard errors from zero; a mean without scatter is or is not zero."""
    if error == 0:
        return float(mean == 0)
    return student_p(mean / error, freedom)


def student_p(t: float, freedom: float) -> float:
    """The chance of a Student's t at least this far from zero.

    >>> round(student_p(2.228, 10), 4)
    0.05
    """
    return _beta_share(freedom / (freedom + t * t), freedom / 2, 0.5)


def _beta_share(x: float, a: float, b: float) -> float:
    """The share of a beta distribution that lies below x, by its continued fraction."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, the other tail is taken
        return 1 - _beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 300):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + step * d), 1 + step / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
