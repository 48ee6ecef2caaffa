"""The networks that look at pictures: their sizes, their beginnings, and what each is made to see."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.solvers.networks.cnn import Cnn
from recombine.solvers.networks.images import NETWORKS, build, parameters
from recombine.solvers.networks.resnet import COUNTER, MEAN, ResNet
from recombine.solvers.networks.wren import Wren
from recombine.solvers.training.tensors import write_tensors
from recombine.store.errors import UserError
from recombine.store.key import Key

KEY = Key(1) / "network"
SIZES = {"mlp": 410_243, "cnn": 429_059, "resnet": 683_459, "wren": 405_059, "predinet": 469_831}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def pictures(n: int = 3) -> torch.Tensor:
    return torch.rand(n, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def same(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    return all(torch.equal(one, two) for one, two in zip(a.state_dict().values(), b.state_dict().values()))


@pytest.mark.parametrize("name", NETWORKS)
def test_the_sizes_are_those_of_the_paper(name: str) -> None:
    """400,000 to 600,000; a ResNet-18 without layers 3 and 4 has more, whatever the paper says."""
    found = parameters(build(name, 32, 3, KEY))
    assert found == SIZES[name]
    assert 400_000 <= found <= 600_000 or name == "resnet"


@pytest.mark.parametrize("name", NETWORKS)
def test_every_weight_is_learnt_and_every_picture_answered(name: str) -> None:
    network = build(name, 32, 4, KEY)
    said = network(pictures())
    assert said.shape == (3, 4)
    said.square().sum().backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in network.parameters())


@pytest.mark.parametrize("name", NETWORKS)
def test_the_key_decides_the_beginning_and_nothing_else_does(name: str) -> None:
    torch.manual_seed(1)
    first = build(name, 32, 3, KEY)
    torch.manual_seed(2)
    assert same(first, build(name, 32, 3, KEY)) and not same(first, build(name, 32, 3, KEY / "other"))


def test_wren_relates_all_pairs_of_objects() -> None:
    """The factored first layer says what a layer on the two objects, side by side, would say."""
    network = build("wren", 32, 3, KEY)
    assert isinstance(network, Wren)
    seen = torch.rand(2, 16, 64, generator=torch.Generator().manual_seed(0))
    objects = torch.cat([seen, torch.eye(16).expand(2, -1, -1)], dim=2)
    left, right = objects[:, :, None].expand(-1, -1, 16, -1), objects[:, None].expand(-1, 16, -1, -1)
    weight = torch.cat([network.first.weight, network.second.weight], dim=1)
    layer = torch.relu(torch.cat([left, right], dim=3) @ weight.T + network.first.bias)
    expected = network.relate(layer).sum(dim=(1, 2))
    assert torch.allclose(network.plainly(seen), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("points", "learning"), [(0, False), (1, True), (4, True), (4, False), (40, True)])
def test_wren_says_the_same_when_it_looks_at_black_pairs_once(points: int, learning: bool) -> None:
    network = build("wren", 32, 3, KEY).train(learning).double()
    assert isinstance(network, Wren)
    images, target = on_black(4, points).double(), torch.tensor([0, 1, 2, 0])
    black = ~torch.nn.functional.max_pool2d((images != 0).any(dim=1).float(), 8).flatten(1).bool()
    found = []
    for once in (False, True):
        network.zero_grad()
        seen = network.see(images).flatten(2).transpose(1, 2)
        said = network.read(network.once(seen, black) if once and black.any() else network.plainly(seen))
        torch.nn.functional.cross_entropy(said, target).backward()
        found.append([said.detach(), *(weight.grad.clone() for weight in network.parameters())])  # type: ignore[union-attr]
    for plain, fast in zip(*found):
        assert torch.allclose(plain, fast, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("old", [True, False])
def test_weights_that_would_take_more_memory_than_they_have_bytes_are_refused(tmp_path: Path, old: bool) -> None:
    file, given = tmp_path / "weights.pth", ResNet(32, 1_000).state_dict()
    torch.save(given, file, _use_new_zipfile_serialization=not old)
    build("resnet", 32, 3, KEY, file)
    torch.save({**given, "more": bytearray(4)}, file, _use_new_zipfile_serialization=not old)
    with pytest.raises(UserError, match="cannot be read as PyTorch weights") as refused:
        build("resnet", 32, 3, KEY, file)
    assert "it makes" in str(refused.value.__cause__)


def test_weights_that_are_packed_are_refused(tmp_path: Path) -> None:
    torch.save(ResNet(32, 1_000).state_dict(), tmp_path / "plain.pth")
    with ZipFile(tmp_path / "plain.pth") as plain, ZipFile(tmp_path / "packed.pth", "w", ZIP_DEFLATED) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    with pytest.raises(UserError, match="cannot be read as PyTorch weights") as refused:
        build("resnet", 32, 3, KEY, tmp_path / "packed.pth")
    assert "it is packed" in str(refused.value.__cause__)


@pytest.mark.parametrize("ending", [".pth", ".safetensors"])
def test_a_resnet_begins_from_a_file_of_weights(tmp_path: Path, ending: str) -> None:
    given = {
        name: value + 1 for name, value in ResNet(32, 1_000).state_dict().items() if name not in ("mean", "spread")
    }
    file = tmp_path / f"weights{ending}"
    torch.save(given, file) if ending == ".pth" else write_tensors(file, given, {})
    network, fresh = build("resnet", 32, 3, KEY, file), build("resnet", 32, 3, KEY)
    assert torch.equal(network.state_dict()["layer2.0.conv1.weight"], given["layer2.0.conv1.weight"])
    assert torch.equal(network.state_dict()["fc.weight"], fresh.state_dict()["fc.weight"])
    assert network.state_dict()["mean"].flatten().tolist() == pytest.approx(MEAN)


def test_older_weights_without_counters_are_read(tmp_path: Path) -> None:
    given = {name: value for name, value in ResNet(32, 1_000).state_dict().items() if not name.endswith(COUNTER)}
    write_tensors(tmp_path / "old.safetensors", given, {})
    network = build("resnet", 32, 3, KEY, tmp_path / "old.safetensors")
    assert torch.equal(network.state_dict()["bn1.weight"], given["bn1.weight"])


def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    with pytest.raises(UserError, match="there is no file"):
        build("resnet", 32, 3, KEY, file)
    write_tensors(file, {"conv1.weight": torch.zeros(2)}, {})
    with pytest.raises(UserError, match="has no weights of a ResNet-18"):
        build("resnet", 32, 3, KEY, file)
    torch.save(dict.fromkeys(ResNet(32, 2).state_dict(), 3), tmp_path / "numbers.pth")
    with pytest.raises(UserError, match="has no weights of a ResNet-18"):
        build("resnet", 32, 3, KEY, tmp_path / "numbers.pth")
    with pytest.raises(UserError, match="only the resnet"):
        build("mlp", 32, 3, KEY, file)
    (tmp_path / "text.pth").write_text("no weights")
    with pytest.raises(UserError, match="cannot be read as PyTorch weights"):
        build("resnet", 32, 3, KEY, tmp_path / "text.pth")
    with pytest.raises(UserError, match="there is no network 'vgg'"):
        build("vgg", 32, 3, KEY)


def on_black(n: int, points: int) -> torch.Tensor:
    """Pictures with a few coloured points."""
    random = torch.Generator().manual_seed(points)
    images = torch.zeros(n, 3, 32, 32)
    for image in images:
        for _ in range(points):
            x, y = torch.randint(32, (2,), generator=random).tolist()
            image[:, y : y + 2, x : x + 2] = torch.rand(3, 1, 1, generator=random)
    return images


@pytest.mark.parametrize("points", [0, 1, 4, 40])
def test_the_cnn_sees_the_same_where_it_works_out_only_what_is_not_black(points: int) -> None:
    network = build("cnn", 32, 3, KEY).double()
    assert isinstance(network, Cnn)
    images, target = on_black(4, points).double(), torch.tensor([0, 1, 2, 0])
    gradients = []
    for seen in (network.densely(images), network.sparsely(images, network.seeing(images))):
        network.zero_grad()
        said = network.read(torch.nn.functional.max_pool2d(torch.relu(seen), 2).flatten(1))
        torch.nn.functional.cross_entropy(said, target).backward()
        gradients.append([seen.detach(), *(weight.grad.clone() for weight in network.parameters())])  # type: ignore[union-attr]
    for dense, sparse in zip(*gradients):
        assert torch.allclose(dense, sparse, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_compiled_network_says_the_same(name: str) -> None:
    """In one graph: none may branch on what it sees. The eager backend runs what was traced, without a compiler."""
    network, seen = build(name, 32, 3, KEY).eval(), pictures()
    seen[:, :, 8:] = 0  # mostly black, where some networks take a shorter way
    with torch.no_grad():
        compiled = torch.compile(network, fullgraph=True, backend="eager")
        assert torch.allclose(compiled(seen), network(seen), atol=1e-5)
