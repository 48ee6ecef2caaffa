"""The page of the symbolic models: Tables 1, 2 and 3 and Figure 3 with ours beside, from the scores that are kept.

Intervals are over images: those with the same number in two tests are drawn together, for many share their layout. So
are the tests of what the paper finds.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.super_clevr import published
from recombine.benchmarks.super_clevr.reasoning import REASONERS
from recombine.benchmarks.super_clevr.variants import DEFAULT, FACTORS, TRAINED
from recombine.metrics.intervals import LEVEL, RESAMPLES, Interval, share
from recombine.report.document import Chapter, Figure, write_document
from recombine.report.findings import Case, Verdict, finding_tables
from recombine.report.scatter import Dot, scatter_chart
from recombine.report.table import Cell, Column, Table
from recombine.store.errors import UserError
from recombine.store.key import Key

CALLED = {"nsvqa": "NSVQA", "p-nsvqa": "P-NSVQA, appendix E", "p-nsvqa-joint": "P-NSVQA, joint"}
PAPER = {"nsvqa": "NSVQA", "p-nsvqa": "P-NSVQA", "p-nsvqa-joint": "P-NSVQA"}
FIGURE_3 = {"nsvqa": 92.80, "p-nsvqa": 95.76, "p-nsvqa-joint": 95.76}
FEWEST, NAMED = 15, 0.9
"""Vehicles without which a dot of a figure says nothing; beliefs below which it has a name."""
LONGER = f"longer-{DEFAULT}"
"""What is kept of a parser of default that was trained longer than those that are compared."""
OVER_IMAGES = (
    "A case is decided where a bootstrap over images, corrected for all cases by Holm's method, has p < 0.05; each "
    "model was trained once, so other trainings might say otherwise."
)
Kept = Mapping[str, Any]
Statistic = Callable[[np.ndarray], float]
"""A number from images, int[n], by their places."""


def over_images(statistic: Statistic, images: int, name: str) -> Interval:
    """A statistic with its interval."""
    rng = (Key(0) / "super-clevr-models" / name).rng()
    again = np.asarray([statistic(rng.integers(0, images, images)) for _ in range(RESAMPLES)])
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    beyond = min(np.count_nonzero(again <= 0), np.count_nonzero(again >= 0))
    p = min(1.0, 2 * (1 + beyond) / (1 + RESAMPLES))
    return Interval(statistic(np.arange(images)), float(low), float(high), p)


def percent(right: Mapping[str, Any], model: str, rows: np.ndarray) -> float:
    """Of the questions about some images, how many are answered right."""
    return float(100 * np.asarray(right[model])[rows].sum() / np.asarray(right["asked"])[rows].sum())


def accuracy(right: Mapping[str, Any], model: str, name: str) -> Interval:
    return over_images(lambda rows: percent(right, model, rows), len(right["asked"]), f"{name}/{model}")


def difference(right: Mapping[str, Any], model: str, other: str, name: str) -> Interval:
    """How much more one model answers right than another, image by image."""
    images = len(right["asked"])
    return over_images(lambda rows: percent(right, model, rows) - percent(right, other, rows), images, name)


def across(kept: Kept, factor: str, model: str, rows: np.ndarray) -> dict[str, dict[str, float]]:
    """Accuracies by the paper's names: tested on, trained on."""
    return {
        tested: {
            trained: percent(kept[by if factor != "redundancy" else DEFAULT]["tests"][on], model, rows)
            for trained, by in TRAINED[factor].items()
        }
        for tested, on in FACTORS[factor].items()
    }


def complete(kept: Kept, factor: str) -> bool:
    """Whether all parsers of a factor are there."""
    names = [DEFAULT] if factor == "redundancy" else TRAINED[factor].values()
    return all(name in kept for name in names)


def in_domain(kept: Kept) -> Table:
    mine = kept[DEFAULT]
    right, base = mine["tests"][DEFAULT], mine["baselines"]
    rows: list[tuple[Cell, ...]] = []
    for name, said in (("random", "Random"), ("majority-by-type", "Majority")):
        rows.append((said, accuracy({**base, "asked": right["asked"]}, name, "figure 3").text(), None, ""))
    for model, said in CALLED.items():
        more = "" if model == "nsvqa" else difference(right, model, "nsvqa", f"more/{model}").text("+.1f")
        rows.append((said, accuracy(right, model, "figure 3").text(), FIGURE_3[model], more))
    if LONGER in kept:
        right = kept[LONGER]["tests"][DEFAULT]
        for model, said in CALLED.items():
            more = "" if model == "nsvqa" else difference(right, model, "nsvqa", f"longer/{model}").text("+.1f")
            rows.append((f"{said}, trained longer", accuracy(right, model, "longer").text(), FIGURE_3[model], more))
    columns = (
        Column("model"),
        Column("ours", "right"),
        Column("paper", "right", ".1f"),
        Column("ours above NSVQA", "right"),
    )
    note = "Percent of questions about objects. The paper draws Random and Majority without numbers."
    if LONGER in kept:
        note += (
            f" Trained longer: the parser after {kept[LONGER]['pictures']:,} pictures and {kept[LONGER]['steps']:,} "
            "steps; every other table compares parsers of one size. That it would be trained longer was decided when "
            "the score of the first was known."
        )
    return Table("Trained and tested on default (Figure 3)", columns, tuple(rows), note)


def table_1(kept: Kept, factor: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for tested, on in FACTORS[factor].items():
        for trained, by in TRAINED[factor].items():
            right = kept[DEFAULT if factor == "redundancy" else by]["tests"][on]
            row: list[Cell] = [tested, trained]
            for model in CALLED:
                row.append(accuracy(right, model, f"{trained}/{tested}").text())
                if model != "p-nsvqa-joint":
                    row.append(published.accuracy(PAPER[model], factor)[tested][trained])
            rows.append(tuple(row))
    columns = (
        Column("tested on"),
        Column("trained on"),
        Column("NSVQA", "right"),
        Column("NSVQA, paper", "right", ".1f"),
        Column("P-NSVQA, appendix E", "right"),
        Column("P-NSVQA, appendix E, paper", "right", ".1f"),
        Column("P-NSVQA, joint", "right"),
    )
    note = {
        "redundancy": "Programs are given, and a parser never reads a question: all three columns are one parser.",
        "distribution": "As in the paper's table these are pictures with textures: bal is hard.",
    }.get(factor, "")
    return Table(f"Table 1: {factor}", columns, tuple(rows), note)


def table_2(kept: Kept) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for factor in FACTORS:
        if not complete(kept, factor):
            continue
        images = _images(kept, factor)
        for model, said in CALLED.items():
            found = [
                over_images(
                    lambda rows, reading=reading, model=model, factor=factor, kept=kept: published.degrade(  # type: ignore[misc]
                        across(kept, factor, model, rows), factor, reading
                    ),
                    images,
                    f"{factor}/{model}/{reading}",
                )
                for reading in ("table", "appendix")
                if not (factor == "distribution" and reading == "appendix")
            ]
            texts = [one.text() for one in found] + [""] * (2 - len(found))
            less = "" if model == "nsvqa" else _less(kept, factor, model).text("+.1f")
            rows.append((said, factor, texts[0], published.TABLE_2[PAPER[model]][factor], less, texts[1]))
    columns = (
        Column("model"),
        Column("factor"),
        Column("as Table 2", "right"),
        Column("paper", "right", ".2f"),
        Column("more than NSVQA's", "right"),
        Column("as appendix D", "right"),
    )
    return Table("Table 2: relative degrade, percent", columns, tuple(rows), "Less is more robust.")


def _images(kept: Kept, factor: str) -> int:
    return int(kept[DEFAULT if factor == "redundancy" else next(iter(TRAINED[factor].values()))]["images"])


def _less(kept: Kept, factor: str, model: str) -> Interval:
    """How much more a model degrades than NSVQA."""

    def statistic(rows: np.ndarray) -> float:
        mine, other = (published.degrade(across(kept, factor, one, rows), factor) for one in (model, "nsvqa"))
        return mine - other

    return over_images(statistic, _images(kept, factor), f"less/{factor}/{model}")


def _change(kept: Kept, model: str, removed: str) -> Interval:
    """By how much more is answered once so much of what questions do not need is left out."""
    steps = kept[DEFAULT]["removed"]
    first, right = next(iter(steps.values())), steps[removed]
    return over_images(
        lambda rows: percent(right, model, rows) - percent(first, model, rows),
        len(right["asked"]),
        f"removed/{removed}/{model}",
    )


def table_3(kept: Kept) -> Table:
    steps = kept[DEFAULT]["removed"]
    rows: list[tuple[Cell, ...]] = []
    for model, said in CALLED.items():
        for number, (removed, right) in enumerate(steps.items()):
            change = _change(kept, model, removed)
            theirs = published.TABLE_3[PAPER[model]][number]
            size = right["size"][0]
            rows.append(
                (said, int(removed), size, accuracy(right, model, f"at/{removed}").text(), change.text("+.1f"), theirs)
            )
    columns = (
        Column("model"),
        Column("removed %", "right"),
        Column("steps of a program", "right", ".1f"),
        Column("accuracy", "right"),
        Column("change", "right"),
        Column("paper, on GQA", "right", "+.2f"),
    )
    note = "Questions that say all that holds (rd+), from which so much of what they do not need is left out again."
    return Table("Table 3's idea: redundancy removed step by step", columns, tuple(rows), note)


def parts(kept: Kept) -> Table:
    right = kept[DEFAULT]["parts"]
    called = {"random": "Random", "majority-by-type": "Majority", **CALLED}
    rows = tuple((said, accuracy(right, model, "parts").text()) for model, said in called.items())
    note = "Questions about the parts of vehicles, of which the parser has to see names, colours and materials."
    return Table("Questions about parts, default", (Column("model"), Column("ours", "right")), rows, note)


def sights(kept: Kept) -> Table:
    rows: list[tuple[Cell, ...]] = []
    names = ("size", "color", "material", "shape", "texture")
    for variant, one in kept.items():
        seen = one["sight"]
        found = 100 * seen["found"] / seen["objects"], 100 * (1 - seen["found"] / max(1, seen["perceived"]))
        gaps = [_gap(seen[f"{name} bins"]) for name in ("color", "material", "shape")]
        shares = [100 * seen[name] for name in names]
        said = f"{DEFAULT}, longer" if variant == LONGER else variant
        rows.append((said, one["pictures"], one["steps"], *found, *shares, 100 * float(np.max(gaps)), seen["place"]))
    columns = (
        Column("trained and tested on"),
        Column("pictures", "right"),
        Column("steps", "right"),
        *(Column(name, "right", ".1f") for name in ("found %", "not there %", *(f"{name} %" for name in names))),
        Column("gap %", "right", ".1f"),
        Column("place", "right", ".2f"),
    )
    note = (
        "Values are right in so many percent of the objects found. Gap: between how sure of a value the parser is and "
        "how often it is right, the mean over ten bins, the largest of color, material and shape. Place: the mean "
        "error on the ground along an axis."
    )
    return Table("What the parsers see", columns, tuple(rows), note)


def _gap(bins: list[list[float]]) -> float:
    many = sum(n for n, _, _ in bins)
    return sum(n * abs(sure - right) for n, sure, right in bins) / max(1, many)


def calibration(kept: Kept) -> Figure:
    """How often the likeliest value is right, by how sure the parser of default is of it."""
    dots = []
    for name in ("size", "color", "material", "shape"):
        for many, sure, right in kept[DEFAULT]["sight"][f"{name} bins"]:
            if many >= FEWEST:
                one = share(round(many * right), many)
                value = Interval(*(100 * end for end in (one.value, one.low, one.high)))
                dots.append(Dot(name if sure < NAMED else "", 100 * sure, value))
    title = "How often the likeliest value is right, by how sure the parser is of it"
    said = f"{title}, on the test of default; the line is where both are the same."
    axes = "belief, percent", "right, percent"
    return Figure.drawn("calibration", said, partial(scatter_chart, dots, title, *axes, diagonal=True))


def verdicts(kept: Kept) -> list[Verdict]:
    """What the paper says of these models, and what ours say of it."""
    right, last = kept[DEFAULT]["tests"][DEFAULT], [*kept[DEFAULT]["removed"]][-1]
    doubting = {model: said for model, said in CALLED.items() if model != "nsvqa"}
    above = [_case(said, difference(right, model, "nsvqa", f"more/{model}")) for model, said in doubting.items()]
    less = [
        _case(f"{factor}, {said}", _turned(_less(kept, factor, model)))
        for factor in FACTORS
        if complete(kept, factor)
        for model, said in doubting.items()
    ]
    removed = [_case(said, _turned(_change(kept, model, last))) for model, said in CALLED.items()]
    return [
        Verdict("P-NSVQA answers more than NSVQA where training and test are alike (Figure 3)", tuple(above), ""),
        Verdict("P-NSVQA degrades less than NSVQA on every factor (Table 2)", tuple(less), "all parsers of a factor"),
        Verdict("Without redundancy less is answered (Table 3, on GQA)", tuple(removed), ""),
    ]


def _case(said: str, margin: Interval) -> Case:
    return Case(f"{said}: {margin.text('+.1f')} points", margin)


def _turned(found: Interval) -> Interval:
    """Less instead of more."""
    return Interval(-found.value, -found.high, -found.low, found.p)


def chapters(kept: Kept) -> Iterable[Chapter]:
    intro = "The paper's models saw other images and were trained for longer: what does not hold here may hold there."
    yield Chapter("What the paper finds, and what we find", tuple(finding_tables(verdicts(kept), OVER_IMAGES)), intro)
    yield Chapter("In domain", (in_domain(kept),), _verdict(kept))
    tables = [table_1(kept, factor) for factor in FACTORS if complete(kept, factor)]
    yield Chapter("Out of domain", tuple(tables), "Percent.")
    yield Chapter("Relative degrade", (table_2(kept),), "What is lost under a shift, as a share.")
    yield Chapter("Redundancy removed", (table_3(kept),), "With the parser and the images of default.")
    yield Chapter("Parts", (parts(kept),), "An extension: the paper's table is about objects.")
    read = kept[DEFAULT]["read"]
    everything = np.arange(len(read["asked"]))
    words = "; ".join(f"{said} {percent(read, model, everything):.1f}" for model, said in CALLED.items())
    yield Chapter(
        "Programs",
        (
            f"Read from the words of the questions by Super-CLEVR's own English {100 * read['same']:.1f} % are the "
            f"same, and the models answer: {words}.",
        ),
        "Above, programs are given.",
    )
    yield Chapter("Parsers", (sights(kept), calibration(kept)), "One detector for all, an attribute network for each.")


def _verdict(kept: Kept) -> str:
    """Whether the paper's claim is seen here."""
    right = kept[DEFAULT]["tests"][DEFAULT]
    more = difference(right, "p-nsvqa-joint", "nsvqa", "more/p-nsvqa-joint")
    shown = "above NSVQA, and the interval says so" if more.low > 0 else "not shown to be above NSVQA"
    return (
        f"Reasoning with doubts by the joint likelihood is {shown}: {more.text('+.1f')} points. How it reads the "
        "paper's text was settled before any score was seen."
    )


def write_page(kept: Kept, out: Path) -> Path:
    """The page, with what is not there named."""
    if DEFAULT not in kept:
        raise UserError(
            "there are no scores of the default variant; run `experiments/super_clevr_models.py test` first"
        )
    missing = [factor for factor in FACTORS if not complete(kept, factor)]
    mine, models = kept[DEFAULT], len(REASONERS)
    intro = (
        f"{models} symbolic models, one training and one seed each, at a reduced size: every attribute network saw "
        f"{mine['pictures']:,} pictures of 320 x 240 pixels (the paper: 20,000 of 640 x 480) for {mine['steps']:,} "
        f"steps of 128 close-ups; each test has {mine['images']:,} images with ten questions each. The detector, which "
        "names nothing, was trained once, on pictures with textures, and serves all; that it learns a second round, "
        "and that close-ups are looked at in the mirror too, was chosen when a first score of default was known. "
        "Numbers of the paper are of its own images and stand beside ours for their order, not their height. Made by "
        "`python experiments/super_clevr_models.py page` from `docs/results/runs/super-clevr`."
    )
    if missing:
        intro += f" Not all parsers are trained yet for: {', '.join(missing)}."
    return write_document(out, "Super-CLEVR: NSVQA and P-NSVQA", intro, chapters(kept))
