"""CLEVR's language of programs: 26 functions over sets of objects, made for any vocabulary.

A program is a term of type bool, number or an attribute. `filter`, `same`, `query` and `equal` are families indexed by
an attribute, so CLEVR's `filter_color` with the value red is `filter[color,red]`.

A *dialect* says what questions speak of and in which words. CLEVR's is one; that of another vocabulary is made from it:

>>> from recombine.world.vocabulary import Attribute
>>> pets = Vocabulary((Attribute("colour", ("black", "white")), Attribute("animal", ("cat", "mouse"))))
>>> dialect = Dialect.of(pets, noun="animal", plurals={"mouse": "mice"})
>>> signature(dialect).parse("count(filter[animal,mouse](filter[colour,white](scene)))")
count(filter[animal,mouse](filter[colour,white](scene)))
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from recombine.language.expr import Signature, Symbol
from recombine.store.errors import UserError
from recombine.world.vocabulary import Attribute, Vocabulary

DIRECTIONS = ("left", "right", "front", "behind")

CLEVR_VOCABULARY = Vocabulary(
    (
        Attribute("size", ("small", "large")),
        Attribute("color", ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")),
        Attribute("material", ("rubber", "metal")),
        Attribute("shape", ("cube", "sphere", "cylinder")),
    )
)
ATTRIBUTES = tuple(CLEVR_VOCABULARY.by_name)
"""In the order in which filters come."""

SYNONYMS = {
    "small": ("small", "tiny"),
    "large": ("large", "big"),
    "rubber": ("rubber", "matte"),
    "metal": ("metal", "metallic", "shiny"),
    "cube": ("cube", "block"),
    "sphere": ("sphere", "ball"),
}
"""CLEVR's words for a value, the plainest first."""

SCENE = Symbol("scene", (), (), "objects")
UNIQUE = Symbol("unique", (), ("objects",), "object")
UNION = Symbol("union", (), ("objects", "objects"), "objects")
INTERSECT = Symbol("intersect", (), ("objects", "objects"), "objects")
COUNT = Symbol("count", (), ("objects",), "number")
EXIST = Symbol("exist", (), ("objects",), "bool")
EQUAL_INTEGER = Symbol("equal_integer", (), ("number", "number"), "bool")
LESS_THAN = Symbol("less_than", (), ("number", "number"), "bool")
GREATER_THAN = Symbol("greater_than", (), ("number", "number"), "bool")
PLAIN = (SCENE, UNIQUE, UNION, INTERSECT, COUNT, EXIST, EQUAL_INTEGER, LESS_THAN, GREATER_THAN)
"""The symbols that speak of no attribute and of no direction."""


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


class Facet(NamedTuple):
    """One thing that can be said of things of a sort: the value of an attribute, or its category."""

    attribute: str
    words: tuple[str, ...]
    codes: tuple[int, ...]
    """For the code of each value of the attribute, the place of its word; beyond all words where it has none."""


@dataclass(frozen=True, eq=False)
class Sort:
    """One sort of things: their attributes, and the words for them. In CLEVR all things are objects."""

    vocabulary: Vocabulary
    noun: str
    """The attribute whose values are nouns; empty where there is none."""
    attributes: tuple[str, ...]
    """What is said of a thing, in the order of filters and of adjectives; the noun last."""
    asked: tuple[str, ...]
    """The attributes that are asked for and compared."""
    matched: tuple[str, ...]
    """The attributes that things may share: "the same size as"."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: SYNONYMS)
    """Words for a value, the plainest first; a value that is not listed is its own word."""
    plurals: Mapping[str, str] = field(default_factory=dict)
    """Of words that do not take an s."""
    bare: tuple[str, ...] = ("thing", "object")
    """Words for a thing of which no noun is said."""
    called: Mapping[str, str] = field(default_factory=dict)
    """Words for attributes; one that is not listed is its own word."""
    how: Mapping[str, str] = field(default_factory=lambda: {"size": "big"})
    """Attributes that "how big is it" asks for."""
    made: tuple[str, ...] = ("material",)
    """Attributes that "what is it made of" asks for."""
    heard: Mapping[str, str] = field(default_factory=lambda: {"grey": "gray"})
    """Spellings that are read and never said."""
    categories: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """By attribute, words of filters that let several values through, such as car for sedan and wagon.

    A value may have the name of its category: the word then means the category. Such values come last.
    """
    letter: str = "D"
    """Of the slots for their descriptions."""
    one: str = "object"
    many: str = "objects"
    """The types of a thing and of a set of them."""
    prefix: str = ""
    """Of their functions: `filter`, `same` and `query`."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, noun: str | None = None, **more: Any) -> "Sort":
        """A sort with CLEVR's words, where `more` does not say otherwise; the noun is the shape, or what is last."""
        names = list(vocabulary.by_name)
        if noun is None:
            noun = "shape" if "shape" in names else names[-1]
        ranks = {name: ATTRIBUTES.index(name) if name in ATTRIBUTES else len(ATTRIBUTES) for name in names}
        spoken = tuple(more.pop("attributes", sorted(names, key=lambda name: (name == noun, ranks[name]))))
        return cls(
            vocabulary, noun, spoken, tuple(more.pop("asked", spoken)), tuple(more.pop("matched", spoken)), **more
        )

    def __post_init__(self) -> None:
        for name in {*self.attributes, *self.asked, *self.matched, *self.categories}:
            _ = self.vocabulary[name]
        if unknown := {*self.asked, *self.matched, *self.categories} - {*self.attributes}:
            raise UserError(f"'{min(unknown)}' is asked about, but not among the attributes {self._listed}")
        if self.noun and self.attributes[-1:] != (self.noun,):
            raise UserError(f"the noun '{self.noun}' is the last of the attributes, not of {self._listed}")
        for name, categories in self.categories.items():
            members = [value for some in categories.values() for value in some]
            values, own = self.vocabulary[name].values, self._own_words(name)
            if sorted(members) != sorted(values) or any(value not in categories[value] for value in values[len(own) :]):
                raise UserError(
                    f"every {name} belongs to one category, and no category has the name of a {name} of another: "
                    f"{', '.join(values)} in {', '.join(categories)}"
                )
            if values[: len(own)] != own:
                raise UserError(f"the {name}s that have the name of their category come last")

    @property
    def _listed(self) -> str:
        return ", ".join(self.attributes)

    @cached_property
    def facets(self) -> tuple[Facet, ...]:
        """The attributes in their order, then their categories."""
        return (*self._values(), *self._categories())

    def _values(self) -> Iterator[Facet]:
        for name in self.attributes:
            yield Facet(name, self._own_words(name), tuple(range(len(self.vocabulary[name].values))))

    def _own_words(self, attribute: str) -> tuple[str, ...]:
        """The values that no category has the name of."""
        return tuple(v for v in self.vocabulary[attribute].values if v not in self.categories.get(attribute, {}))

    def _categories(self) -> Iterator[Facet]:
        for name, categories in self.categories.items():
            place = {value: i for i, some in enumerate(categories.values()) for value in some}
            yield Facet(name, tuple(categories), tuple(place[value] for value in self.vocabulary[name].values))

    def accepts(self, attribute: str, word: str) -> tuple[str, ...]:
        """The values that a filter lets through."""
        return self.categories.get(attribute, {}).get(word) or (word,)

    def title(self, attribute: str) -> str:
        """The attribute in words."""
        return self.called.get(attribute, attribute.replace("_", " "))

    def manner(self, attribute: str) -> str:
        """How one speaks of an attribute: as of CLEVR's size (how), material (made), shape (noun) or color (plain)."""
        kinds = {"how": self.how, "made": self.made, "noun": (self.noun,)}
        return next((kind for kind, names in kinds.items() if attribute in names), "plain")

    def filter(self, attribute: str, value: str) -> Symbol:
        return Symbol(f"{self.prefix}filter", (attribute, value), (self.many,), self.many)

    def symbols(self) -> Iterator[Symbol]:
        """All that speak of an attribute."""
        for name in self.attributes:
            for facet in self.facets:
                if facet.attribute == name:
                    yield from (self.filter(name, word) for word in facet.words)
            if name in self.matched:
                yield Symbol(f"{self.prefix}same", (name,), (self.one,), self.many)
            if name in self.asked:
                yield Symbol(f"{self.prefix}query", (name,), (self.one,), name)


@dataclass(frozen=True, eq=False)
class Dialect:
    """What questions speak of: sorts of things, the first of them the objects of scenes, and further functions."""

    sorts: tuple[Sort, ...]
    further: tuple[Symbol, ...] = ()
    acts: Mapping[str, str] = field(default_factory=dict)
    """What a further family does while questions are searched: as one of CLEVR's functions, or `link`."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """What a further family is called in files, where this is not its name."""
    leads: Mapping[str, str] = field(default_factory=dict)
    """What a step of a further family looks for, in words, as in `trace.LEADS`."""
    most: int = 10
    """The largest number that is an answer."""
    directions: tuple[str, ...] = DIRECTIONS
    """CLEVR's four come first; `left+front` is what lies in both."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, noun: str | None = None, **more: Any) -> "Dialect":
        """The dialect of objects with this vocabulary; `more` are fields of a `Sort`."""
        return cls((Sort.of(vocabulary, noun, **more),))

    @property
    def objects(self) -> Sort:
        return self.sorts[0]

    @cached_property
    def by_letter(self) -> dict[str, Sort]:
        return {sort.letter: sort for sort in self.sorts}

    @cached_property
    def by_set(self) -> dict[str, Sort]:
        """By the type of sets of them."""
        return {sort.many: sort for sort in self.sorts}

    @cached_property
    def by_symbol(self) -> dict[str, Sort]:
        """By the families of their functions."""
        return {sort.prefix + kind: sort for sort in self.sorts for kind in ("filter", "same", "query")}

    @cached_property
    def answers(self) -> dict[str, tuple[str, ...]]:
        """The answers of each type, in the order of their codes."""
        found = {"bool": ("no", "yes"), "number": tuple(str(number) for number in range(self.most + 1))}
        for sort in self.sorts:
            for name in sort.asked:
                if found.setdefault(name, sort.vocabulary[name].values) != sort.vocabulary[name].values:
                    raise UserError(f"two sorts of things have '{name}' with other values; give one another name")
        return found

    @cached_property
    def things(self) -> frozenset[str]:
        """The types of things and of sets of them."""
        return frozenset(kind for sort in self.sorts for kind in (sort.one, sort.many))

    @cached_property
    def names_of(self) -> dict[str, tuple[str, str]]:
        """By the type of a thing or a set: the words for one and for many."""
        return {kind: (sort.one, sort.many) for sort in self.sorts for kind in (sort.one, sort.many)}

    def is_answer(self, kind: str) -> bool:
        """Whether a program of this type answers a question."""
        return kind not in self.things

    @cached_property
    def signature(self) -> Signature:
        """Every symbol."""
        names = {name for sort in self.sorts for name in sort.attributes}
        if wrong := {"bool", "number", *self.things} & names:
            raise UserError(f"an attribute cannot be called {', '.join(sorted(wrong))}: the language has such a type")
        asked = dict.fromkeys(name for sort in self.sorts for name in sort.asked)
        symbols = [*PLAIN, *map(relate, self.directions), *(symbol for sort in self.sorts for symbol in sort.symbols())]
        return Signature.of([*symbols, *map(equal, asked), *self.further])


CLEVR = Dialect.of(CLEVR_VOCABULARY)

Speech = Dialect | Vocabulary
"""A dialect, or a vocabulary that stands for its own."""


def dialect_of(speech: Speech) -> Dialect:
    """The dialect itself, or that of a vocabulary."""
    return speech if isinstance(speech, Dialect) else _dialect_of(speech)


@lru_cache(maxsize=64)
def _dialect_of(vocabulary: Vocabulary) -> Dialect:
    return CLEVR if vocabulary == CLEVR_VOCABULARY else Dialect.of(vocabulary)


def signature(speech: Speech = CLEVR) -> Signature:
    """Every symbol of a dialect, or over a vocabulary."""
    return dialect_of(speech).signature
