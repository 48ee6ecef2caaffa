"""Training a scene parser for a world, and calibrating it: pictures, learning, then how sure it may be."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from recombine.solvers.closer import Closer
from recombine.solvers.eyesight import WIDTH
from recombine.solvers.networks.scene_parser import NUMBERS, SceneParser
from recombine.solvers.perception import Calibration, Parser, Usual, unsureness
from recombine.solvers.scene_labels import LabelledPictures, labelled
from recombine.solvers.scene_parsing import CLOSE, ParseObjective, augmented, matched
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
HELD = 1_000
"""Pictures that nothing is learnt from: for validation, and then for calibration."""
TOO_FAR = 1.5
"""How much farther from the mean than the farthest of the held-out pictures a picture of the same world may be."""
RARELY = 0.005
"""The share of held-out pictures that one may be too unsure of, before the limit is moved away by as much."""
RIDGE = 1e-3
"""What large weights cost that tell other worlds."""
SMALL = 1e-3
"""What is added to the variances of whole pictures, of their mean, before they are whitened."""


@dataclass(frozen=True)
class Lesson:
    """What a parser is trained on, and how long."""

    name: str
    """Of the benchmark."""
    world: World
    size: tuple[int, int]
    """Width and height in which pictures are drawn."""
    pictures: int = 10_000
    width: int = 16
    steps: int = 2_500
    seed: int = 0
    rate: float = 2e-3
    along: int = WIDTH
    """Pixels along the pictures that it looks at."""
    begin: Path | None = None
    """A parser to begin from, of the same width; what it says of other attributes is left out."""
    reads: tuple[str, ...] | None = None
    """The attributes that the detector reads itself: all, unless a closer look does it."""
    held_back: int = HELD

    @property
    def training(self) -> Training:
        return Training(
            batch=32,
            rate=self.rate,
            optimiser="adamw",
            weight_decay=1e-4,
            steps=self.steps,
            warm_up=100,
            fall=(0, self.steps),
            clip=10.0,
            judge="whole" if self.names else "found",
            higher=True,
            validate_every=250 if self.steps % 250 == 0 else min(100, self.steps),
            checkpoint_every=60.0,
            precision="bfloat16",
        )

    @property
    def key(self) -> Key:
        return Key(self.seed) / "parser"

    @property
    def names(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        known = self.world.vocabulary
        return tuple((one.name, one.values) for one in known if self.reads is None or one.name in self.reads)

    def held(self, store: Store, engine: Engine) -> LabelledPictures:
        key, many = self.key / "held", self.held_back
        return labelled(self.world, many, self.size, key, store, engine, "pictures held back", self.along)

    def learnt_from(self, store: Store, engine: Engine) -> LabelledPictures:
        return labelled(self.world, self.pictures, self.size, self.key / "train", store, engine, "pictures", self.along)


def taught(lesson: Lesson, folder: Path, store: Store, engine: Engine, watch: Watch = unwatched) -> Parser:
    """A calibrated parser, trained in a folder of runs; goes on where it was stopped."""
    pictures, held = lesson.learnt_from(store, engine), lesson.held(store, engine)
    with seeded(lesson.key / "network"):
        network = SceneParser(lesson.width, tuple(len(values) for _, values in lesson.names))
    if lesson.begin is not None:
        _begin(network, lesson)
    training, names = lesson.training, tuple(name for name, _ in lesson.names)
    objective = ParseObjective(network, pictures, (Stage(np.arange(len(pictures))),), held, names)
    identity = {
        "kind": "scene-parser",
        "version": VERSION,
        "world": lesson.name,
        "pictures": lesson.pictures,
        "size": list(lesson.size),
        "width": lesson.width,
        "along": lesson.along,
        "seed": lesson.seed,
        **({} if lesson.begin is None else {"begin": checksum(lesson.begin)}),
        "training": {name: plain(value) for name, value in training.fixed().items()},
    }
    run = Run(folder, identity, {"steps": training.steps})
    train(objective, training, run, lesson.key / "training", watch)
    load_best(run.best, network, run.identity)
    parser = Parser(network.float().eval(), lesson.name, lesson.names, along=lesson.along)
    return calibrated(parser, held, lesson.key / "calibration")


def _begin(network: SceneParser, lesson: Lesson) -> None:
    """Give a network the weights to begin from: all, or those that do not speak of attributes."""
    assert lesson.begin is not None
    found = Parser.load(lesson.begin)
    if found.network.width != lesson.width:
        raise UserError(
            f"{lesson.begin} is another kind of parser: {found.network.width} wide, but this one is {lesson.width} wide"
        )
    known, mine = found.network.state_dict(), network.state_dict()
    if found.names != lesson.names:
        for name in ("head.2.weight", "head.2.bias"):
            mine[name][:NUMBERS] = known[name][:NUMBERS]
            known[name] = mine[name]
    network.load_state_dict(known)


def plain(value: object) -> object:
    """A value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


# --- calibration --------------------------------------------------------------------------------------------------


def calibrated(parser: Parser, held: LabelledPictures, key: Key) -> Parser:
    """The parser with the factors that make held-out objects least surprising, and what pictures of its world are like.

    The pictures are in another light, as in training: a user's pictures are not ours.
    """
    shown = in_other_light(held, key)
    bare = replace(parser, calibration=Calibration(values=(1.0,) * len(parser.names)), usual=None)
    found = bare.perceive(shown)
    labels = held.labels
    pairs = matched(labels, found.centre, found.count, CLOSE)
    mine, other = (pairs.picture, pairs.said), (pairs.picture, pairs.true)
    every = np.full(len(found), found.sure.shape[1])
    candidates = matched(labels, found.centre, every, CLOSE)
    real = np.zeros(found.sure.shape, bool)
    real[candidates.picture, candidates.said] = True
    calibration = Calibration(
        logistic_of(found.sure, real),
        tuple(
            factor_of(np.log(found.beliefs[name][mine].clip(1e-12)), labels.codes[other][:, a])
            for a, name in enumerate(parser.attributes)
        ),
        _widening(found.centre[mine] - labels.centre[other], found.centre_spread[mine]),
        _widening(found.place[mine] - labels.place[other], found.place_spread[mine]),
    )
    calm = replace(bare, calibration=calibration)
    again = calm.perceive(shown)
    return replace(calm, usual=_usual(bare.wholes(shown), unsureness(again.count, again.beliefs)))


def in_other_light(held: LabelledPictures, key: Key) -> np.ndarray:
    """All pictures, augmented as the key says, uint8[n, h, w, 3]."""
    return lit(held.take(np.arange(len(held))), key)


def lit(pictures: np.ndarray, key: Key) -> np.ndarray:
    """Pictures uint8[n, h, w, 3] in another light, as the key says."""
    with seeded(key):
        rows = np.array_split(np.arange(len(pictures)), 10)
        parts = [augmented(torch.from_numpy(pictures[some])) for some in rows]
    return (torch.cat(parts).permute(0, 2, 3, 1) * 255).round().byte().numpy()


def factor_of(logits: np.ndarray, wanted: np.ndarray) -> float:
    """What logits[m, values] are to be multiplied with: the inverse of a temperature."""
    if not len(logits):
        return 1.0
    said, right = torch.from_numpy(logits), torch.from_numpy(wanted.astype(np.int64))
    factors = np.exp(np.linspace(np.log(0.2), np.log(5), 161))
    return float(min(factors, key=lambda factor: float(cross_entropy(float(factor) * said, right))))


def logistic_of(sure: np.ndarray, real: np.ndarray) -> tuple[float, float]:
    """The factor and the summand that make the logits of candidates least surprising."""
    logit = torch.logit(torch.from_numpy(sure.reshape(-1)).double().clamp(1e-9, 1 - 1e-9))
    wanted, weights = torch.from_numpy(real.reshape(-1)).double(), torch.tensor([1.0, 0.0], dtype=torch.float64)
    weights.requires_grad_()
    optimiser = torch.optim.LBFGS([weights], max_iter=100)

    def lost() -> Tensor:
        optimiser.zero_grad()
        loss = binary_cross_entropy_with_logits(weights[0] * logit + weights[1], wanted)
        loss.backward()
        return loss

    optimiser.step(lost)
    factor, summand = weights.detach().tolist()
    return factor, summand


def _widening(off: np.ndarray, spread: np.ndarray) -> float:
    """What Laplace's spreads are to be multiplied with."""
    return float(np.mean(np.abs(off) / spread)) if len(off) else 1.0


def _usual(whole: np.ndarray, unsure: np.ndarray) -> Usual:
    """What pictures are like, from those held back: as wholes, float[n, d], and how unsure of them one is."""
    mean = whole.mean(axis=0)
    variance, axes = np.linalg.eigh(np.cov(whole.T))
    whiten = axes / np.sqrt(variance.clip(0) + SMALL * variance.mean())
    far = np.sqrt(np.mean(((whole - mean) @ whiten) ** 2, axis=1))
    limits = float(TOO_FAR * far.max()), _unsure_limit(unsure)
    return Usual(mean.astype(np.float32), whiten.astype(np.float32), *limits)


def with_closer(detector: Parser, closer: Closer, pictures: np.ndarray) -> Parser:
    """A detector with a closer look, and how unsure it usually is, from pictures that nothing was learnt from."""
    assert detector.usual is not None
    made = replace(detector, names=closer.names, closer=closer, usual=None)
    found = made.perceive(pictures)
    limit = _unsure_limit(unsureness(found.count, found.beliefs))
    return replace(made, usual=detector.usual._replace(most_unsure=limit))


def against(parser: Parser, own: np.ndarray, others: np.ndarray, key: Key) -> Parser:
    """The parser with what tells objects of other worlds from its own, from pictures of both in another light."""
    assert parser.usual is not None
    features = [parser.object_features(lit(some, key / name)) for name, some in (("own", own), ("others", others))]
    x = torch.from_numpy(np.concatenate(features)).double()
    wanted = torch.cat([torch.full((len(one),), float(other)) for other, one in enumerate(features)]).double()
    middle, scale = x.mean(dim=0), x.std(dim=0) + SMALL
    weights = torch.zeros(x.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    each = torch.where(wanted > 0, len(x) / wanted.sum(), len(x) / (1 - wanted).sum()) / 2
    optimiser = torch.optim.LBFGS([weights], max_iter=200)

    def lost() -> Tensor:
        optimiser.zero_grad()
        said = ((x - middle) / scale) @ weights[:-1] + weights[-1]
        loss = binary_cross_entropy_with_logits(said, wanted, each) + RIDGE * weights.square().sum()
        loss.backward()
        return loss

    optimiser.step(lost)
    found = weights.detach()
    slope = found[:-1] / scale
    foreign = torch.cat([slope, (found[-1] - slope @ middle)[None]]).float().numpy()
    return replace(parser, usual=parser.usual._replace(foreign=foreign))


def _unsure_limit(unsure: np.ndarray) -> float:
    """How unsure of its objects a parser may be."""
    return max(float(TOO_FAR * np.quantile(unsure, 1 - RARELY)), SMALL)
