"""CLEVR's language of programs: 26 functions over sets of objects, made for any vocabulary.

A program is a term of type bool, number or an attribute. `filter`, `same`, `query` and `equal` are families indexed by
an attribute, so CLEVR's `filter_color` with the value red is `filter[color,red]`.
"""

from recombine.language.expr import Signature, Symbol
from recombine.world.vocabulary import Attribute, Vocabulary

DIRECTIONS = ("left", "right", "front", "behind")
ATTRIBUTES = ("size", "color", "material", "shape")
"""In the order in which filters come."""

CLEVR_VOCABULARY = Vocabulary(
    (
        Attribute("size", ("small", "large")),
        Attribute("color", ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")),
        Attribute("material", ("rubber", "metal")),
        Attribute("shape", ("cube", "sphere", "cylinder")),
    )
)

SCENE = Symbol("scene", (), (), "objects")
UNIQUE = Symbol("unique", (), ("objects",), "object")
UNION = Symbol("union", (), ("objects", "objects"), "objects")
INTERSECT = Symbol("intersect", (), ("objects", "objects"), "objects")
COUNT = Symbol("count", (), ("objects",), "number")
EXIST = Symbol("exist", (), ("objects",), "bool")
EQUAL_INTEGER = Symbol("equal_integer", (), ("number", "number"), "bool")
LESS_THAN = Symbol("less_than", (), ("number", "number"), "bool")
GREATER_THAN = Symbol("greater_than", (), ("number", "number"), "bool")


def filter_(attribute: str, value: str) -> Symbol:
    return Symbol("filter", (attribute, value), ("objects",), "objects")


def relate(direction: str) -> Symbol:
    return Symbol("relate", (direction,), ("object",), "objects")


def same(attribute: str) -> Symbol:
    return Symbol("same", (attribute,), ("object",), "objects")


def query(attribute: str) -> Symbol:
    return Symbol("query", (attribute,), ("object",), attribute)


def equal(attribute: str) -> Symbol:
    return Symbol("equal", (attribute,), (attribute, attribute), "bool")


def signature(vocabulary: Vocabulary = CLEVR_VOCABULARY) -> Signature:
    """Every symbol over a vocabulary."""
    symbols = [SCENE, UNIQUE, UNION, INTERSECT, COUNT, EXIST, EQUAL_INTEGER, LESS_THAN, GREATER_THAN]
    symbols += [relate(direction) for direction in DIRECTIONS]
    for attribute in vocabulary:
        symbols += [filter_(attribute.name, value) for value in attribute.values]
        symbols += [same(attribute.name), query(attribute.name), equal(attribute.name)]
    return Signature.of(symbols)
