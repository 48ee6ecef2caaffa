"""The fewest points that objects must have for a formula to hold.

A lower bound, so that a search for an object of so many points can stop early: a pentomino has at least five, a vector
at least as many as its items together.
"""

from collections.abc import Iterator, Mapping

from recombine.benchmarks.concept_world.definition import Library
from recombine.language.expr import Expr

Bounds = Mapping[str, int]
"""Variables with the fewest points of their objects; what is missing may have none."""


class Fewest:
    """Lower bounds for the definitions that a concept uses."""

    def __init__(self, library: Library, name: str) -> None:
        self._known: dict[str, tuple[int, ...]] = {}  # a definition without an entry has no proof that ends, so far
        self._formulas: dict[Expr, Bounds | None] = {}
        names, before = list(_used(library, name)), None
        while self._known != before:
            before = dict(self._known)
            for each in names:
                definition = library.definitions[each]
                found = self._bounds(definition.body)
                if found is not None:
                    self._known[each] = tuple(found.get(name, 0) for name in definition.parameters)

    def bounds(self, formula: Expr) -> Bounds | None:
        """What the formula needs to hold; None where it cannot."""
        if formula not in self._formulas:
            self._formulas[formula] = self._bounds(formula)
        return self._formulas[formula]

    def _bounds(self, formula: Expr) -> Bounds | None:
        family, args = formula.head.family, formula.args
        if family in ("and", "same"):
            return self._all_of(args if family == "and" else (formula,))
        if family == "or":
            return _least([found for part in args if (found := self._bounds(part)) is not None])
        if family == "call":
            return self._call(formula)
        if family == "compare":
            return dict.fromkeys(_owners(formula), 1)
        if family in ("point", "some"):
            return _of_term(args[0], 1)
        if family in ("argmin", "argmax"):
            return _of_term(args[0], 1) | _of_term(args[1], 1)
        return {}

    def _call(self, formula: Expr) -> Bounds | None:
        known = self._known.get(formula.head.index[0])
        if known is None:
            return None
        found: dict[str, int] = {}
        for arg, least in zip(formula.args, known):
            _raise(found, _of_term(arg, least))
        return found

    def _all_of(self, parts: tuple[Expr, ...]) -> Bounds | None:
        found: dict[str, int] = {}
        patterns = [part.args for part in parts if part.head.family == "same"]
        for part in parts:
            bounds = self._bounds(part) if part.head.family != "same" else {}
            if bounds is None:
                return None
            _raise(found, bounds)
        for _ in patterns:  # patterns inside one another, however they are ordered
            for left, right in patterns:
                _raise(found, _of_term(left, _together(right, found)))
                _raise(found, _of_term(right, _together(left, found)))
        return found


def _used(library: Library, name: str) -> Iterator[str]:
    """The definitions that a concept uses, itself included."""
    todo, seen = [name], {name}
    while todo:
        yield (name := todo.pop())
        parts = [library.definitions[name].body]
        while parts:
            part = parts.pop()
            if part.head.family == "call" and part.head.index[0] not in seen:
                seen.add(part.head.index[0])
                todo.append(part.head.index[0])
            parts += [arg for arg in part.args if arg.head.out == "formula"]


def _least(alternatives: list[Bounds]) -> Bounds | None:
    """What every alternative needs."""
    if not alternatives:
        return None
    first, *others = alternatives
    return {name: min(n, *(other.get(name, 0) for other in others)) if others else n for name, n in first.items()}


def _owners(comparison: Expr) -> Iterator[str]:
    """The points that are compared."""
    for part in comparison.args:
        while part.head.family == "plus":
            part = part.args[0]
        if part.head.family == "property":
            yield part.args[0].head.index[0]


def _of_term(term: Expr, least: int) -> dict[str, int]:
    """The bound of a term as one of a variable; that of a vector says nothing about any one of its items."""
    return {term.head.index[0]: least} if term.head.family == "var" else {}


def _together(term: Expr, found: Bounds) -> int:
    """The points of a term's variables together."""
    if term.head.family == "var":
        return found.get(term.head.index[0], 0)
    return sum(_together(arg, found) for arg in term.args)


def _raise(found: dict[str, int], bounds: Bounds) -> None:
    for name, least in bounds.items():
        found[name] = max(found.get(name, 0), least)
