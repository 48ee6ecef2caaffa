"""`recombine export`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine import benchmarks
from recombine.store.errors import UserError
from recombine.store.outputs import free_folder
from recombine.verbs import Answer, Open


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    benchmark: Annotated[str, "A benchmark, such as closure."],
    *,
    out: Annotated[Path, "A new folder for the files."] = Path("export"),
) -> Answer:
    from recombine.benchmarks.row_export import stream
    from recombine.harness.exports import TOOLS, Made, export

    if what not in TOOLS:
        raise UserError(f"there is no tool '{what}'; choose one of {', '.join(TOOLS)}")
    known = benchmarks.get(benchmark)
    free_folder(out)
    rows = {**asked, "render": asked.get("render") or "images"}
    with open() as study:
        told = {**study.settings, **{name: value for name, value in rows.items() if value}}
        told = {name: value for name, value in told.items() if name != "seed"}
        made = stream(study.asked_rows(**rows), out=None if what == "verifiers" else out)
        count = export(what, made, out, Made(known, out, told, study.seed))
    wrote = f"wrote {count:,} rows of {benchmark}" if what != "verifiers" else f"wrote a taskset of {benchmark}"
    return Answer((f"{wrote} for {what} to {out}",), {"folder": str(out), "rows": count})
