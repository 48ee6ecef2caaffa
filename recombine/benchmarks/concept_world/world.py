"""ConceptWorld as a world: images of points, as objects with a place and a colour."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.benchmarks.concept_world.definition import Library
from recombine.benchmarks.concept_world.extension import Extension
from recombine.render.grid import points_of, scenes
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Attribute, Vocabulary


@dataclass(frozen=True, eq=False)
class ConceptWorld:
    """Images of some concepts; in half of them one pixel has been changed, so that many satisfy nothing."""

    library: Library
    concepts: tuple[str, ...]
    high: int
    """The most points of an image."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary((Attribute("color", self.library.grid.colors),))

    @cached_property
    def _extensions(self) -> list[Extension]:
        return [Extension(self.library, name, otherwise=3) for name in self.concepts]

    def sample(self, n: int, key: Key) -> Scenes:
        grid = self.library.grid
        which = (key / "concept").rng().integers(0, len(self.concepts), n)
        images = np.zeros((n, grid.height, grid.width), np.uint8)
        for i, extension in enumerate(self._extensions):
            mine = np.flatnonzero(which == i)
            if len(mine):
                images[mine] = extension.images(extension.draw(len(mine), key / "draw" / i))
        changed = (key / "changed").rng().random(n) < 0.5
        images[changed] = mutated(images[changed], len(grid.colors), key / "mutation")
        return self._scenes(images)

    def _scenes(self, images: np.ndarray) -> Scenes:
        found = points_of(images)
        wide = self.high - found.x.shape[1]
        x, y = (np.pad(column, ((0, 0), (0, wide))) for column in (found.x, found.y))
        return scenes(x, y, np.pad(found.color, ((0, 0), (0, wide)), constant_values=255), self.library.grid.colors)

    def contains(self, scenes: Scenes) -> np.ndarray:
        """Images with at least one point, no two on a cell, all on the grid."""
        grid = self.library.grid
        there = scenes.codes["color"] != 255
        x, y = scenes.position[..., 0], scenes.position[..., 1]
        inside = (x >= 0) & (x < grid.width) & (y >= 0) & (y < grid.height) & (scenes.codes["color"] < len(grid.colors))
        cells = np.where(there, y * grid.width + x, -1 - np.arange(there.shape[1]))
        ordered = np.sort(cells, axis=1)
        alone = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        good: np.ndarray = (
            there.any(axis=1) & (inside | ~there).all(axis=1) & alone & (there.sum(axis=1) == scenes.count)
        )
        return good


def mutated(images: np.ndarray, colors: int, key: Key) -> np.ndarray:
    """The images with one pixel changed in each: a point recoloured, removed or added near the others."""
    rng, found = key.rng(), images.copy()
    for image in found:
        y, x = np.nonzero(image)
        top, left, bottom, right = y.min(), x.min(), y.max(), x.max()
        row = int(rng.integers(max(0, top - 1), min(image.shape[0], bottom + 2)))
        column = int(rng.integers(max(0, left - 1), min(image.shape[1], right + 2)))
        others = [code for code in range(colors + 1) if code != image[row, column]]
        if len(y) == 1 and image[row, column]:
            others.remove(0)
        if others:  # a lone point cannot be recoloured where there is one colour
            image[row, column] = rng.choice(others)
    return found
