"""Hierarchies and libraries of models: rays meet what they meet without them; closed pieces are told from open ones."""

import numpy as np
import pytest

from recombine.render.hierarchy import DEEP, LEAF, build, first_met
from recombine.render.mesh_library import FACING, PART, TINT, closed, library
from recombine.render.models import Model
from recombine.render.tessellate import Surface
from tests.render.toys import TOYS, ball, box, model_of

ROOM = np.empty(DEEP, np.int32), np.empty(DEEP, np.float32)


@pytest.mark.parametrize("model", [0, 1])
def test_a_ray_meets_the_nearest_triangle_that_faces_it(model: int) -> None:
    known, rng = library(TOYS), np.random.default_rng(model)
    first, last = known.first_triangle[model : model + 2]
    corner, one, two = (known.rays[first:last, 3 * i : 3 * i + 3].astype(float) for i in range(3))
    met = 0
    for _ in range(300):
        start = rng.normal(size=3)
        way = rng.uniform(-0.4, 0.4, 3) * [1, 0.3, 0.3] - start
        far, t = first_met(
            known.boxes, known.children, known.first_node[model], known.rays, first,
            tuple(np.float32(start)), tuple(np.float32(way)), np.float32(1e6), *ROOM,
        )  # fmt: skip
        aside = np.cross(way, two)
        facing = np.einsum("ti,ti->t", one, aside)
        off = start - corner
        upward = np.cross(off, one)
        u, v = np.einsum("ti,ti->t", off, aside) / facing, upward @ way / facing
        far_off = np.einsum("ti,ti->t", two, upward) / facing
        hit = np.where((facing > 0) & (u >= 0) & (v >= 0) & (u + v <= 1) & (far_off > 0), far_off, np.inf)
        if np.isfinite(hit.min()):
            met += 1
            assert far == pytest.approx(hit.min(), rel=1e-4)
        elif t >= 0:  # it slipped by at an edge
            assert min(u[t - first], v[t - first], 1 - u[t - first] - v[t - first]) > -1e-3
    assert met > 50


@pytest.mark.parametrize("many", [0, 1, 5, 300])
def test_every_triangle_is_in_one_leaf_and_within_the_boxes_above_it(many: int) -> None:
    rng = np.random.default_rng(many)
    low = rng.uniform(-1, 1, (many, 3))
    low[: many // 3] = low[:1] if many else 0  # some in the same place cannot be parted
    high = low + rng.uniform(0, 0.1, (many, 3))
    boxes, children, order = build(low, high)
    found: list[int] = []

    def walk(node: int, inside: list[np.ndarray], deep: int) -> None:
        assert deep < DEEP
        for side in range(2):
            child, box = children[node, side], boxes[node, 6 * side : 6 * side + 6]
            if child < 0:
                start, count = divmod(-1 - child, 8)
                assert count <= LEAF
                for k in order[start : start + count].tolist():
                    found.append(k)
                    for outer in (*inside, box) if count else ():
                        assert (outer[:3] <= low[k]).all() and (outer[3:] >= high[k]).all()
            else:
                walk(child, [*inside, box], deep + 1)

    walk(0, [], 0)
    assert sorted(found) == list(range(many))


def test_the_library_keeps_what_triangles_are() -> None:
    known = library(TOYS)
    assert library(TOYS) is known
    for i, model in enumerate(TOYS):
        rows = known.surface[known.first_triangle[i] : known.first_triangle[i + 1]]
        corners = model.points[known.corners[known.first_triangle[i] : known.first_triangle[i + 1]]]
        out = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        np.testing.assert_allclose(rows[:, FACING : FACING + 3], out, atol=1e-6)
        np.testing.assert_array_equal(np.sort(rows[:, PART]), np.sort(model.part))
        np.testing.assert_array_equal(np.sort(rows[:, TINT]), np.sort(model.tint))


# --- closed pieces --------------------------------------------------------------------------------------------------


def single(surface: Surface) -> Model:
    return model_of("one", [(None, 1.0, surface)])


def test_toys_are_closed() -> None:
    assert all(closed(model).all() for model in TOYS)


def test_a_ball_with_a_hole_is_open_and_its_neighbour_is_not() -> None:
    whole, holed = ball((0, 0, 0), (1, 1, 1)), ball((3, 0, 0), (1, 1, 1))
    model = model_of("two", [(None, 1.0, whole), (None, 1.0, holed._replace(faces=holed.faces[:-1]))])
    np.testing.assert_array_equal(closed(model), np.arange(len(model.triangles)) < len(whole.faces))


def test_a_box_inside_out_is_not_closed() -> None:
    inside_out = box((0, 0, 0), (1, 1, 1))
    assert not closed(single(inside_out._replace(faces=inside_out.faces[:, ::-1]))).any()


def test_a_side_cut_at_its_edges_only_on_one_side_is_closed() -> None:
    """Two triangles of a box meet four of its next side at the same edge."""
    whole = box((0, 0, 0), (1, 1, 1))
    corners = whole.points[whole.faces]
    a, b, c = corners[0]
    middle = (a + b) / 2
    cut = np.concatenate([corners[1:], [[a, middle, c], [middle, b, c]]]).reshape(-1, 3)
    model = single(Surface(cut, np.tile([0.0, 0.0, 1.0], (len(cut), 1)), np.arange(len(cut)).reshape(-1, 3)))
    assert closed(model).all()
    gone = model_of(
        "gap", [(None, 1.0, Surface(cut[:-3], np.zeros_like(cut[:-3]), np.arange(len(cut) - 3).reshape(-1, 3)))]
    )
    assert not closed(gone).any()
