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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from recombine.benchmarks.clevr.english_frames import Frames, clevr_frames
from recombine.benchmarks.clevr.language import (
    CLEVR,
    EQUAL_INTEGER,
    GREATER_THAN,
    INTERSECT,
    LESS_THAN,
    UNION,
    Dialect,
    Sort,
    Speech,
    dialect_of,
)
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
    dialect: Dialect = CLEVR

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
        return self.frames.spoken(self.shape, self.dialect)

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """The surface forms in which it is understood."""
        return self.frames.readable(self.shape, self.dialect)

    def __repr__(self) -> str:
        return f"<{self.name} {self.index}: {self.shape}>"


class Families(tuple[Family, ...]):
    """Families of one dialect, of which each program has at most one."""

    @property
    def dialect(self) -> Dialect:
        return self[0].dialect

    def named(self, name: str) -> "Families":
        """The families of a name such as one_hop, or the one of an index."""
        found = Families(family for family in self if name in (family.name, str(family.index)))
        if not found:
            names = dict.fromkeys(family.name for family in self)
            last = max(family.index for family in self)
            raise UserError(f"there is no family '{name}'; choose one of {', '.join(names)}, or 0 to {last}")
        return found

    def family_of(self, program: Expr) -> Family | None:
        """The family a program belongs to; None for a program that no family can produce."""
        return self._family(*abstract(program, self.dialect))

    def recognise(self, program: Expr) -> tuple[Family, Filling]:
        """The family of a program and what fills its slots."""
        shape, parts = abstract(program, self.dialect)
        family = self._family(shape, parts)
        if family is None:
            raise UserError(f"No question family has programs of the shape {shape}.")
        return family, filled(parts, self.dialect)

    def _family(self, shape: Expr, parts: Mapping[str, Expr]) -> Family | None:
        by_outer = self._by_shape.get(shape)
        if by_outer is None:
            return None
        outermost = [slot for slot in parts if slot[0] in self.dialect.by_letter][-1]
        named = describe(parts[outermost], self.dialect)[0].named
        return by_outer.get(named) or by_outer.get(None)

    @cached_property
    def _by_shape(self) -> dict[Expr, dict[frozenset[str] | None, Family]]:
        found: dict[Expr, dict[frozenset[str] | None, Family]] = {}
        for family in self:
            found.setdefault(family.shape, {})[None if family.outer is None else frozenset(family.outer)] = family
        return found


def build(family: Family, filling: Mapping[str, Description | str]) -> Expr:
    """The program of a family with these slots."""
    open_ = [slot for slot in family.slots if slot not in filling]
    if open_:
        raise UserError(f"{family} needs a filling for {', '.join(open_)}.")
    return fill(family.shape, filling, family.dialect)


def _unnamed(family: Family) -> Iterator[tuple[str, str]]:
    for term in subterms(family.shape):
        kind, sort = term.head.family, family.dialect.by_symbol.get(term.head.family)
        if sort is not None:
            yield _asked_of(term, sort), term.head.index[0]
        elif kind[0] in family.dialect.by_letter:
            yield from ((kind, attribute) for attribute in _matched(term.args[0], family.dialect))
            if term.args[0].head == UNION:
                sides = [side.head.family for side in term.args[0].args]
                yield from ((side, attribute) for side in sides for attribute in family.outer or ())


def _asked_of(term: Expr, sort: Sort) -> str:
    """The slot that describes the thing that a function asks about: the first of its sort."""
    while term.head.family[0] != sort.letter:
        term = term.args[0]
    return term.head.family


def _matched(base: Expr, dialect: Dialect) -> tuple[str, ...]:
    conditions = base.args if base.head == INTERSECT else (base,)
    return tuple(term.head.index[0] for term in conditions if term.head.family in dialect.by_symbol)


# CLEVR's own.

_SIDES = ((1, 0), (0, 1), (1, 1))


class Draft(NamedTuple):
    """A family in the making: its program has empty descriptions."""

    name: str
    program: Expr
    outer: tuple[str, ...] | None = None
    apart: tuple[str, ...] = ()


def _compare_integer() -> Iterator[Draft]:
    apart = {(0, 0): ("D1", "D2"), (1, 1): ("D1", "D3")}
    for left, right in ((0, 0), (1, 0), (1, 1)):
        for order in (EQUAL_INTEGER, LESS_THAN, GREATER_THAN):
            program = Expr(order, (asked("count", hops(left)), asked("count", hops(right))))
            yield Draft("compare_integer", program, None, apart.get((left, right), ()))


def _comparison(sort: Sort) -> Iterator[Draft]:
    apart = {(0, 0): ("D1", "D2"), (1, 0): ("D2", "D3"), (0, 1): ("D1", "D3"), (1, 1): ("D2", "D4")}
    sides = [(attribute, (0, 0)) for attribute in sort.asked]
    sides += [(attribute, side) for attribute in sort.asked for side in _SIDES]
    for attribute, (left, right) in sides:
        yield Draft("comparison", compare(attribute, hops(left), hops(right)), None, apart[left, right])


def _hop(name: str, number: int, attributes: Sequence[str]) -> Iterator[Draft]:
    return (Draft(name, asked(answer, hops(number))) for answer in ("count", "exist", *attributes))


def _single_and(sort: Sort) -> Iterator[Draft]:
    for answer in ("count", *sort.asked):
        apart = () if answer == "count" else ("R1", "R2")
        yield Draft("single_and", asked(answer, both(hops(1), hops(1))), None, apart)


def _same_relate(sort: Sort) -> Iterator[Draft]:
    for outer in ((), None):
        for answer in ("exist", "count"):
            for attribute in sort.matched:
                yield Draft("same_relate", asked(answer, match(attribute)), outer)
    for attribute in sort.matched:
        others = (other for other in sort.asked if other != attribute)
        yield from (Draft("same_relate", asked(other, match(attribute))) for other in others)


def _single_or(sort: Sort) -> Iterator[Draft]:
    plain = asked("count", either(EVERYTHING, EVERYTHING))
    one_hop = {side: asked("count", either(hops(side[0]), hops(side[1]))) for side in _SIDES}
    for outer in ((), *((attribute,) for attribute in sort.attributes[:2])):
        yield Draft("single_or", plain, outer, ("D1", "D2"))
    yield Draft("single_or", one_hop[1, 1], ())
    for attribute in sort.attributes[2:]:
        yield Draft("single_or", plain, (attribute,), ("D1", "D2"))
    yield Draft("single_or", one_hop[1, 0], ())
    yield Draft("single_or", one_hop[0, 1], ())


def _clevr(sort: Sort) -> Iterator[Draft]:
    yield from _compare_integer()
    yield from _comparison(sort)
    yield from _hop("three_hop", 3, (*sort.asked[:1], *sort.asked[1:][-1:], *sort.asked[1:-1]))
    yield from _single_and(sort)
    yield from _same_relate(sort)
    yield from _single_or(sort)
    yield from _hop("one_hop", 1, sort.asked)
    yield from _hop("two_hop", 2, sort.asked)
    yield from _hop("zero_hop", 0, sort.asked[::-1])


@lru_cache(maxsize=64)
def _clevr_families(dialect: Dialect) -> Families:
    sort = dialect.objects
    if len(sort.attributes) < 2:
        raise UserError(f"questions need at least two attributes, not only {', '.join(sort.attributes)}")
    some = [(shape_of(draft.program, dialect), draft) for draft in _clevr(sort)]
    found = []
    for index, (shape, (name, _, outer, apart)) in enumerate(some):
        rivals = frozenset(other.outer for same, other in some if same is shape and other.outer is not None)
        taken = rivals if outer is None else frozenset()
        frames = clevr_frames(name, shape, outer, dialect)
        found.append(Family(index, name, "clevr", shape, outer, apart, frames, taken, dialect))
    return Families(found)


def clevr_families(speech: Speech = CLEVR) -> Families:
    """The families of CLEVR for a dialect; for its own they are in the order of `question_family_index`."""
    return _clevr_families(dialect_of(speech))


CLEVR_FAMILIES = clevr_families()
