"""ConceptWorld's images as examples, and the eye that sees them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.render.grid import grid_codes, grid_images, paint, scenes
from recombine.render.png import png
from recombine.tasks.examples import Examples
from recombine.world.scenes import ABSENT, Scenes


def examples(study: ConceptWorldPipeline, experiment: str, part: str) -> Examples:
    """The images of a part of an experiment as examples: what is seen is the scene, all else is hidden."""
    table = study.samples(experiment, part)
    classes, names = study.experiment(experiment).classes, table["concept"].to_pylist()
    concepts = tuple(dict.fromkeys(names))
    everything = np.arange(len(table))
    return Examples(
        _scenes(table, study.library.grid.colors),
        tuple(study.library.definitions[name].body for name in concepts),
        classes,
        everything,
        np.array([concepts.index(name) for name in names]),
        np.array([classes.index(label) for label in table["label"].to_pylist()]),
        everything,
        np.zeros(len(table), bool),
    )


def _scenes(table: pa.Table, colors: tuple[str, ...]) -> Scenes:
    """The points of images as objects, in rows from the top: the order of drawing would tell of the concept."""
    x, y, color = _padded(table["x"], 0), _padded(table["y"], 0), _padded(table["color"], ABSENT)
    order = np.lexsort((x, y, color == ABSENT), axis=1)
    x, y, color = (np.take_along_axis(column, order, axis=1) for column in (x, y, color))
    return scenes(x, y, color, colors)


def _padded(column: pa.ChunkedArray, blank: int) -> np.ndarray:
    """Lists of different lengths as one array, int[n, longest]."""
    rows = column.to_pylist()
    padded = np.full((len(rows), max(map(len, rows), default=0)), blank)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


@dataclass(frozen=True)
class Eye:
    """Draws scenes of points on the study's grid."""

    width: int
    height: int

    def __call__(self, scenes: Scenes) -> np.ndarray:
        return grid_images(scenes, self.width, self.height)


@dataclass(frozen=True)
class Painted:
    """The images of scenes of points, as PNG."""

    width: int
    height: int
    colors: tuple[str, ...]

    kind: ClassVar[str] = "images"
    suffix: ClassVar[str] = ".png"
    mime: ClassVar[str] = "image/png"

    def files(self, scenes: Scenes) -> list[bytes]:
        return [png(one) for one in paint(grid_codes(scenes, self.width, self.height), self.colors)]
