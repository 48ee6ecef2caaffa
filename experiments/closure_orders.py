"""CLOSURE's learners of order k: what each loses on each test, and whether that foretells what networks lose.

python experiments/closure_orders.py [--scale paper] [--seed 0]
"""

import argparse
import time

from recombine.benchmarks.clevr.study import ClevrStudy
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.orders import first_new, order_gaps, order_scores
from recombine.benchmarks.closure.published import losses
from recombine.benchmarks.closure.study import ClosureStudy, closure_scale, programs_of
from recombine.metrics.intervals import Interval
from recombine.metrics.prediction import predicts
from recombine.report.table import Column, Table
from recombine.store.key import Key
from recombine.store.store import Store

ORDERS = (1, 2, 3, 4, 5, 6)


def curve(study: ClosureStudy, test: str) -> tuple[int | None, dict[int, tuple[Interval, Interval]], Interval]:
    """The order from which on a test is new; by order its gap and its share; and the gap of the closest programs."""
    table, scenes = study.questions(test, "test"), study.scenes(study.source("test")[0])
    programs = programs_of(table)
    scores = order_scores(programs, table["answer"].to_pylist(), scenes, table["image_index"].to_numpy(), ORDERS)
    found = order_gaps(test, scores, study.key / "orders" / test)
    return first_new(programs[0]), {k: (gap.gap, share) for k, (gap, share) in found.items()}, study.gaps(test).gap


def main() -> None:
    ask = argparse.ArgumentParser(description="CLOSURE's learners of order k.")
    ask.add_argument("--scale", default="paper")
    ask.add_argument("--seed", type=int, default=0)
    given = ask.parse_args()
    start = time.process_time()
    scale = closure_scale(given.scale)
    study = ClosureStudy(ClevrStudy(scale, given.seed, Store.default()), scale.closure)
    found = {test: curve(study, test) for test in CLOSURE_FAMILIES}
    columns = (Column("test"), Column("new from", "right"), *(Column(f"order {k}", "right") for k in ORDERS))
    for place, title in ((0, "Gap, percent"), (1, "Gap, percent of what there is to lose above a guess")):
        rows = tuple(
            (test, new, *(by_order[k][place] for k in ORDERS), closest if place == 0 else None)
            for test, (new, by_order, closest) in found.items()
        )
        print(Table(title, (*columns, Column("closest programs", "right")), rows).markdown(), end="\n\n")
    key = Key(given.seed) / "prediction"
    foretold = {
        "the order from which on it is new, smaller first": {
            test: -float(new or 99) for test, (new, _, _) in found.items()
        },
        "the gap of the closest programs": {test: closest.value for test, (_, _, closest) in found.items()},
        "the mean share over orders": {
            test: sum(share.value for _, share in by_order.values()) / len(ORDERS)
            for test, (_, by_order, _) in found.items()
        },
    }
    for name, values in foretold.items():
        print(f"* {name}: {predicts(values, losses(), key).text()}")
    print(f"\n{time.process_time() - start:.0f} seconds of one core.")


if __name__ == "__main__":
    main()
