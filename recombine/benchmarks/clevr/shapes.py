"""Shapes: programs whose descriptions and directions are left open.

`D1`, `D2`, ... stand where a chain of filters stands (also an empty one), `relate[R1]` where a direction stands;
numbers run from the inside out.

>>> shape = shape_of(asked("count", hops(1)))
>>> shape
count(D2(relate[R1](unique(D1(scene)))))
>>> fill(shape, {"D1": Description(shape="cube"), "R1": "left", "D2": Description(color="red")})
count(filter[color,red](relate[left](unique(filter[shape,cube](scene)))))
"""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from recombine.benchmarks.clevr.language import (
    CLEVR,
    COUNT,
    EXIST,
    INTERSECT,
    SCENE,
    UNION,
    UNIQUE,
    Dialect,
    Sort,
    equal,
    query,
    relate,
    same,
)
from recombine.language.expr import Expr, Symbol


class Description(frozenset[tuple[str, str]]):
    """What is said of a thing itself: values of attributes; an empty value says nothing."""

    def __new__(cls, **said: str) -> "Description":
        return super().__new__(cls, ((attribute, value) for attribute, value in said.items() if value))

    @property
    def named(self) -> frozenset[str]:
        """The attributes that are said."""
        return frozenset(attribute for attribute, _ in self)


Filling = dict[str, Description | str]
"""A description for every slot D1, D2, ..., a direction for every slot R1, R2, ..."""


def shape_of(program: Expr, dialect: Dialect = CLEVR) -> Expr:
    """The program with descriptions and directions left open."""
    return abstract(program, dialect)[0]


def parts_of(program: Expr, dialect: Dialect = CLEVR) -> dict[str, Expr]:
    """The part of a program at every slot, innermost first; A1, A2, ... are its matching parts (`same`)."""
    return abstract(program, dialect)[1]


def filling_of(program: Expr, dialect: Dialect = CLEVR) -> Filling:
    """What fills the slots of a program's shape."""
    return filled(parts_of(program, dialect), dialect)


def filled(parts: Mapping[str, Expr], dialect: Dialect) -> Filling:
    """What the parts of a program say."""
    values: dict[str, Description | str] = {}
    for slot, term in parts.items():
        if slot[0] in dialect.by_letter:
            values[slot] = describe(term, dialect)[0]
        elif slot[0] == "R":
            values[slot] = term.head.index[0]
    return values


def fill(shape: Expr, filling: Mapping[str, Description | str], dialect: Dialect = CLEVR) -> Expr:
    """The shape with its slots filled."""
    args = tuple(fill(arg, filling, dialect) for arg in shape.args)
    head = shape.head
    if head.family == "relate":
        return Expr(_relate(str(filling[head.index[0]])), args)
    sort = dialect.by_letter.get(head.family[0])
    if sort is None:
        return Expr(head, args)
    (term,), said = args, dict(filling[head.family])  # type: ignore[arg-type]
    for attribute in sort.attributes:
        if attribute in said:
            term = Expr(_filter(sort, attribute, said[attribute]), (term,))
    return term


def slots_of(shape: Expr) -> Iterator[str]:
    """The open slots, innermost first."""
    for arg in shape.args:
        yield from slots_of(arg)
    if shape.head.family == "relate":
        yield shape.head.index[0]
    elif shape.head.family[0].isupper():
        yield shape.head.family


@lru_cache(maxsize=1 << 16)
def describe(term: Expr, dialect: Dialect = CLEVR) -> tuple[Description, Expr]:
    """A chain of filters in the dialect's order, as a description, and what it filters."""
    sort = dialect.by_set[term.head.out]
    values: dict[str, str] = {}
    limit = len(sort.attributes)
    while term.head.family == f"{sort.prefix}filter" and sort.attributes.index(term.head.index[0]) < limit:
        attribute, value = term.head.index
        values[attribute], limit = value, sort.attributes.index(attribute)
        (term,) = term.args
    return Description(**values), term


def abstract(program: Expr, dialect: Dialect = CLEVR) -> tuple[Expr, dict[str, Expr]]:
    """The shape of a program, and its part at every slot."""
    parts: dict[str, Expr] = {}
    return _abstract(program, parts, dialect), parts


def _abstract(term: Expr, parts: dict[str, Expr], dialect: Dialect, condition: bool = False) -> Expr:
    """The shape of a term; notes the program's part at each slot. A condition of `intersect` has no slot of its own."""
    sort = dialect.by_set.get(term.head.out)
    if sort is None:
        return Expr(term.head, tuple(_abstract(arg, parts, dialect) for arg in term.args))
    base = describe(term, dialect)[1]
    head, inner = base.head, tuple(_abstract(arg, parts, dialect, base.head == INTERSECT) for arg in base.args)
    if head.family == "relate":
        head = _related(int(_note("R", base, parts)[1:]))
    elif head.family == f"{sort.prefix}same":
        _note("A", base, parts)
    shape = Expr(head, inner)
    if condition and term is base:
        return shape
    return Expr(_described(sort, _note(sort.letter, term, parts)), (shape,))


def _note(kind: str, term: Expr, parts: dict[str, Expr]) -> str:
    slot = f"{kind}{1 + sum(slot[0] == kind for slot in parts)}"
    parts[slot] = term
    return slot


_relate = cache(relate)


@cache
def _filter(sort: Sort, attribute: str, value: str) -> Symbol:
    return sort.filter(attribute, value)


@cache
def _described(sort: Sort, slot: str) -> Symbol:
    return Symbol(slot, (), (sort.many,), sort.many)


@cache
def _related(number: int) -> Symbol:
    return Symbol("relate", (f"R{number}",), ("object",), "objects")


# Programs of empty descriptions, of which shapes are made.

EVERYTHING = Expr(SCENE)


def one(objects: Expr) -> Expr:
    return Expr(UNIQUE, (objects,))


def hops(number: int) -> Expr:
    """Everything, or what stands somewhere from an object that is itself found in fewer hops."""
    return hop_from(hops(number - 1)) if number else EVERYTHING


def hop_from(objects: Expr) -> Expr:
    return Expr(relate("left"), (one(objects),))


def match(attribute: str, objects: Expr = EVERYTHING) -> Expr:
    return Expr(same(attribute), (one(objects),))


def both(first: Expr, second: Expr) -> Expr:
    return Expr(INTERSECT, (first, second))


def either(first: Expr, second: Expr) -> Expr:
    return Expr(UNION, (first, second))


def asked(answer: str, objects: Expr) -> Expr:
    """`count` or `exist` of a set, or an attribute of the one object in it."""
    plain = {"count": COUNT, "exist": EXIST}.get(answer)
    return Expr(plain, (objects,)) if plain else Expr(query(answer), (one(objects),))


def compare(attribute: str, left: Expr, right: Expr) -> Expr:
    return Expr(equal(attribute), (asked(attribute, left), asked(attribute, right)))
