"""Does an image satisfy a concept? A search for an object whose points are exactly the points of the image.

For each shape that objects of the concept can have, points of the image are taken for its leaves.

>>> from recombine.benchmarks.concept_world.definition import Definition, Library, Point
>>> from recombine.benchmarks.concept_world.formula import both, compare, plus, prop, same, var, vector
>>> X, a, b = var("X"), var("a"), var("b")
>>> level = compare("==", prop("y_loc", b), prop("y_loc", a))
>>> next_to = compare("==", prop("x_loc", b), plus(prop("x_loc", a), 1))
>>> library = Library({"domino": Definition("domino", ("X",), both(same(X, vector(a, b)), level, next_to))})
>>> prove(library, "domino", {Point(5, 7, "red"), Point(6, 7, "blue")})
Proof(object=(Point(x=5, y=7, color='red'), Point(x=6, y=7, color='blue')), derivation=by[domino,0])
>>> prove(library, "domino", {Point(5, 7, "red"), Point(5, 8, "blue")})
Failure(reason='domino: no point lies one east of (5, 7) red')
>>> prove(library, "domino", {Point(5, 7, "red")})
Failure(reason="the image has 1 point; the objects of 'domino' have more than 1")
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.benchmarks.concept_world.assignment import Furthest, Taking
from recombine.benchmarks.concept_world.definition import Grid, Library, Object, Point
from recombine.benchmarks.concept_world.reference import Plainly, counted
from recombine.benchmarks.concept_world.shapes import Shapes, Steps
from recombine.benchmarks.concept_world.unfold import Leaves
from recombine.benchmarks.concept_world.variable_order import Order
from recombine.language.expr import Expr
from recombine.store.errors import UserError

LIMIT = 1_000_000
"""Steps before a search is given up: first alternatives of structure, then points tried."""

Image = Iterable[Point] | np.ndarray
"""Points at different places, or colour codes uint8[height, width]: 0 is black, i + 1 the grid's colour i."""


@dataclass(frozen=True)
class Proof:
    """An object of the concept with the points of the image, and the definitions that make it one."""

    object: Object
    derivation: Expr


@dataclass(frozen=True)
class Failure:
    """What is wrong where the search got furthest."""

    reason: str


def prove(library: Library, name: str, image: Image, limit: int = LIMIT) -> Proof | Failure:
    """An object of the concept with exactly the points of the image, or why there is none."""
    return Prover(library, limit).prove(name, image)


def all_objects(library: Library, name: str, image: Image, limit: int = LIMIT) -> frozenset[Object]:
    """Every object of the concept with exactly the points of the image."""
    return Prover(library, limit).all_objects(name, image)


class Prover:
    """Decides many images: the shapes of a concept with so many points are found once."""

    def __init__(self, library: Library, limit: int = LIMIT) -> None:
        self.library, self.limit = library, limit
        self._orders: dict[tuple[str, int], Orders] = {}

    def prove(self, name: str, image: Image) -> Proof | Failure:
        """An object of the concept with exactly the points of the image, or why there is none."""
        found = image_points(image, self.library.grid)
        furthest = Furthest()
        for thing in self._objects(name, found, furthest):
            return Proof(thing, self._derivation(name, thing))
        return Failure(furthest.reason or self._orders[name, len(found)].nothing())

    def all_objects(self, name: str, image: Image) -> frozenset[Object]:
        """Every object of the concept with exactly the points of the image."""
        return frozenset(self._objects(name, image_points(image, self.library.grid), Furthest()))

    def _objects(self, name: str, image: Sequence[Point], furthest: Furthest) -> Iterator[Object]:
        key = name, len(image)
        if key not in self._orders:
            self._orders[key] = Orders(self.library, name, len(image), self.limit)
        steps = Steps(self.limit, f"whether an image is of '{name}'")
        try:
            for order in self._orders[key]:
                yield from Taking(order, image, steps, furthest).objects()
        except RecursionError:
            raise UserError(f"an image of {len(image)} points is too large to be searched for '{name}'") from None

    def _derivation(self, name: str, thing: Object) -> Expr:
        one = len(self.library.definitions[name].parameters) == 1
        found = Plainly(self.library).derivation(name, *((thing,) if one else thing))
        assert found is not None, f"the search found {thing}, but {name} is false of it"
        return found


class Orders:
    """The shapes of a concept with so many points, ready for points; found as they are needed, and once."""

    def __init__(self, library: Library, name: str, size: int, limit: int) -> None:
        self.name, self.size = name, size
        self._leaves = Leaves(library)
        steps = Steps(limit, f"which shapes '{name}' has with {counted(size, 'point')}")
        self._shapes = Shapes(self._leaves, name, size, steps)
        self._coming = iter(self._shapes)
        self._found: list[Order] = []
        self._error: UserError | None = None

    def __iter__(self) -> Iterator[Order]:
        at = 0
        while at < len(self._found) or self._one_more():
            yield self._found[at]
            at += 1

    def _one_more(self) -> bool:
        """Find another; what ended the search for shapes once ends it again."""
        try:
            if self._error is not None:
                raise self._error
            shape = next(self._coming, None)
        except UserError as error:
            self._error = error
            raise
        if shape is not None:
            self._found.append(Order(shape, self.size, self._leaves))
        return shape is not None

    def nothing(self) -> str:
        """Why no point could be tried."""
        if self.size in self._shapes.sizes:
            return f"the conditions of '{self.name}' contradict one another for {counted(self.size, 'point')}"
        sizes = [*map(str, sorted(self._shapes.sizes)), *([f"more than {self.size}"] if self._shapes.larger else [])]
        has = f"the objects of '{self.name}' have {' or '.join(sizes)}" if sizes else f"'{self.name}' has no objects"
        return f"the image has {counted(self.size, 'point')}; {has}"


def image_points(image: Image, grid: Grid) -> tuple[Point, ...]:
    """The points of an image in reading order."""
    found = _of_codes(image, grid) if isinstance(image, np.ndarray) else list(image)
    places: dict[tuple[int, int], Point] = {}
    for point in found:
        if not (0 <= point.x < grid.width and 0 <= point.y < grid.height):
            raise UserError(f"({point.x}, {point.y}) is outside the grid of {grid.width} by {grid.height}")
        if places.setdefault((point.y, point.x), point) != point:
            raise UserError(f"two points of the image are at ({point.x}, {point.y})")
    return tuple(places[place] for place in sorted(places))


def _of_codes(image: np.ndarray, grid: Grid) -> list[Point]:
    if image.shape != (grid.height, grid.width):
        raise UserError(f"an image of shape {image.shape} is not of a grid {grid.width} by {grid.height}")
    if image.size and int(image.max()) > len(grid.colors):
        raise UserError(f"colour code {int(image.max())} is beyond the {len(grid.colors)} colours of the grid")
    y, x = np.nonzero(image)
    return [Point(int(a), int(b), grid.colors[int(image[b, a]) - 1]) for a, b in zip(x, y)]
