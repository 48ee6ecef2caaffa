"""Scenes as Arrow tables, one row per scene and one list per property, for any reader of Parquet."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Vocabulary

AXES = {"position": ("x", "y", "z"), "pixel": ("pixel_x", "pixel_y", "depth")}
"""Columns of three numbers per object, written as three lists."""


PER_OBJECT = ("rotation",)
"""Further columns of one number per object; all others belong to the scene."""
SHAPES = {"lamps": (3, 3)}
"""Columns of a scene that are more than a row of numbers."""


def to_table(scenes: Scenes, first: int = 0) -> pa.Table:
    """The scenes as a table; `first` is the number of the first scene."""
    there = np.arange(scenes.places) < scenes.count[:, None]
    offsets = pa.array(np.concatenate([[0], np.cumsum(scenes.count, dtype=np.int64)]).astype(np.int32))

    def listed(values: pa.Array) -> pa.Array:
        return pa.ListArray.from_arrays(offsets, values)

    columns: dict[str, pa.Array] = {
        "scene": pa.array(np.arange(first, first + len(scenes), dtype=np.int32)),
        "count": pa.array(scenes.count),
    }
    for attribute in scenes.vocabulary:
        words = pa.DictionaryArray.from_arrays(scenes.codes[attribute.name][there], pa.array(attribute.values))
        columns[attribute.name] = listed(words.cast(pa.string()))
    for name, column in {"position": scenes.position, **scenes.extra}.items():
        if name in AXES:
            for axis, label in enumerate(AXES[name]):
                columns[label] = listed(pa.array(column[..., axis][there]))
        elif name in PER_OBJECT:
            columns[name] = listed(pa.array(column[there]))
        else:
            columns[name] = pa.FixedSizeListArray.from_arrays(pa.array(column.reshape(-1)), column[0].size)
    return pa.table(columns)


def from_table(vocabulary: Vocabulary, table: pa.Table, places: int) -> Scenes:
    """The scenes of a table, with room for this many objects each."""
    table = table.combine_chunks()
    count = table["count"].to_numpy().astype(np.uint8)
    there = np.arange(places) < count[:, None]

    def flat(name: str) -> pa.Array:
        return table[name].combine_chunks().flatten()

    def padded(values: np.ndarray, missing: int) -> np.ndarray:
        column = np.full(there.shape, missing, values.dtype)
        column[there] = values
        return column

    codes = {
        a.name: padded(pc.index_in(flat(a.name), pa.array(a.values)).to_numpy().astype(np.uint8), ABSENT)
        for a in vocabulary
    }
    known = {"scene", "count", *codes}
    extra = {}
    for name, labels in AXES.items():
        if labels[0] in table.column_names:
            extra[name] = np.stack([padded(flat(label).to_numpy(), 0) for label in labels], axis=-1)
            known |= {*labels}
    for name in table.column_names:
        if name not in known:
            values = flat(name).to_numpy()
            fixed = pa.types.is_fixed_size_list(table.schema.field(name).type)
            extra[name] = values.reshape(len(count), *SHAPES.get(name, (-1,))) if fixed else padded(values, 0)
    return Scenes(vocabulary, count, codes, extra.pop("position"), extra)
