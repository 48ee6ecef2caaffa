"""What the ConceptWorld paper found, and whether our runs say the same.

Where a finding says that networks *fail*, the bound is the F1 of a guess: with k classes of equal size, whoever guesses
has an F1 of 1 / k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.benchmarks.concept_world.runs import (
    FROM_SCRATCH,
    PRETRAINED,
    PRETRAINED_THERE,
    Group,
    Outcomes,
    theirs,
)
from recombine.benchmarks.concept_world.training import CURRICULUM
from recombine.metrics.seeds import difference, over_seeds
from recombine.report.findings import Case, Verdict, judged
from recombine.report.table import Column, Table

SOLVED = 0.9
"""The F1 from which a class counts as solved."""
PAIRS = ("type_1_pair", "type_2_pair", "mixed_pair")
SUBSTITUTION = ("one_substitution", "two_substitutions")


def verdicts(outcomes: Outcomes) -> list[Verdict]:
    """All findings, in the order of the paper."""
    return [finding(outcomes) for finding in FINDINGS]


# --- the findings


def productivity(outcomes: Outcomes) -> Verdict:
    cases = [
        _falls(group, first, last)
        for experiment, first, last in (("sequences", "length_3", "length_7"), ("boxworld", "length_3", "length_5"))
        for group in outcomes.on(experiment)
    ]
    return judged("Scores fall with length, for every network (5.1, 5.3)", cases, "sequences and boxworld")


def _falls(group: Group, first: str, last: str) -> Case:
    short, long = group.of(first), group.of(last)
    numbers = f"{group.experiment}, {group.model} {short.mean():.3f} at {first}, {long.mean():.3f} at {last}"
    change = f" ({over_seeds(long - short, -1, 1).text('+.3f')})" if len(long) > 1 else ""
    return Case(numbers + change, over_seeds(short - long, -1, 1))


def mixed_rows(outcomes: Outcomes) -> Verdict:
    group = outcomes.find("sequences", "MLP")
    cases = [_below_guessing(group, test, "mixed") for test in group.tests] if group else []
    return judged("The MLP fails on mixed sequences (5.1.1)", cases, "the MLP on sequences")


def _below_guessing(group: Group, test: str, label: str) -> Case:
    score, guess = group.of(test, label), 1 / len(group.classes)
    return Case(f"{test} {_value(score)}, a guess {guess:.3f}", over_seeds(guess - score, -1, 1))


def patterned_squares(outcomes: Outcomes) -> Verdict:
    cases = [_unsolved(group) for group in outcomes.on("patterns")]
    return judged(f"No network solves both striped and checkered 4x4 squares, F1 {SOLVED} (5.2.1)", cases, "patterns")


def _unsolved(group: Group) -> Case:
    scores = {name: group.of("squares_4x4", name) for name in ("stripes", "checkerboard")}
    numbers = ", ".join(f"{name} {_value(values)}" for name, values in scores.items())
    worse = np.minimum(*scores.values())
    return Case(f"{group.model} {numbers}", over_seeds(SOLVED - worse, -1, 1))


def two_substitutions(outcomes: Outcomes) -> Verdict:
    cases = [_collapses(group) for group in outcomes.on("substitution")]
    finding = "With two substitutions the pairs collapse: lower than with one, and below a guess (5.2.2)"
    return judged(finding, cases, "substitution")


def _collapses(group: Group) -> Case:
    one, two = (group.of(test, *PAIRS) for test in SUBSTITUTION)
    numbers = f"{group.model} {_value(one)} with one, {_value(two)} with two"
    return Case(numbers, over_seeds(np.minimum(one, 1 / len(group.classes)) - two, -1, 1))


def curriculum(outcomes: Outcomes) -> Verdict:
    """The paper's sign for each network, and ours: the mean F1 with the curriculum minus that without."""
    plain, staged = "substitution", "substitution" + CURRICULUM
    cases = []
    for group in outcomes.on(plain):
        other = outcomes.find(staged, group.model)
        if other is not None:
            cases.append(_curriculum_case(group, other))
    finding = "The curriculum makes every network worse but the ResNet, which gains a little (5.2.2, app. 5.1)"
    return judged(finding, cases, "substitution with and without the curriculum")


def _curriculum_case(plain: Group, staged: Group) -> Case:
    with_it, without = (_over(group, SUBSTITUTION) for group in (staged, plain))
    ours, paper = difference(with_it, without), curriculum_effect(plain.model)
    name = f"{plain.model} (the paper's is pretrained)" if plain.model == FROM_SCRATCH else plain.model
    one_seed = min(len(with_it), len(without)) == 1
    numbers = f"{ours.value:+.3f}" if one_seed else ours.text("+.3f")
    margin = ours if paper > 0 else difference(without, with_it)
    return Case(f"{name} {numbers}, paper {paper:+.3f}", margin)


def curriculum_effect(model: str) -> float:
    """What the curriculum adds to the mean F1 over classes and tests in the paper.

    >>> round(curriculum_effect("MLP"), 3)
    -0.079
    """
    model = PRETRAINED if model == FROM_SCRATCH else model
    effects = [
        np.mean(theirs("substitution" + CURRICULUM, test, model)) - np.mean(theirs("substitution", test, model))
        for test in SUBSTITUTION
    ]
    return float(np.mean(effects))


@dataclass(frozen=True)
class Ahead:
    """A finding that some networks do better than others, by the mean F1 over some tests and classes."""

    finding: str
    experiment: str
    tests: tuple[str, ...]
    classes: tuple[str, ...]
    better: tuple[str, ...]
    worse: tuple[str, ...]

    def __call__(self, outcomes: Outcomes) -> Verdict:
        groups = outcomes.on(self.experiment)
        cases = [
            self._case(one, other)
            for one in groups
            for other in groups
            if _kind(one) in self.better and _kind(other) in self.worse
        ]
        return judged(self.finding, cases, f"the networks to compare on {self.experiment}")

    def _case(self, one: Group, other: Group) -> Case:
        high, low = (_over(group, self.tests, *self.classes) for group in (one, other))
        numbers = f"{one.model} {high.mean():.3f}, {other.model} {low.mean():.3f}"
        apart = difference(high, low)
        known = min(len(high), len(low)) > 1
        return Case(numbers + (f" ({apart.text('+.3f')})" if known else ""), apart)


FINDINGS: tuple[Callable[[Outcomes], Verdict], ...] = (
    productivity,
    Ahead(
        "The ResNet does best on sequences (5.1.1)",
        "sequences",
        ("length_3", "length_5", "length_7"),
        (),
        (PRETRAINED,),
        ("WReN", "CNN", "PrediNet", "MLP"),
    ),
    mixed_rows,
    Ahead(
        "PrediNet alone unlearns Box-World's single square: all others know it better (5.1.2)",
        "boxworld",
        ("length_3", "length_5"),
        ("2x2_square",),
        (PRETRAINED, "WReN", "CNN", "MLP"),
        ("PrediNet",),
    ),
    Ahead(
        "WReN does best on Box-World's paths of length 3 (5.1.2)",
        "boxworld",
        ("length_3",),
        (),
        ("WReN",),
        (PRETRAINED, "CNN", "PrediNet", "MLP"),
    ),
    patterned_squares,
    Ahead(
        "ResNet, CNN and MLP know plain 4x4 squares, the others less so (5.2.1)",
        "patterns",
        ("squares_4x4",),
        ("blue", "red"),
        (PRETRAINED, "CNN", "MLP"),
        ("WReN", "PrediNet"),
    ),
    two_substitutions,
    Ahead(
        "WReN and PrediNet do better than the others on substituted pairs (5.2.2)",
        "substitution",
        SUBSTITUTION,
        PAIRS,
        ("WReN", "PrediNet"),
        (PRETRAINED, "CNN", "MLP"),
    ),
    curriculum,
)


# --- numbers


def _kind(group: Group) -> str:
    """A network's name, however it began."""
    return PRETRAINED if group.model == FROM_SCRATCH else group.model


def _over(group: Group, tests: Sequence[str], *classes: str) -> np.ndarray:
    """The mean F1 over tests and classes in every run, float[seeds]."""
    return np.asarray(np.mean([group.of(test, *classes) for test in tests], axis=0))


def _value(values: np.ndarray) -> str:
    """The mean over seeds with its interval, if there are several."""
    return over_seeds(values).text(".3f") if len(values) > 1 else f"{values.mean():.3f}"


def agreement(outcomes: Outcomes) -> Table:
    """How near the mean F1 of each network comes to the paper's: the mean distance over the tests of an experiment."""
    models = tuple(dict.fromkeys(group.model for group in outcomes.compared))
    rows = []
    for experiment in dict.fromkeys(group.experiment for group in outcomes.compared):
        groups = [outcomes.find(experiment, model) for model in models]
        rows.append((experiment, *(_distance(group) if group else None for group in groups)))
    columns = (Column("experiment"), *(Column(model, "right", "+.3f") for model in models))
    note = "The mean F1 over classes minus the paper's, averaged over the tests: above zero, ours does better."
    note += PRETRAINED_THERE if FROM_SCRATCH in models else ""
    return Table("Ours minus the paper's", columns, tuple(rows), note)


def _distance(group: Group) -> float | None:
    pairs = [(group.of(test).mean(), theirs(group.experiment, test, group.model)) for test in group.tests]
    known = [ours - np.mean(paper) for ours, paper in pairs if paper]
    return float(np.mean(known)) if known else None
