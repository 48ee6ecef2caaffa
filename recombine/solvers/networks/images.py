"""The networks that look at pictures, by name."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from pickletools import genops
from zipfile import ZIP_STORED, ZipFile

import torch
from torch import Tensor, nn

from recombine.solvers.networks.cnn import Cnn
from recombine.solvers.networks.mlp import Mlp
from recombine.solvers.networks.predinet import PrediNet
from recombine.solvers.networks.resnet import ResNet
from recombine.solvers.networks.wren import Wren
from recombine.solvers.training.seeding import seeded
from recombine.solvers.training.tensors import read_tensors
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.untrusted import read_bytes

VERSION = 1
"""Counts the changes after which older weights no longer fit, or mean something else."""
NETWORKS: dict[str, Callable[[int, int], nn.Module]] = {
    "mlp": Mlp,
    "cnn": Cnn,
    "resnet": ResNet,
    "wren": Wren,
    "predinet": PrediNet,
}


LARGEST, MOST_RECORDS, MOST_SAID = 2**28, 10_000, 2**18
"""Bytes of a file of weights, its tensors, and the bytes that say what they are: five times those of a ResNet-18."""
PARTS = 5
"""The pickles at the beginning of an older file."""
TENSORS = re.compile(
    r"collections OrderedDict|torch Size|torch(\.storage)? \w+Storage|torch\._utils _rebuild_(tensor(_v2)?|parameter)"
)


def build(name: str, side: int, classes: int, key: Key, weights: Path | None = None) -> nn.Module:
    """A network for square pictures as the key begins it, or, for a ResNet, as a file of weights does."""
    if name not in NETWORKS:
        raise UserError(f"there is no network '{name}'; choose one of {', '.join(NETWORKS)}")
    with seeded(key):
        network = NETWORKS[name](side, classes)
    if weights is not None:
        _take(network, name, weights)
    return network


def parameters(network: nn.Module) -> int:
    """How many numbers are learnt."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)


def _take(network: nn.Module, name: str, file: Path) -> None:
    if not isinstance(network, ResNet):
        raise UserError(f"only the resnet begins from weights, not the {name}; leave weights out")
    try:
        network.take(_weights(file))
    except KeyError as error:
        raise UserError(
            f"{file} has no weights of a ResNet-18: {error.args[0]} is missing or has another shape"
        ) from error


def _weights(file: Path) -> dict[str, Tensor]:
    """A file of weights, .safetensors or as PyTorch saves them."""
    if not file.is_file():
        raise UserError(
            f"there is no file {file}; give the path of ResNet-18's ImageNet weights (.pth or .safetensors)"
        )
    if file.suffix == ".safetensors":
        return read_tensors(file)[0]
    content = read_bytes(file, LARGEST, "give the weights of a ResNet-18")
    try:
        _refuse_bombs(content)
        found = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zip and PyTorch raise errors of their own kinds for a file that is not theirs
        raise UserError(f"{file} cannot be read as PyTorch weights; give a .pth or .safetensors file") from error
    if not isinstance(found, dict):
        raise UserError(f"{file} holds no named weights; save the state_dict of a ResNet-18")
    return found


def _refuse_bombs(content: bytes) -> None:
    """Refuse a file of PyTorch that would take much more memory than it has bytes: packed, or making more than tensors.

    The tensors are records beside what is said of them, or in older files after it.
    """
    said = [content[:MOST_SAID]]
    if content.startswith(b"PK"):
        if content.count(b"PK\1\2") > MOST_RECORDS:
            raise ValueError("it has too many records")
        with ZipFile(BytesIO(content)) as archive:
            records = archive.infolist()
            if any(one.compress_type != ZIP_STORED or one.file_size > len(content) for one in records):
                raise ValueError("it is packed")
            said = [archive.read(one)[:MOST_SAID] for one in records if one.filename.endswith(".pkl")]
    for words in map(BytesIO, said):
        for _ in range(1 if content.startswith(b"PK") else PARTS):
            for step, named, _ in genops(words):
                if step.name in ("GLOBAL", "STACK_GLOBAL", "INST") and not TENSORS.fullmatch(str(named)):
                    raise ValueError(f"it makes {named}")
