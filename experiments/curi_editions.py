"""CURI's three editions beside each other, as a page: both oracles, the gaps, and what each part of the ideal brings.

    python experiments/curi_editions.py [--scale paper] [--worlds 5] [--parts 1000] [--out docs/results/ideal.md]
        [--edition release --edition ideal]

The intervals of the first tables are over meanings; those over worlds are of laptop scale, and the published order of
the gaps is tested over them.
"""

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recombine.benchmarks.curi.edition import IDEAL, RELEASE
from recombine.benchmarks.curi.edition import edition as edition_named
from recombine.benchmarks.curi.pipeline import CuriPipeline, Setup
from recombine.benchmarks.curi.pipeline import scale as scale_named
from recombine.benchmarks.curi.published import EASY_GAP_DROP, PUBLISHED_ORDER, SPLITS
from recombine.metrics.comparisons import ordered
from recombine.metrics.gap import FEWEST_WORLDS, Gap, mean_drop, over_worlds
from recombine.metrics.seeds import over_seeds
from recombine.report.document import Chapter, Figure, write_document
from recombine.report.figures import GapRow, gap_chart
from recombine.report.notes import notes_of
from recombine.report.read_tables import tables_of, value_of
from recombine.report.table import Cell, Column, Table
from recombine.solvers.oracle import Belief, answer
from recombine.store.store import Store
from recombine.tasks.episodes import Episodes, Negatives

EDITIONS = ("release", "paper", "ideal")
TITLE = "CURI: what the release, the papers and an ideal learner make of it"
INTRO = (
    "An edition says what the oracles weigh. The release has a grammar's prior and a term that favours large concepts; "
    "the papers have a prior by length and ask for consistency alone; edition ideal has the episodes of the release, "
    "and oracles that know how they are drawn: concepts by length, positives from the concept's scenes, hard negatives "
    "from the rivals' (docs/decisions/030-ideal-edition.md). Of edition ideal alone can be said that the strong oracle "
    "answers as well as it can be answered."
)
Gaps = Mapping[str, Gap]


@dataclass(frozen=True)
class Found:
    """What one edition comes to."""

    hard: Gaps
    easy: Gaps


def study_of(name: str, scale: str, seed: int) -> CuriPipeline:
    return CuriPipeline(Setup(edition_named(name), scale_named(scale), seed), Store.default())


def gaps_of(study: CuriPipeline, negatives: Negatives) -> dict[str, Gap]:
    return {split: study.gaps(split, negatives, "meanings")["mAP"] for split in SPLITS}


def beside_each_other(title: str, found: Mapping[str, Gaps], note: str) -> Table:
    """Strong, weak and gap of every edition, and their means over splits."""
    names = [(edition, who) for edition in found for who in ("strong", "weak", "gap")]
    columns = (Column("split"), *(Column(f"{edition} {who}", "right") for edition, who in names))
    rows: list[tuple[Cell, ...]] = [
        (split, *(getattr(found[edition][split], who) for edition, who in names)) for split in SPLITS
    ]
    means = [float(np.mean([getattr(one, who).value for one in found[edition].values()])) for edition, who in names]
    return Table(title, columns, (*rows, ("mean", *means)), note)


def figure(found: Mapping[str, Found]) -> Figure:
    rows = [
        GapRow(f"{split}, {edition}", one.hard[split].strong, one.hard[split].weak)
        for split in SPLITS
        for edition, one in found.items()
    ]
    said = "Both oracles in the three editions, mAP with hard negatives; intervals over meanings."
    return Figure("editions", said, gap_chart(rows, said, "mAP, percent"))


def swap(gaps: Gaps) -> str:
    """How Extrinsic and Concept IID stand."""
    first, second = sorted(("extrinsic", "concept-iid"), key=lambda split: -gaps[split].gap.value)
    return f"{first} {gaps[first].gap.value:.1f}, {second} {gaps[second].gap.value:.1f}"


def parts_of(study: CuriPipeline, episodes: int) -> Table:
    """The strong oracle's mAP with hard negatives as its posterior learns more about how episodes are made."""
    scenes = study.setup.scale.scenes
    length = study.space.log_prior(IDEAL, scenes, hard=False)
    kinds = {
        "release": Belief(study.table, study.space.log_prior(RELEASE, scenes, hard=True)),
        "lengths": Belief(study.table, np.log(study.space.weight)),
        "lengths, positives": Belief(study.table, length),
        "lengths, positives, negatives": Belief(study.table, length, from_rivals=True),
    }
    rows: list[tuple[Cell, ...]] = []
    for split in SPLITS:
        some = Episodes(*(column[:episodes] for column in study.episodes(split, "test", "hard")))
        known = ~study.sides(split).dropped
        scores = [answer(belief.known(known), some, study.probe).precision.mean() for belief in kinds.values()]
        rows.append((split, *(100 * float(score) for score in scores)))
    means = (float(np.mean([float(str(row[i])) for row in rows])) for i in range(1, len(kinds) + 1))
    columns = (Column("split"), *(Column(name, "right") for name in kinds))
    note = f"mAP, percent; laptop scale, {episodes:,} episodes per split."
    return Table("The strong oracle, part by part", columns, (*rows, ("mean", *means)), note)


def from_page(page: Path) -> Found:
    """What the page of an edition says, for one that is not computed again."""
    titles = {study.split(name).title: name for study in [study_of("paper", "demo", 0)] for name in SPLITS}
    found: dict[str, dict[str, Gap]] = {"hard": {}, "easy": {}}
    for table in tables_of(page):
        for kind, gaps in found.items():
            if "mAP" in table.title and kind in table.title:
                for row in table.rows:
                    strong, weak, gap = (value_of(row[name]) for name in ("strong", "weak", "gap"))
                    assert strong and weak and gap
                    gaps[titles[row["split"]]] = Gap(titles[row["split"]], "mAP", strong, weak, gap, 0)
    return Found(found["hard"], found["easy"])


def worlds_chapter(editions: tuple[str, ...], worlds: int) -> Chapter:
    joined: dict[str, Gaps] = {}
    orders, means = [], []
    for name in editions:
        found = [gaps_of(study_of(name, "laptop", seed), "hard") for seed in range(worlds)]
        joined[name] = {split: over_worlds([gaps[split] for gaps in found]) for split in SPLITS}
        values = {split: np.array([gaps[split].gap.value for gaps in found]) for split in SPLITS}
        above = int((values["extrinsic"] > values["concept-iid"]).sum())
        orders.append(
            f"Edition {name}: {ordered(values, PUBLISHED_ORDER).text()} Extrinsic's gap is above Concept IID's in "
            f"{above} of {worlds} worlds."
        )
        spread = over_seeds(np.array([np.mean([one.strong.value for one in gaps.values()]) for gaps in found]), 0, 100)
        means.append(f"{name} {spread.text()}")
    note = f"mAP, percent, hard negatives, laptop scale, {worlds} worlds; 95 % intervals over worlds (Student's t)."
    said = f"The strong oracle's mean over nine splits: {'; '.join(means)}."
    intro = "Everything made anew from other seeds. What is said of an edition, and not of one world, needs these."
    return Chapter("Over worlds", (beside_each_other("Over worlds", joined, note), said, *orders), intro)


def chapters(scale: str, worlds: int, parts: int, out: Path, editions: tuple[str, ...]) -> Iterator[Chapter]:
    start = time.process_time()
    found: dict[str, Found] = {}
    for name in EDITIONS:
        study = study_of(name, scale, 0)
        found[name] = (
            Found(gaps_of(study, "hard"), gaps_of(study, "easy"))
            if name in editions
            else from_page(out.parent / f"curi-{name}-edition.md")
        )
    note = f"mAP, percent; scale {scale}, seed 0; 95 % intervals over meanings (bootstrap of concepts)."
    if left := [name for name in EDITIONS if name not in editions]:
        note += f" Edition {', '.join(left)} as its page has it, with intervals over episodes."
    hard = beside_each_other("Hard negatives", {name: one.hard for name, one in found.items()}, note)
    swaps = "; ".join(f"{name}: {swap(one.hard)}" for name, one in found.items())
    yield Chapter("Three editions", (figure(found), hard, f"Extrinsic and Concept IID: {swaps}.", *notes_of(out)))
    easy = beside_each_other("Easy negatives", {name: one.easy for name, one in found.items()}, note)
    drops = {name: mean_drop(one.hard, one.easy) for name, one in found.items()}
    said = "; ".join(f"{name} {drop:.2f} ± {error:.2f}" for name, (drop, error) in drops.items())
    value, spread = EASY_GAP_DROP
    text = (
        f"By how many points the gap is smaller with easy negatives, mean over nine splits and standard error: {said} "
        f"(the papers: {value} ± {spread}). In the release a rival must agree with the negatives as they were drawn, "
        "before those that the concept accepts were relabelled; this makes the difference."
    )
    yield Chapter("Easy negatives", (easy, text))
    if worlds:
        yield worlds_chapter(editions, worlds)
    if parts:
        yield Chapter("What the ideal oracle knows more", (parts_of(study_of("ideal", "laptop", 0), parts),))
    yield Chapter(
        "Time", (f"{time.process_time() - start:.0f} seconds of one core, with what the store held already.",)
    )


def main() -> None:
    ask = argparse.ArgumentParser(description="CURI's editions beside each other.")
    ask.add_argument("--scale", default="paper")
    ask.add_argument("--worlds", type=int, default=FEWEST_WORLDS)
    ask.add_argument("--parts", type=int, default=1_000, help="episodes per split for the table part by part")
    ask.add_argument("--out", type=Path, default=Path("docs/results/ideal.md"))
    ask.add_argument("--edition", action="append", help="those to compute; others are read from their pages")
    given = ask.parse_args()
    editions = tuple(name for name in EDITIONS if name in (given.edition or EDITIONS))
    parts = chapters(given.scale, given.worlds, given.parts, given.out, editions)
    print(write_document(given.out, TITLE, INTRO, parts))


if __name__ == "__main__":
    main()
