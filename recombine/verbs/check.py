"""`recombine check`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.report.table import Column, Table
from recombine.store.errors import UserError
from recombine.store.store import Store
from recombine.verbs import Answer, Open


def run(
    what: str | None,
    open: Open,
    asked: Mapping[str, Any],
    *,
    certificate: Annotated[Path | None, "The folder of a fresh test: make it again from its seed and compare."] = None,
    store: Annotated[bool, "Also verify every byte of the store."] = False,
    details: Annotated[bool, "Show every row, not only what fails."] = False,
) -> Answer:
    if certificate is not None:
        return _certified(certificate, open)
    if what is None:
        raise UserError("say what to check: a benchmark such as curi, or --certificate FOLDER")
    with open() as study:
        table, fine = study.check(**asked)
    tables, notes = [table], [_total(table, fine)]
    if store:
        home, damaged = Store.default().home, Store.default().verify()
        rows = tuple((f"{folder / file}", problem) for folder, file, problem in damaged)
        tables.append(Table("Damaged files", (Column("file"), Column("verdict", keep=True)), rows))
        notes.append(f"{home}: {f'{len(rows)} files are damaged' if rows else 'every byte is as it was written'}")
        fine = fine and not damaged
    shown = (*notes, *(one for one in tables if one.rows and (details or not fine)))
    return Answer(shown, [row for one in tables for row in one.json()], code=0 if fine else 1)


def _certified(folder: Path, open: Open) -> Answer:
    from recombine.benchmarks.fresh import certificate_of, changed

    found = changed(folder, open)
    said = certificate_of(folder)
    fine = f"{folder}: everything is as the seed gives it: {said['command']}"
    data = {"folder": str(folder), "fine": found is None, "changed": found, "digest": said.get("digest")}
    return Answer((found or fine,), data, code=0 if found is None else 1)


def _total(table: Table, fine: bool) -> str:
    verdicts = [row[-1] for row in table.rows if row[-1] == "holds" or str(row[-1]).startswith("broken")]
    if len(verdicts) == len(table.rows):
        return f"{table.title}: {verdicts.count('holds')} of {len(verdicts)} hold"
    return f"{table.title}: {'everything agrees' if fine else 'something differs'}. {table.note}"
