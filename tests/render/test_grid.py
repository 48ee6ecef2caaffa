"""Laws of grid images: points, codes, pixels and scenes lead to each other and back."""

from itertools import combinations, groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays
from rich.text import Text

from recombine.render.grid import (
    BLACK,
    BORDER,
    COLORS,
    GAP,
    GROUND,
    INK,
    MARGIN,
    Points,
    _font,
    _letter,
    codes,
    enlarge,
    from_pixels,
    grid_codes,
    grid_images,
    paint,
    points_of,
    scenes,
    sheet,
    terminal,
)
from recombine.store.errors import UserError
from recombine.world.scenes import ABSENT

FIVE = ("blue", "red", "green", "yellow", "white")
WIDTH, HEIGHT = 6, 4

batches = some.integers(0, 4).flatmap(
    lambda n: arrays(np.uint8, (n, HEIGHT, WIDTH), elements=some.integers(0, 5), fill=some.just(0))
)
point_sets = some.lists(
    some.dictionaries(
        some.tuples(some.integers(0, WIDTH - 1), some.integers(0, HEIGHT - 1)), some.integers(0, 4), max_size=6
    ),
    max_size=4,
)


def columns(images: list[dict[tuple[int, int], int]], places: int = 6) -> Points:
    """Points by place as arrays, with gaps between them."""
    x, y, color = (np.full((len(images), 2 * places), blank) for blank in (99, -1, ABSENT))
    for i, points in enumerate(images):
        for k, (at, code) in enumerate(points.items()):
            x[i, 2 * k + i % 2], y[i, 2 * k + i % 2], color[i, 2 * k + i % 2] = *at, code
    return Points(x, y, color)


# --- points, codes, pixels, scenes --------------------------------------------------------------------------------


@given(point_sets)
def test_points_are_drawn_where_they_are(images: list[dict[tuple[int, int], int]]) -> None:
    drawn = codes(*columns(images), WIDTH, HEIGHT)
    assert drawn.shape == (len(images), HEIGHT, WIDTH)
    for image, points in zip(drawn, images):
        assert {(x, y): image[y, x] - 1 for y, x in zip(*np.nonzero(image))} == points


@given(batches)
def test_codes_lead_to_points_and_back(images: np.ndarray) -> None:
    found = points_of(images)
    np.testing.assert_array_equal(codes(*found, WIDTH, HEIGHT), images)
    assert found.color.shape[1] == max((np.count_nonzero(image) for image in images), default=0)


@given(batches)
def test_codes_lead_to_pixels_and_back(images: np.ndarray) -> None:
    pixels = paint(images, FIVE)
    assert pixels.shape == (*images.shape, 3)
    np.testing.assert_array_equal(from_pixels(pixels, FIVE), images)
    for image, painted in zip(images, pixels):
        np.testing.assert_array_equal(from_pixels(painted, FIVE), image)
        assert all(
            tuple(painted[y, x]) == (BLACK, *map(COLORS.get, FIVE))[image[y, x]] for y, x in np.ndindex(image.shape)
        )


@given(batches)
def test_codes_lead_to_scenes_and_back(images: np.ndarray) -> None:
    batch = scenes(*points_of(images), FIVE)
    np.testing.assert_array_equal(grid_codes(batch, WIDTH, HEIGHT), images)
    np.testing.assert_array_equal(grid_images(batch, WIDTH, HEIGHT), paint(images, FIVE))


def test_the_points_of_a_scene_are_objects() -> None:
    x, y, color = (np.array([column]) for column in ([7, 3, 2, 0], [7, 1, 0, 0], [ABSENT, 1, 4, ABSENT]))
    batch = scenes(x, y, color, FIVE)
    assert batch.objects(0) == [{"color": "red"}, {"color": "white"}]
    assert batch.position.tolist() == [[[3, 1, 0], [2, 0, 0]]]


def test_a_later_point_hides_an_earlier_one() -> None:
    same = np.array([[1, 1]])
    assert codes(same, same, np.array([[0, 3]]), 2, 2).tolist() == [[[0, 0], [0, 4]]]


def test_the_last_colour_of_all_has_a_code() -> None:
    here = np.array([[0]])
    image = codes(here, here, np.array([[254]], np.uint8), 1, 1)
    assert image.tolist() == [[[255]]]
    assert points_of(image).color.tolist() == [[254]]


def test_no_two_colours_are_the_same() -> None:
    assert len({BLACK, *COLORS.values()}) == 1 + len(COLORS)


def test_what_cannot_be_is_told() -> None:
    for x, y in ((0, 4), (6, 0), (-1, 0), (0, -1)):
        with pytest.raises(UserError, match=rf"\({x}, {y}\) of image 1 is not on the grid of 6 by 4"):
            codes(np.array([[0], [x]]), np.array([[0], [y]]), np.array([[0], [0]]), WIDTH, HEIGHT)
    with pytest.raises(UserError, match="'mauve' is not a colour"):
        paint(np.zeros((1, 1, 1), np.uint8), ("mauve",))
    with pytest.raises(ValueError, match="only 2 colours"):
        paint(np.full((1, 1, 1), 3, np.uint8), ("red", "blue"))
    with pytest.raises(UserError, match="at most 255 points, not 300"):
        scenes(*(np.zeros((1, 300), int),) * 3, FIVE)


def test_a_pixel_of_another_colour_is_named() -> None:
    pixels = np.zeros((2, 3, 4, 3), np.uint8)
    pixels[1, 2, 3] = (254, 0, 0)
    with pytest.raises(UserError, match=r"pixel \(3, 2\) of image 1 has the colour \(254, 0, 0\).*red, blue"):
        from_pixels(pixels, ("red", "blue"))
    with pytest.raises(UserError, match=r"pixel \(3, 2\) has"):
        from_pixels(pixels[1], ("red", "blue"))
    with pytest.raises(UserError, match=r"\(0, 0\) of image 0 has the colour \(255, 255, 255\)"):
        from_pixels(~np.zeros((1, 1, 1, 3), np.uint8), ())


# --- sheets -------------------------------------------------------------------------------------------------------


@given(batches, some.integers(1, 3))
def test_an_enlarged_image_shows_every_pixel_as_a_square(images: np.ndarray, factor: int) -> None:
    pixels = paint(images, FIVE)
    large = enlarge(pixels, factor)
    assert large.shape == (len(images), factor * HEIGHT, factor * WIDTH, 3)
    for row in range(factor):
        for column in range(factor):
            np.testing.assert_array_equal(large[:, row::factor, column::factor], pixels)


def cut_out(page: np.ndarray, top: int, column: int, scale: int) -> np.ndarray:
    """The image under this height of a sheet, without its border, as small as it was."""
    left = MARGIN + column * (WIDTH * scale + 2 + GAP)
    framed = page[top : top + HEIGHT * scale + 2, left : left + WIDTH * scale + 2]
    assert (framed[[0, -1]] == BORDER).all() and (framed[:, [0, -1]] == BORDER).all()
    return framed[1:-1:scale, 1:-1:scale]


@given(some.integers(1, 7), some.integers(1, 4), some.integers(1, 3))
def test_a_sheet_shows_every_image(n: int, wide: int, scale: int) -> None:
    pixels = paint(np.random.default_rng(n).integers(0, 6, (n, HEIGHT, WIDTH)), FIVE)
    page = sheet(pixels, wide, scale=scale)
    rows, step = -(-n // wide), HEIGHT * scale + 2 + GAP
    assert page.shape[0] == 2 * MARGIN + rows * step - GAP
    for i, image in enumerate(pixels):
        np.testing.assert_array_equal(cut_out(page, MARGIN + i // wide * step, i % wide, scale), image)


def test_every_group_begins_a_row_under_its_caption() -> None:
    pixels = paint(np.random.default_rng(0).integers(0, 6, (5, HEIGHT, WIDTH)), FIVE)
    page = sheet(pixels, 3, ["red", "red", "red", "red", "a blue one"], scale=8)
    inked = (page == INK).all(axis=-1).any(axis=1)
    framed = (page == BORDER).all(axis=-1).any(axis=1)
    assert not (inked & framed).any()
    kinds = [kind for kind, _ in groupby(np.where(inked, "text", np.where(framed, "images", ""))) if kind]
    assert kinds == ["text", "images", "images", "text", "images"]
    tops = np.flatnonzero(framed[1:] & ~framed[:-1]) + 1
    for image, top, column in zip(pixels, tops[[0, 0, 0, 1, 2]], (0, 1, 2, 0, 0)):
        np.testing.assert_array_equal(cut_out(page, top, column, 8), image)


def test_a_long_caption_is_broken_and_stays_inside() -> None:
    page = sheet(np.zeros((1, 32, 32, 3), np.uint8), 4, ["A very_long_caption_of_many_letters, (50%)!"])
    assert page.shape[1] == 2 * MARGIN + 32 * 4 + 2
    assert (page[:, -MARGIN:] == GROUND).all()
    assert page.shape[0] > 130 + 4 * 18


def test_a_sheet_of_nothing_is_empty() -> None:
    assert (sheet(np.zeros((0, 4, 4, 3), np.uint8), 3) == GROUND).all()


def test_no_two_signs_look_alike() -> None:
    assert set("abcdefghijklmnopqrstuvwxyz0123456789 .,:-_()/+") <= set(_font())
    assert all(marks.shape == (7, 5) for sign, marks in _font().items() if sign != " ")
    drawn = {sign: _letter(sign) for sign in _font()}
    assert not [(a, b) for a, b in combinations(drawn, 2) if np.array_equal(drawn[a], drawn[b])]


def test_captions_belong_to_images() -> None:
    with pytest.raises(ValueError, match="2 images, but 1 captions"):
        sheet(np.zeros((2, 4, 4, 3), np.uint8), 3, ["one"])


# --- the terminal -------------------------------------------------------------------------------------------------


def seen(text: Text, colors: tuple[str, ...]) -> np.ndarray:
    """The codes that half blocks show."""
    inks = {"#{:02x}{:02x}{:02x}".format(*rgb): i for i, rgb in enumerate((BLACK, *map(COLORS.__getitem__, colors)))}
    rows = []
    for line in text.split("\n"):
        styles = [str(span.style).split(" on ") for span in line.spans for _ in range(span.start, span.end)]
        assert len(styles) == len(line.plain)
        for half in ("▀█", "▄█"):
            rows.append([inks[ink if sign in half else ground] for sign, (ink, ground) in zip(line.plain, styles)])
    return np.array(rows)


@given(arrays(np.uint8, (HEIGHT, WIDTH), elements=some.integers(0, 5), fill=some.just(0)))
def test_the_terminal_shows_the_coloured_part_and_a_margin(image: np.ndarray) -> None:
    shown = seen(terminal(image, FIVE), FIVE)
    rows, cols = np.nonzero(image)
    if len(rows):
        inner = image[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]
        expected = np.pad(inner, ((1, 1 + len(inner) % 2), (1, 1)))
        np.testing.assert_array_equal(shown, expected)
    else:
        assert not shown.any()


def test_the_shape_is_seen_without_colours() -> None:
    image = np.zeros((5, 5), np.uint8)
    image[1, 1:4] = image[2, 2] = image[3, 2] = 2
    assert terminal(image, FIVE).plain == " ▄▄▄ \n  █  \n     "
