"""Questions as arrays for networks: the words, programs and answers of a table of questions, in any dialect."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.language import CLEVR, Dialect
from recombine.benchmarks.clevr.program import ProgramTokens, read_program
from recombine.benchmarks.clevr.runner import functions_of
from recombine.solvers.programs import NULL, UNK, lay_out, well_formed
from recombine.solvers.questions import Questions, Vocabulary
from recombine.store.errors import UserError
from recombine.tasks.made_splits import MadeSplit, atoms_of, need_atoms

COLUMNS = ("question", "answer", "program", "image_index", "question_family_index")


def questions_of(
    table: pa.Table, vocabulary: Vocabulary, dialect: Dialect = CLEVR, answers: Sequence[str] = ANSWERS
) -> Questions:
    """A table of questions as arrays; the answers are numbered in this order."""
    word, length = vocabulary.rows(table["question"].to_pylist())
    programs, functions = table["program"].to_pylist(), functions_of(dialect)
    layout = lay_out(tokens_of([json.loads(text) for text in programs], dialect), functions)
    wrong = np.flatnonzero(~well_formed(layout, functions, tuple(dialect.answers)))
    if len(wrong):
        _explain(json.loads(programs[wrong[0]]), int(wrong[0]), dialect)
    return Questions(
        word,
        length,
        layout.token,
        layout.left,
        layout.right,
        layout.height,
        _numbered(table["answer"].to_pylist(), answers),
        table["image_index"].to_numpy().astype(np.int32),
        table["question_family_index"].to_numpy().astype(np.int16),
    )


def held_out(table: pa.Table, made: MadeSplit, dialect: Dialect = CLEVR, *, trained: bool) -> np.ndarray:
    """Which questions of a table have both words of a pair that a split holds out, bool[n].

    Where they are to be trained on, those that are left must have every word of those that are not.
    """
    programs = table["program"].combine_chunks().dictionary_encode()
    read = [read_program(json.loads(text), dialect) for text in programs.dictionary.to_pylist()]
    held = np.array([made.holds_out(atoms_of(program)) for program in read], bool)
    if trained:
        kept, new = ([program for program, yes in zip(read, held) if yes == side] for side in (False, True))
        need_atoms(made.name, kept, new)
    return np.asarray(held[programs.indices.to_numpy()])


def by_pairs(made: MadeSplit) -> MadeSplit:
    """Refuse a split that lists concepts."""
    if not made.pairs:
        raise UserError(f"split '{made.name}' lists concepts; questions are split by pairs of words: make another")
    return made


def need_questions(rows: np.ndarray, split: str, part: str) -> np.ndarray:
    """Rows of questions, of which there must be some."""
    if not len(rows):
        raise UserError(f"split '{split}' has no questions in its part {part}; take a larger scale, or another split")
    return rows


def tokens_of(programs: Sequence[list[dict[str, Any]]], dialect: Dialect = CLEVR) -> np.ndarray:
    """Lists of nodes as tokens in prefix order, uint8[n, longest]; what is unknown becomes <UNK>."""
    rows = [_prefix(nodes, dialect) for nodes in programs]
    found = np.full((len(rows), max(map(len, rows), default=1)), NULL, np.uint8)
    for row, tokens in zip(found, rows):
        row[: len(tokens)] = tokens
    return found


def _prefix(nodes: list[dict[str, Any]], dialect: Dialect) -> list[int]:
    if dialect.spelled:  # a name in files may be that of several functions: the types of their inputs decide
        return [token for token in _tokens(dialect).encode(read_program(nodes, dialect))[1:-1]]
    tokens: list[int] = []
    waiting = [len(nodes) - 1]
    while waiting and len(tokens) <= len(nodes) ** 2:
        node = nodes[waiting.pop()]
        tokens.append(_number(dialect, node["function"], *node["value_inputs"]))
        waiting.extend(reversed(node["inputs"]))
    return tokens


@lru_cache(maxsize=16)
def _tokens(dialect: Dialect) -> ProgramTokens:
    return ProgramTokens(dialect)


@lru_cache(maxsize=4096)
def _number(dialect: Dialect, function: str, *values: str) -> int:
    return _tokens(dialect).numbers.get(f"{function}[{','.join(values)}]" if values else function, UNK)


def _numbered(words: Sequence[str], answers: Sequence[str]) -> np.ndarray:
    numbers = {word: number for number, word in enumerate(answers)}
    unknown = sorted(set(words) - numbers.keys())
    if unknown:
        raise UserError(f"there is no answer '{unknown[0]}'; use one of {', '.join(answers)}")
    return np.array([numbers[word] for word in words], np.uint8)


def _explain(nodes: list[dict[str, Any]], row: int, dialect: Dialect) -> None:
    """Say what is wrong with a program."""
    try:
        read_program(nodes, dialect)
    except UserError as error:
        raise UserError(f"the program of question {row}: {error}") from None
    raise UserError(f"the program of question {row} cannot be run; write it as CLEVR's files do")
