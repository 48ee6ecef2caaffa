"""Datasets with pixels: scenes in files, drawn and heard file by file.

`RenderScenes` is to pictures what `MakeScenes` is to scenes: any worker can make any file, a file that is there is left
alone, and a file is there whole or not at all. So work that was stopped goes on where it was.
"""

import hashlib
import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recombine.render.encodings import Batch, Form
from recombine.store.engine import shard_bounds
from recombine.store.errors import UserError
from recombine.store.paths import within
from recombine.store.recipe import Recipe
from recombine.store.room import FULL
from recombine.store.store import read_table, write_atomically
from recombine.world.columns import from_table
from recombine.world.scenes import Scenes, join
from recombine.world.shards import shard_name
from recombine.world.vocabulary import Vocabulary

MOST_OBJECTS, MOST_PER_FILE = 64, 2**20
"""Objects of a scene, and scenes of a file: more than any dataset has."""


@dataclass(frozen=True)
class Source:
    """Scenes in Parquet files of `per_file` each."""

    folder: str
    vocabulary: Vocabulary
    places: int
    """The most objects that a scene may hold."""
    scenes: int
    per_file: int

    def __post_init__(self) -> None:
        if not (1 <= self.places <= MOST_OBJECTS and 1 <= self.per_file <= MOST_PER_FILE and self.scenes >= 1):
            raise UserError(
                f"{self.folder} is said to hold {self.scenes:,} scenes of {self.places:,} objects, {self.per_file:,} a "
                f"file; there are at most {MOST_OBJECTS} objects and {MOST_PER_FILE:,} scenes a file"
            )

    def numbers(self, low: int, high: int) -> Sequence[int]:
        """What the files call the scenes from place `low` to before `high`."""
        return range(low, high)

    def read(self, low: int, high: int) -> Scenes:
        """The scenes from number `low` to before `high`."""
        parts = []
        for number in range(low // self.per_file, -(-high // self.per_file)):
            first = number * self.per_file
            parts.append(_read(self, number)[max(0, low - first) : high - first])
        return join(parts)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some scenes of a source and no others."""

    source: Source
    chosen: np.ndarray  # int[n], rising

    @property
    def scenes(self) -> int:
        return len(self.chosen)

    @property
    def digest(self) -> str:
        """Stands for which they are."""
        return hashlib.blake2b(np.asarray(self.chosen, "<i8").tobytes(), digest_size=16).hexdigest()

    def numbers(self, low: int, high: int) -> Sequence[int]:
        return [int(number) for number in self.chosen[low:high]]

    def read(self, low: int, high: int) -> Scenes:
        """The scenes from place `low` to before `high`."""
        chosen, per_file = self.chosen[low:high], self.source.per_file
        parts = [
            _read(self.source, file)[chosen[chosen // per_file == file] - file * per_file]
            for file in np.unique(chosen // per_file).tolist()
        ]
        return join(parts)


@lru_cache(maxsize=1)
def _read(source: Source, number: int) -> Scenes:
    """All scenes of one file, which must be those that it should hold."""
    file = Path(source.folder) / shard_name("scenes", number)
    if not file.is_file():
        raise UserError(f"{file} is missing; make the dataset again, or copy all of it")
    first = number * source.per_file
    table = read_table(file, most=MOST_OBJECTS * min(source.per_file, source.scenes - first))
    expected = np.arange(first, min(first + source.per_file, source.scenes))
    try:
        if not np.array_equal(table["scene"].to_numpy(), expected):
            raise UserError(f"{file} does not hold the scenes {first} to {expected[-1]}, one after the other")
        _check_words(file, table, source.vocabulary)
        return from_table(source.vocabulary, table, source.places)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, ArithmeticError, pa.ArrowException) as error:
        raise UserError(f"{file} does not hold scenes as the dataset describes them ({error})") from error


def _check_words(file: Path, table: pa.Table, vocabulary: Vocabulary) -> None:
    for attribute in vocabulary:
        for word in pc.unique(table[attribute.name].combine_chunks().flatten()).to_pylist():
            if word not in attribute.values:
                known = ", ".join(attribute.values)
                raise UserError(f"{file}: '{word}' is not a {attribute.name} of this dataset; its own are {known}")


@dataclass(frozen=True)
class RenderScenes:
    """Writes a file of `per_file` scenes in some form into a folder, unless it is there."""

    folder: str
    source: Source | Chosen
    form: Form
    scenes: int
    """Only the first so many."""
    per_file: int
    recipe: Recipe

    @property
    def files(self) -> int:
        return -(-self.scenes // self.per_file)

    def file(self, number: int) -> Path:
        return within(Path(self.folder), f"{self.form.name}-{number:05}{self.form.suffix}")

    def missing(self) -> int:
        """How many scenes are not in a finished file."""
        bounds = shard_bounds(self.scenes, self.per_file)
        return sum(high - low for number, (low, high) in enumerate(bounds) if not self.file(number).exists())

    def __call__(self, number: int) -> None:
        file = self.file(number)
        if file.exists():
            return
        low = number * self.per_file
        batches = self._batches(low, min(low + self.per_file, self.scenes))
        with _told_when_full(file):
            write_atomically(file, lambda part: self._write(part, batches))

    def _write(self, part: Path, batches: Iterator[Batch]) -> None:
        with part.open("wb") as sink:
            self.form.write(sink, batches, self.recipe)

    def _batches(self, low: int, high: int) -> Iterator[Batch]:
        numbers, scenes = self.source.numbers(low, high), self.source.read(low, high)
        for start, end in shard_bounds(len(scenes), self.form.batch):
            yield numbers[start:end], scenes[start:end]


class Cost(NamedTuple):
    """What one scene takes."""

    bytes: float
    seconds: float


def cost(form: Form, source: Source | Chosen, recipe: Recipe, tried: int = 16) -> Cost:
    """What a scene takes on average, by trying a few; none of it is kept."""
    scenes = source.read(0, min(tried, source.scenes))
    numbers = range(len(scenes))
    form.write(io.BytesIO(), [(numbers, scenes)], recipe)  # the first time has everything compiled, and notes played
    sink, start = io.BytesIO(), time.monotonic()
    form.write(sink, [(numbers, scenes)], recipe)
    return Cost(sink.tell() / len(scenes), (time.monotonic() - start) / len(scenes))


@contextmanager
def _told_when_full(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise UserError(
            f"the disk of {file.parent} is full at {file.name}: free some room, then run it again; "
            "what is finished stays"
        ) from error
