"""ConceptWorld's exams: for each experiment and each of its tests, name the class of an image.

Scores are the F1 of every class and their mean, accuracy, and the probability of the right class, by which the ideal
learners are compared. Classes that a solver holds equally probable share its vote.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Self

import numpy as np

from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.definition import Experiment
from recombine.benchmarks.concept_world.examples import examples
from recombine.benchmarks.concept_world.fitting_definitions import by_definitions
from recombine.benchmarks.concept_world.learners import Learner, by_membership, strong, weak
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.metrics.confusion import f1
from recombine.metrics.votes import right, votes
from recombine.render.grid import grid_codes
from recombine.store.key import Key
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples, Observed


def exams(study: ConceptWorldPipeline, experiments: Sequence[str] = ()) -> list[Exam]:
    """An exam for each test of these experiments, by default of all; its name is experiment/test."""
    chosen = [study.experiment(name) for name in experiments or study.library.experiments]
    return [exam for experiment in chosen for exam in _exams(study, experiment)]


def _exams(study: ConceptWorldPipeline, experiment: Experiment) -> list[Exam]:
    train = cache(partial(examples, study, experiment.name, "train"))
    return [_exam(study, experiment.name, test, experiment.classes, train) for test in experiment.tests]


def _exam(
    study: ConceptWorldPipeline, experiment: str, test: str, classes: tuple[str, ...], train: Callable[[], Examples]
) -> Exam:
    return Exam(
        f"{experiment}/{test}",
        classes,
        train,
        partial(_pieces, study, experiment, test),
        mark,
        study.key / "bootstrap" / experiment / test,
        partial(scores, classes),
        split=experiment,
        title=f"{experiment}/{test}",
    )


def _pieces(study: ConceptWorldPipeline, experiment: str, test: str) -> Iterator[Examples]:
    """The one piece, its images in an order that tells nothing: they are made class by class."""
    piece = examples(study, experiment, test)
    order = (study.key / "order" / experiment / test).rng().permutation(len(piece.scene))
    columns = {name: getattr(piece, name)[order] for name in ("concept", "target")}
    yield replace(piece, scenes=piece.scenes[order], **columns)


def mark(asked: Examples, said: np.ndarray) -> Marks:
    """For each image, where its vote falls among all pairs of true and said class; accuracy; probability."""
    truth = np.eye(len(asked.answers))[asked.asked]
    return {"confusion": truth[:, :, None] * votes(said)[:, None, :], **right(asked.asked, said)}


def scores(classes: tuple[str, ...], means: Marks) -> dict[str, float]:
    each, asked = f1(means["confusion"]), means["confusion"].sum(axis=1) > 0  # a made split may ask for few classes
    others = {name: float(means[name]) for name in ("accuracy", "probability")}
    return {"F1": float(each[asked].mean()), **others, **{f"F1 {name}": float(one) for name, one in zip(classes, each)}}


@dataclass(frozen=True, eq=False)
class Ideal:
    """An ideal learner as a solver: it looks at the image that the points of a scene make."""

    classes: Classes
    learner: Learner

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        grid = self.classes.library.grid
        return self.learner(self.classes, grid_codes(test.scenes[test.scene[~test.given]], grid.width, grid.height))


def learners(study: ConceptWorldPipeline, exam: Exam) -> dict[str, Ideal]:
    """The strong learner of an exam, and those that do not recombine."""
    classes = study.classes(exam.split)
    learners = {"strong": strong, "weak": weak, "membership": by_membership, "definitions": by_definitions}
    return {name: Ideal(classes, learner) for name, learner in learners.items()}
