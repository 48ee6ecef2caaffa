"""Whatever definitions say: the plain meaning is what they say, and the fast meaning and the search agree with it."""

import operator
from collections.abc import Iterator
from functools import cache
from itertools import count, permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from recombine.benchmarks.concept_world.definition import Definition, Grid, Library, Object, Point, points
from recombine.benchmarks.concept_world.formula import (
    both,
    call,
    color,
    compare,
    either,
    every,
    extreme,
    no,
    number,
    plus,
    point,
    prop,
    same,
    size,
    some,
    split,
    var,
    vector,
)
from recombine.benchmarks.concept_world.meaning import ROWS, Batch, Exact, structure_of
from recombine.benchmarks.concept_world.reference import Plainly, free
from recombine.benchmarks.concept_world.search import all_objects
from recombine.benchmarks.concept_world.unfold import Structure
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key

GRID = Grid(3, 3, ("red", "blue"))
PARAMETERS = {"first": ("X",), "second": ("X", "Y"), "third": ("X",), "fourth": ("X", "Y")}
BEFORE: dict[str, tuple[str, ...]] = {"first": (), "second": ("first",), "third": ("first", "second")}
BEFORE["fourth"] = BEFORE["third"]
ONCE = {"first": ("first",), "second": ("second",), "third": ("third", "fourth"), "fourth": ("third", "fourth")}
Scope = dict[str, Structure | None]
"""The variables that are known, with the structure of their objects where it can be told."""


class Writer:
    """Writes random definitions whose variables are tied, for objects of a structure.

    A definition calls any of BEFORE, and once one of ONCE about a part of its own objects: recursion that ends.
    """

    def __init__(self, key: Key, builds: bool = True) -> None:
        self.rng, self.builds = key.rng(), builds  # builds: objects that are no part of another
        self.name, self.recursive, self.own = "", False, 0

    def library(self, structure: Structure) -> Library:
        return Library({name: self.definition(name, structure) for name in PARAMETERS}, grid=GRID)

    def definition(self, name: str, structure: Structure) -> Definition:
        self.name, self.recursive = name, True
        names = PARAMETERS[name]
        given = (structure,) if len(names) == 1 else structure
        assert isinstance(given, tuple)
        return Definition(name, names, self.conditions(dict(zip(names, given)), frozenset(names), 3))

    def likely(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def among(self, *options: Expr | str) -> Expr:
        """One of these; a name stands for its variable."""
        chosen = options[self.rng.integers(len(options))]
        return var(chosen) if isinstance(chosen, str) else chosen

    def word(self, *options: str) -> str:
        return options[self.rng.integers(len(options))]

    def conditions(self, scope: Scope, parts: frozenset[str], depth: int, inside: bool = False) -> Expr:
        """A few conditions in any order; `parts` are the variables for parts of the parameters."""
        scope, written = dict(scope), []
        for _ in range(self.rng.integers(1, 4) + (depth == 3)):
            if self.likely(0.35) or 0 not in scope.values():
                condition, new = self.binding(scope, inside)
                parts = parts | set(new) if self.is_part(condition, parts) else parts - set(new)
                scope.update(new)
            else:
                condition = self.test(scope, parts, depth, inside)
            written.append(condition)
        return both(*(written[i] for i in self.rng.permutation(len(written))))

    def is_part(self, condition: Expr, parts: frozenset[str]) -> bool:
        thing, pattern = condition.args
        return thing.head.index[0] in parts and pattern.head.family in ("vector", "split")

    def new(self, scope: Scope, inside: bool) -> str:
        """A name to bind; inside not and quantifiers it is like no other, since what occurs twice there is not tied."""
        self.own += 1
        fresh = [name for name in "pqrstuv" if name not in scope]
        known = self.likely(0.04) or not fresh
        return self.word(*scope) if known else f"own{self.own}" if inside else self.word(*fresh)

    def binding(self, scope: Scope, inside: bool) -> tuple[Expr, Scope]:
        """A condition that makes names known, and these."""
        thing, kind = self.word(*scope), self.word(*("pattern",) * 4, "extreme", "extreme", "built")
        if kind == "built" and self.builds:
            new = self.new(scope, inside)
            return same(self.among(new), self.term(scope)), {new: None}
        if kind == "extreme":
            new = self.new(scope, inside)
            kind, name = self.word("argmin", "argmax"), self.word("x_loc", "y_loc")
            return extreme(kind, name, var(new), self.among(thing)), {new: 0}
        vectors = [name for name, shape in scope.items() if isinstance(shape, tuple)]
        return self.pattern(self.word(*vectors) if vectors and self.likely(0.95) else thing, scope, inside)

    def pattern(self, thing: str, scope: Scope, inside: bool) -> tuple[Expr, Scope]:
        """Mostly one that matches."""
        shape = scope[thing]
        items: tuple[Structure | None, ...] = shape if isinstance(shape, tuple) else (None,) * int(self.rng.integers(3))
        if self.likely(0.1):
            items = (*items, None)
        heads = int(self.rng.integers(1, len(items) + 1)) if items and self.likely(0.5) else 0
        structures = (*items[:heads], items[heads:]) if heads else items
        names = [self.new(scope, inside) for _ in structures]
        terms = tuple(map(var, names))
        written = split(terms[:-1], terms[-1]) if heads else vector(*terms)
        return same(var(thing), written), {name: s for name, s in zip(names, structures) if name not in scope}  # type: ignore[misc]

    def term(self, scope: Scope) -> Expr:
        items = tuple(self.among(*scope) for _ in range(self.rng.integers(1, 3)))
        return self.among(items[0], vector(), vector(*items), split(items, self.among(*scope)))

    def test(self, scope: Scope, parts: frozenset[str], depth: int, inside: bool) -> Expr:
        simple = ("compare",) * 6 + ("call",) * 2 + ("point", "same")
        kind = self.word(*simple, *(("not", "or", "or", "or", "all", "some") * (depth > 0)))
        if kind == "not":
            return no(self.conditions(scope, frozenset(), depth - 1, True))
        if kind == "or":
            parts_of = (self.conditions(scope, parts, depth - 1, inside) for _ in range(self.rng.integers(2, 4)))
            return either(*parts_of)
        if kind in ("all", "some"):
            name = self.word("p", *scope)
            says = self.conditions({**scope, name: 0}, frozenset(), depth - 1, True)
            return (every if kind == "all" else some)(name, self.term(scope), says)
        if kind == "call":
            return self.call(scope, parts, depth, inside)
        if kind == "same":
            return same(self.among(*scope), self.term(scope))
        return point(self.among(*scope)) if kind == "point" else self.comparison(scope)

    def call(self, scope: Scope, parts: frozenset[str], depth: int, inside: bool) -> Expr:
        if self.recursive and parts and not inside and depth < 3:
            self.recursive = False
            name = self.word(*ONCE[self.name])
            return call(name, *(self.among(*sorted(parts)) for _ in PARAMETERS[name]))
        if not BEFORE[self.name]:
            return self.comparison(scope)
        name = self.word(*BEFORE[self.name])
        return call(name, *(self.term(scope) for _ in PARAMETERS[name]))

    def comparison(self, scope: Scope) -> Expr:
        """Mostly of points."""
        points = [name for name, shape in scope.items() if shape == 0]
        names = points if points and self.likely(0.9) else list(scope)
        if self.likely(0.4):
            colors = self.among(prop("color", self.among(*names)), color("red"), color("blue"))
            return compare(self.word("==", "!="), prop("color", self.among(*names)), colors)
        one, other = (self.number(names) for _ in range(2))
        return compare(self.word("==", "!=", "<", "<=", ">", ">="), one, other)

    def number(self, names: list[str]) -> Expr:
        place = prop(self.word("x_loc", "y_loc"), self.among(*names))
        return plus(self.among(place, place, number(1), size("width")), int(self.rng.integers(-1, 2)))


STRUCTURES: tuple[tuple[Structure, ...], ...] = (
    (0, 0), ((0, 0), 0), ((0, 0), (0, 0)), ((0,), (0, (0, 0))), (0, ()), ((), ()), (((0, 0), 0), 0), ((0, 0, 0), (0,)),
)  # fmt: skip


def some_object(structure: Structure, rng: np.random.Generator) -> Object:
    """Few places make ties and equal points, which is where meanings could differ."""
    if isinstance(structure, tuple):
        return tuple(some_object(part, rng) for part in structure)
    x, y, color_code = rng.integers(0, (3, 3, 2))
    return Point(int(x), int(y), GRID.colors[color_code])


World = tuple[Library, list[Object]]


@st.composite
def worlds(draw: st.DrawFn, builds: bool = True) -> World:
    """A library, and vectors of two objects, all of one structure."""
    key, structure = Key(draw(st.integers(0, 2**32))), draw(st.sampled_from(STRUCTURES))
    rng = (key / "objects").rng()
    return Writer(key / "library", builds).library(structure), [some_object(structure, rng) for _ in range(10)]


def said_by(meaning: "Plainly | ByDefinition", name: str, pairs: list[Object]) -> list[bool]:
    one = len(PARAMETERS[name]) == 1
    return [meaning.holds(name, *((pair,) if one else pair)) for pair in pairs]


LOOKS = 2_000
"""Conditions that the meaning word for word looks at before an example is left out."""
STRATUM = {"first": 0, "second": 1, "third": 2, "fourth": 2}
COMPARED = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
Table = dict[tuple[str, tuple[Object, ...]], bool]


class ByDefinition:
    """The meaning word for word: try every object for every local, and add what is true until nothing changes."""

    def __init__(self, library: Library) -> None:
        self.library, self.looks = library, 0

    def holds(self, name: str, *objects: Object) -> bool:
        table: Table = {(name, objects): False}
        before: Table = {}
        while table != before:
            before = dict(table)
            for called, about in before:
                definition = self.library.definitions[called]
                parts = {part for thing in about for part in parts_of(thing)}
                table[called, about] = self.true(definition.body, dict(zip(definition.parameters, about)), parts, table)
        return table[name, objects]

    def true(self, body: Expr, known: dict[str, Object], parts: set[Object], table: Table) -> bool:
        return any(self.all_true(conditions, known, parts, table) for conditions in disjuncts(body))

    def all_true(
        self, conditions: tuple[Expr, ...], known: dict[str, Object], parts: set[Object], table: Table
    ) -> bool:
        """Some objects for the locals make all conditions true; each is looked at once all its variables have one."""
        own = {name for each in conditions for name in outside(each) - set(known)}
        later = tuple(each for each in conditions if free(each) & own)
        if not all(self.one_true(each, known, parts, table) for each in conditions if each not in later):
            return False
        if not own:
            return True
        name = min(sorted(own), key=lambda name: min(len(outside(e) - set(known)) for e in later if name in outside(e)))
        return any(self.all_true(later, {**known, name: part}, parts, table) for part in parts)

    def one_true(self, condition: Expr, binding: dict[str, Object], parts: set[Object], table: Table) -> bool:
        self.looks += 1
        if self.looks > LOOKS:
            reject()  # too many objects for too many locals
        family, args, word = condition.head.family, condition.args, (*condition.head.index, "")[0]
        if family == "not":
            return not self.true(args[0], binding, parts, table)
        if family in ("all", "some"):
            among = thing_of(args[0], binding)
            each = (self.true(args[1], {**binding, word: p}, parts, table) for p in points(among or ()))
            return among is not None and (all(each) if family == "all" else any(each))
        if family == "compare":
            one, other = (value_of(arg, binding) for arg in args)
            return None not in (one, other) and bool(getattr(operator, COMPARED[word])(one, other))
        found = tuple(thing_of(arg, binding) for arg in args)
        objects = tuple(thing for thing in found if thing is not None)
        return len(objects) == len(found) and self.simply_true(family, word, objects, table)

    def simply_true(self, family: str, word: str, objects: tuple[Object, ...], table: Table) -> bool:
        if family == "call":
            lower = STRATUM[word] < min(STRATUM[name] for name, _ in table)
            return self.holds(word, *objects) if lower else table.setdefault((word, objects), False)
        if family in ("argmin", "argmax"):
            ranked = [getattr(p, word[0]) for p in points(objects[1])]
            wanted = (min if family == "argmin" else max)(ranked, default=None)
            return wanted is not None and list(points(objects[1]))[ranked.index(wanted)] == objects[0]
        return isinstance(objects[0], Point) if family == "point" else objects[0] == objects[1]


def thing_of(term: Expr, binding: dict[str, Object]) -> Object | None:
    if term.head.family == "var":
        return binding[term.head.index[0]]
    items = [thing_of(arg, binding) for arg in term.args]
    rest = items.pop() if term.head.family == "split" else ()
    if rest is None or isinstance(rest, Point) or None in items:
        return None
    return (*(item for item in items if item is not None), *rest)


def value_of(term: Expr, binding: dict[str, Object]) -> int | str | None:
    family, word = term.head.family, term.head.index[0]
    if family == "property":
        owner = thing_of(term.args[0], binding)
        return getattr(owner, word.removesuffix("_loc")) if isinstance(owner, Point) else None
    if family == "plus":
        base = value_of(term.args[0], binding)
        return None if base is None else int(base) + int(word)
    return word if family == "color" else int(word) if family == "number" else int(getattr(GRID, word))


def parts_of(thing: Object) -> Iterator[Object]:
    """All that patterns can find in an object: it, its items and theirs, and what follows the first items."""
    yield thing
    items = () if isinstance(thing, Point) else thing
    for at, item in enumerate(items):
        yield items[at + 1 :]
        yield from parts_of(item)


@cache
def disjuncts(body: Expr) -> list[tuple[Expr, ...]]:
    if body.head.family == "or":
        return [found for part in body.args for found in disjuncts(part)]
    if body.head.family == "and":
        return [sum(chosen, ()) for chosen in product(*map(disjuncts, body.args))]
    return [(body,)]


@cache
def outside(condition: Expr) -> frozenset[str]:
    """Its variables outside not and the bodies of quantifiers."""
    if condition.head.family == "not":
        return frozenset()
    if condition.head.family in ("all", "some"):
        return outside(condition.args[0])
    own = frozenset(condition.head.index) if condition.head.family == "var" else frozenset()
    return own.union(*map(outside, condition.args))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])
@given(worlds(builds=False))
def test_the_plain_meaning_is_what_the_definitions_say(world: World) -> None:
    library, pairs = world
    for name in PARAMETERS:
        assert said_by(Plainly(library), name, pairs[:3]) == said_by(ByDefinition(library), name, pairs[:3]), name


@settings(deadline=None, max_examples=150)
@given(worlds())
def test_the_fast_meaning_equals_the_plain_one(world: World) -> None:
    library, pairs = world
    exact = Exact(library, Batch.of(pairs, GRID))
    for name in PARAMETERS:
        found = exact.holds(name)
        assert found.dtype == bool
        assert found.tolist() == said_by(Plainly(library), name, pairs), name


def whole(structure: Structure) -> Expr:
    """A body that says all about the structure of X, and that the third definition is true of it."""
    number_of_leaf, checks = count(), []

    def pattern(part: Structure) -> Expr:
        if isinstance(part, tuple):
            return vector(*map(pattern, part))
        checks.append(point(var(f"leaf{next(number_of_leaf)}")))
        return checks[-1].args[0]

    return both(same(var("X"), pattern(structure)), *checks, call("third", var("X")))


def filled(structure: Structure, chosen: Iterator[Point]) -> Object:
    return next(chosen) if isinstance(structure, int) else tuple(filled(part, chosen) for part in structure)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(STRUCTURES))
def test_the_search_finds_exactly_what_the_plain_meaning_accepts(seed: int, structure: tuple[Structure, ...]) -> None:
    key = Key(seed)
    written = Writer(key / "library").library(structure)
    definitions = {**written.definitions, "whole": Definition("whole", ("X",), whole(structure))}
    library = Library(definitions, grid=GRID)
    leaves = sum(1 for _ in points(some_object(structure, key.rng())))
    places = (key / "places").rng().permutation(9)[:leaves]
    image = [Point(int(at % 3), int(at // 3), GRID.colors[at % 2]) for at in places]
    tried = [filled(structure, iter(order)) for order in permutations(image)]
    assert all_objects(library, "whole", image) == {thing for thing in tried if Plainly(library).holds("whole", thing)}


# Examples.

X, Y, A, B = var("X"), var("Y"), var("A"), var("B")
WEST = Library(
    {
        "pair": Definition("pair", ("X",), both(same(X, vector(A, B)), point(A), point(B))),
        "west": Definition("west", ("A", "B"), compare("<", prop("x_loc", B), prop("x_loc", A))),
        "first": Definition("first", ("X",), both(same(X, split((A,), Y)), extreme("argmax", "y_loc", A, X))),
    },
    grid=GRID,
)


def test_the_first_of_ties_is_the_extreme() -> None:
    tie, lower = (Point(0, 1, "red"), Point(1, 1, "blue")), (Point(0, 0, "red"), Point(1, 1, "blue"))
    assert Exact(WEST, Batch.of([tie, lower], GRID)).holds("first").tolist() == [True, False]


def test_a_relation_is_about_the_vector_of_its_objects() -> None:
    batch = Batch.of([(Point(1, 0, "red"), Point(0, 2, "red")), (Point(0, 0, "red"), Point(0, 2, "red"))], GRID)
    assert Exact(WEST, batch).holds("west").tolist() == [True, False]
    with pytest.raises(ValueError, match="'west' is about vectors of 2"):
        Exact(WEST, Batch.of([(Point(0, 0, "red"),)], GRID)).holds("west")


def test_a_call_that_is_being_decided_is_false_only_as_long_as_it_is() -> None:
    red = compare("==", prop("color", X), color("red"))
    bodies = {
        "one": either(call("other", X), red),
        "other": call("one", X),
        "each": both(call("one", X), call("other", X)),
        "never": call("never", X),
    }
    library = Library({name: Definition(name, ("X",), body) for name, body in bodies.items()}, grid=GRID)
    exact = Exact(library, Batch.of([Point(0, 0, "red"), Point(0, 0, "blue")], GRID))
    assert [exact.holds(name).tolist() for name in ("each", "one", "other", "never")] == [[True, False]] * 3 + [
        [False] * 2
    ]


def test_numbers_below_zero_are_numbers() -> None:
    below = compare("<", plus(prop("x_loc", X), -1), number(0))
    library = Library({"below": Definition("below", ("X",), below)}, grid=GRID)
    batch = Batch(0, *(np.array([[0], [1]], np.uint8),) * 3)
    assert Exact(library, batch).holds("below").tolist() == [True, False]


def test_many_rows_are_as_few() -> None:
    rng = np.random.default_rng(0)
    rows = ROWS + 7
    x, y, colors = (rng.integers(0, most, (rows, 2), np.uint8) for most in (3, 3, 2))
    batch = Batch((0, 1), x, y, colors)
    found = Exact(WEST, batch).holds("west")
    assert found.tolist() == (batch.x[:, 1] < batch.x[:, 0]).tolist()
    assert [Plainly(WEST).holds("west", *batch.object(i, GRID)) for i in range(rows - 9, rows)] == found[-9:].tolist()


def test_a_batch_has_one_structure() -> None:
    one, other = (Point(0, 0, "red"), ()), ((), Point(0, 0, "red"))
    assert Batch.of([one], GRID).structure == structure_of(one) == (0, ())
    assert Batch.of([one], GRID).object(0, GRID) == one
    with pytest.raises(ValueError, match="structures"):
        Batch.of([one, other], GRID)
    with pytest.raises(ValueError, match="a batch needs an object"):
        Batch.of([], GRID)


def test_an_unknown_concept_is_refused() -> None:
    with pytest.raises(UserError, match="there is no concept 'purple'"):
        Exact(WEST, Batch.of([()], GRID)).holds("purple")
