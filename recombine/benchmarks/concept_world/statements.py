"""What a learner can say about an image: statements of the language, with how long they are and where they hold.

A learner that looks for definitions is given points, colours and relations: the first two files of the library. It is
not given squares, pentominoes, rows, keys and locks. So a statement is about points (their colours, neighbours of one
colour or of different ones, the shape that they make), or about *parts*: things of a kind that was taught as a class.
Parts come as a pair, or as a chain, which is a recursive definition: a thing, or one or two things that stand in some
relation to what comes next, and the rest of the chain.

Every statement has a text in the language, which `tests/benchmarks/test_definition_learner.py` holds against where it
is said to hold. Its length is counted in atoms: calls, comparisons and patterns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from recombine.render.grid import points_of
from recombine.world.scenes import ABSENT

Part = tuple[tuple[int, int, int], ...]
"""The points of a part, x, y and colour, row by row."""
Offsets = tuple[tuple[int, int], ...]
"""The points of a shape from its first, row by row."""
Relation = Callable[[Part, Part], bool]
MOST_COVERS = 8
"""Ways to take an image apart that are looked at."""


@dataclass(frozen=True)
class Kind:
    """A class that was taught, and which parts are of it."""

    name: str
    shapes: tuple[Offsets, ...]
    of: Callable[[np.ndarray], np.ndarray] = field(compare=False)
    """Which images, each of one part alone, are of it: uint8[n, h, w] -> bool[n]."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Images in codes, uint8[n, h, w], with what statements ask about them."""

    images: np.ndarray
    kinds: tuple[Kind, ...] = ()

    def __len__(self) -> int:
        return len(self.images)

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y and colour of the points, row by row; the colour is ABSENT where there is none."""
        return points_of(self.images)

    @cached_property
    def parts(self) -> list[list["Parts"]]:
        """For every image the ways to take it apart into things of the kinds."""
        shapes = tuple(dict.fromkeys(shape for kind in self.kinds for shape in kind.shapes))
        found = []
        for x, y, color in zip(*self.points):
            there = color != ABSENT
            points = dict(zip(zip(x[there].tolist(), y[there].tolist()), color[there].tolist()))
            ways = [way for way, _ in zip(covers(points, shapes), range(MOST_COVERS))] if shapes else []
            found.append(ways)
        named = self._named({part for ways in found for way in ways for part in way})
        return [[Parts(tuple(way), tuple(named[_alone(part)] for part in way)) for way in ways] for ways in found]

    def _named(self, parts: set[Part]) -> Mapping[Part, frozenset[str]]:
        """The kinds of every part, moved into the corner: where it stands does not matter."""
        alone = sorted({_alone(part) for part in parts})
        images = np.zeros((len(alone), *self.images.shape[1:]), np.uint8)
        for image, part in zip(images, alone):
            for x, y, color in part:
                image[y, x] = color + 1
        said = {kind.name: kind.of(images) for kind in self.kinds}
        return {part: frozenset(name for name, of in said.items() if of[i]) for i, part in enumerate(alone)}


def _alone(part: Part) -> Part:
    left, top = min(x for x, _, _ in part), min(y for _, y, _ in part)
    return tuple((x - left, y - top, color) for x, y, color in part)


def covers(points: Mapping[tuple[int, int], int], shapes: Sequence[Offsets]) -> Iterator[list[Part]]:
    """Every way to take points apart into these shapes: the first point of all is the first of its part."""
    if not points:
        yield []
        return
    x, y = min(points, key=lambda point: (point[1], point[0]))
    for shape in shapes:
        cells = [(x + dx, y + dy) for dx, dy in shape]
        if all(cell in points for cell in cells):
            rest = {point: color for point, color in points.items() if point not in cells}
            for others in covers(rest, shapes):
                yield [tuple((*cell, points[cell]) for cell in cells), *others]


@dataclass(frozen=True, eq=False)
class Parts:
    """An image taken apart."""

    things: tuple[Part, ...]
    kinds: tuple[frozenset[str], ...]
    _known: dict[str, list[int]] = field(default_factory=dict)

    def related(self, relation: str) -> list[int]:
        """For each thing the set of those that stand in a relation to it, as bits."""
        if relation not in self._known:
            holds = RELATIONS[relation]
            self._known[relation] = [
                sum(1 << j for j, b in enumerate(self.things) if i != j and holds(a, b))
                for i, a in enumerate(self.things)
            ]
        return self._known[relation]


# --- relations of parts, as the library says them -----------------------------------------------------------------


def _direction(axis: int, sign: int) -> Relation:
    """B is beyond A in one row or column with it, by the points that are farthest there, the first of several."""

    def holds(a: Part, b: Part) -> bool:
        ends = max(a, key=lambda p: sign * p[axis]), min(b, key=lambda p: sign * p[axis])
        return sign * (ends[1][axis] - ends[0][axis]) > 0 and ends[0][1 - axis] == ends[1][1 - axis]

    return holds


def _touching(axis: int, sign: int) -> Relation:
    beyond, step = _direction(axis, sign), (sign, 0) if axis == 0 else (0, sign)

    def holds(a: Part, b: Part) -> bool:
        cells = {(x, y) for x, y, _ in b}
        return beyond(a, b) and any((x + step[0], y + step[1]) in cells for x, y, _ in a)

    return holds


def _same_color(a: Part, b: Part) -> bool:
    return len({color for _, _, color in (*a, *b)}) == 1


WAYS = {"east": (0, 1), "west": (0, -1), "north": (1, -1), "south": (1, 1)}
RELATIONS: dict[str, Relation] = {
    **{name: _direction(*way) for name, way in WAYS.items()},
    **{f"{name}_1": _touching(*way) for name, way in WAYS.items()},
    "same_color": _same_color,
    "not same_color": lambda a, b: not _same_color(a, b),
}
"""What can be said of two parts; the names are the library's."""


# --- statements ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Colored:
    """Every point, or some point, has a colour."""

    color: int
    name: str
    every: bool

    @property
    def text(self) -> str:
        return f"{'all' if self.every else 'some'} x in X: x.color == {self.name}"

    @property
    def atoms(self) -> int:
        return 1

    def holds(self, seen: Seen) -> np.ndarray:
        color = seen.points[2]
        has, there = color == self.color, color != ABSENT
        return (has | ~there).all(axis=1) if self.every else has.any(axis=1)


@dataclass(frozen=True)
class Alike:
    """All points that stand in a relation have one colour, or different ones."""

    relation: str
    same: bool

    @property
    def text(self) -> str:
        said = "same_color_point(a, b)" if self.same else "not same_color_point(a, b)"
        if not self.relation:
            return f"all a in X, b in X: {said}"
        return f"all a in X, b in X: (not {self.relation}(a, b) or {said})"

    @property
    def atoms(self) -> int:
        return (2 if self.relation else 1) + (not self.same)

    def holds(self, seen: Seen) -> np.ndarray:
        if not self.relation:
            color = seen.points[2]
            there = color != ABSENT
            return np.where(there, color, 255).min(axis=1) == np.where(there, color, 0).max(axis=1)
        images = seen.images if self.relation.startswith("east") else seen.images.swapaxes(1, 2)
        wrong = np.zeros(len(images), bool)
        for step in range(1, 2 if self.relation.endswith("_1") else images.shape[2]):
            a, b = images[:, :, :-step], images[:, :, step:]
            wrong |= ((a != 0) & (b != 0) & ((a != b) == self.same)).any(axis=(1, 2))
        return ~wrong


@dataclass(frozen=True)
class Shaped:
    """The points make a shape, wherever it stands."""

    offsets: Offsets

    @property
    def text(self) -> str:
        names = [f"x{i + 1}" for i in range(len(self.offsets))]
        said = [f"X == ({', '.join(names)})"]
        for name, (dx, dy) in zip(names[1:], self.offsets[1:]):
            said += [f"{name}.x_loc == x1.x_loc{_plus(dx)}", f"{name}.y_loc == x1.y_loc{_plus(dy)}"]
        return " and ".join(said)

    @property
    def atoms(self) -> int:
        return len(self.offsets)

    def holds(self, seen: Seen) -> np.ndarray:
        x, y, color = seen.points
        found = (color != ABSENT).sum(axis=1) == len(self.offsets)
        if found.any():
            chosen = np.stack([x, y], axis=-1)[found, : len(self.offsets)]
            found[found] = (chosen - chosen[:, :1] == np.array(self.offsets)).all(axis=(1, 2))
        return found


def _plus(step: int) -> str:
    return f" {'+' if step > 0 else '-'} {abs(step)}" if step else ""


@dataclass(frozen=True)
class Pair:
    """Two parts, each of a kind, that may stand in a relation."""

    first: str
    second: str
    relation: str = ""

    @property
    def text(self) -> str:
        related = f" and {_call(self.relation, 'a', 'b')}" if self.relation else ""
        return f"X == (a, b) and {self.first}(a) and {self.second}(b){related}"

    @property
    def atoms(self) -> int:
        return 3 + bool(self.relation) + self.relation.startswith("not ")

    def holds(self, seen: Seen) -> np.ndarray:
        return np.array([any(map(self._holds, ways)) for ways in seen.parts], bool)

    def _holds(self, parts: Parts) -> bool:
        if len(parts.things) != 2:
            return False
        orders = [(a, b) for a, b in ((0, 1), (1, 0)) if self.first in parts.kinds[a] and self.second in parts.kinds[b]]
        return any(not self.relation or parts.related(self.relation)[a] >> b & 1 for a, b in orders)


@dataclass(frozen=True)
class Chain:
    """One part of a kind, or one or two that stand in relations to each other and to the rest of a chain."""

    kind: str
    relations: tuple[str, ...]
    """Between a part and the next, one after the other; nothing where there is no relation."""
    more: bool
    """Whether one part alone is not enough."""

    @property
    def text(self) -> str:
        """A body that speaks of `chain`, the same without `more`."""
        step = " and ".join(self._step())
        return f"({step})" if self.more else f"(X == (x) and {self.kind}(x)) or ({step})"

    def _step(self) -> list[str]:
        names = ("a", "b")[: len(self.relations)]
        said = [f"X == ({', '.join(names)}) :: REST" if len(names) > 1 else "X == a :: REST", "REST == next :: MORE"]
        said += [f"{self.kind}({name})" for name in names]
        said += [_call(one, a, b) for one, a, b in zip(self.relations, names, (*names[1:], "next")) if one]
        return [*said, "chain(REST)"]

    @property
    def atoms(self) -> int:
        return (0 if self.more else 2) + len(self._step()) + sum(one.startswith("not ") for one in self.relations)

    def holds(self, seen: Seen) -> np.ndarray:
        return np.array([any(map(self._holds, ways)) for ways in seen.parts], bool)

    def _holds(self, parts: Parts) -> bool:
        n, period = len(parts.things), len(self.relations)
        if n <= self.more or n % period != 1 % period or not all(self.kind in kinds for kinds in parts.kinds):
            return False
        everything = (1 << n) - 1
        after = [parts.related(one) if one else [everything] * n for one in self.relations]
        ends = {1 << i: 1 << i for i in range(n)}  # things that were put in a row -> those that may stand at its end
        for step in range(n - 1):
            longer: dict[int, int] = {}
            for taken, last in ends.items():
                for i in _bits(last):
                    for j in _bits(after[step % period][i] & ~taken):
                        longer[taken | 1 << j] = longer.get(taken | 1 << j, 0) | 1 << j
            ends = longer
        return bool(ends)


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _call(relation: str, a: str, b: str) -> str:
    return f"{relation}({a}, {b})"


Statement = Colored | Alike | Shaped | Pair | Chain


def about_points(colors: Sequence[str], shapes: Sequence[Offsets]) -> list[Statement]:
    """All statements about points, with the shapes that were met."""
    colored = [Colored(i, name, every) for i, name in enumerate(colors) for every in (True, False)]
    relations = ("east_point", "south_point", "east_point_1", "south_point_1")
    alike = [Alike("", True), *(Alike(relation, same) for relation in relations for same in (True, False))]
    return [*colored, *alike, *map(Shaped, shapes)]


def about_parts(kinds: Sequence[str]) -> list[Statement]:
    """All statements about things of the kinds."""
    related = ("", *RELATIONS)
    pairs = [Pair(a, b, one) for i, a in enumerate(kinds) for b in kinds[i:] for one in related]
    pairs += [Pair(b, a, one) for i, a in enumerate(kinds) for b in kinds[i + 1 :] for one in RELATIONS]
    steps = [(one,) for one in related] + [*product(related, repeat=2)]
    return [*pairs, *(Chain(kind, step, more) for kind in kinds for step in steps for more in (False, True))]
