"""Primitives: the one description that every renderer of scenes in space draws from.

A primitive fills the box of its half sizes (`scale`) around its centre (`position`), turned by `rotation`; its own axes
are x, y and z, z being that of everything round. What fills the box:

sphere    a ball, or an ellipsoid                     capsule   a tube with round ends (scale x = y <= z)
box       a box; `detail` is the radius of its edges  torus     a ring of outer radius x = y and half thickness z
cylinder  a cylinder; `detail` softens its rims       disc      a flat disc, seen from both sides (scale z is 0)
cone      a cone, tip up; `detail` is the radius of   wedge     the half of a box below the plane from its upper edge
          its top, as a share of that of its base               at -x to its lower edge at +x

Lengths are those of the world, where the ground is z = 0. Primitives with the same `object` are one thing; `part` tells
its parts apart, NO_PART where a thing has none. A batch of scenes is one long table: scene i has the rows
first[i]:first[i + 1], those of an object side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.materials import COLORS, MATERIALS, TEXTURES, choose
from recombine.store.errors import UserError
from recombine.world.camera import FORWARD, POSITION, Camera

KINDS = ("sphere", "box", "cylinder", "cone", "capsule", "torus", "disc", "wedge")
SPHERE, BOX, CYLINDER, CONE, CAPSULE, TORUS, DISC, WEDGE = range(8)
NO_PART = -1

HUGE = 100.0
"""No primitive is larger, and none is farther from the middle of the world."""

CLOSE = 0.1
"""Nothing comes closer to the camera's plane."""


@dataclass(frozen=True, eq=False)
class Primitives:
    """The primitives of n scenes, and the jitter of their cameras and lamps."""

    first: np.ndarray  # int64[n + 1]
    kind: np.ndarray  # int64[p], into KINDS
    position: np.ndarray  # float64[p, 3]
    rotation: np.ndarray  # float64[p, 3, 3]: from the axes of the primitive to those of the world
    scale: np.ndarray  # float64[p, 3]
    detail: np.ndarray  # float64[p]
    object: np.ndarray  # int64[p], from 0 in every scene
    part: np.ndarray  # int64[p]
    material: np.ndarray  # int64[p], into MATERIALS
    color: np.ndarray  # float64[p, 3]: shares of light
    texture: np.ndarray  # int64[p], into TEXTURES
    grain: np.ndarray  # float64[p]: the width of a stripe or a square, or the distance of dots
    camera: np.ndarray  # float64[n, 3]
    lamps: np.ndarray = field(repr=False)  # float64[n, 3, 3]: key, fill, back

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, scene: int) -> "Primitives":
        """One scene, as a batch of one."""
        start, stop = self.first[scene], self.first[scene + 1]
        rows = {name: getattr(self, name)[start:stop] for name in PER_PRIMITIVE}
        camera, lamps = self.camera[scene : scene + 1], self.lamps[scene : scene + 1]
        return Primitives(np.array([0, stop - start]), **rows, camera=camera, lamps=lamps)

    @cached_property
    def scene(self) -> np.ndarray:
        """The scene of every primitive, int64[p]."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @cached_property
    def reach(self) -> np.ndarray:
        """The radius of the ball around each primitive's centre that holds it, float64[p]."""
        x, y, z = self.scale.T
        wide, corner = np.maximum(x, y), np.sqrt(x * x + y * y + z * z)
        rim = np.sqrt(wide * wide + z * z)
        return np.choose(self.kind, [np.maximum(wide, z), corner, rim, rim, z, x, wide, corner])

    @cached_property
    def core(self) -> np.ndarray:
        """The radius of a ball around each primitive's centre that it surely fills, float64[p]."""
        least, none = self.scale.min(axis=1), np.zeros(len(self.kind))
        cone = least * (1 + self.detail) / np.sqrt(4 + (1 - self.detail) ** 2)
        return np.choose(self.kind, [least, least, least, cone, least, none, none, none])


PER_PRIMITIVE = (
    "kind", "position", "rotation", "scale", "detail", "object", "part", "material", "color", "texture", "grain",
)  # fmt: skip
"""The columns with a row per primitive."""


class Part(NamedTuple):
    """One primitive in words, for scenes built by hand."""

    kind: str
    position: tuple[float, float, float]
    scale: tuple[float, float, float]
    color: str | tuple[float, float, float] = "gray"
    material: str = "rubber"
    texture: str = "none"
    object: int = 0
    part: int = NO_PART
    rotation: Sequence[Sequence[float]] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    detail: float = 0.0
    grain: float = 0.25


def assemble(scenes: Sequence[Sequence[Part]], camera: np.ndarray, lamps: np.ndarray) -> Primitives:
    """Scenes built by hand; `camera` float[n, 3] and `lamps` float[n, 3, 3] are the jitter of each."""
    parts = [part for scene in scenes for part in scene]

    def column(values: list[Any], dtype: type, *shape: int) -> np.ndarray:
        return np.array(values, dtype).reshape(len(parts), *shape)

    return Primitives(
        first=np.cumsum([0, *map(len, scenes)]),
        kind=column([choose("kind of primitive", part.kind, KINDS) for part in parts], np.int64),
        position=column([part.position for part in parts], np.float64, 3),
        rotation=column([part.rotation for part in parts], np.float64, 3, 3),
        scale=column([part.scale for part in parts], np.float64, 3),
        detail=column([part.detail for part in parts], np.float64),
        object=column([part.object for part in parts], np.int64),
        part=column([part.part for part in parts], np.int64),
        material=column([choose("material", part.material, tuple(MATERIALS)) for part in parts], np.int64),
        color=column([_shares(part.color) for part in parts], np.float64, 3),
        texture=column([choose("texture", part.texture, TEXTURES) for part in parts], np.int64),
        grain=column([part.grain for part in parts], np.float64),
        camera=np.asarray(camera, np.float64).reshape(-1, 3),
        lamps=np.asarray(lamps, np.float64).reshape(-1, 3, 3),
    )


def _shares(color: str | tuple[float, float, float]) -> tuple[float, ...]:
    return [*COLORS.values()][choose("color", color, tuple(COLORS))] if isinstance(color, str) else color


# --- what the kernels know of a primitive: the columns of its row --------------------------------------------------

KIND, OBJECT, PART, MATERIAL, TEXTURE, GRAIN, DETAIL, REACH = range(8)
X, Y, Z, WIDTH, DEPTH, HEIGHT, RED, GREEN, BLUE, AXES = range(8, 18)
COLUMNS = AXES + 9
"""AXES is the first of nine: the rotation, row by row."""

_NAMED = {
    KIND: "kind", OBJECT: "object", PART: "part", MATERIAL: "material", TEXTURE: "texture", GRAIN: "grain",
    DETAIL: "detail", REACH: "reach",
}  # fmt: skip


def table(primitives: Primitives) -> np.ndarray:
    """The primitives as the kernels read them, float64[p, columns]."""
    rows = np.empty((len(primitives.kind), COLUMNS))
    for column, name in _NAMED.items():
        rows[:, column] = getattr(primitives, name)
    rows[:, X : Z + 1] = primitives.position
    rows[:, WIDTH : HEIGHT + 1] = primitives.scale
    rows[:, RED : BLUE + 1] = primitives.color
    rows[:, AXES:] = primitives.rotation.reshape(-1, 9)
    return rows


# --- what cannot be drawn -------------------------------------------------------------------------------------------


def check(primitives: Primitives, camera: Camera) -> None:
    """Say which object cannot be drawn, and why."""
    for name, size in (("camera", 3), ("lamps", 9)):
        jitter = getattr(primitives, name)
        if jitter.size != len(primitives) * size or not np.isfinite(jitter).all():
            raise UserError(f"the jitter of the {name} is not {size} finite numbers per scene")
    for wrong, why in (*_wrong_rows(primitives), *_wrong_places(primitives, camera)):
        if wrong.any():
            raise UserError(f"{_named(primitives, int(wrong.argmax()))} {why}")
    one, other = _overlap(primitives.first, primitives.object, primitives.position, primitives.core)
    if one >= 0:
        raise UserError(
            f"{_named(primitives, one)} and object {primitives.object[other]} are inside each other; move them apart"
        )


def _named(primitives: Primitives, row: int) -> str:
    return f"object {primitives.object[row]} of scene {primitives.scene[row]}"


def _wrong_rows(p: Primitives) -> list[tuple[np.ndarray, str]]:
    """What is wrong with a primitive by itself: bool[p], and how to say it."""
    x, y, z = p.scale.T
    numbers = [p.position, p.rotation.reshape(-1, 9), p.scale, p.color, p.detail[:, None], p.grain[:, None]]
    with np.errstate(invalid="ignore"):  # what is not finite is found anyway
        square = np.abs(p.rotation @ p.rotation.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2), initial=0)
    order = np.diff(p.object, prepend=-1)
    order[p.first[:-1][np.diff(p.first) > 0]] = p.object[p.first[:-1][np.diff(p.first) > 0]]
    return [
        (~np.isfinite(np.concatenate(numbers, axis=1)).all(axis=1), "has a number that is not finite"),
        ((p.kind < 0) | (p.kind >= len(KINDS)), f"has an unknown kind; choose from {', '.join(KINDS)}"),
        (
            (p.material < 0) | (p.material >= len(MATERIALS)),
            f"has an unknown material; known are {', '.join(MATERIALS)}",
        ),
        ((p.texture < 0) | (p.texture >= len(TEXTURES)), f"has an unknown texture; known are {', '.join(TEXTURES)}"),
        ((x <= 0) | (y <= 0) | ((z <= 0) & (p.kind != DISC)), "has a size that is not positive"),
        ((p.scale > HUGE).any(axis=1), f"is larger than {HUGE:g}, too large for this world"),
        ((np.abs(p.position) > HUGE).any(axis=1), f"is farther than {HUGE:g} from the middle of the world"),
        (((p.color < 0) | (p.color > 1)).any(axis=1), "has a color that is not three shares between 0 and 1"),
        (p.grain <= 0, "has a texture whose grain is not positive"),
        (square > 1e-6, "is not turned by a rotation: its matrix is not orthonormal"),
        ((p.detail < 0) | (p.detail > np.where(p.kind == CONE, 1, p.scale.min(axis=1))), "has edges wider than itself"),
        ((p.kind == CAPSULE) & ((x != y) | (x > z)), "is a capsule, which is round and longer than wide: x = y <= z"),
        ((p.kind == TORUS) & ((x != y) | (x < 2 * z)), "is a torus, which is round and has a hole: x = y >= 2 z"),
        ((order < 0) | (order > 1), "is out of order: objects count from 0, and their primitives stand side by side"),
    ]


def _wrong_places(p: Primitives, camera: Camera) -> list[tuple[np.ndarray, str]]:
    view = camera.view(p.camera)[p.scene]
    depth = np.einsum("pi,pi->p", p.position - view[:, POSITION], view[:, FORWARD])
    return [(depth - p.reach < CLOSE, "is behind the camera, or reaches it; move it or the camera")]


@kernel
def _overlap(first: np.ndarray, thing: np.ndarray, position: np.ndarray, core: np.ndarray) -> tuple[int, int]:
    """Two primitives of different objects of a scene that surely share some room; (-1, -1) where there are none."""
    for scene in range(len(first) - 1):
        for i in range(first[scene], first[scene + 1]):
            for j in range(first[scene], i):
                x, y, z = (
                    position[i, 0] - position[j, 0],
                    position[i, 1] - position[j, 1],
                    position[i, 2] - position[j, 2],
                )
                near = core[i] + core[j]
                if thing[i] != thing[j] and core[i] * core[j] > 0 and x * x + y * y + z * z < near * near * 0.999:
                    return j, i
    return -1, -1
