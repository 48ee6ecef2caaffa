"""The stage: scenes of vehicles as instances of models, ready to be counted, drawn or photographed."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.render.instances import PATTERNS, Instances, Looks
from recombine.render.materials import COLORS, MATERIALS, choose
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes

if TYPE_CHECKING:
    from recombine.render.raytrace import Pictures

SIZES = {"small": 1.8, "large": 3.5}
"""How long the diagonal of a vehicle's box is."""

CELLS = {"striped": 60, "vstriped": 60, "checkered": 30, "dotted": 15}
"""Bands or cells of a texture along a side of a large vehicle; a small one has half, of dots as many."""

NONE = "none"


@dataclass(frozen=True)
class Stage:
    """What it takes to draw scenes of vehicles."""

    fleet: Fleet = Fleet()
    sizes: tuple[tuple[str, float], ...] = tuple(SIZES.items())
    paints: tuple[tuple[str, tuple[int, int, int]], ...] = ()
    parts: int = 3

    def bodies(self, scenes: Scenes, camera: np.ndarray) -> Instances:
        """The vehicles without their looks: enough to count their pixels."""
        many = int(scenes.count.sum())
        blank, parts = _plain(many), _plain(0)
        no_parts = np.zeros(many + 1, np.int64), np.zeros(0, np.int64)
        return self._instances(scenes, camera, np.zeros((len(scenes), 3, 3)), blank, *no_parts, parts)

    def instances(self, scenes: Scenes) -> Instances:
        """The vehicles and the looks of their parts."""
        there = places_taken(scenes.count, scenes.places)
        size = self._scale(scenes)[there]
        body = self._looks(scenes, "", there, size)
        slots = [f"part_{number}" for number in range(1, self.parts + 1) if f"part_{number}" in scenes.codes]
        name = np.stack([scenes.codes[slot][there] for slot in slots], axis=1).astype(np.int64) - 1 if slots else None
        if name is None:
            return self._instances(scenes, *self._jitter(scenes), body, np.zeros(len(size) + 1, int), *_no_parts())
        used = name >= 0
        place = self.fleet.part_places[scenes.codes["shape"][there]]
        part = np.take_along_axis(place, np.maximum(name, 0), axis=1)[used]
        looks = [self._looks(scenes, f"{slot}_", there, size) for slot in slots]
        paint = Looks(
            *(
                np.stack([getattr(look, column) for look in looks], axis=1)[used]
                for column in ("color", "material", "pattern", "cells")
            )
        )
        painted = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        return self._instances(scenes, *self._jitter(scenes), body, painted, part, paint)

    def draw(
        self, scenes: Scenes, width: int, height: int, want: Collection[str] = ("rgb", "objects"), photo: bool = False
    ) -> "Pictures":
        """Pictures of scenes."""
        if photo:
            from recombine.render.photo import photograph

            return photograph(self.instances(scenes), width, height, want)
        from recombine.render.mesh_scene import draw_models

        return draw_models(self.instances(scenes), width, height, want)

    def fine(self, scenes: Scenes, width: int, height: int) -> np.ndarray:
        """Pictures for people, uint8[n, height, width, 3]."""
        from recombine.render.fine import modelled

        return modelled(self.instances(scenes), width, height)

    def anywhere(self) -> "Stage":
        """The same stage without the folder of its fleet."""
        return replace(self, fleet=self.fleet.anywhere())

    def _instances(
        self,
        scenes: Scenes,
        camera: np.ndarray,
        lamps: np.ndarray,
        body: Looks,
        painted: np.ndarray,
        part: np.ndarray,
        paint: Looks,
    ) -> Instances:
        there = places_taken(scenes.count, scenes.places)
        return Instances(
            self.fleet.models,
            np.concatenate([[0], np.cumsum(scenes.count, dtype=np.int64)]),
            np.nonzero(there)[1],
            scenes.codes["shape"][there].astype(np.int64),
            scenes.position[there].astype(np.float64),
            scenes.extra["rotation"][there].astype(np.float64),
            self._scale(scenes)[there],
            body,
            painted,
            part,
            paint,
            np.asarray(camera, np.float64),
            np.asarray(lamps, np.float64),
        )

    def _scale(self, scenes: Scenes) -> np.ndarray:
        """How large every vehicle is, float64[n, k]."""
        known = dict(self.sizes)
        scale = np.array([*(known[size] for size in scenes.vocabulary["size"].values), 1.0])
        return scale[np.minimum(scenes.codes["size"], len(scale) - 1)]

    def _jitter(self, scenes: Scenes) -> tuple[np.ndarray, np.ndarray]:
        n = len(scenes)
        return scenes.extra.get("camera", np.zeros((n, 3))), scenes.extra.get("lamps", np.zeros((n, 3, 3)))

    def _looks(self, scenes: Scenes, prefix: str, there: np.ndarray, size: np.ndarray) -> Looks:
        """How vehicles, or the parts in one of their slots, look; a part that is not there looks anyhow."""
        paints = {**COLORS, **{name: tuple(share / 255 for share in rgb) for name, rgb in self.paints}}
        shares = [paints.get(name, (0.0, 0.0, 0.0)) for name in scenes.vocabulary[f"{prefix}color"].values]
        materials = [_number(name, tuple(MATERIALS)) for name in scenes.vocabulary[f"{prefix}material"].values]
        textures = scenes.vocabulary[f"{prefix}texture"].values if f"{prefix}texture" in scenes.codes else (NONE,)
        cells = np.array([CELLS.get(name, 1) for name in textures], float)
        color, material = (scenes.codes[prefix + name][there] for name in ("color", "material"))
        texture = scenes.codes.get(f"{prefix}texture", np.zeros(there.shape, np.uint8))[there]
        smaller = np.where(np.array(textures)[texture] == "dotted", 1.0, np.minimum(size / SIZES["large"], 1.0))
        return Looks(
            np.array(shares)[color],
            np.array(materials)[material],
            np.array([choose("pattern", name, PATTERNS) for name in textures])[texture],
            np.maximum(np.round(cells[texture] * smaller), 1.0),
        )


def _number(name: str, known: tuple[str, ...]) -> int:
    return 0 if name == NONE else choose("material", name, known)


def _plain(many: int) -> Looks:
    return Looks(np.zeros((many, 3)), np.zeros(many, np.int64), np.zeros(many, np.int64), np.ones(many))


def _no_parts() -> tuple[np.ndarray, Looks]:
    return np.zeros(0, np.int64), _plain(0)
