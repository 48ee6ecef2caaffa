"""A clock for the stages of a long run."""

import time
from collections.abc import Callable
from typing import TypeVar

from recombine.report.table import Column, Table

T = TypeVar("T")


class Clock:
    """Times the stages of a long run."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    def time(self, what: str, run: Callable[[], T]) -> T:
        start = time.monotonic()
        result = run()
        self.rows.append((what, time.monotonic() - start))
        return result

    def table(self, total: float) -> Table:
        columns = (Column("stage"), Column("seconds", "right"))
        note = "Wall time of this run; a stage that the store already had costs nothing."
        return Table("Times", columns, (*self.rows, ("everything", total)), note)
