"""One scene to work with in Python: its objects, in words, as pixels, as sound."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine.render.schematic import phrases
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

    from recombine.render.raytrace import Pictures


@dataclass(frozen=True, eq=False)
class Scene:
    """One scene of a batch; `number` is what the files call it."""

    batch: Scenes
    place: int
    number: int
    size: tuple[int, int]
    """Width and height of its picture, unless others are asked for."""
    first_bin: int | None = None
    """The number of the first column and row of the grid that is heard; None where scenes have no sound."""
    draw: "Callable[..., Pictures] | None" = None
    """Draws batches of such scenes; None for the ray tracer."""

    @property
    def objects(self) -> list[dict[str, str]]:
        """The attributes of every object."""
        return self.batch.objects(self.place)

    @property
    def words(self) -> tuple[str, ...]:
        """A phrase for every object."""
        return phrases(self.objects)

    @property
    def positions(self) -> np.ndarray:
        """Where the objects are, float32[objects, 3]."""
        return self.batch.position[self.place, : int(self.batch.count[self.place])]

    @property
    def alone(self) -> Scenes:
        """As a batch of one."""
        return self.batch[self.place : self.place + 1]

    def pixels(self, width: int | None = None, height: int | None = None) -> np.ndarray:
        """The picture, uint8[height, width, 3]."""
        draw = self.draw
        if draw is None:
            from recombine.render.raytrace import raytrace

            draw = raytrace
        rgb = draw(self.alone, width or self.size[0], height or self.size[1], ("rgb",)).rgb
        assert rgb is not None
        return rgb[0]

    def image(self, width: int | None = None, height: int | None = None) -> "Image":
        """The picture for Pillow."""
        return as_image(self.pixels(width, height))

    def sound(self) -> np.ndarray:
        """What it sounds like, float32[samples] between -1 and 1, at 44,100 Hz."""
        if self.first_bin is None:
            raise UserError("these scenes have no sound, those of curi have")
        from recombine.render.sound import Voicing, check_scenes, sounds

        check_scenes(self.alone, Voicing(self.first_bin))
        return sounds(self.alone, Voicing(self.first_bin))[0]

    def __repr__(self) -> str:
        return f"Scene({self.number}: {'; '.join(self.words)})"

    def _repr_png_(self) -> bytes:
        from recombine.render.png import png

        return png(self.pixels())


def as_image(pixels: np.ndarray) -> "Image":
    """Pixels for Pillow."""
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError("PIL images need Pillow: pip install pillow; `pixels()` gives an array without it") from error
    return Image.fromarray(pixels)
