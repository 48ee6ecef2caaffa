"""What the paper prints: Tables 1 to 3, and the accuracies of Figure 3 that its text names."""

from collections.abc import Mapping

from recombine.metrics.degrade import Reading, across, towards
from recombine.report.table import Column, Table

MODELS = ("FiLM", "mDETR", "NSCL", "NSVQA", "P-NSVQA")
TRAINED = {
    "visual": ("easy", "mid", "hard"),
    "redundancy": ("rd-", "rd", "rd+"),
    "distribution": ("bal", "slt", "long"),
    "composition": ("co-0", "co-1", "co-2"),
}
"""The variants that models were trained on, by factor."""
TESTED = {**TRAINED, "distribution": ("bal", "long", "head", "tail", "oppo")}

_TABLE_1 = """
easy 59.96 53.95 50.66 | 93.36 84.30 82.97 | 95.13 92.31 90.81 | 95.19 94.19 94.09 | 96.76 95.98 96.37
mid  57.41 53.28 50.18 | 83.34 82.36 81.27 | 84.50 89.10 86.33 | 81.99 92.80 93.78 | 86.25 95.76 95.11
hard 55.95 53.11 50.47 | 79.71 79.94 80.71 | 76.85 78.66 85.08 | 73.11 79.71 92.65 | 79.81 86.47 95.36
rd-  51.42 52.54 53.51 | 83.94 80.37 66.28 | 88.64 88.82 90.33 | 92.95 92.94 92.67 | 95.66 95.72 95.43
rd   50.39 53.28 54.78 | 82.77 82.36 70.36 | 88.45 89.10 91.45 | 91.19 92.78 92.14 | 94.87 95.72 95.43
rd+  46.14 52.30 71.47 | 78.48 84.05 90.42 | 87.94 88.34 91.16 | 91.38 91.96 92.80 | 94.88 95.47 95.72
bal  50.47 53.04 54.35 | 80.71 75.79 74.54 | 85.08 83.79 75.10 | 92.65 90.82 83.74 | 95.36 94.89 89.88
long 49.43 54.75 62.96 | 79.06 80.29 90.66 | 85.33 89.42 91.10 | 92.73 93.38 92.53 | 96.31 96.32 95.25
head 48.60 58.06 61.60 | 80.75 79.60 87.46 | 84.58 88.39 90.19 | 93.87 94.82 92.48 | 96.42 96.80 95.92
tail 51.80 48.70 50.08 | 81.50 70.88 60.94 | 86.10 80.27 60.55 | 90.26 89.20 75.32 | 94.08 93.20 82.68
oppo 49.06 48.93 46.68 | 79.13 68.37 56.98 | 85.07 77.86 55.14 | 91.22 88.65 71.32 | 95.76 94.09 79.74
co-0 53.28 57.00 56.10 | 83.36 77.03 82.43 | 89.10 82.52 83.77 | 92.80 90.11 91.59 | 95.76 94.02 95.12
co-1 52.41 60.57 56.67 | 79.46 82.45 83.93 | 78.89 87.18 84.20 | 78.74 89.99 90.67 | 87.12 94.53 94.78
co-2 52.96 57.37 60.53 | 80.03 77.41 87.24 | 78.40 81.55 88.84 | 77.85 89.28 92.23 | 87.19 93.49 95.61
"""
MISPRINTS = {("mDETR", "co-0", "co-0"): 82.36}
"""Model, tested on, trained on: the value that Table 2 and the same model's other cells were computed with."""
TABLE_2 = {
    "FiLM": {"visual": 4.03, "redundancy": 21.33, "distribution": 28.46, "composition": 9.04},
    "mDETR": {"visual": 9.81, "redundancy": 19.05, "distribution": 36.34, "composition": 9.45},
    "NSCL": {"visual": 15.57, "redundancy": 0.92, "distribution": 37.44, "composition": 15.40},
    "NSVQA": {"visual": 17.48, "redundancy": 1.72, "distribution": 20.92, "composition": 11.44},
    "P-NSVQA": {"visual": 12.88, "redundancy": 0.84, "distribution": 13.72, "composition": 7.00},
}
"""Relative degrade, in percent."""
REMOVED = (0, 14, 32, 70, 91, 100)
TABLE_3 = {
    "mDETR": (0.0, -4.82, -8.46, -13.16, -13.88, -14.56),
    "NSCL": (0.0, -0.14, -0.34, -1.09, -1.71, -2.59),
    "NSVQA": (0.0, -3.47, -4.80, -7.01, -7.02, -7.02),
    "P-NSVQA": (0.0, -1.93, -3.15, -5.73, -5.91, -5.78),
}
"""On GQA: how accuracy changes when so many percent of the redundancy are REMOVED."""


def _read() -> dict[str, dict[str, dict[str, float]]]:
    factor_of = {variant: factor for factor, variants in TESTED.items() for variant in variants}
    found: dict[str, dict[str, dict[str, float]]] = {model: {} for model in MODELS}
    for line in _TABLE_1.strip().splitlines():
        tested, _, numbers = line.partition(" ")
        for model, cells in zip(MODELS, numbers.split("|"), strict=True):
            trained = TRAINED[factor_of[tested]]
            found[model][tested] = dict(zip(trained, map(float, cells.split()), strict=True))
    return found


TABLE_1: Mapping[str, Mapping[str, Mapping[str, float]]] = _read()
"""Accuracies in percent: model, tested on, trained on; as printed."""


def accuracy(model: str, factor: str) -> dict[str, dict[str, float]]:
    """The part of Table 1 about a model and a factor, tested on, trained on, with its misprint corrected."""
    found = {tested: dict(TABLE_1[model][tested]) for tested in TESTED[factor]}
    for (who, tested, trained), value in MISPRINTS.items():
        if who == model and tested in found:
            found[tested][trained] = value
    return found


def degrade(tested: Mapping[str, Mapping[str, float]], factor: str, reading: Reading = "table") -> float:
    """The relative degrade of a model under a factor, in percent."""
    if factor == "distribution":
        return towards(tested, (("head", "tail"), ("long", "oppo")), "bal", reading)
    return across(tested, reading)


def degrade_table() -> Table:
    """The published relative degrades, and both readings of them computed from Table 1."""
    rows = tuple(
        (model, factor, TABLE_2[model][factor], degrade(accuracy(model, factor), factor), _appendix(model, factor))
        for model in MODELS
        for factor in TRAINED
    )
    names = ("paper, Table 2", "from Table 1", "by appendix D")
    columns = (Column("model"), Column("factor"), *(Column(name, "right", ".2f") for name in names))
    note = "Appendix D averages the drops that Table 2 adds; for distributions it needs values that are not printed."
    return Table("Relative degrade of published models, percent", columns, rows, note)


def _appendix(model: str, factor: str) -> float | None:
    return None if factor == "distribution" else degrade(accuracy(model, factor), factor, "appendix")
