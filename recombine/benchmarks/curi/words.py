"""Concepts as lists of words for a network that writes them, and what is to be said of what it wrote.

The words are those of a spelling, prefix in the paper and postfix in the released code; `lambda S.` is one word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from recombine.benchmarks.curi.language import CURI_LOT, Lot
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.spelling import (
    COMPARISONS,
    CONNECTIVES,
    OVER_SETS,
    QUANTIFIERS,
    SETS,
    Speller,
    postfix,
    prefix,
)
from recombine.language.expr import Expr
from recombine.semantics.fold import Plan
from recombine.solvers.text import END, PAD, SPECIAL
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

LAMBDA = "lambda S."
AT_ONCE = 65_536
"""Scenes on which concepts are compared at once."""


@dataclass(frozen=True)
class Words:
    """The words of a language of thought in one spelling, numbered from `SPECIAL`."""

    spelling: Literal["prefix", "postfix"]
    lot: Lot = CURI_LOT

    @cached_property
    def words(self) -> tuple[str, ...]:
        speller = Speller(self.lot)
        fixed = {**QUANTIFIERS, **CONNECTIVES, **COMPARISONS, **OVER_SETS, **SETS}
        return tuple(sorted({"x", LAMBDA, *fixed, *speller.functions, *speller.literals}))

    def __len__(self) -> int:
        return SPECIAL + len(self.words)

    @cached_property
    def number(self) -> dict[str, int]:
        return {word: SPECIAL + place for place, word in enumerate(self.words)}

    def numbers(self, concepts: Sequence[Expr]) -> np.ndarray:
        """The words of each concept and its end, int64[concepts, longest], PAD after it."""
        texts = [[*(self.number[word] for word in self._split(concept)), END] for concept in concepts]
        padded = np.full((len(texts), max(map(len, texts), default=1)), PAD, np.int64)
        for row, text in zip(padded, texts):
            row[: len(text)] = text
        return padded

    def _split(self, concept: Expr) -> list[str]:
        text = {"prefix": prefix, "postfix": postfix}[self.spelling](concept)
        before, after = text.split(LAMBDA)
        return [*before.split(), LAMBDA, *after.split()]

    def text(self, numbers: np.ndarray) -> str:
        """What was written, up to its end."""
        written = []
        for number in numbers.tolist():
            if number in (PAD, END):
                break
            written.append(self.words[number - SPECIAL] if number >= SPECIAL else "?")
        return " ".join(written)

    def read(self, text: str) -> Expr | None:
        """The concept that a text says, if it says one."""
        speller = Speller(self.lot)
        try:
            return {"prefix": speller.read_prefix, "postfix": speller.read_postfix}[self.spelling](text)
        except UserError:
            return None


class Verdict(NamedTuple):
    """What is to be said of the concepts that were written, bool[n] each."""

    well_formed: np.ndarray
    consistent: np.ndarray
    """True of all positives of the support and of none of its negatives."""
    synonym: np.ndarray
    """True of the same scenes as the concept that was meant."""

    def shares(self) -> dict[str, float]:
        return {name: float(np.mean(values)) for name, values in self._asdict().items()}


def judge(
    written: Sequence[Expr | None],
    meant: Sequence[Expr],
    support: np.ndarray,
    label: np.ndarray,
    scenes: Scenes,
    lot: Lot = CURI_LOT,
) -> Verdict:
    """Judge what was written after each support, int[n, s] into scenes with labels bool[n, s]."""
    said = {i: concept for i, concept in enumerate(written) if concept is not None}
    concepts = tuple(dict.fromkeys([*said.values(), *meant]))
    place = {concept: i for i, concept in enumerate(concepts)}

    def truth(some: Scenes) -> np.ndarray:
        """What holds where, bool[concepts, scenes]."""
        return np.stack([value for _, value in sorted(Plan(concepts).run(Exact(some, lot)))])

    well_formed, consistent = (np.zeros(len(written), bool) for _ in range(2))
    well_formed[list(said)] = True
    synonym = well_formed.copy()
    shown, row = np.unique(support, return_inverse=True)
    on_support = truth(scenes[shown])
    for i, concept in said.items():
        consistent[i] = np.array_equal(on_support[place[concept]][row.reshape(support.shape)[i]], label[i])
    for start in range(0, len(scenes), AT_ONCE):
        here = truth(scenes[start : start + AT_ONCE])
        for i, concept in said.items():
            synonym[i] &= np.array_equal(here[place[concept]], here[place[meant[i]]])
    return Verdict(well_formed, consistent, synonym)
