"""Worlds in which a question makes sense: drawn for the question, where worlds drawn for its scene rarely allow it.

`the large red metal sedan left of the bus` speaks of two things that an observer sees through noise. First things are
drawn for both, as probable as it is that they are what is said of them, and only where the relations hold; then the
values of these things, given what is said, and those of all others, given what is seen. Whoever then throws away the
worlds in which something else fits as well has worlds as probable as they are given that the question makes sense: in
such a world every description fits one thing, so there is one way to have drawn it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.language import Dialect
from recombine.language.expr import Expr

MOST = 200_000
"""Ways to choose the things of a question, at most."""


class Referent(NamedTuple):
    """One thing that a question speaks of."""

    filters: tuple[tuple[str, str], ...]  # attribute and word
    related: tuple[tuple[str, int], ...]  # in this direction of that referent
    matched: tuple[tuple[str, int], ...]  # with the same attribute as that referent


class _Unguided(Exception):
    """The things of a question do not follow from filters and relations alone."""


def referents(program: Expr) -> list[Referent] | None:
    """What a question speaks of, inner things first; None where it speaks in ways that are not known here."""
    found: list[Referent] = []
    try:
        _visit(program, found)
    except _Unguided:
        return None
    return found


def _visit(term: Expr, found: list[Referent]) -> int:
    """Note the referents in a term; the number of the one that it denotes, if it denotes one."""
    if term.head.family != "unique":
        for arg in term.args:
            _visit(arg, found)
        return -1
    filters: list[tuple[str, str]] = []
    related: list[tuple[str, int]] = []
    matched: list[tuple[str, int]] = []
    left = [term.args[0]]
    while left:
        part = left.pop()
        if part.head.family == "filter":
            filters.append((part.head.index[0], part.head.index[1]))
        elif part.head.family in ("relate", "same"):
            kind = related if part.head.family == "relate" else matched
            kind.append((part.head.index[0], _visit(part.args[0], found)))
            continue
        elif part.head.family not in ("intersect", "scene"):
            raise _Unguided
        left.extend(part.args)
    found.append(Referent(tuple(filters), tuple(related), tuple(matched)))
    return len(found) - 1


class Drawn(NamedTuple):
    """Things drawn for a question, a row for each world: which they are, their values, and how much the world counts.

    Worlds in which things that are to match do not count nothing.
    """

    things: np.ndarray  # int[worlds, referents]
    values: Mapping[str, np.ndarray]  # int[worlds, referents], by attribute
    weight: np.ndarray  # float[worlds]


@dataclass(frozen=True, eq=False)
class Guide:
    """Draws the things of questions about one scene, of which an observer believes `held`."""

    dialect: Dialect
    held: Mapping[str, np.ndarray]  # float[objects, values]: size, material, and pairs of shape and color
    beyond: Mapping[str, np.ndarray]  # bool[objects, objects]: whether the second lies that way of the first
    colors: int

    def draw(self, asked: Sequence[Referent], many: int, rng: np.random.Generator) -> Drawn | None:
        """So many worlds; None where there are no things to draw, or too many ways."""
        objects = len(self.held["size"])
        if not asked or objects ** len(asked) > MOST:
            return None
        fits = [self._fits(one) for one in asked]
        chance, alike = self._ways(asked, fits)
        if not chance.any():
            return None
        flat = rng.choice(chance.size, many, p=chance.ravel() / chance.sum())
        ways, back = np.unique(flat, return_inverse=True)
        things = np.stack(np.unravel_index(flat, chance.shape), axis=1)
        values = {name: np.zeros((many, len(asked)), np.int64) for name in ("size", "material", "shape", "color")}
        weight = np.ones(many)
        for number, way in enumerate(ways.tolist()):
            worlds = np.flatnonzero(back == number)
            weight[worlds] /= alike.ravel()[way]
            self._settle(things[worlds[0]].tolist(), fits, worlds, values, weight, rng)
        for k, one in enumerate(asked):
            for name, other in one.matched:
                weight *= values[name][:, k] == values[name][:, other]
        return Drawn(things, values, weight)

    def _fits(self, one: Referent) -> dict[str, np.ndarray]:
        """Which values go with what is said of a thing, bool[values] by column of `held`."""
        known = {name: np.ones(self.held[name].shape[1], bool) for name in ("size", "material")}
        shape, color = np.ones(self.held["pair"].shape[1] // self.colors, bool), np.ones(self.colors, bool)
        of = {**known, "shape": shape, "color": color}
        for attribute, word in one.filters:
            facet = next(f for f in self.dialect.objects.facets if f.attribute == attribute and word in f.words)
            of[attribute] &= np.array(facet.codes) == facet.words.index(word)
        return {**known, "pair": (shape[:, None] & color).ravel()}

    def _ways(self, asked: Sequence[Referent], fits: Sequence[Mapping[str, np.ndarray]]) -> tuple[np.ndarray, ...]:
        """How probable each way is to choose the things, and the part of it that is about matching values."""
        several, objects = len(asked), len(self.held["size"])
        chance, alike = np.ones((objects,) * several), np.ones((objects,) * several)
        for k, one in enumerate(asked):
            chance *= _along(self._match(fits[k]), (k,), several)
            for way, other in one.related:
                there = np.logical_and.reduce([self.beyond[part] for part in way.split("+")])
                chance *= _along(there, (other, k), several)
            for name, other in one.matched:
                held = self._marginal(name)
                alike *= _along((held @ held.T) * ~np.eye(objects, dtype=bool), (other, k), several)
        return chance * alike, alike

    def _match(self, fits: Mapping[str, np.ndarray]) -> np.ndarray:
        """How probable it is that each object is what is said."""
        return np.prod([self.held[name] @ fits[name] for name in fits], axis=0)

    def _marginal(self, name: str) -> np.ndarray:
        if name not in ("shape", "color"):
            return self.held[name]
        return self.held["pair"].reshape(len(self.held["size"]), -1, self.colors).sum(axis=2 if name == "shape" else 1)

    def _settle(
        self,
        things: Sequence[int],
        fits: Sequence[Mapping[str, np.ndarray]],
        worlds: np.ndarray,
        values: Mapping[str, np.ndarray],
        weight: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Draw the values of the things in some worlds; one thing may be spoken of several times."""
        for thing in {*things}:
            places = [k for k, one in enumerate(things) if one == thing]
            for name in ("size", "material", "pair"):
                apart = [float(self.held[name][thing] @ fits[k][name]) for k in places]
                chances = self.held[name][thing] * np.logical_and.reduce([fits[k][name] for k in places])
                whole = float(chances.sum())
                weight[worlds] *= whole / np.prod(apart)
                drawn = (
                    rng.choice(len(chances), len(worlds), p=chances / whole) if whole else np.zeros(len(worlds), int)
                )
                pair = {"shape": drawn // self.colors, "color": drawn % self.colors}
                for attribute, column in (pair if name == "pair" else {name: drawn}).items():
                    values[attribute][worlds[:, None], places] = column[:, None]


def _along(values: np.ndarray, axes: tuple[int, ...], several: int) -> np.ndarray:
    """Values of some axes, in ascending or descending order, among several."""
    if len(axes) == 2 and axes[0] > axes[1]:
        values, axes = values.T, axes[::-1]
    shape = [1] * several
    for axis, length in zip(axes, values.shape):
        shape[axis] = length
    return values.reshape(shape)
