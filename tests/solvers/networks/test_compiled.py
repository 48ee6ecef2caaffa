"""`torch.compile` breaks no network: one step of each, traced with its gradients, is what it is uncompiled.

The backend runs what was traced, forwards and backwards, without a compiler of machine code; `make full` runs that too.
What cannot be one graph may be several.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor, nn

from recombine.benchmarks.clevr.concepts import concept_language
from recombine.benchmarks.clevr.language import CLEVR
from recombine.solvers.kinds import POOLINGS
from recombine.solvers.networks.attribute_net import PLACE, SIDE, AttributeNet
from recombine.solvers.networks.cells import Cells, CellShape
from recombine.solvers.networks.decoder import ConceptDecoder
from recombine.solvers.networks.mdetr import AnswerKinds, Mdetr, MdetrPlan
from recombine.solvers.networks.nscl import ConceptLearner, ConceptPlan
from recombine.solvers.networks.objects import grouped
from recombine.solvers.networks.program_generator import GeneratorPlan, ProgramGenerator
from recombine.solvers.networks.prototype import Plan, build
from recombine.solvers.networks.scene_parser import SceneParser
from recombine.solvers.training.seeding import seeded
from recombine.solvers.views import Regions, objects
from recombine.store.key import Key
from tests.solvers.networks.asked import asked
from tests.solvers.networks.drawn import Painted, vectors

pytestmark = [
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.torch.jit.*is deprecated:DeprecationWarning"),
]
"""What the tracer does with tensors between two graphs and with functions that have a slope of their own, and what the
compiler itself imports."""
KEY = Key(7) / "compiled"
FAST, WHOLE = "aot_eager", "inductor"


@dataclass(frozen=True)
class Step:
    """A network, and what one step hands to it."""

    network: nn.Module
    given: tuple[Any, ...]


def curi(pooling: str, modality: str = "schema") -> Step:
    if modality == "schema":
        count = np.tile(np.arange(2, 6, dtype=np.uint8), 4)
        return Step(
            build(Plan("schema", pooling, (5, 19)), KEY), (grouped(vectors(count, 19, KEY).astype(np.float32), count),)
        )
    shape = {"image": (3, 40, 60), "sound": (33, 41)}[modality]
    return Step(build(Plan(modality, pooling, shape), KEY), (drawn(6, *shape),))


def drawn(*shape: int) -> Tensor:
    return torch.from_numpy(KEY.rng().random(shape).astype(np.float32))


def decoder() -> Step:
    with seeded(KEY):
        return Step(
            ConceptDecoder(6, 7), (drawn(3, 6), torch.tensor([[4, 5, 5, 1, 0], [6, 4, 5, 4, 1], [1, 0, 0, 0, 0]]))
        )


def nscl(seen: str = "objects") -> Step:
    """With each of its eyes: features that are known, a part of the picture for each object, regions of a map."""
    questions, _, scenes = asked(scenes=4, each=4)
    view = objects(scenes) if seen == "objects" else Regions(Painted(scenes), (64, 48))
    rows = np.arange(len(questions) if seen == "objects" else 4)
    with seeded(KEY):
        network = ConceptLearner(ConceptPlan(concept_language(CLEVR), view.shape, width=16, late=seen == "late"))
    return Step(network, (None, None, view(questions.image[rows]), questions.programs.rows(rows)))


def mdetr() -> Step:
    shape = CellShape(3, 4, (32, 48), pixels=True, widths=(8, 8, 16, 16))
    kinds = AnswerKinds((0, 1), (2, 3, 4), (5, 6, 7, 8))
    length = torch.tensor([3, 8, 5])
    word = torch.from_numpy(KEY.rng().integers(4, 20, (3, 8))) * (torch.arange(8) < length[:, None])
    with seeded(KEY):
        network = Mdetr(MdetrPlan(20, kinds, shape, width=16, inner=16, text=(16, 1, 2, 16), queries=4, longest=12))
    return Step(network, (word, length, Cells(drawn(3, 3, 32, 48), drawn(3, 3, 4))))


def generator() -> Step:
    rng, length = KEY.rng(), torch.tensor([9, 4, 6])
    word = torch.from_numpy(rng.integers(4, 30, (3, 9))) * (torch.arange(9) < length[:, None])
    with seeded(KEY):
        network = ProgramGenerator(GeneratorPlan(30, 20, 12, 8, 2, 10))
    return Step(network, (word, length, torch.from_numpy(rng.integers(4, 20, (3, 6)))))


def attributes() -> Step:
    with seeded(KEY):
        return Step(AttributeNet(8, (8, 3, 2)), (drawn(4, 3, SIDE, SIDE), drawn(4, PLACE)))


def scene_parser() -> Step:
    with seeded(KEY):
        return Step(SceneParser(8, (8, 3, 2)), (drawn(2, 3, 48, 64),))


STEPS: dict[str, Callable[[], Step]] = {
    **{f"curi {pooling}": lambda pooling=pooling: curi(pooling) for pooling in POOLINGS},  # type: ignore[misc]
    "curi image": lambda: curi("avg-pool", "image"),
    "curi sound": lambda: curi("avg-pool", "sound"),
    "concept decoder": decoder,
    "nscl": nscl,
    "nscl regions": lambda: nscl("regions"),
    "nscl late": lambda: nscl("late"),
    "mdetr": mdetr,
    "generator": generator,
    "attribute net": attributes,
    "scene parser": scene_parser,
}

SLOW = ("curi concat", "curi image", "curi sound", "nscl regions", "nscl late", "scene parser")


def said(answer: Any) -> Iterator[Tensor]:
    """The numbers of an answer, whatever it is made of."""
    if isinstance(answer, Tensor):
        if answer.is_floating_point():
            yield answer
    elif answer is not None:
        for part in answer:
            yield from said(part)


def stepped(network: nn.Module, call: Callable[..., Any], given: tuple[Any, ...]) -> list[Tensor]:
    """What it answers, and the slope of every weight."""
    network.zero_grad()
    answers = [*said(call(*given))]
    assert answers
    torch.stack([torch.where(one.isfinite(), one, 0).square().mean() for one in answers]).sum().backward()
    slopes = [weight.grad.clone() for weight in network.parameters() if weight.grad is not None]
    return [*(one.detach() for one in answers), *slopes]


def compare(name: str, backend: str) -> None:
    torch.set_num_threads(1)
    step = STEPS[name]()
    network = step.network.eval()  # else what is dropped and counted differs from step to step
    torch._dynamo.reset()
    plain = stepped(network, network, step.given)
    compiled = stepped(network, torch.compile(network, backend=backend), step.given)
    assert len(plain) == len(compiled) > 1
    for one, other in zip(plain, compiled):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name in SLOW)) for name in STEPS])
def test_a_compiled_step_is_a_step(name: str) -> None:
    compare(name, FAST)


@pytest.mark.full
@pytest.mark.parametrize("name", STEPS)
def test_a_step_in_machine_code_is_a_step(name: str) -> None:
    compare(name, WHOLE)
