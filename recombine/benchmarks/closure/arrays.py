"""CLEVR's and CLOSURE's questions as arrays for networks, made once from the stored questions of a study.

The words are those of CLEVR's training questions: a network knows no others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.arrays import COLUMNS, held_out, questions_of
from recombine.benchmarks.clevr.pipeline import Part as ClevrPart
from recombine.benchmarks.clevr.runner import Runner
from recombine.benchmarks.closure.pipeline import ClosurePipeline, Kind, Part
from recombine.solvers.questions import Questions, Vocabulary, joined
from recombine.store.arrays import read_array, write_array
from recombine.store.recipe import Recipe
from recombine.store.store import read_table
from recombine.tasks.made_splits import MadeSplit
from recombine.world.scenes import Scenes

VERSION = 1


class Data:
    """The questions, words and scenes of a study."""

    def __init__(self, study: ClosurePipeline) -> None:
        self.study = study
        self._runners: dict[str, Runner] = {}
        self._vocabulary: Vocabulary | None = None
        self.made: dict[str, MadeSplit] = {}
        """Splits that were read from files, by their names."""

    @property
    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.load(self.words_folder())
        return self._vocabulary

    def words_recipe(self) -> Recipe:
        return Recipe("clevr-words", VERSION, {}, {"questions": self.study.clevr.questions_recipe("train").digest})

    def words_folder(self) -> Path:
        def make(draft: Path) -> None:
            table = read_table(self.study.clevr.questions_folder("train"), ("question",))
            Vocabulary.of(table["question"].to_pylist()).save(draft)

        return self.study.clevr.store.get(self.words_recipe(), make)

    def clevr(self, part: ClevrPart) -> Questions:
        """CLEVR's questions of a part."""
        recipe = self.recipe(self.study.clevr.questions_recipe(part))
        return self._open(recipe, lambda: read_table(self.study.clevr.questions_folder(part), COLUMNS))

    def held_out(self, split: str, part: ClevrPart) -> np.ndarray:
        """Which of CLEVR's questions of a part a split that was made holds out, bool[n]."""
        inputs = {"questions": self.study.clevr.questions_recipe(part).digest}
        recipe = Recipe("clevr-held-out", VERSION, {"pairs": self.made[split].pairs}, inputs)

        def make(draft: Path) -> None:
            table = read_table(self.study.clevr.questions_folder(part), ("program",))
            write_array(draft / "held.npy", held_out(table, self.made[split], trained=part == "train"))

        return read_array(self.study.clevr.store.get(recipe, make) / "held.npy")

    def test(self, test: str, part: Part, kind: Kind = "closure") -> Questions:
        """The questions of a CLOSURE test, or of the CLEVR families nearest to it."""
        recipe = self.recipe(self.study.questions_recipe(test, part, kind))
        return self._open(recipe, lambda: self.study.questions(test, part, kind).select(COLUMNS))

    def recipe(self, questions: Recipe) -> Recipe:
        inputs = {"questions": questions.digest, "words": self.words_recipe().digest}
        return Recipe("clevr-arrays", VERSION, {}, inputs)

    def _open(self, recipe: Recipe, read: Any) -> Questions:
        def make(draft: Path) -> None:
            questions_of(read(), self.vocabulary).save(draft)

        return Questions.open(self.study.clevr.store.get(recipe, make))

    def few_shot(self, tests: Sequence[str]) -> Questions:
        """The training questions of all these tests, one after the other."""
        return joined([self.test(test, "train") for test in tests])

    def scenes(self, source: ClevrPart) -> Scenes:
        return self.study.scenes(source)

    def runner(self, source: ClevrPart) -> Runner:
        """What runs programs on the scenes of a part of CLEVR."""
        if source not in self._runners:
            self._runners[source] = Runner.of(self.scenes(source))
        return self._runners[source]
