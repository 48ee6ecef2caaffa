"""`recombine report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.report.document import ENDINGS
from recombine.store.outputs import free_file
from recombine.verbs import Answer, Open


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    out: Annotated[Path, "The page (.html), or Markdown with figures (.md)."] = Path("report.html"),
) -> Answer:
    free_file(out, ENDINGS)
    with open() as study:
        file = study.report(out, **asked)
    return Answer((f"wrote {file}",), {"file": str(file)})
