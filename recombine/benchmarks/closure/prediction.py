"""CLOSURE's gaps against what the paper's models and our networks lose on its tests."""

from collections.abc import Iterator
from pathlib import Path

from recombine.benchmarks.closure.published import TESTS, losses
from recombine.benchmarks.prediction import Claim, records
from recombine.report.read_tables import tables_of, value_of

ABOUT = "A model's accuracy on the nearest questions of CLEVR minus its accuracy on the test, in points."
TABLES = {"Table 3": 1.0, "Table 1": -1.0}


def gaps(results: Path) -> dict[str, dict[str, float]]:
    """The gap of the closest programs, and what learners of order k say: see `orders.py`."""
    rows, orders = records(results, "closure"), records(results, "closure-orders")
    found = {
        "gap of the closest programs": {one["split"]: float(one["gap"]) for one in rows if not one["control"]},
        "how early it is new (minus the order)": {one["test"]: -float(one["new_from"]) for one in orders},
        "gap of order 2, share of what there is to lose": _of_order(orders, "2"),
        "gap of order 3, share of what there is to lose": _of_order(orders, "3"),
        "gap over orders, mean share": {one["test"]: sum(one["share"].values()) / len(one["share"]) for one in orders},
    }
    return {name: values for name, values in found.items() if values}


def _of_order(orders: list[dict[str, dict[str, float]]], order: str) -> dict[str, float]:
    return {str(one["test"]): float(one["share"][order]) for one in orders}


def ours(results: Path) -> dict[str, dict[str, float]]:
    """What our own networks lose, as the page of networks says: Table 3 minus Table 1."""
    scores: dict[str, dict[str, list[float]]] = {}
    for table in tables_of(results / "closure-networks.md"):
        sign = next((sign for name, sign in TABLES.items() if table.title.startswith(name)), None)
        for row in table.rows if sign is not None else ():
            for test in TESTS if row.get("network") and row.get("seeds") != "paper" else ():
                value = value_of(row.get(test, ""))
                if value is not None and sign is not None:
                    scores.setdefault(test, {}).setdefault(row["network"], []).append(sign * value.value)
    return {
        test: {who: sum(both) for who, both in row.items() if len(both) == len(TABLES)} for test, row in scores.items()
    }


def claims(results: Path) -> Iterator[Claim]:
    found = gaps(results)
    if not found:
        return
    yield Claim("CLOSURE", "the paper's models", losses(), found, ABOUT)
    if any(lost := ours(results)) and any(lost.values()):
        yield Claim("CLOSURE", "our networks", lost, found, ABOUT)
