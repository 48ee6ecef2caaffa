"""The program generator: by hand is plainly, and a few programs are soon known by heart."""

import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor

from recombine.solvers.networks import program_generator
from recombine.solvers.networks.program_generator import GeneratorPlan, ProgramGenerator, plain_decode
from recombine.solvers.programs import END, NULL
from recombine.solvers.training.seeding import seeded
from recombine.store.key import Key

ONE, TWO = GeneratorPlan(30, 20, 12, 8, 1, 10), GeneratorPlan(30, 20, 12, 8, 2, 10)


def build(plan: GeneratorPlan) -> ProgramGenerator:
    with seeded(Key(1)):
        return ProgramGenerator(plan)


def some(n: int = 7, same: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Words, lengths, programs; of one length or not."""
    with seeded(Key(2)):
        word, token = torch.randint(4, 30, (n, 9)), torch.randint(4, 20, (n, 6))
        length = torch.full((n,), 9) if same else torch.randint(3, 10, (n,))
    length[0] = 9
    word[torch.arange(9) >= length[:, None]] = 0
    size = torch.full((n,), 5) if same else 1 + torch.arange(n) % 5
    token[torch.arange(n), size] = END
    token[torch.arange(6) > size[:, None]] = NULL
    return word, length, token


@pytest.mark.parametrize("plan", [ONE, TWO])
@pytest.mark.parametrize("same", [True, False])
def test_by_hand_is_plainly(plan: GeneratorPlan, same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    network = build(plan).double()
    found = []
    for way in (program_generator.by_hand_decode, plain_decode):
        monkeypatch.setattr(program_generator, "by_hand_decode", way)
        network.zero_grad()
        loss = network.loss(*some(same=same))
        loss.backward()
        found.append([loss.detach(), *(parameter.grad.clone() for parameter in network.parameters())])
    for one, other in zip(*found):
        assert torch.allclose(one, other, atol=1e-12)
    assert all(grad.abs().max() > 0 for grad in found[0])


@pytest.mark.parametrize("plan", [ONE, TWO])
def test_what_is_filled_up_changes_nothing(plan: GeneratorPlan) -> None:
    network = build(plan).double().eval()
    word, length, token = some()
    together = network.log_likelihood(word, length, token)
    for i in range(len(word)):
        size = int((token[i] != NULL).sum())
        alone = network.log_likelihood(word[i : i + 1, : length[i]], length[i : i + 1], token[i : i + 1, :size])
        assert torch.allclose(together[i], alone[0], atol=1e-12)


@pytest.mark.parametrize("plan", [ONE, TWO])
def test_a_few_programs_are_soon_known_by_heart(plan: GeneratorPlan) -> None:
    network, (word, length, token) = build(plan), some(5)
    optimiser = torch.optim.Adam(network.parameters(), 0.02)
    for _ in range(80):
        optimiser.zero_grad()
        network.loss(word, length, token).backward()
        optimiser.step()
    network.eval()
    written = network.write(word, length)
    assert torch.equal(written, token[:, : written.shape[1]]) and not token[:, written.shape[1] :].any()
    assert network.log_likelihood(word, length, token).exp().min() > 0.5
    with seeded(Key(3)):
        drawn = network.write(word, length, draw=True)
    assert (drawn[:, :1] == written[:, :1]).any()


def test_what_is_drawn_is_decided_by_the_seed_and_ends() -> None:
    network, (word, length, _) = build(ONE), some()
    drawn = []
    for seed in (1, 1, 2):
        with seeded(Key(seed)):
            drawn.append(network.write(word, length, 8, draw=True))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0][:, :5], drawn[2][:, :5])
    for row in drawn[0]:
        ends = (row == END).nonzero().flatten().tolist()
        assert len(ends) <= 1 and (not ends or not row[ends[0] + 1 :].any())


def test_the_paper_has_two_layers_of_256() -> None:
    plan = GeneratorPlan.paper(90, 44)
    assert (plan.word, plan.hidden, plan.layers) == (300, 256, 2)
