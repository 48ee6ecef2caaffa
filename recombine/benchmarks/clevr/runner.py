"""Many programs at once, each on its own scene: the answers that models' programs get.

Programs are rows of tokens as `ProgramTokens` numbers them, in prefix order. The loop below does what `Exact` does, row
by row; a test has it agree with `Exact` on programs of every kind, and with `TOKENS.read` on what is no program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.answers import ANSWERS as ANSWERS
from recombine.benchmarks.clevr.answers import columns_of
from recombine.benchmarks.clevr.language import CLEVR, Dialect
from recombine.benchmarks.clevr.program import ProgramTokens
from recombine.benchmarks.clevr.questions import Looked, act_of, facets_of, links_of, look
from recombine.language.expr import Expr, Symbol
from recombine.solvers import programs
from recombine.solvers.programs import Functions, lay_out, well_formed
from recombine.store.compiled import compiled
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

ACTS = (*programs.ACTS, "link")
SCENE, FILTER, UNIQUE, RELATE, SAME, INTERSECT, UNION, COUNT, EXIST, QUERY, EQUAL, SAME_COUNT, LESS, MORE, LINK = range(
    15
)
ANSWER_KINDS = tuple(CLEVR.answers)
NO_ANSWER, ILL_FORMED = 255, 254
"""What a program gives where `unique` fails, and what is no program."""


@lru_cache(maxsize=64)
def functions_of(dialect: Dialect) -> Functions:
    """The functions of a dialect in the order of their tokens."""
    symbols = ProgramTokens(dialect).symbols
    return Functions(
        tuple(symbols),
        tuple(len(symbol.args) for symbol in symbols.values()),
        tuple(symbol.args for symbol in symbols.values()),
        tuple(symbol.out for symbol in symbols.values()),
    )


def token_rows(programs: Sequence[Expr], dialect: Dialect) -> np.ndarray:
    """Programs as a runner takes them, int16[programs, tokens]."""
    tokens, width = ProgramTokens(dialect), max((program.size for program in programs), default=0) + 2
    return np.array([tokens.encode(program, width)[1:] for program in programs], np.int16).reshape(-1, width - 1)


def clevr_functions() -> Functions:
    """CLEVR's functions in the order of their tokens."""
    return functions_of(CLEVR)


class _Codes(NamedTuple):
    """What each token does, in numbers."""

    act: np.ndarray  # int8[tokens], -1 for special ones
    detail: np.ndarray  # int8[tokens]: the facet, direction or link
    value: np.ndarray  # int16[tokens]: the word of a filter
    first: np.ndarray  # uint8[tokens]: the first answer of the type it gives


@lru_cache(maxsize=64)
def _codes(dialect: Dialect) -> _Codes:
    tokens, firsts = ProgramTokens(dialect), columns_of(dialect)
    symbols = tokens.symbols.values()
    blank = [-1] * (len(tokens) - len(symbols))
    details = [_detail(symbol, dialect) for symbol in symbols]
    return _Codes(
        np.array(blank + [ACTS.index(act_of(symbol.family, dialect)) for symbol in symbols], np.int8),
        np.array(blank + [detail for detail, _ in details], np.int8),
        np.array(blank + [value for _, value in details], np.int16),
        np.array([0] * len(blank) + [firsts.get(symbol.out, 0) for symbol in symbols], np.uint8),
    )


def _detail(symbol: Symbol, dialect: Dialect) -> tuple[int, int]:
    """The facet and word, direction or link that a symbol speaks of."""
    act, sort = act_of(symbol.family, dialect), dialect.by_symbol.get(symbol.family)
    if act == "link":
        return links_of(dialect).index(symbol.family), 0
    if act == "relate":
        return dialect.directions.index(symbol.index[0]), 0
    if sort is None:
        return 0, 0
    attribute, *words = symbol.index
    for place, (letter, facet) in enumerate(facets_of(dialect)):
        if (letter, facet.attribute) == (sort.letter, attribute) and {*words} <= {*facet.words}:
            return place, facet.words.index(words[0]) if words else 0
    raise AssertionError(f"{symbol} speaks of no facet")


@dataclass(frozen=True, eq=False)
class Runner:
    """Runs programs on scenes that it has looked at once."""

    looked: Looked
    dialect: Dialect = CLEVR

    @classmethod
    def of(cls, scenes: Scenes, dialect: Dialect = CLEVR) -> "Runner":
        names = dialect.objects.attributes
        if scenes.vocabulary != dialect.objects.vocabulary or scenes.count.max(initial=0) > dialect.most:
            raise UserError(f"these programs speak of {', '.join(names)} and of at most {dialect.most} objects")
        return cls(look(scenes, dialect), dialect)

    def __call__(self, token: np.ndarray, scene: np.ndarray) -> np.ndarray:
        """The answer of each program on its own scene, uint8[n] into answers; NO_ANSWER or ILL_FORMED where none."""
        return self.on_each(token, np.asarray(scene)[:, None])[:, 0]

    def on_each(self, token: np.ndarray, scenes: np.ndarray) -> np.ndarray:
        """The answer of each program on each of its own scenes, int[n, m] -> uint8[n, m]."""
        found = np.full(scenes.shape, ILL_FORMED, np.uint8)
        rows, columns = self._read(token)
        for place in range(scenes.shape[1]):
            found[rows, place] = self._run(columns, scenes[rows, place], np.zeros((0, token.shape[1]), np.uint64))
        return found

    def values(self, token: np.ndarray, scene: np.ndarray) -> np.ndarray:
        """What every token of each program gives, uint64[n, t]: a set of things is a mask; 0 where there is nothing."""
        found = np.zeros(token.shape, np.uint64)
        rows, columns = self._read(token)
        given = np.zeros((len(rows), token.shape[1]), np.uint64)
        self._run(columns, np.asarray(scene)[rows], given)
        found[rows] = given
        return found

    def _read(self, token: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Which programs are well formed, and these as `_run` takes them."""
        functions = functions_of(self.dialect)
        layout = lay_out(token, functions)
        rows = np.flatnonzero(well_formed(layout, functions, tuple(self.dialect.answers)))
        return rows, [column[rows] for column in (layout.token, layout.left, layout.right)]

    def _run(self, columns: list[np.ndarray], scene: np.ndarray, values: np.ndarray) -> np.ndarray:
        found: np.ndarray = _run(*columns, scene, *_codes(self.dialect), *self.looked, values)
        return found


@compiled
def _run(
    token: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    scene: np.ndarray,
    act: np.ndarray,
    detail: np.ndarray,
    value: np.ndarray,
    first: np.ndarray,
    spans: np.ndarray,
    codes: np.ndarray,
    beyond: np.ndarray,
    links: np.ndarray,
    values: np.ndarray,
) -> np.ndarray:
    """Rows that are well formed; what every token gives is written to `values` where that has rows."""
    answers = np.empty(len(token), np.uint8)
    # A set of things is a mask, a thing a mask of one; numbers, codes and truths are themselves.
    given = np.zeros(token.shape[1], np.uint64)
    one = np.uint64(1)
    for row in range(len(token)):
        s = scene[row]
        defined = True
        for at in range(token.shape[1] - 1, -1, -1):
            what = token[row, at]
            if act[what] < 0:
                continue
            does, of = act[what], detail[what]
            a = given[left[row, at]] if left[row, at] >= 0 else np.uint64(0)
            b = given[right[row, at]] if right[row, at] >= 0 else np.uint64(0)
            out = np.uint64(0)
            if does == SCENE:
                out = (one << np.uint64(spans[s, 0, 1])) - one
            elif does == FILTER:
                for i in range(codes.shape[1]):
                    if codes[s, i, of] == value[what]:
                        out |= one << np.uint64(i)
                out &= a
            elif does == UNIQUE:
                if a == 0 or a & (a - one) != 0:
                    defined = False
                    break
                out = a
            elif does == RELATE:
                out = np.uint64(beyond[s, of, _place(a)])
            elif does == SAME:
                for i in range(codes.shape[1]):
                    if codes[s, i, of] == codes[s, _place(a), of]:
                        out |= one << np.uint64(i)
                out &= ~a
            elif does == LINK:
                while a != 0:
                    out |= np.uint64(links[s, of, _place(a)])
                    a &= a - one
            elif does == INTERSECT:
                out = a & b
            elif does == UNION:
                out = a | b
            elif does == COUNT:
                while a != 0:
                    a &= a - one
                    out += one
            elif does == EXIST:
                out = np.uint64(a != 0)
            elif does == QUERY:
                out = np.uint64(codes[s, _place(a), of])
            elif does in (EQUAL, SAME_COUNT):
                out = np.uint64(a == b)
            elif does == LESS:
                out = np.uint64(a < b)
            else:
                out = np.uint64(a > b)
            given[at] = out
            if len(values):
                values[row, at] = out
        answers[row] = first[token[row, 0]] + given[0] if defined else NO_ANSWER
    return answers


@compiled
def _place(mask: np.uint64) -> int:
    """The place of the first thing of a set."""
    place = 0
    while (mask >> np.uint64(place)) & np.uint64(1) == 0:
        place += 1
    return place
