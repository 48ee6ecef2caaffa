"""Views of scenes: what a network that answers questions is shown.

    objects     the exact attributes and coordinates of every object, with noise if wanted
    detections  what a scene parser believes of every object it found: the same form, with probabilities for one-hots
    features    a feature map that was computed before with any network: an array H x W x C for every image number
    pixels      pictures, behind a small convolutional network that is trained along
    regions     pictures with the boxes of their objects, which are given

Every view gives cells (`recombine.solvers.networks.cells`); one network serves all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from recombine.solvers.networks.cells import PIXEL_WIDTHS, Cells, CellShape, grid_places
from recombine.store.arrays import map_array
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes

FARTHEST = 3.0
"""The largest coordinate of an object on CLEVR's ground; coordinates are told as parts of it."""


class View(Protocol):
    """The scenes of some images, ready for a network."""

    @property
    def shape(self) -> CellShape: ...

    def cells(self, images: np.ndarray) -> np.ndarray:
        """How many cells each of some images has, int[n]: images of one number need no mask."""
        ...

    def __call__(self, images: np.ndarray) -> Cells: ...


@dataclass(frozen=True, eq=False)
class CellSets:
    """Sets of cells that are known beforehand: objects or detections."""

    features: np.ndarray  # float32[n, k, d]
    place: np.ndarray  # float32[n, k, p]
    count: np.ndarray  # uint8[n]

    @property
    def shape(self) -> CellShape:
        return CellShape(self.features.shape[2], self.place.shape[2])

    def cells(self, images: np.ndarray) -> np.ndarray:
        _check(images, len(self.count), "the view")
        return self.count[images].astype(np.int64)

    def __call__(self, images: np.ndarray) -> Cells:
        count = self.cells(images)
        most = int(count.max(initial=1))
        features, place = (torch.from_numpy(column[images, :most]) for column in (self.features, self.place))
        if (count == most).all():
            return Cells(features, place)
        return Cells(features, place, torch.from_numpy(np.arange(most) < count[:, None]))


def objects(scenes: Scenes, slots: bool = True, names: Sequence[str] | None = None) -> CellSets:
    """The objects of scenes, attributes one-hot: all of them, or these.

    With `slots` a cell also has the number of its object, one-hot, as a position of a grid has a place of its own:
    a network that takes the largest values of all cells can then tell two objects that look the same apart.
    """
    values = {
        a.name: _one_hot(scenes.codes[a.name], len(a.values))
        for a in scenes.vocabulary
        if names is None or a.name in names
    }
    return detections(values, scenes.position[..., :2], scenes.count, slots)


def noisy(view: CellSets, deviation: float, key: Key) -> CellSets:
    """The same with noise on every number of the cells that are there, always the same for an image."""
    there = (np.arange(view.features.shape[1]) < view.count[:, None])[..., None]
    features, place = (
        column + there * (key / name).rng().normal(0, deviation, column.shape).astype(np.float32)
        for name, column in (("features", view.features), ("place", view.place))
    )
    return CellSets(features, place, view.count)


def detections(
    values: Mapping[str, np.ndarray], position: np.ndarray, count: np.ndarray, slots: bool = True
) -> CellSets:
    """Objects as someone believes them to be: for each attribute float[n, k, values], and coordinates [n, k, 2]."""
    n, places = position.shape[:2]
    there = (np.arange(places) < count[:, None])[..., None]
    parts = [*values.values()] + ([np.broadcast_to(np.eye(places), (n, places, places))] if slots else [])
    features = np.concatenate([part.astype(np.float32) for part in parts], axis=-1) * there
    return CellSets(features, position.astype(np.float32) / np.float32(FARTHEST) * there, count)


def _one_hot(codes: np.ndarray, size: int) -> np.ndarray:
    return codes[..., None] == np.arange(size, dtype=np.uint8)


class FeatureMaps:
    """Feature maps by image number, float[images, h, w, c] in a NumPy file that is mapped into memory."""

    def __init__(self, file: Path) -> None:
        self.file = file
        if not file.is_file():
            raise UserError(
                f"there are no features in {file}; write an array of shape images x height x width x channels there "
                "with numpy.save"
            )
        try:
            self.maps = map_array(file, "r")
        except UserError as error:
            raise UserError(f"{file} is no array that NumPy can map; write it with numpy.save") from error
        if self.maps.ndim != 4 or self.maps.dtype.kind != "f":
            raise UserError(
                f"{file} has the shape {self.maps.shape} of {self.maps.dtype}; features are numbers with a point in "
                "an array of images x height x width x channels"
            )

    @property
    def shape(self) -> CellShape:
        _, height, width, channels = self.maps.shape
        return CellShape(channels, sides=(height, width))

    def cells(self, images: np.ndarray) -> np.ndarray:
        _check(images, len(self.maps), str(self.file))
        return np.full(len(images), self.maps.shape[1] * self.maps.shape[2])

    def __call__(self, images: np.ndarray) -> Cells:
        _check(images, len(self.maps), str(self.file))
        maps = torch.from_numpy(np.asarray(self.maps[images], np.float32)).flatten(1, 2)
        sides = self.shape.sides
        assert sides is not None
        return Cells(maps, grid_places(sides).expand(len(maps), -1, -1))


class Pixels:
    """Pictures of scenes, drawn when they are first asked for."""

    def __init__(self, scenes: Scenes, size: tuple[int, int]) -> None:
        """`size`: width and height."""
        from recombine.solvers.modalities import Modality

        self.size, self.scenes, self.sight = size, len(scenes), Modality("image", size).open(scenes)

    @property
    def shape(self) -> CellShape:
        width, height = self.size
        return CellShape(3, sides=(height, width), pixels=True)

    def cells(self, images: np.ndarray) -> np.ndarray:
        _check(images, self.scenes, "the view")
        height, width = self.shape.grid or (1, 1)
        return np.full(len(images), height * width)

    def __call__(self, images: np.ndarray) -> Cells:
        _check(images, self.scenes, "the view")
        seen = self.sight(images)
        assert isinstance(seen, torch.Tensor)
        return Cells(seen, seen.new_zeros(len(seen), 0, 2))


class Pictures(Protocol):
    """Pictures that were drawn before."""

    @property
    def boxes(self) -> np.ndarray:
        """float32[n, k, 4]: left, top, right, bottom from 0 to 1"""
        ...

    @property
    def count(self) -> np.ndarray:
        """uint8[n]"""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: np.ndarray) -> np.ndarray:
        """uint8[rows, height, width, 3]"""
        ...


class DrawnPixels:
    """Pictures that were drawn before; questions about one picture share it."""

    def __init__(self, pictures: Pictures, size: tuple[int, int], widths: tuple[int, ...] = PIXEL_WIDTHS) -> None:
        """`size`: width and height; `widths`: the channels of the convolutions that look at them."""
        self.pictures, self.size, self.widths = pictures, size, widths

    @property
    def shape(self) -> CellShape:
        width, height = self.size
        return CellShape(3, sides=(height, width), pixels=True, widths=self.widths)

    def cells(self, images: np.ndarray) -> np.ndarray:
        _check(images, len(self.pictures), "the view")
        height, width = self.shape.grid or (1, 1)
        return np.full(len(images), height * width)

    def __call__(self, images: np.ndarray) -> Cells:
        _check(images, len(self.pictures), "the view")
        different, which = np.unique(images, return_inverse=True)
        seen = as_picture(self.pictures.take(different))
        return Cells(seen, seen.new_zeros(len(seen), 0, 2), None, torch.from_numpy(which.astype(np.int64)))


def as_picture(pixels: np.ndarray) -> torch.Tensor:
    """uint8[n, h, w, 3] -> float[n, 3, h, w] from 0 to 1."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255


class Regions(DrawnPixels):
    """Pictures with the boxes of their objects: the cells are the boxes, each left, top, right, bottom from 0 to 1."""

    @property
    def shape(self) -> CellShape:
        width, height = self.size
        return CellShape(3, 4, (height, width), pixels=True, widths=self.widths)

    def cells(self, images: np.ndarray) -> np.ndarray:
        _check(images, len(self.pictures), "the view")
        return self.pictures.count[images].astype(np.int64)

    def __call__(self, images: np.ndarray) -> Cells:
        seen = super().__call__(images)
        different = np.unique(images)
        count = self.pictures.count[different]
        most = int(count.max(initial=1))
        boxes = torch.from_numpy(self.pictures.boxes[different, :most])
        return seen._replace(place=boxes, there=torch.from_numpy(np.arange(most) < count[:, None]))


def _check(images: np.ndarray, known: int, where: str) -> None:
    if len(images) and not 0 <= int(images.min()) <= int(images.max()) < known:
        missing = int(images.max() if images.max() >= known else images.min())
        raise UserError(f"a question asks about image {missing}, but {where} has only the images 0 to {known - 1}")


def must_fit(view: View, shape: CellShape, where: str) -> None:
    """Refuse a view that a network was not made for."""
    if view.shape != shape:
        raise UserError(
            f"{where} shows {_said(view.shape)}, but the network was made for {_said(shape)}; give it the view that it "
            "was trained on"
        )


def _said(shape: CellShape) -> str:
    if shape.pixels and shape.sides:
        return f"pictures of {shape.sides[1]}x{shape.sides[0]} pixels"
    if shape.sides:
        return f"feature maps of {shape.sides[0]}x{shape.sides[1]}x{shape.features}"
    return f"sets of cells with {shape.features} features"
