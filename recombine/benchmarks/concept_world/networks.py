"""ConceptWorld's networks: train them, test them, and put many runs into the paper's tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.concept_world import training
from recombine.benchmarks.concept_world.network_pages import html_page, markdown_page
from recombine.benchmarks.concept_world.runs import Outcomes, printed, read_outcomes, score_tables
from recombine.benchmarks.concept_world.training import MODELS, Job
from recombine.benchmarks.reference_scores import Row, beside, score_of, solver_of
from recombine.report.table import Column, Table
from recombine.report.times import time_of
from recombine.report.training_progress import Teller
from recombine.solvers.jobs import train_all
from recombine.solvers.records import read_config
from recombine.solvers.training import Training
from recombine.store.engine import Progress, engine, silent
from recombine.store.errors import UserError
from recombine.store.outputs import folder_for_runs, free_file, positive
from recombine.store.store import Store, write_atomically


@dataclass(frozen=True)
class _Learn:
    """Does a job in a process of its own, with the places it needs."""

    home: Path
    out: Path

    def __call__(self, job: Job) -> Path:
        study, teller = training.study_of(job, Store(self.home)), Teller(job.name, where=job.training.where)
        return training.learn(job, study, self.out, teller)


def train(
    experiments: Sequence[str] = (),
    models: Sequence[str] = (),
    *,
    seed: int = 0,
    seeds: int = 1,
    out: str | Path = "runs",
    scale: str = "paper",
    data_seed: int = 0,
    workers: int = 1,
    epochs: int | None = None,
    patience: int | None = None,
    rate: float | None = None,
    device: str = "cpu",
    precision: str = "float32",
    weights: str | Path | None = None,
    concepts: str | Path | None = None,
    store: Store | None = None,
    progress: Progress = silent,
) -> Table:
    """Train networks, each experiment with each network from each of so many seeds; what is done already is kept."""
    positive(workers=workers, seeds=seeds)
    place, store = folder_for_runs(out), store or Store.default()
    own = None if concepts is None else Path(concepts).absolute()
    first = Job("", "", 0, scale, data_seed, concepts=own)
    study = training.study_of(first, store, progress)
    given = {"epochs": epochs, "patience": patience, "rate": rate, "device": device, "precision": precision}
    jobs = [
        replace(
            first,
            experiment=experiment,
            model=model,
            seed=number,
            training=_training(model, given),
            weights=_weights(weights, model),
        )
        for number in range(seed, seed + seeds)
        for experiment in dict.fromkeys(experiments or training.experiments(study))
        for model in dict.fromkeys(models or MODELS)
    ]
    if weights is not None and not any(job.model == "resnet" for job in jobs):
        raise UserError("--weights are ResNet-18's: add --model resnet, or leave them out")
    for file in {job.weights for job in jobs if job.weights is not None}:
        training.check_weights(file)
    for job in jobs:
        training.check(job, study, place)
    for name in dict.fromkeys(job.base for job in jobs):
        study.folder(name)  # once, before several processes would each make it
    with engine(workers, progress) as running:
        return _runs_table(train_all(running, _Learn(store.home, place), jobs))


def _training(model: str, given: Mapping[str, Any]) -> Training:
    """The paper's settings, with those that were given in their place."""
    chosen = MODELS.get(model, training.PAPER)
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def _weights(weights: str | Path | None, model: str) -> Path | None:
    return Path(weights) if weights is not None and model == "resnet" else None


def evaluate(run: str | Path, store: Store | None = None, progress: Progress = silent) -> list[Table]:
    """Test a run again with its best weights: F1 of every class on every test, others' beside it, what is confused."""
    folder = Path(run)
    config = read_config(folder)
    job = training.job_of(config, folder)
    store = store or Store.default()
    found = training.evaluate(folder, training.study_of(job, store, progress))
    others = _beside([job], store, progress).values()
    return [_scores_table(job, found), *others, *(_confusion_table(name, found) for name in found["confusion"])]


def _scores_table(job: Job, found: Mapping[str, Any]) -> Table:
    columns = (Column("test"), *(Column(name, "right", ".3f") for name in (*found["classes"], "mean")))
    rows = tuple((name, *values, float(np.mean(values))) for name, values in found["f1"].items())
    note = f"{found['parameters']:,} parameters, {found['epochs']} epochs, {time_of(found['cpu_seconds'])} of CPU. "
    return Table(
        f"{printed(job.model, found['pretrained'])}, {job.experiment}, seed {job.seed}: F1",
        columns,
        rows,
        note + _begun(job, found),
    )


def _confusion_table(test: str, found: Mapping[str, Any]) -> Table:
    columns = (Column("is"), *(Column(f"said {name}", "right") for name in found["classes"]))
    rows = tuple((name, *row) for name, row in zip(found["classes"], found["confusion"][test]))
    return Table(f"{test}: what was taken for what", columns, rows)


def _begun(job: Job, found: Mapping[str, Any]) -> str:
    if job.model != "resnet":
        return ""
    return "Begun from ImageNet's weights." if found["pretrained"] else "Trained from scratch: no weights were given."


def _runs_table(found: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    columns = (
        Column("run"),
        Column("epochs", "right"),
        Column("validation loss", "right", ".4f"),
        Column("mean F1", "right", ".3f"),
        Column("CPU seconds", "right"),
    )
    rows = tuple(
        (
            name.removeprefix("concept-world-"),
            one["epochs"],
            one["validation"],
            float(np.mean([np.mean(v) for v in one["f1"].values()])),
            one["cpu_seconds"],
        )
        for name, one in found
    )
    return Table("Runs of concept-world", columns, rows)


def table(runs: str | Path = "runs", store: Store | None = None, progress: Progress = silent) -> list[Table]:
    """The finished runs of a folder: the F1 of each class on every test, with intervals over seeds, and the paper's."""
    return score_tables(_finished(runs))


def brief(table: Table) -> Table:
    """The means over classes alone, the paper's in brackets."""
    names = [column.name for column in table.columns]
    tests = [name for name in names[3:] if f"{name}, paper" in names]
    columns = (Column("model"), Column("seeds", "right"), *(Column(test, "right") for test in tests))
    rows = []
    for row, texts in zip(table.rows, table.texts()):
        cells = dict(zip(names, texts))
        if row[names.index("concept")] == "mean":
            both = (f"{cells[test]} ({cells[f'{test}, paper']})" for test in tests)
            rows.append((cells["model"], cells["seeds"], *both))
    note = f"The mean over classes, the paper's in brackets; --out and --json have every class. {table.note}"
    return replace(table, columns=columns, rows=tuple(rows), note=note)


def results_page(runs: str | Path, out: str | Path, store: Store | None = None, progress: Progress = silent) -> Path:
    """The finished runs of a folder as a page (.html), or as Markdown with figures (.md)."""
    found = _finished(runs)
    out = free_file(out, (".html", ".md"))
    first = found.compared[0].runs[0].job
    store = store or Store.default()
    study = training.study_of(first, store, progress)
    experiments = {name: study.experiment(name) for name in study.library.experiments}
    others = _beside([run.job for group in found.compared for run in group.runs], store, progress)
    if out.suffix == ".md":
        markdown_page(found, experiments, others, out)
        return out
    text = html_page(found, experiments, others, out)
    write_atomically(out, lambda draft: draft.write_text(text, encoding="utf-8"))
    return out


def _beside(jobs: Sequence[Job], store: Store, progress: Progress) -> dict[str, Table]:
    """Baselines and ideal learners on the experiments of these jobs, as far as they are the paper's."""
    found = {}
    for name, job in {job.base: job for job in jobs if job.concepts is None}.items():
        data = training.study_of(job, store).recipe(name).digest
        rows = beside("concept-world", name, data, store, progress, scale=job.scale, seed=job.images)
        found[name] = _beside_table(name, rows)
    return found


def _beside_table(experiment: str, rows: Sequence[Row]) -> Table:
    scores = {(solver_of(row), row["test"].removeprefix(f"{experiment}/")): score_of(row, "F1", 0.01) for row in rows}
    solvers, tests = (tuple(dict.fromkeys(pair[place] for pair in scores)) for place in (0, 1))
    columns = (Column("solver"), *(Column(test, "right", ".3f") for test in tests))
    note = (
        "The mean F1 over classes, with 95 % intervals over images. Nearest goes by the most similar training images, "
        "statistics is a logistic regression; both know only how many points there are of each colour."
    )
    cells = tuple((solver, *(scores[solver, test] for test in tests)) for solver in solvers)
    return Table(f"Baselines and ideal learners, {experiment}", columns, cells, note)


def _finished(runs: str | Path) -> Outcomes:
    found = read_outcomes(Path(runs))
    if not found.groups:
        raise UserError(
            f"{runs} has no finished runs of concept-world; train some: recombine train concept-world --out {runs}"
        )
    return found
