"""Datasets: folders of scenes that say how to draw them.

    recipe.json                      the words of the scenes, how many there are, the size of pictures, the world
    scenes/[part/]scenes-00000.parquet   objects, places, the jitter of camera and lamps
    images/[part/]images-00000.parquet   if rendered; or sounds/..., or webdataset/[part/]scenes-00000.tar

`recipe.json` and `scenes` are all that it takes to draw every picture again, in any size.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from recombine import __version__
from recombine.render.dataset import Source
from recombine.render.encodings import Images, Look
from recombine.store.errors import UserError
from recombine.store.paths import plain_name
from recombine.store.recipe import Recipe
from recombine.store.store import RECIPE, recipe_of, write_atomically
from recombine.store.untrusted import read_json
from recombine.world.scenes import ABSENT
from recombine.world.shards import shard_name
from recombine.world.vocabulary import Attribute, Vocabulary

STAGE = "dataset"
VERSION = 1
HINT = "give a folder that recombine make has written with --out"


@dataclass(frozen=True)
class Dataset:
    """What it takes to read and to draw scenes in files."""

    benchmark: str
    vocabulary: Vocabulary
    places: int
    """The most objects that a scene may hold."""
    parts: tuple[tuple[str, int], ...]
    """The scenes of each part; a dataset without parts has one without a name."""
    per_file: int
    width: int
    height: int
    first_bin: int | None
    """The number of the first column and row of the grid that is heard; None for scenes without sound."""

    def source(self, part: str, folder: Path) -> Source:
        """The scenes of a part, which are in this folder."""
        return Source(str(folder), self.vocabulary, self.places, dict(self.parts)[part], self.per_file)

    def images(self, width: int, height: int, photo: bool) -> Images:
        """How its scenes are drawn."""
        return Images(Look(width, height, photo))


def write_dataset(
    folder: Path,
    dataset: Dataset | None,
    world: object,
    rendered: Mapping[str, Recipe],
    made: Mapping[str, Any],
) -> None:
    """Have a folder say what is in it; `made` is what decided it."""
    pictures = {name: recipe.parameters for name, recipe in rendered.items()}
    parameters = {"dataset": dataset, "world": world, "rendered": pictures, "made": made, "recombine": __version__}
    text = json.dumps(json.loads(Recipe(STAGE, VERSION, parameters, {}).canonical()), indent=1) + "\n"
    write_atomically(folder / RECIPE, lambda part: part.write_text(text, encoding="utf-8"))


def read_dataset(folder: Path) -> tuple[Dataset, Any]:
    """What a folder says of itself, and its world in words."""
    if not folder.is_dir():
        raise UserError(f"there is no dataset {folder}; {HINT}")
    file, advice = folder / RECIPE, "make the dataset again, or copy it again"
    if not file.exists():
        raise UserError(f"{folder} has no {RECIPE}, so it is no dataset; {HINT}")
    recipe = recipe_of(read_json(file, advice=advice), file, advice)
    if recipe.stage != STAGE:
        raise UserError(f"{file} describes {recipe.stage}, not a dataset; {HINT}")
    if recipe.version > VERSION:
        raise UserError(f"{folder} was made by a newer version of recombine; upgrade to draw it")
    if recipe.parameters.get("dataset", 0) is None:
        raise UserError(f"the scenes of {folder} are not drawn; {HINT}")
    try:
        dataset = _dataset(recipe.parameters["dataset"])
    except (UserError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{file} is damaged ({error}); {advice}") from error
    _check_files(folder, dataset)
    return dataset, recipe.parameters.get("world")


def _dataset(plain: Mapping[str, Any]) -> Dataset:
    words = plain["vocabulary"]["attributes"]
    attributes = tuple(Attribute(str(a["name"]), tuple(map(str, a["values"])), bool(a["ordered"])) for a in words)
    numbers = {name: int(plain[name]) for name in ("places", "per_file", "width", "height")}
    parts = tuple((plain_name(part) if part else "", int(scenes)) for part, scenes in plain["parts"])
    if min(*numbers.values(), *(scenes for _, scenes in parts)) < 1:
        raise ValueError("a number is not positive")
    if len({normalize("NFC", part).casefold() for part, _ in parts}) < len(parts):  # one folder, on some disks
        raise ValueError("two parts have the same name")
    if not all(0 < len(attribute.values) < ABSENT for attribute in attributes):
        raise ValueError("an attribute has no values, or too many")
    first_bin = None if plain["first_bin"] is None else int(plain["first_bin"])
    return Dataset(str(plain["benchmark"]), Vocabulary(attributes), parts=parts, first_bin=first_bin, **numbers)


def _check_files(folder: Path, dataset: Dataset) -> None:
    for part, scenes in dataset.parts:
        for number in range(-(-scenes // dataset.per_file)):
            file = folder / "scenes" / part / shard_name("scenes", number)
            if not file.exists():
                raise UserError(f"{file} is missing; make the dataset again, or copy all of it")
