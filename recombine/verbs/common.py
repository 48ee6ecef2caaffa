"""What the verbs of all benchmarks share."""

import shutil
import time
from pathlib import Path
from typing import Any

from recombine.report.table import Column, Table
from recombine.store.errors import UserError


class Clock:
    """Times the stages of a long run."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    def time(self, what: str, run: Any) -> Any:
        start = time.monotonic()
        result = run()
        self.rows.append((what, time.monotonic() - start))
        return result

    def table(self, total: float) -> Table:
        columns = (Column("stage"), Column("seconds", "right"))
        note = "Wall time of this run; a stage that the store already had costs nothing."
        return Table("Times", columns, (*self.rows, ("everything", total)), note)


def positive(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise UserError(f"--{name} must be at least 1, not {number}")


def export(found: dict[str, Path], out: Path) -> Path:
    """Copy artefacts into a folder, all or nothing."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} exists and is not empty; choose another --out or remove it")
    draft = out.with_name(f".{out.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    for name, folder in found.items():
        target = draft / name
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(folder.glob("*.parquet")):
            shutil.copy2(file, target / file.name)
    if out.exists():
        out.rmdir()
    draft.rename(out)
    return out
