"""Scores: average precision with ties grouped, and class-balanced accuracy."""

import numpy as np
from numba import njit

BATCH = 8
"""Episodes over which accuracy pools its recalls, as the released code does."""


def average_precision(truth: np.ndarray, score: np.ndarray) -> float:
    """The mean of the precisions at each step of recall; scenes with the same score count as one step.

    >>> average_precision(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.8333333333333333
    """
    score = np.asarray(score, np.float64)
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(truth[order])
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)  # the end of each group of ties
    precision = hits[last] / (last + 1)
    recall = hits[last] / max(1, hits[-1])
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def batch_accuracy(truth: np.ndarray, said: np.ndarray, batch: int = BATCH) -> np.ndarray:
    """The mean recall of the two classes, pooled over batches of episodes: bool[e, q] twice -> float[batches].

    A batch without one of the classes counts the other one alone.
    """
    starts = np.arange(0, len(truth), batch)
    recalls = []
    for wanted in (True, False):
        asked = np.add.reduceat((truth == wanted).sum(axis=1), starts)
        right = np.add.reduceat(((truth == wanted) & (said == wanted)).sum(axis=1), starts)
        recalls.append(np.divide(right, asked, out=np.full(len(starts), np.nan), where=asked > 0))
    return np.nanmean(recalls, axis=0)


@njit(cache=True)
def grouped_precision(score: np.ndarray, positive: int, hit: np.ndarray, asked: np.ndarray, total: int) -> float:
    """Average precision from groups of equal score.

    score[g] with asked[g] scenes, hit[g] of them positive; the rest of the `total` scenes score 0.
    """
    order = np.argsort(-score)
    seen, hits, sum_ = 0, 0, 0.0
    for g in order:
        seen += asked[g]
        hits += hit[g]
        sum_ += hit[g] / positive * (hits / seen)
    if hits < positive:
        sum_ += (positive - hits) / positive * (positive / total)
    return sum_
