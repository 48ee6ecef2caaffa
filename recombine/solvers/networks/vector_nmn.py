"""Vector-NMN: modules that give vectors.

All modules are one: a residual block that looks at the scene, with FiLM coefficients that come from the module's token
and the vectors of its inputs, and the largest values over all cells at its end. A whole batch of programs runs level by
level.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from recombine.solvers.networks.cells import Cells, CellShape, Near, Stem, highest
from recombine.solvers.networks.modules import Call, put, schedule, take
from recombine.solvers.programs import Functions, Layout


@dataclass(frozen=True)
class VectorPlan:
    """What decides a Vector-NMN."""

    functions: Functions
    answers: int
    shape: CellShape
    blocks: int = 2
    width: int = 128
    hidden: int = 384
    """Of the layer from which the coefficients come."""
    shared: bool = True
    """Whether all coefficients come from one hidden layer, or each pair from its own, as in the paper."""
    classifier: int = 256
    norm: bool = True
    """Whether a module's output is normalised, which the paper does not do."""

    @classmethod
    def paper(cls, functions: Functions, answers: int, shape: CellShape, blocks: int = 2) -> "VectorPlan":
        return cls(functions, answers, shape, blocks, shared=False, classifier=1_024, norm=False)


class VectorNMN(nn.Module):
    """Programs and cells to scores of answers; the words of the question are not read."""

    def __init__(self, plan: VectorPlan) -> None:
        super().__init__()
        self.plan = plan
        width, layers = plan.width, 2 * plan.blocks
        hidden = plan.hidden if plan.shared else layers * plan.hidden
        self.stem = Stem(plan.shape, width)
        self.token = nn.Embedding(len(plan.functions), width)
        self.from_token = nn.Linear(width, hidden)
        self.from_left, self.from_right = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.coefficients = nn.ModuleList(nn.Linear(plan.hidden, 2 * width) for _ in range(layers))
        blocks = [Near(width, width, plan.shape.grid) for _ in range(layers)]
        self.layers = nn.ModuleList(blocks)
        self.classifier = nn.Sequential(
            nn.Linear(width, plan.classifier), nn.ReLU(), nn.Linear(plan.classifier, plan.answers)
        )
        if not plan.norm:  # as PyTorch begins layers: what is not normalised would grow from module to module
            for layer in blocks:
                nn.init.kaiming_uniform_(layer.weight, a=5**0.5)
        # Leaves first, all others together: whatever is ready runs.
        self.kind = (plan.functions.arities > 0).astype(np.int64)

    @torch.compiler.disable  # its graph is another one for every program
    def forward(self, word: Tensor | None, length: Tensor | None, cells: Cells, programs: Layout) -> Tensor:
        seen = self.stem(cells)
        batch = schedule(programs, self.kind, seen.features.device)
        table = seen.features.new_empty(batch.nodes, self.plan.width)
        tokens = self.from_token(self.token.weight)  # what a token brings, once for all nodes
        for call in batch.calls:
            table = self._run(table, call, seen, tokens)
        return self.classifier(take(table, batch.root)[1])

    def _run(self, table: Tensor, call: Call, seen: Cells, tokens: Tensor) -> Tensor:
        heard = tokens.index_select(0, call.token)
        if len(call.left):
            table, left = take(table, call.left)
            heard = heard + self.from_left(left)
        if two := len(call.right):
            table, right = take(table, call.right)
            heard = torch.cat([heard[:two] + self.from_right(right), heard[two:]])
        there = None if seen.there is None else seen.there.index_select(0, call.question)
        found = self.module(seen.features.index_select(0, call.question), there, torch.relu(heard))
        return put(table, found, call.row)

    def module(self, x: Tensor, there: Tensor | None, hidden: Tensor) -> Tensor:
        """float[m, k, width], float[m, hidden] -> float[m, width]"""
        return self._pooled(self._blocks(x, hidden), there)

    def _blocks(self, x: Tensor, hidden: Tensor) -> Tensor:
        for block in range(self.plan.blocks):
            before = x
            for layer in (2 * block, 2 * block + 1):
                x = self._conditioned(x, hidden, layer)
                x = torch.relu(x + before if layer % 2 else x)
        return x

    def _pooled(self, x: Tensor, there: Tensor | None) -> Tensor:
        found = highest(x, there)
        return layer_norm(found, found.shape[-1:]) if self.plan.norm else found

    def _conditioned(self, x: Tensor, hidden: Tensor, layer: int) -> Tensor:
        if not self.plan.shared:
            hidden = hidden[:, layer * self.plan.hidden : (layer + 1) * self.plan.hidden]
        shift, scale = self.coefficients[layer](hidden)[:, None].chunk(2, dim=-1)
        # 1 + 2 tanh(x) is 4 sigmoid(2 x) - 1, which is faster on a CPU.
        x = torch.addcmul(shift, 4 * torch.sigmoid(2 * scale) - 1, x)
        found: Tensor = self.layers[layer](x)
        return found

    def one_by_one(self, cells: Cells, programs: Layout) -> Tensor:
        """The same plainly: one program at a time, one node after the other."""
        seen = self.stem(cells)
        return torch.cat(
            [self._one(seen.rows(torch.tensor([i])), programs.rows(slice(i, i + 1))) for i in range(len(programs))]
        )

    def look(self, cells: Cells, program: Layout) -> dict[int, tuple[Tensor, Tensor]]:
        """Of one program, by the place of each node: the share of largest values that each cell has, float[1, k], and
        the scores of answers to its vector."""
        seen, found = self.stem(cells), dict[int, tuple[Tensor, Tensor]]()
        self._one(seen, program, found)
        return dict(sorted(found.items()))

    def _one(self, seen: Cells, program: Layout, told: dict[int, tuple[Tensor, Tensor]] | None = None) -> Tensor:
        zero = seen.features.new_zeros(1, self.plan.width)
        given: dict[int, Tensor] = {-1: zero}
        for at in reversed(np.flatnonzero(program.token[0]).tolist()):
            left, right = (given[int(column[0, at])] for column in (program.left, program.right))
            token = torch.tensor([int(program.token[0, at])])
            heard = self.from_token(self.token(token)) + self.from_left(left) + self.from_right(right)
            x = self._blocks(seen.features, torch.relu(heard))
            given[at] = self._pooled(x, seen.there)
            if told is not None:
                largest = torch.nn.functional.one_hot(x.argmax(dim=1), x.shape[1]).float().mean(dim=1)
                told[at] = largest, self.classifier(given[at])
        scores: Tensor = self.classifier(given[0])
        return scores
