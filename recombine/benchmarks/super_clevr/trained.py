"""Parsers of vehicles, trained: one detector, and an attribute network for each variant that models are trained on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from recombine.benchmarks.super_clevr.sight import AGAIN, LESSON, SIZE, attributes
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
        first = self._found(LESSON)
        return Parser.load(self._found(replace(AGAIN, begin=first), "-again"))

    def _found(self, lesson: Lesson, more: str = "") -> Path:
        """The file of a detector."""
        return self._kept(
            f"super-clevr-detector-{lesson.pictures}-{lesson.steps}{more}",
            lambda folder: taught(lesson, folder, self.store, self.engine, self.watch()),
        )

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
        return Parser.load(self._looking(name, self.lesson(name)))

    def longer(self, name: str) -> Parser:
        """The same after as many pictures again, which are others, with half of the rate, which falls again."""
        lesson = self.lesson(name)
        first = self._looking(name, lesson)
        return Parser.load(self._looking(name, replace(lesson, seed=1, rate=lesson.rate / 2, begin=first), "-again"))

    def _looking(self, name: str, lesson: AttributeLesson, more: str = "") -> Path:
        """The file of a parser with a closer look."""

        def made(folder: Path) -> Parser:
            closer = closer_taught(lesson, folder, self.store, self.engine, self.watch())
            scenes = lesson.world.sample(LOOKED_AT, Key(lesson.seed) / "usual")
            pictures, _ = pictures_of(lesson.world, scenes, SIZE)
            return with_closer(self.detector(), closer, pictures)

        return self._kept(f"super-clevr-{name}-{self.pictures}-{self.steps}{more}", made)
