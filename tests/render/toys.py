"""Toy models of few triangles, for tests of the renderer of models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.render.instances import Instance, Instances, Look, gather
from recombine.render.materials import COLORS, MATERIALS
from recombine.render.models import Model
from recombine.render.tessellate import Surface

Piece = tuple[str | None, float, Surface]
"""A part, or None for the body; its tint; its triangles."""


def model_of(name: str, pieces: Sequence[Piece]) -> Model:
    """A model of pieces."""
    parts = tuple(dict.fromkeys(part for part, _, _ in pieces if part))
    number = {None: -1, **{part: i for i, part in enumerate(parts)}}
    first = np.cumsum([0, *(len(surface.points) for _, _, surface in pieces)])
    many = [len(surface.faces) for _, _, surface in pieces]
    return Model(
        name,
        np.round(np.concatenate([surface.points for _, _, surface in pieces]), 5),
        np.concatenate([surface.faces + start for (_, _, surface), start in zip(pieces, first)]).astype(np.int32),
        np.concatenate([surface.normals[surface.faces] for _, _, surface in pieces]),
        np.repeat([number[part] for part, _, _ in pieces], many).astype(np.int16),
        np.repeat([tint for _, tint, _ in pieces], many).astype(np.float32),
        parts,
    )


def box(low: Sequence[float], high: Sequence[float]) -> Surface:
    """A box with sharp edges."""
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    points = np.array(low) + corner * (np.array(high) - np.array(low))
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return flat(points, faces)


def flat(points: np.ndarray, faces: np.ndarray) -> Surface:
    """Flat triangles, none of which shares a corner with another."""
    apart = points[faces]
    out = np.cross(apart[:, 1] - apart[:, 0], apart[:, 2] - apart[:, 0])
    unit = out / np.linalg.norm(out, axis=1, keepdims=True)
    return Surface(apart.reshape(-1, 3), np.repeat(unit, 3, axis=0), np.arange(apart.size // 3).reshape(-1, 3))


def ring(at: Sequence[float], radius: float, thick: float, around: int = 20, across: int = 8) -> Surface:
    """A torus about an axis along y."""
    a, b = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    out = np.stack([np.cos(b) * np.cos(a), np.sin(b), np.cos(b) * np.sin(a)], axis=-1).reshape(-1, 3)
    middle = radius * np.stack([np.cos(a), 0 * a, np.sin(a)], axis=-1).reshape(-1, 3)
    number = np.arange(around * across).reshape(around, across)
    right, up = np.roll(number, -1, 0), np.roll(number, -1, 1)
    over = np.roll(right, -1, 1)
    faces = np.concatenate([np.stack([number, up, over], -1), np.stack([number, over, right], -1)]).reshape(-1, 3)
    return Surface(middle + thick * out + np.array(at), out, faces)


def ball(at: Sequence[float], radii: Sequence[float], around: int = 16, across: int = 8) -> Surface:
    """An ellipsoid."""
    a = np.arange(around) * 2 * np.pi / around
    b = np.linspace(-np.pi / 2, np.pi / 2, across + 1)[1:-1]
    a, b = np.meshgrid(a, b, indexing="ij")
    unit = np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], axis=-1).reshape(-1, 3)
    number = np.arange(around * (across - 1)).reshape(around, across - 1)
    right, low, high = np.roll(number, -1, 0), len(unit), len(unit) + 1
    faces = [
        np.stack([number[:, :-1], right[:, :-1], right[:, 1:]], -1).reshape(-1, 3),
        np.stack([number[:, :-1], right[:, 1:], number[:, 1:]], -1).reshape(-1, 3),
        np.stack([right[:, 0], number[:, 0], np.full(around, low)], -1),
        np.stack([number[:, -1], right[:, -1], np.full(around, high)], -1),
    ]
    unit = np.concatenate([unit, [[0, 0, -1], [0, 0, 1]]])
    normal = unit / np.array(radii)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return Surface(unit * np.array(radii) + np.array(at), normal, np.concatenate(faces))


def car() -> Model:
    """A box with a round roof, dark windows and four wheels; its origin is .12 above the ground."""
    wheels = [(s, w) for s in (0.27, -0.27) for w in (0.15, -0.15)]
    return model_of(
        "car",
        [
            (None, 1.0, box((-0.44, -0.17, -0.07), (0.44, 0.17, 0.05))),
            ("roof", 1.0, ball((-0.05, 0, 0.05), (0.28, 0.14, 0.11))),
            (None, 0.4, box((-0.20, -0.145, 0.06), (0.15, 0.145, 0.10))),
            ("bumper", 1.0, box((0.42, -0.18, -0.07), (0.46, 0.18, -0.02))),
            *((f"wheel_{i}", 1.0, ring((s, w, -0.055), 0.045, 0.02)) for i, (s, w) in enumerate(wheels)),
        ],
    )


def bike() -> Model:
    """Two thin wheels and a bar between them; its origin is .24 above the ground."""
    return model_of(
        "bike",
        [
            ("wheel_front", 1.0, ring((0.27, 0, -0.06), 0.17, 0.012, 24, 6)),
            ("wheel_back", 1.0, ring((-0.27, 0, -0.06), 0.17, 0.012, 24, 6)),
            (None, 1.0, box((-0.27, -0.01, -0.02), (0.27, 0.01, 0.0))),
            ("saddle", 1.0, ball((-0.1, 0, 0.2), (0.09, 0.04, 0.02), 12, 6)),
            (None, 1.0, box((-0.11, -0.008, -0.02), (-0.095, 0.008, 0.19))),
        ],
    )


GROUND = {"car": 0.12, "bike": 0.242}
"""How high the origins of the toys are above the ground, at size one."""
TOYS = (car(), bike())


def stand(one: Instance) -> Instance:
    """The same toy, on the ground."""
    x, y, _ = one.position
    return one._replace(position=(x, y, one.size * GROUND[one.model]))


def scene(*instances: Instance) -> Instances:
    """One scene of toys on the ground, nothing jittered."""
    return gather([[stand(one) for one in instances]], TOYS, np.zeros((1, 3)), np.zeros((1, 3, 3)))


def street(n: int, seed: int, **look: Any) -> Instances:
    """Scenes of toys here and there, in any colours, all jittered."""
    rng = np.random.default_rng(seed)
    scenes = [[_toy(i, rng, look) for i in range(int(rng.integers(2, 5)))] for _ in range(n)]
    return gather(scenes, TOYS, rng.uniform(-0.5, 0.5, (n, 3)), rng.uniform(-1, 1, (n, 3, 3)))


def _toy(i: int, rng: np.random.Generator, look: dict[str, Any]) -> Instance:
    model, colors, material = TOYS[rng.integers(2)], rng.permutation([*COLORS]).tolist(), [*MATERIALS][rng.integers(2)]
    place = (1.6 * np.cos(1.6 * i), 1.6 * np.sin(1.6 * i), 0.0)
    body = Look(**{"color": colors[0], "material": material, **look})
    size, turn = (2.4, 1.5)[rng.integers(2)], float(rng.uniform(0, 360))
    return stand(Instance(i, model.name, place, turn, size, body, {model.parts[0]: Look(colors[1], "metal")}))
