"""The gaps of Super-CLEVR's ideal observers against what the paper's models lose under the same shifts."""

from collections.abc import Iterator
from pathlib import Path

from recombine.benchmarks.prediction import Claim, records
from recombine.benchmarks.super_clevr.published import MODELS, accuracy
from recombine.benchmarks.super_clevr.shifts import SHIFTS

ABOUT = (
    "A model's accuracy on the variant that it was trained on minus that on the one it is tested on, in points, "
    "for every shift of distribution or composition that the paper prints."
)


def losses() -> dict[str, dict[str, float]]:
    """By shift and model; those that shift nothing are left out."""
    found: dict[str, dict[str, float]] = {}
    for name, shift in SHIFTS.items():
        if shift.factor == "redundancy" or shift.trained == shift.tested:
            continue
        for model in MODELS:
            table = accuracy(model, shift.factor)
            lost = table[shift.trained][shift.trained] - table[shift.tested][shift.trained]
            found.setdefault(name, {})[model] = lost
    return found


def claims(results: Path) -> Iterator[Claim]:
    rows = {one["split"]: one for one in records(results, "super-clevr")}
    gaps = {name: float(one["gap"]) for name, one in rows.items() if name in losses()}
    if gaps:
        yield Claim("Super-CLEVR", "the paper's models", losses(), {"gap of the observers": gaps}, ABOUT)
