"""Cells: what every network that answers questions looks at.

A scene is a set of cells, each with features and a place: the objects that are there, the positions of a feature map,
or those that a small convolutional network makes of pixels. On a grid the layers are convolutions; on a set of objects
a 1x1 convolution is a layer for each cell, and a 3x3 convolution, which looks around, is a layer of the cell itself and
of the largest values among all cells.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear

PIXEL_WIDTHS = (16, 16, 32, 32)
"""The channels of the convolutions that look at pixels; all but the first halve the sides."""


class Cells(NamedTuple):
    """Some scenes. Pixels come as float[n, 3, h, w] in `features`, and become cells in the stem of a network."""

    features: Tensor  # float[n, k, d]
    place: Tensor  # float[n, k, p]
    there: Tensor | None = None  # bool[n, k]: which cells there are; None where there are all
    which: Tensor | None = None  # int64[questions]: the scene of each question, where several ask about one

    def rows(self, index: Tensor) -> "Cells":
        return Cells(self.features[index], self.place[index], None if self.there is None else self.there[index])

    def to(self, device: torch.device) -> "Cells":
        return Cells(*(None if part is None else part.to(device) for part in self))  # type: ignore[arg-type]

    def asked(self) -> "Cells":
        """A scene for every question."""
        return self if self.which is None else self.rows(self.which)


@dataclass(frozen=True)
class CellShape:
    """What a network must know of a view before it sees anything."""

    features: int
    places: int = 2
    sides: tuple[int, int] | None = None
    """Height and width of a grid; none for a set."""
    pixels: bool = False
    """Whether the sides are those of a picture."""
    widths: tuple[int, ...] = PIXEL_WIDTHS
    """The channels of the convolutions that look at pixels."""

    @property
    def grid(self) -> tuple[int, int] | None:
        """Height and width of the grid behind the stem."""
        if self.sides is None or not self.pixels:
            return self.sides
        shorter = 2 ** (len(self.widths) - 1)
        return -(-self.sides[0] // shorter), -(-self.sides[1] // shorter)


def highest(x: Tensor, there: Tensor | None) -> Tensor:
    """The largest value of every feature among the cells that are there: float[n, k, d] -> float[n, d]."""
    return x.amax(dim=1) if there is None else x.masked_fill(~there[..., None], -torch.inf).amax(dim=1)


def grid_places(sides: tuple[int, int], device: torch.device | None = None) -> Tensor:
    """Where the cells of a grid are, from -1 to 1 along each side, float[h w, 2]."""
    rows, columns = (torch.linspace(-1, 1, side, device=device) for side in sides)
    return torch.stack(torch.meshgrid(rows, columns, indexing="ij"), dim=-1).flatten(0, 1)


class Near(nn.Module):
    """A layer that sees the neighbourhood of a cell where there is one: 3x3 on a grid, the cell alone in a set."""

    def __init__(self, inputs: int, outputs: int, sides: tuple[int, int] | None) -> None:
        super().__init__()
        self.sides = sides
        kernel = () if sides is None else (3, 3)
        self.weight, self.bias = nn.Parameter(torch.empty(outputs, inputs, *kernel)), nn.Parameter(torch.zeros(outputs))
        # As PyTorch begins it, what is seen would be far smaller than what is asked.
        nn.init.kaiming_uniform_(self.weight, nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        if self.sides is None:
            return linear(x, self.weight, self.bias)
        return convolved(x, self.weight, self.bias, self.sides)


class Around(nn.Module):
    """A layer that looks around: 3x3 on a grid; in a set, the cell and the largest values among all cells."""

    def __init__(self, inputs: int, outputs: int, sides: tuple[int, int] | None) -> None:
        super().__init__()
        self.near = Near(inputs, outputs, sides)
        self.all = None if sides is not None else nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, there: Tensor | None) -> Tensor:
        found: Tensor = self.near(x)
        return found if self.all is None else found + self.all(highest(x, there))[:, None]


def convolved(x: Tensor, weight: Tensor, bias: Tensor | None, sides: tuple[int, int]) -> Tensor:
    """A 3x3 convolution of the cells of a grid, float[n, h w, d]."""
    picture = x.unflatten(1, sides).permute(0, 3, 1, 2)  # in memory the channels stay last
    return conv2d(picture, weight, bias, padding=1).permute(0, 2, 3, 1).flatten(1, 2)


class Stem(nn.Module):
    """What is made of a view before anything is asked: so many layers of one width, the place of a cell told to each.

    `tell_places` leaves the places out for networks that are told them later.
    """

    def __init__(self, shape: CellShape, width: int, layers: int = 2, tell_places: bool = True) -> None:
        super().__init__()
        self.shape, self.tell_places = shape, tell_places
        self.pixels = small_cnn(shape) if shape.pixels else None
        told = (shape.widths[-1] if shape.pixels else shape.features) + (shape.places if tell_places else 0)
        widths = [told] + [width] * layers
        self.layers = nn.ModuleList(Near(a, b, shape.grid) for a, b in pairwise(widths))

    def forward(self, seen: Cells) -> Cells:
        """Cells of this width at the same places."""
        if self.pixels is not None:
            found = self.pixels(seen.features).permute(0, 2, 3, 1).flatten(1, 2)
            assert self.shape.grid is not None
            place = grid_places(self.shape.grid, found.device).expand(len(found), -1, -1)
            seen = Cells(found, place, None, seen.which)
        x = (
            torch.cat([seen.features, seen.place.to(seen.features.dtype)], dim=-1)
            if self.tell_places
            else seen.features
        )
        for layer in self.layers:
            x = torch.relu(layer(x))
        return seen._replace(features=x).asked()


def small_cnn(shape: CellShape) -> nn.Module:
    """What looks at pixels: 3x3 convolutions, of which all but the first halve the sides."""
    parts: list[nn.Module] = []
    channels = 3
    for place, width in enumerate(shape.widths):
        parts += [
            nn.Conv2d(channels, width, 3, 1 if place == 0 else 2, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
        channels = width
    return nn.Sequential(*parts)


class Classifier(nn.Module):
    """Cells to scores of answers: a layer for each cell, the largest values of all cells, two layers."""

    def __init__(self, width: int, cells: int, hidden: int, answers: int, places: int = 0) -> None:
        super().__init__()
        self.each = nn.Linear(width + places, cells)
        self.hidden, self.out = nn.Linear(cells, hidden), nn.Linear(hidden, answers)

    def forward(self, x: Tensor, there: Tensor | None) -> Tensor:
        return self.out(torch.relu(self.hidden(highest(torch.relu(self.each(x)), there))))
