"""CURI's networks: an encoder makes objects of what is seen, a pooling makes a vector of the objects.

An episode's two prototypes are the means of its negative and of its positive examples; a scene is the more likely
positive the closer it is to the positive one. A decoder, if there is one, writes the concept from both.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recombine.solvers.kinds import POOLINGS
from recombine.solvers.networks.decoder import ConceptDecoder
from recombine.solvers.networks.grid import GridEncoder, offsets
from recombine.solvers.networks.objects import ObjectSets
from recombine.solvers.networks.pooling import SIZE, build_pooling
from recombine.solvers.networks.schema import SchemaEncoder
from recombine.solvers.training.seeding import seeded
from recombine.store.errors import UserError
from recombine.store.key import Key

VERSION = {"avg-pool": 2, "concat": 1, "relation-net": 1, "transformer": 1}
"""By pooling, counts the changes after which older weights no longer fit, or mean something else."""


@dataclass(frozen=True)
class Plan:
    """What decides a network. `shape` is that of a scene: (most objects, numbers of each), (3, h, w), (201, frames)."""

    modality: str
    pooling: str
    shape: tuple[int, ...]
    norm: bool = False
    """Whether the relation network normalises inside g."""
    words: int = 0
    """The words of the concept decoder; none without it."""


class PrototypeNetwork(nn.Module):
    """Scenes to vectors, float[n, 256]."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        if plan.pooling not in POOLINGS:
            raise UserError(f"there is no pooling '{plan.pooling}'; choose one of {', '.join(POOLINGS)}")
        if plan.modality == "schema":
            most, told = plan.shape
            self.encoder: SchemaEncoder | GridEncoder = SchemaEncoder(told)
            between = None
        else:
            related = plan.pooling == "relation-net"
            self.encoder = grid = GridEncoder(plan.shape, places=not related)
            most, between = grid.objects, offsets(grid.sides) if related else None
        self.pooling = build_pooling(plan.pooling, self.encoder.size, most, between, plan.norm)
        self.decoder = ConceptDecoder(2 * SIZE, plan.words) if plan.words else None

    def forward(self, seen: ObjectSets | Tensor) -> Tensor:
        return self.pooling(self.encoder(seen))


def build(plan: Plan, key: Key) -> PrototypeNetwork:
    """A network as the key begins it."""
    with seeded(key):
        return PrototypeNetwork(plan)


def prototypes(vectors: Tensor, label: Tensor) -> Tensor:
    """The means of the negatives and of the positives: float[e, s, d], bool[e, s] -> float[e, 2, d]."""
    belongs = torch.stack([~label, label], dim=1).to(vectors.dtype)  # float[e, 2, s]
    return belongs @ vectors / belongs.sum(dim=2, keepdim=True).clamp(min=1)


def log_odds(prototypes: Tensor, vectors: Tensor) -> Tensor:
    """The log-odds that each vector is positive: float[e, 2, d], float[e, q, d] -> float[e, q].

    They are the difference of its squared distances to the two prototypes.
    """
    negative, positive = prototypes[:, 0], prototypes[:, 1]
    middle = (negative**2).sum(dim=-1) - (positive**2).sum(dim=-1)  # float[e]
    return middle[:, None] + 2 * (vectors @ (positive - negative)[:, :, None])[:, :, 0]
