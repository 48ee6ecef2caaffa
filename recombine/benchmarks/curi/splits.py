"""CURI's nine splits, hardest first as in the papers' figures. Both words of a pair anywhere in a concept suffice."""

import operator
import re
from collections.abc import Callable

from recombine.benchmarks.curi.edition import Edition
from recombine.benchmarks.curi.language import COLORS, Lot
from recombine.benchmarks.curi.spelling import length
from recombine.language.expr import Symbol
from recombine.language.query import Where, uses, uses_any, uses_pair
from recombine.store.errors import UserError
from recombine.tasks.splits import Split, at_random, hold_out, nothing_held_out

NEW_COLORS = ("purple", "cyan", "yellow")
NEW_SHAPES = ("cylinder",)
INTRINSIC = (("green", "metal"), ("purple", "rubber"), ("cyan", "rubber"), ("red", "metal"), ("green", "rubber"))
BOOLEAN = (("green", "or"), ("purple", "and"), ("cyan", "and"), ("red", "or"), ("green", "and"))
# fmt: off
EXTRINSIC = (
    ("7", "gray"), ("1", "red"), ("3", "purple"), ("1", "blue"), ("8", "cyan"), ("5", "yellow"), ("5", "green"),
    ("3", "yellow"), ("7", "purple"), ("2", "blue"), ("3", "cyan"), ("3", "blue"), ("8", "yellow"), ("3", "brown"),
    ("1", "yellow"), ("6", "blue"), ("2", "cyan"), ("4", "brown"), ("7", "green"), ("5", "cyan"),
)
COUNTING = (
    ("3", "red"), ("3", "brown"), ("3", "yellow"), ("1", "yellow"), ("2", "blue"), ("2", "cyan"), ("3", "green"),
    ("1", "cyan"),
)
# fmt: on


ANY_LANGUAGE = ("complexity", "concept-iid", "instance-iid")
"""The splits that speak of no word of CURI's own, for other languages of thought."""


def longer(n: int) -> Where:
    """Concepts of more than n postfix tokens."""
    return Where(f"has more than {n} tokens", lambda concept: length(concept) > n)


def _binding(held_out: tuple[str, ...], held_in: tuple[str, ...], edition: Edition) -> tuple[Where, Where]:
    """The test and the train side of a binding split."""
    new = uses_any(*held_out)
    return (new if edition.mixed_binding == "test" else new & ~uses_any(*held_in)), ~new


def curi_splits(edition: Edition) -> dict[str, Split]:
    """The nine splits by name."""
    colors, shapes = [c for c in COLORS if c not in NEW_COLORS], ("cube", "sphere")
    located, counted = uses_any("locationX", "locationY"), uses("count")
    found = (
        hold_out(
            "binding-color",
            "Binding (color)",
            "rules that were learnt with other colours apply to new ones",
            *_binding(NEW_COLORS, tuple(colors), edition),
        ),
        hold_out(
            "binding-shape",
            "Binding (shape)",
            "rules that were learnt with other shapes apply to a new one",
            *_binding(NEW_SHAPES, shapes, edition),
        ),
        hold_out("intrinsic", "Intrinsic", "new pairs of colour and material", uses_pair(INTRINSIC)),
        hold_out("complexity", "Complexity", "from short concepts to long ones", longer(edition.longest_simple)),
        hold_out("boolean", "Boolean", "new pairs of colour and connective", uses_pair(BOOLEAN)),
        at_random("concept-iid", "Concept IID", "random concepts, synonyms kept together"),
        hold_out("extrinsic", "Extrinsic", "new pairs of colour and location", located & uses_pair(EXTRINSIC)),
        hold_out("counting", "Counting", "new pairs of colour and number", counted & uses_pair(COUNTING)),
        nothing_held_out("instance-iid", "Instance IID", "new episodes of the same concepts"),
    )
    return {split.name: split for split in found}


PLUMBING = {"const", "function", "of", "each", "holds", "number"}
"""Families that every concept has, or that nobody asks for."""
_COMPARE = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}
_LENGTH = re.compile(r"length(>=|<=|>|<)(\d{1,6})$")


def where_word(lot: Lot) -> Callable[[str], Where]:
    """What a bare word means in a user's predicate: a word of the language, or `length>10`."""
    symbols = lot.signature().values()
    known = {word for symbol in symbols for word in (symbol.family, *symbol.index)} - PLUMBING

    def meaning(word: str) -> Where:
        match = _LENGTH.match(word)
        if match:
            compare, bound = _COMPARE[match.group(1)], int(match.group(2))
            return Where(f"has a length {match.group(1)} {bound}", lambda concept: compare(length(concept), bound))
        if word.removesuffix("?") not in known:
            raise UserError(f"'{word}' is not a word of the language; use {', '.join(sorted(known))} or length>N")
        return uses(word.removesuffix("?"))

    return meaning


def atom(symbol: Symbol) -> str | None:
    """What a symbol is called when words are held out together: a value, a place, or a function without its type."""
    if not symbol.args:
        return " ".join(symbol.index) if symbol.family == "const" else None
    return None if symbol.family in PLUMBING else symbol.family
