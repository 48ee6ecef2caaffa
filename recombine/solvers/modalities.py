"""Modalities: what a learner gets to see of a scene, as numbers: its schema, its picture, or its sound.

A sight is opened on a batch of scenes and asked for some of them again and again. Pictures and sounds are made when
they are first asked for, and remembered as long as they fit into memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from recombine.render.sound import SCENE, Voicing, sounds
from recombine.render.spectrogram import FREQUENCIES, HOP, spectrograms
from recombine.solvers.kinds import MODALITIES, PICTURE
from recombine.solvers.networks import schema
from recombine.solvers.networks.objects import ObjectSets, grouped
from recombine.store.errors import UserError
from recombine.world.scenes import Scenes

REMEMBERED = 4 * 2**30
"""Bytes of pictures or sounds that are remembered."""
AT_ONCE = 64
"""Pictures or sounds that are made at once."""
QUIETEST = -100.0
"""The decibels that are written as 0; more than 2 is never reached, so a byte holds steps of 0.4."""
STEP = 0.4


class Sight(Protocol):
    """Some scenes, ready for a network."""

    def __call__(self, rows: np.ndarray) -> ObjectSets | Tensor: ...


@dataclass(frozen=True)
class Modality:
    """How scenes are seen. `size` is that of a picture; `first_bin` numbers the columns and rows of the grid."""

    name: str
    size: tuple[int, int] = PICTURE
    first_bin: int = 1

    def __post_init__(self) -> None:
        if self.name not in MODALITIES:
            raise UserError(f"there is no modality '{self.name}'; choose one of {', '.join(MODALITIES)}")

    def shape(self, scenes: Scenes) -> tuple[int, ...]:
        """The shape of one scene."""
        width, height = self.size
        return {
            "schema": (scenes.places, schema.width(scenes)),
            "image": (3, height, width),
            "sound": (FREQUENCIES, 1 + SCENE // HOP),
        }[self.name]

    def open(self, scenes: Scenes) -> Sight:
        """A sight of these scenes."""
        if self.name == "schema":
            return Schemas(scenes)
        if self.name == "image":
            return Seen(scenes, self.shape(scenes), partial(_pictures, self.size), lambda seen: seen / 255)
        return Seen(scenes, self.shape(scenes), partial(_sounds, self.first_bin), lambda heard: heard * STEP / 50 - 1)


class Schemas:
    """The properties of the objects of scenes."""

    def __init__(self, scenes: Scenes) -> None:
        self.count, self.told = scenes.count, schema.properties(scenes, PICTURE)

    def __call__(self, rows: np.ndarray) -> ObjectSets:
        return grouped(self.told[rows], self.count[rows])


class Seen:
    """Pictures or spectrograms of scenes, uint8 in memory, each made once if all of them fit."""

    def __init__(
        self,
        scenes: Scenes,
        shape: tuple[int, ...],
        make: Callable[[Scenes], np.ndarray],
        measure: Callable[[Tensor], Tensor],
    ) -> None:
        self.scenes, self.shape, self.make, self.measure = scenes, shape, make, measure
        fits = len(scenes) * int(np.prod(shape)) <= REMEMBERED
        self.known = np.zeros(len(scenes) if fits else 0, bool)
        self.kept = np.empty((len(self.known), *shape), np.uint8)

    def __call__(self, rows: np.ndarray) -> Tensor:
        return self.measure(torch.from_numpy(self._bytes(rows)).float())

    def _bytes(self, rows: np.ndarray) -> np.ndarray:
        if not len(self.known):
            return self._made(rows)
        new = np.unique(rows[~self.known[rows]])
        self.kept[new], self.known[new] = self._made(new), True
        return self.kept[rows]

    def _made(self, rows: np.ndarray) -> np.ndarray:
        made = np.empty((len(rows), *self.shape), np.uint8)
        for start in range(0, len(rows), AT_ONCE):
            made[start : start + AT_ONCE] = self.make(self.scenes[rows[start : start + AT_ONCE]])
        return made


def _pictures(size: tuple[int, int], scenes: Scenes) -> np.ndarray:
    """uint8[n, 3, h, w]"""
    from recombine.render.raytrace import raytrace

    pixels = raytrace(scenes, *size, ("rgb",)).rgb
    assert pixels is not None
    return np.moveaxis(pixels, -1, 1)


def _sounds(first_bin: int, scenes: Scenes) -> np.ndarray:
    """Decibels above the quietest, in steps, uint8[n, frequencies, frames]."""
    heard = spectrograms(sounds(scenes, Voicing(first_bin)))
    return np.clip(np.rint((heard - np.float32(QUIETEST)) / np.float32(STEP)), 0, 255).astype(np.uint8)
