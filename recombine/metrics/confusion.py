"""Confusion matrices: how often each class was taken for which, and the F1 of every class."""

import numpy as np


def confusion(truth: np.ndarray, said: np.ndarray, classes: int) -> np.ndarray:
    """How many of each class (row) were said to be of each class (column), int[classes, classes]."""
    return np.bincount(truth * classes + said, minlength=classes**2).reshape(classes, classes)


def f1(matrix: np.ndarray) -> np.ndarray:
    """The harmonic mean of precision and recall of each class; 0 for a class that was never right, float[classes].

    >>> f1(np.array([[3, 1], [0, 4]])).round(3).tolist()
    [0.857, 0.889]
    """
    right = np.diag(matrix)
    asked = matrix.sum(axis=0) + matrix.sum(axis=1)
    return np.divide(2 * right, asked, out=np.zeros(len(matrix)), where=asked > 0)
