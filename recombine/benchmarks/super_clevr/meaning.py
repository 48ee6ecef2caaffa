"""What Super-CLEVR's programs mean: CLEVR's meanings, and what parts add to them.

The parts of a scene are numbered, those of object 0 first. `Exact`, `Plainly` and `Soft` are CLEVR's three meanings,
each with the functions about parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from recombine.benchmarks.clevr import meaning as clevr
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.meaning import Beliefs, Known
from recombine.benchmarks.super_clevr.language import PART_SAID
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.world.distribution import places_taken
from recombine.world.scenes import ABSENT, Scenes, pack

SLOTS = 5
"""The most parts of an object that are looked for."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The recorded parts of scenes, with room for q in each."""

    count: np.ndarray  # int64[n]
    owner: np.ndarray  # uint8[n, q], the object that a part belongs to, ABSENT where there is no part
    codes: Mapping[str, np.ndarray]  # attribute -> uint8[n, q], codes of the sort of parts


def slots_of(scenes: Scenes) -> int:
    """How many parts an object may have."""
    return sum(f"part_{slot}" in scenes.codes for slot in range(1, SLOTS + 1))


def parts_of(scenes: Scenes) -> Parts:
    """The recorded parts of every scene, in order."""
    n, k, slots = len(scenes), scenes.places, slots_of(scenes)
    columns: dict[str, list[np.ndarray]] = {name: [] for name in PART_SAID}
    for slot in range(1, slots + 1):
        columns["partname"].append(_without_none(scenes, f"part_{slot}"))
        for name in ("color", "material"):
            columns[name].append(_without_none(scenes, f"part_{slot}_{name}"))
        columns["size"].append(scenes.codes["size"])
    if not slots:
        empty = np.zeros((n, 0), np.uint8)
        return Parts(np.zeros(n, np.int64), empty, dict.fromkeys(PART_SAID, empty))
    flat = {name: np.stack(some, axis=2).reshape(n, k * slots) for name, some in columns.items()}
    there = flat["partname"] != ABSENT
    order = np.argsort(~there, axis=1, kind="stable")
    owner = np.broadcast_to(np.repeat(np.arange(k, dtype=np.uint8), slots), (n, k * slots))
    count = there.sum(axis=1)
    used = places_taken(count, k * slots)

    def sorted_(column: np.ndarray) -> np.ndarray:
        return np.where(used, np.take_along_axis(column, order, axis=1), np.uint8(ABSENT))

    return Parts(count, sorted_(owner), {name: sorted_(column) for name, column in flat.items()})


def _without_none(scenes: Scenes, attribute: str) -> np.ndarray:
    """Codes of an attribute whose first value says that there is no part."""
    codes = scenes.codes[attribute]
    return np.where((codes == 0) | (codes == ABSENT), np.uint8(ABSENT), codes - np.uint8(1))


class Exact(clevr.Exact):
    """The values of programs on a batch of scenes."""

    def __init__(
        self, scenes: Scenes, related: Mapping[str, np.ndarray] | None = None, dialect: Dialect | None = None
    ) -> None:
        if dialect is None:
            raise UserError("the meaning of vehicles needs their dialect")
        super().__init__(scenes, related, dialect)
        self.parts, self.part_sort = parts_of(scenes), dialect.sorts[-1]
        n, q = self.parts.owner.shape
        self.first_part = np.arange(n) * q
        self.part_having = clevr._Lazy(self._having)
        owned = [pack(self.parts.owner == place) for place in range(scenes.places)]
        self.owned = np.stack(owned, axis=1) if q else np.zeros((n, scenes.places), np.uint8)  # mask[n, k]
        self.owner = self.parts.owner.ravel()
        self.part_codes = {name: column.ravel() for name, column in self.parts.codes.items()}

    def object2part(self, thing: Known) -> Known:
        return self._look_up(self.owned.ravel(), thing)

    def objects2parts(self, objects: Known) -> Known:
        found = np.zeros(len(objects.value), self.owned.dtype)
        for place in range(self.owned.shape[1]):
            found |= np.where(objects.value >> objects.value.dtype.type(place) & 1, self.owned[:, place], 0)
        return Known(found, objects.defined)

    def part2object(self, part: Known) -> Known:
        return self._look_up_part(self.owner, part)

    def unique_part(self, parts: Known) -> Known:
        return self.unique(parts)

    def partfilter(self, parts: Known, attribute: str, value: str) -> Known:
        return Known(parts.value & self.part_having[attribute, value], parts.defined)

    def partquery(self, part: Known, attribute: str) -> Known:
        return self._look_up_part(self.part_codes[attribute], part)

    def _having(self, attribute: str, value: str) -> np.ndarray:
        sort, codes = self.part_sort, self.parts.codes[attribute]
        accepted = [sort.vocabulary[attribute].code(one) for one in sort.accepts(attribute, value)]
        return pack(np.isin(codes, accepted)) if codes.shape[1] else np.zeros(len(codes), np.uint8)

    def _look_up_part(self, column: np.ndarray, part: Known) -> Known:
        if not len(column):
            return Known(np.zeros(len(part.value), np.uint8), part.defined)
        return Known(column.take(self.first_part + part.value), part.defined)


class Plainly(clevr.Plainly):
    """The value of a program on one scene."""

    def __init__(
        self,
        objects: Sequence[Mapping[str, str]],
        beyond: Mapping[str, Sequence[Sequence[int]]],
        dialect: Dialect,
    ) -> None:
        super().__init__(objects, beyond, dialect)
        self.parts = [part for owner, one in enumerate(objects) for part in plain_parts(owner, one)]

    def object2part(self, thing: int) -> set[int]:
        return self.objects2parts({thing})

    def objects2parts(self, objects: set[int]) -> set[int]:
        return {number for number, part in enumerate(self.parts) if int(part["owner"]) in objects}

    def part2object(self, part: int) -> int:
        return int(self.parts[part]["owner"])

    def unique_part(self, parts: set[int]) -> int:
        return self.unique(parts)

    def partfilter(self, parts: set[int], attribute: str, value: str) -> set[int]:
        accepted = self.dialect.sorts[-1].accepts(attribute, value)
        return {part for part in parts if self.parts[part][attribute] in accepted}

    def partquery(self, part: int, attribute: str) -> str:
        return self.parts[part][attribute]

    @classmethod
    def of(cls, scenes: Scenes, i: int, dialect: Dialect | None = None) -> Self:
        """The plain meaning on scene i of a batch."""
        if dialect is None:
            raise UserError("the meaning of vehicles needs their dialect")
        return super().of(scenes, i, dialect)


def plain_parts(owner: int, one: Mapping[str, str]) -> list[dict[str, str]]:
    """The recorded parts of an object, in words."""
    found = []
    for slot in range(1, SLOTS + 1):
        if (name := one.get(f"part_{slot}", "none")) != "none":
            looks = {look: one[f"part_{slot}_{look}"] for look in ("color", "material", "texture")}
            found.append({"owner": str(owner), "size": one["size"], **looks, "partname": name})
    return found


@dataclass(frozen=True, eq=False)
class PartBeliefs(Beliefs):
    """What someone who looked at the scenes believes of their objects and of their parts."""

    part_present: np.ndarray  # float[n, q]: that there is a part in this place
    part_values: Mapping[str, np.ndarray]  # attribute -> float[n, q, values]
    owner: np.ndarray  # float[n, q, k]: that a part belongs to an object

    @classmethod
    def knowing(cls, scenes: Scenes, dialect: Dialect) -> "PartBeliefs":
        """Of someone who knows all."""
        known, parts, sort = Beliefs.certain(scenes), parts_of(scenes), dialect.sorts[-1]
        values = {
            name: clevr._one_hot(parts.codes[name], len(sort.vocabulary[name].values)) for name in sort.attributes
        }
        return cls(
            known.vocabulary,
            known.present,
            known.values,
            known.beyond,
            places_taken(parts.count, parts.owner.shape[1]).astype(float),
            values,
            clevr._one_hot(parts.owner, scenes.places),
        )


class Soft(clevr.Soft):
    """P-NSVQA's meaning, with parts: a set of parts is a probability for each, float[n, q]."""

    beliefs: PartBeliefs

    def object2part(self, attention: np.ndarray) -> np.ndarray:
        return self.objects2parts(attention)

    def objects2parts(self, objects: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nqk->nq", objects, self.beliefs.owner) * self.beliefs.part_present

    def part2object(self, attention: np.ndarray) -> np.ndarray:
        return np.einsum("nq,nqk->nk", attention, self.beliefs.owner)

    def unique_part(self, parts: np.ndarray) -> np.ndarray:
        return self.unique(parts)

    def partfilter(self, parts: np.ndarray, attribute: str, value: str) -> np.ndarray:
        sort = self.dialect.sorts[-1]
        codes = [sort.vocabulary[attribute].code(one) for one in sort.accepts(attribute, value)]
        return parts * self.beliefs.part_values[attribute][..., codes].sum(axis=-1)

    def partquery(self, attention: np.ndarray, attribute: str) -> np.ndarray:
        return np.einsum("nq,nqv->nv", attention, self.beliefs.part_values[attribute]).argmax(axis=-1)


def execute(
    programs: Sequence[Expr],
    scenes: Scenes,
    dialect: Dialect,
    related: Mapping[str, np.ndarray] | None = None,
) -> np.ndarray:
    """The answers of programs on scenes, uint8[programs, n]: truth, number or code, UNDEFINED where there is none."""
    return clevr.execute(programs, scenes, related, dialect=dialect, meaning=Exact)


def soft_execute(programs: Sequence[Expr], beliefs: PartBeliefs, dialect: Dialect) -> list[np.ndarray]:
    """The answers of programs under beliefs: truth, number or code per scene."""
    return clevr.soft_execute(programs, beliefs, dialect, Soft)


__all__ = ["Exact", "PartBeliefs", "Parts", "Plainly", "Soft", "execute", "parts_of", "soft_execute"]
