"""Laws of masks: what is encoded is decoded, and the fast way says what a walk over the pixels says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from recombine.render.masks import decode, encode, seen

PLACES = 3
sides = some.integers(1, 6)
pictures = some.tuples(some.integers(0, 3), sides, sides).flatmap(
    lambda shape: arrays(np.int16, shape, elements=some.integers(-1, PLACES - 1))
)


def plain_lengths(mask: np.ndarray) -> list[int]:
    """Down the columns, pixel by pixel."""
    lengths, inside = [0], False
    for column in mask.T.tolist():
        for pixel in column:
            if pixel != inside:
                lengths.append(0)
                inside = pixel
            lengths[-1] += 1
    return lengths


def plain_box(mask: np.ndarray) -> list[int]:
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return [0, 0, 0, 0]
    left, top = int(columns.min()), int(rows.min())
    return [left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1]


@given(pictures)
def test_run_lengths_are_those_of_a_walk_down_the_columns(objects: np.ndarray) -> None:
    runs = encode(objects, PLACES)
    plain = [plain_lengths(picture == place) for picture in objects for place in range(PLACES)]
    assert [runs.of(number).tolist() for number in range(len(objects) * PLACES)] == plain
    assert runs.first[-1] == len(runs.lengths)


@given(pictures)
def test_what_is_encoded_is_decoded(objects: np.ndarray) -> None:
    runs = encode(objects, PLACES)
    for number in range(len(objects) * PLACES):
        picture, place = divmod(number, PLACES)
        mask = decode(runs.of(number), objects.shape[2], objects.shape[1])
        np.testing.assert_array_equal(mask, objects[picture] == place)


@given(pictures)
def test_visible_pixels_and_boxes_are_those_of_the_masks(objects: np.ndarray) -> None:
    found = seen(objects, PLACES)
    masks = [[picture == place for place in range(PLACES)] for picture in objects]
    assert found.visible.tolist() == [[int(mask.sum()) for mask in row] for row in masks]
    assert found.boxes.tolist() == [[plain_box(mask) for mask in row] for row in masks]


def test_a_square_in_a_corner() -> None:
    objects = np.full((1, 4, 5), -1, np.int16)
    objects[0, :2, :2] = 1
    assert encode(objects, 2).of(1).tolist() == [0, 2, 2, 2, 14]
    assert encode(objects, 2).of(0).tolist() == [20]
    assert seen(objects, 2).boxes.tolist() == [[[0, 0, 0, 0], [0, 0, 2, 2]]]


@pytest.mark.parametrize("lengths", [[3, 4], [7, -1], []])
def test_lengths_that_do_not_fill_the_picture_are_refused(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="sum up to 6"):
        decode(np.array(lengths), 3, 2)
