"""Three spellings of a CURI concept: the published postfix, its mirror prefix, and the papers' infix.

    postfix   S color? blue count= 2 = lambda S.
    infix     =(count=(color?(S), blue), 2)
    prefix    lambda S. = count= color? S blue 2

A reader turns text into postfix tokens that know their place, and one stack machine types them, so that every error
points at the token. Literals such as `3` are a number or a location; the other side of the comparison decides.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache

from recombine.benchmarks.curi import language as lot_
from recombine.benchmarks.curi.language import Lot
from recombine.language.expr import Expr, Symbol, pointed
from recombine.store.errors import UserError

QUANTIFIERS = {"exists=": lot_.EXISTS, "for-all=": lot_.FOR_ALL}
CONNECTIVES = {"and": lot_.AND, "or": lot_.OR, "not": lot_.NOT}
COMPARISONS = {"=": "equal", ">": "greater"}
OVER_SETS = {"for-all=": "all", "exists=": "any", "count=": "count"}
SETS = {"S": lot_.EVERYTHING, "non-x-S": lot_.OTHERS}

_WORD = {
    **{symbol: word for word, symbol in (QUANTIFIERS | CONNECTIVES | SETS).items()},
    lot_.X: "x",
}
_FAMILY_WORD = {family: word for word, family in (COMPARISONS | OVER_SETS).items()}
_INFIX_WORD = {"for-all=": "all", "exists=": "any", "non-x-S": "S_{-x}"}


def word(symbol: Symbol) -> str:
    """How a symbol is written in postfix."""
    if symbol.family == "const":
        return symbol.index[1]
    if symbol.family == "function":
        return f"{symbol.index[0]}?"
    return _WORD.get(symbol) or _FAMILY_WORD[symbol.family]


@lru_cache(maxsize=2_000_000)
def _body(term: Expr) -> tuple[str, ...]:
    inner = tuple(token for arg in term.args for token in _body(arg))
    return inner if term.head.family in ("of", "each") else (*inner, word(term.head))


def postfix_tokens(concept: Expr) -> tuple[str, ...]:
    """The published tokens; `lambda` and `S.` are two, as in the length l(h)."""
    end = () if concept.head is lot_.HOLDS else (word(concept.head),)
    return (*_body(concept.args[0]), "lambda", "S.", *end)


def postfix(concept: Expr) -> str:
    """The published spelling."""
    return " ".join(postfix_tokens(concept))


def length(concept: Expr) -> int:
    """l(h): the number of postfix tokens."""
    return len(postfix_tokens(concept))


def prefix(concept: Expr) -> str:
    """The same tokens with every operator before its operands."""

    def tokens(term: Expr) -> list[str]:
        inner = [token for arg in term.args for token in tokens(arg)]
        if term.head.family in ("of", "each"):
            return [*tokens(term.args[1]), *tokens(term.args[0])]
        return [word(term.head), *inner]

    start = [] if concept.head is lot_.HOLDS else [word(concept.head)]
    return " ".join([*start, "lambda", "S.", *tokens(concept.args[0])])


def infix(concept: Expr) -> str:
    """The papers' spelling."""
    quantifier = {lot_.EXISTS: "exists x in S ", lot_.FOR_ALL: "for-all x in S "}.get(concept.head, "")
    return quantifier + _infix(concept.args[0])


def _infix(term: Expr) -> str:
    if term.head.family in ("of", "each"):
        return f"{_infix(term.args[1])}({_infix(term.args[0])})"
    name = _INFIX_WORD.get(word(term.head), word(term.head))
    return f"{name}({', '.join(map(_infix, term.args))})" if term.args else name


LONGEST = 1_000
"""Letters of a concept that is read."""


@dataclass(frozen=True)
class Token:
    """A postfix token and where it stands in the text that was read."""

    word: str
    at: int


@dataclass(frozen=True)
class Literal:
    """A constant whose kind is not known yet."""

    token: Token
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Speller:
    """Reads concepts of one language of thought."""

    lot: Lot = lot_.CURI_LOT

    @cached_property
    def functions(self) -> dict[str, Symbol]:
        return {f"{a}?": lot_.function(kind.name, a) for kind in self.lot.kinds for a in kind.attributes}

    @cached_property
    def literals(self) -> dict[str, tuple[str, ...]]:
        """Every constant with the kinds that have it."""
        kinds: dict[str, tuple[str, ...]] = {}
        for name, values in [("number", self.lot.numbers), *((k.name, k.constants) for k in self.lot.kinds)]:
            for value in values:
                kinds[value] = (*kinds.get(value, ()), name)
        return kinds

    @cached_property
    def ordered(self) -> frozenset[str]:
        return frozenset(["number", *(kind.name for kind in self.lot.kinds if kind.greater)])

    def read(self, text: str) -> Expr:
        """A concept in postfix (it says `lambda S.`) or in infix."""
        return self.read_postfix(text) if "lambda" in text else self.read_infix(text)

    def read_postfix(self, text: str) -> Expr:
        """A concept in the published spelling."""
        tokens = _tokens(text)
        names = [token.word for token in tokens]
        at = names.index("lambda") if "lambda" in names else len(names)
        if names[at : at + 2] != ["lambda", "S."] or len(names) > at + 3:
            raise UserError(
                f"{pointed(text, len(text))}: a postfix concept ends in 'lambda S.' and at most a quantifier"
            )
        return self.typed(text, tokens[:at], tokens[at + 2 :])

    def read_prefix(self, text: str) -> Expr:
        """A concept with every operator before its operands."""
        tokens = _tokens(text)
        names = [token.word for token in tokens]
        at = names.index("lambda") if "lambda" in names[:2] else len(names)
        if names[at : at + 2] != ["lambda", "S."]:
            raise UserError(f"{pointed(text, 0)}: a prefix concept begins with at most a quantifier and 'lambda S.'")
        return self.typed(text, _prefix_to_postfix(text, tokens[at + 2 :]), tokens[:at])

    def read_infix(self, text: str) -> Expr:
        """A concept in the papers' spelling."""
        _tokens(text)
        quantifier, body = _split_quantifier(text)
        return self.typed(text, _infix_to_postfix(text, len(text) - len(body)), quantifier)

    def typed(self, text: str, body: list[Token], quantifier: list[Token]) -> Expr:
        """The concept of postfix tokens, whatever text they were read from."""
        term = self._type(text, body)
        head = lot_.HOLDS
        if quantifier:
            head = QUANTIFIERS.get(quantifier[0].word, lot_.HOLDS)
            if head is lot_.HOLDS:
                raise self._error(text, quantifier[0], "is not a quantifier; write 'exists=' or 'for-all='")
        concept = Expr(head, (term,))
        if head is lot_.HOLDS and lot_.depends_on_x(concept):
            raise UserError(f"{pointed(text, 0)}: a concept that speaks of x or S_-x needs a quantifier")
        return concept

    def _type(self, text: str, tokens: Iterable[Token]) -> Expr:
        """Run the stack machine over the body."""
        stack: list[Expr | Literal] = []
        for token in tokens:
            self._push(text, token, stack)
        end = Token("", len(text))
        if len(stack) != 1:
            raise self._error(text, end, f"the body leaves {len(stack)} values, not one")
        return self._expect(text, end, stack[0], "bool")

    def _push(self, text: str, token: Token, stack: list[Expr | Literal]) -> None:
        name = token.word
        if name not in self.literals and re.fullmatch(r"\d+\.\d+", name):
            name = f"{float(name):g}"  # the paper prints 0.70
        if name in self.literals:
            stack.append(Literal(Token(name, token.at), self.literals[name]))
        elif name == "x":
            stack.append(Expr(lot_.X))
        elif name in SETS:
            stack.append(Expr(SETS[name]))
        elif name in self.functions:
            self._property(text, token, stack)
        elif name in CONNECTIVES:
            symbol = CONNECTIVES[name]
            args = [self._expect(text, token, arg, "bool") for arg in self._pop(text, token, stack, len(symbol.args))]
            stack.append(Expr(symbol, tuple(args)))
        elif name in COMPARISONS:
            stack.append(self._comparison(text, token, stack))
        elif name in OVER_SETS:
            stack.append(self._over_set(text, token, stack))
        else:
            raise self._unknown(text, token)

    def _pop(self, text: str, token: Token, stack: list[Expr | Literal], n: int) -> list[Expr | Literal]:
        if len(stack) < n:
            raise self._error(text, token, f"takes {n} operand{'s' if n > 1 else ''} and finds {len(stack)}")
        taken = stack[-n:]
        del stack[-n:]
        return taken

    def _property(self, text: str, token: Token, stack: list[Expr | Literal]) -> None:
        call = Expr(self.functions[token.word])
        (owner,) = self._pop(text, token, stack, 1)
        kind = call.head.out.removesuffix(" of")
        out = owner.head.out if isinstance(owner, Expr) else ""
        if out not in ("object", "objects"):
            raise self._error(text, token, "asks for a property of x, S or non-x-S")
        symbol = lot_.of_object(kind) if out == "object" else lot_.of_each(kind)
        assert isinstance(owner, Expr)
        stack.append(Expr(symbol, (owner, call)))

    def _comparison(self, text: str, token: Token, stack: list[Expr | Literal]) -> Expr:
        left, right = self._pop(text, token, stack, 2)
        known = [arg.head.out for arg in (left, right) if isinstance(arg, Expr)]
        if not known:
            raise self._error(text, token, "compares two constants; one side must look at the scene")
        kind = known[0]
        if kind not in {*self.ordered, *(k.name for k in self.lot.kinds)}:
            raise self._error(text, token, f"cannot compare {_say(kind)}; use all, any or count for a set")
        family = COMPARISONS[token.word]
        if family == "greater" and kind not in self.ordered:
            raise self._error(text, token, f"needs an order, and a {kind} has none")
        symbol = lot_.greater(kind) if family == "greater" else lot_.equal(kind)
        return Expr(symbol, (self._expect(text, token, left, kind), self._expect(text, token, right, kind)))

    def _over_set(self, text: str, token: Token, stack: list[Expr | Literal]) -> Expr:
        values, value = self._pop(text, token, stack, 2)
        if not isinstance(values, Expr) or not values.head.out.endswith(" each"):
            raise self._error(text, token, "takes a property of S or non-x-S first, such as 'S color?'")
        kind = values.head.out.removesuffix(" each")
        symbol = lot_.over_set(OVER_SETS[token.word], kind)
        return Expr(symbol, (values, self._expect(text, token, value, kind)))

    def _expect(self, text: str, token: Token, arg: Expr | Literal, kind: str) -> Expr:
        """The operand as a value of this kind."""
        if isinstance(arg, Literal):
            if kind not in arg.kinds:
                raise self._error(text, arg.token, f"is a {' or a '.join(arg.kinds)} where a {kind} is needed")
            return Expr(lot_.constant(kind, arg.token.word))
        if arg.head.out != kind:
            raise self._error(text, token, f"needs a {kind} and finds {_say(arg.head.out)}")
        return arg

    def _unknown(self, text: str, token: Token) -> UserError:
        known = [*self.literals, *self.functions, *SETS, "x", *CONNECTIVES, *COMPARISONS, *OVER_SETS]
        close = get_close_matches(token.word, known, 1)
        hint = f"; did you mean '{close[0]}'?" if close else f"; the words are {' '.join(known)}"
        return self._error(text, token, f"is not a word of this language{hint}")

    @staticmethod
    def _error(text: str, token: Token, why: str) -> UserError:
        subject = f"'{token.word}' " if token.word else ""
        return UserError(f"{pointed(text, token.at)}: {subject}{why}")


def _say(kind: str) -> str:
    """A type for people."""
    if kind.endswith(" each"):
        return f"the {kind.removesuffix(' each')}s of a set"
    return {"object": "an object", "objects": "a set of objects", "bool": "a truth value"}.get(kind, f"a {kind}")


_QUANTIFIER = re.compile(r"\s*(exists|for-all)=?\s*x\s*(?:\\?in|∈)\s*S\b(?!_)\s*")
_INFIX_TOKEN = re.compile(r"\s*(S_\{?-x\}?|non-x-S|[A-Za-z][\w-]*[?=]?|\d+(?:\.\d+)?|[=>(),]|\S)")
_SPELLED = {"all": "for-all=", "any": "exists=", "count": "count=", "S_{-x}": "non-x-S", "S_-x": "non-x-S"}


def _arity(word: str) -> int:
    """How many arguments a word takes in prefix and infix; one that is unknown is complained about later."""
    if word == "not" or word.endswith("?"):
        return 1
    return 2 if word in {*CONNECTIVES, *COMPARISONS, *OVER_SETS} else 0


def _tokens(text: str) -> list[Token]:
    """The words of a text, unless it is too long to be a concept."""
    if len(text) > LONGEST:
        raise UserError(
            f"{pointed(text, 0)}: a concept of {len(text):,} letters is longer than the {LONGEST:,} allowed"
        )
    return [Token(match.group(), match.start()) for match in re.finditer(r"\S+", text)]


def _split_quantifier(text: str) -> tuple[list[Token], str]:
    """`exists x in S` as a postfix quantifier, and the body."""
    match = _QUANTIFIER.match(text)
    if not match:
        return [], text
    return [Token(match.group(1) + "=", match.start(1))], text[match.end() :]


def _prefix_to_postfix(text: str, tokens: list[Token]) -> list[Token]:
    """`f a b` as `a b f`."""

    def term(at: int) -> tuple[list[Token], int]:
        if at == len(tokens):
            raise UserError(f"{pointed(text, len(text))}: the body ends before it is complete")
        operator, out, after = tokens[at], [], at + 1
        for _ in range(_arity(operator.word)):
            operand, after = term(after)
            out += operand
        return [*out, operator], after

    out, after = term(0)
    if after < len(tokens):
        raise UserError(f"{pointed(text, tokens[after].at)}: the body goes on after it is complete")
    return out


def _infix_to_postfix(text: str, start: int) -> list[Token]:
    """`f(a, b)` as `a b f`, every token with its place in the text."""
    tokens = [Token(m.group(1), m.start(1)) for m in _INFIX_TOKEN.finditer(text, start)]
    out: list[Token] = []
    at = 0

    def fail(why: str) -> UserError:
        return UserError(f"{pointed(text, tokens[at].at if at < len(tokens) else len(text))}: {why}")

    def term() -> None:
        """One word and its arguments; each word takes as many as it needs."""
        nonlocal at
        if at >= len(tokens) or tokens[at].word in "(),":
            raise fail("expected a word")
        head = Token(_SPELLED.get(tokens[at].word, tokens[at].word), tokens[at].at)
        wanted, given = _arity(head.word), 0
        at += 1
        applied = at < len(tokens) and tokens[at].word == "("
        if wanted and not applied:
            raise fail(f"expected '(' after '{head.word}'")
        while applied:
            at += 1
            if given == wanted:
                raise fail(f"'{head.word}' takes {wanted or 'no'} operand{'' if wanted == 1 else 's'}")
            given += 1
            term()
            if at >= len(tokens) or tokens[at].word not in ",)":
                raise fail("expected ',' or ')'")
            applied = tokens[at].word == ","
            at += 0 if applied else 1
        if given < wanted:
            raise UserError(f"{pointed(text, head.at)}: '{head.word}' takes {wanted} operands and finds {given}")
        out.append(head)

    term()
    if at != len(tokens):
        raise fail("expected the end; what stands before it is a whole concept")
    return out
