"""How fast ConceptWorld's parts are: a verified image of every class, and recognition, beside the plain prover."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.definition import Experiment, Line
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.samples import verified
from recombine.benchmarks.concept_world.search import Proof, Prover
from recombine.metrics.speed import Speed, cpu
from recombine.store.key import Key

IMAGES, PLAINLY = 10_000, 20
TARGET = 1e-3
"""10,000 verified images in 10 s."""


class Cost(NamedTuple):
    """Seconds per image: drawn and verified, recognised, and proved plainly."""

    verified: float
    recognised: float
    plain: float


def speeds(study: ConceptWorldPipeline) -> Iterator[Speed]:
    """The slowest line of every class, and the slowest recognition of every experiment."""
    recogniser, prover = Recogniser(study.library), Prover(study.library)
    for experiment in study.library.experiments.values():
        found = dict[str, list[Cost]]()
        for line in _lines(experiment):
            cost = _cost(extension_of(study.library, line), recogniser, prover, study.key / "bench")
            found.setdefault(line.label, []).append(cost)
        yield from _slowest(experiment.name, found)


def _lines(experiment: Experiment) -> list[Line]:
    """Every line once, whatever the number of its images."""
    lines = (*experiment.train, *(line for test in experiment.tests.values() for line in test))
    return list({(line.label, line.concept, line.where): line for line in lines}.values())


def _slowest(experiment: str, found: dict[str, list[Cost]]) -> Iterator[Speed]:
    for label, costs in found.items():
        slow = max(costs)
        yield Speed(f"{experiment}/{label}, verified", slow.verified, slow.verified + slow.plain, TARGET, None)
    slow = max((cost for costs in found.values() for cost in costs), key=lambda cost: cost.recognised)
    yield Speed(f"{experiment}, recognised", slow.recognised, slow.plain, TARGET, None)


def _cost(extension: Extension, recogniser: Recogniser, prover: Prover, key: Key) -> Cost:
    """The plain prover looks at fewer images."""
    warm = _verified(extension, PLAINLY, key / "warm")
    assert recogniser.holds(extension.name, warm).all()
    images = extension.images(extension.draw(IMAGES, key / "recognised"))
    return Cost(
        cpu(lambda: _verified(extension, IMAGES, key / "images"), IMAGES),
        cpu(lambda: recogniser.holds(extension.name, images), IMAGES),
        cpu(lambda: all(isinstance(prover.prove(extension.name, image), Proof) for image in warm), PLAINLY),
    )


def _verified(extension: Extension, n: int, key: Key) -> np.ndarray:
    """n images, each an object that the batch meaning accepts."""
    drawn = extension.draw(n, key)
    assert verified(extension, drawn).all(), f"an object of {extension.name} does not satisfy it"
    return extension.images(drawn)
