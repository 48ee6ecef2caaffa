"""Solids: the objects of scenes as primitives.

CLEVR's and CURI's objects have a shape, a color, a material and a size, and rest on the ground. A shape is made of
pieces, for a size of one; a new shape is a new row of SHAPES.
"""

from typing import NamedTuple

import numpy as np

from recombine.render.materials import COLORS, MATERIALS, PLAIN, TEXTURES
from recombine.render.primitives import BOX, CAPSULE, CONE, CYLINDER, NO_PART, SPHERE, TORUS, WEDGE, Primitives
from recombine.store.errors import UserError
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes

BEVEL = 0.18
"""The radius of the edges of a cube, of its half-edge."""
RIM = 0.055
"""How wide the rims of a cylinder are soft, of its radius."""
GRAIN = 0.4
"""The width of a stripe, of the size of its object."""


class Piece(NamedTuple):
    """A primitive of a shape that is two high and whose centre is the origin."""

    kind: int
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    detail: float = 0.0


SHAPES: dict[str, tuple[Piece, ...]] = {
    "cube": (Piece(BOX, detail=BEVEL),),
    "sphere": (Piece(SPHERE),),
    "cylinder": (Piece(CYLINDER, detail=RIM),),
    "cone": (Piece(CONE),),
    "capsule": (Piece(CAPSULE, scale=(0.5, 0.5, 1.0)),),
    "torus": (Piece(TORUS, position=(0.0, 0.0, -0.7), scale=(1.0, 1.0, 0.3)),),
    "disc": (Piece(CYLINDER, position=(0.0, 0.0, -0.9), scale=(1.0, 1.0, 0.1), detail=RIM),),
    "wedge": (Piece(WEDGE),),
}


def solids(scenes: Scenes, scene: int | None = None) -> Primitives:
    """The objects of all scenes, or of one, as primitives.

    An object rests on the ground, so the height of its centre is its size. Columns that scenes may have: `rotation`
    (degrees about z), `camera` and `lamps` (jitter); without them nothing is turned or moved.
    """
    if scene is not None:
        scenes = scenes[np.array([scene])]
    row, place, piece = _pieces(scenes)
    size = scenes.position[row, place, 2].astype(np.float64)
    turn = _turns(scenes.extra["rotation"][row, place] if "rotation" in scenes.extra else np.zeros(len(row)))
    detail = np.array([one.detail for one in ALL_PIECES])[piece]
    kind = np.array([one.kind for one in ALL_PIECES])[piece]
    offset = np.array([one.position for one in ALL_PIECES])[piece]
    return Primitives(
        first=np.searchsorted(row, np.arange(len(scenes) + 1)),
        kind=kind,
        position=scenes.position[row, place] + size[:, None] * np.einsum("pij,pj->pi", turn, offset),
        rotation=turn,
        scale=size[:, None] * np.array([one.scale for one in ALL_PIECES])[piece],
        detail=np.where(kind == CONE, detail, detail * size),  # a cone's is a share
        object=place,
        part=np.full(len(row), NO_PART),
        material=_numbers(scenes, "material", tuple(MATERIALS))[row, place],
        color=np.array([*COLORS.values()])[_numbers(scenes, "color", tuple(COLORS))[row, place]],
        texture=_textures(scenes)[row, place],
        grain=GRAIN * size,
        camera=_jitter(scenes, "camera", (3,)),
        lamps=_jitter(scenes, "lamps", (3, 3)),
    )


ALL_PIECES = tuple(piece for pieces in SHAPES.values() for piece in pieces)
_FIRST_PIECE = np.cumsum([0, *map(len, SHAPES.values())])


def _pieces(scenes: Scenes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The scene, the place in it and the number of the piece of every primitive, scene by scene."""
    shape = _numbers(scenes, "shape", tuple(SHAPES))
    row, place = np.nonzero(places_taken(scenes.count, scenes.places))
    first, many = _FIRST_PIECE[shape[row, place]], np.diff(_FIRST_PIECE)[shape[row, place]]
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(row, many), np.repeat(place, many), np.repeat(first, many) + within


def _numbers(scenes: Scenes, attribute: str, known: tuple[str, ...]) -> np.ndarray:
    """For every object the number of its value among those that can be drawn, int64[n, k]."""
    values = scenes.vocabulary[attribute].values
    number = np.array([known.index(value) if value in known else -1 for value in values] + [0])
    codes = np.minimum(scenes.codes[attribute], len(values))
    wrong = (number[codes] < 0) & places_taken(scenes.count, scenes.places)
    if wrong.any():
        scene, place = np.argwhere(wrong)[0]
        hint = "; a mesh of your own needs the photo renderer" if attribute == "shape" else ""
        raise UserError(
            f"object {place} of scene {scene} has the {attribute} '{values[codes[scene, place]]}', "
            f"which cannot be drawn; choose one of {', '.join(known)}{hint}"
        )
    return number[codes]


def _textures(scenes: Scenes) -> np.ndarray:
    """The texture of every object, int64[n, k]; plain where scenes do not speak of any."""
    if "texture" not in scenes.vocabulary.by_name:
        return np.full(scenes.position.shape[:2], PLAIN)
    return _numbers(scenes, "texture", TEXTURES)


def _turns(degrees: np.ndarray) -> np.ndarray:
    """Turns about z, float64[p, 3, 3]."""
    angle = np.radians(degrees.astype(np.float64))
    turn = np.zeros((len(angle), 3, 3))
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
    turn[:, 1, 0] = np.sin(angle)
    turn[:, 0, 1] = -turn[:, 1, 0]
    turn[:, 2, 2] = 1
    return turn


def _jitter(scenes: Scenes, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name not in scenes.extra:
        return np.zeros((len(scenes), *shape))
    return scenes.extra[name].astype(np.float64).reshape(len(scenes), *shape)
