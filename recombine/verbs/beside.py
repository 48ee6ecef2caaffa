"""What stands beside networks on a results page: baselines and ideal learners that sit the same tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recombine.metrics.intervals import Interval
from recombine.report.table import Column, Table
from recombine.store.engine import Progress
from recombine.store.recipe import Recipe
from recombine.store.store import Store, write_atomically
from recombine.verbs.scoring import score

VERSION = 1
"""Of all that the scores depend on but the data: baselines, features, exams."""
Row = dict[str, Any]
FILE = "scores.json"


def beside(benchmark: str, split: str, data: str, store: Store, progress: Progress, **options: Any) -> list[Row]:
    """All baselines and both ideal learners on a split whose data have this digest; the store keeps their scores."""
    recipe = Recipe("baselines", VERSION, {"benchmark": benchmark, "split": split, **options}, {"data": data})

    def make(draft: Path) -> None:
        found = score(None, benchmark, [split], store=store, progress=progress, **options).json()
        text = json.dumps(found, indent=1)
        write_atomically(draft / FILE, lambda part: part.write_text(text))

    rows: list[Row] = json.loads((store.get(recipe, make) / FILE).read_text())
    return rows


def beside_table(rows: Sequence[Row], metric: str, unit: float, format: str, note: str) -> Table:
    """One row for each test, one column for each solver; a score is in percent, or in hundreds of `unit`."""
    solvers = tuple(dict.fromkeys(row["solver"] for row in rows))
    named = {"strong": "strong oracle", "weak": "weak oracle"}
    columns = (Column("test"), *(Column(named.get(name, name), "right", format) for name in solvers))
    known = {(row["test"], row["solver"]): row[metric] for row in rows}
    tests = dict.fromkeys(row["test"] for row in rows)
    cells = tuple((test, *(_scaled(known[test, solver], unit) for solver in solvers)) for test in tests)
    return Table(f"Baselines and ideal learners, {metric}", columns, cells, note)


def _scaled(score: dict[str, float], unit: float) -> Interval:
    return Interval(*(unit * score[bound] / 100 for bound in ("value", "low", "high")))
