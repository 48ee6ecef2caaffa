"""`recombine store`: what the store holds, whether it is whole, and what of it may go."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from recombine.report.table import Column, Table
from recombine.store.durations import time_of
from recombine.store.errors import UserError
from recombine.store.house import kept, prune, sweep
from recombine.store.room import size_text
from recombine.store.store import Store
from recombine.verbs import Answer

TIMES = {"min": 60, "h": 3600, "d": 86_400}
SIZES = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
ACTIONS = ("list", "verify", "prune", "sweep")


def run(
    what: None,
    asked: Mapping[str, Any],
    progress: Any,
    action: Annotated[str, "list, verify, prune (artefacts) or sweep (dead drafts and locks)."] = "list",
    *,
    older: Annotated[str | None, "prune: what is older than this, such as 12h or 30d."] = None,
    to: Annotated[str | None, "prune: the oldest, until the store has at most this size, such as 10GB."] = None,
    recipe: Annotated[str | None, "prune: what has these words in its recipe, such as curi or seed=3."] = None,
    do: Annotated[bool, "Really remove it; without this, only say what would go."] = False,
) -> Answer:
    store = Store.default()
    if action not in ACTIONS:
        raise UserError(f"the store cannot {action}; choose one of {', '.join(ACTIONS)}")
    if action != "prune" and (older or to or recipe):
        raise UserError("--older, --to and --recipe are for prune: recombine store prune --older 30d")
    if action == "verify":
        lines, records = verified(store)
        return Answer(tuple(lines), records, code=1 if records else 0)
    if action == "sweep":
        litter = sweep(store, dry=not do)
        swept = tuple((str(one.path), one.what, size_text(one.size)) for one in litter)
        heads = (Column("path"), Column("what"), Column("size", "right", keep=True))
        return _told(Table(f"Litter in {store.home}", heads, swept), do)
    if action == "prune":
        found = prune(store, _number(older, TIMES), _whole(_number(to, SIZES)), recipe, dry=not do)
    else:
        found = kept(store)
    cells = tuple((one.stage, size_text(one.size), time_of(one.age), one.recipe, one.folder.name) for one in found)
    columns = (Column("stage"), Column("size", "right", keep=True), Column("age", "right", keep=True))
    total = f"{len(found)} artefacts, {size_text(sum(one.size for one in found))}"
    table = Table(f"{store.home}: {total}", (*columns, Column("recipe"), Column("digest")), cells)
    return _told(table, do) if action == "prune" else Answer((table,), table.json())


def verified(store: Store) -> tuple[list[str], list[dict[str, str]]]:
    """Whether every byte is as it was written, in lines that any terminal has room for, and what is damaged."""
    damaged = [{"file": str(folder / file), "verdict": problem} for folder, file, problem in store.verify()]
    many = f"{len(damaged)} {'file is' if len(damaged) == 1 else 'files are'} damaged"
    verdict = f"{store.home}: {many if damaged else 'every byte is as it was written'}"
    return [verdict, *(f"{one['file']} {one['verdict']}" for one in damaged)], damaged


def _told(table: Table, done: bool) -> Answer:
    note = "Removed." if done else "Nothing was removed; --do removes it."
    return Answer((table,), table.json(), (note if table.rows else "There is nothing to remove.",))


def _number(text: str | None, units: Mapping[str, float]) -> float | None:
    """A number with a unit, such as 30d or 10GB."""
    if text is None:
        return None
    found = re.fullmatch(rf"(\d{{1,9}}(?:\.\d+)?)\s*({'|'.join(units)})", text.strip())
    if not found:
        raise UserError(f"'{text}' is no number with a unit; write for example 3{[*units][-1]}")
    return float(found.group(1)) * units[found.group(2)]


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
