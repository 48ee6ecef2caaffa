"""Sitting an exam: any solver, any benchmark, the same code.

A solver is handed what may be observed of each piece, in an order that tells nothing; what it says is checked, marked
and pooled.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recombine.metrics.intervals import LEVEL, RESAMPLES, Interval
from recombine.solvers.solver import Solver
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples, Observed

ROUNDING = 1e-3
"""How far the probabilities of a row may be from a sum of 1."""
ORDER = Key(0) / "order"
"""Draws the order in which the rows of a piece are handed over."""
_BOUNDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


class Answering(Protocol):
    """Whoever can answer; a solver that has learnt, or never had to."""

    def predict(self, test: Observed) -> np.ndarray: ...


@dataclass(frozen=True)
class Result:
    """The scores of an exam between 0 and 1, with 95 % intervals over units, and how many units there were."""

    scores: Mapping[str, Interval]
    units: int


def taught(solver: Solver, exam: Exam, key: Key) -> Solver:
    """The solver, taught. One that has `needs_training` is asked first: making the examples may take long."""
    asked = getattr(solver, "needs_training", None)
    if asked is not None and not asked(exam.few_shot):
        return solver
    return solver.fit(exam.train(), key)


def sit(solver: Answering, exam: Exam, name: str = "") -> Result:
    """Put an exam to a solver; `name` is what errors call it."""
    marks = pooled([exam.mark(piece, answered(solver, piece, name)) for piece in exam.pieces()])
    found = exam.score({mark: values.mean(axis=0) for mark, values in marks.items()})
    again = [exam.score(means) for means in _resampled(marks, exam.key)]
    bounds = {score: np.quantile([one[score] for one in again], _BOUNDS) for score in found}
    scores = {score: Interval(value, *map(float, bounds[score])) for score, value in found.items()}
    return Result(scores, max(len(values) for values in marks.values()))


def answered(solver: Answering, piece: Examples, name: str = "") -> np.ndarray:
    """What a solver says of what it may observe: probabilities, float64[asked, answers].

    It is handed the rows in an order that tells nothing; its answers are put back into the order of the piece.
    """
    mixed, order = piece.mixed(ORDER)
    said = checked(
        solver.predict(mixed.observed()), (len(piece.asked), len(piece.answers)), name or type(solver).__name__
    )
    place = np.cumsum(~piece.given) - 1  # of every row among the asked ones
    answers = np.empty_like(said)
    answers[place[order[~mixed.given]]] = said
    return answers


def checked(said: object, shape: tuple[int, int], name: str) -> np.ndarray:
    """Refuse what is not a distribution over the answers for every asked row."""
    try:
        found = np.asarray(said, np.float64) + 0.0  # no negative zeros
    except (TypeError, ValueError):
        raise UserError(f"{name} must give an array of probabilities, not {type(said).__name__}") from None
    if found.shape != shape:
        raise UserError(f"{name} must give probabilities of shape {shape} (asked rows, answers), not {found.shape}")
    wrong = _wrong(found)
    if wrong:
        raise UserError(f"{name} must give probabilities, but some {wrong}")
    return found


def _wrong(found: np.ndarray) -> str:
    """What keeps numbers from being distributions, in words."""
    if not np.isfinite(found).all():
        return "are not finite"
    if (found < 0).any():
        return "are negative"
    sums = found.sum(axis=1)
    far = np.abs(sums - 1) > ROUNDING
    return f"rows do not sum to 1 but to {sums[far][0]:.6g}" if far.any() else ""


def pooled(pieces: Sequence[Marks]) -> Marks:
    """The marks of all pieces."""
    return {name: np.concatenate([marks[name] for marks in pieces]) for name in pieces[0]}


def _resampled(marks: Marks, key: Key) -> Iterator[Marks]:
    """The means of units that are drawn again and again, as many as there are."""
    draws = {name: (key / name).rng() for name in marks}
    for _ in range(RESAMPLES):
        yield {
            name: values[draws[name].integers(0, len(values), len(values))].mean(axis=0)
            for name, values in marks.items()
        }
