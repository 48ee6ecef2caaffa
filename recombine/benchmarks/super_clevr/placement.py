"""Room for vehicles: boxes on the ground, turned with them, that do not meet."""

import math

import numpy as np

from recombine.store.compiled import compiled

RESTARTS = 100_000
"""How often one scene may run out of room before the rules count as impossible."""

X, Y, TURN = range(3)
"""The columns of a body: its place, and where it heads in degrees, counter-clockwise from the x axis."""


@compiled(error_model="numpy")
def stand_apart(
    rng: np.random.Generator,
    count: np.ndarray,
    spacing: tuple[float, float, int],
    shape_bounds: np.ndarray,
    size_bounds: np.ndarray,
    plans: np.ndarray,
    scale: np.ndarray,
    shape: np.ndarray,
    size: np.ndarray,
    body: np.ndarray,
) -> bool:
    """Fill shape, size and body of every scene; False where one of them never finds room."""
    reach, grown, tries = spacing
    axes = np.empty((body.shape[1], 6))
    for scene in range(len(count)):
        for _ in range(RESTARTS):
            if _arrange(
                rng, count[scene], reach, grown, tries, shape_bounds, size_bounds, plans, scale,
                shape[scene], size[scene], body[scene], axes,
            ):  # fmt: skip
                break
        else:
            return False
    return True


@compiled(error_model="numpy")
def _arrange(
    rng: np.random.Generator,
    count: int,
    reach: float,
    grown: float,
    tries: int,
    shape_bounds: np.ndarray,
    size_bounds: np.ndarray,
    plans: np.ndarray,
    scale: np.ndarray,
    shape: np.ndarray,
    size: np.ndarray,
    body: np.ndarray,
    axes: np.ndarray,
) -> bool:
    """Draw the vehicles of one scene; False where one finds no room."""
    for i in range(count):
        size[i] = np.searchsorted(size_bounds, rng.random(), side="right")
        shape[i] = np.searchsorted(shape_bounds, rng.random(), side="right")
        half = grown * scale[size[i]]
        for _ in range(tries):
            body[i, X] = np.float32(reach * (2 * rng.random() - 1))
            body[i, Y] = np.float32(reach * (2 * rng.random() - 1))
            body[i, TURN] = np.float32(360 * rng.random())
            _turn(body[i], half * plans[shape[i], 0], half * plans[shape[i], 1], axes[i])
            if _is_free(axes, i):
                break
        else:
            return False
    return True


@compiled(error_model="numpy")
def _turn(body: np.ndarray, length: float, width: float, axes: np.ndarray) -> None:
    """The middle of a box, and its half axes."""
    turn = math.radians(body[TURN])
    axes[0], axes[1] = body[X], body[Y]
    axes[2], axes[3] = length * math.cos(turn), length * math.sin(turn)
    axes[4], axes[5] = -width * math.sin(turn), width * math.cos(turn)


@compiled(error_model="numpy")
def _is_free(axes: np.ndarray, i: int) -> bool:
    for j in range(i):  # noqa: SIM110
        if _meet(axes[i], axes[j]):
            return False
    return True


@compiled(error_model="numpy")
def _meet(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two boxes meet: no side of either has the other beyond it."""
    x, y = b[0] - a[0], b[1] - a[1]
    for k in range(4):
        one = a if k < 2 else b
        ux, uy = one[2 + 2 * (k % 2)], one[3 + 2 * (k % 2)]
        reach = abs(a[2] * ux + a[3] * uy) + abs(a[4] * ux + a[5] * uy)
        reach += abs(b[2] * ux + b[3] * uy) + abs(b[4] * ux + b[5] * uy)
        if abs(x * ux + y * uy) > reach:
            return False
    return True


@compiled(error_model="numpy")
def apart(count: np.ndarray, body: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Which scenes have no two boxes that meet; `half` float64[n, k, 2] is half of each box's length and width."""
    fine = np.ones(len(count), np.bool_)
    axes = np.empty((body.shape[1], 6))
    for scene in range(len(count)):
        for i in range(count[scene]):
            _turn(body[scene, i], half[scene, i, 0], half[scene, i, 1], axes[i])
            fine[scene] &= _is_free(axes, i)
    return fine
