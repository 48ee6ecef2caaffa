"""What a person may think of an object: CURI's language of thought, where x is the object that is asked about.

CURI's bodies speak of x, of all objects S and of the others S_-x, and compare properties. People's concepts also speak
of *some* of the objects ("as large as every blue one"), so a set may be narrowed once (`having`, `extreme`), x may be
measured against a set (`beats`), and "all" comes with and without the claim that there are any (`all`, `only`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from recombine.benchmarks.human.judgements import VOCABULARY
from recombine.benchmarks.human.meaning import Exact
from recombine.language.expr import Expr, Signature, Symbol, subterms
from recombine.language.grammar import Grammar, Rule
from recombine.semantics.fold import Plan
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

KINDS = tuple(attribute.name for attribute in VOCABULARY)
ALWAYS, NEVER = Symbol("always"), Symbol("never")
AND, OR, NOT = Symbol("and", (), ("bool", "bool")), Symbol("or", (), ("bool", "bool")), Symbol("not", (), ("bool",))
EVERYTHING, OTHERS = Symbol("everything", (), (), "objects"), Symbol("others", (), (), "objects")
NONE = Symbol("none", (), ("objects",))
ONE = Symbol("const", ("number", "1"), (), "number")
EQUAL_NUMBER = Symbol("equal", ("number",), ("number", "number"))
GREATER_NUMBER = Symbol("greater", ("number",), ("number", "number"))
EXTREMES = tuple(Symbol("extreme", (which,), ("objects",), "objects") for which in ("largest", "smallest"))
BEATS = tuple(
    Symbol("beats", (how, relation), ("objects",))
    for how in ("all", "any")
    for relation in ("above", "from", "below", "upto")
)


def constant(kind: str, value: str) -> Symbol:
    return Symbol("const", (kind, value), (), kind)


def own(kind: str) -> Symbol:
    """The property of x."""
    return Symbol("of", (kind,), (), kind)


def equal(kind: str) -> Symbol:
    return Symbol("equal", (kind,), (kind, kind))


def over_set(family: str, kind: str) -> Symbol:
    """any, all, only, count or having: of a set's members those whose property has a value."""
    out = {"count": "number", "having": "objects"}.get(family, "bool")
    return Symbol(family, (kind,), ("objects", kind), out)


def _rules() -> Iterator[Rule]:
    """What can be said without and, or, not."""
    yield Rule("ATOM", 1, ALWAYS)
    yield Rule("ATOM", 1, NEVER)
    for kind in KINDS:
        for value in VOCABULARY[kind].values:
            yield Rule(f"CONST {kind}", 1, constant(kind, value))
            yield Rule(kind, 1, constant(kind, value))
        yield Rule(kind, 1, own(kind))
        yield Rule(f"OWN {kind}", 1, own(kind))
        yield Rule("ATOM", 1, equal(kind), (f"OWN {kind}", f"CONST {kind}"))
        for family in ("any", "all", "only"):
            yield Rule("ATOM", 1, over_set(family, kind), ("SET", kind))
        yield Rule("COUNT", 1, over_set("count", kind), ("SET", kind))
        yield Rule("SET", 1, over_set("having", kind), ("BASE", kind))
    yield Rule("ONE", 1, ONE)
    for symbol in (EQUAL_NUMBER, GREATER_NUMBER):
        yield Rule("ATOM", 1, symbol, ("COUNT", "ONE"))
    for symbol in (NONE, *BEATS):
        yield Rule("ATOM", 1, symbol, ("SET",))
    for left in ("SET", "BASE"):
        yield Rule(left, 1, EVERYTHING)
        yield Rule(left, 1, OTHERS)
    for symbol in EXTREMES:
        yield Rule("SET", 1, symbol, ("BASE",))


ATOMS = Grammar("ATOM", tuple(_rules()), 5)


def signature() -> Signature:
    """Every symbol of the language."""
    return Signature.of([*dict.fromkeys(rule.head for rule in ATOMS.rules), AND, OR, NOT])


LENGTHS: Mapping[str, float] = (
    {"always": 1, "never": 1, "shape": 1, "color": 1, "size": 1.5, "of": 1, "everything": 1, "others": 1}
    | {"any": 1, "all": 1.5, "only": 1.5, "count": 2, "none": 1, "beats": 2, "having": 2, "extreme": 2}
    | {"and": 1, "or": 1.5, "not": 1}
)
"""What a thought is made of, and what each part adds to its length: how far the language is listed, and no more.

A constant counts by its kind. How likely people think each part is fitted (`fit.py`).
"""
PARTS = tuple(LENGTHS)
_SIMPLE = {"shape", "color", "size", "and", "or", "not"}


@cache
def parts(term: Expr) -> tuple[int, ...]:
    """How often each of PARTS occurs in a term."""
    found = dict.fromkeys(PARTS, 0)
    for part in subterms(term):
        name = part.head.index[0] if part.head.family == "const" else part.head.family
        if name in found:
            found[name] += 1
    # Where x's own property is compared with a constant, the constant alone is counted.
    found["of"] -= sum(part.head.family == "equal" and part.args[0].head.family == "of" for part in subterms(term))
    return tuple(found.values())


def length(term: Expr) -> float:
    """The length of a thought.

    >>> float(length(Expr(NONE, (Expr(OTHERS),)))) > 0
    True
    """
    return sum(LENGTHS[name] * times for name, times in zip(PARTS, parts(term)))


@dataclass(frozen=True, eq=False)
class Thoughts:
    """The shortest thought of every meaning that scenes can tell apart, from short to long."""

    terms: tuple[Expr, ...]
    parts: np.ndarray  # uint8[thoughts, PARTS]
    truth: np.ndarray  # mask[thoughts, scenes]: of which objects it holds

    def __len__(self) -> int:
        return len(self.terms)


LONGEST, LONGEST_SIMPLE = 8.0, 9.5
"""How long thoughts with one `and` or `or` are, and those that only join constants."""


def thoughts(
    scenes: Scenes,
    longest: float = LONGEST,
    longest_simple: float = LONGEST_SIMPLE,
    without: Collection[str] = (),
) -> Thoughts:
    """All thoughts up to a length: atoms, two atoms joined, and four constants joined; each may be denied.

    `without` names parts that the language shall not have.
    """
    if unknown := [name for name in without if name not in PARTS]:
        raise UserError(f"thoughts have no part {', '.join(unknown)}; their parts are {', '.join(PARTS)}")
    left_out = np.array([name in without for name in PARTS])
    atoms = [term for term in ATOMS.enumerate().terms if not (np.array(parts(term)) * left_out).any()]
    masks: list[np.ndarray] = [np.empty(0)] * len(atoms)
    for i, mask in Plan(atoms).run(Exact(scenes)):
        masks[i] = mask
    denied = [(Expr(NOT, (term,)), mask ^ scenes.present) for term, mask in zip(atoms, masks)]
    known = _Known()
    known.add([(term, mask) for term, mask in (*zip(atoms, masks), *denied) if length(term) <= longest])
    known.add(_joined(known.list(), longest))
    simple = [(term, mask) for term, mask in known.list() if _simple(term)]
    known.add(_joined(simple, longest_simple))
    found = known.list()
    terms = tuple(term for term, _ in found)
    return Thoughts(terms, np.array([parts(term) for term in terms], np.uint8), np.stack([mask for _, mask in found]))


def _simple(term: Expr) -> bool:
    return all(name in _SIMPLE or not times for name, times in zip(PARTS, parts(term)))


class _Known:
    """The shortest term of every meaning; of equally short ones the first."""

    def __init__(self) -> None:
        self.found: dict[bytes, tuple[float, Expr, np.ndarray]] = {}

    def add(self, some: Sequence[tuple[Expr, np.ndarray]]) -> None:
        for term, mask in some:
            key, here = mask.tobytes(), length(term)
            if key not in self.found or here < self.found[key][0]:
                self.found[key] = here, term, mask

    def list(self) -> list[tuple[Expr, np.ndarray]]:
        """From short to long."""
        return [(term, mask) for _, term, mask in sorted(self.found.values(), key=lambda each: each[0])]


def _joined(some: Sequence[tuple[Expr, np.ndarray]], longest: float) -> list[tuple[Expr, np.ndarray]]:
    """Every two of these, from short to long, joined by and and by or, up to a length."""
    lengths = np.array([length(term) for term, _ in some])
    found = []
    for symbol in (AND, OR):
        for i, (one, mine) in enumerate(some):
            room = longest - LENGTHS[symbol.family] - lengths[i]
            for other, theirs in some[: min(i, int(np.searchsorted(lengths, room, side="right")))]:
                mask = mine & theirs if symbol is AND else mine | theirs
                found.append((Expr(symbol, (other, one)), mask))
    return found
