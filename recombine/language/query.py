"""Questions about terms: named predicates, closed under `&`, `|` and `~`, that print themselves in English.

>>> green_or = uses("green") & uses("or")
>>> green_or
uses 'green' and uses 'or'
>>> ~(green_or | uses("x"))
not (uses 'green' and uses 'or' or uses 'x')
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce

from recombine.language.expr import Expr, pointed, subterms
from recombine.store.errors import UserError


@dataclass(frozen=True, repr=False)
class Where:
    """A named predicate over terms."""

    text: str
    test: Callable[[Expr], bool]
    level: int = 2
    """How tightly the text binds: 0 or, 1 and, 2 a word."""

    def __call__(self, term: Expr) -> bool:
        return self.test(term)

    def __and__(self, other: "Where") -> "Where":
        return Where(f"{self._at(1)} and {other._at(1)}", lambda term: self.test(term) and other.test(term), 1)

    def __or__(self, other: "Where") -> "Where":
        return Where(f"{self._at(0)} or {other._at(0)}", lambda term: self.test(term) or other.test(term), 0)

    def __invert__(self) -> "Where":
        return Where(f"not {self._at(2)}", lambda term: not self.test(term))

    def _at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"

    def __repr__(self) -> str:
        return self.text


anything = Where("anything", lambda _: True)
nothing = Where("nothing", lambda _: False)


@lru_cache(maxsize=500_000)
def words(term: Expr) -> frozenset[str]:
    """Every family name and index word in the term."""
    return frozenset(word for part in subterms(term) for word in (part.head.family, *part.head.index))


def uses(word: str) -> Where:
    """Terms with this word anywhere in them."""
    return Where(f"uses '{word}'", lambda term: word in words(term))


def uses_any(*options: str) -> Where:
    """Terms with at least one of these words."""
    return Where(f"uses one of {', '.join(options)}", lambda term: not words(term).isdisjoint(options))


def uses_pair(pairs: Iterable[tuple[str, str]]) -> Where:
    """Terms with both words of at least one of these pairs."""
    chosen = tuple(pairs)
    text = f"uses one of the pairs {', '.join('+'.join(pair) for pair in chosen)}"
    return Where(text, lambda term: any(words(term).issuperset(pair) for pair in chosen))


def any_of(options: Iterable[Where]) -> Where:
    """Terms that at least one of these accepts."""
    return reduce(lambda a, b: a | b, options)


LONGEST = 2_000
"""Letters of a predicate that is read."""
_TOKENS = re.compile(r"\s*([&|~()]|[^\s&|~()]+)")


def parse_where(text: str, term: Callable[[str], Where] = uses) -> Where:
    """Read a predicate such as `green & (and | or) & ~x`; a bare word means what `term` says.

    >>> parse_where("green & ~(cube | sphere)")
    uses 'green' and not (uses 'cube' or uses 'sphere')
    """
    if len(text) > LONGEST:
        raise UserError(
            f"{pointed(text, 0)}: a predicate of {len(text):,} letters is longer than the {LONGEST:,} allowed"
        )
    tokens = [(match.group(1), match.start(1)) for match in _TOKENS.finditer(text)]
    at = 0

    def fail(why: str) -> UserError:
        place = tokens[at][1] if at < len(tokens) else len(text)
        return UserError(f"{pointed(text, place)}: {why}")

    def either() -> Where:
        nonlocal at
        left = both()
        while at < len(tokens) and tokens[at][0] == "|":
            at += 1
            left = left | both()
        return left

    def both() -> Where:
        nonlocal at
        left = one()
        while at < len(tokens) and tokens[at][0] == "&":
            at += 1
            left = left & one()
        return left

    def one() -> Where:
        nonlocal at
        if at >= len(tokens) or tokens[at][0] in "&|)":
            raise fail("expected a word, '~' or '('")
        token = tokens[at][0]
        at += 1
        if token == "~":
            return ~one()
        if token != "(":
            return term(token)
        inside = either()
        if at >= len(tokens) or tokens[at][0] != ")":
            raise fail("expected ')'")
        at += 1
        return inside

    try:
        found = either()
    except RecursionError:
        raise fail("the parentheses nest too deeply") from None
    if at != len(tokens):
        raise fail("expected '&', '|' or the end")
    return found
