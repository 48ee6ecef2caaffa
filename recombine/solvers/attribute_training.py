"""Training the closer look: an attribute network on close-ups of a world's objects, and how sure it may be.

The close-ups of a step are moved by some pixels, half of them are mirrored, and all stand in another light. A mirrored
vehicle has its left door on the right: nothing is learnt about parts from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from recombine.solvers.closer import Closer, PartWords, both_ways, logits_of
from recombine.solvers.closeups import KEPT, MARGIN, Closeups, closeups
from recombine.solvers.networks.attribute_net import SIDE, AttributeNet, Told
from recombine.solvers.parser_training import factor_of, logistic_of, plain
from recombine.solvers.perception import Parser
from recombine.solvers.scene_parsing import augmented
from recombine.solvers.training.batches import Stage
from recombine.solvers.training.loop import Watch, load_best, train, unwatched
from recombine.solvers.training.run import Run
from recombine.solvers.training.seeding import seeded
from recombine.solvers.training.settings import Training
from recombine.store.checksums import checksum
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.world.distribution import World

VERSION = 1
WEIGHTS = {"values": 1.0, "parts": 0.05, "looks": 0.3}
"""What is lost on attributes, on whether there is a part (all names together), and on how parts look."""
FEWEST = 20
"""Recorded parts without which looks are not calibrated."""


@dataclass(frozen=True)
class AttributeLesson:
    """What an attribute network is trained on, and how long."""

    name: str
    """Of the benchmark."""
    world: World
    size: tuple[int, int]
    """Width and height of the pictures from which objects are cut out."""
    reads: tuple[str, ...]
    """The attributes."""
    parts: PartWords | None = None
    pictures: int = 4_000
    held: int = 300
    width: int = 24
    steps: int = 1_600
    batch: int = 128
    rate: float = 3e-3
    seed: int = 0
    begin: Path | None = None
    """A parser whose closer look it begins from, of the same kind."""

    @property
    def training(self) -> Training:
        return Training(
            batch=self.batch,
            rate=self.rate,
            optimiser="adamw",
            weight_decay=1e-2,
            steps=self.steps,
            warm_up=100,
            fall=(0, self.steps),
            clip=10.0,
            judge="whole",
            higher=True,
            validate_every=min(400, self.steps),
            checkpoint_every=60.0,
            precision="bfloat16",
        )

    @property
    def key(self) -> Key:
        return Key(self.seed) / "attributes"

    @property
    def names(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((name, self.world.vocabulary[name].values) for name in self.reads)

    def learnt_from(self, store: Store, engine: Engine) -> "Shown":
        found = closeups(self.world, self.pictures, self.size, self.key / "train", store, engine, "close-ups")
        return Shown(found, self)

    def held_back(self, store: Store, engine: Engine) -> "Shown":
        key = self.key / "held"
        found = closeups(self.world, self.held, self.size, key, store, engine, "close-ups held back")
        return Shown(found, self)

    def identity(self) -> dict[str, object]:
        from recombine.store.recipe import Recipe

        world = Recipe("world", 1, {"world": self.world}, {}).digest
        fields = ("name", "pictures", "held", "width", "seed")
        return {
            "kind": "attribute-net",
            "version": VERSION,
            "world": world,
            "size": list(self.size),
            **{name: getattr(self, name) for name in fields},
            **({} if self.begin is None else {"begin": checksum(self.begin)}),
            "training": {name: plain(value) for name, value in self.training.fixed().items()},
        }


@dataclass(frozen=True, eq=False)
class Shown:
    """Close-ups with what is to be said of them."""

    closeups: Closeups
    lesson: AttributeLesson

    def __len__(self) -> int:
        return len(self.closeups.codes)

    @cached_property
    def values(self) -> np.ndarray:
        """The codes of attributes, int64[m, attributes]."""
        order = [*self.lesson.world.vocabulary.by_name]
        return self.closeups.codes[:, [order.index(name) for name in self.lesson.reads]].astype(np.int64)

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The names of recorded parts, int64[m, slots], -1 where there is none; their looks, int64[m, slots, looks]."""
        words = self.lesson.parts
        m = len(self.closeups.codes)
        if words is None:
            return np.zeros((m, 0), np.int64), np.zeros((m, 0, 0), np.int64)
        vocabulary = self.lesson.world.vocabulary
        order = [*vocabulary.by_name]

        def column(attribute: str, among: tuple[str, ...]) -> np.ndarray:
            places = [among.index(value) if value in among else -1 for value in vocabulary[attribute].values]
            return np.array(places)[self.closeups.codes[:, order.index(attribute)]]

        names = [column(slot, words.names) for slot in words.slots]
        looks = [[column(f"{slot}_{look}", values) for look, values in words.looks] for slot in words.slots]
        return np.stack(names, axis=1), np.stack([np.stack(one, axis=1) for one in looks], axis=1)


@dataclass(frozen=True, eq=False)
class AttributeObjective:
    """The objective: say what is seen in close-ups."""

    network: AttributeNet
    shown: Shown
    stages: tuple[Stage, ...]
    held: Shown

    def loss(self, rows: np.ndarray) -> Tensor:
        cut, place, mirrored = altered(self.shown.closeups, rows)
        told = self.network(cut, place)
        codes = torch.from_numpy(self.shown.values[rows])
        lost = torch.stack([cross_entropy(said, codes[:, a]) for a, said in enumerate(told.values)]).sum()
        total = WEIGHTS["values"] * lost
        plain_rows = torch.nonzero(~mirrored)[:, 0]
        if self.network.parts and len(plain_rows):
            names, looks = (torch.from_numpy(column[rows])[plain_rows] for column in self.shown.parts)
            total = total + self._part_loss(_some(told, plain_rows), names, looks)
        return total

    def _part_loss(self, told: Told, names: Tensor, looks: Tensor) -> Tensor:
        there = torch.zeros_like(told.parts)
        row, slot = torch.nonzero(names >= 0, as_tuple=True)
        there[row, names[row, slot]] = 1
        lost = WEIGHTS["parts"] * binary_cross_entropy_with_logits(told.parts, there, reduction="sum") / len(names)
        if len(row):
            for number, said in enumerate(told.looks):
                wanted = looks[row, slot, number]
                lost = lost + WEIGHTS["looks"] * cross_entropy(said[row, names[row, slot]], wanted)
        return lost

    def validate(self) -> Mapping[str, float]:
        return scores(self.network, self.held)


def _some(told: Told, rows: Tensor) -> Told:
    return Told((), told.parts[rows], tuple(look[rows] for look in told.looks))


def altered(shown: Closeups, rows: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
    """Close-ups moved, mirrored and in another light; where they were; which are mirrored."""
    down, right = torch.randint(0, 2 * MARGIN + 1, (2, len(rows))).tolist()
    cut = np.stack([shown.pixels[row, y : y + SIDE, x : x + SIDE] for row, y, x in zip(rows, down, right)])
    mirrored = torch.rand(len(rows)) < 0.5
    seen = augmented(torch.from_numpy(cut))
    seen[mirrored] = seen[mirrored].flip(3)
    place = torch.from_numpy(shown.place[rows])
    sign = torch.where(mirrored, -1.0, 1.0)
    return seen, torch.cat([place[:, :1] * sign[:, None], place[:, 1:]], dim=1), mirrored


def middle_of(pixels: np.ndarray) -> np.ndarray:
    """The part of kept close-ups that is looked at."""
    around = (KEPT - SIDE) // 2
    return pixels[:, around : around + SIDE, around : around + SIDE]


def scores(network: AttributeNet, held: Shown) -> dict[str, float]:
    """The shares of right values, of objects with all of them right, and how well parts are found."""
    told = logits_of(network, middle_of(held.closeups.pixels), held.closeups.place)
    said = np.stack([value.argmax(dim=1).numpy() for value in told.values], axis=1)
    right = said == held.values
    lost = [float(cross_entropy(v, torch.from_numpy(held.values[:, a]))) for a, v in enumerate(told.values)]
    found = {name: float(right[:, a].mean()) for a, name in enumerate(held.lesson.reads)}
    found |= {"whole": float(right.all(axis=1).mean()), "loss": float(np.sum(lost))}
    names, looks = held.parts
    if (names >= 0).any():
        there = np.zeros(told.parts.shape, bool)
        row, slot = np.nonzero(names >= 0)
        there[row, names[row, slot]] = True
        heard = (told.parts > 0).numpy()
        both = (there & heard).sum()
        found["parts"] = float(2 * both / max(1, there.sum() + heard.sum()))
        assert held.lesson.parts is not None
        for number, (look, _) in enumerate(held.lesson.parts.looks):
            said_look = told.looks[number].argmax(dim=2).numpy()[row, names[row, slot]]
            found[f"part {look}"] = float((said_look == looks[row, slot, number]).mean())
    return found


def closer_taught(
    lesson: AttributeLesson, folder: Path, store: Store, engine: Engine, watch: Watch = unwatched
) -> Closer:
    """A calibrated attribute network, trained in a folder of runs; goes on where it was stopped."""
    shown, held = lesson.learnt_from(store, engine), lesson.held_back(store, engine)
    words = lesson.parts
    with seeded(lesson.key / "network"):
        network = AttributeNet(
            lesson.width,
            tuple(len(values) for _, values in lesson.names),
            0 if words is None else len(words.names),
            () if words is None else tuple(len(values) for _, values in words.looks),
        )
    if lesson.begin is not None:
        before = Parser.load(lesson.begin).closer
        if before is None or (before.names, before.parts) != (lesson.names, words):
            raise UserError(f"{lesson.begin} looks for other things than are learnt here; begin from another")
        network.load_state_dict(before.network.state_dict())
    run = Run(folder, lesson.identity(), {"steps": lesson.training.steps})
    objective = AttributeObjective(network, shown, (Stage(np.arange(len(shown))),), held)
    train(objective, lesson.training, run, lesson.key / "training", watch)
    load_best(run.best, network, run.identity)
    return closer_calibrated(network.float().eval(), lesson, held)


def closer_calibrated(network: AttributeNet, lesson: AttributeLesson, held: Shown) -> Closer:
    """The network with the factors that make what is held back least surprising, in another light."""
    with seeded(lesson.key / "calibration"):
        cut = augmented(torch.from_numpy(middle_of(held.closeups.pixels)))
    told = both_ways(network, (cut.permute(0, 2, 3, 1) * 255).round().byte().numpy(), held.closeups.place)
    values = tuple(factor_of(said.numpy(), held.values[:, a]) for a, said in enumerate(told.values))
    names, looks = held.parts
    row, slot = np.nonzero(names >= 0)
    if lesson.parts is None or len(row) < FEWEST:
        many = 0 if lesson.parts is None else len(lesson.parts.looks)
        return Closer(network, lesson.names, lesson.parts, values, (1.0, 0.0), (1.0,) * many)
    there = np.zeros(told.parts.shape, bool)
    there[row, names[row, slot]] = True
    return Closer(
        network,
        lesson.names,
        lesson.parts,
        values,
        logistic_of(torch.sigmoid(told.parts).numpy(), there),
        tuple(
            factor_of(said.numpy()[row, names[row, slot]], looks[row, slot, number])
            for number, said in enumerate(told.looks)
        ),
    )
