"""The end of a Parquet file: read as PyArrow reads it, and refused where PyArrow would end the process."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine.store import parquet, store
from recombine.store.errors import UserError
from recombine.store.footer import groups_of
from recombine.store.store import read_table


def written(file: Path, **options: object) -> Path:
    columns = {"a": [1, 2, 3], "b": [["x"], ["y", "z"], []], "c": [True, None, False], "d": [{"e": 1.5}] * 3}
    pq.write_table(pa.table(columns), file, row_group_size=2, **options)
    return file


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_it_says_what_pyarrow_says(tmp_path: Path, compression: str) -> None:
    file = written(tmp_path / "a.parquet", compression=compression)
    about = pq.ParquetFile(file).metadata
    for i, chunks in enumerate(groups_of(file)):
        columns = [about.row_group(i).column(j) for j in range(about.num_columns)]
        assert [(one.values, one.bytes) for one in chunks] == [
            (one.num_values, one.total_uncompressed_size) for one in columns
        ]


def test_a_table_without_rows_is_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.float64())}), tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet", most=100).num_rows == 0


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


def test_a_text_that_many_rows_share_counts_for_each_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the file once, and in memory as often as there are rows."""
    for module in (parquet, store):
        monkeypatch.setattr(module, "MOST_BYTES", 2**22)
    file, text = tmp_path / "a.parquet", "x" * 1_000
    kinds = {
        "text": pa.array([text] * 5_000),
        "list": pa.array([[text] * 5_000]),
        "records": pa.array([[{"b": text.encode()}] * 5_000]),
        "fixed": pa.array([text.encode()] * 5_000, pa.binary(len(text))),
    }
    for column in kinds.values():
        pq.write_table(pa.table({"a": column}), file)
        assert file.stat().st_size < 5_000
        with pytest.raises(UserError, match=r"takes 5\.\d MB, more than"):
            read_table(file, most=10_000)
    pq.write_table(pa.table({"a": [text, "y"] * 3_000}), file)  # six million letters if all were the longest
    assert read_table(file, most=10_000)["a"][2].as_py() == text


def test_pages_are_believed_and_the_end_of_the_file_is_not(tmp_path: Path) -> None:
    file, many = tmp_path / "a.parquet", 1_000_000
    pq.write_table(pa.table({"a": pa.array([0.5] * many)}), file, use_dictionary=False, compression="zstd")
    whole = file.read_bytes()
    ((chunk,),) = groups_of(file)
    said = zigzag(chunk.bytes)
    assert whole.count(said) == 2  # of the column, and of the row group
    file.write_bytes(whole.replace(said, zigzag(2**21 + chunk.bytes % 2**20)))  # as many bytes, and less than a third
    ((other,),) = groups_of(file)
    assert 8 * many <= other.bytes <= chunk.bytes  # the heads of pages are no part of what they unpack to


def zigzag(number: int) -> bytes:
    """A number as Thrift writes it."""
    number, found = 2 * number, b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def test_an_end_that_says_too_much_is_refused_at_once(tmp_path: Path) -> None:
    groups = b"\x49\xfc" + b"\xc0\x84\x3d" + bytes(1_000_000) + b"\0"
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + groups + len(groups).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(UserError, match="says too much"):
        read_table(tmp_path / "a.parquet", most=100)
