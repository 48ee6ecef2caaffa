"""Super-CLEVR from scenes to questions, as artefacts of the store.

    scenes ─► candidates ─► questions about objects, questions about parts

The key of a scene and of a question knows nothing of colours, complexity or edition: worlds that differ in these share
their layouts, and worlds whose objects are alike share the questions about them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.pipeline import PARTS, Part, read_candidates
from recombine.benchmarks.clevr.questions import Found, balance
from recombine.benchmarks.super_clevr.questions import KINDS, Asking
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.store.arrays import read_array, write_array
from recombine.store.engine import Engine, InProcess
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table, write_atomically, write_table
from recombine.world.scenes import Scenes, join
from recombine.world.shards import MakeScenes, read_scenes, shard_name

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


class SuperClevrPipeline:
    """Scenes and questions of one world, scale and seed."""

    def __init__(
        self,
        scale: SuperClevrScale,
        seed: int,
        store: Store,
        engine: Engine | None = None,
        asking: Asking | None = None,
    ) -> None:
        self.scale, self.seed, self.store = scale, seed, store
        self.engine, self.asking = engine or InProcess(), asking or Asking()
        self.key = Key(seed) / "super-clevr"
        self._shards: dict[tuple[str, int], Scenes] = {}

    @property
    def world(self) -> VehicleWorld:
        return self.asking.world

    def count(self, part: Part) -> int:
        """Scenes of a part."""
        if part not in PARTS:
            raise UserError(f"there is no part '{part}'; choose one of {', '.join(PARTS)}")
        return int(getattr(self.scale, part))

    def each(self, kind: str) -> int:
        """Questions of a kind about every scene."""
        return self.scale.questions if kind == "object" else self.scale.part_questions

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is asked about: parts only where there are some."""
        parts = self.world.complexity != "easy" and self.world.parts.most > 0
        return tuple(kind for kind in KINDS if self.each(kind) and (kind == "object" or parts))

    def shards(self, part: Part) -> int:
        return -(-self.count(part) // SHARD)

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

    # --- scenes

    def scenes_recipe(self, part: Part) -> Recipe:
        parameters = {"world": self.world.anywhere(), "scenes": self.count(part), "part": part, "seed": self.seed}
        return Recipe("super-clevr-scenes", VERSION, parameters, {})

    def scenes_folder(self, part: Part) -> Path:
        recipe, key = self.scenes_recipe(part), self.key / "scenes" / part

        def make(draft: Path) -> None:
            work = MakeScenes(str(draft), self.world, self.count(part), SHARD, key, recipe)
            self.engine.map(work, range(self.shards(part)), f"scenes: {part}")

        return self.store.get(recipe, make)

    def scene(self, part: Part, number: int) -> tuple[Scenes, int]:
        """The shard that holds a scene, and its place there."""
        if not 0 <= number < self.count(part):
            raise UserError(f"there is no scene {number} in {part}; choose one from 0 to {self.count(part) - 1}")
        shard, place = divmod(number, SHARD)
        if (part, shard) not in self._shards:
            self._shards[part, shard] = read_scenes(self.world, self.scenes_folder(part), shard)
        return self._shards[part, shard], place

    def scenes(self, part: Part) -> Scenes:
        """All scenes of a part."""
        folder = self.scenes_folder(part)
        return join([read_scenes(self.world, folder, shard) for shard in range(self.shards(part))])

    # --- questions

    def questions_recipe(self, part: Part, kind: str) -> Recipe:
        asked = {"kind": kind, "questions": self.each(kind), "spare": SPARE, "edition": self.asking.edition}
        if self.asking.redundancy != "rd":
            asked["redundancy"] = self.asking.redundancy
        parameters = {**asked, "rules": self.asking.rules, "seed": self.seed}
        return Recipe("super-clevr-questions", VERSION, parameters, {"scenes": self.scenes_recipe(part).digest})

    def questions_folder(self, part: Part, kind: str) -> Path:
        """Balanced questions about every scene of a part: about its objects, or about their parts."""
        recipe, key = self.questions_recipe(part, kind), self.key / "questions" / part / kind
        scenes = self.scenes_folder(part)

        def make(draft: Path) -> None:
            wanted, shards = self.each(kind) + SPARE, range(self.shards(part))
            finder = FindCandidates(str(draft), str(scenes), self.asking, kind, wanted, key / "search")
            self.engine.map(finder, shards, f"questions about {kind}s: searching {part}")
            found = read_candidates(draft, shards, SHARD)
            keep = np.zeros(len(found.scene), bool)
            keep[balance(found, self.each(kind))] = True
            write_array(draft / "chosen.npy", keep)
            ends = np.searchsorted(found.scene, SHARD * np.arange(self.shards(part) + 1))
            writer = WriteQuestions(
                str(draft), str(scenes), self.asking, kind, key / "words", recipe, tuple(ends.tolist())
            )
            self.engine.map(writer, shards, f"questions about {kind}s: writing {part}")
            for file in [*draft.glob("candidates-*.npz"), draft / "chosen.npy"]:
                file.unlink()

        return self.store.get(recipe, make)

    def questions(self, part: Part, kind: str) -> pa.Table:
        return read_table(self.questions_folder(part, kind))


@dataclass(frozen=True)
class FindCandidates:
    """Searches one shard of scenes for questions."""

    folder: str
    scenes_folder: str
    asking: Asking
    kind: str
    each: int
    key: Key

    def __call__(self, shard: int) -> None:
        file = Path(self.folder) / f"candidates-{shard:05}.npz"
        if not file.exists():
            scenes = read_scenes(self.asking.world, Path(self.scenes_folder), shard)
            found = self.asking.find(scenes, self.kind, self.each, self.key / shard)
            write_atomically(file, lambda draft: np.savez(draft, **found._asdict()))


@dataclass(frozen=True)
class WriteQuestions:
    """Puts the chosen candidates of one shard into words."""

    folder: str
    scenes_folder: str
    asking: Asking
    kind: str
    key: Key
    recipe: Recipe
    ends: tuple[int, ...]
    """Where each shard's candidates begin among all."""

    def __call__(self, shard: int) -> None:
        folder = Path(self.folder)
        file = folder / shard_name("questions", shard)
        if file.exists():
            return
        chosen = read_array(folder / "chosen.npy")
        with np.load(folder / f"candidates-{shard:05}.npz") as columns:
            found = Found(**{name: columns[name] for name in Found._fields})
        found = found.rows(chosen[self.ends[shard] : self.ends[shard + 1]])
        scenes = read_scenes(self.asking.world, Path(self.scenes_folder), shard)
        first = int(chosen[: self.ends[shard]].sum())
        families = self.asking.families(self.kind)
        table = self.asking.table(found, families, scenes, shard * SHARD, first, self.key / shard)
        write_table(file, table, self.recipe)
