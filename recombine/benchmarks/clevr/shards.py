"""Scenes of a world, and questions about them, made shard by shard: what CLEVR and its descendants share.

    scenes ─► candidates ─► questions

Candidates are searched shard by shard; the choice among them, which balances families and answers, is one pass over all
shards in order, so it does not depend on how the work was shared out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.questions import Found, balance, distinct, share
from recombine.store.arrays import read_array, write_array
from recombine.store.engine import Engine, InProcess
from recombine.store.errors import UserError, none_such
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store, write_atomically, write_table
from recombine.world.distribution import World
from recombine.world.scenes import Scenes, join
from recombine.world.shards import MakeScenes, read_scenes, shard_name

Part = Literal["train", "val", "test"]
PARTS: tuple[Part, ...] = ("train", "val", "test")

Find = Callable[[Scenes, Key], Found]
"""Searches scenes for questions; like `Say` it goes to workers."""


class Say(Protocol):
    """Puts questions into words, a row each; `scenes` is the batch that `found.scene` points into."""

    def __call__(self, found: Found, scenes: Scenes, first_scene: int, first: int, key: Key) -> pa.Table: ...


class SceneScale(Protocol):
    """How many scenes there are of each part."""

    @property
    def train(self) -> int: ...
    @property
    def val(self) -> int: ...
    @property
    def test(self) -> int: ...


class ScenePipeline(ABC):
    """Scenes of one world, scale and seed, as artefacts of the store; questions about them come on top."""

    name: str
    shard: int
    """Scenes per file."""

    def __init__(self, scale: SceneScale, seed: int, store: Store, engine: Engine | None = None) -> None:
        self._sizes, self.seed, self.store = scale, seed, store
        self.engine, self.key = engine or InProcess(), Key(seed) / self.name
        self._read: dict[tuple[str, int], Scenes] = {}
        self._joined: dict[str, Scenes] = {}

    @property
    @abstractmethod
    def world(self) -> World: ...

    @abstractmethod
    def scenes_recipe(self, part: Part) -> Recipe: ...

    def count(self, part: Part) -> int:
        """Scenes of a part."""
        if part not in PARTS:
            raise UserError(f"there is no part '{part}'; choose one of {', '.join(PARTS)}")
        return int(getattr(self._sizes, part))

    def shards(self, part: Part) -> int:
        return -(-self.count(part) // self.shard)

    def scenes_folder(self, part: Part) -> Path:
        recipe, key = self.scenes_recipe(part), self.key / "scenes" / part

        def make(draft: Path) -> None:
            work = MakeScenes(str(draft), self.world, self.count(part), self.shard, key, recipe)
            self.engine.map(work, range(self.shards(part)), f"scenes: {part}")

        return self.store.get(recipe, make)

    def scene(self, part: Part, number: int) -> tuple[Scenes, int]:
        """The shard that holds a scene, and its place there."""
        if not 0 <= number < self.count(part):
            raise none_such("scene", number, self.count(part), f" in {part}")
        shard, place = divmod(number, self.shard)
        if (part, shard) not in self._read:
            self._read[part, shard] = read_scenes(self.world, self.scenes_folder(part), shard)
        return self._read[part, shard], place

    def scenes(self, part: Part) -> Scenes:
        """All scenes of a part."""
        if part not in self._joined:
            folder, shards = self.scenes_folder(part), range(self.shards(part))
            self._joined[part] = join([read_scenes(self.world, folder, shard) for shard in shards])
        return self._joined[part]

    def balanced(self, part: Part, recipe: Recipe, key: Key, find: Find, say: Say, each: int, what: str) -> Path:
        """So many balanced questions about every scene of a part; `what` says what they are."""
        scenes, shards = self.scenes_folder(part), range(self.shards(part))

        def make(draft: Path) -> None:
            finder = FindCandidates(str(draft), str(scenes), self.world, self.shard, find, key / "search")
            self.engine.map(finder, shards, f"{what}: searching {part}")
            found = read_candidates(draft, shards, self.shard)
            keep = np.zeros(len(found.scene), bool)
            keep[balance(found, each)] = True
            write_array(draft / "chosen.npy", keep)
            starts = np.searchsorted(found.scene // self.shard, np.arange(len(shards) + 1)).tolist()
            writer = WriteQuestions(
                str(draft), str(scenes), self.world, self.shard, say, key / "words", recipe, tuple(starts)
            )
            self.engine.map(writer, shards, f"{what}: writing {part}")
            for file in [*draft.glob("candidates-*.npz"), draft / "chosen.npy"]:
                file.unlink()

        return self.store.get(recipe, make)

    def counted(
        self,
        recipe: Recipe,
        find: Find,
        say: Say,
        answers: Sequence[np.ndarray],
        about: tuple[Part, int, int],
        wanted: Sequence[int],
        turns: int,
        key: Key,
        what: str,
        fewer: bool = False,
    ) -> Path:
        """A file of so many questions of each family, with the family's answers in equal parts.

        They are about scenes of a part, from the first to the last; each is searched so many times. Whether there may
        be `fewer`, where the scenes do not give as many, is for the caller to say.
        """
        part, low, high = about

        def make(draft: Path) -> None:
            folder = self.scenes_folder(part)
            finder = FindCandidates(
                str(draft), str(folder), self.world, self.shard, find, key / "search", low, high, turns
            )
            shards = range(low // self.shard, -(-high // self.shard))
            self.engine.map(finder, shards, f"{what}: searching")
            found = read_candidates(draft, shards, self.shard)
            chosen = found.rows(share(found, answers, wanted, key / "choice"))
            if len(chosen.scene) < sum(wanted) and not fewer:
                raise UserError(
                    f"{high - low:,} scenes give {len(chosen.scene):,} questions of this kind, not {sum(wanted):,}; "
                    "ask for fewer, or choose a larger scale"
                )
            write_table(draft / "questions.parquet", say(chosen, self.scenes(part), 0, 0, key / "words"), recipe)
            for file in draft.glob("candidates-*.npz"):
                file.unlink()

        return self.store.get(recipe, make) / "questions.parquet"


@dataclass(frozen=True)
class FindCandidates:
    """Searches one shard of scenes for questions: once, or several times where `turns` says so."""

    folder: str
    scenes_folder: str
    world: World
    size: int
    find: Find
    key: Key
    low: int = 0
    high: int | None = None
    turns: int | None = None

    def __call__(self, shard: int) -> None:
        file = Path(self.folder) / f"candidates-{shard:05}.npz"
        if file.exists():
            return
        first, end = max(self.low - shard * self.size, 0), None if self.high is None else self.high - shard * self.size
        scenes = read_scenes(self.world, Path(self.scenes_folder), shard)[first:end]
        key = self.key / shard
        if self.turns is None:
            found = self.find(scenes, key)
        else:
            found = distinct([self.find(scenes, key / turn) for turn in range(self.turns)])
        found = found._replace(scene=found.scene + first)
        write_atomically(file, lambda draft: np.savez(draft, **found._asdict()))


def read_candidates(folder: Path, shards: Sequence[int], size: int) -> Found:
    """The candidates of several shards, their scenes counted from the first shard's first."""
    parts = []
    for shard in shards:
        found = _candidates(folder, shard)
        parts.append(found._replace(scene=found.scene + shard * size))
    return Found(*(np.concatenate(columns) for columns in zip(*parts)))


def _candidates(folder: Path, shard: int) -> Found:
    with np.load(folder / f"candidates-{shard:05}.npz") as columns:
        return Found(**{name: columns[name] for name in Found._fields})


@dataclass(frozen=True)
class WriteQuestions:
    """Puts the chosen candidates of one shard into words."""

    folder: str
    scenes_folder: str
    world: World
    size: int
    say: Say
    key: Key
    recipe: Recipe
    starts: tuple[int, ...]
    """Where each shard's candidates begin among all."""

    def __call__(self, shard: int) -> None:
        folder = Path(self.folder)
        file = folder / shard_name("questions", shard)
        if file.exists():
            return
        chosen = read_array(folder / "chosen.npy")
        found = _candidates(folder, shard).rows(chosen[self.starts[shard] : self.starts[shard + 1]])
        scenes = read_scenes(self.world, Path(self.scenes_folder), shard)
        first = int(chosen[: self.starts[shard]].sum())
        write_table(file, self.say(found, scenes, shard * self.size, first, self.key / shard), self.recipe)
