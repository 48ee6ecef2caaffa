"""The schema encoder: an object as its list of properties becomes a vector.

An object is 19 numbers in CURI: one-hot colour, shape, material and size, then where it is in the picture, how far from
the camera, and how it is turned.
"""

import numpy as np
from torch import nn

from recombine.solvers.networks.objects import ObjectSets
from recombine.world.scenes import Scenes

PLACES = ("locationX", "locationY")
"""Attributes that follow from where an object is: they are not told."""
DEPTH, TURN = 16.0, 360.0
WIDER = 3
"""How much wider the hidden layer is than an object's numbers."""
OBJECT = 96
"""The numbers of an encoded object."""


def width(scenes: Scenes) -> int:
    """How many numbers tell of an object."""
    return sum(len(attribute.values) for attribute in scenes.vocabulary if attribute.name not in PLACES) + 4


def properties(scenes: Scenes, size: tuple[int, int]) -> np.ndarray:
    """What a schema says of every object, float32[n, k, width], zero where there is none; pictures have this `size`."""
    told = [attribute for attribute in scenes.vocabulary if attribute.name not in PLACES]
    kinds = [scenes.codes[a.name][..., None] == np.arange(len(a.values), dtype=np.uint8) for a in told]
    pixel = scenes.extra["pixel"] / np.array([*size, DEPTH], np.float32)
    turn = scenes.extra["rotation"][..., None] / np.float32(TURN)
    found = np.concatenate([*kinds, pixel, turn], axis=-1, dtype=np.float32)
    present = np.arange(scenes.places) < scenes.count[:, None]
    return np.where(present[..., None], found, np.float32(0))


class SchemaEncoder(nn.Module):
    """Two layers, for every object alike."""

    size = OBJECT

    def __init__(self, told: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(told, WIDER * told), nn.ReLU(), nn.Linear(WIDER * told, OBJECT))

    def forward(self, seen: ObjectSets) -> ObjectSets:
        return seen._replace(groups=tuple(self.layers(group) for group in seen.groups))
