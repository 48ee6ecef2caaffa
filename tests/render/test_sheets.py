"""A contact sheet that is put together from strips has the pixels of one that is painted and packed as a whole."""

import io

import numpy as np
import pytest
from PIL import Image

from recombine.render.grid import written
from recombine.render.png import decoded
from recombine.render.sheets import COLUMNS, GAP, contact_sheet, strip
from recombine.store.key import Key


def pictures(many: int, height: int, width: int) -> list[np.ndarray]:
    rng = (Key(5) / "sheets" / many).rng()
    flat = np.repeat(rng.integers(0, 256, (many, height, 1, 3), np.uint8), width, axis=2)
    flat[:, height // 3 :, width // 2 :] = rng.integers(0, 256, (many, height - height // 3, width - width // 2, 3))
    return [*flat]


def painted(pictures: list[np.ndarray], apart: int) -> np.ndarray:
    """The same page, the plain way."""
    height, width, _ = pictures[0].shape
    columns = min(COLUMNS, max(apart, len(pictures) - apart))
    above = -(-apart // columns)
    rows = above + -(-(len(pictures) - apart) // columns)
    wider = 3 * GAP if 0 < apart < len(pictures) else 0
    page = np.full((rows * (height + GAP) + GAP + wider, columns * (width + GAP) + GAP, 3), 255, np.uint8)
    for place, picture in enumerate(pictures):
        row, column = divmod(place if place < apart else place - apart, columns)
        if place >= apart:
            row += above
        top, left = GAP + row * (height + GAP) + (wider if place >= apart else 0), GAP + column * (width + GAP)
        page[top : top + height, left : left + width] = picture
        number = written(str(place + 1))[: height // 2, : width // 2]
        page[top : top + len(number), left : left + number.shape[1]] = number
    return page


@pytest.mark.parametrize(
    ("many", "apart", "size"),
    [(50, 25, (16, 24)), (50, 25, (40, 60)), (1, 0, (40, 60)), (6, 5, (40, 60)), (23, 11, (9, 40)), (12, 12, (40, 10))],
)
def test_a_sheet_has_the_pixels_of_a_painted_one(many: int, apart: int, size: tuple[int, int]) -> None:
    some = pictures(many, *size)
    page = contact_sheet([strip(one) for one in some], apart)
    assert np.array_equal(decoded(page), painted(some, apart))
    with Image.open(io.BytesIO(page)) as theirs:  # checks what zlib's stream and the chunks say of themselves
        theirs.load()
        assert np.array_equal(np.asarray(theirs), painted(some, apart))


def test_a_sheet_of_many_has_numbers_of_three_digits() -> None:
    some = pictures(120, 40, 60)
    assert np.array_equal(decoded(contact_sheet([*map(strip, some)], 60)), painted(some, 60))


def test_the_same_pictures_give_the_same_bytes() -> None:
    some = [strip(one) for one in pictures(12, 40, 60)]
    assert contact_sheet(some, 6) == contact_sheet([*map(memoryview, some)], 6)
