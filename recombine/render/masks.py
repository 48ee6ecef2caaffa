"""Masks: where in a picture each object is seen.

All of it is read off the object ids of pictures, which say for the middle of every pixel what is seen there:

* how many pixels of an object are *visible*;
* its *box*, the smallest that holds them: left, top, width, height; all 0 for an object that is not seen;
* its mask as *run lengths*: the pixels are walked down the columns, from the left; the first length counts those before
  the object, the next those of it, and so on by turns. So COCO writes masks: the first may be 0, the sum is the area.
"""

from typing import NamedTuple

import numpy as np


class Seen(NamedTuple):
    """What is seen of every object of n pictures."""

    visible: np.ndarray  # int32[n, k]
    boxes: np.ndarray  # int32[n, k, 4]


class RunLengths(NamedTuple):
    """The masks of all k objects of n pictures."""

    lengths: np.ndarray  # int32[all lengths], picture by picture and object by object
    first: np.ndarray  # int32[n * k + 1], where the lengths of each object begin

    def of(self, number: int) -> np.ndarray:
        """The lengths of one object: object i of picture p is number p * k + i."""
        return self.lengths[self.first[number] : self.first[number + 1]]


class _Runs(NamedTuple):
    """Stretches of one object along the walk down the columns, by object."""

    owner: np.ndarray  # picture * k + object
    start: np.ndarray  # pixels from the start of the picture
    end: np.ndarray


def seen(objects: np.ndarray, places: int) -> Seen:
    """Visible pixels and boxes, from int[n, height, width] with -1 where there is no object; k is `places`."""
    n, height, width = objects.shape
    runs = _runs(objects, places, within_columns=True)
    visible = np.bincount(runs.owner, runs.end - runs.start, n * places).astype(np.int32)
    column, top, bottom = runs.start // height, runs.start % height, (runs.end - 1) % height + 1
    low, high = np.full((2, n * places), max(width, height)), np.zeros((2, n * places), np.int64)
    for axis, (from_, to) in enumerate(((column, column + 1), (top, bottom))):
        np.minimum.at(low[axis], runs.owner, from_)
        np.maximum.at(high[axis], runs.owner, to)
    boxes = np.where(visible, np.concatenate([low, high - low]), 0).T.astype(np.int32)
    return Seen(visible.reshape(n, places), boxes.reshape(n, places, 4))


def encode(objects: np.ndarray, places: int) -> RunLengths:
    """The masks of all objects, from int[n, height, width] with -1 where there is no object."""
    n, height, width = objects.shape
    owner, start, end = _runs(objects, places)
    many = np.bincount(owner, minlength=n * places)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    before = np.where(rank == 0, 0, np.roll(end, 1))
    done = np.zeros(n * places, np.int64)
    done[owner] = end  # the last of each remains
    rest = height * width - done
    first = np.concatenate([[0], np.cumsum(2 * many + (rest > 0))])
    lengths = np.empty(first[-1], np.int32)
    lengths[first[owner] + 2 * rank] = start - before
    lengths[first[owner] + 2 * rank + 1] = end - start
    lengths[first[1:][rest > 0] - 1] = rest[rest > 0]
    return RunLengths(lengths, first.astype(np.int32))


def decode(lengths: np.ndarray, width: int, height: int) -> np.ndarray:
    """The mask with these run lengths, bool[height, width].

    >>> decode(np.array([1, 2, 3]), 3, 2).astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    lengths = np.asarray(lengths, np.int64)
    if lengths.sum() != width * height or (lengths < 0).any():
        raise ValueError(f"run lengths of {width} x {height} pixels sum up to {width * height}, not {lengths.sum()}")
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths).reshape(width, height).T


def _runs(objects: np.ndarray, places: int, within_columns: bool = False) -> _Runs:
    """The stretches of all objects, by owner and then from the left; `within_columns` ends them with each column."""
    height, width = objects.shape[1:]
    walk = np.ascontiguousarray(objects.swapaxes(1, 2)).reshape(-1)
    begins = np.ones(len(walk) + 1, bool)
    np.not_equal(walk[1:], walk[:-1], out=begins[1:-1])
    begins[:: height if within_columns else height * width] = True
    edges = np.flatnonzero(begins)
    value = walk[edges[:-1]]
    kept = np.flatnonzero(value >= 0)
    picture, start = np.divmod(edges[kept], height * width)
    owner = picture * places + value[kept]
    order = np.argsort(owner, kind="stable")
    return _Runs(owner[order], start[order], (start + edges[kept + 1] - edges[kept])[order])
