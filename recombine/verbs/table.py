"""`recombine table`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.report.document import ENDINGS
from recombine.store.outputs import free_file
from recombine.verbs import Answer, learners


def run(
    what: str,
    asked: Mapping[str, Any],
    progress: Any,
    runs: Annotated[Path, "The folder of the runs."] = Path("runs"),
    *,
    out: Annotated[Path | None, "Write a page with figures (.md or .html) instead."] = None,
    keep: Annotated[
        Path | None, "Keep what finished runs have written here, without weights, and show all there."
    ] = None,
) -> Answer:
    if out is not None:
        free_file(out, ENDINGS)
    if keep is not None:
        runs = learners.keep(what, runs, keep)
    if out is not None:
        file = learners.results_page(what, runs, out, progress=progress)
        return Answer(data={"file": str(file)}, notes=(f"wrote {file}",))
    tables = learners.table(what, runs, progress=progress)
    return Answer(tuple(learners.brief(table) for table in tables), [table.json() for table in tables])
