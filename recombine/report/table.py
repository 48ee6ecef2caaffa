"""Tables: one value, shown as HTML, Markdown, in the terminal, or as JSON.

>>> table = Table("Scores", (Column("split"), Column("mAP", "right")), (("Counting", Interval(98.5, 97.9, 99.0)),))
>>> print(table.markdown())
**Scores**
<BLANKLINE>
| split | mAP |
| :--- | ---: |
| Counting | 98.5 [97.9, 99.0] |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal

from rich.console import Console, ConsoleOptions
from rich.table import Table as RichTable
from rich.text import Text

from recombine.metrics.intervals import Interval
from recombine.store.errors import UserError
from recombine.store.text import markdown

Cell = str | int | float | Interval | None
KEY = 22
"""Letters of a first column that stays in sight while the others scroll."""
ROOM = {"essay": 160, "lines": 56, "words": 12}
"""Kinds of columns, by the letters that their longest cell has at least."""
WORD = re.compile(r"\(?(?:≤ )?-?[\d,.]+ (?:± [\d.]+|\[-?[\d,.]+, -?[\d,.]+\]|(?:[nµm]?s|min|h|[kMG]?B)\b|%)\)?|\S+")
"""What stands in one line: a word, or a number with its interval or its unit."""
JOINT = re.compile(r"[^-_/]*[-_/]*")
"""A part of a name, such as that of a file; where there is too little room a line may end behind it."""
ENDS = re.compile(r"(-?[\d,.]+) \[(-?[\d,.]+), (-?[\d,.]+)\]")
_CODE, _PAGE = re.compile(r"`([^`]+)`"), re.compile(r"\[([^]]+)\]\(([\w./#-]+)\)")


def prose(text: str) -> str:
    """Words of ours as HTML, with what stands between backticks as code, and with links to pages.

    >>> prose("`--strict` leaves a < b out: [results](curi.md)")
    '<code>--strict</code> leaves a &lt; b out: <a href="curi.md">results</a>'
    """
    return _PAGE.sub(r'<a href="\2">\1</a>', _CODE.sub(r"<code>\1</code>", escape(text)))


@dataclass(frozen=True)
class Column:
    """The name of a column, and how its cells are written; `format` is for numbers that are not whole."""

    name: str
    align: Literal["left", "right"] = "left"
    format: str = ".1f"
    keep: bool = False
    """Whether it is shown however narrow the terminal is; the first column always is."""
    prose: bool = False
    """Whether its cells are words of ours, in which code and links stand as Markdown has them."""

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
        texts = self.texts()
        long = [max(map(len, cells), default=0) for cells in zip(*texts)] or [0] * len(self.columns)
        head = "".join(
            f'<th scope="col"{_classes(c, most)}>{escape(c.name)}</th>' for c, most in zip(self.columns, long)
        )
        body = "".join(f"<tr>{self._html_row(row)}</tr>" for row in texts)
        kind = ' class="keyed"' if len(long) > 2 and long[0] <= KEY else ""
        table = f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        title = f"<figcaption>{escape(self.title)}</figcaption>" if self.title else ""
        note = f'<p class="note">{prose(self.note)}</p>' if self.note else ""
        box = f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title)}">{table}</div>'
        return f'<figure class="table">{title}{box}{note}</figure>'

    def _html_row(self, texts: list[str]) -> str:
        cells = [prose(text) if column.prose else escape(text) for column, text in zip(self.columns, texts)]
        return "".join(f"<td{_right(column)}>{cell}</td>" for column, cell in zip(self.columns, cells))

    def markdown(self) -> str:
        rule = [{"left": ":---", "right": "---:"}[column.align] for column in self.columns]
        names = [markdown(column.name) for column in self.columns]
        ours = [column.prose for column in self.columns]
        rows = [[text if own else markdown(text) for own, text in zip(ours, row)] for row in self.texts()]
        lines = [f"| {' | '.join(line)} |" for line in (names, rule, *rows)]
        parts = (f"**{markdown(self.title)}**" if self.title else "", "\n".join(lines), markdown(self.note))
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

    def rich(self, width: int = 80) -> RichTable:
        """For a terminal of this width: words and intervals stay whole; columns without room are left out, and named.

        Where intervals have no room beside the names of rows, half their width stands in their place; where that does
        not help, names are folded at their joints.
        """
        short = self._short()
        ways = ((self, False), (short, False), (short, True))
        longest = max((len(row[0]) for row in self.texts() if row), default=0)

        def lacks(way: tuple[Table, bool]) -> tuple[int, bool]:
            widths, left_out = way[0]._fitted(width, way[1])
            return len(left_out), widths.get(0, 0) < longest

        shown, fold = min(ways, key=lacks)  # of equal ones the first
        widths, left_out = shown._fitted(width, fold)
        said = ["± is half the width of the interval."] if shown is not self else []
        said += [f"No room here for: {', '.join(left_out)}; --json has them."] if left_out else []
        note = " ".join(filter(None, (self.note, *said)))
        table = RichTable(title=Text(self.title), caption=Text(note) if note else None)
        for place, room in widths.items():
            column = self.columns[place]
            table.add_column(Text(column.name), justify=column.align, overflow="fold", width=room)
        for row in shown.texts():
            table.add_row(
                *(Text(_folded(row[place], room) if place == 0 else row[place]) for place, room in widths.items())
            )
        return table

    def _short(self) -> "Table":
        """The same with the widths of intervals instead of their ends, also of those that are written already."""
        texts = [[ENDS.sub(_halved, text) for text in row] for row in self.texts()]
        if texts == self.texts():
            return self
        cells = (
            tuple(
                cell.short(column.format) if isinstance(cell, Interval) else text
                for column, cell, text in zip(self.columns, row, line)
            )
            for row, line in zip(self.rows, texts)
        )
        return replace(self, rows=tuple(cells))

    def _fitted(self, width: int, fold: bool = False) -> tuple[dict[int, int], list[str]]:
        """The width of every column that is shown, by its place, and the names of the others."""
        cells = list(zip(*self.texts())) or [()] * len(self.columns)
        texts = [[column.name, *below] for column, below in zip(self.columns, cells)]
        whole = [max(map(len, column)) for column in texts]
        least = [max((len(word) for cell in column for word in WORD.findall(cell)), default=1) for column in texts]
        shown = list(range(len(self.columns)))
        if fold and shown:
            least[0] = max((len(part) for cell in texts[0] for part in JOINT.findall(cell)), default=1)
        while len(shown) > 1 and sum(least[i] for i in shown) + 3 * len(shown) + 1 > width:
            free = [i for i in shown[1:] if not self.columns[i].keep]
            if not free:
                break
            shown.remove(free[-1])
        room = max(width - 3 * len(shown) - 1 - sum(least[i] for i in shown), 0)
        widths: dict[int, int] = {}
        for i in sorted(shown, key=lambda i: whole[i] - least[i]):  # those that need least are served first
            more = min(whole[i] - least[i], room // (len(shown) - len(widths)))
            widths[i], room = least[i] + more, room - more
        return {i: widths[i] for i in shown}, [c.name for i, c in enumerate(self.columns) if i not in shown]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RichTable]:
        yield self.rich(options.max_width)

    def __str__(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str:
        return self.html()

    def to_pandas(self) -> Any:
        """As a data frame; an interval becomes three columns: value, low and high."""
        try:
            import pandas as pd
        except ImportError as error:
            raise UserError("a data frame needs pandas: pip install pandas") from error
        return pd.DataFrame([self._flat(row) for row in self.rows])

    def _flat(self, row: tuple[Cell, ...]) -> dict[str, object]:
        cells: dict[str, object] = {}
        for column, cell in zip(self.columns, row):
            if isinstance(cell, Interval):
                ends = {"": cell.value, " low": cell.low, " high": cell.high}
                cells |= {f"{column.name}{end}": value for end, value in ends.items()}
            else:
                cells[column.name] = cell
        return cells

    def json(self) -> list[dict[str, object]]:
        """One dictionary per row, with the numbers as they are."""
        return [{column.name: _plain(cell) for column, cell in zip(self.columns, row)} for row in self.rows]


def _folded(name: str, width: int) -> str:
    """Words that are longer than a line, in several lines.

    >>> _folded("own-split-pairwise/held_out", 12).split("\\n")
    ['own-split-', 'pairwise/', 'held_out']
    """
    lines = [""]
    for word in name.split(" "):
        parts = [word] if len(word) <= width else JOINT.findall(word)
        for number, part in enumerate(parts):
            space = " " if number == 0 and lines[-1] else ""
            if len(lines[-1] + space + part) <= width:
                lines[-1] += space + part
            else:
                lines.append(part)
    return "\n".join(lines)


def _halved(found: re.Match[str]) -> str:
    """A number and the ends of its interval, as the number and half the width, with as many decimals."""
    value, low, high = (float(one.replace(",", "")) for one in found.groups())
    return Interval(value, low, high).short(f".{len(found[1].partition('.')[2])}f")


def _right(column: Column) -> str:
    return ' class="right"' if column.align == "right" else ""


def _classes(column: Column, longest: int) -> str:
    """How the head of a column stands, and how much room it needs, so that no word stands in a line of its own."""
    if column.align == "right":
        return ' class="right words"' if len(column.name) > 24 else _right(column)
    return next((f' class="{name}"' for name, least in ROOM.items() if longest > least), "")


def _plain(cell: Cell) -> object:
    return cell.plain() if isinstance(cell, Interval) else cell
