"""`recombine split`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.report.table import Column, Table
from recombine.verbs import Answer, Open


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    out: Annotated[Path, "The file of the split, .json; give it to --split of any command."] = Path("split.json"),
) -> Answer:
    with open() as study:
        made = study.made_split(out, **asked)
        gaps = study.gap([str(out)])
    rows = tuple((name, f"{value:g}") for name, value in made.measured.items())
    table = Table(f"{made.name}: {made.how}", (Column("measure"), Column("value", "right")), rows)
    data = {"file": str(out), "how": made.how, "measured": dict(made.measured), "gap": gaps.json()}
    return Answer((table, *gaps.briefs()), data, (f"wrote {out}",))
