"""The turns in which the leaves of a shape get points.

Next is a leaf whose place is decided: `b.x_loc == a.x_loc + 1` and `b.y_loc == a.y_loc` leave one point for b once a
has one. Where there is none, the alternatives of a disjunction that decides places are tried, or else all points for a
leaf. A condition is checked with its last leaf. How to go on depends on which leaves have points and which conditions
are left: the stage.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from recombine.benchmarks.concept_world.definition import Grid, Point
from recombine.benchmarks.concept_world.reference import COMPARE
from recombine.benchmarks.concept_world.shapes import Shape
from recombine.benchmarks.concept_world.unfold import Leaves, negation, numbers
from recombine.language.expr import Expr
from recombine.semantics.fold import fold

AT = {"x_loc": 0, "y_loc": 1, "color": 2}
"""Where a point has its properties."""
X, Y = 0, 1
Placed = list[Point | None]
"""The points taken for the leaves, by their number."""
Value = Callable[[Placed], Any]


class Checks:
    """The meaning of conditions over leaves: a function of the points taken."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def var(self, number: str) -> Value:
        at = int(number)
        return lambda placed: placed[at]

    def pick(self, *words: Value | str) -> Value:
        *among, kind, name, _ = words
        owners = [owner for owner in among if callable(owner)]
        best, at = min if kind == "argmin" else max, AT[str(name)]
        return lambda placed: best((owner(placed) for owner in owners), key=lambda point: point[at])

    def property(self, owner: Value, name: str) -> Value:
        at = AT[name]
        return lambda placed: owner(placed)[at]

    def plus(self, value: Value, n: str) -> Value:
        by = int(n)
        return lambda placed: value(placed) + by

    def number(self, n: str) -> Value:
        fixed = int(n)
        return lambda placed: fixed

    def size(self, name: str) -> Value:
        fixed = getattr(self.grid, name)
        return lambda placed: fixed

    def color(self, name: str) -> Value:
        return lambda placed: name

    def compare(self, a: Value, b: Value, comparison: str) -> Value:
        compared = COMPARE[comparison]
        return lambda placed: compared(a(placed), b(placed))

    def same(self, a: Value, b: Value) -> Value:
        return lambda placed: a(placed) == b(placed)

    def and_(self, *words: Value | str) -> Value:
        parts = [part for part in words if callable(part)]
        return lambda placed: all(part(placed) for part in parts)

    def or_(self, *words: Value | str) -> Value:
        parts = [part for part in words if callable(part)]
        return lambda placed: any(part(placed) for part in parts)

    def not_(self, part: Value) -> Value:
        return lambda placed: not part(placed)


class Equation(NamedTuple):
    """A coordinate of a leaf: that of another leaf and so much more; without another leaf, a number."""

    leaf: int
    at: int  # X or Y
    source: int | None
    source_at: int
    more: int
    condition: Expr

    def value(self, placed: Placed) -> int:
        source = placed[self.source] if self.source is not None else None
        return self.more + (int(source[self.source_at]) if source is not None else 0)


def equations(condition: Expr, grid: Grid) -> Iterator[Equation]:
    """The coordinates that a condition decides, in both directions."""
    if condition.head.family != "compare" or condition.head.index[0] != "==":
        return
    sides = [_side(value, grid) for value in condition.args]
    for one, other in (sides, sides[::-1]):
        if one and other and one.leaf is not None and one.leaf != other.leaf:
            yield Equation(one.leaf, one.at, other.leaf, other.at, other.more - one.more, condition)


class _Side(NamedTuple):
    leaf: int | None
    at: int
    more: int


def _side(value: Expr, grid: Grid) -> _Side | None:
    """A coordinate of a leaf or a number, and so much more; None for anything else."""
    family, word = value.head.family, value.head.index[0]
    if family == "plus":
        base = _side(value.args[0], grid)
        return base._replace(more=base.more + int(word)) if base else None
    if family in ("number", "size"):
        return _Side(None, X, int(word) if family == "number" else getattr(grid, word))
    if family == "property" and word != "color" and value.args[0].head.family == "var":
        return _Side(int(value.args[0].head.index[0]), AT[word], 0)
    return None


class Facts(NamedTuple):
    """What taking points needs to know of a condition."""

    check: Value
    leaves: frozenset[int]
    equations: tuple[Equation, ...]


class Take(NamedTuple):
    """The turn of a leaf: what decides its place, what is due to be checked, and what comes then."""

    leaf: int
    x: Equation | None
    y: Equation | None
    due: tuple[Expr, ...]
    then: "Stage"


class Choose(NamedTuple):
    """The turn of a disjunction: for each alternative, what is due, and what comes then."""

    alternatives: tuple[tuple[tuple[Expr, ...], "Stage"], ...]


class Order:
    """A shape and the stages of taking points for its leaves; `due` is to be checked before the first."""

    def __init__(self, shape: Shape, size: int, leaves: Leaves) -> None:
        self.thing, self.size, self.grid, self.sources = shape.thing, size, leaves.library.grid, leaves.sources
        self._facts: dict[Expr, Facts] = {}
        self._stages: dict[tuple[frozenset[int], frozenset[Expr]], Stage] = {}
        self.due, self.first = self.stage(frozenset(), shape.conditions)

    def facts(self, part: Expr) -> Facts:
        if part not in self._facts:
            found = tuple(equations(part, self.grid))
            self._facts[part] = Facts(fold(part, Checks(self.grid), {}), numbers(part), found)
        return self._facts[part]

    def stage(self, placed: frozenset[int], conditions: Sequence[Expr]) -> tuple[tuple[Expr, ...], "Stage"]:
        """The conditions whose leaves have points, which are due, and the stage of the others."""
        due = tuple(part for part in conditions if self.facts(part).leaves <= placed)
        left = tuple(part for part in conditions if not self.facts(part).leaves <= placed)
        key = placed, frozenset(left)
        if key not in self._stages:
            self._stages[key] = Stage(self, placed, left)
        return due, self._stages[key]


class Stage:
    """Which leaves have points, and which conditions are left."""

    def __init__(self, order: Order, placed: frozenset[int], left: tuple[Expr, ...]) -> None:
        self.order, self.placed, self.left = order, placed, left
        later: frozenset[int] = frozenset().union(*(order.facts(part).leaves for part in left))
        self.frontier = tuple(sorted(placed & later))

    @cached_property
    def turn(self) -> Take | Choose:
        """What comes next."""
        decided: dict[int, dict[int, Equation]] = defaultdict(dict)
        for equation in self._usable(self.left):
            decided[equation.leaf].setdefault(equation.at, equation)
        free = (leaf for leaf in range(self.order.size) if leaf not in self.placed)
        leaf = max(free, key=lambda leaf: len(decided[leaf]))
        useful = [part for part in self.left if part.head.family == "or" and self._useful(part)]
        if useful and not decided[leaf]:
            return self._choose(min(useful, key=lambda part: len(part.args)))
        due, then = self.order.stage(self.placed | {leaf}, self.left)
        return Take(leaf, decided[leaf].get(X), decided[leaf].get(Y), due, then)

    def _usable(self, conditions: Iterable[Expr]) -> Iterator[Equation]:
        """The coordinates that conditions decide now."""
        for part in conditions:
            for equation in self.order.facts(part).equations:
                if equation.leaf not in self.placed and (equation.source is None or equation.source in self.placed):
                    yield equation

    def _useful(self, disjunction: Expr) -> bool:
        """Does each alternative decide a place, and are they fewer than the points that could be tried instead?"""
        few = len(disjunction.args) <= self.order.size - len(self.placed)
        return few and all(self._decides(part) for part in disjunction.args)

    def _decides(self, alternative: Expr) -> bool:
        found = {(equation.leaf, equation.at) for equation in self._usable(parts_of(alternative))}
        return any((leaf, X) in found and (leaf, Y) in found for leaf, _ in found)

    def _choose(self, disjunction: Expr) -> Choose:
        """An alternative is for what no alternative before it holds of, so that no object is found twice."""
        left = tuple(part for part in self.left if part is not disjunction)
        found = []
        for i, alternative in enumerate(disjunction.args):
            more = (*parts_of(alternative), *map(negation, disjunction.args[:i]))
            found.append(self.order.stage(self.placed, tuple(dict.fromkeys((*left, *more)))))
        return Choose(tuple(found))


def parts_of(condition: Expr) -> tuple[Expr, ...]:
    return condition.args if condition.head.family == "and" else (condition,)
