"""Times as people say them, and a clock for the stages of a long run."""

import time
from collections.abc import Callable
from typing import TypeVar

from recombine.report.table import Column, Table

T = TypeVar("T")


def time_of(seconds: float) -> str:
    """A time in words.

    >>> time_of(42), time_of(150), time_of(7_500)
    ('42 s', '2 min 30 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


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
