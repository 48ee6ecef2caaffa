"""CLOSURE's Tables 1, 2, 3 and 5 and Figures 3, 4 and 7 with our networks in them, and where these go wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from recombine.benchmarks.closure.published import TESTS
from recombine.benchmarks.run_tables import curve_figure, growth_table, score_table
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.intervals import Interval
from recombine.report.document import Chapter, Figure
from recombine.report.score_charts import Score, score_chart
from recombine.report.table import Cell, Column, Table

GENERATED = ", generated programs"
"""What the names of tests end in where the programs are those of a generator."""
CLEVR, HELD_OUT = "CLEVR", "held out"
"""CLEVR's validation questions, and those of them that a split holds out."""
ORDER = {
    **dict.fromkeys(("and_mat_spa", "or_mat", "or_mat_spa"), 2),
    **dict.fromkeys(("embed_spa_mat", "embed_mat_spa"), 3),
    **dict.fromkeys(("compare_mat", "compare_mat_spa"), 4),
}
"""The smallest depth of a fragment of programs that a test has and CLEVR has not."""
TYPES = {
    "exist": ("exist",),
    "count": ("count",),
    "compare numbers": ("equal_integer", "less_than", "greater_than"),
    "query": ("query_size", "query_color", "query_material", "query_shape"),
    "compare values": ("equal_size", "equal_color", "equal_material", "equal_shape"),
}
DEPTHS = {"1 to 4": range(1, 5), "5 to 8": range(5, 9), "9 to 12": range(9, 13), "13 and more": range(13, 99)}


def named(test: str, kind: str) -> str:
    """The name of a test, or of its baseline."""
    return test if kind == "closure" else f"{test}, baseline"


def baseline(test: str) -> str:
    return named(test, "baseline")


# --- scores


def tables(outcomes: Outcomes) -> list[Table]:
    """All tables of the paper for which there are runs, and what more steps brought."""
    zero, few = (_of(outcomes, split) for split in ("zero-shot", "few-shot"))
    whole = replace(outcomes, groups=(*zero, *few))
    found = [
        _table("Table 1: zero-shot, the seven tests", zero, TESTS),
        _table("Table 3: their baselines, the CLEVR questions nearest to them", zero, TESTS, baseline),
        _table("Table 5: CLEVR's validation questions", zero, (CLEVR,)),
        _table("Table 2: after 36 questions of each test", few, TESTS),
        _table("The baselines after 36 questions of each test", few, TESTS, baseline),
        shown_table(outcomes.groups),
        programs_table(whole.groups),
        growth_table(whole.groups, f"On the first {2_000:,} validation questions of CLEVR.") if whole.groups else None,
        *(score_table(f"Split {world}", groups, {}) for world, groups in outcomes.worlds() if groups[0].job.made),
    ]
    return [table for table in found if table is not None]


def _of(outcomes: Outcomes, split: str) -> list[Group]:
    """The groups of a split that learnt from all questions."""
    return [group for group in outcomes.groups if group.job.split == split and group.job.options.shown is None]


def shown_table(groups: Sequence[Group]) -> Table | None:
    """What networks make of fewer questions: accuracy, and programs that are exact."""
    fewer = {group.job.model for group in groups if group.job.options.shown}
    wanted = [group for group in groups if group.job.model in fewer and group.job.split == "zero-shot"]
    first = (Column("network"), Column("questions", "right"), Column("seeds", "right"))
    columns = (*first, *(Column(test, "right") for test in (CLEVR, *TESTS)))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (group.network, group.job.options.shown or "all", len(group.runs), *(group.score(t) for t in (CLEVR, *TESTS)))
        for group in sorted(wanted, key=lambda one: (one.network, one.job.options.shown or 10**9, one.steps))
    )
    note = "Percent of answers that are right, by how many of CLEVR's training questions, drawn at random, were shown."
    return Table("Learning from fewer questions", columns, rows, note) if fewer else None


def _variants(groups: Sequence[Group]) -> Iterator[tuple[str, str, Group]]:
    """Networks by name, those that were also tested with generated programs twice; the second with another ending."""
    for group in groups:
        yield group.name, "", group
        if all(f"{CLEVR}{GENERATED}" in run.scores for run in group.runs):
            yield group.name.replace("GT-", "PG-"), GENERATED, group


def _table(title: str, groups: Sequence[Group], tests: Sequence[str], of: Callable[[str], str] = str) -> Table | None:
    """Two rows for each network, ours and the paper's."""
    columns = (Column("network"), Column("seeds"), Column("steps", "right"), *(Column(test, "right") for test in tests))
    rows: list[tuple[Cell, ...]] = []
    for name, ending, group in _variants(groups):
        ours = (group.score(of(test) + ending) for test in tests)
        rows.append((name, str(len(group.runs)), group.steps, *ours))
        paper = [group.paper(of(test) + ending) for test in tests]
        if any(paper):
            rows.append(("", "paper", None, *map(_printed, paper)))
    note = (
        f"{groups[0].networks.note} Ours with a 95 % interval over seeds (Student's t), or over questions where there "
        "is one seed, which says nothing of how seeds differ."
        if groups
        else ""
    )
    return Table(title, columns, tuple(rows), note) if rows else None


def _printed(paper: object) -> Cell:
    if not isinstance(paper, tuple):
        return None
    value, spread = paper
    return f"{value:g}" if spread is None else f"{value:g} ± {spread:g}"


def programs_table(groups: Sequence[Group]) -> Table | None:
    """What generators write."""
    shown = (CLEVR, *TESTS)
    columns = (Column("network"), Column("programs"), *(Column(test, "right") for test in shown))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (group.name, said, *(_mean(group, test, name) for test in shown))
        for group in groups
        for name, said in (("exact", "exact"), ("formed", "well formed"))
        if name in group.runs[0].results["scores"][CLEVR]
    )
    note = "Percent of questions, means over seeds. A program can be another one and still get the right answer."
    return Table("What generators write", columns, rows, note) if rows else None


def _mean(group: Group, test: str, name: str) -> float:
    return 100 * float(np.mean([run.results["scores"][test][name] for run in group.runs]))


# --- where they go wrong


def error_tables(outcomes: Outcomes) -> list[Table]:
    """By depth, by type of question, by family, and by what is new in a test."""
    groups = [*_of(outcomes, "zero-shot"), *_of(outcomes, "few-shot")]
    found = [
        _shares(
            "CLEVR by the depth of the program", groups, CLEVR, "depths", {k: [*map(str, v)] for k, v in DEPTHS.items()}
        ),
        _shares("CLEVR by the type of question", groups, CLEVR, "types", TYPES),
        _families(groups),
        _orders(groups),
    ]
    return [table for table in found if table.rows]


def _shares(title: str, groups: Sequence[Group], test: str, by: str, parts: Mapping[str, Sequence[str]]) -> Table:
    columns = (Column("network"), *(Column(part, "right") for part in parts))
    rows = tuple(
        (f"{group.name}{_on(group)}", *(_share(group, test, by, names) for names in parts.values())) for group in groups
    )
    return Table(title, columns, rows, "Percent, all seeds together.")


def _on(group: Group) -> str:
    return "" if group.job.split == "zero-shot" else f", {group.job.split}"


def _share(group: Group, test: str, by: str, names: Sequence[str] | None = None) -> float | None:
    counts = [
        pair
        for run in group.runs
        for name, pair in run.results["scores"][test][by].items()
        if names is None or name in names
    ]
    asked = sum(pair[1] for pair in counts)
    return 100 * sum(pair[0] for pair in counts) / asked if asked else None


def _families(groups: Sequence[Group]) -> Table:
    columns = (Column("network"), *(Column(test, "right") for test in TESTS))
    rows = tuple((f"{group.name}{_on(group)}", *(_span(group, test) for test in TESTS)) for group in groups)
    note = (
        "Percent: the template of each test with the lowest accuracy and the one with the highest, all seeds together."
    )
    return Table("The tests by template", columns, rows, note)


def _span(group: Group, test: str) -> str:
    known = group.runs[0].results["scores"][test]["families"]
    shares = [share for name in known if (share := _share(group, test, "families", [name])) is not None]
    return f"{min(shares):.0f} to {max(shares):.0f}"


def _orders(groups: Sequence[Group]) -> Table:
    orders = sorted({*ORDER.values()})
    columns = (Column("network"), *(Column(f"new at depth {order}", "right") for order in orders))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"{group.name}{_on(group)}", *(_lost(group, order) for order in orders)) for group in groups
    )
    note = (
        "Points lost against the baselines, means over seeds and tests. A test is new at a depth if its programs have "
        "a fragment of that depth that no program of CLEVR has, and none of smaller depth: "
        + "; ".join(f"{order}: {', '.join(t for t in TESTS if ORDER[t] == order)}" for order in orders)
        + "."
    )
    return Table("What is lost, by the first fragment that is new", columns, rows, note)


def _lost(group: Group, order: int) -> float:
    return float(np.mean([group.of(baseline(test)) - group.of(test) for test in TESTS if ORDER[test] == order]))


# --- the page


def chapters(outcomes: Outcomes) -> list[Chapter]:
    """Scores, figures, and where networks go wrong."""
    shown = replace(outcomes, groups=(*_of(outcomes, "zero-shot"), *_of(outcomes, "few-shot")))
    curves = (curve_figure(world, groups, {}) for world, groups in shown.worlds())
    figures = [figure for figure in (*_figures(outcomes), *curves) if figure is not None]
    return [
        Chapter("Scores", tuple(tables(outcomes))),
        Chapter("Figures", tuple(figures)),
        Chapter("Where they go wrong", tuple(error_tables(outcomes))),
    ]


def _figures(outcomes: Outcomes) -> Iterator[Figure]:
    zero, few = (_of(outcomes, split) for split in ("zero-shot", "few-shot"))
    ablations = [
        group
        for group in zero
        if group.job.model in ("tensor-nmn", "tensor-nmn-shortcut", "tensor-nmn-film", "vector-nmn")
    ]
    shown = [group for group in zero if group.job.model not in ("tensor-nmn-shortcut", "tensor-nmn-film")]
    for number, what, groups in ((3, "zero-shot", shown), (4, "few-shot", few), (7, "module networks", ablations)):
        if groups:
            said = f"Figure {number}, {what}: accuracy on the tests in percent; under each test its baseline."
            parts = [(one, [*_bars(groups, one)]) for test in TESTS for one in (test, baseline(test))]
            yield Figure.drawn(f"figure-{number}", said, partial(score_chart, parts, said, "accuracy", 100.0))


def _bars(groups: Sequence[Group], test: str) -> Iterator[Score]:
    for name, ending, group in _variants(groups):
        score, paper = group.score(test + ending), group.paper(test + ending)
        ours = score if isinstance(score, Interval) else Interval(score, score, score)
        yield Score(name, ours, paper[0] if isinstance(paper, tuple) else paper, ".1f")
