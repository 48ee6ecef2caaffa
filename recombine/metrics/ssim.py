"""Likeness: how much two pictures look the same, by structural similarity.

Around every pixel, in a Gaussian window of 11 by 11, two pictures are compared in mean, spread and covariance of their
luminance: 1 where they agree, near 0 where they have nothing in common. The likeness is the mean over all windows that
lie within the picture.
"""

import numpy as np

WINDOW, SIGMA = 11, 1.5
RANGE = 255.0
SLACK = ((0.01 * RANGE) ** 2, (0.03 * RANGE) ** 2)
"""What keeps the quotients of means and of spreads calm where a picture is black or plain."""

LUMINANCE = np.array([0.299, 0.587, 0.114])
"""What red, green and blue count toward brightness."""


def likeness(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The structural similarity of pictures uint8[..., height, width, 3], float64[...].

    >>> gray = np.full((16, 16, 3), 90, np.uint8)
    >>> float(likeness(gray, gray))
    1.0
    """
    return similarity(one @ LUMINANCE, other @ LUMINANCE).mean(axis=(-2, -1))


def similarity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The similarity of two planes around each pixel that a whole window surrounds, float64[..., h - 10, w - 10]."""
    if one.shape != other.shape:
        raise ValueError(f"pictures of {one.shape} and {other.shape} cannot be compared")
    if min(one.shape[-2:]) < WINDOW:
        raise ValueError(f"a picture needs {WINDOW} pixels a side to be compared, not {one.shape[-2:]}")
    mean, other_mean = _smooth(one), _smooth(other)
    spread = _smooth(one * one) - mean * mean
    other_spread = _smooth(other * other) - other_mean * other_mean
    shared = _smooth(one * other) - mean * other_mean
    level = (2 * mean * other_mean + SLACK[0]) / (mean * mean + other_mean * other_mean + SLACK[0])
    return level * (2 * shared + SLACK[1]) / (spread + other_spread + SLACK[1])


def weights() -> np.ndarray:
    """The weights of a window along one side, which sum to one."""
    across = np.exp(-0.5 * ((np.arange(WINDOW) - WINDOW // 2) / SIGMA) ** 2)
    return across / across.sum()


def _smooth(plane: np.ndarray) -> np.ndarray:
    """The weighted mean in every window: first along the columns, then along the rows."""
    for axis in (-2, -1):
        windows = np.lib.stride_tricks.sliding_window_view(plane, WINDOW, axis=axis)
        plane = windows @ weights()
    return plane
