"""Surfaces of triangles: they are those that the ray tracer sees."""

import numpy as np
import pytest

from recombine.render.intersect import MISS, enter, facing
from recombine.render.primitives import KINDS
from recombine.render.tessellate import Surface, tessellate

SHAPES = {
    "sphere": [((1.0, 1.0, 1.0), 0.0), ((0.5, 0.9, 0.3), 0.0)],
    "box": [((1.0, 1.0, 1.0), 0.0), ((0.7, 0.7, 0.7), 0.126), ((0.9, 0.4, 0.3), 0.3), ((0.5, 0.8, 0.2), 0.05)],
    "cylinder": [((1.0, 1.0, 1.0), 0.0), ((0.7, 0.7, 0.7), 0.04), ((0.5, 0.8, 0.2), 0.05)],
    "cone": [((1.0, 1.0, 1.0), 0.0), ((0.6, 0.6, 0.9), 0.4), ((0.6, 0.9, 0.5), 1.0)],
    "capsule": [((0.4, 0.4, 1.0), 0.0), ((0.5, 0.5, 0.5), 0.0)],
    "torus": [((1.0, 1.0, 0.3), 0.0)],
    "disc": [((1.0, 1.0, 0.0), 0.0), ((0.6, 0.9, 0.0), 0.0)],
    "wedge": [((1.0, 1.0, 1.0), 0.0), ((0.6, 0.9, 0.4), 0.0)],
}
ALL = [(kind, scale, detail) for kind, several in SHAPES.items() for scale, detail in several]
NEARBY = 0.35


def surface(kind: str, scale: tuple[float, ...], detail: float) -> Surface:
    return tessellate(KINDS.index(kind), np.array(scale), detail)


def volume(s: Surface) -> float:
    a, b, c = (s.points[s.faces[:, corner]] for corner in range(3))
    return float(np.einsum("fi,fi->f", a, np.cross(b, c)).sum() / 6)


def test_every_kind_of_primitive_has_a_surface() -> None:
    assert set(SHAPES) == set(KINDS)


@pytest.mark.parametrize(("kind", "scale", "detail"), ALL)
def test_a_ray_that_falls_upon_a_triangle_enters_the_primitive_there(
    kind: str, scale: tuple[float, ...], detail: float
) -> None:
    number, s = KINDS.index(kind), surface(kind, scale, detail)
    middle = s.points[s.faces].mean(axis=1)
    normal = s.normals[s.faces].mean(axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    way = -normal + 1e-3 * np.roll(normal, 1, axis=1)  # no ray runs along an axis exactly
    start = middle - NEARBY * way
    hits = [enter(number, scale, detail, tuple(p), tuple(d)) for p, d in zip(start, way)]
    assert MISS not in hits
    np.testing.assert_allclose(hits, NEARBY, atol=0.004)  # a triangle lies a little below what is round


@pytest.mark.parametrize(("kind", "scale", "detail"), ALL)
def test_corners_have_the_normals_that_the_ray_tracer_sees(kind: str, scale: tuple[float, ...], detail: float) -> None:
    number, s = KINDS.index(kind), surface(kind, scale, detail)
    point = s.points[s.faces].mean(axis=1)
    mean = s.normals[s.faces].mean(axis=1)
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    seen = np.array([facing(number, scale, detail, tuple(p), tuple(-n)) for p, n in zip(point, mean)])
    tip = (kind == "cone") & (detail == 0) & (point[:, 2] > 0.8 * scale[2])  # where all normals meet
    assert (np.einsum("fi,fi->f", mean, seen)[~tip] > 0.99).all()
    np.testing.assert_allclose(np.linalg.norm(s.normals, axis=1), 1)


@pytest.mark.parametrize(("kind", "scale", "detail"), [case for case in ALL if case[0] != "disc"])
def test_surfaces_are_closed_and_face_outward(kind: str, scale: tuple[float, ...], detail: float) -> None:
    """Every edge is walked once in either direction."""
    s = surface(kind, scale, detail)
    _, same = np.unique(np.round(s.points, 9) + 0.0, axis=0, return_inverse=True)
    faces = same.reshape(-1)[s.faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = {tuple(e) for e in edges.tolist()}, {tuple(e) for e in edges[:, ::-1].tolist()}
    assert len(there) == len(edges)
    assert there == back
    assert volume(s) > 0


def test_volumes_are_those_of_the_books() -> None:
    assert volume(surface("sphere", (0.5, 0.9, 0.3), 0.0)) == pytest.approx(4 / 3 * np.pi * 0.135, rel=0.01)
    assert volume(surface("box", (0.5, 0.9, 0.3), 0.0)) == pytest.approx(8 * 0.135)
    assert volume(surface("cylinder", (1.0, 1.0, 0.5), 0.05)) == pytest.approx(np.pi, rel=0.01)
    assert volume(surface("cone", (1.0, 1.0, 1.0), 0.0)) == pytest.approx(2 / 3 * np.pi, rel=0.01)
    assert volume(surface("capsule", (0.5, 0.5, 1.0), 0.0)) == pytest.approx(np.pi / 4 + np.pi / 6, rel=0.01)
    assert volume(surface("torus", (1.0, 1.0, 0.3), 0.0)) == pytest.approx(2 * np.pi**2 * 0.7 * 0.09, rel=0.01)
    assert volume(surface("wedge", (0.5, 0.9, 0.3), 0.0)) == pytest.approx(4 * 0.135)


def test_triangles_can_be_taken_apart_and_put_in_place() -> None:
    s = surface("box", (0.7, 0.7, 0.7), 0.1)
    apart = s.apart()
    np.testing.assert_array_equal(apart.points[apart.faces], s.points[s.faces])
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    placed = s.placed(np.array([1.0, 2, 3]), turn)
    np.testing.assert_allclose((placed.points - [1, 2, 3]) @ turn, s.points)
    assert volume(placed) == pytest.approx(volume(s))
