"""Pictures for people: each pixel is the mean light of several.

The renderers shade the middle of every pixel. Where an outline runs through a pixel, its spots take the light of the
nearest middle within that outline. The round edge of a metal thing is thinner than a pixel: few middles lie on it, some
of them in its highlight and some beside it, and what should be a line of light becomes a row of dashes. More spots do
not help, as they take their light from the same middles. Datasets keep these pixels, as their bytes are a promise; what
people look at is drawn larger and made small again.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from recombine.render.edges import LEVELS
from recombine.render.instances import Instances
from recombine.render.raytrace import SIDE, raytrace, screen
from recombine.world.scenes import Scenes

TIMES, MODEL_TIMES = 2, 3
"""How much larger each side is drawn: of solids, and of models, whose edges are thinner still."""


def fine(draw: Callable[[int, int], np.ndarray], width: int, height: int, times: int = TIMES) -> np.ndarray:
    """Pictures of this size from larger ones, uint8[n, height, width, 3], unless these would be too large to draw."""
    times = max(1, min(times, SIDE // max(width, height)))
    drawn = draw(times * width, times * height)
    if times == 1:
        return drawn
    return (
        np.stack([_smaller(one, times) for one in drawn]) if len(drawn) else np.empty((0, height, width, 3), np.uint8)
    )


def traced(scenes: Scenes, width: int, height: int, times: int = TIMES) -> np.ndarray:
    """Fine pictures by the ray tracer."""

    def draw(wide: int, high: int) -> np.ndarray:
        rgb = raytrace(scenes, wide, high, ("rgb",)).rgb
        assert rgb is not None
        return rgb

    return fine(draw, width, height, times)


def modelled(instances: Instances, width: int, height: int, times: int = MODEL_TIMES) -> np.ndarray:
    """Fine pictures of models."""
    from recombine.render.mesh_scene import draw_models  # many loops, which scenes of solids do not need

    def draw(wide: int, high: int) -> np.ndarray:
        rgb = draw_models(instances, wide, high, ("rgb",)).rgb
        assert rgb is not None
        return rgb

    return fine(draw, width, height, times)


@cache
def _light() -> np.ndarray:
    """The light of every brightness on the screen, float32[256]."""
    shade = np.arange(256) / 255
    return np.where(shade <= 0.04045, shade / 12.92, ((shade + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _smaller(rgb: np.ndarray, times: int) -> np.ndarray:
    """Blocks of pixels as one: their light is averaged, not what the screen is told."""
    height, width = rgb.shape[0] // times, rgb.shape[1] // times
    light = _light()[rgb].reshape(height, times, width, times, 3).mean(axis=(1, 3))
    found: np.ndarray = screen()[np.round(light * (LEVELS - 1)).astype(np.int64)]
    return found
