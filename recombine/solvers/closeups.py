"""Close-ups: squares cut out around the objects of pictures, and sets of them to learn from.

A square has its middle at that of the object's box and holds the longer side of the box with some ground around it.
Large objects are cut out of the picture at half of its size, so that no pixel is skipped. The boxes of those that are
learnt from are a little off, as a detector's are.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import avg_pool2d, grid_sample

from recombine.solvers.networks.attribute_net import SIDE
from recombine.solvers.scene_labels import labels_of, pictures_of
from recombine.store.arrays import map_array, write_array
from recombine.store.engine import Engine, shard_bounds
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from recombine.world.distribution import World, places_taken

AROUND = 1.15
"""The side of a square, in longer sides of its box."""
MARGIN = 4
"""Pixels around a square that are kept, so that it can be moved when it is learnt from."""
KEPT = SIDE + 2 * MARGIN
SMALLEST = 1e-3
"""The side of a box, in widths of the picture, below which it is taken for so much."""
COARSE = 1.5
"""Pixels of a picture for one of the square, from which on the picture is halved first."""
SHARD = 250
"""Pictures whose objects share a file."""
OFF = 0.04
"""The standard deviation of every side of a box that is learnt from, in longer sides of the box."""
VERSION = 2


def cut_out(pictures: np.ndarray, picture: np.ndarray, box: np.ndarray, kept: int = SIDE) -> np.ndarray:
    """Squares around boxes[m, 4] of some pictures uint8[n, height, width, 3]: uint8[m, kept, kept, 3].

    Boxes are in widths of the picture and counted from its middle; `kept` pixels may be more than are looked at.
    """
    found = np.zeros((len(picture), kept, kept, 3), np.uint8)
    height, width = pictures.shape[1:3]
    lengths = (torch.arange(kept) + 0.5 - kept / 2) / SIDE
    for number in np.unique(picture):
        mine = np.flatnonzero(picture == number)
        some = torch.from_numpy(np.ascontiguousarray(box[mine])).float()
        middle = (some[:, :2] + some[:, 2:]) / 2
        side = AROUND * (some[:, 2:] - some[:, :2]).amax(dim=1).clamp(min=SMALLEST)
        at = lengths * side[:, None]
        x = (middle[:, 0, None] + at) * 2  # from -1 to 1 across
        y = (middle[:, 1, None] + at) * (2 * width / height)
        grid = torch.stack([x[:, None, :].expand(-1, kept, -1), y[:, :, None].expand(-1, -1, kept)], dim=-1)
        plane = torch.from_numpy(np.ascontiguousarray(np.moveaxis(pictures[number], -1, 0))).float()[None]
        coarse = (side * width / SIDE > COARSE).numpy()
        for which, level in ((~coarse, plane), (coarse, avg_pool2d(plane, 2))):
            if which.any():
                flat = grid[torch.from_numpy(which)].reshape(1, -1, kept, 2)
                seen = grid_sample(level, flat, mode="bilinear", padding_mode="border", align_corners=False)[0]
                squares = seen.reshape(3, -1, kept, kept).permute(1, 2, 3, 0)
                found[mine[which]] = squares.round().clamp(0, 255).byte().numpy()
    return found


def beside(box: np.ndarray, key: Key) -> np.ndarray:
    """Boxes[m, 4] whose sides are a little off."""
    longer = (box[:, 2:] - box[:, :2]).max(axis=1, keepdims=True)
    return (box + OFF * longer * key.rng().standard_normal(box.shape)).astype(np.float32)


def places(box: np.ndarray) -> np.ndarray:
    """Where boxes[..., 4] are: their middle, width and height, float32[..., 4]."""
    corner, far = box[..., :2], box[..., 2:]
    return np.concatenate([(corner + far) / 2, far - corner], axis=-1).astype(np.float32)


class Closeups(NamedTuple):
    """Squares and what they show."""

    pixels: np.ndarray  # uint8[m, KEPT, KEPT, 3]
    place: np.ndarray  # float32[m, 4]
    codes: np.ndarray  # uint8[m, attributes], as the vocabulary of the world says


@dataclass(frozen=True)
class CutOut:
    """Writes the close-ups of some pictures."""

    folder: str
    world: Any
    pictures: int
    size: tuple[int, int]
    key: Key

    def __call__(self, shard: int) -> None:
        files = {name: Path(self.folder) / f"{name}-{shard:05}.npy" for name in Closeups._fields}
        if all(file.exists() for file in files.values()):
            return
        low, high = shard_bounds(self.pictures, SHARD)[shard]
        scenes = self.world.sample(high - low, self.key / shard)
        pixels, objects = pictures_of(self.world, scenes, self.size)
        labels = labels_of(scenes, objects)
        picture, thing = np.nonzero(places_taken(labels.count, labels.box.shape[1]))
        box = beside(labels.box[picture, thing], self.key / shard / "boxes")
        columns = Closeups(cut_out(pixels, picture, box, KEPT), places(box), labels.codes[picture, thing])
        for name, column in columns._asdict().items():
            write_array(files[name], column)


def closeups(
    world: World, pictures: int, size: tuple[int, int], key: Key, store: Store, engine: Engine, what: str
) -> Closeups:
    """The close-ups of all objects of so many pictures of a world, made once and kept."""
    parameters = {"world": world, "pictures": pictures, "size": size, "key": key, "shard": SHARD}
    recipe = Recipe("closeups", VERSION, parameters, {})
    shards = range(-(-pictures // SHARD))

    def make(draft: Path) -> None:
        engine.map(CutOut(str(draft), world, pictures, size, key), shards, what)

    folder = store.get(recipe, make)
    columns = {
        name: np.concatenate([map_array(folder / f"{name}-{shard:05}.npy", "r") for shard in shards])
        for name in Closeups._fields
    }
    return Closeups(**columns)
