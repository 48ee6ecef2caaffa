"""What is known about the coordinates and colours of points: difference constraints and colour sets.

Points are numbered; coordinate 1 + 2p is the column of point p, 2 + 2p its row, and coordinate 0 is always zero. A
literal is a small tuple: `("le", u, v, c)` says u - v <= c, `("ne", u, v, c)` says u - v != c, `("in", p, mask)` that
the colour of p is in a set, `("alike", p, q)` and `("unlike", p, q)` compare two colours. Formulas over literals are
trees: True, False, a literal, `("and", trees)`, `("or", trees)`, and `("case", ((condition, tree), ...))` whose
conditions are exhaustive and exclude one another.
"""

from typing import Any

import numpy as np

from recombine.store.limit import check

Tree = Any


def x_of(point: int) -> int:
    return 1 + 2 * point


def y_of(point: int) -> int:
    return 2 + 2 * point


def equal(u: int, v: int, c: int) -> Tree:
    """u - v == c."""
    return ("and", (("le", u, v, c), ("le", v, u, -c)))


_OPPOSITE = {"alike": "unlike", "unlike": "alike"}


def negate(tree: Tree, all_colors: int) -> Tree:
    """The tree that holds where this one does not."""
    if isinstance(tree, bool):
        return not tree
    head = tree[0]
    if head == "le":
        return ("le", tree[2], tree[1], -tree[3] - 1)
    if head == "ne":
        return equal(tree[1], tree[2], tree[3])
    if head == "in":
        return ("in", tree[1], all_colors & ~tree[2])
    if head in _OPPOSITE:
        return (_OPPOSITE[head], *tree[1:])
    if head == "case":
        return ("case", tuple((condition, negate(then, all_colors)) for condition, then in tree[1]))
    parts = tuple(negate(part, all_colors) for part in tree[1])
    return _one_of_two_bounds(tree, parts) or ("or" if head == "and" else "and", parts)


def _one_of_two_bounds(tree: Tree, parts: tuple[Tree, ...]) -> Tree | None:
    """`not equal` as one literal rather than two alternatives."""
    if (
        tree[0] == "and"
        and len(tree[1]) == 2
        and all(part[0] == "le" for part in tree[1] if not isinstance(part, bool))
    ):
        a, b = tree[1]
        if not isinstance(a, bool) and not isinstance(b, bool) and b == ("le", a[2], a[1], -a[3]):
            return ("ne", a[1], a[2], a[3])
    return None


class Contradiction(Exception):
    """The constraints cannot all hold."""


class Constraints:
    """A set of constraints that is kept consistent; adding what cannot hold raises Contradiction."""

    def __init__(self, width: int, height: int, colors: int) -> None:
        self.width, self.height, self.all_colors = width, height, (1 << colors) - 1
        self.count = 0
        self.bound = np.zeros((17, 17), np.int32)  # u - v <= bound[u, v], closed under addition
        self.unequal: list[tuple[int, int, int]] = []
        self.color: list[int] = []  # the set of possible colours, at a class's first point
        self.leader: list[int] = []
        self.unlike: list[tuple[int, int]] = []
        self.clauses: list[tuple[Tree, ...]] = []  # alternatives of colour alone

    def copy(self) -> "Constraints":
        twin = object.__new__(Constraints)
        twin.__dict__.update(self.__dict__)
        twin.bound = self.bound.copy()
        for name in ("unequal", "color", "leader", "unlike", "clauses"):
            setattr(twin, name, list(getattr(self, name)))
        return twin

    @property
    def known(self) -> np.ndarray:
        """The bounds in use, int[1 + 2 points, 1 + 2 points]."""
        size = 1 + 2 * self.count
        return self.bound[:size, :size]

    def new_point(self) -> int:
        """A point anywhere on the grid, of any colour."""
        point = self.count
        self.count += 1
        size = 1 + 2 * self.count
        if size > len(self.bound):
            grown = np.zeros((2 * size, 2 * size), np.int32)
            grown[: size - 2, : size - 2] = self.bound[: size - 2, : size - 2]
            self.bound = grown
        known = self.known
        for at, most in ((x_of(point), self.width - 1), (y_of(point), self.height - 1)):
            known[at, :at] = most + known[0, :at]
            known[:at, at] = known[:at, 0]
            known[at, at] = 0
        self.color.append(self.all_colors)
        self.leader.append(point)
        return point

    def add(self, literal: Tree) -> None:
        """Add a literal and all that follows from it."""
        head = literal[0]
        if head == "le":
            self._bound(*literal[1:])
        elif head == "ne":
            self.unequal.append(literal[1:])
        elif head == "in":
            self._restrict(self.find(literal[1]), literal[2])
        elif head == "alike":
            a, b = sorted((self.find(literal[1]), self.find(literal[2])))
            self.leader[b] = a
            self._restrict(a, self.color[b])
        else:
            self.unlike.append(literal[1:])

    def _bound(self, u: int, v: int, c: int) -> None:
        known = self.known
        if known[u, v] <= c:
            return
        if known[v, u] + c < 0:
            raise Contradiction
        np.minimum(known, known[:, u, None] + (known[v] + c), out=known)

    def find(self, point: int) -> int:
        """The first point of those that must share its colour."""
        while self.leader[point] != point:
            point = self.leader[point]
        return point

    def _restrict(self, point: int, mask: int) -> None:
        self.color[point] &= mask
        if not self.color[point]:
            raise Contradiction

    def settle(self) -> None:
        """Draw the consequences of inequalities and of alternatives between colours."""
        while self._settle_places():
            check()
        while self._settle_colors() or self._settle_clauses():
            check()

    def _settle_places(self) -> bool:
        changed = False
        for u, v, c in self.unequal:
            for a, b, most in ((u, v, c), (v, u, -c)):
                if self.bound[a, b] == most:
                    self._bound(a, b, most - 1)
                    changed = True
        return changed

    def _settle_colors(self) -> bool:
        changed = False
        for p, q in self.unlike:
            a, b = self.find(p), self.find(q)
            if a == b:
                raise Contradiction
            for one, other in ((a, b), (b, a)):
                alone = self.color[one]
                if alone & (alone - 1) == 0 and self.color[other] & alone:
                    self._restrict(other, ~alone)
                    changed = True
        return changed

    def _settle_clauses(self) -> bool:
        """Drop clauses that hold, and add those that have one alternative left."""
        clauses, self.clauses, decided = self.clauses, [], False
        for clause in clauses:
            tree = self.simplify(("or", clause))
            if tree is False:
                raise Contradiction
            if tree is not True and tree[0] == "or":
                self.clauses.append(tree[1])
            elif tree is not True:
                self.add(tree)
                decided = True
        return decided

    def truth(self, literal: Tree) -> bool | None:
        """Whether a literal must hold, cannot hold, or may."""
        head = literal[0]
        if head in ("le", "ne"):
            _, u, v, c = literal
            most, least = int(self.bound[u, v]), -int(self.bound[v, u])
            if head == "le":
                return True if most <= c else False if least > c else None
            return True if most < c or least > c else False if most == least == c else None
        if head == "in":
            mask = self.color[self.find(literal[1])]
            return True if mask & ~literal[2] == 0 else False if mask & literal[2] == 0 else None
        a, b = self.find(literal[1]), self.find(literal[2])
        ma, mb = self.color[a], self.color[b]
        alike = True if a == b or (ma == mb and ma & (ma - 1) == 0) else False if ma & mb == 0 else None
        return alike if head == "alike" or alike is None else not alike

    def origin(self, u: int) -> tuple[int, int]:
        """The first coordinate that u stands at a fixed distance from, and the distance."""
        known = self.known
        first = int(np.argmax(known[u] == -known[:, u]))
        return first, int(known[u, first])

    def canonical(self, literal: Tree) -> Tree:
        """The literal about first coordinates and first points, so that equal demands look equal."""
        head = literal[0]
        if head in ("le", "ne"):
            (u, du), (v, dv) = self.origin(literal[1]), self.origin(literal[2])
            return (head, u, v, literal[3] - du + dv)
        if head == "in":
            point = self.find(literal[1])
            return (head, point, literal[2] & self.color[point])
        return (head, *sorted((self.find(literal[1]), self.find(literal[2]))))

    def simplify(self, tree: Tree) -> Tree:
        """The tree in the light of what is known."""
        if isinstance(tree, bool):
            return tree
        head = tree[0]
        if head == "case":
            live = [(self.simplify(condition), then) for condition, then in tree[1]]
            return self.simplify(("or", tuple(("and", (c, then)) for c, then in live if c is not False)))
        if head == "and":
            return self._all(tree[1])
        if head == "or":
            return self._any(tree[1])
        truth = self.truth(tree)
        return self.canonical(tree) if truth is None else truth

    def _all(self, parts: tuple[Tree, ...]) -> Tree:
        kept: dict[Tree, None] = {}
        check()
        for part in parts:
            found = self.simplify(part)
            if found is False:
                return False
            if found is not True:
                kept.update(dict.fromkeys(found[1] if found[0] == "and" else (found,)))
        return True if not kept else next(iter(kept)) if len(kept) == 1 else ("and", tuple(kept))

    def _any(self, parts: tuple[Tree, ...]) -> Tree:
        kept: dict[Tree, None] = {}
        sets: dict[int, int] = {}
        for part in parts:
            found = self.simplify(part)
            if found is True:
                return True
            for one in () if found is False else found[1] if found[0] == "or" else (found,):
                if one[0] == "in":
                    sets[one[1]] = sets.get(one[1], 0) | one[2]
                else:
                    kept[one] = None
        for point, mask in sets.items():
            if self.color[point] & ~mask == 0:
                return True
            kept[("in", point, mask)] = None
        return False if not kept else next(iter(kept)) if len(kept) == 1 else ("or", tuple(kept))


def of_color_alone(tree: Tree) -> bool:
    """Whether a tree is an alternative of colour literals."""
    return tree[0] == "or" and all(part[0] in ("in", "alike", "unlike") for part in tree[1])
