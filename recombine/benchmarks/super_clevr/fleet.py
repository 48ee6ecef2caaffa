"""The fleet: which vehicles there are, and in which categories.

>>> fleet = Fleet()
>>> len(fleet.shapes), fleet.category["sedan"], len(fleet.part_names)
(21, 'car', 68)
>>> Fleet.of("car").shapes
('suv', 'wagon', 'minivan', 'sedan', 'truck')
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY
from recombine.benchmarks.super_clevr.names import spoken, super_name
from recombine.benchmarks.super_clevr.vehicles import MEASURED, VEHICLES, vehicle
from recombine.render.mesh_library import measures
from recombine.render.model_files import Models, read_models
from recombine.render.models import Model
from recombine.store.errors import UserError

MOST_NAMES = 110
"""Vehicles, and names of parts: all answers to questions fit into a byte."""


@dataclass(frozen=True)
class Fleet:
    """Vehicles by category: ours, unless there is a folder of models."""

    categories: tuple[tuple[str, tuple[str, ...]], ...] = tuple(VEHICLES.items())
    folder: str = ""
    """Of models of one's own; empty for ours."""
    digest: str = ""
    """Of what is in the folder."""

    @classmethod
    def of(cls, *names: str) -> "Fleet":
        """Some of our vehicles, by their own names or those of categories."""
        known = {*VEHICLES, *MEASURED}
        if unknown := [name for name in names if name not in known]:
            raise UserError(f"there is no vehicle '{unknown[0]}'; choose from {', '.join(MEASURED)}")
        some = {category: tuple(s for s in shapes if {s, category} & {*names}) for category, shapes in VEHICLES.items()}
        return cls(tuple((category, shapes) for category, shapes in some.items() if shapes))

    @classmethod
    def in_folder(cls, folder: Path | str) -> "Fleet":
        """Vehicles of one's own: every file of a folder is one, its named groups are the parts.

        A folder within the folder is a category; see `recombine.render.model_files`.
        """
        found = read_models(folder)
        _READ[found.digest] = found.models
        _check_words(Path(folder), found)
        return cls(tuple(found.categories.items()), str(Path(folder).absolute()), found.digest)

    def __post_init__(self) -> None:
        if not self.shapes:
            raise UserError("a fleet has at least one vehicle")
        if twice := [shape for shape in self.shapes if self.shapes.count(shape) > 1 or shape in dict(self.categories)]:
            raise UserError(f"'{twice[0]}' is the name of two vehicles, or of a vehicle and its category")
        if not self.folder and (unknown := [shape for shape in self.shapes if shape not in MEASURED]):
            raise UserError(f"there is no vehicle '{unknown[0]}'; choose from {', '.join(MEASURED)}")

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """The names of all vehicles."""
        return tuple(shape for _, shapes in self.categories for shape in shapes)

    @cached_property
    def category(self) -> dict[str, str]:
        return {shape: category for category, shapes in self.categories for shape in shapes}

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The model of every vehicle, in the order of their names."""
        return _models(self)

    @cached_property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The parts of every vehicle in words, in the order of its model."""
        if not self.folder:
            return {shape: tuple(map(spoken, MEASURED[shape].parts)) for shape in self.shapes}
        return {model.name: tuple(map(spoken, model.parts)) for model in self.models}

    @cached_property
    def raw_parts(self) -> dict[str, tuple[str, ...]]:
        """The parts of every vehicle as files call them."""
        if not self.folder:
            return {shape: MEASURED[shape].parts for shape in self.shapes}
        return {model.name: model.parts for model in self.models}

    @cached_property
    def part_names(self) -> tuple[str, ...]:
        """The names of all parts in words; those that say no side come last."""
        names = dict.fromkeys(part for parts in self.parts.values() for part in parts)
        return tuple(sorted(names, key=lambda name: super_name(name) == name))

    @cached_property
    def part_codes(self) -> np.ndarray:
        """The place of every part of every vehicle among all names, -1 where there is none: int64[shapes, parts]."""
        place = {name: code for code, name in enumerate(self.part_names)}
        found = np.full((len(self.shapes), max(map(len, self.parts.values()))), -1)
        for row, shape in enumerate(self.shapes):
            found[row, : len(self.parts[shape])] = [place[name] for name in self.parts[shape]]
        return found

    @cached_property
    def part_places(self) -> np.ndarray:
        """Which part of its model a name means, -1 for none: int64[shapes, names]."""
        found = np.full((len(self.shapes), len(self.part_names)), -1)
        for row, codes in enumerate(self.part_codes):
            there = np.flatnonzero(codes >= 0)
            found[row, codes[there]] = there
        return found

    @cached_property
    def plans(self) -> np.ndarray:
        """Half the length and half the width of every vehicle of size one, float64[shapes, 2]."""
        known = measures(self.models)
        return 0.5 * (known.high - known.low)[:, :2]

    @cached_property
    def heights(self) -> np.ndarray:
        """How high the origin of every vehicle of size one stands above the ground, float64[shapes]."""
        return -measures(self.models).low[:, 2]

    def anywhere(self) -> "Fleet":
        """The same fleet without the folder: what is in it decides, not where it is."""
        if not self.folder:
            return self
        return Fleet(self.categories, "elsewhere", self.digest)


def _check_words(folder: Path, found: Models) -> None:
    """Refuse names that questions could not tell from other words."""
    taken = {word for attribute in CLEVR_VOCABULARY for word in attribute.values if attribute.name != "shape"}
    taken |= {"thing", "object", "part", "none", "big", "tiny", "shiny", "matte", "metallic"}
    parts = {spoken(part) for model in found.models.values() for part in model.parts}
    parts |= {super_name(part) for part in parts}
    vehicles = {*found.models, *found.categories}
    for name, model in found.models.items():
        said = [spoken(part) for part in model.parts]
        if twice := [part for part in said if said.count(part) > 1]:
            raise UserError(f"{folder}: '{name}' has two parts that are called '{twice[0]}'; rename one")
    if max(len(found.models), len(parts)) > MOST_NAMES:
        raise UserError(
            f"{folder} has {len(found.models)} vehicles and {len(parts)} names of parts, but questions know "
            f"{MOST_NAMES} of each"
        )
    if clash := sorted(((vehicles | parts) & taken) | (vehicles & parts)):
        raise UserError(
            f"{folder}: the name '{clash[0]}' of a vehicle or a part says something else already; rename it"
        )


_READ: dict[str, Mapping[str, Model]] = {}
"""Models of folders that have been read, by digest: the same wherever the folder is."""


def _models(fleet: Fleet) -> tuple[Model, ...]:
    if not fleet.folder:
        return tuple(map(vehicle, fleet.shapes))
    if fleet.digest not in _READ:
        found = read_models(fleet.folder)
        if found.digest != fleet.digest:
            raise UserError(f"{fleet.folder} does not hold the vehicles any more that these scenes were made of")
        _READ[fleet.digest] = found.models
    return tuple(_READ[fleet.digest][shape] for shape in fleet.shapes)
