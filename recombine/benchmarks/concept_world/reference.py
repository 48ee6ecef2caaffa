"""The plain meaning: is a definition true of these objects, by which definitions, and if not, why not?

A body is proved condition by condition. A condition is ready when its objects are known; a pattern that matches and
an argmin or argmax make further objects known. Where nothing else is ready, each alternative of a disjunction is tried.

>>> from recombine.benchmarks.concept_world.definition import Definition, Library, Point
>>> from recombine.benchmarks.concept_world.formula import color, compare, every, prop, var
>>> says = compare("==", prop("color", var("x")), color("red"))
>>> plainly = Plainly(Library({"red": Definition("red", ("X",), every("x", var("X"), says))}))
>>> plainly.holds("red", (Point(0, 0, "red"), Point(1, 0, "red")))
True
>>> plainly.why_not("red", (Point(0, 0, "red"), Point(3, 4, "blue")))
'red: x.color == red fails for x = (3, 4) blue'
"""

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from recombine.benchmarks.concept_world.definition import Definition, Library, Object, Point, points
from recombine.benchmarks.concept_world.formula import write
from recombine.language.expr import Expr, Symbol
from recombine.store.errors import UserError
from recombine.store.limit import check

DEPTH = 100
"""Definitions inside one another before a proof is given up."""
SHOWN = 6
"""Points of an object that a sentence lists."""
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FIELD = {"x_loc": "x", "y_loc": "y", "color": "color"}
"""What a property is called in a Point."""

Binding = Mapping[str, Object]
Proofs = tuple[Expr, ...]
"""The derivations of the calls in a formula, in the order of its text."""
Calls = tuple[tuple[str, tuple[Object, ...]], ...]
"""The calls that are being proved, outermost first."""


class Miss(NamedTuple):
    """Why a formula fails: how many conditions held before, through which definitions, and what does not hold."""

    held: int
    path: tuple[str, ...]
    words: str

    def after(self, held: int) -> "Miss":
        return self._replace(held=self.held + held)

    def inside(self, name: str) -> "Miss":
        return self._replace(path=(name, *self.path))


Outcome = tuple[Binding, Proofs] | Miss


class Plainly:
    """The meaning of a library, one object at a time."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def holds(self, name: str, *objects: Object) -> bool:
        """Is the definition true of these objects?"""
        return isinstance(self._proved(name, objects), Expr)

    def derivation(self, name: str, *objects: Object) -> Expr | None:
        """Which definitions make it true, the first alternative that does; None where it is false."""
        proved = self._proved(name, objects)
        return proved if isinstance(proved, Expr) else None

    def why_not(self, name: str, *objects: Object) -> str:
        """The first condition that fails, of alternatives in the one that gets furthest; empty where it is true."""
        proved = self._proved(name, objects)
        return "" if isinstance(proved, Expr) else f"{' → '.join(proved.path)}: {proved.words}"

    def _proved(self, name: str, objects: tuple[Object, ...]) -> Expr | Miss:
        try:
            return self._name(name, objects, ())
        except RecursionError:
            raise too_deep(name) from None

    def _name(self, name: str, objects: tuple[Object, ...], above: Calls) -> Expr | Miss:
        """The least fixpoint: what can only be proved by itself is false."""
        definition = definition_of(self.library, name, len(objects))
        if (name, objects) in above:
            return Miss(0, (name,), "needs itself with the same objects")
        if len(above) == DEPTH:
            raise too_deep(above[0][0])
        binding = dict(zip(definition.parameters, objects))
        proofs = self._all_of((definition.body,), binding, (*above, (name, objects)))
        return proofs.inside(name) if isinstance(proofs, Miss) else derived(name, proofs)

    def _all_of(self, conditions: Iterable[Expr | Proofs], binding: Binding, above: Calls) -> Proofs | Miss:
        """Prove conditions; those proved before stand as their proofs."""
        items = list(flat(conditions))
        while pending := {i: item for i, item in enumerate(items) if isinstance(item, Expr)}:
            check()
            chosen, ready = next_ready(list(pending.values()), binding)
            at, condition = list(pending.items())[chosen]
            if not ready:
                tried = ((*items[:at], part, *items[at + 1 :]) for part in condition.args)
                return furthest(self._all_of(parts, binding, above) for parts in tried)
            outcome = self._condition(condition, binding, above)
            if isinstance(outcome, Miss):
                return outcome.after(len(items) - len(pending))
            binding, items[at] = outcome
        return tuple(proof for proofs in items if isinstance(proofs, tuple) for proof in proofs)

    def _condition(self, condition: Expr, binding: Binding, above: Calls) -> Outcome:
        """The binding and the proofs where it holds."""
        family = condition.head.family
        if family in ("same", "argmin", "argmax"):
            bound = self._bound(condition, binding)
            return (bound, ()) if bound is not None else missed(condition, binding)
        if family == "all":
            return self._all(condition, binding, above)
        if family == "or":
            return self._or(condition, binding, above)
        if family == "call":
            return self._call(condition, binding, above)
        return (binding, ()) if self._true(condition, binding, above) else missed(condition, binding)

    def _bound(self, condition: Expr, binding: Binding) -> Binding | None:
        """What a pattern or an extreme makes known besides; None where it does not match."""
        left, right = condition.args
        if condition.head.family == "same":
            pattern, known = (right, left) if is_known(left, binding) else (left, right)
            found = built(known, binding)
        else:
            pattern, found = left, _extreme(condition, binding)
        return None if found is None else matched(pattern, found, binding)

    def _all(self, condition: Expr, binding: Binding, above: Calls) -> Outcome:
        among = built(condition.args[0], binding)
        if among is None:
            return missed(condition, binding)
        for point in points(among):
            proofs = self._all_of(condition.args[1:], {**binding, condition.head.index[0]: point}, above)
            if isinstance(proofs, Miss):
                return proofs
        return binding, ()

    def _or(self, condition: Expr, binding: Binding, above: Calls) -> Outcome:
        """An alternative whose locals nobody else needs: the first that holds."""
        proofs = furthest(self._all_of((part,), binding, above) for part in condition.args)
        if isinstance(proofs, Miss):
            return proofs
        return binding, () if self._colors_alone(condition, set()) else proofs

    def _call(self, condition: Expr, binding: Binding, above: Calls) -> Outcome:
        objects = [built(arg, binding) for arg in condition.args]
        known = tuple(thing for thing in objects if thing is not None)
        if len(known) < len(objects):
            return missed(condition, binding)
        proof = self._name(condition.head.index[0], known, above)
        return proof if isinstance(proof, Miss) else (binding, (proof,))

    def _true(self, condition: Expr, binding: Binding, above: Calls) -> bool:
        """A condition that binds nothing and that no derivation looks into."""
        family, args = condition.head.family, condition.args
        if family == "point":
            return isinstance(built(args[0], binding), Point)
        if family == "not":
            return isinstance(self._all_of(args, binding, above), Miss)
        if family == "some":
            among = built(args[0], binding)
            name = condition.head.index[0]
            each = points(among) if among is not None else ()
            return any(not isinstance(self._all_of(args[1:], {**binding, name: p}, above), Miss) for p in each)
        left, right = (self._value(arg, binding) for arg in args)
        return left is not None and right is not None and COMPARE[condition.head.index[0]](left, right)

    def _value(self, value: Expr, binding: Binding) -> int | str | None:
        """A number or a colour; a vector has no properties."""
        family, word = value.head.family, value.head.index[0]
        if family == "property":
            owner = built(value.args[0], binding)
            return getattr(owner, FIELD[word]) if isinstance(owner, Point) else None
        if family == "plus":
            base = self._value(value.args[0], binding)
            return base + int(word) if isinstance(base, int) else None
        if family == "size":
            return self.library.grid.width if word == "width" else self.library.grid.height
        return int(word) if family == "number" else word

    def _colors_alone(self, condition: Expr, seen: set[str]) -> bool:
        """Does it speak, through all its calls, of nothing but colours?"""
        family = condition.head.family
        if family == "call":
            name = condition.head.index[0]
            known = name in seen
            seen.add(name)
            body = definition_of(self.library, name, len(condition.args)).body
            return known or self._colors_alone(body, seen)
        if family == "compare":
            return any(_is_color(side) for side in condition.args)
        parts = [arg for arg in condition.args if arg.head.out == "formula"]
        return family == "point" or (bool(parts) and all(self._colors_alone(part, seen) for part in parts))


def _is_color(value: Expr) -> bool:
    return value.head.family == "color" or (value.head.family == "property" and value.head.index[0] == "color")


def derived(name: str, proofs: Proofs) -> Expr:
    """The derivation by this definition from those of its calls."""
    return Expr(Symbol("by", (name, str(len(proofs))), ("proof",) * len(proofs), "proof"), proofs)


def definition_of(library: Library, name: str, objects: int) -> Definition:
    """The definition of a name that speaks about so many objects."""
    if name not in library.definitions:
        raise UserError(f"there is no concept '{name}'; the library has {', '.join(sorted(library.definitions))}")
    definition = library.definitions[name]
    wanted = len(definition.parameters)
    if wanted != objects:
        raise UserError(f"'{name}' is about {counted(wanted, 'object')}, not {objects}")
    return definition


def too_deep(name: str) -> UserError:
    return UserError(f"'{name}' is still not decided after {DEPTH} definitions inside one another; does it ever end?")


# Which objects are known, and which condition comes next.


@cache
def free(term: Expr) -> frozenset[str]:
    """The variables of a term that no quantifier in it binds."""
    if term.head.family == "var":
        return frozenset(term.head.index)
    if term.head.family in ("all", "some"):
        among, says = term.args
        return free(among) | (free(says) - {term.head.index[0]})
    return frozenset().union(*map(free, term.args))


def is_known(term: Expr, known: Collection[str]) -> bool:
    return all(name in known for name in free(term))


class Next(NamedTuple):
    """Which condition is next; where it is not ready, it is a disjunction that makes objects known."""

    at: int
    ready: bool


def next_ready(pending: Sequence[Expr], known: Collection[str]) -> Next:
    """The first condition that is ready, or else the first disjunction."""
    for at, condition in enumerate(pending):
        if _ready(condition, known, pending[:at], pending[at + 1 :]):
            return Next(at, True)
    for at, condition in enumerate(pending):
        if condition.head.family == "or":
            return Next(at, False)
    loose = sorted(free(pending[0]) - set(known))
    raise UserError(f"nothing ties {', '.join(loose)} to the parameters in '{write(pending[0])}'; add a pattern")


def _ready(condition: Expr, known: Collection[str], *others: Sequence[Expr]) -> bool:
    """A variable inside not, or, all, some that no other condition has is their own."""
    family, args = condition.head.family, condition.args
    if family == "same":
        return is_known(args[0], known) or is_known(args[1], known)
    if family in ("argmin", "argmax"):
        return is_known(args[1], known)
    if family not in ("not", "or", "all", "some"):
        return is_known(condition, known)
    unknown = free(condition) - set(known)
    if family in ("all", "some") and not is_known(args[0], known):
        return False
    return not any(unknown & free(other) for other in chain(*others))


def flat(conditions: Iterable[Expr | Proofs]) -> Iterator[Expr | Proofs]:
    """Conditions with the parts of conjunctions in their place."""
    for condition in conditions:
        if isinstance(condition, Expr) and condition.head.family == "and":
            yield from flat(condition.args)
        else:
            yield condition


# Objects and patterns.


def built(term: Expr, binding: Binding) -> Object | None:
    """The object that a term of known variables stands for; None for a vector whose rest is a point."""
    if term.head.family == "var":
        return binding[term.head.index[0]]
    items = tuple(item for arg in term.args if (item := built(arg, binding)) is not None)
    if term.head.family == "vector" or len(items) < len(term.args):
        return items if len(items) == len(term.args) else None
    *heads, rest = items
    return None if isinstance(rest, Point) else (*heads, *rest)


def matched(pattern: Expr, thing: Object, binding: Binding) -> Binding | None:
    """The binding with what the pattern makes known; None where the object is another."""
    if pattern.head.family == "var":
        name = pattern.head.index[0]
        return {**binding, name: thing} if name not in binding else binding if binding[name] == thing else None
    size = len(pattern.args)
    if isinstance(thing, Point) or len(thing) < size - 1:
        return None
    if pattern.head.family == "split":
        thing = (*thing[: size - 1], thing[size - 1 :])
    if len(thing) != size:
        return None
    found: Binding | None = binding
    for part, item in zip(pattern.args, thing):
        found = matched(part, item, found) if found is not None else None
    return found


def _extreme(condition: Expr, binding: Binding) -> Point | None:
    """The first of the points where the property is extreme."""
    among = built(condition.args[1], binding)
    field = operator.attrgetter(FIELD[condition.head.index[0]])
    best = min if condition.head.family == "argmin" else max
    return best(points(among), key=field, default=None) if among is not None else None


# What a miss says.


def furthest(outcomes: Iterable[Proofs | Miss]) -> Proofs | Miss:
    """The first success, or else the miss before which most conditions held."""
    misses = []
    for outcome in outcomes:
        if not isinstance(outcome, Miss):
            return outcome
        misses.append(outcome)
    return max(misses, key=lambda miss: miss.held, default=Miss(0, (), "there is no alternative"))


def missed(condition: Expr, binding: Binding) -> Miss:
    return Miss(0, (), failing(condition, binding))


def failing(condition: Expr, binding: Binding) -> str:
    """'x.color == red fails for x = (3, 4) blue'."""
    known = [name for name in sorted(free(condition)) if name in binding]
    shown = ", ".join(f"{name} = {said(binding[name])}" for name in known)
    return f"{write(condition)} fails" + (f" for {shown}" if shown else "")


def counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def said(thing: Object) -> str:
    """An object in words: '(3, 4) blue'."""
    if isinstance(thing, Point):
        return f"({thing.x}, {thing.y}) {thing.color}"
    count = sum(1 for _ in points(thing))
    if count > SHOWN:
        return f"a vector of {len(thing)} with {counted(count, 'point')}"
    return f"({', '.join(map(said, thing))})"
