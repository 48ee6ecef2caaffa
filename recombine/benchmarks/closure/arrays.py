"""CLEVR's and CLOSURE's questions as arrays for networks, made once from the stored questions of a study.

The words are those of CLEVR's training questions: a network knows no others.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.pipeline import Part as ClevrPart
from recombine.benchmarks.clevr.program import TOKENS, read_program
from recombine.benchmarks.clevr.runner import ANSWER_KINDS, Runner, clevr_functions
from recombine.benchmarks.closure.pipeline import ClosurePipeline, Kind, Part
from recombine.solvers.programs import NULL, lay_out, well_formed
from recombine.solvers.questions import Questions, Vocabulary, joined
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.store import read_table
from recombine.world.scenes import Scenes

VERSION = 1
COLUMNS = ("question", "answer", "program", "image_index", "question_family_index")


class Data:
    """The questions, words and scenes of a study."""

    def __init__(self, study: ClosurePipeline) -> None:
        self.study = study
        self._runners: dict[str, Runner] = {}
        self._vocabulary: Vocabulary | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.load(self.words_folder())
        return self._vocabulary

    def words_recipe(self) -> Recipe:
        return Recipe("clevr-words", VERSION, {}, {"questions": self.study.clevr.questions_recipe("train").digest})

    def words_folder(self) -> Path:
        def make(draft: Path) -> None:
            table = read_table(self.study.clevr.questions_folder("train"), ("question",))
            Vocabulary.of(table["question"].to_pylist()).save(draft)

        return self.study.clevr.store.get(self.words_recipe(), make)

    def clevr(self, part: ClevrPart) -> Questions:
        """CLEVR's questions of a part."""
        recipe = self.recipe(self.study.clevr.questions_recipe(part))
        return self._open(recipe, lambda: read_table(self.study.clevr.questions_folder(part), COLUMNS))

    def test(self, test: str, part: Part, kind: Kind = "closure") -> Questions:
        """The questions of a CLOSURE test, or of the CLEVR families nearest to it."""
        recipe = self.recipe(self.study.questions_recipe(test, part, kind))
        return self._open(recipe, lambda: self.study.questions(test, part, kind).select(COLUMNS))

    def recipe(self, questions: Recipe) -> Recipe:
        inputs = {"questions": questions.digest, "words": self.words_recipe().digest}
        return Recipe("clevr-arrays", VERSION, {}, inputs)

    def _open(self, recipe: Recipe, read: Any) -> Questions:
        def make(draft: Path) -> None:
            questions_of(read(), self.vocabulary).save(draft)

        return Questions.open(self.study.clevr.store.get(recipe, make))

    def few_shot(self, tests: Sequence[str]) -> Questions:
        """The training questions of all these tests, one after the other."""
        return joined([self.test(test, "train") for test in tests])

    def scenes(self, source: ClevrPart) -> Scenes:
        return self.study.scenes(source)

    def runner(self, source: ClevrPart) -> Runner:
        """What runs programs on the scenes of a part of CLEVR."""
        if source not in self._runners:
            self._runners[source] = Runner.of(self.scenes(source))
        return self._runners[source]


def questions_of(table: pa.Table, vocabulary: Vocabulary) -> Questions:
    """A table of questions as arrays."""
    word, length = vocabulary.rows(table["question"].to_pylist())
    programs = table["program"].to_pylist()
    token = tokens_of([json.loads(text) for text in programs])
    layout = lay_out(token, clevr_functions())
    wrong = np.flatnonzero(~well_formed(layout, clevr_functions(), ANSWER_KINDS))
    if len(wrong):
        _explain(json.loads(programs[wrong[0]]), int(wrong[0]))
    return Questions(
        word,
        length,
        layout.token,
        layout.left,
        layout.right,
        layout.height,
        _answers(table["answer"].to_pylist()),
        table["image_index"].to_numpy().astype(np.int32),
        table["question_family_index"].to_numpy().astype(np.int16),
    )


def tokens_of(programs: Sequence[list[dict[str, Any]]]) -> np.ndarray:
    """Lists of nodes as tokens in prefix order, uint8[n, longest]; what is unknown becomes <UNK>."""
    rows = [_prefix(nodes) for nodes in programs]
    found = np.full((len(rows), max(map(len, rows), default=1)), NULL, np.uint8)
    for row, tokens in zip(found, rows):
        row[: len(tokens)] = tokens
    return found


def _prefix(nodes: list[dict[str, Any]]) -> list[int]:
    tokens: list[int] = []
    waiting = [len(nodes) - 1]
    while waiting and len(tokens) <= len(nodes) ** 2:
        node = nodes[waiting.pop()]
        tokens.append(_number(node["function"], *node["value_inputs"]))
        waiting.extend(reversed(node["inputs"]))
    return tokens


@cache
def _number(function: str, *values: str) -> int:
    return TOKENS.numbers.get(f"{function}[{','.join(values)}]" if values else function, TOKENS.words.index("<UNK>"))


def _answers(words: Sequence[str]) -> np.ndarray:
    numbers = {word: number for number, word in enumerate(ANSWERS)}
    unknown = sorted(set(words) - numbers.keys())
    if unknown:
        raise UserError(f"CLEVR has no answer '{unknown[0]}'; use one of {', '.join(ANSWERS)}")
    return np.array([numbers[word] for word in words], np.uint8)


def _explain(nodes: list[dict[str, Any]], row: int) -> None:
    """Say what is wrong with a program."""
    try:
        read_program(nodes)
    except UserError as error:
        raise UserError(f"the program of question {row}: {error}") from None
    raise UserError(f"the program of question {row} cannot be run; write it as CLEVR's files do")
