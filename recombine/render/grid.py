"""Scenes of points on a grid as images of that many pixels.

A point has a column x from the west, a row y from the north, and a colour. A batch of images in *codes* is
uint8[n, h, w]: 0 where there is nothing (black), i + 1 where there is a point of colour i. `paint` turns codes into
colours, uint8[n, h, w, 3], and `from_pixels` turns these back. `sheet` puts many images on one page, `terminal` writes
one in coloured half blocks.
"""

import textwrap
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from rich.text import Text

from recombine.store.errors import UserError
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

BLACK = (0, 0, 0)
COLORS: dict[str, tuple[int, int, int]] = {
    "blue": (0, 0, 255),
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "yellow": (255, 255, 0),
    "white": (255, 255, 255),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "orange": (255, 128, 0),
    "purple": (128, 0, 255),
    "gray": (128, 128, 128),
    "brown": (140, 70, 20),
    "pink": (255, 160, 200),
}


class Points(NamedTuple):
    """The points of n images, at most k in each."""

    x: np.ndarray  # int[n, k]
    y: np.ndarray  # int[n, k]
    color: np.ndarray  # int[n, k], ABSENT where there is no point


# --- points and codes ---------------------------------------------------------------------------------------------


def codes(x: np.ndarray, y: np.ndarray, color: np.ndarray, width: int, height: int) -> np.ndarray:
    """The images of points int[n, k], in codes; where two points meet, the later one is seen.

    >>> codes(np.array([[2, 0]]), np.array([[0, 1]]), np.array([[1, ABSENT]]), 3, 2)
    array([[[0, 0, 2],
            [0, 0, 0]]], dtype=uint8)
    """
    there = color != ABSENT
    image, columns, rows = np.nonzero(there)[0], x[there], y[there]
    outside = np.flatnonzero((columns < 0) | (columns >= width) | (rows < 0) | (rows >= height))
    if len(outside):
        i = outside[0]
        where = f"({columns[i]}, {rows[i]}) of image {image[i]}"
        raise UserError(f"the point {where} is not on the grid of {width} by {height}; use a larger grid")
    drawn = np.zeros((len(color), height, width), np.uint8)
    drawn[image, rows, columns] = color[there] + 1
    return drawn


def points_of(images: np.ndarray) -> Points:
    """The points of images in codes, row by row from the north."""
    image, rows, columns = np.nonzero(images)
    count = np.bincount(image, minlength=len(images))
    place = np.arange(len(image)) - np.repeat(np.cumsum(count) - count, count)
    x, y, color = (np.full((len(images), count.max(initial=0)), blank) for blank in (0, 0, ABSENT))
    x[image, place], y[image, place] = columns, rows
    color[image, place] = images[image, rows, columns].astype(int) - 1
    return Points(x, y, color)


# --- codes and colours --------------------------------------------------------------------------------------------


def rgb(color: str) -> tuple[int, int, int]:
    """The colour of this name."""
    if color not in COLORS:
        raise UserError(f"'{color}' is not a colour of the grid; choose from {', '.join(COLORS)}")
    return COLORS[color]


def paint(images: np.ndarray, colors: Sequence[str]) -> np.ndarray:
    """Images in codes, uint8[..., h, w], as pixels, uint8[..., h, w, 3]."""
    palette = np.array([BLACK, *map(rgb, colors)], np.uint8)
    if images.max(initial=0) > len(colors):
        raise ValueError(f"the images have a colour {images.max() - 1}, but there are only {len(colors)} colours")
    return palette[images]


def from_pixels(pixels: np.ndarray, colors: Sequence[str]) -> np.ndarray:
    """The codes of pixels, uint8[..., h, w, 3] -> uint8[..., h, w]: every pixel is black or exactly a colour."""
    hues = _hue(pixels)
    found, unknown = np.zeros(hues.shape, np.uint8), hues != _hue(np.array(BLACK))
    for code, color in enumerate(colors, 1):
        here = hues == _hue(np.array(rgb(color)))
        found[here] = code
        unknown &= ~here
    if unknown.any():
        *image, row, column = np.argwhere(unknown)[0]
        where = f"pixel ({column}, {row})" + "".join(f" of image {i}" for i in image[-1:])
        shown = tuple(map(int, pixels[(*image, row, column)]))
        raise UserError(f"{where} has the colour {shown}, which is neither black nor exactly {', '.join(colors)}")
    return found


def _hue(pixels: np.ndarray) -> np.ndarray:
    """Red, green and blue as one number."""
    red, green, blue = np.moveaxis(pixels.astype(np.int32), -1, 0)
    return red << 16 | green << 8 | blue


# --- scenes -------------------------------------------------------------------------------------------------------


def scenes(x: np.ndarray, y: np.ndarray, color: np.ndarray, colors: Sequence[str]) -> Scenes:
    """Points int[n, k] as the objects of scenes: an attribute color, and a position (x, y, 0)."""
    there = color != ABSENT
    count = there.sum(axis=1)
    if count.max(initial=0) > np.iinfo(np.uint8).max:
        raise UserError(f"a scene holds at most 255 points, not {count.max()}; draw smaller objects")
    first = np.argsort(~there, axis=1, kind="stable")[:, : count.max(initial=0)]
    position = np.stack([np.where(there, x, 0), np.where(there, y, 0), np.zeros_like(there, int)], axis=-1)
    return Scenes(
        vocabulary=Vocabulary((Attribute("color", tuple(colors)),)),
        count=count.astype(np.uint8),
        codes={"color": np.take_along_axis(color, first, axis=1).astype(np.uint8)},
        position=np.take_along_axis(position, first[..., None], axis=1).astype(np.float32),
    )


def grid_codes(scenes: Scenes, width: int, height: int) -> np.ndarray:
    """The images of scenes of points in codes, uint8[n, h, w]."""
    x, y, _ = np.moveaxis(scenes.position.astype(int), -1, 0)
    return codes(x, y, scenes.codes["color"], width, height)


def grid_images(scenes: Scenes, width: int, height: int) -> np.ndarray:
    """The images of scenes of points, uint8[n, h, w, 3]."""
    return paint(grid_codes(scenes, width, height), scenes.vocabulary["color"].values)


# --- sheets -------------------------------------------------------------------------------------------------------

GROUND, BORDER, INK = (255, 255, 255), (196, 202, 210), (29, 35, 43)
MARGIN, GAP = 12, 8
LETTER = 2
"""The pixels of a sheet to a pixel of a letter."""


def enlarge(images: np.ndarray, factor: int) -> np.ndarray:
    """Every pixel of uint8[..., h, w, 3] as a square of pixels."""
    return images.repeat(factor, axis=-3).repeat(factor, axis=-2)


def sheet(images: np.ndarray, columns: int, captions: Sequence[str] | None = None, scale: int = 4) -> np.ndarray:
    """Images uint8[n, h, w, 3] in rows on one page, uint8[H, W, 3], each in a thin border.

    `captions`, one per image: neighbours with the same caption are a group, which begins a row under its caption.
    """
    names = [""] * len(images) if captions is None else list(captions)
    if len(names) != len(images):
        raise ValueError(f"there are {len(images)} images, but {len(names)} captions")
    framed = _framed(enlarge(images, scale))
    groups = [(name, framed[list(group)]) for name, group in groupby(range(len(images)), key=names.__getitem__)]
    columns = min(columns, max((len(group) for _, group in groups), default=1))
    width = columns * (framed.shape[2] + GAP) - GAP
    strips = [strip for name, group in groups for strip in (*_caption(name, width), *_image_rows(group, columns))]
    return _stacked(strips[1:] if names and names[0] else strips, width)


def _framed(images: np.ndarray) -> np.ndarray:
    n, height, width, _ = images.shape
    framed = np.empty((n, height + 2, width + 2, 3), np.uint8)
    framed[:] = BORDER
    framed[:, 1:-1, 1:-1] = images
    return framed


def _image_rows(images: np.ndarray, columns: int) -> list[np.ndarray]:
    """The images side by side, so many to a row."""
    n, height, width, _ = images.shape
    apart = _blank(n, height, width + GAP)
    apart[:, :, :width] = images
    return [np.concatenate(list(apart[i : i + columns]), axis=1)[:, :-GAP] for i in range(0, n, columns)]


def _stacked(strips: Sequence[np.ndarray], width: int) -> np.ndarray:
    """The strips one below the other, with a margin around."""
    page = _blank(sum(len(strip) + GAP for strip in strips) - GAP + 2 * MARGIN, width + 2 * MARGIN)
    top = MARGIN
    for strip in strips:
        page[top : top + len(strip), MARGIN : MARGIN + strip.shape[1]] = strip
        top += len(strip) + GAP
    return page


def _blank(*shape: int) -> np.ndarray:
    return np.full((*shape, 3), GROUND, np.uint8)


def _caption(text: str, width: int) -> list[np.ndarray]:
    """Some room, then the lines of a caption that fit into a width; nothing where it is empty."""
    letters = max(1, (width + LETTER) // (6 * LETTER))
    lines = [written(line)[:, :width] for line in textwrap.wrap(text, letters)]
    return [_blank(GAP, width), *lines] if lines else []


def written(text: str) -> np.ndarray:
    """A line of text, in letters as wide as they need."""
    gap = np.zeros((9, 1), bool)
    marks = np.concatenate([part for sign in text.lower() for part in (_letter(sign), gap)], axis=1)[:, :-1]
    return enlarge(np.where(marks[..., None], INK, GROUND).astype(np.uint8), LETTER)


def _letter(sign: str) -> np.ndarray:
    """A sign of the font without the empty columns around it, bool[9, w]; unknown signs are a question mark."""
    marks = _font().get(sign, _font()["?"])
    used = np.flatnonzero(marks.any(axis=0))
    drop = 2 if sign in _DEEP else 0
    return np.pad(marks[:, used[0] : used[-1] + 1] if len(used) else marks, ((drop, 2 - drop), (0, 0)))


@cache
def _font() -> dict[str, np.ndarray]:
    """Every sign as bool[7, 5], the space narrower."""
    font = {" ": np.zeros((7, 3), bool)}
    for block in _FONT.strip("\n").split("\n\n"):
        signs, *rows = block.split("\n")
        marks = np.array([[mark == "#" for mark in row] for row in rows])
        font |= {sign: marks[:, i : i + 5] for i, sign in enumerate(signs) if i % 6 == 0}
    return font


_FONT = """
a     b     c     d     e     f     g     h     i     j     k     l     m
..... #.... ..... ....# ..... ..##. .#### #.... ..#.. ...#. #.... .##.. .....
..... #.... ..... ....# ..... .#..# #...# #.... ..... ..... #.... ..#.. .....
.###. #.##. .###. .##.# .###. .#... #...# #.##. .##.. ..##. #..#. ..#.. ##.#.
....# ##..# #...# #..## #...# ###.. #...# ##..# ..#.. ...#. #.#.. ..#.. #.#.#
.#### #...# #.... #...# ##### .#... .#### #...# ..#.. ...#. ##... ..#.. #.#.#
#...# #...# #...# #...# #.... .#... ....# #...# ..#.. #..#. #.#.. ..#.. #.#.#
.#### ####. .###. .#### .###. .#... .###. #...# .###. .##.. #..#. .###. #.#.#

n     o     p     q     r     s     t     u     v     w     x     y     z
..... ..... ####. .#### ..... ..... .#... ..... ..... ..... ..... #...# .....
..... ..... #...# #...# ..... ..... .#... ..... ..... ..... ..... #...# .....
#.##. .###. #...# #...# #.##. .#### ###.. #...# #...# #...# #...# #...# #####
##..# #...# #...# #...# ##..# #.... .#... #...# #...# #...# .#.#. #...# ...#.
#...# #...# ####. .#### #.... .###. .#... #...# #...# #.#.# ..#.. .#### ..#..
#...# #...# #.... ....# #.... ....# .#..# #..## .#.#. #.#.# .#.#. ....# .#...
#...# .###. #.... ....# #.... ####. ..##. .##.# ..#.. .#.#. #...# .###. #####

0     1     2     3     4     5     6     7     8     9     +     -     =
.###. ..#.. .###. ####. ...#. ##### ..##. ##### .###. .###. ..... ..... .....
#...# .##.. #...# ....# ..##. #.... .#... ....# #...# #...# ..#.. ..... .....
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# ..#.. ..... #####
#.#.# ..#.. ...#. .###. #..#. ....# ####. ..#.. .###. .#### ##### ##### .....
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....# ..#.. ..... #####
#...# ..#.. .#... ....# ...#. #...# #...# .#... #...# ...#. ..#.. ..... .....
.###. .###. ##### ####. ...#. .###. .###. .#... .###. .##.. ..... ..... .....

.     ,     :     ;     _     (     )     /     %     '     <     >     *
..... ..... ..... ..... ..... ...#. .#... ....# ##... ..#.. ..... ..... .....
..... ..... ..... ..#.. ..... ..#.. ..#.. ...#. ##..# ..#.. ...#. .#... #.#.#
..... ..... ..... ..... ..... .#... ...#. ...#. ...#. ..... ..#.. ..#.. .###.
..... ..#.. ..#.. ..... ..... .#... ...#. ..#.. ..#.. ..... .#... ...#. #####
..... ..#.. ..... ..#.. ..... .#... ...#. .#... .#... ..... ..#.. ..#.. .###.
..... .#... ..... .#... ##### ..#.. ..#.. .#... #..## ..... ...#. .#... #.#.#
..#.. ..... ..#.. ..... ..... ...#. .#... #.... ...## ..... ..... ..... .....

?     !     &     #     @     [     ]     |     "     ~     ·     ×
.###. ..#.. .##.. .#.#. .###. ..##. .##.. ..#.. .#.#. ..... ..... .....
#...# ..#.. #..#. .#.#. #...# ..#.. ...#. ..#.. .#.#. ..... ..... .....
....# ..#.. #.#.. ##### #.### ..#.. ...#. ..#.. ..... .##.# ..... .....
...#. ..#.. .#... .#.#. #.#.# ..#.. ...#. ..#.. ..... #..#. ..#.. .#.#.
..#.. ..... #.#.# ##### #.### ..#.. ...#. ..#.. ..... ..... ..... ..#..
..... ..#.. #..#. .#.#. #.... ..#.. ...#. ..#.. ..... ..... ..... .#.#.
..#.. ..... .##.# .#.#. .###. ..##. .##.. ..#.. ..... ..... ..... .....
"""
"""Our own letters, five by seven."""
_DEEP = "gpqy_,;"
"""The signs that stand two pixels lower than the others."""


# --- the terminal -------------------------------------------------------------------------------------------------


def terminal(image: np.ndarray, colors: Sequence[str]) -> Text:
    """An image in codes, uint8[h, w], in half blocks; what is shown is the coloured part and one pixel around it."""
    shown = _cropped(image)
    shown = np.pad(shown, ((0, len(shown) % 2), (0, 0)))
    inks = ["#000000", *("#{:02x}{:02x}{:02x}".format(*rgb(color)) for color in colors)]
    lines = (_half_blocks(upper, lower, inks) for upper, lower in zip(shown[::2].tolist(), shown[1::2].tolist()))
    return Text("\n").join(lines)


def _cropped(image: np.ndarray) -> np.ndarray:
    """The coloured part, with one pixel around it."""
    rows, columns = (np.flatnonzero(image.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return np.zeros((2, 2), np.uint8)
    return np.pad(image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], 1)


def _half_blocks(upper: Sequence[int], lower: Sequence[int], inks: Sequence[str]) -> Text:
    """Two rows of pixels as one line; the signs alone show the shape where a terminal has no colours."""
    line = Text()
    for (above, below), run in groupby(zip(upper, lower)):
        many = len(list(run))
        if above == below:
            line.append(("█" if above else " ") * many, f"{inks[above]} on {inks[above]}")
        elif above:
            line.append("▀" * many, f"{inks[above]} on {inks[below]}")
        else:
            line.append("▄" * many, f"{inks[below]} on {inks[above]}")
    return line
