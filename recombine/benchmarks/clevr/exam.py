"""CLEVR's exam: the answers to questions about scenes, each question as its text, and as its program if it is shown.

Scores are accuracy, and the probability of the right answer, by which the ideal learners are compared. Answers that a
solver holds equally probable share its vote.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Self

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import answers_of, columns_of, strong_answers
from recombine.benchmarks.clevr.english import English
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, clevr_families
from recombine.benchmarks.clevr.language import CLEVR, SYNONYMS, Dialect
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, Part
from recombine.benchmarks.clevr.program import read_program
from recombine.language.expr import Expr
from recombine.metrics.votes import right
from recombine.store.key import Key
from recombine.store.store import read_table
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples, Observed
from recombine.tasks.verifier import Verifier
from recombine.world.scenes import Scenes
from recombine.world.shards import read_scenes, shard_name

TEST: Part = "test"


def verifier(words: Mapping[str, Sequence[str]]) -> Verifier:
    """Reads the words for each value as that value."""
    spelled = {word: value for value, said in words.items() for word in said}
    return Verifier({"grey": "gray", **spelled}, kinds=tuple(CLEVR.answers.values()))


VERIFIER = verifier(SYNONYMS)


def exams(study: ClevrPipeline, part: Part = TEST, programs: bool = False) -> list[Exam]:
    """The one exam: new questions about new scenes; `programs` shows the program of each."""
    key, answers = study.key / "bootstrap" / part, answers_of(study.dialect)
    train = cache(partial(training, study, programs))
    return [Exam("iid", answers, train, partial(pieces, study, part, programs), mark, key)]


def family_exam(study: ClevrPipeline, family: str, many: int, part: Part) -> Exam:
    """So many questions of one family about a part; training stays as it is."""
    (plain,) = exams(study, part)

    def pieces() -> Iterator[Examples]:
        table = read_table(study.family_file(family, many, part))
        yield questions(table, study.scenes(part), 0, False, study.dialect)

    return replace(plain, name=family, pieces=pieces, key=plain.key / "family" / family, title=f"family {family}")


def training(study: ClevrPipeline, programs: bool = False) -> Examples:
    """CLEVR's training questions."""
    return questions(read_table(study.questions_folder("train")), study.scenes("train"), 0, programs, study.dialect)


def pieces(study: ClevrPipeline, part: Part, programs: bool = False) -> Iterator[Examples]:
    """The questions of a part, shard by shard."""
    folder, asked = study.scenes_folder(part), study.questions_folder(part)
    for shard in range(study.shards(part)):
        table = read_table(asked / shard_name("questions", shard))
        scenes = read_scenes(study.world, folder, shard)
        yield questions(table, scenes, shard * study.shard, programs, study.dialect)


def questions(
    table: pa.Table,
    scenes: Scenes,
    first: int = 0,
    programs: bool = False,
    dialect: Dialect = CLEVR,
    words: Mapping[str, Sequence[str]] | None = None,
) -> Examples:
    """Questions as examples: the text is seen, the answer is hidden, the program is seen if `programs` says so.

    `first` is the number of the first scene; `words` are the answers of every type as the table says them, by default
    as the dialect does.
    """
    read = [read_program(json.loads(text), dialect) for text in table["program"].to_pylist()]
    concepts = {program: i for i, program in enumerate(dict.fromkeys(read))}
    said, start, rows = words or dialect.answers, columns_of(dialect), zip(read, table["answer"].to_pylist())
    target = [start[program.head.out] + said[program.head.out].index(word) for program, word in rows]
    return Examples(
        scenes,
        tuple(concepts),
        tuple(chain.from_iterable(said.values())),
        table["image_index"].to_numpy() - first,
        np.array([concepts[program] for program in read], np.int32),
        np.array(target, np.int32),
        np.arange(len(table), dtype=np.int32),
        np.zeros(len(table), bool),
        concept_visible=programs,
        text=np.array(table["question"].to_pylist(), object),
    )


def mark(asked: Examples, said: np.ndarray) -> Marks:
    return right(asked.asked, said)


@dataclass(frozen=True, eq=False)
class Ideal:
    """An ideal learner as a solver: it reads a question without error, and runs the program that it takes it for."""

    answers: Callable[..., np.ndarray]
    read: Callable[[str], Expr] = English(CLEVR_FAMILIES).read

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        asked = np.flatnonzero(~test.given)
        return self.answers(programs_of(test, asked, self.read), test.scenes, test.scene[asked])


def programs_of(test: Observed, rows: np.ndarray, read: Callable[[str], Expr]) -> list[Expr]:
    """The programs of some questions: as they are shown, or as their texts are read."""
    if test.concepts is not None:
        return [test.concepts[row] for row in rows]
    return [*map(read, () if test.text is None else test.text[rows])]


def learners(dialect: Dialect = CLEVR) -> dict[str, Ideal]:
    """The strong and the weak learner: CLEVR holds nothing out, so they are alike."""
    one = Ideal(partial(strong_answers, dialect=dialect), English(clevr_families(dialect)).read)
    return dict.fromkeys(("strong", "weak"), one)
