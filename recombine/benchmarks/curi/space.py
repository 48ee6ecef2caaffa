"""The space of concepts: drawn or listed whole or the user's own, banned, collapsed, and filtered by the scenes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from recombine.benchmarks.curi.edition import Edition
from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.language import EXISTS, HOLDS, Lot, banned, collapsed
from recombine.benchmarks.curi.spelling import Speller, infix, length, postfix
from recombine.language.expr import Expr
from recombine.language.grammar import Grammar, Language
from recombine.semantics.table import Census
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.untrusted import parse_json, read_text

LENGTH_PENALTY = 0.2
MOST_SHARE = 0.10
"""A concept that holds on more of the scenes is not interesting."""


@dataclass(frozen=True, eq=False)
class Space:
    """The concepts that learners choose from."""

    concepts: tuple[Expr, ...]
    log_prob: np.ndarray  # float[concepts], under the grammar
    length: np.ndarray  # int[concepts], in postfix tokens
    count: np.ndarray  # int64[concepts], scenes on which it holds
    sense: np.ndarray  # int32[concepts], equal for synonyms

    def __len__(self) -> int:
        return len(self.concepts)

    @property
    def weight(self) -> np.ndarray:
        """How often a concept comes up in episodes, unnormalised: exp(-0.2 l(h))."""
        return np.exp(-LENGTH_PENALTY * self.length)

    def log_prior(self, edition: Edition, scenes: int, hard: bool, shown: int = 25, positives: int = 5) -> np.ndarray:
        """The oracle's log-weight of each concept that explains a support set.

        Where a set weighs its chance of being drawn, this has the chance of its positives: so many scenes, each once.
        A concept with too few scenes for that never comes up.
        """
        prior = -LENGTH_PENALTY * self.length if edition.prior == "length" else self.log_prob.copy()
        if edition.likelihood == "size" and hard:
            prior = prior - shown * np.log(np.maximum(1, scenes - self.count))
        if edition.likelihood == "drawn":
            with np.errstate(divide="ignore"):
                prior = prior - sum(np.log(np.maximum(0, self.count - drawn)) for drawn in range(positives))
            prior = np.where(self.count >= positives, prior, -np.inf)
        return prior


def candidates(lot: Lot, edition: Edition, draws: int | None, key: Key) -> list[tuple[Expr, float]]:
    """The concepts that n draws bring up, or the whole language, without banned ones and with quantifiers collapsed.

    Where several strings collapse to one concept it keeps the highest log-probability.
    """
    language = _listed(lot.grammar(edition.nesting))
    drawn = np.arange(len(language.terms)) if draws is None else np.flatnonzero(language.draw(draws, key.rng()))
    found: dict[Expr, float] = {}
    for i in drawn:
        if not banned(language.terms[i]):
            concept = collapsed(language.terms[i])
            found[concept] = max(found.get(concept, -math.inf), float(language.log_prob[i]))
    return list(found.items())


@lru_cache(maxsize=2)
def _listed(grammar: Grammar) -> Language:
    """The whole language; its terms stay interned anyway."""
    return grammar.enumerate()


def interesting(census: Census, scenes: int, edition: Edition) -> np.ndarray:
    """Which candidates hold neither too often nor too rarely, bool[candidates]."""
    most = MOST_SHARE * scenes
    rare_enough = census.count <= most if edition.at_most_share else census.count < most
    return rare_enough & (census.count >= edition.fewest_scenes)


def log_probability(concept: Expr, lot: Lot, edition: Edition) -> float:
    """Under the grammar; a concept without quantifier counts as if it had one."""
    if concept.head is HOLDS:
        concept = Expr(EXISTS, concept.args)
    return lot.grammar(edition.nesting).log_probability(concept)


MOST_COMPLAINTS = 20


def read_concepts(path: Path, lot: Lot) -> tuple[Expr, ...]:
    """A user's list: one concept per line (empty lines and lines that start with # are skipped), or a JSON list.

    Every concept that cannot be read is named with its line; one that comes twice is taken once.
    """
    speller, found, wrong = Speller(lot), dict[Expr, None](), list[str]()
    entries = _entries(path)
    for place, text in entries:
        try:
            found[speller.read(text)] = None
        except UserError as error:
            wrong.append(f"{place}: {error}")
    if wrong:
        more = f"\n  and {len(wrong) - MOST_COMPLAINTS} more" if len(wrong) > MOST_COMPLAINTS else ""
        lines = "".join(f"\n  {line}" for line in wrong[:MOST_COMPLAINTS])
        raise UserError(
            f"{path}: {len(wrong)} of {len(entries):,} concepts cannot be read; mend or remove them:{lines}{more}"
        )
    if not found:
        raise UserError(f"{path}: there is no concept in this file; write one per line, such as 'all(color?(S), blue)'")
    return tuple(found)


def _entries(path: Path) -> list[tuple[str, str]]:
    """The concepts' texts, each with the words that say where it stands."""
    text = read_text(path, advice="give a text or JSON file of concepts")
    if path.suffix != ".json" and not text.lstrip().startswith("["):
        lines = ((i, line.strip()) for i, line in enumerate(text.splitlines(), 1))
        return [(f"line {i}", line) for i, line in lines if line and not line.startswith("#")]
    listed = parse_json(text, str(path), advice="give a JSON list of strings")
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise UserError(f"{path} must hold a JSON list of strings, each a concept in postfix or infix")
    return [(f"item {i}", item) for i, item in enumerate(listed, 1)]


def to_table(concepts: Sequence[Expr], log_prob: Sequence[float] | np.ndarray) -> pa.Table:
    """Concepts in all spellings."""
    return pa.table(
        {
            "concept": [postfix(c) for c in concepts],
            "infix": [infix(c) for c in concepts],
            "english": [english(c) for c in concepts],
            "length": np.array([length(c) for c in concepts], np.int16),
            "log_prob": np.asarray(log_prob, np.float64),
        }
    )
