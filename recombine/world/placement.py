"""Placement: scenes of solids on a table, under the rules of CLEVR.

Objects stand apart from each other, and apart along the two directions of the spatial words, so that "left of" is never
a matter of a hair. The camera sees enough pixels of each. An object that finds no place, or a scene that hides one of
its objects, makes the whole scene start over; the number of objects and the camera stay, so both remain uniform.

A scene keeps its `rotation` (degrees, [n, k]), its camera's jitter (`camera`, [n, 3]) and the `pixel` coordinates and
depth of every object's centre ([n, k, 3], not rounded), and so can be drawn again exactly. All are rounded to float32
before they are judged.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recombine.store.compiled import compiled
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.distribution import draw_codes, draw_counts, places_taken, well_formed
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.visibility import KINDS, NOTHING, all_visible, visible_pixels
from recombine.world.vocabulary import Attribute, Vocabulary

RIGHT = (0.6563112736, 0.7544902563)
BEHIND = (-0.7544903159, 0.6563112736)
"""The directions of the spatial words on the ground: those of the camera without jitter."""

HAIR = 1e-5
"""What float32 may add or take away."""

RESTARTS = 100_000
"""How often one scene may run out of room before the rules count as impossible."""

ROUNDS = 5_000
"""How often scenes may hide an object before the rules count as impossible."""


class Spacing(NamedTuple):
    """How objects keep apart."""

    reach: float = 3.0  # x and y lie between -reach and reach
    gap: float = 0.25  # between the circles around two objects
    margin: float = 0.4  # between two centres, along the spatial directions
    tries: int = 50  # places tried for one object before the scene starts over


SPACING = Spacing()


@dataclass(frozen=True)
class Placement:
    """A world of low to high solids; `vocabulary` has a shape (cube, sphere, cylinder), a size and free attributes."""

    vocabulary: Vocabulary
    low: int
    high: int
    radii: tuple[tuple[str, float], ...]  # size value -> radius
    camera: Camera
    min_pixels: int
    spacing: Spacing = SPACING
    allowed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The colours that a shape may have; any colour for a shape not named here."""
    solids: tuple[tuple[str, str], ...] = ()
    """For a shape that is none of the three solids, the solid whose room it takes."""

    def __post_init__(self) -> None:
        for needed, known in (("shape", {**KINDS, **dict(self.solids)}), ("size", dict(self.radii))):
            if unknown := set(self.vocabulary[needed].values) - set(known):
                hint = "" if needed == "size" else ", or say with `solids` which of these takes the same room"
                raise UserError(
                    f"no solid has the {needed} {', '.join(sorted(unknown))}; choose from {', '.join(known)}{hint}"
                )
        if unknown := {solid for _, solid in self.solids} - set(KINDS):
            raise UserError(f"there is no solid {', '.join(sorted(unknown))}; choose from {', '.join(KINDS)}")

    def sample(self, n: int, key: Key) -> Scenes:
        """n independent scenes; what is hidden starts over, so large objects are a little more frequent."""
        count = draw_counts(n, self.low, self.high, key / "count")
        camera = (key / "camera").rng().uniform(-self.camera.jitter, self.camera.jitter, (n, 3)).astype(np.float32)
        codes, body = self._place(count, camera, key / "placement")
        present = places_taken(count, self.high)
        for attribute in self.vocabulary:
            if attribute.name not in codes:
                codes[attribute.name] = self._draw(attribute, codes["shape"], present, key / attribute.name)
        position, rotation = body[..., :3].astype(np.float32), body[..., 3].astype(np.float32)
        pixel = self._pixel(position, camera) * present[..., None]
        return Scenes(
            self.vocabulary,
            count,
            {attribute.name: codes[attribute.name] for attribute in self.vocabulary},
            position,
            {"rotation": rotation, "pixel": pixel, "camera": camera},
        )

    def contains(self, scenes: Scenes) -> np.ndarray:
        """Which scenes obey every rule, bool[n]."""
        fine = well_formed(scenes, self.vocabulary, self.low, self.high)
        fine[fine] = self._colored(scenes[fine]) & self.spaced(scenes[fine]) & self._recorded(scenes[fine])
        fine[fine] = self._seen(*self._solids(scenes[fine]), scenes[fine].extra["camera"])
        return fine

    def spaced(self, scenes: Scenes) -> np.ndarray:
        """Which scenes have their objects on the ground, within reach and apart from each other, bool[n]."""
        present = places_taken(scenes.count, scenes.places)
        place, radius = scenes.position.astype(np.float64), self._radius(scenes)
        grounded = (np.abs(place[..., 2] - radius) < HAIR) & (np.abs(place[..., :2]) <= self.spacing.reach).all(axis=-1)
        between = place[:, :, None, :2] - place[:, None, :, :2]
        apart = (
            np.hypot(*np.moveaxis(between, -1, 0)) - radius[:, :, None] - radius[:, None, :] > self.spacing.gap - HAIR
        )
        for direction in (RIGHT, BEHIND):
            apart &= np.abs(between @ np.array(direction)) > self.spacing.margin - HAIR
        apart |= np.eye(scenes.places, dtype=bool) | ~present[:, :, None] | ~present[:, None, :]
        return (grounded | ~present).all(axis=1) & apart.all(axis=(1, 2))

    def visible_pixels(self, scenes: Scenes) -> np.ndarray:
        """How many pixels of each object the camera sees, int64[n, k]."""
        return visible_pixels(*self._solids(scenes), self.camera, scenes.extra["camera"])

    def _place(self, count: np.ndarray, camera: np.ndarray, key: Key) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The codes of shape and size, and the bodies: scenes that hide an object start over, round by round."""
        shape, size = (np.full((len(count), self.high), ABSENT, np.uint8) for _ in range(2))
        body = np.zeros((len(count), self.high, 4))
        todo = np.arange(len(count))
        for attempt in range(ROUNDS):
            if not len(todo):
                return {"shape": shape, "size": size}, body
            made = self._propose(count[todo], key / attempt)
            shape[todo], size[todo], body[todo] = made
            todo = todo[~self._seen(self._kind(made[0]), made[2], camera[todo])]
        raise UserError(
            f"found no scene of {count[todo[0]]} objects with {self.min_pixels} visible pixels each; "
            "allow fewer objects or fewer pixels"
        )

    def _propose(self, count: np.ndarray, key: Key) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shapes, sizes and bodies of objects that stand apart, seen or not."""
        shape, size = (np.full((len(count), self.high), ABSENT, np.uint8) for _ in range(2))
        body = np.zeros((len(count), self.high, 4))
        radius = self._radius_of[:-1]
        if not _stand_apart(
            key.rng(), count, self.spacing, len(self.vocabulary["shape"].values), radius, shape, size, body
        ):
            raise UserError(f"found no room for {self.high} objects in {RESTARTS} trials under {self.spacing}")
        return shape, size, body

    def _draw(self, attribute: Attribute, shape: np.ndarray, present: np.ndarray, key: Key) -> np.ndarray:
        """Uniform values; colours are uniform among those that the shape may have."""
        codes = draw_codes(attribute, present, key)
        for name, colors in self.allowed if attribute.name == "color" else ():
            chosen = shape == self.vocabulary["shape"].code(name)
            choices = np.array([attribute.code(color) for color in colors], np.uint8)
            codes[chosen] = (key / name).rng().choice(choices, np.count_nonzero(chosen))
        return codes

    def _pixel(self, position: np.ndarray, camera: np.ndarray) -> np.ndarray:
        """The pixel coordinates and depth of the centres, float32[n, k, 3]."""
        return np.stack(self.camera.project(position, camera[:, None]), axis=-1).astype(np.float32)

    def _colored(self, scenes: Scenes) -> np.ndarray:
        """Which scenes have only shapes in the colours they may have, bool[n]."""
        fine = np.ones(len(scenes), bool)
        for shape, colors in self.allowed:
            allowed = [self.vocabulary["color"].code(color) for color in colors]
            shaped = scenes.codes["shape"] == self.vocabulary["shape"].code(shape)
            fine &= (~shaped | np.isin(scenes.codes["color"], allowed)).all(axis=1)
        return fine

    def _recorded(self, scenes: Scenes) -> np.ndarray:
        """Which scenes have a possible camera and rotation, and the pixel coordinates that follow, bool[n]."""
        camera, rotation = scenes.extra["camera"], scenes.extra["rotation"]
        present = places_taken(scenes.count, scenes.places)
        off = np.abs(self._pixel(scenes.position, camera) - scenes.extra["pixel"]).max(axis=-1, initial=0)
        turned = (rotation >= 0) & (rotation <= 360)
        return (np.abs(camera) <= self.camera.jitter).all(axis=1) & (((off < 1e-3) & turned) | ~present).all(axis=1)

    def _seen(self, kind: np.ndarray, body: np.ndarray, camera: np.ndarray) -> np.ndarray:
        """Which scenes show enough of every object, bool[n]."""
        return all_visible(kind, body, self.camera, camera, self.min_pixels)

    def _solids(self, scenes: Scenes) -> tuple[np.ndarray, np.ndarray]:
        """The kind and body of every object, as visibility wants them."""
        body = [scenes.position[..., 0], scenes.position[..., 1], self._radius(scenes), scenes.extra["rotation"]]
        return self._kind(scenes.codes["shape"]), np.stack(body, axis=-1)

    def _kind(self, shape: np.ndarray) -> np.ndarray:
        """The kind of solid of every object, int64[n, k]."""
        return self._kind_of[np.minimum(shape, len(self._kind_of) - 1)]

    def _radius(self, scenes: Scenes) -> np.ndarray:
        """The radius of every object, zero where there is none, float64[n, k]."""
        return self._radius_of[np.minimum(scenes.codes["size"], len(self._radius_of) - 1)]

    @property
    def _kind_of(self) -> np.ndarray:
        """The kind of solid of each shape code; the last is for no object."""
        rooms = dict(self.solids)
        return np.array([*(KINDS[rooms.get(shape, shape)] for shape in self.vocabulary["shape"].values), NOTHING])

    @property
    def _radius_of(self) -> np.ndarray:
        """The radius of each size code; the last is for no object."""
        return np.array([*(dict(self.radii)[size] for size in self.vocabulary["size"].values), 0.0])


@compiled(error_model="numpy")
def _stand_apart(
    rng: np.random.Generator,
    count: np.ndarray,
    spacing: Spacing,
    shapes: int,
    radius_of: np.ndarray,
    shape: np.ndarray,
    size: np.ndarray,
    body: np.ndarray,
) -> bool:
    """Fill shape, size and body of every scene; False where one of them never finds room."""
    for scene in range(len(count)):
        for _ in range(RESTARTS):
            if _arrange(rng, scene, count[scene], spacing, radius_of, size, body):
                break
        else:
            return False
        for i in range(count[scene]):
            shape[scene, i] = int(rng.random() * shapes)
            body[scene, i, 3] = np.float32(360 * rng.random())
    return True


@compiled(error_model="numpy")
def _arrange(
    rng: np.random.Generator,
    scene: int,
    count: int,
    spacing: Spacing,
    radius_of: np.ndarray,
    size: np.ndarray,
    body: np.ndarray,
) -> bool:
    """Draw the sizes and places of one scene; False where an object finds no room."""
    for i in range(count):
        size[scene, i] = int(rng.random() * len(radius_of))
        body[scene, i, 2] = radius_of[size[scene, i]]
        for _ in range(spacing.tries):
            body[scene, i, 0] = np.float32(spacing.reach * (2 * rng.random() - 1))
            body[scene, i, 1] = np.float32(spacing.reach * (2 * rng.random() - 1))
            if _apart(scene, i, spacing, body):
                break
        else:
            return False
    return True


@compiled(error_model="numpy")
def _apart(scene: int, i: int, spacing: Spacing, body: np.ndarray) -> bool:
    """Whether object i stands apart from those before it."""
    for j in range(i):
        dx, dy = body[scene, i, 0] - body[scene, j, 0], body[scene, i, 1] - body[scene, j, 1]
        near = spacing.gap + body[scene, i, 2] + body[scene, j, 2]
        across, along = dx * RIGHT[0] + dy * RIGHT[1], dx * BEHIND[0] + dy * BEHIND[1]
        if abs(across) < spacing.margin or abs(along) < spacing.margin or dx * dx + dy * dy < near * near:
            return False
    return True
