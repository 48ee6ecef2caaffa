"""The factor of redundancy: the same question with as few words as it needs, or with as many as hold.

*rd* is a question as it was found. *rd-* leaves out every attribute without which the question still speaks of the same
things and counts or looks for the same set; no relation is left out, because a question with a superfluous one is not
accepted in the first place.
*rd+* names every attribute that all things of a description share, and with every direction the other one in which they
lie too: left of becomes left of and in front of. What is asked for or matched is never named. Image, referents and
answer stay, so the three can be laid side by side. Where no sentence can say more, or less, it stays as it is:
`how many red things are cubes or spheres` names one attribute, or none.

The release compares descriptions in the whole scene, not where they stand, and adds no directions: edition `release`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_, or_

from recombine.benchmarks.clevr.families import Families, Family, build
from recombine.benchmarks.clevr.language import DIRECTIONS, Dialect, Facet
from recombine.benchmarks.clevr.questions import Looked, act_of, facets_of, links_of
from recombine.benchmarks.clevr.shapes import Description, Filling
from recombine.language.expr import Expr
from recombine.store.errors import UserError

REDUNDANCIES = ("rd-", "rd", "rd+")
ANYWHERE = ""
"""In place of a direction: a relation that is left out."""


def known(redundancy: str) -> str:
    """The level, if there is one of this name."""
    if redundancy not in REDUNDANCIES:
        raise UserError(f"there is no redundancy '{redundancy}'; choose one of {', '.join(REDUNDANCIES)}")
    return redundancy


@dataclass(frozen=True)
class Meant:
    """What a question means in a scene, as masks of things."""

    denoted: Mapping[str, int]
    """By each description."""
    referents: tuple[int, ...]
    """By everything that must be one thing, that is counted, or looked for."""


class Things:
    """The things of one scene as masks, for descriptions and relations."""

    def __init__(self, looked: Looked, scene: int, dialect: Dialect) -> None:
        self.dialect = dialect
        self.columns = _columns(dialect)
        self.codes = looked.codes[scene].tolist()
        self.beyond = looked.beyond[scene].tolist()
        self.links = looked.links[scene].tolist()
        first, many = looked.spans[scene, 0].tolist()
        self.everything = ((1 << many) - 1) << first
        self.spans = [((1 << many) - 1) << first for first, many in looked.spans[scene].tolist()]
        self._having: dict[tuple[int, int], int] = {}

    def having(self, column: int, word: int) -> int:
        """The things of which a facet has this word."""
        found = self._having.get((column, word))
        if found is None:
            found = sum(1 << i for i, row in enumerate(self.codes) if row[column] == word)
            self._having[column, word] = found
        return found

    def described(self, letter: str, attribute: str, value: str) -> int:
        """The things of which this can be said."""
        column, facet = self._facet(letter, attribute, value)
        return self.having(column, facet.words.index(value))

    def shared(self, letter: str, attribute: str, things: int) -> str | None:
        """The most exact word of an attribute that can be said of all these things."""
        rows = [self.codes[i] for i in _members(things)]
        for column, facet in self.columns[letter, attribute]:
            words = {row[column] for row in rows}
            if len(words) == 1 and (word := words.pop()) < len(facet.words):
                return facet.words[word]
        return None

    def all_of(self, letter: str) -> int:
        """All things of a sort."""
        return self.spans[[sort.letter for sort in self.dialect.sorts].index(letter)]

    def _facet(self, letter: str, attribute: str, value: str) -> tuple[int, Facet]:
        return next((column, facet) for column, facet in self.columns[letter, attribute] if value in facet.words)


@lru_cache(maxsize=16)
def _columns(dialect: Dialect) -> Mapping[tuple[str, str], list[tuple[int, Facet]]]:
    """The facets of every attribute of every sort with their columns, the most exact one first."""
    found: dict[tuple[str, str], list[tuple[int, Facet]]] = {}
    for column, (letter, facet) in enumerate(facets_of(dialect)):
        found.setdefault((letter, facet.attribute), []).append((column, facet))
    return {key: sorted(some, key=lambda one: -len(one[1].words)) for key, some in found.items()}


def meant(family: Family, filling: Filling, things: Things) -> Meant:
    """What a question means in a scene."""
    denoted: dict[str, int] = {}
    referents: list[int] = []
    _denoted(family.shape, filling, things, denoted, referents)
    return Meant(denoted, tuple(referents))


def _denoted(shape: Expr, filling: Filling, things: Things, denoted: dict[str, int], referents: list[int]) -> int:
    """The things that a part of a question denotes; 0 for numbers and words."""
    given = [_denoted(arg, filling, things, denoted, referents) for arg in shape.args]
    act = act_of(shape.head.family, things.dialect)
    if act in ("unique", "count", "exist"):
        referents.append(given[0])
    return _ACTS[act](shape, given, filling, things, denoted) if act in _ACTS else 0


def _describe(shape: Expr, given: list[int], filling: Filling, things: Things, denoted: dict[str, int]) -> int:
    slot, (mask,) = shape.head.family, given
    said: Description = filling[slot]  # type: ignore[assignment]
    for attribute, value in said:
        mask &= things.described(slot[0], attribute, value)
    denoted[slot] = mask
    return mask


def _relate(shape: Expr, given: list[int], filling: Filling, things: Things, *_: object) -> int:
    said = str(filling[shape.head.index[0]])
    if said == ANYWHERE:
        return things.everything
    way = things.dialect.directions.index(said)
    return int(things.beyond[way][_only(given[0])]) if given[0] else 0


def _same(shape: Expr, given: list[int], filling: Filling, things: Things, *_: object) -> int:
    column = things.columns[things.dialect.by_symbol[shape.head.family].letter, shape.head.index[0]][0][0]
    return things.having(column, things.codes[_only(given[0])][column]) & ~given[0] if given[0] else 0


def _link(shape: Expr, given: list[int], filling: Filling, things: Things, *_: object) -> int:
    row = things.links[links_of(things.dialect).index(shape.head.family)]
    return reduce(or_, (int(row[i]) for i in _members(given[0])), 0)


_ACTS: Mapping[str, Callable[..., int]] = {
    "scene": lambda shape, given, filling, things, denoted: things.everything,
    "unique": lambda shape, given, *_: given[0],
    "intersect": lambda shape, given, *_: given[0] & given[1],
    "union": lambda shape, given, *_: given[0] | given[1],
    "describe": _describe,
    "relate": _relate,
    "same": _same,
    "link": _link,
}


def reworded(
    family: Family, filling: Filling, things: Things, redundancy: str, families: Families, edition: str = "paper"
) -> Filling:
    """The slots of a question at another level of redundancy."""
    if redundancy == "rd":
        return filling
    if redundancy == "rd-":
        return _fewest_in_scene(filling, things) if edition == "release" else _fewest(family, filling, things, families)
    denoted = meant(family, filling, things).denoted
    more: Filling = {slot: _most(slot, filling[slot], denoted[slot], family, things) for slot in denoted}  # type: ignore[arg-type]
    slots = {**filling, **more}
    if families.family_of(build(family, slots)) is None:
        slots[family.slots[-1]] = filling[family.slots[-1]]
    if edition != "release":
        for slot in family.slots:
            if slot[0] == "R":
                slots[slot] = _both_ways(slot, family, slots, things)
    return slots


def _fewest(family: Family, filling: Filling, things: Things, families: Families) -> Filling:
    """The slots without what they do not need; what is said last goes first."""
    return thinned(family, filling, things, families, 1.0, ())


def thinned(
    family: Family, filling: Filling, things: Things, families: Families, share: float, luck: Sequence[float]
) -> Filling:
    """The slots with less of what they do not need: each such attribute goes where its luck is below the share."""
    wanted, left, chances = meant(family, filling, things).referents, dict(filling), iter(luck)
    for slot in family.slots:
        for attribute in reversed(_said(slot, things.dialect)):
            if attribute in dict(left[slot]):  # type: ignore[arg-type]
                fewer = {**left, slot: _without(left[slot], attribute)}  # type: ignore[arg-type]
                if next(chances, 0.0) >= share:
                    continue
                if meant(family, fewer, things).referents == wanted and families.family_of(build(family, fewer)):
                    left = fewer
    return left


def _fewest_in_scene(filling: Filling, things: Things) -> Filling:
    """The slots without what does not narrow them down in the whole scene."""
    left = dict(filling)
    for slot, said in filling.items():
        for attribute in reversed(_said(slot, things.dialect)):
            fewer = _without(left[slot], attribute)  # type: ignore[arg-type]
            if attribute in dict(said) and _in_scene(slot, fewer, things) == _in_scene(slot, left[slot], things):  # type: ignore[arg-type]
                left[slot] = fewer
    return left


def _in_scene(slot: str, said: Description, things: Things) -> int:
    masks = (things.described(slot[0], attribute, value) for attribute, value in said)
    return reduce(and_, masks, things.all_of(slot[0]))


def _said(slot: str, dialect: Dialect) -> tuple[str, ...]:
    """What can be said in a slot."""
    return dialect.by_letter[slot[0]].attributes if slot[0] in dialect.by_letter else ()


def _without(said: Description, attribute: str) -> Description:
    return Description(**{name: value for name, value in said if name != attribute})


def _most(slot: str, said: Description, denoted: int, family: Family, things: Things) -> Description:
    """The description with everything that its things share."""
    named = dict(said)
    for attribute in things.dialect.by_letter[slot[0]].attributes if denoted else ():
        if attribute not in named and (slot, attribute) not in family.unnamed:
            value = things.shared(slot[0], attribute, denoted)
            if value is not None:
                named[attribute] = value
    return Description(**named)


def _both_ways(slot: str, family: Family, filling: Filling, things: Things) -> str:
    """The direction together with the other one in which everything that is meant lies too."""
    plain, now = str(filling[slot]), meant(family, filling, things)
    if not any(now.denoted[description] for description, inside in _around(family.shape) if slot in inside):
        return plain
    across = plain in DIRECTIONS[:2]
    for other in DIRECTIONS[2:] if across else DIRECTIONS[:2]:
        both = f"{plain}+{other}" if across else f"{other}+{plain}"
        if meant(family, {**filling, slot: both}, things) == now:
            return both
    return plain


@lru_cache(maxsize=512)
def _around(shape: Expr) -> tuple[tuple[str, frozenset[str]], ...]:
    """For each description, innermost first, the directions right inside it."""
    found: list[tuple[str, frozenset[str]]] = []

    def visit(term: Expr) -> frozenset[str]:
        inside = frozenset().union(*map(visit, term.args))
        if term.head.family == "relate":
            return inside | {term.head.index[0]}
        if term.head.family[0].isupper():
            found.append((term.head.family, inside))
            return frozenset()
        return inside

    visit(shape)
    return tuple(found)


def removable(family: Family, filling: Filling, things: Things, families: Families) -> Iterator[tuple[str, str]]:
    """Plainly: every attribute and relation that can be left out without changing what the question speaks of."""
    wanted = meant(family, filling, things).referents
    for slot in family.slots:
        if slot[0] == "R" and meant(family, {**filling, slot: ANYWHERE}, things).referents == wanted:
            yield slot, "relation"
    for slot in family.slots:
        for attribute in _said(slot, things.dialect):
            if attribute in dict(filling[slot]):  # type: ignore[arg-type]
                fewer = {**filling, slot: _without(filling[slot], attribute)}  # type: ignore[arg-type]
                if meant(family, fewer, things).referents == wanted and families.family_of(build(family, fewer)):
                    yield slot, attribute


def addable(family: Family, filling: Filling, things: Things) -> Iterator[tuple[str, str]]:
    """Plainly: every attribute that all things of a description share, and that it could name but does not."""
    denoted = meant(family, filling, things).denoted
    for slot, mask in denoted.items():
        for attribute in _said(slot, things.dialect):
            free = attribute not in dict(filling[slot]) and (slot, attribute) not in family.unnamed  # type: ignore[arg-type]
            if mask and free and things.shared(slot[0], attribute, mask) is not None:
                yield slot, attribute


def _members(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _only(mask: int) -> int:
    return mask.bit_length() - 1
