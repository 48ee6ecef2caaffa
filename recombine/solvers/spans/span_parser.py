"""The span parser: a grammar's counts in the form of a network, so that runs keep, test and use it like any other."""

import numpy as np
import torch
from torch import Tensor, nn

from recombine.solvers.networks.program_generator import LONGEST
from recombine.solvers.programs import END, NULL
from recombine.solvers.questions import Questions
from recombine.solvers.spans.chart import Counts, Scores, align, read
from recombine.solvers.spans.grammar import Grammar

UNREADABLE = 100.0
"""What a word is surprised by in a question whose program cannot be derived at all."""


class SpanParser(nn.Module):
    """Words to tokens by a grammar. It has no weights: all it keeps are counts."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self.grammar = grammar
        for name, count in grammar.nothing()._asdict().items():
            self.register_buffer(name, torch.from_numpy(count))
        self._known: tuple[tuple[int, ...], Scores] | None = None

    def counts(self) -> Counts:
        return Counts(*(self.get_buffer(name).cpu().numpy() for name in Counts._fields))

    def take(self, counts: Counts) -> None:
        """Forget what was counted, and know this instead."""
        for name, count in counts._asdict().items():
            self.get_buffer(name).copy_(torch.from_numpy(count))

    def scores(self) -> Scores:
        """What follows from the counts, worked out once."""
        state = tuple(buffer._version for buffer in self.buffers())
        if self._known is None or self._known[0] != state:
            self._known = state, self.grammar.scores(self.counts())
        return self._known[1]

    def read(self, word: np.ndarray, length: np.ndarray, longest: int = LONGEST) -> np.ndarray:
        """The best program of each question, uint8[n, longest]; NULL at the end, and all of it where there is none."""
        return self.grammar.abridge.restore(read(self.scores(), word, length)[0], longest)

    def write(self, word: Tensor, length: Tensor, longest: int = LONGEST, draw: bool = False) -> Tensor:
        """As a generator writes: with END, then NULL, int64[n, longest]."""
        found = self.read(word.cpu().numpy(), length.cpu().numpy(), longest - 1).astype(np.int64)
        found = np.pad(found, ((0, 0), (0, 1)), constant_values=NULL)
        found[np.arange(len(found)), np.count_nonzero(found, axis=1)] = END
        return torch.from_numpy(found).to(word.device)

    def surprise(self, questions: Questions) -> float:
        """The mean surprise per word of questions and their programs, in the best derivation."""
        programs = self.grammar.programs(questions.programs)
        score = align(self.scores(), questions.word, questions.length, programs, self.grammar.nothing())
        lost = np.where(np.isfinite(score), -score, UNREADABLE * questions.length)
        return float(lost.sum() / questions.length.sum())


class Rounds:
    """Learning a grammar round by round: each counts the best derivations by what the round before has counted."""

    def __init__(self, parser: SpanParser, questions: Questions) -> None:
        self.parser, self.questions = parser, questions
        self.programs = parser.grammar.programs(questions.programs)

    def count(self, first: bool) -> float:
        """One more round; the mean surprise per word before it."""
        word, length, grammar = self.questions.word, self.questions.length, self.parser.grammar
        scores = grammar.beginning(word, length, self.programs) if first else self.parser.scores()
        counts = grammar.nothing()
        score = align(scores, word, length, self.programs, counts)
        self.parser.take(counts)
        return float(-score[np.isfinite(score)].sum() / length.sum())
