"""`recombine rows`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.verbs import Answer, Open
from recombine.verbs.make import teller


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
    text = f"{folder} was made before" if told and told[-1].endswith("already") else f"wrote rows of {what} to {folder}"
    return Answer((text,), {"folder": str(folder)})
