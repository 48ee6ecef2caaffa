"""Seeing CLEVR: a parser for its pictures, and CURI's, which look the same; how it is trained, and what it sees.

It learns from 1 to 10 objects of which a little less is seen than CLEVR asks for: real images are larger than ours, so
their 200 pixels are fewer here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS
from recombine.benchmarks.clevr.relations import WAYS
from recombine.benchmarks.clevr.world import CLEVR_RADII, ClevrWorld
from recombine.solvers.training.settings import need_torch
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes, pack

need_torch()

from recombine.solvers.attribute_training import AttributeLesson  # noqa: E402
from recombine.solvers.parser_training import Lesson  # noqa: E402
from recombine.solvers.perception import Parser, Perceived, parser_in  # noqa: E402

FILE = Path(__file__).with_name("parser.safetensors")
LESSON = Lesson("clevr", ClevrWorld(low=1, min_pixels=80), (320, 240))
FINDING = replace(LESSON, seed=1, rate=1e-3, steps=1_000, along=240, reads=())
"""How it goes on with other pictures, from nearer, when it only has to find objects."""
CLOSER = AttributeLesson(
    LESSON.name, LESSON.world, LESSON.size, tuple(CLEVR_VOCABULARY.by_name), pictures=8_000, held=500, steps=2_400
)
"""How the closer look at what was found is learnt."""


def parser(file: Path = FILE) -> Parser:
    """The parser that stands in this folder, or one's own."""
    return parser_in(file)


def solids_parser(file: Path = FILE) -> Parser:
    """A parser that knows CLEVR's attributes and values."""
    return parser(file).need({a.name: a.values for a in CLEVR_VOCABULARY}, "CLEVR's objects", file)


@dataclass(frozen=True, eq=False)
class Sight:
    """What was seen in one picture."""

    perceived: Perceived
    size: tuple[int, int]
    """Width and height of the picture."""

    @property
    def scenes(self) -> Scenes:
        """The likeliest scene."""
        return likeliest(self.perceived)

    @property
    def related(self) -> Mapping[str, np.ndarray]:
        return related(self.scenes)

    def objects(self) -> list[dict[str, Any]]:
        """Every object in words and numbers: values, how sure each is, place, box in pixels."""
        seen = self.perceived
        return [
            {
                **words,
                **seen.whereabouts(0, i, self.size),
                "beliefs": {one.name: seen.chances(one, 0, i) for one in CLEVR_VOCABULARY},
            }
            for i, words in enumerate(self.scenes.objects(0))
        ]


def look(image: Path, file: Path = FILE) -> Sight:
    """What is seen in a picture of one's own, a PNG file."""
    found = solids_parser(file)
    seen, size = found.look(
        image, "object", "solids on a gray floor", "another parser, such as super-clevr for vehicles"
    )
    return Sight(in_order(found, seen), size)


def in_order(parser: Parser, seen: Perceived) -> Perceived:
    """The same with attributes' values in the order of CLEVR's vocabulary."""
    own = dict(parser.names)
    beliefs = {
        a.name: seen.beliefs[a.name][..., [own[a.name].index(value) for value in a.values]] for a in CLEVR_VOCABULARY
    }
    return Perceived(**{**vars(seen), "beliefs": beliefs})


def likeliest(seen: Perceived) -> Scenes:
    """The likeliest scenes."""
    return seen.scenes(CLEVR_VOCABULARY, dict(CLEVR_RADII))


def related(scenes: Scenes) -> Mapping[str, np.ndarray]:
    """Who is beyond whom, by places as they are seen: without the margin, which true places keep anyway."""
    across, along = (scenes.position[:, None, :, axis] - scenes.position[:, :, None, axis] for axis in (0, 1))
    present = places_taken(scenes.count, scenes.places)
    both = present[:, None, :] & present[:, :, None]
    return {way: pack((across * WAYS[way][0] + along * WAYS[way][1] > 0) & both) for way in DIRECTIONS}
