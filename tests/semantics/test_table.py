"""Tables of what holds where: the parallel way on disk against the plain way in memory, and both against `fold`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from recombine.language.expr import Expr, Symbol
from recombine.semantics.fold import fold
from recombine.semantics.table import BLOCK, Census, Table, build, census, fill, load, senses
from recombine.store.engine import Engine, InProcess, Processes
from recombine.store.key import Key
from recombine.world.distribution import Uniform
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

VOCABULARY = Vocabulary((Attribute("color", ("red", "blue", "green")), Attribute("shape", ("cube", "ball"))))
SCENES = 2 * BLOCK + 1_000
AND, NOT = Symbol("and", (), ("bool", "bool")), Symbol("not", (), ("bool",))


class Meaning:
    """Whether a scene has an object of some value."""

    def __init__(self, scenes: Scenes) -> None:
        self.scenes = scenes

    def some(self, attribute: str, value: str) -> np.ndarray:
        return self.scenes.having(attribute, value) != 0

    def several(self, attribute: str, value: str) -> np.ndarray:
        return np.bitwise_count(self.scenes.having(attribute, value)) > 1

    def and_(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a & b

    def not_(self, a: np.ndarray) -> np.ndarray:
        return ~a


@cache
def all_scenes() -> Scenes:
    return Uniform(VOCABULARY, 1, 4).sample(SCENES, Key(3))


@cache
def all_concepts() -> tuple[Expr, ...]:
    """Words, their negations and conjunctions of these; some are synonyms, some hold nowhere."""
    words = [Symbol(f, (a.name, v)) for f in ("some", "several") for a in VOCABULARY for v in a.values]
    literals = [made for word in map(Expr, words) for made in (word, Expr(NOT, (word,)))]
    rng = Key(4).rng()
    pairs = [tuple(rng.choice(len(literals), 2)) for _ in range(150)]
    return tuple(dict.fromkeys([*literals, *(Expr(AND, (literals[a], literals[b])) for a, b in pairs)]))


@dataclass(frozen=True)
class SmallReader:
    """Some of the concepts, on blocks of the scenes; a forbidden block must not be asked for."""

    chosen: tuple[int, ...]
    forbidden: tuple[int, ...] = ()

    def concepts(self) -> tuple[Expr, ...]:
        return tuple(all_concepts()[i] for i in self.chosen)

    def scenes(self, block: int) -> Scenes:
        assert block not in self.forbidden
        return all_scenes()[block * BLOCK : (block + 1) * BLOCK]

    def meaning(self, scenes: Scenes) -> Meaning:
        return Meaning(scenes)


BLOCKS = -(-SCENES // BLOCK)
EVERYONE = SmallReader(tuple(range(len(all_concepts()))))


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    """bool[concepts, scenes], one fold per concept."""
    return np.stack([fold(concept, Meaning(all_scenes()), {}) for concept in all_concepts()])


@pytest.fixture(scope="module")
def table() -> Table:
    return build(all_concepts(), all_scenes(), Meaning(all_scenes()))


@pytest.fixture(scope="module")
def counted() -> Census:
    return census(EVERYONE, BLOCKS, InProcess())


def one_per_sense(counted: Census) -> tuple[np.ndarray, SmallReader]:
    sense, first = senses(counted.extension)
    return sense, SmallReader(tuple(first.tolist()))


def assert_same(found: Table, expected: Table) -> None:
    assert found.scenes == expected.scenes
    for name in ("sense", "by_sense", "by_scene", "before", "count"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.fixture(params=["one process", "two processes"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])  # where a worker finds this file
    with InProcess() if request.param == "one process" else Processes(2) as made:
        yield made


def test_the_extension_of_a_concept_is_where_it_holds(table: Table, truth: np.ndarray) -> None:
    for sense, row in zip(table.sense, truth):
        np.testing.assert_array_equal(table.extension(sense), row)


def test_concepts_share_a_sense_exactly_where_they_hold_on_the_same_scenes(table: Table, truth: np.ndarray) -> None:
    same = (np.packbits(truth, axis=1)[:, None] == np.packbits(truth, axis=1)[None]).all(axis=2)
    np.testing.assert_array_equal(table.sense[:, None] == table.sense[None], same)
    assert table.senses < len(truth)


def test_senses_are_numbered_in_the_order_in_which_they_appear(table: Table) -> None:
    first = [int(np.flatnonzero(table.sense == sense)[0]) for sense in range(table.senses)]
    assert first == sorted(first)


def test_the_senses_of_scenes_are_columns_of_the_extensions(table: Table, truth: np.ndarray) -> None:
    scenes = Key(1).rng().integers(0, SCENES, (5, 7))
    np.testing.assert_array_equal(table.senses_of(scenes)[..., table.sense], np.moveaxis(truth[:, scenes], 0, -1))


@pytest.mark.parametrize("n", [1, 64, 100])
def test_a_selection_of_scenes_is_a_smaller_table(table: Table, truth: np.ndarray, n: int) -> None:
    scenes = Key(n).rng().integers(0, SCENES, n)  # a scene may come twice
    found = table.on(scenes)
    assert found.shape == (table.senses, -(-n // 64))
    unpacked = np.unpackbits(found.view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(unpacked[table.sense, :n], truth[:, scenes])
    assert not unpacked[:, n:].any()


def test_the_counts_before_each_block_are_sums_of_the_extension(table: Table, truth: np.ndarray) -> None:
    for block in range(BLOCKS + 1):
        np.testing.assert_array_equal(table.before[table.sense, block], truth[:, : block * BLOCK].sum(axis=1))
    np.testing.assert_array_equal(table.count[table.sense], truth.sum(axis=1))


def test_the_census_counts_and_tells_synonyms_apart(counted: Census, table: Table, truth: np.ndarray) -> None:
    np.testing.assert_array_equal(counted.count, truth.sum(axis=1))
    np.testing.assert_array_equal(senses(counted.extension)[0], table.sense)


def test_the_table_on_disk_is_the_table_in_memory(
    tmp_path: Path, engine: Engine, counted: Census, table: Table
) -> None:
    again = census(EVERYONE, BLOCKS, engine)
    np.testing.assert_array_equal(again.count, counted.count)
    np.testing.assert_array_equal(again.extension, counted.extension)
    sense, reader = one_per_sense(again)
    fill(tmp_path, reader, sense, SCENES, engine)
    assert_same(load(tmp_path, SCENES), table)


def test_a_run_that_stopped_half_way_goes_on_with_what_is_missing(
    tmp_path: Path, counted: Census, table: Table
) -> None:
    sense, reader = one_per_sense(counted)
    fill(tmp_path, reader, sense, SCENES, InProcess())
    (tmp_path / "done" / "00001.npy").unlink()
    np.load(tmp_path / "by_sense.npy", mmap_mode="r+")[1] = 77
    np.load(tmp_path / "by_scene.npy", mmap_mode="r+")[BLOCK : 2 * BLOCK] = 77
    for name in ("before.npy", "sense.npy"):
        (tmp_path / name).unlink()
    fill(tmp_path, SmallReader(reader.chosen, forbidden=(0, 2)), sense, SCENES, InProcess())
    assert_same(load(tmp_path, SCENES), table)


def test_the_large_parts_of_a_table_cannot_be_written_by_mistake(tmp_path: Path, counted: Census, table: Table) -> None:
    sense, reader = one_per_sense(counted)
    fill(tmp_path, reader, sense, SCENES, InProcess())
    for found in (load(tmp_path, SCENES), table):
        with pytest.raises(ValueError, match="read-only"):
            found.by_sense[0, 0, 0] = 1


def test_red_and_not_red_hold_everywhere_but_not_together() -> None:
    red = Expr(Symbol("some", ("color", "red")))
    concepts = [red, Expr(NOT, (red,)), Expr(NOT, (Expr(NOT, (red,)),)), Expr(AND, (red, Expr(NOT, (red,))))]
    scenes = all_scenes()[:100]
    table = build(concepts, scenes, Meaning(scenes))
    assert table.sense.tolist() == [0, 1, 0, 2]
    assert table.count.tolist() == [table.count[0], 100 - table.count[0], 0]


def test_names_that_differ_in_a_last_zero_only_are_two_senses() -> None:
    names = np.array([b"a" * 16, b"a" * 15 + b"\0", b"a" * 16], "V16")
    sense, first = senses(names)
    assert sense.tolist() == [0, 1, 0]
    assert first.tolist() == [0, 1]
