"""What a ray meets is what a plain walk along the ray meets, for every primitive, turned and scaled."""

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.primitives import KINDS, NO_PART, Part, Primitives, assemble
from recombine.render.raytrace import NOTHING, raytrace
from recombine.render.shadow import hidden
from recombine.render.solids import solids
from recombine.store.key import Key
from recombine.world.camera import Camera

WIDTH, HEIGHT = 24, 18
CAMERA = Camera(WIDTH, HEIGHT)
PACES = 300
"""The walk along a ray: so many paces through the ball around a primitive, then halved until it is exact."""
ALMOST = 1e-4
"""A ray that only grazes a primitive may be said to miss it, or to hit it, by so much."""


# --- the plain reference -----------------------------------------------------------------------------------------


def within(kind: str, scale: np.ndarray, detail: float, p: np.ndarray, grown: float = 0.0) -> np.ndarray:
    """Which points[..., 3] lie within a primitive, in its own axes; it may be grown a little on all sides."""
    if kind in ("cone", "wedge"):  # a longer one has flatter slopes, and would shrink in places
        return _within_sloped(kind, scale, detail, p, grown)
    scale = scale + grown
    x, y, z = np.moveaxis(p / np.where(scale > 0, scale, 1), -1, 0)
    flat = np.hypot(x, y)
    if kind == "sphere":
        return x**2 + y**2 + z**2 <= 1
    if kind == "box":
        out = np.maximum(np.abs(p) - (scale - detail), 0)
        return (np.abs(p) <= scale).all(axis=-1) & (np.linalg.norm(out, axis=-1) <= detail + 1e-12)
    if kind == "cylinder":
        return (flat <= 1) & (np.abs(z) <= 1)
    if kind == "capsule":
        half = scale[2] - scale[0]
        return (
            np.hypot(np.hypot(p[..., 0], p[..., 1]), np.abs(p[..., 2]) - np.minimum(np.abs(p[..., 2]), half))
            <= (scale[0])
        )
    assert kind == "torus"
    return np.hypot(np.hypot(p[..., 0], p[..., 1]) - (scale[0] - scale[2]), p[..., 2]) <= scale[2]


def _within_sloped(kind: str, scale: np.ndarray, detail: float, p: np.ndarray, grown: float) -> np.ndarray:
    (x, y, z), (a, b, c) = np.moveaxis(p / scale, -1, 0), grown / scale
    if kind == "cone":
        return (np.hypot(x, y) <= (1 + detail) / 2 - (1 - detail) / 2 * z + max(a, b)) & (np.abs(z) <= 1 + c)
    return (np.abs(p) <= scale + grown).all(axis=-1) & (x + z <= a + c)


class Walk:
    """Rays that walk to one primitive of a scene."""

    def __init__(self, primitives: Primitives, row: int) -> None:
        self.kind, self.detail = KINDS[primitives.kind[row]], float(primitives.detail[row])
        self.scale, self.reach = primitives.scale[row], float(np.linalg.norm(primitives.scale[row]))
        view = CAMERA.view(primitives.camera[primitives.scene[row]])
        turn = primitives.rotation[row]
        self.start = (view[0] - primitives.position[row]) @ turn
        self.way = CAMERA.rays(primitives.camera[primitives.scene[row]]) @ turn

    def inside(self, depth: np.ndarray, grown: float = 0.0) -> np.ndarray:
        points = self.start + depth[..., None] * self.way
        return within(self.kind, self.scale, self.detail, points, grown)

    def depths(self) -> np.ndarray:
        """The depth at which each ray first gets inside, infinite where it does not, float64[height, width]."""
        if self.kind == "disc":
            return self._disc()
        middle = -(self.way @ self.start) / (self.way**2).sum(axis=-1)
        half = self.reach / np.linalg.norm(self.way, axis=-1)
        last, found = middle - half, np.full(middle.shape, np.inf)
        for pace in np.linspace(-1, 1, PACES)[1:]:
            here = middle + pace * half
            hit = np.isinf(found) & self.inside(here)
            if hit.any():
                found[hit] = self._halve(last, here)[hit]
            last = here
        return found

    def _halve(self, outside: np.ndarray, inside: np.ndarray) -> np.ndarray:
        for _ in range(45):
            middle = (outside + inside) / 2
            yes = self.inside(middle)
            outside, inside = np.where(yes, outside, middle), np.where(yes, middle, inside)
        return inside

    def _disc(self) -> np.ndarray:
        depth = -self.start[2] / self.way[..., 2]
        place = (self.start + depth[..., None] * self.way)[..., :2] / self.scale[:2]
        return np.where((depth > 0) & ((place**2).sum(axis=-1) <= 1), depth, np.inf)


def plain(primitives: Primitives) -> tuple[np.ndarray, np.ndarray]:
    """The depth and the number of what each pixel of one scene shows; NOTHING where it shows the ground."""
    depths = np.stack([Walk(primitives, row).depths() for row in range(len(primitives.kind))])
    return depths.min(axis=0), np.where(np.isfinite(depths.min(axis=0)), depths.argmin(axis=0), NOTHING)


# --- rays ----------------------------------------------------------------------------------------------------------


def turn(angles: tuple[float, float, float]) -> np.ndarray:
    """Any rotation, from three angles in radians."""
    turned = np.eye(3)
    for axis, angle in enumerate(angles):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        step = np.eye(3)
        step[one, one] = step[other, other] = np.cos(angle)
        step[one, other], step[other, one] = -np.sin(angle), np.sin(angle)
        turned = turned @ step
    return turned


def possible(kind: str, scale: tuple[float, float, float], detail: float) -> tuple[tuple[float, float, float], float]:
    """The nearest scale that a kind of primitive may have, and its detail for a share from 0 to 1."""
    x, y, z = scale
    if kind in ("capsule", "torus"):
        x, _, z = sorted(scale, reverse=kind == "torus")
        return (x, x, min(z, x / 2.2) if kind == "torus" else z), 0.0
    if kind in ("box", "cone"):
        return scale, detail * (min(scale) if kind == "box" else 1)
    return (x, y, 0.0 if kind == "disc" else z), 0.0


def hundredths(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers that do not depend on which constants the package has: Hypothesis would try these among floats."""
    return st.integers(round(100 * low), round(100 * high)).map(lambda number: number / 100)


sizes = hundredths(0.3, 1.4)
places = hundredths(-1.0, 1.0)
heights = hundredths(2.5, 3.5)  # nothing reaches the ground
angles = hundredths(-3.0, 3.0)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None, derandomize=True, phases=(Phase.generate,))  # a walk is slow to shrink
@given(
    scale=st.tuples(sizes, sizes, sizes),
    detail=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    position=st.tuples(places, places, heights),
    turned=st.tuples(angles, angles, angles),
)
def test_rays_meet_a_primitive_where_a_walk_meets_it(
    kind: str,
    scale: tuple[float, float, float],
    detail: float,
    position: tuple[float, float, float],
    turned: tuple[float, float, float],
) -> None:
    scale, detail = possible(kind, scale, detail)
    agree(kind, scale, detail, position, turned)


def test_a_ray_meets_a_thin_edge_that_a_walk_steps_over() -> None:
    """A sharp cone, flat as a hat, at whose brim a ray is inside for less than a pace."""
    agree("cone", (1.1, 1.3436, 0.3224), 0.0, (0.662, -0.394, 2.579), (-1.274, 1.755, 0.0))


def agree(
    kind: str,
    scale: tuple[float, float, float],
    detail: float,
    position: tuple[float, float, float],
    turned: tuple[float, float, float],
) -> None:
    """The ray tracer and the walk agree on one primitive."""
    part = Part(kind, position, scale, rotation=turn(turned).tolist(), detail=detail)
    scene = assemble([[part]], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    picture = raytrace(scene, WIDTH, HEIGHT, ("objects", "depth", "normals"))
    assert picture.objects is not None and picture.depth is not None and picture.normals is not None
    walk = Walk(scene, 0)
    hit, depth = picture.objects[0] == 0, walk.depths()
    both = hit & np.isfinite(depth)
    np.testing.assert_allclose(picture.depth[0][both], depth[both], atol=2e-5)
    assert both.any() or kind == "disc"  # a disc may be seen from its side
    missed = hit & ~both
    if kind != "disc":
        assert walk.inside(picture.depth[0].astype(float), ALMOST)[missed].all()
        shown = np.where(np.isfinite(depth), depth, 0)
        assert not walk.inside(shown + ALMOST, -ALMOST)[~hit & (shown > 0)].any()
        normals_point_out(walk, turn(turned), picture.depth[0], picture.normals[0], both)


def normals_point_out(
    walk: Walk, turned: np.ndarray, depth: np.ndarray, normals: np.ndarray, shown: np.ndarray
) -> None:
    """A little along its normal a point is outside, and a little against it inside; but for points on sharp edges."""
    np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1, atol=1e-5)
    points, normal = walk.start + depth[..., None] * walk.way, normals @ turned
    out, back = (within(walk.kind, walk.scale, walk.detail, points + step * normal)[shown] for step in (1e-3, -1e-3))
    assert not out.any()
    assert back.mean() > 0.9
    assert ((normal * walk.way).sum(axis=-1)[shown] < 1e-4).all()


def test_a_scene_shows_what_is_nearest() -> None:
    made = solids(ClevrWorld().sample(4, Key(11)))
    pictures = raytrace(made, WIDTH, HEIGHT, ("objects", "depth"))
    assert pictures.objects is not None and pictures.depth is not None
    for scene in range(len(made)):
        depth, owner = plain(made[scene])
        same = pictures.objects[scene] == owner
        assert same.mean() > 0.995  # rays that graze an object may miss it
        shown = same & (owner != NOTHING)
        assert shown.sum() > 10
        np.testing.assert_allclose(pictures.depth[scene][shown], depth[shown], atol=2e-5)


def test_parts_hide_each_other_within_an_object() -> None:
    parts = [
        Part("box", (0, 0, 0.5), (0.8, 0.5, 0.3), part=0, detail=0.1),
        Part("torus", (0.3, -0.5, 0.4), (0.4, 0.4, 0.1), part=1, rotation=turn((1.5, 0, 0)).tolist()),
        Part("cone", (-0.4, 0, 1.2), (0.4, 0.4, 0.5), part=2, detail=0.2),
        Part("wedge", (1.6, 0.6, 0.4), (0.4, 0.4, 0.4), object=1),
    ]
    scene = assemble([parts], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    picture = raytrace(scene, WIDTH, HEIGHT, ("objects", "parts"))
    assert picture.objects is not None and picture.parts is not None
    _, owner = plain(scene)
    objects, numbers = (np.append(column, NOTHING)[owner] for column in (scene.object, scene.part))
    assert (picture.objects[0] == objects).mean() > 0.99
    assert (picture.parts[0] == numbers).mean() > 0.99
    assert set(np.unique(picture.parts)) == {NO_PART, 0, 1, 2}


def test_the_ground_has_depth_and_faces_up() -> None:
    empty = assemble([[]], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    picture = raytrace(empty, WIDTH, HEIGHT, ("objects", "parts", "depth", "normals"))
    assert picture.objects is not None and picture.depth is not None and picture.normals is not None
    view, rays = CAMERA.view(np.zeros(3)), CAMERA.rays(np.zeros(3))
    assert (picture.objects == NOTHING).all()
    np.testing.assert_allclose(picture.depth[0], -view[0, 2] / rays[..., 2], rtol=1e-6)
    np.testing.assert_array_equal(picture.normals[0], np.broadcast_to([0, 0, 1], (HEIGHT, WIDTH, 3)))


def test_the_ground_hides_what_lies_below_it() -> None:
    scene = assemble([[Part("sphere", (0, 0, 0), (1, 1, 1))]], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    picture = raytrace(scene, WIDTH, HEIGHT, ("objects", "depth"))
    assert picture.objects is not None and picture.depth is not None
    points = CAMERA.view(np.zeros(3))[0] + picture.depth[0][..., None] * CAMERA.rays(np.zeros(3))
    assert (points[..., 2] > -1e-5).all()
    half, whole = (picture.objects[0] == 0).sum(), np.isfinite(Walk(scene, 0).depths()).sum()
    assert 0.5 * whole < half < whole


# --- shadows ------------------------------------------------------------------------------------------------------


def plain_shadow(
    kind: str, scale: np.ndarray, detail: float, at: np.ndarray, toward: np.ndarray, radius: float
) -> float:
    """The share of a lamp, a disc that faces the point, to which the straight way leads through a primitive."""
    ahead = toward / np.linalg.norm(toward)
    right = np.cross(ahead, [0.36, 0.48, 0.8])
    right /= np.linalg.norm(right)
    turns, away = np.arange(120) * 2.399963, radius * np.sqrt((np.arange(120) + 0.5) / 120)  # a sunflower
    spots = toward + away[:, None] * (np.cos(turns)[:, None] * right + np.sin(turns)[:, None] * np.cross(ahead, right))
    paces = np.linspace(0, 1, 400)[:, None, None]
    return float(within(kind, scale, detail, at + paces * spots).any(axis=0).mean())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "disc"])
def test_soft_shadows_are_about_what_sampled_lamps_leave(kind: str) -> None:
    """Points of the ground below a primitive, and a lamp far above it."""
    rng = np.random.default_rng(KINDS.index(kind))
    scale, detail = possible(kind, (0.5, 0.5, 0.4), 0.0)
    off = []
    for _ in range(150):
        goal = np.array([*rng.uniform(-3, 3, 2), rng.uniform(4, 6)])
        at = np.array([*(rng.uniform(-1.2, 1.2, 2) - 0.12 * goal[:2]), -scale[2] - 0.1])
        numbers: Any = [tuple(map(np.float32, vector)) for vector in (scale, at, goal - at, (detail, 0.5))]
        size, here, way, (edge, radius) = numbers
        fast = hidden(KINDS.index(kind), size, edge, here, way, radius)
        off.append(float(fast) - plain_shadow(kind, np.array(scale), detail, at, goal - at, 0.5))
    assert np.abs(off).mean() < 0.015
