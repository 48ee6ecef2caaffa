"""What a paper found, and whether our runs say the same.

A verdict is computed from the scores and names the numbers it rests on. Each of its cases has a *margin*, which is
above zero where the finding holds; the case is *decided* if the interval over seeds leaves zero out, which one seed
never does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recombine.metrics.intervals import Interval


@dataclass(frozen=True)
class Verdict:
    """A finding of the paper, whether it holds here, and the numbers that say so."""

    finding: str
    holds: str
    because: str


@dataclass(frozen=True)
class Case:
    """One instance of a finding, such as one network, with its numbers."""

    says: str
    margin: Interval

    @property
    def holds(self) -> bool:
        return self.margin.value > 0

    @property
    def decided(self) -> bool:
        """Whether it is beyond the scatter over seeds."""
        return self.margin.low > 0 or self.margin.high < 0


def judged(finding: str, cases: Sequence[Case], unknown: str) -> Verdict:
    """By the means, a finding holds if all its cases do, and in part if some do; it says how many are decided."""
    if not cases:
        return Verdict(finding, "not known yet", f"There are no finished runs of {unknown}.")
    agree, differ = ([case for case in cases if case.holds is way] for way in (True, False))
    holds = "holds" if not differ else "holds in part" if agree else "does not hold"
    decided = sum(case.decided for case in cases)
    if decided < len(cases):
        holds += f" by the means, decided in {decided} of {len(cases)} cases"
    return Verdict(finding, holds, " ".join(_listed("As the paper says", agree) + _listed("Not so", differ)))


def _listed(name: str, cases: Sequence[Case]) -> list[str]:
    """One sentence for the cases that are decided and one for the others."""
    sure, unsure = ("; ".join(case.says for case in cases if case.decided is way) for way in (True, False))
    return ([f"{name}: {sure}."] if sure else []) + ([f"{name}, not decided: {unsure}."] if unsure else [])


def bullets(found: Sequence[Verdict]) -> str:
    """Verdicts as a list in Markdown."""
    return "\n".join(f"* {one.finding}: **{one.holds}**. {one.because}" for one in found)
