"""Which derivations of a concept: predicates such as `depth(east_seq) == 3 and not uses(f_pent)`.

A derivation is a tree of the definitions that were used: `by[name,k](children)`. Its `depth` of a name is how often
that name stands on one path from the root at most, its `count` of some names how many nodes have one of them.

>>> read_where("depth(row)==3 and (uses(key) or count(key, lock) <= 1)", {"row", "key", "lock"})
depth(row) == 3 and (uses(key) or count(key, lock) <= 1)
>>> limits("depth(row) == 3 and count(key, lock) < 2")
{'row': 3, 'key': 1, 'lock': 1}
"""

import operator
from collections.abc import Callable, Collection, Iterator

from recombine.benchmarks.concept_world.syntax import Source, Term, named, nearest, parse
from recombine.language.expr import Expr
from recombine.language.query import Where, anything

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def depth(name: str) -> Callable[[Expr], int]:
    """How often a definition stands on one path from the root of a derivation at most."""

    def measure(derivation: Expr) -> int:
        most, stack = 0, [(derivation, 0)]  # no recursion: long sequences have deep derivations
        while stack:
            node, above = stack.pop()
            here = above + (node.head.index[0] == name)
            most = max(most, here)
            stack.extend((child, here) for child in node.args)
        return most

    return measure


def count(*names: str) -> Callable[[Expr], int]:
    """How many nodes of a derivation have one of these names."""
    return lambda derivation: sum(name in names for name in used(derivation))


def used(derivation: Expr) -> Iterator[str]:
    """The name of every node."""
    stack = [derivation]
    while stack:
        node = stack.pop()
        yield node.head.index[0]
        stack.extend(node.args)


def read_where(text: str, names: Collection[str]) -> Where:
    """The predicate that a text says, about definitions of these names; no text accepts every derivation."""
    if not text.strip():
        return anything
    source = Source("<where>", text)
    said: Term = parse(source, "predicate")
    check_names(source, said, names)
    return predicate(said.term)


def check_names(source: Source, said: Term, names: Collection[str]) -> None:
    """Refuse a predicate about a definition that does not exist."""
    written = [name for part in named(said.term) for name in part.head.index]
    for name, at in zip(written, said.marks):
        if name not in names:
            raise source.error(at, f"there is no concept '{name}'{nearest(name, names)}")


def predicate(term: Expr) -> Where:
    """The predicate of a term that the grammar gave."""
    return _PREDICATE[term.head.family](term)


def _joined(level: int, test: Callable[..., bool]) -> Callable[[Expr], Where]:
    def join(term: Expr) -> Where:
        parts = [predicate(arg) for arg in term.args]
        texts = (part.text if part.level > level else f"({part.text})" for part in parts)
        return Where(f" {term.head.family} ".join(texts), lambda proof: test(part(proof) for part in parts), level)

    return join


def _uses(term: Expr) -> Where:
    (name,) = term.head.index
    return Where(f"uses({name})", lambda proof: name in used(proof))


def _compare(term: Expr) -> Where:
    (sign, n), (measure,) = term.head.index, term.args
    names = measure.head.index
    of = depth(*names) if measure.head.family == "depth" else count(*names)
    text = f"{measure.head.family}({', '.join(names)}) {sign} {n}"
    return Where(text, lambda proof: COMPARE[sign](of(proof), int(n)))


_PREDICATE: dict[str, Callable[[Expr], Where]] = {
    "or": _joined(0, any),
    "and": _joined(1, all),
    "not": lambda term: ~predicate(term.args[0]),
    "uses": _uses,
    "compare": _compare,
}


def limits(text: str) -> dict[str, int]:
    """The largest depth of a name in any derivation that the predicate accepts, for the names that it bounds."""
    if not text.strip():
        return {}
    term = parse(Source("<where>", text), "predicate").term
    found: dict[str, int] = {}
    for part in term.args if term.head.family == "and" else (term,):
        for name, most in _bounds(part):
            found[name] = min(found.get(name, most), most)
    return found


def _bounds(part: Expr) -> Iterator[tuple[str, int]]:
    """A name is on a path no more often than it is counted, so a bound on a count bounds every depth."""
    if part.head.family == "not" and part.args[0].head.family == "uses":
        yield part.args[0].head.index[0], 0
    elif part.head.family == "compare" and part.head.index[0] in ("==", "<=", "<"):
        sign, n = part.head.index
        yield from ((name, max(0, int(n) - (sign == "<"))) for name in part.args[0].head.index)
