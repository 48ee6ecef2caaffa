"""Findings about networks among themselves: which does better than which."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.seeds import difference
from recombine.report.findings import Case, Verdict

Finding = Callable[[Outcomes], Verdict]


@dataclass(frozen=True)
class Ahead:
    """A finding that some networks do better than others on some splits, by the mean score over tests and classes."""

    finding: str
    splits: tuple[str, ...]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    tests: tuple[str, ...]
    classes: tuple[str, ...] = ()

    def __call__(self, outcomes: Outcomes) -> Verdict:
        cases = [
            apart(one, other, self.tests, self.classes)
            for split in self.splits
            for one in outcomes.on(split)
            for other in outcomes.on(split)
            if one.network in self.better and other.network in self.worse
        ]
        return Verdict(self.finding, tuple(cases), f"the networks to compare on {', '.join(self.splits)}")


def apart(one: Group, other: Group, tests: Sequence[str], classes: Sequence[str] = ()) -> Case:
    """How much better one does than the other on the same split."""
    format = one.networks.format
    high, low = (mean_over(group, tests, classes) for group in (one, other))
    margin = difference(high, low, -one.networks.highest, one.networks.highest)
    says = f"{one.job.split}, {one.name} {high.mean():{format}}, {other.name} {low.mean():{format}}"
    return Case(says + (f" ({margin.text('+' + format)})" if min(len(high), len(low)) > 1 else ""), margin)


def mean_over(group: Group, tests: Sequence[str], classes: Sequence[str] = ()) -> np.ndarray:
    """The mean score over tests and classes in every run, float[seeds]."""
    return np.asarray(np.mean([group.of(test, *classes) for test in tests], axis=0))
