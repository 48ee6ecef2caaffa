"""Pooling: a set of object vectors becomes one vector. The four ways of the CURI paper, by name."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from recombine.solvers.networks.objects import ObjectSets
from recombine.solvers.networks.relation import RelationNet
from recombine.solvers.networks.transformer import TransformerPool

SIZE = 256
"""The numbers of a scene."""


def hidden_norms(*widths: int) -> nn.Module:
    """Linear layers of these widths, with normalisation and ReLU between them."""
    *hidden, last = pairwise(widths)
    layers = [part for a, b in hidden for part in (nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(*last))


class AveragePool(nn.Module):
    """The mean over all places for objects, and what is made of it.

    An empty place counts as zero: so a scene of two reds is not the same as a scene of four, as in the released code,
    which fills empty places with an object of its own.
    """

    def __init__(self, size: int, most: int) -> None:
        super().__init__()
        self.most = most
        self.layers = hidden_norms(size, 256, 512, 384, SIZE)

    def forward(self, seen: ObjectSets) -> Tensor:
        return self.layers(seen.restored([group.sum(dim=1) / self.most for group in seen.groups]))


class Concat(nn.Module):
    """The objects one after the other, zeros where a scene has fewer than the most."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__()
        self.size, self.most = size, most
        self.layers = hidden_norms(size * most, 256, 512, 256, SIZE)

    def forward(self, seen: ObjectSets) -> Tensor:
        return self.layers(seen.restored([self._row(group) for group in seen.groups]))

    def _row(self, group: Tensor) -> Tensor:
        flat = group.flatten(1)
        return nn.functional.pad(flat, (0, self.size * self.most - flat.shape[1]))


def build_pooling(name: str, size: int, most: int, offsets: Tensor | None, norm: bool) -> nn.Module:
    """A pooling for sets of at most so many objects of this size, with the paper's beginnings.

    `offsets` are the places of a grid's cells relative to each other, for the relation network alone.
    """
    makers: dict[str, Callable[[], nn.Module]] = {
        "avg-pool": lambda: AveragePool(size, most),
        "concat": lambda: Concat(size, most),
        "relation-net": lambda: RelationNet(size, offsets, norm),
        "transformer": lambda: TransformerPool(size, SIZE),
    }
    pooling = makers[name]()
    pooling.apply(_start_narrow if name == "transformer" else _start_wide)
    return pooling


def _start_wide(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


def _start_narrow(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        torch.nn.init.normal_(module.weight, std=0.02)
        nn.init.zeros_(module.bias)
