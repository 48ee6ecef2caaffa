"""Sentence frames: which surface forms each question family has.

A form is text with slots for words: `how many D2s are R1 the D1` (a plural name, a direction, a name). Square brackets
hold words that may be left out, and a frame may offer alternatives: `(how many|what number of)`. A frame is filled with
the phrases of a `Noun`, so a longer chain of relations needs no frame of its own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from recombine.benchmarks.clevr.language import Dialect
from recombine.language.expr import Expr

SLOT = re.compile(r"\b([A-Z]\d)(s?)\b")
"""A slot in a form: its name, and whether a plural stands there."""

_MANY = "(how many|what number of)"


class Frames(NamedTuple):
    """The frames of one family."""

    said: tuple[str, ...] = ()
    """Each as often as it weighs."""
    understood: tuple[str, ...] = ()
    """Further ones in which the family is understood: those that CLEVR has for its neighbours only."""
    unsaid: tuple[str, ...] = ()
    """Optional words that are understood, and never said."""

    def spoken(self, shape: Expr, dialect: Dialect) -> tuple[str, ...]:
        """The surface forms in which a shape is said, each as often as it weighs."""
        texts = _forms(self.said, shape, dialect)
        for words in self.unsaid:
            texts = [text.replace(words, "") for text in texts]
        return tuple(texts)

    def readable(self, shape: Expr, dialect: Dialect) -> tuple[str, ...]:
        """The surface forms in which a shape is understood."""
        return tuple(_forms(self.said + self.understood, shape, dialect))


def _forms(frames: tuple[str, ...], shape: Expr, dialect: Dialect) -> list[str]:
    return [text for frame in frames for text in alternatives(_filled(frame, shape, dialect))]


@dataclass(frozen=True)
class Noun:
    """A description at its place in a shape, and the phrases that say it."""

    term: Expr
    dialect: Dialect

    @property
    def name(self) -> str:
        return self.term.head.family

    @property
    def names(self) -> str:
        return f"{self.name}s"

    @property
    def the(self) -> str:
        return f"the other {self._phrase}" if self._is_match else f"the {self._phrase}"

    @property
    def a(self) -> str:
        return f"another {self._phrase}" if self._is_match else f"a {self._phrase}"

    @property
    def things(self) -> str:
        return f"{self.names}{self._clause('are')}"

    @property
    def link(self) -> str:
        """What ties it to other objects: `left of the cube`, `the same size as the cube`."""
        return self._link(self._base)

    @property
    def relation(self) -> str:
        return self._base.head.index[0]

    @property
    def matched(self) -> str:
        return self.dialect.objects.title(self._base.head.index[0])

    @property
    def of(self) -> str:
        """What stands before "the same"."""
        return "made of" if self._base.head.index[0] in self.dialect.objects.made else "of"

    @property
    def anchor(self) -> "Noun":
        """The object it is tied to."""
        return self._anchor(self._base)

    @property
    def first(self) -> "Noun":
        return Noun(self._base.args[0], self.dialect)

    @property
    def second(self) -> "Noun":
        return Noun(self._base.args[1], self.dialect)

    @property
    def _base(self) -> Expr:
        return self.term.args[0]

    @property
    def _is_match(self) -> bool:
        return self._base.head.family == "same"

    @property
    def _phrase(self) -> str:
        return f"{self.name}{self._clause('is')}"

    def _clause(self, be: str) -> str:
        """The relative clause: empty, optional words before a direction, or full."""
        patterns = {"scene": "", "relate": " [that {be}] {link}"}
        pattern = patterns.get(self._base.head.family, " that {be} {link}")
        return pattern.format(be=be, link=self._link(self._base))

    def _link(self, base: Expr) -> str:
        kind = base.head.family
        if kind == "relate":
            return f"{base.head.index[0]} {self._anchor(base).the}"
        if kind == "same":
            (attribute,), sort = base.head.index, self.dialect.objects
            made = "[made of] " * (attribute in sort.made)
            return f"{made}the same {sort.title(attribute)} as {self._anchor(base).the}"
        if kind == "intersect":  # the condition that comes first in the program is said last
            last, first = base.args
            if last.head.family == "same":
                return f"{self._link(first)} and is {self._link(last)}"
            return f"[both] {self._link(first)} and {self._link(last)}"
        return ""

    def _anchor(self, base: Expr) -> "Noun":
        return Noun(base.args[0].args[0], self.dialect)


# Questions for an attribute: the frames, and which of them each family says.

QUERY = {
    "what": "what {asked} is {x.the}",
    "of": "what is the {asked} of {x.the}",
    "is": "{x.the} is what {asked}",
    "has": "{x.the} has what {asked}",
    "how": "how {how} is {x.the}",
    "made": "what is {x.the} made of",
    "what-made": "what [{asked}] is {x.the} made of",
    "is-made": "{x.the} is made of what {asked}",
    "it": "there is {x.a} ; what {asked} is it",
    "its": "there is {x.a} ; what is its {asked}",
    "it-how": "there is {x.a} ; how {how} is it",
    "it-made": "there is {x.a} ; what is it made of",
    "it-what-made": "there is {x.a} ; what [{asked}] is it made of",
}
_QUERY_USES = {
    "zero_hop": {
        "how": "what of has is how",
        "plain": "what of has is",
        "made": "what of made",
        "noun": "what of of has is it",
    },
    "one_hop": {
        "how": "what of how it its it-how",
        "plain": "what of is it its",
        "made": "what of made it its it-made",
        "noun": "what of has it its",
    },
    "two_hop": {
        "how": "what of how it its it-how",
        "plain": "what of is it its",
        "made": "what of what-made is-made its it-made",
        "noun": "what of is it its",
    },
    "single_and": {
        "how": "what of how it its it-how",
        "plain": "what of is it its",
        "made": "what of made is-made it its it-what-made",
        "noun": "what of has it its",
    },
    "same_relate": {
        "how": "what of is it its",
        "plain": "what of is it its",
        "made": "what of it its it-made",
        "noun": "what of is it its",
    },
}
_QUERY_USES["three_hop"] = _QUERY_USES["two_hop"]

# Questions whether two objects agree in an attribute.

COMPARE = {
    "do": "do {x.the} and {y.the} have the same {asked}",
    "of": "is the {asked} of {x.the} the same as {y.the}",
    "does": "does {x.the} have the same {asked} as {y.the}",
    "is": "is {x.the} the same {asked} as {y.the}",
    "are-made": "are {x.the} and {y.the} made of the same {asked}",
    "is-made": "is {x.the} made of the same {asked} as {y.the}",
    "does-it": "there is {x.a} ; does it have the same {asked} as {y.the}",
    "is-it": "there is {x.a} ; is it the same {asked} as {y.the}",
    "is-its": "there is {x.a} ; is its {asked} the same as {y.the}",
}
_ONE_HOP = "do of does does-it is-it is-its"
_MADE = "do of does are-made is-made"
_COMPARE_USES = {
    "zero_hop": {"how": "do do of does is", "plain": "do of does is", "made": _MADE, "noun": "do of does is"},
    "one_hop": {"how": _ONE_HOP, "plain": _ONE_HOP, "made": _MADE, "noun": _ONE_HOP},
}

# Questions that count, questions whether something exists, questions that compare two numbers.

_AS_ANCHOR = "the same {x.matched} as {x.anchor.the}"
_HOP_COUNT = (
    f"{_MANY} {{x.names}} are {{x.link}}",
    f"there is {{x.anchor.a}} ; {_MANY} {{x.names}} are {{x.relation}} it",
)
EITHER = "{x.names} are [either] {x.first.things} or {x.second.things}"
_COUNT = {
    "zero_hop": (f"{_MANY} {{x.names}} are there",),
    "one_hop": _HOP_COUNT,
    "two_hop": _HOP_COUNT,
    "three_hop": _HOP_COUNT,
    "single_and": (_HOP_COUNT[0],),
    "same_thing": (
        f"{_MANY} other {{x.names}} are {{x.link}}",
        f"{_MANY} other {{x.names}} are there of {_AS_ANCHOR}",
    ),
    "same_relate": (f"{_MANY} other {{x.names}} (have {_AS_ANCHOR}|are {{x.link}})",),
    "single_or": (f"{_MANY} {EITHER}",),
}

DEEP_EXIST = (
    "are there any {x.things}",
    "is there {x.a}",
    "there is {x.anchor.a} ; (are there any {x.names} [that are]|is there a {x.name} [that is]) {x.relation} it",
)
_EXIST = {
    "zero_hop": ("are there any {x.names}", "are any {x.names} visible", "is there a {x.name}"),
    "one_hop": ("are there any {x.names} {x.link}", "there is {x.anchor.a} ; are there any {x.names} {x.relation} it"),
    "two_hop": DEEP_EXIST,
    "three_hop": DEEP_EXIST,
    "same_thing": (
        f"are there any other {{things}} that (have {_AS_ANCHOR}|are {{x.link}})",
        f"is there (anything else|any other {{thing}}) that (has {_AS_ANCHOR}|is {{x.link}})",
    ),
    "same_relate": (
        f"are there any other {{x.names}} (that have|{{x.of}}) {_AS_ANCHOR}",
        f"is there another {{x.name}} (that has|{{x.of}}) {_AS_ANCHOR}",
    ),
}
_EXIST_NEIGHBOURS = {
    "one_hop": DEEP_EXIST,
    "same_relate": DEEP_EXIST[:2],
}
_OF_THAT_COLOR = f"(are there any other {{things}}|is there anything else|is there any other {{thing}}) of {_AS_ANCHOR}"

_NUMBERS = {
    "equal_integer": (
        "are there (an equal|the same) number of {x.things} and {y.things}",
        "is the number of {x.things} the same as the number of {y.things}",
    ),
    "less_than": (
        "are there fewer {x.things} than {y.things}",
        "is the number of {x.things} less than the number of {y.things}",
    ),
    "greater_than": (
        "are there more {x.things} than {y.things}",
        "is the number of {x.things} greater than the number of {y.things}",
    ),
}


def alternatives(text: str) -> Iterator[str]:
    """The texts that `(this|that)` stands for."""
    parts = re.split(r"\(([^)]*)\)", text)
    for words in product(*(part.split("|") if place % 2 else [part] for place, part in enumerate(parts))):
        yield "".join(words)


def with_and_without(text: str) -> Iterator[str]:
    """The texts with each part in square brackets kept or left out."""
    parts = re.split(r"\[([^]]*)\] ", text)
    for words in product(*((f"{part} ", "") if place % 2 else (part,) for place, part in enumerate(parts))):
        yield "".join(words)


def _filled(frame: str, shape: Expr, dialect: Dialect) -> str:
    nouns = [Noun(_described(arg), dialect) for arg in shape.args]
    (asked,), sort = shape.head.index or ("",), dialect.by_symbol.get(shape.head.family, dialect.objects)
    bare = sort.bare[0]
    words = {"asked": sort.title(asked), "how": sort.how.get(asked), "thing": bare}
    return frame.format(x=nouns[0], y=nouns[-1], things=sort.plurals.get(bare, f"{bare}s"), **words)


def _described(term: Expr) -> Expr:
    """The description that a question asks about, under `unique`, `query` or `count`."""
    return term if term.head.family[0].isupper() else _described(term.args[0])


# Which frames CLEVR's families have.


def clevr_frames(name: str, shape: Expr, outer: tuple[str, ...] | None, dialect: Dialect) -> Frames:
    """The frames of a family of this name and shape, whose outermost description names `outer`."""
    head, manner = shape.head, dialect.objects.manner
    # Where nothing is said of the objects that match, the frames speak of things.
    group = "same_thing" if name == "same_relate" and outer == () else name
    if head.family == "query":
        kind = manner(head.index[0])
        return Frames(_used(QUERY, _QUERY_USES[name][kind]), suiting(QUERY, kind))
    if head.family == "equal":
        hop, kind = "one_hop" if "relate" in repr(shape) else "zero_hop", manner(head.index[0])
        return Frames(_used(COMPARE, _COMPARE_USES[hop][kind]), suiting(COMPARE, kind))
    if head.family == "exist":
        of_color = group == "same_thing" and manner(shape.args[0].args[0].head.index[0]) == "plain"
        return Frames(_EXIST[group] + (_OF_THAT_COLOR,) * of_color, _EXIST_NEIGHBOURS.get(name, ()))
    return Frames(_COUNT[group] if head.family == "count" else _NUMBERS[head.family])


def suiting(frames: Mapping[str, str], manner: str) -> tuple[str, ...]:
    """The frames for an attribute: those whose names end in 'how' or 'made' speak of attributes of this manner only."""
    ends = ((name.split("-")[-1], frame) for name, frame in frames.items())
    return tuple(frame for end, frame in ends if end not in ("how", "made") or end == manner)


def _used(frames: Mapping[str, str], names: str) -> tuple[str, ...]:
    return tuple(frames[name] for name in names.split())
