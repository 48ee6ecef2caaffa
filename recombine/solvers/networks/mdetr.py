"""mDETR: words and places of a picture read one another, and queries find the objects that the words speak of.

A picture becomes a map, a question a row of word vectors; both together go through an encoder. A decoder has so many
queries for objects, each of which gives a box and the words that speak of it, and four for the answer: its type, and an
answer of each type. What is found is matched with what the question speaks of at the lowest cost; all layers of the
decoder are taught. The same answers come from the last layer (the released code reads them off the first).

At laptop size the queries begin spread over the picture: each is told a place as the cells of the map are told theirs,
and its box is learnt from there, as in later DETRs; without that little is found in trainings as short as ours.
"""

from dataclasses import dataclass
from math import ceil, pi
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, l1_loss

from recombine.solvers.assignment import assigned
from recombine.solvers.networks.cells import Cells, CellShape, grid_places, small_cnn
from recombine.solvers.networks.lstm import spoken
from recombine.solvers.networks.regions import generous_overlap, overlap
from recombine.solvers.networks.resnet import trunk
from recombine.solvers.programs import Layout
from recombine.solvers.text import PAD

NOTHING = 0.1
"""How much a query counts that should find nothing."""
BOX, OVERLAP, ALIGNED = 5.0, 2.0, 1.0
"""What boxes, their overlaps and the nearness of queries and words weigh; the words of a box weigh one."""
TEMPERATURE = 0.07
NEARNESS = 64
"""Numbers of the vectors whose nearness aligns queries and words."""
TURNS = 6
"""How often the shortest wave turns that tells a place, where queries are spread."""
SMALL = -1.5
"""The logit of the sides of a box, where queries are spread."""
FOUND = 0.5
"""The overlap from which on a box counts as found."""


@dataclass(frozen=True)
class AnswerKinds:
    """Which answers there are of each type."""

    truth: tuple[int, ...]
    numbers: tuple[int, ...]
    values: tuple[int, ...]

    def __len__(self) -> int:
        return sum(map(len, (self.truth, self.numbers, self.values)))


@dataclass(frozen=True)
class MdetrPlan:
    """What decides an mDETR."""

    words: int
    kinds: AnswerKinds
    shape: CellShape
    width: int = 64
    heads: int = 2
    inner: int = 128
    layers: int = 2
    """Of the encoder, and of the decoder."""
    text: tuple[int, int, int, int] = (64, 1, 2, 128)
    """Width, layers, heads and inner width of what reads the question."""
    queries: int = 16
    longest: int = 64
    """Words of a question, at most."""
    resnet: bool = False
    dropout: float = 0.0
    spread: bool = True
    """Whether queries begin spread over the picture, which the paper's do not."""

    @classmethod
    def paper(cls, words: int, kinds: AnswerKinds, shape: CellShape) -> "MdetrPlan":
        """ResNet-18 and the shape of DistilRoBERTa, neither of them trained before."""
        text = (768, 6, 12, 3_072)
        return cls(words, kinds, shape, 256, 8, 2_048, 6, text, 25, 255, True, 0.1, spread=False)


class Targets(NamedTuple):
    """What questions speak of."""

    links: Tensor  # bool[n, k, words]: which words speak of which objects
    boxes: Tensor  # float[n, k, 4]: left, top, right, bottom from 0 to 1

    @property
    def wanted(self) -> Tensor:
        """bool[n, k]: the objects that are spoken of"""
        return self.links.any(dim=-1)


class Found(NamedTuple):
    """What one layer of the decoder finds."""

    boxes: Tensor  # float[n, queries, 4]: left, top, right, bottom from 0 to 1
    tokens: Tensor  # float[n, queries, longest + 1]: logits of words, the last of nothing
    near: Tensor  # float[n, queries, words]: how near queries and words are


class _Attend(nn.Module):
    """Attention whose keys and queries are told where they are, added to what it began from, and normalised."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.ask, self.key, self.value, self.tell = (nn.Linear(width, width) for _ in range(4))
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)

    def forward(self, x: Tensor, place: Tensor, memory: Tensor, where: Tensor, blank: Tensor | None) -> Tensor:
        asked, keys, values = (
            made.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # [n, heads, t, width / heads]
            for made in (self.ask(x + place), self.key(memory + where), self.value(memory))
        )
        near = asked @ keys.mT * asked.shape[-1] ** -0.5
        if blank is not None:
            near = near.masked_fill(blank[:, None, None], -torch.inf)
        heard = self.dropout(near.softmax(dim=-1)) @ values
        out: Tensor = self.norm(x + self.dropout(self.tell(heard.transpose(1, 2).flatten(2))))
        return out


class _Think(nn.Module):
    """Two layers for each vector, added to it and normalised."""

    def __init__(self, width: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(x + self.dropout(self.outer(self.dropout(torch.relu(self.inner(x))))))
        return out


class _Encode(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.attend, self.think = _Attend(width, heads, dropout), _Think(width, inner, dropout)

    def forward(self, x: Tensor, place: Tensor, blank: Tensor | None) -> Tensor:
        out: Tensor = self.think(self.attend(x, place, x, place, blank))
        return out


class _Decode(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.among, self.at = (_Attend(width, heads, dropout) for _ in range(2))
        self.think = _Think(width, inner, dropout)

    def forward(self, x: Tensor, place: Tensor, memory: Tensor, where: Tensor, blank: Tensor | None) -> Tensor:
        x = self.among(x, place, x, place, None)
        out: Tensor = self.think(self.at(x, place, memory, where, blank))
        return out


class _Reader(nn.Module):
    """Words to vectors that know of one another."""

    def __init__(self, plan: MdetrPlan) -> None:
        super().__init__()
        width, layers, heads, inner = plan.text
        self.table, self.place = nn.Embedding(plan.words, width, PAD), nn.Embedding(plan.longest, width)
        self.layers = nn.ModuleList(_Encode(width, heads, inner, plan.dropout) for _ in range(layers))
        self.out = nn.Sequential(nn.Linear(width, plan.width), nn.LayerNorm(plan.width), nn.Dropout(plan.dropout))

    def forward(self, word: Tensor, blank: Tensor | None) -> Tensor:
        told, nowhere = self.table(word) + self.place.weight[: word.shape[1]], self.place.weight.new_zeros(1)
        for layer in self.layers:
            told = layer(told, nowhere, blank)
        out: Tensor = self.out(told)
        return out


class Mdetr(nn.Module):
    """Words and a picture to scores of answers; programs are not read."""

    def __init__(self, plan: MdetrPlan) -> None:
        super().__init__()
        self.plan, width = plan, plan.width
        channels = 512 if plan.resnet else plan.shape.widths[-1]
        self.see = trunk(3, 2, (2, 2, 2, 2)) if plan.resnet else small_cnn(plan.shape)
        self.project, self.read = nn.Conv2d(channels, width, 1), _Reader(plan)
        sizes = (width, plan.heads, plan.inner, plan.dropout)
        self.encoder = nn.ModuleList(_Encode(*sizes) for _ in range(plan.layers))
        decoder = [_Decode(*sizes) for _ in range(plan.layers)]
        self.decoder = nn.ModuleList(decoder)
        self.query = nn.Embedding(plan.queries + 4, width)
        self.begin = nn.Parameter(torch.logit(_spread(plan.queries))) if plan.spread else None
        self.box = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4)
        )
        self.tokens = nn.Linear(width, plan.longest + 1)
        self.near_query, self.near_word = nn.Linear(width, NEARNESS), nn.Linear(width, NEARNESS)
        kinds = plan.kinds
        self.kind = nn.Linear(width, 3)
        self.answers = nn.ModuleList(nn.Linear(width, len(kind)) for kind in (kinds.truth, kinds.numbers, kinds.values))
        if plan.spread:
            with torch.no_grad():
                for layer in decoder:  # a query begins by looking where it is
                    layer.at.ask.weight.copy_(layer.at.key.weight.mul_(2))

    def forward(self, word: Tensor, length: Tensor, cells: Cells, programs: Layout | None = None) -> Tensor:
        return self._scores(self._decoded(word, length, cells)[0][-1])

    def loss(self, word: Tensor, length: Tensor, cells: Cells, targets: Targets, answer: Tensor | None) -> Tensor:
        """What is lost on boxes and words, and on answers where there are any: the first lesson is to find alone."""
        layers, words = self._decoded(word, length, cells)
        lost = torch.stack([found_loss(self._found(layer, words, length), targets) for layer in layers]).sum()
        return lost if answer is None else lost + self._answer_loss(layers[-1], answer)

    def located(self, word: Tensor, length: Tensor, cells: Cells, targets: Targets) -> Tensor:
        """Of all objects that are spoken of: whether the query that its words point to has its box, bool[objects]."""
        layers, words = self._decoded(word, length, cells)
        found = self._found(layers[-1], words, length)
        chance = found.tokens.softmax(dim=-1)[..., : word.shape[1]]
        best = torch.einsum("nqt,nkt->nkq", chance, targets.links.to(chance.dtype)).argmax(dim=-1)
        boxes = found.boxes.gather(1, best[..., None].expand(-1, -1, 4))
        return (overlap(boxes, targets.boxes) >= FOUND)[targets.wanted]

    # --- parts

    def _decoded(self, word: Tensor, length: Tensor, cells: Cells) -> tuple[list[Tensor], Tensor]:
        """What every layer of the decoder says, float[n, queries + 4, width], and the words after the encoder."""
        seen = self.project(self.see(cells.features - 0.5))
        sides = (seen.shape[2], seen.shape[3])
        picture, where = seen.flatten(2).transpose(1, 2), self._told(grid_places(sides)).to(seen)
        if cells.which is not None:
            picture = picture[cells.which]
        there = spoken(word, length)
        silent = None if there is None else ~there
        told = self.read(word, silent)
        place = torch.cat([where, where.new_zeros(word.shape[1], self.plan.width)])
        blank = None if silent is None else torch.cat([silent.new_zeros(picture.shape[:2]), silent], dim=1)
        memory = torch.cat([picture, told], dim=1)
        for encode in self.encoder:
            memory = encode(memory, place, blank)
        queries, layers = self.query.weight, list[Tensor]()
        if self.begin is not None:
            queries = queries + nn.functional.pad(self._told(2 * self.begin.sigmoid() - 1), (0, 0, 0, 4))
        x = memory.new_zeros(len(memory), *queries.shape)
        for decode in self.decoder:
            x = decode(x, queries, memory, place, blank)
            layers.append(x)
        return layers, memory[:, picture.shape[1] :]

    def _told(self, place: Tensor) -> Tensor:
        """Places, float[n, 2] from -1 to 1, as a network is told them, float[n, width]."""
        many = self.plan.width // 4
        return waves(
            place, torch.linspace(1, TURNS, many) if self.plan.spread else 10_000 ** -(torch.arange(many) / many)
        )

    def _found(self, layer: Tensor, words: Tensor, length: Tensor) -> Found:
        objects = layer[:, : self.plan.queries]
        box = self.box(objects)
        if self.begin is not None:
            box = box + nn.functional.pad(self.begin.flip(-1), (0, 2), value=SMALL)
        middle, size = box.sigmoid().chunk(2, dim=-1)
        query, word = (
            nn.functional.normalize(project(x), dim=-1)
            for project, x in ((self.near_query, objects), (self.near_word, words))
        )
        there = torch.arange(words.shape[1], device=length.device) < length[:, None]
        near = (query @ word.transpose(1, 2) / TEMPERATURE).masked_fill(~there[:, None], -1e4)
        return Found(torch.cat([middle - size / 2, middle + size / 2], dim=-1), self.tokens(objects), near)

    def _scores(self, layer: Tensor) -> Tensor:
        """The log-probabilities of all answers: of its type, and among those of the type."""
        kind, *of_kind = layer[:, self.plan.queries :].unbind(dim=1)
        types = self.kind(kind).log_softmax(dim=-1)
        scores = types.new_empty(len(types), len(self.plan.kinds))
        kinds = self.plan.kinds
        for number, answers in enumerate((kinds.truth, kinds.numbers, kinds.values)):
            said = self.answers[number](of_kind[number]).log_softmax(dim=-1)
            scores[:, torch.tensor(answers)] = types[:, number, None] + said
        return scores

    def _answer_loss(self, layer: Tensor, answer: Tensor) -> Tensor:
        """The surprise at the type and at the answer of its type: the logarithms add up to the answer's own."""
        return cross_entropy(self._scores(layer), answer)


def found_loss(found: Found, targets: Targets) -> Tensor:
    """What is lost on what was found, by the number of objects that are spoken of."""
    links, wanted = targets.links.to(found.boxes.dtype), targets.wanted
    share = links / links.sum(dim=-1, keepdim=True).clamp(min=1)  # [n, k, t]
    matched = matching(found, targets, share)
    row, thing = wanted.nonzero(as_tuple=True)
    query, many = matched[row, thing], max(len(row), 1)
    log = found.tokens.log_softmax(dim=-1)
    aim = torch.zeros_like(log)
    aim[..., -1] = 1
    aim[row, query] = nn.functional.pad(share[row, thing], (0, log.shape[-1] - share.shape[-1]))
    weight = torch.full_like(log[..., 0], NOTHING)
    weight[row, query] = 1
    lost = -((log * aim).sum(dim=-1) * weight).sum() / many
    ours, theirs = found.boxes[row, query], targets.boxes[row, thing]
    lost = lost + BOX * l1_loss(ours, theirs, reduction="sum") / many
    lost = lost + OVERLAP * (1 - generous_overlap(ours, theirs)).sum() / many
    positive = torch.zeros_like(found.near, dtype=torch.bool)
    positive[row, query] = targets.links[row, thing]
    return lost + ALIGNED * (_aligned(found.near, positive) + _aligned(found.near.mT, positive.mT)) / (2 * many)


def _aligned(near: Tensor, positive: Tensor) -> Tensor:
    """Each row's surprise at its own columns, summed over the rows that have any."""
    many = positive.sum(dim=-1)
    own = (near * positive).sum(dim=-1) / many.clamp(min=1)
    return ((near.logsumexp(dim=-1) - own) * (many > 0)).sum()


@torch.no_grad()
def matching(found: Found, targets: Targets, share: Tensor) -> Tensor:
    """The query of every object that is spoken of, at the lowest cost, int64[n, k]."""
    words = found.tokens.softmax(dim=-1)[..., : share.shape[-1]]
    cost = -torch.einsum("nqt,nkt->nqk", words, share)
    cost = cost + BOX * torch.cdist(found.boxes.float(), targets.boxes, p=1)
    cost = cost - OVERLAP * generous_overlap(found.boxes[:, :, None], targets.boxes[:, None])
    chosen = assigned(cost.double().cpu().numpy(), targets.wanted.cpu().numpy())
    return torch.from_numpy(np.maximum(chosen, 0)).to(found.boxes.device)


def waves(place: Tensor, turns: Tensor) -> Tensor:
    """Places as sines and cosines that turn so often from one side of the picture to the other.

    float[n, 2] from -1 to 1, float[w] -> float[n, 4 w]
    """
    each = ((place + 1) * pi)[..., None] * turns.to(place)
    return torch.cat([each.sin(), each.cos()], dim=-1).flatten(1)


def _spread(many: int) -> Tensor:
    """So many places all over a picture, row by row, float[many, 2] from 0 to 1."""
    side = ceil(many**0.5)
    middles = (torch.arange(side) + 0.5) / side
    return torch.cartesian_prod(middles, middles)[:many]
