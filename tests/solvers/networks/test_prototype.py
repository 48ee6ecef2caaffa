"""CURI's networks: the published sizes, scenes that are seen one by one, and prototypes that are means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.solvers.kinds import POOLINGS
from recombine.solvers.networks.images import parameters
from recombine.solvers.networks.objects import alike, grouped
from recombine.solvers.networks.prototype import Plan, PrototypeNetwork, build, log_odds, prototypes
from recombine.store.errors import UserError
from recombine.store.key import Key
from tests.solvers.networks.drawn import vectors

KEY = Key(1) / "network"
SHAPES = {"schema": (5, 19), "image": (3, 160, 240), "sound": (201, 601)}
WORDS = 45
DECODER = 471_469
PUBLISHED = {
    ("schema", "avg-pool"): (460_980, 932_449),
    ("schema", "concat"): (460_596, 932_065),
    ("schema", "relation-net"): (451_892, 923_361),
    ("schema", "transformer"): (651_444, 1_122_913),
    ("image", "avg-pool"): (3_274_624, 3_746_093),
    ("image", "concat"): (4_834_304, 5_305_773),
    ("image", "relation-net"): (3_253_248, 3_724_717),
    ("image", "transformer"): (3_356_616, 3_828_085),
}
"""Without and with the decoder."""
OURS = {"avg-pool": 1_541_760, "concat": 2_409_216, "relation-net": 1_515_008, "transformer": 1_780_632}
"""Sound without the decoder; nobody has published these."""

counts = st.lists(st.integers(1, 5), min_size=1, max_size=9).map(lambda found: np.array(found, np.uint8))


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def used() -> dict[str, PrototypeNetwork]:
    """Networks that have seen a batch, so that their norms do something."""
    found = {}
    for pooling in POOLINGS:
        network = build(Plan("schema", pooling, SHAPES["schema"]), KEY).double()
        count = np.tile(np.arange(2, 6, dtype=np.uint8), 4)
        network(grouped(3 + 2 * vectors(count, 19, KEY), count))
        found[pooling] = network.eval()
    return found


# --- sizes


@pytest.mark.parametrize(("modality", "pooling"), PUBLISHED)
def test_the_sizes_are_the_published_ones(modality: str, pooling: str) -> None:
    shape = SHAPES[modality]
    found = tuple(parameters(build(Plan(modality, pooling, shape, words=words), KEY)) for words in (0, WORDS))
    assert found == PUBLISHED[modality, pooling]


@pytest.mark.parametrize("pooling", OURS)
def test_the_sizes_for_sound_do_not_drift(pooling: str) -> None:
    found = [parameters(build(Plan("sound", pooling, SHAPES["sound"], words=words), KEY)) for words in (0, WORDS)]
    assert found == [OURS[pooling], OURS[pooling] + DECODER]


def test_a_norm_inside_g_adds_two_numbers_for_each_of_its_values() -> None:
    plain, normed = (
        parameters(build(Plan("schema", "relation-net", (5, 19), norm=norm), KEY)) for norm in (False, True)
    )
    assert normed - plain == 4 * 2 * 256


def test_a_pooling_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UserError, match="there is no pooling 'max-pool'; choose one of avg-pool, concat"):
        build(Plan("schema", "max-pool", (5, 19)), KEY)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_key_decides_the_beginning_and_the_decoder_does_not_change_it(pooling: str) -> None:
    plan = Plan("schema", pooling, (5, 19))
    torch.manual_seed(1)
    first = build(plan, KEY).state_dict()
    torch.manual_seed(2)
    again, writing, other = (
        build(*one).state_dict()
        for one in ((plan, KEY), (Plan("schema", pooling, (5, 19), words=WORDS), KEY), (plan, KEY / "other"))
    )
    assert all(torch.equal(value, again[name]) and torch.equal(value, writing[name]) for name, value in first.items())
    assert not torch.equal(first["encoder.layers.0.weight"], other["encoder.layers.0.weight"])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_every_weight_is_learnt(pooling: str) -> None:
    network = build(Plan("schema", pooling, (5, 19), words=6), KEY)
    assert network.decoder is not None
    count = np.array([2, 3, 4, 5, 5, 4, 3, 2], np.uint8)
    seen = network(grouped(vectors(count, 19, KEY).astype(np.float32), count))
    loss = seen.square().sum() + network.decoder.loss(seen.view(4, -1), torch.tensor([[4, 5, 1]] * 4))
    loss.backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in network.parameters())


# --- scenes


@given(counts)
def test_scenes_come_back_in_their_order(count: np.ndarray) -> None:
    told = vectors(count, 3, KEY)
    seen = grouped(told, count)
    last = told[np.arange(len(count)), count - 1]
    assert torch.equal(seen.restored([group[:, -1] for group in seen.groups]), torch.from_numpy(last))
    assert sorted(group.shape[1] for group in seen.groups) == sorted(set(count.tolist()))


@pytest.mark.parametrize("pooling", POOLINGS)
@settings(deadline=None, max_examples=10)
@given(count=counts)
def test_the_vector_of_a_scene_does_not_depend_on_the_others(
    used: dict[str, PrototypeNetwork], pooling: str, count: np.ndarray
) -> None:
    told, network = vectors(count, 19, KEY), used[pooling]
    with torch.no_grad():
        together = network(grouped(told, count))
        alone = torch.cat([network(grouped(told[i : i + 1], count[i : i + 1])) for i in range(len(count))])
    assert together.shape == (len(count), 256)
    assert torch.allclose(together, alone, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pooling", POOLINGS)
@settings(deadline=None, max_examples=10)
@given(count=counts, seed=st.integers(0, 99))
def test_the_order_of_the_objects_does_not_matter(
    used: dict[str, PrototypeNetwork], pooling: str, count: np.ndarray, seed: int
) -> None:
    told, network, rng = vectors(count, 19, KEY), used[pooling], Key(seed).rng()
    mixed = told.copy()
    for row, n in zip(mixed, count):
        row[:n] = row[rng.permutation(n)]
    with torch.no_grad():
        before, after = network(grouped(told, count)), network(grouped(mixed, count))
    unchanged = pooling != "concat" or np.array_equal(told, mixed)  # which reads the objects one after the other
    assert torch.allclose(before, after, rtol=1e-9, atol=1e-9) == unchanged


@pytest.mark.parametrize("pooling", POOLINGS)
def test_two_of_a_kind_are_not_four(used: dict[str, PrototypeNetwork], pooling: str) -> None:
    """A mean over the objects alone could not tell them apart."""
    one = vectors(np.array([1]), 19, KEY)[:, :1]
    two, four = (torch.from_numpy(np.repeat(one, n, axis=1)) for n in (2, 4))
    with torch.no_grad():
        assert not torch.allclose(used[pooling](alike(two)), used[pooling](alike(four)))


def test_the_mean_is_over_all_places(used: dict[str, PrototypeNetwork]) -> None:
    """As with a mask: what stands in an empty place counts as zero."""
    count = np.array([2, 5, 3])
    told, network = torch.from_numpy(vectors(count, 19, KEY)), used["avg-pool"]
    there = torch.from_numpy(np.arange(told.shape[1]) < count[:, None])
    with torch.no_grad():
        padded = network.encoder.layers(told) * there[..., None]  # type: ignore[operator]
        plainly = network.pooling.layers(padded.mean(dim=1))  # type: ignore[operator]
        assert torch.allclose(network(grouped(told.numpy(), count)), plainly, rtol=1e-9, atol=1e-9)


def test_scenes_of_one_size_need_no_groups() -> None:
    told = vectors(np.array([3, 3]), 19, KEY)
    assert torch.equal(alike(torch.from_numpy(told)).groups[0], grouped(told, np.array([3, 3])).groups[0])


# --- prototypes


def plainly(support: np.ndarray, label: np.ndarray, query: np.ndarray) -> np.ndarray:
    """The probability that each query is positive, one at a time, float[q]."""
    means = [support[label == side].mean(axis=0) if (label == side).any() else np.zeros(4) for side in (False, True)]
    said = []
    for vector in query:
        near = [-sum((a - b) ** 2 for a, b in zip(vector, mean)) for mean in means]
        said.append(np.exp(near[1]) / (np.exp(near[0]) + np.exp(near[1])))
    return np.array(said)


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=4), st.integers(0, 99))
def test_odds_are_the_softmax_of_squared_distances_to_the_means(labels: list[list[bool]], seed: int) -> None:
    """Where there is no example of a side, its prototype is at the origin."""
    label, rng = np.array(labels), Key(seed).rng()
    support, query = rng.normal(size=(len(label), 5, 4)), rng.normal(size=(len(label), 3, 4))
    found = prototypes(torch.from_numpy(support), torch.from_numpy(label))
    said = torch.sigmoid(log_odds(found, torch.from_numpy(query))).numpy()
    assert np.allclose(said, [plainly(*one) for one in zip(support, label, query)], rtol=1e-9)
