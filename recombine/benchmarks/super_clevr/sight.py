"""Seeing vehicles: how their parser is trained, and what it sees.

A detector that names nothing finds vehicles in the whole picture; an attribute network then looks closer at each. The
detector is trained once, on pictures of vehicles with textures. The attribute network is trained on the pictures of one
variant of a factor: the parser that stands in this folder on those with parts and textures of all looks.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.super_clevr.reasoning import RECORDED, likeliest, likely_parts
from recombine.benchmarks.super_clevr.world import LOOKS, VehicleWorld
from recombine.solvers.training.settings import need_torch
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

need_torch()

from recombine.solvers.attribute_training import AttributeLesson  # noqa: E402
from recombine.solvers.closer import PartsSeen, PartWords  # noqa: E402
from recombine.solvers.parser_training import Lesson  # noqa: E402
from recombine.solvers.perception import Parser, Perceived, chances, parser_in  # noqa: E402

FILE = Path(__file__).with_name("parser.safetensors")
SIZE = 320, 240
READS = ("size", "color", "material", "shape", "texture")
"""What is read off a vehicle."""
LESSON = Lesson(
    "super-clevr",
    VehicleWorld(complexity="hard"),
    SIZE,
    pictures=4_000,
    steps=1_250,
    along=240,
    begin=Path(__file__).parents[1] / "clevr" / "parser.safetensors",
    reads=(),
    held_back=300,
)
"""The detector's; it begins as CLEVR's parser, which knows solids on the same floor and no vehicle."""
AGAIN = replace(LESSON, rate=1e-3, steps=500)
"""How it goes on: from its own weights, with half of the rate, which falls again."""


def part_words(world: VehicleWorld) -> PartWords:
    """What can be said of the recorded parts of vehicles."""
    slots = tuple(f"part_{number}" for number in range(1, world.parts.most + 1))
    return PartWords(world.fleet.part_names, tuple((look, world.vocabulary[look].values) for look in LOOKS), slots)


def attributes(world: VehicleWorld, **changed: object) -> AttributeLesson:
    """What an attribute network learns from the pictures of a world."""
    lesson = AttributeLesson("super-clevr", world, SIZE, READS, part_words(world))
    return replace(lesson, **changed)  # type: ignore[arg-type]


# --- looking ------------------------------------------------------------------------------------------------------


def parser(file: Path = FILE) -> Parser:
    """The parser that stands in this folder, or one's own."""
    return parser_in(file)


def vehicle_parser(file: Path = FILE, world: VehicleWorld | None = None) -> Parser:
    """A parser that knows the attributes and values of vehicles."""
    known = (world or VehicleWorld()).vocabulary
    return parser(file).need({name: known[name].values for name in READS}, "Super-CLEVR's vehicles", file, closer=True)


def in_order(parser: Parser, seen: Perceived, world: VehicleWorld) -> Perceived:
    """The same with values and names of parts in the order of a world's vocabulary."""
    own, known = dict(parser.names), world.vocabulary
    for name, values in own.items():
        if {*values} != {*known[name].values}:
            raise UserError(f"this parser knows other values of {name} than this world has; train one for it")
    beliefs = {name: seen.beliefs[name][..., _order(own[name], known[name].values)] for name in own}
    parts = seen.parts
    if parts is not None and parser.closer is not None and parser.closer.parts is not None:
        words = parser.closer.parts
        if {*words.names} != {*world.fleet.part_names}:
            raise UserError("this parser knows other parts than the vehicles of this world have; train one for it")
        names = _order(words.names, world.fleet.part_names)
        looks = {
            look: parts.looks[look][..., names, :][..., _order(values, known[look].values)]
            for look, values in words.looks
        }
        parts = PartsSeen(parts.chance[..., names], looks)
    return Perceived(**{**vars(seen), "beliefs": beliefs, "parts": parts})


def _order(own: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    return [own.index(value) for value in wanted]


@dataclass(frozen=True, eq=False)
class Sight:
    """What was seen in one picture."""

    perceived: Perceived
    size: tuple[int, int]
    """Width and height of the picture."""
    world: VehicleWorld = VehicleWorld()

    @cached_property
    def scenes(self) -> Scenes:
        """The likeliest scene."""
        return likeliest(self.perceived, self.world)

    def objects(self) -> list[dict[str, Any]]:
        """Every vehicle in words and numbers: values, how sure each is, place, box in pixels, parts of other looks."""
        seen, known = self.perceived, self.world.vocabulary
        return [
            {
                **{name: words[name] for name in READS},
                **seen.whereabouts(0, i, self.size),
                "parts": self._parts(i),
                "beliefs": {name: seen.chances(known[name], 0, i) for name in READS},
            }
            for i, words in enumerate(self.scenes.objects(0))
        ]

    def _parts(self, i: int) -> list[dict[str, Any]]:
        """The parts of a vehicle that likely look otherwise than it."""
        order, chance, looks = likely_parts(self.perceived, self.world.parts.most)
        found = []
        for slot in np.flatnonzero(chance[0, i] >= RECORDED):
            beliefs = {look: belief[0, i, slot] for look, belief in looks.items()}
            values = {look: self.world.vocabulary[look].values for look in looks}
            found.append(
                {
                    "part": self.world.fleet.part_names[order[0, i, slot]],
                    **{look: values[look][int(belief.argmax())] for look, belief in beliefs.items()},
                    "confidence": round(float(chance[0, i, slot]), 4),
                    "beliefs": {look: chances(values[look], belief) for look, belief in beliefs.items()},
                }
            )
        return found


def look(image: Path, file: Path = FILE) -> Sight:
    """What is seen in a picture of one's own, a PNG file."""
    found, world = vehicle_parser(file), VehicleWorld()
    seen, size = found.look(image, "vehicle", "vehicles on a gray floor", "another parser")
    return Sight(in_order(found, seen, world), size, world)
