"""Does a released file agree with itself? Relations follow from places, and answers from programs."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.formats import QuestionRecord, SceneFile, read_questions, read_scenes, together
from recombine.benchmarks.clevr.language import CLEVR, DIRECTIONS, Dialect, Speech, dialect_of
from recombine.benchmarks.clevr.meaning import Plainly, Undefined, answer_text
from recombine.benchmarks.clevr.relations import all_beyond, listed, members
from recombine.language.expr import Expr
from recombine.semantics.fold import fold
from recombine.store.errors import UserError

Reader = Callable[[str], Expr]
"""From a question in English to its program."""


@dataclass(frozen=True)
class RelationsRow:
    """The relations of a scene file, compared with those that follow from its places."""

    scenes: int
    with_relations: int
    agree: int
    differ: int
    first_difference: str = ""


@dataclass(frozen=True)
class FamilyRow:
    """The questions of one family, their answers compared with those that their programs give."""

    family: str
    questions: int
    with_program: int
    agree: int
    differ: int
    unread: int  # no program in the file, and none could be read from the question
    no_answer: int  # the file hides the answer
    no_scene: int  # about an image that is not among the scenes
    first_missing: str = ""  # the first of these
    first_difference: str = ""


@dataclass(frozen=True)
class Check:
    relations: RelationsRow
    families: tuple[FamilyRow, ...]

    @property
    def fine(self) -> bool:
        """Whether everything was compared and agrees."""
        return not self.relations.differ and all(row.agree == row.questions for row in self.families)


def check(
    scenes_files: Sequence[Path | str] | Path | str,
    questions_file: Path | str,
    read: Reader | None = None,
    speech: Speech = CLEVR,
) -> Check:
    """Compare a file of questions with its file or files of scenes; `read` serves questions without a program."""
    files = [scenes_files] if isinstance(scenes_files, Path | str) else scenes_files
    dialect = dialect_of(speech)
    scenes = together([read_scenes(file, dialect.objects.vocabulary) for file in files])
    questions = read_questions(questions_file, dialect)
    if not questions:
        raise UserError(f"{questions_file} holds no questions")
    return Check(check_relations(scenes), check_questions(scenes, questions, read, dialect))


def check_relations(file: SceneFile) -> RelationsRow:
    """Compare the relations of a file with those that follow from its places."""
    computed = all_beyond(file.scenes)
    wrong = np.zeros(len(file), bool)
    for way in DIRECTIONS:
        wrong |= file.has_relations & (file.related[way] != computed[way]).any(axis=1)
    said = int(np.count_nonzero(file.has_relations))
    first = _first_relation(file, int(wrong.argmax()), computed) if wrong.any() else ""
    return RelationsRow(len(file), said, said - int(wrong.sum()), int(wrong.sum()), first)


def _first_relation(file: SceneFile, scene: int, computed: dict[str, np.ndarray]) -> str:
    for way in DIRECTIONS:
        for i, (said, found) in enumerate(zip(file.related[way][scene], computed[way][scene])):
            if said != found:
                return f"scene {scene}: {way} of object {i} the file has {members(said)}, its places {members(found)}"
    raise AssertionError("a scene that differs differs somewhere")


def check_questions(
    file: SceneFile,
    questions: Iterable[QuestionRecord],
    read: Reader | None = None,
    dialect: Dialect | None = None,
    meaning: type[Plainly] = Plainly,
    word: Callable[[str, Any], str] = answer_text,
) -> tuple[FamilyRow, ...]:
    """Answer every question by its program and compare, family by family; `word` says an answer as files do."""
    images = _Images(file, dialect or dialect_of(file.scenes.vocabulary), meaning, word)
    verdicts: dict[str, list[_Verdict]] = {}
    for number, question in enumerate(questions):
        verdicts.setdefault(_family(question), []).append(_judge(number, question, images, read))
    return tuple(_row(family, verdicts[family]) for family in sorted(verdicts, key=_family_order))


class _Images:
    """The scenes of a file, each by the name of its image where all have one, else by its number."""

    def __init__(
        self, file: SceneFile, dialect: Dialect, meaning: type[Plainly], word: Callable[[str, Any], str]
    ) -> None:
        self.scenes, self.beyond, self.dialect = file.scenes, all_beyond(file.scenes), dialect
        self.meaning, self.word = meaning, word
        self.named = all(file.image_filename)
        self.by_name = {name: row for row, name in enumerate(file.image_filename)}
        self.by_number = {int(number): row for row, number in enumerate(file.image_index)}
        self.plain = cache(self._plain)

    def row(self, question: QuestionRecord) -> int | None:
        """Numbers start anew in every split, so a name is better."""
        if self.named and question.image_filename is not None:
            return self.by_name.get(question.image_filename)
        return None if question.image_index is None else self.by_number.get(question.image_index)

    def _plain(self, row: int) -> Plainly:
        count = int(self.scenes.count[row])
        related = {way: listed(self.beyond[way][row], count) for way in DIRECTIONS}
        return self.meaning(self.scenes.objects(row), related, self.dialect)


OUTCOMES = ("agree", "differ", "unread", "no_answer", "no_scene")


@dataclass(frozen=True)
class _Verdict:
    outcome: str
    has_program: bool
    difference: str = ""


def _judge(number: int, question: QuestionRecord, images: _Images, read: Reader | None) -> _Verdict:
    has_program, row = question.program is not None, images.row(question)
    if row is None:
        image = question.image_filename or f"image {question.image_index}"
        return _Verdict("no_scene", has_program, f"question {number} is about {image}, which is not among the scenes")
    if question.answer is None:
        return _Verdict("no_answer", has_program)
    try:
        program = question.program or _read(question.question, read)
    except UserError as error:
        return _Verdict("unread", has_program, str(error))
    found = _answer(program, images.plain(row), images.word)
    if found == question.answer:
        return _Verdict("agree", has_program)
    text = shorten(question.question, 200)
    said = f"{text} (scene {row} of the file): the file says {shorten(question.answer, 40)}, the program {found}"
    return _Verdict("differ", has_program, said)


def _read(question: str, read: Reader | None) -> Expr:
    if read is None:
        raise UserError(f"{question}: it has no program")
    return read(question)


def _answer(program: Expr, plain: Plainly, word: Callable[[str, Any], str]) -> str:
    try:
        return word(program.head.out, fold(program, plain, {}))
    except Undefined:
        return "undefined"


def _row(family: str, verdicts: list[_Verdict]) -> FamilyRow:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    return FamilyRow(
        family,
        questions=len(verdicts),
        with_program=sum(verdict.has_program for verdict in verdicts),
        first_difference=_first(verdicts, "differ", "unread"),
        first_missing=_first(verdicts, "no_scene"),
        **{outcome: outcomes[outcome] for outcome in OUTCOMES},
    )


def _first(verdicts: list[_Verdict], *outcomes: str) -> str:
    return next((verdict.difference for verdict in verdicts if verdict.outcome in outcomes), "")


def _family(question: QuestionRecord) -> str:
    """CLOSURE names its families; CLEVR numbers them."""
    named = question.extra.get("family", question.family)
    return "" if named is None else str(named)


def _family_order(family: str) -> tuple[int, str]:
    return (int(family), "") if family.isdecimal() else (-1, family)
