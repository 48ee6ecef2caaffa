"""CLEVR's answers: what a learner says that holds some programs possible for each question.

The *strong* learner reads questions and scenes without error and runs any program.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS, filter_
from recombine.benchmarks.clevr.meaning import UNDEFINED, Exact, Known
from recombine.benchmarks.clevr.relations import beyond
from recombine.language.expr import Expr, Symbol
from recombine.semantics.fold import method
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

MOST = 10
"""The most objects in a scene of CLEVR."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "bool": ("no", "yes"),
    "number": tuple(str(number) for number in range(MOST + 1)),
    **{attribute.name: attribute.values for attribute in CLEVR_VOCABULARY},
}
"""The answers of each type."""

ANSWERS: tuple[str, ...] = tuple(word for words in WORDS.values() for word in words)
"""CLEVR's 28 answers, those of one type together; the columns of every distribution here."""

_FIRST = {kind: ANSWERS.index(words[0]) for kind, words in WORDS.items()}
"""The column of each type's first answer; the others follow in the order of their codes."""

CHUNK = 16_384
"""How many questions are answered together."""


def strong_answers(
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] = WORDS,
) -> np.ndarray:
    """What the learner that runs any program answers, float[questions, ANSWERS].

    `scene` says which of the scenes each question is about; `related` has the masks of every direction, where they do
    not follow from the places; a program that is undefined is answered by one of the `guesses`.
    """
    return held_answers([[spelled(program)] for program in programs], programs, scenes, scene, related, guesses)


class Spelled(NamedTuple):
    """A program inside out, its filters apart: two with equal types at every place have the same structure."""

    symbols: tuple[Symbol, ...]
    filters: tuple[tuple[Symbol, ...], ...]  # right around each symbol, innermost first


def spelled(program: Expr) -> Spelled:
    symbols: list[Symbol] = []
    filters: list[tuple[Symbol, ...]] = []
    _spell(program, symbols, filters)
    return Spelled(tuple(symbols), tuple(filters))


def _spell(term: Expr, symbols: list[Symbol], filters: list[tuple[Symbol, ...]]) -> None:
    chain: tuple[Symbol, ...] = ()
    while term.head.family == "filter":
        chain = (term.head, *chain)
        term = term.args[0]
    for arg in term.args:
        _spell(arg, symbols, filters)
    symbols.append(term.head)
    filters.append(chain)


def term_of(spelled: Spelled) -> Expr:
    ends: list[Expr] = []
    for symbol, chain in zip(*spelled):
        first = len(ends) - len(symbol.args)
        term = Expr(symbol, tuple(ends[first:]))
        for one in chain:
            term = Expr(one, (term,))
        ends[first:] = [term]
    return ends[0]


def held_answers(
    held: Sequence[Sequence[Spelled]],
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None,
    guesses: Mapping[str, tuple[str, ...]],
) -> np.ndarray:
    """The answers of learners that hold some programs possible for each question, float[questions, ANSWERS]."""
    _check(programs, scenes, scene)
    votes = np.zeros((len(programs), len(ANSWERS)))
    for start in range(0, len(programs), CHUNK):
        part = slice(start, start + CHUNK)
        few = [(row, one) for row, some in enumerate(held[part], start) for one in some]
        question = np.array([row for row, _ in few], int)
        code = _execute([one for _, one in few], scenes, scene[question], related)
        first = np.array([_FIRST[program.head.out] for program in programs[part]])
        known = code != UNDEFINED
        np.add.at(votes, (question[known], (first[question - start] + code)[known]), 1)
    lost = ~votes.any(axis=1)
    guess = {kind: np.isin(ANSWERS, guesses[kind]) for kind in {program.head.out for program in programs}}
    votes[lost] = np.array([guess[programs[row].head.out] for row in np.flatnonzero(lost).tolist()]).reshape(
        -1, len(ANSWERS)
    )
    return votes / votes.sum(axis=1, keepdims=True)


def _check(programs: Sequence[Expr], scenes: Scenes, scene: np.ndarray) -> None:
    for program in programs:
        if program.head.out not in _FIRST:
            raise UserError(f"{program!r} gives {program.head.out}, which is no answer")
    if scenes.vocabulary != CLEVR_VOCABULARY or scenes.count.max(initial=0) > MOST:
        raise UserError(f"these are answers about CLEVR's scenes: its four attributes and at most {MOST} objects.")
    if len(scene) != len(programs):
        raise UserError(f"there are {len(programs)} programs, but scenes for {len(scene)}")


def _execute(
    spelled: Sequence[Spelled], scenes: Scenes, scene: np.ndarray, related: Mapping[str, np.ndarray] | None
) -> np.ndarray:
    """The answer of each program on its own scene, uint8[programs]; UNDEFINED where there is none."""
    found = np.full(len(spelled), UNDEFINED, np.uint8)
    used, row = np.unique(scene, return_inverse=True)
    tables = _Tables(scenes[used], related and {way: masks[used] for way, masks in related.items()})
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, one in enumerate(spelled):
        groups.setdefault(tuple([symbol.family for symbol in one.symbols]), []).append(i)
    for group in groups.values():
        known = _run([spelled[i] for i in group], _Each(tables, row[group]))
        found[group] = np.where(known.defined, known.value, UNDEFINED)
    return found


def _run(group: Sequence[Spelled], meaning: "_Each") -> Known:
    """Programs that differ only in the words of their symbols and in their filters, together."""
    ends: list[Known] = []
    symbols = zip(*(one.symbols for one in group))
    filters = zip(*(one.filters for one in group))
    for column, chains in zip(symbols, filters):
        head = column[0]
        first = len(ends) - len(head.args)
        words = [meaning.words(column)] if head.family in _Tables.FAMILIES else head.index
        value = method(meaning, head.family)(*ends[first:], *words)
        for depth in range(max(map(len, chains))):
            value = meaning.filter_all(value, [chain[depth] if len(chain) > depth else None for chain in chains])
        ends[first:] = [value]
    return ends[0]


class _Tables:
    """What can be looked up about scenes: one row for each word."""

    FAMILIES = ("relate", "same", "query")

    def __init__(self, scenes: Scenes, related: Mapping[str, np.ndarray] | None) -> None:
        names = [attribute.name for attribute in scenes.vocabulary]
        values = [(attribute.name, value) for attribute in scenes.vocabulary for value in attribute.values]
        self.present, self.places = scenes.present, scenes.places
        self.code = {word: i for words in (DIRECTIONS, names) for i, word in enumerate(words)}
        self.filter: dict[Symbol | None, int] = {None: 0, **{filter_(*each): i for i, each in enumerate(values, 1)}}
        self.having = np.stack([scenes.present, *(scenes.having(*each) for each in values)])  # mask[words, n]
        self.relate = np.stack([related[way] if related else beyond(scenes, way) for way in DIRECTIONS])
        self.same = np.stack([scenes.sharing(name) for name in names])  # mask[words, n, k]
        self.query = np.stack([scenes.codes[name] for name in names])  # uint8[words, n, k]


class _Each(Exact):
    """`Exact`, where every row has its own scene and its own words, by their codes."""

    def __init__(self, tables: _Tables, row: np.ndarray) -> None:
        self.tables, self.row = tables, row
        self.present = tables.present[row]
        self.everywhere = np.ones(len(row), bool)

    def words(self, symbols: Sequence[Symbol]) -> np.ndarray:
        return np.array([self.tables.code[symbol.index[0]] for symbol in symbols])

    def filter_all(self, objects: Known, filters: Sequence[Symbol | None]) -> Known:
        which = np.array([self.tables.filter[each] for each in filters])
        return Known(objects.value & self.tables.having[which, self.row], objects.defined)

    def relate(self, thing: Known, which: np.ndarray) -> Known:  # type: ignore[override]
        return Known(self.tables.relate[which, self.row, thing.value], thing.defined)

    def same(self, thing: Known, which: np.ndarray) -> Known:  # type: ignore[override]
        return Known(self.tables.same[which, self.row, thing.value], thing.defined)

    def query(self, thing: Known, which: np.ndarray) -> Known:  # type: ignore[override]
        return Known(self.tables.query[which, self.row, thing.value], thing.defined)
