"""`recombine rows`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.verbs import Answer, Open
from recombine.verbs.make import teller, told_of


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    out: Annotated[Path, "A new folder for the files."] = Path("rows"),
) -> Answer:
    told: list[str] = []
    with open() as study:
        folder = study.export(out, **asked, tell=teller(told))
    return told_of(folder, told, f"wrote rows of {what} to {folder}")
