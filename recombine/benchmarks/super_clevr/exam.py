"""Super-CLEVR's exams: the answers to questions about objects, and to questions about parts.

Scores are accuracy, and the probability of the right answer, by which the ideal learners are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import chain

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import answers_of
from recombine.benchmarks.clevr.exam import VERIFIER as VERIFIER
from recombine.benchmarks.clevr.exam import Ideal, mark, questions
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.runner import Runner, token_rows
from recombine.benchmarks.clevr.shards import Part
from recombine.benchmarks.super_clevr.english import english_of
from recombine.benchmarks.super_clevr.formats import answer_word
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline
from recombine.benchmarks.super_clevr.questions import Asking, look_at_parts
from recombine.language.expr import Expr
from recombine.store.store import read_table
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples
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


def family_exam(study: SuperClevrPipeline, plain: Exam, family: str, many: int, part: Part) -> Exam:
    """So many questions of one family about a part; `plain` is the exam of their kind, whose training stays."""

    def pieces() -> Iterator[Examples]:
        table = read_table(study.family_file(family, many, part))
        yield examples(table, study.scenes(part), 0, study.asking)

    return replace(plain, pieces=pieces, key=plain.key / "family" / family, title=f"family {family}")


def training(study: SuperClevrPipeline, kind: str, programs: bool = False) -> Examples:
    """The training questions of a kind."""
    return examples(study.questions("train", kind), study.scenes("train"), 0, study.asking, programs)


def pieces(study: SuperClevrPipeline, part: Part, kind: str, programs: bool = False) -> Iterator[Examples]:
    """The questions of a part, shard by shard."""
    folder, asked = study.scenes_folder(part), study.questions_folder(part, kind)
    for shard in range(study.shards(part)):
        table = read_table(asked / shard_name("questions", shard))
        scenes = read_scenes(study.world, folder, shard)
        yield examples(table, scenes, shard * study.shard, study.asking, programs)


def examples(table: pa.Table, scenes: Scenes, first: int, asking: Asking, programs: bool = False) -> Examples:
    """Questions as examples: the text is seen, the answer is hidden, the program is seen if `programs` says so."""
    return questions(table, scenes, first, programs, asking.dialect, _words(asking.dialect))


@lru_cache(maxsize=16)
def _words(dialect: Dialect) -> dict[str, tuple[str, ...]]:
    """The answers of every type as questions have them."""
    return {
        kind: tuple(answer_word(kind, code, dialect) for code in range(len(words)))
        for kind, words in dialect.answers.items()
    }


def answer_words(dialect: Dialect) -> tuple[str, ...]:
    """All answers as questions have them."""
    return tuple(chain.from_iterable(_words(dialect).values()))


def answers(programs: Sequence[Expr], scenes: Scenes, scene: np.ndarray, dialect: Dialect) -> np.ndarray:
    """What the learner that runs any program answers, float[questions, answers]; anything where there is no answer."""
    many = len(answers_of(dialect))
    said = Runner(look_at_parts(scenes, dialect), dialect)(token_rows(programs, dialect), scene)
    found = np.full((len(programs), many), 1 / many)
    known = said < many
    found[known] = 0
    found[known, said[known]] = 1
    return found


def read_in(asking: Asking, text: str) -> Expr:
    """The program of a question in the words of an edition."""
    return english_of(asking.world, asking.edition).read(text)


def learners(asking: Asking) -> dict[str, Ideal]:
    """The strong and the weak learner: nothing is held out here, so they are alike."""
    one = Ideal(partial(answers, dialect=asking.dialect), partial(read_in, asking))
    return dict.fromkeys(("strong", "weak"), one)
