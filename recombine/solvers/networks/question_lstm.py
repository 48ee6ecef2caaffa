"""Two baselines: an LSTM that reads the question and sees nothing, and one that also sees a summary of the cells."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recombine.solvers.networks.cells import Cells, CellShape, Stem, highest
from recombine.solvers.networks.lstm import Words
from recombine.solvers.programs import Layout


@dataclass(frozen=True)
class LstmPlan:
    """What decides such a network; without a shape it sees nothing."""

    words: int
    answers: int
    shape: CellShape | None = None
    word: int = 128
    hidden: int = 256
    layers: int = 1
    width: int = 128
    classifier: int = 256

    @classmethod
    def paper(cls, words: int, answers: int, shape: CellShape | None = None) -> "LstmPlan":
        return cls(words, answers, shape, word=300, hidden=512, layers=2, classifier=1_024)


class QuestionLstm(nn.Module):
    """Words, and cells if it sees, to scores of answers; programs are not read."""

    def __init__(self, plan: LstmPlan) -> None:
        super().__init__()
        self.words = Words(plan.words, plan.word, plan.hidden, both=False, layers=plan.layers)
        self.stem = None if plan.shape is None else Stem(plan.shape, plan.width)
        told = plan.hidden + (0 if plan.shape is None else plan.width)
        self.classifier = nn.Sequential(
            nn.Linear(told, plan.classifier), nn.ReLU(), nn.Linear(plan.classifier, plan.answers)
        )

    def forward(self, word: Tensor, length: Tensor, cells: Cells, programs: Layout | None = None) -> Tensor:
        _, heard = self.words(word, length)
        if self.stem is not None:
            seen = self.stem(cells)
            heard = torch.cat([heard, highest(seen.features, seen.there).to(heard.dtype)], dim=1)
        return self.classifier(heard)
