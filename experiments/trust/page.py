"""The page of what attacks found: docs/results/trust.md, from the figures that `fuzz` and `kills` keep beside it."""

import json
import platform
from pathlib import Path
from typing import Any

from recombine.report.table import Column, Table
from recombine.store.outputs import write_text

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FUZZ, KILLS = (RESULTS / "trust" / f"{name}.json" for name in ("fuzz", "kills"))


def keep(file: Path, rows: list[dict[str, Any]]) -> None:
    """Keep figures, with where they were measured."""
    file.parent.mkdir(parents=True, exist_ok=True)
    about = {"python": platform.python_version(), "system": platform.system(), "rows": rows}
    write_text(file, json.dumps(about, indent=1) + "\n")


def rows_of(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text())["rows"] if file.exists() else []


def fuzz_table(rows: list[dict[str, Any]]) -> Table:
    names = ("inputs", "refused", "tracebacks", "hangs", "slowest, s", "memory, MB")
    cells = tuple(
        (r["reader"], r["inputs"], r["refused"], r["tracebacks"], r["hangs"], r["slowest"], round(r["memory"] / 1e6))
        for r in rows
    )
    total = [sum(row[column] for row in cells) for column in range(1, 5)]
    worst = [max(row[column] for row in cells) for column in (5, 6)]
    columns = (Column("what is read"), *(Column(name, "right", ".2f") for name in names))
    note = (
        "Refused: in one sentence that holds no control characters; the others were read. A hang is over 2 s of CPU "
        "time. Memory is the most that the whole process held, with Python, NumPy and what it imports; the slowest "
        "input includes what the system had other processes do."
    )
    return Table("Mutated inputs", columns, (*cells, ("all", *total, *worst)), note)


def _how(row: dict[str, Any]) -> str:
    """At how many of its operations a command was killed."""
    many, tried = row["operations"], row["tried"]
    if row["way"] == "moments":
        return "a worker and the whole group in turn, at random moments"
    if row["way"] == "workers":
        return f"a worker, the whole group and the first process alone in turn, at {tried:,} operations of two workers"
    if row["way"] == "pairs":
        return "twice, at every pair" if tried == many**2 else f"twice, at {tried:,} of {many**2:,} pairs"
    return "at every file operation" if tried == many else f"at {tried:,} of {many:,} file operations"


def kills_table(rows: list[dict[str, Any]]) -> Table:
    names = ("file operations", "kills", "lost or mixed", "left behind")
    cells = tuple((r["command"], _how(r), *(r[n] for n in ("operations", "kills", "wrong", "litter"))) for r in rows)
    total = [sum(row[column] or 0 for row in cells) for column in range(2, 6)]
    columns = (Column("command"), Column("killed"), *(Column(name, "right") for name in names))
    note = (
        "After every kill the same command is run again; what it leaves must be, byte for byte, what an undisturbed "
        "run leaves. Left behind: drafts, half-written files and locks that are still there afterwards."
    )
    return Table("Kills", columns, (*cells, ("all", "", *total)), note)


INTRO = """\
# Trust: what attacks find

`make fuzz` changes good files at random, in bytes and in structure, and hands them to everything that reads files or
words; `make kills` kills commands while they write. Both are scripts in `experiments/trust`; `tests/test_fuzz.py` and
`tests/test_kills.py` are short versions of them. What is promised is in [SECURITY.md](../../SECURITY.md).

Figures are kept reader by reader and command by command, by the scripts alone. A reader or a command in which something
was found was mended and run again from its beginning. Where fewer operations were tried than there are, the table says
how many; they are taken in a mixed order, and the same command goes on with the next."""


def write_page() -> None:
    """The page, from whatever was measured so far."""
    tables = [make(rows_of(file)) for make, file in ((fuzz_table, FUZZ), (kills_table, KILLS)) if rows_of(file)]
    write_text(RESULTS / "trust.md", "\n\n".join([INTRO, *(table.markdown() for table in tables)]) + "\n")
