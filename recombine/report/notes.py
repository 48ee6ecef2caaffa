"""Notes that people wrote for a page, in `notes/` beside it."""

import re
from pathlib import Path

from recombine.report.table import Column, Table


def notes_of(file: Path) -> list[str | Table]:
    """The paragraphs and tables of notes/PAGE.md, then of notes/PAGE-*.md; for a page without their marks."""
    folder = file.parent / "notes"
    found = [folder / f"{file.stem}.md", *sorted(folder.glob(f"{file.stem}-*.md"))]
    texts = [one.read_text(encoding="utf-8") for one in found if one.is_file()]
    blocks = [block.strip() for text in texts for block in text.split("\n\n") if block.strip()]
    return list(map(_plain, blocks)) if file.suffix == ".html" else [*blocks]


def _plain(block: str) -> str | Table:
    """A block of Markdown as a table, or as text alone."""
    lines = block.splitlines()
    if not block.startswith("|"):
        return re.sub(r"\*\*|`|\[([^]]*)\]\([^)]*\)", r"\1", " ".join(lines))
    names, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines)
    return Table("", tuple(map(Column, names)), tuple(map(tuple, rows)))
