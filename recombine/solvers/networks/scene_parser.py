"""A scene parser: a centre-point detector that says what stands where, and how sure it is.

A small residual network looks at a picture and gives a map with a quarter of its sides. How likely a cell is to hold
the centre of an object is the *heat* of the cell; at the hottest cells a head reads off where in the cell the centre
lies, the box, the place on the ground and the values of every attribute. Pictures may have any height and width that
are multiples of `STRIDE`: places are counted from the middle of the picture, in widths of it.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d

from recombine.solvers.networks.resnet import start

STRIDE = 4
"""Pixels of a side of a cell."""
CENTRE, BOX, PLACE = slice(0, 4), slice(4, 8), slice(8, 12)
"""Of the numbers that a head gives: two and their log-spreads; the four distances to the sides of the box; as first."""
NUMBERS = 12
RARE = -4.0
"""The heat that cells begin with, as a logit: few hold a centre."""


class Map(NamedTuple):
    """What the network makes of n pictures."""

    heat: Tensor  # float[n, h, w], logits
    features: Tensor  # float[n, channels, h, w]
    whole: Tensor  # float[n, channels]: the picture as a whole


class Read(NamedTuple):
    """What stands at some cells."""

    numbers: Tensor  # float[m, NUMBERS]
    values: tuple[Tensor, ...]  # for each attribute float[m, values], logits


class Block(nn.Module):
    """Two convolutions whose result is added to the input, after the sides were halved if `stride` says so."""

    def __init__(self, channels: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.first = _convolution(channels, width, stride)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
        self.kept = nn.Identity() if stride == 1 and channels == width else _shortcut(channels, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(self.first(x)) + self.kept(x))


class SceneParser(nn.Module):
    """The network, `width` channels wide where it begins; `values` says how many values each attribute has."""

    def __init__(self, width: int, values: tuple[int, ...]) -> None:
        super().__init__()
        self.width, self.values = width, values
        near, middle, far = 2 * width, 4 * width, 8 * width
        self.stem = _convolution(3, width, 2)
        self.near = nn.Sequential(_convolution(width, near, 2), Block(near, near))
        self.middle = nn.Sequential(Block(near, middle, 2), Block(middle, middle))
        self.far = nn.Sequential(Block(middle, far, 2), Block(far, far))
        self.from_far = nn.Conv2d(far, middle, 1)
        self.join_middle = Block(middle, middle)
        self.from_near = nn.Conv2d(near, middle, 1)
        self.join_near = Block(middle, middle)
        self.heat = nn.Sequential(_convolution(middle, near, 1), nn.Conv2d(near, 1, 1))
        self.head = nn.Sequential(nn.Linear(middle + 2, far), nn.ReLU(), nn.Linear(far, NUMBERS + sum(values)))
        self.apply(start)
        nn.init.constant_(self.heat[1].bias, RARE)  # type: ignore[arg-type]

    def forward(self, pictures: Tensor) -> Map:  # float[n, 3, h, w] from 0 to 1
        near = self.near(self.stem(pictures - 0.5))
        middle = self.middle(near)
        far = self.far(middle)
        middle = self.join_middle(middle + interpolate(self.from_far(far), middle.shape[2:]))
        features = self.join_near(self.from_near(near) + interpolate(middle, near.shape[2:]))
        return Map(self.heat(features)[:, 0], features, far.mean(dim=(2, 3)))

    def read(self, found: Map, picture: Tensor, row: Tensor, column: Tensor) -> Read:
        """What stands at these cells of these pictures, int64[m] each."""
        height, width = found.heat.shape[1:]
        where = torch.stack([(column + 0.5 - width / 2) / width, (row + 0.5 - height / 2) / width], dim=1)
        features = found.features[picture, :, row, column]
        said = self.head(torch.cat([features, where.to(features)], dim=1)).float()
        numbers, rest = said[:, :NUMBERS], said[:, NUMBERS:]
        return Read(numbers, rest.split(self.values, dim=1) if self.values else ())


def peaks(heat: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor]:
    """The hottest cells that are hotter than those around them: heat, row and column, [n, most] each."""
    n, height, width = heat.shape
    top = max_pool2d(heat[:, None], 3, stride=1, padding=1)[:, 0]
    alone = torch.where(heat == top, heat, torch.full_like(heat, -torch.inf))
    found, cell = alone.reshape(n, -1).topk(min(most, height * width), dim=1)
    return found, cell // width, cell % width


def _convolution(channels: int, width: int, stride: int) -> nn.Sequential:
    made = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
    return nn.Sequential(made, nn.BatchNorm2d(width), nn.ReLU())


def _shortcut(channels: int, width: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))
