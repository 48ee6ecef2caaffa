"""Views: one example of a benchmark to look at, in a terminal, as a page, as JSON."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from recombine.report.page import Section, page
from recombine.report.table import Table
from recombine.store.errors import none_such
from recombine.store.outputs import free_file, write_file


class View(ABC):
    """One example. A view is a frozen dataclass whose fields are what JSON says of it."""

    @abstractmethod
    def terminal(self) -> RenderableType:
        """For the terminal."""

    @abstractmethod
    def html(self) -> str:
        """A page of its own."""

    def files(self) -> Mapping[str, Callable[[], str]]:
        """What can be written, by the ending of the file."""
        return {".html": self.html}

    def json(self) -> Any:
        """What it says, without pixels and samples."""
        return _plain(self)

    def write(self, out: str | Path) -> Path:
        """Write it as the ending of the file says."""
        writers = self.files()
        file = free_file(out, tuple(writers))
        write_file(file, writers[file.suffix]())
        return file

    def _repr_html_(self) -> str:
        return self.html()


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in ("picture", "sound")}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class ExampleView(View):
    """An example of any benchmark: what is given, what is asked, what the ideal learners say."""

    title: str
    about: str
    rows: Table

    def terminal(self) -> RenderableType:
        return Group(Text(self.title, style="bold"), Text(self.about), self.rows.rich())

    def html(self) -> str:
        return page(self.title, [Section("The example", self.rows.html(), self.about)])


def pick(number: int, rows: Sequence[Any], what: str) -> Any:
    """The row of this number, or a sentence about how many there are."""
    if not 0 <= number < len(rows):
        raise none_such(what, number, len(rows))
    return rows[number]
