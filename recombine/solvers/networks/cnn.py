"""The plain convolutional network: two convolutions, each with a pooling, and a linear reading of what is left.

Pictures of a few coloured points are black nearly everywhere, and what a convolution makes of black is the same
everywhere. So where little is to be seen, only the cells that see something are worked out. The function is the same,
at a fraction of the work.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, max_pool2d

CHANNELS = 128
KERNEL = 5
SPARSE = 0.5
"""The share of cells that see something up to which it pays to work out only these."""


class Cnn(nn.Module):
    """Two convolutions of 5x5 without padding, each followed by the largest of 2x2."""

    def __init__(self, side: int, classes: int, channels: int = CHANNELS) -> None:
        super().__init__()
        left = _after(_after(side))
        self.first = nn.Conv2d(3, channels, KERNEL)
        self.second = nn.Conv2d(channels, channels, KERNEL)
        self.read = nn.Linear(channels * left * left, classes)

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        seen = self.densely(images) if torch.compiler.is_compiling() else self._seen(images)
        return self.read(max_pool2d(torch.relu(seen), 2).flatten(1))

    def _seen(self, images: Tensor) -> Tensor:
        """The two convolutions, the cheaper way; a compiled network does not branch on what it sees."""
        seeing = self.seeing(images)
        sparse = int(seeing.sum()) <= SPARSE * seeing.numel()
        return self.sparsely(images, seeing) if sparse else self.densely(images)

    def densely(self, images: Tensor) -> Tensor:
        """The two convolutions with the pooling between them, as they are written: float[n, channels, h, w]."""
        return self.second(max_pool2d(torch.relu(self.first(images)), 2))

    def seeing(self, images: Tensor) -> Tensor:
        """Which cells of the first pooling see anything but black, bool[n, h, w]."""
        coloured = (images != 0).any(dim=1).float()
        return max_pool2d(max_pool2d(coloured, KERNEL, stride=1), 2).bool()

    def sparsely(self, images: Tensor, seeing: Tensor) -> Tensor:
        """The same, from the cells that see something and from what all others have in common."""
        image, row, column = seeing.nonzero(as_tuple=True)
        windows = images.unfold(2, KERNEL + 1, 2).unfold(3, KERNEL + 1, 2)  # what the four places of a cell see
        cells = torch.relu(self.first(windows[image, :, row, column])).amax(dim=(2, 3))  # float[cells, channels]
        assert self.first.bias is not None
        black = torch.relu(self.first.bias)  # float[channels]: a cell that sees nothing
        n, height, width = len(images), seeing.shape[1] - KERNEL + 1, seeing.shape[2] - KERNEL + 1
        weight = self.second.weight.permute(1, 2, 3, 0)  # float[channels, 5, 5, channels]
        said = ((cells - black) @ weight.flatten(1)).view(-1, black.numel())  # a row for each cell and place in 5x5
        seen = said.new_zeros(n * height * width + 1, black.numel())
        seen = seen.index_add(0, self._where(image, row, column, n, height, width), said)[:-1]
        everywhere = conv2d(
            black[None, :, None, None].expand(-1, -1, KERNEL, KERNEL), self.second.weight, self.second.bias
        )
        return seen.view(n, height, width, -1).permute(0, 3, 1, 2) + everywhere

    def _where(self, image: Tensor, row: Tensor, column: Tensor, n: int, height: int, width: int) -> Tensor:
        """Which place of the second convolution a cell adds to, from each place in its 5x5; the last one is outside."""
        across = torch.arange(KERNEL, device=row.device)
        y, x = row[:, None] - across, column[:, None] - across  # int[cells, 5]
        inside = ((y >= 0) & (y < height))[:, :, None] & ((x >= 0) & (x < width))[:, None]
        place = (image[:, None] * height + y)[:, :, None] * width + x[:, None]
        return torch.where(inside, place, n * height * width).flatten()


def _after(side: int) -> int:
    """The side of what a convolution and its pooling leave.

    >>> _after(32), _after(14)
    (14, 5)
    """
    return (side - KERNEL + 1) // 2
