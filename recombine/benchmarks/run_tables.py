"""Tables of many runs: their scores beside the paper's and the ideal learners', what is missing, cost and settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from recombine.benchmarks.networks import Published
from recombine.benchmarks.runs import Group, Ideal, Outcomes
from recombine.metrics.intervals import Interval
from recombine.report.curves import curve_chart
from recombine.report.document import Figure
from recombine.report.score_charts import Level, Score
from recombine.report.table import Cell, Column, Table
from recombine.store.durations import time_of

CLASS, MEAN, PAPER = "class", "mean", "paper"
OURS = (
    "Ours with a 95 % interval over seeds (Student's t). One seed has the interval of the standard deviation over "
    "seeds that the paper prints of the same network, or, where it prints none, one over the units of the test, which "
    "says nothing of how seeds differ. Runs on other data, or with other settings, than the paper's have none of its "
    "numbers beside them."
)


def score_table(title: str, groups: Sequence[Group], ideal: Ideal, tests: Sequence[str] = ()) -> Table:
    """A row for each network on each split, and for each class where there are several: ours, the paper's, the ideal.

    The splits have a column where `tests` are named, else they are in the title.
    """
    networks, chosen = groups[0].networks, tests or groups[0].tests
    names = [*(["split"] if tests else []), "network", *([CLASS] if len(groups[0].classes) > 1 else [])]
    columns = [*map(Column, names), Column("seeds", "right"), Column("steps", "right")]
    beside = {test: _beside(groups, ideal, test) for test in chosen}
    for test, others in beside.items():
        shown = others if len(chosen) == 1 else [f"{test}, {name}" for name in others]
        columns += [Column(name, "right", networks.format) for name in (test, *shown)]
    rows = tuple(row for group in groups for row in _rows(group, ideal, bool(tests), beside))
    return Table(title, tuple(columns), rows, " ".join(filter(None, (networks.note, OURS))))


def _beside(groups: Sequence[Group], ideal: Ideal, test: str) -> list[str]:
    """What stands after ours."""
    known = any(group.paper(test) is not None for group in groups)
    who = dict.fromkeys(name for group in groups for name in ideal.get(group.world, {}).get(test, {}))
    return [*([PAPER] if known else []), *who]


def _rows(
    group: Group, ideal: Ideal, with_split: bool, beside: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Cell, ...]]:
    several = len(group.classes) > 1
    for chosen in (*((name,) for name in group.classes if several), ()):
        cells: list[Cell] = [group.world] if with_split else []
        cells += [group.name, *((chosen or (MEAN,)) if several else ()), len(group.runs), group.steps]
        for test, others in beside.items():
            known: dict[str, Cell] = {PAPER: _printed(group.paper(test, *chosen), group.networks.format)}
            known |= {} if chosen else ideal.get(group.world, {}).get(test, {})
            cells += [group.score(test, *chosen), *map(known.get, others)]
        yield tuple(cells)


def _printed(paper: Published | None, format: str) -> Cell:
    if not isinstance(paper, tuple):
        return paper
    value, spread = paper
    return value if spread is None else f"{value:{format}} ± {spread:{format}}"


def brief(table: Table) -> Table:
    """A table of scores as wide as a terminal: the means over classes alone, the paper's in brackets."""
    names = [column.name for column in table.columns]
    papers = {n for n, name in enumerate(names) if name == PAPER or name.endswith(f", {PAPER}")}
    kept = [n for n, name in enumerate(names) if n not in papers and name != CLASS]
    rows = tuple(
        tuple(f"{texts[n]} ({texts[n + 1]})" if n + 1 in papers else texts[n] for n in kept)
        for texts in table.texts()
        if CLASS not in names or texts[names.index(CLASS)] == MEAN
    )
    said = ["The paper's in brackets."] if papers else []
    said += ["The means over classes; --out and --json have every class."] if CLASS in names else []
    columns = tuple(table.columns[n] for n in kept)
    short = replace(table, columns=columns, rows=rows, note=" ".join([*said, table.note]))
    return short.without_what_all_share("split", "seeds", "steps")


def runs_table(outcomes: Outcomes) -> Table:
    """How many runs of the whole table are there."""
    networks, compared = outcomes.networks, outcomes.as_published().compared
    there = tuple(dict.fromkeys(group.network for group in compared))
    there += tuple(name for name in networks.expected(there) if name not in there)
    rows, missing = [], 0
    for split in networks.known_splits:
        found = [_runs(compared, split, network) for network in there]
        missing += sum(max(0, outcomes.wanted - n) for n in found)
        rows.append((split, *(f"{n} of {outcomes.wanted}" for n in found)))
    whole = len(rows) * len(there) * outcomes.wanted
    note = f"{whole - missing} of {whole} runs are finished" + (f", {missing} are missing" if missing else "")
    other = sum(len(group.runs) for group in outcomes.groups) - sum(len(group.runs) for group in compared)
    note += f"; with other data or settings: {other}" if other else ""
    note += f"; begun and not at their end: {len(outcomes.unfinished)}." if outcomes.unfinished else "."
    return Table("Runs", (Column("split"), *(Column(name, "right") for name in there)), tuple(rows), note)


def _runs(groups: Sequence[Group], split: str, network: str) -> int:
    return sum(len(group.runs) for group in groups if (group.job.split, group.network) == (split, network))


def cost_table(outcomes: Outcomes, workers: int = 2) -> Table:
    """What the runs took: steps and times are means of one run."""
    names = ("parameters", "runs", "steps", "CPU ms per step", "CPU per run", "wall per run")
    columns = (Column("split"), Column("network"), *(Column(name, "right", ".1f") for name in names))
    rows = tuple(_cost(group) for group in outcomes.groups)
    cpu, wall = (sum(float(group.each(name).sum()) for group in outcomes.groups) for name in TIMES)
    runs = sum(len(group.runs) for group in outcomes.groups)
    note = (
        f"With validation. All {runs} runs: {time_of(cpu)} of CPU, {workers} at a time about {time_of(cpu / workers)}; "
    )
    note += f"{time_of(wall)} by the clock of the runs, which also counts what other work took from them."
    return Table("What it cost", columns, rows, note)


TIMES = ("cpu_seconds", "seconds")


def _cost(group: Group) -> tuple[Cell, ...]:
    steps, cpu, wall = (float(group.each(name).mean()) for name in ("steps", *TIMES))
    counts = (int(group.each("parameters")[0]), len(group.runs), round(steps))
    return group.world, group.name, *counts, 1000 * cpu / steps, time_of(cpu), time_of(wall)


def settings_table(outcomes: Outcomes) -> Table:
    """How each network was trained, from the configs of its runs."""
    texts = ("parameters", "seeds", "optimiser", "precision")
    numbers = ("batch", "rate", "at most", "validated every", "patience", "progress")
    columns = (
        Column("network"),
        *map(Column, texts),
        *(Column(name, "right", "g") for name in numbers),
        Column("data"),
    )
    named: dict[tuple[str, str, int], list[Group]] = {}
    for group in outcomes.groups:
        named.setdefault((group.name, _data(group), group.steps if group.networks.free else 0), []).append(group)
    note = (
        "Training stops after so many validations ('patience') without a value that is better by 'progress', and the "
        "weights that did best in validation are tested. The seeds are those of the networks: all see the same data."
    )
    return Table("Settings", columns, tuple(_setting(groups) for groups in named.values()), note)


def _data(group: Group) -> str:
    job = group.job
    own = [f"{name} {getattr(job.options, name)}" for name in group.networks.of_data]
    return ", ".join([f"scale {job.scale}", f"seed {job.data_seed}", *own])


def _setting(groups: Sequence[Group]) -> tuple[Cell, ...]:
    """Groups of one name that differ in the split alone."""
    sizes = sorted({int(size) for group in groups for size in group.each("parameters")})
    seeds = sorted({run.job.seed for group in groups for run in group.runs})
    training = groups[0].job.training
    length = f"{training.steps:,} steps" if training.steps else f"{training.epochs:,} epochs"
    every = f"{training.validate_every:,} steps" if training.validate_every else "epoch"
    texts = (_span(sizes), _span(seeds), training.optimiser, training.precision)
    numbers = (training.batch, training.rate, length, every, training.patience, training.least)
    return groups[0].name, *texts, *numbers, _data(groups[0])


def _span(numbers: Sequence[int]) -> str:
    """The least and the largest of sorted numbers."""
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"


def growth_table(groups: Sequence[Group], note: str = "") -> Table | None:
    """What more steps have brought in validation, within these runs."""
    judge = groups[0].networks.judged_by
    names = ("steps", f"{judge} at a quarter", "at half", "at the end", "a doubling brings")
    columns = (Column("split"), Column("network"), *(Column(name, "right") for name in names))
    rows = tuple(row for group in groups for row in _growth(group))
    said = (
        f"{judge} in percent in the first validation after so many steps. The last column is a straight line through "
        "all validations from a quarter of the steps on, against the logarithm of the steps, with its standard error: "
        "the scatter within these runs, not that between trainings."
    )
    return Table("What more steps brought", columns, rows, " ".join(filter(None, (said, note)))) if rows else None


def _growth(group: Group) -> Iterator[tuple[Cell, ...]]:
    curve = dict(group.curve().points)
    after = [min((step for step in curve if step >= group.steps / part), default=0) for part in (4, 2, 1)]
    if len({*after, 0}) < 4:
        return
    points = [(step, 100 * value) for step, value in curve.items() if step >= after[0]]
    brings = "{:+.1f} ± {:.1f}".format(*slope(points))
    yield group.world, group.name, group.steps, *(100 * curve[step] for step in after), brings


def slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
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


# --- figures


def bar(group: Group, test: str, *classes: str) -> Score:
    """A group in a chart of scores."""
    score, paper = group.score(test, *classes), group.paper(test, *classes)
    ours = score if isinstance(score, Interval) else Interval(score, score, score)
    return Score(group.name, ours, paper[0] if isinstance(paper, tuple) else paper, group.networks.format)


def levels(ideal: Ideal, world: str, test: str) -> list[Level]:
    """What ideal learners score; one line where they are the same."""
    found = ideal.get(world, {}).get(test, {})
    if len(found) > 1 and max(found.values()) - min(found.values()) < 1:
        return [Level("both oracles", max(found.values()))]
    return [Level(name, value) for name, value in found.items()]


def curve_figure(world: str, groups: Sequence[Group], ideal: Ideal) -> Figure | None:
    """The learning curves of one world."""
    curves = [curve for curve in (group.curve() for group in groups) if curve.points]
    if not curves:
        return None
    judge = groups[0].networks.judged_by
    lines = {level.name: level.value / 100 for level in levels(ideal, world, judge)}
    said = f"{world}: {judge} in validation against steps (each mark is twice the one before)."
    name = f"curve-{world.replace(', ', '-').replace(' ', '-')}"
    return Figure.drawn(name, said, partial(curve_chart, curves, lines, said, judge))
