"""What stands beside networks on a results page: baselines and ideal learners that sit the same tests."""

import json
from pathlib import Path
from typing import Any

from recombine.benchmarks.scoring import score
from recombine.metrics.intervals import Interval
from recombine.store.engine import Progress
from recombine.store.recipe import Recipe
from recombine.store.store import Store, write_atomically

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


def solver_of(row: Row) -> str:
    """The name of a solver as a table has it."""
    name = str(row["solver"])
    return {"strong": "strong oracle", "weak": "weak oracle"}.get(name, name)


def score_of(row: Row, metric: str, times: float = 1.0) -> Interval:
    """A score in percent, or as many times that."""
    return Interval(*(times * row[metric][bound] for bound in ("value", "low", "high")))
