"""Plans: one way for an object to satisfy a concept, with everything decided but numbers and colours.

A plan lists the points of the object. Each coordinate of a point is the value of a *slider* plus a fixed offset, so
points that stand rigidly together share sliders; sliders have ranges and keep distances (`u - v <= c`). Each point
has a colour class. Every choice of slider values and class colours that keeps the conditions, with no two points on
one cell, is an object of the concept, and every such object comes from a plan.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.benchmarks.concept_world.constraints import Constraints, Tree, x_of, y_of
from recombine.language.expr import Expr
from recombine.store.limit import check

Structure = Any
"""A point's number, or a tuple of structures."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Points, sliders and colour classes of one conjunctive case."""

    structure: Structure
    derivation: Expr
    calls: tuple[tuple[str, tuple[Structure, ...]], ...]
    """Every definition that was used outside quantifiers, with the objects it speaks of."""
    slider: np.ndarray  # int16[points, 2], for x and y
    offset: np.ndarray  # int16[points, 2]
    low: np.ndarray  # int16[sliders]
    high: np.ndarray  # int16[sliders]
    apart: np.ndarray  # int16[conditions, 3]: slider a - slider b <= c
    unequal: np.ndarray  # int16[conditions, 3]: slider a - slider b != c
    color: np.ndarray  # int16[points]: colour class
    palette: np.ndarray  # uint16[classes]: set of colours
    clauses: tuple[tuple[tuple[Any, ...], ...], ...]
    """Alternatives: ("in", class, set), ("alike", class, class), ("unlike", class, class); each clause holds."""

    @property
    def points(self) -> int:
        return len(self.color)

    @property
    def sliders(self) -> int:
        return len(self.low)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Equal for plans with the same images."""
        arrays = (self.slider, self.offset, self.low, self.high, self.apart, self.unequal, self.color, self.palette)
        return (*(array.tobytes() for array in arrays), self.clauses)


def make_plan(
    constraints: Constraints,
    leaves: list[int],
    structure: Structure,
    derivation: Expr,
    calls: tuple[tuple[str, tuple[Structure, ...]], ...],
) -> Plan:
    """The plan of constraints on these points; `structure` and `calls` speak of places in `leaves`."""
    origins = [(constraints.origin(x_of(p)), constraints.origin(y_of(p))) for p in leaves]
    firsts = sorted({first for pair in origins for first, _ in pair} | {u for u in _mentioned(constraints)})
    number = {first: i for i, first in enumerate(firsts)}
    bound = constraints.known[np.ix_([0, *firsts], [0, *firsts])].astype(np.int64)
    classes = sorted({constraints.find(p) for p in leaves})
    color = {first: i for i, first in enumerate(classes)}
    return Plan(
        structure,
        derivation,
        calls,
        np.array([[number[x[0]], number[y[0]]] for x, y in origins], np.int16).reshape(-1, 2),
        np.array([[x[1], y[1]] for x, y in origins], np.int16).reshape(-1, 2),
        (-bound[0, 1:]).astype(np.int16),
        bound[1:, 0].astype(np.int16),
        _apart(bound),
        _unequal(constraints, number),
        np.array([color[constraints.find(p)] for p in leaves], np.int16),
        np.array([constraints.color[first] for first in classes], np.uint16),
        _clauses(constraints, color),
    )


def _mentioned(constraints: Constraints) -> set[int]:
    return {constraints.origin(u)[0] for a, b, _ in constraints.unequal for u in (a, b)}


def _apart(bound: np.ndarray) -> np.ndarray:
    """The distances that do not follow from others; row and column 0 stand for zero."""
    found: list[np.ndarray] = [np.zeros((0, 3), np.int64)]
    for a in range(1, len(bound)):
        check()
        through = bound[a][:, None] + bound  # [by way of, to]
        through[a] = np.iinfo(np.int64).max
        np.fill_diagonal(through, np.iinfo(np.int64).max)
        alone = np.flatnonzero(through.min(axis=0) > bound[a])
        alone = alone[(alone > 0) & (alone != a)]
        found.append(np.stack([np.full(len(alone), a - 1), alone - 1, bound[a, alone]], axis=1))
    return np.concatenate(found).astype(np.int16)


def _unequal(constraints: Constraints, number: dict[int, int]) -> np.ndarray:
    rows = set()
    for literal in constraints.unequal:
        truth = constraints.truth(("ne", *literal))
        assert truth is not False, "the constraints are not settled"
        if truth is None:
            _, u, v, c = constraints.canonical(("ne", *literal))
            rows.add((number[u], number[v], c))
    return np.array(sorted(rows), np.int16).reshape(-1, 3)


def _clauses(constraints: Constraints, color: dict[int, int]) -> tuple[tuple[tuple[Any, ...], ...], ...]:
    found: set[tuple[tuple[Any, ...], ...]] = set()
    for pair in constraints.unlike:
        if constraints.truth(("unlike", *pair)) is None:
            found.add((_about_classes(constraints.canonical(("unlike", *pair)), color),))
    for clause in constraints.clauses:
        found.add(tuple(sorted(_about_classes(constraints.canonical(part), color) for part in clause)))
    return tuple(sorted(found))


def _about_classes(literal: Tree, color: dict[int, int]) -> tuple[Any, ...]:
    if literal[0] == "in":
        return ("in", color[literal[1]], literal[2])
    return (literal[0], color[literal[1]], color[literal[2]])
