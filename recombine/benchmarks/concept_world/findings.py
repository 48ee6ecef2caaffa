"""What the ConceptWorld paper found, and whether our runs say the same.

Where a finding says that networks *fail*, the bound is the F1 of a guess: with k classes of equal size, whoever guesses
has an F1 of 1 / k.
"""

import numpy as np

from recombine.benchmarks.concept_world import published
from recombine.benchmarks.run_findings import Ahead, Finding, mean_over
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.seeds import difference, over_seeds
from recombine.report.findings import Case, Verdict

CURRICULUM = "-curriculum"
FROM_SCRATCH, PRETRAINED = "ResNet from scratch", "ResNet"
RESNET = (PRETRAINED, FROM_SCRATCH)
SOLVED = 0.9
"""The F1 from which a class counts as solved."""
PAIRS = ("type_1_pair", "type_2_pair", "mixed_pair")
SUBSTITUTION = ("one_substitution", "two_substitutions")


def theirs(experiment: str, test: str, network: str) -> tuple[float, ...]:
    """The paper's F1 by class; of a ResNet from scratch that it does not print, the pretrained one's."""
    known = published.F1.get((experiment, test), {}) | published.FURTHER.get((experiment, test), {})
    return known.get(network) or (known.get(PRETRAINED, ()) if network == FROM_SCRATCH else ())


def verdicts(outcomes: Outcomes) -> list[Verdict]:
    """All findings, in the order of the paper."""
    return [finding(outcomes) for finding in FINDINGS]


def productivity(outcomes: Outcomes) -> Verdict:
    cases = [
        _falls(group, first, last)
        for experiment, first, last in (("sequences", "length_3", "length_7"), ("boxworld", "length_3", "length_5"))
        for group in outcomes.on(experiment)
    ]
    return Verdict("Scores fall with length, for every network (5.1, 5.3)", tuple(cases), "sequences and boxworld")


def _falls(group: Group, first: str, last: str) -> Case:
    short, long = group.of(first), group.of(last)
    numbers = f"{group.job.split}, {group.network} {short.mean():.3f} at {first}, {long.mean():.3f} at {last}"
    change = f" ({over_seeds(long - short, -1, 1).text('+.3f')})" if len(long) > 1 else ""
    return Case(numbers + change, over_seeds(short - long, -1, 1))


def mixed_rows(outcomes: Outcomes) -> Verdict:
    group = outcomes.find("sequences", "MLP")
    cases = [_below_guessing(group, test, "mixed") for test in group.tests] if group else []
    return Verdict("The MLP fails on mixed sequences (5.1.1)", tuple(cases), "the MLP on sequences")


def _below_guessing(group: Group, test: str, label: str) -> Case:
    score, guess = group.of(test, label), 1 / len(group.classes)
    return Case(f"{test} {_value(score)}, a guess {guess:.3f}", over_seeds(guess - score, -1, 1))


def patterned_squares(outcomes: Outcomes) -> Verdict:
    cases = [_unsolved(group) for group in outcomes.on("patterns")]
    finding = f"No network solves both striped and checkered 4x4 squares, F1 {SOLVED} (5.2.1)"
    return Verdict(finding, tuple(cases), "patterns")


def _unsolved(group: Group) -> Case:
    scores = {name: group.of("squares_4x4", name) for name in ("stripes", "checkerboard")}
    numbers = ", ".join(f"{name} {_value(values)}" for name, values in scores.items())
    worse = np.minimum(*scores.values())
    return Case(f"{group.network} {numbers}", over_seeds(SOLVED - worse, -1, 1))


def two_substitutions(outcomes: Outcomes) -> Verdict:
    cases = [_collapses(group) for group in outcomes.on("substitution")]
    finding = "With two substitutions the pairs collapse: lower than with one, and below a guess (5.2.2)"
    return Verdict(finding, tuple(cases), "substitution")


def _collapses(group: Group) -> Case:
    one, two = (group.of(test, *PAIRS) for test in SUBSTITUTION)
    numbers = f"{group.network} {_value(one)} with one, {_value(two)} with two"
    return Case(numbers, over_seeds(np.minimum(one, 1 / len(group.classes)) - two, -1, 1))


def curriculum(outcomes: Outcomes) -> Verdict:
    """The paper's sign for each network, and ours: the mean F1 with the curriculum minus that without."""
    pairs = [(one, outcomes.find("substitution" + CURRICULUM, one.network)) for one in outcomes.on("substitution")]
    cases = [_curriculum_case(plain, staged) for plain, staged in pairs if staged is not None]
    finding = "The curriculum makes every network worse but the ResNet, which gains a little (5.2.2, app. 5.1)"
    return Verdict(finding, tuple(cases), "substitution with and without the curriculum")


def _curriculum_case(plain: Group, staged: Group) -> Case:
    with_it, without = (mean_over(group, SUBSTITUTION) for group in (staged, plain))
    ours, paper = difference(with_it, without), curriculum_effect(plain.network)
    name = f"{plain.network} (the paper's is pretrained)" if plain.network == FROM_SCRATCH else plain.network
    one_seed = min(len(with_it), len(without)) == 1
    numbers = f"{ours.value:+.3f}" if one_seed else ours.text("+.3f")
    return Case(f"{name} {numbers}, paper {paper:+.3f}", ours if paper > 0 else difference(without, with_it))


def curriculum_effect(network: str) -> float:
    """What the curriculum adds to the mean F1 over classes and tests in the paper.

    >>> round(curriculum_effect("MLP"), 3)
    -0.079
    """
    network = PRETRAINED if network == FROM_SCRATCH else network
    plain, staged = (
        [np.mean(theirs(experiment, test, network)) for test in SUBSTITUTION]
        for experiment in ("substitution", "substitution" + CURRICULUM)
    )
    return float(np.mean(staged) - np.mean(plain))


def _value(values: np.ndarray) -> str:
    """The mean over seeds with its interval, if there are several."""
    return over_seeds(values).text(".3f") if len(values) > 1 else f"{values.mean():.3f}"


FINDINGS: tuple[Finding, ...] = (
    productivity,
    Ahead(
        "The ResNet does best on sequences (5.1.1)",
        ("sequences",),
        RESNET,
        ("WReN", "CNN", "PrediNet", "MLP"),
        ("length_3", "length_5", "length_7"),
    ),
    mixed_rows,
    Ahead(
        "PrediNet alone unlearns Box-World's single square: all others know it better (5.1.2)",
        ("boxworld",),
        (*RESNET, "WReN", "CNN", "MLP"),
        ("PrediNet",),
        ("length_3", "length_5"),
        ("2x2_square",),
    ),
    Ahead(
        "WReN does best on Box-World's paths of length 3 (5.1.2)",
        ("boxworld",),
        ("WReN",),
        (*RESNET, "CNN", "PrediNet", "MLP"),
        ("length_3",),
    ),
    patterned_squares,
    Ahead(
        "ResNet, CNN and MLP know plain 4x4 squares, the others less so (5.2.1)",
        ("patterns",),
        (*RESNET, "CNN", "MLP"),
        ("WReN", "PrediNet"),
        ("squares_4x4",),
        ("blue", "red"),
    ),
    two_substitutions,
    Ahead(
        "WReN and PrediNet do better than the others on substituted pairs (5.2.2)",
        ("substitution",),
        ("WReN", "PrediNet"),
        (*RESNET, "CNN", "MLP"),
        SUBSTITUTION,
        PAIRS,
    ),
    curriculum,
)
