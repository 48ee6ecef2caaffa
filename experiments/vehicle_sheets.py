"""Sheets of the vehicles for the gallery; experiments/gallery.py writes them.

Every picture is a crop of one with CLEVR's camera, its vehicle in the middle of the world.
"""

from colorsys import hsv_to_rgb

import numpy as np

from recombine.benchmarks.super_clevr.vehicles import MEASURED, VEHICLES, vehicle
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.render.fine import modelled
from recombine.render.instances import Instance, Look, gather
from recombine.render.photo import photograph
from recombine.store.key import Key

COLORS = ("red", "blue", "green", "yellow", "cyan", "purple", "brown", "gray")
SIDES = {"front": 305.0, "left": 230.0, "back": 125.0, "right": 50.0}
"""Where a vehicle looks, in degrees from x: it shows its front, a side and so on, a little turned."""
SIZE, WIDTH, HEIGHT = 4.2, 640, 480
ROWS, COLUMNS = slice(88, 318), slice(175, 465)
"""What is shown of a picture."""
NAMES = [name for names in VEHICLES.values() for name in names]

GOLDEN = 0.618
"""Hues that far apart stay far apart, however many there are."""


def shown(views: list[tuple[str, float, Look, dict[str, Look]]]) -> list[np.ndarray]:
    """Vehicles by themselves: which, where it looks, how it looks, and how its parts look."""
    scenes = [
        [Instance(0, name, (0.0, 0.0, MEASURED[name].ground * SIZE), turn, SIZE, look, parts)]
        for name, turn, look, parts in views
    ]
    jitter = np.zeros((len(scenes), 3)), np.zeros((len(scenes), 3, 3))
    drawn = modelled(gather(scenes, [vehicle(name) for name in NAMES], *jitter), WIDTH, HEIGHT, 2)
    return list(drawn[:, ROWS, COLUMNS])


def look(name: str) -> Look:
    """A colour and a material for every vehicle."""
    place = NAMES.index(name)
    return Look(COLORS[place % len(COLORS)], ("rubber", "metal")[place % 2])


def part_looks(name: str) -> dict[str, Look]:
    """Every part in a colour of its own."""
    return {
        part: Look(hsv_to_rgb((0.05 + GOLDEN * i) % 1.0, 0.85 if i % 2 else 0.6, 0.9 if i % 3 else 0.55))
        for i, part in enumerate(MEASURED[name].parts)
    }


def vehicles_from_four_sides() -> list[list[np.ndarray]]:
    """All vehicles from four sides, and beside them from both ends with every part in its colour."""
    rows = []
    for name in NAMES:
        plain = [(name, turn, look(name), dict[str, Look]()) for turn in SIDES.values()]
        parts = [(name, turn, Look((0.75, 0.75, 0.75)), part_looks(name)) for turn in (345.0, 165.0)]
        rows.append([small(picture) for picture in shown([*plain, *parts])])
    return [[*one, *two] for one, two in zip(rows[0::2], [*rows[1::2], blank(rows[0])])]


def blank(row: list[np.ndarray]) -> list[np.ndarray]:
    return [np.full_like(picture, 255) for picture in row]


def vehicles_turning() -> list[list[np.ndarray]]:
    """One of each category on a turntable."""
    kinds = ("wagon", "school", "cruiser", "jet", "utility")
    return [
        [small(picture) for picture in shown([(name, 36.0 * i, look(name), {}) for i in range(10)])] for name in kinds
    ]


def vehicle_textures() -> list[list[np.ndarray]]:
    """The textures on vehicles of rubber and of metal, large cells and small ones."""
    rows = []
    for name, material in (("minivan", "rubber"), ("double", "metal"), ("biplane", "rubber")):
        looks = [Look("cyan", material)]
        looks += [Look("cyan", material, pattern, 30.0) for pattern in ("striped", "vstriped")]
        looks += [Look("cyan", material, pattern, 15.0) for pattern in ("checkered", "dotted")]
        rows.append(shown([(name, 15.0, one, {}) for one in looks]))
    return rows


def vehicles_fast_and_photo() -> list[list[np.ndarray]]:
    """The same scenes, fast on the left and as photos on the right."""
    rows = []
    for level, seed in (("mid", 3), ("hard", 5)):
        world = VehicleWorld(complexity=level)
        scene = world.stage.instances(world.sample(2, Key(seed)))[1]
        fast, photo = modelled(scene, 480, 360), photograph(scene, 480, 360, ("rgb",), samples=32).rgb
        assert photo is not None
        rows.append([fast[0], photo[0]])
    return rows


def small(picture: np.ndarray) -> np.ndarray:
    """Half as large, in 64 shades of every colour: the file is half as large again."""
    height, width = (side // 2 * 2 for side in picture.shape[:2])
    pieces = picture[:height, :width].reshape(height // 2, 2, width // 2, 2, 3).astype(np.float64)
    return np.minimum(4 * np.rint(pieces.mean(axis=(1, 3)) / 4), 255).astype(np.uint8)
