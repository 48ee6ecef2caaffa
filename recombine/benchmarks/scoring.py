"""Scoring solvers: any of them, on any exam, beside the ideal learners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from recombine import benchmarks
from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import over_seeds
from recombine.report.table import Cell, Column, Table
from recombine.solvers.baselines import BASELINES
from recombine.solvers.sitting import Answering, Result, sit, taught
from recombine.solvers.sitting import answered as answered_by
from recombine.solvers.solver import Solver
from recombine.solvers.user_solver import own, read_solver
from recombine.store.engine import Progress
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.exam import Exam

__all__ = ["IDEAL", "Scored", "answered_by", "brief", "score", "score_table", "scores", "solvers_named"]

IDEAL = ("strong", "weak")
"""The ideal learners that every benchmark has."""
Scored = list[tuple[str, str, Result]]
"""Exam, solver and result."""


def score(solver: Any, benchmark: str, splits: Sequence[str] = (), **options: Any) -> Table:
    """The scores of solvers on a benchmark; `options` are those of its study and of its method `score`."""
    mine = signature(benchmarks.get(benchmark).study.score).parameters
    asked = {name: options.pop(name) for name in [*options] if name in mine}
    known = dict.fromkeys(benchmarks.get(benchmark).study.solvers, BASELINES["chance"])
    solvers_named(() if solver is None else solver, known)  # before anything is made
    with benchmarks.load(benchmark, **options) as study:
        found: Table = study.score(solver, splits, **asked)
        return found


def solvers_named(wanted: Any, more: Mapping[str, Callable[[], Solver]] | None = None) -> dict[str, Solver | None]:
    """Solvers by name, the ideal learners last; None for these, as each exam has its own.

    A benchmark may have `more` solvers than the baselines that all have.
    """
    few = list(wanted) if isinstance(wanted, Sequence) and not isinstance(wanted, str) else [wanted]
    found: dict[str, Solver | None] = {}
    for one in few:
        solver = _solver(one, {**BASELINES, **(more or {})})
        name = one if isinstance(one, str) and ":" not in one else getattr(solver, "name", "")
        if solver is not None and name in IDEAL:
            raise UserError(f"'{name}' is the name of an ideal learner; give your solver another name")
        if name in found:
            raise UserError(f"two solvers are called '{name}'; give each a name of its own")
        found[name] = solver
    return {**found, **dict.fromkeys(IDEAL)}


def _solver(wanted: Any, known: Mapping[str, Callable[[], Solver]]) -> Solver | None:
    if not isinstance(wanted, str):
        return own(wanted)
    if wanted in IDEAL:
        return None
    if wanted in known:
        return known[wanted]()
    if ":" in wanted:
        return read_solver(wanted)
    raise UserError(
        f"there is no solver '{wanted}'; choose one of {', '.join((*known, *IDEAL))}, or write FILE.py:NAME"
    )


def scores(
    solvers: Mapping[str, Solver | None],
    exams: Sequence[Exam],
    ideal: Callable[[Exam], Mapping[str, Answering]],
    key: Key,
    progress: Progress,
) -> Scored:
    """Every solver on every exam; one that has learnt goes on to the next exam with the same training."""
    found: dict[tuple[str, str], Result] = {}
    for name, solver in solvers.items():
        learnt: tuple[Callable, Solver] | None = None
        for exam in exams:
            progress("exams", len(found), len(exams) * len(solvers))
            if solver is None:
                found[exam.name, name] = sit(ideal(exam)[name], exam, name)
                continue
            if learnt is None or learnt[0] is not exam.train:
                learnt = exam.train, taught(solver, exam, key / name / exam.name)
            found[exam.name, name] = sit(learnt[1], exam, name)
    progress("exams", len(found), len(found))
    return [(exam.name, name, found[exam.name, name]) for exam in exams for name in solvers]


def score_table(title: str, found: Scored, unit: str = "units") -> Table:
    """The scores that all results have."""
    shared = [score for score in found[0][2].scores if all(score in result.scores for _, _, result in found)]
    columns = (Column("test"), Column("solver"), Column("units", "right"), *(Column(name, "right") for name in shared))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (exam, name, result.units, *(_percent(result.scores[score]) for score in shared))
        for exam, name, result in found
    )
    note = f"Percent, with 95 % intervals over units: {unit}. Strong and weak are ideal learners."
    return Table(title, columns, rows, note)


SHOWN = 2
"""Scores that the terminal has room for."""


def brief(table: Table) -> Table:
    """The first scores of a table of `score`, as wide as a terminal."""
    keep = [i for i, column in enumerate(table.columns) if column.name != "units"][: 2 + SHOWN]
    return replace(
        table,
        columns=tuple(table.columns[i] for i in keep),
        rows=tuple(tuple(row[i] for i in keep) for row in table.rows),
    )


def _percent(share: Interval) -> Interval:
    return Interval(100 * share.value, 100 * share.low, 100 * share.high)


def over_worlds(found: Sequence[Table]) -> Table:
    """The mean of the same scores over several worlds, with its interval over them."""
    if len(found) == 1:
        return found[0]
    rows = []
    for same in zip(*(table.rows for table in found)):
        cells = list(same[0])
        for place, cell in enumerate(cells):
            if isinstance(cell, Interval):
                values = np.array([row[place].value for row in same])
                cells[place] = over_seeds(values, 0.0, 100.0)
        rows.append(tuple(cells))
    note = f"Percent, mean over {len(found)} worlds with 95 % intervals over them. Strong and weak are ideal learners."
    return replace(found[0], title=f"{found[0].title}, seeds {len(found)}", rows=tuple(rows), note=note)
