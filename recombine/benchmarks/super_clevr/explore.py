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
from recombine.benchmarks.super_clevr.factors import VARIANTS, variant
from recombine.benchmarks.super_clevr.meaning import Plainly
from recombine.benchmarks.super_clevr.objects import IMAGE, masks_of, object_words, part_words
from recombine.benchmarks.super_clevr.redundancy import REDUNDANCIES
from recombine.render.png import png
from recombine.report.picture import outline_path
from recombine.report.table import Table
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes

LAYOUTS, MANY = 4, 6
"""Layouts on which the factors are shown, and how many vehicles each has at least."""
FACTORS = {
    "visual": ("visual complexity", "Easy has plain vehicles, mid parts of other looks, hard textures too."),
    "redundancy": ("redundancy", "One question with as few words as it needs, as it was found, with as many as hold."),
    "composition": (
        "composition",
        "Which colours go with which vehicle: with all alike, by its kind, by its category.",
    ),
    "distribution": (
        "distribution",
        "How often colours, materials and vehicles come: alike, slightly and strongly long-tailed, the frequent half, "
        "the rare half, turned round. Vehicles change here, and with them where there is room.",
    ),
}
"""Titles, and what varies."""
LEVELS = tuple((factor, level) for factor in FACTORS if factor != "redundancy" for level in VARIANTS[factor])
"""What is drawn of every layout."""
WORDS = {"rd-": "The fewest words", "rd": "Words as they come", "rd+": "The most words"}
"""What is played at each redundancy, on the scenes of the plain questions."""
QUESTIONS = 8
"""Questions among which one is chosen that differs at every level of redundancy."""


class SuperClevrExplorer(ClevrExplorer):
    """What people can do with vehicles. Beyond the numbers of the scenes are those of the factors' pictures."""

    study: Any
    pixels = IMAGE
    layouts = LAYOUTS
    whom: ClassVar[Mapping[str, str]] = {
        "strong": "weighs all words of a question together",
        "weak": "does so too where nothing is held out; elsewhere it takes everything as it sees it, step by step",
    }
    languages: ClassVar[Mapping[str, str]] = {
        "a question": "How many red cars are there?",
        "about a part": "What is the color of the handle of the cyan bicycle?",
    }

    @property
    def pipeline(self) -> Any:
        return self.study.study

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        seen = f"you see the picture as it is, learners see an attribute wrong with probability {self.study.noise:g}"
        plain = [(kind, f"Questions about {kind}s", "nothing is held out") for kind in self.pipeline.kinds]
        return [*plain, *((name, f"{WORDS[name]} ({name})", seen) for name in REDUNDANCIES)]

    def tables(self) -> Sequence[Table]:
        return [self.study.vehicles(), self.study.list()]

    # --- looking

    def numbered(self, number: int) -> int:
        more = LAYOUTS * len(LEVELS)
        return number if self.scenes <= number < self.scenes + more else super().numbered(number)

    def _place(self, number: int) -> tuple[Scenes, int]:
        if number < self.scenes:
            return super()._place(number)
        layout, level = divmod(self.numbered(number) - self.scenes, len(LEVELS))
        return self._layout(layout, *LEVELS[level]), 0

    def _layout(self, layout: int, factor: str = "", level: str = "") -> Scenes:
        """A scene that is drawn by the same luck, whatever the level of a factor."""
        world = replace(self.study.world, low=max(self.study.world.low, min(MANY, self.study.world.high)))
        if factor == "visual":
            world = replace(world, complexity=level)
        elif factor == "distribution":
            world = variant(world, level)
        elif factor == "composition":
            world = variant(world, pairs=level)
        return world.sample(1, Key(self.study.seed) / "super-clevr" / "layout" / layout)

    def factors(self, layout: int = 0) -> Sequence[Factor]:
        """The four factors on one layout."""
        if not 0 <= layout < LAYOUTS:
            raise UserError(f"there is no layout {layout}; choose one from 0 to {LAYOUTS - 1}")
        first = self.scenes + layout * len(LEVELS)
        found = []
        for factor, (title, about) in FACTORS.items():
            levels = [(name, first + i) for i, (one, name) in enumerate(LEVELS) if one == factor]
            if factor == "redundancy":
                levels = [(name, first + LEVELS.index(("visual", "mid"))) for name in REDUNDANCIES]
            said = self._reworded(layout) if factor == "redundancy" else ()
            found.append(Factor(title, about, tuple(levels), said))
        return found

    def _reworded(self, layout: int) -> tuple[str, ...]:
        """One question about the layout with as few words as it needs, as it was found, and with as many as hold."""
        scenes, asking = self._layout(layout, "visual", "mid"), self.pipeline.asking
        families, key = asking.families("object"), Key(self.study.seed) / "super-clevr" / "layout" / layout / "asked"
        found = asking.find(scenes, "object", QUESTIONS, key)
        said = [
            replace(asking, redundancy=level).table(found, families, scenes, 0, 0, key)["question"].to_pylist()
            for level in REDUNDANCIES
        ]
        return max(zip(*said), key=lambda levels: len({*levels}))

    def _shot(self, number: int) -> Shot:
        dialect = self.pipeline.asking.dialect
        return Shot(number, "; ".join(object_words(one, dialect) for one in self._alone(number).objects(0)))

    def picture(self, number: int) -> bytes:
        rgb = self.study.world.stage.draw(self._alone(number), *self.pixels, ("rgb",)).rgb
        return png(rgb[0], 1)

    def large(self, number: int) -> bytes:
        return png(self.study.world.stage.fine(self._alone(number), *self.close)[0], 1)

    def scene(self, number: int) -> SceneCard:
        alone, asking = self._alone(number), self.pipeline.asking
        plain = Plainly.of(alone, 0, asking.dialect)
        masks = [outline_path(mask) for masks in masks_of(asking, alone, self.close) for mask in masks]
        names = tuple(object_words(one, asking.dialect) for one in plain.objects)
        owned = [(part_words(one, asking.dialect), int(one["owner"])) for one in plain.parts]
        things = [*((name, None) for name in names), *owned]
        outlines = tuple(Outlined(name, path, owner) for (name, owner), path in zip(things, masks))
        return SceneCard(number, names, self.close, outlines, {"objects": plain.objects, "parts": plain.parts})

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
        forms, nodes = self.spelled(program, dialect)
        files = self.asked_as_file(text, nodes, np.flatnonzero(sure))
        return Reading(forms, tuple(groups), self.scenes, self.answerable(int(sure.sum())), files=files)
