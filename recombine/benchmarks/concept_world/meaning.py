"""The fast meaning: a definition on many objects of one structure at once.

>>> from recombine.benchmarks.concept_world.definition import Definition, Grid, Library, Point
>>> from recombine.benchmarks.concept_world.formula import both, compare, prop, same, var, vector
>>> says = compare("<", prop("x_loc", var("a")), prop("x_loc", var("b")))
>>> library = Library({"east": Definition("east", ("X",), both(same(var("X"), vector(var("a"), var("b"))), says))})
>>> batch = Batch.of([(Point(0, 0, "red"), Point(1, 0, "red")), (Point(1, 1, "red"), Point(0, 1, "blue"))], Grid())
>>> batch.structure
(0, 1)
>>> Exact(library, batch).holds("east").tolist()
[True, False]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.definition import Grid, Library, Object, Point, points
from recombine.benchmarks.concept_world.reference import COMPARE, FIELD
from recombine.benchmarks.concept_world.unfold import Leaves, Structure, of_structure
from recombine.semantics.fold import Plan
from recombine.store.errors import UserError
from recombine.store.limit import check

ROWS = 8192
"""Objects that are checked together: their columns stay in the cache."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Objects of one structure: a nested tuple of leaf numbers, and a row of columns for each object."""

    structure: Structure
    x: np.ndarray  # int[n, leaves]
    y: np.ndarray
    color: np.ndarray  # codes into the grid's colours

    @classmethod
    def of(cls, objects: Sequence[Object], grid: Grid) -> "Batch":
        """At least one object; all have the structure of the first."""
        if not objects:
            raise ValueError("a batch needs an object to have a structure")
        structure = structure_of(objects[0])
        for thing in objects:
            if structure_of(thing) != structure:
                raise ValueError(f"objects of structures {structure} and {structure_of(thing)} in one batch")
        rows = [list(points(thing)) for thing in objects]
        code = {name: i for i, name in enumerate(grid.colors)}
        x, y, color = ([[read(p) for p in row] for row in rows] for read in (_x, _y, lambda p: code[p.color]))
        shape = len(rows), len(rows[0])
        return cls(structure, *(np.array(column, np.int32).reshape(shape) for column in (x, y, color)))

    def __len__(self) -> int:
        return len(self.x)

    def object(self, row: int, grid: Grid) -> Object:
        """One of the objects."""

        def of(structure: Structure) -> Object:
            if isinstance(structure, tuple):
                return tuple(map(of, structure))
            at = row, structure
            return Point(int(self.x[at]), int(self.y[at]), grid.colors[int(self.color[at])])

        return of(self.structure)


def _x(point: Point) -> int:
    return point.x


def _y(point: Point) -> int:
    return point.y


def structure_of(thing: Object) -> Structure:
    """The object with its points numbered in order."""
    number = iter(range(sum(1 for _ in points(thing))))

    def of(part: Object) -> Structure:
        return next(number) if isinstance(part, Point) else tuple(map(of, part))

    return of(thing)


class Exact:
    """The meaning of a library on all objects of a batch."""

    def __init__(self, library: Library, batch: Batch) -> None:
        self.library, self.batch = library, batch
        self._leaves = Leaves(library)

    def holds(self, name: str) -> np.ndarray:
        """bool[n]. A definition of several parameters is about the vector of them."""
        plan = Plan([self._leaves.call(name, self._parameters(name))])
        found = np.empty(len(self.batch), bool)
        for start in range(0, len(found), ROWS):
            check()
            rows = slice(start, start + ROWS)
            [(_, found[rows])] = plan.run(Columns(self.library.grid, self.batch, rows))
        return found

    def _parameters(self, name: str) -> tuple:
        if name not in self.library.definitions:
            raise UserError(f"there is no concept '{name}'; the library has {', '.join(self.library.definitions)}")
        parameters, thing = self.library.definitions[name].parameters, of_structure(self.batch.structure)
        if len(parameters) == 1:
            return (thing,)
        if not isinstance(thing, tuple) or len(thing) != len(parameters):
            raise ValueError(f"'{name}' is about vectors of {len(parameters)}, not {self.batch.structure}")
        return thing


class Column(NamedTuple):
    """One point in every row."""

    x: np.ndarray  # int[n]
    y: np.ndarray
    color: np.ndarray


class Columns:
    """The meaning of conditions over leaves: an array for every value."""

    def __init__(self, grid: Grid, batch: Batch, rows: slice) -> None:
        self.grid = grid
        self.x, self.y, self.color_ = (
            np.ascontiguousarray(array[rows].T, np.int32) for array in (batch.x, batch.y, batch.color)
        )
        self.rows = len(batch.x[rows])

    def var(self, number: str) -> Column:
        return Column(self.x[int(number)], self.y[int(number)], self.color_[int(number)])

    def pick(self, *items: Column | str) -> Column:
        *among, kind, name, _ = items
        columns = [item for item in among if isinstance(item, Column)]
        key = np.stack([getattr(item, FIELD[str(name)]) for item in columns])  # int[points, n]
        at = key.argmax(0) if kind == "argmax" else key.argmin(0)  # the first of ties
        return Column(*(np.take_along_axis(np.stack(field), at[None], 0)[0] for field in zip(*columns)))

    def property(self, owner: Column, name: str) -> np.ndarray:
        return getattr(owner, FIELD[name])

    def plus(self, value: np.ndarray, n: str) -> np.ndarray:
        return value + int(n)

    def number(self, n: str) -> np.ndarray:
        return np.array(int(n))

    def size(self, name: str) -> np.ndarray:
        return np.array(self.grid.width if name == "width" else self.grid.height)

    def color(self, name: str) -> np.ndarray:
        return np.array(self.grid.colors.index(name) if name in self.grid.colors else -1)

    def compare(self, a: np.ndarray, b: np.ndarray, comparison: str) -> np.ndarray:
        return np.broadcast_to(COMPARE[comparison](a, b), self.rows)

    def same(self, a: Column, b: Column) -> np.ndarray:
        return (a.x == b.x) & (a.y == b.y) & (a.color == b.color)

    def and_(self, *parts: np.ndarray | str) -> np.ndarray:
        found = np.ones(self.rows, bool)
        for part in parts[:-1]:  # the last is how many they are
            found &= part
        return found

    def or_(self, *parts: np.ndarray | str) -> np.ndarray:
        found = np.zeros(self.rows, bool)
        for part in parts[:-1]:
            found |= part
        return found

    def not_(self, part: np.ndarray) -> np.ndarray:
        return ~part
