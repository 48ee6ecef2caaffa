"""Fast visibility equals a plain reference that asks every pixel for its nearest solid."""

import numpy as np
import pytest

from recombine.world.camera import Camera
from recombine.world.visibility import CUBE, CYLINDER, NOTHING, SPHERE, TIE, visible_pixels

SMALL_IMAGE = Camera(96, 64)


def plain_counts(kind: np.ndarray, body: np.ndarray, camera: Camera, jitter: np.ndarray) -> np.ndarray:
    """The visible pixels of one scene: the whole image, the nearest hit per pixel, the first of equally near ones."""
    origin, rays = np.asarray(camera.base) + jitter, camera.rays(jitter)
    depths = np.stack([plain_depth(k, b, origin, rays) for k, b in zip(kind, body)])
    nearest = depths.min(axis=0)
    owner = np.where(np.isfinite(nearest), (depths <= nearest + TIE).argmax(axis=0), NOTHING)
    return np.array([np.count_nonzero(owner == i) for i in range(len(kind))])


def plain_depth(kind: int, body: np.ndarray, origin: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """The depth at which each ray enters a solid, infinite where it misses."""
    x, y, radius, rotation = body
    if kind == NOTHING:
        return np.full(rays.shape[:-1], np.inf)
    angle = np.radians(rotation)
    turn = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    start, way = turn @ (origin - np.array([x, y, radius])), rays @ turn.T
    round_axes = {SPHERE: [0, 1, 2], CYLINDER: [0, 1], CUBE: []}[kind]
    enter, leave = np.full(rays.shape[:-1], -np.inf), np.full(rays.shape[:-1], np.inf)
    if round_axes:
        a, b = (way[..., round_axes] ** 2).sum(-1), way[..., round_axes] @ start[round_axes]
        root = b**2 - a * ((start[round_axes] ** 2).sum() - radius**2)
        half = np.sqrt(np.maximum(root, 0))
        enter, leave = np.where(root >= 0, (-b - half) / a, np.inf), np.where(root >= 0, (-b + half) / a, -np.inf)
    for axis in {0, 1, 2} - set(round_axes):
        faces = np.stack([(side - start[axis]) / way[..., axis] for side in (-radius, radius)])
        enter, leave = np.maximum(enter, faces.min(axis=0)), np.minimum(leave, faces.max(axis=0))
    return np.where(enter <= leave, enter, np.inf)


def crowded(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kinds, bodies and jitters of scenes in which much is hidden or outside the image."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(NOTHING, 3, (n, 6))
    body = np.concatenate([rng.uniform(-4, 4, (n, 6, 2)), np.zeros((n, 6, 2))], axis=-1)
    body[..., 2], body[..., 3] = rng.choice([0.35, 0.7], (n, 6)), rng.uniform(0, 360, (n, 6))
    return kind, body, rng.uniform(-0.5, 0.5, (n, 3))


@pytest.mark.parametrize("camera", [SMALL_IMAGE, Camera(240, 160)])
def test_fast_counts_equal_plain_counts(camera: Camera) -> None:
    kind, body, jitter = crowded(150, seed=1)
    plain = [plain_counts(*scene[:2], camera, scene[2]) for scene in zip(kind, body, jitter)]
    np.testing.assert_array_equal(visible_pixels(kind, body, camera, jitter), plain)


@pytest.mark.parametrize("enough", [0, 1, 20, 60])
def test_an_early_stop_never_changes_the_verdict(enough: int) -> None:
    kind, body, jitter = crowded(500, seed=2)
    exact, early = (visible_pixels(kind, body, SMALL_IMAGE, jitter, *stop) for stop in ((), (enough,)))
    np.testing.assert_array_equal(early >= enough, exact >= enough)
    assert (early <= exact).all()


def test_a_large_solid_hides_a_small_one_behind_it() -> None:
    away = -np.array([7.48113, -6.50764]) / np.hypot(7.48113, 6.50764)
    body = np.array([[[0.0, 0.0, 0.7, 0.0], [*(1.2 * away), 0.35, 0.0]]])
    front, back = visible_pixels(np.array([[CUBE, SPHERE]]), body, Camera(240, 160), np.zeros((1, 3)))[0]
    alone = visible_pixels(np.array([[CUBE, NOTHING]]), body, Camera(240, 160), np.zeros((1, 3)))[0, 0]
    assert (front, back) == (alone, 0)
