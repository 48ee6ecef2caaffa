"""The learner beside people: fitted to one list, tested on concepts it was not fitted to, or on another list."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from recombine.benchmarks.human.fit import answers_of, fitted, log_likelihood
from recombine.benchmarks.human.judgements import Judgements, read
from recombine.benchmarks.human.language import LONGEST, LONGEST_SIMPLE, Thoughts, thoughts
from recombine.benchmarks.human.learner import Course, Mind, beliefs, courses
from recombine.benchmarks.human.meaning import Words
from recombine.metrics.intervals import Interval, bootstrap_of
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.key import Key

FOLDS = 10

Say = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


def quietly(what: str, done: int, all_: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class OfConcept:
    """How the learner fares with one concept."""

    concept: str
    per_judgement: float
    """Log-likelihood of a judgement."""
    floor: float
    """The same for a learner that knew the share of people who say yes of each object."""
    correlation: float
    """Nan where the learner or people always say the same."""
    thought: str
    """What it believes most after the last set, in English."""
    belief: float


@dataclass(frozen=True, eq=False)
class Beside:
    """The learner's answers beside people's. Intervals are over concepts, with all their judgements."""

    judgements: Judgements
    known: Thoughts
    mind: Mind
    said: np.ndarray  # float[rows]
    key: Key

    @cached_property
    def scores(self) -> dict[str, Interval]:
        """Pearson's r, and the log-likelihood of a judgement."""
        people, gained = self.judgements, log_likelihood(self.judgements, self.said)

        def both(rows: np.ndarray) -> np.ndarray:
            asked = rows[people.asked[rows] > 0]
            r = np.corrcoef(self.said[asked], people.share[asked])[0, 1]
            return np.array([r, gained[rows].sum() / people.asked[rows].sum()])

        return dict(zip(("correlation", "per_judgement"), bootstrap_of(both, people.concept, self.key)))

    @property
    def log_likelihood(self) -> float:
        """Of all judgements."""
        return float(log_likelihood(self.judgements, self.said).sum())

    def by_concept(self) -> list[OfConcept]:
        """Every concept, from the worst to the best by what a judgement loses against the floor."""
        return sorted(self.each(), key=lambda one: one.per_judgement - one.floor)

    def each(self) -> list[OfConcept]:
        """Every concept in the order of the file."""
        return [self._of(concept, course) for concept, course in enumerate(courses(self.judgements, self.known))]

    def _of(self, concept: int, course: Course) -> OfConcept:
        people, rows = self.judgements, self.judgements.rows(concept)
        asked, share = people.asked[rows].sum(), np.nan_to_num(people.share[rows], nan=0.5)
        surest = np.clip(share, 1e-12, 1 - 1e-12)
        best = people.yes[rows] * np.log(surest) + people.no[rows] * np.log1p(-surest)
        flat = np.ptp(self.said[rows]) < 1e-12 or np.ptp(share) == 0
        belief = beliefs(course, self.mind)[:, -1]
        top = int(belief.argmax())
        return OfConcept(
            people.concepts[concept],
            float(log_likelihood(people, self.said)[rows].sum() / asked),
            float(best.sum() / asked),
            float("nan") if flat else float(np.corrcoef(self.said[rows], share)[0, 1]),
            fold(self.known.terms[top], Words(), {}),
            float(belief[top]),
        )


def folds_of(concepts: int, folds: int, key: Key) -> np.ndarray:
    """Which fold each concept is in, int[concepts]; the folds are as equal as they can be."""
    if not 2 <= folds <= concepts:
        raise UserError(f"{concepts} concepts can be dealt into 2 to {concepts} folds, not {folds}")
    return key.rng().permutation(np.arange(concepts) % folds)


def held_out(judgements: Judgements, known: Thoughts, key: Key, folds: int = FOLDS, say: Say = quietly) -> np.ndarray:
    """What minds answer to the concepts of a fold that were fitted to the concepts of all other folds, float[rows]."""
    fold_of = folds_of(len(judgements.concepts), folds, key / "folds")
    said = np.zeros(len(judgements))
    for fold_ in range(folds):
        say("fitting to the concepts of the other folds", fold_, folds)
        mind = fitted(judgements, known, np.flatnonzero(fold_of != fold_).tolist())
        mine = fold_of[judgements.concept] == fold_
        said[mine] = answers_of(judgements, known, mind)[mine]
    say("fitting to the concepts of the other folds", folds, folds)
    return said


def beside_people(
    path: Path,
    chosen: str = "L1",
    seed: int = 0,
    folds: int = FOLDS,
    longest: float = LONGEST,
    longest_simple: float = LONGEST_SIMPLE,
    without: tuple[str, ...] = (),
    say: Say = quietly,
) -> Beside:
    """The learner beside one list: its mind fitted to all concepts, its answers from minds fitted to others."""
    judgements, key = read(path, chosen), Key(seed) / "human"
    known = thoughts(judgements.scenes, longest, longest_simple, without)
    said = held_out(judgements, known, key, folds, say)
    say("fitting to all concepts", 0, 1)
    mind = fitted(judgements, known, range(len(judgements.concepts)))
    say("fitting to all concepts", 1, 1)
    return Beside(judgements, known, mind, said, key / "bootstrap")


def carried_over(mind: Mind, path: Path, chosen: str, seed: int = 0, without: tuple[str, ...] = ()) -> Beside:
    """A mind that was fitted elsewhere, with a language that lacks the same parts, beside another list."""
    judgements = read(path, chosen)
    known = thoughts(judgements.scenes, without=without)
    return Beside(judgements, known, mind, answers_of(judgements, known, mind), Key(seed) / "human" / "bootstrap")
