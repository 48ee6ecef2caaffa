"""Parsers of vehicles, trained: one detector, and an attribute network for each variant that models are trained on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recombine.benchmarks.super_clevr.sight import LESSON, SIZE, attributes
from recombine.benchmarks.super_clevr.variants import VARIANTS
from recombine.solvers.attribute_training import AttributeLesson, closer_taught
from recombine.solvers.parser_training import Lesson, taught, with_closer
from recombine.solvers.perception import Parser
from recombine.solvers.scene_labels import pictures_of
from recombine.solvers.training.loop import Watch
from recombine.store.engine import Engine
from recombine.store.key import Key
from recombine.store.store import Store

LOOKED_AT = 100
"""Pictures from which it is known how unsure a parser usually is."""


@dataclass(frozen=True)
class Parsers:
    """Where parsers are trained, and how long; what is there already is not trained again."""

    runs: Path
    store: Store
    engine: Engine
    watch: Callable[[], Watch]
    pictures: int = 6_000
    steps: int = 2_400

    def detector(self) -> Parser:
        """Finds vehicles, and does not say what they are."""
        return Parser.load(
            self._kept(f"super-clevr-detector-{LESSON.pictures}-{LESSON.steps}", self._detecting(LESSON))
        )

    def _detecting(self, lesson: Lesson) -> Callable[[Path], Parser]:
        return lambda folder: taught(lesson, folder, self.store, self.engine, self.watch())

    def _kept(self, name: str, make: Callable[[Path], Parser]) -> Path:
        """The file of a parser, made where it is missing."""
        file = self.runs / name / "parser.safetensors"
        if not file.exists():
            make(file.parent).save(file)
        return file

    def lesson(self, name: str) -> AttributeLesson:
        """What an attribute network learns for a variant."""
        return attributes(VARIANTS[name].asking().world, pictures=self.pictures, steps=self.steps)

    def parser(self, name: str) -> Parser:
        """The parser of a variant."""
        lesson = self.lesson(name)

        def made(folder: Path) -> Parser:
            closer = closer_taught(lesson, folder, self.store, self.engine, self.watch())
            scenes = lesson.world.sample(LOOKED_AT, Key(lesson.seed) / "usual")
            pictures, _ = pictures_of(lesson.world, scenes, SIZE)
            return with_closer(self.detector(), closer, pictures)

        return Parser.load(self._kept(f"super-clevr-{name}-{self.pictures}-{self.steps}", made))
