"""Files of rows: Parquet, JSON lines or WebDataset, with pictures or sounds inside, or with the numbers of the scenes.

Rows are written by number first; then any worker puts the media of a file in, from a pack that is mapped from the disk.
So nobody ever holds more than a row group.
"""

import base64
import io
import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recombine.render.encodings import AUDIO, FILE, IMAGE, typed
from recombine.render.media import Drawing, Pack
from recombine.render.sheets import contact_sheet
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.store import read_table, write_atomically
from recombine.tasks.rows import Row

FORMATS = ("parquet", "jsonl", "webdataset")
SUFFIX = {"parquet": ".parquet", "jsonl": ".jsonl", "webdataset": ".tar"}
GROUP = 100
"""Rows of a row group of Parquet."""
GROUP_BYTES = 100 * 2**20
DICTIONARY = 64 * 2**20
"""Bytes of different pictures up to which a row group writes each of them once."""
CODED = pa.struct([("bytes", pa.dictionary(pa.int32(), pa.binary())), FILE.field("path")])
"""A file as it is handed to Parquet: its number among the different ones of a row group, so that none is looked up."""
PLACES = "places"
"""Where the media of a row are in the pack; not among the columns that are delivered."""
SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "text": pa.string(),
        "answer": pa.string(),
        "answers": pa.list_(pa.string()),
        "options": pa.list_(pa.string()),
        "shown": pa.list_(pa.string()),
        "scenes": pa.list_(pa.int32()),
        "question": pa.string(),
        "concept": pa.string(),
        "benchmark": pa.string(),
        "split": pa.string(),
        "part": pa.string(),
        "seed": pa.int64(),
        "digest": pa.string(),
    }
)


def refuse_format(format: str) -> None:
    if format not in FORMATS:
        raise UserError(f"there is no format '{format}' for rows; choose one of {', '.join(FORMATS)}")


def by_number(rows: Sequence[Row], places: Sequence[Sequence[int]], kind: str | None) -> pa.Table:
    """Rows without media, with the places of their media in the pack."""
    records = [row.record(kind) for row in rows]
    table = pa.table({field.name: pa.array([one[field.name] for one in records], field.type) for field in SCHEMA})
    return table.append_column(PLACES, pa.array([list(some) for some in places], pa.list_(pa.int64())))


@dataclass(frozen=True)
class WriteRows:
    """Writes a file of rows with their media, unless it is there."""

    plan: str
    """The folder of the rows by number."""
    folder: str
    pack: str | None
    drawing: Drawing | None
    format: str
    sheet: bool
    recipe: Recipe

    def __call__(self, number: int) -> None:
        file = Path(self.folder) / f"rows-{number:05}{SUFFIX[self.format]}"
        if file.exists():
            return
        table = read_table(Path(self.plan) / f"rows-{number:05}.parquet")
        write = {"parquet": self._parquet, "jsonl": self._jsonl, "webdataset": self._tar}[self.format]

        def whole(part: Path) -> None:
            with part.open("wb") as sink:
                write(sink, table)

        write_atomically(file, whole)

    def _media(self, table: pa.Table) -> Iterator[list[Any]]:
        """The files of each row."""
        if self.pack is None:
            yield from ([] for _ in range(len(table)))
            return
        pack, shown = _opened(self.pack), table["shown"]
        for row, places in enumerate(table[PLACES].to_pylist()):
            files = [pack[place] for place in places]
            yield [contact_sheet(files, len(shown[row]))] if self.sheet else files

    def _parquet(self, sink: BinaryIO, table: pa.Table) -> None:
        schema, special, options = SCHEMA, {}, {}
        if self.drawing is not None:
            schema = SCHEMA.append(pa.field(self.drawing.kind, pa.list_(CODED)))
            special = {
                self.drawing.kind: {"feature": IMAGE if self.drawing.kind == "images" else AUDIO, "_type": "List"}
            }
            content = f"{self.drawing.kind}.list.element.bytes"
            small = ["answer", "answers.list.element", "options.list.element", "shown.list.element", "benchmark"]
            options = {
                "use_dictionary": [content, *small, "split", "part", "digest", "concept"],
                "dictionary_pagesize_limit": DICTIONARY,
                "compression": {content: "none"},
            }
        notes = {**typed(schema, **special).metadata, b"recombine.recipe": self.recipe.canonical().encode()}
        settings = {"compression": "zstd", "write_page_index": True, "write_statistics": ["id"], **options}
        # Without Arrow's own schema readers find plain columns, whatever they were written from.
        with pq.ParquetWriter(sink, schema, store_schema=False, **settings) as writer:
            together = self._together(table)
            for low in range(0, len(table), together):
                some = table.slice(low, together)
                columns = [some[name].combine_chunks() for name in SCHEMA.names]
                if self.drawing is not None:
                    columns.append(self._column(some))
                writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=max(1, len(some)))
            writer.add_key_value_metadata(notes)

    def _together(self, table: pa.Table) -> int:
        """Rows of a row group, which is held in memory."""
        size = sum(map(len, next(self._media(table.slice(0, 1)), [])))
        return max(1, min(GROUP, GROUP_BYTES // max(1, size)))

    def _column(self, table: pa.Table) -> pa.Array:
        """The media of rows as a column of lists of files, each file once in a dictionary."""
        assert self.drawing is not None and self.pack is not None
        if self.sheet:
            names, starts = table["id"].to_pylist(), np.arange(len(table) + 1)
            index, files = np.arange(len(table)), [sheet for (sheet,) in self._media(table)]
        else:
            places, pack = table[PLACES].combine_chunks(), _opened(self.pack)
            which, index = np.unique(places.flatten().to_numpy(), return_inverse=True)
            names = [f"{one:07}" for one in table["scenes"].combine_chunks().flatten().to_pylist()]
            starts, files = places.offsets.to_numpy(), [pack[place] for place in which.tolist()]
        sizes = np.concatenate([[0], np.cumsum([len(file) for file in files], dtype=np.int64)]).astype(np.int32)
        content = [None, pa.py_buffer(sizes), pa.py_buffer(b"".join(files))]
        once = pa.Array.from_buffers(pa.binary(), len(files), content)
        coded = pa.DictionaryArray.from_arrays(index.astype(np.int32), once)
        paths = pa.array([f"{name}{self.drawing.suffix}" for name in names], pa.string())
        files = pa.StructArray.from_arrays([coded, paths], fields=[*CODED])
        return pa.ListArray.from_arrays(pa.array((starts - starts[0]).astype(np.int32)), files)

    def _jsonl(self, sink: BinaryIO, table: pa.Table) -> None:
        for record, media in zip(_records(table), self._media(table)):
            line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
            if self.drawing is not None:
                # What is in base 64 stands in JSON as it is, so nobody needs to look through it.
                start = f'"data:{self.drawing.mime};base64,'.encode()
                files = b",".join(start + base64.b64encode(file) + b'"' for file in media)
                line = b'%s,"%s":[%s]}' % (line[:-1], self.drawing.kind.encode(), files)
            sink.write(line + b"\n")

    def _tar(self, sink: BinaryIO, table: pa.Table) -> None:
        with tarfile.open(fileobj=sink, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for record, media in zip(_records(table), self._media(table)):
                suffix = self.drawing.suffix if self.drawing else ""
                files = [(f"{record['id']}.{place:02}{suffix}", file) for place, file in enumerate(media)]
                record["files"] = [name for name, _ in files]
                text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
                for name, content in [(f"{record['id']}.json", text), *files]:
                    entry = tarfile.TarInfo(name)  # no date, no owner, plain permissions
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))


def _records(table: pa.Table) -> Iterator[dict[str, Any]]:
    yield from table.drop_columns([PLACES]).to_pylist()


_packs: dict[str, Pack] = {}


def _opened(folder: str) -> Pack:
    """The pack of a folder, opened once in a process."""
    if folder not in _packs:
        _packs.clear()
        _packs[folder] = Pack(folder)
    return _packs[folder]
