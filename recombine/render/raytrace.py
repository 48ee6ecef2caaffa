"""The ray tracer: pictures of scenes, with what every pixel shows.

One pass over a scene gives the picture and, for the middle of every pixel, which object and which part is seen there,
how deep it lies and which way its surface faces. The ground is no object. The same scene gives the same pixels, in any
batch and in any process.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from recombine.render.edges import LEVELS, blend, by_primitive, encode, find_edges, look_again, points_of, spread
from recombine.render.eye import NOTHING, face, look, number
from recombine.render.floor import MAP, light_floor
from recombine.render.lamps import lamp_table
from recombine.render.materials import material_table
from recombine.render.primitives import OBJECT, PART, Primitives, check, table
from recombine.render.shading import CHUNK, WORK, shade_all
from recombine.render.solids import solids
from recombine.render.things import balls_of, things_of
from recombine.store.errors import UserError
from recombine.world.camera import POSITION, Camera
from recombine.world.scenes import Scenes

__all__ = ["LAYERS", "NOTHING", "Pictures", "raytrace"]

LAYERS = {
    "rgb": (np.uint8, (3,)),
    "objects": (np.int16, ()),
    "parts": (np.int16, ()),
    "depth": (np.float32, ()),
    "normals": (np.float32, (3,)),
}
"""What a picture may hold: the type and the shape of a pixel."""

SIDE = 8192
"""The most pixels of a side."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """What n scenes look like; None for what was not wanted."""

    rgb: np.ndarray | None  # uint8[n, height, width, 3]
    objects: np.ndarray | None  # int16[n, height, width], NOTHING on the ground
    parts: np.ndarray | None  # int16[n, height, width], NOTHING where there is no part
    depth: np.ndarray | None  # float32[n, height, width], along the axis of the camera
    normals: np.ndarray | None  # float32[n, height, width, 3], unit vectors of the world

    def __len__(self) -> int:
        return next(len(layer) for layer in vars(self).values() if layer is not None)

    @classmethod
    def of(cls, made: Mapping[str, np.ndarray]) -> "Pictures":
        return cls(**{name: made.get(name) for name in LAYERS})


def check_wanted(want: Collection[str], width: int, height: int) -> None:
    """Refuse layers and sizes that no picture has."""
    if unknown := [name for name in want if name not in LAYERS]:
        raise UserError(f"a picture has no {', '.join(unknown)}; choose from {', '.join(LAYERS)}")
    if not want:
        raise UserError(f"a picture of nothing was asked for; choose from {', '.join(LAYERS)}")
    if not (1 <= width <= SIDE and 1 <= height <= SIDE):
        raise UserError(f"a picture has 1 to {SIDE} pixels a side, not {width} x {height}")


def empty_layers(n: int, width: int, height: int, want: Collection[str]) -> dict[str, np.ndarray]:
    """Room for the layers that are wanted of n pictures."""
    kinds = {name: kind for name, kind in LAYERS.items() if name in want}
    return {name: np.empty((n, height, width, *last), dtype) for name, (dtype, last) in kinds.items()}


def raytrace(
    scenes: Scenes | Primitives, width: int, height: int, want: Collection[str] = ("rgb", "objects", "depth")
) -> Pictures:
    """Pictures of scenes in any size, with the layers that are wanted."""
    check_wanted(want, width, height)
    camera, primitives = Camera(width, height), solids(scenes) if isinstance(scenes, Scenes) else scenes
    check(primitives, camera)
    made = empty_layers(len(primitives), width, height, want)
    draw = _Scene(width, height)
    rows, lamps, views = table(primitives), lamp_table(primitives.lamps), camera.view(primitives.camera)
    for scene, (start, stop) in enumerate(pairwise(primitives.first.tolist())):
        draw(rows[start:stop], lamps[scene], views[scene], camera.focal, {n: layer[scene] for n, layer in made.items()})
    return Pictures.of(made)


@cache
def screen() -> np.ndarray:
    """The brightness on the screen of light from 0 to 1, in LEVELS steps, uint8."""
    light = np.linspace(0, 1, LEVELS)
    curve = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * curve).astype(np.uint8)


class _Scene:
    """Draws scenes of one size, one after the other, in the same work space."""

    def __init__(self, width: int, height: int) -> None:
        self.far, self.owner = np.empty((height, width)), np.empty((height, width), np.int32)
        self.light, self.edge = np.empty((3, height, width), np.float32), np.empty((height, width), np.uint8)
        self.chart, self.materials = np.empty((3, MAP, MAP), np.float32), material_table()
        self.work = np.zeros((WORK, max(width, MAP, CHUNK)), np.float32)

    def __call__(
        self, rows: np.ndarray, lamps: np.ndarray, view: np.ndarray, focal: float, layers: dict[str, np.ndarray]
    ) -> None:
        """Fill the layers of one scene."""
        look(rows, view, focal, self.far, self.owner)
        if "rgb" in layers:
            self._draw(rows, lamps, view, focal, layers["rgb"])
        if "objects" in layers:
            number(rows, OBJECT, self.owner, layers["objects"])
        if "parts" in layers:
            number(rows, PART, self.owner, layers["parts"])
        if "depth" in layers:
            layers["depth"][:] = self.far
        if "normals" in layers:
            face(rows, view, focal, self.far, self.owner, layers["normals"])

    def _draw(self, rows: np.ndarray, lamps: np.ndarray, view: np.ndarray, focal: float, rgb: np.ndarray) -> None:
        """First the floor, then what stands on it, then the edges once more."""
        things, balls = things_of(rows), balls_of(rows)
        light_floor(rows, things, balls, lamps, view, focal, self.work, self.chart, self.light)
        eye = view[POSITION]

        def shade(start: np.ndarray, points: np.ndarray) -> np.ndarray:
            points, seen = np.ascontiguousarray(points), np.empty(points.shape, np.float32)
            shade_all(
                rows, things, balls, lamps, self.materials, self.chart, eye, focal, start, points, self.work, seen
            )
            return seen

        start, pixels = by_primitive(self.owner.reshape(-1), len(rows))
        spread(pixels, shade(start, points_of(view, focal, self.far, pixels)), self.light)
        encode(self.light, screen(), rgb)
        edges = find_edges(self.owner, rgb, self.edge)
        first, found, points, source = look_again(rows, view, focal, self.owner, self.edge, edges)
        start, order = by_primitive(found, len(rows))
        blend(edges, first, source, order, shade(start, points[order].T), self.light, screen(), rgb)
