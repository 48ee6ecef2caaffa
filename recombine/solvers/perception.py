"""Perception: what a parser makes of pictures, with how sure it is.

A belief is a distribution over the values of an attribute. Beliefs are calibrated on pictures that nothing was learnt
from: of the values that are believed with 0.9, nine in ten are right. A calibration is one number for each attribute,
by which its logits are multiplied, and one for each spread.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from recombine.render.png import read_png
from recombine.solvers.closer import Closer, PartsSeen, PartWords
from recombine.solvers.eyesight import SHARP, WIDTH, fitted
from recombine.solvers.networks.attribute_net import AttributeNet
from recombine.solvers.networks.fused import fused
from recombine.solvers.networks.scene_parser import BOX, CENTRE, PLACE, SceneParser, peaks
from recombine.solvers.training.tensors import read_tensors, write_tensors
from recombine.store.errors import UserError
from recombine.store.untrusted import parse_json
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP, Camera
from recombine.world.distribution import places_taken
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

MOST = 16
"""Objects that are perceived in a picture at most."""
LEAST = 0.5
"""How likely something must be an object to be perceived."""
FAINT = 0.05
"""How likely it must be an object to be worth a closer look."""
HEIGHT = 0.525
"""Above the ground, where the middle of an object is expected before it is looked at."""
LONGEST = 4096
"""Pixels of a side of a picture that is looked at."""
AT_ONCE = 64
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Perceived:
    """The objects of n pictures, the surest first; lengths in widths of the picture, from its middle."""

    count: np.ndarray  # uint8[n]
    sure: np.ndarray  # float32[n, k]: how likely it is an object
    centre: np.ndarray  # float32[n, k, 2]
    centre_spread: np.ndarray  # float32[n, k, 2]: the mean error that is expected
    box: np.ndarray  # float32[n, k, 4]: left, top, right, bottom
    place: np.ndarray  # float32[n, k, 2]: on the ground
    place_spread: np.ndarray  # float32[n, k, 2]
    beliefs: Mapping[str, np.ndarray]  # attribute -> float32[n, k, values]
    strange: np.ndarray  # float32[n]: how unlike the pictures of the parser's world, 1 is the limit
    parts: PartsSeen | None = None
    """Of the objects' parts, [n, k, parts], where the parser knows some."""

    def __len__(self) -> int:
        return len(self.count)

    def scenes(self, vocabulary: Vocabulary, heights: Mapping[str, float], attribute: str = "size") -> Scenes:
        """The likeliest scenes; an object's middle is as high as its value of an attribute says."""
        taken = places_taken(self.count, self.sure.shape[1])
        codes = {
            one.name: np.where(taken, self.beliefs[one.name].argmax(axis=-1), ABSENT).astype(np.uint8)
            for one in vocabulary
        }
        up = np.array([*(heights[value] for value in vocabulary[attribute].values)])
        height = np.where(taken, up[np.where(taken, codes[attribute], 0)], 0)
        place = np.where(taken[..., None], self.place, 0)
        return Scenes(vocabulary, self.count, codes, np.concatenate([place, height[..., None]], -1).astype(np.float32))

    def whereabouts(self, picture: int, i: int, size: tuple[int, int]) -> dict[str, Any]:
        """Where an object is, on the ground and in a picture of this width and height, and how sure that is."""
        width, height = size
        middle = np.array([width / 2, height / 2] * 2)
        left, top, right, bottom = (float(x) for x in (self.box[picture, i] * width + middle).round(1))
        return {
            "place": [round(float(x), 3) for x in self.place[picture, i]],
            "pixel": [round(float(x), 1) for x in self.centre[picture, i] * width + middle[:2]],
            "box": [left, top, right - left, bottom - top],
            "confidence": round(float(self.sure[picture, i]), 4),
        }

    def chances(self, attribute: Attribute, picture: int, i: int) -> dict[str, float]:
        """How likely an object has each value."""
        return chances(attribute.values, self.beliefs[attribute.name][picture, i])


def chances(values: Sequence[str], belief: np.ndarray) -> dict[str, float]:
    """Every value and its probability, rounded for people."""
    return {value: round(float(p), 4) for value, p in zip(values, belief)}


def joined(some: Sequence[Perceived]) -> Perceived:
    """The pictures of several, one after the other."""
    columns = {
        name: np.concatenate([getattr(one, name) for one in some])
        for name, value in vars(some[0]).items()
        if isinstance(value, np.ndarray)
    }
    beliefs = {name: np.concatenate([one.beliefs[name] for one in some]) for name in some[0].beliefs}
    seen = [one.parts for one in some if one.parts is not None]
    parts = None
    if seen:
        looks = {name: np.concatenate([one.looks[name] for one in seen]) for name in seen[0].looks}
        parts = PartsSeen(np.concatenate([one.chance for one in seen]), looks)
    return Perceived(beliefs=beliefs, parts=parts, **columns)


@dataclass(frozen=True)
class Calibration:
    """What logits and spreads are multiplied with, and what a usual picture is."""

    heat: tuple[float, float] = (1.0, 0.0)
    """A factor and a summand for the logits of objects."""
    values: tuple[float, ...] = ()
    centre: float = 1.0
    place: float = 1.0


class Usual(NamedTuple):
    """What pictures of a parser's world are like."""

    mean: np.ndarray  # float32[d], of whole pictures
    whiten: np.ndarray  # float32[d, d]
    farthest: float
    """How far from the mean a picture may be."""
    most_unsure: float
    """How unsure of its objects the parser may be."""
    foreign: np.ndarray | None = None
    """float32[features + 1]: tells the objects of other worlds from its own, where it was shown some: a logistic."""


def unsureness(count: np.ndarray, beliefs: Mapping[str, np.ndarray]) -> np.ndarray:
    """How unsure of its objects a parser is: the mean doubt about the value it is least sure of, float[n].

    Two objects beyond doubt are added to every picture, so that few objects are not judged too soon.
    """
    if not beliefs:
        return np.zeros(len(count))
    least = np.min([belief.max(axis=-1) for belief in beliefs.values()], axis=0)
    taken = places_taken(count, least.shape[1])
    return ((1 - least) * taken).sum(axis=1) / (count + 2.0)


@dataclass(frozen=True, eq=False)
class Parser:
    """A network that has learnt to parse the scenes of a world."""

    network: SceneParser
    world: str
    """What it has seen: the name of a benchmark."""
    names: tuple[tuple[str, tuple[str, ...]], ...]
    """Attributes and their values."""
    calibration: Calibration = field(default_factory=Calibration)
    usual: "Usual | None" = None
    along: int = WIDTH
    """Pixels along the pictures that it looks at."""
    closer: Closer | None = None
    """What says the attributes of objects, where the detector only finds them."""

    @classmethod
    def raw(cls, network: SceneParser, attributes: tuple[str, ...], along: int = WIDTH) -> "Parser":
        """A parser that is not calibrated yet."""
        values = tuple((name, tuple(map(str, range(n)))) for name, n in zip(attributes, network.values))
        return cls(network, "", values, Calibration(values=(1.0,) * len(values)), along=along)

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.names)

    def need(self, wanted: Mapping[str, Sequence[str]], what: str, file: Path, closer: bool = False) -> "Parser":
        """This one, if these are its attributes and values; perhaps it must also look closer."""
        own, asked = ({name: {*values} for name, values in some.items()} for some in (dict(self.names), wanted))
        if own != asked or (closer and self.closer is None):
            raise UserError(
                f"{file} is a parser for {self.world or 'another world'}: it sees {', '.join(self.attributes)} with "
                f"other values than {what} have"
            )
        return self

    def perceive(self, pixels: np.ndarray) -> Perceived:
        """What stands in pictures of any size, uint8[n, height, width, 3]."""
        parts = [self._seen(pixels[start : start + AT_ONCE]) for start in range(0, max(1, len(pixels)), AT_ONCE)]
        together: dict = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        beliefs = {name: together.pop(f"beliefs/{name}") for name in self.attributes}
        if self.closer is not None and self.closer.parts is not None:
            looks = {name: together.pop(f"beliefs/parts/{name}") for name, _ in self.closer.parts.looks}
            together["parts"] = PartsSeen(together.pop("beliefs/parts"), looks)
        if self.usual is not None:
            unsure = unsureness(together["count"], beliefs) / self.usual.most_unsure
            foreign = 2 * _mean_of_taken(together.pop("foreign"), together["count"])
            together["strange"] = np.max([together["strange"], unsure, foreign], axis=0).astype(np.float32)
        return Perceived(beliefs=beliefs, **together)

    def look(self, image: Path, thing: str, scene: str, others: str) -> tuple[Perceived, tuple[int, int]]:
        """What stands in a PNG file, and its width and height; a picture of something else is refused in words."""
        pixels = read_png(image, LONGEST)
        try:
            seen = self.perceive(pixels[None])
        except UserError as error:
            raise UserError(f"{image}: {error}") from None
        if seen.strange[0] > 1:
            raise UserError(
                f"{image} does not look like a picture of {self.world}: what is in it is strange to this parser; give "
                f"a picture of {scene}, or {others}"
            )
        if not seen.count[0]:
            raise UserError(f"no {thing} is seen in {image}; is it a picture of {scene}?")
        return seen, (pixels.shape[1], pixels.shape[0])

    def _seen(self, pixels: np.ndarray) -> dict[str, np.ndarray]:
        """What is found, and with a closer look what it is."""
        found = self._parts(fitted(pixels, self.along))
        return found if self.closer is None else {**found, **closer_beliefs(self.closer, pixels, found)}

    @cached_property
    def _still(self) -> SceneParser:
        """The network as it is now, only to look with."""
        return fused(self.network)

    @torch.no_grad()
    def _parts(self, pixels: np.ndarray) -> dict[str, np.ndarray]:
        like = next(self._still.parameters())
        found = self._still(_planes(pixels, like))
        n, (height, width) = len(pixels), found.heat.shape[1:]
        heat, row, column = peaks(found.heat.float(), MOST)
        picture = torch.arange(n, device=like.device)[:, None].expand_as(row)
        read = self._still.read(found, picture.reshape(-1), row.reshape(-1), column.reshape(-1))
        numbers = read.numbers.reshape(n, row.shape[1], -1)
        factor, summand = self.calibration.heat
        sure = torch.sigmoid(factor * heat + summand)
        there = sure >= LEAST
        centre = torch.stack([column, row], dim=-1) + 0.5 + numbers[..., CENTRE][..., :2]
        place = ground(centre.reshape(-1, 2), height, width).reshape(centre.shape) + numbers[..., PLACE][..., :2]
        around = numbers[..., BOX].clamp(min=0)
        box = torch.cat([centre - around[..., :2], centre + around[..., 2:]], dim=-1)
        middle = torch.tensor([width / 2, height / 2], device=like.device)
        columns = {
            "count": there.sum(dim=1).to(torch.uint8),
            "sure": sure,
            "centre": (centre - middle) / width,
            "centre_spread": numbers[..., CENTRE][..., 2:].clamp(-6, 3).exp() * self.calibration.centre / width,
            "box": (box - middle.repeat(2)) / width,
            "place": place,
            "place_spread": numbers[..., PLACE][..., 2:].clamp(-6, 3).exp() * self.calibration.place,
            "strange": self._strangeness(found.whole.float()),
        }
        if self.usual is not None:
            columns["foreign"] = self._foreign(found.features[picture, :, row, column].float())
        for (name, _), factor, logits in zip(self.names, self.calibration.values, read.values):  # none, if closer
            columns[f"beliefs/{name}"] = torch.softmax(factor * logits, dim=1).reshape(n, row.shape[1], -1)
        return {
            name: column.cpu().numpy().astype(np.uint8 if name == "count" else np.float32)
            for name, column in columns.items()
        }

    @torch.no_grad()
    def wholes(self, pixels: np.ndarray) -> np.ndarray:
        """What the network makes of pictures as a whole, float32[n, d]."""
        self.network.eval()
        like = next(self.network.parameters())
        parts = [fitted(pixels[start : start + AT_ONCE], self.along) for start in range(0, len(pixels), AT_ONCE)]
        return np.concatenate([self.network(_planes(part, like)).whole.cpu().numpy() for part in parts])

    def _strangeness(self, whole: Tensor) -> Tensor:
        if self.usual is None:
            return torch.zeros(len(whole), device=whole.device)
        mean, whiten = (torch.from_numpy(one).to(whole) for one in self.usual[:2])
        return ((whole - mean) @ whiten).square().mean(dim=1).sqrt() / self.usual.farthest

    def _foreign(self, features: Tensor) -> Tensor:
        """How likely each object is one of another world, float[n, k]."""
        if self.usual is None or self.usual.foreign is None:
            return torch.zeros(features.shape[:-1], device=features.device)
        weights = torch.from_numpy(self.usual.foreign).to(features)
        return torch.sigmoid(features @ weights[:-1] + weights[-1])

    @torch.no_grad()
    def object_features(self, pixels: np.ndarray) -> np.ndarray:
        """What the network makes of every object that it perceives in pictures, float32[m, d]."""
        self.network.eval()
        like, some = next(self.network.parameters()), []
        for start in range(0, len(pixels), AT_ONCE):
            found = self.network(_planes(fitted(pixels[start : start + AT_ONCE], self.along), like))
            heat, row, column = peaks(found.heat.float(), MOST)
            factor, summand = self.calibration.heat
            picture, peak = torch.nonzero(torch.sigmoid(factor * heat + summand) >= LEAST, as_tuple=True)
            some.append(found.features[picture, :, row[picture, peak], column[picture, peak]].float().cpu().numpy())
        return np.concatenate(some)

    def save(self, file: Path) -> None:
        """Write all of it, in the safetensors format, with half of the digits: beliefs change by less than 0.01."""
        tensors = {f"network/{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.usual is not None:
            known = {name: getattr(self.usual, name) for name in ("mean", "whiten", "foreign")}
            tensors |= {f"usual/{name}": torch.from_numpy(one) for name, one in known.items() if one is not None}
        about = {
            "format": FORMAT,
            "world": self.world,
            "width": self.network.width,
            "along": self.along,
            "attributes": [[name, list(values)] for name, values in self.names],
            "calibration": vars(self.calibration),
            "limits": None if self.usual is None else [self.usual.farthest, self.usual.most_unsure],
        }
        if (closer := self.closer) is not None:
            tensors |= {f"closer/{name}": tensor for name, tensor in closer.network.state_dict().items()}
            about["closer"] = {
                "width": closer.network.width,
                "factors": closer.factors,
                "part_chance": closer.part_chance,
                "look_factors": closer.look_factors,
                "parts": None if closer.parts is None else vars(closer.parts),
            }
        tensors = {name: one.half() if one.is_floating_point() else one for name, one in tensors.items()}
        write_tensors(file, tensors, {"parser": json.dumps(about)})

    @classmethod
    def load(cls, file: Path) -> "Parser":
        """A parser from its file."""
        tensors, words = read_tensors(file)
        if "parser" not in words:
            raise UserError(f"{file} holds no scene parser; give a file that recombine's own parsers are saved in")
        about = parse_json(words["parser"], str(file), dict)
        try:
            return _loaded(about, tensors)
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, ArithmeticError) as error:
            said = str(error).partition("\n")[0]
            raise UserError(f"{file} is damaged or of another version ({said:.200}); get it again") from error


def _mean_of_taken(column: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The mean over perceived objects, 0 where there are none: float[n, k] -> float[n]."""
    return np.asarray((column * places_taken(count, column.shape[1])).sum(axis=1) / np.maximum(count, 1))


def _planes(pixels: np.ndarray, like: Tensor) -> Tensor:
    """uint8[n, h, w, 3] to float[n, 3, h, w] from 0 to 1."""
    return torch.from_numpy(pixels).to(like.device).permute(0, 3, 1, 2).float() / 255


WIDEST, WIDEST_PICTURE, MOST_SAID = 64, 2048, 20_000
"""Channels where a network begins, pixels of a picture, and numbers that are said of an object, in a file."""


def _bounded(what: str, number: Any, most: int) -> int:
    """A number of a file, before a network of that size is built."""
    if not 1 <= int(number) <= most:
        raise ValueError(f"{int(number):,} {what}; 1 to {most:,} are possible")
    return int(number)


def _loaded(about: Mapping, tensors: Mapping[str, Tensor]) -> Parser:
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']}, not {FORMAT}")
    names = tuple((str(name), tuple(map(str, values))) for name, values in about["attributes"])
    values = sum(len(values) for _, values in names)
    along = _bounded("pixels", about.get("along", WIDTH), WIDEST_PICTURE)
    closer = _closer(about["closer"], names, tensors) if "closer" in about else None
    _bounded("values", values + 1, MOST_SAID)
    width = _bounded("channels", about["width"], WIDEST)
    network = SceneParser(width, () if closer else tuple(len(values) for _, values in names))
    network.load_state_dict(_under("network/", tensors))
    fields = about["calibration"]
    calibration = Calibration(
        tuple(fields["heat"]), tuple(fields["values"]), float(fields["centre"]), float(fields["place"])
    )
    usual = None
    if about["limits"] is not None:
        mean, whiten = (tensors[f"usual/{name}"].float().numpy() for name in ("mean", "whiten"))
        foreign = tensors["usual/foreign"].float().numpy() if "usual/foreign" in tensors else None
        farthest, most_unsure = map(float, about["limits"])
        usual = Usual(mean, whiten, farthest, most_unsure, foreign)
    return Parser(network.eval(), str(about["world"]), names, calibration, usual, along, closer)


def _closer(about: Mapping, names: tuple[tuple[str, tuple[str, ...]], ...], tensors: Mapping[str, Tensor]) -> Closer:
    parts = None
    if (said := about["parts"]) is not None:
        looks = tuple((str(name), tuple(map(str, values))) for name, values in said["looks"])
        parts = PartWords(tuple(map(str, said["names"])), looks, tuple(map(str, said["slots"])))
    said_of_parts = 0 if parts is None else len(parts.names) * (1 + sum(len(values) for _, values in parts.looks))
    _bounded("values", said_of_parts + 1, MOST_SAID)
    network = AttributeNet(
        _bounded("channels", about["width"], WIDEST),
        tuple(len(values) for _, values in names),
        0 if parts is None else len(parts.names),
        () if parts is None else tuple(len(values) for _, values in parts.looks),
    )
    network.load_state_dict(_under("closer/", tensors))
    factor, summand = map(float, about["part_chance"])
    factors, look_factors = (tuple(map(float, about[name])) for name in ("factors", "look_factors"))
    return Closer(network.eval(), names, parts, factors, (factor, summand), look_factors)


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}


def closer_beliefs(closer: Closer, pixels: np.ndarray, found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Beliefs about everything that may be an object, from close-ups; those about the rest know nothing."""
    sharp = fitted(pixels, SHARP)
    picture, place = np.nonzero(found["sure"] >= FAINT)
    shape = found["sure"].shape
    columns = {}
    for name, said in closer.look(sharp, picture, found["box"][picture, place]).items():
        blank = 0.0 if name == "parts" else 1 / said.shape[-1]
        column = np.full((*shape, *said.shape[1:]), blank, np.float32)
        column[picture, place] = said
        columns[f"beliefs/{name}"] = column
    return columns


def ground(centre: Tensor, height: int, width: int) -> Tensor:
    """Where on the ground something stands whose middle is seen at these cells, for a camera that has not moved."""
    camera = Camera(width, height)
    view = torch.from_numpy(camera.view(np.zeros(3))).to(centre)
    across, down = ((centre - torch.tensor([width / 2, height / 2]).to(centre)) / camera.focal).T
    ray = view[FORWARD] + across[:, None] * view[RIGHT] - down[:, None] * view[UP]
    steep = (HEIGHT - view[POSITION, 2]) / ray[:, 2].clamp(max=-0.1)
    return view[POSITION, :2] + steep[:, None] * ray[:, :2]


@cache
def parser_in(file: Path) -> Parser:
    """The parser of a file."""
    if not file.exists():
        raise UserError(f"there is no parser {file}; train it with `make parsers`, or give the file of another")
    return Parser.load(file)
