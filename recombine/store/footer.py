"""The end of a Parquet file, where it says what it holds: how many values each column has, and where they lie.

PyArrow ends the whole process where this is damaged in some ways. So it is read here first, as far as it is needed: it
is a tree in Thrift's compact protocol, of which four levels are looked at and the rest is passed over.

    file (4: row groups) -> row group (1: columns) -> column (3: its data)
    data (1: kind, 5: values, 6: bytes unpacked, 7: bytes packed, 9: its first page, 11: its page of words)

How much a column takes is not believed to the end of the file: every page of it begins with a head (2: bytes unpacked,
3: bytes packed), and these are added up.
"""

from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

MAGIC = b"PAR1"
LONGEST = 16 * 2**20
"""Bytes of the end of a file."""
MOST_STEPS = 400_000
"""Numbers, texts and lists in the end of a file and in the heads of its pages."""
DEEPEST = 32
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
KIND, VALUES, UNPACKED, PACKED, FIRST, WORDS = 1, 5, 6, 7, 9, 11
WANTED: dict[int, Any] = {4: {1: {3: dict.fromkeys((KIND, VALUES, UNPACKED, PACKED, FIRST, WORDS))}}}
"""Fields by their numbers; what they hold, of those that hold fields again."""
PAGE: dict[int, Any] = {2: None, 3: None}
TEXT, FIXED = 6, 7
"""Kinds of values that may be of any length."""


class Chunk(NamedTuple):
    """A column of a row group."""

    values: int
    bytes: int
    """Of its pages, unpacked; a value that many rows share is there once."""
    kind: int


class _Damaged(ValueError):
    pass


def groups_of(file: Path) -> list[list[Chunk]]:
    """The columns of each row group; a ValueError where the file cannot be read."""
    if file.stat().st_size < 12:
        raise _Damaged("it does not end as a Parquet file does")
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        end, length = content[-4:], int.from_bytes(content[-8:-4], "little")
        if end != MAGIC or not 0 < length <= min(LONGEST, len(content) - 8):
            raise _Damaged("it does not end as a Parquet file does")
        reader = _Compact(content, len(content) - 8 - length, len(content) - 8)
        groups = [_structs(group.get(1)) for group in _structs(reader.struct(WANTED, 0).get(4))]
        return [[_chunk(reader, one[3]) for one in group if isinstance(one.get(3), dict)] for group in groups]


def _structs(found: Any) -> list[dict[int, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _chunk(reader: "_Compact", about: dict[int, int]) -> Chunk:
    """A column, with what its pages say that they unpack to."""
    first, words = about.get(FIRST, 0), about.get(WORDS, 0)
    at = words if 0 < words < first or first == 0 else first  # without values there is a page of no words, and no other
    if first == 0 and about.get(VALUES, 0):
        raise _Damaged("a column of it lies nowhere")
    end, size = at + about.get(PACKED, 0), 0
    if not 0 <= at <= end <= len(reader.data):
        raise _Damaged("a column of it lies elsewhere")
    while at < end:
        reader.at, reader.end = at, end
        page = reader.struct(PAGE, 0)
        if min(page.get(2, -1), page.get(3, -1)) < 0:
            raise _Damaged("a page of it has no size")
        size += page[2]
        at = reader.at + page[3]
    return Chunk(abs(about.get(VALUES, 0)), max(size, abs(about.get(UNPACKED, 0))), about.get(KIND, 0))


class _Compact:
    """Reads Thrift's compact protocol between two places."""

    def __init__(self, data: mmap, at: int, end: int) -> None:
        self.data, self.at, self.end, self.steps = data, at, end, 0

    def struct(self, wanted: dict[int, Any] | None, depth: int) -> dict[int, Any]:
        """The fields that are wanted; the others are passed over."""
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != STOP:
            step, kind = head >> 4, head & 15
            number = number + step if step else self._whole()
            value = self._value(kind, (wanted or {}).get(number), depth)
            if wanted and number in wanted:
                found[number] = value if isinstance(value, int if wanted[number] is None else dict | list) else 0
        return found

    def _value(self, kind: int, wanted: dict[int, Any] | None, depth: int) -> Any:
        self._step(depth)
        if kind in (TRUE, FALSE):
            return 0
        if kind == BYTE:
            return self._byte()
        if kind in (I16, I32, I64):
            return self._whole()
        if kind in (DOUBLE, BINARY):
            return self._skip(8 if kind == DOUBLE else self._count())
        if kind in (LIST, SET):
            head = self._byte()
            many = self._count() if head >> 4 == 15 else head >> 4
            found = [self._element(head & 15, wanted, depth) for _ in range(many)]
            return found if wanted else 0
        if kind == MAP:
            many = self._count()
            kinds = self._byte() if many else 0
            for _ in range(many):
                self._element(kinds >> 4, None, depth), self._element(kinds & 15, None, depth)
            return 0
        if kind == STRUCT:
            return self.struct(wanted, depth + 1)
        raise _Damaged("its end cannot be read")

    def _element(self, kind: int, wanted: dict[int, Any] | None, depth: int) -> Any:
        """An element of a list, where truth has a byte of its own."""
        self._step(depth)
        return self._byte() if kind in (TRUE, FALSE) else self._value(kind, wanted, depth + 1)

    def _step(self, depth: int) -> None:
        self.steps += 1
        if depth > DEEPEST or self.steps > MOST_STEPS:
            raise _Damaged("its end nests too deeply, or says too much")

    def _byte(self) -> int:
        if self.at >= self.end:
            raise _Damaged("its end is cut off")
        self.at += 1
        return self.data[self.at - 1]

    def _count(self) -> int:
        """A number without sign, of things that take at least a byte each."""
        found, shift = 0, 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise _Damaged("its end has a number without end")

    def _whole(self) -> int:
        zigzag = self._count()
        return (zigzag >> 1) ^ -(zigzag & 1)

    def _skip(self, size: int) -> int:
        if size > self.end - self.at:
            raise _Damaged("its end is cut off")
        self.at += size
        return 0
