"""`recombine report ledger`: every table and figure with numbers in the papers, and what stands beside each number.

A benchmark's folder brings `ledger.py` with `LEDGER`, an entry for each table or figure of its papers. How many of its
values have one of ours beside them, and how many of these agree, is counted on the committed pages of results: whoever
writes a page again and then the ledger has the new counts.

Two values agree within noise where they are no farther apart than the 95 % half-widths of both together, added as
errors are; twice the printed standard deviation is the paper's half-width.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from recombine.benchmarks.prediction import folders
from recombine.benchmarks.subjects import Subject
from recombine.metrics.intervals import Interval
from recombine.report.document import ENDINGS, Chapter, write_document
from recombine.report.notes import notes_of
from recombine.report.read_tables import Read, tables_of, value_of
from recombine.report.table import Cell, Column, Table
from recombine.store.errors import UserError
from recombine.store.outputs import free_file
from recombine.store.untrusted import read_text

TITLE = "The ledger: every number of the papers"
INTRO = (
    "Each table and figure with numbers in the five papers: how many values it has, how many have one of ours beside "
    "them, how many of these agree within noise, how many differ for a reason that is known, and how many are missing "
    "and why. The counts are taken from the pages that are linked."
)
PAPER = "paper"
Pair = tuple[Interval, Interval, str]
"""Ours, the paper's, and whose they are."""
ALL = "all"


@dataclass(frozen=True)
class Entry:
    """A table or a figure of a paper."""

    paper: str
    item: str
    what: str
    values: int
    """How many numbers it has."""
    pages: tuple[str, ...] = ()
    """Where ours stand: pages of results, of which the first that has the tables counts."""
    tables: tuple[str, ...] = ()
    """How the titles of the tables begin."""
    columns: tuple[str, ...] = ()
    """Of which columns, where not of all."""
    rows: tuple[str, ...] = ()
    """Of which rows, by their first cell, where not of all."""
    tolerance: float = 0.0
    """How exactly the paper's values could be read, where they are drawn and not printed."""
    counted: tuple[int, int] | None = None
    """How many are beside ours and how many agree, where a test compares them and no page; `pages` has the test."""
    same_as: str = ""
    """The entry that has the same numbers, which are counted there."""
    explained: str = ""
    """Why those that are beside each other differ, where it is known."""
    unknown: tuple[str, ...] = ()
    """The networks of which it is not known; or ALL."""
    sentence: str = ""
    """A pattern for the sentence of a page that has them: our value and half-width, and the paper's."""
    missing: str = ""
    """Why there is nothing beside the others."""

    @property
    def name(self) -> str:
        return f"{self.paper}, {self.item}"


@dataclass(frozen=True)
class Count:
    """What an entry comes to."""

    entry: Entry
    beside: int
    within: int
    page: str
    unexplained: int = 0

    @property
    def own(self) -> int:
        """Its values that no other entry counts."""
        return 0 if self.entry.same_as else self.entry.values

    @property
    def explained(self) -> int:
        return self.beside - self.within - self.unexplained

    @property
    def missing(self) -> int:
        return self.own - self.beside


class Ledger(Subject):
    """Every number of the papers, and what stands beside it."""

    def report(
        self,
        out: str | Path,
        *,
        results: Annotated[Path, "The folder with the pages of results."] = Path("docs/results"),
        **_: Any,
    ) -> Path:
        """One page for all papers."""
        free_file(out, ENDINGS)
        if not results.is_dir():
            raise UserError(f"{results} is no folder; give the one with the pages of results, such as docs/results")
        return write_document(out, TITLE, INTRO, chapters(counts(results), notes_of(Path(out))))


def entries() -> list[Entry]:
    """Of all papers."""
    return [entry for module in folders("ledger") for entry in module.LEDGER]


def counts(results: Path) -> list[Count]:
    return [count(entry, results) for entry in entries()]


def count(entry: Entry, results: Path) -> Count:
    if entry.same_as:
        return Count(entry, 0, 0, entry.pages[0] if entry.pages else "")
    if entry.counted is not None:
        return Count(entry, *entry.counted, entry.pages[0])
    for page in entry.pages:
        found = [pair for table in _tables(entry, results / page) for pair in pairs(table, entry.columns, entry.rows)]
        found += _sentences(entry, results / page)
        if found:
            apart = [who for ours, paper, who in found if not agree(ours, paper, entry.tolerance)]
            unknown = len(apart) if not entry.explained or ALL in entry.unknown else 0
            unknown = unknown or sum(who in entry.unknown for who in apart)
            return Count(entry, len(found), len(found) - len(apart), page, unknown)
    return Count(entry, 0, 0, "")


def _sentences(entry: Entry, page: Path) -> list[Pair]:
    if not entry.sentence or not page.is_file():
        return []
    found = re.findall(entry.sentence, read_text(page))
    return [(_around(*map(float, one[:2])), _around(*map(float, one[2:])), "") for one in found]


def _around(value: float, half: float) -> Interval:
    return Interval(value, value - half, value + half)


def _tables(entry: Entry, page: Path) -> list[Read]:
    return [table for table in tables_of(page) if table.title.startswith(entry.tables)]


def agree(ours: Interval, paper: Interval, tolerance: float = 0.0) -> bool:
    """Whether two values are no farther apart than noise allows."""
    mine, theirs = (max(one.high - one.value, one.value - one.low) for one in (ours, paper))
    return abs(ours.value - paper.value) <= (mine**2 + theirs**2 + tolerance**2) ** 0.5 + 1e-9


def pairs(table: Read, columns: Sequence[str] = (), rows: Sequence[str] = ()) -> Iterator[Pair]:
    """Ours beside the paper's in a table, however it lays them out.

    A column `paper`, `paper X` or `X, paper` beside a column of ours; or a row of the paper's below one of ours. Means
    over classes, and what has more than a paper's settings to its name, are left out.
    """
    before: dict[str, str] = {}
    for row in table.rows:
        if row.get("seeds") == PAPER:
            yield from _found(before, row, [name for name in before if not columns or name in columns], _who(before))
        elif row.get("class", row.get("concept")) != "mean" and (not rows or next(iter(row.values())) in rows):
            for theirs, ours in _beside(list(row)):
                if not columns or ours in columns:
                    yield from _found({ours: row[ours]}, {ours: row[theirs]}, [ours], _who(row))
        before = row


def _beside(names: list[str]) -> Iterator[tuple[str, str]]:
    """The columns of the paper, each with that of ours."""
    for i, name in enumerate(names):
        if name == PAPER and i:
            yield name, names[i - 1]
        elif name.startswith(f"{PAPER} ") and name.removeprefix(f"{PAPER} ") in names:
            yield name, name.removeprefix(f"{PAPER} ")
        elif name.endswith(f", {PAPER}") and name.removesuffix(f", {PAPER}") in names:
            yield name, name.removesuffix(f", {PAPER}")


def _who(row: dict[str, str]) -> str:
    return row.get("network", row.get("model", ""))


def _found(ours: dict[str, str], theirs: dict[str, str], names: Sequence[str], who: str) -> Iterator[Pair]:
    for name in names:
        mine, printed = value_of(ours.get(name, "")), value_of(theirs.get(name, ""))
        if mine is not None and printed is not None and name not in ("steps", "seeds"):
            yield mine, printed, who


# --- the page


def chapters(found: Sequence[Count], notes: Sequence[str | Table] = ()) -> Iterator[Chapter]:
    papers = dict.fromkeys(one.entry.paper for one in found)
    yield Chapter("All papers", (total_table(found), *notes))
    for paper in papers:
        yield Chapter(paper, (_table(paper, [one for one in found if one.entry.paper == paper]),))


NUMBERS = ("values", "ours beside", "within noise", "explained", "unexplained", "missing")


def _numbers(found: Sequence[Count]) -> tuple[int, ...]:
    return tuple(
        sum(getattr(one, name) for one in found)
        for name in ("own", "beside", "within", "explained", "unexplained", "missing")
    )


def total_table(found: Sequence[Count]) -> Table:
    papers = dict.fromkeys(one.entry.paper for one in found)
    by_paper = [[one for one in found if one.entry.paper == paper] for paper in papers]
    rows: list[tuple[Cell, ...]] = [(paper, len(some), *_numbers(some)) for paper, some in zip(papers, by_paper)]
    columns = (Column("paper"), Column("tables and figures", "right"), *(Column(name, "right") for name in NUMBERS))
    note = (
        "Values that a paper repeats from another of its tables or figures are counted once. Within noise: no farther "
        "apart than the 95 % half-widths of both together; twice the printed standard deviation is the paper's."
    )
    return Table("All papers", columns, (*rows, ("all", len(found), *_numbers(found))), note)


def _table(paper: str, found: Sequence[Count]) -> Table:
    columns = (
        Column("item"),
        Column("what"),
        *(Column(name, "right") for name in NUMBERS),
        Column("where", prose=True),
        Column("why", prose=True),
    )
    return Table(paper, columns, tuple(_row(one) for one in found))


def _row(one: Count) -> tuple[Cell, ...]:
    entry = one.entry
    if entry.same_as:
        said = f"the same values as {entry.same_as}"
        return (entry.item, entry.what, entry.values, *[None] * 5, _link(one.page), said)
    why = [entry.explained] if one.explained else []
    why += [f"Not known why: {', '.join(entry.unknown) or ALL}."] if one.unexplained else []
    why += [entry.missing] if one.missing else []
    return (entry.item, entry.what, *_numbers([one]), _link(one.page), " ".join(why) or None)


def _link(page: str) -> Cell:
    return f"[{re.sub(r'.*/', '', page)}]({page})" if page else None
