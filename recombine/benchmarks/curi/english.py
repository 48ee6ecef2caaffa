"""CURI's concepts in plain English."""

from recombine.language.expr import Expr
from recombine.semantics.fold import fold

ADJECTIVES = {"0.7": "large", "0.35": "small"}
"""Sizes that people have a word for."""
PREDICATES = {"color": "{}", "shape": "a {}", "material": "{}", "size": "{}"}
PLURALS = {"color": "{}", "shape": "{}s", "material": "{}", "size": "{}"}
NOUNS = {"locationX": "column", "locationY": "row"}


class Joined(str):
    """A sentence of two parts, which needs brackets inside another."""


def _grouped(sentence: str) -> str:
    return f"({sentence})" if isinstance(sentence, Joined) else sentence


class English:
    """Says a concept. A constant is a word; a property is an attribute's name; a set is 'object' or 'other object'."""

    def const(self, kind: str, value: str) -> str:
        return ADJECTIVES.get(value, value)

    def function(self, attribute: str) -> str:
        return attribute

    def x(self) -> str:
        return "x"

    def everything(self) -> str:
        return "object"

    def others(self) -> str:
        return "other object"

    def of(self, thing: str, attribute: str, kind: str) -> tuple[str]:
        return (attribute,)

    def each(self, things: str, attribute: str, kind: str) -> tuple[str, str]:
        return things, attribute

    def equal(self, a: str | tuple[str], b: str | tuple[str], kind: str) -> str:
        if isinstance(a, str) and isinstance(b, tuple):
            a, b = b, a
        if isinstance(a, tuple) and isinstance(b, str):
            return f"x is {_predicate(a[0], b)}"
        return f"{_value(a)} equals {_value(b)}"

    def greater(self, a: str | tuple[str], b: str | tuple[str], kind: str) -> str:
        return f"{_value(a)} is greater than {_value(b)}"

    def all(self, each: tuple[str, str], value: str | tuple[str], kind: str) -> str:
        things, attribute = each
        if isinstance(value, str):
            return f"all {things}s are {_plural(attribute, value)}"
        return f"the {_noun(attribute)} of every {things} equals {_value(value)}"

    def any(self, each: tuple[str, str], value: str | tuple[str], kind: str) -> str:
        things, attribute = each
        if isinstance(value, str):
            return f"some {things} is {_predicate(attribute, value)}"
        return f"the {_noun(attribute)} of some {things} equals {_value(value)}"

    def count(self, each: tuple[str, str], value: str | tuple[str], kind: str) -> str:
        things, attribute = each
        if isinstance(value, str):
            return f"the number of {things}s that are {_plural(attribute, value)}"
        return f"the number of {things}s whose {_noun(attribute)} is {_value(value)}"

    def and_(self, a: str, b: str) -> str:
        return Joined(f"{_grouped(a)} and {_grouped(b)}")

    def or_(self, a: str, b: str) -> str:
        return Joined(f"{_grouped(a)} or {_grouped(b)}")

    def not_(self, a: str) -> str:
        return f"it is not so that {_grouped(a)}"

    def exists(self, body: str) -> str:
        return f"there is an object x such that {body}"

    def for_all(self, body: str) -> str:
        return f"for every object x, {body}"

    def holds(self, body: str) -> str:
        return body


def _noun(attribute: str) -> str:
    return NOUNS.get(attribute, attribute)


def _value(value: str | tuple[str]) -> str:
    return value if isinstance(value, str) else f"the {_noun(value[0])} of x"


def _predicate(attribute: str, value: str) -> str:
    if attribute in NOUNS:
        return f"in {NOUNS[attribute]} {value}"
    return PREDICATES.get(attribute, f"of {attribute} {{}}").format(value)


def _plural(attribute: str, value: str) -> str:
    return PLURALS[attribute].format(value) if attribute in PLURALS else _predicate(attribute, value)


def english(concept: Expr) -> str:
    """The concept as a sentence without a full stop."""
    return fold(concept, English(), {})
