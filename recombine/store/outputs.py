"""What the verbs of all benchmarks share."""

import os
import shutil
import time
from collections.abc import Callable, Collection
from inspect import signature
from pathlib import Path
from typing import Any

from recombine.report.table import Column, Table
from recombine.store.errors import UserError


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; a 0 is one."""
    return {name: value for name, value in options.items() if value is not False and value not in (None, (), [], {})}


def call(benchmark: str, verb: Callable[..., Any], *words: Any, **options: Any) -> Any:
    """Call a verb, or say which option this benchmark does not have."""
    unknown = sorted(set(options) - set(signature(verb).parameters))
    if unknown:
        option = {"splits": "split", "sounds": "sound"}.get(unknown[0], unknown[0])
        raise UserError(f"{benchmark} has no option --{option} here")
    return verb(*words, **options)


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


def folder_for_runs(out: str | Path) -> Path:
    """Refuse an `out` in which no folders can be made, before any work is done."""
    out = Path(out)
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir():
        raise UserError(f"{there} is a file, not a folder; choose another --out")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{there} cannot be written to; choose another --out, or mend the permissions")
    return out


def draft_of(out: Path) -> Path:
    """Where a folder is while it is made."""
    return out.with_name(f".{out.name}.draft")


def disk_of(path: Path) -> Path:
    """The nearest folder that there is, to ask for its free room."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def export(
    found: dict[str, Path],
    out: Path,
    keep: Collection[str] = (),
    add: Callable[[Path], None] | None = None,
) -> Path:
    """Copy artefacts into a folder, all or nothing.

    `add` puts more into the draft of the folder; what a stopped try has left under the names of `keep` is still there.
    """
    free_folder(out)
    draft, names = draft_of(out), {name.partition("/")[0] for name in keep}
    files = [(name, file) for name, folder in found.items() for file in _exported(folder)]
    size = sum(file.stat().st_size for _, file in files)
    if size > shutil.disk_usage(disk_of(out)).free:
        raise UserError(
            f"the files take {size / 1e9:.1f} GB, more than there is room for at {out}; choose another --out"
        )
    draft.mkdir(parents=True, exist_ok=True)
    for stale in [path for path in draft.iterdir() if path.name not in names]:
        shutil.rmtree(stale) if stale.is_dir() else stale.unlink()
    if add:
        add(draft)
    for name, file in files:
        (draft / name).mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, draft / name / file.name)
    if out.exists():
        out.rmdir()
    draft.rename(out)
    return out


def _exported(folder: Path) -> list[Path]:
    """The files of an artefact that others read."""
    return sorted(file for file in folder.iterdir() if file.suffix in (".parquet", ".tar"))
