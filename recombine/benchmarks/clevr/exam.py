"""CLEVR's exam: the answers to questions about scenes, each question as its program.

Scores are accuracy, and the probability of the right answer, by which the ideal learners are compared. Answers that a
solver holds equally probable share its vote.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Self

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import ANSWERS, strong_answers
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.study import SHARD, ClevrStudy, Part
from recombine.metrics.votes import right
from recombine.store.key import Key
from recombine.store.store import read_table
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import Scenes, join
from recombine.world.shards import read_scenes, shard_name

TEST: Part = "test"


def exams(study: ClevrStudy, part: Part = TEST) -> list[Exam]:
    """The one exam: new questions about new scenes."""
    key = study.key / "bootstrap" / part
    return [Exam("iid", ANSWERS, cache(partial(training, study)), partial(pieces, study, part), mark, key)]


def training(study: ClevrStudy) -> Examples:
    """CLEVR's training questions."""
    folder = study.scenes_folder("train")
    scenes = join([read_scenes(study.world, folder, shard) for shard in range(study.shards("train"))])
    return questions(read_table(study.questions_folder("train")), scenes)


def pieces(study: ClevrStudy, part: Part) -> Iterator[Examples]:
    """The questions of a part, shard by shard."""
    folder, asked = study.scenes_folder(part), study.questions_folder(part)
    for shard in range(study.shards(part)):
        table = read_table(asked / shard_name("questions", shard))
        yield questions(table, read_scenes(study.world, folder, shard), shard * SHARD)


def questions(table: pa.Table, scenes: Scenes, first: int = 0) -> Examples:
    """Questions as examples: the program is seen, the answer is hidden; `first` is the number of the first scene."""
    programs = [read_program(json.loads(text)) for text in table["program"].to_pylist()]
    concepts = {program: i for i, program in enumerate(dict.fromkeys(programs))}
    column = {word: i for i, word in enumerate(ANSWERS)}
    return Examples(
        scenes,
        tuple(concepts),
        ANSWERS,
        table["image_index"].to_numpy() - first,
        np.array([concepts[program] for program in programs], np.int32),
        np.array([column[word] for word in table["answer"].to_pylist()], np.int32),
        np.arange(len(table), dtype=np.int32),
        np.zeros(len(table), bool),
        concept_visible=True,
    )


def mark(asked: Examples, said: np.ndarray) -> Marks:
    return right(asked.asked, said)


@dataclass(frozen=True, eq=False)
class Ideal:
    """An ideal learner as a solver: it runs the program that it takes a question for."""

    answers: Callable[..., np.ndarray]

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        asked = np.flatnonzero(~test.given)
        programs = [] if test.concepts is None else [test.concepts[row] for row in asked]
        return self.answers(programs, test.scenes, test.scene[asked])


def learners() -> dict[str, Ideal]:
    """The strong and the weak learner: CLEVR holds nothing out, so they are alike."""
    return dict.fromkeys(("strong", "weak"), Ideal(strong_answers))
