"""Notes that people wrote for a page, in `notes/` beside it."""

import re
from pathlib import Path

from recombine.report.table import Column, Table
from recombine.store.untrusted import read_text


def notes_of(file: Path) -> list[str | Table]:
    """The paragraphs and tables of notes/PAGE.md, then of notes/PAGE-*.md; for a page without their marks."""
    folder = file.parent / "notes"
    found = [folder / f"{file.stem}.md", *sorted(folder.glob(f"{file.stem}-*.md"))]
    texts = [read_text(one, advice="mend it or move it away") for one in found if one.is_file()]
    blocks = [block.strip() for text in texts for block in text.split("\n\n") if block.strip()]
    return list(map(_plain, blocks)) if file.suffix == ".html" else [*blocks]


def _plain(block: str) -> str | Table:
    """A block of Markdown as a table, or as text alone."""
    lines = block.splitlines()
    if not block.startswith("|"):
        return re.sub(r"\*\*|`|\[([^]]*)\]\([^)]*\)", r"\1", " ".join(lines))
    names, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in (lines[0], *lines[2:]))
    even = ((*row, *[""] * len(names))[: len(names)] for row in rows)  # as Markdown shows a row that is too short
    return Table("", tuple(map(Column, names)), tuple(even))
