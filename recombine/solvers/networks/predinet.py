"""PrediNet: heads that pick two objects each and say how these differ.

A convolution cuts the picture into cells, each with its place. A head asks two questions of the whole picture; a
question weighs the cells, and the weighted cells are an object. What a head says are the differences of its two objects
in a few measures that all heads share, and where the objects are.
"""

import torch
from torch import Tensor, nn

CHANNELS, KERNEL, STRIDE = 32, 12, 6
KEY, HEADS, RELATIONS = 16, 2, 2
WIDTH = 640
"""Of the network that reads the relations. The paper does not tell; this makes it as large as the paper says."""


class PrediNet(nn.Module):
    """Two objects for each head, compared."""

    def __init__(self, side: int, classes: int, width: int = WIDTH) -> None:
        super().__init__()
        across = (side - KERNEL) // STRIDE + 1
        self.see = nn.Sequential(nn.Conv2d(3, CHANNELS, KERNEL, STRIDE), nn.BatchNorm2d(CHANNELS), nn.ReLU())
        self.register_buffer("place", _places(across))
        size = CHANNELS + 2
        self.questions = nn.Linear(across * across * size, 2 * HEADS * KEY, bias=False)
        self.keys = nn.Linear(size, KEY, bias=False)
        self.measures = nn.Linear(size, RELATIONS, bias=False)
        self.read = nn.Sequential(
            nn.Linear(HEADS * (RELATIONS + 4), width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, classes),
        )

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        cells = self.cells(images)
        asked = self.questions(cells.flatten(1)).unflatten(1, (2 * HEADS, KEY))
        weight = torch.softmax(asked @ self.keys(cells).transpose(1, 2), dim=2)  # float[n, 2 * heads, cells]
        first, second = (weight @ cells).unflatten(1, (2, HEADS)).unbind(1)  # float[n, heads, size] each
        difference = self.measures(first) - self.measures(second)
        return self.read(torch.cat([difference, first[..., -2:], second[..., -2:]], dim=2).flatten(1))

    def cells(self, images: Tensor) -> Tensor:
        """What is seen in each cell, and its place: float[n, cells, channels + 2]."""
        seen = self.see(images).flatten(2).transpose(1, 2)
        place = self.get_buffer("place").to(seen.dtype).expand(len(seen), -1, -1)
        return torch.cat([seen, place], dim=2)


def _places(across: int) -> Tensor:
    """x and y of every cell, from -1 to 1: float[cells, 2]."""
    line = torch.linspace(-1, 1, across)
    y, x = torch.meshgrid(line, line, indexing="ij")
    return torch.stack([x, y], dim=-1).flatten(0, 1)
