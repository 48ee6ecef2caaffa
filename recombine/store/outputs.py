"""Files and folders that people asked for: refused before any work where they cannot be written, whole or not there."""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from recombine.store.cards import About, check_card, write_cards
from recombine.store.errors import UserError
from recombine.store.paths import remove, within
from recombine.store.recipe import Recipe
from recombine.store.room import nearest_folder, need_room
from recombine.store.store import RECIPE
from recombine.store.untrusted import read_json
from recombine.store.writing import (
    PART,
    drafts_of,
    folder_of,
    refuse_busy,
    refuse_taken,
    tidy,
    write_atomically,
    write_text,
    writing,
)

__all__ = ["disk_of", "draft_of", "export", "free_file", "free_folder", "write_bytes", "write_text"]


Dress = Callable[[str, Path], Callable[[Path], object] | None]
"""By the name of an artefact and a file of it, what writes the file for others; nothing where it is copied."""


def positive(**numbers: int | None) -> None:
    """Refuse numbers below one."""
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise UserError(f"{name} must be at least 1, not {number}")


def free_folder(out: str | Path | None) -> None:
    """Refuse a folder that is taken, being written or cannot be made.

    What a kill at the very end has left beside it goes.
    """
    if out is None:
        return
    try:
        refuse_taken(Path(out))
    except UserError:
        tidy(Path(out))
        raise
    refuse_busy(Path(out))
    _can_be_written(Path(out).absolute().parent)


def place_for(out: str | Path) -> Path:
    """Refuse, before any work is done, a folder that cannot be made; one with a recipe may hold just this already."""
    if not (Path(out) / RECIPE).is_file():
        free_folder(out)
    return Path(out)


def free_file(out: str | Path, endings: Collection[str]) -> Path:
    """Refuse a file that cannot be written, before any work is done."""
    out = Path(out)
    if out.suffix not in endings:
        raise UserError(f"{out}: choose an ending that can be written: {' or '.join(endings)}")
    if out.is_dir():
        raise UserError(f"{out} is a folder; choose the name of a file")
    refuse_busy(out)
    _can_be_written(out.parent)
    return out


def folder_for_runs(out: str | Path) -> Path:
    """Refuse an `out` in which no folders can be made, before any work is done."""
    _can_be_written(Path(out))
    return Path(out)


def _can_be_written(folder: Path) -> None:
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise UserError(f"{there} is a file, not a folder; choose another place")
    try:  # permissions alone do not tell: a disk may be read-only, and some folders take no files from anybody
        _try_to_write(there)
    except OSError:
        raise UserError(f"{there} cannot be written to; choose another place, or mend the permissions") from None


def _try_to_write(folder: Path) -> None:
    """Make a file that has no name, which no kill leaves behind; one with a name where the disk knows no such files."""
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o600))
    except (AttributeError, OSError):
        probe = folder / f"{PART}{secrets.token_hex(8)}"
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        probe.unlink()


def write_bytes(file: Path, content: bytes) -> None:
    write_atomically(file, lambda draft: draft.write_bytes(content))


def write_file(file: Path, content: str | bytes) -> None:
    """A file that people asked for, and its folder."""
    with folder_of(file):
        write_bytes(file, content if isinstance(content, bytes) else content.encode())


def draft_of(out: Path) -> Path:
    """Where a folder was made when that was stopped; where nothing is left of it, the folder."""
    return [out, *drafts_of(out.absolute())][-1]


disk_of = nearest_folder


def holds(out: Path, made: Mapping[str, Any], about: About | None = None) -> bool:
    """Whether a folder was made from this already; one that holds anything else is refused, and an edited card."""
    file = out / RECIPE
    if file.is_file() and _made(file) == _plainly(made):
        if about is not None:
            check_card(out, about)
        tidy(out)
        return True
    free_folder(out)
    return False


def _made(file: Path) -> Any:
    """What decided a folder, by its recipe; nothing where that cannot be read."""
    try:
        return read_json(file)["parameters"]["made"]
    except (UserError, KeyError, TypeError):
        return None


def _plainly(made: Mapping[str, Any]) -> Any:
    """As a recipe writes it."""
    return json.loads(Recipe("made", 1, {"made": made}, {}).canonical())["parameters"]["made"]


def export(
    found: Mapping[str, Path],
    out: Path,
    keep: Collection[str] = (),
    add: Callable[[Path], None] | None = None,
    about: About | None = None,
    dress: Dress | None = None,
) -> Path:
    """Copy artefacts into a folder, all or nothing.

    `add` puts more into the draft of the folder; what a stopped try has left under the names of `keep` is still there.
    `dress` may write a file as others should see it. `about` is what the cards of the folder say.
    """
    files = [(name, file) for name, folder in found.items() for file in _exported(folder)]
    size = sum(file.stat().st_size for _, file in files)
    need_room(out, size, f"a copy of the files in {out}", "choose another place")
    names = {name.partition("/")[0] for name in keep}
    with writing(out, again=bool(keep)) as draft:
        for stale in [path for path in draft.iterdir() if path.name not in names]:
            remove(stale, draft)
        if add:
            add(draft)
        for name, file in files:
            folder = within(draft, *name.split("/"))
            folder.mkdir(parents=True, exist_ok=True)
            write = dress(name, file) if dress else None
            write_atomically(folder / file.name, write or partial(shutil.copy2, file))
        if about is not None:
            write_cards(draft, about)
    return out


def _exported(folder: Path) -> list[Path]:
    """The files of an artefact that others read."""
    return sorted(file for file in folder.iterdir() if file.suffix in (".parquet", ".tar"))
