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

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family
from recombine.benchmarks.clevr.language import ATTRIBUTES, CLEVR_VOCABULARY, DIRECTIONS, filter_, relate
from recombine.benchmarks.clevr.meaning import UNDEFINED, Exact, Known
from recombine.benchmarks.clevr.relations import beyond
from recombine.language.expr import Expr, Symbol
from recombine.semantics.fold import method
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

MOST = 10
"""The most objects in a scene of CLEVR."""

_WORDS = {
    "bool": ("no", "yes"),
    "number": tuple(str(number) for number in range(MOST + 1)),
    **{attribute.name: attribute.values for attribute in CLEVR_VOCABULARY},
}
ANSWERS: tuple[str, ...] = tuple(word for words in _WORDS.values() for word in words)
"""CLEVR's 28 answers, those of one type together; the columns of every distribution here."""

GUESSES: Mapping[str, tuple[str, ...]] = {**_WORDS, "number": ("1", "2", "3")}
"""By the type of the answer: what a learner chooses from, each alike, where no program it holds possible is defined.

CLOSURE's counting questions have the answers 1, 2 and 3 alike often; so have the baselines of its counting tests.
"""

CHUNK = 16_384
"""How many questions are answered together."""

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


def strong_answers(
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] = GUESSES,
) -> np.ndarray:
    """What the learner that runs any program answers, float[questions, ANSWERS]."""
    return _answers([[_spelled(program)] for program in programs], programs, scenes, scene, related, guesses)


def weak_answers(
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] = GUESSES,
) -> np.ndarray:
    """What the learner that knows CLEVR's programs answers, float[questions, ANSWERS].

    `scene` says which of the scenes each question is about; `related` has the masks of every direction, where they do
    not follow from the places. The closest programs that are defined on the scene share the probability alike.
    """
    return _answers([_closest(program) for program in programs], programs, scenes, scene, related, guesses)


def closest(program: Expr) -> tuple[Expr, ...]:
    """The known programs at the smallest distance; the program itself where CLEVR can produce it.

    The distance is the number of symbols that another symbol of the same type replaces; descriptions and directions
    that are said stay. Where no known program has the same structure, one link may go: a relation, its `unique` and the
    description of the object it starts from; this counts one. Empty where that does not help either.
    """
    return tuple(_term(spelled) for spelled in _closest(program))


class _Spelled(NamedTuple):
    """A program inside out, its filters apart: two with equal types at every place have the same structure."""

    symbols: tuple[Symbol, ...]
    filters: tuple[tuple[Symbol, ...], ...]  # right around each symbol, innermost first


def _spelled(program: Expr) -> _Spelled:
    symbols: list[Symbol] = []
    filters: list[tuple[Symbol, ...]] = []
    _spell(program, symbols, filters)
    return _Spelled(tuple(symbols), tuple(filters))


def _spell(term: Expr, symbols: list[Symbol], filters: list[tuple[Symbol, ...]]) -> None:
    chain: tuple[Symbol, ...] = ()
    while term.head.family == "filter":
        chain = (term.head, *chain)
        term = term.args[0]
    for arg in term.args:
        _spell(arg, symbols, filters)
    symbols.append(term.head)
    filters.append(chain)


def _term(spelled: _Spelled) -> Expr:
    ends: list[Expr] = []
    for symbol, chain in zip(*spelled):
        first = len(ends) - len(symbol.args)
        term = Expr(symbol, tuple(ends[first:]))
        for one in chain:
            term = Expr(one, (term,))
        ends[first:] = [term]
    return ends[0]


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

    def allows(self, spelled: _Spelled) -> bool:
        """Whether the two parts differ."""
        return not self.apart or any(each[self.apart[0]] != each[self.apart[1]] for each in spelled)


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


def _closest(program: Expr) -> list[_Spelled]:
    _, found = _nearest(_spelled(program))
    if found:
        return found
    shorter = [_nearest(_spelled(other)) for other in dict.fromkeys(_without_a_link(program))]
    reached = min((distance for distance, some in shorter if some), default=0)
    return list(dict.fromkeys(one for distance, some in shorter if distance == reached for one in some))


def _nearest(spelled: _Spelled) -> tuple[int, list[_Spelled]]:
    """The known programs of the same structure at the smallest distance, and this distance."""
    reached = 0
    found: list[_Spelled] = []
    for distance, mould, spellings in _recipes(spelled.symbols):
        if found and distance > reached:
            break
        if mould.takes(spelled.filters):
            reached = distance
            options = (_Spelled(symbols, spelled.filters) for symbols in spellings)
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


_FIRST = {kind: ANSWERS.index(words[0]) for kind, words in _WORDS.items()}
"""The column of each type's first answer; the others follow in the order of their codes."""


def _answers(
    held: Sequence[Sequence[_Spelled]],
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
        raise UserError(f"CLOSURE speaks of CLEVR's scenes: its four attributes and at most {MOST} objects.")
    if len(scene) != len(programs):
        raise UserError(f"there are {len(programs)} programs, but scenes for {len(scene)}")


def _execute(
    spelled: Sequence[_Spelled], scenes: Scenes, scene: np.ndarray, related: Mapping[str, np.ndarray] | None
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


def _run(group: Sequence[_Spelled], meaning: "_Each") -> Known:
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
