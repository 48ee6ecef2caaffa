"""A tiny objective with all that a training can forget: noise, running means, momentum, a rate that falls."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from recombine.solvers.training.batches import Stage
from recombine.solvers.training.loop import Progress, Watch, train, unwatched
from recombine.solvers.training.run import Run
from recombine.solvers.training.seeding import seeded
from recombine.solvers.training.settings import Training
from recombine.store.key import Key

KEY = Key(3) / "tiny"
TRAINING = Training(
    batch=8, rate=0.05, epochs=6, slower_by=0.5, slower_after=1, clip=1.0, checkpoint_every=0.0, validate_every=3
)


class Tiny:
    """Which of two halves of a vector is larger."""

    def __init__(self, key: Key = KEY, stages: tuple[Stage, ...] = (Stage(np.arange(36)),)) -> None:
        with seeded(key / "network"):
            self.network = nn.Sequential(
                nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2)
            )
        self.stages = stages
        self.x = torch.from_numpy(KEY.rng().normal(size=(48, 6)).astype(np.float32))
        self.y = (self.x[:, :3].sum(dim=1) > self.x[:, 3:].sum(dim=1)).long()
        self.asked: list[np.ndarray] = []

    def loss(self, rows: np.ndarray) -> Tensor:
        self.asked.append(rows)
        return nn.functional.cross_entropy(self.network(self.x[rows]), self.y[rows])

    def validate(self) -> dict[str, float]:
        return {"loss": float(nn.functional.cross_entropy(self.network(self.x[36:]), self.y[36:]))}


def run_in(folder: Path, training: Training = TRAINING, name: str = "tiny") -> Run:
    identity = {"network": {"name": name, "version": 1}, "data": "numbers", "training": training.fixed()}
    return Run(folder, identity, {"epochs": training.epochs})


def learn(folder: Path, training: Training = TRAINING, watch: Watch = unwatched) -> Tiny:
    objective = Tiny()
    train(objective, training, run_in(folder, training), KEY, watch)
    return objective


def checkpoints(folder: Path) -> list[bytes]:
    return [(folder / "checkpoints" / f"{name}.safetensors").read_bytes() for name in ("last", "best")]


LONG = 150
"""Epochs that take some seconds."""

if __name__ == "__main__":  # a training that tells its steps, and waits or not, to be killed
    at_once = len(sys.argv) > 2

    def tell(progress: Progress) -> None:
        print(progress.step, flush=True)
        if not at_once:
            sys.stdin.readline()

    learn(Path(sys.argv[1]), replace(TRAINING, epochs=LONG) if at_once else TRAINING, watch=tell)
