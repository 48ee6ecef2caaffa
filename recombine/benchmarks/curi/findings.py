"""What the CURI papers found of their networks on schemas, and whether our runs say the same, by mAP."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from recombine.benchmarks.curi import published
from recombine.benchmarks.curi.runs import Group, Oracles, world_of
from recombine.metrics.seeds import difference, over_seeds
from recombine.report.findings import Case, Verdict, judged

METRIC = "mAP"
COUNTING, IID = "counting", "instance-iid"


def verdicts(groups: Sequence[Group], oracles: Oracles) -> list[Verdict]:
    """All findings, in the order of the paper."""
    compared = [group for group in longest(groups) if _comparable(group)]
    return [*(finding(compared, oracles) for finding in FINDINGS), language(groups)]


def longest(groups: Sequence[Group]) -> list[Group]:
    """Of runs that differ in nothing but their steps, those with the most."""
    found: dict[tuple[str, str, str], Group] = {}
    for group in sorted(groups, key=lambda one: one.steps):
        found[group.job.split, group.name, group.job.negatives] = group
    return [group for group in groups if group in found.values()]


def _comparable(group: Group) -> bool:
    """Whether it is one of the paper's networks on schemas, but for its steps."""
    return group.job.modality == "schema" and group.job.negatives == "hard" and group.paper(METRIC) is not None


# --- networks and ideal learners


@dataclass(frozen=True)
class Beside:
    """A finding that networks on some splits do better, or worse, than an ideal learner."""

    finding: str
    splits: tuple[str, ...]
    oracle: str
    better: bool = False

    def __call__(self, groups: Sequence[Group], oracles: Oracles) -> Verdict:
        some = [group for group in groups if group.job.split in self.splits and world_of(group.job) in oracles]
        return judged(self.finding, [self._case(group, oracles) for group in some], "networks on these splits")

    def _case(self, group: Group, oracles: Oracles) -> Case:
        scores, ideal = group.of(METRIC), getattr(oracles[world_of(group.job)][METRIC], self.oracle).value
        above = over_seeds(scores - ideal if self.better else ideal - scores, -100, 100)
        return Case(f"{group.job.split} {_network(group)} {_mean(group)}, {self.oracle} oracle {ideal:.1f}", above)


# --- networks among themselves


@dataclass(frozen=True)
class Ahead:
    """A finding that one pooling does better, or worse, than the others on some splits."""

    finding: str
    pooling: str
    splits: tuple[str, ...]
    better: bool = True

    def __call__(self, groups: Sequence[Group], oracles: Oracles) -> Verdict:
        some = [group for group in groups if group.job.split in self.splits]
        return judged(self.finding, list(self._cases(some)), f"the {self.pooling} and others to compare there")

    def _cases(self, groups: Sequence[Group]) -> Iterator[Case]:
        for one in groups:
            for other in groups:
                if one.job.split == other.job.split and one.job.pooling == self.pooling != other.job.pooling:
                    yield _apart(one, other) if self.better else _apart(other, one)


def language(groups: Sequence[Group]) -> Verdict:
    """Runs with and without a decoder that share all else."""
    gain, error = published.LANGUAGE_GAIN
    cases = [
        _apart(one, other)
        for one in groups
        for other in groups
        if one.job.alpha and replace(one.job, alpha=0.0, seed=other.job.seed) == other.job
    ]
    finding = f"Learning to write the concept (alpha) helps, by {gain} ± {error} points on average (5.2)"
    return judged(finding, cases, "one network with and without it")


def _apart(one: Group, other: Group) -> Case:
    """How much better one is than the other on the same split."""
    margin = difference(one.of(METRIC), other.of(METRIC), -100, 100)
    return Case(f"{one.job.split} {_network(one)} {_mean(one)}, {_network(other)} {_mean(other)}", margin)


def _network(group: Group) -> str:
    return group.name.removeprefix("schema ")


def _mean(group: Group) -> str:
    return f"{group.of(METRIC).mean():.1f}"


FINDINGS: tuple[Callable[[Sequence[Group], Oracles], Verdict], ...] = (
    Beside("Every network stays below the strong oracle, on Instance IID too (5.1)", published.SPLITS, "strong"),
    Beside(
        "Where concepts are new, networks do better than the weak oracle, but for Counting (5.1)",
        tuple(split for split in published.SPLITS if split not in (COUNTING, IID)),
        "weak",
        better=True,
    ),
    Beside("On Counting they do worse than the weak oracle (5.1)", (COUNTING,), "weak"),
    Ahead(
        "The relation network does best on Boolean, Concept IID, Complexity and Instance IID (5.2)",
        "relation-net",
        ("boolean", "concept-iid", "complexity", IID),
    ),
    Ahead(
        "The transformer does best on Binding (color), Binding (shape) and Intrinsic (5.2)",
        "transformer",
        ("binding-color", "binding-shape", "intrinsic"),
    ),
    Ahead("The transformer is poor at Counting (5.2)", "transformer", (COUNTING,), better=False),
)
