"""A learner that knows every definition of the library, but not which of them a class is.

For each line of the training it keeps the definitions that *fit*: those that hold of all images of the line, and of no
image of another class. All that fit are equally likely. An image is of a class if it satisfies what one of the class's
lines is about, whichever definition that is; a learner that finds no class for an image says all of them with equal
chance.

It does not put definitions together. So it tells the tests that a definition of the language already answers, however
long the row or the path, from those where training and test have no definition in common.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.learners import Learner
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline

SIEVE = 6
"""Images of each line that every definition is tried on, before those that are left see all."""


@dataclass(frozen=True)
class Fitting:
    """A line of the training, by the number of its class, and the definitions that fit it."""

    label: int
    definitions: tuple[str, ...]


def fitting(classes: Classes, images: np.ndarray, label: np.ndarray, line: np.ndarray) -> tuple[Fitting, ...]:
    """What fits each line, for training images with the numbers of their class and their line, int[n] each."""
    unary = [name for name, each in classes.library.definitions.items() if len(each.parameters) == 1]
    few = np.concatenate([np.flatnonzero(line == one)[:SIEVE] for one in np.unique(line)])
    left = [name for name, of in _fits(classes, unary, images[few], label[few], line[few]).items() if of]
    found = _fits(classes, left, images, label, line)
    return tuple(
        Fitting(int(label[line == one][0]), tuple(name for name in left if int(one) in found[name]))
        for one in np.unique(line)
    )


def _fits(
    classes: Classes, names: list[str], images: np.ndarray, label: np.ndarray, line: np.ndarray
) -> Mapping[str, set[int]]:
    """The lines that each of these definitions fits."""
    found: dict[str, set[int]] = {}
    for name in names:
        holds = classes.recogniser.holds(name, images)
        whole = {int(one) for one in np.unique(line) if holds[line == one].all()}
        found[name] = {one for one in whole if not holds[label != label[line == one][0]].any()}
    return found


def by_definitions(lines: tuple[Fitting, ...]) -> Learner:
    """The learner that holds these definitions possible."""

    def learner(classes: Classes, images: np.ndarray) -> np.ndarray:
        names = dict.fromkeys(name for line in lines for name in line.definitions)
        holds = {name: classes.recogniser.holds(name, images) for name in names}
        rejected = np.ones((len(images), len(classes.concepts)))
        for line in lines:
            if line.definitions:
                rejected[:, line.label] *= 1 - np.mean([holds[name] for name in line.definitions], axis=0)
        chance = 1 - rejected
        chance[~chance.any(axis=1)] = 1
        return chance / chance.sum(axis=1, keepdims=True)

    return learner


def fitting_of(study: ConceptWorldPipeline, experiment: str) -> tuple[Fitting, ...]:
    """What fits the training lines of an experiment, by the images that were made."""
    table, classes = study.samples(experiment, "train"), study.classes(experiment)
    numbers = {label: i for i, label in enumerate(classes.concepts)}
    keys = list(zip(*(table[name].to_pylist() for name in ("label", "concept", "where"))))
    lines = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    label, line = np.array([numbers[key[0]] for key in keys]), np.array([lines[key] for key in keys])
    return fitting(classes, study.images(table), label, line)
