"""Super-CLEVR's exams: the answers to questions about objects, and to questions about parts.

Scores are accuracy, and the probability of the right answer, by which the ideal learners are compared.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Self

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import answers_of, columns_of
from recombine.benchmarks.clevr.exam import VERIFIER as VERIFIER
from recombine.benchmarks.clevr.exam import mark
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.pipeline import Part
from recombine.benchmarks.clevr.program import ProgramTokens, read_program
from recombine.benchmarks.clevr.runner import Runner
from recombine.benchmarks.super_clevr.english import english_of
from recombine.benchmarks.super_clevr.formats import answer_word
from recombine.benchmarks.super_clevr.pipeline import SHARD, SuperClevrPipeline
from recombine.benchmarks.super_clevr.questions import Asking, look_at_parts
from recombine.language.expr import Expr
from recombine.store.key import Key
from recombine.store.store import read_table
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import Scenes
from recombine.world.shards import read_scenes, shard_name

TEST: Part = "test"


def exams(
    study: SuperClevrPipeline, kinds: Sequence[str] = (), part: Part = TEST, programs: bool = False
) -> list[Exam]:
    """One exam for each kind of questions; `programs` shows the program of each."""
    return [_exam(study, kind, part, programs) for kind in kinds or study.kinds]


def _exam(study: SuperClevrPipeline, kind: str, part: Part, programs: bool) -> Exam:
    return Exam(
        kind,
        answer_words(study.asking.dialect),
        cache(partial(training, study, kind, programs)),
        partial(pieces, study, part, kind, programs),
        mark,
        study.key / "bootstrap" / part / kind,
        split=kind,
        title=f"questions about {kind}s",
    )


@lru_cache(maxsize=16)
def answer_words(dialect: Dialect) -> tuple[str, ...]:
    """All answers as questions have them."""
    return tuple(
        answer_word(kind, code, dialect) for kind, words in dialect.answers.items() for code in range(len(words))
    )


def training(study: SuperClevrPipeline, kind: str, programs: bool = False) -> Examples:
    """The training questions of a kind."""
    return examples(study.questions("train", kind), study.scenes("train"), 0, study.asking, programs)


def pieces(study: SuperClevrPipeline, part: Part, kind: str, programs: bool = False) -> Iterator[Examples]:
    """The questions of a part, shard by shard."""
    folder, asked = study.scenes_folder(part), study.questions_folder(part, kind)
    for shard in range(study.shards(part)):
        table = read_table(asked / shard_name("questions", shard))
        scenes = read_scenes(study.world, folder, shard)
        yield examples(table, scenes, shard * SHARD, study.asking, programs)


def examples(table: pa.Table, scenes: Scenes, first: int, asking: Asking, programs: bool = False) -> Examples:
    """Questions as examples: the text is seen, the answer is hidden, the program is seen if `programs` says so."""
    dialect = asking.dialect
    read = [read_program(json.loads(text), dialect) for text in table["program"].to_pylist()]
    concepts = {program: i for i, program in enumerate(dict.fromkeys(read))}
    codes, start = _codes(dialect), columns_of(dialect)
    rows = zip(read, table["answer"].to_pylist())
    target = [start[program.head.out] + codes[program.head.out][word] for program, word in rows]
    return Examples(
        scenes,
        tuple(concepts),
        answer_words(dialect),
        table["image_index"].to_numpy() - first,
        np.array([concepts[program] for program in read], np.int32),
        np.array(target, np.int32),
        np.arange(len(table), dtype=np.int32),
        np.zeros(len(table), bool),
        concept_visible=programs,
        text=np.array(table["question"].to_pylist(), object),
    )


@lru_cache(maxsize=16)
def _codes(dialect: Dialect) -> dict[str, dict[str, int]]:
    """The code of every answer of a type."""
    return {
        kind: {answer_word(kind, code, dialect): code for code in range(len(words))}
        for kind, words in dialect.answers.items()
    }


@dataclass(frozen=True, eq=False)
class Ideal:
    """An ideal learner as a solver: it reads a question without error, and runs its program."""

    asking: Asking

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        asked = np.flatnonzero(~test.given)
        read: Callable[[str], Expr] = english_of(self.asking.world, self.asking.edition).read
        if test.concepts is not None:
            programs = [test.concepts[row] for row in asked]
        else:
            programs = [*map(read, () if test.text is None else test.text[asked])]
        return answers(programs, test.scenes, test.scene[asked], self.asking.dialect)


def answers(programs: Sequence[Expr], scenes: Scenes, scene: np.ndarray, dialect: Dialect) -> np.ndarray:
    """What the learner that runs any program answers, float[questions, answers]; anything where there is no answer."""
    tokens, many = ProgramTokens(dialect), len(answers_of(dialect))
    width = max((program.size for program in programs), default=0) + 2
    rows = np.array([tokens.encode(program, width)[1:] for program in programs], np.int16).reshape(-1, width - 1)
    said = Runner(look_at_parts(scenes, dialect), dialect)(rows, scene)
    found = np.full((len(programs), many), 1 / many)
    known = said < many
    found[known] = 0
    found[known, said[known]] = 1
    return found


def learners(asking: Asking) -> dict[str, Ideal]:
    """The strong and the weak learner: nothing is held out here, so they are alike."""
    return dict.fromkeys(("strong", "weak"), Ideal(asking))
