"""Curricula: easy questions first.

A lesson has the questions about scenes of at most so many objects whose programs have at most so many steps; a chain of
filters is one step, as a name is one. All but the last lesson have a share of a training.

>>> steps_of(np.array([[6, 5, 5, 4, 0]], np.uint8), frozenset({5})).tolist()  # exist, two filters, scene
[3]
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recombine.solvers.programs import SPECIAL
from recombine.solvers.training.batches import Stage
from recombine.store.key import Key


class Lesson(NamedTuple):
    """What is learnt from, for which share of the training."""

    objects: int
    steps: int
    share: float


LAPTOP = (Lesson(4, 5, 0.15), Lesson(6, 8, 0.15))
"""NSCL's. Then everything."""
MODULES = (Lesson(5, 4, 0.15), Lesson(7, 6, 0.15), Lesson(10, 8, 0.15))
"""Those of module networks. Then everything."""
PAPER = (
    *(Lesson(3, steps, 5 / 80) for steps in (4, 6, 8)),
    *(Lesson(4, steps, 10 / 80) for steps in (8, 12)),
    *(Lesson(objects, 12, 10 / 80) for objects in (5, 6)),
    Lesson(7, 16, 10 / 80),
    Lesson(8, 20, 10 / 80),
)
"""NSCL's over 80 epochs, of which the last five, with up to 9 objects and 22 steps, are here with everything."""


def steps_of(token: np.ndarray, filters: frozenset[int]) -> np.ndarray:
    """How many steps programs have, those of a chain of filters counted as one, int[n]."""
    is_filter = np.isin(token, list(filters))
    follows = is_filter & np.pad(is_filter, ((0, 0), (1, 0)))[:, :-1]
    return np.count_nonzero((token >= SPECIAL) & ~follows, axis=1)


def stages(
    lessons: Sequence[Lesson],
    rows: np.ndarray,
    objects: np.ndarray,
    steps: np.ndarray,
    alike: np.ndarray,
    length: int,
    batch: int,
    key: Key,
) -> tuple[Stage, ...]:
    """The stages of a training of so many steps of batches with these rows; each question has so many objects and
    steps, int[n]."""
    easy = [rows[(objects[rows] <= lesson.objects) & (steps[rows] <= lesson.steps)] for lesson in lessons]
    early = [
        early_stage(chosen, round(lesson.share * length) * batch, alike, key / number)
        for number, (chosen, lesson) in enumerate(zip(easy, lessons))
    ]
    return (*(stage for stage in early if stage is not None), Stage(rows, alike=alike[rows]))


def early_stage(rows: np.ndarray, wanted: int, alike: np.ndarray, key: Key) -> Stage | None:
    """A stage that shows so many rows in all: some of these once, or all of them several times."""
    if not len(rows) or not wanted:
        return None
    if len(rows) > wanted:
        rows = np.sort(key.rng().permutation(rows)[:wanted])
    return Stage(rows, max(1, wanted // len(rows)), alike[rows])
