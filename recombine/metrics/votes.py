"""Votes: the most probable answer, where several that are equally probable share one vote."""

import numpy as np


def votes(said: np.ndarray) -> np.ndarray:
    """One vote for each row of probabilities, float[rows, answers].

    >>> votes(np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    best = said == said.max(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)


def right(truth: np.ndarray, said: np.ndarray) -> dict[str, np.ndarray]:
    """Of each row, the share of its vote that is right, and the probability of the right answer: float[rows] each."""
    rows = np.arange(len(truth))
    return {"accuracy": votes(said)[rows, truth], "probability": said[rows, truth]}
