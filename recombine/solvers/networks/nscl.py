"""NSCL, the neuro-symbolic concept learner: programs run on what is believed of given objects, and only answers teach.

An object is a vector. Every attribute has a space of its own into which objects are projected, and every concept a
vector in each of these spaces with logits of how far it belongs to each. How far an object is red is the nearness of
the two. Programs run quasi-symbolically: a set is a logit for each object, `filter` takes the smaller of two, `union`
the larger, `exist` the largest; `unique` is a softmax. When nothing is learnt, `unique` takes the likeliest object, and
`count` counts. A whole batch of programs runs level by level; `one_by_one` does the same plainly.

At laptop size a small network looks at each object's part of the picture, and relations are read off two objects and
their boxes. At the paper's size a ResNet-34 looks at the whole picture; objects and pairs are regions of its map.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from recombine.solvers.networks.cells import Cells, CellShape
from recombine.solvers.networks.modules import Call, put, schedule, take
from recombine.solvers.networks.regions import crops, overlaps
from recombine.solvers.networks.resnet import start, trunk
from recombine.solvers.programs import ACTS, NULL, Layout

SURE = 10.0
"""The logit of what is certain."""
NEAR, SHARP = 0.85, 0.25
"""Objects are of a concept where the cosine is above 1 - NEAR; the logit rises by one within NEAR times SHARP of it."""
ALIKE = 0.5
"""The same for two objects that share a value."""
NUMBER = 0.25
"""What two numbers differ by, in logits."""
CROP, MARGIN = 32, 0.1
"""Pixels of a side of what is seen of an object, and how much more than its box."""
POOLED = 7
"""Cells of a side of a region of a map."""


@dataclass(frozen=True)
class ConceptLanguage:
    """What the tokens of programs do, by their numbers, and what answers mean."""

    act: tuple[str, ...]
    """Empty for special tokens."""
    about: tuple[tuple[int, ...], ...]
    """The concept of a filter, the attribute of same, query and equal, the directions of relate."""
    concepts: tuple[str, ...]
    attributes: tuple[str, ...]
    directions: tuple[str, ...]
    value: tuple[int, ...]
    """The concept that each answer is, -1 where it is none."""
    truth: tuple[int, int]
    """The answers no and yes."""
    numbers: tuple[int, ...]
    """The answers 0, 1, 2 and so on."""


@dataclass(frozen=True)
class ConceptPlan:
    """What decides a concept learner."""

    language: ConceptLanguage
    shape: CellShape
    width: int = 128
    space: int = 64
    """Numbers of a vector in the space of an attribute."""
    late: bool = False
    """Whether regions are taken from a map of the whole picture."""

    @classmethod
    def paper(cls, language: ConceptLanguage, shape: CellShape) -> "ConceptPlan":
        return cls(language, shape, width=256, late=shape.pixels)


class Believed(NamedTuple):
    """What is believed of the objects of some scenes."""

    having: Tensor  # float[s, k, concepts]: logits
    near: Tensor  # float[s, k, concepts, attributes]: in the space of each attribute
    related: Tensor  # float[s, directions, k, k]: that the second lies in a direction of the first
    alike: Tensor  # float[s, attributes, k, k]: that two share a value
    there: Tensor  # bool[s, k]


class ConceptLearner(nn.Module):
    """Programs and objects to scores of answers; the words of the question are not read."""

    value: Tensor
    is_value: Tensor
    about: Tensor

    def __init__(self, plan: ConceptPlan) -> None:
        super().__init__()
        self.plan, own = plan, plan.language
        self.eyes: nn.Module = (
            _LateEyes(plan) if plan.late else _CropEyes(plan) if plan.shape.pixels else _SetEyes(plan)
        )
        concepts, spaces = len(own.concepts), len(own.attributes)
        self.project = nn.Linear(plan.width, spaces * plan.space)
        self.concept = nn.Parameter(torch.randn(concepts, spaces, plan.space))
        self.belongs = nn.Parameter(0.1 * torch.randn(concepts, spaces))
        self.relate_to = nn.Linear(plan.width, plan.space)
        self.direction = nn.Parameter(torch.randn(len(own.directions), plan.space))
        self.kind = np.array([ACTS.index(act) if act else 0 for act in own.act])
        self.register_buffer("value", torch.tensor([max(one, 0) for one in own.value]), persistent=False)
        self.register_buffer("is_value", torch.tensor([one >= 0 for one in own.value]), persistent=False)
        self.register_buffer("about", _padded(own.about), persistent=False)

    # --- looking

    def believe(self, cells: Cells) -> Believed:
        """What is seen of some scenes, once for all questions about them."""
        objects, pairs = self.eyes(cells)
        there = cells.there
        if there is None:
            there = torch.ones(objects.shape[:2], dtype=torch.bool, device=objects.device)
        n, k = there.shape
        own = self.plan.language
        placed = normalize(self.project(objects).view(n, k, len(own.attributes), -1), dim=-1)
        near = _logit(torch.einsum("nkad,cad->nkca", placed, normalize(self.concept, dim=-1)), NEAR)
        having = (near + self.belongs.log_softmax(dim=-1)).logsumexp(dim=-1)
        towards = normalize(self.relate_to(pairs), dim=-1)
        related = _logit(torch.einsum("nijd,rd->nrij", towards, normalize(self.direction, dim=-1)), NEAR)
        alike = _logit(torch.einsum("niad,njad->naij", placed, placed), ALIKE)
        absent, itself = ~there[:, None, None], torch.eye(k, dtype=torch.bool, device=there.device)
        return Believed(
            having.masked_fill(~there[..., None], -SURE),
            near,
            related.masked_fill(absent | itself, -SURE),
            alike.masked_fill(absent, -SURE),
            there,
        )

    # --- running programs

    def forward(self, word: Tensor | None, length: Tensor | None, cells: Cells, programs: Layout) -> Tensor:
        scores, _ = self._answered(cells, programs)
        return scores

    def loss(self, cells: Cells, programs: Layout, answer: Tensor) -> Tensor:
        """What is lost on some questions: surprise at words and truths, how far off at numbers."""
        scores, number = self._answered(cells, programs)
        counted = torch.from_numpy(self._finals(programs) == "count").to(scores.device)
        lost = cross_entropy(scores, answer, reduction="none")
        return torch.where(counted, (number - (answer - self.plan.language.numbers[0])).abs(), lost).mean()

    def _answered(self, cells: Cells, programs: Layout) -> tuple[Tensor, Tensor]:
        """Scores of answers, float[n, answers], and the number that each program gives, if it gives one, float[n]."""
        return self._ran(self.believe(cells), cells, programs)

    @torch.compiler.disable  # its graph is another one for every program
    def _ran(self, seen: Believed, cells: Cells, programs: Layout) -> tuple[Tensor, Tensor]:
        scene = _scene_of(cells, len(programs), seen.there)
        batch = schedule(programs, self.kind, seen.there.device)
        table = seen.having.new_zeros(batch.nodes, seen.there.shape[1])
        for call in batch.calls:
            table = self._run(table, call, seen, scene)
        given = take(table, batch.root)[1]
        return self._scores(given, seen, scene, programs), given[:, 0]

    def _run(self, table: Tensor, call: Call, seen: Believed, scene: Tensor) -> Tensor:
        inputs = []
        for rows in (call.left, call.right):
            if len(rows):
                table, found = take(table, rows)
                inputs.append(found)
        act = _MEANINGS[ACTS[call.kind]]
        found = act(self, seen, scene[call.question], self.about[call.token], *inputs)
        return put(table, _widened(found, table.shape[1]), call.row)

    def _scores(self, given: Tensor, seen: Believed, scene: Tensor, programs: Layout) -> Tensor:
        """Answers to what programs give; those of another type than the program's have no chance."""
        own, finals = self.plan.language, self._finals(programs)
        scores = given.new_full((len(given), len(own.value)), -torch.inf)
        for kind in np.unique(finals).tolist():
            rows = torch.from_numpy(np.flatnonzero(finals == kind)).to(given.device)
            if kind == "query":
                scores[rows] = self._values(given[rows], seen, scene[rows], self.about[_roots(programs, rows), 0])
            elif kind == "count":
                numbers = torch.arange(len(own.numbers), device=given.device)
                scores[rows[:, None], torch.tensor(own.numbers)] = -2 * (given[rows, :1] - numbers).abs()
            else:
                scores[rows[:, None], torch.tensor(own.truth)] = torch.stack(
                    [torch.zeros_like(given[rows, 0]), given[rows, 0]], dim=1
                )
        return scores

    def _values(self, chosen: Tensor, seen: Believed, scene: Tensor, attribute: Tensor) -> Tensor:
        """Scores of all values for the object that is chosen, in the space of an attribute."""
        near = seen.near[scene][torch.arange(len(scene)), :, :, attribute]  # [m, k, concepts]
        said = torch.einsum("mk,mkc->mc", chosen, near) + self.belongs.log_softmax(dim=-1)[:, attribute].T
        return torch.where(self.is_value, said[:, self.value], -torch.inf)

    def _finals(self, programs: Layout) -> np.ndarray:
        """What the last step of each program does, str[n]; all that give a truth are alike."""
        acts = np.array(self.plan.language.act)[programs.token[:, 0]]
        return np.where(np.isin(acts, ("query", "count")), acts, "truth")

    # --- what each act means: inputs are sets, things or numbers, all float[m, k]

    def scene(self, seen: Believed, scene: Tensor, about: Tensor) -> Tensor:
        return torch.where(seen.there[scene], SURE, -SURE)

    def filter(self, seen: Believed, scene: Tensor, about: Tensor, given: Tensor) -> Tensor:
        return torch.minimum(given, seen.having[scene, :, about[:, 0]])

    def unique(self, seen: Believed, scene: Tensor, about: Tensor, given: Tensor) -> Tensor:
        given = given.masked_fill(~seen.there[scene], -torch.inf)
        if self.training:
            return given.softmax(dim=-1)
        return nn.functional.one_hot(given.argmax(dim=-1), given.shape[-1]).to(given.dtype)

    def relate(self, seen: Believed, scene: Tensor, about: Tensor, thing: Tensor) -> Tensor:
        ways = [torch.einsum("mi,mij->mj", thing, seen.related[scene, way.clamp(min=0)]) for way in about.T]
        found = ways[0]
        for way, more in zip(about.T[1:], ways[1:]):
            found = torch.where((way >= 0)[:, None], torch.minimum(found, more), found)
        return found

    def same(self, seen: Believed, scene: Tensor, about: Tensor, thing: Tensor) -> Tensor:
        itself = torch.eye(thing.shape[1], dtype=torch.bool, device=thing.device)
        alike = seen.alike[scene, about[:, 0]].masked_fill(itself, -SURE)
        return torch.einsum("mi,mij->mj", thing, alike)

    def intersect(self, seen: Believed, scene: Tensor, about: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return torch.minimum(one, other)

    def union(self, seen: Believed, scene: Tensor, about: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return torch.maximum(one, other)

    def exist(self, seen: Believed, scene: Tensor, about: Tensor, given: Tensor) -> Tensor:
        return given.amax(dim=-1)

    def count(self, seen: Believed, scene: Tensor, about: Tensor, given: Tensor) -> Tensor:
        there = seen.there[scene]
        return ((given.sigmoid() if self.training else (given > 0).to(given.dtype)) * there).sum(dim=-1)

    def query(self, seen: Believed, scene: Tensor, about: Tensor, thing: Tensor) -> Tensor:
        return thing

    def equal(self, seen: Believed, scene: Tensor, about: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return torch.einsum("mi,mij,mj->m", one, seen.alike[scene, about[:, 0]], other)

    def equal_integer(self, seen: Believed, scene: Tensor, about: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return (0.5 - (one[:, 0] - other[:, 0]).abs()) / (0.5 * NUMBER)

    def less_than(self, seen: Believed, scene: Tensor, about: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return (other[:, 0] - one[:, 0] - 0.5) / NUMBER

    def greater_than(self, seen: Believed, scene: Tensor, about: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return self.less_than(seen, scene, about, other, one)

    def one_by_one(self, cells: Cells, programs: Layout) -> Tensor:
        """The same plainly: one program at a time, one node after the other."""
        seen, rows = self.believe(cells), []
        scene = _scene_of(cells, len(programs), seen.there)
        for row in range(len(programs)):
            program, where = programs.rows(slice(row, row + 1)), scene[row : row + 1]
            given: dict[int, Tensor] = {}
            for at in reversed(np.flatnonzero(program.token[0] != NULL).tolist()):
                token = int(program.token[0, at])
                inputs = [given[int(column[0, at])] for column in (program.left, program.right) if column[0, at] >= 0]
                found = _MEANINGS[self.plan.language.act[token]](self, seen, where, self.about[[token]], *inputs)
                given[at] = _widened(found, seen.there.shape[1])
            rows.append(self._scores(given[0], seen, where, program))
        return torch.cat(rows)


_MEANINGS = {act: getattr(ConceptLearner, act) for act in ACTS}


def _logit(cosine: Tensor, within: float) -> Tensor:
    return (cosine - 1 + within) / (within * SHARP)


def _widened(found: Tensor, places: int) -> Tensor:
    """A number in the first place of a row, or the row itself."""
    return found if found.ndim == 2 else nn.functional.pad(found[:, None], (0, places - 1))


def _scene_of(cells: Cells, questions: int, there: Tensor) -> Tensor:
    return torch.arange(questions, device=there.device) if cells.which is None else cells.which


def _roots(programs: Layout, rows: Tensor) -> Tensor:
    return torch.from_numpy(programs.token[rows.cpu().numpy(), 0].astype(np.int64)).to(rows.device)


def _padded(rows: Sequence[tuple[int, ...]]) -> Tensor:
    most = max(map(len, rows))
    return torch.tensor([[*row, *[-1] * (most - len(row))] for row in rows])


# --- eyes: cells to a vector for each object, float[s, k, width], and one for each pair, float[s, k, k, width]


class _Pairs(nn.Module):
    """Pairs of objects from their vectors and places."""

    def __init__(self, width: int, places: int) -> None:
        super().__init__()
        self.one, self.other = (nn.Linear(width + places, width) for _ in range(2))
        self.apart, self.out = nn.Linear(places, width), nn.Linear(width, width)

    def forward(self, objects: Tensor, place: Tensor) -> Tensor:
        told = torch.cat([objects, place], dim=-1)
        apart = self.apart(place[:, None] - place[:, :, None])  # [s, i, j]: from the first to the second
        return self.out(torch.relu(self.one(told)[:, :, None] + self.other(told)[:, None] + apart))


class _SetEyes(nn.Module):
    """Objects whose features are known."""

    def __init__(self, plan: ConceptPlan) -> None:
        super().__init__()
        told = plan.shape.features + plan.shape.places
        self.objects = nn.Sequential(nn.Linear(told, plan.width), nn.ReLU(), nn.Linear(plan.width, plan.width))
        self.pairs = _Pairs(plan.width, plan.shape.places)

    def forward(self, cells: Cells) -> tuple[Tensor, Tensor]:
        objects = self.objects(torch.cat([cells.features, cells.place], dim=-1))
        return objects, self.pairs(objects, cells.place)


class _CropEyes(nn.Module):
    """Each object's part of the picture, seen by a small network, and its box."""

    def __init__(self, plan: ConceptPlan) -> None:
        super().__init__()
        widths, parts = (3, 32, 64, 64), list[nn.Module]()
        for before, after in pairwise(widths):
            parts += [nn.Conv2d(before, after, 3, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        self.see = nn.Sequential(*parts, nn.Flatten()).apply(start)
        self.objects = nn.Sequential(
            nn.Linear(widths[-1] * (CROP // 8) ** 2 + 6, plan.width), nn.ReLU(), nn.Linear(plan.width, plan.width)
        )
        self.pairs = _Pairs(plan.width, 6)

    def forward(self, cells: Cells) -> tuple[Tensor, Tensor]:
        assert cells.there is not None
        seen = self.see(crops(cells.features, cells.place, CROP, MARGIN)[cells.there] - 0.5)
        place = torch.cat([cells.place, cells.place[..., 2:] - cells.place[..., :2]], dim=-1)
        told = self.objects(torch.cat([seen, place[cells.there]], dim=-1))
        objects = told.new_zeros(*cells.there.shape, told.shape[-1]).masked_scatter(cells.there[..., None], told)
        return objects, self.pairs(objects, place)


class _LateEyes(nn.Module):
    """Regions of a map that a ResNet-34 makes of the whole picture: objects, and the boxes that hold two of them."""

    def __init__(self, plan: ConceptPlan) -> None:
        super().__init__()
        self.trunk = trunk(3, 2, (3, 4, 6))
        channels, width = 256, plan.width
        self.context, self.union = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, 3 * channels // 2, 1)
        self.fuse = nn.Conv2d(2 * channels, channels, 1)
        self.fuse_pair = nn.Conv2d(3 * channels // 2 + 2 * channels, channels, 1)
        self.object, self.pair = (nn.Linear(channels * POOLED**2, width) for _ in range(2))

    def forward(self, cells: Cells) -> tuple[Tensor, Tensor]:
        seen, boxes = self.trunk(cells.features - 0.5), cells.place
        (n, k), side = boxes.shape[:2], POOLED
        own = crops(seen, boxes, side)  # [n, k, c, 7, 7]
        whole = boxes.new_tensor([0.0, 0.0, 1.0, 1.0]).expand(n, k, 4)
        around = crops(self.context(seen), whole[:, :1], side).expand(-1, k, -1, -1, -1)
        plain, masked = around.chunk(2, dim=2)
        told = torch.cat([own, plain, masked * overlaps(boxes, whole, side)[:, :, None]], dim=2)
        maps = self.fuse(told.flatten(0, 1)).view(n, k, -1, side, side)
        objects = normalize(self.object(torch.relu(maps).flatten(2)), dim=-1)
        one, other = (axis.expand(n, k, k, 4) for axis in (boxes[:, :, None], boxes[:, None]))
        hull = torch.cat([torch.minimum(one[..., :2], other[..., :2]), torch.maximum(one[..., 2:], other[..., 2:])], -1)
        both = crops(self.union(seen), hull.flatten(1, 2), side).unflatten(1, (k, k))  # [n, k, k, 3c/2, 7, 7]
        plain, first, second = both.chunk(3, dim=3)
        marked = [
            first * overlaps(one, hull, side)[..., None, :, :],
            second * overlaps(other, hull, side)[..., None, :, :],
        ]
        maps_of = (maps[:, :, None].expand(-1, -1, k, -1, -1, -1), maps[:, None].expand(-1, k, -1, -1, -1, -1))
        pair = self.fuse_pair(torch.cat([plain, *marked, *maps_of], dim=3).flatten(0, 2))
        pairs = normalize(self.pair(torch.relu(pair).flatten(1)), dim=-1)
        return objects, pairs.view(n, k, k, -1)
