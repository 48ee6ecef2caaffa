"""Super-CLEVR's Tables 1 and 2 and Figure 3 with our networks in them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from recombine.benchmarks.run_tables import bar, curve_figure, growth_table, score_table
from recombine.benchmarks.runs import Group, Outcomes
from recombine.benchmarks.super_clevr import published
from recombine.benchmarks.super_clevr.variants import DEFAULT, FACTORS, TRAINED
from recombine.metrics.degrade import from_one, towards
from recombine.metrics.intervals import LEVEL, RESAMPLES, Interval
from recombine.report.document import Chapter, Figure
from recombine.report.score_charts import score_chart
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key

TYPES = {
    "exist": ("exist",),
    "count": ("count",),
    "compare numbers": ("equal_integer", "less_than", "greater_than"),
    **{f"query {name}": (f"query_{name}",) for name in ("size", "color", "material", "shape")},
    "compare values": ("equal_size", "equal_color", "equal_material", "equal_shape"),
}
LEAST = 0.5
"""Questions that count as right where none is: the degrade of who knows nothing would be none."""


def scores(results: Mapping[str, Any]) -> dict[str, dict[str, Interval]]:
    """The accuracy of a run in each test in percent, with an interval over images."""
    return {test: {"": _accuracy(test, one["images"])} for test, one in results["scores"].items()}


def _accuracy(test: str, images: Mapping[str, Sequence[int]]) -> Interval:
    right, asked = np.array(images["right"], float), np.array(images["asked"], float)
    right, asked = right[asked > 0], asked[asked > 0]  # a split may hold questions about few images out
    drawn = redrawn(len(right), Key(0) / "super-clevr" / "networks" / test)
    return _bounded(100 * (drawn @ right) / (drawn @ asked))


def redrawn(images: int, key: Key) -> np.ndarray:
    """How often each image is drawn: first each once, then in every resample, float[1 + resamples, images]."""
    drawn = key.rng().multinomial(images, np.full(images, 1 / images), RESAMPLES)
    return np.concatenate([np.ones((1, images)), drawn])


def _bounded(values: np.ndarray) -> Interval:
    """The first value, with the bounds of the others."""
    low, high = np.quantile(values[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(values[0]), float(low), float(high))


# --- scores


def tables(outcomes: Outcomes) -> list[Table]:
    """Figure 3, Table 1 by factor, Table 2, and accuracy by type of question."""
    groups = [group for group in outcomes.groups if group.job.options.about == "object" and not group.job.made]
    parts = [group for group in outcomes.groups if group.job.options.about == "part"]
    found = [
        in_domain(groups),
        own_variant(groups),
        *(by_factor(factor, groups) for factor in FACTORS),
        degrade_table(groups),
        degrade_by_variant(groups),
        type_table(groups),
        part_table(parts),
        growth_table(outcomes.groups, "On the first 2,000 validation questions of the variant.") if groups else None,
        *(score_table(f"Split {world}", some, {}) for world, some in outcomes.worlds() if some[0].job.made),
    ]
    return [table for table in found if table is not None and table.rows]


def _named(group: Group) -> tuple[Cell, ...]:
    return group.name, len(group.runs), group.steps


def _note(groups: Sequence[Group]) -> str:
    return (
        "Percent. With a 95 % interval over seeds (Student's t), or over images where there is one seed, which says "
        "nothing of how seeds differ. The paper's accuracies are on its validation part, ours on new test images."
        if groups
        else ""
    )


def in_domain(groups: Sequence[Group]) -> Table:
    """Trained and tested on the default variant, as Figure 3 has it."""
    groups = [group for group in groups if group.job.split == DEFAULT]
    known = any(group.paper(DEFAULT) is not None for group in groups)
    names = ("accuracy", *(["paper"] if known else []))
    columns = (*_first(), *(Column(name, "right", ".1f") for name in names))
    rows = tuple((*_named(group), *(group.score(DEFAULT), group.paper(DEFAULT))[: len(names)]) for group in groups)
    return Table("Figure 3: trained and tested on default", columns, rows, _note(groups))  # type: ignore[arg-type]


def own_variant(groups: Sequence[Group]) -> Table:
    """Trained and tested on one of the other variants; where the paper has it too, it stands in Table 1."""
    groups = [group for group in groups if group.job.split != DEFAULT]
    columns = (*_first(), Column("trained on"), Column("accuracy", "right", ".1f"))
    rows = tuple((*_named(group), group.job.split, group.score(group.job.split)) for group in groups)
    return Table("Trained and tested on the same variant", columns, rows, _note(groups))


def _first() -> tuple[Column, ...]:
    return Column("network"), Column("seeds", "right"), Column("steps", "right")


def by_factor(factor: str, groups: Sequence[Group]) -> Table:
    """The part of Table 1 about a factor: two rows for each run, ours and the paper's."""
    tests = FACTORS[factor]
    columns = (*_first(), Column("trained on"), *(Column(name, "right", ".1f") for name in tests))
    rows: list[tuple[Cell, ...]] = []
    for group, trained in _of_factor(factor, groups):
        rows.append((*_named(group), trained, *(group.score(variant) for variant in tests.values())))
        paper = [group.paper(variant) for variant in tests.values()]
        if any(one is not None for one in paper):
            rows.append(("", "paper", None, trained, *paper))  # type: ignore[arg-type]
    return Table(f"Table 1: {factor}, tested on", columns, tuple(rows), _note(groups))


def _of_factor(factor: str, groups: Sequence[Group]) -> Iterator[tuple[Group, str]]:
    """The groups that were trained on a variant of a factor, with the paper's name of it."""
    names = {variant: name for name, variant in TRAINED[factor].items()}
    for group in groups:
        if group.job.split in names and all(variant in group.tests for variant in FACTORS[factor].values()):
            yield group, names[group.job.split]


# --- relative degrade


DEGRADE_NOTE = (
    "Percent, by Table 2's reading: for each variant trained on, the drops to the other two are added, and a gain "
    "counts like a drop. With a 95 % interval over images."
)


def degrade_table(groups: Sequence[Group]) -> Table:
    """Table 2: of networks that were trained on all three variants of a factor."""
    rows: list[tuple[Cell, ...]] = []
    for factor, name, runs in _trained(groups):
        if len(runs) == len(TRAINED[factor]):
            rows.append((name, factor, degrade(runs, factor), _table_2(next(iter(runs.values())), factor)))
    columns = (*map(Column, ("network", "factor")), *_degrade_columns())
    return Table("Table 2: relative degrade", columns, tuple(rows), DEGRADE_NOTE)


def degrade_by_variant(groups: Sequence[Group]) -> Table:
    """The share of each variant trained on, which the paper does not print."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, factor, trained, degrade({trained: group}, factor), _published(group, factor, trained))
        for factor, name, runs in _trained(groups)
        for trained, group in runs.items()
    )
    columns = (*map(Column, ("network", "factor", "trained on")), *_degrade_columns())
    note = f"{DEGRADE_NOTE} The paper's are computed from its Table 1."
    return Table("Relative degrade by the variant trained on", columns, rows, note)


def _degrade_columns() -> tuple[Column, ...]:
    return Column("relative degrade", "right", ".1f"), Column("paper", "right", ".1f")


def _trained(groups: Sequence[Group]) -> Iterator[tuple[str, str, dict[str, Group]]]:
    """Factor, network, and its groups by the paper's name of what they were trained on."""
    for factor in FACTORS:
        known: dict[str, dict[str, Group]] = {}
        for group, trained in _of_factor(factor, groups):
            known.setdefault(group.name, {})[trained] = group
        yield from ((factor, name, runs) for name, runs in known.items())


def degrade(runs: Mapping[str, Group], factor: str) -> Interval:
    """The relative degrade of runs trained on some variants of a factor, by the paper's names of these."""
    right, asked = (
        {trained: _images(group, factor, column) for trained, group in runs.items()} for column in ("right", "asked")
    )
    images = min(len(column) for tested in asked.values() for column in tested.values())
    drawn = redrawn(images, Key(0) / "super-clevr" / "degrade" / factor)
    accuracy = {
        trained: {
            tested: 100 * np.maximum(drawn @ right[trained][tested], LEAST) / (drawn @ asked[trained][tested])
            for tested in FACTORS[factor]
        }
        for trained in runs
    }
    found = [
        [
            _of_one({tested: float(values[i]) for tested, values in by.items()}, factor, trained)
            for i in range(len(drawn))
        ]
        for trained, by in accuracy.items()
    ]
    return _bounded(np.mean(found, axis=0))


def _images(group: Group, factor: str, column: str) -> dict[str, np.ndarray]:
    """By test, how many questions about each image are right, or asked, in all seeds together."""
    return {
        tested: np.sum([run.results["scores"][variant]["images"][column] for run in group.runs], axis=0)
        for tested, variant in FACTORS[factor].items()
    }


def _of_one(tested: Mapping[str, float], factor: str, trained: str) -> float:
    if factor == "distribution":
        return towards({name: {trained: value} for name, value in tested.items()}, PAIRS, "bal")
    return from_one(tested, trained)


PAIRS = (("head", "tail"), ("long", "oppo"))


def _published(group: Group, factor: str, trained: str) -> float | None:
    """The same of the paper's accuracies, where these stand beside ours."""
    if group.paper(group.job.split) is None:
        return None
    tested = published.accuracy(_paper_name(group), factor)
    return _of_one({name: row[trained] for name, row in tested.items()}, factor, trained)


def _table_2(group: Group, factor: str) -> float | None:
    return None if group.paper(group.job.split) is None else published.TABLE_2[_paper_name(group)][factor]


def _paper_name(group: Group) -> str:
    return group.network.split(" (")[0]


# --- where they go wrong


def type_table(groups: Sequence[Group]) -> Table:
    """Accuracy by type of question, in domain."""
    columns = (*_first(), Column("trained on"), *(Column(name, "right", ".1f") for name in TYPES))
    rows = tuple(
        (*_named(group), group.job.split, *(_share(group, names) for names in TYPES.values())) for group in groups
    )
    return Table("By the type of question, in domain", columns, rows, "Percent, all seeds together.")


def _share(group: Group, names: Sequence[str]) -> float | None:
    counts = [
        pair
        for run in group.runs
        for name, pair in run.results["scores"][group.job.split]["types"].items()
        if name in names
    ]
    asked = sum(pair[1] for pair in counts)
    return 100 * sum(pair[0] for pair in counts) / asked if asked else None


def part_table(groups: Sequence[Group]) -> Table:
    """Questions about parts, which the paper's models were not asked."""
    columns = (*_first(), Column("trained on"), Column("accuracy", "right", ".1f"))
    rows = tuple((*_named(group), group.job.split, group.score(group.job.split)) for group in groups)
    return Table("Questions about parts", columns, rows, _note(groups))


# --- the page


def chapters(outcomes: Outcomes) -> list[Chapter]:
    """Scores and figures."""
    curves = (curve_figure(world, groups, {}) for world, groups in outcomes.worlds())
    figures = [figure for figure in (*_figures(outcomes), *curves) if figure is not None]
    return [Chapter("Scores", tuple(tables(outcomes))), Chapter("Figures", tuple(figures))]


def _figures(outcomes: Outcomes) -> Iterator[Figure]:
    groups = [group for group in outcomes.groups if group.job.options.about == "object"]
    default = [group for group in groups if group.job.split == DEFAULT]
    if default:
        said = "Trained on the default variant: accuracy on each variant of the four factors in percent."
        tests = [test for test in default[0].tests if all(test in group.tests for group in default)]
        parts = [(test, [*map(partial(_bar, test), default)]) for test in tests]
        yield Figure.drawn("default", said, partial(score_chart, parts, said, "accuracy", 100.0))


def _bar(test: str, group: Group) -> Any:
    return bar(group, test)
