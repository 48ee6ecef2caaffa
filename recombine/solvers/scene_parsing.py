"""Learning to parse scenes: what is lost on pictures with labels, and how well a parser does on others.

The pictures of a step are made brighter or darker, tinted, blurred and noisy at random, and those of 4:3 lose rows half
of the time, so that a parser also sees what other renderers and cameras make of the same things.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, cross_entropy, logsigmoid, smooth_l1_loss

from recombine.solvers.eyesight import heights
from recombine.solvers.networks.scene_parser import BOX, CENTRE, PLACE, Map, Read, SceneParser
from recombine.solvers.perception import Parser, ground
from recombine.solvers.scene_labels import LabelledPictures, Labels
from recombine.solvers.training.batches import Stage
from recombine.world.distribution import places_taken

ASTRAY = 0.25
"""How often an object is read off a neighbour of its cell, on each axis: the hottest cell may not be the right one."""
WEIGHTS = {"heat": 1.0, "centre": 0.3, "box": 0.5, "place": 0.3, "values": 1.0}
CLOSE = 1 / 32
"""Widths of the picture that a centre may be off for an object to count as found."""
BLURRED, NOISY = 0.4, 0.4
"""The shares of pictures that are blurred, and that have noise."""
NOISE = 0.03
"""Its strongest standard deviation."""


@dataclass(frozen=True, eq=False)
class ParseObjective:
    """The objective: find the objects of pictures and say what they are."""

    network: SceneParser
    pictures: LabelledPictures
    stages: tuple[Stage, ...]
    held: LabelledPictures
    values: tuple[str, ...]
    """The names of the attributes."""

    def loss(self, rows: np.ndarray) -> Tensor:
        like = next(self.network.parameters())
        pixels = torch.from_numpy(self.pictures.take(rows)).to(like.device)
        labels = self.pictures.labels.rows(rows)
        pictures = augmented(pixels)
        if torch.rand(()) < 0.5:
            pictures = cropped(pictures, heights(pictures.shape[3])[0])
        return parse_loss(self.network, pictures, labels)

    def validate(self) -> Mapping[str, float]:
        return scores(Parser.raw(self.network, self.values, self.held.along), self.held)


def cropped(pictures: Tensor, height: int) -> Tensor:
    """The rows in the middle."""
    above = (pictures.shape[2] - height) // 2
    return pictures[:, :, above : above + height]


def augmented(pixels: Tensor) -> Tensor:
    """Pictures in another light, less sharp and with noise, as PyTorch's random numbers say.

    uint8[n, h, w, 3] to float[n, 3, h, w] from 0 to 1.
    """
    n = len(pixels)

    def drawn(low: float, high: float, channels: int = 1) -> Tensor:
        return torch.empty(n, channels, 1).uniform_(low, high)

    levels = torch.arange(256).clamp(min=0.1) / 255
    light = drawn(0.8, 1.2) * drawn(0.94, 1.06, 3)
    curve = (levels ** drawn(0.8, 1.25) * light + drawn(-0.05, 0.05)).clamp(0, 1)  # [n, 3, 256]
    planes = pixels.permute(0, 3, 1, 2).contiguous().cpu().numpy()
    lit = np.empty(planes.shape, np.float32)
    for picture, channel in np.ndindex(n, 3):
        np.take(curve[picture, channel].numpy(), planes[picture, channel], out=lit[picture, channel])
    seen = torch.from_numpy(lit)
    blurry, noisy = torch.rand(n) < BLURRED, torch.rand(n) < NOISY
    sharp = seen[blurry]
    share = torch.rand(len(sharp), 1, 1, 1) * 0.8
    seen[blurry] = sharp + share * (avg_pool2d(sharp, 3, stride=1, padding=1, count_include_pad=False) - sharp)
    clean = seen[noisy]
    seen[noisy] = (clean + torch.rand(len(clean), 1, 1, 1) * NOISE * torch.randn_like(clean)).clamp(0, 1)
    return seen.to(pixels.device)


@dataclass(frozen=True, eq=False)
class _Targets:
    """The objects of some pictures, one after the other, whose middle lies in the picture."""

    picture: Tensor  # int64[m]
    centre: Tensor  # float[m, 2], in cells from the corner of the picture
    box: Tensor  # float[m, 4], in cells from the centre to the left, top, right and bottom
    place: Tensor  # float[m, 2]
    codes: Tensor  # int64[m, attributes]


def _targets(labels: Labels, height: int, width: int, device: torch.device) -> _Targets:
    """The objects of labels on a map of these cells."""
    picture, thing = np.nonzero(places_taken(labels.count, labels.centre.shape[1]))
    middle = np.array([width / 2, height / 2], np.float32)
    centre = labels.centre[picture, thing] * width + middle
    box = labels.box[picture, thing] * width + np.tile(middle, 2)
    box = box.clip(0, np.tile(middle * 2, 2))
    inside = ((centre >= 0) & (centre < 2 * middle)).all(axis=1) & (box[:, 2] > box[:, 0]) & (box[:, 3] > box[:, 1])
    around = np.concatenate([centre - box[:, :2], box[:, 2:] - centre], axis=1)
    columns = (picture, centre, around, labels.place[picture, thing], labels.codes[picture, thing].astype(np.int64))
    return _Targets(*(torch.from_numpy(np.ascontiguousarray(column[inside])).to(device) for column in columns))


def parse_loss(network: SceneParser, pictures: Tensor, labels: Labels) -> Tensor:
    """What a network loses on pictures."""
    found = network(pictures)
    height, width = found.heat.shape[1:]
    targets = _targets(labels, height, width, pictures.device)
    cell = targets.centre.floor()
    lost = {"heat": _heat_loss(found.heat.float(), targets, cell.long())}
    if not len(cell):
        return lost["heat"]
    astray = torch.rand_like(cell) < ASTRAY
    aside = torch.where(torch.rand_like(cell) < 0.5, 1.0, -1.0) * astray
    edge = torch.tensor([width - 1, height - 1], device=cell.device)
    cell = torch.minimum((cell + aside).clamp(min=0), edge)
    read = network.read(found, targets.picture, cell[:, 1].long(), cell[:, 0].long())
    lost |= _read_loss(read, targets, cell, found)
    return sum((WEIGHTS[name] * loss for name, loss in lost.items()), torch.zeros((), device=pictures.device))


def _heat_loss(heat: Tensor, targets: _Targets, cell: Tensor) -> Tensor:
    """The focal loss of centre points: the closer to a centre, the less it costs to be hot."""
    n, height, width = heat.shape
    x, y = torch.arange(width, device=heat.device), torch.arange(height, device=heat.device)
    spread = ((targets.box[:, :2] + targets.box[:, 2:]).amin(dim=1) / 6).clamp(0.6, 1.5)
    across = -((x - cell[:, :1]) ** 2) / (2 * spread[:, None] ** 2)
    down = -((y - cell[:, 1:]) ** 2) / (2 * spread[:, None] ** 2)
    bump = (across[:, None, :] + down[:, :, None]).exp()
    wanted = _largest(bump, targets.picture, n)
    hot, chance = wanted == 1, torch.sigmoid(heat)
    lost = torch.where(
        hot,
        (1 - chance) ** 2 * logsigmoid(heat),
        (1 - wanted) ** 4 * chance**2 * logsigmoid(-heat),
    )
    return -lost.sum() / max(1, len(cell))


def _largest(bump: Tensor, picture: Tensor, n: int) -> Tensor:
    """The largest at every cell among the objects of a picture, float[m, h, w] -> float[n, h, w]; pictures ascend."""
    many = torch.bincount(picture, minlength=n)
    rank = torch.arange(len(picture), device=picture.device) - (many.cumsum(0) - many)[picture]
    room = bump.new_zeros(n, max(1, int(many.max())), *bump.shape[1:])
    room[picture, rank] = bump
    return room.amax(dim=1)


def _read_loss(read: Read, targets: _Targets, cell: Tensor, found: Map) -> dict[str, Tensor]:
    height, width = found.heat.shape[1:]
    numbers = read.numbers
    off = targets.centre - (cell + 0.5)
    centre = cell + 0.5 + numbers[:, CENTRE][:, :2]
    place = ground(centre, height, width) + numbers[:, PLACE][:, :2]
    values = [cross_entropy(said, targets.codes[:, a]) for a, said in enumerate(read.values)]
    return {
        "centre": laplace_loss(numbers[:, CENTRE], off),
        "box": smooth_l1_loss(numbers[:, BOX], targets.box),
        "place": laplace_loss(torch.cat([place, numbers[:, PLACE][:, 2:]], dim=1), targets.place),
        "values": torch.stack(values).sum() if values else numbers.new_zeros(()),
    }


def laplace_loss(said: Tensor, wanted: Tensor) -> Tensor:
    """The surprise of Laplace's law: said are the middles and the logarithms of the spreads, float[m, 4]."""
    log_spread = said[:, 2:].clamp(-6, 3)
    return ((wanted - said[:, :2]).abs() * (-log_spread).exp() + log_spread).mean()


# --- how well it does ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Matches:
    """Which perceived object is which of the labelled ones."""

    picture: np.ndarray  # int[m]
    true: np.ndarray  # int[m]: its number among the labelled objects
    said: np.ndarray  # int[m]: its number among the perceived
    objects: int
    perceived: int


def matched(labels: Labels, perceived: "np.ndarray", count: np.ndarray, close: float) -> Matches:
    """Pairs of labelled and perceived centres, the closest first, each object once; centres in widths."""
    pairs: list[tuple[int, int, int]] = []
    for picture in range(len(count)):
        true, said = labels.centre[picture, : labels.count[picture]], perceived[picture, : count[picture]]
        far = np.linalg.norm(true[:, None] - said[None], axis=-1)
        while far.size and far.min() <= close:
            a, b = np.unravel_index(far.argmin(), far.shape)
            pairs.append((picture, int(a), int(b)))
            far[a], far[:, b] = np.inf, np.inf
    found = np.array(pairs, np.int64).reshape(-1, 3)
    return Matches(found[:, 0], found[:, 1], found[:, 2], int(labels.count.sum()), int(count.sum()))


def scores(parser: Parser, held: LabelledPictures, rows: np.ndarray | None = None) -> dict[str, float]:
    """The shares of objects that are found, of perceived ones that are there, and of right values; errors of places."""
    rows = np.arange(len(held)) if rows is None else rows
    found = parser.perceive(held.take(rows))
    labels = held.labels.rows(rows)
    pairs = matched(labels, found.centre, found.count, CLOSE)
    if not len(pairs.picture):
        nothing = dict.fromkeys(("recall", "precision", "found", *parser.attributes, "whole"), 0.0)
        return {
            **nothing,
            "centre": CLOSE * held.along,
            "place": 1.0,
            "loss": float(sum(map(np.log, parser.network.values))),
        }
    mine, other = (pairs.picture, pairs.said), (pairs.picture, pairs.true)
    right = {
        name: found.beliefs[name][mine].argmax(axis=1) == labels.codes[other][:, a]
        for a, name in enumerate(parser.attributes)
    }
    lost = [
        -np.log(np.take_along_axis(found.beliefs[name][mine], labels.codes[other][:, a : a + 1].astype(int), 1)).mean()
        for a, name in enumerate(parser.attributes)
    ]
    return {
        "recall": len(pairs.picture) / max(1, pairs.objects),
        "precision": len(pairs.picture) / max(1, pairs.perceived),
        "found": 2 * len(pairs.picture) / max(1, pairs.objects + pairs.perceived),
        **{name: float(np.mean(one)) for name, one in right.items()},
        "whole": float(len(pairs.picture) / max(1, pairs.objects) * np.logical_and.reduce([*right.values()]).mean()),
        "centre": float(np.abs(found.centre[mine] - labels.centre[other]).mean() * held.along),
        "place": float(np.abs(found.place[mine] - labels.place[other]).mean()),
        "loss": float(np.sum(lost)),
    }
