"""Batches: which rows are learnt from at which step.

There are one or more stages, each with rows of its own; all but the last have so many epochs. In an epoch every row
of the stage comes once, in an order that the key and the epoch decide, so a training can begin anywhere. Where rows are
said to be alike, such as questions of one length, these go together as far as possible, so that little is filled up.

>>> batches = Batches((Stage(np.arange(5)),), 2, Key(0))
>>> [len(batches.rows(step)) for step in range(3)], batches.epoch(3).number
([2, 2, 1], 1)
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from recombine.store.key import Key


@dataclass(frozen=True, eq=False)
class Stage:
    """Rows to learn from, for so many epochs; the last stage has no end."""

    rows: np.ndarray  # int[n]
    epochs: int = 0
    alike: np.ndarray | None = None  # int[n]: rows with the same number, or the next, come in the same steps


class Epoch(NamedTuple):
    """Where a step is."""

    number: int
    stage: int
    start: int
    """The first step of the epoch."""
    end: int
    """The first step after it."""


class Batches:
    """The rows of every step."""

    def __init__(self, stages: tuple[Stage, ...], batch: int, key: Key) -> None:
        self.stages, self.batch, self.key = stages, batch, key
        self._order = lru_cache(maxsize=1)(self._new_order)

    def steps(self, epochs: int) -> int:
        """How many steps it takes with so many epochs of its last stage."""
        first = sum(stage.epochs * self._length(stage) for stage in self.stages[:-1])
        return first + epochs * self._length(self.stages[-1])

    def epoch(self, step: int) -> Epoch:
        """The epoch of a step."""
        number, start = 0, 0
        for place, stage in enumerate(self.stages):
            length, last = self._length(stage), place == len(self.stages) - 1
            done = (step - start) // length
            if last or done < stage.epochs:
                return Epoch(number + done, place, start + done * length, start + (done + 1) * length)
            number, start = number + stage.epochs, start + stage.epochs * length
        raise AssertionError("there are stages")

    def rows(self, step: int) -> np.ndarray:
        """The rows of a step, int[at most batch]."""
        epoch = self.epoch(step)
        at = (step - epoch.start) * self.batch
        return self._order(epoch.number, epoch.stage)[at : at + self.batch]

    def _new_order(self, epoch: int, stage: int) -> np.ndarray:
        rng, rows, alike = (self.key / "order" / epoch).rng(), self.stages[stage].rows, self.stages[stage].alike
        if alike is None:
            return rng.permutation(rows)
        order = rng.permutation(len(rows))
        rest, order = np.split(order, [len(rows) % self.batch])  # the last step has fewer rows, of any kind
        order = order[np.argsort(alike[order], kind="stable")].reshape(-1, self.batch)
        return rows[np.concatenate([rng.permutation(order).reshape(-1), rest])]

    def _length(self, stage: Stage) -> int:
        """The steps of an epoch."""
        return -(-len(stage.rows) // self.batch)
