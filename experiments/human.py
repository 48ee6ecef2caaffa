"""The ideal learner beside people: fits it to a list of judgements and prints how well it answers concepts held out.

    python experiments/human.py judgements.txt [--list L1] [--other judgements2.txt --other-list L2] [--worst 15]
        [--without having,beats]

The file is the public one of Piantadosi, Tenenbaum and Goodman (2016); its format is told in
`recombine/benchmarks/human/README.md`. On one core it takes three to four minutes.
"""

import argparse
import sys
import time
from pathlib import Path

from recombine.benchmarks.human import published
from recombine.benchmarks.human.language import PARTS
from recombine.benchmarks.human.learner import Mind
from recombine.benchmarks.human.study import FOLDS, Beside, beside_people, carried_over
from recombine.report.table import Column, Table
from recombine.store.errors import UserError


def scores(rows: dict[str, Beside]) -> Table:
    columns = (
        Column("answers"),
        *(Column(name, "right", ".3f") for name in ("r", "log-likelihood of a judgement")),
        Column("of all", "right", ",.0f"),
        Column("judgements", "right"),
    )
    found = [
        (name, *beside.scores.values(), beside.log_likelihood, int(beside.judgements.asked.sum()))
        for name, beside in rows.items()
    ]
    paper = published.JUDGEMENTS - published.LIST_1
    theirs = (published.CORRELATION, published.per_judgement(), published.LOG_LIKELIHOOD, paper)
    note = "95 % intervals over concepts. Published: the best model of the paper, fitted to list 1, on list 2."
    return Table("The learner beside people", columns, (*found, ("published, list 2", *theirs)), note)


def mind(found: Mind) -> Table:
    shares = [(name, getattr(found, name)) for name in ("trust", "lean", "forgetting", "lapse")]
    rows = (*shares, *((f"cost of {part}", cost) for part, cost in zip(PARTS, found.costs)))
    return Table("The mind that fits all concepts", (Column("what"), Column("value", "right", ".2f")), rows)


def worst(beside: Beside, count: int) -> Table:
    columns = (
        Column("concept"),
        *(Column(name, "right", ".3f") for name in ("of a judgement", "at best", "r")),
        Column("its thought at the end"),
        Column("belief", "right", ".2f"),
    )
    rows = tuple(
        (one.concept, one.per_judgement, one.floor, one.correlation, one.thought, one.belief)
        for one in beside.by_concept()[:count]
    )
    note = '"At best": of a learner that knew the share of people who say yes of each object.'
    return Table("Where it is farthest from people", columns, rows, note)


def main() -> None:
    ask = argparse.ArgumentParser(description="The ideal learner beside people.")
    ask.add_argument("path", type=Path)
    ask.add_argument("--list", default="L1", dest="chosen")
    ask.add_argument("--other", type=Path)
    ask.add_argument("--other-list", default="L2")
    ask.add_argument("--folds", type=int, default=FOLDS)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--worst", type=int, default=15)
    ask.add_argument("--without", default="", help="parts that the language shall not have, with commas")
    given = ask.parse_args()
    start = time.process_time()
    without = tuple(name for name in given.without.split(",") if name)
    found = beside_people(given.path, given.chosen, given.seed, given.folds, without=without)
    rows = {f"{given.chosen}, concepts held out": found}
    if given.other:
        rows[f"{given.other_list}, fitted to {given.chosen}"] = carried_over(found.mind, given.other, given.other_list)
    for table in (scores(rows), mind(found.mind), worst(found, given.worst)):
        print(table.markdown(), end="\n\n")
    print(f"{len(found.known):,} thoughts; {time.process_time() - start:.0f} seconds of one core.")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
