"""The end of a Parquet file: read as PyArrow reads it, and refused where PyArrow would end the process."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine.store.errors import UserError
from recombine.store.footer import Chunk, chunks_of
from recombine.store.store import read_table


def written(file: Path, **options: object) -> Path:
    columns = {"a": [1, 2, 3], "b": [["x"], ["y", "z"], []], "c": [True, None, False], "d": [{"e": 1.5}] * 3}
    pq.write_table(pa.table(columns), file, row_group_size=2, **options)
    return file


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_it_says_what_pyarrow_says(tmp_path: Path, compression: str) -> None:
    file = written(tmp_path / "a.parquet", compression=compression)
    about = pq.ParquetFile(file).metadata
    columns = [about.row_group(i).column(j) for i in range(about.num_row_groups) for j in range(about.num_columns)]
    assert chunks_of(file) == [Chunk(one.num_values, one.total_uncompressed_size) for one in columns]


def test_a_damaged_end_is_refused_and_ends_no_process(tmp_path: Path) -> None:
    whole, chance, file = written(tmp_path / "a.parquet").read_bytes(), random.Random(0), tmp_path / "b.parquet"
    refused = 0
    for _ in range(500):
        data = bytearray(whole)
        data[chance.randrange(len(data) // 2, len(data))] = chance.randrange(256)
        file.write_bytes(data)
        try:
            read_table(file, most=100)
        except UserError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"\x19" * 5000 + (5000).to_bytes(4, "little") + b"PAR1"]
)
def test_what_is_no_table_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(UserError, match="Cannot read the table"):
        read_table(tmp_path / "a.parquet", most=100)
