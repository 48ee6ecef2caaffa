"""Networks that answer: a batch is its questions one by one, any view will do, and a few answers are soon known."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor, nn

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.runner import clevr_functions
from recombine.solvers.answering import Majority, alike, answer, on_questions, scores
from recombine.solvers.networks.cells import Cells, CellShape, highest
from recombine.solvers.networks.film import Film, FilmPlan
from recombine.solvers.networks.mac import Mac, MacPlan
from recombine.solvers.networks.modules import put, schedule, take
from recombine.solvers.networks.question_lstm import LstmPlan, QuestionLstm
from recombine.solvers.networks.readers import MODULAR, READERS, build
from recombine.solvers.networks.tensor_nmn import TensorNMN, TensorPlan
from recombine.solvers.networks.vector_nmn import VectorNMN, VectorPlan
from recombine.solvers.programs import SPECIAL, lay_out
from recombine.solvers.training.seeding import seeded
from recombine.solvers.views import FeatureMaps, Pixels, View, noisy, objects
from recombine.store.errors import UserError
from recombine.store.key import Key
from tests.solvers.networks.asked import asked
from tests.solvers.test_programs import programs

FUNCTIONS = clevr_functions()
QUESTIONS, WORDS, SCENES = asked()
OBJECTS = objects(SCENES)
every_network = pytest.mark.parametrize("name", READERS)


def small(name: str, shape: CellShape) -> nn.Module:
    """A narrow network."""
    words, answers = len(WORDS), len(ANSWERS)
    with seeded(Key(4)):
        if name == "mac":
            return Mac(MacPlan(words, answers, shape, width=24, steps=3, word=16))
        if name == "film":
            return Film(FilmPlan(words, answers, shape, 24, 2, 16, 24, 24, 24))
        if name.startswith("tensor-nmn"):
            return TensorNMN(TensorPlan(FUNCTIONS, answers, shape, name[11:], 24, 24, 24))
        if name.startswith("vector-nmn"):
            blocks, own = (1, False) if name.endswith("-1") else (2, True)
            return VectorNMN(VectorPlan(FUNCTIONS, answers, shape, blocks, 24, 32, not own, 24, norm=not own))
        return QuestionLstm(LstmPlan(words, answers, shape if name == "cnn-lstm" else None, 16, 24, 1, 24, 24))


def everything() -> np.ndarray:
    return np.arange(len(QUESTIONS))


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> FeatureMaps:
    file = tmp_path_factory.mktemp("maps") / "val.npy"
    np.save(file, np.random.default_rng(0).normal(size=(len(SCENES), 3, 4, 5)).astype(np.float32))
    return FeatureMaps(file)


def views(maps: FeatureMaps) -> list[View]:
    return [OBJECTS, noisy(objects(SCENES, slots=False), 0.2, Key(3)), maps, Pixels(SCENES, (24, 16))]


class Double:
    """A view in double precision."""

    def __init__(self, view: View) -> None:
        self.view, self.shape, self.cells = view, view.shape, view.cells

    def __call__(self, images: np.ndarray):  # type: ignore[no-untyped-def]
        seen = self.view(images)
        return seen._replace(features=seen.features.double(), place=seen.place.double())


@every_network
def test_every_view_gives_a_score_for_every_answer(name: str, maps: FeatureMaps) -> None:
    for view in views(maps):
        said = scores(small(name, view.shape), view, QUESTIONS, everything())
        assert said.shape == (len(QUESTIONS), len(ANSWERS)) and said.isfinite().all()


@every_network
def test_a_question_is_answered_in_company_as_alone(name: str, maps: FeatureMaps) -> None:
    for view in (Double(OBJECTS), Double(maps)):
        network = small(name, view.shape).double().eval()
        together = scores(network, view, QUESTIONS, everything())
        for i in range(0, len(QUESTIONS), 3):  # without anything that is filled up
            alone = scores(network, view, QUESTIONS, np.array([i]))
            assert torch.allclose(together[i], alone[0], atol=1e-12)


def test_mac_tells_one_object_from_two_that_look_the_same() -> None:
    network = small("mac", CellShape(5)).eval()
    word, length = torch.tensor([[2, 3]]), torch.tensor([2])
    one, two = (network(word, length, Cells(torch.ones(1, n, 5), torch.ones(1, n, 2))) for n in (1, 2))
    assert not torch.allclose(one, two, atol=1e-4)


@pytest.mark.parametrize("name", MODULAR)
def test_a_batch_of_programs_is_one_program_at_a_time(name: str, maps: FeatureMaps) -> None:
    for view in (Double(OBJECTS), Double(maps)):
        network = small(name, view.shape).double()
        seen, layout = view(QUESTIONS.image), QUESTIONS.programs.rows(everything())
        found = [outcome(network, way, seen, layout) for way in (partial(network, None, None), network.one_by_one)]
        for one, other in zip(*found):
            assert torch.allclose(one, other, rtol=1e-7, atol=1e-9)


def outcome(network: nn.Module, way: Callable[..., Tensor], *given: object) -> list[Tensor]:
    """What comes out, and the gradients of all weights."""
    network.zero_grad()
    said = way(*given)
    weight = torch.linspace(-1, 1, said.numel(), dtype=said.dtype).view_as(said)
    (said * weight).sum().backward()
    grads = [torch.zeros_like(one) if one.grad is None else one.grad for one in network.parameters()]
    return [said.detach(), *(grad.clone() for grad in grads)]


def learnt(name: str, view: View) -> float:
    """The accuracy on a few questions after some steps on them."""
    network, rows = small(name, view.shape), np.arange(8)
    optimiser = torch.optim.Adam(network.parameters(), 0.005)
    target = torch.from_numpy(QUESTIONS.answer[rows].astype(np.int64))
    for _ in range(200):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(scores(network, view, QUESTIONS, rows), target)
        if loss < 0.1:
            break
        loss.backward()
        optimiser.step()
    network.train()  # as it learnt: a few steps are too few for running means
    some = QUESTIONS.rows(rows)
    return on_questions(network, view, some, alike(name, some, view))["accuracy"]


@every_network
def test_a_few_answers_are_soon_known(name: str) -> None:
    assert learnt(name, OBJECTS) == 1


def test_a_few_answers_are_soon_known_from_pixels_and_features(maps: FeatureMaps) -> None:
    assert learnt("mac", Pixels(SCENES, (24, 16))) == learnt("vector-nmn-1", maps) == 1


@every_network
def test_probabilities_do_not_depend_on_who_is_asked_together(name: str) -> None:
    network = small(name, OBJECTS.shape).eval()
    said = answer(network, OBJECTS, QUESTIONS, alike(name, QUESTIONS, OBJECTS))
    other = answer(network, OBJECTS, QUESTIONS, np.arange(len(QUESTIONS))[::-1])
    assert np.allclose(said, other, atol=1e-5) and np.allclose(said.sum(axis=1), 1)


def test_only_cells_that_are_there_are_normalised_and_pooled() -> None:
    x, there = torch.randn(3, 4, 24), torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 0]]).bool()
    block = small("film", OBJECTS.shape).blocks[0]  # type: ignore[index]
    found = block._normed(x, there)
    real = x[there]
    assert torch.allclose(found[there], (real - real.mean(0)) / (real.var(0, unbiased=False) + 1e-5).sqrt(), atol=1e-5)
    assert not found[~there].any()
    assert torch.equal(highest(x, there)[1], x[1, 0]) and torch.equal(highest(x, None), x.amax(dim=1))


@given(st.lists(programs(depth=3), min_size=1, max_size=6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_schedule_runs_every_node_once_and_after_its_inputs(several: list[list[int]], by_token: bool) -> None:
    width = max(map(len, several)) + 1
    layout = lay_out(np.array([row + [0] * (width - len(row)) for row in several], np.uint8), FUNCTIONS)
    kind = np.arange(len(FUNCTIONS)) if by_token else (FUNCTIONS.arities > 0).astype(np.int64)
    found = schedule(layout, kind)
    known: dict[int, tuple] = {}
    for call in found.calls:
        assert {int(kind[token]) for token in call.token} == {call.kind}
        arity = FUNCTIONS.arities[call.token.numpy()]
        assert (arity == 2).tolist() == sorted((arity == 2).tolist(), reverse=True)
        made = {}
        for place, (row, token, question) in enumerate(
            zip(*(x.tolist() for x in (call.row, call.token, call.question)))
        ):
            inputs = [known[int(call.left[place])]] if arity[place] > 0 else []
            inputs += [known[int(call.right[place])]] if arity[place] > 1 else []
            made[row] = (question, token, *(one[1:] for one in inputs))
            assert all(one[0] == question for one in inputs) and row not in known
        known |= made
    assert len(known) == found.nodes and len({*map(int, found.root)}) == len(several)
    assert [known[int(root)] for root in found.root] == [(i, *term(row)) for i, row in enumerate(several)]


def term(tokens: list[int]) -> tuple:
    """Tokens in prefix order as a tree."""

    def read(at: int) -> tuple[tuple, int]:
        parts, end = [], at + 1
        for _ in range(FUNCTIONS.arities[tokens[at]]):
            part, end = read(end)
            parts.append(part)
        return (tokens[at], *parts), end

    return read(0)[0]


def test_rows_of_a_table_are_taken_and_put_as_by_plain_indexing() -> None:
    start = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    rows = torch.tensor([2, 0, 2, 1])

    def by_table() -> Tensor:
        table = put(start.new_zeros(5, 2), start, torch.tensor([0, 1, 2]))
        table, taken = take(table, rows)
        table = put(table, taken[:2].sin(), torch.tensor([3, 4]))
        table, again = take(table, torch.tensor([4, 3, 0]))
        return taken.prod() + again.exp().sum() + take(table, torch.tensor([3]))[1].sum()

    def plainly() -> Tensor:
        taken = start[rows]
        whole = torch.cat([start, taken[:2].sin()])
        return taken.prod() + whole[[4, 3, 0]].exp().sum() + whole[3].sum()

    one, other = by_table(), plainly()
    assert torch.allclose(one, other)
    assert torch.allclose(*(torch.autograd.grad(value, start)[0] for value in (one, other)))


def test_the_majority_answers_by_the_type_of_question() -> None:
    said = Majority.of(QUESTIONS)(QUESTIONS)
    for kind in np.unique(QUESTIONS.token[:, 0]):
        rows = QUESTIONS.token[:, 0] == kind
        assert len({*said[rows].tolist()}) == 1
        right = (said[rows] == QUESTIONS.answer[rows]).sum()
        assert right == np.bincount(QUESTIONS.answer[rows]).max()


@pytest.mark.parametrize("size", ["laptop", "paper"])
@every_network
def test_every_network_is_built_at_both_sizes(name: str, size: str) -> None:
    with torch.device("meta"):
        network = build(name, size, len(WORDS), FUNCTIONS, len(ANSWERS), OBJECTS.shape, Key(0))
    assert sum(parameter.numel() for parameter in network.parameters()) > 100_000


def test_a_network_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="there is no network 'bert'; choose one of mac, film"):
        build("bert", "laptop", 9, FUNCTIONS, len(ANSWERS), OBJECTS.shape, Key(0))


def test_kinds_of_tokens_are_those_of_the_language() -> None:
    assert len(FUNCTIONS) == SPECIAL + 40


@every_network
def test_a_compiled_network_answers_the_same(name: str) -> None:
    """What cannot be one graph may be several; the eager backend runs what was traced, without a compiler."""
    network = small(name, OBJECTS.shape).eval()
    plain, order = answer(network, OBJECTS, QUESTIONS, everything()), everything()
    compiled = torch.compile(network, backend="eager")
    assert np.allclose(answer(compiled, OBJECTS, QUESTIONS, order), plain, atol=1e-5)
