"""Questions as columns: words, programs, answers and the images that they ask about.

All of it lies in one folder as plain NumPy files that are mapped into memory, so 700,000 questions cost nothing to
open and any number of processes share them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from recombine.solvers.programs import Layout, sizes
from recombine.solvers.text import PAD, SPECIAL
from recombine.store.arrays import map_array, write_array
from recombine.store.errors import UserError
from recombine.store.untrusted import read_json
from recombine.store.writing import write_text

WORDS = "words.json"


@dataclass(frozen=True)
class Vocabulary:
    """The words of questions, numbered after what is not a word."""

    words: tuple[str, ...]

    def __len__(self) -> int:
        return SPECIAL + len(self.words)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.words, SPECIAL)}

    @classmethod
    def of(cls, questions: Iterable[str]) -> "Vocabulary":
        """All words of some questions, in alphabetical order.

        >>> Vocabulary.of(["Is there a cube?", "There is a ball; is it red?"]).words
        (';', 'a', 'ball', 'cube', 'is', 'it', 'red', 'there')
        """
        return cls(tuple(sorted({word for text in set(questions) for word in words_of(text)})))

    def read(self, text: str) -> list[int]:
        """The numbers of a question's words."""
        try:
            return [self.numbers[word] for word in words_of(text)]
        except KeyError as error:
            raise UserError(
                f"the word '{error.args[0]}' of the question '{text}' is not among the {len(self.words)} words that "
                "training questions have; put it in other words, or train on questions that have it"
            ) from None

    def rows(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Questions as numbers, PAD at the end, and their lengths: int16[n, longest], int16[n]."""
        known: dict[str, list[int]] = {}
        read = [known[text] if text in known else known.setdefault(text, self.read(text)) for text in texts]
        length = np.array([len(row) for row in read], np.int16)
        found = np.full((len(read), int(length.max(initial=1))), PAD, np.int16)
        found[np.arange(found.shape[1]) < length[:, None]] = [number for row in read for number in row]
        return found, length

    def save(self, folder: Path) -> None:
        write_text(folder / WORDS, json.dumps(list(self.words)) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Vocabulary":
        return cls(tuple(read_json(folder / WORDS, list)))


def words_of(text: str) -> list[str]:
    """A question in small letters, word by word; commas and semicolons are words, the end is none.

    >>> words_of("There is a cube; is it red?")
    ['there', 'is', 'a', 'cube', ';', 'is', 'it', 'red']
    """
    for mark in ";,":
        text = text.replace(mark, f" {mark} ")
    return text.rstrip(".?! ").lower().split()


@dataclass(frozen=True, eq=False)
class Questions:
    """Some questions."""

    word: np.ndarray  # int16[n, longest], PAD at the end
    length: np.ndarray  # int16[n]
    token: np.ndarray  # uint8[n, t]: the program in prefix order, NULL at the end
    left: np.ndarray  # int8[n, t]: where each token's first input stands
    right: np.ndarray  # int8[n, t]
    height: np.ndarray  # uint8[n, t]
    answer: np.ndarray  # uint8[n]
    image: np.ndarray  # int32[n]
    family: np.ndarray  # int16[n]: the number of the question's family

    def __len__(self) -> int:
        return len(self.answer)

    @property
    def programs(self) -> Layout:
        return Layout(self.token, self.left, self.right, self.height, np.ones(len(self), bool))

    @cached_property
    def size(self) -> np.ndarray:
        """How many functions each program has, int[n]."""
        return sizes(self.programs)

    @cached_property
    def depth(self) -> np.ndarray:
        """How high each program is, int[n]."""
        return self.height[:, 0].astype(np.int64)

    def rows(self, index: np.ndarray | slice) -> "Questions":
        return Questions(*(getattr(self, field.name)[index] for field in fields(self)))

    def save(self, folder: Path) -> None:
        for field in fields(self):
            write_array(folder / f"{field.name}.npy", np.ascontiguousarray(getattr(self, field.name)))

    @classmethod
    def open(cls, folder: Path) -> "Questions":
        """The questions of a folder, mapped into memory."""
        return cls(*(map_array(folder / f"{field.name}.npy", "r") for field in fields(cls)))


def spoken(vocabulary: Vocabulary, texts: Sequence[str]) -> Questions:
    """Questions of which nothing is known but their words."""
    none, zero = np.zeros((len(texts), 0), np.uint8), np.zeros(len(texts), np.uint8)
    blank = none.astype(np.int8)
    return Questions(
        *vocabulary.rows(texts), none, blank, blank, none, zero, zero.astype(np.int32), zero.astype(np.int16)
    )


def joined(parts: Sequence[Questions]) -> Questions:
    """Questions one after the other, with room for the longest."""
    return Questions(*(_stacked([getattr(part, field.name) for part in parts]) for field in fields(Questions)))


def _stacked(columns: Sequence[np.ndarray]) -> np.ndarray:
    if columns[0].ndim == 1:
        return np.concatenate(columns)
    width = max(column.shape[1] for column in columns)
    blank = -1 if columns[0].dtype == np.int8 else 0
    return np.concatenate(
        [np.pad(column, ((0, 0), (0, width - column.shape[1])), constant_values=blank) for column in columns]
    )
