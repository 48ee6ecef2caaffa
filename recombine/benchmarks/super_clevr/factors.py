"""Two of the four factors as numbers: how probable colours, materials and vehicles are, alone and together.

*Distribution*: the i-th value of an attribute has a weight of a^-i; a = 1 is balanced, 1.3 slightly long-tailed, 2
long-tailed. A vehicle has the weight of its category times its own among the category's. The tests *head* and *tail*
are uniform on the frequent and on the rare half of each attribute; *oppo* swaps the weights of the most frequent and
the rarest value, and so on inwards. *Composition*: the colours of a vehicle are long-tailed and rotated, by its place
in its category (co-1) or by its category (co-2).

>>> [round(chance, 3) for chance in tailed(4, 2)]
[0.533, 0.267, 0.133, 0.067]
>>> [round(chance, 3) for chance in rotated(tailed(4, 2), 1)]
[0.267, 0.133, 0.067, 0.533]
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from recombine.benchmarks.super_clevr.redundancy import REDUNDANCIES
from recombine.benchmarks.super_clevr.vehicles import VEHICLES
from recombine.benchmarks.super_clevr.world import COMPLEXITIES, VehicleWorld
from recombine.store.errors import UserError
from recombine.store.untrusted import read_json

COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
MATERIALS = ("rubber", "metal")
"""From frequent to rare."""
EXPONENTS = {"bal": 1.0, "slt": 1.3, "long": 2.0}
DISTRIBUTIONS = (*EXPONENTS, "head", "tail", "oppo")
COMPOSITIONS = ("co-0", "co-1", "co-2")
ORDER = ("aeroplane", "car", "bus", "motorbike", "bicycle")
"""Categories from frequent to rare."""
RELEASED_ORDER = {"slt": ("car", "aeroplane", "bus", "motorbike", "bicycle")}
"""In the release, the slightly long-tailed variant has another order than all others."""
VARIANTS = {
    "visual": COMPLEXITIES,
    "redundancy": REDUNDANCIES,
    "distribution": DISTRIBUTIONS,
    "composition": COMPOSITIONS,
}
"""Of each factor."""
LARGEST = 100.0
"""An exponent of more would leave one value alone."""

Taxonomy = Mapping[str, Sequence[str]]
Weights = dict[str, dict[str, float]]
"""By attribute and value."""


def tailed(many: int, exponent: float) -> list[float]:
    """So many weights that fall by the same factor, with sum 1."""
    if not 1 <= exponent <= LARGEST:  # also where it is not a number
        raise UserError(f"the exponent of a distribution lies between 1 and {LARGEST:g}, not {exponent:g}")
    weights = exponent ** -np.arange(many, dtype=np.float64)
    return (weights / weights.sum()).tolist()


def rotated(row: Sequence[float], by: int) -> list[float]:
    """The same weights, the first `by` of them at the end."""
    by %= len(row)
    return [*row[by:], *row[:by]]


def distribution(name: str | float, taxonomy: Taxonomy = VEHICLES, edition: str = "paper") -> Weights:
    """How probable each colour, material and shape is, by the name of a variant, or with an exponent of one's own."""
    exponent = (
        EXPONENTS.get(str(name), EXPONENTS["long"])
        if isinstance(name, str) and name in DISTRIBUTIONS
        else _number(name)
    )
    order = RELEASED_ORDER.get(str(name), ORDER) if edition == "release" else ORDER
    plain = {
        "color": dict(zip(COLORS, tailed(len(COLORS), exponent))),
        "material": dict(zip(MATERIALS, tailed(len(MATERIALS), exponent))),
        "shape": _of_shapes(taxonomy, order, exponent),
    }
    turn = {"head": _head, "tail": _tail, "oppo": _opposite}.get(str(name))
    return {attribute: turn(row) for attribute, row in plain.items()} if turn else plain


def composition(name: str, taxonomy: Taxonomy = VEHICLES) -> dict[str, dict[str, float]]:
    """How probable each colour is for each shape; empty where that does not depend on the shape."""
    if name not in COMPOSITIONS:
        raise UserError(f"there is no composition '{name}'; choose one of {', '.join(COMPOSITIONS)}")
    if name == "co-0":
        return {}
    row, places = tailed(len(COLORS), 2), {}
    for number, category in enumerate(_ordered(taxonomy, ORDER)):
        for place, shape in enumerate(taxonomy[category]):
            places[shape] = place if name == "co-1" else number
    return {shape: dict(zip(COLORS, rotated(row, by))) for shape, by in places.items()}


def held_out(
    pairs: Mapping[str, Sequence[str]], taxonomy: Taxonomy = VEHICLES, swapped: bool = False
) -> dict[str, dict[str, float]]:
    """Uniform colours but those held out of a shape or of its category; swapped, these alone where there are some."""
    shapes = {shape: category for category, some in taxonomy.items() for shape in some}
    for who, colors in pairs.items():
        if who not in {*shapes, *taxonomy}:
            raise UserError(f"there is no vehicle '{who}' to hold colors out of; choose from {', '.join(shapes)}")
        if unknown := [color for color in colors if color not in COLORS]:
            raise UserError(f"there is no color '{unknown[0]}' to hold out; choose from {', '.join(COLORS)}")
    rows = {}
    for shape, category in shapes.items():
        out = {*pairs.get(shape, ()), *pairs.get(category, ())}
        kept = out if swapped and out else {*COLORS} - out
        if not kept:
            raise UserError(f"'{shape}' has no color left; leave it one")
        rows[shape] = {color: (color in kept) / len(kept) for color in COLORS}
    return rows


def variant(
    world: VehicleWorld,
    name: str | float = "bal",
    pairs: str = "co-0",
    hold_out: str | None = None,
    edition: str = "paper",
    swapped: bool = False,
) -> VehicleWorld:
    """A world with another distribution, and with colours that depend on the vehicle; all else stays as it is."""
    if hold_out is not None and pairs != "co-0":
        raise UserError("composition and hold_out both say which colors a vehicle has: give one of the two")
    taxonomy = dict(world.fleet.categories)
    if swapped and hold_out is None:
        raise UserError("swapped is for hold_out; say which pairs are left out")
    rows = _matrix(pairs, taxonomy) if hold_out is None else held_out(read_pairs(hold_out), taxonomy, swapped)
    chances = distribution(name, taxonomy, edition)
    values = {"color": world.colors, "material": world.materials, "shape": world.fleet.shapes}
    if name != "bal" or rows:
        for attribute, there in values.items():
            if unknown := [one for one in there if one not in chances[attribute]]:
                raise UserError(f"'{unknown[0]}' has no place in the factors of Super-CLEVR; leave distribution out")
    weights = {} if name == "bal" else {a: tuple(chances[a][value] for value in some) for a, some in values.items()}
    matrix = tuple(tuple(rows[shape][color] for color in world.colors) for shape in world.fleet.shapes) if rows else ()
    return replace(world, weights=tuple(weights.items()), color_given_shape=matrix)


def read_pairs(text: str) -> dict[str, list[str]]:
    """`sedan: gray,blue; bus: red` as colours by vehicle or category."""
    found: dict[str, list[str]] = {}
    for one in text.split(";"):
        who, colon, colors = one.partition(":")
        if not colon or not who.strip() or not colors.strip():
            raise UserError(f"'{one.strip()}' is no pair to hold out; write it like \"sedan: gray,blue; bus: red\"")
        found.setdefault(who.strip(), []).extend(color.strip() for color in colors.split(","))
    return found


def _matrix(name: str, taxonomy: Taxonomy) -> dict[str, dict[str, float]]:
    """A composition by its name, or from a file."""
    if name in COMPOSITIONS or not name.endswith(".json"):
        return composition(name, taxonomy)
    rows = read_json(Path(name))
    shapes = [shape for some in taxonomy.values() for shape in some]
    if not isinstance(rows, dict) or {*rows} != {*shapes}:
        raise UserError(f"{name} must have a row of colors for each of {', '.join(shapes)}")
    for shape, row in rows.items():
        if not isinstance(row, dict) or not {*row} <= {*COLORS} or not all(_is_chance(value) for value in row.values()):
            raise UserError(f"{name}: '{shape}' needs probabilities by color, of {', '.join(COLORS)}")
        if abs(sum(row.values()) - 1) > 1e-3:
            raise UserError(f"{name}: the colors of '{shape}' sum to {sum(row.values()):.4g}, not to 1")
    return {shape: {color: float(row.get(color, 0)) for color in COLORS} for shape, row in rows.items()}


def _is_chance(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _of_shapes(taxonomy: Taxonomy, order: Sequence[str], exponent: float) -> dict[str, float]:
    categories = _ordered(taxonomy, order)
    if exponent == 1:
        shapes = list(chain.from_iterable(taxonomy[category] for category in categories))
        return dict.fromkeys(shapes, 1 / len(shapes))
    return {
        shape: of_category * own
        for category, of_category in zip(categories, tailed(len(categories), exponent))
        for shape, own in zip(taxonomy[category], tailed(len(taxonomy[category]), exponent))
    }


def _ordered(taxonomy: Taxonomy, order: Sequence[str]) -> list[str]:
    """The categories in this order, others after them."""
    return [*(one for one in order if one in taxonomy), *(one for one in taxonomy if one not in order)]


def _ranked(row: Mapping[str, float]) -> list[str]:
    """The values from frequent to rare; those alike stay in order."""
    return sorted(row, key=lambda value: -row[value])


def _head(row: Mapping[str, float]) -> dict[str, float]:
    return _uniform_on(row, _ranked(row)[: -(-len(row) // 2)])


def _tail(row: Mapping[str, float]) -> dict[str, float]:
    return _uniform_on(row, _ranked(row)[len(row) // 2 :])


def _uniform_on(row: Mapping[str, float], some: Sequence[str]) -> dict[str, float]:
    return {value: (value in some) / len(some) for value in row}


def _opposite(row: Mapping[str, float]) -> dict[str, float]:
    ranked = _ranked(row)
    return {
        value: row[other] for value, other in sorted(zip(ranked, reversed(ranked)), key=lambda p: [*row].index(p[0]))
    }


def _number(name: str | float) -> float:
    try:
        return float(name)
    except ValueError:
        raise UserError(
            f"there is no distribution '{name}'; choose one of {', '.join(DISTRIBUTIONS)}, or an exponent such as 1.5"
        ) from None
