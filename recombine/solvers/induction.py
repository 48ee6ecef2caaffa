"""Induction by enumeration: the exact posterior over a whole language, from scenes as they are perceived.

A *hypothesis* is a meaning that some concepts of the language have; its prior is the sum of theirs. What a learner
perceives of a scene may be wrong, so an eye gives several *readings* of every scene, drawn from its beliefs: the share
of readings on which a hypothesis holds is how likely it is to hold. Of a label it is believed with a little doubt that
it says what was seen.

    log weight(h) = log prior(h) + sum over the shown scenes of log p(label | h, readings) + log chance(positives)

The last is the size principle: positives are drawn from the scenes on which h holds, so each costs the logarithm of
their number, which is counted on the scenes of the world, read without labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple, Self

import numpy as np

from recombine.language.expr import Expr
from recombine.semantics.bits import pack_bits, unpack_bits
from recombine.semantics.fold import Plan
from recombine.semantics.table import BLOCK, senses
from recombine.solvers.groups import by_group
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import Scenes

Eye = Callable[[Scenes], Sequence[Scenes]]
"""Scenes to readings of all of them, which are equally likely."""
Meaning = Callable[[Scenes], object]
Prior = Callable[[Sequence[Expr], np.ndarray], np.ndarray]
"""The concepts that were met in training, and how often, to a log-prior over the language."""

NEGLIGIBLE = 1e-6
"""The share of the likeliest hypothesis below which another is not asked."""
SPREAD = 0.5
"""What is added to the scenes on which a hypothesis was seen to hold."""
FEW = 64
"""Scenes that are looked up one by one; of more, all are unpacked."""
TABLED = 3_000_000_000
"""Bytes of the largest table of how often meanings hold; beyond that, bits are looked up."""
AT_ONCE = 256
"""Hypotheses whose readings are unpacked at once."""


class Hypotheses(NamedTuple):
    """The meanings of a language on some scenes."""

    sense: np.ndarray  # int[concepts]: which meaning each concept has
    first: np.ndarray  # int[meanings]: the first concept of each
    by_meaning: np.ndarray  # uint64[readings, meanings, words]: on which scenes it holds
    share: np.ndarray  # float[meanings]: of all readings, those on which it holds
    often: np.ndarray | None = None  # uint8[scenes, meanings]: on how many readings it holds, where there is room

    @property
    def readings(self) -> int:
        return len(self.by_meaning)

    def on(self, meanings: np.ndarray, scenes: np.ndarray) -> np.ndarray:
        """Of the readings of scenes, the share on which meanings hold, float32[meanings, scenes]."""
        if self.often is not None:
            return self.often[np.ix_(scenes, meanings)].T / np.float32(self.readings)
        found = np.zeros((len(meanings), len(scenes)), np.uint8)
        few, word, bit = len(scenes) <= FEW, scenes // 64, (scenes % 64).astype(np.uint64)
        for reading in self.by_meaning:
            if few:
                found += ((reading[meanings[:, None], word] >> bit) & np.uint64(1)).astype(np.uint8)
            else:
                found += unpack_bits(reading[meanings], 64 * reading.shape[1])[:, scenes]
        return found / np.float32(self.readings)


def hypotheses(plan: Plan, readings: Sequence[Scenes], meaning: Meaning) -> Hypotheses:
    """What every concept of a plan means on the readings of scenes; concepts that never differ are one meaning."""
    sense, first = _meanings(plan, readings, meaning)
    chosen, scenes = Plan([plan.terms[i] for i in first]), len(readings[0])
    bits = np.zeros((len(readings), len(first), -(-scenes // 64)), np.uint64)
    for reading, low in product(range(len(readings)), range(0, scenes, BLOCK)):
        for number, truth in chosen.run(meaning(readings[reading][low : low + BLOCK])):
            packed = pack_bits(truth)
            bits[reading, number, low // 64 : low // 64 + len(packed)] = packed
    share = np.bitwise_count(bits).sum(axis=(0, 2), dtype=np.int64) / (len(readings) * scenes)
    return Hypotheses(sense, first, bits, share, _often(bits, scenes) if scenes * len(first) <= TABLED else None)


def _often(bits: np.ndarray, scenes: int) -> np.ndarray:
    """On how many readings each meaning holds, uint8[scenes, meanings]."""
    found = np.zeros((64 * bits.shape[2], bits.shape[1]), np.uint8)
    for reading, word in product(range(len(bits)), range(bits.shape[2])):
        found[64 * word : 64 * word + 64] += unpack_bits(bits[reading, :, word : word + 1], 64).T
    return found[:scenes]


def _meanings(plan: Plan, readings: Sequence[Scenes], meaning: Meaning) -> tuple[np.ndarray, np.ndarray]:
    """The meaning of each concept in the order of first appearance, and its first concept.

    Meanings are told apart by sums of random numbers, two for every 64 scenes of a reading: 128 bits of hash.
    """
    mixed = np.zeros((len(plan.terms), 2), np.uint64)
    for reading, low in product(range(len(readings)), range(0, len(readings[0]), BLOCK)):
        scenes = readings[reading][low : low + BLOCK]
        bits = np.zeros((len(plan.terms), -(-len(scenes) // 64)), np.uint64)
        for concept, truth in plan.run(meaning(scenes)):
            bits[concept] = pack_bits(truth)
        rng = (Key(0) / "meanings" / reading / low).rng()
        for number in range(2):
            odd = rng.integers(0, 2**64, bits.shape[1], dtype=np.uint64) | np.uint64(1)
            word = (bits ^ (bits >> np.uint64(29))) * odd
            mixed[:, number] += (word ^ (word >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    return senses(mixed.view("V16").reshape(-1))


@dataclass(frozen=True)
class Likelihood:
    """How support sets come about, as far as a learner knows."""

    doubt: float = 1e-4
    """How likely a label is to contradict what was perceived, beside what the readings say."""
    drawn: bool = True
    """Whether positives are drawn from the scenes on which the concept holds: the size principle."""

    def log_chance(self, share: np.ndarray, scenes: int, positives: int) -> np.ndarray:
        """What drawing so many positives says about meanings that hold on these shares; -inf where nothing can be."""
        size = share * scenes
        return np.where(size > 0, -positives * np.log(size + SPREAD) if self.drawn else 0.0, -np.inf)


@dataclass(frozen=True, eq=False)
class Induction:
    """The learner as a solver. It knows the language and its meanings; it sees through an eye."""

    plan: Plan
    log_prior: np.ndarray  # float[concepts]
    meaning: Meaning
    eye: Eye
    likelihood: Likelihood = field(default_factory=Likelihood)
    learns: Prior | None = None
    """Learns the prior from the concepts that are met in training; None: the prior is given."""
    _seen: list[tuple[Scenes, Hypotheses]] = field(default_factory=list)

    def needs_training(self, few_shot: bool) -> bool:
        return self.learns is not None

    def fit(self, train: Examples, key: Key) -> Self:
        if self.learns is None:
            return self
        _, row = np.unique(train.group, return_index=True)
        number, often = np.unique(train.concept[row], return_counts=True)
        return replace(self, log_prior=self.learns([train.concepts[i] for i in number], often))

    def hypotheses(self, scenes: Scenes) -> Hypotheses:
        """The language on scenes as they are perceived; kept for the next time."""
        for known, found in self._seen:
            if known is scenes:
                return found
        found = hypotheses(self.plan, self.eye(scenes), self.meaning)
        self._seen[:] = [(scenes, found)]
        return found

    def posterior(self, scenes: Scenes, shown: np.ndarray, label: np.ndarray) -> np.ndarray:
        """The probability of every meaning after a support set, float[meanings]."""
        found = self.hypotheses(scenes)
        holds = found.on(np.arange(len(found.first)), shown)  # [meanings, shown]
        doubt = self.likelihood.doubt
        right = np.where(label, holds, 1 - holds).astype(np.float64)
        weight = _of_meanings(self.log_prior, found) + np.log(doubt + (1 - 2 * doubt) * right).sum(axis=1)
        weight += self.likelihood.log_chance(found.share, len(scenes), int(label.sum()))
        weight = np.exp(weight - weight.max())
        return weight / weight.sum()

    def predict(self, test: Observed) -> np.ndarray:
        rows, yes = by_group(test), test.answers.index("yes")
        found = self.hypotheses(test.scenes)
        doubt = self.likelihood.doubt
        said = np.empty(len(rows.order))
        for group in range(len(rows.start) - 1):
            given, asked = (slice(start[group], start[group + 1]) for start in (rows.shown_start, rows.start))
            belief = self.posterior(test.scenes, rows.shown[given], rows.target[given] == yes)
            likely = np.flatnonzero(belief > NEGLIGIBLE * belief.max())
            chance = np.zeros(len(rows.scenes))
            for start in range(0, len(likely), AT_ONCE):
                some = likely[start : start + AT_ONCE]
                chance += belief[some] @ found.on(some, rows.scenes)
            said[asked] = (doubt + (1 - 2 * doubt) * chance / belief[likely].sum())[rows.place[asked]]
        answers = np.empty((len(said), 2))
        answers[rows.order, yes] = said
        answers[:, 1 - yes] = 1 - answers[:, yes]
        return answers


def _of_meanings(log_prior: np.ndarray, found: Hypotheses) -> np.ndarray:
    """The log-prior of every meaning: the sum over its concepts."""
    top = log_prior.max()
    with np.errstate(divide="ignore"):
        return np.log(np.bincount(found.sense, np.exp(log_prior - top), len(found.first)))
