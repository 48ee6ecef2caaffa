"""Questions about vehicles and about their parts: found by CLEVR's search, said in the words of an edition.

Things of a scene are its objects, then its parts; both are numbered from 0, each sort by itself, in traces.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.families import Families, Family, build
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.program import write_program
from recombine.benchmarks.clevr.questions import (
    MOST_THINGS,
    NONE,
    Found,
    Looked,
    Rules,
    distinct,
    facets_of,
    filling,
    look,
    search,
)
from recombine.benchmarks.clevr.relations import all_beyond, listed
from recombine.benchmarks.clevr.shapes import Filling
from recombine.benchmarks.clevr.trace import steps_in_words
from recombine.benchmarks.super_clevr import redundancy
from recombine.benchmarks.super_clevr.english import say_slots
from recombine.benchmarks.super_clevr.families import object_families, part_families
from recombine.benchmarks.super_clevr.formats import answer_word
from recombine.benchmarks.super_clevr.language import dialect_of
from recombine.benchmarks.super_clevr.meaning import Plainly, parts_of
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes

KINDS = ("object", "part")
TURNS = 3
"""How often a scene is searched for questions about parts: a search finds one of each of the nine families."""


def look_at_parts(scenes: Scenes, dialect: Dialect) -> Looked:
    """Objects and parts as the search wants them, side by side."""
    seen, parts, (n, k) = look(scenes, dialect), parts_of(scenes), (len(scenes), scenes.places)
    q = parts.owner.shape[1]
    if k + q > MOST_THINGS:
        raise UserError(f"questions are for scenes of at most {MOST_THINGS} objects and parts, not {k + q}")
    columns = []
    for letter, facet in facets_of(dialect):
        if letter == "P":
            words = np.full(256, NONE, np.uint8)
            words[: len(facet.codes)] = facet.codes
            columns.append(words[parts.codes[facet.attribute]])
    of_objects = np.concatenate([seen.codes, np.full((n, k, len(columns)), NONE, np.uint8)], axis=2)
    blank = np.full((n, q, seen.codes.shape[2]), NONE, np.uint8)
    of_parts = np.concatenate([blank, np.stack(columns, axis=2)], axis=2)
    bits = np.uint64(1) << np.arange(k + q, dtype=np.uint64)
    owned = parts.owner[:, None, :] == np.arange(k, dtype=np.uint8)[:, None]  # bool[n, k, q]
    links = np.zeros((n, 3, k + q), np.uint64)
    links[:, 0, :k] = links[:, 1, :k] = (owned * bits[k:]).sum(axis=2, dtype=np.uint64)
    links[:, 2, k:] = np.where(parts.owner < k, bits[np.minimum(parts.owner, k - 1)], 0)
    spans = np.stack([seen.spans[:, 0], np.stack([np.full(n, k), parts.count], axis=1)], axis=1)
    return Looked(spans, np.concatenate([of_objects, of_parts], axis=1), seen.beyond, links)


@dataclass(frozen=True)
class Asking:
    """How questions are asked about the scenes of a world."""

    world: VehicleWorld = VehicleWorld()
    edition: str = "paper"
    rules: Rules = Rules()
    redundancy: str = "rd"

    def __post_init__(self) -> None:
        redundancy.known(self.redundancy)

    @property
    def dialect(self) -> Dialect:
        return dialect_of(self.world, self.edition)

    def families(self, kind: str) -> Families:
        if kind not in KINDS:
            raise UserError(f"there are questions about an object or a part, not about '{kind}'")
        return (object_families if kind == "object" else part_families)(self.world, self.edition)

    def named(self, family: str) -> tuple[str, Families]:
        """What the families of a name such as one_hop, part/3 or object/72 are about, and these families."""
        kind, _, index = family.partition("/")
        if kind not in KINDS:
            kind, index = "object", family
        return kind, self.families(kind).named(index) if index else self.families(kind)

    def find(self, scenes: Scenes, kind: str, each: int, key: Key, families: Families | None = None) -> Found:
        """Questions about every scene, of families in random order."""
        some = families or self.families(kind)
        if kind == "object":
            return search(scenes, some, each, key, self.rules, likely=True)
        looked = look_at_parts(scenes, self.dialect)
        found = [search(scenes, some, len(some), key / turn, self.rules, looked, likely=True) for turn in range(TURNS)]
        return distinct(found, as_found=True)

    def programs(self, found: Found, families: Sequence[Family]) -> list[Expr]:
        """The programs of questions."""
        rows = zip(found.family.tolist(), found.described, found.related)
        return [build(families[f], filling(families[f], described, related)) for f, described, related in rows]

    def table(
        self, found: Found, families: Sequence[Family], scenes: Scenes, first_scene: int, first: int, key: Key
    ) -> pa.Table:
        """Questions in words, one row each; `scenes` is the batch that `found.scene` points into."""
        rng, dialect, places = key.rng(), self.dialect, scenes.places
        plain = _PlainScenes(scenes, dialect)
        reworded = _Reworded(self, scenes, families)
        rows: dict[str, list[Any]] = {
            name: [] for name in ("question", "answer", "program", "trace", "objects", "parts")
        }
        for q in range(len(found.scene)):
            family, scene = families[found.family[q]], int(found.scene[q])
            slots = filling(family, found.described[q], found.related[q])
            said_as, slots = reworded(family, slots, scene)
            program = build(said_as, slots)
            rows["question"].append(say_slots(said_as, slots, self.edition, rng))
            rows["answer"].append(answer_word(program.head.out, int(found.answer[q]), dialect))
            rows["program"].append(json.dumps(write_program(program, dialect=dialect), separators=(",", ":")))
            rows["trace"].append("\n".join([english for _, english in steps_in_words(program, plain[scene])]))
            referents = [int(one) for one in found.referents[q] if one != NONE]
            rows["objects"].append([one for one in referents if one < places])
            rows["parts"].append([one - places for one in referents if one >= places])
        names = [families[f].name for f in found.family.tolist()]
        return pa.table(
            {
                "question_index": np.arange(first, first + len(found.scene), dtype=np.int32),
                "image_index": (found.scene + first_scene).astype(np.int32),
                "question": pa.array(rows["question"], pa.string()),
                "answer": pa.array(rows["answer"], pa.string()),
                "question_family_index": np.array([families[f].index for f in found.family.tolist()], np.int16),
                "family": pa.array(names, pa.string()),
                "program": pa.array(rows["program"], pa.string()),
                "referents": pa.array(rows["objects"], pa.list_(pa.int8())),
                "part_referents": pa.array(rows["parts"], pa.list_(pa.int8())),
                "trace": pa.array(rows["trace"], pa.string()),
            }
        )


class _Reworded:
    """Questions at the level of redundancy that is asked for, with the families that say them."""

    def __init__(self, asking: Asking, scenes: Scenes, families: Sequence[Family]) -> None:
        self.asking, self.families = asking, Families(families)
        dialect = self.families.dialect
        plain = asking.redundancy == "rd"
        self.looked = None if plain else (look if len(dialect.sorts) == 1 else look_at_parts)(scenes, dialect)
        self.things: dict[int, redundancy.Things] = {}

    def __call__(self, family: Family, slots: Filling, scene: int) -> tuple[Family, Filling]:
        if self.looked is None:
            return family, slots
        if scene not in self.things:
            self.things[scene] = redundancy.Things(self.looked, scene, family.dialect)
        level, edition = self.asking.redundancy, self.asking.edition
        said = redundancy.reworded(family, slots, self.things[scene], level, self.families, edition)
        return self.families.recognise(build(family, said))


class _PlainScenes(dict[int, Plainly]):
    """The plain meaning on each scene of a batch, made when it is first asked for."""

    def __init__(self, scenes: Scenes, dialect: Dialect) -> None:
        self.scenes, self.dialect, self.beyond = scenes, dialect, all_beyond(scenes)

    def __missing__(self, scene: int) -> Plainly:
        count = int(self.scenes.count[scene])
        related: Mapping[str, list[list[int]]] = {
            way: listed(masks[scene], count) for way, masks in self.beyond.items()
        }
        found = self[scene] = Plainly(self.scenes.objects(scene), related, self.dialect)
        return found
