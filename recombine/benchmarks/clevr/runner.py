"""Many programs at once, each on its own scene: the answers that models' programs get.

Programs are rows of tokens as `TOKENS` numbers them, in prefix order. The loop below does what `Exact` does, row by
row; a test has it agree with `Exact` on programs of every kind, and with `TOKENS.read` on what is no program.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from recombine.benchmarks.clevr.answers import ANSWERS, MOST, WORDS
from recombine.benchmarks.clevr.language import ATTRIBUTES, CLEVR_VOCABULARY, DIRECTIONS
from recombine.benchmarks.clevr.program import TOKENS
from recombine.benchmarks.clevr.questions import Looked, look
from recombine.language.expr import Symbol
from recombine.solvers.programs import Functions, lay_out, well_formed
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

FAMILIES = (
    "scene",
    "filter",
    "unique",
    "relate",
    "same",
    "intersect",
    "union",
    "count",
    "exist",
    "query",
    "equal",
    "equal_integer",
    "less_than",
    "greater_than",
)
SCENE, FILTER, UNIQUE, RELATE, SAME, INTERSECT, UNION, COUNT, EXIST, QUERY, EQUAL, SAME_COUNT, LESS, MORE = range(14)

ANSWER_KINDS = ("bool", "number", *ATTRIBUTES)
NO_ANSWER, ILL_FORMED = 255, 254
"""What a program gives where `unique` fails, and what is no program."""


@cache
def clevr_functions() -> Functions:
    """CLEVR's functions in the order of their tokens."""
    symbols = TOKENS.symbols
    return Functions(
        tuple(symbols),
        tuple(len(symbol.args) for symbol in symbols.values()),
        tuple(symbol.args for symbol in symbols.values()),
        tuple(symbol.out for symbol in symbols.values()),
    )


class _Codes(NamedTuple):
    """What each token does, in numbers."""

    family: np.ndarray  # int8[tokens], -1 for special ones
    detail: np.ndarray  # int8[tokens]: the attribute or direction
    value: np.ndarray  # int8[tokens]: the value of a filter
    first: np.ndarray  # uint8[tokens]: the first answer of the type it gives


@cache
def _codes() -> _Codes:
    symbols = TOKENS.symbols.values()
    blank = [-1] * (len(TOKENS) - len(TOKENS.symbols))
    family = [FAMILIES.index(symbol.family) for symbol in symbols]
    firsts = {kind: ANSWERS.index(words[0]) for kind, words in WORDS.items()}
    first = [firsts.get(symbol.out, 0) for symbol in symbols]
    return _Codes(
        np.array(blank + family, np.int8),
        np.array(blank + [_detail(symbol) for symbol in symbols], np.int8),
        np.array(blank + [_value(symbol) for symbol in symbols], np.int8),
        np.array([0] * len(blank) + first, np.uint8),
    )


def _detail(symbol: Symbol) -> int:
    if not symbol.index:
        return 0
    return (DIRECTIONS if symbol.family == "relate" else ATTRIBUTES).index(symbol.index[0])


def _value(symbol: Symbol) -> int:
    return CLEVR_VOCABULARY[symbol.index[0]].code(symbol.index[1]) if symbol.family == "filter" else 0


@dataclass(frozen=True, eq=False)
class Runner:
    """Runs programs on scenes that it has looked at once."""

    looked: Looked

    @classmethod
    def of(cls, scenes: Scenes) -> "Runner":
        if scenes.vocabulary != CLEVR_VOCABULARY or scenes.count.max(initial=0) > MOST:
            raise UserError(f"CLEVR's programs speak of its four attributes and of at most {MOST} objects")
        return cls(look(scenes))

    def __call__(self, token: np.ndarray, scene: np.ndarray) -> np.ndarray:
        """The answer of each program on its own scene, uint8[n] into ANSWERS; NO_ANSWER or ILL_FORMED where none."""
        functions = clevr_functions()
        layout = lay_out(token, functions)
        right = well_formed(layout, functions, ANSWER_KINDS)
        found = np.full(len(token), ILL_FORMED, np.uint8)
        rows = np.flatnonzero(right)
        columns = (layout.token[rows], layout.left[rows], layout.right[rows], np.asarray(scene)[rows])
        found[rows] = _run(*columns, *_codes(), *self.looked)
        return found


@njit(cache=True)
def _run(
    token: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    scene: np.ndarray,
    family: np.ndarray,
    detail: np.ndarray,
    value: np.ndarray,
    first: np.ndarray,
    count: np.ndarray,
    codes: np.ndarray,
    beyond: np.ndarray,
) -> np.ndarray:
    """Rows that are well formed."""
    answers = np.empty(len(token), np.uint8)
    # A set of objects is a mask; an object is its place; numbers, codes and truths are themselves.
    given = np.zeros(token.shape[1], np.uint64)
    one = np.uint64(1)
    for row in range(len(token)):
        s = scene[row]
        objects = int(count[s])
        defined = True
        for at in range(token.shape[1] - 1, -1, -1):
            what = token[row, at]
            if family[what] < 0:
                continue
            does, of = family[what], detail[what]
            a = given[left[row, at]] if left[row, at] >= 0 else np.uint64(0)
            b = given[right[row, at]] if right[row, at] >= 0 else np.uint64(0)
            out = np.uint64(0)
            if does == SCENE:
                out = (one << np.uint64(objects)) - one
            elif does == FILTER:
                for i in range(objects):
                    if codes[s, i, of] == value[what]:
                        out |= one << np.uint64(i)
                out &= a
            elif does == UNIQUE:
                if a == 0 or a & (a - one) != 0:
                    defined = False
                    break
                while (a >> out) & one == 0:
                    out += one
            elif does == RELATE:
                out = np.uint64(beyond[s, of, a])
            elif does == SAME:
                for i in range(objects):
                    if np.uint64(i) != a and codes[s, i, of] == codes[s, a, of]:
                        out |= one << np.uint64(i)
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
                out = np.uint64(codes[s, a, of])
            elif does in (EQUAL, SAME_COUNT):
                out = np.uint64(a == b)
            elif does == LESS:
                out = np.uint64(a < b)
            else:
                out = np.uint64(a > b)
            given[at] = out
        answers[row] = first[token[row, 0]] + given[0] if defined else NO_ANSWER
    return answers
