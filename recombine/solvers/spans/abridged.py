"""Programs without what their types say anyway.

Where a function wants an object and gets a set, and one function alone leads from sets to objects, that one goes
without saying. What is left out comes back with `restore`: nothing is lost.

>>> tables = Functions(("scene", "one", "red", "left"), (0, 1, 1, 1), ((), ("set",), ("set",), ("thing",)),
...     ("set", "thing", "set", "set"))
>>> abridge = Abridging(tables)
>>> said = abridge(lay_out(np.array([[7, 5, 6, 4]], np.uint8), tables))
>>> said.token.tolist(), said.left.tolist()
([[7, 6, 4, 0]], [[1, 2, -1, -1]])
>>> ways = abridge.ways
>>> int(ways[tables.kinds.index("set"), tables.kinds.index("thing")])
5
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from recombine.solvers.programs import NULL, SPECIAL, Functions, Layout
from recombine.solvers.programs import lay_out as lay_out
from recombine.store.compiled import compiled

NO_WAY = -1


class Abridged(NamedTuple):
    """Programs in prefix order; what takes an input of another type takes it by the way between the two."""

    token: np.ndarray  # uint8[n, t], NULL at the end
    left: np.ndarray  # int8[n, t]: where the first input stands, -1 for none
    right: np.ndarray  # int8[n, t]


class Abridging:
    """How the programs of a language are abridged."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    @cached_property
    def ways(self) -> np.ndarray:
        """The outermost function of the way from one type to another, int16[kinds, kinds]; NO_WAY where none is.

        A way goes over functions of one input that are alone in leading from their type to the next; there must be one
        shortest way. From a type to itself none is needed.
        """
        kinds, functions = range(len(self.functions.kinds)), self.functions
        unary = np.flatnonzero(functions.arities == 1)
        alone: dict[tuple[int, int], list[int]] = {}
        for token in unary.tolist():
            alone.setdefault((int(functions.in_kind[token, 0]), int(functions.out_kind[token])), []).append(token)
        steps = {pair: tokens[0] for pair, tokens in alone.items() if len(tokens) == 1 and pair[0] != pair[1]}
        found = np.full((len(kinds), len(kinds)), NO_WAY, np.int16)
        for start in kinds:
            reached: dict[int, int] = {start: 1}  # how many shortest ways
            ring = [start]
            while ring:
                new: dict[int, int] = {}
                for (before, after), token in steps.items():
                    if before in ring and after not in reached:
                        new[after] = new.get(after, 0) + reached[before]
                        found[start, after] = token if new[after] == 1 else NO_WAY
                reached |= new
                ring = [kind for kind, count in new.items() if count == 1]
        return found

    @cached_property
    def leaf(self) -> int:
        """The only function without inputs; NULL where there are several."""
        leaves = [token for token in range(SPECIAL, len(self.functions)) if self.functions.arities[token] == 0]
        return leaves[0] if len(leaves) == 1 else NULL

    @cached_property
    def tables(self) -> tuple[np.ndarray, ...]:
        """What compiled loops need: arities, types and ways."""
        functions = self.functions
        return functions.arities, functions.in_kind, functions.out_kind, self.ways

    def __call__(self, programs: Layout) -> Abridged:
        shape = programs.token.shape
        found = Abridged(np.full(shape, NULL, np.uint8), np.full(shape, -1, np.int8), np.full(shape, -1, np.int8))
        columns = (np.array(column) for column in (programs.token, programs.left, programs.right))  # may be read-only
        _abridge(*columns, *self.tables, *found)
        return found

    def restore(self, programs: Abridged, longest: int) -> np.ndarray:
        """The whole programs, uint8[n, longest], NULL at the end; nothing of those that are longer."""
        found = np.full((len(programs.token), longest), NULL, np.uint8)
        _restore(*programs, *self.tables, found)
        return found


@compiled
def _abridge(
    token: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    arity: np.ndarray,
    takes: np.ndarray,
    gives: np.ndarray,
    ways: np.ndarray,
    out_token: np.ndarray,
    out_left: np.ndarray,
    out_right: np.ndarray,
) -> None:
    waiting = np.zeros((token.shape[1] + 1, 3), np.int64)  # a node, and whose input it is
    for row in range(len(token)):
        waiting[0] = (0, -1, 0)
        top, size = 1, 0
        while top:
            top -= 1
            node, above, slot = waiting[top]
            out_token[row, size] = token[row, node]
            if above >= 0:
                if slot == 0:
                    out_left[row, above] = size
                else:
                    out_right[row, above] = size
            for place in range(arity[token[row, node]] - 1, -1, -1):
                below = np.int64(left[row, node] if place == 0 else right[row, node])
                wanted = takes[token[row, node], place]
                said = np.int64(_said(row, below, wanted, token, left, arity, takes, gives, ways))
                waiting[top] = (said, size, place)
                top += 1
            size += 1


@compiled
def _said(
    row: int,
    node: int,
    wanted: int,
    token: np.ndarray,
    left: np.ndarray,
    arity: np.ndarray,
    takes: np.ndarray,
    gives: np.ndarray,
    ways: np.ndarray,
) -> int:
    """The deepest node below an input from which the way to the wanted type is the one that the program takes."""
    deepest, at = node, node
    while arity[token[row, at]] == 1:
        at = left[row, at]
        kind, step = wanted, node
        while step != at and kind != gives[token[row, at]] and ways[gives[token[row, at]], kind] == token[row, step]:
            kind = takes[token[row, step], 0]
            step = left[row, step]
        if step == at and kind == gives[token[row, at]]:
            deepest = at
    return deepest


@compiled
def _restore(
    token: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    arity: np.ndarray,
    takes: np.ndarray,
    gives: np.ndarray,
    ways: np.ndarray,
    out: np.ndarray,
) -> None:
    waiting = np.zeros((token.shape[1] + 1, 2), np.int64)  # a node and the type that is wanted of it
    for row in range(len(token)):
        if token[row, 0] == NULL:
            continue
        waiting[0] = (0, np.int64(gives[token[row, 0]]))
        top, size = 1, 0
        while top and size < out.shape[1]:
            top -= 1
            node, wanted = waiting[top]
            given = gives[token[row, node]]
            while wanted != given and size < out.shape[1]:
                out[row, size] = ways[given, wanted]
                wanted = takes[ways[given, wanted], 0]
                size += 1
            if size < out.shape[1]:
                out[row, size] = token[row, node]
            size += 1
            for place in range(arity[token[row, node]] - 1, -1, -1):
                below = left[row, node] if place == 0 else right[row, node]
                waiting[top] = (np.int64(below), np.int64(takes[token[row, node], place]))
                top += 1
        if top or size > out.shape[1]:
            out[row] = NULL
