"""A grammar that is learnt from questions and their programs, and knows no language before.

It is a distribution over questions and programs together. A program unfolds from the function that gives the answer;
each function says a word and takes its inputs from the left or the right; each joint says the words between. It is
learnt by counting: first which words go with which functions (`associate`, expectation maximisation over all pairs of a
question's words and its program's functions), then some times over the best derivations of all programs (`align`, hard
expectation maximisation). A joint that was never counted is as likely as its types make it: a share of all
probability, however much was counted, is kept for it. So what was never put together can be put together in reading, at
a price, and is where nothing cheaper explains the words.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.solvers.programs import SPECIAL, Functions, Layout
from recombine.solvers.spans.abridged import NO_WAY, Abridged, Abridging
from recombine.solvers.spans.chart import NOTHING, SIDES, Counts, Scores
from recombine.store.compiled import compiled

PAIRINGS = 10
"""Rounds of the first expectation maximisation."""
SAID = 0.02
"""The least share of a function's occurrences that a word must account for at first, to stand for it at all."""
KEPT = 0.1
"""The share of probability that is kept for joints by their types."""
WEIGHT = 1.0
"""How often what is likely in general counts as seen in particular."""
BIT = 0.1
"""How often a word counts as seen anywhere."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """What can be said and how it can be joined: the functions, how many words there are, and the types of answers."""

    functions: Functions
    words: int
    answers: Collection[str]

    @cached_property
    def abridge(self) -> Abridging:
        return Abridging(self.functions)

    @cached_property
    def name(self) -> np.ndarray:
        """The number of each token's name, int64[tokens]: functions that differ in a value alone have one name."""
        functions = self.functions
        said = [(w.partition("[")[0], i, o) for w, i, o in zip(functions.words, functions.inputs, functions.out)]
        known = {one: number for number, one in enumerate(dict.fromkeys(said))}
        return np.array([len(known)] * SPECIAL + [known[one] for one in said])

    @cached_property
    def names(self) -> int:
        return int(self.name.max()) + 1

    @cached_property
    def example(self) -> dict[int, int]:
        """A token of each name that a function has."""
        return {int(self.name[token]): token for token in range(len(self.functions) - 1, SPECIAL - 1, -1)}

    @cached_property
    def kind(self) -> np.ndarray:
        """The number of the types that each name takes and gives, int64[names]."""
        functions, known = self.functions, dict[tuple[int, ...], int]()
        types = [(*functions.in_kind[t].tolist(), int(functions.out_kind[t])) for _, t in sorted(self.example.items())]
        found = [known.setdefault(one, len(known)) for one in types]
        return np.array([*found, *[len(known)] * (self.names - len(found))])

    def _leads(self, inner: int, outer: int, slot: int) -> bool:
        """Whether what a token gives can be an input of another."""
        gives, takes = self.functions.out_kind[inner], self.functions.in_kind[outer, slot]
        return bool(gives == takes or self.abridge.ways[gives, takes] != NO_WAY)

    @cached_property
    def possible(self) -> np.ndarray:
        """Which joints types allow, bool[f, 2, g]; what begins in silence does not begin with a word."""
        found, leaf = np.zeros((self.names, 2, self.names), bool), self.abridge.leaf
        for f, outer in self.example.items():
            for slot in range(self.functions.arities[outer]):
                for g, inner in self.example.items():
                    said = inner != leaf or self.functions.arities[outer] == 2
                    found[f, slot, g] = said and self._leads(inner, outer, slot)
        return found

    @cached_property
    def begins(self) -> np.ndarray:
        """Which names may begin with the leaf in silence, bool[f]."""
        leaf, found = self.abridge.leaf, np.zeros(self.names, bool)
        for f, token in self.example.items():
            found[f] = bool(leaf) and self.functions.arities[token] == 1 and self._leads(leaf, token, 0)
        return found

    @cached_property
    def final(self) -> np.ndarray:
        """Which names give answers, bool[f]."""
        kinds = [self.functions.kinds.index(kind) for kind in self.answers if kind in self.functions.kinds]
        found = np.zeros(self.names, bool)
        for f, token in self.example.items():
            found[f] = int(self.functions.out_kind[token]) in kinds
        return found

    def programs(self, layout: Layout) -> Abridged:
        return self.abridge(layout)

    def nothing(self) -> Counts:
        """Counts of nothing."""
        f, w = self.names, self.words
        shapes = ((w, len(self.name)), (f, 2, f, SIDES), (f, 2, f, SIDES, 2, w), (f,), (f,), (f, 2, 2, w))
        return Counts(*(np.zeros(shape) for shape in shapes))

    # --- scores

    def scores(self, counts: Counts) -> Scores:
        """What follows from counts."""
        joint, silent = self._joints(counts)
        between, outside, idle = self._gaps(counts)
        whole = np.where(self.final, counts.whole + BIT, 0)
        return Scores(
            self.name, self._words(counts.word), joint, between, silent, _log(whole / whole.sum()), outside, idle,
            self.functions.arities, self.abridge.leaf,
        )  # fmt: skip

    def _words(self, word: np.ndarray) -> np.ndarray:
        """A token of its name, and its word."""
        alike = np.bincount(self.name, word.sum(axis=0), self.names)[self.name]
        return _log(word / np.maximum(alike, 1e-300))

    def _joints(self, counts: Counts) -> tuple[np.ndarray, np.ndarray]:
        """Which function is taken, and from where, or that it is the leaf in silence."""
        joint, silent = np.zeros(counts.joint.shape), np.zeros(self.names)
        kinds = np.eye(int(self.kind.max()) + 1)[self.kind]
        often = counts.joint.sum(axis=(0, 1, 3)) + 0.5
        of_kind = often / (kinds.T @ often)[self.kind]
        for f in self.example:
            alike = np.flatnonzero(self.kind == self.kind[f])
            for slot in np.flatnonzero(self.possible[f].any(axis=1)):
                by_kind = np.einsum("fgs,gk->ks", counts.joint[alike, slot], kinds) + BIT
                usual = by_kind[self.kind] * of_kind[:, None] * self.possible[f, slot][:, None]
                mute = BIT + counts.silent[alike].sum() if slot == 0 and self.begins[f] else 0.0
                quiet = counts.silent[f] if slot == 0 else 0.0
                seen, expected = counts.joint[f, slot].sum() + quiet, usual.sum() + mute
                kept = max(KEPT, WEIGHT / (seen + WEIGHT))
                joint[f, slot] = (1 - kept) * counts.joint[f, slot] / max(seen, 1) + kept * usual / expected
                if slot == 0:
                    silent[f] = (1 - kept) * quiet / max(seen, 1) + kept * mute / expected
        return _log(joint), _log(silent)

    def _gaps(self, counts: Counts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Words between and outside: by the joint, as far as it was seen, else by either of its functions."""
        between, outside = counts.between, counts.outside
        anywhere = between.sum(axis=(0, 1, 2, 3)) + outside.sum(axis=(0, 1))
        idle = (anywhere.sum(axis=0) > 0) | (counts.word.sum(axis=1) == 0)  # also words that were never seen
        general = (anywhere + BIT) / (anywhere + BIT).sum(axis=-1, keepdims=True)
        taking = _backed(between.sum(axis=2), general)
        taken = _backed(between.sum(axis=(0, 1)), general)
        joined = _backed(between, (taking[:, :, None] + taken[None, None]) / 2)
        return np.log(joined), np.log(_backed(outside, general)), idle

    # --- the beginning

    def beginning(self, word: np.ndarray, length: np.ndarray, programs: Abridged) -> Scores:
        """What words and functions say that come together, before anything is known of joints."""
        there = np.arange(word.shape[1]) < length[:, None]
        occurs = np.bincount(word[there].astype(np.int64), minlength=self.words).astype(float)
        together = associate(word, length, programs.token, self._said(programs), occurs, len(self.name))
        together[together < SAID * together.sum(axis=0)] = 0
        idle = np.maximum(occurs - together.sum(axis=1), 0) + BIT
        idle[NOTHING] = idle.sum()
        filler, names = np.log(idle / idle.sum()), self.names
        return Scores(
            self.name,
            _log(together / np.maximum(together.sum(axis=0), 1e-300)),
            _log(np.broadcast_to(self.possible[..., None], (names, 2, names, SIDES)) / self.possible.size),
            np.broadcast_to(filler, (names, 2, names, SIDES, 2, self.words)).copy(),
            _log(self.begins / names),
            _log(self.final / names),
            np.broadcast_to(filler, (names, 2, 2, self.words)).copy(),
            np.ones(self.words, bool),
            self.functions.arities,
            self.abridge.leaf,
        )

    def _said(self, programs: Abridged) -> np.ndarray:
        """Which nodes words denote: all but leaves with which functions of one input begin, bool[n, t]."""
        said = programs.token >= SPECIAL
        rows, at = np.nonzero(self.functions.arities[programs.token] == 1)
        below = programs.left[rows, at]
        said[rows, below] &= programs.token[rows, below] != self.abridge.leaf
        return said


def _log(share: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(share)


def _backed(count: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Shares of what was counted, with what is usual as if it had been counted too."""
    return (count + WEIGHT * usual) / (count.sum(axis=-1, keepdims=True) + WEIGHT)


@compiled
def associate(  # type: ignore[no-untyped-def]
    word: np.ndarray, length: np.ndarray, token: np.ndarray, said: np.ndarray, occurs: np.ndarray, tokens: int
):
    """How often each word is expected to have brought each function, float[words, tokens].

    A function is brought by one of the question's words, in proportion to how often that word brings it.
    """
    share = np.ones((len(occurs), tokens))
    counts = np.zeros((len(occurs), tokens))
    for _ in range(PAIRINGS):
        counts[:] = 0
        for row in range(len(word)):
            for at in range(token.shape[1]):
                if said[row, at]:
                    total = 0.0
                    for i in range(length[row]):
                        total += share[word[row, i], token[row, at]]
                    for i in range(length[row]):
                        counts[word[row, i], token[row, at]] += share[word[row, i], token[row, at]] / total
        for w in range(len(occurs)):
            share[w] = counts[w] / max(occurs[w], 1.0)
    return counts
