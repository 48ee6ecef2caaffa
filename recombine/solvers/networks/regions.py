"""Regions: what boxes show of pictures or of maps of features."""

import torch
from torch import Tensor
from torch.nn.functional import grid_sample


def crops(maps: Tensor, boxes: Tensor, side: int, margin: float = 0.0) -> Tensor:
    """What boxes show, float[n, k, c, side, side], of float[n, c, h, w] and float[n, k, 4] from 0 to 1.

    A box is left, top, right, bottom, and is grown by a margin on every side; beyond the map all is 0.
    """
    (n, k), channels = boxes.shape[:2], maps.shape[1]
    low, far = boxes[..., :2], boxes[..., 2:]
    grown = (far - low) * margin
    low, far = low - grown, far + grown
    x, y = (_middles(low[..., axis], far[..., axis], side) for axis in (0, 1))
    grid = torch.stack([x[:, :, None].expand(-1, -1, side, -1), y[..., None].expand(-1, -1, -1, side)], dim=-1)
    found = grid_sample(maps, (2 * grid - 1).reshape(n, k * side, side, 2), align_corners=False)
    return found.reshape(n, channels, k, side, side).transpose(1, 2)


def overlaps(boxes: Tensor, within: Tensor, side: int) -> Tensor:
    """Which cells of a grid over other boxes have their middle in a box, float[..., side, side] of 0 and 1."""
    x, y = (_middles(within[..., axis], within[..., axis + 2], side) for axis in (0, 1))
    inside = [
        (middle >= boxes[..., axis, None]) & (middle <= boxes[..., axis + 2, None])
        for axis, middle in enumerate((x, y))
    ]
    return (inside[1][..., :, None] & inside[0][..., None, :]).to(boxes.dtype)


def _middles(low: Tensor, far: Tensor, side: int) -> Tensor:
    steps = (torch.arange(side, device=low.device, dtype=low.dtype) + 0.5) / side
    return low[..., None] + (far - low)[..., None] * steps


def areas(boxes: Tensor) -> Tensor:
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(dim=-1)


def generous_overlap(one: Tensor, other: Tensor) -> Tensor:
    """The generalised overlap (GIoU) of boxes, from -1 to 1: float[..., 4] each, broadcast.

    >>> box = torch.tensor([0.0, 0.0, 1.0, 1.0])
    >>> [round(float(generous_overlap(box, box + torch.tensor([off, 0.0, off, 0.0]))), 3) for off in (0.0, 2.0)]
    [1.0, -0.333]
    """
    shared = _shared(one, other)
    low, far = torch.minimum(one[..., :2], other[..., :2]), torch.maximum(one[..., 2:], other[..., 2:])
    hull = areas(torch.cat([low, far], dim=-1))
    union = areas(one) + areas(other) - shared
    return shared / union.clamp(min=1e-9) - (hull - union) / hull.clamp(min=1e-9)


def overlap(one: Tensor, other: Tensor) -> Tensor:
    """The area that two boxes share, by that of both together (IoU), from 0 to 1: float[..., 4] each, broadcast."""
    shared = _shared(one, other)
    return shared / (areas(one) + areas(other) - shared).clamp(min=1e-9)


def _shared(one: Tensor, other: Tensor) -> Tensor:
    low, far = torch.maximum(one[..., :2], other[..., :2]), torch.minimum(one[..., 2:], other[..., 2:])
    return areas(torch.cat([low, far], dim=-1))
