"""Contact sheets: all pictures of a row on one page, numbered from 1.

A PNG is packed from the top, and a line of pixels runs through all pictures that stand side by side. To pack a page of
fifty pictures takes longer than to draw some of them. So a picture is kept as a *strip*: its lines, each packed for
itself, so that it can stand anywhere in a stream (it ends on a byte and refers to nothing before it), and what the
checksum of the page must know of them. A page is then put together without packing anything anew; the corners, where
the numbers stand, are stored unpacked.

What is packed are the differences of pixels to their left neighbours (PNG's filter 1). Between pictures there is white.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recombine.render.grid import written
from recombine.render.media import Drawing
from recombine.render.png import decoded, png_of_stream
from recombine.world.scenes import Scenes

COLUMNS = 10
"""Pictures side by side."""
GAP = 4
"""White pixels between pictures; three times as many lines before those that are asked about."""
LEVEL = 6
FILTER = 1
PRIME = 65521
"""Of Adler's checksum: with bytes d of n, 1 + sum(d) and n + sum((n - i) d[i]), both modulo this."""
HEADER = struct.Struct("<IIII")  # height, width, lines and pixels of the corner
FIRST, LAST = b"\x78\x01", b"\x03\x00"
"""How a stream of zlib begins, and an empty block at its end."""
STORED = struct.Struct("<BHH")


@dataclass(frozen=True)
class Strips:
    """Another drawing's pictures as strips."""

    pictures: Drawing
    kind: str = "images"
    suffix: str = ".png"
    mime: str = "image/png"

    def files(self, scenes: Scenes) -> list[bytes]:
        return [strip(decoded(file)) for file in self.pictures.files(scenes)]


class Lines(NamedTuple):
    """Packed lines, and what Adler's checksum must know of each."""

    packed: Sequence[bytes | memoryview]
    size: np.ndarray  # int64[lines]: bytes before they were packed
    total: np.ndarray  # int64[lines]: their sum
    weighted: np.ndarray  # int64[lines]: the sum of each times how many there are from it to the end


def strip(pixels: np.ndarray) -> bytes:
    """The strip of a picture, uint8[h, w, 3]; its lines end in the white gap that separates it from the next."""
    height, width, _ = pixels.shape
    tall, wide = _corner(height, width)
    framed = np.pad(pixels, ((0, 0), (0, GAP), (0, 0)), constant_values=255)
    steps = _steps(framed)
    rows = [steps[:tall, wide:].reshape(tall, -1), steps[tall:].reshape(height - tall, -1)]
    lines = [_packed(some) for some in rows]
    sizes = np.array([len(one) for some in lines for one in some.packed], np.int32)
    sums = np.concatenate([np.stack([some.total, some.weighted], 1) for some in lines]).astype(np.int32)
    parts = [
        sizes.tobytes(),
        sums.tobytes(),
        framed[:tall, :wide].tobytes(),
        *(b"".join(some.packed) for some in lines),
    ]
    return HEADER.pack(height, width, tall, wide) + b"".join(parts)


def _corner(height: int, width: int) -> tuple[int, int]:
    """Lines and pixels that a number may change: those that it takes, and the next, whose neighbour it is."""
    tall, wide, _ = written("888").shape
    return min(tall, height // 2), min(wide, width // 2) + 1


def _steps(pixels: np.ndarray) -> np.ndarray:
    """The differences to the left neighbours, the first of which is white."""
    return np.diff(pixels, axis=1, prepend=np.uint8(255))


def _packed(rows: np.ndarray) -> Lines:
    """Lines of bytes, uint8[lines, n], each packed for itself."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9)
    packed = [packer.compress(row.tobytes()) + packer.flush(zlib.Z_FULL_FLUSH) for row in rows]
    return Lines(packed, *_sums(rows))


def _sums(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    many = rows.shape[1]
    total, weighted = rows.sum(axis=1, dtype=np.int64), rows.astype(np.int64) @ np.arange(many, 0, -1)
    return np.full(len(rows), many), total % PRIME, weighted % PRIME


class _Strip(NamedTuple):
    """A strip that is read."""

    corner: np.ndarray  # uint8[lines, pixels, 3]
    lines: Lines


def _read(content: bytes | memoryview) -> _Strip:
    height, width, tall, wide = HEADER.unpack_from(content)
    place, numbers = HEADER.size + 12 * height, np.frombuffer(content, np.int32, 3 * height, HEADER.size)
    corner = np.frombuffer(content, np.uint8, tall * wide * 3, place).reshape(tall, wide, 3)
    first = place + corner.size
    ends = [first, *(first + np.cumsum(numbers[:height])).tolist()]
    view, sums = memoryview(content), numbers[height:].reshape(height, 2).astype(np.int64)
    size = np.full(height, 3 * (width + GAP))
    size[:tall] -= 3 * wide
    return _Strip(corner, Lines([view[low:high] for low, high in pairwise(ends)], size, *sums.T))


def contact_sheet(strips: Sequence[bytes | memoryview], apart: int) -> bytes:
    """Strips on one sheet, as PNG; there is a wider gap before place `apart`, where a new row begins."""
    height, width, _, _ = HEADER.unpack_from(strips[0])
    columns = min(COLUMNS, max(apart, len(strips) - apart))
    across = 3 * (columns * (width + GAP) + GAP)
    parts = [_white(1 + across, GAP)]
    for low, high in ((0, apart), (apart, len(strips))):
        parts += [_white(1 + across, 3 * GAP)] if low and high > low else []
        for start in range(low, high, columns):
            some = [_numbered(strips[i], i + 1) for i in range(start, min(start + columns, high))]
            empty = [_white(3 * (width + GAP), height)] * (columns - len(some))
            parts += [_side_by_side([_white(1 + 3 * GAP, height), *(one for two in some for one in two), *empty])]
            parts += [_white(1 + across, GAP)]
    stream = [FIRST, *(piece for part in parts for piece in part.packed), LAST, _checksum(parts)]
    lines = sum(len(part.packed) if part.size[0] == 1 + across else height for part in parts)
    return png_of_stream(columns * (width + GAP) + GAP, lines, b"".join(stream))


def _numbered(content: bytes | memoryview, number: int) -> tuple[Lines, Lines]:
    """The corner of a picture with its number, and the rest of its lines."""
    corner, lines = _read(content)
    tall, wide, _ = corner.shape
    marked, label = corner.copy(), _label(number)[:tall, : wide - 1]
    marked[: len(label), : label.shape[1]] = label
    rows = _steps(marked).reshape(tall, 3 * wide)
    stored = np.empty((tall, STORED.size + 3 * wide), np.uint8)
    stored[:, : STORED.size] = np.frombuffer(STORED.pack(0, 3 * wide, 0xFFFF - 3 * wide), np.uint8)
    stored[:, STORED.size :] = rows
    view, step = memoryview(stored.tobytes()), stored.shape[1]
    below = len(lines.packed) - tall
    packed: list[bytes | memoryview] = [view[low : low + step] for low in range(0, tall * step, step)]
    return Lines(packed + [b""] * below, *(np.pad(one, (0, below)) for one in _sums(rows))), lines


@lru_cache(maxsize=1024)
def _label(number: int) -> np.ndarray:
    return written(str(number))


@lru_cache(maxsize=64)
def _white(many: int, lines: int) -> Lines:
    """White lines of so many bytes; where they begin those of the page, with the number of the filter."""
    row = np.zeros((1, many), np.uint8)
    if many % 3:
        row[0, :4] = FILTER, 255, 255, 255
    packed, *sums = _packed(row)
    return Lines([*packed] * lines, *(np.repeat(one, lines) for one in sums))


def _side_by_side(parts: Sequence[Lines]) -> Lines:
    """The lines of parts next to each other, as one part after the other along every line."""
    packed = [piece for row in zip(*(part.packed for part in parts)) for piece in row]
    return Lines(packed, *(np.stack(some, 1).reshape(-1) for some in _numbers(parts)))


def _numbers(parts: Sequence[Lines]) -> list[list[np.ndarray]]:
    """Sizes, totals and weighted sums of parts."""
    return [[part.size for part in parts], [part.total for part in parts], [part.weighted for part in parts]]


def _checksum(parts: Sequence[Lines]) -> bytes:
    """Adler's, of all lines before they were packed."""
    size, total, weighted = map(np.concatenate, _numbers(parts))
    after = size.sum() - np.cumsum(size)
    low = (1 + total.sum()) % PRIME
    high = (size.sum() + (weighted + after % PRIME * total).sum()) % PRIME
    return struct.pack(">HH", high, low)
