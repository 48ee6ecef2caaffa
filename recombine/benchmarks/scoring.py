"""Scoring solvers: any of them, on any benchmark, beside the ideal learners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from recombine import benchmarks
from recombine.benchmarks.clevr import exam as clevr
from recombine.benchmarks.clevr.facade import Clevr
from recombine.benchmarks.closure import exam as closure
from recombine.benchmarks.closure.facade import Closure
from recombine.benchmarks.concept_world import exam as concept_world
from recombine.benchmarks.concept_world.facade import ConceptWorld
from recombine.benchmarks.curi import exam as curi
from recombine.benchmarks.curi.facade import NEGATIVES, Curi
from recombine.metrics.intervals import Interval
from recombine.report.table import Cell, Column, Table
from recombine.solvers.baselines import BASELINES
from recombine.solvers.own import own, read_solver
from recombine.solvers.sitting import Answering, Result, sit, taught
from recombine.solvers.solver import Solver
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import call, given
from recombine.store.store import Store
from recombine.tasks.exam import Exam

IDEAL = ("strong", "weak")
"""The ideal learners that every benchmark has."""


class Subject(NamedTuple):
    """The exams of a benchmark, its ideal learners, and the baselines that say something about it."""

    load: Callable[..., Any]
    exams: Callable[..., list[Exam]]
    learners: Callable[[Any, Exam], Mapping[str, Answering]]
    baselines: tuple[str, ...]


def _curi(loaded: Curi, splits: Sequence[str] = (), negatives: str = "hard", episodes: int | None = None) -> list[Exam]:
    if negatives not in NEGATIVES:
        raise UserError(f"there are no '{negatives}' negatives; choose hard or easy")
    return curi.exams(loaded.study, splits, cast(Any, negatives), episodes)


def _clevr(loaded: Clevr) -> list[Exam]:
    return clevr.exams(loaded.study)


def _closure(loaded: Closure, splits: Sequence[str] = ()) -> list[Exam]:
    return closure.exams(loaded.study, splits)


def _concept_world(loaded: ConceptWorld, splits: Sequence[str] = ()) -> list[Exam]:
    return concept_world.exams(loaded.study, splits or loaded.experiments)


def _of_study(learners: Callable[[Any, Exam], Mapping[str, Answering]]) -> Callable:
    return lambda loaded, exam: learners(loaded.study, exam)


_SCENES = ("chance", "majority", "nearest", "statistics")
_QUESTIONS = ("chance", "majority", "form", "nearest", "statistics")
SUBJECTS: dict[str, Subject] = {
    "curi": Subject(Curi, _curi, _of_study(curi.learners), _SCENES),
    "clevr": Subject(Clevr, _clevr, lambda loaded, exam: clevr.learners(), _QUESTIONS),
    "closure": Subject(Closure, _closure, lambda loaded, exam: clevr.learners(), _QUESTIONS),
    "concept-world": Subject(ConceptWorld, _concept_world, _of_study(concept_world.learners), _SCENES),
}


def score(
    solver: Any,
    benchmark: str,
    splits: Sequence[str] = (),
    *,
    negatives: str | None = None,
    episodes: int | None = None,
    scale: str = "demo",
    edition: str | None = None,
    seed: int = 0,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress = silent,
) -> Table:
    """The scores of solvers on every exam of a benchmark, in percent, and those of the ideal learners beside them.

    `solver` is the name of a baseline, "strong" or "weak"; FILE.py:NAME; a function, a class or an object with
    `predict`; a list of such; or None for all baselines. `splits` are CURI's splits, CLOSURE's tests or ConceptWorld's
    experiments, by default all; `episodes` of CURI are the first so many of each split.
    """
    subject = SUBJECTS[benchmarks.get(benchmark).name]
    chosen = _solvers(subject.baselines if solver is None else solver)
    made: dict[str, Any] = {"scale": scale, "seed": seed, "workers": workers, "store": store, "progress": progress}
    with call(benchmark, subject.load, **made, **given(edition=edition)) as loaded:
        exams = call(benchmark, subject.exams, loaded, **given(splits=splits, negatives=negatives, episodes=episodes))
        found = _scores(chosen, exams, lambda exam: subject.learners(loaded, exam), Key(seed) / "score", progress)
    return _table(f"{benchmarks.get(benchmark).title}, scale {scale}, seed {seed}", found)


def _solvers(wanted: Any) -> dict[str, Solver | None]:
    """Solvers by name, the ideal learners last; None for these, as each exam has its own."""
    few = list(wanted) if isinstance(wanted, Sequence) and not isinstance(wanted, str) else [wanted]
    found: dict[str, Solver | None] = {}
    for one in few:
        solver = _solver(one)
        name = one if isinstance(one, str) and ":" not in one else getattr(solver, "name", "")
        if solver is not None and name in IDEAL:
            raise UserError(f"'{name}' is the name of an ideal learner; give your solver another name")
        if name in found:
            raise UserError(f"two solvers are called '{name}'; give each a name of its own")
        found[name] = solver
    return {**found, **dict.fromkeys(IDEAL)}


def _solver(wanted: Any) -> Solver | None:
    if not isinstance(wanted, str):
        return own(wanted)
    if wanted in IDEAL:
        return None
    if wanted in BASELINES:
        return BASELINES[wanted]()
    if ":" in wanted:
        return read_solver(wanted)
    raise UserError(
        f"there is no solver '{wanted}'; choose one of {', '.join((*BASELINES, *IDEAL))}, or write FILE.py:NAME"
    )


Scored = list[tuple[str, str, Result]]
"""Exam, solver and result."""


def _scores(
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


def _table(title: str, found: Scored) -> Table:
    shared = [score for score in found[0][2].scores if all(score in result.scores for _, _, result in found)]
    columns = (Column("test"), Column("solver"), Column("units", "right"), *(Column(name, "right") for name in shared))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (exam, name, result.units, *(_percent(result.scores[score]) for score in shared))
        for exam, name, result in found
    )
    note = "Percent, with 95 % intervals over units: episodes, questions or images. Strong and weak are ideal learners."
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
