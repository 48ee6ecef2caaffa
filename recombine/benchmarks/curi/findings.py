"""What the CURI papers found of their networks on schemas, and whether our runs say the same, by mAP."""

from dataclasses import dataclass, replace

from recombine.benchmarks.curi import published
from recombine.benchmarks.run_findings import Ahead, Finding, apart
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.seeds import over_seeds
from recombine.report.findings import Case, Verdict
from recombine.solvers.kinds import POOLINGS

METRIC = "mAP"
COUNTING, IID = "counting", "instance-iid"
NEW = tuple(split for split in published.SPLITS if split not in (COUNTING, IID))
"""The splits where concepts are new, but for Counting."""


def verdicts(outcomes: Outcomes) -> list[Verdict]:
    """All findings, in the order of the paper."""
    compared = [group for group in outcomes.compared if group.paper(METRIC) is not None]
    judged = replace(outcomes, groups=tuple(group for group in compared if group.job.options.modality == "schema"))
    return [*(finding(judged) for finding in FINDINGS), language(outcomes)]


@dataclass(frozen=True)
class Beside:
    """A finding that networks on some splits do better, or worse, than an ideal learner."""

    finding: str
    splits: tuple[str, ...]
    oracle: str
    better: bool = False

    def __call__(self, outcomes: Outcomes) -> Verdict:
        groups = [group for group in outcomes.groups if group.job.split in self.splits]
        cases = [
            self._case(group, outcomes.ideal[group.world][METRIC][self.oracle])
            for group in groups
            if group.world in outcomes.ideal
        ]
        return Verdict(self.finding, tuple(cases), "networks on these splits")

    def _case(self, group: Group, ideal: float) -> Case:
        scores = group.of(METRIC)
        above = over_seeds(scores - ideal if self.better else ideal - scores, -100, 100)
        return Case(f"{group.job.split}, {group.name} {scores.mean():.1f}, {self.oracle} {ideal:.1f}", above)


def language(outcomes: Outcomes) -> Verdict:
    """Runs with and without a decoder that share all else."""
    gain, error = published.LANGUAGE_GAIN
    cases = [
        apart(one, other, (METRIC,))
        for one in outcomes.groups
        for other in outcomes.groups
        if one.job.options.alpha
        and replace(one.job, options=replace(one.job.options, alpha=0.0), seed=other.job.seed) == other.job
    ]
    finding = (
        f"Learning to write the concept (alpha) helps, by {gain} ± {error} points on average over splits (5.2), not on "
        "Counting (G.5)"
    )
    return Verdict(finding, tuple(cases), "one network with and without it")


def _ahead(finding: str, pooling: str, splits: tuple[str, ...], better: bool = True) -> Ahead:
    """One pooling and all others."""
    one, others = (f"schema {pooling}",), tuple(f"schema {other}" for other in POOLINGS if other != pooling)
    return Ahead(finding, splits, one if better else others, others if better else one, (METRIC,))


FINDINGS: tuple[Finding, ...] = (
    Beside("Every network stays below the strong oracle, on Instance IID too (5.1)", published.SPLITS, "strong oracle"),
    Beside(
        "Where concepts are new, networks do better than the weak oracle, but for Counting (5.1)",
        NEW,
        "weak oracle",
        better=True,
    ),
    Beside("On Counting they do worse than the weak oracle (5.1)", (COUNTING,), "weak oracle"),
    _ahead(
        "The relation network does best on Boolean, Concept IID, Complexity and Instance IID (5.2)",
        "relation-net",
        ("boolean", "concept-iid", "complexity", IID),
    ),
    _ahead(
        "The transformer does best on Binding (color), Binding (shape) and Intrinsic (5.2)",
        "transformer",
        ("binding-color", "binding-shape", "intrinsic"),
    ),
    _ahead("The transformer is poor at Counting (5.2)", "transformer", (COUNTING,), better=False),
)
