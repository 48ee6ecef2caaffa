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

from recombine.language.expr import Expr

SLOT = re.compile(r"\b([DR]\d)(s?)\b")
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

    def spoken(self, shape: Expr) -> tuple[str, ...]:
        """The surface forms in which a shape is said, each as often as it weighs."""
        texts = _forms(self.said, shape)
        for words in self.unsaid:
            texts = [text.replace(words, "") for text in texts]
        return tuple(texts)

    def readable(self, shape: Expr) -> tuple[str, ...]:
        """The surface forms in which a shape is understood."""
        return tuple(_forms(self.said + self.understood, shape))


def _forms(frames: tuple[str, ...], shape: Expr) -> list[str]:
    return [text for frame in frames for text in alternatives(_filled(frame, shape))]


@dataclass(frozen=True)
class Noun:
    """A description at its place in a shape, and the phrases that say it."""

    term: Expr

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
        return f"{self.names}{_clause(self._base, 'are')}"

    @property
    def link(self) -> str:
        """What ties it to other objects: `left of the cube`, `the same size as the cube`."""
        return _link(self._base)

    @property
    def relation(self) -> str:
        return self._base.head.index[0]

    @property
    def matched(self) -> str:
        return self._base.head.index[0]

    @property
    def anchor(self) -> "Noun":
        """The object it is tied to."""
        return _anchor(self._base)

    @property
    def first(self) -> "Noun":
        return Noun(self._base.args[0])

    @property
    def second(self) -> "Noun":
        return Noun(self._base.args[1])

    @property
    def _base(self) -> Expr:
        return self.term.args[0]

    @property
    def _is_match(self) -> bool:
        return self._base.head.family == "same"

    @property
    def _phrase(self) -> str:
        return f"{self.name}{_clause(self._base, 'is')}"


def _anchor(base: Expr) -> Noun:
    return Noun(base.args[0].args[0])


def _clause(base: Expr, be: str) -> str:
    """The relative clause: empty, optional words before a direction, or full."""
    patterns = {"scene": "", "relate": " [that {be}] {link}"}
    return patterns.get(base.head.family, " that {be} {link}").format(be=be, link=_link(base))


def _link(base: Expr) -> str:
    return _LINKS[base.head.family](base)


def _same(base: Expr) -> str:
    attribute = base.head.index[0]
    return f"{'[made of] ' * (attribute == 'material')}the same {attribute} as {_anchor(base).the}"


def _both(base: Expr) -> str:
    """The condition that comes first in the program is said last."""
    last, first = base.args
    if last.head.family == "same":
        return f"{_link(first)} and is {_link(last)}"
    return f"[both] {_link(first)} and {_link(last)}"


_LINKS = {
    "scene": lambda base: "",
    "relate": lambda base: f"{base.head.index[0]} {_anchor(base).the}",
    "same": _same,
    "intersect": _both,
    "union": lambda base: "",
}

# Questions for an attribute: the frames, and which of them each family says.

QUERY = {
    "what": "what {asked} is {x.the}",
    "of": "what is the {asked} of {x.the}",
    "is": "{x.the} is what {asked}",
    "has": "{x.the} has what {asked}",
    "big": "how big is {x.the}",
    "made": "what is {x.the} made of",
    "what-made": "what [material] is {x.the} made of",
    "is-made": "{x.the} is made of what material",
    "it": "there is {x.a} ; what {asked} is it",
    "its": "there is {x.a} ; what is its {asked}",
    "it-big": "there is {x.a} ; how big is it",
    "it-made": "there is {x.a} ; what is it made of",
    "it-what-made": "there is {x.a} ; what [material] is it made of",
}
_QUERY_USES = {
    "zero_hop": {
        "size": "what of has is big",
        "color": "what of has is",
        "material": "what of made",
        "shape": "what of of has is it",
    },
    "one_hop": {
        "size": "what of big it its it-big",
        "color": "what of is it its",
        "material": "what of made it its it-made",
        "shape": "what of has it its",
    },
    "two_hop": {
        "size": "what of big it its it-big",
        "color": "what of is it its",
        "material": "what of what-made is-made its it-made",
        "shape": "what of is it its",
    },
    "single_and": {
        "size": "what of big it its it-big",
        "color": "what of is it its",
        "material": "what of made is-made it its it-what-made",
        "shape": "what of has it its",
    },
    "same_relate": {
        "size": "what of is it its",
        "color": "what of is it its",
        "material": "what of it its it-made",
        "shape": "what of is it its",
    },
}
_QUERY_USES["three_hop"] = _QUERY_USES["two_hop"]

# Questions whether two objects agree in an attribute.

COMPARE = {
    "do": "do {x.the} and {y.the} have the same {asked}",
    "of": "is the {asked} of {x.the} the same as {y.the}",
    "does": "does {x.the} have the same {asked} as {y.the}",
    "is": "is {x.the} the same {asked} as {y.the}",
    "are-made": "are {x.the} and {y.the} made of the same material",
    "is-made": "is {x.the} made of the same material as {y.the}",
    "does-it": "there is {x.a} ; does it have the same {asked} as {y.the}",
    "is-it": "there is {x.a} ; is it the same {asked} as {y.the}",
    "is-its": "there is {x.a} ; is its {asked} the same as {y.the}",
}
_ONE_HOP = "do of does does-it is-it is-its"
_MADE = "do of does are-made is-made"
_COMPARE_USES = {
    "zero_hop": {"size": "do do of does is", "color": "do of does is", "material": _MADE, "shape": "do of does is"},
    "one_hop": {"size": _ONE_HOP, "color": _ONE_HOP, "material": _MADE, "shape": _ONE_HOP},
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
        f"are there any other things that (have {_AS_ANCHOR}|are {{x.link}})",
        f"is there (anything else|any other thing) that (has {_AS_ANCHOR}|is {{x.link}})",
    ),
    "same_relate": (
        f"are there any other {{x.names}} (that have|{{of}}) {_AS_ANCHOR}",
        f"is there another {{x.name}} (that has|{{of}}) {_AS_ANCHOR}",
    ),
}
_EXIST_NEIGHBOURS = {
    "one_hop": DEEP_EXIST,
    "same_relate": DEEP_EXIST[:2],
}
_OF_THAT_COLOR = f"(are there any other things|is there anything else|is there any other thing) of {_AS_ANCHOR}"

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


def _filled(frame: str, shape: Expr) -> str:
    head, args = shape.head, shape.args
    nouns = [Noun(_described(arg)) for arg in args]
    asked = head.index[0] if head.index else ""
    base = nouns[0].term.args[0].head
    of = "made of" if base.index == ("material",) else "of"
    return frame.format(x=nouns[0], y=nouns[-1], asked=asked, of=of)


def _described(term: Expr) -> Expr:
    """The description that a question asks about, under `unique`, `query` or `count`."""
    return term if term.head.family[0] == "D" else _described(term.args[0])


# Which frames CLEVR's families have.


def clevr_frames(name: str, shape: Expr, outer: tuple[str, ...] | None) -> Frames:
    """The frames of a family of this name and shape, whose outermost description names `outer`."""
    head = shape.head
    # Where nothing is said of the objects that match, the frames speak of things.
    group = "same_thing" if name == "same_relate" and outer == () else name
    if head.family == "query":
        return Frames(_used(QUERY, _QUERY_USES[name][head.index[0]]), suiting(QUERY, head.index[0]))
    if head.family == "equal":
        hop = "one_hop" if "relate" in repr(shape) else "zero_hop"
        return Frames(_used(COMPARE, _COMPARE_USES[hop][head.index[0]]), suiting(COMPARE, head.index[0]))
    if head.family == "exist":
        of_color = group == "same_thing" and Noun(shape.args[0]).matched == "color"
        return Frames(_EXIST[group] + (_OF_THAT_COLOR,) * of_color, _EXIST_NEIGHBOURS.get(name, ()))
    return Frames(_COUNT[group] if head.family == "count" else _NUMBERS[head.family])


def suiting(frames: Mapping[str, str], attribute: str) -> tuple[str, ...]:
    """The frames for an attribute: those whose names end in 'big' or 'made' speak of one attribute only."""
    only = {"big": "size", "made": "material"}
    return tuple(frame for name, frame in frames.items() if only.get(name.split("-")[-1], attribute) == attribute)


def _used(frames: Mapping[str, str], names: str) -> tuple[str, ...]:
    return tuple(frames[name] for name in names.split())
