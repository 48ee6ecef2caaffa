"""Questions about vehicles to work with in Python, and what there is to see in one."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.english_words import words_of
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.meaning import TraceStep
from recombine.benchmarks.clevr.objects import Question, QuestionSet
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.question_page import QuestionView, StepView, program_nodes
from recombine.benchmarks.clevr.shapes import Description
from recombine.benchmarks.clevr.trace import steps_in_words, value_in_words
from recombine.benchmarks.super_clevr.meaning import Plainly, parts_of
from recombine.benchmarks.super_clevr.questions import Asking
from recombine.render.scene import Scene
from recombine.report.picture import Picture, picture
from recombine.world.scenes import Scenes

IMAGE = 320, 240
WIDE = 480, 360
"""Of pictures in pages."""


@dataclass(frozen=True, eq=False)
class VehicleQuestion(Question):
    """A question about vehicles, or about their parts."""

    asking: Asking = Asking()

    def view(self, pictures: bool = False) -> QuestionView:
        """What `recombine show` shows: what every step finds, lit in the picture."""
        plain = Plainly.of(self.scene.batch, self.scene.place, self.asking.dialect)
        return QuestionView(
            benchmark=self.benchmark,
            family=f"{self.family} {self.family_index}",
            number=self.number,
            question=self.text,
            answer=self.answer,
            scene=self.scene.number,
            objects=tuple(plain.objects),
            image=WIDE,
            steps=tuple(_step(found, english, plain.dialect) for found, english in steps_in_words(self.program, plain)),
            program=program_nodes(self.program),
            picture=scene_picture(self.asking, self.scene.alone, WIDE) if pictures else None,
            names=tuple(object_words(one, plain.dialect) for one in plain.objects),
            parts=tuple(f"{part_words(one, plain.dialect)} of object {one['owner']}" for one in plain.parts),
        )


def _step(found: TraceStep, english: str, dialect: Dialect) -> StepView:
    gives_things = not dialect.is_answer(found.kind) and found.value is not None
    sort = dialect.names_of[found.kind][1] if gives_things else "objects"
    return StepView(
        found.symbol, english, found.objects if gives_things else None, value_in_words(found, dialect), sort
    )


def object_words(one: Mapping[str, str], dialect: Dialect) -> str:
    """A vehicle in words, with its texture."""
    said = Description(**{name: one[name] for name in dialect.objects.attributes})
    return _textured(one, words_of(dialect.objects).names(said)[0])


def part_words(one: Mapping[str, str], dialect: Dialect) -> str:
    """A part in words, with its texture."""
    said = Description(**{name: one[name] for name in ("color", "material", "partname")})
    return _textured(one, words_of(dialect.sorts[-1]).names(said)[0])


def _textured(one: Mapping[str, str], words: str) -> str:
    texture = one.get("texture", "none")
    return words if texture == "none" else f"{texture} {words}"


def scene_picture(asking: Asking, scenes: Scenes, size: tuple[int, int]) -> Picture:
    """A scene with the masks of its objects and then of its recorded parts."""
    title = "; ".join(object_words(one, asking.dialect) for one in scenes.objects(0))
    return picture(title, asking.world.stage.fine(scenes, *size)[0], *masks_of(asking, scenes, size))


def masks_of(asking: Asking, scenes: Scenes, size: tuple[int, int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Where the objects of a scene and its recorded parts are seen, bool[height, width] each."""
    stage = asking.world.stage
    seen = stage.draw(scenes, *size, ("objects", "parts"))
    assert seen.objects is not None and seen.parts is not None
    objects = [seen.objects[0] == number for number in range(int(scenes.count[0]))]
    masks, parts = [], parts_of(scenes)
    for number in range(int(parts.count[0])):
        owner, name = int(parts.owner[0, number]), int(parts.codes["partname"][0, number])
        place = int(stage.fleet.part_places[scenes.codes["shape"][0, owner], name])
        masks.append(objects[owner] & (seen.parts[0] == place))
    return objects, masks


class VehicleQuestionSet(QuestionSet):
    """Questions about vehicles; `table` has them as columns."""

    def __init__(
        self, table: pa.Table, scene: Callable[[int], tuple[Scenes, int]], asking: Asking, called: str
    ) -> None:
        super().__init__(table, scene, "Super-CLEVR", called)
        self.asking = asking

    def item(self, number: int) -> VehicleQuestion:
        row = self.table.slice(number, 1).to_pylist()[0]
        batch, place = self.scene(row["image_index"])
        return VehicleQuestion(
            self.benchmark,
            number,
            row["question"],
            row["answer"],
            read_program(json.loads(row["program"]), self.asking.dialect),
            row["family"],
            row["question_family_index"],
            Scene(batch, place, row["image_index"], IMAGE, draw=self.asking.world.stage.draw),
            asking=self.asking,
        )
