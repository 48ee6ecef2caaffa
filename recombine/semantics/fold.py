"""One program, many meanings.

A meaning is an object with one method per symbol family; the method takes the values of the arguments and then the
words of the index. `fold` computes one term. `Plan` computes many terms that share parts, each part once, and forgets
a value after its last use.
"""

import keyword
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from recombine.language.expr import Expr


def method(meaning: object, family: str) -> Callable[..., Any]:
    """The method for a family; `and` is spelled `and_`."""
    return getattr(meaning, family + "_" if keyword.iskeyword(family) else family)


def fold(term: Expr, meaning: object, memo: dict[Expr, Any]) -> Any:
    """The value of a term."""
    if term not in memo:
        values = [fold(arg, meaning, memo) for arg in term.args]
        memo[term] = method(meaning, term.head.family)(*values, *term.head.index)
    return memo[term]


class Step(NamedTuple):
    """Compute one term from slots into a slot, then clear the slots that nobody needs any more."""

    family: str
    args: tuple[int, ...]
    words: tuple[str, ...]  # of the index
    into: int
    clear: tuple[int, ...]
    result: int  # which of the plan's terms this is, -1 for a part


class Plan:
    """The order in which the values of many terms are computed. The terms are distinct."""

    def __init__(self, terms: Iterable[Expr]) -> None:
        self.terms = tuple(terms)
        order = _in_order(self.terms)
        wanted = {term: i for i, term in enumerate(self.terms)}
        last = {arg: i for i, term in enumerate(order) for arg in term.args}
        slots: dict[Expr, int] = {}
        free: list[int] = []
        self.steps: list[Step] = []
        self.slots = 0
        for i, term in enumerate(order):
            args = tuple(slots[arg] for arg in term.args)
            done = {arg for arg in term.args if last[arg] == i}
            if free:
                into = free.pop()
            else:
                into, self.slots = self.slots, self.slots + 1
            slots[term] = into
            clear = tuple(slots[arg] for arg in done) + (() if term in last else (into,))
            free.extend(clear)
            self.steps.append(Step(term.head.family, args, term.head.index, into, clear, wanted.get(term, -1)))

    def run(self, meaning: object) -> Iterator[tuple[int, Any]]:
        """The number and value of each term, in the plan's order."""
        methods = {family: method(meaning, family) for family in {step.family for step in self.steps}}
        slots: list[Any] = [None] * self.slots
        for step in self.steps:
            value = methods[step.family](*[slots[arg] for arg in step.args], *step.words)
            slots[step.into] = value
            for slot in step.clear:
                slots[slot] = None
            if step.result >= 0:
                yield step.result, value


def _in_order(terms: tuple[Expr, ...]) -> list[Expr]:
    """All parts of the terms, arguments first; terms with the same first argument stand together."""
    first: dict[Expr, int] = {}
    for term in terms:
        first.setdefault(term.args[0] if term.args else term, len(first))
    grouped = sorted(terms, key=lambda term: first[term.args[0] if term.args else term])
    order: dict[Expr, None] = {}

    def visit(term: Expr) -> None:
        if term not in order:
            for arg in term.args:
                visit(arg)
            order[term] = None

    for term in grouped:
        visit(term)
    return list(order)
