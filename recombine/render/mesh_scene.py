"""Pictures of models: a second way to draw scenes, beside the ray tracer, for things made of many triangles.

What the camera sees is found by a z-buffer, shadows by a depth map for every lamp, and what mirrors show by rays
through the hierarchies of the models. Light, materials and floor are those of the ray tracer. The same scene gives the
same pixels, in any batch and in any process.
"""

from collections.abc import Collection

import numpy as np

from recombine.render.compiled import kernel
from recombine.render.depth_maps import FRAME, blockers, see
from recombine.render.edges import HALF, STEPS, encode
from recombine.render.eye import NOTHING
from recombine.render.floor import MAP
from recombine.render.instances import COS, OBJECT, SIN, Instances, check, instance_table, look_table
from recombine.render.lamps import lamp_table
from recombine.render.mesh_floor import WORK as FLOOR_WORK
from recombine.render.mesh_floor import light_floor
from recombine.render.mesh_library import PART, library
from recombine.render.mesh_shading import Stage, group_spots, kind_table, normal_at, shade_spots, within, work_space
from recombine.render.rays import ray, to_ground
from recombine.render.raytrace import Pictures, check_wanted, empty_layers, screen
from recombine.render.shadow import ONE, ZERO
from recombine.render.spots import AROUND, TILE, WEIGHTS, choose_spots, find_busy, tile_of
from recombine.render.zbuffer import TRIANGLES, cover, ground, project
from recombine.world.camera import Camera


def draw_models(
    instances: Instances, width: int, height: int, want: Collection[str] = ("rgb", "objects", "depth")
) -> Pictures:
    """Pictures of scenes of models in any size, with the layers that are wanted."""
    check_wanted(want, width, height)
    camera = Camera(width, height)
    check(instances, camera)
    made = empty_layers(len(instances), width, height, want)
    draw = _Scene(instances, camera)
    for scene in range(len(instances)):
        draw(scene, {name: layer[scene] for name, layer in made.items()})
    return Pictures.of(made)


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
        self.blockers = blockers(4, side)
        self.floor_work = np.empty((FLOOR_WORK, max(width, MAP)), np.float32)
        self.chart, self.light = np.empty((3, MAP, MAP), np.float32), np.empty((3, height, width), np.float32)
        self.busy = np.empty((-(-height // TILE), -(-width // TILE)), np.uint8)
        self.room, self.kinds = work_space(), kind_table()

    def __call__(self, scene: int, layers: dict[str, np.ndarray]) -> None:
        """Fill the layers of one scene."""
        here = slice(self.instances.first[scene], self.instances.first[scene + 1])
        rows, triangles = self.rows[here], self.library.first_triangle[self.instances.model[here]]
        first = self.points[here.start : here.stop + 1] - self.points[here.start]
        view, focal, known = self.views[scene], self.camera.focal, self.library
        middle = float(self.camera.width), float(self.camera.height)
        seen = np.empty((first[-1], 3))
        ground(view, 2 * focal, middle[1], self.near, self.owner)
        project(rows, known.first_point, known.points, view, 2 * focal, *middle, seen)
        cover(rows, known.first_point, known.first_triangle, known.corners, seen, self.near, self.owner)
        find_busy(seen, first, self.busy)
        if "rgb" in layers:
            self._draw(scene, here, triangles, seen, first, layers["rgb"])
        if "objects" in layers:
            number_objects(rows, self.owner, self.busy, layers["objects"])
        if "parts" in layers:
            number_parts(triangles, known.surface, self.owner, self.busy, layers["parts"])
        if "depth" in layers:
            measure(view, focal, self.near, self.owner, self.busy, layers["depth"])
        if "normals" in layers:
            face(
                rows, triangles, known.surface, known.corners, self.owner, self.busy, seen, first, layers["normals"]
            )  # fmt: skip

    def _draw(
        self, scene: int, here: slice, triangles: np.ndarray, seen: np.ndarray, first: np.ndarray, rgb: np.ndarray
    ) -> None:
        """First the depth maps, then the floor, then what stands on it."""
        rows, view, focal, lamps, known = (
            self.rows[here], self.views[scene], self.camera.focal, self.lamps[scene], self.library,
        )  # fmt: skip
        many = choose_spots(
            triangles, known.surface, self.owner, self.busy, self.source, self.unlike, self.floor, self.spots
        )
        see(
            rows, known.first_point, known.points, known.first_triangle, known.corners, lamps, np.empty_like(seen),
            self.maps, self.frames,
        )  # fmt: skip
        light_floor(
            rows, lamps, view, focal, self.maps, self.frames, self.blockers, self.floor, self.floor_work, self.chart,
            self.light,
        )  # fmt: skip
        stage = Stage(rows, self.looks, self.chosen[here], self.kinds, lamps, self.maps, self.frames, self.chart, view)
        spots, light = self.spots[:many], np.empty((3, many), np.float32)
        order, groups = group_spots(stage, triangles, known.surface, self.owner, spots)
        shade_spots(stage, known, focal, self.owner, seen, first, spots, order, groups, self.room, light)
        encode(self.light, screen(), rgb)
        resolve(self.busy, self.source, self.unlike, light, self.light, screen(), rgb)


def map_side(width: int) -> int:
    """The texels along a side of a depth map, for pictures of this width."""
    return min(max(64, 4 * (width // 5)), 1024)


@kernel
def resolve(
    busy: np.ndarray,
    source: np.ndarray,
    unlike: np.ndarray,
    light: np.ndarray,
    floor: np.ndarray,
    screen: np.ndarray,
    rgb: np.ndarray,
) -> None:
    """The colours of pixels in busy tiles, from the light of their spots."""
    height, width = unlike.shape
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(top, bottom):
            for j in range(left, right):
                middle, bits = source[2 * i + 1, 2 * j + 1], unlike[i, j]
                if middle < 0 and bits == 0:
                    continue
                for channel in range(3):
                    ground = min(floor[channel, i, j], ONE)
                    own = ground if middle < 0 else min(light[channel, middle], ONE)
                    if bits != 0:
                        total, left_over = ZERO, np.int32(16)
                        for k in range(8):
                            if bits >> k & 1:
                                spot = source[2 * i + 1 + AROUND[k][0], 2 * j + 1 + AROUND[k][1]]
                                other = ground if spot < 0 else min(light[channel, spot], ONE)
                                total += np.float32(WEIGHTS[k]) * other
                                left_over -= WEIGHTS[k]
                        own = (total + np.float32(left_over) * own) / np.float32(16)
                    rgb[i, j, channel] = screen[np.int32(max(own, ZERO) * STEPS + HALF)]


# --- what the middle of every pixel shows ---------------------------------------------------------------------------


@kernel
def number_objects(rows: np.ndarray, owner: np.ndarray, busy: np.ndarray, numbers: np.ndarray) -> None:
    """The object."""
    height, width = numbers.shape
    numbers[:] = NOTHING
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(top, bottom):
            for j in range(left, right):
                one = owner[2 * i + 1, 2 * j + 1]
                if one != NOTHING:
                    numbers[i, j] = int(rows[one // TRIANGLES, OBJECT])


@kernel
def number_parts(
    first: np.ndarray, surface: np.ndarray, owner: np.ndarray, busy: np.ndarray, numbers: np.ndarray
) -> None:
    """The part."""
    height, width = numbers.shape
    numbers[:] = NOTHING
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(top, bottom):
            for j in range(left, right):
                one = owner[2 * i + 1, 2 * j + 1]
                if one != NOTHING:
                    numbers[i, j] = int(surface[first[one // TRIANGLES] + one % TRIANGLES, PART])


@kernel
def measure(
    view: np.ndarray, focal: float, near: np.ndarray, owner: np.ndarray, busy: np.ndarray, depth: np.ndarray
) -> None:
    """How deep it lies."""
    height, width = depth.shape
    for i in range(height):
        depth[i] = to_ground(view, ray(view, focal, width, height, i, 0))  # a row of the image is level
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(top, bottom):
            for j in range(left, right):
                if owner[2 * i + 1, 2 * j + 1] != NOTHING:
                    depth[i, j] = 1 / near[2 * i + 1, 2 * j + 1]


@kernel
def face(
    rows: np.ndarray,
    first: np.ndarray,
    surface: np.ndarray,
    corners: np.ndarray,
    owner: np.ndarray,
    busy: np.ndarray,
    seen: np.ndarray,
    first_seen: np.ndarray,
    normals: np.ndarray,
) -> None:
    """Which way it faces; the ground faces up."""
    height, width, _ = normals.shape
    for i in range(height):
        for j in range(width):
            normals[i, j, 0], normals[i, j, 1], normals[i, j, 2] = 0.0, 0.0, 1.0
    for tile in range(busy.size):
        top, bottom, left, right = tile_of(tile, busy, height, width)
        for i in range(top, bottom):
            for j in range(left, right):
                one = owner[2 * i + 1, 2 * j + 1]
                if one != NOTHING:
                    row, t = one // TRIANGLES, first[one // TRIANGLES] + one % TRIANGLES
                    a, b, c, _ = within(seen, corners, t, first_seen[row], 2 * j + 1.0, 2 * i + 1.0)
                    x, y, z = normal_at(surface, t, a, b, c, rows[row, COS], rows[row, SIN])
                    normals[i, j, 0], normals[i, j, 1], normals[i, j, 2] = x, y, z
