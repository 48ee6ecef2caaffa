"""Learning to write programs: from programs, or from answers alone.

With programs a generator learns every token (`ProgramObjective`). Without, it draws a program, which is run, and is
told whether the answer was right (`RewardObjective`): REINFORCE, with a running mean of the rewards as baseline. A
program that is ill-formed or has no answer is wrong.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn

from recombine.solvers.networks.program_generator import LONGEST, ProgramGenerator
from recombine.solvers.programs import END, NULL
from recombine.solvers.questions import Questions
from recombine.solvers.training.batches import Stage

AT_ONCE = 512
"""Questions that are read at once when nothing is learnt from them."""
KEPT = 0.9
"""How much of the mean of rewards stays at every step."""

Reward = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Tokens, uint8[n, t], and rows of the questions, to rewards, float[n]."""


def by_length(questions: Questions) -> np.ndarray:
    """What makes questions alike for a generator: their length, int[n]."""
    return questions.length.astype(np.int64)


@dataclass(frozen=True, eq=False)
class ProgramObjective:
    """The objective: write the program of a question."""

    network: ProgramGenerator
    questions: Questions
    stages: tuple[Stage, ...]
    validation: Callable[[ProgramGenerator], Mapping[str, float]]

    def loss(self, rows: np.ndarray) -> Tensor:
        device = _device(self.network)
        token = torch.from_numpy(ended(self.questions.token[rows], self.questions.size[rows])).to(device)
        return self.network.loss(*words(self.questions, rows, device), token)

    def validate(self) -> Mapping[str, float]:
        return self.validation(self.network)


class Rewarded(nn.Module):
    """A generator with the running mean of its rewards, which is part of what a checkpoint keeps."""

    def __init__(self, generator: ProgramGenerator) -> None:
        super().__init__()
        self.generator = generator
        self.register_buffer("mean", torch.zeros(()))


@dataclass(frozen=True, eq=False)
class RewardObjective:
    """The objective: write a program whose answer is right."""

    network: Rewarded
    questions: Questions
    stages: tuple[Stage, ...]
    reward: Reward
    validation: Callable[[ProgramGenerator], Mapping[str, float]]

    def loss(self, rows: np.ndarray) -> Tensor:
        generator, mean = self.network.generator, self.network.get_buffer("mean")
        word, length = words(self.questions, rows, mean.device)
        token = generator.write(word, length, draw=True)
        found = torch.from_numpy(self.reward(token.cpu().numpy().astype(np.uint8), rows)).to(mean)
        loss = -((found - mean) * generator.log_likelihood(word, length, token)).mean()
        mean.mul_(KEPT).add_((1 - KEPT) * found.mean())
        return loss

    def validate(self) -> Mapping[str, float]:
        return self.validation(self.network.generator)


def words(questions: Questions, rows: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
    """The words of some questions and their lengths: int64[n, longest], int64[n]."""
    length = questions.length[rows].astype(np.int64)
    word = questions.word[rows, : int(length.max())].astype(np.int64)
    return torch.from_numpy(word).to(device), torch.from_numpy(length).to(device)


def ended(token: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Programs with END after the last token, int64[n, longest]."""
    found = np.pad(token[:, : int(size.max())].astype(np.int64), ((0, 0), (0, 1)), constant_values=NULL)
    found[np.arange(len(found)), size] = END
    return found


def write(network: ProgramGenerator, questions: Questions, longest: int = LONGEST) -> np.ndarray:
    """The likeliest program of every question, token by token, uint8[n, longest], NULL at the end."""
    found = np.full((len(questions), longest), NULL, np.uint8)
    for rows in groups(by_length(questions), AT_ONCE):
        said = network.write(*words(questions, rows, _device(network)), longest).cpu().numpy()
        found[rows, : said.shape[1]] = np.where(said == END, NULL, said)
    return found


@torch.no_grad()
def surprise(network: ProgramGenerator, questions: Questions) -> float:
    """The mean surprise per token."""
    lost, asked = 0.0, int((questions.size + 1).sum())
    for rows in groups(by_length(questions), AT_ONCE):
        token = torch.from_numpy(ended(questions.token[rows], questions.size[rows])).to(_device(network))
        counted = int((questions.size[rows] + 1).sum())
        lost += counted * float(network.loss(*words(questions, rows, _device(network)), token))
    return lost / asked


def exact(token: np.ndarray, questions: Questions) -> np.ndarray:
    """Which programs are the questions' own, token for token, bool[n]."""
    width = max(token.shape[1], questions.token.shape[1])
    one, other = (np.pad(x, ((0, 0), (0, width - x.shape[1]))) for x in (token, questions.token))
    return (one == other).all(axis=1)


def groups(alike: np.ndarray, at_once: int) -> Iterator[np.ndarray]:
    """Rows that are alike together, at most so many at once."""
    order = np.argsort(alike, kind="stable")
    return (order[start : start + at_once] for start in range(0, len(order), at_once))


def _device(network: nn.Module) -> torch.device:
    return next(chain(network.parameters(), network.buffers())).device
