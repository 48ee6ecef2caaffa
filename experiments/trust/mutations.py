"""Mutations: what becomes of a good file in the hands of chance, or of somebody who means harm.

A mutation takes a sample and a source of chance, and gives other bytes. Those of formats with checksums mend them
afterwards, so that what stands behind the checksums is reached too.
"""

import io
import json
import random
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Mutation = Callable[[bytes, random.Random], bytes]

NUMBERS = (
    b"0", b"-1", b"1", b"-0", b"255", b"256", b"65536", b"2147483648", b"-2147483649", b"9223372036854775808",
    b"1e308", b"1e999", b"-1e999", b"NaN", b"Infinity", b"-Infinity", b"0.1", b"1e-320", b"9" * 400, b"9" * 5_000,
    b"0x10", b"1_000", b"\xd9\xa3",
)  # fmt: skip
TEXTS = (
    b"", b" ", b"\n", b"\0", b"\r\n", b"\x1b[2J\x1b]0;x\x07", b"../../../Documents", b"/etc/passwd", b"..", b"CON",
    b".",
    b"\xff\xfe", b"\xed\xa0\x80", "é".encode(), "\u202e".encode(), "\U0001f600".encode(), "ﬁ".encode(),
    b"[/b]", b"[red]",
    b"|", b"`", b"<script>alert(1)</script>", b"%s%n", b"{0}", b"${HOME}", b"$(id)", b"'", b'"', b"\\", b"a" * 300,
    b"A" * 70_000, b"[" * 3_000, b"(" * 3_000, b'{"a":' * 2_000, b"~" * 3_000, b"- " * 2_000, b"true", b"null", b"None",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 255, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.0, -0.5,
    1e308, 5e-324, "", " ", "x", "\0",
    "\x1b[2J", "../..", "/", "[red]", "\ud800", "a" * 300, "1", "nan", [], {}, [[]], [None], [0] * 300, {"": None},
    {"type": "x"}, [[0, 1], [2]], ["a", "b"], {"a": {"b": {"c": []}}},
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]+")


def mangled(sample: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut, moved, doubled, or put in."""
    data = bytearray(sample)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        chance.choice(_EDITS)(data, chance)
    return bytes(data[: 2**21])


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _set(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.choice((0, 1, 9, 10, 32, 34, 45, 91, 92, 123, 127, 128, 254, 255))


def _cut_off(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _span(data: bytearray, chance: random.Random, most: int = 64) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.randint(0, most))


def _remove(data: bytearray, chance: random.Random) -> None:
    start, end = _span(data, chance)
    del data[start:end]


def _repeat(data: bytearray, chance: random.Random) -> None:
    start, end = _span(data, chance)
    data[start:start] = bytes(data[start:end]) * chance.choice((1, 2, 30, 1_000))


def _move(data: bytearray, chance: random.Random) -> None:
    start, end = _span(data, chance)
    piece = bytes(data[start:end])
    del data[start:end]
    at = chance.randrange(len(data) + 1)
    data[at:at] = piece


def _put_in(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(TEXTS)


def _noise(data: bytearray, chance: random.Random) -> None:
    start, end = _span(data, chance, 16)
    data[start:end] = chance.randbytes(end - start + chance.randint(0, 4))


def _in_place_of(pattern: re.Pattern[bytes], instead: Sequence[bytes]) -> Callable[[bytearray, random.Random], None]:
    def edit(data: bytearray, chance: random.Random) -> None:
        start = chance.randrange(len(data) + 1)
        found = pattern.search(data, start) or pattern.search(data)
        if found:
            data[found.start() : found.end()] = chance.choice(instead)

    return edit


def _swap_words(data: bytearray, chance: random.Random) -> None:
    one, two = (_WORD.search(data, chance.randrange(len(data) + 1)) for _ in range(2))
    if one and two and one.end() <= two.start():
        first, second = bytes(one[0]), bytes(two[0])
        data[two.start() : two.end()] = first
        data[one.start() : one.end()] = second


_EDITS = (
    _flip, _set, _cut_off, _remove, _repeat, _move, _put_in, _noise, _swap_words,
    _in_place_of(_NUMBER, NUMBERS), _in_place_of(_WORD, TEXTS),
)  # fmt: skip


def json_changed(sample: bytes, chance: random.Random) -> bytes:
    """Values of JSON exchanged, left out, doubled or wrapped; now and then the bytes mangled."""
    if chance.random() < 0.3:
        return mangled(sample, chance)
    return _dumped(changed(json.loads(sample), chance))


def jsonl_changed(sample: bytes, chance: random.Random) -> bytes:
    """The same for a file with a value in every line."""
    lines = sample.splitlines()
    at = chance.randrange(len(lines))
    lines[at] = json_changed(lines[at], chance)
    return b"\n".join(lines)


def changed(tree: Any, chance: random.Random) -> Any:
    """A tree of JSON in which a few places are others."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        places = list(_places(tree))
        if not places:
            return deepcopy(chance.choice(VALUES))
        home, name = chance.choice(places)
        match chance.randrange(8):
            case 0:
                del home[name]
            case 1:
                home[name] = [home[name]]
            case 2:
                other, its = chance.choice(places)
                home[name] = json.loads(json.dumps(other[its]))
            case 3 if isinstance(home, dict):
                home[chance.choice(("", "type", "x", "\x1b[2J", "../x", "extra"))] = home.pop(name)
            case 4 if isinstance(home[name], int | float) and abs(home[name]) < 1e300:
                home[name] = home[name] * chance.choice((-1, 2, 10, 1000, 1e300)) + chance.choice((0, 1, 0.5))
            case 5 if isinstance(home[name], str):
                home[name] = mangled(home[name].encode("utf-8", "replace"), chance).decode("utf-8", "replace")
            case _:
                home[name] = deepcopy(chance.choice(VALUES))
    return tree


def _places(tree: Any, most: int = 2_000) -> list[tuple[Any, Any]]:
    found, todo = [], [tree]
    while todo and len(found) < most:
        one = todo.pop()
        inside = list(one.items()) if isinstance(one, dict) else list(enumerate(one)) if isinstance(one, list) else []
        found += [(one, name) for name, _ in inside]
        todo += [value for _, value in inside if isinstance(value, dict | list)]
    return found


def _dumped(tree: Any) -> bytes:
    return json.dumps(tree).encode("utf-8", "surrogatepass")


def tensors_changed(sample: bytes, chance: random.Random) -> bytes:
    """The header of a file of tensors changed, with and without its checksum; or the bytes mangled."""
    if chance.random() < 0.4:
        return mangled(sample, chance)
    (length,) = struct.unpack_from("<Q", sample)
    header = json.loads(sample[8 : 8 + length])
    if chance.random() < 0.8:  # a file without a checksum is read too, so what stands behind it is reached
        header["__metadata__"].pop("recombine.checksum", None)
    for name, text in header["__metadata__"].items():
        if text[:1] in "[{" and chance.random() < 0.3:
            header["__metadata__"][name] = json_changed(text.encode(), chance).decode("utf-8", "replace")
    if chance.random() < 0.7:
        header = changed(header, chance)
    text = _dumped(header)
    said = len(text) if chance.random() < 0.9 else chance.choice((0, 1, length, 2**32, 2**63, 2**64 - 1))
    return struct.pack("<Q", said) + text + sample[8 + length :]


def png_changed(sample: bytes, chance: random.Random) -> bytes:
    """A chunk of a PNG mangled, exchanged or repeated, with a right checksum."""
    if chance.random() < 0.2:
        return mangled(sample, chance)
    chunks, at = [], 8
    while at + 12 <= len(sample):
        (size,) = struct.unpack_from(">I", sample, at)
        chunks.append((sample[at + 4 : at + 8], sample[at + 8 : at + 8 + size]))
        at += 12 + size
    place = chance.randrange(len(chunks))
    name, content = chunks[place]
    match chance.randrange(5):
        case 0:
            chunks.insert(chance.randrange(len(chunks) + 1), chunks[place])
        case 1:
            del chunks[place]
        case 2 if name == b"IDAT":
            size = chance.choice((0, 10, 1_000, 10**7))
            raw = bytes(size) if chance.random() < 0.5 else mangled(zlib.decompress(content), chance)
            chunks[place] = name, zlib.compress(raw, 1)
        case 3 if name == b"IHDR":
            header = list(struct.unpack(">IIBBBBB", content))
            field = chance.randrange(7)
            header[field] = chance.choice(
                (0, 1, 2, 3, 4, 6, 8, 16, 255) if field > 1 else (0, 1, 9, 20_000, 2**31, 2**32 - 1)
            )
            chunks[place] = name, struct.pack(">IIBBBBB", *header)
        case _:
            chunks[place] = chance.choice((name, b"PLTE", b"tRNS", b"IEND")), mangled(content, chance)[:10_000]
    parts = [struct.pack(">I", len(c)) + n + c + struct.pack(">I", zlib.crc32(n + c)) for n, c in chunks]
    return sample[:8] + b"".join(parts)


def wav_changed(sample: bytes, chance: random.Random) -> bytes:
    """The fields of a WAV header exchanged; or the bytes mangled."""
    if chance.random() < 0.4:
        return mangled(sample, chance)
    data = bytearray(sample)
    for _ in range(chance.choice((1, 1, 2, 3))):
        at, kind = chance.choice(
            ((4, "I"), (16, "I"), (20, "H"), (22, "H"), (24, "I"), (28, "I"), (32, "H"), (34, "H"), (40, "I"))
        )
        most = 2**16 - 1 if kind == "H" else 2**32 - 1
        struct.pack_into(
            f"<{kind}",
            data,
            at,
            min(most, chance.choice((0, 1, 2, 3, 4, 8, 24, 64, 8_000, 44_100, 65_535, 2**31, most))),
        )
    return bytes(data)


_OTHER = (
    lambda n, chance: pa.array([chance.choice((0, -1, 2**62))] * n, pa.int64()),
    lambda n, chance: pa.array([chance.choice(("", "x", "\x1b[2J", "red", "9" * 400))] * n, pa.string()),
    lambda n, chance: pa.array([chance.choice((float("nan"), float("inf"), 1e308, -0.0))] * n, pa.float64()),
    lambda n, chance: pa.array([None] * n, pa.string()),
    lambda n, chance: pa.array([[chance.choice((0, 9, -5))] * chance.choice((0, 1, 300))] * n, pa.list_(pa.int32())),
    lambda n, chance: pa.array([["red"] * chance.choice((0, 1, 70))] * n, pa.list_(pa.string())),
    lambda n, chance: pa.array([[[float("nan")] * 3]] * n, pa.list_(pa.list_(pa.float32()))),
    lambda n, chance: pa.array([{"a": 1}] * n),
)  # fmt: skip


def parquet_changed(sample: bytes, chance: random.Random) -> bytes:
    """A column of a table exchanged, renamed or left out, rows lost or doubled; or the bytes mangled."""
    if chance.random() < 0.5:
        return mangled(sample, chance)
    table = pq.ParquetFile(pa.BufferReader(sample)).read()
    for _ in range(chance.choice((1, 1, 2))):
        place = chance.randrange(table.num_columns) if table.num_columns else 0
        match chance.randrange(6):
            case 0 if table.num_columns:
                table = table.remove_column(place)
            case 1 if table.num_columns:
                names = list(table.column_names)
                names[place] = chance.choice(("", "x", "scene", names[0]))
                table = table.rename_columns(names)
            case 2:
                table = table.slice(0, chance.choice((0, 1, max(0, table.num_rows - 1))))
            case 3:
                table = pa.concat_tables([table] * chance.choice((2, 3)))
            case _ if table.num_columns:
                column = chance.choice(_OTHER)(table.num_rows, chance)
                table = table.set_column(place, table.column_names[place], column)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=chance.choice(("zstd", "none")))
    return sink.getvalue()
