"""FiLM: a residual network over the cells whose features the question scales and shifts."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recombine.solvers.networks.cells import Around, Cells, CellShape, Classifier, Stem
from recombine.solvers.networks.lstm import Words
from recombine.solvers.programs import Layout


@dataclass(frozen=True)
class FilmPlan:
    """What decides a FiLM network."""

    words: int
    answers: int
    shape: CellShape
    width: int = 128
    blocks: int = 4
    word: int = 128
    hidden: int = 256
    """Of the GRU that reads."""
    cells: int = 256
    """What the classifier makes of each cell."""
    classifier: int = 256

    @classmethod
    def paper(cls, words: int, answers: int, shape: CellShape) -> "FilmPlan":
        return cls(words, answers, shape, word=200, hidden=4_096, cells=512, classifier=1_024)


class Film(nn.Module):
    """Words and cells to scores of answers; programs are not read."""

    def __init__(self, plan: FilmPlan) -> None:
        super().__init__()
        self.plan, places = plan, plan.shape.places
        self.stem = Stem(plan.shape, plan.width)
        self.words = Words(plan.words, plan.word, plan.hidden, both=False, kind="gru")
        self.coefficients = nn.Linear(plan.hidden, plan.blocks * 2 * plan.width)
        self.blocks = nn.ModuleList(_Block(plan) for _ in range(plan.blocks))
        self.classifier = Classifier(plan.width, plan.cells, plan.classifier, plan.answers, places)

    def forward(self, word: Tensor, length: Tensor, cells: Cells, programs: Layout | None = None) -> Tensor:
        seen = self.stem(cells)
        coefficients = self.coefficients(self.words(word, length)[1]).view(len(word), self.plan.blocks, 1, -1)
        x, place = seen.features, seen.place
        for number, block in enumerate(self.blocks):
            scale, shift = coefficients[:, number].chunk(2, dim=-1)
            x = block(torch.cat([x, place.to(x.dtype)], dim=-1), scale + 1, shift, seen.there)
        return self.classifier(torch.cat([x, place.to(x.dtype)], dim=-1), seen.there)


class _Block(nn.Module):
    """A layer for each cell, one that looks around, normalised, scaled and shifted, and the first one added."""

    def __init__(self, plan: FilmPlan) -> None:
        super().__init__()
        self.each = nn.Linear(plan.width + plan.shape.places, plan.width)
        self.around = Around(plan.width, plan.width, plan.shape.grid)
        self.norm = nn.BatchNorm1d(plan.width, affine=False)

    def forward(self, x: Tensor, scale: Tensor, shift: Tensor, there: Tensor | None) -> Tensor:
        x = torch.relu(self.each(x))
        return x + torch.relu(torch.addcmul(shift, scale, self._normed(self.around(x, there), there)))

    def _normed(self, x: Tensor, there: Tensor | None) -> Tensor:
        """Normalised over the cells that are there."""
        if there is None:
            return self.norm(x.flatten(0, 1)).view_as(x)
        found = self.norm(x[there])
        return torch.zeros_like(x, dtype=found.dtype).masked_scatter(there[..., None], found)
