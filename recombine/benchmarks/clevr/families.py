"""CLEVR's 90 question families: programs with open slots, and the sentences that ask them.

>>> family = CLEVR_FAMILIES[72]
>>> family
<one_hop 72: count(D2(relate[R1](unique(D1(scene)))))>
>>> filling = {"D1": Description(shape="cube"), "R1": "left", "D2": Description(color="red")}
>>> program = build(family, filling)
>>> program
count(filter[color,red](relate[left](unique(filter[shape,cube](scene)))))
>>> CLEVR_FAMILIES.recognise(program) == (family, filling)
True
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from recombine.benchmarks.clevr.english_frames import Frames, clevr_frames
from recombine.benchmarks.clevr.language import ATTRIBUTES, EQUAL_INTEGER, GREATER_THAN, INTERSECT, LESS_THAN, UNION
from recombine.benchmarks.clevr.shapes import (
    EVERYTHING,
    Description,
    Filling,
    abstract,
    asked,
    both,
    compare,
    describe,
    either,
    fill,
    filled,
    hops,
    match,
    shape_of,
    slots_of,
)
from recombine.language.expr import Expr, subterms
from recombine.store.errors import UserError


@dataclass(frozen=True, eq=False)
class Family:
    """Questions that differ only in what fills the slots."""

    index: int
    name: str
    test: str
    """The set of questions that it belongs to: `clevr`, or a test of another benchmark."""
    shape: Expr
    outer: tuple[str, ...] | None = None
    """What the outermost description names; None where it may name anything."""
    apart: tuple[str, ...] = ()
    """Two slots whose parts of the program must differ in what they denote."""
    frames: Frames = Frames()
    taken: frozenset[tuple[str, ...]] = frozenset()
    """What the outermost description may not name, because families of the same shape name it."""

    @property
    def final(self) -> str:
        """The function that answers, as CLEVR's files call it: `count`, `query_size`, ..."""
        return "_".join((self.shape.head.family, *self.shape.head.index))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The open slots, innermost first."""
        return tuple(slots_of(self.shape))

    @cached_property
    def unnamed(self) -> frozenset[tuple[str, str]]:
        """(slot, attribute): descriptions that must not name what is asked or what is matched."""
        return frozenset(_unnamed(self))

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The surface forms in which it is said, each as often as it weighs."""
        return self.frames.spoken(self.shape)

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """The surface forms in which it is understood."""
        return self.frames.readable(self.shape)

    def __repr__(self) -> str:
        return f"<{self.name} {self.index}: {self.shape}>"


class Families(tuple[Family, ...]):
    """Families of which each program has at most one."""

    def family_of(self, program: Expr) -> Family | None:
        """The family a program belongs to; None for a program that no family can produce."""
        return self._family(*abstract(program))

    def recognise(self, program: Expr) -> tuple[Family, Filling]:
        """The family of a program and what fills its slots."""
        shape, parts = abstract(program)
        family = self._family(shape, parts)
        if family is None:
            raise UserError(f"No question family has programs of the shape {shape}.")
        return family, filled(parts)

    def _family(self, shape: Expr, parts: Mapping[str, Expr]) -> Family | None:
        by_outer = self._by_shape.get(shape)
        if by_outer is None:
            return None
        outermost = [slot for slot in parts if slot[0] == "D"][-1]
        return by_outer.get(describe(parts[outermost])[0].named) or by_outer.get(None)

    @cached_property
    def _by_shape(self) -> dict[Expr, dict[tuple[str, ...] | None, Family]]:
        found: dict[Expr, dict[tuple[str, ...] | None, Family]] = {}
        for family in self:
            found.setdefault(family.shape, {})[family.outer] = family
        return found


def build(family: Family, filling: Mapping[str, Description | str]) -> Expr:
    """The program of a family with these slots."""
    open_ = [slot for slot in family.slots if slot not in filling]
    if open_:
        raise UserError(f"{family} needs a filling for {', '.join(open_)}.")
    return fill(family.shape, filling)


def _unnamed(family: Family) -> Iterator[tuple[str, str]]:
    for term in subterms(family.shape):
        kind = term.head.family
        if kind in ("query", "same"):
            yield term.args[0].args[0].head.family, term.head.index[0]
        elif kind[0] == "D":
            yield from ((kind, attribute) for attribute in _matched(term.args[0]))
            if term.args[0].head == UNION:
                sides = [side.head.family for side in term.args[0].args]
                yield from ((side, attribute) for side in sides for attribute in family.outer or ())


def _matched(base: Expr) -> tuple[str, ...]:
    conditions = base.args if base.head == INTERSECT else (base,)
    return tuple(term.head.index[0] for term in conditions if term.head.family == "same")


# CLEVR's own.

_SIDES = ((1, 0), (0, 1), (1, 1))
_HOP_ANSWERS = ("count", "exist", "size", "color", "material", "shape")


class _Draft(NamedTuple):
    name: str
    program: Expr
    outer: tuple[str, ...] | None = None
    apart: tuple[str, ...] = ()


def _compare_integer() -> Iterator[_Draft]:
    apart = {(0, 0): ("D1", "D2"), (1, 1): ("D1", "D3")}
    for left, right in ((0, 0), (1, 0), (1, 1)):
        for order in (EQUAL_INTEGER, LESS_THAN, GREATER_THAN):
            program = Expr(order, (asked("count", hops(left)), asked("count", hops(right))))
            yield _Draft("compare_integer", program, None, apart.get((left, right), ()))


def _comparison() -> Iterator[_Draft]:
    apart = {(0, 0): ("D1", "D2"), (1, 0): ("D2", "D3"), (0, 1): ("D1", "D3"), (1, 1): ("D2", "D4")}
    sides = [(attribute, (0, 0)) for attribute in ATTRIBUTES]
    sides += [(attribute, side) for attribute in ATTRIBUTES for side in _SIDES]
    for attribute, (left, right) in sides:
        yield _Draft("comparison", compare(attribute, hops(left), hops(right)), None, apart[left, right])


def _hop(name: str, number: int, answers: tuple[str, ...] = _HOP_ANSWERS) -> Iterator[_Draft]:
    return (_Draft(name, asked(answer, hops(number))) for answer in answers)


def _single_and() -> Iterator[_Draft]:
    for answer in ("count", *ATTRIBUTES):
        apart = () if answer == "count" else ("R1", "R2")
        yield _Draft("single_and", asked(answer, both(hops(1), hops(1))), None, apart)


def _same_relate() -> Iterator[_Draft]:
    for outer in ((), None):
        for answer in ("exist", "count"):
            for attribute in ATTRIBUTES:
                yield _Draft("same_relate", asked(answer, match(attribute)), outer)
    for attribute in ATTRIBUTES:
        others = (other for other in ATTRIBUTES if other != attribute)
        yield from (_Draft("same_relate", asked(other, match(attribute))) for other in others)


def _single_or() -> Iterator[_Draft]:
    plain = asked("count", either(EVERYTHING, EVERYTHING))
    one_hop = {side: asked("count", either(hops(side[0]), hops(side[1]))) for side in _SIDES}
    for outer in ((), ("size",), ("color",)):
        yield _Draft("single_or", plain, outer, ("D1", "D2"))
    yield _Draft("single_or", one_hop[1, 1], ())
    for outer in (("material",), ("shape",)):
        yield _Draft("single_or", plain, outer, ("D1", "D2"))
    yield _Draft("single_or", one_hop[1, 0], ())
    yield _Draft("single_or", one_hop[0, 1], ())


def _clevr() -> Iterator[_Draft]:
    yield from _compare_integer()
    yield from _comparison()
    yield from _hop("three_hop", 3, ("count", "exist", "size", "shape", "color", "material"))
    yield from _single_and()
    yield from _same_relate()
    yield from _single_or()
    yield from _hop("one_hop", 1)
    yield from _hop("two_hop", 2)
    yield from _hop("zero_hop", 0, ("count", "exist", "shape", "material", "color", "size"))


def _finished(drafts: Iterator[_Draft]) -> Iterator[Family]:
    some = [(shape_of(draft.program), draft) for draft in drafts]
    for index, (shape, (name, _, outer, apart)) in enumerate(some):
        rivals = frozenset(other.outer for same, other in some if same is shape and other.outer is not None)
        taken = rivals if outer is None else frozenset()
        yield Family(index, name, "clevr", shape, outer, apart, clevr_frames(name, shape, outer), taken)


CLEVR_FAMILIES = Families(_finished(_clevr()))
"""In the order of `question_family_index` in CLEVR's files."""
