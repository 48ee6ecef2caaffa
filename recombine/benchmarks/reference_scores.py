"""What stands beside networks: baselines and ideal learners that sit the same tests."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recombine.benchmarks.networks import Job
from recombine.benchmarks.scoring import score
from recombine.metrics.intervals import Interval
from recombine.report.table import Column, Table
from recombine.store.engine import InProcess, Progress
from recombine.store.outputs import write_text
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from recombine.store.untrusted import read_json

VERSION = 2
"""Of all that the scores depend on but the data: baselines, features, exams."""
Row = dict[str, Any]
FILE = "scores.json"
IDEAL = {"strong": "strong oracle", "weak": "weak oracle"}


def reference_tables(jobs: Iterable[tuple[str, Job]], store: Store, progress: Progress) -> dict[str, Table]:
    """A table for each world, where somebody can sit its tests."""
    found = {}
    for world, job in jobs:
        options = job.networks.reference(job, job.networks.open(job, store, InProcess()))
        if options:
            found[world] = _table(world, job, reference_scores(job.benchmark, store, progress, **options))
    return found


def reference_scores(
    benchmark: str, store: Store, progress: Progress, *, split: str, data: str, **options: Any
) -> list[Row]:
    """All baselines and both ideal learners on a split whose data have this digest; the store keeps their scores."""
    recipe = Recipe("baselines", VERSION, {"benchmark": benchmark, "split": split, **options}, {"data": data})
    asked = {{"episodes": "first"}.get(name, name): value for name, value in options.items()}

    def make(draft: Path) -> None:
        found = score(None, benchmark, [split], store=store, progress=progress, **asked).json()
        write_text(draft / FILE, json.dumps(found, indent=1))

    rows: list[Row] = read_json(store.get(recipe, make) / FILE, list)
    return rows


def _table(world: str, job: Job, rows: list[Row]) -> Table:
    scores: dict[str, dict[str, Interval]] = {}
    for row in rows:
        scores.setdefault(IDEAL.get(row["solver"]) or row["solver"], {}).update(job.networks.sat(row))
    tests = tuple(dict.fromkeys(test for one in scores.values() for test in one))
    columns = (Column("solver"), *(Column(test, "right", job.networks.format) for test in tests))
    cells = tuple((solver, *map(one.get, tests)) for solver, one in scores.items())
    return Table(f"Baselines and ideal learners, {world}", columns, cells, job.networks.reference_note)


def score_of(row: Mapping[str, Any], metric: str, times: float = 1.0) -> Interval:
    """A score in percent, or as many times that."""
    return Interval(*(times * row[metric][bound] for bound in ("value", "low", "high")))
