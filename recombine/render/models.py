"""Models: things made of triangles, the common form of vehicles that are modelled here and those of a user's files."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Model:
    """A thing made of triangles, built once and drawn wherever it stands.

    x points ahead, y to the left, z up; it is placed by its origin, the middle of its box in the ground plan.
    """

    name: str
    points: np.ndarray  # float64[v, 3], rounded to 1e-5
    triangles: np.ndarray  # int32[t, 3], counter-clockwise from outside
    normals: np.ndarray  # float64[t, 3, 3], of every corner, of length one (by crease angle)
    part: np.ndarray  # int16[t], into `parts`; -1: no part (the body)
    tint: np.ndarray  # float32[t], what the colour is multiplied with: glass 0.4, tyres dark, ... 1 elsewhere
    parts: tuple[str, ...]
