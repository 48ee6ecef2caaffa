"""The two ideal learners of ConceptWorld.

Both see one image and say how likely each class is. The *strong* learner knows the definitions and how they compose:
it says the class whose concepts the image satisfies, at any depth and with any substitution. The *weak* learner knows
the images of the training lines, whole, and nothing of how they are made: an image that is one of them it names; in
another it looks for the trained image that covers most of it, and says the classes that cover equally much with equal
chance. `by_membership` is weaker still: what it has not seen whole, it guesses.
"""

from collections.abc import Callable

import numpy as np

from recombine.benchmarks.concept_world.classes import Classes

Learner = Callable[[Classes, np.ndarray], np.ndarray]
"""Images to the probability of each class, float[n, classes]."""


def strong(classes: Classes, images: np.ndarray) -> np.ndarray:
    return _equally(classes.of(images))


def weak(classes: Classes, images: np.ndarray) -> np.ndarray:
    covered = classes.covered(images)
    return _equally((covered == covered.max(axis=1, keepdims=True)) & (covered > 0))


def by_membership(classes: Classes, images: np.ndarray) -> np.ndarray:
    return _equally(classes.trained(images))


def _equally(possible: np.ndarray) -> np.ndarray:
    """Equal chances for what is possible, for everything where nothing is."""
    possible = possible | ~possible.any(axis=1, keepdims=True)
    return possible / possible.sum(axis=1, keepdims=True)
