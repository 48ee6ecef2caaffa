"""`recombine check`."""

from collections.abc import Mapping
from typing import Annotated, Any

from recombine.report.table import Column, Table
from recombine.store.store import Store
from recombine.verbs import Answer, Open


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    store: Annotated[bool, "Also verify every byte of the store."] = False,
    details: Annotated[bool, "Show every row, not only what fails."] = False,
) -> Answer:
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


def _total(table: Table, fine: bool) -> str:
    verdicts = [row[-1] for row in table.rows if row[-1] == "holds" or str(row[-1]).startswith("broken")]
    if len(verdicts) == len(table.rows):
        return f"{table.title}: {verdicts.count('holds')} of {len(verdicts)} hold"
    return f"{table.title}: {'everything agrees' if fine else 'something differs'}. {table.note}"
