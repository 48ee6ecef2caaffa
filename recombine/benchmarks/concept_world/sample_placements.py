"""Placing: all ways to give the sliders of a plan values and its classes colours, counted and drawn uniformly.

Sliders that keep distances are counted exactly by eliminating them one after the other; drawing goes the way back, so
every choice that keeps the distances is equally likely. Choices in which two points share a cell, or that break an
inequality, are thrown away afterwards: what remains is uniform over what fits.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from math import inf, prod
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.plan import Plan
from recombine.benchmarks.concept_world.symmetry import Piece, in_order, orders, twins
from recombine.store.limit import check

WIDEST = 300_000
"""Entries of the largest table that an elimination may build."""
TOGETHER = 50_000
"""Objects that are listed at a time."""
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


class _Step(NamedTuple):
    """An eliminated slider: how often each of its values can be completed, given the sliders around it."""

    slider: int
    around: tuple[int, ...]
    table: np.ndarray  # float64, one axis per slider around, then its own


class Placer:
    """Draws from one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    # Sliders.

    @cached_property
    def _elimination(self) -> list[_Step] | None:
        """The sliders in the order of their elimination; None where a table would be too wide."""
        messages, left, steps = [self._distance(row) for row in self.plan.apart], set(range(self.plan.sliders)), []
        while left:
            check()
            slider = min(left, key=lambda s: (len(_neighbours(s, messages)), s))
            left.remove(slider)
            around = tuple(sorted(_neighbours(slider, messages)))
            if prod(float(self._width(s)) for s in (*around, slider)) > WIDEST:
                return None
            table = self._joined(slider, around, [m for m in messages if slider in m.sliders])
            messages = [m for m in messages if slider not in m.sliders]
            steps.append(_Step(slider, around, table))
            if around:
                messages.append(_Message(around, table.sum(axis=-1)))
        return steps

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
        table = np.ones(tuple(map(self._width, axes)))
        for message in messages:
            order = sorted(message.sliders, key=axes.index)
            moved = np.transpose(message.table, [message.sliders.index(s) for s in order])
            table = table * moved.reshape([self._width(s) if s in message.sliders else 1 for s in axes])
        return table

    @cached_property
    def positions(self) -> float:
        """How many choices of slider values are proposed; exactly those that keep the distances where that is easy."""
        if self._elimination is None:
            return prod(float(self._width(s)) for s in range(self.plan.sliders))
        return prod(float(step.table.sum()) for step in self._elimination if not step.around)

    def _draw_sliders(self, n: int, rng: np.random.Generator) -> np.ndarray:
        plan = self.plan
        if self._elimination is None:
            return rng.integers(plan.low.astype(np.int64), plan.high.astype(np.int64) + 1, (n, plan.sliders))
        values = np.zeros((n, plan.sliders), np.int64)
        for slider, around, table in reversed(self._elimination):
            if self._width(slider) == 1:
                continue
            if not around and (table == 1).all():
                values[:, slider] = rng.integers(0, len(table), n)
                continue
            weights = table[tuple(values[:, s] for s in around)] if around else np.broadcast_to(table, (n, len(table)))
            sums = np.cumsum(weights, axis=1)
            values[:, slider] = (sums <= (rng.random(n) * sums[:, -1])[:, None]).sum(axis=1)
        return values + plan.low

    def _draw_one_by_one(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Slider values that keep the distances, each uniform given those before it; so not uniform as a whole."""
        bound, values = self._closed(), np.zeros((n, 1 + self.plan.sliders), np.int64)  # slider 0 is always 0
        for slider in range(1, 1 + self.plan.sliders):
            high = (values[:, :slider] + bound[slider, :slider]).min(axis=1)
            low = (values[:, :slider] - bound[:slider, slider]).max(axis=1)
            values[:, slider] = rng.integers(low, high + 1)
        return values[:, 1:]

    def _closed(self) -> np.ndarray:
        """What is the most that slider a can exceed slider b by, as all conditions together tell."""
        plan, size = self.plan, 1 + self.plan.sliders
        bound = np.full((size, size), 1 << 20, np.int64)
        bound[1:, 0], bound[0, 1:] = plan.high, -plan.low.astype(np.int64)
        bound[plan.apart[:, 0] + 1, plan.apart[:, 1] + 1] = plan.apart[:, 2]
        np.fill_diagonal(bound, 0)
        for through in range(size):
            np.minimum(bound, bound[:, through, None] + bound[through], out=bound)
        return bound

    # Colours.

    @cached_property
    def colorings(self) -> np.ndarray | None:
        """Every colouring of the classes that keeps the clauses, int[colourings, classes]; None where too many."""
        sets = [[c for c in range(16) if mask >> c & 1] for mask in self.plan.palette.tolist()]
        if prod(float(len(s)) for s in sets) > MOST_COLORINGS:
            return None
        listed = list(product(*sets))
        colorings = np.array(listed, np.int64).reshape(len(listed), len(sets))
        return colorings[_keeps(self.plan, colorings)]

    @cached_property
    def colors(self) -> float:
        """How many colourings are proposed."""
        if self.colorings is not None:
            return float(len(self.colorings))
        return prod(float(int(mask).bit_count()) for mask in self.plan.palette.tolist())

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

    @cached_property
    def _twins(self) -> list[list[Piece]]:
        return twins(self.plan)

    @property
    def different(self) -> float:
        """How many proposals there are when twins that change places make no difference; infinite where too many."""
        try:
            return self.proposals / orders(self._twins)
        except OverflowError:
            return inf

    def propose(self, n: int, rng: np.random.Generator) -> tuple[Placed, np.ndarray]:
        """n proposals, and which of them are objects of the plan."""
        return self._checked(self._draw_sliders(n, rng), self._draw_colors(n, rng))

    def attempt(self, n: int, rng: np.random.Generator) -> tuple[Placed, np.ndarray]:
        """As `propose`, but sooner successful where distances are many, and not always uniform."""
        draw = self._draw_sliders if self._elimination is not None else self._draw_one_by_one
        return self._checked(draw(n, rng), self._draw_colors(n, rng))

    def _checked(self, sliders: np.ndarray, classes: np.ndarray) -> tuple[Placed, np.ndarray]:
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
        if self._elimination is None:
            for a, b, c in self.plan.apart:
                good &= sliders[:, a] - sliders[:, b] <= c
        return good

    def everything(self) -> Iterator[Placed]:
        """All objects of the plan with twins in one order, some at a time. Ask only where `proposals` is small."""
        assert self.colorings is not None
        sliders = self._all_sliders()
        together = max(1, TOGETHER // max(1, len(self.colorings)))
        for at in range(0, len(sliders), together):
            check()
            some = sliders[at : at + together]
            each = np.repeat(np.arange(len(some)), len(self.colorings))
            placed = self._place(some[each], np.tile(self.colorings, (len(some), 1)))
            good = fits_grid(placed) & in_order(self._twins, placed.x, placed.y)
            yield Placed(*(part[good] for part in placed))

    def _all_sliders(self) -> np.ndarray:
        """All slider values that keep all conditions; as elimination goes back, no list is longer than the last."""
        widths = list(map(self._width, range(self.plan.sliders)))
        if self._elimination is None:
            values = np.indices(widths).reshape(len(widths), -1).T
        else:
            values = np.zeros((1, len(widths)), np.int64)
            for slider, around, table in reversed(self._elimination):
                possible = np.broadcast_to(
                    (table > 0)[tuple(values[:, s] for s in around)], (len(values), widths[slider])
                )
                row, value = np.nonzero(possible)
                values = values[row]
                values[:, slider] = value
        sliders = values + self.plan.low
        return sliders[self._fits(sliders)]


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
