"""The gaps of Super-CLEVR's ideal observers against what the paper's models and ours lose under the same shifts."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from recombine.benchmarks.prediction import Claim, records
from recombine.benchmarks.super_clevr.model_page import CALLED, across, complete
from recombine.benchmarks.super_clevr.model_scores import read_kept
from recombine.benchmarks.super_clevr.published import MODELS, accuracy
from recombine.benchmarks.super_clevr.shifts import SHIFTS
from recombine.benchmarks.super_clevr.variants import DEFAULT

ABOUT = (
    "A model's accuracy on the variant that it was trained on minus that on the one it is tested on, in points, "
    "for every shift of distribution or composition that the paper prints."
)
Accuracies = Callable[[str, str], Mapping[str, Mapping[str, float]]]
"""Of a model, for a factor: by what is tested on, then by what was trained on."""


def losses(models: tuple[str, ...] = MODELS, accuracies: Accuracies = accuracy) -> dict[str, dict[str, float]]:
    """By shift and model; those that shift nothing are left out."""
    found: dict[str, dict[str, float]] = {}
    for name, shift in SHIFTS.items():
        if shift.factor == "redundancy" or shift.trained == shift.tested:
            continue
        for model in models:
            table = accuracies(model, shift.factor)
            lost = table[shift.trained][shift.trained] - table[shift.tested][shift.trained]
            found.setdefault(name, {})[model] = lost
    return found


def ours(results: Path) -> dict[str, dict[str, float]]:
    """What our symbolic models lose, from the scores that are kept; nothing while a parser is missing."""
    kept = read_kept(results / "runs" / "super-clevr")
    if DEFAULT not in kept or not all(complete(kept, factor) for factor in ("distribution", "composition")):
        return {}
    rows = np.arange(kept[DEFAULT]["images"])
    by_name = {said: model for model, said in CALLED.items()}
    return losses(tuple(by_name), lambda said, factor: across(kept, factor, by_name[said], rows))


def claims(results: Path) -> Iterator[Claim]:
    rows = {one["split"]: one for one in records(results, "super-clevr")}
    gaps = {name: float(one["gap"]) for name, one in rows.items() if name in losses()}
    if not gaps:
        return
    yield Claim("Super-CLEVR", "the paper's models", losses(), {"gap of the observers": gaps}, ABOUT)
    if mine := ours(results):
        yield Claim("Super-CLEVR", "our symbolic models", mine, {"gap of the observers": gaps}, ABOUT)
