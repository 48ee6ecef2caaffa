"""Forms: how scenes with pixels and sound are written to files.

| form      | file                | what it holds                                                                     |
|-----------|---------------------|-----------------------------------------------------------------------------------|
| `Images`  | images-00000.parquet | scene, image (PNG), and of every object its box, visible pixels and run lengths   |
| `Sounds`  | sounds-00000.parquet | scene, sound (WAV)                                                                |
| `Samples` | scenes-00000.tar     | for each scene 0000123.png, .wav and .json, as WebDataset groups them             |

The Parquet files name the types of their columns to Hugging Face `datasets`, so images open as images and sounds as
sounds. The same scenes give the same bytes: nothing depends on the clock, the user or the machine.
"""

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recombine.render.instruments import RATE
from recombine.render.masks import encode, seen
from recombine.render.png import png
from recombine.render.recordings import recorded
from recombine.render.sound import Orchestra, Voicing, check_scenes, sounds
from recombine.render.wave import to_wav
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.world.columns import to_table
from recombine.world.scenes import Scenes

if TYPE_CHECKING:
    from recombine.render.raytrace import Pictures

LEVEL = 5
"""How hard zlib tries: within 2 % of the smallest size at a third of its time."""
BATCH = 100
"""The most scenes that are held in memory with their pixels, and a row group of Parquet."""
PIXELS = 2**24
"""The most pixels that are held in memory."""
LARGEST = 8192
"""Pixels along a side of a picture."""

Batch = tuple[Sequence[int], Scenes]
"""The numbers of scenes, and the scenes."""

FILE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
IMAGES = pa.schema(
    {
        "scene": pa.int32(),
        "image": FILE,
        "boxes": pa.list_(pa.list_(pa.int32(), 4)),
        "visible": pa.list_(pa.int32()),
        "masks": pa.list_(pa.list_(pa.int32())),
    }
)
SOUNDS = pa.schema({"scene": pa.int32(), "sound": FILE})


@dataclass(frozen=True)
class Look:
    """How large pictures are, and whether they are traced fast or as photos."""

    width: int
    height: int
    photo: bool = False

    def __post_init__(self) -> None:
        if not (1 <= self.width <= LARGEST and 1 <= self.height <= LARGEST):
            raise UserError(f"a picture has 1 to {LARGEST} pixels a side, not {self.width} x {self.height}")

    def __str__(self) -> str:
        return f"{self.width}x{self.height}{'-photo' if self.photo else ''}"

    def pictures(self, first: int, scenes: Scenes) -> "Pictures":
        """Colours and object ids; `first` is the number of the first scene."""
        draw = self._renderer()
        try:
            return draw(scenes, self.width, self.height, ("rgb", "objects"))
        except UserError as error:
            raise UserError(f"counted from scene {first}, {error}") from error

    def _renderer(self) -> Callable[..., "Pictures"]:
        # Opened when it is first used: most commands draw nothing, and its loops take a while to load.
        if self.photo:
            from recombine.render.photo import load_mitsuba, photograph

            load_mitsuba()
            return photograph
        from recombine.render.raytrace import raytrace

        return raytrace


@dataclass(frozen=True)
class Images:
    """Pictures with boxes and masks, in Parquet."""

    look: Look

    name: ClassVar[str] = "images"
    kinds: ClassVar[str] = "images"
    suffix: ClassVar[str] = ".parquet"
    schema: ClassVar[pa.Schema] = IMAGES

    @property
    def batch(self) -> int:
        return max(1, min(BATCH, PIXELS // (self.look.width * self.look.height)))

    def anywhere(self) -> "Images":
        """The same images without the folder of anything that they are made with."""
        return self

    def table(self, numbers: Sequence[int], scenes: Scenes) -> pa.Table:
        """One row per scene."""
        pictures = self.look.pictures(numbers[0], scenes)
        assert pictures.rgb is not None
        files = [(png(rgb, LEVEL), f"{key(number)}.png") for number, rgb in zip(numbers, pictures.rgb)]
        columns = {"scene": numbers, "image": _files(files), **self.masks(scenes, pictures)}
        return pa.table(columns, typed(self.schema, image=IMAGE))

    def masks(self, scenes: Scenes, pictures: "Pictures") -> dict[str, pa.Array]:
        """What is seen of the objects, where."""
        assert pictures.objects is not None
        return _masks(scenes, pictures.objects)

    def write(self, sink: BinaryIO, batches: Iterable[Batch], recipe: Recipe) -> None:
        write_parquet(sink, typed(self.schema, image=IMAGE), (self.table(*batch) for batch in batches), recipe)


@dataclass(frozen=True)
class Recordings:
    """A folder of notes in place of the synthesised ones, and the digest of what is in it."""

    folder: str
    digest: str


@dataclass(frozen=True)
class Sounds:
    """What CURI's scenes sound like, in Parquet."""

    first_bin: int
    recordings: Recordings | None = None

    name: ClassVar[str] = "sounds"
    kinds: ClassVar[str] = "sounds"
    suffix: ClassVar[str] = ".parquet"
    batch: ClassVar[int] = BATCH

    def anywhere(self) -> "Sounds":
        """The same sounds without the folder of the recordings: what is in it decides, not where it is."""
        return self if self.recordings is None else replace(self, recordings=replace(self.recordings, folder=""))

    def check(self, scenes: Scenes) -> None:
        """Refuse what has no sound, and recordings that cannot be read."""
        check_scenes(scenes, Voicing(self.first_bin))
        self._players()

    def table(self, numbers: Sequence[int], scenes: Scenes) -> pa.Table:
        """One row per scene."""
        heard = sounds(scenes, Voicing(self.first_bin), self._players())
        files = [(to_wav(sound), f"{key(number)}.wav") for number, sound in zip(numbers, heard)]
        return pa.table({"scene": numbers, "sound": _files(files)}, typed(SOUNDS, sound=AUDIO))

    def write(self, sink: BinaryIO, batches: Iterable[Batch], recipe: Recipe) -> None:
        write_parquet(sink, typed(SOUNDS, sound=AUDIO), (self.table(*batch) for batch in batches), recipe)

    def _players(self) -> Orchestra | None:
        return None if self.recordings is None else _recorded(self.recordings)


@dataclass(frozen=True)
class Samples:
    """Everything about each scene, in a tar file."""

    images: Images | None
    sounds: Sounds | None

    name: ClassVar[str] = "scenes"
    suffix: ClassVar[str] = ".tar"

    @property
    def kinds(self) -> str:
        return " and ".join(form.kinds for form in (self.images, self.sounds) if form)

    @property
    def batch(self) -> int:
        return self.images.batch if self.images else BATCH

    def write(self, sink: BinaryIO, batches: Iterable[Batch], recipe: Recipe) -> None:
        with tarfile.open(fileobj=sink, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for batch in batches:
                for name, content in self._files(*batch):
                    # A fresh entry has no date, no owner and plain permissions.
                    entry = tarfile.TarInfo(name)
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))

    def _files(self, numbers: Sequence[int], scenes: Scenes) -> Iterator[tuple[str, bytes]]:
        """The names and contents of the files of a batch, scene by scene."""
        rows = [{**row, "scene": number} for row, number in zip(to_table(scenes, 0).to_pylist(), numbers)]
        for form in (self.images, self.sounds):
            if form:
                rows = [{**row, **more} for row, more in zip(rows, form.table(numbers, scenes).to_pylist())]
        for row in rows:
            media = [row.pop(column) for column in ("image", "sound") if column in row]
            yield from ((one["path"], one["bytes"]) for one in media)
            if self.images:
                row |= {"width": self.images.look.width, "height": self.images.look.height}
            yield f"{key(row['scene'])}.json", json.dumps(row, separators=(",", ":")).encode()


Form = Images | Sounds | Samples


def key(number: int) -> str:
    """The name of a scene's files, which sorts as its number does.

    >>> key(123)
    '0000123'
    """
    return f"{number:07}"


# --- Parquet ------------------------------------------------------------------------------------------------------

IMAGE = {"_type": "Image"}
AUDIO = {"sampling_rate": RATE, "_type": "Audio"}


def typed(schema: pa.Schema, **special: dict[str, Any]) -> pa.Schema:
    """The schema with the types of its columns in the words of Hugging Face `datasets`."""
    features = {field.name: special.get(field.name) or _feature(field.type) for field in schema}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def _feature(type: pa.DataType) -> dict[str, Any]:
    if pa.types.is_fixed_size_list(type):
        return {"feature": _feature(type.value_type), "length": type.list_size, "_type": "Sequence"}
    if pa.types.is_list(type):
        return {"feature": _feature(type.value_type), "_type": "Sequence"}
    return {"dtype": str(type), "_type": "Value"}


def write_parquet(sink: BinaryIO, schema: pa.Schema, tables: Iterable[pa.Table], recipe: Recipe) -> None:
    """One row group per table, so that memory holds one at a time."""
    schema = schema.with_metadata({**schema.metadata, b"recombine.recipe": recipe.canonical().encode()})
    options: dict[str, Any] = {"compression": "zstd", "compression_level": 1, "use_dictionary": False}
    with pq.ParquetWriter(sink, schema, write_statistics=["scene"], write_page_index=True, **options) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(schema.metadata), row_group_size=max(1, len(table)))


def _files(files: list[tuple[bytes, str]]) -> pa.Array:
    contents, names = zip(*files) if files else ((), ())
    return pa.StructArray.from_arrays([pa.array(contents, pa.binary()), pa.array(names, pa.string())], fields=[*FILE])


def _masks(scenes: Scenes, objects: np.ndarray) -> dict[str, pa.Array]:
    """Boxes, visible pixels and run lengths of the objects that there are."""
    places = scenes.places
    there = np.arange(places) < scenes.count[:, None]
    offsets = pa.array(np.concatenate([[0], np.cumsum(scenes.count, dtype=np.int64)]).astype(np.int32))
    found, runs = seen(objects, places), encode(objects, places)
    masks = pa.ListArray.from_arrays(pa.array(runs.first), pa.array(runs.lengths))
    boxes = pa.FixedSizeListArray.from_arrays(pa.array(found.boxes[there].reshape(-1)), 4)
    return {
        "boxes": pa.ListArray.from_arrays(offsets, boxes),
        "visible": pa.ListArray.from_arrays(offsets, pa.array(found.visible[there])),
        "masks": pa.ListArray.from_arrays(offsets, masks.take(pa.array(np.flatnonzero(there)))),
    }


@lru_cache(maxsize=1)
def _recorded(recordings: Recordings) -> Orchestra:
    return recorded(Path(recordings.folder))
