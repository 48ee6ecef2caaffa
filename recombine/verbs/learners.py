"""What one can do with networks: train them, test them, and put many runs into tables beside the paper's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from recombine.benchmarks import networks as of_networks
from recombine.benchmarks.networks import SETTINGS, Job, Networks, changes, chosen, job_of, networks_of, settings
from recombine.benchmarks.reference_scores import reference_tables
from recombine.benchmarks.run_tables import brief as brief
from recombine.benchmarks.run_tables import cost_table, runs_table, score_table, settings_table
from recombine.benchmarks.runs import Group, Outcome, Outcomes, mean_of, read_outcomes, with_ideal
from recombine.benchmarks.study import Splits
from recombine.report.document import ENDINGS, Chapter, write_document
from recombine.report.findings import finding_tables
from recombine.report.notes import notes_of
from recombine.report.table import Cell, Column, Table
from recombine.report.training_progress import ProgressPrinter
from recombine.solvers.training import records
from recombine.solvers.training.records import as_written, read_config, read_results
from recombine.solvers.training.settings import need_torch
from recombine.solvers.training.tracking import tracked
from recombine.store.durations import time_of
from recombine.store.engine import Engine, InProcess, Progress, engine, silent
from recombine.store.errors import UserError
from recombine.store.outputs import folder_for_runs, free_file, positive
from recombine.store.store import Store
from recombine.tasks.made_splits import is_file

Models = Annotated[Sequence[str], "A network; repeat for several. Default: all."]


def train(
    benchmark: str,
    splits: Splits = (),
    models: Models = (),
    *,
    seed: Annotated[int, "Another seed gives another world to learn from."] = 0,
    seeds: Annotated[int, "How many seeds of each network, each a run of its own."] = 1,
    first_seed: Annotated[int, "The first seed of the networks."] = 0,
    out: Annotated[str | Path, "Where the runs are; finished ones are kept, others go on."] = "runs",
    scale: Annotated[str, "How much data: demo, laptop or paper, which may be gigabytes, made once."] = "demo",
    workers: Annotated[int | Engine, "Runs at once, each with one thread. Default: all cores here, one in Python."] = 1,
    rate: Annotated[float | None, "The learning rate. Default: the paper's."] = None,
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], "auto takes the fastest."] = "auto",
    precision: Annotated[
        Literal["float32", "bfloat16"], "bfloat16 is faster on a GPU or with AMX, far slower elsewhere."
    ] = "float32",
    track: Annotated[str | None, "Also tell trackio or wandb what is measured; the package must be installed."] = None,
    store: Store | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Table:
    """Train networks, each on each split from each of so many seeds; what is done already is kept.

    `options` are those that the networks of a benchmark have of their own.
    """
    need_torch()
    from recombine.solvers.training.loop import devices

    networks = networks_of(benchmark)
    positive(workers=workers if isinstance(workers, int) else None, seeds=seeds)
    wanted = chosen(networks, options)
    given = {"rate": rate, "device": devices()[0] if device == "auto" else device, "precision": precision}
    names = list(dict.fromkeys(models or networks.models))
    kinds = [_job(networks, model, wanted, scale, seed, given) for model in names]
    for option in changes(wanted):
        if not any(option in changes(kind.options) for kind in kinds):
            raise UserError(f"the option '{option}' says nothing to {', '.join(names)}; leave it out")
    place, store = folder_for_runs(out), store or Store.default()
    with tracked(track), engine(workers, progress) as running:
        study = networks.study(kinds[0], store, running)
        jobs = [
            replace(kind, split=split, seed=number, made=file)
            for number in range(first_seed, first_seed + seeds)
            for split, file in _named(networks, study, splits).items()
            for kind in kinds
        ]
        for job in jobs:
            of_networks.check(job, study, place)
        of_networks.need_room(jobs, study, store, place)
        running.ready()
        for job in jobs:
            of_networks.check_data(job, study, place)
        for job in {job.split: job for job in jobs}.values():
            networks.prepare(job, study)
        folders = running.map(_Learn(store.home, place), jobs, "runs")
    done = {job.name: folder for job, folder in zip(jobs, folders)}
    _refuse_failed(done)
    return _runs(networks, [(name, read_results(place / name) or {}) for name in done])


def _named(networks: Networks[Any], study: Any, splits: Sequence[str]) -> dict[str, str]:
    """The splits to learn from, by default the benchmark's; of those that were made, with their file."""
    found: dict[str, str] = {}
    for split in splits or networks.splits(study):
        if is_file(split):
            file = str(Path(split).absolute())
            found |= dict.fromkeys(networks.know(study, file), file)
        else:
            found[split] = ""
    return found


def _job(networks: Networks[Any], model: str, options: Any, scale: str, seed: int, given: dict[str, Any]) -> Job:
    """A job of a network, of which split and seed are still open."""
    training, own = settings(networks, model, options, **given), networks.concerning(options, model)
    settled = {one.name: one.default for one in fields(own) if one.name in SETTINGS}
    return Job(networks.benchmark, "", model, 0, scale, seed, replace(own, **settled), training)


@dataclass(frozen=True)
class _Learn:
    """Does a job in a process of its own, or says what went wrong."""

    home: Path
    out: Path

    def __call__(self, job: Job) -> Path | UserError:
        try:
            study = job.networks.open(job, Store(self.home), InProcess())
            return of_networks.learn(job, study, self.out, ProgressPrinter(job.name, where=job.training.where))
        except UserError as error:
            return error


def _refuse_failed(found: Mapping[str, Path | UserError]) -> None:
    """Say which runs failed and why, when all others are done."""
    failed = [(name, error) for name, error in found.items() if isinstance(error, UserError)]
    if len(found) == 1 and failed:
        raise failed[0][1]
    if failed:
        (name, error), *others = failed
        also = f"; so did {', '.join(other for other, _ in others)}" if others else ""
        done = "none is done" if len(failed) == len(found) else "the others are done"
        raise UserError(f"{len(failed)} of {len(found)} runs failed, {done}; {name}: {error}{also}")


def _runs(networks: Networks[Any], found: Iterable[tuple[str, dict[str, Any]]]) -> Table:
    """A row for each run: its mean score in each test."""
    scores = [(name, results, networks.scores(results)) for name, results in found]
    tests = tuple(dict.fromkeys(test for _, _, one in scores for test in one))
    numbers = (Column("steps", "right"), *(Column(test, "right", networks.format) for test in tests))
    rows: list[tuple[Cell, ...]] = []
    for name, results, one in scores:
        cells = (mean_of(one[test].values()) if test in one else None for test in tests)
        short = name.removeprefix(f"{networks.benchmark}-")
        rows.append((short, results["steps"], *cells, time_of(results["cpu_seconds"])))
    note = "recombine eval RUN tells more of one of them."
    return Table(f"Runs of {networks.benchmark}", (Column("run"), *numbers, Column("CPU", "right")), tuple(rows), note)


def evaluate(
    run: str | Path, *, store: Store | None = None, progress: Progress = silent, **options: Any
) -> list[Table]:
    """Test a run again with its best weights; some benchmarks have options for their tests."""
    need_torch()
    folder = Path(run)
    config = read_config(folder)
    job = job_of(config, folder)
    if unknown := sorted(set(options) - set(job.networks.examined)):
        raise UserError(f"{job.benchmark} has no option '{unknown[0]}' to test a run")
    before = read_results(folder) or {}
    as_before = {name: before[name] for name in job.networks.examined if name in before}
    job = replace(job, options=replace(job.options, **{**as_before, **options}))
    store = store or Store.default()
    study = job.networks.open(job, store, InProcess(progress))
    found, ideal = of_networks.examine(folder, study, job), job.networks.ideal(job, study)
    group = Group((Outcome(job, config, found, job.networks.scores(found)),))
    others = {} if ideal else reference_tables([(job.split, job)], store, progress)
    scores = score_table(f"{group.name}, {group.world}, seed {job.seed}", [group], {group.world: ideal})
    said = f"{found['parameters']:,} parameters, best at step {found['best_step']:,}, {found['epochs']} epochs, "
    tested = [f"{found[name]:,} {name}" for name in job.networks.examined if isinstance(found.get(name), int)]
    said += ", ".join([*tested, time_of(found["cpu_seconds"])])
    return [replace(scores, note=f"{said} of CPU. {scores.note}"), *others.values(), *job.networks.told(found)]


def table(
    benchmark: str, runs: str | Path = "runs", *, store: Store | None = None, progress: Progress = silent
) -> list[Table]:
    """The finished runs of a folder beside the paper's numbers and the ideal learners'."""
    networks = networks_of(benchmark)
    found = read_outcomes(networks, Path(runs))
    return networks.tables(with_ideal(found, store or Store.default(), progress))


def keep(benchmark: str, runs: str | Path, kept: str | Path) -> Path:
    """Keep what the finished runs of a folder have written, without weights, among those that are kept already."""
    networks, place = networks_of(benchmark), folder_for_runs(kept)
    records.keep(Path(runs), place, networks.benchmark)
    return place


def results_page(
    benchmark: str, runs: str | Path, out: str | Path, *, store: Store | None = None, progress: Progress = silent
) -> Path:
    """The finished runs of a folder as a page (.html), or as Markdown with figures (.md)."""
    networks, store = networks_of(benchmark), store or Store.default()
    file, found = free_file(out, ENDINGS), read_outcomes(networks, Path(runs))
    outcomes = with_ideal(found, store, progress)
    worlds = [(world, groups[0].job) for world, groups in outcomes.worlds()]
    return write_page(outcomes, reference_tables(worlds, store, progress), file)


def write_page(outcomes: Outcomes, reference: Mapping[str, Table], file: Path) -> Path:
    """The page of runs, with the tables of baselines by world."""
    networks, notes = outcomes.networks, notes_of(file)
    with as_written(file):  # runs from elsewhere may lack what a page shows
        found = finding_tables(networks.verdicts(outcomes.as_published()))
        chapters = [
            Chapter("Runs", (runs_table(outcomes),)),
            Chapter("What the paper finds, and what we find", (*found, *notes), networks.found),
            *networks.chapters(outcomes, reference),
            Chapter("Cost and settings", (cost_table(outcomes), settings_table(outcomes))),
        ]
    return write_document(file, f"{networks.title}: the networks", networks.intro, chapters)
