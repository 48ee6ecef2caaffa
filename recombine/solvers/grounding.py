"""Which words of a question speak of which objects.

A *mention* is a name such as "small red sedan": adjectives and a noun. It speaks of the objects that the filters of the
program with just these values give. Names without any value, such as "thing", are not linked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recombine.solvers.programs import NULL
from recombine.solvers.questions import Questions
from recombine.store.arrays import map_array, write_array


@dataclass(frozen=True)
class Naming:
    """What words mean: the numbers of one or more words in a row, and the token of the filter with that value."""

    adjectives: Mapping[tuple[int, ...], int]
    nouns: Mapping[tuple[int, ...], int]
    """NULL for a noun that says nothing."""

    @property
    def filters(self) -> frozenset[int]:
        return frozenset({*self.adjectives.values(), *self.nouns.values()} - {NULL})


class Name(NamedTuple):
    """Words of a question from `start` to before `end`, and the tokens of what they say."""

    start: int
    end: int
    said: frozenset[int]


@dataclass(frozen=True, eq=False)
class Grounding:
    """The mentions of n questions, with room for m in each."""

    start: np.ndarray  # int8[n, m], -1 where there is none
    end: np.ndarray  # int8[n, m]
    objects: np.ndarray  # uint16[n, m]: bit i for object i

    def __len__(self) -> int:
        return len(self.start)

    def rows(self, index: np.ndarray) -> "Grounding":
        return Grounding(*(getattr(self, field.name)[index] for field in fields(self)))

    def words(self, rows: np.ndarray, places: int, longest: int) -> np.ndarray:
        """Which words speak of which objects, bool[rows, places, longest]."""
        word, place = np.arange(longest), np.arange(places, dtype=np.uint16)
        start, end = self.start[rows][..., None], self.end[rows][..., None]
        within = (start >= 0) & (word >= start) & (word < end)  # [n, m, t]
        about = (self.objects[rows][..., None] >> place) & 1 == 1  # [n, m, k]
        return np.asarray((within[:, :, None] & about[..., None]).any(axis=1))

    def once(self) -> np.ndarray:
        """The questions that speak of no object twice, bool[n]."""
        union, twice = np.zeros(len(self), np.uint16), np.zeros(len(self), np.uint16)
        for column in self.objects.T:
            twice |= union & column
            union |= column
        return twice == 0

    def save(self, folder: Path) -> None:
        for field in fields(self):
            write_array(folder / f"{field.name}.npy", np.ascontiguousarray(getattr(self, field.name)))

    @classmethod
    def open(cls, folder: Path) -> "Grounding":
        return cls(*(map_array(folder / f"{field.name}.npy", "r") for field in fields(cls)))


def grounded(questions: Questions, values: np.ndarray, naming: Naming) -> Grounding:
    """The mentions of questions; `values` has the set of objects that every token of a program gives, uint64[n, t]."""
    filters, found = naming.filters, list[list[tuple[int, int, int]]]()
    rows = zip(questions.word.tolist(), questions.length.tolist(), questions.token.tolist(), values.tolist())
    for word, length, token, given in rows:
        chains = [*_chains(token, filters)]
        mentions = []
        for name in names_in(word[:length], naming):
            same = next((chain for chain in chains if chain[1] == name.said), None)
            if same is not None:
                chains.remove(same)
                mentions.append((name.start, name.end, given[same[0]]))
        found.append(mentions)
    most = max(map(len, found), default=0)
    columns = np.full((3, len(found), max(most, 1)), -1, np.int64)
    columns[2] = 0
    for row, mentions in enumerate(found):
        for place, mention in enumerate(mentions):
            columns[:, row, place] = mention
    return Grounding(columns[0].astype(np.int8), columns[1].astype(np.int8), columns[2].astype(np.uint16))


def names_in(words: Sequence[int], naming: Naming) -> Iterator[Name]:
    """The names of things in a question that say something of them."""
    at = 0
    while at < len(words):
        name = _name(words, at, naming)
        if name is not None and name.said:
            yield name
        at = at + 1 if name is None else name.end


def _name(words: Sequence[int], start: int, naming: Naming) -> Name | None:
    at, said = start, set[int]()
    while found := _longest(words, at, naming.adjectives):
        at, token = found
        said.add(token)
    # A noun may begin with a word that is an adjective too: the longer reading is right where there is one.
    noun = _longest(words, at, naming.nouns)
    if noun is None:
        return None
    return Name(start, noun[0], frozenset(said | ({noun[1]} - {NULL})))


def _longest(words: Sequence[int], at: int, known: Mapping[tuple[int, ...], int]) -> tuple[int, int] | None:
    for many in (3, 2, 1):
        if (token := known.get(tuple(words[at : at + many]))) is not None and at + many <= len(words):
            return at + many, token
    return None


def _chains(token: Sequence[int], filters: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
    """Filters that stand in a row: the place of the outermost, and what they say; in prefix order, outermost first."""
    at = 0
    while at < len(token):
        end = at
        while end < len(token) and token[end] in filters:
            end += 1
        if end > at:
            yield at, frozenset(token[at:end])
        at = max(end, at + 1)
