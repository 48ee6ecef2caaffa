"""CLEVR's answers: what a learner says that holds some programs possible for each question.

The *strong* learner reads questions and scenes without error and runs any program.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR, Dialect
from recombine.benchmarks.clevr.meaning import UNDEFINED, Exact, Known
from recombine.benchmarks.clevr.relations import all_beyond, in_all
from recombine.language.expr import Expr, Symbol
from recombine.semantics.fold import method
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes


def answers_of(dialect: Dialect) -> tuple[str, ...]:
    """All answers, those of one type together in the order of their codes: the columns of every distribution here."""
    return tuple(word for words in dialect.answers.values() for word in words)


def columns_of(dialect: Dialect) -> dict[str, int]:
    """The column of each type's first answer."""
    sizes = [len(words) for words in dialect.answers.values()]
    return dict(zip(dialect.answers, accumulate(sizes, initial=0)))


ANSWERS = answers_of(CLEVR)
"""CLEVR's 28."""

CHUNK = 16_384
"""How many questions are answered together."""


def strong_answers(
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] | None = None,
    dialect: Dialect = CLEVR,
) -> np.ndarray:
    """What the learner that runs any program answers, float[questions, answers].

    `scene` says which of the scenes each question is about; `related` has the masks of every direction, where they do
    not follow from the places; a program that is undefined is answered by one of the `guesses`, by default by any word.
    """
    held = [[spelled(program)] for program in programs]
    return held_answers(held, programs, scenes, scene, related, guesses, dialect)


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
    guesses: Mapping[str, tuple[str, ...]] | None = None,
    dialect: Dialect = CLEVR,
) -> np.ndarray:
    """The answers of learners that hold some programs possible for each question, float[questions, answers]."""
    _check(programs, scenes, scene, dialect)
    words, first = guesses or dialect.answers, columns_of(dialect)
    votes = np.zeros((len(programs), len(answers_of(dialect))))
    for start in range(0, len(programs), CHUNK):
        part = slice(start, start + CHUNK)
        few = [(row, one) for row, some in enumerate(held[part], start) for one in some]
        question = np.array([row for row, _ in few], int)
        code = _execute([one for _, one in few], scenes, scene[question], related, dialect)
        column = np.array([first[program.head.out] for program in programs[part]])
        known = code != UNDEFINED
        np.add.at(votes, (question[known], (column[question - start] + code)[known]), 1)
    for row in np.flatnonzero(~votes.any(axis=1)).tolist():
        kind = programs[row].head.out
        votes[row, [first[kind] + dialect.answers[kind].index(word) for word in words[kind]]] = 1
    return votes / votes.sum(axis=1, keepdims=True)


def _check(programs: Sequence[Expr], scenes: Scenes, scene: np.ndarray, dialect: Dialect) -> None:
    for program in programs:
        if program.head.out not in dialect.answers:
            raise UserError(f"{program!r} gives {program.head.out}, which is no answer")
    if scenes.vocabulary != dialect.objects.vocabulary or scenes.count.max(initial=0) > dialect.most:
        names = ", ".join(dialect.objects.vocabulary.by_name)
        raise UserError(f"these learners know scenes of at most {dialect.most} objects with the attributes {names}.")
    if len(scene) != len(programs):
        raise UserError(f"there are {len(programs)} programs, but scenes for {len(scene)}")


def _execute(
    spelled: Sequence[Spelled],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None,
    dialect: Dialect,
) -> np.ndarray:
    """The answer of each program on its own scene, uint8[programs]; UNDEFINED where there is none."""
    found = np.full(len(spelled), UNDEFINED, np.uint8)
    used, row = np.unique(scene, return_inverse=True)
    tables = _Tables(scenes[used], related and {way: masks[used] for way, masks in related.items()}, dialect)
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

    def __init__(self, scenes: Scenes, related: Mapping[str, np.ndarray] | None, dialect: Dialect) -> None:
        names, exact = dialect.objects.attributes, Exact(scenes, related, dialect)
        said = [(facet.attribute, word) for facet in dialect.objects.facets for word in facet.words]
        self.present, self.places = scenes.present, scenes.places
        self.code = {word: i for words in (dialect.directions, names) for i, word in enumerate(words)}
        filters = (None, *(dialect.objects.filter(*each) for each in said))
        self.filter = {word: i for i, word in enumerate(filters)}
        self.having = np.stack([scenes.present, *(exact.having[each] for each in said)])  # mask[words, n]
        masks = related or all_beyond(scenes)
        self.relate = np.stack([in_all(masks, way) for way in dialect.directions])
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
