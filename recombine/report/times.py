"""A clock for the stages of a long run."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from recombine.report.document import Chapter
from recombine.report.table import Column, Table

T = TypeVar("T")
TITLE = "Times"


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
        return Table(TITLE, columns, (*self.rows, ("everything", total)), note)


def untimed(chapter: Chapter) -> Chapter:
    """A chapter without its times, which are others in every run."""
    return replace(
        chapter, items=tuple(one for one in chapter.items if not (isinstance(one, Table) and one.title == TITLE))
    )
