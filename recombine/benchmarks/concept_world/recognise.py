"""Recognition: whether an image satisfies a concept, with the object that proves it or the condition that fails."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.benchmarks.concept_world.definition import Library, Object, Point
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.match import first_way
from recombine.benchmarks.concept_world.partial_object import TooMany
from recombine.benchmarks.concept_world.plan import Structure
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.benchmarks.concept_world.search import Failure, Proof, Prover

MOST, STEPS = 200, 1_000
"""Plans of one size that images are matched with, and options that are tried to find them; where there are more, each
image is searched by itself."""


@dataclass(frozen=True, eq=False)
class Recogniser:
    """Recognises images of the concepts of a library; fast for many images of few concepts."""

    library: Library

    @cached_property
    def _extensions(self) -> dict[tuple[str, int], Extension]:
        return {}

    def extension(self, name: str, points: int) -> Extension:
        """All images of a concept with so many points, whatever their depth."""
        if (name, points) not in self._extensions:
            self._extensions[name, points] = Extension(
                self.library, name, otherwise=points + 2, points=points, most=MOST, steps=STEPS
            )
        return self._extensions[name, points]

    def holds(self, name: str, images: np.ndarray) -> np.ndarray:
        """Which images (colour codes, uint8[n, height, width]) satisfy the concept, bool[n]."""
        found = np.zeros(len(images), bool)
        sizes = (images != 0).reshape(len(images), -1).sum(axis=1)
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            complete = False
            if self._planned(name, int(size)):
                extension = self.extension(name, int(size))
                found[chosen], complete = extension.ways(images[chosen], 1) > 0, not extension.cut
            for i in [] if complete else chosen[~found[chosen]]:
                found[i] = isinstance(self._prover.prove(name, images[i]), Proof)
        return found

    @cached_property
    def _few(self) -> dict[tuple[str, int], bool]:
        return {}

    def _planned(self, name: str, points: int) -> bool:
        """Whether the concept has few enough plans of this size to be matched."""
        if (name, points) not in self._few:
            try:
                self._few[name, points] = not self.extension(name, points).too_many
            except TooMany:
                self._few[name, points] = False
        return self._few[name, points]

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self.library)

    def recognise(self, name: str, image: np.ndarray) -> Proof | Failure:
        """The object that proves that one image satisfies the concept, or what fails."""
        size = int((image != 0).sum())
        if self._planned(name, size):
            extension = self.extension(name, size)
            for plan, pattern in zip(extension.plans, extension.patterns):
                way = first_way(pattern, image)
                if way is not None:
                    thing = self._object(plan.structure, way)
                    assert self._satisfies(name, thing), f"{name} was matched to {thing}, which does not satisfy it"
                    return Proof(thing, plan.derivation)
        return self._prover.prove(name, image)

    def _object(self, structure: Structure, way: np.ndarray) -> Object:
        if isinstance(structure, tuple):
            return tuple(self._object(part, way) for part in structure)
        x, y, color = map(int, way[structure])
        return Point(x, y, self.library.grid.colors[color])

    def _satisfies(self, name: str, thing: Object) -> bool:
        one = len(self.library.definitions[name].parameters) == 1
        return Plainly(self.library).holds(name, *((thing,) if one else thing))
