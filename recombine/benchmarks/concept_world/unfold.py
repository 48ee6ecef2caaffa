"""What a definition says about the points of an object whose structure is known.

The points of the object are its leaves, numbered. Once the structure is known, patterns are decided, quantifiers are
conjunctions and disjunctions over leaves, and calls are replaced by what they say: what is left compares properties of
leaves, and of picks (the first leaf where a property is extreme).

>>> from recombine.benchmarks.concept_world.definition import Definition, Library
>>> from recombine.benchmarks.concept_world.formula import call, every, extreme, prop, var, vector, write
>>> x, y, X = var("x"), var("y"), var("X")
>>> body = both(same(X, vector(x, y)), every("p", X, compare("==", prop("x_loc", var("p")), prop("x_loc", y))))
>>> leaves = Leaves(Library({"column": Definition("column", ("X",), body)}))
>>> write(leaves.call("column", (of_structure((0, 1)),)))
'0.x_loc == 1.x_loc and 1.x_loc == 1.x_loc'
>>> leaves.call("column", (of_structure((0, 1, 2)),)) is FALSE
True
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from recombine.benchmarks.concept_world.definition import Library
from recombine.benchmarks.concept_world.formula import both, compare, either, no, plus, prop, same, var
from recombine.benchmarks.concept_world.reference import DEPTH, definition_of, flat, is_known, next_ready, too_deep
from recombine.language.expr import Expr, Symbol, subterms
from recombine.store.limit import check

Structure = int | tuple["Structure", ...]
"""An object with the numbers of leaves in the place of points."""
Thing = Expr | tuple["Thing", ...]
"""An object with leaves and picks in the place of points."""
Binding = Mapping[str, Thing]
TRUE, FALSE = both(), either()
NEVER = DEPTH + 1
"""A call deeper than any."""


class Source(NamedTuple):
    """Where a condition over leaves comes from."""

    path: tuple[str, ...]
    condition: Expr
    binding: Binding


class Leaves:
    """The meaning of a library as conditions over leaves. `sources` says where the conditions come from."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.sources: dict[Expr, Source] = {}
        self._calls: dict[tuple[str, tuple[Thing, ...]], Expr] = {}
        self._above: dict[tuple[str, tuple[Thing, ...]], int] = {}
        self._path: tuple[str, ...] = ()
        self._leaned = NEVER  # the outermost call that was taken to be false because it is being decided

    def call(self, name: str, things: tuple[Thing, ...]) -> Expr:
        """What the definition says of these objects; what can only be proved by itself is false."""
        key = name, things
        if key in self._calls:
            return self._calls[key]
        if key in self._above:
            self._leaned = min(self._leaned, self._above[key])
            return FALSE
        return self._decided(key)

    def _decided(self, key: tuple[str, tuple[Thing, ...]]) -> Expr:
        name, things = key
        definition = definition_of(self.library, name, len(things))
        depth, before = len(self._above), self._leaned
        if depth == DEPTH:
            raise too_deep(next(iter(self._above))[0])
        self._above[key], self._leaned = depth, NEVER
        try:
            found = self._all_of([definition.body], dict(zip(definition.parameters, things)))
        finally:
            del self._above[key]
            leaned, self._leaned = self._leaned, min(before, self._leaned)
        if leaned >= depth:  # else it may be true where that call is not being decided
            self._calls[key] = found
            self._leaned = before
        return found

    def formula(self, formula: Expr, binding: Binding, path: tuple[str, ...] = ()) -> Expr:
        """What a formula, reached through these definitions, says with these objects for its variables."""
        self._path = path
        return self._all_of([formula], binding)

    def _all_of(self, conditions: Iterable[Expr], binding: Binding) -> Expr:
        pending = [condition for condition in flat(conditions) if isinstance(condition, Expr)]
        parts: list[Expr] = []
        while pending:
            check()
            at, ready = next_ready(pending, binding)
            condition = pending.pop(at)
            if not ready:
                tried = ((*pending[:at], part, *pending[at:]) for part in condition.args)
                found = (self._all_of(part, binding) for part in tried)
                return conjunction((*parts, self._noted(condition, binding, disjunction(found))))
            binding, part = self._condition(condition, binding)
            if part is FALSE:
                return FALSE
            parts.append(part)
        return conjunction(parts)

    def _condition(self, condition: Expr, binding: Binding) -> tuple[Binding, Expr]:
        """What the condition makes known and what it says."""
        if condition.head.family in ("same", "argmin", "argmax"):
            binding, part = self._bound(condition, binding)
        else:
            part = self._said(condition, binding)
        return binding, self._noted(condition, binding, part)

    def _noted(self, condition: Expr, binding: Binding, part: Expr) -> Expr:
        """What a condition says, with a note where it comes from; the parts of a conjunction may have theirs."""
        for new in part.args if part.head.family == "and" else (part,):
            if new not in self.sources and new is not FALSE:
                self.sources[new] = Source((*self._path, *(name for name, _ in self._above)), condition, binding)
        return part

    def _bound(self, condition: Expr, binding: Binding) -> tuple[Binding, Expr]:
        left, right = condition.args
        if condition.head.family == "same":
            pattern, known = (right, left) if is_known(left, binding) else (left, right)
            found = built(known, binding)
        else:
            pattern, among = left, built(right, binding)
            found = pick(condition.head.family, condition.head.index[0], leaves_of(among))
        return matched(pattern, found, binding) if found is not None else (binding, FALSE)

    def _said(self, condition: Expr, binding: Binding) -> Expr:
        family, args = condition.head.family, condition.args
        if family == "call":
            things = tuple(built(arg, binding) for arg in args)
            known = tuple(thing for thing in things if thing is not None)
            return self.call(condition.head.index[0], known) if len(known) == len(things) else FALSE
        if family == "point":
            return TRUE if isinstance(built(args[0], binding), Expr) else FALSE
        if family == "not":
            return negation(self._all_of(args, binding))
        if family == "or":
            return disjunction(self._all_of((part,), binding) for part in args)
        return self._compared(condition, binding) if family == "compare" else self._quantified(condition, binding)

    def _quantified(self, condition: Expr, binding: Binding) -> Expr:
        (among, says), (name,) = condition.args, condition.head.index
        thing = built(among, binding)
        if thing is None:
            return FALSE
        each = (self._all_of((says,), {**binding, name: leaf}) for leaf in leaves_of(thing))
        return conjunction(each) if condition.head.family == "all" else disjunction(each)

    def _compared(self, condition: Expr, binding: Binding) -> Expr:
        left, right = (value_of(arg, binding) for arg in condition.args)
        return FALSE if left is None or right is None else compare(condition.head.index[0], left, right)


# Conditions.


def conjunction(parts: Iterable[Expr]) -> Expr:
    """All of these, each once."""
    found: dict[Expr, None] = {}
    for part in parts:
        if part is FALSE:
            return FALSE
        found.update(dict.fromkeys(part.args if part.head.family == "and" else (part,)))
    return both(*found)


def disjunction(parts: Iterable[Expr]) -> Expr:
    """At least one of these, each once."""
    found: dict[Expr, None] = {}
    for part in parts:
        if part is TRUE:
            return TRUE
        found.update(dict.fromkeys(part.args if part.head.family == "or" else (part,)))
    return either(*found)


def negation(part: Expr) -> Expr:
    return FALSE if part is TRUE else TRUE if part is FALSE else no(part)


def value_of(value: Expr, binding: Binding) -> Expr | None:
    """A value with leaves for variables; a vector has no properties."""
    family, word = value.head.family, value.head.index[0]
    if family == "property":
        owner = built(value.args[0], binding)
        return prop(word, owner) if isinstance(owner, Expr) else None
    if family == "plus":
        base = value_of(value.args[0], binding)
        return None if base is None else plus(base, int(word))
    return value


# Objects.


def leaf(number: int) -> Expr:
    return var(str(number))


def of_structure(structure: Structure) -> Thing:
    """The object of this structure."""
    return leaf(structure) if isinstance(structure, int) else tuple(map(of_structure, structure))


def leaves_of(thing: Thing | None) -> Iterator[Expr]:
    """Leaves and picks in order, forgetting the structure."""
    if isinstance(thing, Expr):
        yield thing
    for item in thing if isinstance(thing, tuple) else ():
        yield from leaves_of(item)


def numbers(term: Expr) -> frozenset[int]:
    """The numbers of the leaves that a condition speaks about."""
    return frozenset(int(part.head.index[0]) for part in subterms(term) if part.head.family == "var")


def pick(kind: str, name: str, among: Iterable[Expr]) -> Expr | None:
    """The first of these where the property is extreme; of one, itself; of none, nothing."""
    found = tuple(among)
    if len(found) < 2:
        return found[0] if found else None
    return Expr(Symbol("pick", (kind, name, str(len(found))), ("object",) * len(found), "object"), found)


def built(term: Expr, binding: Binding) -> Thing | None:
    """The object that a term of known variables stands for; None for a vector whose rest is a point."""
    if term.head.family == "var":
        return binding[term.head.index[0]]
    items = tuple(item for arg in term.args if (item := built(arg, binding)) is not None)
    if term.head.family == "vector" or len(items) < len(term.args):
        return items if len(items) == len(term.args) else None
    *heads, rest = items
    return None if isinstance(rest, Expr) else (*heads, *rest)


def matched(pattern: Expr, thing: Thing, binding: Binding) -> tuple[Binding, Expr]:
    """What the pattern makes known, and what must be true for it to match."""
    if pattern.head.family == "var":
        name = pattern.head.index[0]
        return (binding, equal(binding[name], thing)) if name in binding else ({**binding, name: thing}, TRUE)
    items = divided(thing, len(pattern.args), pattern.head.family == "split")
    if items is None:
        return binding, FALSE
    parts = []
    for part, item in zip(pattern.args, items):
        binding, says = matched(part, item, binding)
        parts.append(says)
    return binding, conjunction(parts)


def divided(thing: Thing, size: int, rest: bool) -> tuple[Thing, ...] | None:
    """The items of a vector, so many; with a rest, the last is what follows the others."""
    if isinstance(thing, Expr):
        return None
    items = (*thing[: size - 1], thing[size - 1 :]) if rest and len(thing) >= size - 1 else thing
    return items if len(items) == size else None


def equal(one: Thing, other: Thing) -> Expr:
    """The same object: of the same structure, with the same points."""
    if isinstance(one, Expr) and isinstance(other, Expr):
        return TRUE if one is other else same(one, other)
    if isinstance(one, Expr) or isinstance(other, Expr) or len(one) != len(other):
        return FALSE
    return conjunction(equal(a, b) for a, b in zip(one, other))
