"""An attribute network: a closer look at one object, that says what it is and which of its parts look otherwise.

It sees a square cut out around the object's box, and where in the picture that box was: how far away a thing is
decides how large it is. For every name that a part can have it says how likely the object has such a part of another
look, and how that part looks.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.solvers.networks.resnet import start
from recombine.solvers.networks.scene_parser import Block

SIDE = 64
"""Pixels of a side of what is looked at."""
PLACE = 4
"""Numbers that say where: the middle of the box, its width and its height, in widths of the picture."""


class Told(NamedTuple):
    """What is said of m objects, as logits."""

    values: tuple[Tensor, ...]  # for each attribute float[m, values]
    parts: Tensor  # float[m, parts]: that there is such a part
    looks: tuple[Tensor, ...]  # for each look of parts float[m, parts, values]


class AttributeNet(nn.Module):
    """The network, `width` channels wide where it begins.

    `values` says how many values each attribute has, `parts` how many names of parts there are, and `looks` how many
    values each look of a part has.
    """

    def __init__(self, width: int, values: tuple[int, ...], parts: int = 0, looks: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.width, self.values, self.parts, self.looks = width, values, parts, looks
        first = nn.Sequential(nn.Conv2d(3, width, 5, 2, 2, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        blocks = [Block(width << i, width << i + 1, 2) for i in range(3)]
        self.look = nn.Sequential(first, *blocks, nn.Flatten())
        self.place = nn.BatchNorm1d(PLACE)
        self.think = nn.Sequential(nn.Linear(8 * width * (SIDE // 16) ** 2 + PLACE, 256), nn.ReLU(), nn.Dropout(0.2))
        self.say = nn.Linear(256, sum(values))
        self.say_parts = nn.Linear(256, parts * (1 + sum(looks))) if parts else None
        self.apply(start)
        self.look.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, cut: Tensor, place: Tensor) -> Told:  # float[m, 3, SIDE, SIDE] from 0 to 1, float[m, PLACE]
        seen = self.look((cut - 0.5).contiguous(memory_format=torch.channels_last))
        thought = self.think(torch.cat([seen, self.place(place)], dim=1))
        values = self.say(thought).float().split(self.values, dim=1)
        if self.say_parts is None:
            return Told(values, cut.new_zeros(len(cut), 0), ())
        said = self.say_parts(thought).float().unflatten(1, (self.parts, -1))  # of no close-up too
        return Told(values, said[..., 0], said[..., 1:].split(self.looks, dim=2))
