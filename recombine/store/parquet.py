"""Parquet files from elsewhere: how much memory they take is known before they are unpacked.

A small file may hold a large table: its pages are packed, and a text that a million rows share is in it once.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recombine.store.footer import FIXED, TEXT, groups_of

MOST_BYTES = 2**29
"""What may be unpacked at once."""
VALUE = 12
"""Bytes of a value that is a number or a truth, with its place."""


class Group(NamedTuple):
    """A row group."""

    values: int
    """Of its longest column."""
    bytes: int
    """That it takes in memory, at most."""


def measured(file: Path) -> list[Group]:
    """The row groups of a file; a ValueError where it cannot be read."""
    found = []
    for number, chunks in enumerate(groups_of(file)):
        plain = sum(chunk.bytes + VALUE * chunk.values for chunk in chunks)
        shared = sum(chunk.bytes * chunk.values for chunk in chunks if chunk.kind in (TEXT, FIXED))
        if plain <= MOST_BYTES < plain + shared:  # perhaps: it depends on which texts are shared
            shared = _texts(file, number)
        found.append(Group(max((chunk.values for chunk in chunks), default=0), plain + shared))
    return found


def _texts(file: Path, group: int) -> int:
    """The bytes of all texts of a row group when every row has its own: they are read with each of them once."""
    with pq.ParquetFile(file) as opened:
        columns = [opened.schema.column(i) for i in range(len(opened.schema))]
        about, texts = opened.metadata.row_group(group), [one.path for one in columns if one.physical_type == WORDS]
        fixed = sum(
            one.length * about.column(i).num_values for i, one in enumerate(columns) if one.physical_type == FIXED_WORDS
        )
    if not texts or fixed > MOST_BYTES:
        return int(fixed)
    with pq.ParquetFile(file, read_dictionary=texts) as opened:
        read = opened.read_row_group(group)
    return int(fixed) + sum(_spread(chunk) for column in read.columns for chunk in column.chunks)


WORDS, FIXED_WORDS = "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"


def _spread(array: Any) -> int:
    """The bytes of the texts that an array of numbers of texts stands for."""
    if pa.types.is_dictionary(array.type):
        lengths = pc.binary_length(array.dictionary)
        return int(pc.sum(pc.take(lengths, array.indices).cast(pa.int64())).as_py() or 0)
    if pa.types.is_struct(array.type):
        return sum(map(_spread, array.flatten()))
    return _spread(array.flatten()) if pa.types.is_nested(array.type) else 0
