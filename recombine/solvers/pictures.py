"""Solvers that look at pictures and name a class: a network behind an eye.

The solver is handed scenes and draws them itself, so it sees what a picture shows and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recombine.solvers.training.batches import Stage
from recombine.solvers.training.loop import settled
from recombine.solvers.training.settings import Training
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import Scenes

HELD_BACK = 0.1
"""The share of every class that is held back for validation."""
AT_ONCE = 256
"""Pictures that are answered at once."""

Eye = Callable[[Scenes], np.ndarray]
"""Scenes to pictures, uint8[n, h, w, 3]."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures and their classes, as PyTorch takes them."""

    pixels: Tensor  # uint8[n, 3, h, w]
    target: Tensor  # int64[n]

    def take(self, rows: np.ndarray, like: Tensor) -> tuple[Tensor, Tensor]:
        """Some pictures with values from 0 to 1, and their classes, where the tensor `like` is."""
        place = torch.from_numpy(np.ascontiguousarray(rows))
        return self.pixels[place].to(like.device).float() / 255, self.target[place].to(like.device)


@dataclass(frozen=True, eq=False)
class Classes:
    """The objective: name the class of a picture."""

    network: nn.Module
    pictures: Pictures
    stages: tuple[Stage, ...]
    held: np.ndarray  # int[n]: the rows of the validation

    def loss(self, rows: np.ndarray) -> Tensor:
        pixels, target = self.pictures.take(rows, next(self.network.parameters()))
        return cross_entropy(self.network(pixels).float(), target)

    def validate(self) -> Mapping[str, float]:
        lost, right = 0.0, 0
        for start in range(0, len(self.held), AT_ONCE):
            pixels, target = self.pictures.take(self.held[start : start + AT_ONCE], next(self.network.parameters()))
            said = self.network(pixels).float()
            lost += float(cross_entropy(said, target, reduction="sum"))
            right += int((said.argmax(dim=1) == target).sum())
        return {"loss": lost / len(self.held), "accuracy": right / len(self.held)}


@dataclass(frozen=True, eq=False)
class PictureSolver:
    """A network as a solver."""

    network: nn.Module
    eye: Eye
    training: Training

    def predict(self, test: Observed) -> np.ndarray:
        return answer(self.network, self.eye, test, self.training)


def classes(
    network: nn.Module, eye: Eye, examples: Examples, key: Key, first: tuple[str, ...] = (), first_epochs: int = 0
) -> Classes:
    """What is learnt from examples, some of which are held back; at first, for so many epochs, only some answers."""
    held = held_back(examples.target, key / "validation")
    pictures = Pictures(_pixels(eye, examples.scenes, examples.scene), torch.from_numpy(examples.target))
    stages: tuple[Stage, ...] = (Stage(np.flatnonzero(~held)),)
    if first_epochs:
        early = np.isin(examples.target, [examples.answers.index(name) for name in first])
        stages = (Stage(np.flatnonzero(~held & early), first_epochs), *stages)
    return Classes(network, pictures, stages, np.flatnonzero(held))


def answer(network: nn.Module, eye: Eye, test: Observed, training: Training) -> np.ndarray:
    """The probability of each answer for every asked row, float[asked, answers]."""
    asked = test.scene[~test.given]
    parts: list[np.ndarray] = []
    with settled(training), torch.no_grad():
        network.to(training.device).eval()
        for start in range(0, len(asked), AT_ONCE):
            pixels = _pixels(eye, test.scenes, asked[start : start + AT_ONCE]).to(training.device)
            parts.append(torch.softmax(network(pixels.float() / 255).float(), dim=1).cpu().numpy())
    return np.concatenate(parts) if parts else np.zeros((0, len(test.answers)))


def held_back(target: np.ndarray, key: Key, share: float = HELD_BACK) -> np.ndarray:
    """Which rows are held back: the same share of every class, at least one row, bool[n]."""
    held = np.zeros(len(target), bool)
    for label in np.unique(target):
        rows = np.flatnonzero(target == label)
        chosen = (key / int(label)).rng().permutation(rows)
        held[chosen[: max(1, round(share * len(rows)))]] = True
    return held


def _pixels(eye: Eye, scenes: Scenes, rows: np.ndarray) -> Tensor:
    """The pictures of some scenes, uint8[n, 3, h, w]."""
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(eye(scenes[rows]), -1, 1)))
