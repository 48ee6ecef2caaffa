"""A learner by definitions: a posterior over those that fit the training images, none of them composed further.

Its language speaks of the things that training shows: an image *is* one of them, or *contains* one among other points;
and of what is not so. A definition is one such statement or two together. A line of training is defined by those that
hold of all its images and of no image of another class; each weighs as much as its length allows, so that two
statements count only where they are few or one does not do. A class is as likely as the line of it whose definitions
hold most.

Nothing here nests: that a row may be longer, or a part stand in another's place, is not among its definitions. It may
still be right about them: that a row is mixed can be seen from two things that it contains.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.match import found_within
from recombine.store.key import Key

SHOWN = 200
"""Images of each training line that definitions must fit."""
Definition = tuple[int, ...]
"""The statements that hold together, by their numbers."""


def by_definitions(classes: Classes, images: np.ndarray) -> np.ndarray:
    """The probability of each class, float[n, classes]."""
    lines = classes.trained_lines
    said = statements([extension for _, extension in lines], images)
    found = np.zeros((len(images), len(classes.concepts)))
    for (label, _), definitions in zip(lines, fitting(classes)):
        holds = belief(said, definitions)
        found[:, label] = np.maximum(found[:, label], holds)
    found[found.sum(axis=1) == 0] = 1.0
    return found / found.sum(axis=1, keepdims=True)


def belief(said: np.ndarray, definitions: Sequence[Definition]) -> np.ndarray:
    """The share of the posterior whose definitions hold of each image, float[n]."""
    if not definitions:
        return np.zeros(len(said))
    weight = np.array([float(said.shape[1]) ** -len(one) for one in definitions])
    holds = np.stack([said[:, list(one)].all(axis=1) for one in definitions], axis=1)
    return holds @ (weight / weight.sum())


def statements(things: Sequence[Extension], images: np.ndarray) -> np.ndarray:
    """Of each image: is it a thing, does it contain one, and what is not so, bool[n, 4 * things]."""
    whole = np.stack([thing.ways(images, 1) > 0 for thing in things], axis=1)
    within = np.stack([contains(thing, images) for thing in things], axis=1)
    said = np.concatenate([whole, within], axis=1)
    return np.concatenate([said, ~said], axis=1)


def contains(thing: Extension, images: np.ndarray) -> np.ndarray:
    """Whether a thing stands among the points of each image, bool[n]."""
    found = np.zeros(len(images), bool)
    for pattern in thing.patterns:
        open_ = np.flatnonzero(~found)
        if len(open_):
            found[open_[found_within(pattern, images[open_])]] = True
    return found


@lru_cache(maxsize=16)
def fitting(classes: Classes) -> tuple[tuple[Definition, ...], ...]:
    """For each training line, the definitions of one or two statements that fit."""
    lines, key = classes.trained_lines, Key(0) / "definitions" / classes.experiment.name
    shown = [thing.images(thing.draw(SHOWN, key / str(i))) for i, (_, thing) in enumerate(lines)]
    said = [statements([thing for _, thing in lines], images) for images in shown]
    return tuple(
        _fitting(said[i], [other for j, other in enumerate(said) if lines[j][0] != label])
        for i, (label, _) in enumerate(lines)
    )


def _fitting(mine: np.ndarray, others: Sequence[np.ndarray]) -> tuple[Definition, ...]:
    """Those that hold of all of mine and of none of the others."""
    true = np.flatnonzero(mine.all(axis=0)).tolist()
    apart = np.concatenate(others) if others else np.zeros((0, mine.shape[1]), bool)
    candidates = [*((one,) for one in true), *combinations(true, 2)]
    return tuple(one for one in candidates if not apart[:, list(one)].all(axis=1).any())
