"""The networks that look at pictures, by name."""

from collections.abc import Callable
from pathlib import Path

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

VERSION = 1
"""Counts the changes after which older weights no longer fit, or mean something else."""
NETWORKS: dict[str, Callable[[int, int], nn.Module]] = {
    "mlp": Mlp,
    "cnn": Cnn,
    "resnet": ResNet,
    "wren": Wren,
    "predinet": PrediNet,
}


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
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zip and PyTorch raise errors of their own kinds for a file that is not theirs
        raise UserError(f"{file} cannot be read as PyTorch weights; give a .pth or .safetensors file") from error
    if not isinstance(found, dict):
        raise UserError(f"{file} holds no named weights; save the state_dict of a ResNet-18")
    return found
