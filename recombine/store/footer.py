"""The end of a Parquet file, where it says what it holds: how many values each column has, and how large they are.

PyArrow ends the whole process where this is damaged in some ways. So it is read here first, as far as it is needed: it
is a tree in Thrift's compact protocol, of which four levels are looked at and the rest is passed over.

    file (4: row groups) -> row group (1: columns) -> column (3: its data) -> data (5: values, 6: bytes unpacked)
"""

from pathlib import Path
from typing import Any, NamedTuple

MAGIC = b"PAR1"
LONGEST = 64 * 2**20
"""Bytes of the end of a file."""
DEEPEST = 32
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
WANTED: dict[int, Any] = {4: {1: {3: {5: None, 6: None}}}}
"""Fields by their numbers; what they hold, of those that hold fields again."""


class Chunk(NamedTuple):
    """A column of a row group."""

    values: int
    bytes: int


class _Damaged(ValueError):
    pass


def chunks_of(file: Path) -> list[Chunk]:
    """The columns of all row groups; a ValueError where the end of the file cannot be read."""
    with file.open("rb") as content:
        size = content.seek(0, 2)
        content.seek(max(0, size - 8))
        end = content.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != MAGIC or not 0 < length <= min(LONGEST, size - 8):
            raise _Damaged("it does not end as a Parquet file does")
        content.seek(size - 8 - length)
        found = _Compact(content.read(length)).struct(WANTED, 0)
    columns = [column for group in _structs(found.get(4)) for column in _structs(group.get(1))]
    data = [column[3] for column in columns if isinstance(column.get(3), dict)]
    return [Chunk(abs(one.get(5, 0)), abs(one.get(6, 0))) for one in data]


def _structs(found: Any) -> list[dict[int, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


class _Compact:
    """Reads Thrift's compact protocol from its beginning."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

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
        if depth > DEEPEST:
            raise _Damaged("its end nests too deeply")
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
            return [self._element(head & 15, wanted, depth) for _ in range(many)]
        if kind == MAP:
            many = self._count()
            kinds = self._byte() if many else 0
            return [self._element(one, None, depth) for _ in range(many) for one in (kinds >> 4, kinds & 15)]
        if kind == STRUCT:
            return self.struct(wanted, depth + 1)
        raise _Damaged("its end cannot be read")

    def _element(self, kind: int, wanted: dict[int, Any] | None, depth: int) -> Any:
        """An element of a list, where truth has a byte of its own."""
        return self._byte() if kind in (TRUE, FALSE) else self._value(kind, wanted, depth + 1)

    def _byte(self) -> int:
        if self.at >= len(self.data):
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
        if size > len(self.data) - self.at:
            raise _Damaged("its end is cut off")
        self.at += size
        return 0
