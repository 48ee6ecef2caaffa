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


def free_folder(out: str | Path | None) -> None:
    """Refuse an `out` that is taken, before any work is done."""
    if out is None:
        return
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} exists and is not empty; choose another --out or remove it")


def free_file(out: str | Path, endings: tuple[str, ...]) -> Path:
    """Refuse an `out` that cannot be written, before any work is done; make its folder."""
    out = Path(out)
    if out.suffix not in endings:
        raise UserError(f"{out}: choose an ending that can be written: {' or '.join(endings)}")
    if out.is_dir():
        raise UserError(f"{out} is a folder; choose the name of a file")
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def export(found: dict[str, Path], out: Path) -> Path:
    """Copy artefacts into a folder, all or nothing."""
    free_folder(out)
    draft = out.with_name(f".{out.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    size = sum(file.stat().st_size for folder in found.values() for file in folder.glob("*.parquet"))
    if size > shutil.disk_usage(draft).free:
        draft.rmdir()
        raise UserError(
            f"the files take {size / 1e9:.1f} GB, more than there is room for at {out}; choose another --out"
        )
    for name, folder in found.items():
        target = draft / name
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(folder.glob("*.parquet")):
            shutil.copy2(file, target / file.name)
    if out.exists():
        out.rmdir()
    draft.rename(out)
    return out
