"""Laws of PNG files: what is written is read, by us and by others, and every damage is noticed."""

import io
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from recombine.render.png import (
    GRAY,
    GRAY_ALPHA,
    PALETTE,
    RGB,
    RGBA,
    SIGNATURE,
    Flaw,
    decoded,
    png,
    read_png,
    unfiltered,
)
from recombine.store.errors import UserError

sides = some.integers(1, 7)
images = some.tuples(sides, sides).flatmap(lambda size: arrays(np.uint8, (*size, 3)))
filtered = some.tuples(sides, sides, some.integers(1, 4)).flatmap(
    lambda size: some.tuples(arrays(np.uint8, size[0], elements=some.integers(0, 4)), arrays(np.uint8, size))
)
STRIPES = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)


def plainly_unfiltered(filters: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Byte by byte, as the standard tells it."""
    height, width, step = rows.shape
    out: dict[tuple[int, int], int] = {}
    for r in range(height):
        for i, stored in enumerate(rows[r].ravel().tolist()):
            left, above, corner = (out.get(at, 0) for at in ((r, i - step), (r - 1, i), (r - 1, i - step)))
            near = sorted(
                (abs(left + above - corner - value), place) for place, value in enumerate((left, above, corner))
            )
            paeth = (left, above, corner)[near[0][1]]
            out[r, i] = (stored + (0, left, above, (left + above) // 2, paeth)[filters[r]]) % 256
    return np.array([out[key] for key in sorted(out)], np.uint8).reshape(height, width, step)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def file_of(
    rows: bytes, width: int, height: int, depth: int, kind: int, interlaced: int = 0, palette: bytes = b""
) -> bytes:
    """A file that promises what the numbers say, with these bytes for rows."""
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)
    colours = chunk(b"PLTE", palette) if palette else b""
    return SIGNATURE + chunk(b"IHDR", header) + colours + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@given(images, some.integers(1, 9))
def test_what_is_written_is_read(pixels: np.ndarray, level: int) -> None:
    np.testing.assert_array_equal(decoded(png(pixels, level)), pixels)


def test_a_file_holds_nothing_but_the_pixels() -> None:
    assert re.findall(rb"[A-Z]{4}", png(np.zeros((2, 2, 3), np.uint8))) == [b"IHDR", b"IDAT", b"IEND"]
    assert png(STRIPES) == png(STRIPES[::-1].copy()[::-1])


@given(filtered)
def test_fast_unfiltering_equals_plain_unfiltering(case: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_array_equal(unfiltered(*case), plainly_unfiltered(*case))


@given(filtered)
def test_filtered_rows_are_read(case: tuple[np.ndarray, np.ndarray]) -> None:
    filters, rows = case
    height, width, channels = rows.shape
    kind = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGBA}[channels]
    lines = np.concatenate([filters[:, None], rows.reshape(height, -1)], axis=1)
    pixels = decoded(file_of(lines.tobytes(), width, height, 8, kind))
    colours = plainly_unfiltered(filters, rows)
    expected = colours[..., :3] if channels > 2 else colours[..., [0, 0, 0]]
    np.testing.assert_array_equal(pixels, expected)


# --- Pillow ---------------------------------------------------------------------------------------------------------

MODES = {
    "L": lambda image: image.convert("L"),
    "LA": lambda image: image.convert("LA"),
    "1": lambda image: image.convert("1"),
    "RGB": lambda image: image,
    "RGBA": lambda image: image.convert("RGBA"),
    "P, 2 colours": lambda image: image.quantize(2),
    "P, 4 colours": lambda image: image.quantize(4),
    "P, 16 colours": lambda image: image.quantize(16),
    "P, 256 colours": lambda image: image.quantize(256),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(1, 1), (7, 13), (32, 32)])
def test_files_of_pillow_are_read(mode: str, shape: tuple[int, int], tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image", reason="Pillow writes the files to compare with")
    rng = np.random.default_rng(7)
    pixels = np.cumsum(rng.integers(0, 9, (*shape, 3)), axis=0).astype(np.uint8)  # smooth: Pillow filters it
    image = MODES[mode](pillow.fromarray(pixels))
    image.save(tmp_path / "it.png")
    np.testing.assert_array_equal(read_png(tmp_path / "it.png"), np.asarray(image.convert("RGB")))


def test_pillow_reads_our_files() -> None:
    pillow = pytest.importorskip("PIL.Image", reason="Pillow reads the files to compare with")
    with pillow.open(io.BytesIO(png(STRIPES))) as image:
        np.testing.assert_array_equal(np.asarray(image), STRIPES)


# --- flaws ----------------------------------------------------------------------------------------------------------


def test_every_changed_byte_and_every_cut_is_noticed() -> None:
    whole = png(STRIPES)
    for i in range(len(whole)):
        for damaged in (whole[:i], whole[:i] + bytes([whole[i] ^ 64]) + whole[i + 1 :]):
            with pytest.raises(Flaw, match=r"is damaged|is not a PNG"):
                decoded(damaged)


FLAWED = {
    "is not a PNG image": b"GIF89a",
    "has 16 bits per channel; save it with 8": file_of(bytes(7), 1, 1, 16, RGB),
    "is interlaced; save it without interlacing": file_of(bytes(4), 1, 1, 8, RGB, interlaced=1),
    "no PNG has a header such as": file_of(bytes(4), 1, 1, 4, RGB),
    "does not begin with a header": SIGNATURE + chunk(b"IEND", b""),
    "is said to be 70000 by 70000": file_of(bytes(4), 70_000, 70_000, 8, RGB),
    "is said to be 0 by 1": file_of(b"", 0, 1, 8, RGB),
    "too few or too many pixels for 2 by 1": file_of(bytes(4), 2, 1, 8, RGB),
    "too few or too many pixels for 1 by 1": file_of(bytes(99), 1, 1, 8, RGB),
    "there is no filter 5": file_of(b"\5\0\0\0", 1, 1, 8, RGB),
    "palette lacks some of its colours": file_of(b"\0\1", 1, 1, 8, PALETTE, palette=bytes(3)),
    "its pixels cannot be unpacked": (
        SIGNATURE
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, RGB, 0, 0, 0))
        + chunk(b"IDAT", b"??")
        + chunk(b"IEND", b"")
    ),
}


@pytest.mark.parametrize("sentence", FLAWED)
def test_a_flawed_file_is_told_in_one_sentence(sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "it.png"
    file.write_bytes(FLAWED[sentence])
    with pytest.raises(UserError, match=re.escape(str(file)) + " .*" + re.escape(sentence)):
        read_png(file)


def test_a_stream_without_its_end_is_noticed() -> None:
    packed = zlib.compress(bytes(4))
    damaged = file_of(bytes(4), 1, 1, 8, RGB).replace(chunk(b"IDAT", packed), chunk(b"IDAT", packed[:-1]))
    with pytest.raises(Flaw, match="too few or too many"):
        decoded(damaged)


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.png", tmp_path):
        with pytest.raises(UserError, match="cannot be read"):
            read_png(path)


@pytest.mark.parametrize("pixels", [np.zeros((2, 2)), np.zeros((2, 2), np.uint8), np.zeros((0, 2, 3), np.uint8)])
def test_only_images_are_written(pixels: np.ndarray) -> None:
    with pytest.raises(ValueError, match="an image is uint8"):
        png(pixels)
