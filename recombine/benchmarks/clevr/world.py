"""CLEVR's world: three to ten solids in an image of 320 x 240 pixels, each of at least 200 visible pixels.

CoGenT's two conditions, and any pair that is held out, change only the objects that would break them: these draw the
attributes that nothing in space depends on again. So two worlds with the same key differ in as little as they can.

A condition of one's own is a short text: which values go with a value while one learns; the others come in the test.

>>> mine = Condition.read("cube: gray, blue; cylinder: red")
>>> str(mine.swapped)
'cube: red,green,brown,purple,cyan,yellow; cylinder: gray,blue,green,brown,purple,cyan,yellow'
>>> train, test = ClevrWorld(held_out=mine.held_out), ClevrWorld(held_out=mine.swapped.held_out)
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.distribution import places_taken
from recombine.world.placement import Placement
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Vocabulary

CLEVR_RADII = (("small", 0.35), ("large", 0.7))
LAMPS = ("key", "fill", "back")
LAMP_JITTER = 1.0
"""The most that a coordinate of a lamp may move, either way."""

SOLID = ("shape", "size")
"""The attributes that decide where an object finds room; the others are free."""

RESERVED = {"bool", "number", "integer", "object", "objects"}

PATIENCE = 10_000
"""How many rounds without a single scene it takes to give up."""

Pair = Mapping[str, str]
_HOW = "write a value, a colon and values of another attribute: cube: red,blue"


@dataclass(frozen=True)
class Condition:
    """Which values of an attribute go with some values of another; with values that are not listed any go."""

    vocabulary: Vocabulary
    attribute: str
    other: str
    allowed: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def read(cls, text: str, vocabulary: Vocabulary = CLEVR_VOCABULARY) -> "Condition":
        """A condition such as `cube: gray,blue; cylinder: red`."""
        allowed = {}
        for line in filter(None, map(str.strip, text.split(";"))):
            value, colon, others = (part.strip() for part in line.partition(":"))
            chosen = tuple(dict.fromkeys(other.strip() for other in others.split(",") if other.strip()))
            if not colon or not value or not chosen or value in allowed:
                raise UserError(f"'{line}' is no condition; {_HOW}")
            allowed[value] = chosen
        if not allowed:
            raise UserError(f"the condition is empty; {_HOW}")
        attribute, other = (
            vocabulary.attribute_of(next(iter(values))).name for values in (allowed, next(iter(allowed.values())))
        )
        return cls(vocabulary, attribute, other, tuple(allowed.items()))

    def __post_init__(self) -> None:
        if self.attribute == self.other:
            raise UserError(f"a condition is about two attributes, not about {self.attribute} alone")
        for value, others in self.allowed:
            self.vocabulary[self.attribute].code(value)
            for other in others:
                self.vocabulary[self.other].code(other)
            if len(others) == len(self.vocabulary[self.other].values):
                raise UserError(f"'{value}' stands with every {self.other}: nothing of it is left for the other side")

    @property
    def swapped(self) -> "Condition":
        """The condition of the test: with each value that is listed, what did not go with it."""
        every = self.vocabulary[self.other].values
        rest = tuple((value, tuple(one for one in every if one not in others)) for value, others in self.allowed)
        return replace(self, allowed=rest)

    @property
    def held_out(self) -> tuple[Pair, ...]:
        """The pairs that no object has."""
        return tuple(
            {self.attribute: value, self.other: one} for value, others in self.swapped.allowed for one in others
        )

    def __str__(self) -> str:
        return "; ".join(f"{value}: {','.join(others)}" for value, others in self.allowed)


_A = Condition.read("cube: gray,blue,brown,yellow; cylinder: red,green,purple,cyan")
COGENT = {"A": _A, "B": _A.swapped}
"""The colours that a shape has in each condition of CoGenT; a sphere has any."""


@dataclass(frozen=True)
class ClevrWorld:
    """The scenes of CLEVR, or of a like world with another vocabulary."""

    low: int = 3
    high: int = 10
    vocabulary: Vocabulary = CLEVR_VOCABULARY
    radii: tuple[tuple[str, float], ...] = CLEVR_RADII  # size value -> radius
    cogent: str | None = None  # "A" or "B"
    held_out: tuple[Pair, ...] = ()
    """Values that no object has together, such as {"shape": "cube", "color": "red"}."""
    min_pixels: int = 200
    solids: tuple[tuple[str, str], ...] = ()
    """For a new shape, the solid whose room it takes, such as ("cone", "cylinder")."""

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high <= 64:
            raise UserError(f"a scene holds 1 to 64 objects, not {self.low} to {self.high}")
        if taken := RESERVED & {*self.vocabulary.by_name}:
            raise UserError(f"an attribute cannot be called {', '.join(sorted(taken))}: the language has such a type")
        _ = self.placement  # says what is wrong with shapes and sizes
        for pair in self.avoided:
            self._check(pair)
        for solid in product(*(self.vocabulary[name].values for name in SOLID)):
            if not self._is_avoided(dict(zip(SOLID, solid))) and not len(self._choices(*solid)):
                raise UserError(f"every {solid[1]} {solid[0]} is held out; leave one, or hold out the pair itself")

    @property
    def placement(self) -> Placement:
        """The same world with every pair and without lamps."""
        camera = Camera(320, 240)
        return Placement(self.vocabulary, self.low, self.high, self.radii, camera, self.min_pixels, solids=self.solids)

    @property
    def avoided(self) -> tuple[Pair, ...]:
        """What no object has together: CoGenT's pairs and those held out."""
        return (*self._cogent_pairs(), *self.held_out)

    def sample(self, n: int, key: Key) -> Scenes:
        scenes = self._recolored(self._solids(n, key), key / "free")
        lamps = (key / "lamps").rng().uniform(-LAMP_JITTER, LAMP_JITTER, (n, len(LAMPS), 3)).astype(np.float32)
        return replace(scenes, extra={**scenes.extra, "lamps": lamps})

    def contains(self, scenes: Scenes) -> np.ndarray:
        lit = (np.abs(scenes.extra["lamps"]) <= LAMP_JITTER).all(axis=(1, 2))
        return lit & ~self._avoided(scenes, self.avoided).any(axis=1) & self.placement.contains(scenes)

    def _solids(self, n: int, key: Key) -> Scenes:
        """Placed scenes without the pairs of shape and size; a scene with one starts over and keeps its count."""
        scenes, pairs = self.placement.sample(n, key), [pair for pair in self.avoided if {*pair} <= {*SOLID}]
        todo = np.flatnonzero(self._avoided(scenes, pairs).any(axis=1))
        for attempt in range(PATIENCE):
            if not len(todo):
                return scenes
            larger = replace(self.placement, low=int(scenes.count[todo].min()))
            made = larger.sample(max(len(todo), 64), key / "again" / attempt)
            made = made[np.flatnonzero(~self._avoided(made, pairs).any(axis=1))]
            slots, chosen = _matched(scenes.count[todo], made.count)
            _overwrite(scenes, todo[slots], made[chosen])
            todo = np.delete(todo, slots)
        raise UserError(f"no scene is left without {', '.join(map(_text, pairs))}; hold out less")

    def _recolored(self, scenes: Scenes, key: Key) -> Scenes:
        """The scenes with other free values where an object has an avoided pair, uniform among those allowed."""
        wrong = self._avoided(scenes, self.avoided)
        if not wrong.any():
            return scenes
        codes = {name: column.copy() for name, column in scenes.codes.items()}
        for shape, size in product(*(self.vocabulary[name].values for name in SOLID)):
            solid = dict(zip(SOLID, (shape, size)))
            which = np.logical_and.reduce([wrong, *(self._has(scenes, name, solid[name]) for name in SOLID)])
            if not which.any():
                continue
            choices = self._choices(shape, size)
            drawn = choices[(key / shape / size).rng().integers(len(choices), size=np.count_nonzero(which))]
            for name, column in zip(self._free, drawn.T):
                codes[name][which] = column
        return replace(scenes, codes=codes)

    def _choices(self, shape: str, size: str) -> np.ndarray:
        """The codes of the free attributes that an object of this shape and size may have, uint8[choices, free]."""
        fixed = {"shape": shape, "size": size}
        combinations = product(*(enumerate(self.vocabulary[name].values) for name in self._free))
        allowed = [
            [code for code, _ in combination]
            for combination in combinations
            if not self._is_avoided({**fixed, **{name: value for name, (_, value) in zip(self._free, combination)}})
        ]
        return np.array(allowed, np.uint8).reshape(len(allowed), len(self._free))

    @property
    def _free(self) -> list[str]:
        return [attribute.name for attribute in self.vocabulary if attribute.name not in SOLID]

    def _is_avoided(self, thing: Pair) -> bool:
        return any(pair.items() <= thing.items() for pair in self.avoided)

    def _avoided(self, scenes: Scenes, pairs: tuple[Pair, ...] | list[Pair]) -> np.ndarray:
        """Which objects have one of the pairs, bool[n, k]."""
        found = np.zeros((len(scenes), scenes.places), bool)
        for pair in pairs:
            found |= np.logical_and.reduce([self._has(scenes, *item) for item in pair.items()])
        return found & places_taken(scenes.count, scenes.places)

    def _has(self, scenes: Scenes, attribute: str, value: str) -> np.ndarray:
        """Which objects have a value, bool[n, k]."""
        return scenes.codes[attribute] == self.vocabulary[attribute].code(value)

    def _cogent_pairs(self) -> tuple[Pair, ...]:
        if self.cogent is None:
            return ()
        if self.cogent not in COGENT:
            raise UserError(f"CoGenT has the conditions A and B, not '{self.cogent}'")
        return COGENT[self.cogent].held_out

    def _check(self, pair: Pair) -> None:
        if len(pair) < 2:
            raise UserError(
                f"a held-out pair names at least two attributes, not {_text(pair)}; "
                "a single value is left out by a vocabulary without it"
            )
        for attribute, value in pair.items():
            self.vocabulary[attribute].code(value)


def _matched(wanted: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in two arrays such that wanted[first] == found[second], each place at most once, earlier ones first."""
    pairs = [(np.flatnonzero(wanted == value), np.flatnonzero(found == value)) for value in np.unique(wanted)]
    cut = [(a[: len(b)], b[: len(a)]) for a, b in pairs]
    return np.concatenate([a for a, _ in cut]), np.concatenate([b for _, b in cut])


def _overwrite(scenes: Scenes, rows: np.ndarray, others: Scenes) -> None:
    """Put other scenes of the same counts in these rows of a batch that nobody else has seen yet."""
    for name, column in scenes.codes.items():
        column[rows] = others.codes[name]
    scenes.position[rows] = others.position
    for name, column in scenes.extra.items():
        column[rows] = others.extra[name]


def _text(pair: Pair) -> str:
    return " ".join(pair.values()) or "nothing"
