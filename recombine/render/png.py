"""PNG files, written and read with zlib alone.

A PNG is a signature and some *chunks*: a length, a name, the data and a checksum. The chunks IDAT together are one zlib
stream, the rows of the image from the top. Every row begins with the number of its *filter*, which says how its bytes
were predicted: not at all, from the left, from above, from the mean of these, or from the likeliest of left, above and
corner (Paeth). What is stored is the difference, modulo 256.
"""

import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recombine.store.errors import UserError
from recombine.store.untrusted import read_bytes

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
PACKED = (GRAY, PALETTE)
"""The kinds of which several pixels may share a byte."""
LARGEST, LONGEST = 2**24, 8192
"""So many pixels may a file promise, and so many along a side; a few damaged bytes shall not fill the memory."""
MOST_CHUNKS = 100_000


class Flaw(Exception):
    """What is wrong with a file, as the end of a sentence that begins with its name."""


class Header(NamedTuple):
    """What IHDR says."""

    width: int
    height: int
    depth: int
    kind: int
    compression: int
    filtering: int
    interlaced: int

    @property
    def row(self) -> int:
        """The bytes of a row."""
        return (self.width * CHANNELS[self.kind] * self.depth + 7) // 8

    @property
    def step(self) -> int:
        """The bytes from a pixel to the next, at least one."""
        return max(1, CHANNELS[self.kind] * self.depth // 8)


# --- writing ------------------------------------------------------------------------------------------------------


def png(pixels: np.ndarray, level: int = 9) -> bytes:
    """The file of an image uint8[h, w, 3]: 8-bit RGB, not interlaced, no filters, no dates; equal pixels, equal bytes.

    `level` is zlib's, from 1 (fast) to 9 (small).

    >>> png(np.zeros((32, 32, 3), np.uint8))[1:4]
    b'PNG'
    """
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(f"an image is uint8[h, w, 3] with a pixel or more, not {pixels.dtype}{list(pixels.shape)}")
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    return png_of_stream(width, height, zlib.compress(rows.tobytes(), level))


def png_of_stream(width: int, height: int, stream: bytes) -> bytes:
    """The file of an image whose rows are packed already, each after the number of its filter."""
    header = struct.pack(">IIBBBBB", *Header(width, height, 8, RGB, 0, 0, 0))
    chunks = ((b"IHDR", header), (b"IDAT", stream), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


# --- reading ------------------------------------------------------------------------------------------------------


def read_png(path: Path | str, longest: int = LONGEST) -> np.ndarray:
    """The pixels of a file, uint8[h, w, 3]: gray, RGB or palette, up to 8 bits each, not interlaced.

    Transparency is ignored, as by most who read images to learn from them. No side may have more than `longest` pixels.
    """
    data = read_bytes(path, 5 * min(LARGEST, longest**2) + 2**20)
    try:
        return decoded(data, longest)
    except Flaw as flaw:
        raise UserError(f"{path} {flaw}") from flaw


def decoded(data: bytes, longest: int = LONGEST) -> np.ndarray:
    """The pixels in the bytes of a file, uint8[h, w, 3]."""
    chunks = _chunks(data)
    header = _header(chunks, longest)
    rows = _unpacked(_rows(header, _joined(chunks, b"IDAT")), header)
    if header.kind == PALETTE:
        return _looked_up(rows[..., 0], _joined(chunks, b"PLTE"))
    return rows if header.kind in (RGB, RGBA) else rows.repeat(3, axis=-1)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """The chunks up to IEND, all of them sound."""
    if not data.startswith(SIGNATURE):
        raise Flaw("is not a PNG image")
    chunks, start = list[tuple[bytes, bytes]](), len(SIGNATURE)
    while not chunks or chunks[-1][0] != b"IEND":
        if len(chunks) > MOST_CHUNKS:
            raise Flaw(f"is damaged: it has more than {MOST_CHUNKS:,} chunks")
        if len(data) < start + 12:
            raise Flaw("is damaged: it ends too early")
        size = int.from_bytes(data[start : start + 4], "big")
        name, content, end = data[start + 4 : start + 8], data[start + 8 : start + 8 + size], start + 12 + size
        if data[start:end] != _chunk(name, content):
            raise Flaw(f"is damaged: its chunk at byte {start} is cut off, or has another checksum")
        chunks.append((name, content))
        start = end
    return chunks


def _joined(chunks: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    return b"".join(content for found, content in chunks if found == name)


def _header(chunks: list[tuple[bytes, bytes]], longest: int) -> Header:
    name, content = chunks[0]
    if name != b"IHDR" or len(content) != 13:
        raise Flaw("is damaged: it does not begin with a header")
    header = Header(*struct.unpack(">IIBBBBB", content))
    if header.depth == 16:
        raise Flaw("has 16 bits per channel; save it with 8")
    if header.interlaced:
        raise Flaw("is interlaced; save it without interlacing")
    depths = (1, 2, 4, 8) if header.kind in PACKED else (8,)
    if header.kind not in CHANNELS or header.depth not in depths or header.compression or header.filtering:
        raise Flaw(f"is damaged: no PNG has a header such as {tuple(header)}")
    if not 0 < header.width * header.height <= LARGEST or max(header.width, header.height) > longest:
        most = f"{LARGEST:,} pixels, and at most {longest:,} a side"
        raise Flaw(f"is said to be {header.width} by {header.height}; an image has 1 to {most}")
    return header


def _rows(header: Header, packed: bytes) -> np.ndarray:
    """The bytes of all rows, uint8[h, pixels or bytes of a row, step]."""
    size = header.height * (1 + header.row)
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, size + 1)
    except zlib.error as error:
        raise Flaw("is damaged: its pixels cannot be unpacked") from error
    if len(data) != size or not stream.eof:
        raise Flaw(f"is damaged: it has too few or too many pixels for {header.width} by {header.height}")
    lines = np.frombuffer(data, np.uint8).reshape(header.height, 1 + header.row)
    if lines[:, 0].max() > 4:
        raise Flaw(f"is damaged: there is no filter {lines[:, 0].max()}")
    channels = header.step - (header.kind in (GRAY_ALPHA, RGBA))  # each is filtered by itself
    return unfiltered(lines[:, 0], lines[:, 1:].reshape(header.height, -1, header.step)[..., :channels])


def unfiltered(filters: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The bytes before they were filtered: uint8[h], uint8[h, n, step] -> uint8[h, n, step].

    A pixel needs its neighbours to the left, above and in the corner, which lie on the two diagonals before its own: so
    one diagonal is computed at a time. In memory its pixels are as far apart as a row is long.
    """
    if not filters.any():
        return rows
    height, width, step = rows.shape
    edged = np.zeros((height + 1, width + 1, step), np.int16)  # zeros above and to the left
    edged[1:, 1:] = rows
    flat = edged.reshape(-1, step)
    for diagonal in range(height + width - 1):
        first, end = max(0, diagonal - width + 1), min(height, diagonal + 1)
        start, length = (first + 1) * (width + 1) + diagonal - first + 1, (end - first - 1) * width + 1
        places = (slice(start - back, start - back + length, width) for back in (0, 1, width + 1, width + 2))
        stored, left, above, corner = (flat[place] for place in places)
        stored[:] = (stored + _predicted(filters[first:end, None], left, above, corner)) & 255
    return edged[1:, 1:].astype(np.uint8)


def _predicted(filters: np.ndarray, left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """What each of the five filters expects."""
    straight = left + above - corner
    to_left, to_above, to_corner = (np.abs(straight - near) for near in (left, above, corner))
    upper = np.where(to_above <= to_corner, above, corner)
    paeth = np.where((to_left <= to_above) & (to_left <= to_corner), left, upper)
    return np.choose(filters, (np.int16(0), left, above, (left + above) >> 1, paeth))


def _unpacked(rows: np.ndarray, header: Header) -> np.ndarray:
    """One byte per channel: uint8[h, w, channels]; a gray of fewer bits is spread from 0 to 255."""
    if header.depth == 8:
        return rows
    bits = np.unpackbits(rows[..., 0], axis=1)[:, : header.width * header.depth]
    weights = (1 << np.arange(header.depth)[::-1]).astype(np.uint8)
    values = (bits.reshape(header.height, header.width, header.depth) @ weights)[..., None]
    return values * np.uint8(255 // (2**header.depth - 1)) if header.kind == GRAY else values


def _looked_up(indices: np.ndarray, palette: bytes) -> np.ndarray:
    if len(palette) % 3 or indices.max() >= len(palette) // 3:
        raise Flaw("is damaged: its palette lacks some of its colours")
    return np.frombuffer(palette, np.uint8).reshape(-1, 3)[indices]
