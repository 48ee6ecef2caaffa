"""The gaps of a benchmark: one table, one chart and one JSON record for all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from recombine.metrics.gap import Gap
from recombine.metrics.seeds import over_seeds
from recombine.report.figures import WIDTH, GapRow, gap_chart
from recombine.report.table import Cell, Column, Table

ORACLES = ("paper strong", "paper weak", "paper gap", "recomputed")
"""What papers print of ideal learners; other names are models."""


@dataclass(frozen=True)
class Trial:
    """What the ideal learners score on one test by one metric."""

    split: str
    test: str
    title: str
    gap: Gap
    others: Mapping[str, float] = field(default_factory=dict)
    """Further learners."""
    published: Mapping[str, Cell] = field(default_factory=dict)
    """What was printed of the same test."""
    control: bool = False
    """Whether nothing is held out here: the same split's questions as training has them."""
    best: tuple[Gap, str] | None = None
    """Strong minus the best of all learners that do not recombine, and who that is, where there are several."""

    @property
    def metric(self) -> str:
        return self.gap.metric


@dataclass(frozen=True)
class Gaps:
    """The gaps of some splits of a benchmark."""

    benchmark: str
    title: str
    settings: Mapping[str, str | int]
    """What decides them: scale, seed, ..."""
    trials: tuple[Trial, ...]
    unit: str
    """What the scores are means over: episodes, questions, images."""
    note: str = ""
    published: str = ""
    """What the published columns are."""

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trial.metric for trial in self.trials))

    def of(self, metric: str | None = None, control: bool = False) -> list[Trial]:
        """The trials by a metric, by default the first."""
        metric = metric or self.metrics[0]
        return [trial for trial in self.trials if trial.metric == metric and trial.control == control]

    def __getitem__(self, split: str) -> Gap:
        """The gap of a split by the first metric."""
        return next(trial.gap for trial in self.of() if trial.split == split)

    def tables(self, metric: str | None = None) -> list[Table]:
        """Our learners beside the papers' oracles; published models have a table of their own."""
        models = [name for name in _names(row.published for row in self.of(metric)) if name not in ORACLES]
        ours = self.table(metric, without=models)
        if not models:
            return [ours]
        cells = tuple((row.title, *map(row.published.get, models)) for row in self.of(metric))
        columns = (Column("split"), *(Column(name, "right") for name in models))
        return [ours, Table(f"{self.title}: published models", columns, cells, self.published)]

    def table(self, metric: str | None = None, without: Sequence[str] = ()) -> Table:
        """Strong, weak and further learners, the gap, and what was published, side by side."""
        rows, controls = self.of(metric), {one.split: one.gap.gap for one in self.of(metric, control=True)}
        others, printed = (_names(getattr(row, which) for row in rows) for which in ("others", "published"))
        printed = [name for name in printed if name not in without]
        several = any(row.best for row in rows)
        best = ("gap to the best", "the best") if several else ()
        names = (
            "strong",
            "weak",
            *others,
            "gap",
            *best,
            self.unit,
            *(["gap on control"] if controls else []),
            *printed,
        )
        cells = tuple(
            (
                row.title,
                row.gap.strong,
                row.gap.weak,
                *map(row.others.get, others),
                row.gap.gap,
                *(_best(row) if several else ()),
                row.gap.episodes,
                *([controls.get(row.split)] if controls else []),
                *map(row.published.get, printed),
            )
            for row in rows
        )
        columns = (Column("split"), *(Column(name, "right") for name in names))
        said = " The best: of all learners here that do not recombine, chosen anew in every sample." if several else ""
        return Table(self._title(metric), columns, cells, self._note(bool(printed), said))

    def brief(self, metric: str | None = None) -> Table:
        """The same for a terminal of 80 columns."""
        rows = self.of(metric)
        controls = {one.split: one.gap.gap.value for one in self.of(metric, control=True)}
        pair = any({"paper strong", "paper weak"} <= set(row.published) for row in rows)
        names = ("strong", "weak", "gap", *(["on control"] if controls else []), *(["paper"] if pair else []))
        cells = tuple(
            (
                row.title,
                *(value.short() for value in (row.gap.strong, row.gap.weak, row.gap.gap)),
                *([controls.get(row.split)] if controls else []),
                *([_pair(row.published)] if pair else []),
            )
            for row in rows
        )
        columns = (Column("split"), *(Column(name, "right") for name in names))
        return Table(self._title(metric), columns, cells, self._note(pair))

    def briefs(self) -> list[Table]:
        """One for each metric; the last has the note."""
        tables = [self.brief(metric) for metric in self.metrics]
        return [*(replace(table, note="") for table in tables[:-1]), *tables[-1:]]

    def chart(self, metric: str | None = None, width: float = WIDTH) -> str:
        """One row per split; drawn narrow, it says in its caption what is measured."""
        rows = [
            GapRow(row.title, row.gap.strong, row.gap.weak, *map(partial(_number, row.published), ("strong", "weak")))
            for row in self.of(metric)
        ]
        title, measured = f"{self.title}: the compositionality gap", f"{metric or self.metrics[0]}, percent"
        return gap_chart(rows, title, measured, width)

    def json(self) -> list[dict[str, Any]]:
        """One flat record per split and metric."""
        return [self._record(trial) for trial in self.trials]

    def _record(self, trial: Trial) -> dict[str, Any]:
        values = {"strong": trial.gap.strong, "weak": trial.gap.weak, "gap": trial.gap.gap}
        ends = (("", "value"), ("_low", "low"), ("_high", "high"))
        return {
            "benchmark": self.benchmark,
            "split": trial.split,
            "test": trial.test,
            "control": trial.control,
            "metric": trial.metric,
            **self.settings,
            "unit": self.unit,
            "units": trial.gap.episodes,
            **{f"{name}{end}": getattr(value, bound) for name, value in values.items() for end, bound in ends},
            "over": trial.gap.over,
            "others": dict(trial.others),
            **({} if trial.best is None else {"best": trial.best[1], "gap_to_best": trial.best[0].gap.value}),
            "published": dict(trial.published),
        }

    @property
    def over(self) -> str:
        """What the intervals are over."""
        if "seeds" in self.settings:
            return "worlds (Student's t)"
        if all(trial.gap.over == "meanings" for trial in self.trials):
            return f"meanings (bootstrap of concepts with all their {self.unit}); one world"
        return f"{self.unit} (bootstrap); one world"

    def _title(self, metric: str | None) -> str:
        return f"{self.title}: the compositionality gap by {metric or self.metrics[0]}, percent"

    def _note(self, published: bool, more: str = "") -> str:
        said = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        text = f"{said}. Values with 95 % intervals over {self.over}.{more}"
        return " ".join(filter(None, [text[0].upper() + text[1:], self.note, self.published if published else ""]))

    def __str__(self) -> str:
        return "\n\n".join(table.markdown() for table in self.briefs())

    def _repr_html_(self) -> str:
        return self.table().html()

    def to_pandas(self, metric: str | None = None) -> Any:
        """The table by a metric, by default the first, as a data frame."""
        return self.table(metric).to_pandas()


def over_worlds(found: Sequence[Gaps]) -> Gaps:
    """The mean of the same gaps over several worlds, with its interval over them."""
    first = found[0]
    if len(found) == 1:
        return first
    trials = []
    for same in zip(*(gaps.trials for gaps in found)):
        values = {
            name: over_seeds(np.array([getattr(one.gap, name).value for one in same]), low, 100.0)
            for name, low in (("strong", 0.0), ("weak", 0.0), ("gap", -100.0))
        }
        units = sum(one.gap.episodes for one in same)
        gap = replace(same[0].gap, episodes=units, over="worlds", **values)
        others = {name: float(np.mean([one.others[name] for one in same])) for name in same[0].others}
        trials.append(replace(same[0], gap=gap, others=others, best=_best_over([one.best for one in same])))
    seeds = [int(gaps.settings["seed"]) for gaps in found]
    return replace(first, trials=tuple(trials), settings={**first.settings, "seed": seeds[0], "seeds": len(seeds)})


def _best_over(found: Sequence[tuple[Gap, str] | None]) -> tuple[Gap, str] | None:
    """The gap to the best over worlds; the best is who is so most often."""
    there = [one for one in found if one is not None]
    if not there:
        return None
    value = over_seeds(np.array([gap.gap.value for gap, _ in there]), -100.0, 100.0)
    names = [name for _, name in there]
    return replace(there[0][0], gap=value, over="worlds"), max(dict.fromkeys(names), key=names.count)


def _best(row: Trial) -> tuple[Cell, Cell]:
    return (None, None) if row.best is None else (row.best[0].gap, row.best[1])


def _names(rows: Any) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _number(published: Mapping[str, Cell], who: str) -> float | None:
    found = published.get(f"paper {who}")
    return float(found) if isinstance(found, int | float) else None


def _pair(published: Mapping[str, Cell]) -> str | None:
    strong, weak = (_number(published, who) for who in ("strong", "weak"))
    return None if strong is None or weak is None else f"{strong} / {weak}"
