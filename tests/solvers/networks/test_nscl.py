"""NSCL: whole batches as one program at a time, certain beliefs as the exact meaning, and that answers teach it."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.benchmarks.clevr.concepts import concept_language
from recombine.benchmarks.clevr.language import CLEVR, DIRECTIONS
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.solvers.curriculum import LAPTOP, stages, steps_of
from recombine.solvers.networks.cells import Cells
from recombine.solvers.networks.nscl import SURE, Believed, ConceptLearner, ConceptPlan
from recombine.solvers.training.seeding import seeded
from recombine.solvers.views import Regions, objects
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from tests.solvers.networks.asked import asked
from tests.solvers.networks.drawn import Painted

QUESTIONS, _, SCENES = asked(scenes=16, each=8)


def learner(view: object, late: bool = False) -> ConceptLearner:
    with seeded(Key(3)):
        return ConceptLearner(ConceptPlan(concept_language(CLEVR), view.shape, width=32, late=late))  # type: ignore[attr-defined]


@pytest.mark.parametrize("learning", [True, False])
@pytest.mark.parametrize("seen", ["objects", "regions", "late"])
def test_a_batch_of_programs_runs_as_one_at_a_time(seen: str, learning: bool) -> None:
    view = objects(SCENES) if seen == "objects" else Regions(Painted(SCENES), (64, 48))
    rows = np.arange(0, len(QUESTIONS), 8 if seen == "late" else 2)
    network = learner(view, seen == "late").train(learning)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eval()  # else looking twice would change what is seen
    cells, programs = view(QUESTIONS.image[rows]), QUESTIONS.programs.rows(rows)
    with torch.no_grad():
        torch.testing.assert_close(
            network(None, None, cells, programs), network.one_by_one(cells, programs), atol=1e-4, rtol=1e-4
        )


def certain(scenes: Scenes) -> Believed:
    """What one believes who sees everything and is sure of it."""
    language, there = concept_language(CLEVR), np.arange(scenes.places) < scenes.count[:, None]

    def sure(truth: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.where(truth, SURE, -SURE).astype(np.float32))

    having, near = [], []
    for concept in language.concepts:
        attribute, value = concept.split("/")
        is_so = scenes.codes[attribute] == scenes.vocabulary[attribute].code(value)
        having.append(is_so & there)
        near.append([is_so & there] * len(language.attributes))
    beyond = all_beyond(scenes)
    bits = 1 << np.arange(scenes.places)
    related = np.stack([(beyond[way][..., None] & bits) != 0 for way in DIRECTIONS], axis=1)
    both = there[:, :, None] & there[:, None]
    alike = [(scenes.codes[a][:, :, None] == scenes.codes[a][:, None]) & both for a in language.attributes]
    return Believed(
        sure(np.stack(having, axis=-1)),
        sure(np.moveaxis(np.array(near), (0, 1), (2, 3))),
        sure(related),
        sure(np.stack(alike, axis=1)),
        torch.from_numpy(there),
    )


@pytest.mark.parametrize("learning", [True, False])
def test_certain_beliefs_give_exact_answers(learning: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    network = learner(objects(SCENES)).train(learning)
    monkeypatch.setattr(network, "believe", lambda cells: certain(SCENES))
    with torch.no_grad():
        attributes = [CLEVR.objects.attributes.index(one.split("/")[0]) for one in network.plan.language.concepts]
        network.belongs.fill_(-30.0)
        network.belongs[torch.arange(len(attributes)), torch.tensor(attributes)] = 30.0
        which = torch.from_numpy(QUESTIONS.image.astype(np.int64))
        said = network(None, None, Cells(torch.zeros(0), torch.zeros(0), None, which), QUESTIONS.programs)
    assert (said.argmax(dim=1).numpy() == QUESTIONS.answer).all()


def test_answers_alone_teach_it() -> None:
    view = objects(SCENES)
    network = learner(view).train()
    optimiser = torch.optim.Adam(network.parameters(), 0.01)
    cells, answer = view(QUESTIONS.image), torch.from_numpy(QUESTIONS.answer.astype(np.int64))
    before = (network(None, None, cells, QUESTIONS.programs).argmax(dim=1) == answer).float().mean()
    for _ in range(60):
        optimiser.zero_grad()
        network.loss(cells, QUESTIONS.programs, answer).backward()
        optimiser.step()
    after = (network.eval()(None, None, cells, QUESTIONS.programs).argmax(dim=1) == answer).float().mean()
    assert after > before + 0.25


def test_a_curriculum_shows_easy_questions_first_for_its_share() -> None:
    filters = frozenset(n for n, act in enumerate(concept_language(CLEVR).act) if act == "filter")
    steps, count = steps_of(QUESTIONS.token, filters), SCENES.count[QUESTIONS.image]
    assert (steps <= QUESTIONS.size).all() and (steps < QUESTIONS.size).any()
    found = stages(LAPTOP, np.arange(len(steps)), count, steps, QUESTIONS.image.astype(int), 200, 4, Key(0))
    for lesson, stage in zip(LAPTOP, found):
        assert (count[stage.rows] <= lesson.objects).all() and (steps[stage.rows] <= lesson.steps).all()
        shown = len(stage.rows) * stage.epochs
        assert 0.5 < shown / (lesson.share * 200 * 4) <= 1
    assert len(found[-1].rows) == len(QUESTIONS)
