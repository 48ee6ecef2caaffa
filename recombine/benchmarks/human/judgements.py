"""Judgements of people: who learnt concepts over sets of objects, and what they said of each object.

People saw a set of objects, said of each whether a hidden concept holds of it, were shown the true labels of the whole
set, and went on to the next (Piantadosi, Tenenbaum and Goodman, 2016). The public file has one line per object, without
a heading and with blanks between ten columns:

    concept list set item truth shape color size yes no
    hg88    L1   1   1    False triangle blue 3  15  9
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recombine.store.errors import UserError
from recombine.store.untrusted import read_text
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

COLUMNS = ("concept", "list", "set", "item", "truth", "shape", "color", "size", "yes", "no")
VOCABULARY = Vocabulary(
    (
        Attribute("shape", ("circle", "triangle", "rectangle")),
        Attribute("color", ("blue", "green", "yellow")),
        Attribute("size", ("1", "2", "3"), ordered=True),
    )
)
MOST = 8
"""The most objects in a set."""
TRUTHS = {"True": True, "False": False}


@dataclass(frozen=True, eq=False)
class Judgements:
    """Rows are objects, in the order of concept, set and item; the sets of all concepts are the scenes."""

    concepts: tuple[str, ...]
    concept: np.ndarray  # int[rows], into concepts
    number: np.ndarray  # int[rows]: which of the concept's sets, from 0
    scene: np.ndarray  # int[rows], into scenes
    place: np.ndarray  # int[rows]: which object of its set
    truth: np.ndarray  # bool[rows]
    yes: np.ndarray  # int[rows]
    no: np.ndarray  # int[rows]
    scenes: Scenes

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def asked(self) -> np.ndarray:
        """How many people judged each object, int[rows]."""
        return self.yes + self.no

    @property
    def share(self) -> np.ndarray:
        """The share of people who said yes, float[rows]; nan where nobody was asked."""
        return np.divide(self.yes, self.asked, out=np.full(len(self), np.nan), where=self.asked > 0)

    def rows(self, concept: int) -> np.ndarray:
        """The rows of a concept, which stand together."""
        return np.flatnonzero(self.concept == concept)


class _Row(NamedTuple):
    concept: str
    set: int
    item: int
    truth: bool
    codes: tuple[int, ...]  # of shape, color, size
    yes: int
    no: int
    line: int


def read(path: Path, chosen: str) -> Judgements:
    """The judgements of one list of a file, such as L1."""
    rows: list[_Row] = []
    lists: dict[str, None] = {}
    for line, words in _lines(path):
        where = f"{path}: line {line}"
        if len(words) != len(COLUMNS):
            raise UserError(f"{where} has {len(words)} columns, not the {len(COLUMNS)} {' '.join(COLUMNS)}")
        lists[words[1]] = None
        if words[1] == chosen:
            rows.append(_row(words, line, where))
    if not rows:
        there = f"it has {', '.join(lists)}" if lists else "it is empty"
        raise UserError(f"{path} has no list '{chosen}'; {there}")
    return _judgements(rows, path)


def lists_in(path: Path) -> tuple[str, ...]:
    """The lists of a file, in its order."""
    found = tuple(dict.fromkeys(words[1] for _, words in _lines(path) if len(words) == len(COLUMNS)))
    if not found:
        line, words = next(iter(_lines(path)), (1, []))
        raise UserError(f"{path}: line {line} has {len(words)} columns, not the {len(COLUMNS)} {' '.join(COLUMNS)}")
    return found


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The words of every line that is not blank, with its number."""
    text = read_text(path, advice="give a text file of judgements")
    return [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _row(words: Sequence[str], line: int, where: str) -> _Row:
    given = dict(zip(COLUMNS, words))
    if given["truth"] not in TRUTHS:
        raise UserError(f"{where}: the truth must be True or False, not '{given['truth']}'")
    try:
        codes = tuple(attribute.code(given[attribute.name]) for attribute in VOCABULARY)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    number, item = (_whole(given[name], 1, name, where) for name in ("set", "item"))
    yes, no = (_whole(given[name], 0, name, where) for name in ("yes", "no"))
    return _Row(given["concept"], number, item, TRUTHS[given["truth"]], codes, yes, no, line)


def _whole(text: str, least: int, name: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        raise UserError(f"{where}: '{name}' must be a whole number from {least} on, not '{text}'")
    return int(text)


def _judgements(rows: list[_Row], path: Path) -> Judgements:
    concepts = {name: i for i, name in enumerate(dict.fromkeys(row.concept for row in rows))}
    rows = sorted(rows, key=lambda row: (concepts[row.concept], row.set, row.item))
    _check(rows, path)
    key = [(row.concept, row.set) for row in rows]
    numbers = {each: i for i, each in enumerate(dict.fromkeys(key))}
    scene, place = np.array([numbers[each] for each in key]), np.array([row.item - 1 for row in rows])
    codes = np.full((3, len(numbers), place.max() + 1), ABSENT, np.uint8)
    codes[:, scene, place] = np.array([row.codes for row in rows]).T
    count = np.bincount(scene).astype(np.uint8)
    columns = {attribute.name: column for attribute, column in zip(VOCABULARY, codes)}
    return Judgements(
        tuple(concepts),
        np.array([concepts[row.concept] for row in rows]),
        np.array([row.set - 1 for row in rows]),
        scene,
        place,
        np.array([row.truth for row in rows]),
        np.array([row.yes for row in rows]),
        np.array([row.no for row in rows]),
        Scenes(VOCABULARY, count, columns, np.zeros((*codes.shape[1:], 3), np.float32)),
    )


def _check(rows: list[_Row], path: Path) -> None:
    """The sets of a concept are numbered from 1 on, and so are the items of a set."""
    before: _Row | None = None
    for row in rows:
        where = f"{path}: line {row.line}"
        follows = before is not None and before.concept == row.concept
        here = before is not None and follows and before.set == row.set
        expected = before.item + 1 if before is not None and here else 1
        if row.item != expected:
            said = "comes twice" if before is not None and here and row.item == before.item else "is out of step"
            raise UserError(
                f"{where}: item {row.item} of set {row.set} of concept {row.concept} {said}; expected item {expected}"
            )
        if row.item > MOST:
            raise UserError(f"{where}: a set has at most {MOST} objects")
        last = before.set if before is not None and follows else 0
        if not here and row.set != last + 1:
            raise UserError(f"{where}: concept {row.concept} has set {row.set}, but no set {last + 1}")
        before = row
