"""Many programs in one batch of a module network: equal things together, whatever program they belong to.

A *schedule* is a list of calls. A call runs one module for all nodes that are ready for it, in whatever program they
stand; which one comes next is decided by the share of a module's nodes that are ready: to wait for the others makes
larger calls. Module networks whose modules share their weights run all nodes that are ready in each call.

What the modules give lies in one table, a row for each node. `take` and `put` read and write its rows; on the way back
they do the same with one table of gradients, so a call costs what its own rows cost. Leaves of one question that are
the same token are one node.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from recombine.solvers.programs import SPECIAL, Layout
from recombine.store.compiled import compiled


class Call(NamedTuple):
    """Nodes that one module runs together; those with two inputs come first."""

    kind: int
    row: Tensor  # int64[m]: their rows in the table
    token: Tensor  # int64[m]
    question: Tensor  # int64[m]
    left: Tensor  # int64[m], or of no length for leaves: the rows of the first inputs
    right: Tensor  # int64[b]: the rows of the second inputs of the first b nodes


class Schedule(NamedTuple):
    """The calls of a batch of programs."""

    calls: list[Call]
    nodes: int
    """The rows of the table."""
    root: Tensor  # int64[n]: the row of each program's answer


def schedule(programs: Layout, kind: np.ndarray, device: torch.device | None = None) -> Schedule:
    """The calls for programs whose tokens belong to these kinds of module, int[tokens]."""
    token = np.ascontiguousarray(programs.token)
    kinds = np.where(token >= SPECIAL, kind[token], -1).astype(np.int64)
    left, right = (np.ascontiguousarray(column, np.int64) for column in (programs.left, programs.right))
    order, starts, row, nodes = _agenda(token, kinds, left, right, int(kind.max()) + 1)
    question, place = np.divmod(order, token.shape[1])
    columns = (
        row[question, place],
        token[question, place].astype(np.int64),
        question,
        _input(row, question, left[question, place]),
        _input(row, question, right[question, place]),
    )
    calls = []
    for start, end in pairwise(starts.tolist()):
        rows, tokens, questions, first, second = (torch.from_numpy(column[start:end]).to(device) for column in columns)
        what = int(kinds[question[start], place[start]])
        calls.append(Call(what, rows, tokens, questions, first[first >= 0], second[second >= 0]))
    return Schedule(calls, nodes, torch.from_numpy(row[:, 0].copy()).to(device))


def _input(row: np.ndarray, question: np.ndarray, place: np.ndarray) -> np.ndarray:
    return np.where(place >= 0, row[question, np.maximum(place, 0)], -1)


@compiled
def _agenda(
    token: np.ndarray, kind: np.ndarray, left: np.ndarray, right: np.ndarray, kinds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The nodes in the order in which they run, where each call starts, the row of every node, and how many rows."""
    n, width = token.shape
    parent = np.full((n, width), -1, np.int64)
    waits = np.zeros((n, width), np.int64)
    row = np.full((n, width), -1, np.int64)
    left_over = np.zeros(kinds, np.int64)
    ready = np.zeros(kinds, np.int64)
    queue = np.empty((kinds, n * width), np.int64)
    nodes = 0
    for i in range(n):
        for t in range(width):
            if kind[i, t] < 0:
                continue
            for child in (left[i, t], right[i, t]):
                if child >= 0:
                    parent[i, child] = t
                    waits[i, t] += 1
    for i in range(n):
        for t in range(width):
            if kind[i, t] < 0:
                continue
            same = -1
            if waits[i, t] == 0:
                for before in range(t):
                    if token[i, before] == token[i, t]:
                        same = before
                        break
            if same >= 0:
                row[i, t] = row[i, same]
                continue
            row[i, t] = nodes
            nodes += 1
            left_over[kind[i, t]] += 1
            if waits[i, t] == 0:
                queue[kind[i, t], ready[kind[i, t]]] = i * width + t
                ready[kind[i, t]] += 1
    # Nodes that are the same leaf as an earlier one are there as soon as that one is.
    order = np.empty(nodes, np.int64)
    starts = np.zeros(nodes + 1, np.int64)
    done, calls = 0, 0
    current = np.empty(n * width, np.int64)
    while done < nodes:
        best, share = -1, -1.0
        for k in range(kinds):
            if ready[k] > 0 and ready[k] / left_over[k] > share:
                best, share = k, ready[k] / left_over[k]
        m = ready[best]
        ready[best] = 0
        left_over[best] -= m
        current[:m] = queue[best, :m]
        for two in (True, False):  # those with two inputs first
            for c in range(m):
                i, t = current[c] // width, current[c] % width
                if (right[i, t] >= 0) == two:
                    order[done] = current[c]
                    done += 1
        calls += 1
        starts[calls] = done
        for c in range(m):
            i, t = current[c] // width, current[c] % width
            first, last = (t, width) if waits[i, t] == 0 and left[i, t] < 0 else (t, t + 1)
            for again in range(first, last):
                if row[i, again] != row[i, t] or parent[i, again] < 0:
                    continue
                above = parent[i, again]
                waits[i, above] -= 1
                if waits[i, above] == 0:
                    queue[kind[i, above], ready[kind[i, above]]] = i * width + above
                    ready[kind[i, above]] += 1
    return order, starts[: calls + 1], row, nodes


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        ctx.mark_dirty(table)  # so that what is read later waits for this on the way back
        ctx.save_for_backward(rows)
        return table, table.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, table: Tensor, taken: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return table.index_add_(0, rows, taken), None


class _Put(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, values: Tensor, rows: Tensor) -> Tensor:
        ctx.mark_dirty(table)
        ctx.save_for_backward(rows)
        return table.index_copy_(0, rows, values)

    @staticmethod
    def backward(ctx: Any, table: Tensor) -> tuple[Tensor, Tensor, None]:
        (rows,) = ctx.saved_tensors
        return table, table.index_select(0, rows), None


def take(table: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The table, to go on with, and some of its rows."""
    found: tuple[Tensor, Tensor] = _Take.apply(table, rows)
    return found


def put(table: Tensor, values: Tensor, rows: Tensor) -> Tensor:
    """The table with these rows written."""
    written: Tensor = _Put.apply(table, values, rows)
    return written
