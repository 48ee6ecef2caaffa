"""Tables: one value, shown as HTML, Markdown, in the terminal, or as JSON.

>>> table = Table("Scores", (Column("split"), Column("mAP", "right")), (("Counting", Interval(98.5, 97.9, 99.0)),))
>>> print(table.markdown())
**Scores**
<BLANKLINE>
| split | mAP |
| :--- | ---: |
| Counting | 98.5 [97.9, 99.0] |
"""

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Literal

from rich.table import Table as RichTable
from rich.text import Text

from recombine.metrics.intervals import Interval

Cell = str | int | float | Interval | None


@dataclass(frozen=True)
class Column:
    """The name of a column, and how its cells are written; `format` is for numbers that are not whole."""

    name: str
    align: Literal["left", "right"] = "left"
    format: str = ".1f"

    def text(self, cell: Cell) -> str:
        """A cell as every renderer shows it."""
        if cell is None:
            return "–"
        if isinstance(cell, str | bool):
            return str(cell)
        if isinstance(cell, int):
            return f"{cell:,}"
        return cell.text(self.format) if isinstance(cell, Interval) else f"{cell:{self.format}}"


@dataclass(frozen=True)
class Table:
    """Rows under named columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"'{self.title}' has {len(self.columns)} columns, but a row has {len(row)} cells: {row}"
                )

    def texts(self) -> list[list[str]]:
        """The cells as every renderer shows them."""
        return [[column.text(cell) for column, cell in zip(self.columns, row)] for row in self.rows]

    def html(self) -> str:
        """A table in a box that scrolls by itself when it is too wide."""
        head = "".join(f'<th scope="col"{_right(c)}>{escape(c.name)}</th>' for c in self.columns)
        body = "".join(f"<tr>{self._html_row(row)}</tr>" for row in self.texts())
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        title = f"<figcaption>{escape(self.title)}</figcaption>" if self.title else ""
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        box = f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title)}">{table}</div>'
        return f'<figure class="table">{title}{box}{note}</figure>'

    def _html_row(self, texts: list[str]) -> str:
        return "".join(f"<td{_right(column)}>{escape(text)}</td>" for column, text in zip(self.columns, texts))

    def markdown(self) -> str:
        rule = [{"left": ":---", "right": "---:"}[column.align] for column in self.columns]
        names = [_markdown(column.name) for column in self.columns]
        rows = [[_markdown(text) for text in row] for row in self.texts()]
        lines = [f"| {' | '.join(line)} |" for line in (names, rule, *rows)]
        parts = (f"**{self.title}**" if self.title else "", "\n".join(lines), self.note)
        return "\n\n".join(part for part in parts if part)

    def without_what_all_share(self, *names: str) -> "Table":
        """Without those of these columns that have the same cell in every row; the note tells of them.

        >>> table = Table("", (Column("network"), Column("steps", "right")), (("a", 5000), ("b", 5000)))
        >>> table.without_what_all_share("steps").note
        'All: steps 5,000.'
        """
        cells = dict(zip((column.name for column in self.columns), zip(*self.texts())))
        shared = [name for name in names if len(set(cells.get(name, ()))) == 1]
        keep = [place for place, column in enumerate(self.columns) if column.name not in shared]
        said = f"All: {', '.join(f'{name} {cells[name][0]}' for name in shared)}." if shared else ""
        return replace(
            self,
            columns=tuple(self.columns[place] for place in keep),
            rows=tuple(tuple(row[place] for place in keep) for row in self.rows),
            note=" ".join(filter(None, (said, self.note))),
        )

    def rich(self) -> RichTable:
        """For the terminal."""
        table = RichTable(title=Text(self.title), caption=Text(self.note) if self.note else None)
        for place, column in enumerate(self.columns):
            table.add_column(Text(column.name), justify=column.align, overflow="fold", no_wrap=place == 0)
        for row in self.texts():
            table.add_row(*map(Text, row))
        return table

    def json(self) -> list[dict[str, object]]:
        """One dictionary per row, with the numbers as they are."""
        return [{column.name: _plain(cell) for column, cell in zip(self.columns, row)} for row in self.rows]


def _right(column: Column) -> str:
    return ' class="right"' if column.align == "right" else ""


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _plain(cell: Cell) -> object:
    return asdict(cell) if isinstance(cell, Interval) else cell
