"""The transformer is PyTorch's own, without its padding; dropout leaves out what it says it does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor, nn

from recombine.solvers.networks.dropout import dropout
from recombine.solvers.networks.objects import grouped
from recombine.solvers.networks.transformer import DROPPED, HEADS, INNER, LAYERS, Layer, TransformerPool
from recombine.solvers.training.seeding import seeded
from recombine.store.key import Key
from tests.solvers.networks.drawn import vectors

KEY = Key(4) / "transformer"
SIZE = 12


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def pool() -> TransformerPool:
    with seeded(KEY):
        network = TransformerPool(SIZE, 7).double().eval()
        for weight in network.parameters():
            nn.init.normal_(weight, std=0.3)
    return network


def copied(pool: TransformerPool) -> nn.TransformerEncoder:
    """PyTorch's encoder with our weights."""
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, INNER, DROPPED, "relu", batch_first=True, norm_first=False)
    encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).double().eval()
    for ours, theirs in zip(pool.layers, encoder.layers):
        assert isinstance(ours, Layer)
        theirs.load_state_dict(named(ours))
    return encoder


def named(layer: Layer) -> dict[str, Tensor]:
    """Our weights by PyTorch's names."""
    found = {f"self_attn.in_proj_{kind}": getattr(layer.attention.asking, kind) for kind in ("weight", "bias")}
    parts = {
        "self_attn.out_proj": layer.attention.telling,
        "linear1": layer.inner,
        "linear2": layer.outer,
        "norm1": layer.first,
        "norm2": layer.second,
    }
    return found | {
        f"{name}.{kind}": getattr(part, kind) for name, part in parts.items() for kind in ("weight", "bias")
    }


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_it_is_the_encoder_of_pytorch_with_a_mask(pool: TransformerPool, sizes: list[int]) -> None:
    count = np.array(sizes, np.uint8)
    seen = vectors(count, SIZE, KEY / "objects")
    absent = torch.from_numpy(np.arange(seen.shape[1]) >= count[:, None])
    with torch.no_grad():
        out = copied(pool)(torch.from_numpy(seen), src_key_padding_mask=absent)
        scenes = [scene[:n] for scene, n in zip(out, count)]
        pooled = [torch.cat([x.amax(0), x.amin(0), x.sum(0), x.mean(0)]) for x in scenes]
        expected = pool.reading(torch.stack(pooled))
        assert torch.allclose(pool(grouped(seen, count)), expected, rtol=1e-9, atol=1e-9)


def test_values_are_left_out_in_training_alone(pool: TransformerPool) -> None:
    seen = grouped(vectors(np.array([3, 4]), SIZE, KEY), np.array([3, 4]))
    assert torch.equal(pool(seen), pool(seen))
    pool.train()
    assert not torch.allclose(pool(seen), pool(seen))
    pool.eval()


# --- dropout


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_dropout_leaves_a_share_out_and_keeps_the_mean(share: float) -> None:
    torch.manual_seed(0)
    said = dropout(torch.ones(1_000, 500), share, True)
    left_out = float((said == 0).double().mean())
    assert abs(left_out - share) < 4 * np.sqrt(share * (1 - share) / said.numel())
    assert torch.unique(said).tolist() == pytest.approx([0, 1 / (1 - share)], rel=1e-4)
    assert float(said.double().mean()) == pytest.approx(1, abs=0.005)


def test_dropout_favours_no_place() -> None:
    torch.manual_seed(0)
    left_out = torch.stack([dropout(torch.ones(40, 3), 0.25, True) == 0 for _ in range(500)]).double().mean(dim=0)
    assert float((left_out - 0.25).abs().max()) < 5 * np.sqrt(0.25 * 0.75 / 500)


def test_the_same_seed_leaves_the_same_out_and_the_next_call_something_else() -> None:
    x = torch.ones(50, 4)

    def drawn() -> tuple[Tensor, Tensor]:
        torch.manual_seed(7)
        return dropout(x, 0.3, True), dropout(x, 0.3, True)

    first, second = drawn()
    assert not torch.equal(first, second)
    assert all(torch.equal(*pair) for pair in zip((first, second), drawn()))


def test_without_training_nothing_is_left_out_and_no_number_is_drawn() -> None:
    x, before = torch.arange(25.0), torch.get_rng_state()
    assert torch.equal(dropout(x, 0.9, False), x) and torch.equal(before, torch.get_rng_state())
    assert torch.equal(dropout(x, 0.0, True), x)


def test_what_is_left_out_has_no_gradient() -> None:
    torch.manual_seed(3)
    x = torch.full((30, 2), 2.0, requires_grad=True)
    said = dropout(x, 0.4, True)
    said.sum().backward()
    assert x.grad is not None and torch.allclose(x.grad * 2, said.detach()) and (x.grad == 0).any()
