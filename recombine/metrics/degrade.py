"""Relative degrade: how much accuracy a model loses where it is tested on another domain than it was trained on.

There are two readings of it. `table` gives the printed values of Super-CLEVR's Table 2: for every training set the
drops are added, and the absolute value of their sum is taken. `appendix` is what the paper's appendix D writes: every
drop counts for itself, and all of them are averaged.

>>> tested = {"easy": {"easy": 90.0, "hard": 88.0}, "hard": {"easy": 45.0, "hard": 80.0}}
>>> round(across(tested), 2), round(across(tested, "appendix"), 2)  # drops of 50 % and of -10 %
(30.0, 20.0)
"""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from recombine.store.errors import UserError

Reading = Literal["table", "appendix"]
Tested = Mapping[str, Mapping[str, float]]
"""Accuracies: by the variant that was tested on, then by the one that was trained on."""


def across(accuracy: Tested, reading: Reading = "table") -> float:
    """The degrade in percent where every variant is trained on, and tested on all others."""
    _known(reading)
    trained = list(next(iter(accuracy.values())))
    drops = np.array([[_drop(accuracy, k, k, j, k) for j in trained if j != k] for k in trained])  # [trained, tested]
    return float(100 * (np.abs(drops.sum(axis=1)).mean() if reading == "table" else drops.mean()))


def from_one(tested: Mapping[str, float], at: str) -> float:
    """What a model loses that was trained on one variant alone, `at`: the drops to all others added, in percent.

    `across` is the mean of this over all variants, by the reading `table`.

    >>> from_one({"easy": 90.0, "hard": 45.0}, "easy")
    50.0
    """
    return abs(sum(100 * _drop({k: {at: v} for k, v in tested.items()}, at, at, other, at) for other in tested))


def towards(accuracy: Tested, pairs: Sequence[tuple[str, str]], at: str, reading: Reading = "table") -> float:
    """The degrade in percent from one test to another, for some pairs of tests, over all training sets.

    `table` divides by the accuracy on `at`; `appendix` by that on the variant trained on, and averages the pairs.
    """
    _known(reading)
    trained = list(next(iter(accuracy.values())))
    by = {k: at if reading == "table" else k for k in trained}
    drops = np.array([[_drop(accuracy, by[k], one, other, k) for one, other in pairs] for k in trained])
    return float(100 * (np.abs(drops.sum(axis=1)).mean() if reading == "table" else drops.mean()))


def _drop(accuracy: Tested, by: str, one: str, other: str, trained: str) -> float:
    """What is lost from one test to another, as a share of the accuracy in a third."""
    for name in (by, one, other):
        if trained not in accuracy.get(name, {}):
            raise UserError(f"there is no accuracy on '{name}' of a model trained on '{trained}'; test it there first")
    if not accuracy[by][trained] > 0:
        raise UserError(f"a model trained on '{trained}' has accuracy 0 on '{by}', so it has no relative degrade")
    return (accuracy[one][trained] - accuracy[other][trained]) / accuracy[by][trained]


def _known(reading: str) -> None:
    if reading not in get_args(Reading):
        raise UserError(f"there is no reading '{reading}' of the degrade; choose one of {', '.join(get_args(Reading))}")
