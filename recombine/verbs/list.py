"""`recombine list`."""

from collections.abc import Mapping
from typing import Any

from recombine import benchmarks
from recombine.report.table import Column, Table
from recombine.verbs import Answer, Open


def run(what: str | None, open: Open, asked: Mapping[str, Any]) -> Answer:
    told: list[str] = []
    if what is None:
        rows = tuple((one.name, one.held_out, one.about, one.paper) for one in benchmarks.every(told))
        columns = (Column("benchmark"), Column("held out", "right"), Column("what"), Column("paper"))
        table = Table("Benchmarks", columns, rows)
    else:
        with open() as study:
            table = study.list()
    return Answer((table,), table.json(), tuple(told))
