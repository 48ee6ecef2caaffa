"""Reading tables back from pages of Markdown that the tool wrote: what a page says can be counted.

>>> page = '''**Scores**
...
... | test | ours | paper |
... | :--- | ---: | ---: |
... | a | 41.0 [39.5, 42.5] | 40.2 ± 0.4 |
... '''
>>> (table,) = tables_in(page)
>>> table.title, value_of(table.rows[0]["ours"]), value_of(table.rows[0]["paper"])
('Scores', Interval(value=41.0, low=39.5, high=42.5), Interval(value=40.2, low=39.4, high=41.0))
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recombine.metrics.intervals import Interval
from recombine.store.text import from_markdown
from recombine.store.untrusted import read_text

_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
_BOUNDED = re.compile(rf"^({_NUMBER}) \[({_NUMBER}), ({_NUMBER})\]$")
_SPREAD = re.compile(rf"^({_NUMBER}) ± ({_NUMBER})$")
TWO_SIGMA = 2.0


@dataclass(frozen=True)
class Read:
    """A table of a page; each row has its cells by the names of the columns."""

    title: str
    rows: tuple[dict[str, str], ...]


def tables_of(page: Path) -> list[Read]:
    """The tables of a page; none where there is no such page."""
    return list(tables_in(read_text(page))) if page.is_file() else []


def tables_in(text: str) -> Iterator[Read]:
    """Every table, with the bold line above it as its title."""
    title, lines = "", [*text.splitlines(), ""]
    table: list[str] = []
    for line in lines:
        if line.startswith("|"):
            table.append(line)
            continue
        if len(table) > 2:
            yield _read(title, table)
            title = ""
        table = []
        if line.startswith("**") and line.endswith("**"):
            title = line.strip("*")


def _read(title: str, lines: list[str]) -> Read:
    names, _, *rows = ([_cell(text) for text in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in lines)
    return Read(from_markdown(title), tuple(dict(zip(names, row)) for row in rows))


def value_of(text: str) -> Interval | None:
    """A number with its bounds, or with twice its spread; None for a cell that is no number."""
    if found := _BOUNDED.match(text):
        return Interval(*(_number(part) for part in found.groups()))
    if found := _SPREAD.match(text):
        value, spread = (_number(part) for part in found.groups())
        return Interval(value, round(value - TWO_SIGMA * spread, 9), round(value + TWO_SIGMA * spread, 9))
    return Interval(*[_number(text)] * 3) if re.fullmatch(_NUMBER, text) else None


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _cell(text: str) -> str:
    return from_markdown(text.strip())
