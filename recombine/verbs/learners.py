"""What one can do with networks: train them, test them, and put many runs into a table beside the paper's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from recombine.benchmarks.concept_world import published, training
from recombine.benchmarks.concept_world.study import ConceptWorldStudy
from recombine.benchmarks.concept_world.training import MODELS, PRINTED, Job
from recombine.metrics.seeds import over_seeds
from recombine.report.table import Cell, Column, Table
from recombine.solvers.training import Training, need_torch
from recombine.store.engine import Engine, Progress, engine, silent
from recombine.store.errors import UserError
from recombine.store.store import Store
from recombine.verbs.common import positive

LEARNING = ("concept-world",)
"""The benchmarks whose networks are here."""
TOLD_EVERY = 15.0
"""Seconds between two lines about a training."""


@dataclass(frozen=True)
class _Task:
    """A job with the places it needs, for a process of its own."""

    job: Job
    home: Path
    out: Path

    def study(self) -> ConceptWorldStudy:
        return ConceptWorldStudy(self.job.scale, self.job.images, Store(self.home))


def train(
    benchmark: str,
    experiments: Sequence[str] = (),
    models: Sequence[str] = (),
    *,
    seed: int = 0,
    seeds: int = 1,
    out: str | Path = "runs",
    scale: str = "paper",
    images: int = 0,
    workers: int = 1,
    epochs: int | None = None,
    patience: int | None = None,
    rate: float | None = None,
    device: str = "cpu",
    precision: str = "float32",
    weights: str | Path | None = None,
    store: Store | None = None,
    progress: Progress = silent,
) -> Table:
    """Train networks, each experiment with each network from each of so many seeds; what is done already is kept."""
    _learning(benchmark)
    need_torch()
    positive(workers=workers, seeds=seeds)
    store = store or Store.default()
    study = ConceptWorldStudy(scale, images, store, progress=progress)
    given = {"epochs": epochs, "patience": patience, "rate": rate, "device": device, "precision": precision}
    jobs = [
        Job(experiment, model, number, scale, images, _training(model, given), _weights(weights, model))
        for number in range(seed, seed + seeds)
        for experiment in experiments or training.experiments(study)
        for model in models or MODELS
    ]
    for job in jobs:
        training.check(job, study)
    for name in dict.fromkeys(job.base for job in jobs):
        study.folder(name)  # once, before several processes would each make it
    with engine(workers, progress) as running:
        folders = _all(running, [_Task(job, store.home, Path(out)) for job in jobs])
    return _runs_table(
        benchmark, [(folder.name, json.loads((folder / training.RESULTS).read_text())) for folder in folders]
    )


def _all(running: Engine, tasks: Sequence[_Task]) -> list[Path]:
    return running.map(_train_one, tasks, "runs")


def _train_one(task: _Task) -> Path:
    return training.learn(task.job, task.study(), task.out, Teller(task.job.name))


def _training(model: str, given: Mapping[str, Any]) -> Training:
    """The paper's settings, with those that were given in their place."""
    chosen = MODELS.get(model, training.PAPER)
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def _weights(weights: str | Path | None, model: str) -> Path | None:
    return Path(weights) if weights is not None and model == "resnet" else None


class Teller:
    """Says now and then how far a training is: loss, validation, time left."""

    def __init__(self, name: str, console: Console | None = None, every: float = TOLD_EVERY) -> None:
        self.name, self.every = name, every
        self.console = console or Console(stderr=True)
        self.told = 0.0

    def __call__(self, moment: Any) -> None:
        self.told += moment.each
        if self.told >= self.every:
            self.told = 0.0
            self.console.print(self.line(moment), markup=False, highlight=False)

    def line(self, moment: Any) -> str:
        said = [f"epoch {moment.epoch + 1}", f"step {moment.step:,} of at most {moment.steps:,}"]
        said += [] if np.isnan(moment.loss) else [f"loss {moment.loss:.4f}"]
        said += [f"validation {name} {value:.4f}" for name, value in moment.validation.items()]
        return f"{self.name}: {', '.join(said)}, at most {time_of(moment.left)} left"


def evaluate(run: str | Path, store: Store | None = None, progress: Progress = silent) -> list[Table]:
    """Test a run again with its best weights: F1 of every class on every test, and the confusion matrices."""
    need_torch()
    from recombine.solvers.run import read_config

    folder = Path(run)
    config = read_config(folder)
    job = training.job_of(config, folder)
    study = ConceptWorldStudy(job.scale, job.images, store or Store.default(), progress=progress)
    found = training.evaluate(folder, study)
    return [_scores_table(job, found), *(_confusion_table(name, found) for name in found["confusion"])]


def _scores_table(job: Job, found: Mapping[str, Any]) -> Table:
    columns = (Column("test"), *(Column(name, "right", ".3f") for name in (*found["classes"], "mean")))
    rows = tuple((name, *values, float(np.mean(values))) for name, values in found["f1"].items())
    note = f"{found['parameters']:,} parameters, {found['epochs']} epochs, {time_of(found['cpu_seconds'])} of CPU. "
    return Table(
        f"{_printed(job.model, found)}, {job.experiment}, seed {job.seed}: F1", columns, rows, note + _begun(job, found)
    )


def _confusion_table(test: str, found: Mapping[str, Any]) -> Table:
    columns = (Column("is"), *(Column(f"said {name}", "right") for name in found["classes"]))
    rows = tuple((name, *row) for name, row in zip(found["classes"], found["confusion"][test]))
    return Table(f"{test}: what was taken for what", columns, rows)


def _begun(job: Job, found: Mapping[str, Any]) -> str:
    if job.model != "resnet":
        return ""
    return "Begun from ImageNet's weights." if found["pretrained"] else "Trained from scratch: no weights were given."


def _runs_table(benchmark: str, found: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    columns = (
        Column("run"),
        Column("epochs", "right"),
        Column("validation loss", "right", ".4f"),
        Column("mean F1", "right", ".3f"),
        Column("CPU seconds", "right"),
    )
    rows = tuple(
        (
            name,
            one["epochs"],
            one["validation"],
            float(np.mean([np.mean(v) for v in one["f1"].values()])),
            one["cpu_seconds"],
        )
        for name, one in found
    )
    return Table(f"Runs of {benchmark}", columns, rows)


def table(benchmark: str, runs: str | Path = "runs") -> list[Table]:
    """The finished runs of a folder: the F1 of each class on every test, with intervals over seeds, and the paper's."""
    _learning(benchmark)
    found = sorted(training.results(Path(runs)), key=lambda one: (one[0].experiment, list(MODELS).index(one[0].model)))
    if not found:
        raise UserError(
            f"{runs} has no finished runs of {benchmark}; train some: recombine train {benchmark} --out {runs}"
        )
    grouped = groupby(found, key=lambda one: one[0].experiment)
    return [made for experiment, group in grouped for made in _tables(experiment, list(group))]


def _tables(experiment: str, found: Sequence[tuple[Job, Mapping[str, Any]]]) -> list[Table]:
    scales = {job.scale for job, _ in found}
    return [_table(experiment, test, found, ", ".join(sorted(scales))) for test in found[0][1]["f1"]]


def _table(experiment: str, test: str, found: Sequence[tuple[Job, Mapping[str, Any]]], scale: str) -> Table:
    classes = found[0][1]["classes"]
    columns = [Column("model"), Column("seeds", "right")]
    columns += [Column(name, "right", ".3f") for label in (*classes, "mean") for name in (label, f"{label}, paper")]
    kinds = groupby(found, key=lambda one: _printed(one[0].model, one[1]))
    rows = tuple(_row(experiment, test, kind, [one for _, one in group]) for kind, group in kinds)
    spent = sum(one["cpu_seconds"] for _, one in found)
    note = f"F1 with 95 % interval over seeds (Student's t). Scale {scale}. The runs took {time_of(spent)} of CPU."
    return Table(f"ConceptWorld, {experiment}, {test}", tuple(columns), rows, note)


def _row(experiment: str, test: str, kind: str, runs: Sequence[Mapping[str, Any]]) -> tuple[Cell, ...]:
    ours = np.array([[*one["f1"][test], np.mean(one["f1"][test])] for one in runs])  # float[seeds, classes + 1]
    theirs = _paper(experiment, test, kind)
    paper = [*theirs, float(np.mean(theirs))] if theirs else [None] * ours.shape[1]
    cells = [over_seeds(column) if len(runs) > 1 else float(column[0]) for column in ours.T]
    return kind, len(runs), *(cell for pair in zip(cells, paper) for cell in pair)


def _paper(experiment: str, test: str, kind: str) -> tuple[float, ...]:
    known = published.F1.get((experiment, test), {}) | published.FURTHER.get((experiment, test), {})
    return known.get(kind, ())


def _printed(model: str, found: Mapping[str, Any]) -> str:
    """The name of a model as the paper prints it."""
    return "ResNet from scratch" if model == "resnet" and not found["pretrained"] else PRINTED[model]


def time_of(seconds: float) -> str:
    """A time as people say it.

    >>> time_of(42), time_of(150), time_of(7_500)
    ('42 s', '2 min 30 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _learning(benchmark: str) -> None:
    if benchmark not in LEARNING:
        raise UserError(f"there are no networks for '{benchmark}'; choose {' or '.join(LEARNING)}")
