"""Super-CLEVR from scenes to questions, as artefacts of the store.

    scenes ─► candidates ─► questions about objects, questions about parts

The key of a scene and of a question knows nothing of colours, complexity or edition: worlds that differ in these share
their layouts, and worlds whose objects are alike share the questions about them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa

from recombine.benchmarks.clevr.families import Families
from recombine.benchmarks.clevr.pipeline import shares, turns_for
from recombine.benchmarks.clevr.questions import Found, code_of
from recombine.benchmarks.clevr.shards import PARTS, Part, ScenePipeline
from recombine.benchmarks.super_clevr.questions import KINDS, Asking
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table
from recombine.world.scenes import Scenes

Kind = Literal["object", "part"]
VERSION = 1
SHARD = 1_000
"""Scenes per file."""
SPARE = 6
"""Candidates per scene beyond the questions that are kept."""
SCENE_BYTES, QUESTION_BYTES, CANDIDATE_BYTES = 700, 220, 80
"""What each takes on the disk, about."""


@dataclass(frozen=True)
class SuperClevrScale:
    """How many scenes, and how many questions about the objects and about the parts of each."""

    name: str
    train: int
    val: int
    test: int
    questions: int = 10
    part_questions: int = 10


SCALES = {
    scale.name: scale
    for scale in (
        SuperClevrScale("demo", 200, 50, 50),
        SuperClevrScale("laptop", 4_000, 1_000, 1_000),
        SuperClevrScale("paper", 20_000, 5_000, 5_000),
    )
}


def scale_named(name: str) -> SuperClevrScale:
    if name not in SCALES:
        raise UserError(f"there is no scale '{name}'; choose one of {', '.join(SCALES)}")
    return SCALES[name]


class SuperClevrPipeline(ScenePipeline):
    """Scenes and questions of one world, scale and seed."""

    name, shard = "super-clevr", SHARD

    def __init__(
        self,
        scale: SuperClevrScale,
        seed: int,
        store: Store,
        engine: Engine | None = None,
        asking: Asking | None = None,
    ) -> None:
        super().__init__(scale, seed, store, engine)
        self.scale, self.asking = scale, asking or Asking()

    @property
    def world(self) -> VehicleWorld:
        return self.asking.world

    def each(self, kind: str) -> int:
        """Questions of a kind about every scene."""
        return self.scale.questions if kind == "object" else self.scale.part_questions

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is asked about: parts only where there are some."""
        parts = self.world.complexity != "easy" and self.world.parts.most > 0
        return tuple(kind for kind in KINDS if self.each(kind) and (kind == "object" or parts))

    def size_estimate(self, parts: Sequence[Part] = PARTS) -> int:
        """Bytes that are still to be written, roughly."""
        size = 0
        for part in parts:
            if not self.store.has(self.scenes_recipe(part)):
                size += self.count(part) * SCENE_BYTES
            for kind in self.kinds:
                if not self.store.has(self.questions_recipe(part, kind)):
                    each = self.each(kind)
                    size += self.count(part) * (each * QUESTION_BYTES + 3 * (each + SPARE) * CANDIDATE_BYTES)
        return size

    def scenes_recipe(self, part: Part) -> Recipe:
        parameters = {"world": self.world.anywhere(), "scenes": self.count(part), "part": part, "seed": self.seed}
        return Recipe("super-clevr-scenes", VERSION, parameters, {})

    def questions_recipe(self, part: Part, kind: str) -> Recipe:
        asked = {"kind": kind, "questions": self.each(kind), "spare": SPARE, **self._way}
        return self._recipe("super-clevr-questions", part, asked)

    def _recipe(self, stage: str, part: Part, asked: dict[str, object]) -> Recipe:
        parameters = {**asked, "rules": self.asking.rules, "seed": self.seed}
        return Recipe(stage, VERSION, parameters, {"scenes": self.scenes_recipe(part).digest})

    @property
    def _way(self) -> dict[str, object]:
        """How questions are asked, as recipes say it."""
        plain = self.asking.redundancy == "rd"
        return {"edition": self.asking.edition, **({} if plain else {"redundancy": self.asking.redundancy})}

    def family_file(self, family: str, questions: int, part: Part) -> Path:
        """The file of so many questions of a family such as one_hop, part/3 or object/72."""
        kind, families = self.asking.named(family)
        if kind not in self.kinds:
            raise UserError(f"there are no questions about {kind}s in this world; it has no recorded parts")
        asked = {"kind": kind, "families": [one.index for one in families], "questions": questions, **self._way}
        wanted = shares(questions, len(families))
        return self.counted(
            self._recipe("super-clevr-family", part, asked),
            partial(_found, self.asking, kind, len(families), families=families),
            partial(_said, self.asking, kind, families=families),
            [code_of(one, self.asking.rules.counts).answers for one in families],
            (part, 0, self.count(part)),
            wanted,
            turns_for(wanted, self.count(part)),
            self.key / "family" / part / family,
            f"{family}, {part}",
        )

    def questions_folder(self, part: Part, kind: str) -> Path:
        """Balanced questions about every scene of a part: about its objects, or about their parts."""
        recipe, key = self.questions_recipe(part, kind), self.key / "questions" / part / kind
        each, what = self.each(kind), f"questions about {kind}s"
        find, say = partial(_found, self.asking, kind, each + SPARE), partial(_said, self.asking, kind)
        return self.balanced(part, recipe, key, find, say, each, what)

    def questions(self, part: Part, kind: str) -> pa.Table:
        return read_table(self.questions_folder(part, kind))


def _found(asking: Asking, kind: str, each: int, scenes: Scenes, key: Key, families: Families | None = None) -> Found:
    return asking.find(scenes, kind, each, key, families)


def _said(
    asking: Asking,
    kind: str,
    found: Found,
    scenes: Scenes,
    first_scene: int,
    first: int,
    key: Key,
    families: Families | None = None,
) -> pa.Table:
    return asking.table(found, families or asking.families(kind), scenes, first_scene, first, key)
