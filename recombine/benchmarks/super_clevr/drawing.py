"""Datasets of vehicles: how their scenes are drawn into files.

Beside the image, a row of `images-00000.parquet` has the boxes, visible pixels and masks of all objects, and those of
every part that is seen: `part_object` is the number of its object, `part` its name in words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.benchmarks.super_clevr.stage import Stage
from recombine.render.encodings import IMAGES, Images, Look
from recombine.render.folders import Dataset
from recombine.render.masks import encode, seen
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

if TYPE_CHECKING:
    from recombine.render.raytrace import Pictures

_BOXES = pa.list_(pa.list_(pa.int32(), 4))
PART_IMAGES = pa.schema(
    [
        *IMAGES,
        pa.field("part_object", pa.list_(pa.int32())),
        pa.field("part", pa.list_(pa.string())),
        pa.field("part_boxes", _BOXES),
        pa.field("part_visible", pa.list_(pa.int32())),
        pa.field("part_masks", pa.list_(pa.list_(pa.int32()))),
    ]
)


@dataclass(frozen=True)
class VehicleLook(Look):
    """How pictures of vehicles are drawn."""

    stage: Stage = Stage()

    def pictures(self, first: int, scenes: Scenes) -> "Pictures":
        try:
            return self.stage.draw(scenes, self.width, self.height, ("rgb", "objects", "parts"), self.photo)
        except UserError as error:
            raise UserError(f"counted from scene {first}, {error}") from error


@dataclass(frozen=True)
class VehicleImages(Images):
    """Pictures with boxes and masks of vehicles and of their parts, in Parquet."""

    look: VehicleLook
    schema: ClassVar[pa.Schema] = PART_IMAGES

    def anywhere(self) -> "VehicleImages":
        return replace(self, look=replace(self.look, stage=self.look.stage.anywhere()))

    def masks(self, scenes: Scenes, pictures: "Pictures") -> dict[str, pa.Array]:
        assert pictures.objects is not None and pictures.parts is not None
        fleet, (n, k) = self.look.stage.fleet, (len(scenes), scenes.places)
        most = fleet.part_codes.shape[1]
        ids = np.where(pictures.parts >= 0, pictures.objects.astype(np.int32) * most + pictures.parts, -1)
        found, runs = seen(ids, k * most), encode(ids, k * most)
        which = np.flatnonzero(found.visible)
        scene, thing = np.divmod(which, k * most)
        owner, part = np.divmod(thing, most)
        names = np.array(fleet.part_names, object)[fleet.part_codes[scenes.codes["shape"][scene, owner], part]]
        ends = pa.array(np.searchsorted(scene, np.arange(n + 1)).astype(np.int32))
        masks = pa.ListArray.from_arrays(pa.array(runs.first), pa.array(runs.lengths)).take(pa.array(which))
        boxes = pa.FixedSizeListArray.from_arrays(pa.array(found.boxes.reshape(-1, 4)[which].reshape(-1)), 4)
        columns = {
            "part_object": pa.array(owner.astype(np.int32)),
            "part": pa.array(names.tolist(), pa.string()),
            "part_boxes": boxes,
            "part_visible": pa.array(found.visible.reshape(-1)[which]),
            "part_masks": masks,
        }
        return {
            **super().masks(scenes, pictures),
            **{name: pa.ListArray.from_arrays(ends, column) for name, column in columns.items()},
        }


@dataclass(frozen=True)
class VehicleDataset(Dataset):
    """Scenes of vehicles in files."""

    stage: Stage = Stage()

    def images(self, width: int, height: int, photo: bool) -> VehicleImages:
        return VehicleImages(VehicleLook(width, height, photo, self.stage))


def opened(dataset: Dataset, world: Any) -> VehicleDataset:
    """A dataset that was read from a folder, with what its world says of vehicles."""
    try:
        fleet = world["fleet"]
        categories = tuple((str(name), tuple(map(str, shapes))) for name, shapes in fleet["categories"])
        stage = Stage(
            Fleet(categories, str(fleet["folder"]), str(fleet["digest"])),
            tuple((str(name), float(size)) for name, size in world["sizes"]),
            tuple((str(name), _rgb(paint)) for name, paint in world["paints"]),
            int(world["parts"][0]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UserError(f"the dataset does not say its vehicles as it should ({error}); make it again") from error
    plain: Mapping[str, Any] = {field.name: getattr(dataset, field.name) for field in fields(dataset)}
    return VehicleDataset(**plain, stage=stage)


def _rgb(paint: Any) -> tuple[int, int, int]:
    red, green, blue = (int(share) for share in paint)
    return red, green, blue
