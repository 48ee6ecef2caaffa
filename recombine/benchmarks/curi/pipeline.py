"""A study: one edition of CURI at one scale with one seed, from scenes to gaps.

Every stage is an artefact of the store, made when it is first asked for, in shards that any worker can make:

    scenes ─┬─► candidates ─► concepts ─► table ─► episodes ─► answers ─► gaps
            └───────────────────┘
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from recombine.benchmarks.curi.edition import PAPER, Edition
from recombine.benchmarks.curi.language import CURI_LOT, Lot, check_language
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.space import Space, candidates, interesting, log_probability, to_table
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.curi.splits import ANY_LANGUAGE, atom, curi_splits
from recombine.benchmarks.curi.world import CuriWorld
from recombine.language.expr import Expr
from recombine.metrics.gap import Gap, Over, gap, gap_of
from recombine.metrics.scores import pooled_accuracy, recalled
from recombine.semantics.table import BLOCK, Census, Table, census, fill, load, senses, size_of
from recombine.solvers.oracle import Belief, Probe, answer
from recombine.store.arrays import read_array, write_array
from recombine.store.engine import Engine, InProcess, shard_bounds
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table, write_table
from recombine.tasks.episodes import Episodes, Negatives, Shape, draw_episodes, scenes_at
from recombine.tasks.made_splits import is_file, need_atoms, read_split
from recombine.tasks.splits import Sides, Split, deal, filled, without_leaks
from recombine.world.distribution import World
from recombine.world.scenes import Scenes, join
from recombine.world.shards import MakeScenes, read_scenes, shard_name

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = ("train", "validation", "test")
VERSION = 1
"""Raised when the same parameters come to give other bytes."""
SHARD = 5_000
"""Episodes per file."""
PROBE_SCENES = 3
"""Scenes per concept in the large set on which average precision is computed."""


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    name: str
    scenes: int
    draws: int | None
    """Strings drawn from the grammar; None lists the whole language."""
    train: int
    validation: int
    test: int | None
    """Test episodes per split; None for the edition's own number."""


SCALES = {
    scale.name: scale
    for scale in (
        Scale("demo", 16_384, 2_000_000, 200, 50, 200),
        Scale("small", 16_384, 2_000_000, 20_000, 1_000, 1_000),
        Scale("laptop", 131_072, 2_000_000, 20_000, 1_000, 2_000),
        Scale("paper", 990_000, 2_000_000, 500_000, 5_000, None),
    )
}


def scale(name: str) -> Scale:
    """The scale of this name."""
    if name not in SCALES:
        raise UserError(f"there is no scale '{name}'; choose one of {', '.join(SCALES)}")
    return SCALES[name]


@dataclass(frozen=True)
class Setup:
    """What decides a study."""

    edition: Edition = PAPER
    scale: Scale = SCALES["demo"]
    seed: int = 0
    lot: Lot = CURI_LOT
    world: World | None = None
    """None for CURI's own world."""
    concepts: tuple[Expr, ...] | None = None
    """A user's own concepts in place of drawn ones."""
    strict: bool = False
    """Leave test concepts out that have a synonym on the training side."""

    def episodes(self, part: Part) -> int:
        chosen = getattr(self.scale, part)
        return self.edition.test_episodes if chosen is None else chosen


@dataclass(frozen=True)
class Reader:
    """Where a worker finds the scenes and the concepts."""

    world: World
    scenes_folder: str
    concepts_file: str
    lot: Lot
    first_of_sense: bool = False

    def concepts(self) -> tuple[Expr, ...]:
        return _read_concepts(self.concepts_file, self.lot, self.first_of_sense)

    def scenes(self, block: int) -> Scenes:
        return read_scenes(self.world, Path(self.scenes_folder), block)

    def meaning(self, scenes: Scenes) -> object:
        return Exact(scenes, self.lot)


def _read_concepts(file: str, lot: Lot, first_of_sense: bool) -> tuple[Expr, ...]:
    table = read_table(Path(file))
    texts = table["concept"].to_pylist()
    if first_of_sense:
        _, first = np.unique(table["sense"].to_numpy(), return_index=True)
        texts = [texts[i] for i in first]
    speller = Speller(lot)
    return tuple(speller.read_postfix(text) for text in texts)


class CuriPipeline:
    """The artefacts of one setup, each made when it is first asked for."""

    def __init__(self, setup: Setup, store: Store, engine: Engine | None = None) -> None:
        self.setup = setup
        self.store = store
        self.engine = engine or InProcess()
        self.key = Key(setup.seed) / "curi"
        self.world: World = setup.world or CuriWorld(first_bin=setup.edition.first_bin)
        check_language(setup.lot, self.world.vocabulary)
        self.splits: dict[str, Split] = curi_splits(setup.edition)
        if setup.lot != CURI_LOT:
            self.splits = {name: self.splits[name] for name in ANY_LANGUAGE}
        self._blocks: dict[int, Scenes] = {}
        self._dealt: dict[Split, Sides] = {}
        self._sides: dict[str, Sides] = {}
        self._gaps: dict[tuple[str, Negatives, Over], dict[str, Gap]] = {}
        self._read: dict[str, tuple[object, Split]] = {}
        """By the name of a split that was read from a file, what that said."""

    # --- scenes

    @property
    def blocks(self) -> int:
        return -(-self.setup.scale.scenes // BLOCK)

    @cached_property
    def scenes_recipe(self) -> Recipe:
        parameters = {"world": self.world, "scenes": self.setup.scale.scenes, "seed": self.setup.seed}
        return Recipe("scenes", VERSION, parameters, {})

    @cached_property
    def scenes_folder(self) -> Path:
        setup, recipe = self.setup, self.scenes_recipe

        def work(draft: Path) -> MakeScenes:
            return MakeScenes(str(draft), self.world, setup.scale.scenes, BLOCK, self.key / "scenes", recipe)

        return self._get(recipe, work, self.blocks, "scenes")

    @cached_property
    def scenes(self) -> Scenes:
        return join([read_scenes(self.world, self.scenes_folder, block) for block in range(self.blocks)])

    def scene(self, number: int) -> tuple[Scenes, int]:
        """The block that holds a scene, and its place there."""
        block, place = divmod(number, BLOCK)
        if block not in self._blocks:
            self._blocks[block] = read_scenes(self.world, self.scenes_folder, block)
        return self._blocks[block], place

    # --- concepts

    @cached_property
    def candidates_recipe(self) -> Recipe:
        s = self.setup
        own = None if s.concepts is None else _digest(c.digest for c in s.concepts)
        drawn = {"draws": s.scale.draws, "seed": s.seed} if own is None else {"own": own}
        return Recipe("candidates", VERSION, {"lot": s.lot, "nesting": s.edition.nesting, **drawn}, {})

    @cached_property
    def _candidates(self) -> Path:
        """The concepts before the filter."""
        s, recipe = self.setup, self.candidates_recipe

        def make(draft: Path) -> None:
            if s.concepts is None:
                self.engine.progress("concepts: listing the language", 0, 1)
                found = candidates(s.lot, s.edition, s.scale.draws, self.key / "concepts")
                self.engine.progress("concepts: listing the language", 1, 1)
            else:
                found = [(c, log_probability(c, s.lot, s.edition)) for c in s.concepts]
            write_table(draft / "candidates.parquet", to_table(*zip(*found)), recipe)

        return self.store.get(recipe, make)

    @cached_property
    def concepts_recipe(self) -> Recipe:
        e = self.setup.edition
        bounds = None if self.setup.concepts else {"at_most_share": e.at_most_share, "fewest_scenes": e.fewest_scenes}
        inputs = {"scenes": self.scenes_recipe.digest, "candidates": self.candidates_recipe.digest}
        return Recipe("concepts", VERSION, {"filter": bounds}, inputs)

    @cached_property
    def concepts_file(self) -> Path:
        return self.store.get(self.concepts_recipe, self._make_concepts) / "concepts.parquet"

    def _make_concepts(self, draft: Path) -> None:
        file = self._candidates / "candidates.parquet"
        reader = Reader(self.world, str(self.scenes_folder), str(file), self.setup.lot)
        counted = census(reader, self.blocks, self.engine)
        keep = np.ones(len(counted.count), bool)
        if self.setup.concepts is None:
            keep = interesting(counted, self.setup.scale.scenes, self.setup.edition)
            if not keep.any():
                raise UserError("no concept is true on enough scenes and on few enough; use a larger scale")
        kept = Census(counted.count[keep], counted.extension[keep])
        table = read_table(file).filter(pa.array(keep))
        table = table.add_column(0, "concept_id", pa.array(np.arange(len(table), dtype=np.int32)))
        table = table.append_column("scenes", pa.array(kept.count))
        table = table.append_column("share", pa.array(kept.count / self.setup.scale.scenes))
        table = table.append_column("sense", pa.array(senses(kept.extension)[0]))
        write_table(draft / "concepts.parquet", table, self.concepts_recipe)

    @cached_property
    def space(self) -> Space:
        table = read_table(self.concepts_file)
        return Space(
            _read_concepts(str(self.concepts_file), self.setup.lot, False),
            table["log_prob"].to_numpy(),
            table["length"].to_numpy().astype(np.int64),
            table["scenes"].to_numpy(),
            table["sense"].to_numpy(),
        )

    # --- what holds where

    @cached_property
    def table_recipe(self) -> Recipe:
        return Recipe("table", VERSION, {"block": BLOCK}, {"concepts": self.concepts_recipe.digest})

    @cached_property
    def table_folder(self) -> Path:
        reader = Reader(self.world, str(self.scenes_folder), str(self.concepts_file), self.setup.lot, True)
        sense = read_table(self.concepts_file)["sense"].to_numpy()
        scenes = self.setup.scale.scenes
        return self.store.get(self.table_recipe, lambda draft: fill(draft, reader, sense, scenes, self.engine))

    @cached_property
    def table(self) -> Table:
        return load(self.table_folder, self.setup.scale.scenes)

    # --- splits

    def split(self, name: str) -> Split:
        """A split by its name, or by the file that it was written to."""
        if is_file(name):
            return self._from_file(name)
        if name not in self.splits:
            raise UserError(f"CURI has no split '{name}'; choose one of {', '.join(self.splits)}")
        return self.splits[name]

    def _from_file(self, file: str) -> Split:
        made = read_split(file, "curi", atom)
        found, said = made.split(), made.plain()
        before, known = self._read.get(found.name, (said, None))
        if before != said or (found.name in self.splits and known is None):
            raise UserError(f"{file}: there is a split '{found.name}' already; give it another name")
        if known is None:
            sides = deal(found, self.space.concepts, self.space.sense, self.key)
            train, test = (
                [c for c, yes in zip(self.space.concepts, side) if yes] for side in (sides.train, sides.test)
            )
            need_atoms(found.name, train, test, atom)
            self.splits[found.name] = found
            self._read[found.name] = (said, found)
        return self._read[found.name][1]

    def usable_splits(self) -> list[str]:
        """The splits with concepts on both sides; with concepts of one's own that may not be all."""
        counted = {name: self.count_sides(name) for name in self.splits}
        return [name for name, found in counted.items() if found.train.any() and found.test.any()]

    def count_sides(self, name: str) -> Sides:
        """The sides of every concept as the split says, empty or not."""
        split = self.split(name)
        if split not in self._dealt:
            self._dealt[split] = deal(split, self.space.concepts, self.space.sense, self.key / "sides" / name)
        return self._dealt[split]

    def sides(self, name: str) -> Sides:
        """The sides of every concept."""
        if name not in self._sides:
            self._sides[name] = self._find_sides(name)
        return self._sides[name]

    def _find_sides(self, name: str) -> Sides:
        found = filled(self.split(name), self.count_sides(name))
        if not self.setup.strict or self.split(name).train is self.split(name).test:
            return found
        clean = without_leaks(found, self.space.sense)
        if not clean.test.any():
            raise UserError(f"split '{name}': every test concept has a synonym on the training side; leave strict out")
        return clean

    # --- episodes

    def shape(self, negatives: Negatives) -> Shape:
        e = self.setup.edition
        block = 5_000 if e.easy_negatives == "block" else 0
        if negatives == "easy":
            return Shape(kind="easy", easy_block=block)
        return Shape(kind="hard", query_from_rivals=e.query_negatives == "rivals")

    def episodes_recipe(self, split: str, part: Part, negatives: Negatives) -> Recipe:
        parameters = {
            "split": split,
            "part": part,
            "shape": self.shape(negatives),
            "episodes": self.setup.episodes(part),
            "seed": self.setup.seed,
        }
        chosen = getattr(self.sides(split), part)
        inputs = {"table": self.table_recipe.digest, "concepts": _digest([np.packbits(chosen).tobytes()])}
        return Recipe("episodes", VERSION, parameters, inputs)

    def episodes_folder(self, split: str, part: Part, negatives: Negatives) -> Path:
        recipe = self.episodes_recipe(split, part, negatives)
        chosen = getattr(self.sides(split), part)

        def work(draft: Path) -> "_MakeEpisodes":
            write_array(draft / "weight.npy", np.where(chosen, self.space.weight, 0.0))
            return _MakeEpisodes(
                str(draft),
                str(self.table_folder),
                str(self.concepts_file),
                self.setup.scale.scenes,
                self.setup.episodes(part),
                self.shape(negatives),
                self.key / "episodes" / split / part / negatives,
                recipe,
            )

        shards = -(-self.setup.episodes(part) // SHARD)
        return self._get(recipe, work, shards, f"episodes: {split} {part} {negatives}")

    def episodes(self, split: str, part: Part, negatives: Negatives) -> Episodes:
        return read_episodes(self.episodes_folder(split, part, negatives))

    # --- oracles

    @cached_property
    def probe_scenes(self) -> np.ndarray:
        """The large set of scenes: three of every concept, drawn with replacement, int[3 concepts]."""
        return probe_scenes(self.table, self.key / "probe")

    @cached_property
    def probe(self) -> Probe:
        return Probe(self.table, self.probe_scenes)

    def beliefs(self, split: str, negatives: Negatives) -> dict[str, Belief]:
        """The strong and the weak oracle's belief."""
        e, hard = self.setup.edition, negatives == "hard"
        prior = self.space.log_prior(e, self.setup.scale.scenes, hard)
        strong = Belief(self.table, prior, from_rivals=hard and e.likelihood == "drawn")
        found = self.sides(split)
        return {"strong": strong.known(~found.dropped), "weak": strong.known(found.train)}

    def answers_folder(self, split: str, negatives: Negatives) -> Path:
        """What both oracles answer to the test episodes."""
        e, beliefs = self.setup.edition, self.beliefs(split, negatives)
        parameters: dict[str, object] = {
            "prior": e.prior,
            "size_likelihood": e.likelihood == "size",
            "probe": PROBE_SCENES,
        }
        candidates_from = None
        if e.likelihood == "drawn":
            parameters["likelihood"] = e.likelihood
        if negatives == "easy" and e.easy_consistency == "candidates":
            parameters["easy_consistency"] = e.easy_consistency
            candidates_from = self.shape(negatives).positives
        known = _digest(np.packbits(np.isfinite(belief.log_weight)).tobytes() for belief in beliefs.values())
        inputs = {"episodes": self.episodes_recipe(split, "test", negatives).digest, "known": known}
        recipe = Recipe("answers", VERSION, parameters, inputs)
        episodes = self.episodes_folder(split, "test", negatives)

        def work(draft: Path) -> "_MakeAnswers":
            for name, belief in beliefs.items():
                write_array(draft / f"{name}.npy", belief.log_weight)
            return _MakeAnswers(
                str(draft),
                str(self.table_folder),
                self.setup.scale.scenes,
                str(episodes),
                self.key / "probe",
                recipe,
                beliefs["strong"].from_rivals,
                candidates_from,
            )

        bounds = shard_bounds(self.setup.episodes("test"), ANSWER_SHARD)
        return self._get(recipe, work, len(bounds), f"oracles: {split} {negatives}")

    def marks(self, split: str, negatives: Negatives) -> dict[str, dict[str, np.ndarray]]:
        """What the oracles earn: the average precision of each episode, the accuracy of each batch of them."""
        precision, recall = self._earned(split, negatives)
        return {who: {"mAP": precision[who], "accuracy": pooled_accuracy(recall[who])} for who in precision}

    def _earned(self, split: str, negatives: Negatives) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Of both oracles, the average precision of each episode, and what is right of its query scenes."""
        answers = read_table(self.answers_folder(split, negatives))
        truth, oracles = _matrix(answers["label"]), ("strong", "weak")
        return (
            {who: answers[f"{who}_precision"].to_numpy() for who in oracles},
            {who: recalled(truth, _matrix(answers[f"{who}_query"]) > 0.5) for who in oracles},
        )

    def errors(self, split: str, negatives: Negatives) -> dict[str, np.ndarray]:
        """Of both oracles, how many query scenes of each test episode they get wrong, int[episodes]."""
        answers = read_table(self.answers_folder(split, negatives))
        truth = _matrix(answers["label"])
        said = {who: _matrix(answers[f"{who}_query"]) > 0.5 for who in ("strong", "weak")}
        return {who: (yes != truth).sum(axis=1) for who, yes in said.items()}

    def gaps(self, split: str, negatives: Negatives, over: Over = "episodes") -> dict[str, Gap]:
        """The gap by mAP and by accuracy, with intervals over episodes (for accuracy batches of them) or meanings."""
        asked = split, negatives, over
        if asked not in self._gaps:
            self._gaps[asked] = self._measured(split, negatives, over)
        return self._gaps[asked]

    def _measured(self, split: str, negatives: Negatives, over: Over) -> dict[str, Gap]:
        key = self.key / "bootstrap" / split / negatives
        if over == "meanings":
            return self._gaps_over_meanings(split, negatives, key)
        if over != "episodes":
            raise UserError(
                f"one study has gaps over episodes or meanings, not over {over}; see `metrics.gap.over_worlds`"
            )
        found = self.marks(split, negatives)
        strong, weak, n = found["strong"], found["weak"], len(found["strong"]["mAP"])
        return {name: gap(split, name, strong[name], weak[name], n, key / name) for name in strong}

    def _gaps_over_meanings(self, split: str, negatives: Negatives, key: Key) -> dict[str, Gap]:
        precision, recall = self._earned(split, negatives)
        meaning = self.space.sense[self.episodes(split, "test", negatives).concept]

        def accuracies(rows: np.ndarray) -> tuple[float, float]:
            strong, weak = (float(pooled_accuracy(recall[who][rows]).mean()) for who in ("strong", "weak"))
            return strong, weak

        strong, weak, over = precision["strong"], precision["weak"], "meanings"
        return {
            "mAP": gap(split, "mAP", strong, weak, len(strong), key / "mAP" / over, meaning),
            "accuracy": gap_of(split, "accuracy", accuracies, meaning, key / "accuracy" / over),
        }

    def entropies(self, split: str, negatives: Negatives) -> dict[str, np.ndarray]:
        """Per test episode, in nats: the strong oracle's uncertainty about the concept and about a query scene."""
        answers = read_table(self.answers_folder(split, negatives))
        p = np.clip(_matrix(answers["strong_query"]), 1e-300, 1.0)
        q = np.clip(1 - p, 1e-300, 1.0)
        predictive = -(p * np.log(p) + q * np.log(q)).mean(axis=1)
        return {"concept": answers["strong_entropy"].to_numpy(), "prediction": predictive}

    # --- helpers

    def _get(self, recipe: Recipe, work: Callable[[Path], Callable[[int], None]], shards: int, label: str) -> Path:
        """An artefact made of independent shards."""

        def make(draft: Path) -> None:
            self.engine.map(work(draft), range(shards), label)

        return self.store.get(recipe, make)

    def size_estimate(self, parts: Iterable[Part], splits: int, kinds: int) -> int:
        """Bytes that are still to be written, roughly; all episodes and answers of so many splits are counted."""
        senses, scenes = 6_000 if self.setup.concepts is None else len(self.setup.concepts), self.setup.scale.scenes
        stages = (
            (self.scenes_recipe, scenes * 170),
            (self.candidates_recipe, 2_000_000),
            (self.concepts_recipe, senses * 500),
            (self.table_recipe, size_of(scenes, senses)),
        )
        of_episodes = sum(self.setup.episodes(part) for part in parts) * 170 + self.setup.episodes("test") * 300
        missing = sum(size for recipe, size in stages if not self.store.has(recipe))
        return missing + splits * kinds * of_episodes


def _digest(parts: Iterable[str | bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


def _matrix(column: pa.ChunkedArray) -> np.ndarray:
    """A column of lists of one length, as rows."""
    values = column.combine_chunks()
    return values.flatten().to_numpy(zero_copy_only=False).reshape(len(values), -1)


@lru_cache(maxsize=1)
def _table(folder: str, scenes: int) -> Table:
    return load(Path(folder), scenes)


@lru_cache(maxsize=1)
def _names(concepts_file: str) -> pa.Array:
    return read_table(Path(concepts_file), ["concept"])["concept"].combine_chunks()


@dataclass(frozen=True)
class _MakeEpisodes:
    folder: str
    table_folder: str
    concepts_file: str
    scenes: int
    episodes: int
    shape: Shape
    key: Key
    recipe: Recipe

    def __call__(self, shard: int) -> None:
        file = Path(self.folder) / shard_name("episodes", shard)
        if file.exists():
            return
        low, high = shard * SHARD, min((shard + 1) * SHARD, self.episodes)
        weight = read_array(Path(self.folder) / "weight.npy")
        made = draw_episodes(_table(self.table_folder, self.scenes), weight, high - low, self.shape, self.key / shard)
        size = self.shape.size

        def rows(values: np.ndarray) -> pa.Array:
            return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).reshape(-1)), size)

        columns = {
            "episode": pa.array(np.arange(low, high, dtype=np.int32)),
            "concept_id": pa.array(made.concept),
            "concept": _names(self.concepts_file).take(pa.array(made.concept)),
            "support": rows(made.scene[:, :size]),
            "support_label": rows(made.label[:, :size]),
            "query": rows(made.scene[:, size:]),
            "query_label": rows(made.label[:, size:]),
        }
        write_table(file, pa.table(columns), self.recipe)


def read_episodes(folder: Path) -> Episodes:
    """The episodes of a folder or a file."""
    table = read_table(folder, ["concept_id", "support", "support_label", "query", "query_label"])
    scene = np.concatenate([_matrix(table[name]) for name in ("support", "query")], axis=1)
    label = np.concatenate([_matrix(table[f"{name}_label"]) for name in ("support", "query")], axis=1)
    return Episodes(table["concept_id"].to_numpy(), scene.astype(np.int32), label)


ANSWER_SHARD = 1_000


def probe_scenes(table: Table, key: Key) -> np.ndarray:
    """Three scenes of every concept that has any, drawn with replacement."""
    sense = np.repeat(table.sense, PROBE_SCENES)
    sense = sense[table.count[sense] > 0]
    rank = (key.rng().random(len(sense)) * table.count[sense]).astype(np.int64)
    return scenes_at(table, sense, rank)


@lru_cache(maxsize=1)
def _probe(table_folder: str, scenes: int, key: Key) -> Probe:
    table = _table(table_folder, scenes)
    return Probe(table, probe_scenes(table, key))


@lru_cache(maxsize=1)
def _episodes(folder: str) -> Episodes:
    return read_episodes(Path(folder))


@dataclass(frozen=True)
class _MakeAnswers:
    folder: str
    table_folder: str
    scenes: int
    episodes_folder: str
    probe_key: Key
    recipe: Recipe
    from_rivals: bool
    candidates_from: int | None

    def __call__(self, shard: int) -> None:
        file = Path(self.folder) / shard_name("answers", shard)
        if file.exists():
            return
        table, probe = _table(self.table_folder, self.scenes), _probe(self.table_folder, self.scenes, self.probe_key)
        low = shard * ANSWER_SHARD
        asked = Episodes(*(column[low : low + ANSWER_SHARD] for column in _episodes(self.episodes_folder)))

        def rows(values: np.ndarray) -> pa.Array:
            flat = np.ascontiguousarray(values).reshape(-1)
            return pa.FixedSizeListArray.from_arrays(pa.array(flat), values.shape[1])

        columns = {
            "episode": pa.array(np.arange(low, low + len(asked.concept), dtype=np.int32)),
            "label": rows(asked.label[:, asked.size :]),
        }
        for name in ("strong", "weak"):
            belief = Belief(table, read_array(Path(self.folder) / f"{name}.npy"), self.from_rivals)
            answers = answer(belief, asked, probe, self.candidates_from)
            columns |= {
                f"{name}_precision": pa.array(answers.precision),
                f"{name}_query": rows(answers.query),
                f"{name}_entropy": pa.array(answers.entropy),
                f"{name}_explanations": pa.array(answers.explanations),
            }
        write_table(file, pa.table(columns), self.recipe)
