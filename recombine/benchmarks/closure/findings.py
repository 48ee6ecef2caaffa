"""What the CLOSURE paper found of its networks, and whether our runs say the same, by accuracy."""

from collections.abc import Sequence

import numpy as np

from recombine.benchmarks.closure.network_tables import CLEVR, GENERATED, baseline
from recombine.benchmarks.closure.published import TESTS
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.intervals import Interval
from recombine.metrics.seeds import difference, over_seeds
from recombine.report.findings import Case, Verdict

EASY = "embed_spa_mat"
"""The test on which all networks do well."""
HARD = tuple(test for test in TESTS if test != EASY)
LOGICAL = ("and_mat_spa", "or_mat", "or_mat_spa")
NEAR = 2.0
"""Points below its baseline at which a network still matches it."""
WELL = 6.0
"""Points below its baseline at which a network still does well; FiLM's 5.1 are the paper's most on `embed_spa_mat`."""


def verdicts(outcomes: Outcomes) -> list[Verdict]:
    """All findings, in the order of the paper."""
    zero, few = ([g for g in outcomes.compared if g.job.split == split] for split in ("zero-shot", "few-shot"))
    known = {group.network: group for group in zero}
    after = {group.network: group for group in few}
    vector, tensor = known.get("GT-Vector-NMN"), known.get("GT-Tensor-NMN")
    others = [known[name] for name in ("GT-Tensor-NMN-Shortcut", "GT-Tensor-NMN-FiLM") if name in known]
    return [
        _verdict("MAC does better than FiLM on every test (4.1)", _ahead(known, "MAC", "FiLM", TESTS), "MAC and FiLM"),
        _verdict("MAC loses against its baseline on six tests of seven (4.1)", _losing(known.get("MAC"), HARD), "MAC"),
        _verdict(
            f"All networks do well on {EASY} (4.1)",
            [case for group in zero if group.network not in BLIND for case in _keeping(group, (EASY,), WELL)],
            "networks",
        ),
        _verdict(
            "NS-VQA's generator fails on tests with logical references (4.1)",
            _losing(known.get("NS-VQA"), LOGICAL),
            "the program generator",
        ),
        _verdict(
            "Generated programs make module networks worse on these tests (4.1)",
            [case for group in (vector, tensor) for case in _generated(group, LOGICAL)],
            "module networks with a generator",
        ),
        _verdict(
            "Tensor-NMN with true programs is below its baseline on six tests of seven (4.1)",
            _losing(tensor, HARD),
            "Tensor-NMN",
        ),
        _verdict(
            f"Vector-NMN with true programs matches its baseline, within {NEAR:g} points, but for and_mat_spa (4.1)",
            [*_keeping(vector, [t for t in TESTS if t != LOGICAL[0]], NEAR), *_losing(vector, LOGICAL[:1])],
            "Vector-NMN",
        ),
        _verdict(
            "Max-pooling is the cause: the two ablations that keep cells lose more than Vector-NMN (appendix H)",
            [_less_lost(vector, other) for other in others if vector is not None],
            "Vector-NMN and its ablations",
        ),
        _verdict(
            "With 36 questions of each test and their programs, NS-VQA reaches its baseline on all tests (4.2)",
            _keeping(after.get("NS-VQA (strong)"), TESTS, NEAR),
            "a generator that was told programs",
        ),
        _verdict(
            "Without the programs it fails on and_mat_spa alone (4.2)",
            [
                *_losing(after.get("NS-VQA (weak)"), LOGICAL[:1]),
                *_keeping(after.get("NS-VQA (weak)"), [t for t in TESTS if t != LOGICAL[0]], NEAR),
            ],
            "a generator that was told answers",
        ),
    ]


BLIND = ("LSTM", "CNN+LSTM")


def _verdict(finding: str, cases: Sequence[Case], unknown: str) -> Verdict:
    return Verdict(finding, tuple(cases), unknown)


def _ahead(known: dict[str, Group], better: str, worse: str, tests: Sequence[str]) -> list[Case]:
    if better not in known or worse not in known:
        return []
    one, other = known[better], known[worse]
    return [
        Case(
            f"{test}, {one.name} {one.of(test).mean():.1f}, {other.name} {other.of(test).mean():.1f}",
            difference(one.of(test), other.of(test), -100, 100),
        )
        for test in tests
    ]


def _losing(group: Group | None, tests: Sequence[str]) -> list[Case]:
    """That a network loses against its baseline on each of these tests."""
    return [] if group is None else [Case(_said(group, test), _over(_loss(group, test))) for test in tests]


def _keeping(group: Group | None, tests: Sequence[str], within: float) -> list[Case]:
    """That it loses no more than so much."""
    return [] if group is None else [Case(_said(group, test), _over(within - _loss(group, test))) for test in tests]


def _generated(group: Group | None, tests: Sequence[str]) -> list[Case]:
    if group is None or not all(f"{CLEVR}{GENERATED}" in run.scores for run in group.runs):
        return []
    cases = []
    for test in tests:
        true, written = group.of(test), group.of(f"{test}{GENERATED}")
        said = f"{test}, {group.name} {true.mean():.1f}, with generated programs {written.mean():.1f}"
        cases.append(Case(said, _over(true - written)))
    return cases


def _less_lost(one: Group, other: Group) -> Case:
    losses = [np.mean([_loss(group, test) for test in HARD], axis=0) for group in (one, other)]
    said = f"{one.name} loses {losses[0].mean():.1f} points on average, {other.name} {losses[1].mean():.1f}"
    return Case(said, difference(losses[1], losses[0], -100, 100))


def _loss(group: Group, test: str) -> np.ndarray:
    """Points that each run loses against its baseline, float[seeds]."""
    return group.of(baseline(test)) - group.of(test)


def _said(group: Group, test: str) -> str:
    return f"{test}, {group.name} {group.of(test).mean():.1f}, baseline {group.of(baseline(test)).mean():.1f}"


def _over(values: np.ndarray) -> Interval:
    return over_seeds(values, -100, 100)
