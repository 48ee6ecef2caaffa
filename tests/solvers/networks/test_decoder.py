"""The concept decoder: its loss word by word, its texts, and that it can learn."""

import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor

from recombine.solvers.networks.decoder import WIDTH, ConceptDecoder
from recombine.solvers.text import END, PAD
from recombine.solvers.training.seeding import seeded
from recombine.store.key import Key

KEY = Key(5) / "decoder"
A, B, C = 4, 5, 6
TEXTS = torch.tensor([[A, B, B, END, PAD], [C, A, B, A, END], [END, PAD, PAD, PAD, PAD]])


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def decoder() -> ConceptDecoder:
    with seeded(KEY):
        return ConceptDecoder(6, 7).eval()


def shown(episodes: int = 3) -> Tensor:
    return torch.randn(episodes, 6, generator=torch.Generator().manual_seed(1))


def surprises(decoder: ConceptDecoder, prototypes: Tensor, text: list[int]) -> list[Tensor]:
    """What each word of one text and its end costs, by the equations of an LSTM."""
    lstm, costs = decoder.lstm.get_parameter, []
    hidden, cell, before = decoder.beginning.weight @ prototypes + decoder.beginning.bias, torch.zeros(WIDTH), END
    for word in text:
        heard = torch.cat([decoder.words.weight[before], prototypes])
        gates = lstm("weight_ih_l0") @ heard + lstm("bias_ih_l0") + lstm("weight_hh_l0") @ hidden + lstm("bias_hh_l0")
        keep, forget, new, tell = gates.split(WIDTH)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(keep) * torch.tanh(new)
        hidden = torch.sigmoid(tell) * torch.tanh(cell)
        scores = decoder.saying.weight @ hidden + decoder.saying.bias
        costs.append(torch.logsumexp(scores, 0) - scores[word])
        before = word
    return costs


def test_the_loss_is_the_mean_over_the_words_and_their_end(decoder: ConceptDecoder) -> None:
    texts = [[word for word in row if word != PAD] for row in TEXTS.tolist()]
    costs = [cost for one, text in zip(shown(), texts) for cost in surprises(decoder, one, text)]
    assert len(costs) == 4 + 5 + 1
    assert torch.allclose(decoder.loss(shown(), TEXTS), torch.stack(costs).mean(), rtol=1e-5)


def test_what_comes_after_the_end_costs_nothing(decoder: ConceptDecoder) -> None:
    longer = torch.cat([TEXTS, torch.full((3, 4), PAD)], dim=1)
    assert torch.allclose(decoder.loss(shown(), TEXTS), decoder.loss(shown(), longer))


def test_a_word_is_said_by_the_words_before_it_alone(decoder: ConceptDecoder) -> None:
    other = TEXTS.clone()
    other[:, 2] = C
    before, after = decoder(shown(), TEXTS), decoder(shown(), other)
    assert torch.equal(before[:, :3], after[:, :3]) and not torch.allclose(before[:, 3:], after[:, 3:])


def test_the_prototypes_are_seen_at_every_word(decoder: ConceptDecoder) -> None:
    loss = decoder(shown(), TEXTS)[:, -1].sum()
    decoder.beginning.requires_grad_(False).weight.zero_()  # the state no longer tells of them
    assert not torch.allclose(loss, decoder(shown(), TEXTS)[:, -1].sum())
    assert not torch.allclose(decoder(shown(), TEXTS)[0], decoder(shown().flip(0), TEXTS[[0, 0, 0]])[0])


def test_what_is_written_is_the_likeliest_word_at_every_place(decoder: ConceptDecoder) -> None:
    with torch.no_grad():
        decoder.saying.bias[END] = -1e9  # it never ends
        text = decoder.write(shown(), 8)
        assert text.shape == (3, 8) and torch.equal(decoder(shown(), text).argmax(dim=-1), text)


def test_after_the_end_there_is_nothing(decoder: ConceptDecoder) -> None:
    with torch.no_grad():
        decoder.saying.bias[END] = 1e9
    assert torch.equal(decoder.write(shown(), 5), torch.full((3, 5), PAD))


def test_two_texts_are_learnt_by_heart() -> None:
    """Also that each ends where it should, while the other goes on."""
    texts = torch.tensor([[A, B, B, END, PAD, PAD], [C, A, B, A, B, END]])
    with seeded(KEY):
        decoder = ConceptDecoder(6, 7)
        optimiser = torch.optim.Adam(decoder.parameters(), 5e-3)
        for _ in range(80):
            optimiser.zero_grad()
            decoder.loss(shown(2), texts).backward()
            optimiser.step()
    decoder.eval()
    assert float(decoder.loss(shown(2), texts).detach()) < 0.1
    assert torch.equal(decoder.write(shown(2), 7), torch.tensor([[A, B, B, 0, 0, 0, 0], [C, A, B, A, B, 0, 0]]))
