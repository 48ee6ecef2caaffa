"""NSVQA and P-NSVQA: programs that are run on what a parser saw.

* *NSVQA* takes everything for what it most likely is and runs the program on that. Where a description should fit one
  object and fits more it takes the surest; where it fits none it guesses among the answers of the right type.
* *P-NSVQA* as the paper's appendix E writes it: `Soft`, with relations from the middles of boxes in pixels.
* *P-NSVQA, joint*: the answer that is most probable together with everything on the way to it. A description that has
  to fit one object is weighed by how probable it fits this one and no other; counts and existence are distributions;
  who stands beyond whom follows from places and how sure they are.

>>> [round(float(chance), 3) for chance in how_many(np.array([[0.5, 0.9]]))[0, :3]]
[0.05, 0.5, 0.45]
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.benchmarks.clevr.answers import answers_of, columns_of
from recombine.benchmarks.clevr.language import DIRECTIONS, Dialect
from recombine.benchmarks.clevr.meaning import Undefined, _beyond_in_image
from recombine.benchmarks.clevr.relations import MARGIN, WAYS, plainly_beyond
from recombine.benchmarks.super_clevr.meaning import PartBeliefs, Plainly, Soft
from recombine.benchmarks.super_clevr.world import NONE, VehicleWorld
from recombine.language.expr import Expr
from recombine.semantics.fold import fold
from recombine.world.distribution import places_taken
from recombine.world.scenes import ABSENT, Scenes

if TYPE_CHECKING:
    from recombine.solvers.perception import Perceived

IMAGE = 640
"""Pixels along the images in which appendix E counts."""
RECORDED = 0.5
"""How likely a part must be to be taken for a recorded one."""
LIKELY_PARTS = 6
"""Parts of an object that are thought of."""
NEVER, ALWAYS = 1e-6, 1 - 1e-6
"""How sure one can be of a description."""
MOST = 11
"""Numbers from 0 that are answers."""


# --- what was seen, as beliefs and as the likeliest scene ---------------------------------------------------------


def likeliest(seen: "Perceived", world: VehicleWorld) -> Scenes:
    """The likeliest scenes, with the parts that are likelier there than not, the likeliest first."""
    n, k = seen.sure.shape
    taken = places_taken(seen.count, k)
    codes = {name: seen.beliefs[name].argmax(axis=-1) for name in ("size", "color", "material", "shape", "texture")}
    slots = world.parts.most
    if slots:
        order, chance, looks = likely_parts(seen, slots)
        there = chance >= RECORDED
        for slot in range(slots):
            codes[f"part_{slot + 1}"] = np.where(there[..., slot], 1 + order[..., slot], 0)
            for look, belief in looks.items():
                attribute = world.vocabulary[f"part_{slot + 1}_{look}"]
                values = belief[..., slot, :].argmax(axis=-1) + (len(attribute.values) > belief.shape[-1])
                codes[f"part_{slot + 1}_{look}"] = np.where(there[..., slot], values, attribute.code(NONE))
    flat = {name: np.where(taken, column, ABSENT).astype(np.uint8) for name, column in codes.items()}
    place = np.where(taken[..., None], seen.place, 0)
    position = np.concatenate([place, np.zeros((n, k, 1))], axis=-1).astype(np.float32)
    return Scenes(world.vocabulary, seen.count, {a.name: flat[a.name] for a in world.vocabulary}, position)


def likely_parts(seen: "Perceived", many: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """The likeliest parts of every object: their names int[n, k, many], how likely, and how they look."""
    assert seen.parts is not None
    order = np.argsort(-seen.parts.chance, axis=-1, kind="stable")[..., :many]
    chance = np.take_along_axis(seen.parts.chance, order, axis=-1)
    looks = {look: np.take_along_axis(belief, order[..., None], axis=-2) for look, belief in seen.parts.looks.items()}
    return order, chance, looks


def beliefs_of(seen: "Perceived", dialect: Dialect, exact: bool = False) -> PartBeliefs:
    """What a parser believes of scenes; relations from pixels as appendix E has them if `exact` says so."""
    vocabulary = dialect.objects.vocabulary
    n, k = seen.sure.shape
    beyond = in_pixels(seen) if exact else on_the_ground(seen)
    present = seen.sure * places_taken(seen.count, k) if exact else seen.sure
    order, chance, looks = likely_parts(seen, LIKELY_PARTS)
    many = order.shape[-1]
    names = len(dialect.sorts[-1].vocabulary["partname"].values)
    values = {
        "partname": (order[..., None] == np.arange(names)).reshape(n, k * many, names).astype(float),
        "size": np.repeat(seen.beliefs["size"], many, axis=1),
        **{look: looks[look].reshape(n, k * many, -1) for look in ("color", "material")},
    }
    owner = np.broadcast_to(np.repeat(np.eye(k), many, axis=0), (n, k * many, k))
    return PartBeliefs(
        vocabulary, present.astype(float), seen.beliefs, beyond, chance.reshape(n, k * many), values, owner
    )


def in_pixels(seen: "Perceived") -> dict[str, np.ndarray]:
    """Who is beyond whom by the middles of boxes, as the appendix has it."""
    middle = (seen.box[..., :2] + seen.box[..., 2:]) / 2 * IMAGE
    return {way: _beyond_in_image(middle, way) for way in DIRECTIONS}


def on_the_ground(seen: "Perceived") -> dict[str, np.ndarray]:
    """How probable the second is beyond the first, by places on the ground and the errors that are expected of them."""
    place, spread = seen.place.astype(float), seen.place_spread.astype(float)
    found = {}
    for way in DIRECTIONS:
        dx, dy = WAYS[way]
        along = place[..., 0] * dx + place[..., 1] * dy
        wide = np.sqrt(2 * ((spread[..., 0] * dx) ** 2 + (spread[..., 1] * dy) ** 2))  # a standard deviation
        off = along[:, None, :] - along[:, :, None] - MARGIN
        both = np.sqrt(wide[:, None, :] ** 2 + wide[:, :, None] ** 2)
        found[way] = 1 / (1 + np.exp(-(off * (np.pi / np.sqrt(3)) / np.maximum(both, NEVER)).clip(-50, 50)))
    return found


# --- meanings -----------------------------------------------------------------------------------------------------


class Surest(Plainly):
    """The plain meaning on what was seen, the surest object first: a description of one takes the first it fits."""

    def unique(self, objects: set[int]) -> int:
        if not objects:
            raise Undefined("unique met no objects")
        return min(objects)


class Joint(Soft):
    """Every value is a distribution; a description of one object counts where it fits this one and no other."""

    def unique(self, objects: np.ndarray) -> np.ndarray:
        sure = objects.clip(NEVER, ALWAYS)
        odds = sure / (1 - sure) * (objects > 0)
        whole = odds.sum(axis=-1, keepdims=True)
        return odds / np.where(whole > 0, whole, 1)

    def same(self, attention: np.ndarray, attribute: str) -> np.ndarray:
        values = self.beliefs.values[attribute]
        return self._expected(attention, values @ values.swapaxes(-1, -2))

    def query(self, attention: np.ndarray, attribute: str) -> np.ndarray:
        return np.einsum("nk,nkv->nv", attention, self.beliefs.values[attribute])

    def partquery(self, attention: np.ndarray, attribute: str) -> np.ndarray:
        return np.einsum("nq,nqv->nv", attention, self.beliefs.part_values[attribute])

    def count(self, objects: np.ndarray) -> np.ndarray:
        return how_many(objects)

    def exist(self, objects: np.ndarray) -> np.ndarray:
        return _truth(1 - np.prod(1 - objects.clip(0, 1), axis=-1))

    def equal(self, a: np.ndarray, b: np.ndarray, attribute: str) -> np.ndarray:
        return self.equal_integer(a, b)

    def equal_integer(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _truth((a * b).sum(axis=-1))

    def less_than(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _truth((a * (b[..., ::-1].cumsum(axis=-1)[..., ::-1] - b)).sum(axis=-1))

    def greater_than(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.less_than(b, a)


def how_many(chances: np.ndarray) -> np.ndarray:
    """The distribution of how many of some things are there, each by its own chance: float[n, k] -> float[n, MOST]."""
    found = np.zeros((len(chances), MOST))
    found[:, 0] = 1
    for chance in chances.clip(0, 1).T:
        moved = found[:, :-1] * chance[:, None]
        last = found[:, -1] * chance
        found *= 1 - chance[:, None]
        found[:, 1:] += moved
        found[:, -1] += last
    return found


def _truth(chance: np.ndarray) -> np.ndarray:
    """The chances of no and of yes."""
    return np.stack([1 - chance, chance], axis=-1)


# --- answers ------------------------------------------------------------------------------------------------------

Reasoner = Callable[[Sequence[Expr], np.ndarray, "Perceived", VehicleWorld, Dialect], np.ndarray]
"""Answers float[questions, answers] to programs about pictures int[questions] of what was seen."""


def nsvqa(
    programs: Sequence[Expr], scene: np.ndarray, seen: "Perceived", world: VehicleWorld, dialect: Dialect
) -> np.ndarray:
    """The answers of NSVQA."""
    scenes = likeliest(seen, world)
    found, put = _nothing(programs, dialect), _Columns(dialect)
    plain: dict[int, Surest] = {}
    for row, (program, number) in enumerate(zip(programs, scene.tolist())):
        if number not in plain:
            plain[number] = surest(scenes, number, dialect)
        with suppress(Undefined):
            value = fold(program, plain[number], {})
            found[row] = put.one(program.head.out, value)
    return found


def surest(scenes: Scenes, number: int, dialect: Dialect) -> Surest:
    """The plain meaning on a likeliest scene."""
    places = scenes.position[number, : int(scenes.count[number])].tolist()
    return Surest(scenes.objects(number), {way: plainly_beyond(places, way) for way in DIRECTIONS}, dialect)


@dataclass(frozen=True)
class Probabilistic:
    """P-NSVQA: as appendix E has it if `exact`, else by the largest joint likelihood."""

    exact: bool

    def __call__(
        self, programs: Sequence[Expr], scene: np.ndarray, seen: "Perceived", world: VehicleWorld, dialect: Dialect
    ) -> np.ndarray:
        beliefs = beliefs_of(seen, dialect, self.exact)
        found, put = _nothing(programs, dialect), _Columns(dialect)
        meanings: dict[int, tuple[Soft, dict[Expr, Any]]] = {}
        for row, (program, number) in enumerate(zip(programs, scene.tolist())):
            if number not in meanings:
                mine = _one_scene(beliefs, number)
                meanings = {number: ((Soft if self.exact else Joint)(mine, dialect), {})}
            value = fold(program, *meanings[number])[0]
            found[row] = put.code(program.head.out, value) if self.exact else put.all(program.head.out, value)
        return found


def _one_scene(beliefs: PartBeliefs, number: int) -> PartBeliefs:
    """What is believed of one scene."""
    one = slice(number, number + 1)
    return PartBeliefs(
        beliefs.vocabulary,
        beliefs.present[one],
        {name: column[one] for name, column in beliefs.values.items()},
        {name: column[one] for name, column in beliefs.beyond.items()},
        beliefs.part_present[one],
        {name: column[one] for name, column in beliefs.part_values.items()},
        beliefs.owner[one],
    )


def _nothing(programs: Sequence[Expr], dialect: Dialect) -> np.ndarray:
    """A guess among the answers of the right type for every program, float[questions, answers]."""
    first, words = columns_of(dialect), dialect.answers
    found = np.zeros((len(programs), len(answers_of(dialect))))
    for row, program in enumerate(programs):
        kind = program.head.out
        found[row, first[kind] : first[kind] + len(words[kind])] = 1 / len(words[kind])
    return found


class _Columns:
    """Where answers stand."""

    def __init__(self, dialect: Dialect) -> None:
        self.first, self.words, self.many = columns_of(dialect), dialect.answers, len(answers_of(dialect))
        self.codes = {
            sort.vocabulary[name].name: sort.vocabulary[name].values
            for sort in dialect.sorts
            for name in sort.attributes
        }

    def code(self, kind: str, code: Any) -> np.ndarray:
        found = np.zeros(self.many)
        found[self.first[kind] + min(int(code), len(self.words[kind]) - 1)] = 1
        return found

    def one(self, kind: str, value: Any) -> np.ndarray:
        """A word, a number or truth."""
        return self.code(kind, self.codes[kind].index(value) if isinstance(value, str) else value)

    def all(self, kind: str, chances: np.ndarray) -> np.ndarray:
        found, many = np.zeros(self.many), len(self.words[kind])
        whole = float(chances[:many].sum())
        found[self.first[kind] : self.first[kind] + many] = chances[:many] / whole if whole > 0 else 1 / many
        return found


REASONERS: Mapping[str, Reasoner] = {
    "nsvqa": nsvqa,
    "p-nsvqa": Probabilistic(exact=True),
    "p-nsvqa-joint": Probabilistic(exact=False),
}
