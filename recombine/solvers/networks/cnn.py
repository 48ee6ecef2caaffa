"""The plain convolutional network: two convolutions, each with a pooling, and a linear reading of what is left."""

from torch import Tensor, nn

CHANNELS = 128
KERNEL = 5


class Cnn(nn.Module):
    """Two convolutions of 5x5 without padding, each followed by the largest of 2x2."""

    def __init__(self, side: int, classes: int, channels: int = CHANNELS) -> None:
        super().__init__()
        left = _after(_after(side))
        self.layers = nn.Sequential(
            nn.Conv2d(3, channels, KERNEL),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, channels, KERNEL),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(channels * left * left, classes),
        )

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        return self.layers(images)


def _after(side: int) -> int:
    """The side of what a convolution and its pooling leave.

    >>> _after(32), _after(14)
    (14, 5)
    """
    return (side - KERNEL + 1) // 2
