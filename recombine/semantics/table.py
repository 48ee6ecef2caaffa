"""The table of what holds where: every concept of a space on every scene of a world, as bits.

Concepts that hold on exactly the same scenes are synonyms; they share a *sense*, and the table has one row per sense.
It is kept twice: `by_sense` (which scenes does a sense accept?) in blocks of scenes that are made independently, and
`by_scene` (which senses accept a scene?).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from recombine.language.expr import Expr
from recombine.semantics.bits import pack_bits, transpose_bits, unpack_bits
from recombine.semantics.fold import Plan
from recombine.store.arrays import blank_array, give_back, map_array, place_of, read_array, write_array
from recombine.store.checksums import region
from recombine.store.compiled import compiled
from recombine.store.engine import Engine
from recombine.world.scenes import Scenes

BLOCK = 16_384
"""Scenes per block; a multiple of 64 whose masks stay in cache."""


AT_ONCE = 4_096
"""Rows that are read here and there before a large table gives back its memory."""


class Reader(Protocol):
    """Where a worker finds the concepts and the scenes. Frozen and small, so that it travels."""

    def __hash__(self) -> int: ...
    def concepts(self) -> tuple[Expr, ...]: ...
    def scenes(self, block: int) -> Scenes: ...
    def meaning(self, scenes: Scenes) -> object: ...


@dataclass(frozen=True, eq=False)
class Census:
    """For each concept: on how many scenes it holds, and a name for its extension."""

    count: np.ndarray  # int64[concepts]
    extension: np.ndarray  # bytes[concepts]: equal where two concepts hold on the same scenes


def census(reader: Reader, blocks: int, engine: Engine) -> Census:
    """Count the scenes of every concept, and tell synonyms apart."""
    parts = engine.map(_CensusOf(reader), range(blocks), "what holds where: counting")
    names = np.stack([part.extension for part in parts], axis=1)  # bytes[concepts, blocks]
    joined = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in names]
    return Census(np.sum([part.count for part in parts], axis=0), np.array(joined, "V16"))


@dataclass(frozen=True)
class _CensusOf:
    reader: Reader

    def __call__(self, block: int) -> Census:
        plan = _plan(self.reader)
        meaning = self.reader.meaning(self.reader.scenes(block))
        count = np.zeros(len(plan.terms), np.int64)
        extension = np.zeros(len(plan.terms), "V16")
        for i, truth in plan.run(meaning):
            packed = np.packbits(truth)
            count[i] = np.count_nonzero(truth)
            extension[i] = np.void(hashlib.blake2b(packed, digest_size=16).digest())
        return Census(count, extension)


@lru_cache(maxsize=2)
def _plan(reader: Reader) -> Plan:
    return Plan(reader.concepts())


@dataclass(frozen=True, eq=False)
class Table:
    """What holds where."""

    scenes: int
    sense: np.ndarray  # int32[concepts]: the sense of each concept
    by_sense: np.ndarray  # uint64[blocks, senses, BLOCK / 64]
    by_scene: np.ndarray  # uint64[blocks * BLOCK, ceil(senses / 64)]
    before: np.ndarray  # int32[senses, blocks + 1]: how many scenes a sense accepts before each block

    @property
    def senses(self) -> int:
        return self.by_sense.shape[1]

    @cached_property
    def count(self) -> np.ndarray:
        """How many scenes each sense accepts, int64[senses]."""
        return self.before[:, -1].astype(np.int64)

    @cached_property
    def widest(self) -> np.ndarray:
        """The senses that no other sense contains, as the bits of a row of `by_scene`: uint64[ceil(senses / 64)].

        A sense that accepts some scenes is contained in a widest one, which accepts them too.
        """
        found = np.zeros(self.by_scene.shape[1] * 64, bool)
        found[: self.senses] = _widest(self.by_sense, self.count)
        return pack_bits(found)

    def extension(self, sense: int) -> np.ndarray:
        """The scenes that a sense accepts, bool[scenes]."""
        return unpack_bits(self.by_sense[:, sense].reshape(-1), self.scenes)

    def senses_of(self, scenes: np.ndarray) -> np.ndarray:
        """Which senses accept these scenes, bool[..., senses]."""
        return unpack_bits(self.by_scene[scenes], self.senses)

    def rows(self, scenes: np.ndarray) -> np.ndarray:
        """The rows of `by_scene` of these scenes, uint64[n, ceil(senses / 64)]."""
        found = np.empty((len(scenes), self.by_scene.shape[1]), np.uint64)
        for low in range(0, len(scenes), AT_ONCE):
            found[low : low + AT_ONCE] = self.by_scene[scenes[low : low + AT_ONCE]]
            self.rest()
        return found

    def rest(self) -> None:
        """Give back the memory of what was read from the disk, where the table is large."""
        give_back(self.by_sense)
        give_back(self.by_scene)

    def on(self, scenes: np.ndarray) -> np.ndarray:
        """The table of a selection of scenes, uint64[senses, ceil(len(scenes) / 64)]."""
        width = -(-len(scenes) // 64)
        rows = np.zeros((width * 64, self.by_scene.shape[1]), np.uint64)
        rows[: len(scenes)] = self.rows(scenes)
        out = np.zeros((self.by_scene.shape[1] * 64, width), np.uint64)
        transpose_bits(rows, out)
        return out[: self.senses]


@compiled
def _widest(by_sense: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Whether no other sense accepts all that a sense accepts, bool[senses]; senses differ from each other."""
    order = np.argsort(-count)
    found = np.ones(len(count), np.bool_)
    for place, small in enumerate(order):
        for large in order[:place]:
            if not found[large]:
                continue  # whoever contains it contains what it contains
            inside = count[large] > count[small]
            for block in range(by_sense.shape[0]):
                if not inside:
                    break
                mine, theirs = by_sense[block, small], by_sense[block, large]
                for i in range(len(mine)):
                    if mine[i] & ~theirs[i]:
                        inside = False
                        break
            if inside:
                found[small] = False
                break
    return found


def senses(extension: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sense of each concept in order of first appearance, and the first concept of each sense."""
    _, first, sense = np.unique(extension, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[sense].astype(np.int32), first[order]


def fill(folder: Path, reader: Reader, sense: np.ndarray, scenes: int, engine: Engine) -> None:
    """Write the table's files. `reader` gives one concept per sense; blocks that are done already are kept."""
    blocks, kinds = -(-scenes // BLOCK), int(sense.max()) + 1
    shapes = {"by_sense.npy": (blocks, kinds, BLOCK // 64), "by_scene.npy": (blocks * BLOCK, -(-kinds // 64))}
    for name, shape in shapes.items():
        if not (folder / name).exists():
            blank_array(folder / name, np.uint64, shape)
    (folder / "done").mkdir(exist_ok=True)
    engine.map(_Fill(str(folder), reader), range(blocks), "what holds where: writing")
    counts = np.stack([read_array(folder / "done" / f"{block:05}.npy") for block in range(blocks)], axis=1)
    before = np.zeros((kinds, blocks + 1), np.int32)
    np.cumsum(counts, axis=1, out=before[:, 1:])
    write_array(folder / "before.npy", before)
    write_array(folder / "sense.npy", sense)


def size_of(scenes: int, senses: int) -> int:
    """Bytes that the files of a table take, roughly."""
    blocks = -(-scenes // BLOCK)
    return blocks * BLOCK * (-(-senses // 64) * 8 + -(-senses // 8)) + 8 * senses * (blocks + 1)


@dataclass(frozen=True)
class _Fill:
    folder: str
    reader: Reader

    def __call__(self, block: int) -> None:
        folder = Path(self.folder)
        done = folder / "done" / f"{block:05}.npy"
        if done.exists():
            return
        plan = _plan(self.reader)
        files = folder / "by_sense.npy", folder / "by_scene.npy"
        by_sense, by_scene = map(map_array, files)
        rows = np.zeros(by_sense.shape[1:], np.uint64)
        for i, truth in plan.run(self.reader.meaning(self.reader.scenes(block))):
            packed = pack_bits(truth)
            rows[i, : len(packed)] = packed
        by_sense[block] = rows
        transpose_bits(rows, by_scene[block * BLOCK : (block + 1) * BLOCK])
        by_sense.flush()
        by_scene.flush()
        places = place_of(by_sense, block, 1), place_of(by_scene, block, BLOCK)
        written = [region(folder, file, *place) for file, place in zip(files, places)]
        write_array(done, np.bitwise_count(rows).sum(axis=1, dtype=np.int32), written)


def load(folder: Path, scenes: int) -> Table:
    """Open a table; the large parts stay on disk and are shared between processes."""

    def mapped(name: str) -> np.ndarray:
        return np.asarray(map_array(folder / name, "r"))

    sense, before = read_array(folder / "sense.npy"), read_array(folder / "before.npy")
    return Table(scenes, sense, mapped("by_sense.npy"), mapped("by_scene.npy"), before)


def build(concepts: Sequence[Expr], batch: Scenes, meaning: object) -> Table:
    """A table in memory, for a small world: the plain way to the same thing."""
    truth = np.zeros((len(concepts), len(batch)), bool)
    for i, value in Plan(concepts).run(meaning):
        truth[i] = value
    sense, first = senses(np.array([row.tobytes() for row in np.packbits(truth, axis=1)], object).astype("S"))
    blocks = -(-len(batch) // BLOCK)
    padded = np.zeros((len(first), blocks * BLOCK), bool)
    padded[:, : len(batch)] = truth[first]
    by_sense = pack_bits(padded.reshape(len(first), blocks, BLOCK).swapaxes(0, 1))
    by_scene = pack_bits(padded.T)
    before = np.zeros((len(first), blocks + 1), np.int32)
    np.cumsum(np.bitwise_count(by_sense).sum(axis=2, dtype=np.int32).T, axis=1, out=before[:, 1:])
    by_sense.flags.writeable = by_scene.flags.writeable = False  # as a table that is mapped from disk
    return Table(len(batch), sense, by_sense, by_scene, before)
