"""Endless rows: world after world, each from the next seed; the same seed gives the same rows for ever.

A *curriculum* is a list of levels, each with options of its own; the first level is the easiest. One goes up when the
mean score of so many rows in a row is high enough, or after so many rows.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import count
from typing import Any

from recombine import benchmarks
from recombine.store.errors import UserError
from recombine.tasks.rows import Row


@dataclass(frozen=True)
class Level:
    """What rows of a level are like, and when it is left."""

    options: Mapping[str, Any]
    rows: int | None = None
    """After so many rows, whatever they earned."""
    mastered: float = 0.8
    """The mean score at which one goes up."""
    window: int = 64
    """Of so many rows."""


class Endless(Iterator[Row]):
    """Rows without end. `told` with the score of a row lets it go up a level."""

    def __init__(
        self,
        benchmark: str,
        splits: Sequence[str] = (),
        *,
        seed: int = 0,
        part: str = "train",
        curriculum: Sequence[Level | Mapping[str, Any]] = (),
        **options: Any,
    ) -> None:
        self.benchmark, self.seed = benchmark, seed
        levels = [one if isinstance(one, Level) else Level(one) for one in curriculum] or [Level({})]
        self.levels = [
            replace(one, options={"splits": splits, "part": part, **options, **one.options}) for one in levels
        ]
        self.level, self.seen = 0, 0
        self._scores: deque[float] = deque(maxlen=levels[0].window)
        for one in self.levels:  # before anything is made
            _sorted(benchmark, one.options)
        self._streams = [self._rows(place) for place in range(len(self.levels))]

    def __next__(self) -> Row:
        level = self.levels[self.level]
        if level.rows is not None and self.seen >= level.rows:
            self._up()
        self.seen += 1
        return next(self._streams[self.level])

    def told(self, score: float) -> None:
        """What a row of this level has earned."""
        level = self.levels[self.level]
        self._scores.append(score)
        if len(self._scores) == level.window and sum(self._scores) >= level.mastered * level.window:
            self._up()

    def _up(self) -> None:
        if self.level + 1 < len(self.levels):
            self.level, self.seen = self.level + 1, 0
            self._scores = deque(maxlen=self.levels[self.level].window)

    def _rows(self, place: int) -> Iterator[Row]:
        """The rows of a level. Levels have worlds of their own, so that no row comes twice."""
        made, asked = _sorted(self.benchmark, self.levels[place].options)
        for world in count():
            empty = True
            with benchmarks.load(self.benchmark, seed=self.seed + world * len(self.levels) + place, **made) as study:
                for row in study.rows(**asked):
                    empty = False
                    yield row
            if empty:
                raise UserError(f"{self.benchmark} has no rows of this difficulty; ask for less: {dict(asked)}")


def _sorted(benchmark: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of a study, and those of its rows."""
    study = benchmarks.get(benchmark).study
    rows, world = signature(study.rows).parameters, signature(study).parameters
    if unknown := [name for name in options if name not in rows and name not in world]:
        known = ", ".join([*(name for name in rows if name != "self"), *world])
        raise UserError(f"{benchmark} has no option '{unknown[0]}'; it has {known}")
    asked = {name: value for name, value in options.items() if name in rows}
    return {name: value for name, value in options.items() if name not in rows}, asked
