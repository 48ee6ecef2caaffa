"""The closer look of a parser: it finds objects in the whole picture, and says what they are from close-ups."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from recombine.solvers.closeups import cut_out, places
from recombine.solvers.networks.attribute_net import AttributeNet, Told
from recombine.solvers.networks.fused import fused

AT_ONCE = 512
"""Close-ups that are looked at together."""


@dataclass(frozen=True)
class PartWords:
    """What can be said of the parts of an object."""

    names: tuple[str, ...]
    looks: tuple[tuple[str, tuple[str, ...]], ...]
    """What is said of a part beside its name, with its values."""
    slots: tuple[str, ...] = ()
    """The attributes of a world that name the recorded parts; `SLOT_LOOK` is what such a part looks like."""


@dataclass(frozen=True, eq=False)
class PartsSeen:
    """What is believed of the parts of objects."""

    chance: np.ndarray  # float32[..., parts]: that the object has such a part of another look
    looks: Mapping[str, np.ndarray]  # look -> float32[..., parts, values]


@dataclass(frozen=True, eq=False)
class Closer:
    """An attribute network with its calibration."""

    network: AttributeNet
    names: tuple[tuple[str, tuple[str, ...]], ...]
    """Attributes and their values."""
    parts: PartWords | None
    factors: tuple[float, ...]
    """What the logits of each attribute are multiplied with."""
    part_chance: tuple[float, float] = (1.0, 0.0)
    """A factor and a summand for the logits of parts."""
    look_factors: tuple[float, ...] = ()

    @cached_property
    def _still(self) -> AttributeNet:
        return fused(self.network)

    def look(self, pictures: np.ndarray, picture: np.ndarray, box: np.ndarray) -> dict[str, np.ndarray]:
        """Beliefs about what stands in boxes of pictures, by attribute, float32[m, values].

        `parts` and `parts/LOOK` are those about parts, float32[m, parts] and float32[m, parts, values].
        """
        told = both_ways(self._still, cut_out(pictures, picture, box), places(box))
        found = {
            name: torch.softmax(factor * said, dim=1)
            for (name, _), factor, said in zip(self.names, self.factors, told.values)
        }
        if self.parts is not None:
            factor, summand = self.part_chance
            found["parts"] = torch.sigmoid(factor * told.parts + summand)
            for (name, _), scale, said in zip(self.parts.looks, self.look_factors, told.looks):
                found[f"parts/{name}"] = torch.softmax(scale * said, dim=2)
        return {name: one.numpy().astype(np.float32) for name, one in found.items()}


def both_ways(network: AttributeNet, cut: np.ndarray, place: np.ndarray) -> Told:
    """What a network says of close-ups and of their mirror images, the mean; of parts, which have sides, without those.

    A parser looks twice at an object, so that it is seen from both sides as it was when this was learnt.
    """
    plain = logits_of(network, cut, place)
    mirrored = logits_of(network, cut[:, :, ::-1], place * np.array([-1, 1, 1, 1], np.float32))
    return plain._replace(values=tuple((one + other) / 2 for one, other in zip(plain.values, mirrored.values)))


@torch.no_grad()
def logits_of(network: AttributeNet, cut: np.ndarray, place: np.ndarray) -> Told:
    """What a network says of close-ups uint8[m, SIDE, SIDE, 3]."""
    training = network.training
    network.eval()
    parts = []
    for start in range(0, max(1, len(cut)), AT_ONCE):
        some = torch.from_numpy(np.ascontiguousarray(cut[start : start + AT_ONCE])).permute(0, 3, 1, 2).float() / 255
        parts.append(network(some, torch.from_numpy(np.ascontiguousarray(place[start : start + AT_ONCE]))))
    network.train(training)
    return Told(
        tuple(torch.cat(columns) for columns in zip(*(one.values for one in parts))),
        torch.cat([one.parts for one in parts]),
        tuple(torch.cat(columns) for columns in zip(*(one.looks for one in parts))),
    )
