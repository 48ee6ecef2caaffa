"""Scenes in shards: Parquet files that any worker can make."""

from dataclasses import dataclass
from pathlib import Path

from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import read_table, write_table
from recombine.world.columns import from_table, to_table
from recombine.world.distribution import World
from recombine.world.scenes import Scenes


def shard_name(kind: str, number: int) -> str:
    """Names that sort as their numbers do."""
    return f"{kind}-{number:05}.parquet"


@dataclass(frozen=True)
class MakeScenes:
    """Makes a shard of `size` scenes and writes it into a folder, unless it is there."""

    folder: str
    world: World
    scenes: int
    size: int
    key: Key
    recipe: Recipe

    def __call__(self, shard: int) -> None:
        file = Path(self.folder) / shard_name("scenes", shard)
        if not file.exists():
            first = shard * self.size
            made = self.world.sample(min(self.size, self.scenes - first), self.key / shard)
            write_table(file, to_table(made, first), self.recipe)


def read_scenes(world: World, folder: Path, shard: int) -> Scenes:
    """One shard."""
    return from_table(world.vocabulary, read_table(folder / shard_name("scenes", shard)), world.high)
