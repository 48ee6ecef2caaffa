"""Learning to answer questions about scenes: from words, from programs, with any view."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recombine.solvers.grounding import Grounding
from recombine.solvers.networks.cells import Cells
from recombine.solvers.networks.mdetr import Mdetr, Targets
from recombine.solvers.networks.nscl import ConceptLearner
from recombine.solvers.networks.readers import MODULAR
from recombine.solvers.parsing import groups, words
from recombine.solvers.programs import Layout
from recombine.solvers.questions import Questions
from recombine.solvers.training.batches import Stage
from recombine.solvers.views import View

AT_ONCE = 256
"""Questions that are answered at once when nothing is learnt from them."""


def alike(name: str, questions: Questions, view: View) -> np.ndarray:
    """What makes questions alike for a network: as many cells, and as many words or as high a program, int[n]."""
    return view.cells(questions.image) * 256 + (questions.depth if name in MODULAR else questions.length)


@dataclass(frozen=True, eq=False)
class AnswerObjective:
    """The objective: answer a question."""

    network: nn.Module
    view: View
    questions: Questions
    stages: tuple[Stage, ...]
    validation: Callable[[nn.Module], Mapping[str, float]]

    def loss(self, rows: np.ndarray) -> Tensor:
        said = scores(self.network, self.view, self.questions, rows)
        answer = torch.from_numpy(self.questions.answer[rows].astype(np.int64)).to(said.device)
        return cross_entropy(said.float(), answer)

    def validate(self) -> Mapping[str, float]:
        return self.validation(self.network)


@dataclass(frozen=True, eq=False)
class ConceptObjective(AnswerObjective):
    """The objective of a concept learner: answer a question by its program."""

    network: ConceptLearner

    def loss(self, rows: np.ndarray) -> Tensor:
        device = next(self.network.parameters()).device
        answer = torch.from_numpy(self.questions.answer[rows].astype(np.int64)).to(device)
        cells = self.view(self.questions.image[rows]).to(device)
        return self.network.loss(cells, self.questions.programs.rows(rows), answer)


@dataclass(frozen=True, eq=False)
class GroundedObjective(AnswerObjective):
    """The objective of mDETR: find what the words speak of, and answer; rows beyond all questions are to find alone."""

    network: Mdetr
    grounding: Grounding

    def loss(self, rows: np.ndarray) -> Tensor:
        many = len(self.questions)
        answered, rows = bool((rows < many).all()), rows % many
        seen = grounded_cells(self.network, self.view, self.questions, self.grounding, rows)
        answer = torch.from_numpy(self.questions.answer[rows].astype(np.int64)).to(seen[0].device)
        return self.network.loss(*seen, answer if answered else None)


def grounded_cells(
    network: Mdetr, view: View, questions: Questions, grounding: Grounding, rows: np.ndarray
) -> tuple[Tensor, Tensor, Cells, Targets]:
    """Words, lengths, pictures with boxes, and what the words speak of."""
    device = next(network.parameters()).device
    word, length = words(questions, rows, device)
    cells = view(questions.image[rows]).to(device)
    boxes = cells.place if cells.which is None else cells.place[cells.which]
    links = torch.from_numpy(grounding.words(rows, boxes.shape[1], word.shape[1])).to(device)
    return word, length, cells, Targets(links, boxes)


@torch.no_grad()
def located(network: Mdetr, view: View, questions: Questions, grounding: Grounding) -> float:
    """The share of objects spoken of whose box is found by their words."""
    found = [
        network.located(*grounded_cells(network, view, questions, grounding, rows))
        for rows in groups(questions.image.astype(np.int64), AT_ONCE)
    ]
    return float(torch.cat(found).float().mean())


def scores(
    network: nn.Module, view: View, questions: Questions, rows: np.ndarray, programs: Layout | None = None
) -> Tensor:
    """The scores of all answers to some questions, float[n, answers]; other programs may stand for their own."""
    device = next(network.parameters()).device
    word, length = words(questions, rows, device)
    given = (questions.programs if programs is None else programs).rows(rows)
    found: Tensor = network(word, length, view(questions.image[rows]).to(device), given)
    return found


@torch.no_grad()
def answer(
    network: nn.Module, view: View, questions: Questions, order: np.ndarray, programs: Layout | None = None
) -> np.ndarray:
    """The probabilities of all answers, float32[n, answers]; questions that `order` says are alike go together."""
    found: np.ndarray | None = None
    for rows in groups(order, AT_ONCE):
        said = scores(network, view, questions, rows, programs).float().softmax(dim=1).cpu().numpy()
        if found is None:
            found = np.zeros((len(questions), said.shape[1]), np.float32)
        found[rows] = said
    assert found is not None
    return found


def on_questions(network: nn.Module, view: View, questions: Questions, order: np.ndarray) -> dict[str, float]:
    """The loss and the accuracy on some questions."""
    said = answer(network, view, questions, order)
    right = said[np.arange(len(said)), questions.answer]
    with np.errstate(divide="ignore"):
        loss = -np.log(np.maximum(right, 1e-30)).mean()
    return {"loss": float(loss), "accuracy": float((said.argmax(axis=1) == questions.answer).mean())}


@dataclass(frozen=True)
class Majority:
    """The most frequent answer of every type of question, by the function that gives the answer."""

    answers: Mapping[int, int]

    @classmethod
    def of(cls, questions: Questions) -> "Majority":
        """From training questions."""
        kinds = questions.token[:, 0]
        return cls({int(kind): int(np.bincount(questions.answer[kinds == kind]).argmax()) for kind in np.unique(kinds)})

    def __call__(self, questions: Questions) -> np.ndarray:
        """An answer for every question, uint8[n]."""
        most = max(self.answers, default=0)
        table = np.array([self.answers.get(kind, 0) for kind in range(max(most, int(questions.token[:, 0].max())) + 1)])
        return table[questions.token[:, 0]].astype(np.uint8)
