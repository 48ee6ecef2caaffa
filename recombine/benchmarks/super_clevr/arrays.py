"""Super-CLEVR's variants as arrays for networks: questions, pictures with the boxes of their objects, and which words
of a question speak of which objects. Each is made once and kept.

The words are all that questions about vehicles and their parts can have, in every variant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.arrays import COLUMNS, held_out, need_questions, questions_of
from recombine.benchmarks.clevr.english_words import DIRECTIONS, words_of
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.pipeline import Part
from recombine.benchmarks.clevr.program import ProgramTokens
from recombine.benchmarks.clevr.questions import look
from recombine.benchmarks.clevr.runner import Runner
from recombine.benchmarks.super_clevr.exam import answer_words
from recombine.benchmarks.super_clevr.families import object_families, part_families
from recombine.benchmarks.super_clevr.language import SAID, dialect_of
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline, SuperClevrScale
from recombine.benchmarks.super_clevr.questions import look_at_parts
from recombine.benchmarks.super_clevr.stage import Stage
from recombine.benchmarks.super_clevr.variants import DEFAULT, VARIANTS
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.render.masks import seen
from recombine.solvers.grounding import Grounding, Naming, grounded
from recombine.solvers.programs import NULL
from recombine.solvers.questions import Questions, Vocabulary
from recombine.store.arrays import map_array, read_array, write_array
from recombine.store.checksums import checksum
from recombine.store.engine import Engine, shard_bounds
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table
from recombine.tasks.made_splits import MadeSplit
from recombine.world.scenes import Scenes
from recombine.world.shards import read_scenes

VERSION = 1
SHARD = 1_000
"""Pictures of a file."""
CONTROL = ", control"
"""What the name of the rest of a split ends in, when it is tested."""
AT_ONCE = 64
"""Pictures that are drawn at once."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Pictures and the boxes of their objects; the pixels stay on the disk."""

    pixels: tuple[np.ndarray, ...]  # each uint8[SHARD, height, width, 3]
    boxes: np.ndarray  # float32[n, k, 4]: left, top, right, bottom from 0 to 1
    count: np.ndarray  # uint8[n]

    def __len__(self) -> int:
        return len(self.count)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Some pictures, uint8[rows, height, width, 3]."""
        return np.stack([self.pixels[row // SHARD][row % SHARD] for row in rows])


class Detected(NamedTuple):
    """What a parser believes of the objects of n pictures, with room for k."""

    beliefs: Mapping[str, np.ndarray]  # attribute -> float32[n, k, values]
    place: np.ndarray  # float32[n, k, 2] on the ground
    count: np.ndarray  # type: ignore[assignment]  # uint8[n]; a tuple's own method is not missed

    @classmethod
    def join(cls, some: "Sequence[Detected]") -> "Detected":
        beliefs = {name: np.concatenate([one.beliefs[name] for one in some]) for name in SAID}
        return cls(beliefs, *(np.concatenate([one[column] for one in some]) for column in (1, 2)))

    def save(self, folder: Path) -> None:
        for name, column in {**self.beliefs, "place": self.place, "count": self.count}.items():
            write_array(folder / f"{name}.npy", np.ascontiguousarray(column))

    @classmethod
    def open(cls, folder: Path) -> "Detected":
        columns = {name: read_array(folder / f"{name}.npy") for name in (*SAID, "place", "count")}
        return cls({name: columns[name] for name in SAID}, columns["place"], columns["count"])


def digest_of(file: Path) -> str:
    """A digest of a parser's file."""
    if not file.is_file():  # a pipe would be waited for
        raise UserError(f"there is no parser {file}; train it with `make parsers`, or give another parser")
    return checksum(file)


class Data:
    """The questions, words, scenes and pictures of all variants at one scale and seed."""

    def __init__(self, scale: SuperClevrScale, seed: int, store: Store, engine: Engine) -> None:
        self.scale, self.seed, self.store, self.engine = scale, seed, store, engine
        self._pipelines: dict[str, SuperClevrPipeline] = {}
        self.made: dict[str, MadeSplit] = {}
        """Splits that were read from files, by their names: sides of the questions of `default`."""

    def at(self, variant: str) -> SuperClevrPipeline:
        """The scenes and questions of a variant."""
        variant = self.base(variant)
        if variant not in VARIANTS:
            raise UserError(f"there is no variant {variant!r:.80}; choose one of {', '.join(VARIANTS)}")
        if variant not in self._pipelines:
            asking = VARIANTS[variant].asking()
            self._pipelines[variant] = SuperClevrPipeline(self.scale, self.seed, self.store, self.engine, asking)
        return self._pipelines[variant]

    def base(self, variant: str) -> str:
        """The variant that a split divides."""
        return DEFAULT if variant.removesuffix(CONTROL) in self.made else variant

    @cached_property
    def world(self) -> VehicleWorld:
        return self.at(DEFAULT).world

    def dialect(self, kind: str) -> Dialect:
        """How questions of a kind speak; the same in all variants."""
        return dialect_of(self.world, parts=kind == "part")

    def answers(self, kind: str) -> tuple[str, ...]:
        return answer_words(self.dialect(kind))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return vocabulary_of(self.world)

    # --- questions

    def arrays_recipe(self, variant: str, part: Part, kind: str, images: int) -> Recipe:
        inputs = {"questions": self.at(variant).questions_recipe(part, kind).digest}
        return Recipe("super-clevr-arrays", VERSION, {"images": images, "words": list(self.vocabulary.words)}, inputs)

    def arrays_folder(self, variant: str, part: Part, kind: str, images: int) -> Path:
        def make(draft: Path) -> None:
            table = read_table(self.at(variant).questions_folder(part, kind), COLUMNS)
            table = table.filter(np.asarray(table["image_index"]) < images)
            questions = questions_of(table, self.vocabulary, self.dialect(kind), self.answers(kind))
            questions.save(draft)

        return self.store.get(self.arrays_recipe(variant, part, kind, images), make)

    def questions(self, variant: str, part: Part, kind: str = "object", images: int | None = None) -> Questions:
        """The questions about the first so many images, by default all; of a split, those of its side."""
        many = images or self.at(variant).count(part)
        found, rows = Questions.open(self.arrays_folder(variant, part, kind, many)), self._rows(variant, part, many)
        need_questions(np.arange(len(found)), variant, part)
        return found if rows is None else found.rows(rows)

    def _rows(self, variant: str, part: Part, images: int) -> np.ndarray | None:
        """Which questions about objects a split has in a part: its test has what it holds out, all else the rest."""
        made = self.made.get(variant.removesuffix(CONTROL))
        if made is None:
            return None
        arrays = self.arrays_recipe(variant, part, "object", images)
        recipe = Recipe("super-clevr-held-out", VERSION, {"pairs": made.pairs}, {"arrays": arrays.digest})

        def make(draft: Path) -> None:
            table = read_table(self.at(variant).questions_folder(part, "object"), ("program", "image_index"))
            table = table.filter(np.asarray(table["image_index"]) < images)
            held = held_out(table, made, self.dialect("object"), trained=part == "train")
            write_array(draft / "held.npy", held)

        held = read_array(self.store.get(recipe, make) / "held.npy")
        rows = np.flatnonzero(held == (part == "test" and not variant.endswith(CONTROL)))
        return need_questions(rows, made.name, part)

    def scenes(self, variant: str, part: Part, images: int | None = None) -> Scenes:
        return self.at(variant).scenes(part)[: images or self.at(variant).count(part)]

    def runner(self, variant: str, part: Part, kind: str, images: int | None = None) -> Runner:
        """What runs programs on the scenes of a part."""
        dialect, scenes = self.dialect(kind), self.scenes(variant, part, images)
        return Runner((look_at_parts if kind == "part" else look)(scenes, dialect), dialect)

    # --- pictures

    def pictures_recipe(self, variant: str, part: Part, size: tuple[int, int], images: int) -> Recipe:
        inputs = {"scenes": self.at(variant).scenes_recipe(part).digest}
        return Recipe("super-clevr-network-pictures", VERSION, {"size": size, "images": images, "shard": SHARD}, inputs)

    def pictures(self, variant: str, part: Part, size: tuple[int, int], images: int | None = None) -> Drawn:
        """The first so many pictures, by default all, of this width and height."""
        many = images or self.at(variant).count(part)
        recipe, shards = self.pictures_recipe(variant, part, size, many), range(-(-many // SHARD))
        pipeline = self.at(variant)

        def make(draft: Path) -> None:
            work = _Draw(str(draft), str(pipeline.scenes_folder(part)), pipeline.world, many, size)
            self.engine.map(work, shards, f"pictures of {variant}: {part}")

        folder = self.store.get(recipe, make)
        return Drawn(
            tuple(map_array(folder / f"pixels-{shard:05}.npy", "r") for shard in shards),
            np.concatenate([read_array(folder / f"boxes-{shard:05}.npy") for shard in shards]),
            np.concatenate([read_array(folder / f"count-{shard:05}.npy") for shard in shards]),
        )

    # --- what a parser sees

    def detections_recipe(self, variant: str, part: Part, images: int, file: Path) -> Recipe:
        inputs = {"scenes": self.at(variant).scenes_recipe(part).digest, "parser": digest_of(file)}
        return Recipe("super-clevr-detections", VERSION, {"images": images}, inputs)

    def detections(self, variant: str, part: Part, images: int | None, file: Path) -> "Detected":
        """What a parser believes of the objects of the first so many pictures, by default of all."""
        from recombine.benchmarks.super_clevr.sight import SIZE, in_order, vehicle_parser

        many, pipeline = images or self.at(variant).count(part), self.at(variant)

        def make(draft: Path) -> None:
            parser, world = vehicle_parser(file, pipeline.world), pipeline.world
            shards = []
            for start in range(0, many, SHARD):
                scenes = read_scenes(world, pipeline.scenes_folder(part), start // SHARD)[: many - start]
                seen = in_order(parser, parser.perceive(drawn(world.stage, scenes, SIZE)[0]), world)
                shards.append(Detected({name: seen.beliefs[name] for name in SAID}, seen.place, seen.count))
            Detected.join(shards).save(draft)

        return Detected.open(self.store.get(self.detections_recipe(variant, part, many, file), make))

    # --- words and what they speak of

    def groundings(self, variant: str, part: Part, images: int | None = None) -> Grounding:
        """Which words of the questions about objects speak of which of them."""
        many = images or self.at(variant).count(part)
        inputs = {
            "arrays": self.arrays_recipe(variant, part, "object", many).digest,
            "scenes": self.at(variant).scenes_recipe(part).digest,
        }

        def make(draft: Path) -> None:
            questions, dialect = self.questions(self.base(variant), part, "object", many), self.dialect("object")
            runner = Runner(look(self.scenes(variant, part, many), dialect), dialect)
            values = runner.values(questions.token, questions.image)
            grounded(questions, values, naming_of(dialect, self.vocabulary)).save(draft)

        found = Grounding.open(self.store.get(Recipe("super-clevr-groundings", VERSION, {}, inputs), make))
        rows = self._rows(variant, part, many)
        return found if rows is None else found.rows(rows)


def vocabulary_of(world: VehicleWorld) -> Vocabulary:
    """All words that questions about vehicles and their parts can have."""
    texts = ["a an and", *(said for some in DIRECTIONS.values() for said in some)]
    for families in (object_families(world), part_families(world)):
        texts += [text for family in families for text in family.spoken]
    slots = [sort for sort in dialect_of(world).sorts]
    names = [word for sort in slots for word in (*words_of(sort).adjectives, *words_of(sort).forms)]
    said = " ".join(texts).replace("[", " ").replace("]", " ")
    plain = " ".join(word for word in said.split() if not _is_slot(word))
    return Vocabulary.of([plain, *names])


def _is_slot(word: str) -> bool:
    """Whether a word of a template stands for others, as D1 and R2 do; the text itself is in small letters."""
    return any(letter.isupper() for letter in word)


def naming_of(dialect: Dialect, vocabulary: Vocabulary) -> Naming:
    """What the words for objects mean."""
    tokens, words = ProgramTokens(dialect).numbers, words_of(dialect.objects)

    def meant(known: Mapping[str, tuple[str, str]]) -> dict[tuple[int, ...], int]:
        return {
            tuple(vocabulary.read(said)): tokens[f"filter_{attribute}[{value}]"] if value else NULL
            for said, (attribute, value) in known.items()
            if all(word in vocabulary.numbers for word in said.split())
        }

    return Naming(meant(words.adjectives), meant(words.forms))


@dataclass(frozen=True)
class _Draw:
    """Draws one shard of pictures."""

    folder: str
    scenes_folder: str
    world: VehicleWorld
    many: int
    size: tuple[int, int]

    def __call__(self, shard: int) -> None:
        files = {name: Path(self.folder) / f"{name}-{shard:05}.npy" for name in ("pixels", "boxes", "count")}
        if all(file.exists() for file in files.values()):
            return
        start, end = shard_bounds(self.many, SHARD)[shard]
        scenes = read_scenes(self.world, Path(self.scenes_folder), shard)[: end - start]
        pixels, boxes = drawn(self.world.stage, scenes, self.size)
        for name, column in (("pixels", pixels), ("boxes", boxes), ("count", scenes.count.astype(np.uint8))):
            write_array(files[name], column)


def drawn(stage: Stage, scenes: Scenes, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Pictures, uint8[n, h, w, 3], and the boxes of what is seen of their objects, float32[n, k, 4] from 0 to 1."""
    pixels, boxes = [], []
    for start in range(0, len(scenes), AT_ONCE):
        some = scenes[start : start + AT_ONCE]
        made = stage.draw(some, *size, ("rgb", "objects"))
        assert made.rgb is not None and made.objects is not None
        left, top, width, height = np.moveaxis(seen(made.objects, scenes.places).boxes.astype(np.float32), -1, 0)
        pixels.append(made.rgb)
        boxes.append(np.stack([left, top, left + width, top + height], axis=-1) / np.array([*size, *size], np.float32))
    return np.concatenate(pixels), np.concatenate(boxes)
