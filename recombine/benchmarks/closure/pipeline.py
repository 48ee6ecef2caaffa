"""CLOSURE from CLEVR's scenes to its seven tests, their baselines and the gap.

Validation and test questions are about the two halves of CLEVR's validation scenes, training questions about its
training scenes. Every template of a test gives the same number of questions, with its answers in equal parts.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import pyarrow as pa

from recombine.benchmarks.clevr.families import Families
from recombine.benchmarks.clevr.pipeline import (
    CANDIDATE_BYTES,
    CLEVR_SCALES,
    FEWEST,
    QUESTION_BYTES,
    ClevrPipeline,
    ClevrScale,
    shares,
    turns_for,
)
from recombine.benchmarks.clevr.pipeline import Part as ClevrPart
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.questions import Rules
from recombine.benchmarks.closure.families import BASELINES, CLOSURE_FAMILIES
from recombine.benchmarks.closure.learners import Scores, score
from recombine.language.expr import Expr
from recombine.metrics.gap import Gap, gap
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import read_table
from recombine.world.scenes import Scenes

Part = Literal["train", "val", "test"]
PARTS: tuple[Part, ...] = ("train", "val", "test")
Kind = Literal["closure", "baseline"]
VERSION = 1
KINDS: tuple[Kind, ...] = ("closure", "baseline")
MOST_CANDIDATES = 12
"""Candidates per scene that a search brings, at most about."""
RULES = Rules(counts=(1, 3))
"""Counting questions answer 1, 2 or 3; no relation is superfluous."""


@dataclass(frozen=True)
class ClosureScale(ClevrScale):
    """CLEVR's scale, and the training, validation and test questions of each test."""

    closure: tuple[int, int, int] = (36, 72, 72)


_QUESTIONS = {"demo": (36, 72, 72), "laptop": (36, 720, 720), "paper": (36, 3_600, 3_600)}
CLOSURE_SCALES = {
    name: ClosureScale(**asdict(CLEVR_SCALES[name]), closure=questions) for name, questions in _QUESTIONS.items()
}


def closure_scale(name: str) -> ClosureScale:
    """The scale of this name."""
    if name not in CLOSURE_SCALES:
        raise UserError(f"there is no scale '{name}'; choose one of {', '.join(CLOSURE_SCALES)}")
    return CLOSURE_SCALES[name]


class ClosurePipeline:
    """The seven tests on the scenes of a CLEVR study, each of so many training, validation and test questions."""

    def __init__(self, clevr: ClevrPipeline, questions: tuple[int, int, int] = (36, 72, 72)) -> None:
        self.clevr, self.sizes = clevr, questions
        self.key = Key(clevr.seed) / "closure"

    def families(self, test: str, kind: Kind, family: str | None = None) -> Families:
        """The families of a test, or the one of an index."""
        if test not in CLOSURE_FAMILIES:
            raise UserError(f"CLOSURE has no test '{test}'; choose one of {', '.join(CLOSURE_FAMILIES)}")
        found = CLOSURE_FAMILIES[test] if kind == "closure" else BASELINES[test]
        return found if family is None else found.named(family)

    def count(self, part: Part) -> int:
        if part not in PARTS:
            raise UserError(f"there is no part '{part}'; choose one of {', '.join(PARTS)}")
        return self.sizes[PARTS.index(part)]

    def source(self, part: Part) -> tuple[ClevrPart, int, int]:
        """Which of CLEVR's scenes a part asks about: the part of CLEVR, the first scene and the end."""
        if part == "train":
            return "train", 0, self.clevr.count("train")
        scenes = self.clevr.count("val")
        return ("val", 0, scenes // 2) if part == "val" else ("val", scenes // 2, scenes)

    def size_estimate(self, tests: Sequence[str], parts: Sequence[Part] = PARTS) -> int:
        """Bytes that are still to be written, roughly."""
        sources: list[ClevrPart] = [*dict.fromkeys(self.source(part)[0] for part in parts)]
        size, meanwhile = self.clevr.size_estimate(sources, questions=False), 0
        for test, part, kind in product(tests, parts, KINDS):
            if not self.clevr.store.has(self.questions_recipe(test, part, kind)):
                _, low, high = self.source(part)
                size += self.count(part) * QUESTION_BYTES
                meanwhile = max(meanwhile, (high - low) * MOST_CANDIDATES * CANDIDATE_BYTES)
        return size + meanwhile

    def questions_recipe(
        self, test: str, part: Part, kind: Kind, family: str | None = None, questions: int | None = None
    ) -> Recipe:
        number = self.count(part) if questions is None else questions
        parameters = {"test": test, "part": part, "kind": kind, "questions": number, "seed": self.clevr.seed}
        if family is not None or questions is not None:  # exactly so many
            parameters["families"] = [one.index for one in self.families(test, kind, family)]
        inputs = {"scenes": self.clevr.scenes_recipe(self.source(part)[0]).digest}
        return Recipe("closure-questions", VERSION, {**parameters, "rules": RULES}, inputs)

    def questions_file(
        self,
        test: str,
        part: Part,
        kind: Kind = "closure",
        family: str | None = None,
        questions: int | None = None,
    ) -> Path:
        """The questions of a test, or of the CLEVR families nearest to it.

        `family` is the index of one template, and `questions` says how many there are, by default as many as the scale
        says for the whole test.
        """
        recipe = self.questions_recipe(test, part, kind, family, questions)
        families, about = self.families(test, kind, family), self.source(part)
        usual = family is None and questions is None
        wanted = shares(self.count(part) if questions is None else questions, len(families))
        if usual:  # as many of each
            wanted = [min(wanted)] * len(families)
        # A baseline of few families needs several questions about each scene.
        turns = -(-FEWEST // len(families)) if kind == "baseline" else 1
        if not usual:
            turns = max(turns, turns_for(wanted, about[2] - about[1]))
        key, what = self.key / kind / test / part, f"{test} {kind}, {part}"
        return self.clevr.exactly(recipe, families, RULES, about, wanted, turns, key, what, fewer=usual)

    def scenes(self, source: ClevrPart) -> Scenes:
        """All of CLEVR's scenes of a part."""
        return self.clevr.scenes(source)

    def questions(
        self,
        test: str,
        part: Part,
        kind: Kind = "closure",
        family: str | None = None,
        questions: int | None = None,
    ) -> pa.Table:
        found = read_table(self.questions_file(test, part, kind, family, questions))
        if not len(found):
            raise UserError(f"test '{test}' has no questions in its part {part}; take a larger scale, or another seed")
        return found

    def scores(self, test: str, part: Part = "test", kind: Kind = "closure") -> Scores:
        """What both ideal learners make of a test's questions."""
        table = self.questions(test, part, kind)
        programs = programs_of(table)
        return score(
            programs, table["answer"].to_pylist(), self.scenes(self.source(part)[0]), table["image_index"].to_numpy()
        )

    def gaps(self, test: str, part: Part = "test", kind: Kind = "closure") -> Gap:
        """Strong minus weak, by the probability of the right answer."""
        found = self.scores(test, part, kind)
        return gap(test, "accuracy", found.strong, found.weak, len(found.strong), self.key / "bootstrap" / test / kind)


def programs_of(table: pa.Table) -> list[Expr]:
    """The programs of a table of questions."""
    return [read_program(json.loads(text)) for text in table["program"].to_pylist()]
