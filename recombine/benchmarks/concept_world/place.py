"""Placing: all ways to give the sliders of a plan values and its classes colours, counted and drawn uniformly.

Sliders that keep distances are counted exactly by eliminating them one after the other; drawing goes the way back, so
every choice that keeps the distances is equally likely. Choices in which two points share a cell, or that break an
inequality, are thrown away afterwards: what remains is uniform over what fits.
"""

from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.plan import Plan

WIDEST = 300_000
"""Entries of the largest table that an elimination may build."""
MOST_COLORINGS = 200_000
"""Colourings that are listed; where there are more, colours are drawn one by one."""


class Placed(NamedTuple):
    """Objects of one plan: coordinates and colours of their points, [n, points] each."""

    x: np.ndarray
    y: np.ndarray
    color: np.ndarray


class _Message(NamedTuple):
    """Counts over the values of some sliders."""

    sliders: tuple[int, ...]
    table: np.ndarray  # float64, one axis per slider


class Placer:
    """Draws from one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    # Sliders.

    @cached_property
    def _elimination(self) -> tuple[float, list[tuple[int, tuple[int, ...], np.ndarray]]]:
        """How many choices of slider values there are, and for each eliminated slider its table given later ones."""
        plan = self.plan
        messages = [self._distance(row) for row in plan.apart]
        left, steps, total = set(range(plan.sliders)), [], 1.0
        while left:
            slider = min(left, key=lambda s: (len(_neighbours(s, messages)), s))
            left.remove(slider)
            around = tuple(sorted(_neighbours(slider, messages)))
            table = self._joined(slider, around, [m for m in messages if slider in m.sliders])
            messages = [m for m in messages if slider not in m.sliders]
            steps.append((slider, around, table))
            summed = table.sum(axis=-1)
            if around:
                messages.append(_Message(around, summed))
            else:
                total *= float(summed)
        return total, steps

    def _width(self, slider: int) -> int:
        return int(self.plan.high[slider]) - int(self.plan.low[slider]) + 1

    def _distance(self, row: np.ndarray) -> _Message:
        """slider a - slider b <= c as a table of zeros and ones."""
        a, b, c = map(int, row)
        one, other = (self.plan.low[s] + np.arange(self._width(s)) for s in (a, b))
        holds = (one[:, None] - other[None, :] <= c).astype(float)
        return _Message((a, b), holds) if a < b else _Message((b, a), holds.T)

    def _joined(self, slider: int, around: tuple[int, ...], messages: list[_Message]) -> np.ndarray:
        """The product of messages, the slider's own axis last."""
        axes = (*around, slider)
        shape = tuple(map(self._width, axes))
        if np.prod([float(width) for width in shape]) > WIDEST:
            raise MemoryError
        table = np.ones(shape)
        for message in messages:
            order = sorted(message.sliders, key=axes.index)
            moved = np.transpose(message.table, [message.sliders.index(s) for s in order])
            table = table * moved.reshape([self._width(s) if s in message.sliders else 1 for s in axes])
        return table

    @cached_property
    def positions(self) -> float:
        """How many choices of slider values are proposed; exactly those that keep the distances where that is easy."""
        try:
            return self._elimination[0]
        except MemoryError:
            return float(np.prod([float(self._width(s)) for s in range(self.plan.sliders)]))

    def _draw_sliders(self, n: int, rng: np.random.Generator) -> np.ndarray:
        plan = self.plan
        values = np.zeros((n, plan.sliders), np.int64)
        try:
            steps = self._elimination[1]
        except MemoryError:
            return rng.integers(plan.low.astype(np.int64), plan.high.astype(np.int64) + 1, (n, plan.sliders))
        for slider, around, table in reversed(steps):
            if self._width(slider) == 1:
                continue
            if not around and (table == 1).all():
                values[:, slider] = rng.integers(0, len(table), n)
                continue
            weights = table[tuple(values[:, s] for s in around)] if around else np.broadcast_to(table, (n, len(table)))
            sums = np.cumsum(weights, axis=1)
            values[:, slider] = (sums <= (rng.random(n) * sums[:, -1])[:, None]).sum(axis=1)
        return values + plan.low

    # Colours.

    @cached_property
    def colorings(self) -> np.ndarray | None:
        """Every colouring of the classes that keeps the clauses, int[colourings, classes]; None where too many."""
        sets = [[c for c in range(16) if mask >> c & 1] for mask in self.plan.palette.tolist()]
        if np.prod([float(len(s)) for s in sets]) > MOST_COLORINGS:
            return None
        listed = list(product(*sets))
        colorings = np.array(listed, np.int64).reshape(len(listed), len(sets))
        return colorings[_keeps(self.plan, colorings)]

    @cached_property
    def colors(self) -> float:
        """How many colourings are proposed."""
        if self.colorings is not None:
            return float(len(self.colorings))
        return float(np.prod([float(int(mask).bit_count()) for mask in self.plan.palette.tolist()]))

    def _draw_colors(self, n: int, rng: np.random.Generator) -> np.ndarray:
        if self.colorings is not None:
            return self.colorings[rng.integers(0, len(self.colorings), n)]
        sets = [np.array([c for c in range(16) if mask >> c & 1]) for mask in self.plan.palette.tolist()]
        return np.stack([s[rng.integers(0, len(s), n)] for s in sets], axis=1)

    # Both.

    @property
    def proposals(self) -> float:
        """How many different proposals there are; each is equally likely."""
        return self.positions * self.colors

    def propose(self, n: int, rng: np.random.Generator) -> tuple[Placed, np.ndarray]:
        """n proposals, and which of them are objects of the plan."""
        sliders, classes = self._draw_sliders(n, rng), self._draw_colors(n, rng)
        placed = self._place(sliders, classes)
        good = self._fits(sliders) & fits_grid(placed)
        if self.colorings is None:
            good &= _keeps(self.plan, classes)
        return placed, good

    def _place(self, sliders: np.ndarray, classes: np.ndarray) -> Placed:
        plan = self.plan
        spots = sliders[:, plan.slider] + plan.offset  # [n, points, 2]
        return Placed(spots[:, :, 0], spots[:, :, 1], classes[:, plan.color])

    def _fits(self, sliders: np.ndarray) -> np.ndarray:
        good = np.ones(len(sliders), bool)
        for a, b, c in self.plan.unequal:
            good &= sliders[:, a] - sliders[:, b] != c
        if self._elimination_failed:
            for a, b, c in self.plan.apart:
                good &= sliders[:, a] - sliders[:, b] <= c
        return good

    @cached_property
    def _elimination_failed(self) -> bool:
        try:
            return not self._elimination
        except MemoryError:
            return True

    def everything(self) -> Placed:
        """All objects of the plan. Ask only where `proposals` is small."""
        assert self.colorings is not None
        ranges = [range(int(low), int(high) + 1) for low, high in zip(self.plan.low, self.plan.high)]
        sliders = self._listed(ranges)
        each = np.repeat(np.arange(len(sliders)), len(self.colorings))
        placed = self._place(sliders[each], np.tile(self.colorings, (len(sliders), 1)))
        return Placed(*(part[fits_grid(placed)] for part in placed))

    def _listed(self, ranges: list[range]) -> np.ndarray:
        """All slider values that keep all conditions, found slider by slider."""
        found = np.zeros((1, 0), np.int64)
        rows = [*((*row, "apart") for row in self.plan.apart), *((*row, "unequal") for row in self.plan.unequal)]
        for s, values in enumerate(ranges):
            found = np.hstack([np.repeat(found, len(values), axis=0), np.tile(np.array(values), len(found))[:, None]])
            for a, b, c, kind in rows:
                if max(a, b) == s:
                    step = found[:, a] - found[:, b]
                    found = found[step <= c if kind == "apart" else step != c]
                    # Distances first known at this slider cut the list before it grows further.
        return found


def _neighbours(slider: int, messages: list[_Message]) -> set[int]:
    return {s for message in messages if slider in message.sliders for s in message.sliders} - {slider}


def _keeps(plan: Plan, classes: np.ndarray) -> np.ndarray:
    """Which colourings keep the clauses, bool[n]."""
    good = np.ones(len(classes), bool)
    for clause in plan.clauses:
        either = np.zeros(len(classes), bool)
        for kind, a, b in clause:
            if kind == "in":
                either |= (b >> classes[:, a]) & 1 == 1
            else:
                either |= (classes[:, a] == classes[:, b]) == (kind == "alike")
        good &= either
    return good


def fits_grid(placed: Placed) -> np.ndarray:
    """Which objects have no two points on one cell, bool[n]."""
    cells = np.sort(placed.y.astype(np.int64) * 65_536 + placed.x, axis=1)
    return (cells[:, 1:] != cells[:, :-1]).all(axis=1)
