"""Questions to work with in Python.

for question in clevr.questions("one_hop"):
    question.text, question.answer, question.program, question.scene.image()
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.question_page import QuestionView, question_view
from recombine.language.expr import Expr
from recombine.render.scene import Scene
from recombine.store.errors import none_such
from recombine.tasks.collection import Collection
from recombine.world.scenes import ABSENT, Scenes

IMAGE = 320, 240
Weak = Callable[[Expr, Scenes, int], tuple[tuple[str, float], ...]]
TakenFor = Callable[[Expr], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Question:
    """A question about a scene."""

    benchmark: str
    number: int
    text: str
    answer: str
    program: Expr
    family: str
    family_index: int
    scene: Scene
    weak: Weak | None = None
    taken_for: TakenFor | None = None

    def arrays(self) -> dict[str, Any]:
        """Text and answer; codes of attributes, uint8[objects, attributes], 255 where there is no object; places."""
        import numpy as np

        batch, place = self.scene.batch, self.scene.place
        codes = np.stack([batch.codes[a.name][place] for a in batch.vocabulary], axis=-1)
        there = codes[:, :1] != ABSENT
        return {"question": self.text, "answer": self.answer, "objects": codes, "places": batch.position[place] * there}

    def view(self, pictures: bool = False) -> QuestionView:
        """What `recombine show` shows."""
        batch, place = self.scene.batch, self.scene.place
        return question_view(
            self.program,
            self.text,
            self.answer,
            batch,
            place,
            f"{self.family} {self.family_index}",
            self.number,
            benchmark=self.benchmark,
            scene_number=self.scene.number,
            weak=self.weak(self.program, batch, place) if self.weak else None,
            strong=self.answer if self.weak else None,
            pictured=pictures,
            taken_for=self.taken_for(self.program) if self.taken_for else (),
        )

    def __repr__(self) -> str:
        return f"Question({self.text!r} -> {self.answer!r})"

    def _repr_html_(self) -> str:
        return self.view(pictures=True).html()


class QuestionSet(Collection[Question]):
    """Questions about scenes; `table` has them as columns."""

    def __init__(
        self,
        table: pa.Table,
        scene: Callable[[int], tuple[Scenes, int]],
        benchmark: str,
        called: str,
        weak: Weak | None = None,
        taken_for: TakenFor | None = None,
    ) -> None:
        self.table, self.scene, self.benchmark, self.called = table, scene, benchmark, called
        self.weak, self.taken_for = weak, taken_for

    def __len__(self) -> int:
        return len(self.table)

    def item(self, number: int) -> Question:
        row = self.table.slice(number, 1).to_pylist()[0]
        batch, place = self.scene(row["image_index"])
        return Question(
            self.benchmark,
            number,
            row["question"],
            row["answer"],
            read_program(json.loads(row["program"]), batch.vocabulary),
            row["family"],
            row["question_family_index"],
            Scene(batch, place, row["image_index"], IMAGE),
            self.weak,
            self.taken_for,
        )

    def numbered(self, number: int) -> Question:
        """The question of this number, or a sentence about how many there are."""
        if not 0 <= number < len(self):
            raise none_such("question", number, len(self), f" of {self.called}")
        return self.item(number)

    def __repr__(self) -> str:
        return f"QuestionSet({self.benchmark} {self.called}, {len(self):,} questions)"
