"""The relation network: without padding it says, and learns, what it would with padding and a mask."""

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor

from recombine.solvers.networks import relation
from recombine.solvers.networks.grid import offsets
from recombine.solvers.networks.objects import ObjectSets, grouped
from recombine.solvers.networks.relation import PairSum, RelationNet
from recombine.solvers.training.seeding import seeded
from recombine.store.key import Key
from tests.solvers.networks.drawn import vectors

KEY = Key(2) / "relation"
SIZE = 6
COUNT = np.array([3, 1, 5, 2, 2, 4, 5, 3, 3], np.uint8)
EXACT = {torch.float32: 1e-3, torch.float64: 1e-11}
"""Of the largest number; the norms of a few scenes magnify what is rounded."""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every law is about more than one piece."""
    monkeypatch.setattr(relation, "ROWS", 20)


def network_of(norm: bool, places: Tensor | None = None, dtype: torch.dtype = torch.float64) -> RelationNet:
    with seeded(KEY / "network"):
        network = RelationNet(SIZE, places, norm).to(dtype)
        for weight in network.norms.parameters():  # norms that do something
            torch.nn.init.normal_(weight, mean=1.0, std=0.2)
    return network


def told(count: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    return vectors(count, SIZE, KEY / "objects").astype(str(dtype).removeprefix("torch."))


# --- the padded reference


def padded(network: RelationNet, seen: Tensor, count: np.ndarray) -> Tensor:
    """Every scene padded to the most objects, all pairs side by side, and a mask; seen is float[n, most, size]."""
    there = torch.from_numpy(np.arange(seen.shape[1]) < count[:, None])
    real = there[:, :, None] & there[:, None]  # bool[n, most, most]
    rows = [
        [torch.cat([a, b, *between(network, i, j)]) for i, a in enumerate(scene) for j, b in enumerate(scene)]
        for scene in seen
    ]
    x = torch.stack([torch.stack(row) for row in rows])  # float[n, most ** 2, ...]
    for place, layer in enumerate([network.first, *network.others]):
        x = torch.relu(x @ layer.weight.T + layer.bias)
        if network.norms:
            x = normed(network.norms[place], x, real.flatten(1))
    return network.reading((x * real.flatten(1)[..., None]).sum(dim=1))


def between(network: RelationNet, i: int, j: int) -> list[Tensor]:
    return [] if network.offsets is None else [network.get_buffer("offsets")[i, j]]


def normed(norm: torch.nn.Module, x: Tensor, real: Tensor) -> Tensor:
    """The norm of a batch, by the real pairs alone."""
    mean, spread = x[real].mean(dim=0), x[real].var(dim=0, unbiased=False)
    return (x - mean) / torch.sqrt(spread + 1e-5) * norm.get_parameter("weight") + norm.get_parameter("bias")


# --- comparing


def learnt(network: RelationNet, seen: Tensor, say: Callable[[Tensor], Tensor]) -> list[Tensor]:
    """What is said, and the gradients of the objects and of every weight."""
    network.zero_grad()
    seen = seen.clone().requires_grad_()
    said = say(seen)
    wanted = torch.from_numpy((KEY / "wanted").rng().normal(size=said.shape)).to(said)
    (said * wanted).sum().backward()
    assert all(weight.grad is not None for weight in network.parameters()) and seen.grad is not None
    return [said.detach(), seen.grad, *(weight.grad.clone() for weight in network.parameters())]  # type: ignore[union-attr]


def packed(seen: Tensor, count: np.ndarray) -> ObjectSets:
    """As `grouped`, from a tensor that wants its gradient."""
    like = grouped(seen.detach().numpy(), count)
    sizes = np.unique(count)
    return like._replace(groups=tuple(seen[np.flatnonzero(count == size), :size] for size in sizes))


def assert_close(ones: list[Tensor], others: list[Tensor]) -> None:
    for one, other in zip(ones, others, strict=True):
        assert (one - other).abs().max() <= EXACT[one.dtype] * max(1.0, float(one.abs().max()))


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("norm", [False, True])
def test_packed_is_padded(norm: bool, dtype: torch.dtype) -> None:
    network, seen = network_of(norm, dtype=dtype), torch.from_numpy(told(COUNT, dtype))
    plain = learnt(network, seen, lambda x: padded(network, x, COUNT))
    fast = learnt(network, seen, lambda x: network(packed(x, COUNT)))
    assert_close(plain, fast)


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("sides", [(2, 3), (4,)])
def test_packed_is_padded_where_places_count(norm: bool, dtype: torch.dtype, sides: tuple[int, ...]) -> None:
    network = network_of(norm, offsets(sides).to(dtype), dtype)
    count = np.full(5, np.prod(sides), np.uint8)
    seen = torch.from_numpy(told(count, dtype))
    plain = learnt(network, seen, lambda x: padded(network, x, count))
    assert_close(plain, learnt(network, seen, lambda x: network(packed(x, count))))
    far = learnt(network, seen.flip(1), lambda x: network(packed(x, count)))  # the places make a difference
    assert not torch.allclose(plain[0], far[0], rtol=1e-3)


def test_the_norm_remembers_real_pairs_alone() -> None:
    network, seen = network_of(norm=True), told(COUNT, torch.float64)
    network(grouped(seen, COUNT))
    pairs = [np.concatenate([a, b]) for scene, n in zip(seen, COUNT) for a in scene[:n] for b in scene[:n]]
    first = torch.relu(network.first(torch.from_numpy(np.stack(pairs))))
    assert len(pairs) == sum(COUNT.astype(int) ** 2)
    assert torch.allclose(network.norms[0].get_buffer("running_mean"), 0.1 * first.mean(dim=0))
    assert torch.allclose(network.norms[0].get_buffer("running_var"), 0.9 + 0.1 * first.var(dim=0))


def test_a_network_by_the_paper_says_the_same_of_a_scene_in_any_batch() -> None:
    network, seen = network_of(norm=True), told(COUNT, torch.float64)
    network(grouped(seen, COUNT))
    network.eval()
    one, both = (network(grouped(seen[rows], COUNT[rows])) for rows in ([2], [2, 5]))
    assert torch.allclose(one[0], both[0], rtol=1e-10)


@pytest.mark.parametrize("places", [None, offsets((5,))])
def test_groups_say_what_pairs_say(places: Tensor | None) -> None:
    count = COUNT if places is None else np.full(4, 5, np.uint8)
    network = network_of(False, None if places is None else places.double())
    seen = torch.from_numpy(told(count, torch.float64))
    by_pairs, by_objects = (
        learnt(network, seen, lambda x: network.reading(way(packed(x, count))))  # noqa: B023
        for way in (network.by_pairs, network.by_objects)
    )
    assert_close(by_pairs, by_objects)


# --- the sum over pairs, done by hand


def drawn(objects: int, related: bool, scenes: int = 5, width: int = 4) -> list[Tensor | None]:
    random = torch.Generator().manual_seed(objects)

    def tensor(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=random).requires_grad_()

    weights = [tensor(*shape) for _ in range(3) for shape in ((width, width), (width,))]
    apart = tensor(objects, objects, width) if related else None
    return [tensor(scenes, objects, width), tensor(scenes, objects, width), apart, *weights]


@pytest.mark.parametrize("objects", [1, 3])
@pytest.mark.parametrize("related", [False, True])
@pytest.mark.parametrize("kept", [0, 200_000])
def test_the_way_back_is_the_derivative(
    monkeypatch: pytest.MonkeyPatch, objects: int, related: bool, kept: int
) -> None:
    monkeypatch.setattr(relation, "KEPT", kept)
    assert torch.autograd.gradcheck(PairSum.apply, drawn(objects, related))  # type: ignore[arg-type]


def results(inputs: list[Tensor | None]) -> list[Tensor]:
    tensors = [tensor for tensor in inputs if tensor is not None]
    said = PairSum.apply(*inputs)
    return [said.detach(), *torch.autograd.grad(said.sin().sum(), tensors)]


@pytest.mark.parametrize("related", [False, True])
def test_looking_again_gives_the_same_bits_as_keeping(monkeypatch: pytest.MonkeyPatch, related: bool) -> None:
    inputs = drawn(3, related)
    keeping = results(inputs)
    monkeypatch.setattr(relation, "KEPT", 0)
    assert all(torch.equal(one, other) for one, other in zip(keeping, results(inputs), strict=True))


@pytest.mark.parametrize("related", [False, True])
def test_it_does_not_matter_how_many_are_looked_at_together(monkeypatch: pytest.MonkeyPatch, related: bool) -> None:
    inputs = drawn(3, related)
    found = []
    for rows in (1, 9, 27, 31, 10_000):
        monkeypatch.setattr(relation, "ROWS", rows)
        found.append(results(inputs))
    for other in found[1:]:
        assert_close(found[0], other)
