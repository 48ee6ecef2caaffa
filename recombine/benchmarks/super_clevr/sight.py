"""Seeing vehicles: how their parser is trained, and what it sees.

A detector that names nothing finds vehicles in the whole picture; an attribute network then looks closer at each. The
detector is trained once, on pictures of vehicles with textures. The attribute network is trained on the pictures of one
variant of a factor: the parser that stands in this folder on those with parts and textures of all looks.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from recombine.benchmarks.super_clevr.factors import COMPOSITIONS, DISTRIBUTIONS, variant
from recombine.benchmarks.super_clevr.world import COMPLEXITIES, LOOKS, VehicleWorld
from recombine.solvers.training.settings import need_torch
from recombine.store.errors import UserError

need_torch()

from recombine.solvers.attribute_training import AttributeLesson  # noqa: E402
from recombine.solvers.closer import PartWords  # noqa: E402
from recombine.solvers.parser_training import Lesson  # noqa: E402

FILE = Path(__file__).with_name("parser.safetensors")
SIZE = 320, 240
READS = ("size", "color", "material", "shape", "texture")
"""What is read off a vehicle."""
LESSON = Lesson("super-clevr", VehicleWorld(complexity="hard"), SIZE, pictures=3_000, steps=1_000, reads=())
"""The detector's."""


def world_of(name: str) -> VehicleWorld:
    """The world of a variant: easy, mid, hard; bal, slt, long, head, tail, oppo, which are hard as in the paper's
    table; co-0, co-1, co-2, which are mid."""
    if name in COMPLEXITIES:
        return VehicleWorld(complexity=name)
    if name in DISTRIBUTIONS:
        return variant(VehicleWorld(complexity="hard"), name)
    if name in COMPOSITIONS:
        return variant(VehicleWorld(), pairs=name)
    known = ", ".join((*COMPLEXITIES, *DISTRIBUTIONS, *COMPOSITIONS))
    raise UserError(f"there is no variant '{name}' to see; choose one of {known}")


def part_words(world: VehicleWorld) -> PartWords:
    """What can be said of the recorded parts of vehicles."""
    slots = tuple(f"part_{number}" for number in range(1, world.parts.most + 1))
    return PartWords(world.fleet.part_names, tuple((look, world.vocabulary[look].values) for look in LOOKS), slots)


def attributes(world: VehicleWorld, **changed: object) -> AttributeLesson:
    """What an attribute network learns from the pictures of a world."""
    lesson = AttributeLesson("super-clevr", world, SIZE, READS, part_words(world))
    return replace(lesson, **changed)  # type: ignore[arg-type]


SEEN: Mapping[str, str] = {"bal": "hard", "co-0": "mid", "rd-": "mid", "rd": "mid", "rd+": "mid"}
"""Variants whose pictures are those of another."""
