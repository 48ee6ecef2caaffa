"""The transformer as a pooling: objects look at each other in four layers, then extremes, sum and mean are read."""

import torch
from torch import Tensor, nn

from recombine.solvers.networks.dropout import dropout
from recombine.solvers.networks.objects import ObjectSets

LAYERS, HEADS, INNER = 4, 2, 512
DROPPED = 0.1
"""The share of values that are left out in training, PyTorch's own default, which the released code keeps."""


class Attention(nn.Module):
    """Every object asks every object, in a few heads."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.asking = nn.Linear(size, 3 * size)
        self.telling = nn.Linear(size, size)

    def forward(self, x: Tensor) -> Tensor:  # float[scenes, objects, size], as are all here
        scenes, objects, size = x.shape
        question, key, value = self.asking(x).view(scenes, objects, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        near = question @ key.transpose(-1, -2) * (size / HEADS) ** -0.5
        heard = dropout(near.softmax(dim=-1), DROPPED, self.training) @ value
        return self.telling(heard.transpose(1, 2).reshape(scenes, objects, size))


class Layer(nn.Module):
    """Attention, then two linear layers for each object; each is added to what it began from, and normalised."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.attention = Attention(size)
        self.inner, self.outer = nn.Linear(size, INNER), nn.Linear(INNER, size)
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x + self._dropped(self.attention(x)))
        return self.second(x + self._dropped(self.outer(self._dropped(torch.relu(self.inner(x))))))

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, DROPPED, self.training)


class TransformerPool(nn.Module):
    """Sets of objects to one vector each."""

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(Layer(size) for _ in range(LAYERS)))
        self.reading = nn.Linear(4 * size, out)

    def forward(self, seen: ObjectSets) -> Tensor:
        return self.reading(seen.restored([self._read(self.layers(group)) for group in seen.groups]))

    def _read(self, x: Tensor) -> Tensor:
        return torch.cat([x.amax(dim=1), x.amin(dim=1), x.sum(dim=1), x.mean(dim=1)], dim=-1)
