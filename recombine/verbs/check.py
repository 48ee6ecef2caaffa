"""`recombine check`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.report.table import Table
from recombine.store.errors import UserError
from recombine.store.store import Store
from recombine.verbs import Answer, Open
from recombine.verbs.store import verified


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
    lines, damaged = verified(Store.default()) if store else ([], [])
    shown = (_total(table, fine), *lines, *([table] if table.rows and (details or not fine) else []))
    return Answer(shown, [*table.json(), *damaged], code=0 if fine and not damaged else 1)


def _certified(folder: Path, open: Open) -> Answer:
    from recombine.benchmarks.fresh import CERTIFICATE, certificate_of, changed, order_in

    found, said = changed(folder, open), certificate_of(folder)
    order = order_in(said, folder / CERTIFICATE)
    fine = f"{folder}: everything is as the seed gives it: {order.command()}"
    data = {"folder": str(folder), "fine": found is None, "changed": found, "digest": said.get("digest")}
    return Answer((found or fine,), data, code=0 if found is None else 1)


def _total(table: Table, fine: bool) -> str:
    verdicts = [row[-1] for row in table.rows if row[-1] == "holds" or str(row[-1]).startswith("broken")]
    if len(verdicts) == len(table.rows):
        return f"{table.title}: {verdicts.count('holds')} of {len(verdicts)} hold"
    return f"{table.title}: {'everything agrees' if fine else 'something differs'}. {table.note}"
