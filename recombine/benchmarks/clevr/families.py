"""The question families of CLEVR (90) and CLOSURE (46): programs with open slots.

A *shape* is a program whose descriptions and directions are left open: `D1`, `D2`, ... stand where a chain of filters
stands (also an empty one), `relate[R1]` where a direction stands; numbers run from the inside out.

>>> family = CLEVR_FAMILIES[72]
>>> family
<one_hop 72: count(D2(relate[R1](unique(D1(scene)))))>
>>> filling = {"D1": Description(shape="cube"), "R1": "left", "D2": Description(color="red")}
>>> program = build(family, filling)
>>> program
count(filter[color,red](relate[left](unique(filter[shape,cube](scene)))))
>>> family_of(program) is family and filling_of(program) == filling
True
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from recombine.benchmarks.clevr.language import (
    ATTRIBUTES,
    COUNT,
    EQUAL_INTEGER,
    EXIST,
    GREATER_THAN,
    INTERSECT,
    LESS_THAN,
    SCENE,
    UNION,
    UNIQUE,
    equal,
    filter_,
    query,
    relate,
    same,
)
from recombine.language.expr import Expr, Symbol, subterms
from recombine.store.errors import UserError


class Description(NamedTuple):
    """What is said of an object itself; an empty string says nothing."""

    size: str = ""
    color: str = ""
    material: str = ""
    shape: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """The attributes that are said."""
        return tuple(attribute for attribute, value in zip(ATTRIBUTES, self) if value)


Filling = dict[str, Description | str]
"""A description for every slot D1, D2, ..., a direction for every slot R1, R2, ..."""


@dataclass(frozen=True, eq=False)
class Family:
    """Questions that differ only in what fills the slots."""

    index: int
    name: str
    test: str
    """`clevr`, or the CLOSURE test."""
    shape: Expr
    outer: tuple[str, ...] | None = None
    """What the outermost description names; None where it may name anything."""
    apart: tuple[str, ...] = ()
    """Two slots whose parts of the program must differ in what they denote."""

    @property
    def final(self) -> str:
        """The function that answers, as CLEVR's files call it: `count`, `query_size`, ..."""
        return "_".join((self.shape.head.family, *self.shape.head.index))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The open slots, innermost first."""
        return tuple(_slots(self.shape))

    @cached_property
    def unnamed(self) -> frozenset[tuple[str, str]]:
        """(slot, attribute): descriptions that must not name what is asked or what is matched."""
        return frozenset(_unnamed(self))

    def __repr__(self) -> str:
        return f"<{self.name} {self.index}: {self.shape}>"


def family_of(program: Expr) -> Family | None:
    """The family a program belongs to; None for a program that no family can produce."""
    parts: dict[str, Expr] = {}
    return _family(_abstract(program, parts), parts)


def shape_of(program: Expr) -> Expr:
    """The program with descriptions and directions left open."""
    return _abstract(program, {})


def parts_of(program: Expr) -> dict[str, Expr]:
    """The part of a program at every slot, innermost first; A1, A2, ... are its matching parts (`same`)."""
    parts: dict[str, Expr] = {}
    _abstract(program, parts)
    return parts


def filling_of(program: Expr) -> Filling:
    """What fills the slots of a program's shape."""
    return _filling(parts_of(program))


def recognise(program: Expr) -> tuple[Family, Filling]:
    """The family of a program and what fills its slots."""
    parts: dict[str, Expr] = {}
    shape = _abstract(program, parts)
    family = _family(shape, parts)
    if family is None:
        raise UserError(f"No question family of CLEVR or CLOSURE has programs of the shape {shape}.")
    return family, _filling(parts)


def build(family: Family, filling: Mapping[str, Description | str]) -> Expr:
    """The program of a family with these slots."""
    open_ = [slot for slot in family.slots if slot not in filling]
    if open_:
        raise UserError(f"{family} needs a filling for {', '.join(open_)}.")
    return fill(family.shape, filling)


def fill(shape: Expr, filling: Mapping[str, Description | str]) -> Expr:
    """The shape with its slots filled."""
    args = tuple(fill(arg, filling) for arg in shape.args)
    head = shape.head
    if head.family == "relate":
        return Expr(_relate(str(filling[head.index[0]])), args)
    if head.family[0] != "D":
        return Expr(head, args)
    (term,) = args
    for attribute, value in zip(ATTRIBUTES, filling[head.family]):
        if value:
            term = Expr(_filter(attribute, value), (term,))
    return term


@lru_cache(maxsize=1 << 16)
def describe(term: Expr) -> tuple[Description, Expr]:
    """A chain of filters in CLEVR's order, as a description, and what it filters."""
    values: dict[str, str] = {}
    limit = len(ATTRIBUTES)
    while term.head.family == "filter" and ATTRIBUTES.index(term.head.index[0]) < limit:
        attribute, value = term.head.index
        values[attribute], limit = value, ATTRIBUTES.index(attribute)
        (term,) = term.args
    return Description(**values), term


_filter, _relate = cache(filter_), cache(relate)


@cache
def _described(number: int) -> Symbol:
    return Symbol(f"D{number}", (), ("objects",), "objects")


@cache
def _related(number: int) -> Symbol:
    return Symbol("relate", (f"R{number}",), ("object",), "objects")


def _abstract(term: Expr, parts: dict[str, Expr], condition: bool = False) -> Expr:
    """The shape of a term; notes the program's part at each slot. A condition of `intersect` has no slot of its own."""
    if term.head.out != "objects":
        return Expr(term.head, tuple(_abstract(arg, parts) for arg in term.args))
    base = describe(term)[1]
    head, inner = base.head, tuple(_abstract(arg, parts, base.head == INTERSECT) for arg in base.args)
    if head.family == "relate":
        head = _related(int(_note("R", base, parts)[1:]))
    elif head.family == "same":
        _note("A", base, parts)
    shape = Expr(head, inner)
    if condition and term is base:
        return shape
    return Expr(_described(int(_note("D", term, parts)[1:])), (shape,))


def _note(kind: str, term: Expr, parts: dict[str, Expr]) -> str:
    slot = f"{kind}{1 + sum(slot[0] == kind for slot in parts)}"
    parts[slot] = term
    return slot


def _filling(parts: Mapping[str, Expr]) -> Filling:
    values: dict[str, Description | str] = {}
    for slot, term in parts.items():
        if slot[0] == "D":
            values[slot] = describe(term)[0]
        elif slot[0] == "R":
            values[slot] = term.head.index[0]
    return values


def _family(shape: Expr, parts: Mapping[str, Expr]) -> Family | None:
    by_outer = _BY_SHAPE.get(shape)
    if by_outer is None:
        return None
    outermost = [slot for slot in parts if slot[0] == "D"][-1]
    return by_outer.get(describe(parts[outermost])[0].named) or by_outer.get(None)


def _slots(shape: Expr) -> Iterator[str]:
    for arg in shape.args:
        yield from _slots(arg)
    if shape.head.family == "relate":
        yield shape.head.index[0]
    elif shape.head.family[0] == "D":
        yield shape.head.family


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


# Shapes are put together from programs of empty descriptions.

_SCENE = Expr(SCENE)
_SIDES = ((1, 0), (0, 1), (1, 1))
_HOP_ANSWERS = ("count", "exist", "size", "color", "material", "shape")


def _one(objects: Expr) -> Expr:
    return Expr(UNIQUE, (objects,))


def _hops(number: int) -> Expr:
    """Everything, or what stands somewhere from an object that is itself found in fewer hops."""
    return _hop_from(_hops(number - 1)) if number else _SCENE


def _hop_from(objects: Expr) -> Expr:
    return Expr(relate("left"), (_one(objects),))


def _match(attribute: str, objects: Expr = _SCENE) -> Expr:
    return Expr(same(attribute), (_one(objects),))


def _both(first: Expr, second: Expr) -> Expr:
    return Expr(INTERSECT, (first, second))


def _either(first: Expr, second: Expr) -> Expr:
    return Expr(UNION, (first, second))


def _ask(answer: str, objects: Expr) -> Expr:
    """`count` or `exist` of a set, or an attribute of the one object in it."""
    plain = {"count": COUNT, "exist": EXIST}.get(answer)
    return Expr(plain, (objects,)) if plain else Expr(query(answer), (_one(objects),))


def _compare(attribute: str, left: Expr, right: Expr) -> Expr:
    return Expr(equal(attribute), (_ask(attribute, left), _ask(attribute, right)))


def _others(attribute: str) -> tuple[str, ...]:
    return tuple(other for other in ATTRIBUTES if other != attribute)


class _Draft(NamedTuple):
    name: str
    program: Expr
    outer: tuple[str, ...] | None = None
    apart: tuple[str, ...] = ()


def _compare_integer() -> Iterator[_Draft]:
    apart = {(0, 0): ("D1", "D2"), (1, 1): ("D1", "D3")}
    for left, right in ((0, 0), (1, 0), (1, 1)):
        for order in (EQUAL_INTEGER, LESS_THAN, GREATER_THAN):
            program = Expr(order, (_ask("count", _hops(left)), _ask("count", _hops(right))))
            yield _Draft("compare_integer", program, None, apart.get((left, right), ()))


def _comparison() -> Iterator[_Draft]:
    apart = {(0, 0): ("D1", "D2"), (1, 0): ("D2", "D3"), (0, 1): ("D1", "D3"), (1, 1): ("D2", "D4")}
    sides = [(attribute, (0, 0)) for attribute in ATTRIBUTES]
    sides += [(attribute, side) for attribute in ATTRIBUTES for side in _SIDES]
    for attribute, (left, right) in sides:
        program = _compare(attribute, _hops(left), _hops(right))
        yield _Draft("comparison", program, None, apart[left, right])


def _hop(name: str, number: int, answers: tuple[str, ...] = _HOP_ANSWERS) -> Iterator[_Draft]:
    return (_Draft(name, _ask(answer, _hops(number))) for answer in answers)


def _single_and() -> Iterator[_Draft]:
    for answer in ("count", *ATTRIBUTES):
        yield _Draft(
            "single_and", _ask(answer, _both(_hops(1), _hops(1))), None, () if answer == "count" else ("R1", "R2")
        )


def _same_relate() -> Iterator[_Draft]:
    for outer in ((), None):
        for answer in ("exist", "count"):
            for attribute in ATTRIBUTES:
                yield _Draft("same_relate", _ask(answer, _match(attribute)), outer)
    for attribute in ATTRIBUTES:
        yield from (_Draft("same_relate", _ask(asked, _match(attribute))) for asked in _others(attribute))


def _single_or() -> Iterator[_Draft]:
    plain = _ask("count", _either(_SCENE, _SCENE))
    one_hop = {side: _ask("count", _either(_hops(side[0]), _hops(side[1]))) for side in _SIDES}
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


_CLOSURE: dict[str, Callable[[str, str], _Draft]] = {
    "embed_spa_mat": lambda matched, _: _Draft("embed_spa_mat", _ask("exist", _match(matched, _hops(1)))),
    "embed_mat_spa": lambda matched, _: _Draft("embed_mat_spa", _ask("exist", _hop_from(_match(matched)))),
    "compare_mat": lambda matched, asked: _Draft(
        "compare_mat", _compare(asked, _match(matched), _SCENE), None, ("D2", "D3")
    ),
    "compare_mat_spa": lambda matched, asked: _Draft(
        "compare_mat_spa", _compare(asked, _match(matched), _hops(1)), None, ("D2", "D4")
    ),
    "and_mat_spa": lambda matched, asked: _Draft(
        "and_mat_spa", _ask(asked, _both(_match(matched), _hops(1))), None, ("A1", "R1")
    ),
    "or_mat": lambda matched, _: _Draft("or_mat", _ask("count", _either(_SCENE, _match(matched))), ()),
    "or_mat_spa": lambda matched, _: _Draft("or_mat_spa", _ask("count", _either(_hops(1), _match(matched))), ()),
}
"""The program of a test's template, by what is matched and what is asked."""

_TEMPLATES = {
    "embed_spa_mat": "size color material shape",
    "embed_mat_spa": "shape color material size",
    "compare_mat": "material:color shape:color size:color material:size size:shape color:shape shape:size "
    "material:shape color:size",
    "compare_mat_spa": "material:color material:shape size:color color:size shape:color shape:size color:shape "
    "material:size size:shape",
    "and_mat_spa": "shape:size material:size material:color size:material shape:material size:shape color:material "
    "shape:color color:shape size:color material:shape color:size",
    "or_mat": "material color shape size",
    "or_mat_spa": "material size shape color",
}
"""Templates of each CLOSURE test in the order of its `question_family_index`: matched or matched:asked."""


def _finished(index: int, test: str, draft: _Draft) -> Family:
    return Family(index, draft.name, test, shape_of(draft.program), draft.outer, draft.apart)


CLEVR_FAMILIES = tuple(_finished(index, "clevr", draft) for index, draft in enumerate(_clevr()))
"""In the order of `question_family_index` in CLEVR's files."""

CLOSURE_FAMILIES = {
    test: tuple(
        _finished(index, test, _CLOSURE[test](matched, asked))
        for index, (matched, _, asked) in enumerate(template.partition(":") for template in templates.split())
    )
    for test, templates in _TEMPLATES.items()
}
"""By test, in the order of `question_family_index` in CLOSURE's files."""

FAMILIES = CLEVR_FAMILIES + tuple(family for families in CLOSURE_FAMILIES.values() for family in families)

BASELINES = {
    test: tuple(CLEVR_FAMILIES[index] for index in indices)
    for test, indices in {
        "embed_spa_mat": (79,),
        "embed_mat_spa": (79,),
        "compare_mat": (13, 16, 22),
        "compare_mat_spa": (15, 18, 24),
        "and_mat_spa": (32, 33, 34, 35),
        "or_mat": (71,),
        "or_mat_spa": (67,),
    }.items()
}
"""The CLEVR families nearest to each CLOSURE test (Figure 6 of the paper)."""

_BY_SHAPE: dict[Expr, dict[tuple[str, ...] | None, Family]] = {}
for _each in FAMILIES:
    _BY_SHAPE.setdefault(_each.shape, {})[_each.outer] = _each
