"""WReN: a relation network over the cells of a picture.

Three convolutions cut a picture of 32x32 into 4x4 cells. Each cell is an object: what is seen there, and a tag that
says where. One small network looks at all pairs of objects, another reads the sum of what it says.
"""

import torch
from torch import Tensor, nn

CHANNELS = 64
WIDTH = 256


class Wren(nn.Module):
    """Cells of a picture, their pairs, and what the pairs say together."""

    def __init__(self, side: int, classes: int, channels: int = CHANNELS, width: int = WIDTH) -> None:
        super().__init__()
        self.see = nn.Sequential(*_halving(3, channels), *_halving(channels, channels), *_halving(channels, channels))
        cells = (side // 8) ** 2
        self.register_buffer("tag", torch.eye(cells))
        # The first layer of the pairs' network is linear in the two objects, so it is worked out for each object once.
        self.first, self.second = nn.Linear(channels + cells, width), nn.Linear(channels + cells, width, bias=False)
        self.relate = nn.Sequential(*_layer(width, width), *_layer(width, width), *_layer(width, width))
        self.read = nn.Sequential(*_layer(width, width), *_layer(width, width), nn.Linear(width, classes))

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        objects = self.objects(images)
        pairs = torch.relu(self.first(objects)[:, :, None] + self.second(objects)[:, None])  # float[n, cells, cells, w]
        return self.read(self.relate(pairs.flatten(1, 2)).sum(dim=1))

    def objects(self, images: Tensor) -> Tensor:
        """The cells with their tags, float[n, cells, channels + cells]."""
        seen = self.see(images).flatten(2).transpose(1, 2)
        tag = self.get_buffer("tag").to(seen.dtype).expand(len(seen), -1, -1)
        return torch.cat([seen, tag], dim=2)


def _halving(channels: int, width: int) -> tuple[nn.Module, ...]:
    """Half as wide, half as high."""
    return nn.Conv2d(channels, width, 2, stride=2), nn.BatchNorm2d(width), nn.ReLU()


def _layer(width: int, after: int) -> tuple[nn.Module, ...]:
    return nn.Linear(width, after), nn.ReLU()
