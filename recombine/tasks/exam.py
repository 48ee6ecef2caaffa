"""Exams: how one test of a benchmark is put to a solver, and marked.

An exam gives the training examples, then the test in pieces that fit in memory, and marks what a solver says of each
piece. A mark is what one *unit* of the test has earned: an episode, a batch of episodes, a question, an image. The
marks of all pieces are pooled, and the scores are made from their means over units; most scores are such a mean.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recombine.store.key import Key
from recombine.tasks.examples import Examples

Marks = Mapping[str, np.ndarray]
"""By name, what each unit has earned, float[units, ...]; or the mean over units, float[...]."""


def as_they_are(means: Marks) -> Mapping[str, float]:
    """Scores that are the means of the marks."""
    return {name: float(mean) for name, mean in means.items()}


@dataclass(frozen=True, eq=False)
class Exam:
    """One test of a benchmark. `train` and `pieces` make their examples when they are called."""

    name: str
    answers: tuple[str, ...]
    train: Callable[[], Examples]
    pieces: Callable[[], Iterator[Examples]]
    mark: Callable[[Examples, np.ndarray], Marks]
    """The marks of a piece, by the probabilities that a solver gives to the answers, float[asked, answers]."""
    key: Key
    """Draws the samples of the intervals."""
    score: Callable[[Marks], Mapping[str, float]] = as_they_are
    """The scores, between 0 and 1, from the means of the marks over units."""
    few_shot: bool = False
    """Whether every group shows some of its targets, so that one can learn from these alone."""
    split: str = ""
    """The split it belongs to, where its own name says more."""
    title: str = ""
    """What tables call it."""
    control: bool = False
    """Whether nothing is held out here."""
    asked: int | None = None
    """How many episodes, questions or images it has, where a mark is not given to each."""

    def units(self, marks: Mapping[str, Marks]) -> int:
        """How many episodes, questions or images the marks of learners are about."""
        return self.asked or max(len(values) for one in marks.values() for values in one.values())
