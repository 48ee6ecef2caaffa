"""The one interface of everything that answers."""

from typing import Protocol, Self

import numpy as np

from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed


class Solver(Protocol):
    """Learns from examples, then answers what is observed. An oracle is a solver with nothing to learn."""

    def fit(self, train: Examples, key: Key) -> Self: ...

    def predict(self, test: Observed) -> np.ndarray:
        """The probability of each answer for every asked row, float[asked, answers]."""
        ...
