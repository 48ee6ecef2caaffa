"""Derivations: which definitions made an object one of a concept, as a tree `by[name,k](children)`.

The children of a definition are the calls that it makes outside quantifiers, `not`, and alternatives of colour alone,
in the order of the text.
"""

from collections.abc import Sequence
from typing import NamedTuple

from recombine.benchmarks.concept_world.definition import Library
from recombine.language.expr import Expr, Symbol


class Call(NamedTuple):
    """A definition that was used."""

    name: str
    parent: int
    order: tuple[int, ...]
    """Where it stands in the text of its parent."""
    args: tuple[int, ...]


def derivation(calls: Sequence[Call], root: int) -> Expr:
    """The tree of definitions that were used."""
    below: dict[int, list[int]] = {}
    for i, made in enumerate(calls):
        below.setdefault(made.parent, []).append(i)

    def tree(i: int) -> Expr:
        children = tuple(tree(j) for j in sorted(below.get(i, ()), key=lambda j: calls[j].order))
        return Expr(_symbol(calls[i].name, len(children)), children)

    return tree(root)


def _symbol(name: str, children: int) -> Symbol:
    return Symbol("by", (name, str(children)), ("proof",) * children, "proof")


def outline(term: Expr) -> str:
    """A derivation as an outline: a name on each line, what it called below and further in.

    >>> pair = Expr(_symbol("pair", 2), (Expr(_symbol("key", 0)), Expr(_symbol("lock", 0))))
    >>> print(outline(pair))
    pair
      key
      lock
    >>> read_outline(outline(pair)) is pair
    True
    """
    below = [line for child in term.args for line in outline(child).splitlines()]
    return "\n".join([term.head.index[0], *("  " + line for line in below)])


def read_outline(text: str) -> Expr:
    """The derivation that an outline says."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines()]

    def read(i: int) -> tuple[Expr, int]:
        (margin, name), i, children = lines[i], i + 1, []
        while i < len(lines) and lines[i][0] > margin:
            child, i = read(i)
            children.append(child)
        return Expr(_symbol(name, len(children)), tuple(children)), i

    return read(0)[0]


def symbols(library: Library) -> list[Symbol]:
    """All symbols of derivations: every definition with every number of calls that its alternatives make."""
    return [
        _symbol(name, n)
        for name, definition in library.definitions.items()
        for n in sorted(_calls_made(definition.body, library))
    ]


def _calls_made(formula: Expr, library: Library) -> set[int]:
    """How many calls a formula can make in a derivation."""
    family = formula.head.family
    if family == "call":
        return {1}
    if family == "and":
        found = {0}
        for part in formula.args:
            found = {a + b for a in found for b in _calls_made(part, library)}
        return found
    if family == "or" and not only_colors(formula, library):
        return {n for part in formula.args for n in _calls_made(part, library)}
    return {0}


def only_colors(formula: Expr, library: Library) -> bool:
    """Whether a formula speaks of colours alone, through all the definitions that it uses."""
    return _only_colors(formula, library, frozenset())


def _only_colors(formula: Expr, library: Library, within: frozenset[str]) -> bool:
    family = formula.head.family
    if family in ("same", "argmin", "argmax"):
        return False
    if family == "compare":
        return any(arg.head.index == ("color",) or arg.head.family == "color" for arg in formula.args)
    if family == "call":
        name = formula.head.index[0]
        return name not in within and _only_colors(library.definitions[name].body, library, within | {name})
    return all(_only_colors(arg, library, within) for arg in formula.args if arg.head.out == "formula")
