"""MAC: memory, attention and composition.

A biLSTM reads the question. In every step a control vector attends to words, and a memory reads from the cells what
control and memory ask for, and is written anew. No gate, no attention to earlier steps; the question goes into the
output. What does not depend on the memory is worked out once for all steps.

A set of objects has one cell more, in which there is nothing, as most cells of a map show the ground: what is read is a
mean, and without something else to look at one object and three would be read alike.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from recombine.solvers.networks.cells import Cells, CellShape, Stem
from recombine.solvers.networks.lstm import Words, spoken
from recombine.solvers.programs import Layout


@dataclass(frozen=True)
class MacPlan:
    """What decides a MAC network; the biLSTM has half the width on each side."""

    words: int
    answers: int
    shape: CellShape
    width: int = 128
    steps: int = 8
    word: int = 128

    @classmethod
    def paper(cls, words: int, answers: int, shape: CellShape) -> "MacPlan":
        return cls(words, answers, shape, width=512, steps=12, word=300)


class Mac(nn.Module):
    """Words and cells to scores of answers; programs are not read."""

    def __init__(self, plan: MacPlan) -> None:
        super().__init__()
        self.plan, width = plan, plan.width
        self.stem = Stem(plan.shape, width)
        self.words = Words(plan.words, plan.word, width // 2)
        self.begin_control, self.begin_memory = (nn.Parameter(torch.zeros(width)) for _ in range(2))
        self.nothing = nn.Parameter(torch.zeros(width)) if plan.shape.grid is None else None
        self.position = nn.Linear(width, plan.steps * width)
        self.control, self.of_question = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.to_word = nn.Linear(width, 1, bias=False)
        self.memory, self.cell = nn.Linear(width, width), nn.Linear(width, width)
        self.together, self.alone = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.to_cell = nn.Linear(width, 1, bias=False)
        self.write = nn.Linear(2 * width, width)
        self.hidden, self.out = nn.Linear(2 * width, width), nn.Linear(width, plan.answers)
        for layer in self.modules():  # what is multiplied twice in a step would begin too small as PyTorch begins it
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def forward(self, word: Tensor, length: Tensor, cells: Cells, programs: Layout | None = None) -> Tensor:
        return self.look(word, length, cells)[0]

    def look(self, word: Tensor, length: Tensor, cells: Cells) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """The scores, and for every step the attention to words, float[n, t], and to cells, float[n, k]."""
        seen = self._with_nothing(self.stem(cells))
        heard, question = self.words(word, length)
        controls = self._controls(heard, question, spoken(word, length))
        known, alone = self.cell(seen.features), self.alone(seen.features)
        memory = self.begin_memory.expand(len(question), -1)
        looks = []
        for attended, control in controls:
            both = elu(self.together(self.memory(memory)[:, None] * known) + alone)
            where = _attend(both, control * self.to_cell.weight, seen.there)
            read = (where[..., None] * seen.features).sum(dim=1)
            memory = self.write(torch.cat([read, memory], dim=1))
            looks.append((attended, where))
        return self.out(elu(self.hidden(torch.cat([memory, question], dim=1)))), looks

    def _with_nothing(self, seen: Cells) -> Cells:
        if self.nothing is None:
            return seen
        features = torch.cat([seen.features, self.nothing.expand(len(seen.features), 1, -1)], dim=1)
        there = None if seen.there is None else nn.functional.pad(seen.there, (0, 1), value=True)
        return seen._replace(features=features, there=there)

    def _controls(self, heard: Tensor, question: Tensor, there: Tensor | None) -> list[tuple[Tensor, Tensor]]:
        """For every step the attention to words and what it gives."""
        asked = self.of_question(self.position(question).view(len(question), self.plan.steps, -1)).unbind(dim=1)
        control, found = self.begin_control.expand(len(question), -1), []
        for part in asked:
            where = _attend(heard, (self.control(control) + part) * self.to_word.weight, there)
            control = (where[..., None] * heard).sum(dim=1)
            found.append((where, control))
        return found


def _attend(values: Tensor, query: Tensor, there: Tensor | None) -> Tensor:
    """How much each value is attended to: float[n, k, d], float[n, d] -> float[n, k]."""
    score = (values * query[:, None]).sum(dim=-1)  # several times faster on a CPU than products of thin matrices
    if there is not None:
        score = score.masked_fill(~there, -torch.inf)
    return score.softmax(dim=1)
