"""Programs as arrays: what networks write and execute.

A program is a row of tokens in prefix order, a function before its inputs, so a row read backwards is in topological
order. A *layout* says for every token where its inputs stand and how high it is above the leaves. Special tokens come
first in the numbering: NULL fills a row up, START, END and UNK are for those who write programs word by word.

>>> tables = Functions(("scene", "exist", "union"), (0, 1, 2), ((), ("set",), ("set", "set")), ("set", "truth", "set"))
>>> found = lay_out(np.array([[5, 6, 4, 4, 0]], np.uint8), tables)
>>> found.left.tolist(), found.right.tolist(), found.height.tolist()
([[1, 2, -1, -1, -1]], [[-1, 3, -1, -1, -1]], [[2, 1, 0, 0, 0]])
>>> well_formed(found, tables, ("truth",)).tolist()
[True]
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

NULL, START, END, UNK = range(4)
SPECIAL = 4
MOST_INPUTS = 2
ACTS = (
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
"""What the functions of CLEVR's language do, whatever values they name."""


@dataclass(frozen=True)
class Functions:
    """The functions of a language, in the order of their tokens after the special ones."""

    words: tuple[str, ...]
    arity: tuple[int, ...]
    inputs: tuple[tuple[str, ...], ...]
    out: tuple[str, ...]

    def __len__(self) -> int:
        """How many tokens there are, the special ones included."""
        return SPECIAL + len(self.words)

    @cached_property
    def arities(self) -> np.ndarray:
        """How many inputs each token takes, int8[tokens]; none for special ones."""
        return np.array([0] * SPECIAL + list(self.arity), np.int8)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.out))

    @cached_property
    def out_kind(self) -> np.ndarray:
        """The number of the type that each token gives, int8[tokens]; -1 for special ones."""
        return np.array([-1] * SPECIAL + [self.kinds.index(kind) for kind in self.out], np.int8)

    @cached_property
    def in_kind(self) -> np.ndarray:
        """The numbers of the types that each token takes, int8[tokens, 2]; -1 where it takes none."""
        found = np.full((len(self), MOST_INPUTS), -1, np.int8)
        for token, kinds in enumerate(self.inputs, SPECIAL):
            found[token, : len(kinds)] = [self.kinds.index(kind) for kind in kinds]
        return found


class Layout(NamedTuple):
    """Programs with the places of their inputs; a row that is no whole program has `whole` False."""

    token: np.ndarray  # uint8[n, t], prefix order, NULL after the end
    left: np.ndarray  # int8[n, t]: where the first input stands, -1 for none
    right: np.ndarray  # int8[n, t]
    height: np.ndarray  # uint8[n, t]: 0 for a leaf
    whole: np.ndarray  # bool[n]

    def __len__(self) -> int:
        return len(self.token)

    def rows(self, index: np.ndarray | slice) -> "Layout":
        return Layout(*(column[index] for column in self))


def lay_out(token: np.ndarray, functions: Functions) -> Layout:
    """The layout of programs in prefix order, uint8[n, t]; what follows END or NULL does not count."""
    n, width = token.shape
    over = np.maximum.accumulate(token < SPECIAL, axis=1)
    bad = (token == UNK) | (token == START)
    spoilt = (bad & ~np.pad(over, ((0, 0), (1, 0)))[:, :-1]).any(axis=1)
    token = np.where(over, NULL, token).astype(np.uint8)
    arity, there = functions.arities[token], ~over
    left, right = (np.full((n, width), -1, np.int8) for _ in range(2))
    height = np.zeros((n, width), np.uint8)
    stack, top, short = np.zeros((n, width + 1), np.int8), np.zeros(n, np.int64), np.zeros(n, bool)
    row = np.arange(n)
    for at in range(width - 1, -1, -1):
        for count, column in enumerate((left, right), 1):
            takes = there[:, at] & (arity[:, at] >= count)
            short |= takes & (top == 0)
            takes &= top > 0
            top -= takes
            child = stack[row, top]
            column[:, at] = np.where(takes, child, -1)
            above = np.where(takes, height[row, child] + 1, 0).astype(np.uint8)
            height[:, at] = np.maximum(height[:, at], above)
        stack[row, top] = np.where(there[:, at], at, stack[row, top])
        top += there[:, at]
    return Layout(token, left, right, height, (top == 1) & ~short & ~spoilt)


def well_formed(layout: Layout, functions: Functions, answers: Collection[str]) -> np.ndarray:
    """Which programs are whole, take inputs of the right types and give one of these types, bool[n]."""
    given = functions.out_kind[layout.token]
    wanted = functions.in_kind[layout.token]
    right = layout.whole.copy()
    for place, column in enumerate((layout.left, layout.right)):
        found = np.take_along_axis(given, np.maximum(column, 0).astype(np.int64), axis=1)
        right &= ((column < 0) | (found == wanted[..., place])).all(axis=1)
    kinds = [functions.kinds.index(kind) for kind in answers if kind in functions.kinds]
    return right & np.isin(given[:, 0], kinds)


def sizes(layout: Layout) -> np.ndarray:
    """How many tokens each program has, int[n]."""
    return np.count_nonzero(layout.token >= SPECIAL, axis=1)
