"""Shadows by depth maps: beside one ray to the middle of every lamp."""

import numpy as np
import pytest

from recombine.render.depth_maps import FRAME, block, blockers, dim_floor, dim_points, dimmed, see
from recombine.render.eye import NOTHING
from recombine.render.instances import Instances, instance_table
from recombine.render.lamps import lamp_table
from recombine.render.mesh_library import library
from recombine.render.mesh_reference import shadowed
from recombine.render.mesh_scene import draw_models
from recombine.world.camera import POSITION, Camera
from tests.render.toys import street

WIDTH, HEIGHT, SIDE = 80, 60, 256


class Lit:
    """The depth maps of one scene, and what they say of points."""

    def __init__(self, one: Instances) -> None:
        known, rows = library(one.models), instance_table(one)
        self.maps, self.frames = np.empty((4, SIDE, SIDE), np.float32), np.empty((4, FRAME))
        points = sum(len(one.models[model].points) for model in one.model)
        see(
            rows, known.first_point, known.points, known.first_triangle, known.corners, lamp_table(one.lamps)[0],
            np.empty((points, 3)), self.maps, self.frames,
        )  # fmt: skip
        self.found = blockers(4, SIDE)
        block(self.maps, self.frames, self.found)

    def floor(self, points: np.ndarray) -> np.ndarray:
        """The share of every lamp that points of the floor see, float32[lamps, n]."""
        x, y = np.ascontiguousarray(points.T[:2], np.float32)
        free = np.ones((4, len(points)), np.float32)
        for lamp in range(4):
            sums, height, dims = self.found.sums[lamp], self.found.height[lamp], self.found.dims[lamp]
            dim_floor(self.frames[lamp], sums, height, dims, x, y, np.ones(len(points), np.uint8), free[lamp])
        return free

    def models(self, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """The same of points of models."""
        table = np.ascontiguousarray(np.concatenate([points, normals, normals], axis=1).T, np.float32)
        free, work = np.ones((4, len(points)), np.float32), np.empty((8, len(points)), np.float32)
        for lamp in range(4):
            chosen = np.empty(len(points) + 1, np.int32)
            dim_points(self.maps[lamp], self.frames[lamp], table, free[lamp], work, chosen)
        return free


@pytest.mark.parametrize("seed", [6, 7])
def test_floor_and_models_are_in_the_shadow_where_rays_to_the_lamps_are_blocked(seed: int) -> None:
    one = street(1, seed)
    found, camera, lit = (
        draw_models(one, WIDTH, HEIGHT, ("objects", "depth", "normals")),
        Camera(WIDTH, HEIGHT),
        Lit(one),
    )
    assert found.objects is not None and found.depth is not None and found.normals is not None
    points = camera.view(one.camera[0])[POSITION] + found.depth[0][..., None] * camera.rays(one.camera[0])
    floor, normals = found.objects[0] == NOTHING, found.normals[0]
    hard = shadowed(one, 0, points[floor])
    assert np.abs(hard - (1 - lit.floor(points[floor]))).mean(axis=1).max() < 0.02
    assert hard.any(axis=1).all()
    place, out = points[~floor], normals[~floor].astype(float)
    lamps = lamp_table(one.lamps)[0, :, :3]
    facing = np.einsum("lni,ni->ln", lamps[:, None] - place, out) > 0.2 * np.linalg.norm(lamps[:, None] - place, axis=2)
    hard, soft = shadowed(one, 0, place + 0.02 * out), 1 - lit.models(place, out)
    assert np.abs(hard - soft)[facing].mean() < 0.06
    assert 0.02 < hard[facing].mean() < 0.6


def test_no_point_is_left_out_where_something_may_dim_the_floor() -> None:
    """Along any row of points, those outside of the stretch that may be dimmed see every lamp whole."""
    lit, rng = Lit(street(1, 8)), np.random.default_rng(0)
    for _ in range(40):
        start, step = rng.uniform(-6, 6, 2), rng.normal(size=2) * 0.1
        row = np.column_stack([start + np.arange(80)[:, None] * step, np.zeros(80)])
        free = lit.floor(row)
        for lamp in range(4):
            first, last = dimmed(lit.frames[lamp], lit.found.bounds[lamp], *start, *step, 80)
            before = 1 / (lit.frames[lamp, 9] + row @ lit.frames[lamp, 6:9]) > 0
            assert (free[lamp, :first][before[:first]] == 1).all() and (free[lamp, last:][before[last:]] == 1).all()
