"""TensorBoard's event files: scalars by name and step, so that a training can be watched while it goes on.

A file is a row of records; a record is the length of its data, a checksum of the length, the data, and a checksum of
the data. The data is an `Event` in Protocol Buffers' wire format, of which scalars need very little.
"""

import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from recombine.store.errors import UserError
from recombine.store.untrusted import read_bytes

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5
"""Wire types."""
START = 1
"""The status of a session that begins: TensorBoard drops what earlier files say of its step and later ones."""


class Scalar(NamedTuple):
    """One value."""

    step: int
    name: str
    value: float


class Events:
    """An event file that scalars are appended to; a training that goes on begins another file."""

    def __init__(self, folder: Path, step: int) -> None:
        taken = len(list(folder.glob("events.out.tfevents.*")))
        self.file = folder / f"events.out.tfevents.{int(time.time()):010d}.{taken}"
        self._append(_bytes(3, b"brain.Event:2"), 0)
        if step:
            self._append(_bytes(7, _field(1, VARINT) + _varint(START)), step)

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """What these values are at a step."""
        summary = b"".join(_bytes(1, _bytes(1, name.encode()) + _float(2, value)) for name, value in values.items())
        self._append(_bytes(5, summary), step)

    def _append(self, what: bytes, step: int) -> None:
        event = _field(1, DOUBLE) + struct.pack("<d", time.time()) + _field(2, VARINT) + _varint(step) + what
        with self.file.open("ab") as file:
            file.write(_record(event))


def read_scalars(file: Path) -> Iterator[Scalar]:
    """The scalars of an event file; a record that was cut off at the end is left out."""
    whole, at = read_bytes(file), 0
    while at + 12 <= len(whole):
        (length,) = struct.unpack_from("<Q", whole, at)
        data = whole[at + 12 : at + 12 + length]
        if len(whole) < at + 16 + length:
            return
        _check(whole[at : at + 8], whole[at + 8 : at + 12], file)
        _check(data, whole[at + 12 + length : at + 16 + length], file)
        try:
            yield from list(_scalars(data))
        except (KeyError, IndexError, ValueError, struct.error):
            raise UserError(f"{file} is damaged; remove it, or copy it again") from None
        at += 16 + length


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _row(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc


_TABLE = tuple(map(_row, range(256)))


def _masked(data: bytes) -> bytes:
    """The checksum as records hold it: turned, so that the checksum of a checksum is not trivial."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _check(data: bytes, checksum: bytes, file: Path) -> None:
    if _masked(data) != checksum:
        raise UserError(f"{file} is damaged; remove it, or copy it again")


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _bytes(number: int, data: bytes) -> bytes:
    return _field(number, BYTES) + _varint(len(data)) + data


def _float(number: int, value: float) -> bytes:
    return _field(number, FLOAT) + struct.pack("<f", value)


def _scalars(event: bytes) -> Iterator[Scalar]:
    fields = dict(_fields(event))
    for number, value in _fields(fields.get(5, b"")):
        about = dict(_fields(value))
        if number == 1 and 2 in about:
            yield Scalar(_number(fields.get(2, b"\0")), about[1].decode(), struct.unpack("<f", about[2])[0])


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of every field; those of a varint as they stand."""
    at = 0
    while at < len(message):
        tag, at = _take_varint(message, at)
        wire = tag & 7
        if wire == BYTES:
            size, at = _take_varint(message, at)
        elif wire == VARINT:
            size = _take_varint(message, at)[1] - at
        else:
            size = {DOUBLE: 8, FLOAT: 4}[wire]
        yield tag >> 3, message[at : at + size]
        at += size


def _take_varint(message: bytes, at: int) -> tuple[int, int]:
    end = at
    while message[end] & 0x80:
        end += 1
    return _number(message[at : end + 1]), end + 1


def _number(varint: bytes) -> int:
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(varint))
