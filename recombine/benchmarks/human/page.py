"""`recombine report human`: the learner fitted to one list of judgements, beside people, concept by concept."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from recombine.benchmarks.human import published
from recombine.benchmarks.human.judgements import lists_in
from recombine.benchmarks.human.language import PARTS
from recombine.benchmarks.human.learner import Mind
from recombine.benchmarks.human.study import FOLDS, Beside, OfConcept, beside_people, carried_over
from recombine.benchmarks.subjects import Subject
from recombine.report.document import ENDINGS, Chapter, Figure, write_document
from recombine.report.notes import notes_of
from recombine.report.scatter import Dot, panels, scatter_chart
from recombine.report.table import Cell, Column, Table
from recombine.store.errors import UserError
from recombine.store.outputs import free_file
from recombine.store.untrusted import read_json

TITLE = "People beside the ideal learner"
INTRO = (
    "People saw sets of objects, said of each object whether a hidden concept holds of it, and were shown the labels. "
    "The learner does the same, by Bayes over the thoughts of a small language, with fitted costs of words, a memory "
    "that fades, labels that it half believes, and lapses. Every concept is answered by a mind that was fitted to the "
    "concepts of the other folds alone."
)
_BREAK = re.compile(r"\s*<br\s*/?>\s*")
WORST = 9
"""Concepts whose course is drawn."""
SHARES = {
    "trust": "a label is believed with probability",
    "lean": "what no thought explains is yes with probability",
    "forgetting": "a set n sets back counts n to the minus",
    "lapse": "answers that come from no thought",
}


class People(Subject):
    """The ideal learner beside human judgements."""

    def report(
        self,
        out: str | Path,
        *,
        judgements: Annotated[Path | None, "The file of judgements that the learner is fitted to."] = None,
        list: Annotated[str | None, "The list of it. Default: the only one there is."] = None,
        other: Annotated[Path | None, "Another file, or the same, to test what was fitted."] = None,
        other_list: Annotated[str | None, "The list of that. Default: the only one, or the one that is left."] = None,
        folds: Annotated[int, "Parts that the concepts are dealt into; each is held out once."] = FOLDS,
        without: Annotated[Sequence[str], "A part that the language shall lack; may be repeated."] = (),
        words: Annotated[Path | None, "A JSON file with the concepts in words, by their names."] = None,
        seed: Annotated[int, "Deals the concepts into other folds."] = 0,
        **_: Any,
    ) -> Path:
        """Fit, test on concepts held out and on another list, and show where the learner is farthest from people."""
        free_file(out, ENDINGS)
        if judgements is None:
            raise UserError(
                "the judgements are yours to fetch: name their file as judgements, such as responses_list1.txt; "
                "recombine/benchmarks/human/README.md tells of its columns"
            )
        mine = _list_of(judgements, list, "--list", ())
        theirs = None if other is None else _list_of(other, other_list, "--other-list", (mine,))
        known = {} if words is None else in_words(words)
        found = beside_people(judgements, mine, seed, folds, without=tuple(without), say=self.progress)
        tested = {f"list {mine}, concepts held out": found}
        if other is not None and theirs is not None:
            tested[f"list {theirs}, fitted to {mine}"] = carried_over(found.mind, other, theirs, seed, tuple(without))
        return write_document(out, TITLE, INTRO, chapters(tested, known, notes_of(Path(out))))


def _list_of(file: Path, wanted: str | None, flag: str, taken: tuple[str, ...]) -> str:
    """The list that was named; else the only one that is not taken."""
    there = lists_in(file)
    free = [name for name in there if name not in taken] or [*there]
    if wanted is None and len(free) != 1:
        raise UserError(f"{file} has the lists {', '.join(there)}; choose one with {flag}")
    return wanted or free[0]


def in_words(file: Path) -> dict[str, str]:
    found: dict[str, str] = read_json(file, advice="give a JSON file of concepts in words")
    if not all(isinstance(text, str) for text in found.values()):
        raise UserError(f"{file} must be a JSON object with a text for each name of a concept")
    return {name: _BREAK.sub(" ", text) for name, text in found.items()}


# --- the page


def chapters(tested: dict[str, Beside], known: dict[str, str], notes: Sequence[str | Table] = ()) -> Iterator[Chapter]:
    """The last that was tested is shown concept by concept."""
    yield Chapter("How well it answers", (scores(tested), _plainly(tested), *notes))
    name, beside = [*tested.items()][-1]
    by_concept = beside.by_concept()
    yield Chapter(
        "Concept by concept",
        (
            _learnt(beside, name),
            _likely(by_concept, name),
            worst(by_concept[:WORST], known),
            _courses(beside, by_concept),
        ),
        "Each dot is a concept. Where it lies below the line, the learner does worse than people.",
    )
    yield Chapter("The mind that fits", (mind(beside.mind),))
    yield Chapter("All concepts", (worst(by_concept, known, "All concepts, the farthest from people first"),))


def scores(tested: dict[str, Beside]) -> Table:
    """Beside the published model."""
    columns = (
        Column("answers"),
        *(Column(name, "right", ".3f") for name in ("r", "log-likelihood of a judgement")),
        Column("of all", "right", ",.0f"),
        Column("judgements", "right"),
        Column("objects", "right"),
        Column("concepts", "right"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            *beside.scores.values(),
            beside.log_likelihood,
            int(beside.judgements.asked.sum()),
            len(beside.judgements),
            len(beside.judgements.concepts),
        )
        for name, beside in tested.items()
    ]
    paper = published.JUDGEMENTS - published.LIST_1
    theirs = (published.CORRELATION, published.per_judgement(), published.LOG_LIKELIHOOD, paper, None, None)
    note = (
        "r: Pearson's, over objects, between the probability of yes and the share of people who say yes. 95 % "
        "intervals over concepts, drawn with all their judgements. Published: the best model of Piantadosi, Tenenbaum "
        "and Goodman (2016), fitted to list 1, on list 2."
    )
    return Table("The learner beside people", columns, (*rows, ("published model, list 2", *theirs)), note)


def _plainly(tested: dict[str, Beside]) -> str:
    beside = [*tested.values()][-1]
    people, r = beside.judgements, beside.scores["correlation"].value
    share = np.clip(people.yes.sum() / people.asked.sum(), 1e-12, 1 - 1e-12)
    floor = (
        sum(one.floor * people.asked[people.rows(i)].sum() for i, one in enumerate(beside.each())) / people.asked.sum()
    )
    flat = share * np.log(share) + (1 - share) * np.log1p(-share)
    gained = beside.scores["per_judgement"].value
    better = "above" if gained > published.per_judgement() else "below"
    return (
        f"Of what a judgement's log-likelihood can gain between always saying the mean ({flat:.3f}) and knowing the "
        f"share of yes of every object ({floor:.3f}), the learner has {100 * (gained - flat) / (floor - flat):.0f} %. "
        f"Its r is {r:.3f} (published model {published.CORRELATION}), and its log-likelihood per judgement is {better} "
        f"the published {published.per_judgement():.3f}."
    )


def accuracy(beside: Beside, rows: np.ndarray) -> tuple[float, float]:
    """The share of judgements of these rows that are true: people's and the learner's."""
    people, asked = beside.judgements, beside.judgements.asked[rows]
    right = np.where(people.truth[rows], people.yes[rows], people.no[rows]).sum() / asked.sum()
    said = np.where(people.truth[rows], beside.said[rows], 1 - beside.said[rows])
    return float(right), float((said * asked).sum() / asked.sum())


def _learnt(beside: Beside, name: str) -> Figure:
    people = beside.judgements
    dots = [Dot(concept, *accuracy(beside, people.rows(i)), format=".2f") for i, concept in enumerate(people.concepts)]
    r = float(np.corrcoef([dot.x for dot in dots], [dot.height for dot in dots])[0, 1])
    said = f"How often people (across) and the learner (up) are right, {name}: r = {r:.2f} over {len(dots)} concepts."
    drawn = partial(
        scatter_chart, dots, said, "people are right", "the learner is right", named=False, diagonal=True, close=True
    )
    return Figure.drawn("concepts", said, drawn)


def _likely(by_concept: Sequence[OfConcept], name: str) -> Figure:
    dots = [Dot(one.concept, -one.floor, -one.per_judgement, ".2f") for one in by_concept]
    said = (
        f"What a judgement costs in nats, {name}: at best, with the share of yes of every object known (across), and "
        "with the learner (up). The farther above the line, the worse."
    )
    axes = "nats at best", "nats of the learner"
    return Figure.drawn("nats", said, partial(scatter_chart, dots, said, *axes, named=False, diagonal=True, close=True))


def worst(rows: Sequence[OfConcept], known: dict[str, str], title: str = "Where it is farthest from people") -> Table:
    columns = (
        Column("concept"),
        *([Column("in words")] if known else []),
        *(Column(name, "right", ".3f") for name in ("of a judgement", "at best", "r")),
        Column("its thought at the end"),
        Column("belief", "right", ".2f"),
    )
    cells = tuple(
        (
            one.concept,
            *([known.get(one.concept, "–")] if known else []),
            one.per_judgement,
            one.floor,
            None if np.isnan(one.correlation) else one.correlation,
            one.thought,
            one.belief,
        )
        for one in rows
    )
    note = (
        'Log-likelihood of a judgement. "At best": of a learner that knew the share of people who say yes of each '
        "object. The thought is that of the mind which fits all concepts."
    )
    return Table(title, columns, cells, note)


def _courses(beside: Beside, by_concept: Sequence[OfConcept]) -> Figure:
    """How often both are right in each set, for the worst concepts."""
    people, curves = beside.judgements, {}
    for one in by_concept[:WORST]:
        rows = people.rows(people.concepts.index(one.concept))
        sets = [rows[people.number[rows] == n] for n in range(people.number[rows].max() + 1)]
        right = [accuracy(beside, some) for some in sets if people.asked[some].sum()]
        curves[one.concept] = {"people": [a for a, _ in right], "learner": [b for _, b in right]}
    said = "The worst concepts: how often people and the learner are right, set by set."
    drawn = partial(panels, curves, said, "the set", "share that is right", {"people": "weak", "learner": "strong"})
    return Figure.drawn("courses", said, drawn)


def mind(found: Mind) -> Table:
    shares = [(text, getattr(found, name)) for name, text in SHARES.items()]
    rows = (*shares, *((f"nats for '{part}'", cost) for part, cost in zip(PARTS, found.costs)))
    return Table("Fitted to all concepts", (Column("what"), Column("value", "right", ".2f")), rows)
