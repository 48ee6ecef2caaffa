"""Twins: pieces of a plan that may change places without anything being said differently.

An object with n twins looks the same in n! orders. Reading them in one order only keeps counting and drawing quick
where many parts are loose.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.plan import Plan
from recombine.store.limit import check


class Piece(NamedTuple):
    """Points that share both sliders and so stand rigidly together, in reading order."""

    sliders: tuple[int, int]
    points: tuple[int, ...]


def pieces_of(plan: Plan) -> list[Piece]:
    """The pieces of a plan, the largest first."""
    found: dict[tuple[int, int], list[int]] = {}
    for point, (x, y) in enumerate(plan.slider.tolist()):
        found.setdefault((x, y), []).append(point)
    ordered = sorted(found.items(), key=lambda piece: -len(piece[1]))
    return [Piece(s, tuple(sorted(points, key=lambda p: tuple(plan.offset[p][::-1])))) for s, points in ordered]


def twins(plan: Plan) -> list[list[Piece]]:
    """The groups of two or more pieces that may change places."""
    groups: list[list[Piece]] = []
    for piece in pieces_of(plan):
        for group in groups:
            check()
            if _interchangeable(plan, group[0], piece):
                group.append(piece)
                break
        else:
            groups.append([piece])
    return [group for group in groups if len(group) > 1]


def orders(groups: list[list[Piece]]) -> int:
    """In how many orders an object with such twins can be read."""
    return math.prod(math.factorial(len(group)) for group in groups)


def _interchangeable(plan: Plan, a: Piece, b: Piece) -> bool:
    """Whether the plan says the same when two pieces are exchanged."""
    if len(a.points) != len(b.points) or set(a.sliders) & set(b.sliders) or len({*a.sliders, *b.sliders}) < 4:
        return False
    if not np.array_equal(plan.offset[list(a.points)], plan.offset[list(b.points)]):
        return False
    slider, point = _exchange(plan.sliders, a.sliders, b.sliders), _exchange(plan.points, a.points, b.points)
    color = dict(zip(plan.color.tolist(), plan.color[point].tolist()))
    return (
        np.array_equal(plan.slider[point], slider[plan.slider])
        and np.array_equal(plan.low[slider], plan.low)
        and np.array_equal(plan.high[slider], plan.high)
        and np.array_equal(plan.color[point], [color[c] for c in plan.color.tolist()])
        and all(plan.palette[c] == plan.palette[d] for c, d in color.items())
        and _same_rows(plan.apart, slider)
        and _unordered(plan.unequal, np.arange(plan.sliders)) == _unordered(plan.unequal, slider)
        and _colors_say(plan, {}) == _colors_say(plan, color)
    )


def _exchange(size: int, some: tuple[int, ...], others: tuple[int, ...]) -> np.ndarray:
    order = np.arange(size)
    order[[*some, *others]] = [*others, *some]
    return order


def _same_rows(rows: np.ndarray, slider: np.ndarray) -> bool:
    return {(a, b, c) for a, b, c in rows.tolist()} == {(slider[a], slider[b], c) for a, b, c in rows.tolist()}


def _unordered(rows: np.ndarray, slider: np.ndarray) -> set[frozenset[tuple[int, int, int]]]:
    """Inequalities; u - v != c is v - u != -c."""
    exchanged = ((int(slider[a]), int(slider[b]), c) for a, b, c in rows.tolist())
    return {frozenset(((a, b, c), (b, a, -c))) for a, b, c in exchanged}


def _colors_say(plan: Plan, color: Mapping[int, int]) -> set[frozenset[tuple]]:
    """The clauses between colours, with some classes exchanged."""
    return {
        frozenset(
            (kind, color.get(a, a), b) if kind == "in" else (kind, frozenset((color.get(a, a), color.get(b, b))))
            for kind, a, b in clause
        )
        for clause in plan.clauses
    }


def in_order(groups: list[list[Piece]], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which objects (coordinates [n, points]) have their twins in reading order, bool[n]."""
    good = np.ones(len(x), bool)
    for group in groups:
        first = [piece.points[0] for piece in group]
        place = y[:, first].astype(np.int64) * 65_536 + x[:, first]
        good &= (place[:, 1:] > place[:, :-1]).all(axis=1)
    return good


def group_of(plan: Plan) -> np.ndarray:
    """For each piece the number of its group, or -1 where it has no twin, int64[pieces]."""
    pieces, groups = pieces_of(plan), twins(plan)
    found = {piece: i for i, group in enumerate(groups) for piece in group}
    return np.array([found.get(piece, -1) for piece in pieces], np.int64)
