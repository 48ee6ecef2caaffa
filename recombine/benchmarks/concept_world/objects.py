"""Images of experiments to work with in Python.

for image in concept_world.images("boxworld", "train"):
    image.label, image.pixels(), image.concept
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from recombine.benchmarks.concept_world.definition import Grid
from recombine.render.grid import paint
from recombine.render.scene import as_image
from recombine.tasks.collection import Collection

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False)
class LabelledImage:
    """An image of a class, and the concept that drew it."""

    label: str
    concept: str
    where: str
    derivation: str
    codes: np.ndarray  # uint8[height, width]
    grid: Grid

    def pixels(self) -> np.ndarray:
        """uint8[height, width, 3]."""
        return paint(self.codes[None], self.grid.colors)[0]

    def image(self) -> "Image":
        """For Pillow."""
        return as_image(self.pixels())

    def arrays(self) -> dict[str, Any]:
        return {"image": self.pixels(), "label": self.label}

    def __repr__(self) -> str:
        return f"LabelledImage({self.label}: {self.concept})"


class ImageSet(Collection[LabelledImage]):
    """The images of a part of an experiment; `table` has them as columns."""

    def __init__(self, table: pa.Table, images: np.ndarray, grid: Grid, called: str) -> None:
        self.table, self.codes, self.grid, self.called = table, images, grid, called

    def __len__(self) -> int:
        return len(self.table)

    def item(self, number: int) -> LabelledImage:
        names = ("label", "concept", "where", "derivation")
        row = self.table.select(names).slice(number, 1).to_pylist()[0]
        return LabelledImage(**row, codes=self.codes[number], grid=self.grid)

    def __repr__(self) -> str:
        return f"ImageSet({self.called}, {len(self):,} images)"
