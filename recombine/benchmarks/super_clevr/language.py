"""Super-CLEVR's language: CLEVR's functions about vehicles, and functions about their parts.

`object2part` gives the recorded parts of an object, or of all objects of a set; `part2object` leads back. Filters take
the name of a vehicle or of its category, and the name of a part or its super name: a wheel is any of four.

>>> dialect = dialect_of(VehicleWorld())
>>> dialect.signature.parse("partquery[color](unique_part(partfilter[partname,roof](object2part(unique(scene)))))")
partquery[color](unique_part(partfilter[partname,roof](object2part(unique(scene)))))
>>> dialect.objects.accepts("shape", "bus"), dialect.sorts[1].accepts("partname", "engine")
(('articulated', 'regular', 'double', 'school'), ('right engine', 'left engine', 'engine'))
"""

from functools import lru_cache

from recombine.benchmarks.clevr.language import DIRECTIONS, SYNONYMS, Dialect, Sort
from recombine.benchmarks.super_clevr.names import super_name
from recombine.benchmarks.super_clevr.vehicles import VEHICLES
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Symbol
from recombine.store.errors import UserError
from recombine.world.vocabulary import Attribute, Vocabulary

ALL_DIRECTIONS = (*DIRECTIONS, *(f"{across}+{along}" for across in DIRECTIONS[:2] for along in DIRECTIONS[2:]))
"""Questions that say more than they need name two directions at once."""

EDITIONS = ("paper", "release")
"""Plain English, or every word as it was published."""

SAID = ("size", "color", "material", "shape")
PART_SAID = ("size", "color", "material", "partname")
"""What is said of vehicles and of their parts, in the order of filters."""

PARTS_OF = Symbol("object2part", (), ("object",), "parts")
PARTS_OF_ALL = Symbol("objects2parts", (), ("objects",), "parts")
OWNER_OF = Symbol("part2object", (), ("part",), "object")
ONLY_PART = Symbol("unique_part", (), ("parts",), "part")

ADDI = "addi"
"""A shape of the release that has a word and no vehicle."""

_KINDS = {"bus": "bus", "bicycle": "bike"}
"""Vehicles of these categories have a second word."""


def release_world(world: VehicleWorld) -> VehicleWorld:
    """The same world with the shape that has a word and no vehicle."""
    from dataclasses import replace

    return world if world.never else replace(world, never=(ADDI,))


@lru_cache(maxsize=16)
def dialect_of(world: VehicleWorld, edition: str = "paper", parts: bool = True) -> Dialect:
    """How one speaks of the vehicles of a world, and of their parts."""
    if edition not in EDITIONS:
        raise UserError(f"there is no edition '{edition}'; choose one of {', '.join(EDITIONS)}")
    objects = _objects(world, edition)
    if not parts:
        return Dialect((objects,), directions=ALL_DIRECTIONS)
    return Dialect(
        (objects, _parts(world, edition)),
        (PARTS_OF, PARTS_OF_ALL, OWNER_OF, ONLY_PART),
        acts={"object2part": "link", "objects2parts": "link", "part2object": "link", "unique_part": "unique"},
        spelled={"unique_part": "unique", "objects2parts": "object2part"},
        leads={
            "object2part": "the parts of {0.first}",
            "objects2parts": "the parts of {0.first}",
            "part2object": "what {0.first} belongs to",
            "unique_part": "the only one",
            "partfilter": "{0.described}",
            "partquery": "the {0.attribute} of {0.first}",
        },
        directions=ALL_DIRECTIONS,
    )


@lru_cache(maxsize=16)
def _objects(world: VehicleWorld, edition: str) -> Sort:
    words = {
        **{value: said for value, said in SYNONYMS.items() if value not in ("cube", "sphere")},
        **_shape_words(world),
    }
    categories = {category: shapes for category, shapes in world.fleet.categories}
    first = next(iter(categories))
    categories[first] = (*categories[first], *world.never)
    return Sort.of(
        world.vocabulary,
        attributes=SAID,
        words=words,
        plurals={} if edition == "release" else _plurals([*categories, *(said[0] for said in words.values())]),
        categories={"shape": categories},
    )


@lru_cache(maxsize=16)
def _parts(world: VehicleWorld, edition: str) -> Sort:
    names = world.fleet.part_names
    plain = [Attribute(name, world.vocabulary[name].values) for name in PART_SAID[:-1]]
    supers: dict[str, tuple[str, ...]] = {}
    for name in names:
        supers[super_name(name)] = (*supers.get(super_name(name), ()), name)
    return Sort.of(
        Vocabulary((*plain, Attribute("partname", names))),
        noun="partname",
        attributes=PART_SAID,
        matched=(),
        words={value: said for value, said in SYNONYMS.items() if value not in ("cube", "sphere")},
        plurals={} if edition == "release" else _plurals([*names, *supers]),
        bare=("part",),
        called={"partname": "name"},
        categories={"partname": supers},
        letter="P",
        one="part",
        many="parts",
        prefix="part",
    )


def _shape_words(world: VehicleWorld) -> dict[str, tuple[str, ...]]:
    """The words for vehicles of ours that are not their names."""
    fleet = world.fleet
    named = {s: category for s, category in fleet.category.items() if s in VEHICLES.get(category, ())}
    words = {s: (f"{s} {_KINDS[category]}",) for s, category in named.items() if category in _KINDS}
    return {**words, **{shape: ("regular car",) for shape in world.never if shape == ADDI}}


def _plurals(words: list[str]) -> dict[str, str]:
    """Of words that end in a hiss."""
    return {word: f"{word}es" for word in words if word.endswith(("s", "x", "ch", "sh"))}
