"""Finished runs of ConceptWorld's networks: which of them belong together, and their F1 beside the paper's.

A *group* is the runs of one network on one experiment that differ in nothing but the seed. Means and intervals are
those of a group: runs at another scale, rate or length of training are another group, whose name says in what it
departs from the paper's settings.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.concept_world import published
from recombine.benchmarks.concept_world.definition import Experiment, Line
from recombine.benchmarks.concept_world.training import CURRICULUM, MODELS, PRINTED, Job, job_of
from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import over_seeds
from recombine.report.table import Cell, Column, Table
from recombine.report.times import time_of
from recombine.solvers.records import as_written, runs_of

TABLES = {
    "sequences": "Table 4",
    "boxworld": "Table 6",
    "patterns": "Table 8",
    "substitution": "Table 10",
    "substitution" + CURRICULUM: "Table 11",
}
"""Where the paper prints the F1 of an experiment."""
FROM_SCRATCH = "ResNet from scratch"
PRETRAINED = "ResNet"
PRETRAINED_THERE = " The paper's ResNet is pretrained, but for sequences; ours is not."
SEEDS = 3
"""The seeds of a whole table, at least."""
HELD_BACK = 0.1
"""The share of every class that validates a training (`solvers.pictures`, which needs PyTorch)."""
NEEDED = ("classes", "f1", "confusion", "pretrained", "parameters", "epochs", "seconds", "cpu_seconds")
"""What the tables read of a run's results."""
_NO_MATTER = ("seed", "length.checkpoint_every")
"""What a config says and no score depends on, other than by chance."""


def printed(model: str, pretrained: bool) -> str:
    """The name of a network as the paper prints it."""
    return FROM_SCRATCH if model == "resnet" and not pretrained else PRINTED[model]


def theirs(experiment: str, test: str, model: str) -> tuple[float, ...]:
    """The paper's F1 by class; of a ResNet from scratch that it does not print, the pretrained one's."""
    known = published.F1.get((experiment, test), {}) | published.FURTHER.get((experiment, test), {})
    return known.get(model) or (known.get(PRETRAINED, ()) if model == FROM_SCRATCH else ())


@dataclass(frozen=True, eq=False)
class Outcome:
    """One finished run."""

    job: Job
    config: Mapping[str, Any]
    results: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that differ in nothing but the seed; `apart` is how they depart from the paper's settings."""

    experiment: str
    model: str
    apart: tuple[str, ...]
    runs: tuple[Outcome, ...]

    @property
    def name(self) -> str:
        return f"{self.model} ({', '.join(self.apart)})" if self.apart else self.model

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.runs[0].results["classes"])

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(self.runs[0].results["f1"])

    def f1(self, test: str) -> np.ndarray:
        """The F1 of every class in every run, float[seeds, classes]."""
        return np.array([run.results["f1"][test] for run in self.runs])

    def of(self, test: str, *classes: str) -> np.ndarray:
        """The mean F1 over some classes, or over all, in every run, float[seeds]."""
        chosen = [self.classes.index(name) for name in classes or self.classes]
        return np.asarray(self.f1(test)[:, chosen].mean(axis=1))

    def confusion(self, test: str) -> np.ndarray:
        """How often each class was taken for which, summed over seeds, int[classes, classes]."""
        return np.sum([run.results["confusion"][test] for run in self.runs], axis=0)

    def each(self, name: str) -> np.ndarray:
        """One number of every run, such as its epochs, float[seeds]."""
        return np.array([run.results[name] for run in self.runs], float)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """All runs of a folder: the finished ones in groups, and the names of those that are under way."""

    groups: tuple[Group, ...]
    unfinished: tuple[str, ...] = ()

    @cached_property
    def usual(self) -> tuple[str, ...]:
        """The settings of most runs, as a departure from the paper's; of equally many, the nearest to it."""
        counts: Counter[tuple[str, ...]] = Counter()
        for group in self.groups:
            counts[group.apart] += len(group.runs)
        return min(counts, key=lambda apart: (-counts[apart], len(apart)))

    @property
    def compared(self) -> tuple[Group, ...]:
        """The groups that can be compared with one another: those with the usual settings."""
        return tuple(group for group in self.groups if group.apart == self.usual)

    @property
    def experiments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(group.experiment for group in self.groups))

    def on(self, experiment: str) -> list[Group]:
        """The groups of an experiment that can be compared."""
        return [group for group in self.compared if group.experiment == experiment]

    def find(self, experiment: str, model: str) -> Group | None:
        return next((group for group in self.on(experiment) if group.model == model), None)

    @property
    def wanted(self) -> int:
        """Seeds of a whole table: as many as the group with most of them has."""
        return max([SEEDS, *(len(group.runs) for group in self.compared)])


# --- reading


def read_outcomes(folder: Path) -> Outcomes:
    """The runs of a folder; there are no groups where none is finished."""

    found, others = [], []
    for run, config, results in runs_of(folder, "concept-world"):
        if results is None:
            others.append(run.name)
            continue
        with as_written(run):
            found.append(Outcome(job_of(config, run), config, {name: results[name] for name in NEEDED}))
    return Outcomes(tuple(sorted(_grouped(found), key=_place)), tuple(others))


def _grouped(found: Sequence[Outcome]) -> Iterator[Group]:
    groups: dict[str, dict[int, Outcome]] = {}
    for one in found:
        same = {name: value for name, value in flat(one.config).items() if name not in _NO_MATTER}
        groups.setdefault(json.dumps(same, sort_keys=True), {})[one.job.seed] = one
    firsts = [next(iter(runs.values())) for runs in groups.values()]
    for first, runs in zip(firsts, groups.values()):
        model = printed(first.job.model, first.results["pretrained"])
        twins = [other for other in firsts if _alike(first, other)]
        apart = departures(first.config) + _told_apart(first, twins)
        yield Group(first.job.experiment, model, apart, tuple(runs[seed] for seed in sorted(runs)))


def _alike(one: Outcome, other: Outcome) -> bool:
    """Whether nothing but the fine print tells two runs apart."""
    return (
        (one.job.experiment, one.job.model) == (other.job.experiment, other.job.model)
        and one.results["pretrained"] == other.results["pretrained"]
        and departures(one.config) == departures(other.config)
    )


def departures(config: Mapping[str, Any]) -> tuple[str, ...]:
    """In what a run departs from the paper's settings.

    >>> training = asdict(MODELS["mlp"]) | {"rate": 0.1}
    >>> departures({"network": {"name": "mlp"}, "scale": "demo", "images": 0, "training": training, "length": {}})
    ('scale demo', 'rate 0.1')
    """
    paper = asdict(MODELS[config["network"]["name"]])
    ours = {**config["training"], **config["length"]}
    said = [f"scale {config['scale']}"] if config["scale"] != "paper" else []
    said += [f"images of seed {config['images']}"] if config["images"] else []
    changed = (name for name, value in ours.items() if value != paper[name] and name != "checkpoint_every")
    return (*said, *(f"{name.replace('_', ' ')} {ours[name]}" for name in changed))


def _told_apart(one: Outcome, twins: Sequence[Outcome]) -> tuple[str, ...]:
    """What else differs among runs whose settings have the same name: other images, or another version."""
    mine, others = flat(one.config), [flat(twin.config) for twin in twins]
    differ = [
        name for name in mine if name not in _NO_MATTER and any(other.get(name) != mine[name] for other in others)
    ]
    return tuple(f"{name} {str(mine[name])[:8]}" for name in differ)


def flat(config: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings under one name each.

    >>> flat({"seed": 0, "training": {"rate": 0.1}})
    {'seed': 0, 'training.rate': 0.1}
    """
    found: dict[str, Any] = {}
    for name, value in config.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {before + name: value}
    return found


def _place(group: Group) -> tuple[int, int, str]:
    """Experiments as the paper has them, networks as its tables have them."""
    experiments, models = list(TABLES), [FROM_SCRATCH, *published.MODELS]
    known = experiments.index(group.experiment) if group.experiment in experiments else len(experiments)
    return known, models.index(group.model), group.name


# --- tables


def cell(values: np.ndarray) -> float | Interval:
    """The mean over seeds with its interval; the value alone where there is one seed."""
    return over_seeds(values) if len(values) > 1 else float(values[0])


def score_tables(outcomes: Outcomes) -> list[Table]:
    """The paper's tables with ours beside them: F1 of every class and their mean, on every test."""
    return [score_table([g for g in outcomes.groups if g.experiment == name]) for name in outcomes.experiments]


def score_table(groups: Sequence[Group]) -> Table:
    """The F1 of all groups on the tests of one experiment."""
    experiment, tests = groups[0].experiment, groups[0].tests
    pairs = [(f"{test}, paper", test) for test in tests]
    columns = [Column("model"), Column("concept"), Column("seeds", "right")]
    columns += [Column(name, "right", ".3f") for pair in pairs for name in pair]
    rows = [row for group in groups for row in _rows(group)]
    where = TABLES.get(experiment)
    title = f"{where}: ConceptWorld, {experiment}" if where else f"ConceptWorld, {experiment}"
    return Table(title, tuple(columns), tuple(rows), _note(groups))


def _rows(group: Group) -> Iterator[tuple[Cell, ...]]:
    """A row for each class, and one for their mean."""
    for chosen in (*((name,) for name in group.classes), ()):
        cells: list[Cell] = []
        for test in group.tests:
            paper = theirs(group.experiment, test, group.model)
            known = paper[group.classes.index(chosen[0])] if paper and chosen else None
            mean = float(np.mean(paper)) if paper else None
            cells += [known if chosen else mean, cell(group.of(test, *chosen))]
        yield group.name, *(chosen or ("mean",)), len(group.runs), *cells


def _note(groups: Sequence[Group]) -> str:
    spent = sum(float(group.each("cpu_seconds").sum()) for group in groups)
    said = "F1, the mean over seeds with its 95 % interval (Student's t); one seed has none. "
    said += f"The runs took {time_of(spent)} of CPU."
    scratch = any(group.model == FROM_SCRATCH for group in groups)
    if scratch and groups[0].experiment != "sequences":
        said += " The paper's ResNet is the pretrained one here: it prints no other."
    return said


def runs_table(outcomes: Outcomes) -> Table:
    """How many runs of the whole table are there."""
    models = tuple(dict.fromkeys(group.model for group in outcomes.compared))
    models += tuple(name for name in PRINTED.values() if name not in models and not _covered(name, models))
    rows, missing = [], 0
    for experiment in TABLES:
        found = [outcomes.find(experiment, model) for model in models]
        there = [len(group.runs) if group else 0 for group in found]
        missing += sum(max(0, outcomes.wanted - n) for n in there)
        rows.append((experiment, *(f"{n} of {outcomes.wanted}" for n in there)))
    whole = len(TABLES) * len(models) * outcomes.wanted
    note = f"{whole - missing} of {whole} runs are finished" + (f", {missing} are missing" if missing else "")
    note += f"; begun and not at their end: {len(outcomes.unfinished)}." if outcomes.unfinished else "."
    return Table("Runs", (Column("experiment"), *(Column(name, "right") for name in models)), tuple(rows), note)


def _covered(name: str, models: Sequence[str]) -> bool:
    return name == PRETRAINED and FROM_SCRATCH in models


def cost_table(outcomes: Outcomes, workers: int = 2) -> Table:
    """What the runs cost: epochs, and seconds of wall and CPU for one run, and for all."""
    names = ("runs", "epochs", "wall s", "CPU s", "CPU s, all runs")
    columns = (Column("experiment"), Column("model"), *(Column(name, "right", ".0f") for name in names))
    rows = [_cost(group) for group in outcomes.groups]
    wall, busy = (sum(float(g.each(name).sum()) for g in outcomes.groups) for name in ("seconds", "cpu_seconds"))
    total = sum(len(group.runs) for group in outcomes.groups)
    rows.append(("all", None, total, None, None, None, busy))
    note = f"Epochs and seconds are means of one run. Together {time_of(busy)} of CPU; run {workers} at a time, on "
    note += f"{workers} cores, that is about {time_of(busy / workers)} ({time_of(wall / workers)} by the clock of the "
    note += "runs, which also counts what other work on the machine took from them)."
    return Table("What it cost", columns, tuple(rows), note)


def _cost(group: Group) -> tuple[Cell, ...]:
    means = (float(group.each(name).mean()) for name in ("epochs", "seconds", "cpu_seconds"))
    return group.experiment, group.name, len(group.runs), *means, float(group.each("cpu_seconds").sum())


def settings_table(outcomes: Outcomes) -> Table:
    """How each network was trained, from the configs of its runs."""
    texts = ("parameters", "seeds", "optimiser", "precision", "scale")
    numbers = ("batch", "rate", "epochs", "patience", "progress")
    columns = (Column("model"), *(Column(name) for name in texts), *(Column(name, "right", "g") for name in numbers))
    names = dict.fromkeys(group.name for group in outcomes.groups)
    rows = tuple(_setting([group for group in outcomes.groups if group.name == name]) for name in names)
    note = (
        "Parameters by the number of classes. Epochs: at most. Training stops after so many epochs ('patience') "
        f"without a validation loss that is lower by 'progress'; {HELD_BACK:.0%} of every class is held back for it, "
        "and the weights that did best there are tested. The seeds are those of the networks: all see the same images."
    )
    return Table("Settings", columns, rows, note)


def _setting(groups: Sequence[Group]) -> tuple[Cell, ...]:
    """One row of the settings: groups of one name differ in the experiment alone."""
    sizes = sorted({int(size) for group in groups for size in group.each("parameters")})
    seeds = sorted({run.job.seed for group in groups for run in group.runs})
    job = groups[0].runs[0].job
    training = job.training
    texts = (_span(sizes), _span(seeds), training.optimiser, training.precision, job.scale)
    return groups[0].name, *texts, training.batch, training.rate, training.epochs, training.patience, training.least


def _span(numbers: Sequence[int]) -> str:
    """The least and the largest of sorted numbers."""
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"


def images_table(experiments: Mapping[str, Experiment]) -> Table:
    """The images of each class, in training and in every test."""
    rows = [
        (name, part, ", ".join(f"{label} {count:,}" for label, count in _counts(lines).items()))
        for name, experiment in experiments.items()
        for part, lines in {"train": experiment.train, **experiment.tests}.items()
    ]
    return Table("Images of each class", tuple(map(Column, ("experiment", "part", "images"))), tuple(rows))


def _counts(lines: Sequence[Line]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in lines:
        counts[line.label] += line.count
    return counts
