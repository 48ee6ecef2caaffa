"""CURI's editions beside each other: both oracles, the gaps, and what each part of the ideal posterior brings.

    python experiments/curi_editions.py [--scale laptop] [--seeds 1] [--edition release --edition ideal] [--parts 500]

The intervals are over meanings; with five seeds or more, also over worlds, and the published order is tested over them.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from recombine.benchmarks.curi.edition import IDEAL, RELEASE
from recombine.benchmarks.curi.edition import edition as edition_named
from recombine.benchmarks.curi.published import EASY_GAP_DROP, FIGURE, SPLITS
from recombine.benchmarks.curi.study import Setup, Study
from recombine.benchmarks.curi.study import scale as scale_named
from recombine.metrics.comparisons import ordered
from recombine.metrics.gap import FEWEST_WORLDS, Gap, mean_drop, over_worlds
from recombine.report.table import Column, Table
from recombine.solvers.oracle import Belief, answer
from recombine.store.store import Store
from recombine.tasks.episodes import Episodes, Negatives

PRINTED = tuple(sorted(SPLITS, key=lambda split: FIGURE["mAP"][split][1] - FIGURE["mAP"][split][0]))
"""From the largest published gap to the smallest."""


def study_of(name: str, scale: str, seed: int) -> Study:
    return Study(Setup(edition_named(name), scale_named(scale), seed), Store.default())


def gaps_of(study: Study, negatives: Negatives) -> dict[str, Gap]:
    return {split: study.gaps(split, negatives, "meanings")["mAP"] for split in SPLITS}


def table_of(title: str, found: dict[str, Gap]) -> Table:
    columns = (Column("split"), *(Column(name, "right") for name in ("strong", "weak", "gap", "episodes")))
    rows = tuple((split, one.strong, one.weak, one.gap, one.episodes) for split, one in found.items())
    strong, weak = (np.mean([getattr(one, who).value for one in found.values()]) for who in ("strong", "weak"))
    over = next(iter(found.values())).over
    means = f"Means: strong {strong:.1f}, weak {weak:.1f}, gap {strong - weak:.1f}."
    note = f"mAP, percent, with 95 % intervals over {over}. {means}"
    return Table(title, columns, rows, note)


def parts_of(study: Study, episodes: int) -> Table:
    """The strong oracle's mAP with hard negatives as its posterior learns more about how episodes are made."""
    scenes = study.setup.scale.scenes
    length = study.space.log_prior(IDEAL, scenes, hard=False)
    kinds = {
        "release": Belief(study.table, study.space.log_prior(RELEASE, scenes, hard=True)),
        "lengths": Belief(study.table, np.log(study.space.weight)),
        "lengths, positives": Belief(study.table, length),
        "lengths, positives, negatives": Belief(study.table, length, from_rivals=True),
    }
    rows = []
    for split in SPLITS:
        some = Episodes(*(column[:episodes] for column in study.episodes(split, "test", "hard")))
        known = ~study.sides(split).dropped
        scores = [answer(belief.known(known), some, study.probe).precision.mean() for belief in kinds.values()]
        rows.append((split, *(100 * float(score) for score in scores)))
    rows.append(("mean", *(float(np.mean([row[i] for row in rows])) for i in range(1, len(kinds) + 1))))
    columns = (Column("split"), *(Column(name, "right") for name in kinds))
    note = f"mAP, percent; {episodes:,} episodes per split."
    return Table("The strong oracle, part by part", columns, tuple(rows), note)


def over_seeds_of(name: str, scale: str, seeds: Sequence[int]) -> tuple[Table, str]:
    found = [gaps_of(study_of(name, scale, seed), "hard") for seed in seeds]
    joined = {split: over_worlds([gaps[split] for gaps in found]) for split in SPLITS}
    values = {split: np.array([gaps[split].gap.value for gaps in found]) for split in SPLITS}
    return table_of(f"{name}, {len(seeds)} worlds", joined), ordered(values, PRINTED).text()


def main() -> None:
    ask = argparse.ArgumentParser(description="CURI's editions beside each other.")
    ask.add_argument("--scale", default="laptop")
    ask.add_argument("--seeds", type=int, default=1)
    ask.add_argument("--edition", action="append")
    ask.add_argument("--parts", type=int, default=0, help="episodes per split for the table part by part")
    given = ask.parse_args()
    start = time.process_time()
    for name in given.edition or ("release", "ideal"):
        study = study_of(name, given.scale, 0)
        hard, easy = (gaps_of(study, negatives) for negatives in ("hard", "easy"))
        print(table_of(f"{name}, hard negatives", hard).markdown(), end="\n\n")
        print(table_of(f"{name}, easy negatives", easy).markdown(), end="\n\n")
        drop, error = mean_drop(hard, easy)
        print(f"With easy negatives the gap is {drop:.2f} ± {error:.2f} points smaller", end=" ")
        print(f"(standard error over {len(hard)} splits; the papers: {EASY_GAP_DROP[0]} ± {EASY_GAP_DROP[1]}).\n")
        if given.seeds >= FEWEST_WORLDS:
            table, order = over_seeds_of(name, given.scale, range(given.seeds))
            print(table.markdown(), order, sep="\n\n", end="\n\n")
    if given.parts:
        print(parts_of(study_of("ideal", given.scale, 0), given.parts).markdown(), end="\n\n")
    print(f"{time.process_time() - start:.0f} seconds of one core.")


if __name__ == "__main__":
    main()
