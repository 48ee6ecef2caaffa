"""Patterns of models: two tones, their mean over a pixel, and the same cells for both renderers."""

from typing import Any

import numpy as np
import pytest

from recombine.render.instances import CHECKERED, DOTTED, PATTERNS, STRIPED, VSTRIPED, Instance, Look
from recombine.render.materials import DARKER
from recombine.render.mesh_scene import draw_models
from recombine.render.patterns import INWARD, shade_of
from recombine.render.photo_models import cut
from tests.render.toys import box, scene

NONE = (0.0, 0.0, 0.0)
CELLS = {
    STRIPED: lambda p: p[2] // 1,
    VSTRIPED: lambda p: p[0] // 1,
    CHECKERED: lambda p: (p // 1).sum(),
}


def shade(pattern: int, cells: float, at: Any, inward: Any = NONE, wide: Any = NONE) -> float:
    return float(shade_of(pattern, float(cells), tuple(map(float, at)), tuple(inward), tuple(map(float, wide))))


@pytest.mark.parametrize("pattern", [STRIPED, VSTRIPED, CHECKERED])
def test_cells_lie_in_the_box(pattern: int) -> None:
    for at in np.random.default_rng(pattern).uniform(0, 1, (200, 3)):
        dark = CELLS[pattern](7 * at) % 2 == 1
        assert shade(pattern, 7, at) == pytest.approx(DARKER if dark else 1, abs=1e-3)


def test_a_side_of_the_box_takes_the_cell_below_it() -> None:
    """It lies exactly where a cell ends, and would show either by chance."""
    for at in ((0.5 / 6, 0.5 / 6, 1 - 1e-9), (0.5 / 6, 0.5 / 6, 1 + 1e-9)):
        below = shade(CHECKERED, 6, (at[0], at[1], 1 - INWARD / 6), NONE)
        assert shade(CHECKERED, 6, at, (0.0, 0.0, -1.0)) == pytest.approx(below, abs=1e-6)


@pytest.mark.parametrize("pattern", [STRIPED, VSTRIPED, CHECKERED])
def test_the_width_of_a_pixel_gives_the_mean_over_it(pattern: int) -> None:
    rng = np.random.default_rng(pattern)
    grid = (np.stack(np.meshgrid(*[np.arange(12)] * 3), axis=-1).reshape(-1, 3) + 0.5) / 12 - 0.5
    for at, wide in zip(rng.uniform(0.3, 0.7, (8, 3)), rng.uniform(0.01, 0.3, (8, 3))):
        mean = np.mean([shade(pattern, 5, at + wide * spot) for spot in grid])
        assert shade(pattern, 5, at, NONE, wide) == pytest.approx(mean, abs=0.03)


def test_blotches_are_two_tones_in_about_equal_shares_and_fade_where_pixels_are_wide() -> None:
    places = np.random.default_rng(1).uniform(0, 1, (1500, 3))
    tones = np.array([shade(DOTTED, 15, at) for at in places])
    assert ((tones < DARKER + 0.01) | (tones > 0.99)).mean() > 0.99
    assert 0.4 < (tones > 0.75).mean() < 0.6
    faded = np.array([shade(DOTTED, 15, at, NONE, (0.5, 0.5, 0.5)) for at in places[:200]])
    assert np.abs(faded - 0.75).max() < 0.05


@pytest.mark.parametrize("pattern", PATTERNS[1:])
def test_patterns_darken_a_car_and_nothing_else(pattern: str) -> None:
    def drawn(look: Look) -> tuple[np.ndarray, np.ndarray]:
        found = draw_models(scene(Instance(0, "car", (0, 0, 0), 20.0, 4.0, look)), 160, 120, ("rgb", "objects"))
        assert found.rgb is not None and found.objects is not None
        return found.rgb[0].astype(float), found.objects[0]

    (plain, shown), (painted, _) = drawn(Look("cyan")), drawn(Look("cyan", pattern=pattern, cells=6.0))
    left = (painted / np.maximum(plain, 1)).mean(axis=-1)[shown == 0]
    assert 0.2 < (left < 0.93).mean() < 0.8 and left.min() > 0.8
    assert np.abs(painted - plain)[shown != 0].mean() < 0.5


# --- cut for the photo renderer ------------------------------------------------------------------------------------


def test_cut_triangles_are_the_same_surface_in_cells() -> None:
    surface = box((-0.3, -0.2, 0), (0.5, 0.4, 0.6))
    corners = np.concatenate([surface.points, surface.normals], axis=1).reshape(-1, 3, 6)
    pieces = corners
    for axis, start, width in ((0, -0.3, 0.11), (1, -0.2, 0.07), (2, 0.0, 0.2)):
        pieces = cut(pieces, axis, start, width)
        place = (pieces[:, :, axis] - start) / width
        assert (np.ceil(place.max(axis=1) - 1e-5) - np.floor(place.min(axis=1) + 1e-5) <= 1).all()

    def area(some: np.ndarray) -> np.ndarray:
        return 0.5 * np.cross(some[:, 1, :3] - some[:, 0, :3], some[:, 2, :3] - some[:, 0, :3])

    np.testing.assert_allclose(np.abs(area(pieces)).sum(axis=0), np.abs(area(corners)).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(area(pieces).sum(axis=0), 0, atol=1e-9)
    assert len(pieces) > 100
