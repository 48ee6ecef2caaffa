"""CLEVR in the explorer: questions to answer and to ask, scenes to look at."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recombine.benchmarks.clevr.answers import answers_of
from recombine.benchmarks.clevr.english import read
from recombine.benchmarks.clevr.language import CLEVR, Dialect
from recombine.benchmarks.clevr.meaning import UNDEFINED, answer_text, execute
from recombine.benchmarks.clevr.objects import IMAGE
from recombine.benchmarks.clevr.pipeline import PARTS, ClevrPipeline, Part
from recombine.benchmarks.clevr.program import write_program
from recombine.benchmarks.clevr.trace import plain_scene, steps_in_words
from recombine.benchmarks.exploring import Group, Reading, SceneCard, Shot, Solution, TracedExplorer, page_of
from recombine.language.expr import Expr
from recombine.render.schematic import phrases
from recombine.report.table import Table
from recombine.solvers.sitting import Answering
from recombine.store.errors import UserError
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes, join

SPLITS = (("iid", "New questions", "nothing is held out"),)
NO_ANSWER = "no answer"


class ClevrExplorer(TracedExplorer):
    """What people can do with questions about scenes. Scenes are counted through the parts: train, val, test."""

    study: Any
    seen = ("pictures",)
    pixels = IMAGE
    close = 2 * IMAGE[0], 2 * IMAGE[1]
    asked: ClassVar[Part] = "test"
    """The part of CLEVR whose scenes the exams are about."""
    asks = True
    languages: ClassVar[Mapping[str, str]] = {
        "a question": "How many small things are left of the large red cube?",
        "yes or no": "Is there a cyan metal ball behind the green cylinder?",
    }

    @property
    def pipeline(self) -> ClevrPipeline:
        found: ClevrPipeline = self.study.study
        return found

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        return SPLITS

    def tables(self) -> Sequence[Table]:
        return [self.study.list(), self.study.balance()]

    def about(self, split: str) -> str:
        return "Each question is about one scene. Look, and answer."

    # --- scenes by one number

    @property
    def scenes(self) -> int:
        return sum(self.pipeline.count(part) for part in PARTS)

    def first(self, part: Part) -> int:
        """The number of the first scene of a part."""
        return sum(self.pipeline.count(one) for one in PARTS[: PARTS.index(part)])

    def _place(self, number: int) -> tuple[Scenes, int]:
        number = self.numbered(number)
        part = next(one for one in reversed(PARTS) if number >= self.first(one))
        return self.pipeline.scene(part, number - self.first(part))

    def _alone(self, number: int) -> Scenes:
        batch, place = self._place(number)
        return batch[place : place + 1]

    @cached_property
    def _all(self) -> Scenes:
        return join([self.pipeline.scenes(part) for part in PARTS])

    def _shot(self, number: int) -> Shot:
        batch, place = self._place(number)
        return Shot(number, "; ".join(phrases(batch.objects(place))))

    def scene(self, number: int) -> SceneCard:
        alone = self._alone(number)
        parts = self.outlined(alone)
        placed = zip(alone.objects(0), alone.position[0].tolist(), alone.extra["pixel"][0].tolist())
        data = [{**one, "position": position, "pixel": pixel} for one, position, pixel in placed]
        return SceneCard(number, tuple(part.name for part in parts), self.close, parts, data)

    # --- playing

    def shot(self, examples: Examples, row: int) -> Shot:
        return self._shot(self.first(self.asked) + int(examples.scene[row]))

    def choices(self, examples: Examples, row: int) -> tuple[str, ...]:
        """The answers of the kind that the question has."""
        kind = examples.concepts[examples.concept[row]].head.out
        dialect = self.pipeline.dialect
        return tuple(dialect.answers[kind]) if kind in dialect.answers else answers_of(dialect)

    def solution(self, split: str, number: int, others: Mapping[str, Answering] | None = None) -> Solution:
        found = super().solution(split, number, others)
        examples, order = self.rows(split, number)
        return Solution(found.answers, found.said, why=tuple(self._why(examples, int(row)) for row in order))

    def _why(self, examples: Examples, row: int) -> str:
        """The steps of the program in words."""
        program, scene = examples.concepts[examples.concept[row]], int(examples.scene[row])
        steps = [words for _, words in steps_in_words(program, plain_scene(examples.scenes, scene, None))]
        return "\n".join((*steps, *self.mistaken(program)))

    def mistaken(self, program: Expr) -> Sequence[str]:
        """What a learner takes the question for that does not know such programs."""
        return ()

    # --- writing

    def parsed(self, text: str) -> Expr:
        return read(text)

    def read(self, text: str, first: int = 0) -> Reading:
        if not text.strip():
            raise UserError("write a question, such as: how many red cubes are there?")
        program = self.parsed(text)
        answers, kind = execute([program], self._all)[0], program.head.out
        groups = []
        for code in np.unique(answers):
            label = NO_ANSWER if code == UNDEFINED else answer_text(kind, code, self._all.vocabulary)
            places = np.flatnonzero(answers == code)
            groups.append(Group(label, len(places), tuple(map(self._shot, page_of(places, first)))))
        groups.sort(key=lambda group: (group.label == NO_ANSWER, -group.count))
        forms, nodes = self.spelled(program)
        files = self.asked_as_file(text, nodes, np.flatnonzero(answers != UNDEFINED))
        notes = (*self.answerable(self.scenes - int((answers == UNDEFINED).sum())), *self.mistaken(program))
        return Reading(forms, tuple(groups), self.scenes, notes, files=files)

    def answerable(self, defined: int) -> tuple[str, ...]:
        """On how many scenes a question has an answer."""
        said = f"It has an answer on {defined:,} of {self.scenes:,} scenes ({100 * defined / self.scenes:.1f} %)."
        why = "On the others a thing that it speaks of is not there, or is there twice."
        return (said, why) if defined < self.scenes else (said,)

    def spelled(
        self, program: Expr, dialect: Dialect = CLEVR
    ) -> tuple[tuple[tuple[str, str], ...], list[dict[str, Any]]]:
        """A program in functions and as a term, and its nodes as a file has them."""
        nodes = write_program(program, dialect=dialect)
        spoken = " → ".join(
            node["function"] + (f"[{node['value_inputs'][0]}]" if node.get("value_inputs") else "") for node in nodes
        )
        return (("program", spoken), ("as a term", repr(program))), nodes

    def asked_as_file(self, text: str, nodes: list[dict[str, Any]], scenes: np.ndarray) -> tuple[tuple[str, str], ...]:
        """The question about every scene on which it has an answer, as CLEVR writes questions."""
        asked = [{"image_index": int(i), "question": text.strip(), "program": nodes} for i in scenes[:1000]]
        content = json.dumps({"info": {"split": "mine"}, "questions": asked}, indent=1) + "\n"
        return (("questions.json", content),)
