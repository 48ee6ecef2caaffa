"""Networks for a `ConceptStudy`: a row is what can be counted in the scene, and which words the concept has."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from recombine.benchmarks.concept_study import ConceptStudy
from recombine.benchmarks.networks import Job, Networks
from recombine.language.expr import Symbol, subterms
from recombine.metrics.intervals import Interval
from recombine.solvers.features import bindings
from recombine.solvers.training.batches import Stage
from recombine.solvers.training.seeding import seeded
from recombine.store.engine import Engine
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from recombine.tasks.examples import Examples

HELD_BACK = 10
"""One row in so many validates."""


class Classified:
    """Which answer a row has; every tenth row is held back to validate."""

    def __init__(self, network: nn.Module, rows: np.ndarray, answer: np.ndarray) -> None:
        self.network, self.rows, self.answer = network, torch.from_numpy(rows), torch.from_numpy(answer)
        held = np.arange(len(rows)) % HELD_BACK == HELD_BACK - 1
        self.stages, self.held = (Stage(np.flatnonzero(~held)),), np.flatnonzero(held)

    def loss(self, rows: np.ndarray) -> torch.Tensor:
        return nn.functional.cross_entropy(self.network(self.rows[rows]), self.answer[rows])

    def validate(self) -> Mapping[str, float]:
        with torch.no_grad():
            return {"loss": float(self.loss(self.held)), "accuracy": self.right(self.held)}

    def right(self, rows: np.ndarray) -> float:
        """The share of rows that the network answers right."""
        with torch.no_grad():
            return float((self.network(self.rows[rows]).argmax(dim=1) == self.answer[rows]).float().mean())


class ConceptNetworks(Networks[ConceptStudy]):
    """A subclass says its benchmark, its title, its models and how each of these is built."""

    def build(self, job: Job, inputs: int, answers: int) -> nn.Module:
        """A network that turns rows of so many numbers into scores of so many answers."""
        return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, answers))

    def study(self, job: Job, store: Store, engine: Engine) -> ConceptStudy:
        from recombine import benchmarks

        found = benchmarks.get(self.benchmark).study(job.scale, job.data_seed, store=store)
        assert isinstance(found, ConceptStudy)
        return found

    def splits(self, study: ConceptStudy) -> Iterable[str]:
        return study.language.splits

    def know(self, study: ConceptStudy, file: str) -> Sequence[str]:
        return [study.made_split_of(file).name]

    def data(self, job: Job, study: ConceptStudy) -> Any:
        data = {"scale": job.scale, "seed": job.data_seed, "rows": study.sizes[job.scale]}
        if not job.made:
            return data
        split = study.split_named(job.split)
        sides = {side: [*map(repr, study.concepts(getattr(split, side)))] for side in ("train", "test")}
        return {**data, "split": Recipe("split", 1, sides, {}).digest}

    def network(self, job: Job, study: ConceptStudy) -> nn.Module:
        rows, _ = _seen(study, study.examples("train", study.split_named(job.split).train))
        with seeded(job.key / "network"):
            return self.build(job, rows.shape[1], 2)

    def objective(self, job: Job, study: ConceptStudy, network: nn.Module) -> Classified:
        return Classified(network, *_seen(study, study.examples("train", study.split_named(job.split).train)))

    def examine(self, job: Job, study: ConceptStudy, network: nn.Module) -> dict[str, Any]:
        test = Classified(network, *_seen(study, study.examples("test", study.split_named(job.split).test)))
        return {"accuracy": test.right(np.arange(len(test.rows)))}

    def scores(self, results: Mapping[str, Any]) -> Mapping[str, Mapping[str, float | Interval]]:
        return {"accuracy": {"": 100 * results["accuracy"]}}


def _seen(study: ConceptStudy, examples: Examples) -> tuple[np.ndarray, np.ndarray]:
    """What a network sees of every row, float32[rows, n], and its answer, int64[rows]."""
    words = list(dict.fromkeys(word for symbol in study.language.signature.values() for word in _words(symbol)))
    said = [{word for term in subterms(one) for word in _words(term.head)} for one in examples.concepts]
    named = np.array([[word in some for word in words] for some in said])
    seen = np.concatenate([bindings(examples.scenes)[examples.scene], named[examples.concept]], axis=1)
    return seen.astype(np.float32), examples.target


def _words(symbol: Symbol) -> tuple[str, ...]:
    return symbol.family, *symbol.index
