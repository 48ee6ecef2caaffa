"""The relation network: every ordered pair of objects is looked at by g, the sum over the pairs is read by f.

The first layer of g acts on two objects side by side, so it is the sum of two parts that are computed once per object,
not once per pair. The other layers are where the time goes. On a CPU they are done by hand for a few scenes at a time,
so that all that is needed stays in the cache, forwards and backwards; `by_pairs` says the same plainly.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from recombine.solvers.networks.objects import ObjectSets

WIDTH = 256
DEPTH = 3
"""The layers of g after its first."""
ROWS = 1_024
"""Pairs that are looked at together: their vectors take one megabyte."""
KEPT = 200_000
"""More pairs than this are looked at again on the way back, for their vectors would not fit into memory."""


class RelationNet(nn.Module):
    """Sets of objects to one vector each. With `offsets`, what is between two objects by their places is seen too.

    `norm` normalises inside g over the batch, as the CURI paper says; the released code does not.
    """

    def __init__(self, size: int, offsets: Tensor | None = None, norm: bool = False) -> None:
        super().__init__()
        places = 0 if offsets is None else offsets.shape[-1]
        self.size = size
        self.first = nn.Linear(2 * size + places, WIDTH)
        self.others = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH))
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in range(DEPTH + 1 if norm else 0))
        self.reading = reading()
        self.register_buffer("offsets", offsets)  # float[objects, objects, places]

    def forward(self, seen: ObjectSets) -> Tensor:
        return self.reading(self.by_objects(seen))

    def by_pairs(self, seen: ObjectSets) -> Tensor:
        """The sum of g over the pairs of each scene, plainly: two objects side by side for every pair."""
        return self._summed(self.first(torch.cat([self._pairs(group).flatten(0, 2) for group in seen.groups])), seen)

    def _pairs(self, group: Tensor) -> Tensor:
        """Every object beside every other, float[scenes, objects, objects, 2 size + places]."""
        scenes, objects, _ = group.shape
        shape = (scenes, objects, objects, -1)
        parts = [group[:, :, None].expand(shape), group[:, None].expand(shape)]
        if self.offsets is not None:
            parts.append(self.get_buffer("offsets").expand(shape))
        return torch.cat(parts, dim=-1)

    def _summed(self, x: Tensor, seen: ObjectSets) -> Tensor:
        """What the rest of g makes of the first layer's values of all pairs, float[pairs, width], summed by scene."""
        x = self._after(x, 0)
        for place, layer in enumerate(self.others, 1):
            x = self._after(layer(x), place)
        sizes = [(len(group), group.shape[1] ** 2) for group in seen.groups]
        parts = x.split([scenes * pairs for scenes, pairs in sizes])
        return seen.restored([part.view(*size, WIDTH).sum(dim=1) for part, size in zip(parts, sizes)])

    def _after(self, x: Tensor, place: int) -> Tensor:
        x = torch.relu(x)
        return self.norms[place](x) if self.norms else x

    def by_objects(self, seen: ObjectSets) -> Tensor:
        """The same, with the first layer taken apart into what each object brings as the one and as the other."""
        left, right, between = self.first.weight.split(
            [self.size, self.size, self.first.in_features - 2 * self.size], dim=1
        )
        offsets = None if self.offsets is None else linear(self.get_buffer("offsets"), between)
        halves = [(linear(group, left, self.first.bias), linear(group, right)) for group in seen.groups]
        if self._by_hand(seen):
            weights = [tensor for layer in self.others for tensor in layer.parameters()]
            way = PairSum.apply if torch.is_grad_enabled() else pair_sum
            return seen.restored([way(one, other, offsets, *weights) for one, other in halves])
        sums = [one[:, :, None] + other[:, None] for one, other in halves]
        sums = sums if offsets is None else [pairs + offsets for pairs in sums]
        return self._summed(torch.cat([pairs.flatten(0, 2) for pairs in sums]), seen)

    def _by_hand(self, seen: ObjectSets) -> bool:
        """Whether there is a faster way than PyTorch's own."""
        like = seen.groups[0]
        return not self.norms and like.device.type == "cpu" and not torch.is_autocast_enabled("cpu")


def reading() -> nn.Module:
    """f: what is made of the sum."""
    hidden = (nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.BatchNorm1d(WIDTH))
    again = (nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.BatchNorm1d(WIDTH))
    return nn.Sequential(*hidden, *again, nn.Linear(WIDTH, WIDTH))


class PairSum(torch.autograd.Function):
    """The sum over all pairs (a, b) of layers(relu(left[a] + right[b] + between[a, b])), each layer with a ReLU.

    left, right: float[scenes, objects, width]; between: float[objects, objects, width] or nothing; then the layers'
    weights and biases in turn.
    """

    @staticmethod
    def forward(ctx, left, right, between, *weights):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(left, right, between, *weights)
        ctx.kept = [] if len(left) * left.shape[1] ** 2 <= KEPT else None
        return pair_sum(left, right, between, *weights, kept=ctx.kept)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        left, right, between, *weights = ctx.saved_tensors
        scenes, objects, width = left.shape
        lefts, rights = torch.empty_like(left), torch.empty_like(right)
        betweens = None if between is None else torch.zeros_like(between)
        found = [torch.zeros_like(weight) for weight in weights]
        rooms = [left.new_empty(0), left.new_empty(0)]  # one is read while the other is written
        for place, some in enumerate(_pieces(scenes, objects)):
            layers = ctx.kept[place] if ctx.kept is not None else _layers(left[some], right[some], between, weights)
            back, spare = (room.resize_(layers[0].shape) for room in rooms)
            last = layers[-1].view(-1, objects**2, width)
            _through_relu(grad[some, None].expand_as(last), last, back.view_as(last))
            for depth in range(len(weights) // 2, 0, -1):
                found[2 * depth - 2].addmm_(back.T, layers[depth - 1])
                found[2 * depth - 1].add_(back.sum(dim=0))
                torch.mm(back, weights[2 * depth - 2], out=spare)
                back, spare = _through_relu(spare, layers[depth - 1], spare), back
            first = back.view(-1, objects, objects, width)
            torch.sum(first, dim=2, out=lefts[some])
            torch.sum(first, dim=1, out=rights[some])
            if betweens is not None:
                betweens.add_(first.sum(dim=0))
        ctx.kept = None
        return lefts, rights, betweens, *found


def pair_sum(
    left: Tensor, right: Tensor, between: Tensor | None, *weights: Tensor, kept: list[list[Tensor]] | None = None
) -> Tensor:
    """The sum alone; what the layers made is added to `kept`, if it is given, for the way back."""
    scenes, objects, width = left.shape
    sums = left.new_empty(scenes, width)
    for some in _pieces(scenes, objects):
        layers = _layers(left[some], right[some], between, weights)
        torch.sum(layers[-1].view(-1, objects**2, width), dim=1, out=sums[some])
        if kept is not None:
            kept.append(layers)
    return sums


def _pieces(scenes: int, objects: int) -> list[slice]:
    some = max(1, ROWS // objects**2)
    return [slice(start, start + some) for start in range(0, scenes, some)]


def _layers(left: Tensor, right: Tensor, between: Tensor | None, weights: tuple[Tensor, ...]) -> list[Tensor]:
    """What each layer makes of the pairs of some scenes, float[pairs, width] each."""
    x = left[:, :, None] + right[:, None]
    if between is not None:
        x += between
    layers = [torch.relu_(x).view(-1, left.shape[-1])]
    for weight, bias in zip(weights[::2], weights[1::2]):
        layers.append(torch.relu_(torch.addmm(bias, layers[-1], weight.T)))
    return layers


def _through_relu(grad: Tensor, after: Tensor, out: Tensor) -> Tensor:
    """What comes back through a ReLU, given what came out of it."""
    return torch.ops.aten.threshold_backward.grad_input(grad, after, 0, grad_input=out)
