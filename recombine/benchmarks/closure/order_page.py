"""What learners of order k lose on each test: a table and a curve of the report, and records for other pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.orders import first_new, order_gaps, order_scores
from recombine.benchmarks.closure.pipeline import ClosurePipeline, programs_of
from recombine.metrics.intervals import Interval
from recombine.report.document import Chapter, Figure
from recombine.report.scatter import panels
from recombine.report.table import Column, Table

ORDERS = (1, 2, 3, 4, 5, 6)
ABOUT = (
    "A learner of order k knows every program all of whose fragments of depth k occur in CLEVR: order 1 puts known "
    "functions together in any way, and the higher the order, the less is left to recombine. A question whose program "
    "it does not know it takes for the closest that it knows. Where nothing of depth k is new, it loses nothing."
)


@dataclass(frozen=True)
class ByOrder:
    """One test: the order from which on it is new, and by order the gap and its share of what there is to lose."""

    test: str
    new_from: int | None
    gap: dict[int, Interval]
    share: dict[int, Interval]
    closest: Interval
    """The gap of the learner of closest programs."""

    def record(self) -> dict[str, Any]:
        """For JSON."""
        share = {str(order): one.value for order, one in self.share.items()}
        gap = {str(order): one.value for order, one in self.gap.items()}
        return {"test": self.test, "new_from": self.new_from, "gap": gap, "share": share, "closest": self.closest.value}


def by_order(study: ClosurePipeline, tests: Sequence[str] = tuple(CLOSURE_FAMILIES)) -> list[ByOrder]:
    return [_of(study, test) for test in tests]


def _of(study: ClosurePipeline, test: str) -> ByOrder:
    table, scenes = study.questions(test, "test"), study.scenes(study.source("test")[0])
    programs = programs_of(table)
    scores = order_scores(programs, table["answer"].to_pylist(), scenes, table["image_index"].to_numpy(), ORDERS)
    found = order_gaps(test, scores, study.key / "orders" / test)
    gap, share = {k: one.gap for k, (one, _) in found.items()}, {k: part for k, (_, part) in found.items()}
    return ByOrder(test, first_new(programs[0]), gap, share, study.gaps(test).gap)


def order_chapter(found: Sequence[ByOrder]) -> Chapter:
    columns = (Column("test"), Column("new from order", "right"), *(Column(f"order {k}", "right") for k in ORDERS))
    gaps = tuple((one.test, one.new_from, *one.gap.values(), one.closest) for one in found)
    shares = tuple((one.test, one.new_from, *one.share.values()) for one in found)
    over = "95 % bootstrap intervals over questions"
    said = "What learners of order 1 to 6 lose, as a share of what there is to lose above a guess."
    curves = {one.test: {"share lost": [min(1.0, k.value / 100) for k in one.share.values()]} for one in found}
    drawn = partial(panels, curves, said, "the order", "share lost", {"share lost": "strong"})
    return Chapter(
        "By order: how much must be recombined?",
        (
            Figure.drawn("orders", said, drawn),
            Table(
                "The gap by order, share of what there is to lose above a guess, percent",
                columns,
                shares,
                f"Strong minus the learner of order k, divided by strong minus a guess; {over}.",
            ),
            Table(
                "The gap by order, percent",
                (*columns, Column("closest programs", "right")),
                gaps,
                f"Strong minus the learner of order k; the last column is the weak learner of the first table. {over}.",
            ),
        ),
        ABOUT,
    )
