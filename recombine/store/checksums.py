"""Checksums of what is being made: a draft that was interrupted is looked at before anyone builds on it.

Beside a draft, in a folder of its name with `.sums`, lies a *note* for every part that was written: the checksums of
regions of files, one per line. A part is a file as a rule; of a table that many fill, it is one block in several files.
The first file of a note is the one whose presence says that the part is done.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

from recombine.store.errors import UserError
from recombine.store.paths import remove
from recombine.store.untrusted import read_text

SUMS = ".sums"
CHUNK = 2**20


class Region(NamedTuple):
    """Some bytes of a file, which is named as its draft sees it."""

    name: str
    checksum: str
    start: int = 0
    end: int | None = None
    """The end of the file where nothing is said."""


def checksum(file: Path, start: int = 0, end: int | None = None) -> str:
    """32 hexadecimal digits for the bytes of a file, or of a region of it."""
    with file.open("rb") as content:
        if end is None and not start:
            return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        digest, left = hashlib.blake2b(digest_size=16), None if end is None else end - start
        content.seek(start)
        while piece := content.read(CHUNK if left is None else min(CHUNK, left)):
            digest.update(piece)
            left = None if left is None else left - len(piece)
        return digest.hexdigest()


def sums_of(draft: Path) -> Path:
    """Where the notes about a draft are."""
    return draft.with_name(draft.name + SUMS)


def draft_around(file: Path) -> Path | None:
    """The draft that a file belongs to, if it belongs to one."""
    return next((folder for folder in file.parents[:4] if folder.name and sums_of(folder).is_dir()), None)


def region(draft: Path, file: Path, start: int = 0, end: int | None = None) -> Region:
    """The region of a file of a draft as it is now."""
    return Region(str(file.relative_to(draft)), checksum(file, start, end), start, end)


def note(draft: Path, *regions: Region) -> None:
    """Keep what the bytes of a part are; the note has the name of the first file."""
    lines = [f"{r.checksum} {r.start} {'' if r.end is None else r.end} {r.name}\n" for r in regions]
    # A note that is cut off does not hold, so it need not be written in one step.
    (sums_of(draft) / regions[0].name.replace("/", "&")).write_text("".join(lines), encoding="utf-8")


def damaged(draft: Path) -> list[str]:
    """The parts of a draft that are there, but not as they were written."""
    return _damaged(draft, _notes(draft))


def mend(draft: Path) -> list[str]:
    """Remove what is not as it was written, and what nobody knows; the names of what was damaged."""
    notes = _notes(draft)
    bad, known = _damaged(draft, notes), {name for names, sound in notes if sound for name in names}
    for file in sorted(draft.rglob("*")):
        name = str(file.relative_to(draft))
        if file.is_symlink() or (file.is_file() and (name in bad or name not in known)):
            remove(file, draft)
    return bad


def _damaged(draft: Path, notes: list[tuple[list[str], bool]]) -> list[str]:
    there = _files(draft)
    return [names[0] for names, sound in notes if names and not sound and names[0] in there]


def _notes(draft: Path) -> list[tuple[list[str], bool]]:
    """The files of every note, and whether it holds."""
    found, there = [], _files(draft)
    for file in sorted(sums_of(draft).iterdir()) if sums_of(draft).is_dir() else []:
        try:
            *lines, end = read_text(file).split("\n")
        except UserError:  # then it says nothing
            continue
        sound = end == "" and all(_holds(draft, line, there) for line in lines)
        found.append(([line.split(" ", 3)[-1] for line in lines], sound))
    return found


def _files(draft: Path) -> set[str]:
    """The files of a draft: a note may name anything else, too."""
    return {str(file.relative_to(draft)) for file in draft.rglob("*") if file.is_file() and not file.is_symlink()}


def _holds(draft: Path, line: str, there: set[str]) -> bool:
    try:
        wanted, start, end, name = line.split(" ", 3)
        return name in there and checksum(draft / name, int(start), int(end) if end else None) == wanted
    except (ValueError, OSError, UserError):
        return False
