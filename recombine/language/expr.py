"""Typed terms. A symbol has a family, an index, argument types and a result type; a term is a symbol with arguments.

Terms are interned: equal terms are one object, so `is` compares them, a dictionary shares their work, and a whole
space of concepts holds each common part once. The reading form is `family[index](argument, ...)`:

>>> red = Symbol("const", ("color", "red"), (), "color")
>>> look = Symbol("seen", (), ("color",), "bool")
>>> signature = Signature.of([red, look])
>>> term = Expr(look, (Expr(red),))
>>> term
seen(const[color,red])
>>> signature.parse("seen(const[color,red])") is term
True
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recombine.store.errors import UserError


@dataclass(frozen=True)
class Symbol:
    """A function of the language; one without arguments is a word."""

    family: str
    index: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    out: str = "bool"

    def __post_init__(self) -> None:
        # Interning looks symbols up all the time, so the hash is computed once.
        object.__setattr__(self, "_hash", hash((self.family, self.index, self.args, self.out)))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[type["Symbol"], tuple[str, tuple[str, ...], tuple[str, ...], str]]:
        # The hash of a string differs between processes: a symbol that travels is made anew.
        return Symbol, (self.family, self.index, self.args, self.out)

    def __str__(self) -> str:
        return f"{self.family}[{','.join(self.index)}]" if self.index else self.family


_INTERNED: dict[tuple[Symbol, tuple["Expr", ...]], "Expr"] = {}


class Expr:
    """A symbol applied to arguments. Interned: equal means identical."""

    __slots__ = ("_digest", "args", "head", "size")
    head: Symbol
    args: tuple["Expr", ...]
    size: int
    _digest: str

    def __new__(cls, head: Symbol, args: tuple["Expr", ...] = ()) -> "Expr":
        found = _INTERNED.get((head, args))
        if found is not None:
            return found
        given = tuple(arg.head.out for arg in args)
        if given != head.args:
            raise TypeError(f"{head} takes ({', '.join(head.args)}), got ({', '.join(given)})")
        term = super().__new__(cls)
        term.head, term.args = head, args
        term.size = 1 + sum(arg.size for arg in args)
        term._digest = ""
        return _INTERNED.setdefault((head, args), term)

    @property
    def digest(self) -> str:
        """A name for the structure, the same in every process."""
        if not self._digest:
            text = "|".join([str(self.head), *(arg.digest for arg in self.args)])
            self._digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        return self._digest

    def __repr__(self) -> str:
        return f"{self.head}({', '.join(map(repr, self.args))})" if self.args else str(self.head)

    def __reduce__(self) -> tuple[type["Expr"], tuple[Symbol, tuple["Expr", ...]]]:
        return Expr, (self.head, self.args)


def subterms(term: Expr) -> Iterator[Expr]:
    """The term and all its parts, outermost first; a part that occurs twice comes twice."""
    yield term
    for arg in term.args:
        yield from subterms(arg)


NEAR = 120
"""Characters that an error shows on either side of its place."""
_TOKEN = re.compile(r"\s*([\[\](),]|[^\s\[\](),]+)")
_LOOSE = re.compile(r"\s*([\[\],])\s*")
"""Blanks around brackets and commas do not count; those inside a word do."""


class Signature(dict[str, Symbol]):
    """All symbols of a language, by the text of `str(symbol)`."""

    @classmethod
    def of(cls, symbols: Iterable[Symbol]) -> "Signature":
        found = cls()
        for symbol in symbols:
            if found.setdefault(str(symbol), symbol) != symbol:
                raise TypeError(f"two symbols are written {symbol}; give them different names")
        return found

    def parse(self, text: str) -> Expr:
        """Read the reading form; `parse(repr(e)) is e`."""
        tokens = [(match.group(1), match.start(1)) for match in _TOKEN.finditer(text)]
        term, rest = self._term(text, tokens, 0)
        if rest != len(tokens):
            raise UserError(f"{pointed(text, tokens[rest][1])}: expected the end here")
        return term

    def _term(self, text: str, tokens: list[tuple[str, int]], at: int) -> tuple[Expr, int]:
        name, start = _take(text, tokens, at)
        at += 1
        if at < len(tokens) and tokens[at][0] == "[":
            close = next((i for i in range(at, len(tokens)) if tokens[i][0] == "]"), None)
            if close is None:
                raise UserError(f"{pointed(text, tokens[at][1])}: this '[' is never closed")
            name += _LOOSE.sub(r"\1", text[tokens[at][1] : tokens[close][1] + 1])
            at = close + 1
        if name not in self:
            raise UserError(f"{pointed(text, start)}: there is no symbol '{name}'")
        args: list[Expr] = []
        if at < len(tokens) and tokens[at][0] == "(":
            while tokens[at][0] != ")":
                arg, at = self._term(text, tokens, at + 1)
                args.append(arg)
                if _take(text, tokens, at)[0] not in (",", ")"):
                    raise UserError(f"{pointed(text, tokens[at][1])}: expected ',' or ')'")
            at += 1
        try:
            return Expr(self[name], tuple(args)), at
        except TypeError as error:
            raise UserError(f"{pointed(text, start)}: {error}") from None


def _take(text: str, tokens: list[tuple[str, int]], at: int) -> tuple[str, int]:
    if at >= len(tokens):
        raise UserError(f"{pointed(text, len(text))}: the text ends too early")
    return tokens[at]


def pointed(text: str, at: int) -> str:
    """The text with a mark before the place that an error speaks of; of a long text, what is near it."""
    before, after = text[:at], text[at:]
    if len(before) > NEAR:
        before = f"…{before[-NEAR:]}"
    if len(after) > NEAR:
        after = f"{after[:NEAR]}…"
    return f"'{before}⟨here⟩{after}'"


def place_of(message: str, text: str) -> int | None:
    """Where in a text an error of `pointed` points; nothing where it points nowhere.

    >>> place_of(pointed("all of them", 4) + ": no", "all of them")
    4
    """
    before, mark, _ = message.partition("⟨here⟩")
    if not mark:
        return None
    before = before.partition("'")[2]
    if not before.startswith("…"):
        return min(len(before), len(text))
    return max(0, text.find(before[1:])) + len(before) - 1
