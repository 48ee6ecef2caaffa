"""Media: the pictures and sounds of chosen scenes, kept so that any of them is at hand without reading the others.

A *pack* is a folder of Arrow files of so many scenes each. `MakePack` is to chosen scenes what `RenderScenes` is to all
of them: any worker can make any file, and a file that is there is left alone.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from recombine.render.encodings import LEVEL, Look
from recombine.render.png import png
from recombine.store.errors import UserError
from recombine.store.store import write_atomically
from recombine.world.scenes import Scenes

PER_FILE = 1_000
AT_ONCE = 100
"""Scenes that are held in memory with their pixels."""


class Drawing(Protocol):
    """Gives the file of each scene. Frozen and small, so that it travels."""

    @property
    def kind(self) -> str:
        """images or sounds."""

    @property
    def suffix(self) -> str: ...

    @property
    def mime(self) -> str: ...

    def files(self, scenes: Scenes) -> list[bytes]: ...


@dataclass(frozen=True)
class Traced:
    """Pictures by the ray tracer, as PNG."""

    look: Look

    kind: ClassVar[str] = "images"
    suffix: ClassVar[str] = ".png"
    mime: ClassVar[str] = "image/png"

    def files(self, scenes: Scenes) -> list[bytes]:
        rgb = self.look.pictures(0, scenes).rgb
        assert rgb is not None
        return [png(one, LEVEL) for one in rgb]


@dataclass(frozen=True)
class Played:
    """What scenes sound like, as WAV."""

    first_bin: int

    kind: ClassVar[str] = "sounds"
    suffix: ClassVar[str] = ".wav"
    mime: ClassVar[str] = "audio/wav"

    def files(self, scenes: Scenes) -> list[bytes]:
        from recombine.render.sound import Voicing, sounds
        from recombine.render.wave import to_wav

        return [to_wav(one) for one in sounds(scenes, Voicing(self.first_bin))]


class Some(NamedTuple):
    """The scenes of one file of a pack."""

    number: int
    scenes: Scenes


@dataclass(frozen=True)
class MakePack:
    """Writes a file of a pack, unless it is there."""

    folder: str
    drawing: Drawing

    def __call__(self, some: Some) -> None:
        file = Path(self.folder) / f"media-{some.number:05}.arrow"
        if not file.exists():
            files = [
                content
                for low in range(0, len(some.scenes), AT_ONCE)
                for content in self.drawing.files(some.scenes[low : low + AT_ONCE])
            ]
            write_atomically(file, lambda part: _write(part, files))


def _write(part: Path, files: Sequence[bytes]) -> None:
    table = pa.table({"file": pa.array(files, pa.large_binary())})
    with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=PER_FILE)


class Pack:
    """The files of a pack, mapped from the disk."""

    def __init__(self, folder: Path | str) -> None:
        self._chunks = []
        self._starts = [0]
        for file in sorted(Path(folder).glob("media-*.arrow")):
            chunk = pa.ipc.open_file(pa.memory_map(str(file))).get_batch(0).column(0)
            _, offsets, content = chunk.buffers()
            self._chunks.append((np.frombuffer(offsets, np.int64), memoryview(content)))
            self._starts.append(self._starts[-1] + len(chunk))
        if not self._chunks:
            raise UserError(f"{folder} holds no pictures or sounds; remove it to have it made again")

    def __getitem__(self, place: int) -> memoryview:
        """The file at this place of the whole pack."""
        number = bisect_right(self._starts, place) - 1
        offsets, content = self._chunks[number]
        row = place - self._starts[number]
        return content[offsets[row] : offsets[row + 1]]

    @property
    def mean_size(self) -> float:
        """Bytes of a file, on average."""
        return sum(int(offsets[-1]) for offsets, _ in self._chunks) / self._starts[-1]
