"""Finished runs of networks: which of them belong together, and what they scored.

A *group* is the runs of one network on one split that differ in nothing but the seed; means and intervals are those of
a group. Its *world* is the split and all that decides the data. In what a group departs from the paper's settings is
part of its name: such runs are never averaged with others.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.networks import LARGEST, Job, Networks, Published, changes, job_of
from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import borrowed, over_seeds
from recombine.report.curves import Curve
from recombine.solvers.training.records import as_written, read_metrics, runs_of
from recombine.store.engine import InProcess, Progress, silent
from recombine.store.errors import UserError
from recombine.store.store import Store

SEEDS = 3
"""The seeds of a whole table, at least."""
NO_MATTER = ("seed", "length.checkpoint_every")
"""What a config says and no score depends on, other than by chance."""
ANYWHERE = ("checkpoint_every", "device", "threads")
"""Settings in which nobody's runs need to be the paper's."""
COUNTED = ("steps", "parameters", "seconds", "cpu_seconds")
Scores = Mapping[str, Mapping[str, float | Interval]]
"""By test and class."""
Ideal = Mapping[str, Mapping[str, Mapping[str, float]]]
"""What ideal learners score, by world, test and name."""


def data_of(job: Job) -> tuple[str, ...]:
    """In what the data of a job depart from the paper's."""
    own = {name: getattr(job.options, name) for name in job.networks.of_data}
    said = [f"{name} {value}" for name, value in own.items() if value != job.networks.of_data[name]]
    said += [f"scale {job.scale}"] if job.scale != "paper" else []
    return (*said, *([f"seed {job.data_seed}"] if job.data_seed else []))


def world_of(job: Job) -> str:
    """The split and the data of a job in words."""
    return ", ".join((job.split, *data_of(job)))


def departures(job: Job) -> tuple[str, ...]:
    """In what else a job departs from the paper's settings."""
    networks = job.networks
    hidden = (*networks.of_data, *networks.of_name, *networks.examined)
    own = {name: value for name, value in changes(job.options).items() if name not in hidden}
    usual = asdict(networks.usual(job.model, job.options))
    ours = {name: value for name, value in asdict(job.training).items() if name not in (*ANYWHERE, *networks.free)}
    own |= {name: value for name, value in ours.items() if value != usual[name]}
    return tuple(f"{name.replace('_', ' ')} {_text(value)}" for name, value in own.items())


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One finished run."""

    job: Job
    config: Mapping[str, Any]
    results: Mapping[str, Any]
    scores: Scores
    curve: tuple[tuple[int, float], ...] = ()
    """The validation's value after so many steps."""

    @property
    def alike(self) -> str:
        """All but the seed: runs that are alike here are averaged."""
        same = {name: value for name, value in _without_seed(self).items() if name not in NO_MATTER}
        tests = {name: self.results.get(name) for name in self.job.networks.examined}
        taken = {test: [*classes] for test, classes in self.scores.items()}
        return json.dumps({**same, "tests": tests, "taken": taken}, sort_keys=True)


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that differ in nothing but the seed; `fine` is what tells them from others of the same name."""

    runs: tuple[Outcome, ...]
    fine: tuple[str, ...] = ()

    @property
    def job(self) -> Job:
        return self.runs[0].job

    @property
    def networks(self) -> Networks[Any]:
        return self.job.networks

    @cached_property
    def world(self) -> str:
        return world_of(self.job)

    @cached_property
    def network(self) -> str:
        return self.networks.printed(self.job, self.runs[0].config)

    @cached_property
    def apart(self) -> tuple[str, ...]:
        return departures(self.job)

    @property
    def name(self) -> str:
        told = (*self.apart, *self.fine)
        return f"{self.network} ({', '.join(told)})" if told else self.network

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(self.runs[0].scores)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.runs[0].scores[self.tests[0]])

    @property
    def steps(self) -> int:
        return round(float(self.each("steps").mean()))

    def each(self, name: str) -> np.ndarray:
        """One number of every run, such as its steps, float[seeds]."""
        return np.array([run.results[name] for run in self.runs], float)

    def of(self, test: str, *classes: str) -> np.ndarray:
        """The mean score over some classes, or over all, in every run, float[seeds]."""
        chosen = classes or self.classes
        return np.array([mean_of(run.scores[test][name] for name in chosen) for run in self.runs])

    def score(self, test: str, *classes: str) -> float | Interval:
        """The mean over seeds with its interval.

        One seed borrows the spread over seeds that the paper prints of the same network; without one, what the run
        itself says stands.
        """
        values, chosen, paper = self.of(test, *classes), classes or self.classes, self.paper(test, *classes)
        if len(values) > 1:
            return over_seeds(values, 0.0, self.networks.highest)
        if isinstance(paper, tuple) and paper[1]:
            return borrowed(values, paper[1], 0.0, self.networks.highest)
        return self.runs[0].scores[test][chosen[0]] if len(chosen) == 1 else float(values[0])

    @cached_property
    def _published(self) -> Mapping[str, Mapping[str, Published]]:
        """Nothing where the data or the settings are not the paper's."""
        other = self.job.scale != "paper" or self.job.data_seed or self.apart
        return {} if other else self.networks.published(self)

    def paper(self, test: str, *classes: str) -> Published | None:
        """What the paper prints; the mean over several classes."""
        known = self._published.get(test, {})
        chosen = [known[name] for name in classes or self.classes if name in known]
        if not chosen:
            return None
        return chosen[0] if len(chosen) == 1 else mean_of(chosen)

    def curve(self) -> Curve:
        """The mean over seeds."""
        curves = [dict(run.curve) for run in self.runs]
        shared = sorted(set.intersection(*(set(curve) for curve in curves)))
        return Curve(self.name, [(step, float(np.mean([curve[step] for curve in curves]))) for step in shared])


def mean_of(scores: Iterable[float | Interval | tuple[float, float | None]]) -> float:
    """The mean of scores without their intervals or spreads."""
    return float(np.mean([one[0] if isinstance(one, tuple) else getattr(one, "value", one) for one in scores]))


@dataclass(frozen=True, eq=False)
class Outcomes:
    """All runs of a folder: the finished ones in groups, and the names of those that are under way."""

    networks: Networks[Any]
    groups: tuple[Group, ...]
    unfinished: tuple[str, ...] = ()
    ideal: Ideal = field(default_factory=dict)

    @cached_property
    def usual(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Data and settings of most runs, the paper's first; of equally many, the nearest to it."""
        counts: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        for group in self.groups:
            counts[data_of(group.job), group.apart] += len(group.runs)
        return min(counts, key=lambda one: (bool(one[0]), -counts[one], len(one[1])))

    @cached_property
    def compared(self) -> tuple[Group, ...]:
        """The groups that can be compared with one another: the longest of each network with the usual settings."""
        if not self.groups:
            return ()
        found: dict[tuple[str, str, tuple[str, ...]], Group] = {}
        for group in sorted(self.groups, key=lambda one: one.steps):
            if (data_of(group.job), group.apart) == self.usual:
                found[group.job.split, group.network, group.fine] = group
        return tuple(group for group in self.groups if group in found.values())

    def as_published(self) -> "Outcomes":
        """Those that findings can be judged by: none where all runs are on less data than the paper's."""
        return replace(self, groups=() if self.groups and self.usual[0] else self.groups)

    def worlds(self) -> list[tuple[str, list[Group]]]:
        """The groups of each world."""
        found: dict[str, list[Group]] = {}
        for group in self.groups:
            found.setdefault(group.world, []).append(group)
        return list(found.items())

    def on(self, split: str) -> list[Group]:
        """The groups of a split that can be compared."""
        return [group for group in self.compared if group.job.split == split]

    def find(self, split: str, network: str) -> Group | None:
        return next((group for group in self.on(split) if group.network == network), None)

    @property
    def wanted(self) -> int:
        """Seeds of a whole table: as many as the group with most of them has."""
        return max([SEEDS, *(len(group.runs) for group in self.compared)])


# --- reading


def read_outcomes(networks: Networks[Any], folder: Path) -> Outcomes:
    """The finished runs of a folder."""
    found, others = [], []
    for run, config, results in runs_of(folder, networks.benchmark):
        if results is None:
            others.append(run.name)
            continue
        with as_written(run):
            numbers = {name: _positive(results[name], name) for name in COUNTED}
            scores, curve = networks.scores(results), _curve(run, networks.judged_by)
            one = Outcome(job_of(config, run), config, {**results, **numbers}, scores, curve)
            _refuse_odd(one)
            found.append(one)
    if not found:
        name = networks.benchmark
        raise UserError(f"{folder} has no finished runs of {name}; train some: recombine train {name} --out {folder}")
    return Outcomes(networks, grouped(found), tuple(others))


def _positive(value: Any, name: str) -> float:
    least = 1 if name == "steps" else 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < LARGEST:
        raise ValueError(f"{name} cannot be {value!r:.80}")
    return float(value)


def _refuse_odd(one: Outcome) -> None:
    """Refuse a run that does not hold what tables show of it: it would spoil those of all others."""
    scores = [score for test in one.scores.values() for score in test.values()]
    values = [value for s in scores for value in ((s.value, s.low, s.high) if isinstance(s, Interval) else (s,))]
    if not values or not all(-LARGEST < value < LARGEST for value in values):
        raise ValueError("its scores are no numbers")
    one.job.networks.tables(Outcomes(one.job.networks, grouped([one])))


def _curve(folder: Path, judge: str) -> tuple[tuple[int, float], ...]:
    return tuple((row.step, row.value) for row in read_metrics(folder) if row.name == f"validation/{judge}")


def grouped(found: Sequence[Outcome]) -> tuple[Group, ...]:
    """Runs that differ in their seeds alone together, in the order of the paper's tables."""
    alike: dict[str, list[Outcome]] = {}
    for one in sorted(found, key=lambda one: one.job.seed):
        alike.setdefault(one.alike, []).append(one)
    groups = [Group(tuple(runs)) for runs in alike.values()]
    told = [replace(group, fine=_fine(group, groups)) for group in groups]
    return tuple(sorted(told, key=_place))


def _fine(group: Group, groups: Sequence[Group]) -> tuple[str, ...]:
    """What tells a group from others of the same name: other data, or another version."""
    mine, free = _without_seed(group.runs[0]), tuple(f".{name}" for name in group.networks.free)
    twins = [_without_seed(one.runs[0]) for one in groups if (one.world, one.name) == (group.world, group.name)]
    differ = [name for name in mine if any(twin.get(name) != mine[name] for twin in twins)]
    return tuple(
        f"{name} {str(mine[name])[:8]}" for name in differ if name not in NO_MATTER and not name.endswith(free)
    )


def _without_seed(run: Outcome) -> dict[str, Any]:
    return flat(run.job.networks.without_seed(run.config))


def _place(group: Group) -> tuple[Any, ...]:
    networks, job = group.networks, group.job
    split, network = _index(networks.known_splits, job.split), _index(networks.known_networks, group.network)
    return bool(data_of(job)), split, group.world, network, group.name, group.steps


def _index(known: Sequence[str], name: str) -> int:
    return known.index(name) if name in known else len(known)


def flat(config: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings under one name each.

    >>> flat({"seed": 0, "training": {"rate": 0.1}})
    {'seed': 0, 'training.rate': 0.1}
    """
    found: dict[str, Any] = {}
    for name, value in config.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {before + name: value}
    return found


def with_ideal(outcomes: Outcomes, store: Store, progress: Progress = silent) -> Outcomes:
    """The same, with what ideal learners score on the same tests."""
    found: dict[str, Mapping[str, Mapping[str, float]]] = {}
    for world, groups in outcomes.worlds():
        job = groups[0].job
        found[world] = outcomes.networks.ideal(job, job.networks.open(job, store, InProcess(progress)))
    return replace(outcomes, ideal=found)
