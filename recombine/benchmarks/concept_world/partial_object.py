"""Sketches: an object as far as it is known, and what is known about the coordinates and colours of its points.

Objects are numbered. What is known of one is a small tuple: `("?",)` nothing, `("!",)` that it is a point, `("p", n)`
that it is point n of the constraints, `("*",)` that it is a vector, `("()",)` the empty one, `(":", first, rest)` of
what, `("=", other)` that it is another object. Patterns make objects one. A rest is never a point.
"""

from collections.abc import Mapping
from typing import Any

from recombine.benchmarks.concept_world.constraints import (
    Constraints,
    Contradiction,
    Tree,
    equal,
    of_color_alone,
    x_of,
    y_of,
)
from recombine.benchmarks.concept_world.definition import Library
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.limit import check

MOST_POINTS = 400
"""Points of one object."""
UNKNOWN, SPOT, OPEN, EMPTY = ("?",), ("!",), ("*",), ("()",)
_MAY_BE = {"?": ("!", "p", "*", ":", "()", "?"), "!": ("!", "p"), "*": ("*", ":", "()")}
"""What an object of which so little is known may turn out to be."""

Env = Mapping[str, int]
"""The objects that variables stand for."""


class TooMany(UserError):
    """A search was stopped at a limit."""


class Sketch:
    """Objects on their way. Raises Contradiction where they cannot be."""

    def __init__(self, library: Library) -> None:
        self.library, self.grid = library, library.grid
        self.constraints = Constraints(self.grid.width, self.grid.height, len(self.grid.colors))
        self.objects: list[tuple[Any, ...]] = []
        self.trees: list[Tree] = []
        """Alternatives between constraints that are still open."""

    def copy(self) -> "Sketch":
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.constraints = self.constraints.copy()
        twin.objects, twin.trees = list(self.objects), list(self.trees)
        return twin

    def new(self, value: tuple[Any, ...] = UNKNOWN) -> int:
        self.objects.append(value)
        return len(self.objects) - 1

    def see(self, thing: int) -> int:
        """The object that an object is."""
        while self.objects[thing][0] == "=":
            thing = self.objects[thing][1]
        return thing

    def build(self, term: Expr, env: Env) -> int:
        """The object of a term."""
        if term.head.family == "var":
            return env[term.head.index[0]]
        items = [self.build(arg, env) for arg in term.args]
        rest = self._rest(items.pop()) if term.head.family == "split" else self.new(EMPTY)
        return self.vector(items, rest)

    def _rest(self, thing: int) -> int:
        thing = self.see(thing)
        if self.objects[thing] == UNKNOWN:
            self.objects[thing] = OPEN
        elif self.objects[thing][0] in _MAY_BE["!"]:
            raise Contradiction
        return thing

    def vector(self, items: list[int], rest: int) -> int:
        """The vector of these items before a rest."""
        for item in reversed(items):
            rest = self.new((":", item, rest))
        return rest

    # What is known of an object.

    def items(self, thing: int) -> list[int] | None:
        """The elements of a vector, None where its end is not known."""
        found, thing = [], self.see(thing)
        while self.objects[thing][0] == ":":
            found.append(self.see(self.objects[thing][1]))
            thing = self.see(self.objects[thing][2])
        return found if self.objects[thing] == EMPTY else None

    def points(self, thing: int) -> list[int] | None:
        """The objects that are its points, in order; None where they are not all known."""
        thing = self.see(thing)
        if self.objects[thing][0] == "p":
            return [thing]
        items = self.items(thing)
        if items is None:
            return None
        found: list[int] = []
        for item in items:
            inner = self.points(item)
            if inner is None:
                return None
            found += inner
        return found

    def point(self, thing: int) -> int:
        """The number of a point among the constraints."""
        return int(self.objects[self.see(thing)][1])

    def is_point(self, thing: int) -> bool:
        return bool(self.objects[self.see(thing)][0] == "p")

    def identity(self, thing: int) -> Any:
        """Equal for known objects that must be equal."""
        thing = self.see(thing)
        if self.objects[thing][0] == "p":
            return thing
        return tuple(map(self.identity, self.items(thing) or ()))

    def is_same(self, a: int, b: int) -> bool:
        """Whether two objects are one by all that is known of them."""
        todo = [(a, b)]
        while todo:
            a, b = map(self.see, todo.pop())
            if self.objects[a][0] == self.objects[b][0] == ":":
                todo += zip(self.objects[a][1:], self.objects[b][1:])
            elif a != b and not self.objects[a] == self.objects[b] == EMPTY:
                return False
        return True

    def inside(self, thing: int) -> set[int]:
        """The object and its parts."""
        found, todo = set(), [thing]
        while todo:
            thing = self.see(todo.pop())
            if thing not in found:
                found.add(thing)
                if self.objects[thing][0] == ":":
                    todo += self.objects[thing][1:]
        return found

    # Saying more.

    def need_point(self, thing: int) -> None:
        """Let an object be a point, whichever."""
        thing = self.see(thing)
        if self.objects[thing] == UNKNOWN:
            self.objects[thing] = SPOT
        elif self.objects[thing][0] not in _MAY_BE["!"]:
            raise Contradiction

    def make_point(self, thing: int) -> None:
        """Let an object be a point of its own, unless it is one already."""
        thing = self.see(thing)
        if self.objects[thing] in (UNKNOWN, SPOT):
            if self.constraints.count >= MOST_POINTS:
                raise TooMany(f"an object of more than {MOST_POINTS} points is too large to plan")
            self.objects[thing] = ("p", self.constraints.new_point())
        elif self.objects[thing][0] != "p":
            raise Contradiction

    def unify(self, a: int, b: int) -> None:
        """Make two objects one."""
        todo = [(a, b)]
        while todo:
            a, b = map(self.see, todo.pop())
            if a == b:
                continue
            if self._may_be(a, b):
                self._bind(a, b)
            elif self._may_be(b, a):
                self._bind(b, a)
            elif self.objects[a][0] != self.objects[b][0]:
                raise Contradiction
            elif self.objects[a][0] == ":":
                todo += zip(self.objects[a][:0:-1], self.objects[b][:0:-1])
            elif self.objects[a][0] == "p":
                self.assert_tree(same_point(self.objects[a][1], self.objects[b][1]))
                self.objects[a] = ("=", b)

    def _may_be(self, a: int, b: int) -> bool:
        """Whether so little is known of a that it can be b."""
        return self.objects[b][0] in _MAY_BE.get(self.objects[a][0], ())

    def _bind(self, a: int, b: int) -> None:
        if a in self.inside(b):
            raise Contradiction
        self.objects[a] = ("=", b)

    def assert_tree(self, tree: Tree) -> None:
        """Let a tree hold, as far as that can be done without a choice."""
        check()
        tree = self.constraints.simplify(tree)
        if tree is False:
            raise Contradiction
        if tree is True:
            return
        if tree[0] == "and":
            for part in tree[1]:
                self.assert_tree(part)
        elif of_color_alone(tree):
            self.constraints.clauses.append(tree[1])
        elif tree[0] == "or":
            self.trees.append(tree)
        else:
            self.constraints.add(tree)


def same_point(p: int, q: int) -> Tree:
    """Two points are one."""
    parts = (equal(x_of(p), x_of(q), 0), equal(y_of(p), y_of(q), 0), ("alike", p, q))
    return True if p == q else ("and", parts)
