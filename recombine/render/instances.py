"""Instances: models that stand in scenes, each with a place and a look of its own.

A batch of scenes is one long table: scene i has the rows first[i]:first[i + 1]. An instance stands where its `position`
puts the origin of its model, turned about z and `size` times as large. Its `body` is how it looks; parts of it may look
otherwise: those of row i are the rows painted[i]:painted[i + 1] of `part` and of `paint`.

    car = Instance(0, "sedan", (1, 0, 0.4), turn=30, size=3.5, look=Look("red", "metal"), paint={"hood": Look("blue")})
    draw_models(gather([[car]], models, np.zeros((1, 3)), np.zeros((1, 3, 3))), 320, 240)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np

from recombine.render.materials import COLORS, MATERIALS, choose
from recombine.render.mesh_library import MOST_TRIANGLES, measures
from recombine.render.models import Model
from recombine.render.primitives import CLOSE, HUGE
from recombine.store.errors import UserError
from recombine.world.camera import FORWARD, POSITION, Camera

PATTERNS = ("none", "striped", "vstriped", "checkered", "dotted")
"""What may be painted on a model, in its box: bands by height, bands along its length, cubes, and blotches."""
PLAIN, STRIPED, VSTRIPED, CHECKERED, DOTTED = range(5)

MOST = 127
"""No scene has more instances."""


@dataclass(frozen=True, eq=False)
class Looks:
    """How surfaces look."""

    color: np.ndarray  # float64[k, 3]: shares of light
    material: np.ndarray  # int64[k], into MATERIALS
    pattern: np.ndarray  # int64[k], into PATTERNS
    cells: np.ndarray  # float64[k]: how many bands or cells of the pattern lie along a side of the box

    def __getitem__(self, rows: slice | np.ndarray) -> "Looks":
        return Looks(self.color[rows], self.material[rows], self.pattern[rows], self.cells[rows])

    def __len__(self) -> int:
        return len(self.color)


@dataclass(frozen=True, eq=False)
class Instances:
    """The instances of n scenes, and the jitter of their cameras and lamps."""

    models: tuple[Model, ...]
    first: np.ndarray  # int64[n + 1]
    object: np.ndarray  # int64[k], the number of the object in its scene
    model: np.ndarray  # int64[k], into models
    position: np.ndarray  # float64[k, 3]
    turn: np.ndarray  # float64[k], degrees counter-clockwise seen from above; at 0 a model looks along x
    size: np.ndarray  # float64[k], how long a length of one in the model is
    body: Looks  # k rows
    painted: np.ndarray  # int64[k + 1]
    part: np.ndarray  # int64[q], into the parts of the model
    paint: Looks  # q rows
    camera: np.ndarray  # float64[n, 3]
    lamps: np.ndarray = field(repr=False)  # float64[n, 3, 3]: key, fill, back

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, scene: int) -> "Instances":
        """One scene, as a batch of one."""
        scene = range(len(self))[scene]
        rows = slice(self.first[scene], self.first[scene + 1])
        paints = slice(self.painted[rows.start], self.painted[rows.stop])
        one = slice(scene, scene + 1)
        return Instances(
            self.models,
            np.array([0, rows.stop - rows.start]),
            self.object[rows],
            self.model[rows],
            self.position[rows],
            self.turn[rows],
            self.size[rows],
            self.body[rows],
            self.painted[rows.start : rows.stop + 1] - paints.start,
            self.part[paints],
            self.paint[paints],
            self.camera[one],
            self.lamps[one],
        )

    @cached_property
    def scene(self) -> np.ndarray:
        """The scene of every instance, int64[k]."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @cached_property
    def owner(self) -> np.ndarray:
        """The instance of every painted part, int64[q]."""
        return np.repeat(np.arange(len(self.object)), np.diff(self.painted))


# --- by hand ------------------------------------------------------------------------------------------------------


class Look(NamedTuple):
    """How a surface looks, in words."""

    color: str | tuple[float, float, float] = "gray"
    material: str = "rubber"
    pattern: str = "none"
    cells: float = 15.0


class Instance(NamedTuple):
    """One instance in words, for scenes built by hand."""

    object: int
    model: str
    position: tuple[float, float, float]
    turn: float = 0.0
    size: float = 1.0
    look: Look = Look()
    paint: Mapping[str, Look] = {}


def gather(
    scenes: Sequence[Sequence[Instance]], models: Sequence[Model], camera: np.ndarray, lamps: np.ndarray
) -> Instances:
    """Scenes built by hand; `camera` float[n, 3] and `lamps` float[n, 3, 3] are the jitter of each."""
    rows = [one for scene in scenes for one in scene]
    names = tuple(model.name for model in models)
    model = [choose("model", one.model, names) for one in rows]
    parts = [_part(models[number], name) for number, one in zip(model, rows) for name in one.paint]
    return Instances(
        tuple(models),
        np.cumsum([0, *map(len, scenes)]),
        np.array([one.object for one in rows], np.int64),
        np.array(model, np.int64),
        np.array([one.position for one in rows], np.float64).reshape(-1, 3),
        np.array([one.turn for one in rows], np.float64),
        np.array([one.size for one in rows], np.float64),
        looks_of([one.look for one in rows]),
        np.cumsum([0, *(len(one.paint) for one in rows)]),
        np.array(parts, np.int64),
        looks_of([look for one in rows for look in one.paint.values()]),
        np.asarray(camera, np.float64).reshape(-1, 3),
        np.asarray(lamps, np.float64).reshape(-1, 3, 3),
    )


def looks_of(looks: Sequence[Look]) -> Looks:
    """Looks in words as columns."""
    return Looks(
        np.array([_shares(look.color) for look in looks], np.float64).reshape(-1, 3),
        np.array([choose("material", look.material, tuple(MATERIALS)) for look in looks], np.int64),
        np.array([choose("pattern", look.pattern, PATTERNS) for look in looks], np.int64),
        np.array([look.cells for look in looks], np.float64),
    )


def _shares(color: str | tuple[float, float, float]) -> tuple[float, ...]:
    return [*COLORS.values()][choose("color", color, tuple(COLORS))] if isinstance(color, str) else color


def _part(model: Model, name: str) -> int:
    if name not in model.parts:
        raise UserError(f"the model '{model.name}' has no part '{name}'; it has {', '.join(model.parts) or 'none'}")
    return model.parts.index(name)


# --- what the kernels know of an instance: the columns of its row --------------------------------------------------

# The first nine are those of a thing, as in `recombine.render.things`: a ball, two that are not used, the mean colour.
MIDDLE_X, MIDDLE_Y, MIDDLE_Z, REACH = range(4)
MEAN_RED, MODEL, OBJECT, PLACE_X, PLACE_Y, PLACE_Z, COS, SIN, SIZE = 6, *range(9, 17)
BOX_LOW, BOX_SIDE = 17, 20
"""The box of the model in its own axes: three columns each for its lower corner and for its sides."""
COLUMNS = 23

DIGITS = 12
"""The decimals of a turn: fewer than machines differ in."""

RED, GREEN, BLUE, MATERIAL, PATTERN, CELLS = range(6)
"""The columns of a look."""


def instance_table(instances: Instances) -> np.ndarray:
    """The instances as the kernels read them, float64[k, columns]."""
    known, row = measures(instances.models), instances.model
    angle = np.radians(instances.turn)
    rows = np.zeros((len(row), COLUMNS))
    rows[:, COS], rows[:, SIN] = np.round(np.cos(angle), DIGITS), np.round(np.sin(angle), DIGITS)
    rows[:, SIZE] = instances.size
    rows[:, PLACE_X : PLACE_Z + 1] = instances.position
    x, y, z = (instances.size[:, None] * 0.5 * (known.low + known.high)[row]).T
    middle = np.stack([rows[:, COS] * x - rows[:, SIN] * y, rows[:, SIN] * x + rows[:, COS] * y, z], axis=1)
    rows[:, MIDDLE_X : MIDDLE_Z + 1] = instances.position + middle
    rows[:, REACH] = instances.size * known.reach[row]
    rows[:, MODEL], rows[:, OBJECT] = row, instances.object
    rows[:, BOX_LOW : BOX_LOW + 3] = known.low[row]
    rows[:, BOX_SIDE : BOX_SIDE + 3] = np.maximum((known.high - known.low)[row], 1e-9)
    other = known.area[row[instances.owner], instances.part + 1][:, None]
    rows[:, MEAN_RED : MEAN_RED + 3] = instances.body.color
    np.add.at(
        rows[:, MEAN_RED : MEAN_RED + 3],
        instances.owner,
        other * (instances.paint.color - instances.body.color[instances.owner]),
    )
    return rows


def look_table(instances: Instances) -> tuple[np.ndarray, np.ndarray]:
    """The looks as the kernels read them, float64[k + q, columns], and which one every part has, int64[k, parts + 1].

    The first column of the second table is the look of the body.
    """
    both = (instances.body, instances.paint)
    looks = [
        np.column_stack([look.color, look.material, look.pattern, look.cells]).reshape(-1, CELLS + 1) for look in both
    ]
    most = max((len(model.parts) for model in instances.models), default=0)
    chosen = np.repeat(np.arange(len(instances.object))[:, None], most + 1, axis=1)
    chosen[instances.owner, instances.part + 1] = len(instances.object) + np.arange(len(instances.part))
    return np.concatenate(looks), chosen


# --- what cannot be drawn -----------------------------------------------------------------------------------------


def check(instances: Instances, camera: Camera) -> None:
    """Say which object cannot be drawn, and why."""
    for name, size in (("camera", 3), ("lamps", 9)):
        jitter = getattr(instances, name)
        if jitter.size != len(instances) * size or not np.isfinite(jitter).all():
            raise UserError(f"the jitter of the {name} is not {size} finite numbers per scene")
    for model in instances.models:
        check_model(model)
    for wrongs in (_wrong_rows, _wrong_paints, partial(_wrong_places, camera=camera)):
        for wrong, why in wrongs(instances):
            if wrong.any():
                row = int(wrong.argmax())
                raise UserError(f"object {instances.object[row]} of scene {instances.scene[row]} {why}")


@lru_cache(maxsize=256)
def check_model(model: Model) -> None:
    """Say why a model cannot be drawn."""
    if not len(model.triangles):
        raise UserError(f"the model '{model.name}' has no triangles")
    if len(model.triangles) > MOST_TRIANGLES:
        raise UserError(
            f"the model '{model.name}' has {len(model.triangles):,} triangles, but {MOST_TRIANGLES:,} at most can be "
            "drawn; thin it out"
        )
    if not (np.isfinite(model.points).all() and np.isfinite(model.normals).all() and np.isfinite(model.tint).all()):
        raise UserError(f"the model '{model.name}' has a number that is not finite")
    if model.triangles.min() < 0 or model.triangles.max() >= len(model.points):
        raise UserError(f"the model '{model.name}' has a triangle between points that it does not have")
    if model.part.min() < -1 or model.part.max() >= len(model.parts):
        raise UserError(f"the model '{model.name}' has a triangle of a part that it does not have")


def _wrong_rows(k: Instances) -> list[tuple[np.ndarray, str]]:
    """What is wrong with an instance by itself: bool[k], and how to say it."""
    numbers = [k.position, k.turn[:, None], k.size[:, None], k.body.color, k.body.cells[:, None]]
    many = np.diff(k.first)[k.scene]
    order = np.diff(k.object, prepend=0)
    order[k.first[:-1][np.diff(k.first) > 0]] = 1
    known = (k.model >= 0) & (k.model < len(k.models))
    return [
        (~np.isfinite(np.concatenate(numbers, axis=1)).all(axis=1), "has a number that is not finite"),
        (~known, f"has an unknown model; there are {len(k.models)}"),
        (k.size <= 0, "has a size that is not positive"),
        (k.size > HUGE, f"is larger than {HUGE:g}, too large for this world"),
        ((np.abs(k.position) > HUGE).any(axis=1), f"is farther than {HUGE:g} from the middle of the world"),
        ((k.object < 0) | (k.object > np.iinfo(np.int16).max), "has a number that is negative or too large"),
        (order <= 0, "is out of order: the numbers of the objects of a scene rise"),
        (many > MOST, f"is in a scene of more than {MOST} objects, too many to draw"),
        *_wrong_looks(k.body, np.arange(len(k.object)), len(k.object)),
    ]


def _wrong_looks(looks: Looks, owner: np.ndarray, many: int) -> list[tuple[np.ndarray, str]]:
    def of(wrong: np.ndarray) -> np.ndarray:
        return np.bincount(owner[wrong], minlength=many) > 0

    color = ~np.isfinite(looks.color) | (looks.color < 0) | (looks.color > 1)
    materials, patterns = ", ".join(MATERIALS), ", ".join(PATTERNS)
    return [
        (of(color.any(axis=1)), "has a color that is not three shares between 0 and 1"),
        (
            of((looks.material < 0) | (looks.material >= len(MATERIALS))),
            f"has an unknown material; known are {materials}",
        ),
        (of((looks.pattern < 0) | (looks.pattern >= len(PATTERNS))), f"has an unknown pattern; known are {patterns}"),
        (of(~(looks.cells > 0) | ~np.isfinite(looks.cells)), "has a pattern without cells: choose a positive number"),
    ]


def _wrong_paints(k: Instances) -> list[tuple[np.ndarray, str]]:
    """What is wrong with the painted parts of an instance."""
    parts = np.array([len(model.parts) for model in k.models] or [0])
    unknown = (k.part < 0) | (k.part >= parts[np.clip(k.model[k.owner], 0, len(parts) - 1)])
    wrong = np.bincount(k.owner[unknown], minlength=len(k.object)) > 0
    return [
        (wrong, "has a painted part that its model does not have"),
        *_wrong_looks(k.paint, k.owner, len(k.object)),
    ]


def _wrong_places(k: Instances, camera: Camera) -> list[tuple[np.ndarray, str]]:
    rows, view = instance_table(k), camera.view(k.camera)[k.scene]
    middle = rows[:, MIDDLE_X : MIDDLE_Z + 1] - view[:, POSITION]
    depth = np.einsum("ki,ki->k", middle, view[:, FORWARD])
    return [(depth - rows[:, REACH] < CLOSE, "is behind the camera, or reaches it; move it or the camera")]
