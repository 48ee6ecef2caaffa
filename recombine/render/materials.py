"""Materials, colours and textures: what the surface of a primitive looks like.

A surface throws light back in three ways: evenly (`diffuse`), as a mirror does (`mirror`), and around the direction of
a mirror (`gloss`). The gloss of a brushed metal is narrow along the brushes and wide across them; they run in rings
about the upright axis of the object. Shares and widths were fitted to real images of CLEVR.

Colours are CLEVR's, and as in CLEVR their numbers are shares of light, not of the screen's brightness.
"""

from dataclasses import astuple, dataclass

import numpy as np

from recombine.render.compiled import step
from recombine.render.schematic import RGB
from recombine.store.errors import UserError


@dataclass(frozen=True)
class Material:
    """How a surface throws light back. Shares are of the light that comes in."""

    diffuse: float  # evenly; takes the colour of the object
    mirror: float  # as a mirror; takes the colour of the object
    gloss: float  # around the mirror direction
    along: float  # how wide the gloss is along the brushes (0: a mirror, 1: no direction at all)
    across: float  # and across them
    tint: float  # how much of the object's colour the gloss takes: 0 none, 1 all
    shine: float  # how wide the image of a lamp in the mirror is


MATERIALS = {
    "rubber": Material(0.77, 0.0, 0.026, 0.5, 0.5, 0.0, 0.1),
    "metal": Material(0.13, 0.555, 0.18, 0.15, 0.68, 1.0, 0.041),
}
DIFFUSE, MIRROR, GLOSS, ALONG, ACROSS, TINT, SHINE = range(7)
"""The columns of the table of materials."""

COLORS = {name: tuple(share / 255 for share in rgb) for name, rgb in RGB.items()}
"""Shares of red, green and blue light that a surface of this colour throws back."""

TEXTURES = ("none", "striped", "checkered", "dotted")
PLAIN, STRIPED, CHECKERED, DOTTED = range(4)

DARKER = 0.5
"""The second colour of a texture is this share of the first."""

DOT = 0.3
"""The radius of a dot, of the distance between two."""


def material_table() -> np.ndarray:
    """The materials in the order of their names above, float64[materials, columns]."""
    return np.array([astuple(material) for material in MATERIALS.values()])


def choose(kind: str, name: str, known: tuple[str, ...]) -> int:
    """The number of a name among the known ones."""
    if name not in known:
        raise UserError(f"'{name}' is not a {kind} that can be drawn; choose one of {', '.join(known)}")
    return known.index(name)


@step
def painted(texture: int, a: float, b: float) -> float:
    """The share of its colour that a surface keeps at the place a, b of its texture."""
    if texture == PLAIN:
        return 1.0
    column, row = np.floor(a), np.floor(b)
    if texture == STRIPED:
        dark = row % 2 == 1
    elif texture == CHECKERED:
        dark = (column + row) % 2 == 1
    else:
        across, up = a - column - 0.5, b - row - 0.5
        dark = across * across + up * up < DOT * DOT
    return DARKER if dark else 1.0
