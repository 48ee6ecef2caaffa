"""The runs of CURI's networks: what they scored, grouped over seeds, beside the paper's Table 2 and the oracles."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.curi import published, training
from recombine.benchmarks.curi.training import Job
from recombine.metrics.gap import Gap
from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import over_seeds
from recombine.report.curves import Curve
from recombine.report.table import Cell, Column, Table
from recombine.report.times import time_of
from recombine.solvers.kinds import MODALITIES, PICTURE, POOLINGS
from recombine.solvers.records import as_written, read_metrics
from recombine.store.errors import UserError

METRICS = ("mAP", "accuracy")
NEEDED = ("scores", "steps", "episodes", "written", "parameters", "seconds", "cpu_seconds")
"""What the tables read of a run's results."""
World = tuple[str, str, int, str, str]
"""Edition, scale, seed of the data, split, kind of negatives: all that decides the test episodes."""
Oracles = Mapping[World, Mapping[str, Gap]]
"""What the ideal learners score, by metric."""


def world_of(job: Job) -> World:
    return job.edition, job.scale, job.data_seed, job.split, job.negatives


def named(job: Job) -> str:
    """The world of a job in words."""
    said = [job.split] + (["easy negatives"] if job.negatives != "hard" else [])
    said += [f"scale {job.scale}"] if job.scale != "paper" else []
    said += [f"edition {job.edition}"] if job.edition != "release" else []
    return ", ".join(said + ([f"data seed {job.data_seed}"] if job.data_seed else []))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A finished run."""

    job: Job
    config: Mapping[str, Any]
    results: Mapping[str, Any]
    curve: tuple[tuple[int, float], ...]
    """The validation's mAP after so many steps."""

    @property
    def alike(self) -> tuple[object, ...]:
        """All but the seed: runs that are alike here are averaged."""
        job = self.job
        place = (MODALITIES.index(job.modality), POOLINGS.index(job.pooling))
        known = published.SPLITS.index(job.split) if job.split in published.SPLITS else len(published.SPLITS)
        same = [asdict(job.training) | {"checkpoint_every": 0}, self.config["network"], self.config["data"]]
        fixed = json.dumps(same, sort_keys=True)
        rest = (job.edition, job.scale, job.data_seed, self.results["steps"], self.results["episodes"], fixed)
        return (job.negatives != "hard", known, job.split, *place, job.alpha, *rest)


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that differ in their seeds alone."""

    runs: tuple[Outcome, ...]

    @property
    def job(self) -> Job:
        return self.runs[0].job

    @property
    def name(self) -> str:
        job = self.job
        parts = [job.modality, job.pooling]
        parts += [f"alpha {job.alpha:g}"] if job.alpha else []
        parts += [f"{job.size[0]}x{job.size[1]}"] if job.modality == "image" and job.size != PICTURE else []
        usual = training.SETTINGS[job.modality]
        parts += [f"batch {job.training.batch}"] if job.training.batch != usual.batch else []
        parts += [f"rate {job.training.rate:g}"] if job.training.rate != usual.rate else []
        parts += [job.training.precision] if job.training.precision != usual.precision else []
        parts += [f"data seed {job.data_seed}"] if job.data_seed else []
        parts += [f"scale {job.scale}"] if job.scale != "paper" else []
        parts += [f"edition {job.edition}"] if job.edition != "release" else []
        return " ".join(parts)

    @property
    def steps(self) -> int:
        return int(self.runs[0].results["steps"])

    def score(self, metric: str) -> Interval:
        """In percent: over seeds, or over the test episodes of the one run."""
        if len(self.runs) == 1:
            only = self.runs[0].results["scores"][metric]
            return Interval(*(100 * only[bound] for bound in ("value", "low", "high")))
        return over_seeds(self.of(metric), 0.0, 100.0)

    def of(self, metric: str) -> np.ndarray:
        """What every run scored, in percent, float[seeds]."""
        return np.array([100 * run.results["scores"][metric]["value"] for run in self.runs])

    def paper(self, metric: str) -> tuple[float, float | None] | None:
        """What the paper prints of this network, unless ours is another one or learns from other data."""
        network = (self.job.modality, self.job.pooling)
        if self.name != " ".join(network):
            return None
        known = published.NETWORKS[metric] if self.job.negatives == "hard" else published.EASY.get(metric, {})
        return known.get(network, {}).get(self.job.split)

    def curve(self) -> Curve:
        """The mean over seeds."""
        curves = [dict(run.curve) for run in self.runs]
        shared = sorted(set.intersection(*(set(curve) for curve in curves)))
        return Curve(self.name, [(step, float(np.mean([curve[step] for curve in curves]))) for step in shared])


def read_groups(folder: Path) -> list[Group]:
    """The finished runs of a folder."""
    found = []
    for run, config, results in training.results(folder):
        with as_written(run):
            needed = {name: results[name] for name in NEEDED}
            found.append(Outcome(training.job_of(config, run), config, needed, _curve(run)))
    if not found:
        raise UserError(f"{folder} has no finished runs of curi; train some: recombine train curi --out {folder}")
    return grouped_runs(found)


def grouped_runs(found: Sequence[Outcome]) -> list[Group]:
    """Runs that differ in their seeds alone together, in the order of the paper's table."""
    ordered = sorted(found, key=lambda one: (one.alike, one.job.seed))
    return [Group(tuple(runs)) for _, runs in groupby(ordered, key=lambda one: one.alike)]


def _curve(folder: Path) -> tuple[tuple[int, float], ...]:
    return tuple((row.step, row.value) for row in read_metrics(folder) if row.name == "validation/mAP")


# --- tables


def score_table(groups: Sequence[Group], metric: str, oracles: Oracles) -> Table:
    """One row for each network on each split: ours, the paper's, and what the ideal learners reach."""
    columns = (
        *(Column(name) for name in ("split", "network")),
        *(Column(name, "right") for name in ("steps", "seeds", metric, "paper", "weak oracle", "strong oracle")),
    )
    note = (
        "Percent. Ours with a 95 % interval over seeds (Student's t), or over test episodes where there is one seed, "
        "which says nothing of how seeds, or the moment that validation chose, differ; the paper's with the standard "
        "deviation of three runs of a million steps (sound: half a million). Runs of other sizes or on other data than "
        "the paper's have none of its numbers beside them."
    )
    rows = tuple(_row(group, metric, oracles) for group in groups)
    return Table(f"Table 2, {metric}", columns, rows, note)


def _row(group: Group, metric: str, oracles: Oracles) -> tuple[Cell, ...]:
    job, gap = group.job, oracles.get(world_of(group.job), {}).get(metric)
    split = job.split if job.negatives == "hard" else f"{job.split}, easy negatives"
    ideal = (gap.weak.value, gap.strong.value) if gap else (None, None)
    return split, group.name, group.steps, len(group.runs), group.score(metric), _printed(group.paper(metric)), *ideal


def _printed(paper: tuple[float, float | None] | None) -> str | None:
    if paper is None:
        return None
    return f"{paper[0]:.1f}" if paper[1] is None else f"{paper[0]:.1f} ± {paper[1]:.1f}"


def growth_table(groups: Sequence[Group]) -> Table | None:
    """What more steps have brought in validation."""
    names = ("steps", "mAP at a quarter", "at half", "at the end", "a doubling brings")
    columns = (Column("split"), Column("network"), *(Column(name, "right") for name in names))
    rows = tuple(row for group in groups for row in _growth(group))
    note = (
        "mAP in percent in the first validation after so many steps, on 200 episodes (image and sound: 64 episodes, "
        "and a 64th of the scenes that are ranked), so noisier than the tests. The last column is a straight line "
        "through all validations from a quarter of the steps on, against the logarithm of the steps, with its standard "
        "error: the scatter within these runs, not that between trainings."
    )
    return Table("What more steps would bring", columns, rows, note) if rows else None


def _growth(group: Group) -> Iterator[tuple[Cell, ...]]:
    curve = dict(group.curve().points)
    after = [min((step for step in curve if step >= group.steps / part), default=0) for part in (4, 2, 1)]
    if len({*after, 0}) < 4:
        return
    points = [(step, 100 * value) for step, value in curve.items() if step >= after[0]]
    brings = "{:+.1f} ± {:.1f}".format(*slope(points))
    yield group.job.split, group.name, group.steps, *(100 * curve[step] for step in after), brings


def slope(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """What a doubling of the steps brings, by least squares, and its standard error.

    >>> [round(value, 9) for value in slope([(100, 1.0), (200, 3.0), (400, 5.0)])]
    [2.0, 0.0]
    """
    steps, values = np.array(points, float).T
    doublings = np.log2(steps) - np.log2(steps).mean()
    spread = doublings @ doublings
    found = doublings @ values / spread
    left = values - values.mean() - found * doublings
    return float(found), float(np.sqrt(left @ left / (len(values) - 2) / spread))


def cost_table(groups: Sequence[Group]) -> Table:
    """What the runs took."""
    names = ("parameters", "runs", "steps", "CPU ms per step", "CPU per run", "wall per run")
    columns = (Column("network"), *(Column(name, "right", ".0f") for name in names))
    by_name = sorted(groups, key=lambda group: group.name)
    rows = [_cost(name, [run for group in some for run in group.runs]) for name, some in groupby(by_name, _name)]
    everything = [run.results for group in groups for run in group.runs]
    cpu, wall = (sum(float(run[name]) for run in everything) for name in ("cpu_seconds", "seconds"))
    note = f"With validation. All {len(everything)} runs: {time_of(cpu)} of CPU, {time_of(wall)} of runs' own time."
    return Table("Cost", columns, tuple(rows), note)


def _name(group: Group) -> str:
    return group.name


def _cost(name: str, runs: Sequence[Outcome]) -> tuple[Cell, ...]:
    steps, cpu, wall = (
        np.array([run.results[key] for run in runs], float) for key in ("steps", "cpu_seconds", "seconds")
    )
    means = (time_of(float(cpu.mean())), time_of(float(wall.mean())))
    parameters = int(runs[0].results["parameters"])
    return name, parameters, len(runs), int(steps.mean()), float(1000 * cpu.sum() / steps.sum()), *means


def settings_table(groups: Sequence[Group]) -> Table:
    """How the networks were trained."""
    names = ("batch", "rate", "steps", "validated every", "test episodes")
    columns = (Column("network"), *(Column(name, "right", "g") for name in names), Column("data"))
    return Table("Settings", columns, tuple(dict.fromkeys(_setting(group) for group in groups)))


def _setting(group: Group) -> tuple[Cell, ...]:
    job, training_ = group.job, group.job.training
    data = f"edition {job.edition}, scale {job.scale}, seed {job.data_seed}"
    every = training_.validate_every or 0
    return (
        group.name,
        training_.batch,
        training_.rate,
        group.steps,
        every,
        int(group.runs[0].results["episodes"]),
        data,
    )


def written_table(groups: Sequence[Group]) -> Table | None:
    """What the concept decoders wrote, judged by the parser."""
    names = ("well formed", "consistent with the support", "synonym of the truth")
    columns = (Column("split"), Column("network"), Column("episodes", "right"), *(Column(n, "right") for n in names))
    rows = tuple(_written(group) for group in groups if group.job.alpha)
    gain, error = published.LANGUAGE_GAIN
    note = (
        "Percent of test episodes; the first seed. Most likely word by word. In the paper, learning to write brings "
        f"{gain} ± {error} points of mAP on average; compare the rows with and without alpha above."
    )
    return Table("Concepts that were written", columns, rows, note) if rows else None


def _written(group: Group) -> tuple[Cell, ...]:
    found = group.runs[0].results["written"]
    shares = (100 * found[name] for name in ("well_formed", "consistent", "synonym"))
    return group.job.split, group.name, found["episodes"], *shares


def examples_table(groups: Sequence[Group], most: int = 4) -> Table | None:
    """A few of them beside what was meant."""
    rows = tuple(
        (group.job.split, meant, said)
        for group in groups
        if group.job.alpha
        for meant, said in group.runs[0].results["written"]["examples"][:most]
    )
    return Table("Some of them", (Column("split"), Column("meant"), Column("written")), rows) if rows else None
