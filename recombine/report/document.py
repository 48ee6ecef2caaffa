"""Documents: what a report says, once, as a self-contained page or as Markdown with its figures beside it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from recombine.report.figures import PHONE, WIDTH, stand_alone
from recombine.report.page import Section, chart, page, paragraph
from recombine.report.table import Table
from recombine.store.outputs import free_file, write_bytes, write_text
from recombine.store.paths import within
from recombine.store.text import markdown
from recombine.store.writing import writing_page

ENDINGS = (".html", ".md")


@dataclass(frozen=True)
class Figure:
    """A drawing with the name of its file and its caption."""

    name: str
    caption: str
    svg: str
    narrow: str = ""
    """The same for a phone, where letters would become too small."""

    @classmethod
    def drawn(cls, name: str, caption: str, draw: Callable[..., str]) -> "Figure":
        """A chart that takes its width, drawn twice."""
        return cls(name, caption, draw(width=WIDTH), draw(width=PHONE))


@dataclass(frozen=True)
class Picture:
    """A picture (PNG or SVG) for the Markdown; pages show it in a card."""

    name: str
    caption: str
    content: bytes | str


@dataclass(frozen=True)
class Card:
    """HTML for the page only."""

    html: str


Item = str | Table | Figure | Picture | Card


@dataclass(frozen=True)
class Chapter:
    """A part of a document."""

    title: str
    items: tuple[Item, ...]
    intro: str = ""


def write_document(out: str | Path, title: str, intro: str, chapters: Iterable[Chapter]) -> Path:
    """Write a document as the ending of the file says."""
    file = free_file(out, ENDINGS)
    with writing_page(file) as draft:
        chapters = list(chapters)
        if file.suffix == ".html":
            write_text(draft, page(title, [section_of(chapter) for chapter in chapters], intro))
        else:
            write_text(draft, "\n\n".join([f"# {markdown(title)}", intro, *_markdown(chapters, draft)]) + "\n")
    return file


def section_of(chapter: Chapter, folded: bool = False) -> Section:
    """A chapter as a part of a page."""
    return Section(chapter.title, "".join(map(_html, chapter.items)), chapter.intro, folded)


def _html(item: Item) -> str:
    if isinstance(item, str):
        return paragraph(item)
    if isinstance(item, Figure):
        return chart(item.svg, item.caption, item.narrow)
    if isinstance(item, Picture):
        return ""
    return item.html if isinstance(item, Card) else item.html()


def _markdown(chapters: Sequence[Chapter], file: Path) -> Iterable[str]:
    for chapter in chapters:
        said = [text for item in chapter.items for text in _said(item, file.with_suffix(""))]
        if said:
            yield from (f"## {markdown(chapter.title)}", *([chapter.intro] if chapter.intro else []), *said)


def _said(item: Item, folder: Path) -> list[str]:
    """What Markdown says of an item; its file is written into the folder."""
    if isinstance(item, Card):
        return []
    if isinstance(item, str):
        return [item]
    if isinstance(item, Table):
        return [item.markdown()]
    folder.mkdir(parents=True, exist_ok=True)
    content = item.svg if isinstance(item, Figure) else item.content
    if isinstance(content, str):
        name = f"{item.name}.svg"
        write_text(within(folder, name), stand_alone(content))
    else:
        name = f"{item.name}.png"
        write_bytes(within(folder, name), content)
    return [f"![{markdown(item.caption)}]({quote(folder.name)}/{quote(name, safe='/+')})"]
