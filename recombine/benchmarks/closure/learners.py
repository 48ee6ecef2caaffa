"""Two ideal learners for CLOSURE. Their difference in accuracy is the gap that CLEVR leaves, whatever the model.

Both read questions and scenes without error. The *strong* learner runs any program. The *weak* learner knows only the
programs that CLEVR's distribution produces, and takes a question for the closest of them: programs of the same
structure in which the fewest symbols are exchanged for others of the same type. For a CLOSURE question these put a
direction in the place of the matching relation; nothing says which one, so each of the four counts the same.

>>> from recombine.benchmarks.clevr.language import signature
>>> asked = signature().parse("exist(relate[left](unique(same[size](unique(filter[shape,cube](scene))))))")
>>> closest(asked)[0]
exist(relate[left](unique(relate[left](unique(filter[shape,cube](scene))))))
>>> len(closest(asked))
4
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.answers import ANSWERS, Spelled, held_answers, spelled, strong_answers, term_of
from recombine.benchmarks.clevr.english import forms
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family
from recombine.benchmarks.clevr.language import ATTRIBUTES, CLEVR, DIRECTIONS, relate
from recombine.language.expr import Expr, Symbol
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

GUESSES: Mapping[str, tuple[str, ...]] = {**CLEVR.answers, "number": ("1", "2", "3")}
"""By the type of the answer: what a learner chooses from, each alike, where no program it holds possible is defined.

CLOSURE's counting questions have the answers 1, 2 and 3 alike often; so have the baselines of its counting tests.
"""

LINKS = ("relate", "same")


class Scores(NamedTuple):
    """How well the learners answer questions, float[questions] each."""

    strong: np.ndarray
    weak: np.ndarray
    """The probability of the right answer: the accuracy to expect."""
    weak_best: np.ndarray
    """The accuracy of the most probable answer; one of m that are equally probable counts 1/m."""


def score(
    programs: Sequence[Expr],
    answers: Sequence[str],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] = GUESSES,
) -> Scores:
    """The probability that each learner gives to the right answers of questions, each about its own scene."""
    column = {word: i for i, word in enumerate(ANSWERS)}
    if unknown := sorted(set(answers) - column.keys()):
        raise UserError(f"CLEVR has no answer {', '.join(map(repr, unknown))}; use one of {', '.join(ANSWERS)}.")
    if len(answers) != len(programs):
        raise UserError(f"there are {len(programs)} programs, but {len(answers)} answers")
    right = np.array([column[word] for word in answers], int)[:, None]
    strong, weak = (who(programs, scenes, scene, related, guesses) for who in (strong_answers, weak_answers))
    best = weak == weak.max(axis=1, keepdims=True)
    found = (np.take_along_axis(table, right, axis=1)[:, 0] for table in (strong, weak, best / best.sum(1)[:, None]))
    return Scores(*found)


def weak_answers(
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] = GUESSES,
) -> np.ndarray:
    """What the learner that knows CLEVR's programs answers, float[questions, ANSWERS].

    The closest programs that are defined on the scene share the probability alike.
    """
    return held_answers([_closest(program) for program in programs], programs, scenes, scene, related, guesses)


def closest(program: Expr) -> tuple[Expr, ...]:
    """The known programs at the smallest distance; the program itself where CLEVR can produce it.

    The distance is the number of symbols that another symbol of the same type replaces; descriptions and directions
    that are said stay. Where no known program has the same structure, one link may go: a relation, its `unique` and the
    description of the object it starts from; this counts one. Empty where that does not help either.
    """
    return tuple(term_of(one) for one in _closest(program))


def taken_for(program: Expr) -> tuple[str, ...]:
    """The questions that the weak learner takes a new one for, in words; empty where it knows the program.

    >>> from recombine.benchmarks.clevr.language import signature
    >>> asked = signature().parse("exist(relate[left](unique(same[size](unique(filter[shape,cube](scene))))))")
    >>> taken_for(asked)[0]
    'Are there any things that are left of the thing that is left of the cube?'
    """
    known = closest(program)
    return () if program in known else tuple(next(iter(forms(one)), repr(one)) for one in known)


class _Mould(NamedTuple):
    """Everything that CLEVR's families of one shape have in common."""

    symbols: tuple[Symbol, ...]  # inside out, with open directions
    described: tuple[bool, ...]  # where a description may stand
    outermost: int  # the place of the last description
    outers: frozenset[tuple[str, ...] | None]  # what it may name; None for anything
    apart: tuple[slice, ...]  # two parts that must not be the same

    def takes(self, filters: tuple[tuple[Symbol, ...], ...]) -> bool:
        """Whether these filters are descriptions in places where descriptions stand."""
        named = [_named(chain) for chain in filters]
        if not all(names == () or (names and place) for names, place in zip(named, self.described)):
            return False
        return None in self.outers or named[self.outermost] in self.outers

    def allows(self, asked: Spelled) -> bool:
        """Whether the two parts differ."""
        return not self.apart or any(each[self.apart[0]] != each[self.apart[1]] for each in asked)


@cache
def _named(chain: tuple[Symbol, ...]) -> tuple[str, ...] | None:
    """The attributes that filters name; None for filters that are not in CLEVR's order."""
    names = tuple(symbol.index[0] for symbol in chain)
    return names if names == tuple(name for name in ATTRIBUTES if name in names) else None


def _mould(families: Sequence[Family]) -> _Mould:
    symbols: list[Symbol] = []
    slots: dict[str, int] = {}
    start: list[int] = []

    def visit(shape: Expr) -> None:
        first = len(symbols)
        for arg in shape.args:
            visit(arg)
        if shape.head.family[0] == "D":
            slots[shape.head.family] = len(symbols) - 1
            return
        if shape.head.family == "relate":
            slots[shape.head.index[0]] = len(symbols)
        symbols.append(shape.head)
        start.append(first)

    visit(families[0].shape)
    described = {slot: place for slot, place in slots.items() if slot[0] == "D"}
    ends = (slots[slot] for slot in families[0].apart)
    return _Mould(
        tuple(symbols),
        tuple(place in described.values() for place in range(len(symbols))),
        max(described.values()),
        frozenset(family.outer for family in families),
        tuple(slice(start[end], end + 1) for end in ends),
    )


def _types(symbols: tuple[Symbol, ...]) -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple((symbol.args, symbol.out) for symbol in symbols)


@cache
def _moulds() -> dict[tuple, list[_Mould]]:
    """What CLEVR's distribution produces, by structure."""
    by_shape: dict[Expr, list[Family]] = {}
    for family in CLEVR_FAMILIES:
        by_shape.setdefault(family.shape, []).append(family)
    found: dict[tuple, list[_Mould]] = {}
    for families in by_shape.values():
        mould = _mould(families)
        found.setdefault(_types(mould.symbols), []).append(mould)
    return found


class _Recipe(NamedTuple):
    """How symbols are exchanged so that they fit a mould: all ways of least effort."""

    distance: int
    mould: _Mould
    spellings: tuple[tuple[Symbol, ...], ...]


_RELATIONS = tuple(relate(direction) for direction in DIRECTIONS)


@lru_cache(maxsize=1 << 16)
def _recipes(symbols: tuple[Symbol, ...]) -> tuple[_Recipe, ...]:
    """For every mould of this structure, nearest first."""
    found = []
    for mould in _moulds().get(_types(symbols), ()):
        options = [_options(symbol, wanted) for symbol, wanted in zip(symbols, mould.symbols)]
        distance = sum(symbol not in some for symbol, some in zip(symbols, options))
        found.append(_Recipe(distance, mould, tuple(product(*options))))
    return tuple(sorted(found, key=lambda recipe: recipe.distance))


def _options(symbol: Symbol, wanted: Symbol) -> tuple[Symbol, ...]:
    """What may stand where a mould wants a symbol; a direction that is said stays."""
    if wanted.family != "relate":
        return (wanted,)
    return (symbol,) if symbol.family == "relate" else _RELATIONS


def _closest(program: Expr) -> list[Spelled]:
    _, found = _nearest(spelled(program))
    if found:
        return found
    shorter = [_nearest(spelled(other)) for other in dict.fromkeys(_without_a_link(program))]
    reached = min((distance for distance, some in shorter if some), default=0)
    return list(dict.fromkeys(one for distance, some in shorter if distance == reached for one in some))


def _nearest(asked: Spelled) -> tuple[int, list[Spelled]]:
    """The known programs of the same structure at the smallest distance, and this distance."""
    reached = 0
    found: list[Spelled] = []
    for distance, mould, spellings in _recipes(asked.symbols):
        if found and distance > reached:
            break
        if mould.takes(asked.filters):
            reached = distance
            options = (Spelled(symbols, asked.filters) for symbols in spellings)
            found += [option for option in options if mould.allows(option)]
    return reached, found


def _without_a_link(term: Expr) -> Iterator[Expr]:
    """The term without one relation, its `unique` and the description of its object, in every way."""
    if term.head.family in LINKS:
        found = term.args[0].args[0]
        while found.head.family == "filter":
            found = found.args[0]
        yield found
    for i, arg in enumerate(term.args):
        for shorter in _without_a_link(arg):
            yield Expr(term.head, (*term.args[:i], shorter, *term.args[i + 1 :]))
