"""ResNet-18 without its third and fourth layer, which are replaced by nothing, as in the ConceptWorld paper.

The names of the weights are those of torchvision, so a file of ImageNet weights for the whole ResNet-18 can be read:
what is not used here, the later layers and the 1,000 classes, is passed over.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

# What the pixels of ImageNet are on average, and how far they vary: its weights expect pictures in this measure.
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
COUNTER = "num_batches_tracked"
"""A number of every normalisation that no result depends on, and that older files of weights do not have."""
CONVOLUTIONS: dict[int, type[nn.Conv1d] | type[nn.Conv2d]] = {1: nn.Conv1d, 2: nn.Conv2d}
NORMS: dict[int, type[nn.BatchNorm1d] | type[nn.BatchNorm2d]] = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d}
POOLS: dict[int, type[nn.MaxPool1d] | type[nn.MaxPool2d]] = {1: nn.MaxPool1d, 2: nn.MaxPool2d}


class Block(nn.Module):
    """Two convolutions whose result is added to the input; it has two axes in pictures, one in sound."""

    def __init__(self, channels: int, width: int, stride: int, axes: int = 2) -> None:
        super().__init__()
        convolution, norm = CONVOLUTIONS[axes], NORMS[axes]
        self.conv1 = convolution(channels, width, 3, stride, padding=1, bias=False)
        self.bn1 = norm(width)
        self.conv2 = convolution(width, width, 3, padding=1, bias=False)
        self.bn2 = norm(width)
        same = stride == 1 and channels == width
        self.downsample = None if same else _shortcut(channels, width, stride, axes)

    def forward(self, x: Tensor) -> Tensor:
        kept = x if self.downsample is None else self.downsample(x)
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)) + kept)


class ResNet(nn.Module):
    """The stem and the first two layers of ResNet-18, averaged over the picture."""

    def __init__(self, side: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
        self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
        self.fc = nn.Linear(128, classes)
        self.register_buffer("mean", torch.zeros(3, 1, 1))
        self.register_buffer("spread", torch.ones(3, 1, 1))
        self.apply(start)

    def forward(self, images: Tensor) -> Tensor:  # float[n, 3, side, side] -> float[n, classes]
        x = (images - self.get_buffer("mean")) / self.get_buffer("spread")
        x = self.pool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(x.mean(dim=(2, 3)))

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Begin from ImageNet's weights; the reading of the classes stays as it was."""
        own = {
            name: value
            for name, value in self.state_dict().items()
            if not name.startswith(("fc.", "mean", "spread")) and not name.endswith(COUNTER)
        }
        missing = [name for name, value in own.items() if getattr(weights.get(name), "shape", None) != value.shape]
        if missing:
            raise KeyError(missing[0])
        self.load_state_dict({name: weights[name] for name in own}, strict=False)
        self.get_buffer("mean").copy_(torch.tensor(MEAN)[:, None, None])
        self.get_buffer("spread").copy_(torch.tensor(SPREAD)[:, None, None])


def _shortcut(channels: int, width: int, stride: int, axes: int) -> nn.Module:
    return nn.Sequential(CONVOLUTIONS[axes](channels, width, 1, stride, bias=False), NORMS[axes](width))


SHORTER = 16
"""How much shorter every side is after the trunk."""


def trunk(channels: int, axes: int, blocks: tuple[int, ...] = (2, 2, 2)) -> nn.Module:
    """The stem and the layers of a ResNet, by default the first three of ResNet-18: 256 channels for every place left.

    Another layer doubles the channels and halves the sides; ResNet-34 has layers of 3, 4, 6 and 3 blocks.
    """
    stem = (CONVOLUTIONS[axes](channels, 64, 7, stride=2, padding=3, bias=False), NORMS[axes](64), nn.ReLU())
    layers, before = list[tuple[int, int, int]](), 64
    for place, many in enumerate(blocks):
        width = 64 * 2**place
        layers += [(before, width, 1 if place == 0 else 2), *[(width, width, 1)] * (many - 1)]
        before = width
    made = nn.Sequential(*stem, POOLS[axes](3, stride=2, padding=1), *(Block(*layer, axes) for layer in layers))
    return made.apply(start)


def start(module: nn.Module) -> None:
    """Begin a convolution so that what it says varies as much as what it hears."""
    if isinstance(module, nn.Conv1d | nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
