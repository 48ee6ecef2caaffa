"""CURI's concepts read from English: the sentences that `english` says, with some freedom.

>>> from recombine.benchmarks.curi.spelling import infix
>>> infix(read_english("There is an object x such that x is blue and all other objects are cubes."))
'exists x in S and(=(color?(x), blue), all(shape?(S_{-x}), cube))'

A sentence becomes the tokens of postfix, each with its place, and the stack machine of `spelling` types them: an error
points at the word.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from recombine.benchmarks.curi.english import ADJECTIVES, NOUNS
from recombine.benchmarks.curi.spelling import LONGEST, Speller, Token
from recombine.language.expr import Expr, pointed
from recombine.store.errors import UserError

_WORD = re.compile(r"\d+(?:\.\d+)?|[A-Za-z]+|[(),.;]|\S")
_VALUES = {word: value for value, word in ADJECTIVES.items()}
_SAME = {"colour": "color", "colours": "color", "grey": "gray", "each": "every", "non": "not"}
QUANTIFIERS = (
    ("exists=", "there is an object x such that"),
    ("exists=", "there is an x such that"),
    ("for-all=", "for every object x"),
    ("for-all=", "for all objects x"),
    ("for-all=", "for every x"),
)
BEGINNINGS = (
    ("there is", "'an object x such that', and what holds of x"),
    ("for every", "'object x'"),
    ("for all", "'objects x'"),
)
"""How a quantifier begins, and what it goes on with."""
SENTENCES = "'x is', 'all objects are', 'some object is', 'the number of objects that are'"
_INFIX = re.compile(r"\s*(?:(?:exists|for-all)=?\s*x\s*(?:\\?in|∈)|[\w=>?-]+\s*\()")


def read_concept(text: str, speller: Speller | None = None) -> Expr:
    """A concept in English, infix or postfix, whatever it looks like."""
    speller = speller or Speller()
    if "lambda" in text or _INFIX.match(text) or not text.strip():
        return speller.read(text)
    return read_english(text, speller)


def read_english(text: str, speller: Speller | None = None) -> Expr:
    """A concept in English."""
    speller = speller or Speller()
    if len(text) > LONGEST:
        raise UserError(
            f"{pointed(text, 0)}: a concept of {len(text):,} letters is longer than the {LONGEST:,} allowed"
        )
    found = [Token(_SAME.get(m.group().lower(), m.group().lower()), m.start()) for m in _WORD.finditer(text)]
    while found and found[-1].word in (".", ";"):
        found.pop()
    return _Sentence(text, found, speller).concept()


@dataclass
class _Sentence:
    """A sentence and how far it was read."""

    text: str
    tokens: list[Token]
    speller: Speller
    at: int = 0

    def concept(self) -> Expr:
        quantifier: list[Token] = []
        for word, said in QUANTIFIERS:
            place = self.here
            if self._takes(said):
                quantifier = [Token(word, place)]
                self._takes(",")
                break
        else:
            for said, wanted in BEGINNINGS:
                if self._takes(said):
                    raise self._stopped(wanted)
        body = self._body()
        if self.at < len(self.tokens):
            raise self._stopped("the end, 'and' or 'or'")
        return self.speller.typed(self.text, body, quantifier)

    # --- sentences

    def _body(self) -> list[Token]:
        """One sentence, or several joined by the same connective."""
        out, joined = self._sentence(), ""
        while self._next() in ("and", "or"):
            link = self.tokens[self.at]
            if joined and link.word != joined:
                raise self._error(link.at, "'and' and 'or' are mixed; say with brackets which come first")
            joined, self.at = link.word, self.at + 1
            out = [*out, *self._sentence(), link]
        return out

    def _sentence(self) -> list[Token]:
        place = self.here
        if self._takes("it is not so that") or self._takes("it is not the case that") or self._takes("not"):
            return [*self._sentence(), Token("not", place)]
        if self._takes("("):
            inner = self._body()
            self._need(")")
            return inner
        for quantity, word in (("all", "for-all="), ("some", "exists=")):
            if self._takes(quantity):
                return self._over_set(word, place)
        return self._compared()

    def _over_set(self, word: str, place: int) -> list[Token]:
        """`all other objects are cubes`, `some object is blue`."""
        things = self._things()
        if not (self._takes("are") or self._takes("is")):
            raise self._stopped("'are' or 'is'")
        attribute, value = self._named()
        return [things, attribute, value, Token(word, place)]

    def _compared(self) -> list[Token]:
        """`x is blue`, `the column of x is greater than 3`, `the shape of every object equals the shape of x`."""
        place = self.here
        if self._next() == "x":
            self.at += 1
            self._need("is")
            attribute, value = self._named()
            return [Token("x", place), attribute, value, Token("=", place)]
        mark = self.at
        if self._takes("the"):
            noun = self._noun()
            for said, word in (("of every", "for-all="), ("of some", "exists=")):
                if noun and self._takes(said):
                    things = self._things()
                    self._need("equals")
                    return [things, noun, *self._value(), Token(word, place)]
        self.at = mark
        if self._next().isalpha() and self._next() != "the" and not self._known(self._next()):
            raise self._error(place, f"no sentence begins with '{self._next()}', but with {SENTENCES}")
        left = self._value()
        for said, word in (("equals", "="), ("is equal to", "="), ("is greater than", ">"), ("is", "=")):
            link = self.here
            if self._takes(said):
                return [*left, *self._value(), Token(word, link)]
        raise self._stopped("'equals' or 'is greater than'")

    # --- parts of them

    def _value(self) -> list[Token]:
        """A constant, `the color of x`, `the number of objects that are blue`."""
        place = self.here
        if not self._takes("the"):
            return [self._constant()]
        if self._takes("number of"):
            things = self._things()
            if self._takes("whose"):
                noun = self._noun() or self._no_noun()
                self._need("is")
                return [things, noun, *self._value(), Token("count=", place)]
            if not (self._takes("that are") or self._takes("that is")):
                raise self._stopped("'that are' or 'whose'")
            attribute, value = self._named()
            return [things, attribute, value, Token("count=", place)]
        noun = self._noun() or self._no_noun()
        self._need("of x")
        return [Token("x", place), noun]

    def _things(self) -> Token:
        place = self.here
        other = self._takes("other") or self._takes("others")
        if not (self._takes("objects") or self._takes("object") or other):
            raise self._stopped("'objects' or 'other objects'")
        return Token("non-x-S" if other else "S", place)

    def _noun(self) -> Token | None:
        """A property by its name."""
        place, word = self.here, self._next()
        names = {noun: attribute for attribute, noun in NOUNS.items()}
        attribute = names.get(word, word)
        if f"{attribute}?" not in self.speller.functions:
            return None
        self.at += 1
        return Token(f"{attribute}?", place)

    def _no_noun(self) -> Token:
        names = [NOUNS.get(name.rstrip("?"), name.rstrip("?")) for name in self.speller.functions]
        raise self._stopped(f"a property: {', '.join(names)}")

    def _named(self) -> tuple[Token, Token]:
        """A property and its value: `blue`, `a cube`, `cubes`, `in column 3`."""
        place = self.here
        if self._takes("in") or self._takes("of"):
            noun = self._noun() or self._no_noun()
            return noun, self._constant()
        self._takes("a") or self._takes("an")
        value = self._constant()
        kinds = self.speller.literals[value.word]
        owners = [kind for kind in self.speller.lot.kinds if kind.name in kinds]
        if not owners or len(owners[0].attributes) != 1:
            raise self._error(value.at, f"'{value.word}' alone names no property; write 'in column {value.word}'")
        return Token(f"{owners[0].attributes[0]}?", place), value

    def _constant(self) -> Token:
        place, word = self.here, self._next()
        if known := self._known(word):
            self.at += 1
            return Token(known, place)
        words = [*_VALUES, *self.speller.literals]
        close = get_close_matches(word, words, 1) if word else []
        hint = f"; did you mean '{close[0]}'?" if close else f"; the values are {', '.join(words)}"
        if not word:
            raise self._stopped("a value")
        raise self._error(place, f"'{word}' is no value here{hint}")

    def _known(self, word: str) -> str:
        """The value that a word says, if it says one."""
        forms = (word, _VALUES.get(word, word), word.removesuffix("s"), f"{word}s")
        return next((form for form in forms if form and form in self.speller.literals), "")

    # --- words

    @property
    def here(self) -> int:
        return self.tokens[self.at].at if self.at < len(self.tokens) else len(self.text)

    def _next(self) -> str:
        return self.tokens[self.at].word if self.at < len(self.tokens) else ""

    def _takes(self, said: str) -> bool:
        """Go past these words if they come next."""
        words = said.split()
        if [token.word for token in self.tokens[self.at : self.at + len(words)]] != words:
            return False
        self.at += len(words)
        return True

    def _need(self, said: str) -> None:
        if not self._takes(said):
            raise self._stopped(f"'{said}'")

    def _stopped(self, wanted: str) -> UserError:
        return self._error(self.here, f"expected {wanted}")

    def _error(self, at: int, why: str) -> UserError:
        return UserError(f"{pointed(self.text, at)}: {why}")
