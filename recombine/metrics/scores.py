"""Scores: average precision with ties grouped, and class-balanced accuracy."""

from collections.abc import Sequence

import numpy as np

from recombine.store.compiled import compiled

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
    return pooled_accuracy(recalled(truth, said), batch)


def recalled(truth: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Of each episode and class, how many scenes are asked about and how many are right, int[e, 2, 2]."""
    truth, said = truth.astype(bool), said.astype(bool)
    classes, right = (truth, ~truth), (truth & said, ~truth & ~said)
    return np.stack([np.stack([rows.sum(axis=1) for rows in each], axis=1) for each in (classes, right)], axis=2)


def pooled_accuracy(counts: np.ndarray, batch: int = BATCH) -> np.ndarray:
    """The mean recall of the two classes, pooled over batches of episodes, from their counts: float[batches]."""
    asked, right = np.moveaxis(np.add.reduceat(counts, np.arange(0, len(counts), batch)), 2, 0)
    there = asked > 0
    recall = np.divide(right, asked, out=np.zeros(asked.shape), where=there)
    return recall.sum(axis=1) / there.sum(axis=1)


@compiled
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


def balanced_accuracy(
    unit: Sequence[tuple[str, int]],
    truth: Sequence[Sequence[str]],
    right: Sequence[Sequence[float]],
    batch: int = BATCH,
) -> float:
    """Class-balanced accuracy of answers in words: `pooled_accuracy` of every set, and their mean.

    A unit is a set and the number of an episode or question in it; one may come in several parts. 0 without any.

    >>> balanced_accuracy([("a", 0), ("a", 1)], [["no", "no", "yes"], ["no"]], [[1, 1, 0], [0]])
    0.3333333333333333
    """
    counts: dict[tuple[str, int], dict[str, list[float]]] = {}
    for (name, number), answers, earned in zip(unit, truth, right):
        classes = counts.setdefault((name, number // batch), {})
        for answer, one in zip(answers, earned):
            classes.setdefault(answer, []).append(one)
    sets: dict[str, list[float]] = {}
    for (name, _), classes in counts.items():
        sets.setdefault(name, []).append(float(np.mean([np.mean(some) for some in classes.values()])))
    return float(np.mean([np.mean(batches) for batches in sets.values()])) if sets else 0.0
