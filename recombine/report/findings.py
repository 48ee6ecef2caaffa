"""What a paper found, and whether our runs say the same.

A finding has *cases*, such as one for each network, and each case a *margin*, which is above zero where the case is as
the paper says. A case is decided if the margin is beyond the scatter over seeds, in view of all cases of the list,
which it never is with one seed. A finding holds if all its cases are decided and as the paper says; it does not hold if
one is decided and not so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recombine.metrics import comparisons
from recombine.metrics.comparisons import ALPHA
from recombine.metrics.intervals import Interval
from recombine.report.table import Cell, Column, Table

HOLDS, FAILS, OPEN = "✓", "✗", "?"
OVER_SEEDS = (
    "A case is decided where a t-test over seeds, corrected for all cases by Holm's method, has p < 0.05; with one "
    "seed it never is."
)


@dataclass(frozen=True)
class Case:
    """One instance of a finding, such as one network, with its numbers."""

    says: str
    margin: Interval

    @property
    def mark(self) -> str:
        p, value = self.margin.p, self.margin.value
        if p is not None:
            return OPEN if p >= ALPHA else HOLDS if value > 0 else FAILS
        if self.margin.low > 0:
            return HOLDS
        return FAILS if self.margin.high < 0 else OPEN


@dataclass(frozen=True)
class Verdict:
    """A finding of the paper, and what our runs say of it; `unknown` is what they would have to be of."""

    finding: str
    cases: tuple[Case, ...]
    unknown: str

    @property
    def counts(self) -> Counter[str]:
        return Counter(case.mark for case in self.cases)

    @property
    def mark(self) -> str:
        if self.counts[FAILS]:
            return FAILS
        return HOLDS if self.cases and self.counts[HOLDS] == len(self.cases) else OPEN


def together(found: Sequence[Verdict]) -> list[Verdict]:
    """The same verdicts, each case judged in view of all cases of all of them (Holm's correction)."""
    margins = iter(comparisons.together([case.margin for one in found for case in one.cases]))
    return [replace(one, cases=tuple(replace(case, margin=next(margins)) for case in one.cases)) for one in found]


def finding_tables(found: Sequence[Verdict], test: str = OVER_SEEDS) -> list[Table]:
    """All findings with their marks, and their cases; `test` says when a case is decided."""
    if not found:
        return []
    found = together(found)
    marks = (HOLDS, FAILS, OPEN)
    columns = (Column("", "right"), Column("finding"), Column("here"), *(Column(mark, "right") for mark in marks))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (n, one.finding, one.mark, *(one.counts[mark] for mark in marks)) for n, one in enumerate(found, 1)
    )
    note = (
        f"{HOLDS} holds, {FAILS} does not hold, {OPEN} is not decided; the last columns count the cases. {test} A "
        "finding holds if all its cases do, and does not hold if one does not."
    )
    cases: tuple[tuple[Cell, ...], ...] = tuple((n, *row) for n, one in enumerate(found, 1) for row in _cases(one))
    table = Table("Cases", (Column("", "right"), *map(Column, ("case", "by the mean", "here"))), cases)
    return [Table("Findings", columns, rows, note), table]


def _cases(one: Verdict) -> list[tuple[Cell, ...]]:
    """What every case says, by the mean alone and with the interval."""
    said = [(case.says, HOLDS if case.margin.value > 0 else FAILS, case.mark) for case in one.cases]
    return [*said] or [(f"no finished runs of {one.unknown}", None, OPEN)]
