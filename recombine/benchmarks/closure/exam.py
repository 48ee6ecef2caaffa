"""CLOSURE's exams: for each test, its own questions, and those of the CLEVR families nearest to it.

One trains on CLEVR. The names are test/closure and test/baseline.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import cast

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.exam import VERIFIER as VERIFIER
from recombine.benchmarks.clevr.exam import Ideal, mark, questions, training
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES, ENGLISH
from recombine.benchmarks.closure.learners import GUESSES, strong_answers, weak_answers
from recombine.benchmarks.closure.pipeline import ClosurePipeline, Kind, Part
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples

KINDS: tuple[Kind, ...] = ("closure", "baseline")
TEST: Part = "test"
LEARNERS = {"strong": strong_answers, "weak": weak_answers}


def exams(study: ClosurePipeline, tests: Sequence[str] = (), part: Part = TEST, programs: bool = False) -> list[Exam]:
    """Two exams for each of these tests, by default for all seven; `programs` shows the program of each question."""
    for test in tests:
        study.families(test, "closure")
    train = cache(partial(training, study.clevr, programs))
    return [_exam(study, test, kind, part, programs, train) for test in tests or CLOSURE_FAMILIES for kind in KINDS]


def _exam(
    study: ClosurePipeline, test: str, kind: Kind, part: Part, programs: bool, train: Callable[[], Examples]
) -> Exam:
    return Exam(
        f"{test}/{kind}" if part == TEST else f"{test}/{kind}/{part}",
        ANSWERS,
        train,
        partial(_pieces, study, test, kind, part, programs),
        mark,
        study.key / "bootstrap" / test / kind,
        split=test,
        title=test,
        control=kind == "baseline",
    )


def part_of(exam: Exam) -> Part:
    """The part whose questions an exam asks."""
    return cast(Part, exam.name.split("/")[2]) if exam.name.count("/") == 2 else TEST


def _pieces(study: ClosurePipeline, test: str, kind: Kind, part: Part, programs: bool) -> Iterator[Examples]:
    yield questions(study.questions(test, part, kind), study.scenes(study.source(part)[0]), 0, programs)


def learners() -> dict[str, Ideal]:
    """The strong and the weak learner of every exam."""
    return {name: Ideal(partial(who, guesses=GUESSES), ENGLISH.read) for name, who in LEARNERS.items()}
