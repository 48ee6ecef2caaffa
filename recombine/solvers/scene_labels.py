"""Pictures of scenes with what stands where, made once and kept: what a scene parser learns from.

Lengths are in widths of the picture and counted from its middle, so they stay the same when rows above and below are
left out: a picture of 4:3 is one of 3:2, seen by the same camera, with more of the ground.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recombine.render.masks import seen
from recombine.render.raytrace import raytrace
from recombine.solvers.eyesight import WIDTH, fitted
from recombine.store.arrays import map_array, write_array
from recombine.store.engine import Engine, shard_bounds
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from recombine.world.camera import Camera
from recombine.world.distribution import World
from recombine.world.scenes import Scenes

SHARD = 500
"""Pictures of a file."""
VERSION = 2


class Labels(NamedTuple):
    """What stands in n pictures, with room for k objects each; nothing where there is none."""

    count: np.ndarray  # type: ignore[assignment]  # uint8[n]; a tuple's own method is not missed
    centre: np.ndarray  # float32[n, k, 2]: where the middle of the object is seen, or would be
    box: np.ndarray  # float32[n, k, 4]: left, top, right, bottom of what is seen
    place: np.ndarray  # float32[n, k, 2] on the ground
    codes: np.ndarray  # uint8[n, k, attributes]

    def rows(self, index: np.ndarray | slice) -> "Labels":
        return Labels(*(column[index] for column in self))


@dataclass(frozen=True)
class LabelScenes:
    """Writes one file of pictures, and one for every column of their labels."""

    folder: str
    world: World
    pictures: int
    size: tuple[int, int]
    key: Key
    along: int = WIDTH

    def __call__(self, shard: int) -> None:
        files = {name: Path(self.folder) / f"{name}-{shard:05}.npy" for name in ("pixels", *Labels._fields)}
        if all(file.exists() for file in files.values()):
            return
        low, high = shard_bounds(self.pictures, SHARD)[shard]
        scenes = self.world.sample(high - low, self.key / shard)
        pixels, objects = pictures_of(self.world, scenes, self.size)
        write_array(files["pixels"], fitted(pixels, self.along))
        for name, column in labels_of(scenes, objects)._asdict().items():
            write_array(files[name], column)


def pictures_of(world: World, scenes: Scenes, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of scenes and what every pixel shows; a world with a stage of its own is drawn there."""
    stage: Any = getattr(world, "stage", None)
    seen = raytrace(scenes, *size, ("rgb", "objects")) if stage is None else stage.draw(scenes, *size)
    assert seen.rgb is not None and seen.objects is not None
    return seen.rgb, seen.objects


def labels_of(scenes: Scenes, objects: np.ndarray) -> Labels:
    """What stands in pictures, from what every pixel shows, int[n, height, width]."""
    height, width = objects.shape[1:]
    boxes = seen(objects, scenes.places).boxes.astype(np.float64)
    corner, far = boxes[..., :2], boxes[..., :2] + boxes[..., 2:]
    px, py, _ = Camera(width, height).project(scenes.position, scenes.extra["camera"][:, None])
    middle = np.array([width / 2, height / 2])
    return Labels(
        scenes.count,
        ((np.stack([px, py], axis=-1) - middle) / width).astype(np.float32),
        (np.concatenate([corner - middle, far - middle], axis=-1) / width).astype(np.float32),
        scenes.position[..., :2],
        np.stack([scenes.codes[attribute.name] for attribute in scenes.vocabulary], axis=-1),
    )


@dataclass(frozen=True, eq=False)
class LabelledPictures:
    """All pictures of a set and their labels; the pixels stay on the disk."""

    pixels: tuple[np.ndarray, ...]  # each uint8[SHARD, height, width, 3]
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels.count)

    @property
    def along(self) -> int:
        """Pixels along a picture."""
        return self.pixels[0].shape[2]

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Some pictures, uint8[rows, height, width, 3]."""
        return np.stack([self.pixels[row // SHARD][row % SHARD] for row in rows])


def labelled(
    world: World,
    pictures: int,
    size: tuple[int, int],
    key: Key,
    store: Store,
    engine: Engine,
    what: str,
    along: int = WIDTH,
) -> LabelledPictures:
    """So many pictures of a world, drawn in this size and kept in the size that a parser looks at."""
    recipe = Recipe(
        "labelled-pictures",
        VERSION,
        {"world": world, "pictures": pictures, "size": size, "key": key, "shard": SHARD, "along": along},
        {},
    )
    shards = range(-(-pictures // SHARD))

    def make(draft: Path) -> None:
        engine.map(LabelScenes(str(draft), world, pictures, size, key, along), shards, what)

    folder = store.get(recipe, make)
    columns = {name: [np.load(folder / f"{name}-{shard:05}.npy") for shard in shards] for name in Labels._fields}
    return LabelledPictures(
        tuple(map_array(folder / f"pixels-{shard:05}.npy", "r") for shard in shards),
        Labels(**{name: np.concatenate(column) for name, column in columns.items()}),
    )
