"""CLEVR from scenes to questions, as artefacts of the store.

scenes ─► candidates ─► questions
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.english import ask
from recombine.benchmarks.clevr.families import Families, Family, build, clevr_families
from recombine.benchmarks.clevr.language import ATTRIBUTES, Dialect, dialect_of
from recombine.benchmarks.clevr.meaning import answer_text
from recombine.benchmarks.clevr.program import write_program
from recombine.benchmarks.clevr.questions import NONE, Found, Rules, code_of, filling, search
from recombine.benchmarks.clevr.shards import PARTS, Part, ScenePipeline
from recombine.benchmarks.clevr.trace import trace_text
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from recombine.world.scenes import Scenes

VERSION = 1
SHARD = 2_000
"""Scenes per file."""
FEWEST = 4
"""Candidates for each question that is wanted of a family."""
SPARE = 6
"""Candidates per scene beyond the questions that are kept."""
SCENE_BYTES, QUESTION_BYTES, CANDIDATE_BYTES = 500, 200, 40
"""What each takes on the disk, about."""


@dataclass(frozen=True)
class ClevrScale:
    """How many scenes, and how many questions about each."""

    name: str
    train: int
    val: int
    test: int
    questions: int = 10


CLEVR_SCALES = {
    scale.name: scale
    for scale in (
        ClevrScale("demo", 400, 100, 100),
        ClevrScale("laptop", 7_000, 1_500, 1_500),
        ClevrScale("paper", 70_000, 15_000, 15_000),
    )
}


def clevr_scale(name: str) -> ClevrScale:
    """The scale of this name."""
    if name not in CLEVR_SCALES:
        raise UserError(f"there is no scale '{name}'; choose one of {', '.join(CLEVR_SCALES)}")
    return CLEVR_SCALES[name]


class ClevrPipeline(ScenePipeline):
    """Scenes and questions of one scale and seed."""

    name, shard = "clevr", SHARD

    def __init__(
        self,
        scale: ClevrScale,
        seed: int,
        store: Store,
        engine: Engine | None = None,
        world: ClevrWorld | None = None,
        rules: Rules | None = None,
        dialect: Dialect | None = None,
    ) -> None:
        super().__init__(scale, seed, store, engine)
        self.scale, self.rules = scale, rules or Rules()
        self._world = world or ClevrWorld()
        self.dialect = dialect or dialect_of(self.world.vocabulary)
        self._plain = dialect is None and {*self.dialect.objects.attributes} == {*ATTRIBUTES}

    @property
    def world(self) -> ClevrWorld:
        return self._world

    @property
    def families(self) -> Families:
        return clevr_families(self.dialect)

    def size_estimate(self, parts: Sequence[Part] = PARTS, questions: bool = True) -> int:
        """Bytes that are still to be written, roughly."""
        each, size = self.scale.questions, 0
        for part in parts:
            if not self.store.has(self.scenes_recipe(part)):
                size += self.count(part) * SCENE_BYTES
            if questions and not self.store.has(self.questions_recipe(part)):
                size += self.count(part) * (each * QUESTION_BYTES + (each + SPARE) * CANDIDATE_BYTES)
        return size

    def scenes_recipe(self, part: Part) -> Recipe:
        parameters = {"world": self.world, "scenes": self.count(part), "part": part, "seed": self.seed}
        return Recipe("clevr-scenes", VERSION, parameters, {})

    def questions_recipe(self, part: Part) -> Recipe:
        return self._recipe("clevr-questions", part, questions=self.scale.questions, spare=SPARE)

    def _recipe(self, stage: str, part: Part, **parameters: object) -> Recipe:
        # CLEVR's own attributes are spoken of in CLEVR's words.
        dialect = {} if self._plain else {"dialect": self.dialect}
        parameters |= {"rules": self.rules, "seed": self.seed, **dialect}
        return Recipe(stage, VERSION, parameters, {"scenes": self.scenes_recipe(part).digest})

    def questions_folder(self, part: Part) -> Path:
        """Balanced questions about every scene of a part."""
        recipe, key, each = self.questions_recipe(part), self.key / "questions" / part, self.scale.questions
        find = partial(_found, self.families, each + SPARE, self.rules)
        return self.balanced(part, recipe, key, find, partial(_said, self.families), each, "questions")

    def family_file(self, family: str, questions: int, part: Part = "val") -> Path:
        """The file of so many questions of the families of a name such as one_hop, or of the one of an index."""
        families, scenes = self.families.named(family), (part, 0, self.count(part))
        indices, key = [one.index for one in families], self.key / "family" / part / family
        recipe = self._recipe("clevr-family", part, families=indices, questions=questions)
        wanted = shares(questions, len(families))
        turns = turns_for(wanted, self.count(part))
        return self.exactly(recipe, families, self.rules, scenes, wanted, turns, key, f"{family}, {part}")

    def exactly(
        self,
        recipe: Recipe,
        families: Families,
        rules: Rules,
        about: tuple[Part, int, int],
        wanted: Sequence[int],
        turns: int,
        key: Key,
        what: str,
        fewer: bool = False,
    ) -> Path:
        """`counted`, of CLEVR's own families."""
        find, say = partial(_found, families, len(families), rules), partial(_said, families)
        answers = [code_of(family, rules.counts).answers for family in families]
        return self.counted(recipe, find, say, answers, about, wanted, turns, key, what, fewer)


def shares(questions: int, families: int) -> list[int]:
    """Equal parts of so many questions; the first families have one more where it does not come out even."""
    if questions < 1:
        raise UserError(f"ask for at least 1 question, not {questions}")
    return [questions // families + (place < questions % families) for place in range(families)]


def turns_for(wanted: Sequence[int], scenes: int) -> int:
    """How often scenes are searched so that there is a choice: a search finds one question of a family at most."""
    return max(1, -(-FEWEST * max(wanted) // max(scenes, 1)))


def _found(families: Families, each: int, rules: Rules, scenes: Scenes, key: Key) -> Found:
    return search(scenes, families, each, key, rules)


def _said(families: Families, found: Found, scenes: Scenes, first_scene: int, first: int, key: Key) -> pa.Table:
    return questions_table(found, families, scenes, first_scene, first, key)


def questions_table(
    found: Found, families: Sequence[Family], scenes: Scenes, first_scene: int, first: int, key: Key
) -> pa.Table:
    """Questions in words, one row each; `scenes` is the batch that `found.scene` points into."""
    rng = key.rng()
    rows: dict[str, list] = {name: [] for name in ("question", "answer", "program", "trace", "referents")}
    for q in range(len(found.scene)):
        family, scene = families[found.family[q]], int(found.scene[q])
        slots = filling(family, found.described[q], found.related[q])
        program = build(family, slots)
        rows["question"].append(ask(family, slots, rng))
        rows["answer"].append(answer_text(program.head.out, int(found.answer[q]), scenes.vocabulary))
        rows["program"].append(json.dumps(write_program(program, dialect=family.dialect), separators=(",", ":")))
        rows["trace"].append(trace_text(program, scenes, scene, dialect=family.dialect))
        rows["referents"].append([int(one) for one in found.referents[q] if one != NONE])
    index = [families[f].index for f in found.family]
    return pa.table(
        {
            "question_index": np.arange(first, first + len(found.scene), dtype=np.int32),
            "image_index": (found.scene + first_scene).astype(np.int32),
            "question": pa.array(rows["question"], pa.string()),
            "answer": pa.array(rows["answer"], pa.string()),
            "question_family_index": np.array(index, np.int16),
            "family": pa.array([families[f].name for f in found.family], pa.string()),
            "program": pa.array(rows["program"], pa.string()),
            "referents": pa.array(rows["referents"], pa.list_(pa.int8())),
            "trace": pa.array(rows["trace"], pa.string()),
        }
    )
