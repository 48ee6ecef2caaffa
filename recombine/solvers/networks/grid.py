"""Encoders that look at a picture or listen to a sound: what a ResNet makes of each place is an "object".

A picture of 240 x 160 becomes a grid of 10 x 8 places, a sound of 601 frames a row of 38. Every place is told where it
is, one-hot along each side; a relation network is told instead how far two places are from each other.
"""

from itertools import product
from math import ceil

import torch
from torch import Tensor, nn

from recombine.solvers.networks.objects import ObjectSets, alike
from recombine.solvers.networks.resnet import CONVOLUTIONS, SHORTER, trunk

OBJECT = 64
"""The numbers of an object, without its place."""


class GridEncoder(nn.Module):
    """A ResNet trunk and two layers for each of its places. The shape of the input is (3, h, w) or (201, t)."""

    def __init__(self, shape: tuple[int, ...], places: bool) -> None:
        super().__init__()
        channels, *sides = shape
        axes = len(sides)
        convolution = CONVOLUTIONS[axes]
        stride: tuple[int, ...] = (1, 2) if axes == 2 else (1,)
        self.trunk = trunk(channels, axes)
        self.narrow = convolution(256, 2 * OBJECT, 1, stride)  # type: ignore[arg-type]
        self.wide = convolution(2 * OBJECT, OBJECT, 1)
        self.sides = tuple(ceil(ceil(side / SHORTER) / step) for side, step in zip(sides, stride))
        self.size = OBJECT + (sum(self.sides) if places else 0)
        self.register_buffer("places", one_hot(self.sides) if places else None)

    @property
    def objects(self) -> int:
        return len(cells(self.sides))

    def forward(self, seen: Tensor) -> ObjectSets:  # float[n, *shape]
        found = self.wide(torch.relu(self.narrow(self.trunk(seen)))).flatten(2).transpose(1, 2)
        if self.places is not None:
            places = self.get_buffer("places").expand(len(found), -1, -1)
            found = torch.cat([found, places.to(found.dtype)], dim=-1)
        return alike(found)


def cells(sides: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The places of a grid in the order of its rows."""
    return list(product(*map(range, sides)))


def one_hot(sides: tuple[int, ...]) -> Tensor:
    """Where each place of a grid is, one-hot along every side, float[places, sum of sides]."""
    at = torch.tensor(cells(sides))
    return torch.cat([nn.functional.one_hot(at[:, axis], side) for axis, side in enumerate(sides)], dim=1).float()


def offsets(sides: tuple[int, ...]) -> Tensor:
    """How far each place is from each other along every side, float[places, places, sides]."""
    at = torch.tensor(cells(sides)).float()
    return at[:, None] - at[None]
