"""Laws of structural similarity: it equals a plain reference, window by window, and is one for equal pictures only."""

import numpy as np
import pytest

from recombine.metrics.ssim import LUMINANCE, SIGMA, SLACK, WINDOW, likeness, similarity


def plain_similarity(one: np.ndarray, other: np.ndarray, row: int, column: int) -> float:
    """The similarity of the windows whose upper left pixel is given, from their definition."""
    away = np.arange(WINDOW) - WINDOW // 2
    weight = np.exp(-(away[:, None] ** 2 + away**2) / (2 * SIGMA**2))
    weight /= weight.sum()
    a, b = (plane[row : row + WINDOW, column : column + WINDOW] for plane in (one, other))
    mean_a, mean_b = (weight * a).sum(), (weight * b).sum()
    spread_a, spread_b = (weight * (a - mean_a) ** 2).sum(), (weight * (b - mean_b) ** 2).sum()
    shared = (weight * (a - mean_a) * (b - mean_b)).sum()
    level = (2 * mean_a * mean_b + SLACK[0]) / (mean_a**2 + mean_b**2 + SLACK[0])
    return level * (2 * shared + SLACK[1]) / (spread_a + spread_b + SLACK[1])


def noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def test_fast_similarity_equals_its_definition() -> None:
    one, other = noise(0, 15, 14).astype(float), noise(1, 15, 14).astype(float)
    found = similarity(one, other)
    plain = [[plain_similarity(one, other, i, j) for j in range(4)] for i in range(5)]
    np.testing.assert_allclose(found, plain, atol=1e-12)


def test_a_picture_is_like_itself_and_less_like_any_other() -> None:
    picture, nearly = noise(2, 20, 30, 3), noise(2, 20, 30, 3)
    nearly[10, 15] ^= 64
    assert likeness(picture, picture) == pytest.approx(1, abs=1e-12)
    assert 0.9 < likeness(picture, nearly) < 1
    assert abs(likeness(picture, noise(3, 20, 30, 3))) < 0.1


def test_likeness_is_symmetric_and_the_same_in_a_batch() -> None:
    one, other = noise(4, 3, 12, 13, 3), noise(5, 3, 12, 13, 3)
    np.testing.assert_array_equal(likeness(one, other), likeness(other, one))
    np.testing.assert_allclose(likeness(one, other), [likeness(a, b) for a, b in zip(one, other)])


def test_only_luminance_counts() -> None:
    red, gray = np.zeros((12, 12, 3)), np.zeros((12, 12, 3))
    red[..., 0], gray[...] = 100, 100 * LUMINANCE[0]
    assert likeness(red, gray) == pytest.approx(1)


@pytest.mark.parametrize("shape", [(12, 13, 3), (10, 40, 3)])
def test_pictures_that_cannot_be_compared_are_refused(shape: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="compared"):
        likeness(noise(6, *shape), noise(6, *shape) if shape[0] < WINDOW else noise(6, 12, 14, 3))
