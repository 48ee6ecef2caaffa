"""Tensor-NMN: modules that give cells.

Every token has a residual block of its own; a module with two inputs first makes one of them. Only `scene` looks at the
scene. Two variants take one difference from Vector-NMN at a time: with `shortcut` every module also sees the scene;
with `film` all modules share their weights, which FiLM coefficients of the token condition, and also see the scene.
Equal tokens of a whole batch of programs run together.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from recombine.solvers.networks.cells import Around, Cells, CellShape, Classifier, Near, Stem
from recombine.solvers.networks.modules import Call, put, schedule, take
from recombine.solvers.programs import SPECIAL, Functions, Layout

BEGIN = 0.2
"""How large the second layer of a residual block is at the beginning, beside the first."""


@dataclass(frozen=True)
class TensorPlan:
    """What decides a Tensor-NMN."""

    functions: Functions
    answers: int
    shape: CellShape
    variant: str = ""
    width: int = 128
    cells: int = 256
    """What the classifier makes of each cell."""
    classifier: int = 256

    @classmethod
    def paper(cls, functions: Functions, answers: int, shape: CellShape, variant: str = "") -> "TensorPlan":
        return cls(functions, answers, shape, variant, cells=512, classifier=1_024)


class TensorNMN(nn.Module):
    """Programs and cells to scores of answers; the words of the question are not read."""

    def __init__(self, plan: TensorPlan) -> None:
        super().__init__()
        self.plan = plan
        self.stem = Stem(plan.shape, plan.width)
        arities = plan.functions.arities
        if plan.variant == "film":
            self.shared = FilmModule(plan)
            self.kind = (arities > 0).astype(np.int64)
        else:
            self.own = nn.ModuleList(OwnModule(plan, int(arity)) for arity in arities[SPECIAL:])
            self.kind = np.maximum(np.arange(len(arities)) - SPECIAL, 0)
        self.classifier = Classifier(plan.width, plan.cells, plan.classifier, plan.answers)

    @torch.compiler.disable  # its graph is another one for every program
    def forward(self, word: Tensor | None, length: Tensor | None, cells: Cells, programs: Layout) -> Tensor:
        seen = self.stem(cells)
        batch = schedule(programs, self.kind, seen.features.device)
        table = seen.features.new_zeros(batch.nodes, *seen.features.shape[1:])
        for call in batch.calls:
            table = self._run(table, call, seen)
        return self.classifier(take(table, batch.root)[1], seen.there)

    def _run(self, table: Tensor, call: Call, seen: Cells) -> Tensor:
        inputs = []
        if len(call.left):
            table, left = take(table, call.left)
            inputs.append(left)
        if len(call.right):
            table, right = take(table, call.right)
            inputs.append(right)
        there = None if seen.there is None else seen.there.index_select(0, call.question)
        scene = seen.features.index_select(0, call.question) if self._sees(inputs) else None
        if self.plan.variant == "film":
            found = self.shared(inputs, scene, there, call.token)
        else:
            found = self.own[call.kind](inputs, scene, there)
        return put(table, found, call.row)

    def _sees(self, inputs: list[Tensor]) -> bool:
        return not inputs or bool(self.plan.variant)

    def one_by_one(self, cells: Cells, programs: Layout) -> Tensor:
        """The same plainly: one program at a time, one node after the other."""
        seen = self.stem(cells)
        return torch.cat(
            [self._one(seen.rows(torch.tensor([i])), programs.rows(slice(i, i + 1))) for i in range(len(programs))]
        )

    def look(self, cells: Cells, program: Layout) -> dict[int, tuple[Tensor, Tensor]]:
        """Of one program, by the place of each node: each cell's share of what it gives, float[1, k], and the scores of
        answers to that."""
        seen, found = self.stem(cells), dict[int, tuple[Tensor, Tensor]]()
        self._one(seen, program, found)
        return dict(sorted(found.items()))

    def _one(self, seen: Cells, program: Layout, told: dict[int, tuple[Tensor, Tensor]] | None = None) -> Tensor:
        given: dict[int, Tensor] = {}
        for at in reversed(np.flatnonzero(program.token[0]).tolist()):
            token, places = int(program.token[0, at]), (int(program.left[0, at]), int(program.right[0, at]))
            inputs = [given[place] for place in places if place >= 0]
            scene = seen.features if self._sees(inputs) else None
            if self.plan.variant == "film":
                given[at] = self.shared(inputs, scene, seen.there, torch.tensor([token]))
            else:
                given[at] = self.own[token - SPECIAL](inputs, scene, seen.there)
            if told is not None:
                size = given[at].norm(dim=-1)
                told[at] = size / size.sum(dim=-1, keepdim=True).clamp(min=1e-9), self.classifier(given[at], seen.there)
        scores: Tensor = self.classifier(given[0], seen.there)
        return scores


def shrink(layer: Around) -> None:
    """Let a residual block begin near the identity: twenty of them may stand upon one another."""
    with torch.no_grad():
        for weight in layer.parameters():
            weight.mul_(BEGIN)


class OwnModule(nn.Module):
    """The residual block of one token."""

    def __init__(self, plan: TensorPlan, arity: int) -> None:
        super().__init__()
        width, parts = plan.width, arity + (plan.variant == "shortcut")
        self.join = Near(parts * width, width, None) if parts > 1 else None
        self.first, self.second = (Around(width, width, plan.shape.grid) for _ in range(2))
        shrink(self.second)

    def forward(self, inputs: list[Tensor], scene: Tensor | None, there: Tensor | None) -> Tensor:
        parts = inputs if scene is None else [*inputs, scene]
        x = parts[0] if self.join is None else torch.relu(self.join(torch.cat(parts, dim=-1)))
        return torch.relu(x + self.second(torch.relu(self.first(x, there)), there))


class FilmModule(nn.Module):
    """One residual block for all tokens, conditioned by the token; missing inputs are zero."""

    def __init__(self, plan: TensorPlan) -> None:
        super().__init__()
        width = plan.width
        self.token = nn.Embedding(len(plan.functions), width)
        self.hidden, self.coefficients = nn.Linear(width, 3 * width), nn.Linear(3 * width, 4 * width)
        self.left, self.right, self.scene = (Near(width, width, None) for _ in range(3))
        self.first, self.second = (Around(width, width, plan.shape.grid) for _ in range(2))
        shrink(self.second)

    def forward(self, inputs: list[Tensor], scene: Tensor, there: Tensor | None, token: Tensor) -> Tensor:
        x = self.scene(scene)
        if inputs:
            x = x + self.left(inputs[0])
        if len(inputs) > 1:  # the second inputs of the first nodes
            two = len(inputs[1])
            x = torch.cat([x[:two] + self.right(inputs[1]), x[two:]])
        x = torch.relu(x)
        shift, scale, shift2, scale2 = self.coefficients(torch.relu(self.hidden(self.token(token))))[:, None].chunk(
            4, -1
        )
        y = torch.relu(self.first(torch.addcmul(shift, 4 * torch.sigmoid(2 * scale) - 1, x), there))
        return torch.relu(x + self.second(torch.addcmul(shift2, 4 * torch.sigmoid(2 * scale2) - 1, y), there))
