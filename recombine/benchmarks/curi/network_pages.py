"""The results page of CURI's networks: the paper's Table 2 and Figure 3 with ours beside them, and learning curves."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recombine.benchmarks.curi.findings import verdicts
from recombine.benchmarks.curi.runs import (
    METRICS,
    Group,
    Oracles,
    cost_table,
    examples_table,
    growth_table,
    named,
    score_table,
    settings_table,
    world_of,
    written_table,
)
from recombine.report.curves import curve_chart
from recombine.report.findings import bullets
from recombine.report.results import Figure, drawn, notes_of, write_markdown
from recombine.report.score_charts import Level, Score, score_chart
from recombine.report.table import Table

TITLE = "CURI: the networks"
INTRO = (
    "Prototype networks that learn CURI's concepts from five positive and twenty negative scenes, scored on held-out "
    "concepts beside the paper's networks and the ideal learners: the strong oracle knows every concept, the weak one "
    "only the training concepts. What is tested are the weights that did best on validation episodes; as in the "
    "released code these are other episodes of the same held-out concepts (but for Instance IID and Concept IID), so "
    "the choice of the moment has seen them. Our runs are far shorter than the paper's; the learning curves show how "
    "far."
)
FOUND = (
    "By the mAP of networks on schemas with hard negatives (sections of the ICLR text). The paper's were trained for a "
    "million steps: what does not hold after fewer may hold later. A case is decided where the 95 % interval over "
    "seeds leaves out zero, which one seed never does."
)


def figures(groups: Sequence[Group], oracles: Oracles) -> Iterator[Figure]:
    """Figure 3 for each metric, and the learning curves of each split."""
    for metric in METRICS:
        parts = [(part, [_score(group, metric) for group in some]) for part, some in _parts(groups)]
        levels = {part: _levels(oracles, some[0], metric) for part, some in _parts(groups)}
        said = f"Figure 3, {metric}, percent: networks, and the oracles as lines; the paper's in brackets."
        yield Figure(f"figure-3-{metric}", said, score_chart(parts, said, metric, 100.0, levels))
    for part, some in _parts(groups):
        curves = [curve for curve in (group.curve() for group in some) if curve.points]
        if curves:
            levels_ = {level.name: level.value / 100 for level in _levels(oracles, some[0], "mAP")}
            said = f"{part}: mAP on validation episodes against steps (each mark is twice the one before)."
            name = f"curve-{part.replace(', ', '-').replace(' ', '-')}"
            yield Figure(name, said, curve_chart(curves, levels_, said, "mAP"))


def _parts(groups: Sequence[Group]) -> list[tuple[str, list[Group]]]:
    """The groups by their world: those that are tested on the same episodes."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(named(group.job), []).append(group)
    return list(found.items())


def _score(group: Group, metric: str) -> Score:
    paper = group.paper(metric)
    return Score(group.name, group.score(metric), paper[0] if paper else None, ".1f")


def _levels(oracles: Oracles, group: Group, metric: str) -> list[Level]:
    gap = oracles.get(world_of(group.job), {}).get(metric)
    if not gap:
        return []
    if gap.gap.value < 1:
        return [Level("both oracles", gap.strong.value)]
    return [Level("weak oracle", gap.weak.value), Level("strong oracle", gap.strong.value)]


def _counted(groups: Sequence[Group]) -> str:
    runs, splits = sum(len(group.runs) for group in groups), len({group.job.split for group in groups})
    networks = len({group.name for group in groups})
    return (
        f"This page has {runs} run{'s' if runs > 1 else ''}: {networks} network{'s' if networks > 1 else ''} on "
        f"{splits} of the nine splits. Repeating `make table-curi` adds what is missing."
    )


def tables(groups: Sequence[Group], oracles: Oracles) -> list[Table]:
    """All tables of the page."""
    found = [score_table(groups, metric, oracles) for metric in METRICS]
    return [*found, *filter(None, (growth_table(groups), written_table(groups), examples_table(groups)))]


def markdown_page(groups: Sequence[Group], oracles: Oracles, beside: Table, file: Path) -> None:
    """The page as Markdown, with its figures in a folder beside it."""
    parts = [f"# {TITLE}", INTRO, _counted(groups), "## What the paper finds, and what we find", FOUND]
    parts += [bullets(verdicts(groups, oracles)), *notes_of(file), "## Scores"]
    parts += [table.markdown() for table in (*tables(groups, oracles), beside)]
    parts += ["## Figures", *drawn(figures(groups, oracles), file)]
    parts += ["## Cost and settings", cost_table(groups).markdown(), settings_table(groups).markdown()]
    write_markdown(file, parts)
