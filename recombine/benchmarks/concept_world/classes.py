"""Classes: which class of an experiment an image is of.

A class is the union of the concepts that its lines name, at any depth. This is what the strong learner knows; it is
also what keeps the classes of an experiment apart.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.benchmarks.concept_world.definition import Experiment, Library, Line
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.match import found_within
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.where import limits, read_where


def extension_of(library: Library, line: Line) -> Extension:
    """The images that a line of an experiment asks for."""
    bounds = limits(line.where)
    return Extension(library, line.concept, read_where(line.where, library.definitions), bounds, _deepest(bounds))


def _deepest(bounds: dict[str, int]) -> int:
    """How deep definitions may nest that the line does not speak of: a little deeper than those it does."""
    return max([*bounds.values(), 3]) + 2


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of an experiment."""

    library: Library
    experiment: Experiment

    @cached_property
    def concepts(self) -> dict[str, tuple[str, ...]]:
        """The concepts of each class."""
        found: dict[str, dict[str, None]] = {label: {} for label in self.experiment.classes}
        for line in (*self.experiment.train, *(line for test in self.experiment.tests.values() for line in test)):
            found[line.label][line.concept] = None
        return {label: tuple(names) for label, names in found.items()}

    @cached_property
    def recogniser(self) -> Recogniser:
        return Recogniser(self.library)

    def of(self, images: np.ndarray) -> np.ndarray:
        """Which classes each image is of, bool[n, classes]."""
        found = np.zeros((len(images), len(self.concepts)), bool)
        for i, names in enumerate(self.concepts.values()):
            for name in names:
                found[:, i] |= self.recogniser.holds(name, images)
        return found

    @cached_property
    def _trained(self) -> list[tuple[int, int, Extension]]:
        """Class and number of every training line, with its images."""
        numbers = {label: i for i, label in enumerate(self.concepts)}
        return [
            (numbers[line.label], i, extension_of(self.library, line)) for i, line in enumerate(self.experiment.train)
        ]

    @property
    def trained_lines(self) -> list[tuple[int, Extension]]:
        """The class of every training line, with its images."""
        return [(label, extension) for label, _, extension in self._trained]

    def trained(self, images: np.ndarray) -> np.ndarray:
        """Which classes each image is of as far as the training lines go, bool[n, classes]."""
        found = np.zeros((len(images), len(self.concepts)), bool)
        for label, _, extension in self._trained:
            found[:, label] |= extension.ways(images) > 0
        return found

    def covered(self, images: np.ndarray) -> np.ndarray:
        """The most points of each image that one trained object of each class covers, int[n, classes]."""
        found = np.zeros((len(images), len(self.concepts)), np.int64)
        for label, _, extension in self._trained:
            for pattern in sorted(extension.patterns, key=lambda pattern: -len(pattern.order)):
                open_ = np.flatnonzero(found[:, label] < len(pattern.order))
                if len(open_):
                    found[open_[found_within(pattern, images[open_])], label] = len(pattern.order)
        return found
