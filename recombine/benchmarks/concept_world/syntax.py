"""The grammar of .concepts files: from text to terms, with the place of every name.

Three things keep reading safe and quick for any text. A look over the words refuses what is too long or nests too
deeply before anything is built; the parser keeps its own stack and builds terms as it goes, so no tree is walked; and
of a term's text only the places of its names are kept, in the order in which `named` meets them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any, NamedTuple

from lark import Lark, Token, UnexpectedCharacters, UnexpectedToken

from recombine.benchmarks.concept_world import formula as f
from recombine.benchmarks.concept_world.definition import COLORS, Place
from recombine.language.expr import Expr, Symbol
from recombine.store.errors import UserError

LONGEST_TEXT = 20_000_000
MOST_WORDS = 4_000_000
"""Names, numbers and signs of one text."""
LONGEST_NAME = 200
LONGEST_VECTOR = 1_024
LARGEST_NUMBER = 1_000_000
DEEPEST = 100
"""Levels of parentheses, `not`, quantifiers and `::` inside each other."""

KEYWORDS = (
    *("concept", "experiment", "grid", "by", "colors", "train", "test", "curriculum", "of", "where"),
    *("and", "or", "not", "all", "some", "in", "argmin", "argmax", "point"),
)

GRAMMAR = f"""
file: (grid | colors | concept | experiment)*
grid: GRID INT "by" INT
colors: COLORS names
names: NAME ("," NAME)*
concept: "concept" NAME "(" names ")" [STRING] ":" formula
experiment: "experiment" NAME [STRING] ":" (train | test | curriculum)*
train: TRAIN ":" line+
test: "test" NAME ":" line+
curriculum: CURRICULUM INT ":" names
line: NAME INT "of" NAME ["where" predicate]

?formula: conjunction | conjunction ("or" conjunction)+ -> either
?conjunction: tight | tight ("and" tight)+ -> both
?tight: "(" formula ")" | "not" tight -> no | (ALL | SOME) among ("," among)* ":" tight -> quantified
    | NAME "(" [terms] ")" -> call | "point" "(" term ")" -> point | side COMPARISON right -> compared
among: NAME "in" term
terms: term ("," term)*
?term: NAME -> variable | vector | split
vector: "(" [terms] ")"
split: NAME "::" term | vector "::" term
?side: value | value SIGN INT -> added
value: NAME -> word | NAME "." NAME -> property | INT -> number
?right: side | vector | split | (ARGMIN | ARGMAX) "(" term "," NAME ")" -> extreme

?predicate: every | every ("or" every)+ -> any_of
?every: test_of | test_of ("and" test_of)+ -> all_of
?test_of: "not" test_of -> none_of | "(" predicate ")"
    | NAME "(" names ")" -> uses | NAME "(" names ")" COMPARISON INT -> measured

?phrase: operand | operand NAME "of" operand -> related
?operand: NAME -> thing | "(" phrase ")"

GRID: "grid"
COLORS: "colors"
TRAIN: "train"
CURRICULUM: "curriculum"
ALL: "all"
SOME: "some"
ARGMIN: "argmin"
ARGMAX: "argmax"
NAME: /(?!(?:{"|".join(KEYWORDS)})\\b)[0-9]*[A-Za-z_][A-Za-z0-9_]*/
INT.-1: /[0-9]+/
STRING: /"[^"\\n]*"/
COMPARISON: /==|!=|<=|>=|<|>/
SIGN: /[+-]/
COMMENT: /#[^\\n]*/
SPACE: /[ \\t\\r\\n\\f]+/
%ignore COMMENT
%ignore SPACE
"""


@dataclass(frozen=True)
class Source:
    """A text and the name of the file that it is from."""

    file: str
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        """Where the lines start."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, at: int) -> Place:
        """The line and column of a letter."""
        line = bisect_right(self._starts, at)
        return Place(self.file, line, at - self._starts[line - 1] + 1)

    def error(self, at: int, why: str) -> UserError:
        return UserError(f"{self.place(at)}: {why}")


class Word(NamedTuple):
    """A name, and where it is written."""

    text: str
    at: int


class Number(NamedTuple):
    """A number, and where it is written."""

    value: int
    at: int


class Term(NamedTuple):
    """A term, and where its names are written, in the order of `named`."""

    term: Expr
    marks: list[int]


class Side(NamedTuple):
    """A side of a comparison that is a value."""

    term: Expr
    marks: list[int]
    at: int
    colored: bool


class Extreme(NamedTuple):
    kind: str
    among: Term
    name: Word


class Concept(NamedTuple):
    name: Word
    parameters: list[Word]
    about: str
    body: Term


class Line(NamedTuple):
    label: Word
    images: Number
    concept: Word
    where: Term | None


class Taught(NamedTuple):
    at: int
    lines: list[Line]


class Asked(NamedTuple):
    at: int
    name: str
    lines: list[Line]


class Curriculum(NamedTuple):
    at: int
    epochs: Number
    first: list[Word]


class Experiment(NamedTuple):
    name: Word
    title: str
    parts: list[Taught | Asked | Curriculum]


class Sides(NamedTuple):
    """grid width by height."""

    at: int
    width: Number
    height: Number


class Colors(NamedTuple):
    at: int
    names: list[Word]


Item = Sides | Colors | Concept | Experiment


class Related(NamedTuple):
    """thing RELATION of other."""

    thing: "Word | Related"
    relation: Word
    other: "Word | Related"


NAMED = frozenset(("var", "call", "color", "all", "some", "depth", "count", "uses"))
"""The families whose index holds names that somebody wrote."""


def named(term: Expr) -> Iterator[Expr]:
    """The parts of a term with a name of their own, in the order of the text."""
    stack = [term]
    while stack:
        part = stack.pop()
        if part.head.family in NAMED:
            yield part
        stack.extend(reversed(part.args))


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a sentence about an unknown name: the known name that is most like it, if any is."""
    close = get_close_matches(name, known, 1)
    return f"; did you mean '{close[0]}'?" if close else otherwise


class Wrong(Exception):
    """What is wrong with a text, and where."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


def parse(source: Source, start: str) -> Any:
    """What the text says, by the rule `start` of the grammar."""
    try:
        _look_over(source.text)
        return _parser().parse(source.text, start=start)
    except Wrong as wrong:
        raise source.error(wrong.at, wrong.why) from None
    except UnexpectedCharacters as unexpected:
        at = unexpected.pos_in_stream or 0
        raise source.error(at, _strange(source.text[at])) from None
    except UnexpectedToken as unexpected:
        token = unexpected.token
        at = len(source.text) if token.type == "$END" else token.start_pos
        raise source.error(at or 0, _misplaced(token, unexpected.accepts or unexpected.expected)) from None


@cache
def _parser() -> Lark:
    starts = ["file", "formula", "predicate", "phrase"]
    return Lark(GRAMMAR, parser="lalr", lexer="contextual", start=starts, transformer=Build())


# Sentences about syntax.

_INSTEAD = {
    "=": "write '=='",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not' or '!='",
    "'": 'write "',
    '"': 'a text in quotes ends on its line with another "',
    ";": "leave it out",
}


def _strange(letter: str) -> str:
    shown = f"'{letter}'" if letter.isprintable() else f"letter U+{ord(letter):04X}"
    return f"{shown} has no place here; {_INSTEAD.get(letter, 'the language has no such sign')}"


_SAID = {
    "NAME": "a name",
    "INT": "a number",
    "STRING": 'a text in "quotes"',
    "COMPARISON": "'==' or another comparison",
    "SIGN": "'+' or '-'",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "COLON": "':'",
    "DOT": "'.'",
    "__ANON_0": "'::'",
    "$END": "the end",
}


_TOGETHER = {
    "a condition such as red(x)": {"LPAR", "ALL", "NOT", "POINT", "SOME", "NAME", "INT"},
    "the next concept or experiment": {"CONCEPT", "EXPERIMENT", "GRID", "COLORS"},
}
"""What is said for many words at once."""


def _misplaced(token: Token, expected: set[str]) -> str:
    groups = {name: group for name, group in _TOGETHER.items() if expected >= group}
    single = expected.difference(*groups.values())
    said = sorted([*groups, *(_SAID.get(name, f"'{name.lower()}'") for name in single)])
    wanted = " or ".join([*([", ".join(said[:-1])] if said[1:] else []), *said[-1:]])
    if token.type == "$END":
        return f"the text ends too early; expected {wanted}"
    if "NAME" in expected and token in KEYWORDS:
        return f"'{token}' is a word of the language and cannot be a name; expected {wanted}"
    return f"'{shortened(token)}' has no place here; expected {wanted}"


def shortened(text: str, most: int = 40) -> str:
    """At most so many letters of a text."""
    return text if len(text) <= most else f"{text[:most]}…"


# A look over the words.

_WORDS = re.compile(r'#[^\n]*|"[^"\n]*"|[0-9A-Za-z_]+|::|[^\s]')


def _look_over(text: str) -> None:
    """Refuse what is too long or nests too deeply."""
    if len(text) > LONGEST_TEXT:
        raise Wrong(0, f"a text of {len(text):,} letters is longer than the {LONGEST_TEXT:,} allowed")
    before = prefixes = splits = 0  # `before` is the nesting around the innermost open parenthesis
    outer: list[tuple[int, int, int]] = []
    for count, match in enumerate(_WORDS.finditer(text)):
        word = match.group()
        if word == "(":
            outer.append((before, prefixes, splits))
            before, prefixes, splits = before + prefixes + splits + 1, 0, 0
        elif word == ")" and outer:
            before, prefixes, splits = outer.pop()
        elif word in ("not", "in"):
            prefixes += 1
        elif word == "::":
            splits += 1
        elif word == ",":
            splits = 0
        elif word in ("and", "or"):
            prefixes = splits = 0
        elif word in ("concept", "experiment"):
            before, prefixes, splits, outer = 0, 0, 0, []
        elif len(word) > LONGEST_NAME and word[0] not in '#"':
            raise Wrong(match.start(), f"a name or number of {len(word):,} letters; {LONGEST_NAME} are allowed")
        if before + prefixes + splits > DEEPEST:
            raise Wrong(match.start(), f"this nests deeper than the {DEEPEST} levels allowed; give the inside a name")
        if count >= MOST_WORDS:
            raise Wrong(match.start(), f"a text of more than {MOST_WORDS:,} words and signs; divide it into files")


# Terms.


def _word(token: Token) -> Word:
    return Word(str(token), token.start_pos or 0)


def _number(token: Token) -> Number:
    if int(token) > LARGEST_NUMBER:
        raise Wrong(token.start_pos or 0, f"{shortened(token)} is larger than the {LARGEST_NUMBER:,} allowed")
    return Number(int(token), token.start_pos or 0)


def _quoted(token: Token | None) -> str:
    return str(token)[1:-1] if token else ""


def _joined(terms: list[Term]) -> tuple[list[Expr], list[int]]:
    return [each.term for each in terms], [at for each in terms for at in each.marks]


class Build:
    """What the parser does when a rule of the grammar is complete: one method per rule."""

    # Files.

    def file(self, items: list[Item]) -> list[Item]:
        return items

    def names(self, tokens: list[Token]) -> list[Word]:
        return [_word(token) for token in tokens]

    def grid(self, tokens: list[Token]) -> Sides:
        return Sides(tokens[0].start_pos or 0, _number(tokens[1]), _number(tokens[2]))

    def colors(self, children: list[Any]) -> Colors:
        return Colors(children[0].start_pos, children[1])

    def concept(self, children: list[Any]) -> Concept:
        name, parameters, about, body = children
        return Concept(_word(name), [_variable(word) for word in parameters], _quoted(about), body)

    def experiment(self, children: list[Any]) -> Experiment:
        name, title, *parts = children
        return Experiment(_word(name), _quoted(title), parts)

    def train(self, children: list[Any]) -> Taught:
        return Taught(children[0].start_pos, children[1:])

    def test(self, children: list[Any]) -> Asked:
        return Asked(children[0].start_pos, str(children[0]), children[1:])

    def curriculum(self, children: list[Any]) -> Curriculum:
        return Curriculum(children[0].start_pos, _number(children[1]), children[2])

    def line(self, children: list[Any]) -> Line:
        label, count, concept, where = children
        return Line(_word(label), _number(count), _word(concept), where)

    # Formulas.

    def either(self, parts: list[Term]) -> Term:
        terms, marks = _joined(parts)
        return Term(f.either(*terms), marks)

    def both(self, parts: list[Term]) -> Term:
        terms, marks = _joined(parts)
        return Term(f.both(*terms), marks)

    def no(self, parts: list[Term]) -> Term:
        return Term(f.no(parts[0].term), parts[0].marks)

    def among(self, children: list[Any]) -> tuple[Word, Term]:
        return _variable(_word(children[0])), children[1]

    def quantified(self, children: list[Any]) -> Term:
        kind, *binders, says = children
        make = f.every if kind == "all" else f.some
        for name, among in reversed(binders):
            says = Term(make(name.text, among.term, says.term), [name.at, *among.marks, *says.marks])
        return says

    def call(self, children: list[Any]) -> Term:
        name, given = _word(children[0]), children[1] or []
        terms, marks = _joined(given)
        return Term(f.call(name.text, *terms), [name.at, *marks])

    def point(self, parts: list[Term]) -> Term:
        return Term(f.point(parts[0].term), parts[0].marks)

    # Objects.

    def terms(self, parts: list[Term]) -> list[Term]:
        if len(parts) > LONGEST_VECTOR:
            raise Wrong(
                parts[LONGEST_VECTOR].marks[0] if parts[LONGEST_VECTOR].marks else 0,
                f"a vector of {len(parts):,} objects is longer than the {LONGEST_VECTOR:,} allowed",
            )
        return parts

    def variable(self, tokens: list[Token]) -> Term:
        word = _variable(_word(tokens[0]))
        return Term(f.var(word.text), [word.at])

    def vector(self, children: list[Any]) -> Term:
        terms, marks = _joined(children[0] or [])
        return Term(f.vector(*terms), marks)

    def split(self, children: list[Any]) -> Term:
        first, rest = children
        first = self.variable([first]) if isinstance(first, Token) else first
        heads = first.term.args if first.term.head.family == "vector" else (first.term,)
        if not heads:
            raise Wrong(
                rest.marks[0] if rest.marks else 0, "'()' splits nothing off; write the first objects before '::'"
            )
        return Term(f.split(heads, rest.term), [*first.marks, *rest.marks])

    # Comparisons.

    def word(self, tokens: list[Token]) -> Word | Side:
        word = _word(tokens[0])
        return Side(f.size(word.text), [], word.at, False) if word.text in f.SIZES else word

    def property(self, tokens: list[Token]) -> Side:
        thing, name = self.variable(tokens[:1]), _word(tokens[1])
        if name.text not in f.PROPERTIES:
            raise Wrong(name.at, f"a point has no '{name.text}'{nearest(name.text, f.PROPERTIES, _HAS)}")
        return Side(f.prop(name.text, thing.term), thing.marks, thing.marks[0], name.text == "color")

    def number(self, tokens: list[Token]) -> Side:
        return Side(f.number(_number(tokens[0]).value), [], tokens[0].start_pos or 0, False)

    def added(self, children: list[Any]) -> Side:
        value, sign, n = children
        if isinstance(value, Word):
            raise Wrong(value.at, f"'{value.text}' is not a number; write {value.text}.x_loc or {value.text}.y_loc")
        if value.colored:
            raise Wrong(value.at, "a number cannot be added to a colour")
        step = _number(n).value
        return value._replace(term=f.plus(value.term, step if sign == "+" else -step))

    def extreme(self, children: list[Any]) -> Extreme:
        kind, among, name = str(children[0]), children[1], _word(children[2])
        if name.text not in ("x_loc", "y_loc"):
            raise Wrong(name.at, f"{kind} takes the property x_loc or y_loc, not '{name.text}'")
        return Extreme(kind, among, name)

    def compared(self, children: list[Any]) -> Term:
        left, token, right = children
        sign = str(token)
        if isinstance(left, Word) and not isinstance(right, Side):
            return _of_objects(left, _word(token), right)
        if isinstance(right, Term | Extreme):
            raise Wrong(left.at, "a number or colour cannot equal an object; write a variable on the left of '=='")
        a, b = _beside(left, right), _beside(right, left)
        if a.colored != b.colored:
            raise Wrong(token.start_pos or 0, f"'{sign}' compares a number with a colour")
        if a.colored and sign not in ("==", "!="):
            raise Wrong(token.start_pos or 0, f"colours have no order; write '==' or '!=' in place of '{sign}'")
        return Term(f.compare(sign, a.term, b.term), [*a.marks, *b.marks])

    # Predicates on derivations.

    def any_of(self, parts: list[Term]) -> Term:
        return _predicates("or", parts)

    def all_of(self, parts: list[Term]) -> Term:
        return _predicates("and", parts)

    def none_of(self, parts: list[Term]) -> Term:
        return _predicates("not", parts)

    def uses(self, children: list[Any]) -> Term:
        return _measure(_word(children[0]), children[1], ("uses",), "bool")

    def measured(self, children: list[Any]) -> Term:
        name, names, sign, n = children
        inner = _measure(_word(name), names, ("depth", "count"), "number")
        head = Symbol("compare", (str(sign), str(_number(n).value)), ("number",), "bool")
        return Term(Expr(head, (inner.term,)), inner.marks)

    # Phrases.

    def thing(self, tokens: list[Token]) -> Word:
        return _word(tokens[0])

    def related(self, children: list[Any]) -> Related:
        return Related(children[0], _word(children[1]), children[2])


_HAS = "; it has x_loc, y_loc and color"


def _variable(word: Word) -> Word:
    if word.text in f.SIZES:
        raise Wrong(word.at, f"'{word.text}' is the {word.text} of the grid and cannot name an object")
    return word


def _of_objects(left: Word, sign: Word, right: Any) -> Term:
    """variable == object."""
    thing = Term(f.var(left.text), [left.at])
    if isinstance(right, Extreme):
        if sign.text != "==":
            raise Wrong(sign.at, f"{right.kind} comes after '==', not after '{sign.text}'")
        return Term(f.extreme(right.kind, right.name.text, thing.term, right.among.term), [left.at, *right.among.marks])
    if sign.text not in ("==", "!="):
        raise Wrong(sign.at, f"'{sign.text}' compares numbers, and '{left.text}' is an object; write {left.text}.x_loc")
    other = Term(f.var(right.text), [right.at]) if isinstance(right, Word) else right
    said = f.same(thing.term, other.term)
    return Term(said if sign.text == "==" else f.no(said), [left.at, *other.marks])


def _beside(side: Word | Side, other: Word | Side) -> Side:
    """A side as a value: a bare word is a colour where the other side is one."""
    if isinstance(side, Side):
        return side
    if isinstance(other, Side) and other.colored:
        return Side(f.color(side.text), [side.at], side.at, True)
    if side.text in COLORS:
        raise Wrong(side.at, f"'{side.text}' is a colour and not a number")
    raise Wrong(side.at, f"'{side.text}' is not a number; write {side.text}.x_loc or {side.text}.y_loc")


def _predicates(family: str, parts: list[Term]) -> Term:
    terms, marks = _joined(parts)
    flat = [inner for term in terms for inner in (term.args if term.head.family == family != "not" else (term,))]
    return Term(Expr(Symbol(family, (), ("bool",) * len(flat), "bool"), tuple(flat)), marks)


def _measure(word: Word, names: list[Word], allowed: tuple[str, ...], out: str) -> Term:
    """depth(name), count(name, ...), uses(name)."""
    every = ("depth", "count", "uses")
    if word.text not in every:
        otherwise = "; there are depth, count and uses"
        raise Wrong(word.at, f"there is no measure '{word.text}'{nearest(word.text, every, otherwise)}")
    if word.text not in allowed:
        how = "needs a comparison, such as '== 1'" if word.text != "uses" else "is compared with nothing"
        raise Wrong(word.at, f"{word.text}(...) {how}")
    if word.text != "count" and len(names) != 1:
        raise Wrong(names[1].at, f"{word.text} takes one name; write one for each, or count({names[0].text}, ...)")
    return Term(Expr(Symbol(word.text, tuple(n.text for n in names), (), out)), [n.at for n in names])
