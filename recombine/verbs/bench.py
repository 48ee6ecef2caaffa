"""`recombine bench`."""

from collections.abc import Mapping
from typing import Any

from recombine.metrics.speed import Speed
from recombine.report.table import Column, Table
from recombine.store.durations import duration
from recombine.verbs import Answer, Open

NOTE = (
    "CPU time of one core; plain: the same in plain Python, measured in this run; questions with their text. The "
    "released code's figures were measured elsewhere."
)


def run(what: str, open: Open, asked: Mapping[str, Any]) -> Answer:
    with open() as study:
        rows = tuple(map(_row, study.speeds()))
        settings = ", ".join(f"{name} {value}" for name, value in study.settings.items())
    names = ("ours", "plain", "ratio", "target", "released")
    columns = (Column("what"), *(Column(name, "right") for name in names))
    table = Table(f"Speed of {what}, {settings}", columns, rows, NOTE)
    return Answer((table,), table.json())


def _ratio(speed: Speed) -> str | None:
    """How many times faster than the plain reference, or else than the released code."""
    if speed.plain:
        return f"{speed.plain / speed.ours:,.0f}x"
    return f"{speed.released / speed.ours:,.0f}x (released)" if speed.released else None


def _row(speed: Speed) -> tuple[str | None, ...]:
    return (
        speed.what,
        duration(speed.ours),
        duration(speed.plain) if speed.plain else None,
        _ratio(speed),
        f"≤ {duration(speed.target)}",
        duration(speed.released) if speed.released else None,
    )
