"""What the results pages of all networks share: figures in files of their own, and notes that people have written."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recombine.report.figures import stand_alone
from recombine.store.store import write_atomically


@dataclass(frozen=True)
class Figure:
    """A drawing with the name of its file and its caption."""

    name: str
    caption: str
    svg: str


def notes_of(file: Path) -> list[str]:
    """The paragraphs and tables that people wrote for a page, in `notes/` beside it: PAGE.md, then PAGE-*.md."""
    folder = file.parent / "notes"
    found = [folder / f"{file.stem}.md", *sorted(folder.glob(f"{file.stem}-*.md"))]
    texts = [one.read_text(encoding="utf-8") for one in found if one.is_file()]
    return [block.strip() for text in texts for block in text.split("\n\n") if block.strip()]


def drawn(figures: Iterable[Figure], file: Path) -> Iterator[str]:
    """Figures in the folder of a page, and what the page says of them."""
    folder = file.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        _write(folder / f"{figure.name}.svg", stand_alone(figure.svg))
        yield from (f"![{figure.caption}]({folder.name}/{figure.name}.svg)", figure.caption)


def write_markdown(file: Path, parts: Sequence[str]) -> None:
    _write(file, "\n\n".join(parts) + "\n")


def _write(file: Path, text: str) -> None:
    write_atomically(file, lambda draft: draft.write_text(text, encoding="utf-8"))
