"""Pictures of models: a second way to draw scenes, beside the ray tracer, for things made of many triangles.

What the camera sees is found by a z-buffer, shadows by a depth map for every lamp, and what mirrors show by rays through
the hierarchies of the models. Light, materials and floor are those of the ray tracer. The same scene gives the same
pixels, in any batch and in any process.
"""

from collections.abc import Collection
from itertools import pairwise

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.depth_maps import FRAME, blockers, see
from recombine.render.edges import HALF, STEPS
from recombine.render.eye import NOTHING
from recombine.render.floor import MAP
from recombine.render.hierarchy import DEEP
from recombine.render.instances import MODEL, OBJECT, Instances, check, instance_table, look_table
from recombine.render.lamps import lamp_table
from recombine.render.mesh_floor import WORK as FLOOR_WORK
from recombine.render.mesh_floor import light_floor
from recombine.render.mesh_library import Library, library
from recombine.render.mesh_shading import WORK, Room, Stage, group_spots, kind_table, shade_spots
from recombine.render.raytrace import LAYERS, SIDE, Pictures, screen
from recombine.render.shading import CHUNK
from recombine.render.shadow import ONE, ZERO
from recombine.render.spots import AROUND, WEIGHTS, choose_spots
from recombine.render.zbuffer import TRIANGLES, cover, project
from recombine.store.errors import UserError
from recombine.world.camera import FORWARD, POSITION, RIGHT, UP, Camera


def draw_models(
    instances: Instances, width: int, height: int, want: Collection[str] = ("rgb", "objects", "depth")
) -> Pictures:
    """Pictures of scenes of models in any size, with the layers that are wanted."""
    if unknown := [name for name in want if name not in LAYERS]:
        raise UserError(f"a picture has no {', '.join(unknown)}; choose from {', '.join(LAYERS)}")
    if not want:
        raise UserError(f"a picture of nothing was asked for; choose from {', '.join(LAYERS)}")
    if not (1 <= width <= SIDE and 1 <= height <= SIDE):
        raise UserError(f"a picture has 1 to {SIDE} pixels a side, not {width} x {height}")
    camera = Camera(width, height)
    check(instances, camera)
    made = {
        name: np.empty((len(instances), height, width, *last), dtype)
        for name, (dtype, last) in LAYERS.items()
        if name in want
    }
    draw = _Scene(instances, camera)
    for scene in range(len(instances)):
        draw(scene, {name: layer[scene] for name, layer in made.items()})
    return Pictures(**{name: made.get(name) for name in LAYERS})


class _Scene:
    """Draws the scenes of a batch, one after the other, in the same work space."""

    def __init__(self, instances: Instances, camera: Camera) -> None:
        self.instances, self.camera = instances, camera
        self.library, self.rows = library(instances.models), instance_table(instances)
        self.looks, self.chosen = look_table(instances)
        self.lamps, self.views = lamp_table(instances.lamps), camera.view(instances.camera)
        self.points = np.concatenate([[0], np.cumsum(np.diff(self.library.first_point)[instances.model])])
        height, width = camera.height, camera.width
        lattice = (2 * height + 1, 2 * width + 1)
        self.near, self.owner = np.empty(lattice, np.float32), np.empty(lattice, np.int32)
        self.source, self.spots = np.empty(lattice, np.int32), np.empty(lattice[0] * lattice[1], np.int32)
        self.unlike, self.floor = np.empty((height, width), np.uint8), np.ones((height + 1, max(width, MAP)), np.uint8)
        side = map_side(width)
        self.maps, self.frames = np.empty((4, side, side), np.float32), np.empty((4, FRAME))
        self.blockers = blockers(side)
        self.floor_work = np.empty((FLOOR_WORK, max(width, MAP)), np.float32)
        self.floor_chosen = np.empty(max(width, MAP), np.int32)
        self.chart, self.light = np.empty((3, MAP, MAP), np.float32), np.empty((3, height, width), np.float32)
        self.room = Room(
            np.zeros((WORK, CHUNK), np.float32),
            np.empty(CHUNK, np.int32),
            np.empty(DEEP, np.int32),
            np.empty(DEEP, np.float32),
        )
        self.kinds = kind_table()

    def __call__(self, scene: int, layers: dict[str, np.ndarray]) -> None:
        """Fill the layers of one scene."""
        start, stop = self.instances.first[scene], self.instances.first[scene + 1]
        rows, view, focal = self.rows[start:stop], self.views[scene], self.camera.focal
        first, known = self.points[start : stop + 1] - self.points[start], self.library
        seen = np.empty((first[-1], 3))
        ground(view, focal, self.near, self.owner)
        project(
            rows, known.first_point, known.points, view, 2 * focal, float(self.camera.width),
            float(self.camera.height), seen,
        )  # fmt: skip
        cover(rows, known.first_point, known.first_triangle, known.corners, seen, self.near, self.owner)
        if "rgb" in layers:
            self._draw(scene, rows, seen, first, layers["rgb"])
        if "objects" in layers:
            number_objects(rows, self.owner, layers["objects"])
        if "parts" in layers:
            number_parts(rows, known, self.owner, layers["parts"])
        if "depth" in layers:
            measure(view, focal, self.near, self.owner, layers["depth"])

    def _draw(self, scene: int, rows: np.ndarray, seen: np.ndarray, first: np.ndarray, rgb: np.ndarray) -> None:
        known, view, focal, lamps = self.library, self.views[scene], self.camera.focal, self.lamps[scene]
        start, stop = self.instances.first[scene], self.instances.first[scene + 1]
        many = choose_spots(rows, known, self.owner, self.source, self.unlike, self.floor, self.spots)
        see(
            rows, known.first_point, known.points, known.first_triangle, known.corners, lamps, np.empty_like(seen),
            self.maps, self.frames,
        )  # fmt: skip
        light_floor(
            rows, lamps, view, focal, self.maps, self.frames, self.blockers, self.floor, self.floor_work,
            self.floor_chosen, self.chart, self.light,
        )  # fmt: skip
        stage = Stage(
            rows, self.looks, self.chosen[start:stop], self.kinds, lamps, self.maps, self.frames, self.chart, view
        )
        spots = self.spots[:many]
        order, groups = group_spots(stage, known, self.owner, spots)
        light = np.empty((3, many), np.float32)
        shade_spots(
            stage, known, focal, self.owner, seen, first, spots, order, groups, self.maps.max(axis=(1, 2)), self.room, light
        )
        resolve(self.owner, self.source, self.unlike, light, self.light, screen(), rgb)


def map_side(width: int) -> int:
    """The texels along a side of a depth map, for pictures of this width."""
    return min(max(64, 4 * (width // 5)), 1024)


@kernel
def ground(view: np.ndarray, focal: float, near: np.ndarray, owner: np.ndarray) -> None:
    """The empty floor in all spots."""
    height = near.shape[0] // 2
    for i in range(near.shape[0]):
        v = (0.5 * height - 0.5 * i) / focal
        down = view[FORWARD, 2] + v * view[UP, 2]
        for j in range(near.shape[1]):
            near[i, j] = max(-down / view[POSITION, 2], 0.0)
            owner[i, j] = NOTHING


@kernel
def resolve(
    owner: np.ndarray,
    source: np.ndarray,
    unlike: np.ndarray,
    light: np.ndarray,
    floor: np.ndarray,
    screen: np.ndarray,
    rgb: np.ndarray,
) -> None:
    """The colours of pixels from the light of their spots."""
    height, width = unlike.shape
    for i in range(height):
        for j in range(width):
            middle, bits = source[2 * i + 1, 2 * j + 1], unlike[i, j]
            for channel in range(3):
                own = floor[channel, i, j] if middle < 0 else light[channel, middle]
                own = min(own, ONE)
                if bits != 0:
                    total, left = ZERO, np.int32(16)
                    for k in range(8):
                        if bits >> k & 1:
                            spot = source[2 * i + 1 + AROUND[k][0], 2 * j + 1 + AROUND[k][1]]
                            other = floor[channel, i, j] if spot < 0 else light[channel, spot]
                            total += np.float32(WEIGHTS[k]) * min(other, ONE)
                            left -= WEIGHTS[k]
                    own = (total + np.float32(left) * own) / np.float32(16)
                rgb[i, j, channel] = screen[np.int32(max(own, ZERO) * STEPS + HALF)]


@kernel
def number_objects(rows: np.ndarray, owner: np.ndarray, numbers: np.ndarray) -> None:
    """The object in the middle of every pixel."""
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            one = owner[2 * i + 1, 2 * j + 1]
            numbers[i, j] = NOTHING if one == NOTHING else int(rows[one // TRIANGLES, OBJECT])


@kernel
def number_parts(rows: np.ndarray, known: Library, owner: np.ndarray, numbers: np.ndarray) -> None:
    """The part in the middle of every pixel."""
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            one = owner[2 * i + 1, 2 * j + 1]
            numbers[i, j] = NOTHING
            if one != NOTHING:
                first = known.first_triangle[int(rows[one // TRIANGLES, MODEL])]
                numbers[i, j] = known.part[first + one % TRIANGLES]


@kernel
def measure(view: np.ndarray, focal: float, near: np.ndarray, owner: np.ndarray, depth: np.ndarray) -> None:
    """How deep the middle of every pixel lies."""
    height, width = depth.shape
    for i in range(height):
        v = (0.5 * height - 0.5 - i) / focal
        down = view[FORWARD, 2] + v * view[UP, 2]
        floor = -view[POSITION, 2] / down if down < 0 else np.inf
        for j in range(width):
            depth[i, j] = floor if owner[2 * i + 1, 2 * j + 1] == NOTHING else 1 / near[2 * i + 1, 2 * j + 1]
