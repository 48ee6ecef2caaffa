"""Definitions, libraries of them, and the objects they speak about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from recombine.language.expr import Expr

COLORS = ("blue", "red", "green", "yellow", "white")
"""The paper's five colours; the background is black."""


class Point(NamedTuple):
    """A grid point: x grows to the east, y to the south."""

    x: int
    y: int
    color: str


Object = Point | tuple["Object", ...]
"""A point, or a vector of objects. A Point is told from a vector by isinstance."""


def points(thing: Object) -> Iterator[Point]:
    """The points of an object in order, forgetting its structure."""
    if isinstance(thing, Point):
        yield thing
    else:
        for item in thing:
            yield from points(item)


@dataclass(frozen=True)
class Grid:
    """The canvas: its size, and the colours a point may have."""

    width: int = 32
    height: int = 32
    colors: tuple[str, ...] = COLORS


class Place(NamedTuple):
    """Where something is written."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Definition:
    """A named relation: name(parameters) holds where the body does."""

    name: str
    parameters: tuple[str, ...]
    body: Expr
    about: str = ""
    place: Place = Place("", 0, 0)


@dataclass(frozen=True)
class Line:
    """So many images of a concept, all of one class; `where` narrows the derivations, in the words of `where.py`."""

    label: str
    count: int
    concept: str
    where: str = ""
    place: Place = field(default=Place("", 0, 0), compare=False)


@dataclass(frozen=True)
class Experiment:
    """Classes to tell apart: what they are trained on, and one or more tests."""

    name: str
    title: str
    train: tuple[Line, ...]
    tests: Mapping[str, tuple[Line, ...]]
    first_epochs: int = 0
    """A curriculum: for so many epochs only the classes `first` are trained on."""
    first: tuple[str, ...] = ()
    place: Place = field(default=Place("", 0, 0), compare=False)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, in the order of the file."""
        lines = (*self.train, *(line for test in self.tests.values() for line in test))
        return tuple(dict.fromkeys(line.label for line in lines))


@dataclass(frozen=True)
class Library:
    """Definitions by name, experiments by name, and the grid they are drawn on."""

    definitions: Mapping[str, Definition]
    experiments: Mapping[str, Experiment] = field(default_factory=dict)
    grid: Grid = Grid()
