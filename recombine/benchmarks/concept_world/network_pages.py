"""The results page of ConceptWorld's networks: the paper's tables and figures with ours beside them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from recombine.benchmarks.concept_world.definition import Experiment
from recombine.benchmarks.concept_world.findings import agreement, verdicts
from recombine.benchmarks.concept_world.runs import (
    FROM_SCRATCH,
    TABLES,
    Group,
    Outcomes,
    cost_table,
    images_table,
    runs_table,
    score_tables,
    settings_table,
    theirs,
)
from recombine.metrics.seeds import over_seeds
from recombine.report.findings import bullets
from recombine.report.page import Section, chart, page, paragraph
from recombine.report.results import Figure, drawn, notes_of, write_markdown
from recombine.report.score_charts import Confusion, Score, confusion_chart, score_chart
from recombine.report.table import Column, Table

TITLE = "ConceptWorld: the networks"
INTRO = (
    "The paper's five networks, trained on its four experiments and on the curriculum variant of the last, tested on "
    "longer rows and paths, larger squares and substituted parts. A score is the F1 of a class; the paper's stand "
    "beside ours. What is said to hold or not is computed from the scores, by their means; a case is decided where the "
    "95 % interval over seeds leaves out zero."
)
FIGURES = {"sequences": "Figure 2b", "boxworld": "Figure 3a"}
"""Where the paper draws the mean F1."""
MATRICES = {
    ("boxworld", "length_5"): "Figure 3b is the panel of WReN.",
    ("patterns", "squares_4x4"): "Figure 4b is the panel of the MLP.",
    ("substitution", "one_substitution"): "Figure 5b is the panel of the ResNet, pretrained there.",
}
"""Where the paper draws a confusion matrix; it does not print its numbers."""


def figures(outcomes: Outcomes, experiment: str) -> list[Figure]:
    """The mean F1 on each test, or the F1 of each class where there is one test, and the confusion matrices."""
    groups = outcomes.on(experiment)
    if not groups:
        return []
    return [_scores(experiment, groups), *_matrices(experiment, groups)]


def _scores(experiment: str, groups: Sequence[Group]) -> Figure:
    tests = groups[0].tests
    if len(tests) > 1:
        parts = [(test, [_score(group, test) for group in groups]) for test in tests]
        said = (
            f"F1, the mean over classes ({FIGURES[experiment]})" if experiment in FIGURES else "F1, mean over classes"
        )
    else:
        parts = [(label, [_score(group, tests[0], label) for group in groups]) for label in groups[0].classes]
        said = f"F1 of each class, {tests[0]}"
    scratch = any(group.model == FROM_SCRATCH for group in groups) and experiment != "sequences"
    caption = f"{said}; the paper's in brackets." + (" Its ResNet is pretrained, ours is not." if scratch else "")
    return Figure(f"{experiment}-f1", caption, score_chart(parts, f"{experiment}: {said}"))


def _score(group: Group, test: str, *classes: str) -> Score:
    values, paper = group.of(test, *classes), theirs(group.experiment, test, group.model)
    known = [paper[group.classes.index(name)] for name in classes or group.classes] if paper else []
    ours = over_seeds(values) if len(values) > 1 else over_seeds(values, values[0], values[0])
    return Score(group.model, ours, float(np.mean(known)) if known else None)


def _matrices(experiment: str, groups: Sequence[Group]) -> Iterator[Figure]:
    for test in groups[0].tests:
        panels = [Confusion(group.model, group.confusion(test)) for group in groups]
        title = f"{experiment}, {test}: what was taken for what"
        said = [f"What was taken for what on {test}, summed over seeds.", MATRICES.get((experiment, test), "")]
        said += [f"* {FROM_SCRATCH}." if any(group.model == FROM_SCRATCH for group in groups) else ""]
        svg = confusion_chart(groups[0].classes, panels, title)
        yield Figure(f"{experiment}-{test}", " ".join(filter(None, said)), svg)


# --- notes


def _html(block: str) -> str:
    """A note as HTML: a table, or a paragraph without its marks."""
    lines = block.splitlines()
    if not block.startswith("|"):
        return paragraph(re.sub(r"\*\*|`|\[([^]]*)\]\([^)]*\)", r"\1", " ".join(lines)))
    names, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines)
    return Table("", tuple(map(Column, names)), tuple(map(tuple, rows))).html()


# --- pages


def markdown_page(
    outcomes: Outcomes, experiments: Mapping[str, Experiment], beside: Mapping[str, Table], file: Path
) -> None:
    """The page as Markdown, with its figures in a folder beside it."""
    parts = [f"# {TITLE}", INTRO, runs_table(outcomes).markdown(), "## What the paper finds, and what we find"]
    parts += [bullets(verdicts(outcomes)), agreement(outcomes).markdown(), *notes_of(file)]
    for experiment, table in zip(outcomes.experiments, score_tables(outcomes)):
        parts += [f"## {_heading(experiment)}", table.markdown()]
        parts += [beside[experiment].markdown()] if experiment in beside else []
        parts += drawn(figures(outcomes, experiment), file)
    parts += ["## Cost", cost_table(outcomes).markdown(), "## Settings"]
    parts += [table.markdown() for table in (settings_table(outcomes), images_table(experiments))]
    write_markdown(file, parts)


def _heading(experiment: str) -> str:
    return f"{experiment} ({TABLES[experiment]})" if experiment in TABLES else experiment


def html_page(
    outcomes: Outcomes, experiments: Mapping[str, Experiment], beside: Mapping[str, Table], file: Path
) -> str:
    """The page as one file."""
    found = "".join(paragraph(f"{one.finding}: {one.holds}. {one.because}") for one in verdicts(outcomes))
    notes = "".join(map(_html, notes_of(file)))
    sections = [Section("What the paper finds, and what we find", found + agreement(outcomes).html() + notes)]
    for experiment, table in zip(outcomes.experiments, score_tables(outcomes)):
        charts = "".join(chart(figure.svg, figure.caption) for figure in figures(outcomes, experiment))
        others = beside[experiment].html() if experiment in beside else ""
        sections.append(Section(_heading(experiment), table.html() + others + charts))
    sections.append(Section("Cost", runs_table(outcomes).html() + cost_table(outcomes).html()))
    sections.append(Section("Settings", settings_table(outcomes).html() + images_table(experiments).html()))
    return page(TITLE, sections, INTRO)
