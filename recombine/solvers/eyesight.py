"""How a parser's eye takes pictures: any size, brought to one width."""

import numpy as np
import torch
from torch.nn.functional import interpolate

from recombine.store.errors import UserError

WIDTH = 192
"""Pixels along a picture that a parser looks at, where it says nothing else."""
RATIOS = (2 / 3, 3 / 4)
"""Heights in widths: pictures of 3:2, as CLEVR's and CURI's are, and of 4:3."""
SLACK = 0.04
"""How far the ratio of the sides may be from one of these, as a share of it."""
SHARP = 320
"""Pixels along a picture in which a parser looks closer at what it found."""
SMALLEST = 96
"""Pixels along a picture below which small objects are lost."""


def heights(width: int) -> tuple[int, int]:
    """Pixels down of pictures of 3:2 and of 4:3 with so many along."""
    return round(RATIOS[0] * width), round(RATIOS[1] * width)


def fitted(pixels: np.ndarray, along: int = WIDTH) -> np.ndarray:
    """Pictures uint8[n, height, width, 3] in the size of a parser: averaged where they are larger."""
    height = _height(pixels.shape[1], pixels.shape[2], along)
    if pixels.shape[1:3] == (height, along):
        return pixels
    planes = torch.from_numpy(np.ascontiguousarray(np.moveaxis(pixels, -1, 1))).float()
    smaller = interpolate(planes, (height, along), mode="bilinear", antialias=True, align_corners=False)
    return np.ascontiguousarray(np.moveaxis(smaller.round().clamp(0, 255).byte().numpy(), 1, -1))


def _height(height: int, width: int, along: int) -> int:
    if width < SMALLEST:
        raise UserError(
            f"a picture of {width} x {height} pixels is too small to see objects in; it takes {SMALLEST} along"
        )
    for ratio, fits in zip(RATIOS, heights(along)):
        if abs(height / width / ratio - 1) <= SLACK:
            return fits
    raise UserError(
        f"a picture of {width} x {height} pixels has the wrong shape: parsers look at pictures of 3:2, such as "
        "480 x 320, and of 4:3, such as 320 x 240; cut it to one of these"
    )
