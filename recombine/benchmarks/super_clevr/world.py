"""Super-CLEVR's world: three to ten vehicles on the ground, with parts of colours, materials and textures of their own.

A vehicle finds room by its box on the ground, turned with it and grown a little. The camera sees at least 200 pixels of
each vehicle in an image of 640 x 480; of the parts that show more than 20 pixels, up to three are recorded and look
otherwise than their vehicle. What is counted are the pixels that the renderer would draw.

The parts of an object are attributes of it: `part_1` is the name of its first recorded part, or none, and
`part_1_color`, `part_1_material`, `part_1_texture` say how it looks. A part has the size of its vehicle.

Everything is drawn from a key of its own. So worlds that differ in colours alone share the layout, and the three levels
of visual complexity differ in nothing but what is painted: *easy* has neither parts nor textures, *mid* has parts,
*hard* has both.

>>> world = VehicleWorld()
>>> len(world.vocabulary["shape"].values), world.vocabulary["part_1"].values[:3]
(21, ('none', 'front left door', 'left tail light'))
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY
from recombine.benchmarks.clevr.world import LAMP_JITTER, LAMPS
from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.benchmarks.super_clevr.placement import apart, stand_apart
from recombine.benchmarks.super_clevr.stage import SIZES, Stage
from recombine.render.instances import PATTERNS
from recombine.render.materials import COLORS, MATERIALS
from recombine.render.mesh_visibility import visible_pixels
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.distribution import draw_counts, places_taken, well_formed
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

WIDTH, HEIGHT = 640, 480
"""The size of Super-CLEVR's images, in which pixels are counted."""

COMPLEXITIES = ("easy", "mid", "hard")
NONE = "none"
"""The name of a part, and its look, where an object has fewer; and of no texture."""

LOOKS = ("color", "material", "texture")
"""What is recorded of a part, beside its name."""

MOST_PARTS = 5
"""Recorded parts of an object, so that all things of a scene can be told apart by questions."""

ROUNDS = 5_000
"""How often scenes may hide an object before the rules count as impossible."""

NOT_ONE = 1e-3
"""How far from one probabilities may sum."""

HAIR = 1e-5
"""What float32 may add or take away."""


class Spacing(NamedTuple):
    """How vehicles find room."""

    reach: float = 3.0  # x and y lie between -reach and reach
    grown: float = 1.1  # boxes on the ground, so much larger, do not meet
    tries: int = 150  # places tried for one vehicle before the scene starts over


class PartRules(NamedTuple):
    """Which parts are recorded, and how they look."""

    most: int = 3
    pixels: int = 20  # a part shows more than so many
    other_color: bool = True  # than its vehicle


@dataclass(frozen=True)
class VehicleWorld:
    """The scenes of Super-CLEVR, or of a like world."""

    low: int = 3
    high: int = 10
    complexity: str = "mid"
    fleet: Fleet = Fleet()
    sizes: tuple[tuple[str, float], ...] = tuple(SIZES.items())
    """How long the diagonal of a vehicle of each size is."""
    colors: tuple[str, ...] = CLEVR_VOCABULARY["color"].values
    paints: tuple[tuple[str, tuple[int, int, int]], ...] = ()
    """Red, green and blue from 0 to 255 of colours that the renderer does not know."""
    materials: tuple[str, ...] = CLEVR_VOCABULARY["material"].values
    textures: tuple[str, ...] = PATTERNS
    weights: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """How probable the values of an attribute are, in their order; those of an attribute not named here are alike."""
    color_given_shape: tuple[tuple[float, ...], ...] = ()
    """A row of colours for every shape; empty where the colour does not depend on the shape."""
    spacing: Spacing = Spacing()
    min_pixels: int = 200
    parts: PartRules = PartRules()
    never: tuple[str, ...] = ()
    """Shapes that have a word and that no vehicle has."""

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high <= 10:
            raise UserError(f"a scene holds 1 to 10 vehicles, not {self.low} to {self.high}")
        if self.complexity not in COMPLEXITIES:
            raise UserError(f"there is no complexity '{self.complexity}'; choose one of {', '.join(COMPLEXITIES)}")
        if not 0 <= self.parts.most <= MOST_PARTS:
            raise UserError(f"an object has 0 to {MOST_PARTS} recorded parts, not {self.parts.most}")
        known = {"color": {*COLORS, *dict(self.paints)}, "material": {*MATERIALS}, "texture": {*PATTERNS}}
        for name, words in known.items():
            if unknown := [value for value in self.vocabulary[name].values if value not in words]:
                more = "; give its red, green and blue in `paints`" if name == "color" else ""
                raise UserError(f"'{unknown[0]}' is no {name}; choose from {', '.join(sorted(words))}{more}")
        for name, chances in self.weights:
            _check_chances(chances, len(self._drawn(name)), f"the weights of {name}")
        if self.color_given_shape and len(self.color_given_shape) != len(self.fleet.shapes):
            raise UserError(
                f"the matrix of colours has {len(self.color_given_shape)} rows for {len(self.fleet.shapes)} shapes"
            )
        for shape, row in zip(self.fleet.shapes, self.color_given_shape):
            _check_chances(row, len(self.colors), f"the colours of {shape}")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What is said of objects, and of their parts."""
        looks = {"color": self.colors, "material": self.materials, "texture": self.textures}
        plain = (
            Attribute("size", tuple(dict(self.sizes))),
            *(Attribute(name, looks[name]) for name in ("color", "material")),
            Attribute("shape", (*self.fleet.shapes, *self.never)),
            Attribute("texture", self.textures),
        )
        slots = []
        for number in range(1, self.parts.most + 1):
            slots.append(Attribute(f"part_{number}", (NONE, *self.fleet.part_names)))
            slots += [Attribute(f"part_{number}_{look}", _with_none(looks[look])) for look in LOOKS]
        return Vocabulary((*plain, *slots))

    @cached_property
    def stage(self) -> Stage:
        """What it takes to draw the scenes."""
        return Stage(self.fleet, self.sizes, self.paints, self.parts.most)

    @property
    def camera(self) -> Camera:
        return Camera(WIDTH, HEIGHT)

    def anywhere(self) -> "VehicleWorld":
        """The same world without the folder of its fleet."""
        return replace(self, fleet=self.fleet.anywhere()) if self.fleet.folder else self

    # --- making scenes

    def sample(self, n: int, key: Key) -> Scenes:
        """n independent scenes; one that hides a vehicle starts over."""
        count = draw_counts(n, self.low, self.high, key / "count")
        camera = (key / "camera").rng().uniform(-self.camera.jitter, self.camera.jitter, (n, 3)).astype(np.float32)
        lamps = (key / "lamps").rng().uniform(-LAMP_JITTER, LAMP_JITTER, (n, len(LAMPS), 3)).astype(np.float32)
        scenes, pixels = self._placed(count, camera, key / "placement")
        there = places_taken(count, self.high)
        codes = {**scenes.codes, **self._looks(scenes.codes["shape"], there, key)}
        codes |= self._parts(codes, pixels, key / "parts")
        pixel = self._pixel(scenes.position, camera) * there[..., None]
        return replace(
            scenes,
            codes={attribute.name: codes[attribute.name] for attribute in self.vocabulary},
            extra={**scenes.extra, "pixel": pixel.astype(np.float32), "camera": camera, "lamps": lamps},
        )

    def _placed(self, count: np.ndarray, camera: np.ndarray, key: Key) -> tuple[Scenes, np.ndarray]:
        """Shapes, sizes and places of vehicles that are all seen, and the pixels of their parts: int64[n, k, parts]."""
        n, todo = len(count), np.arange(len(count))
        shape, size = (np.full((n, self.high), ABSENT, np.uint8) for _ in range(2))
        body, pixels = np.zeros((n, self.high, 3)), np.zeros((n, self.high, self.fleet.part_codes.shape[1]), np.int64)
        for attempt in range(ROUNDS):
            if not len(todo):
                return self._bodies(count, shape, size, body), pixels
            shape[todo], size[todo], body[todo] = self._propose(count[todo], key / attempt)
            made = self._bodies(count[todo], shape[todo], size[todo], body[todo])
            seen, pixels[todo] = self._seen(made, camera[todo])
            todo = todo[~seen]
        raise UserError(
            f"found no scene of {count[todo[0]]} vehicles with {self.min_pixels} visible pixels each; "
            "allow fewer vehicles or fewer pixels"
        )

    def _propose(self, count: np.ndarray, key: Key) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shapes, sizes and places of vehicles that stand apart, seen or not."""
        shape, size = (np.full((len(count), self.high), ABSENT, np.uint8) for _ in range(2))
        body = np.zeros((len(count), self.high, 3))
        scale = np.array([one for _, one in self.sizes])
        chances = self._bounds("shape"), self._bounds("size")
        if not stand_apart(key.rng(), count, self.spacing, *chances, self.fleet.plans, scale, shape, size, body):
            raise UserError(f"found no room for {self.high} vehicles under {self.spacing}")
        return shape, size, body

    def _bodies(self, count: np.ndarray, shape: np.ndarray, size: np.ndarray, body: np.ndarray) -> Scenes:
        """Placed vehicles without looks."""
        height = np.where(shape == ABSENT, 0, self._scale(size) * self._of_shape(self.fleet.heights, shape))
        position = np.concatenate([body[..., :2], height[..., None]], axis=-1).astype(np.float32)
        return Scenes(
            self.vocabulary,
            count,
            {"shape": shape, "size": size},
            position,
            {"rotation": body[..., 2].astype(np.float32)},
        )

    def _seen(self, scenes: Scenes, camera: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which scenes show enough of every vehicle, and the pixels of their parts."""
        there = places_taken(scenes.count, scenes.places)
        seen = visible_pixels(self.stage.bodies(scenes, camera), WIDTH, HEIGHT)
        fine = np.ones((len(scenes), scenes.places), bool)
        fine[there] = seen.objects >= self.min_pixels
        parts = np.zeros((*there.shape, self.fleet.part_codes.shape[1]), np.int64)
        parts[there] = seen.parts
        return np.asarray(fine.all(axis=1)), parts

    def _looks(self, shape: np.ndarray, there: np.ndarray, key: Key) -> dict[str, np.ndarray]:
        """Colour, material and texture of the vehicles."""
        found = {}
        for name in LOOKS:
            luck = (key / name).rng().random(there.shape)
            if name == "color" and self.color_given_shape:
                rows = np.cumsum(np.array(self.color_given_shape), axis=1)
                bounds = rows[np.minimum(shape, len(rows) - 1)] / rows[np.minimum(shape, len(rows) - 1)][..., -1:]
                codes = (luck[..., None] >= bounds[..., :-1]).sum(axis=-1)
            else:
                codes = np.searchsorted(self._bounds(name), luck, side="right")
            found[name] = np.where(there, codes, ABSENT).astype(np.uint8)
        if self.complexity != "hard":
            found["texture"] = np.where(there, self._plain_code, ABSENT).astype(np.uint8)
        return found

    def _parts(self, codes: dict[str, np.ndarray], pixels: np.ndarray, key: Key) -> dict[str, np.ndarray]:
        """Up to so many parts of every vehicle, drawn alike among those that show, in the order of its model."""
        shape, there = codes["shape"], codes["shape"] != ABSENT
        luck = (key / "which").rng().random(pixels.shape)
        luck[pixels <= self.parts.pixels] = 2.0
        first = np.argsort(luck, axis=-1)[..., : self.parts.most]
        none = np.take_along_axis(luck, first, axis=-1) > 1
        first = np.sort(np.where(none, pixels.shape[-1], first), axis=-1)
        none = np.sort(none, axis=-1)
        names = self._of_shape(np.pad(self.fleet.part_codes, ((0, 0), (0, 1))), shape)
        name = np.where(none, 0, 1 + np.take_along_axis(names, first, axis=-1))
        looks = self._part_looks(codes, name.shape, key)
        if self.complexity == "easy":
            none[:] = True
        if self.complexity != "hard":
            looks["texture"][:] = self._plain_code
        found = {}
        for slot in range(self.parts.most):
            found[f"part_{slot + 1}"] = np.where(none[..., slot], 0, name[..., slot])
            for look, column in looks.items():
                values = column[..., slot] + (self.vocabulary[look].values[0] != NONE)
                code = self.vocabulary[f"part_{slot + 1}_{look}"].code(NONE)
                found[f"part_{slot + 1}_{look}"] = np.where(none[..., slot], code, values)
        return {name: np.where(there, column, ABSENT).astype(np.uint8) for name, column in found.items()}

    def _part_looks(self, codes: dict[str, np.ndarray], shape: tuple[int, ...], key: Key) -> dict[str, np.ndarray]:
        """The codes of the looks of all parts, uniform; the colour among those that its vehicle does not have."""
        draw = {look: (key / look).rng() for look in LOOKS}
        others = len(self.colors) - self.parts.other_color
        if others < 1:
            raise UserError("a part cannot have another colour than its vehicle where there is one colour only")
        color = draw["color"].integers(others, size=shape)
        if self.parts.other_color:
            color += color >= codes["color"][..., None]
        material = draw["material"].integers(len(self.materials), size=shape)
        return {
            "color": color,
            "material": material,
            "texture": draw["texture"].integers(len(self.textures), size=shape),
        }

    # --- knowing them

    def contains(self, scenes: Scenes) -> np.ndarray:
        """Which scenes obey every rule, bool[n]."""
        fine = well_formed(scenes, self.vocabulary, self.low, self.high)
        fine[fine] = self._possible(scenes[fine]) & self._recorded(scenes[fine])
        fine[fine] = self.spaced(scenes[fine])
        seen, pixels = self._seen(scenes[fine], scenes[fine].extra["camera"])
        fine[fine] = seen & self._parts_fit(scenes[fine], pixels)
        return fine

    def spaced(self, scenes: Scenes) -> np.ndarray:
        """Which scenes have their vehicles on the ground, within reach and apart from each other, bool[n]."""
        there, shape, size = places_taken(scenes.count, scenes.places), scenes.codes["shape"], scenes.codes["size"]
        height = self._scale(size) * self._of_shape(self.fleet.heights, shape)
        place = scenes.position.astype(np.float64)
        grounded = (np.abs(place[..., 2] - height) < HAIR) & (np.abs(place[..., :2]) <= self.spacing.reach).all(axis=-1)
        half = (self.spacing.grown * self._scale(size))[..., None] * self._of_shape(self.fleet.plans, shape)
        body = np.concatenate([place[..., :2], scenes.extra["rotation"][..., None]], axis=-1)
        return (grounded | ~there).all(axis=1) & apart(scenes.count, body, half)

    def _possible(self, scenes: Scenes) -> np.ndarray:
        """Which scenes have only values that are drawn, bool[n]."""
        fine = np.ones(len(scenes), bool)
        for name in ("size", "shape", "material", "texture", "color"):
            codes = scenes.codes[name]
            chances = np.array(self.chances(name))
            if name == "color" and self.color_given_shape:
                table = np.array(self.color_given_shape)
                drawn = table[np.minimum(scenes.codes["shape"], len(table) - 1), np.minimum(codes, table.shape[1] - 1)]
            else:
                drawn = chances[np.minimum(codes, len(chances) - 1)]
            fine &= ((drawn > 0) | (codes == ABSENT)).all(axis=1)
        if self.complexity != "hard":
            textures = [n for n in self.vocabulary.by_name if n.endswith("texture")]
            plain = [np.isin(scenes.codes[n], (self.vocabulary[n].code(NONE), ABSENT)).all(axis=1) for n in textures]
            fine &= np.logical_and.reduce(plain)
        return fine

    def _recorded(self, scenes: Scenes) -> np.ndarray:
        """Which scenes have a possible camera, lamps and rotation, and the pixel coordinates that follow, bool[n]."""
        camera, lamps, rotation = (scenes.extra[name] for name in ("camera", "lamps", "rotation"))
        off = np.abs(self._pixel(scenes.position, camera) - scenes.extra["pixel"]).max(axis=-1, initial=0)
        turned = (rotation >= 0) & (rotation <= 360)
        there = places_taken(scenes.count, scenes.places)
        jitter = (np.abs(camera) <= self.camera.jitter).all(axis=1) & (np.abs(lamps) <= LAMP_JITTER).all(axis=(1, 2))
        return jitter & (((off < 1e-2) & turned) | ~there).all(axis=1)

    def _parts_fit(self, scenes: Scenes, pixels: np.ndarray) -> np.ndarray:
        """Which scenes record only parts that show, each once, and as many as there may be, bool[n]."""
        shape, there = scenes.codes["shape"], places_taken(scenes.count, scenes.places)
        place = self._of_shape(self.fleet.part_places, shape)
        named = np.zeros_like(there, np.int64)
        fine, last = np.ones_like(there), np.full(there.shape, -1)
        for slot in range(1, self.parts.most + 1):
            name = scenes.codes[f"part_{slot}"].astype(np.int64) - 1
            used = there & (name >= 0)
            at = np.take_along_axis(place, np.maximum(name, 0)[..., None] % place.shape[-1], axis=-1)[..., 0]
            shows = np.take_along_axis(pixels, np.maximum(at, 0)[..., None], axis=-1)[..., 0] > self.parts.pixels
            fine &= ~used | ((at > last) & shows)
            color = scenes.codes[f"part_{slot}_color"].astype(np.int64) - (self.colors[0] != NONE)
            fine &= ~used | ~np.bool_(self.parts.other_color) | (color != scenes.codes["color"])
            looks = [scenes.codes[f"part_{slot}_{look}"] for look in ("color", "material")]
            fine &= used | ~there | np.logical_and.reduce([look == 0 for look in looks])
            last, named = np.where(used, at, last), named + used
        wanted = np.minimum((pixels > self.parts.pixels).sum(axis=-1), self.parts.most)
        fine &= (named == (0 if self.complexity == "easy" else wanted)) | ~there
        return np.asarray(fine.all(axis=1))

    # --- columns

    def _pixel(self, position: np.ndarray, camera: np.ndarray) -> np.ndarray:
        return np.stack(self.camera.project(position, camera[:, None]), axis=-1)

    def _scale(self, size: np.ndarray) -> np.ndarray:
        scale = np.array([*(one for _, one in self.sizes), 0.0])
        return scale[np.minimum(size, len(scale) - 1)]

    def _of_shape(self, rows: np.ndarray, shape: np.ndarray) -> np.ndarray:
        """The row of every object; where there is none, any."""
        return rows[np.minimum(shape, len(rows) - 1)]

    @property
    def _plain_code(self) -> int:
        return self.vocabulary["texture"].code(NONE)

    def _drawn(self, attribute: str) -> tuple[str, ...]:
        """The values of an attribute that are drawn."""
        return tuple(value for value in self.vocabulary[attribute].values if value not in self.never)

    def chances(self, attribute: str) -> tuple[float, ...]:
        """How probable each value of an attribute is."""
        many = len(self._drawn(attribute))
        return dict(self.weights).get(attribute, (1 / many,) * many)

    def _bounds(self, attribute: str) -> np.ndarray:
        """Where the values of an attribute end on a line from 0 to 1; the last needs no end."""
        ends = np.cumsum(self.chances(attribute))
        return ends[:-1] / ends[-1]


def _with_none(values: tuple[str, ...]) -> tuple[str, ...]:
    return values if NONE in values else (NONE, *values)


def _check_chances(chances: tuple[float, ...], many: int, what: str) -> None:
    if len(chances) != many:
        raise UserError(f"{what} are {many} numbers, not {len(chances)}")
    if not all(np.isfinite(chance) and chance >= 0 for chance in chances) or abs(sum(chances) - 1) > NOT_ONE:
        raise UserError(f"{what} sum to {sum(chances):.4g}, not to 1; give probabilities")
