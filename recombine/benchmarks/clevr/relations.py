"""CLEVR's spatial relations: who is left of, right of, in front of and behind whom.

An object is right of another where the way between them, along the direction "right" on the ground, is longer than a
margin. The directions are those of the camera without jitter, the same for every scene.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from recombine.benchmarks.clevr.language import DIRECTIONS
from recombine.world.distribution import places_taken
from recombine.world.placement import BEHIND, RIGHT
from recombine.world.scenes import Scenes, pack

MARGIN = 0.2
"""How far beyond another an object has to lie."""

WAYS: Mapping[str, tuple[float, float]] = {
    "left": (-RIGHT[0], -RIGHT[1]),
    "right": RIGHT,
    "front": (-BEHIND[0], -BEHIND[1]),
    "behind": BEHIND,
}
"""The direction of each spatial word on the ground."""


def beyond(scenes: Scenes, direction: str) -> np.ndarray:
    """For each object, the objects that lie beyond it in this direction, mask[n, k]."""
    return np.bitwise_and.reduce([_beyond(scenes, way) for way in ways(direction)])


def _beyond(scenes: Scenes, direction: str) -> np.ndarray:
    place = scenes.position.astype(np.float64)
    across, along = (place[:, None, :, axis] - place[:, :, None, axis] for axis in (0, 1))
    dx, dy = WAYS[direction]
    present = places_taken(scenes.count, scenes.places)
    return pack((across * dx + along * dy > MARGIN) & present[:, None, :] & present[:, :, None])


def ways(direction: str) -> list[str]:
    """The plain directions that one is made of: two for `left+front`."""
    return direction.split("+")


def all_beyond(scenes: Scenes) -> dict[str, np.ndarray]:
    """The masks of every plain direction."""
    return {direction: beyond(scenes, direction) for direction in DIRECTIONS}


def in_all(masks: Mapping[str, np.ndarray], direction: str) -> np.ndarray:
    """The masks of a direction from those of the plain ones."""
    return np.bitwise_and.reduce([masks[way] for way in ways(direction)])


def plainly_beyond(positions: Sequence[Sequence[float]], direction: str) -> list[list[int]]:
    """The same for one scene as lists, in the way of CLEVR's files: the reference."""
    dx, dy = WAYS[direction]
    return [
        [j for j, there in enumerate(positions) if (there[0] - here[0]) * dx + (there[1] - here[1]) * dy > MARGIN]
        for here in positions
    ]


def members(mask: int) -> list[int]:
    """The objects of a mask, in order."""
    return [i for i in range(int(mask).bit_length()) if int(mask) >> i & 1]


def listed(masks: np.ndarray, count: int) -> list[list[int]]:
    """The masks of one scene, mask[k], as lists in the way of CLEVR's files."""
    return [members(mask) for mask in masks[:count]]
