"""Comparisons: how likely a difference is if there were none, and what remains of many tests at once.

A list of findings makes many comparisons, and one in twenty would come out by chance at the usual level. `holm` turns
their p-values into ones that can be read together: if all with an adjusted p below 0.05 are called decided, the chance
that any of these calls is wrong stays below 0.05, whatever the comparisons have to do with each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from recombine.metrics.intervals import LEVEL, Interval
from recombine.metrics.seeds import over_seeds
from recombine.store.errors import UserError

ALPHA = 1 - LEVEL


def holm(p: Sequence[float]) -> list[float]:
    """The p-values adjusted by Holm's steps, in the order given.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factor = np.arange(len(p), 0, -1)
    adjusted = np.minimum(1.0, np.maximum.accumulate(np.asarray(p, float)[order] * factor)) if len(p) else np.zeros(0)
    found = np.empty(len(p))
    found[order] = adjusted
    return found.tolist()


def together(margins: Sequence[Interval]) -> list[Interval]:
    """The same intervals, each with its p-value adjusted for all of them; one without a test is left as it is."""
    tested = [i for i, margin in enumerate(margins) if margin.p is not None]
    found = list(margins)
    for i, p in zip(tested, holm([margins[i].p or 0.0 for i in tested])):
        found[i] = replace(margins[i], p=p)
    return found


@dataclass(frozen=True)
class Order:
    """A claimed order, from the largest to the smallest, and what values over seeds say of it."""

    names: tuple[str, ...]
    steps: tuple[Interval, ...]
    """By how much each name is above the next, with p-values adjusted for all steps."""
    in_order: int
    """Seeds in which the whole order holds."""
    seeds: int

    @property
    def holds(self) -> bool:
        """Whether the means stand in this order."""
        return all(step.value > 0 for step in self.steps)

    @property
    def decided(self) -> bool:
        """Whether every step is beyond the scatter over seeds, all taken together."""
        return self.holds and all(step.p is not None and step.p < ALPHA for step in self.steps)

    @property
    def open(self) -> tuple[tuple[str, str], ...]:
        """The neighbours whose order is not decided."""
        unsure = (step.value <= 0 or step.p is None or step.p >= ALPHA for step in self.steps)
        return tuple(pair for pair, one in zip(pairwise(self.names), unsure) if one)

    def text(self) -> str:
        """One sentence."""
        sure = len(self.steps) - len(self.open)
        said = f"{sure} of {len(self.steps)} steps of the order are decided over {self.seeds} seeds"
        rest = "; ".join(f"{one} and {other}" for one, other in self.open)
        return f"{said}, and all of it holds in {self.in_order} of them" + (f"; open: {rest}." if rest else ".")


def ordered(values: Mapping[str, np.ndarray], names: Sequence[str]) -> Order:
    """Test an order of values, float[seeds] each, where one place of all arrays is one seed."""
    if unknown := [name for name in names if name not in values]:
        raise UserError(f"there are no values of {', '.join(unknown)}; there are some of {', '.join(values)}")
    columns = [np.asarray(values[name], float) for name in names]
    if len({len(column) for column in columns}) != 1:
        raise UserError("an order is tested seed by seed: all names need values for the same seeds")
    apart = np.stack([one - other for one, other in pairwise(columns)])
    steps = together([over_seeds(step, -np.inf, np.inf) for step in apart])
    return Order(tuple(names), tuple(steps), int((apart > 0).all(axis=0).sum()), apart.shape[1])
