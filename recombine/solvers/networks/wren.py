"""WReN: a relation network over the cells of a picture.

Three convolutions cut a picture of 32x32 into 4x4 cells. Each cell is an object: what is seen there, and a tag that
says where. One small network looks at all pairs of objects, another reads the sum of what it says.

All black cells look the same, so two of them say the same in every picture: these pairs are worked out once a batch.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

CHANNELS = 64
WIDTH = 256
"""Of the networks that relate and read. The paper does not tell; these are a relation network's usual ones, and make it
as large as the paper says."""
CELL = 8


class Wren(nn.Module):
    """Cells of a picture, their pairs, and what the pairs say together."""

    def __init__(self, side: int, classes: int, channels: int = CHANNELS, width: int = WIDTH) -> None:
        super().__init__()
        self.see = nn.Sequential(*_halving(3, channels), *_halving(channels, channels), *_halving(channels, channels))
        cells = (side // CELL) ** 2
        self.register_buffer("tag", torch.eye(cells))
        # The first layer of the pairs' network is linear in the two objects, so it is worked out for each object once.
        self.first, self.second = nn.Linear(channels + cells, width), nn.Linear(channels + cells, width, bias=False)
        self.relate = nn.Sequential(*_layer(width, width), *_layer(width, width), *_layer(width, width))
        self.read = nn.Sequential(*_layer(width, width), *_layer(width, width), nn.Linear(width, classes))

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        seen = self.see(images).flatten(2).transpose(1, 2)  # float[n, cells, channels]
        if torch.compiler.is_compiling():  # a compiled network does not branch on what it sees
            return self.read(self.plainly(seen))
        black = ~max_pool2d((images != 0).any(dim=1).float(), CELL).flatten(1).bool()  # bool[n, cells]
        return self.read(self.once(seen, black) if black.any() else self.plainly(seen))

    def plainly(self, seen: Tensor) -> Tensor:
        """What all pairs say, float[n, width]."""
        first, second = self._halves(seen)
        return self.relate(torch.relu(first[:, :, None] + second[:, None])).sum(dim=(1, 2))

    def once(self, seen: Tensor, black: Tensor) -> Tensor:
        """The same, with one look at each pair of black cells."""
        first, second = self._halves(seen)
        both = black[:, :, None] & black[:, None]  # bool[n, cells, cells]
        image, one, other = (~both).nonzero(as_tuple=True)
        said = self.relate(torch.relu(first[image, one] + second[image, other]))
        dark = self.plain_pairs(seen[black][:1].expand(seen.shape[1], -1))
        return (both.flatten(1).to(dark.dtype) @ dark).index_add(0, image, said)

    def plain_pairs(self, seen: Tensor) -> Tensor:
        """What each pair of the cells of one picture says, float[cells * cells, width]."""
        first, second = self._halves(seen[None])
        return self.relate(torch.relu(first[0, :, None] + second[0, None])).flatten(0, 1)

    def _halves(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """What each cell brings to the first layer as the one of a pair, and as the other: float[n, cells, width]."""
        tag = self.get_buffer("tag").to(seen.dtype).expand(len(seen), -1, -1)
        objects = torch.cat([seen, tag], dim=2)
        return self.first(objects), self.second(objects)


def _halving(channels: int, width: int) -> tuple[nn.Module, ...]:
    """Half as wide, half as high."""
    return nn.Conv2d(channels, width, 2, stride=2), nn.BatchNorm2d(width), nn.ReLU()


def _layer(width: int, after: int) -> tuple[nn.Module, ...]:
    return nn.Linear(width, after), nn.ReLU()
