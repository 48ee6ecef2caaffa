"""Super-CLEVR in the explorer: vehicles with their parts, questions about both, and one layout at every complexity."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recombine.benchmarks.clevr.explore import NO_ANSWER, ClevrExplorer
from recombine.benchmarks.clevr.trace import steps_in_words
from recombine.benchmarks.exploring import Factor, Group, Reading, SceneCard, Shot, page_of
from recombine.benchmarks.exploring import Part as Outlined
from recombine.benchmarks.super_clevr.english import VehicleEnglish
from recombine.benchmarks.super_clevr.exam import answer_words, answers
from recombine.benchmarks.super_clevr.meaning import Plainly
from recombine.benchmarks.super_clevr.objects import IMAGE, object_words, part_words, scene_picture
from recombine.benchmarks.super_clevr.world import COMPLEXITIES
from recombine.render.png import png
from recombine.report.table import Table
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes

LAYOUTS = 4
"""Layouts that are shown at every level of visual complexity."""


class SuperClevrExplorer(ClevrExplorer):
    """What people can do with vehicles. Beyond the numbers of the scenes are those of the factors' pictures."""

    study: Any
    pixels = IMAGE
    languages: ClassVar[Mapping[str, str]] = {
        "a question": "How many red cars are there?",
        "about a part": "What is the color of the handle of the cyan bicycle?",
    }

    @property
    def pipeline(self) -> Any:
        return self.study.study

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        return [(kind, f"Questions about {kind}s", "nothing is held out") for kind in self.pipeline.kinds]

    def tables(self) -> Sequence[Table]:
        return [self.study.vehicles(), self.study.list()]

    # --- looking

    def numbered(self, number: int) -> int:
        more = len(COMPLEXITIES) * LAYOUTS
        return number if self.scenes <= number < self.scenes + more else super().numbered(number)

    def _place(self, number: int) -> tuple[Scenes, int]:
        if number < self.scenes:
            return super()._place(number)
        layout, level = divmod(self.numbered(number) - self.scenes, len(COMPLEXITIES))
        world = replace(self.study.world, complexity=tuple(COMPLEXITIES)[level])
        return world.sample(1, Key(self.study.seed) / "super-clevr" / "layout" / layout), 0

    def factors(self) -> Sequence[Factor]:
        """Visual complexity: the same vehicles in the same places, painted in three ways."""
        about = "The same layout: easy has plain vehicles, mid parts of other looks, hard textures too."
        return [
            Factor(
                f"visual complexity, layout {layout + 1}",
                about,
                tuple((name, self.scenes + layout * len(COMPLEXITIES) + i) for i, name in enumerate(COMPLEXITIES)),
            )
            for layout in range(LAYOUTS)
        ]

    def _shot(self, number: int) -> Shot:
        dialect = self.pipeline.asking.dialect
        return Shot(number, "; ".join(object_words(one, dialect) for one in self._alone(number).objects(0)))

    def picture(self, number: int) -> bytes:
        rgb = self.study.world.stage.draw(self._alone(number), *self.pixels, ("rgb",)).rgb
        return png(rgb[0], 1)

    def scene(self, number: int) -> SceneCard:
        alone, asking = self._alone(number), self.pipeline.asking
        plain = Plainly.of(alone, 0, asking.dialect)
        seen = scene_picture(asking, alone, self.pixels)
        names = tuple(object_words(one, asking.dialect) for one in plain.objects)
        parts = tuple(f"{part_words(one, asking.dialect)} of object {one['owner']}" for one in plain.parts)
        outlines = tuple(Outlined(name, path) for name, path in zip((*names, *parts), seen.masks))
        return SceneCard(number, names, self.pixels, outlines, {"objects": plain.objects, "parts": plain.parts})

    # --- playing

    def choices(self, examples: Examples, row: int) -> tuple[str, ...]:
        dialect = self.pipeline.asking.dialect
        kind, start = examples.concepts[examples.concept[row]].head.out, 0
        for name, words in dialect.answers.items():
            if name == kind:
                return answer_words(dialect)[start : start + len(words)]
            start += len(words)
        return examples.answers

    def _why(self, examples: Examples, row: int) -> str:
        program, scene = examples.concepts[examples.concept[row]], int(examples.scene[row])
        plain = Plainly.of(examples.scenes, scene, self.pipeline.asking.dialect)
        return "\n".join(words for _, words in steps_in_words(program, plain))

    # --- writing

    @cached_property
    def _english(self) -> VehicleEnglish:
        return VehicleEnglish(self.study.world, self.study.edition)

    def read(self, text: str, first: int = 0) -> Reading:
        if not text.strip():
            raise UserError("write a question, such as: how many red cars are there?")
        program, dialect = self._english.read(text), self.pipeline.asking.dialect
        said = answers([program] * self.scenes, self._all, np.arange(self.scenes), dialect)
        sure, best = said.max(axis=1) == 1, said.argmax(axis=1)
        words = np.array([*answer_words(dialect), NO_ANSWER])[np.where(sure, best, said.shape[1])]
        labels = sorted({*words.tolist()}, key=lambda word: (word == NO_ANSWER, -int((words == word).sum())))
        groups = []
        for label in labels:
            places = np.flatnonzero(words == label)
            groups.append(Group(label, len(places), tuple(map(self._shot, page_of(places, first)))))
        note = f"It has an answer on {int(sure.sum()):,} of {self.scenes:,} scenes."
        return Reading((("as a term", repr(program)),), tuple(groups), self.scenes, (note,))
