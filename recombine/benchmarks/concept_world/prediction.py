"""ConceptWorld's gaps against what the paper's networks and ours lack on its tests."""

from collections.abc import Iterator
from pathlib import Path

from recombine.benchmarks.concept_world.published import F1, losses
from recombine.benchmarks.prediction import Claim, records
from recombine.report.read_tables import tables_of, value_of

ABOUT = "What a network lacks of a perfect mean F1 over classes, in points."
KNOWN = 6
"""Of networks that do not know all tests, none is compared."""


def gaps(results: Path) -> dict[str, dict[str, float]]:
    rows = records(results, "concept-world")
    found = {
        "gap to the best learner": {one["test"]: float(one["gap_to_best"]) for one in rows if "gap_to_best" in one},
        "gap, strong minus weak": {one["test"]: float(one["gap"]) for one in rows},
    }
    return {name: values for name, values in found.items() if values}


def ours(results: Path) -> dict[str, dict[str, float]]:
    """What our own networks lack, as the page of networks says."""
    found: dict[str, dict[str, float]] = {}
    for table in tables_of(results / "concept-world-networks.md"):
        experiment = table.title.rpartition(" ")[2]
        for row in table.rows:
            who = row.get("network", row.get("model", ""))
            if row.get("class", row.get("concept")) != "mean" or "(" in who:
                continue
            for test in [test for of, test in F1 if of == experiment]:
                value = value_of(row.get(test, ""))
                if value is not None:
                    found.setdefault(f"{experiment}/{test}", {})[who] = 100 * (1 - value.value)
    return found


def claims(results: Path) -> Iterator[Claim]:
    found = gaps(results)
    if not found:
        return
    yield Claim("ConceptWorld", "the paper's networks", losses(), found, ABOUT)
    if len(lost := ours(results)) >= KNOWN:
        yield Claim("ConceptWorld", "our networks", lost, found, ABOUT)
