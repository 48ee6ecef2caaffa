"""What the ConceptWorld paper found, and whether our runs say the same.

A verdict is computed from the scores and names the numbers it rests on. Where a finding says that networks *fail*, the
bound is the F1 of a guess: with k classes of equal size, whoever guesses has an F1 of 1 / k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recombine.benchmarks.concept_world.training import CURRICULUM
from recombine.metrics.seeds import over_seeds
from recombine.report.concept_world_runs import (
    FROM_SCRATCH,
    PRETRAINED,
    PRETRAINED_THERE,
    Group,
    Outcomes,
    theirs,
)
from recombine.report.table import Column, Table

Holds = Literal["holds", "holds in part", "does not hold", "not known yet"]
SOLVED = 0.9
"""The F1 from which a class counts as solved."""
PAIRS = ("type_1_pair", "type_2_pair", "mixed_pair")
SUBSTITUTION = ("one_substitution", "two_substitutions")


@dataclass(frozen=True)
class Verdict:
    """A finding of the paper, whether it holds here, and the numbers that say so."""

    finding: str
    holds: Holds
    because: str


@dataclass(frozen=True)
class Case:
    """One instance of a finding, such as one network, with its numbers."""

    holds: bool
    says: str


def judged(finding: str, cases: Sequence[Case], unknown: str) -> Verdict:
    """A finding holds if all its cases do, and in part if some do."""
    if not cases:
        return Verdict(finding, "not known yet", f"There are no finished runs of {unknown}.")
    agree = [case.says for case in cases if case.holds]
    differ = [case.says for case in cases if not case.holds]
    holds: Holds = "holds" if not differ else "holds in part" if agree else "does not hold"
    parts = [
        f"As the paper says: {'; '.join(agree)}." if agree else "",
        f"Not so: {'; '.join(differ)}." if differ else "",
    ]
    return Verdict(finding, holds, " ".join(filter(None, parts)))


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
    numbers = f"{group.experiment}, {group.model} {_value(short)} at {first}, {_value(long)} at {last}"
    return Case(bool(long.mean() < short.mean()), numbers + _change(long - short))


def mixed_rows(outcomes: Outcomes) -> Verdict:
    group = outcomes.find("sequences", "MLP")
    cases = [_below_guessing(group, test, "mixed") for test in group.tests] if group else []
    return judged("The MLP fails on mixed sequences (5.1.1)", cases, "the MLP on sequences")


def _below_guessing(group: Group, test: str, label: str) -> Case:
    score, guess = group.of(test, label), 1 / len(group.classes)
    return Case(bool(score.mean() < guess), f"{test} {_value(score)}, a guess {guess:.3f}")


def patterned_squares(outcomes: Outcomes) -> Verdict:
    cases = [_unsolved(group) for group in outcomes.on("patterns")]
    return judged(f"No network solves both striped and checkered 4x4 squares, F1 {SOLVED} (5.2.1)", cases, "patterns")


def _unsolved(group: Group) -> Case:
    scores = {name: group.of("squares_4x4", name) for name in ("stripes", "checkerboard")}
    numbers = ", ".join(f"{name} {_value(values)}" for name, values in scores.items())
    return Case(min(float(values.mean()) for values in scores.values()) < SOLVED, f"{group.model} {numbers}")


def two_substitutions(outcomes: Outcomes) -> Verdict:
    cases = [_collapses(group) for group in outcomes.on("substitution")]
    finding = "With two substitutions the pairs collapse: lower than with one, and below a guess (5.2.2)"
    return judged(finding, cases, "substitution")


def _collapses(group: Group) -> Case:
    one, two = (group.of(test, *PAIRS) for test in SUBSTITUTION)
    lower = two.mean() < min(one.mean(), 1 / len(group.classes))
    return Case(bool(lower), f"{group.model} {_value(one)} with one, {_value(two)} with two")


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
    ours = float(np.mean([staged.of(test).mean() - plain.of(test).mean() for test in SUBSTITUTION]))
    paper = curriculum_effect(plain.model)
    name = f"{plain.model} (the paper's is pretrained)" if plain.model == FROM_SCRATCH else plain.model
    return Case((ours > 0) == (paper > 0), f"{name} {ours:+.3f}, paper {paper:+.3f}")


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


FINDINGS: tuple[Callable[[Outcomes], Verdict], ...] = (
    productivity,
    mixed_rows,
    patterned_squares,
    two_substitutions,
    curriculum,
)


# --- numbers


def _value(values: np.ndarray) -> str:
    return f"{values.mean():.3f}"


def _change(values: np.ndarray) -> str:
    """A difference over seeds with its interval, if there are several."""
    return f" ({over_seeds(values, -1.0, 1.0).text('+.3f')})" if len(values) > 1 else ""


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
