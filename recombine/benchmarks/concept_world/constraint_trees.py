"""Formulas about known objects as trees of constraints.

Once the points of objects are known, quantifiers are conjunctions and alternatives over points, patterns fit or do not,
and argmin and argmax are cases, one for each point that may be the extreme one.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from recombine.benchmarks.concept_world.constraints import Contradiction, Tree, equal, negate, x_of, y_of
from recombine.benchmarks.concept_world.formula import variables
from recombine.benchmarks.concept_world.partial_object import Env, Sketch, same_point
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.limit import check

Within = tuple[tuple[str, Any], ...]
"""The calls that a formula is inside of, with the identities of their objects."""


class Ground(NamedTuple):
    """What formulas say about the objects of a sketch."""

    sketch: Sketch

    def tree(self, parts: list[Expr], env: Env, within: Within = ()) -> Tree:
        """A conjunction as a tree; locals are found through patterns, argmin and argmax."""
        found: list[Tree] = []
        parts = [inner for part in parts for inner in (part.args if part.head.family == "and" else (part,))]
        while parts:
            check()
            at = next((i for i in range(len(parts)) if _ready(parts, i, env)), None)
            if at is None:
                return ("and", (*found, self._spread(parts, env, within)))
            part = parts.pop(at)
            try:
                if part.head.family in ("argmin", "argmax"):
                    return ("and", (*found, self._by_extreme(part, parts, env, within)))
                env, tree = (
                    self._match(part, env) if part.head.family == "same" else (env, self._one(part, env, within))
                )
            except Contradiction:  # it names a vector whose rest is a point: there is none
                return False
            if tree is False:
                return False
            found.append(tree)
        return ("and", tuple(found)) if len(found) != 1 else found[0]

    def _spread(self, parts: list[Expr], env: Env, within: Within) -> Tree:
        """A disjunction that binds what the other parts need: each of its alternatives with all of them."""
        choice = next((part for part in parts if part.head.family == "or"), None)
        if choice is None:
            loose = sorted(frozenset().union(*map(free, parts)) - set(env))
            raise UserError(f"nothing says what {', '.join(loose)} is; tie it to a parameter by a pattern")
        others = [part for part in parts if part is not choice]
        return ("or", tuple(self.tree([alternative, *others], env, within) for alternative in choice.args))

    def _one(self, part: Expr, env: Env, within: Within) -> Tree:
        family = part.head.family
        if family == "or":
            return ("or", tuple(self.tree([alternative], env, within) for alternative in part.args))
        if family == "not":
            return negate(self.tree([part.args[0]], env, within), self.sketch.constraints.all_colors)
        if family in ("all", "some"):
            among = self.sketch.points(self.sketch.build(part.args[0], env)) or []
            name = part.head.index[0]
            return (
                "and" if family == "all" else "or",
                tuple(self.tree([part.args[1]], {**env, name: point}, within) for point in among),
            )
        if family == "call":
            return self._call(part, env, within)
        if family == "point":
            return self.sketch.is_point(self.sketch.build(part.args[0], env))
        return self.comparison(part, env)

    def _call(self, part: Expr, env: Env, within: Within) -> Tree:
        name = part.head.index[0]
        args = tuple(self.sketch.build(arg, env) for arg in part.args)
        this = (name, tuple(map(self.sketch.identity, args)))
        if this in within:
            return False
        definition = self.sketch.library.definitions[name]
        return self.tree([definition.body], dict(zip(definition.parameters, args)), (*within, this))

    # Patterns.

    def _match(self, part: Expr, env: Env) -> tuple[Env, Tree]:
        """Bind the variables of a pattern; the tree says which points must be equal."""
        a, b = part.args if free(part.args[0]) <= env.keys() else part.args[::-1]
        return self._fit(b, self.sketch.build(a, env), env)

    def _fit(self, pattern: Expr, thing: int, env: Env) -> tuple[Env, Tree]:
        family = pattern.head.family
        if family == "var":
            name = pattern.head.index[0]
            return (env, self._equal(env[name], thing)) if name in env else ({**env, name: thing}, True)
        items = None if self.sketch.is_point(thing) else self.sketch.items(thing)
        heads = pattern.args if family == "vector" else pattern.args[:-1]
        if items is None or len(items) < len(heads) or (family == "vector" and len(items) != len(heads)):
            return env, False
        pairs = list(zip(heads, items))
        if family == "split":
            rest = self.sketch.see(thing)
            for _ in heads:
                rest = self.sketch.see(self.sketch.objects[rest][2])
            pairs.append((pattern.args[-1], rest))
        trees = []
        for inner, item in pairs:
            env, tree = self._fit(inner, item, env)
            if tree is False:
                return env, False
            trees.append(tree)
        return env, ("and", tuple(trees))

    def _equal(self, a: int, b: int) -> Tree:
        """The tree that says that two known objects are equal."""
        sketch = self.sketch
        if sketch.identity(a) == sketch.identity(b):
            return True
        if sketch.is_point(a) and sketch.is_point(b):
            return same_point(sketch.point(a), sketch.point(b))
        if sketch.is_point(a) or sketch.is_point(b):
            return False
        ours, theirs = sketch.items(a) or [], sketch.items(b) or []
        if len(ours) != len(theirs):
            return False
        return ("and", tuple(self._equal(x, y) for x, y in zip(ours, theirs)))

    # Extremes.

    def _by_extreme(self, part: Expr, others: list[Expr], env: Env, within: Within) -> Tree:
        """One case for each point that may be the extreme one."""
        picked = part.args[0].head.index[0]
        cases = []
        for thing, condition in self.extremes(part, env):
            condition = self.sketch.constraints.simplify(condition)
            if condition is False:
                continue
            if picked in env:
                then = ("and", (self._equal(env[picked], thing), self.tree(others, env, within)))
            else:
                then = self.tree(others, {**env, picked: thing}, within)
            cases.append((condition, then))
        return ("case", tuple(cases)) if cases else False

    def extremes(self, part: Expr, env: Env) -> list[tuple[int, Tree]]:
        """Each point of the object, with the condition that it is the first extreme one."""
        among = self.sketch.points(self.sketch.build(part.args[1], env)) or []
        at = x_of if part.head.index[0] == "x_loc" else y_of
        spots = [at(self.sketch.point(thing)) for thing in among]
        sign = 1 if part.head.family == "argmin" else -1
        return [(thing, _first_extreme(spots, i, sign)) for i, thing in enumerate(among)]

    # Comparisons.

    def comparison(self, part: Expr, env: Env) -> Tree:
        """A comparison of two values as a tree; False where something is not a point."""
        for name in variables(part):
            if not self.sketch.is_point(env[name]):
                return False
        (kind,), (a, b) = part.head.index, part.args
        if "color" in (a.head.family, b.head.family) or ("color",) in (a.head.index, b.head.index):
            return self._color_comparison(kind, a, b, env)
        (u, c), (v, d) = self._place(a, env), self._place(b, env)
        c = d - c  # u - v against c
        if kind == "==":
            return equal(u, v, c)
        if kind == "!=":
            return ("ne", u, v, c)
        less = {"<": ("le", u, v, c - 1), "<=": ("le", u, v, c), ">": ("le", v, u, -c - 1), ">=": ("le", v, u, -c)}
        return less[kind]

    def _place(self, value: Expr, env: Env) -> tuple[int, int]:
        """A number as a coordinate plus a constant."""
        family, word = value.head.family, value.head.index[0]
        if family == "plus":
            u, c = self._place(value.args[0], env)
            return u, c + int(word)
        if family == "number":
            return 0, int(word)
        if family == "size":
            return 0, getattr(self.sketch.grid, word)
        point = self.sketch.point(self.sketch.build(value.args[0], env))
        return (x_of if word == "x_loc" else y_of)(point), 0

    def _color_comparison(self, kind: str, a: Expr, b: Expr, env: Env) -> Tree:
        if a.head.family == "color":
            a, b = b, a
        if a.head.family == "color":
            return (a is b) == (kind == "==")
        p = self.sketch.point(self.sketch.build(a.args[0], env))
        if b.head.family == "color":
            mask = 1 << self.sketch.grid.colors.index(b.head.index[0])
            return ("in", p, mask if kind == "==" else self.sketch.constraints.all_colors & ~mask)
        return ("alike" if kind == "==" else "unlike", p, self.sketch.point(self.sketch.build(b.args[0], env)))


def _ready(parts: list[Expr], at: int, env: Env) -> bool:
    """Whether all that a part needs is bound; what only a `not`, an `or` or a quantifier speaks of is its own."""
    part, known = parts[at], env.keys()
    family = part.head.family
    if family == "same":
        return any(free(side) <= known for side in part.args)
    if family in ("argmin", "argmax"):
        return free(part.args[1]) <= known
    if family in ("all", "some") and not free(part.args[0]) <= known:
        return False
    own = free(part) - known
    others = (other for i, other in enumerate(parts) if i != at)
    return not own or (family in ("not", "or", "all", "some") and all(own.isdisjoint(free(other)) for other in others))


def _first_extreme(spots: list[int], i: int, sign: int) -> Tree:
    u = spots[i]
    ordered = ((u, v) if sign > 0 else (v, u) for v in spots)
    return ("and", tuple(("le", a, b, -1 if j < i else 0) for j, (a, b) in enumerate(ordered) if j != i))


@lru_cache(maxsize=100_000)
def free(term: Expr) -> frozenset[str]:
    """The variables of a term that no quantifier in it brings."""
    if term.head.family == "var":
        return frozenset(term.head.index)
    if term.head.family in ("all", "some"):
        among, says = term.args
        return free(among) | (free(says) - set(term.head.index))
    return frozenset().union(*map(free, term.args))


@lru_cache(maxsize=100_000)
def outer_variables(formula: Expr) -> tuple[str, ...]:
    """The variables of a formula that are not local to a `not` or a quantifier inside it."""
    family = formula.head.family
    if family == "not":
        return ()
    if family in ("all", "some"):
        return outer_variables(formula.args[0])
    if family == "var":
        return formula.head.index
    return tuple(dict.fromkeys(name for arg in formula.args for name in outer_variables(arg)))
