"""What CLEVR's programs mean.

`Exact` answers for a batch of scenes at once, `Plainly` for one scene and as documentation, `Soft` with probabilities
in the way of P-NSVQA; `execute` runs many programs on many scenes, and `trace` shows every step to people.

A program is undefined on a scene where `unique` meets no object, or more than one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR, CLEVR_VOCABULARY, DIRECTIONS, Dialect, dialect_of
from recombine.benchmarks.clevr.program import in_order
from recombine.benchmarks.clevr.relations import beyond, in_all, listed, ways
from recombine.language.expr import Expr
from recombine.semantics.fold import Plan, fold
from recombine.store.errors import UserError
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Vocabulary

UNDEFINED = 255
"""The answer of `execute` where there is none."""

CHUNK = 4096
"""How many scenes `execute` looks at together: their masks stay in the cache."""


class Known(NamedTuple):
    """A value per scene, and where it is defined; elsewhere the value means nothing."""

    value: np.ndarray  # objects: mask[n]; an object: its place, uint8[n]; number, code: uint8[n]; bool[n]
    defined: np.ndarray  # bool[n]


class Exact:
    """The values of programs on a batch of scenes."""

    def __init__(
        self, scenes: Scenes, related: Mapping[str, np.ndarray] | None = None, dialect: Dialect | None = None
    ) -> None:
        """`related`: the masks[n, k] of every direction, where they do not follow from the places."""
        accepts = (dialect or dialect_of(scenes.vocabulary)).objects.accepts
        self.present = scenes.present
        self.everywhere = np.ones(len(scenes), bool)
        self.first = np.arange(len(scenes)) * scenes.places  # of a scene's objects, in a flat column
        self.having = _Lazy(lambda *said: _any([scenes.having(said[0], value) for value in accepts(*said)]))
        self.sharing = _Lazy(lambda attribute: scenes.sharing(attribute).ravel())
        self.beyond = _Lazy(lambda way: (in_all(related, way) if related else beyond(scenes, way)).ravel())
        self.codes = {name: np.ascontiguousarray(column).ravel() for name, column in scenes.codes.items()}

    def scene(self) -> Known:
        return Known(self.present, self.everywhere)

    def filter(self, objects: Known, attribute: str, value: str) -> Known:
        return Known(objects.value & self.having[attribute, value], objects.defined)

    def unique(self, objects: Known) -> Known:
        mask = objects.value
        single = np.bitwise_count(mask) == 1
        place = np.bitwise_count(mask - mask.dtype.type(1))  # the zeros below the only one
        place *= single
        return Known(place, objects.defined & single)

    def relate(self, thing: Known, direction: str) -> Known:
        return self._look_up(self.beyond[direction,], thing)

    def same(self, thing: Known, attribute: str) -> Known:
        return self._look_up(self.sharing[attribute,], thing)

    def query(self, thing: Known, attribute: str) -> Known:
        return self._look_up(self.codes[attribute], thing)

    def union(self, a: Known, b: Known) -> Known:
        return Known(a.value | b.value, _both(a, b))

    def intersect(self, a: Known, b: Known) -> Known:
        return Known(a.value & b.value, _both(a, b))

    def count(self, objects: Known) -> Known:
        return Known(np.bitwise_count(objects.value), objects.defined)

    def exist(self, objects: Known) -> Known:
        return Known(objects.value != 0, objects.defined)

    def equal(self, a: Known, b: Known, attribute: str) -> Known:
        return self.equal_integer(a, b)

    def equal_integer(self, a: Known, b: Known) -> Known:
        return Known(a.value == b.value, _both(a, b))

    def less_than(self, a: Known, b: Known) -> Known:
        return Known(a.value < b.value, _both(a, b))

    def greater_than(self, a: Known, b: Known) -> Known:
        return Known(a.value > b.value, _both(a, b))

    def _look_up(self, column: np.ndarray, thing: Known) -> Known:
        """What a flat column says of an object of each scene."""
        return Known(column.take(self.first + thing.value), thing.defined)


def _any(masks: list[np.ndarray]) -> np.ndarray:
    return masks[0] if len(masks) == 1 else np.bitwise_or.reduce(masks)


def _both(a: Known, b: Known) -> np.ndarray:
    return a.defined if a.defined is b.defined else a.defined & b.defined


class _Lazy(dict[tuple[str, ...], np.ndarray]):
    """Columns that are made when they are first asked for."""

    def __init__(self, make: Callable[..., np.ndarray]) -> None:
        self.make = make

    def __missing__(self, words: tuple[str, ...]) -> np.ndarray:
        column = self[words] = self.make(*words)
        return column


def execute(
    programs: Sequence[Expr],
    scenes: Scenes,
    related: Mapping[str, np.ndarray] | None = None,
    chunk: int = CHUNK,
    dialect: Dialect | None = None,
    meaning: type[Exact] = Exact,
) -> np.ndarray:
    """The answers of programs on scenes, uint8[programs, n]: truth, number or code, UNDEFINED where there is none."""
    dialect = dialect or dialect_of(scenes.vocabulary)
    for program in programs:
        if not dialect.is_answer(program.head.out):
            raise UserError(f"{program!r} gives {program.head.out}, which is no answer")
    plan = Plan(dict.fromkeys(programs))
    found = np.empty((len(plan.terms), len(scenes)), np.uint8)
    for start in range(0, len(scenes), chunk):
        part = slice(start, start + chunk)
        some = related and {way: masks[part] for way, masks in related.items()}
        for i, known in plan.run(meaning(scenes[part], some, dialect)):
            found[i, part] = UNDEFINED
            np.copyto(found[i, part], known.value, where=known.defined, casting="unsafe")
    rows = {term: i for i, term in enumerate(plan.terms)}
    return found if len(rows) == len(programs) else found[[rows[program] for program in programs]]


class Undefined(Exception):
    """`unique` met no object, or more than one."""


class Plainly:
    """The value of a program on one scene: sets of object numbers, a number, truth or a word."""

    def __init__(
        self,
        objects: Sequence[Mapping[str, str]],
        beyond: Mapping[str, Sequence[Sequence[int]]],
        dialect: Dialect = CLEVR,
    ) -> None:
        """`beyond`: for each direction and object, the objects beyond it, as in CLEVR's `relationships`."""
        self.objects, self.beyond, self.dialect = objects, beyond, dialect

    @classmethod
    def of(cls, scenes: Scenes, i: int, dialect: Dialect | None = None) -> Self:
        """The plain meaning on scene i of a batch."""
        one = scenes[i : i + 1]
        related = {way: listed(beyond(one, way)[0], int(one.count[0])) for way in DIRECTIONS}
        return cls(one.objects(0), related, dialect or dialect_of(scenes.vocabulary))

    def scene(self) -> set[int]:
        return set(range(len(self.objects)))

    def filter(self, objects: set[int], attribute: str, value: str) -> set[int]:
        accepted = self.dialect.objects.accepts(attribute, value)
        return {i for i in objects if self.objects[i][attribute] in accepted}

    def unique(self, objects: set[int]) -> int:
        if len(objects) != 1:
            raise Undefined(f"unique met {len(objects)} objects")
        return min(objects)

    def relate(self, thing: int, direction: str) -> set[int]:
        return set.intersection(*(set(self.beyond[way][thing]) for way in ways(direction)))

    def same(self, thing: int, attribute: str) -> set[int]:
        value = self.objects[thing][attribute]
        return {i for i, other in enumerate(self.objects) if i != thing and other[attribute] == value}

    def query(self, thing: int, attribute: str) -> str:
        return self.objects[thing][attribute]

    def union(self, a: set[int], b: set[int]) -> set[int]:
        return a | b

    def intersect(self, a: set[int], b: set[int]) -> set[int]:
        return a & b

    def count(self, objects: set[int]) -> int:
        return len(objects)

    def exist(self, objects: set[int]) -> bool:
        return len(objects) > 0

    def equal(self, a: str, b: str, attribute: str) -> bool:
        return a == b

    def equal_integer(self, a: int, b: int) -> bool:
        return a == b

    def less_than(self, a: int, b: int) -> bool:
        return a < b

    def greater_than(self, a: int, b: int) -> bool:
        return a > b


class TraceStep(NamedTuple):
    """A step of a program on one scene."""

    symbol: str
    kind: str  # the type of the value
    objects: tuple[int, ...]  # the objects it chose, where it chose some
    value: Any  # None where the program is undefined


def trace(program: Expr, plain: Plainly) -> list[TraceStep]:
    """Every step of a program on one scene, in order; where `unique` fails, this and what follows has no value."""
    values: dict[Expr, Any] = {}
    with suppress(Undefined):
        fold(program, plain, values)
    return [
        TraceStep(str(step.head), step.head.out, _chosen(step, values.get(step), plain.dialect), values.get(step))
        for step in in_order(program)
    ]


def _chosen(step: Expr, value: Any, dialect: Dialect) -> tuple[int, ...]:
    if value is None or dialect.is_answer(step.head.out):
        return ()
    return tuple(sorted(value)) if step.head.out in dialect.by_set else (value,)


def answer_text(kind: str, value: Any, vocabulary: Vocabulary = CLEVR_VOCABULARY) -> str:
    """An answer as CLEVR writes it; the value of an attribute is a word or its code.

    >>> answer_text("bool", True), answer_text("number", 3), answer_text("color", 1)
    ('yes', '3', 'red')
    """
    if kind == "bool":
        return "yes" if value else "no"
    if kind == "number":
        return str(int(value))
    return value if isinstance(value, str) else vocabulary[kind].values[int(value)]


SLOPE, SHIFT = 0.02, 20.0
"""How surely an object some pixels away is beyond another: sigmoid(SLOPE (pixels + SHIFT))."""

SURE = 0.7
"""The probability above which an object counts."""

IMAGE_WAYS = {"left": (0, -1), "right": (0, 1), "front": (1, 1), "behind": (1, -1)}
"""The axis of each spatial word in the image, and its sign: what is in front is further down."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What someone who looked at the scenes believes of their objects."""

    vocabulary: Vocabulary
    present: np.ndarray  # float[n, k]: that there is an object in this place
    values: Mapping[str, np.ndarray]  # attribute -> float[n, k, values]
    beyond: Mapping[str, np.ndarray]  # direction -> float[n, k, k]: that the second is beyond the first

    @classmethod
    def seen(
        cls, vocabulary: Vocabulary, present: np.ndarray, values: Mapping[str, np.ndarray], pixel: np.ndarray
    ) -> "Beliefs":
        """From what a scene parser says: probabilities of values, and pixel[n, k, 2 or 3] for the relations."""
        return cls(vocabulary, present, values, {way: _beyond_in_image(pixel, way) for way in DIRECTIONS})

    @classmethod
    def certain(cls, scenes: Scenes) -> "Beliefs":
        """Of someone who knows all."""
        values = {a.name: _one_hot(scenes.codes[a.name], len(a.values)) for a in scenes.vocabulary}
        related = {way: _members(beyond(scenes, way), scenes.places) for way in DIRECTIONS}
        return cls(scenes.vocabulary, places_taken(scenes.count, scenes.places).astype(float), values, related)


class Soft:
    """P-NSVQA's meaning: a set of objects is a probability for each, float[n, k]; an object is where to look.

    `unique` shares one unit of attention among the objects, in proportion; nothing is undefined. An object is never
    beyond itself nor the same as itself.
    """

    def __init__(self, beliefs: Beliefs, dialect: Dialect | None = None) -> None:
        self.beliefs, self.vocabulary = beliefs, beliefs.vocabulary
        self.dialect = dialect or dialect_of(beliefs.vocabulary)
        self.others = 1.0 - np.eye(beliefs.present.shape[1])

    def scene(self) -> np.ndarray:
        return self.beliefs.present

    def filter(self, objects: np.ndarray, attribute: str, value: str) -> np.ndarray:
        codes = [self.vocabulary[attribute].code(one) for one in self.dialect.objects.accepts(attribute, value)]
        return objects * self.beliefs.values[attribute][..., codes].sum(axis=-1)

    def unique(self, objects: np.ndarray) -> np.ndarray:
        return _normalised(objects, objects.sum(axis=-1, keepdims=True))

    def relate(self, attention: np.ndarray, direction: str) -> np.ndarray:
        return self._expected(attention, self._beyond(direction))

    def _beyond(self, direction: str) -> np.ndarray:
        return np.multiply.reduce([self.beliefs.beyond[way] for way in ways(direction)])

    def same(self, attention: np.ndarray, attribute: str) -> np.ndarray:
        values = self.beliefs.values[attribute]
        unit = _normalised(values, np.linalg.norm(values, axis=-1, keepdims=True))
        return self._expected(attention, unit @ unit.swapaxes(-1, -2))

    def query(self, attention: np.ndarray, attribute: str) -> np.ndarray:
        return np.einsum("nk,nkv->nv", attention, self.beliefs.values[attribute]).argmax(axis=-1)

    def union(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 1 - (1 - a) * (1 - b)

    def intersect(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a * b

    def count(self, objects: np.ndarray) -> np.ndarray:
        return np.count_nonzero(objects > SURE, axis=-1)

    def exist(self, objects: np.ndarray) -> np.ndarray:
        return objects.max(axis=-1, initial=0) > SURE

    def equal(self, a: np.ndarray, b: np.ndarray, attribute: str) -> np.ndarray:
        return a == b

    def equal_integer(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a == b

    def less_than(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a < b

    def greater_than(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a > b

    def _expected(self, attention: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """The probability of each object to stand in a relation, pairs[n, k, k], to the one looked at."""
        return np.einsum("ni,nij->nj", attention, pairs * self.others) * self.beliefs.present


def _beyond_in_image(pixel: np.ndarray, direction: str) -> np.ndarray:
    axis, sign = IMAGE_WAYS[direction]
    away = sign * (pixel[:, None, :, axis] - pixel[:, :, None, axis])
    return 1 / (1 + np.exp(-SLOPE * (away + SHIFT)))


def _normalised(parts: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """parts / whole, zero where there is nothing."""
    return parts / np.where(whole > 0, whole, 1)


def _one_hot(codes: np.ndarray, size: int) -> np.ndarray:
    return (codes[..., None] == np.arange(size)).astype(float)


def _members(masks: np.ndarray, places: int) -> np.ndarray:
    """mask[...] -> float[..., places]."""
    return (masks[..., None] >> np.arange(places, dtype=masks.dtype) & 1).astype(float)


def soft_execute(
    programs: Iterable[Expr], beliefs: Beliefs, dialect: Dialect | None = None, meaning: type[Soft] = Soft
) -> list[np.ndarray]:
    """The answers of programs under beliefs: truth, number or code per scene."""
    memo: dict[Expr, Any] = {}
    return [fold(program, meaning(beliefs, dialect), memo) for program in programs]
