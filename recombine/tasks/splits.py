"""Splits: which concepts a learner is trained on, and which it is tested on.

A split is a sentence: `hold_out("boolean", ..., uses("green") & uses("or"))` trains on every other concept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recombine.language.expr import Expr
from recombine.language.query import Where, anything
from recombine.store.errors import UserError
from recombine.store.key import Key


@dataclass(frozen=True)
class Split:
    """Two predicates over concepts. A shuffled split deals whole senses at random instead."""

    name: str
    title: str
    about: str
    train: Where
    test: Where
    shuffled: bool = False


class Sides(NamedTuple):
    """Which concepts are on which side, bool[concepts] each; validation concepts are the test concepts unless dealt."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    @property
    def dropped(self) -> np.ndarray:
        return ~(self.train | self.validation | self.test)


def hold_out(name: str, title: str, about: str, held_out: Where, train: Where | None = None) -> Split:
    """Test on the held-out concepts; train on `train`, or on all others."""
    return Split(name, title, about, train if train is not None else ~held_out, held_out)


def nothing_held_out(name: str, title: str, about: str) -> Split:
    """Train and test on everything."""
    return Split(name, title, about, anything, anything)


def at_random(name: str, title: str, about: str) -> Split:
    """Deal senses at random: 80 % of the concepts train, 5 % validate, 15 % test; synonyms stay together."""
    return Split(name, title, about, anything, anything, shuffled=True)


def sides(split: Split, concepts: Sequence[Expr], sense: np.ndarray, key: Key) -> Sides:
    """Decide every concept's side; no side is empty."""
    return filled(split, deal(split, concepts, sense, key))


def deal(split: Split, concepts: Sequence[Expr], sense: np.ndarray, key: Key) -> Sides:
    """Decide every concept's side."""
    return _shuffle(sense, key) if split.shuffled else _ask(split, concepts)


def filled(split: Split, found: Sides) -> Sides:
    """The same sides, or an error where one is empty."""
    for side in ("train", "test"):
        if not getattr(found, side).any():
            raise UserError(
                f"split '{split.name}': the {side} side is empty ({getattr(split, side)}); nothing to {side}"
            )
    return found


def _ask(split: Split, concepts: Sequence[Expr]) -> Sides:
    train = np.array([split.train(concept) for concept in concepts], bool)
    test = np.array([split.test(concept) for concept in concepts], bool)
    return Sides(train, test, test)


def _shuffle(sense: np.ndarray, key: Key) -> Sides:
    size = np.bincount(sense)
    order = key.rng().permutation(len(size))
    place = np.empty(len(size))
    place[order] = (np.cumsum(size[order]) - size[order] / 2) / len(sense)  # the middle of each sense's concepts
    at = place[sense]
    return Sides(at < 0.80, (at >= 0.80) & (at < 0.85), at >= 0.85)


def leaks(found: Sides, sense: np.ndarray) -> np.ndarray:
    """The test concepts that have a synonym on the training side (or are on it), bool[concepts]."""
    trained = np.zeros(int(sense.max()) + 1, bool)
    trained[sense[found.train]] = True
    return found.test & trained[sense]


def without_leaks(found: Sides, sense: np.ndarray) -> Sides:
    """The same sides without test concepts that have a synonym on the training side."""
    leaking = leaks(found, sense)
    return Sides(found.train, found.validation & ~leaking, found.test & ~leaking)
