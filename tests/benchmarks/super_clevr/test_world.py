"""The world of vehicles: room, visibility, parts, and settings of one's own."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.benchmarks.super_clevr.names import spoken, super_name
from recombine.benchmarks.super_clevr.vehicles import MEASURED
from recombine.benchmarks.super_clevr.world import COMPLEXITIES, HEIGHT, WIDTH, PartRules, Spacing, VehicleWorld
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.distribution import places_taken
from recombine.world.scenes import ABSENT, Scenes

WORLD = VehicleWorld()
OURS = ("size", "color", "material", "shape")


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return WORLD.sample(40, Key(5))


def corners(world: VehicleWorld, scenes: Scenes, row: int, place: int) -> np.ndarray:
    """The corners of a vehicle's box on the ground, from its model and the plain definition of a rotation."""
    model = world.fleet.models[int(scenes.codes["shape"][row, place])]
    low, high = model.points.min(axis=0), model.points.max(axis=0)
    size = dict(world.sizes)[scenes.objects(row)[place]["size"]] * world.spacing.grown
    turn = np.radians(float(scenes.extra["rotation"][row, place]))
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    plan = np.array([(x, y) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))])
    return size * plan @ matrix.T + scenes.position[row, place, :2]


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two convex polygons meet: a grid of points of one lies in the other, or its sides cross."""

    def inside(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
        sides = np.roll(polygon, -1, axis=0) - polygon
        off = points[:, None] - polygon
        cross = sides[:, 0] * off[..., 1] - sides[:, 1] * off[..., 0]
        return (cross > 1e-6).all(axis=1)

    steps = np.linspace(0, 1, 25)
    grid = np.array([[s, t] for s in steps for t in steps])
    spread = lambda box: box[0] + grid[:, :1] * (box[1] - box[0]) + grid[:, 1:] * (box[3] - box[0])  # noqa: E731
    return bool(inside(spread(a), b).any() or inside(spread(b), a).any())


def test_boxes_stand_apart(scenes: Scenes) -> None:
    for row in range(12):
        boxes = [corners(WORLD, scenes, row, place) for place in range(int(scenes.count[row]))]
        assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_vehicles_that_meet_are_refused(scenes: Scenes) -> None:
    position = scenes.position.copy()
    position[:, 1, :2] = position[:, 0, :2] + 0.05
    assert not WORLD.spaced(replace(scenes, position=position)).any()
    assert WORLD.spaced(scenes).all()


def test_counts_are_those_of_the_picture(scenes: Scenes) -> None:
    some = scenes[:4]
    seen = WORLD.stage.draw(some, WIDTH, HEIGHT, ("objects", "parts"))
    there = places_taken(some.count, some.places)
    pixels = np.array([[(seen.objects[i] == k).sum() for k in range(some.places)] for i in range(4)])
    assert (pixels[there] >= 200).all()
    for i in range(4):
        for k, one in enumerate(some.objects(i)):
            names = [one[f"part_{slot}"] for slot in (1, 2, 3)]
            parts = WORLD.fleet.parts[one["shape"]]
            shown = {
                name: int(((seen.objects[i] == k) & (seen.parts[i] == place)).sum()) for place, name in enumerate(parts)
            }
            recorded = [name for name in names if name != "none"]
            assert len({*recorded}) == len(recorded) == min(3, sum(count > 20 for count in shown.values()))
            assert all(shown[name] > 20 for name in recorded)


def test_parts_have_another_colour_and_the_size_of_their_vehicle(scenes: Scenes) -> None:
    for row in range(len(scenes)):
        for one in scenes.objects(row):
            assert all(one[f"part_{slot}_color"] != one["color"] for slot in (1, 2, 3))


def test_a_world_contains_what_it_makes_and_nothing_else(scenes: Scenes) -> None:
    assert WORLD.contains(scenes).all()
    moved = replace(scenes, extra={**scenes.extra, "lamps": scenes.extra["lamps"] + 3})
    assert not WORLD.contains(moved).any()
    same = {
        **scenes.codes,
        "part_1_color": np.where(scenes.codes["part_1"] == ABSENT, ABSENT, scenes.codes["color"] + 1),
    }
    assert not WORLD.contains(replace(scenes, codes={k: v.astype(np.uint8) for k, v in same.items()})).any()


@pytest.mark.parametrize("complexity", COMPLEXITIES)
def test_complexity_changes_nothing_but_paint(scenes: Scenes, complexity: str) -> None:
    other = replace(WORLD, complexity=complexity)
    made = other.sample(40, Key(5))
    np.testing.assert_array_equal(made.position, scenes.position)
    for name in ("rotation", "camera", "lamps", "pixel"):
        np.testing.assert_array_equal(made.extra[name], scenes.extra[name])
    for name in OURS:
        np.testing.assert_array_equal(made.codes[name], scenes.codes[name])
    parts, textures = (
        any(thing[name] != "none" for row in range(40) for thing in made.objects(row)) for name in ("part_1", "texture")
    )
    assert (parts, textures) == {"easy": (False, False), "mid": (True, False), "hard": (True, True)}[complexity]
    assert other.contains(made).all()


def test_colours_may_follow_weights_and_leave_the_layout(scenes: Scenes) -> None:
    weights = (0.5, 0.5, 0, 0, 0, 0, 0, 0)
    made = replace(WORLD, weights=(("color", weights),)).sample(40, Key(5))
    np.testing.assert_array_equal(made.position, scenes.position)
    assert {*np.unique(made.codes["color"])} == {0, 1, ABSENT}
    row = lambda i: tuple(float(i % 8 == c) for c in range(8))  # noqa: E731
    world = replace(WORLD, color_given_shape=tuple(map(row, range(21))))
    made = world.sample(20, Key(5))
    there = made.codes["shape"] != ABSENT
    np.testing.assert_array_equal(made.codes["color"][there], made.codes["shape"][there] % 8)
    assert world.contains(made).all() and not world.contains(scenes[:20]).any()


def test_shapes_may_follow_weights() -> None:
    weights = tuple(1.0 if name == "sedan" else 0.0 for name in WORLD.fleet.shapes)
    made = replace(WORLD, weights=(("shape", weights),), high=4).sample(5, Key(1))
    assert {one["shape"] for row in range(5) for one in made.objects(row)} == {"sedan"}


def test_own_fleets_colours_and_rules() -> None:
    world = VehicleWorld(
        low=2,
        high=3,
        fleet=Fleet.of("car", "jet"),
        colors=("lime", "red"),
        paints=(("lime", (180, 255, 0)),),
        textures=("none", "dotted"),
        parts=PartRules(most=1, pixels=50),
        spacing=Spacing(grown=1.5),
        complexity="hard",
    )
    made = world.sample(6, Key(2))
    assert world.contains(made).all()
    assert "part_1" in made.codes and "part_2" not in made.codes
    lime = world.stage.draw(made, 64, 48, ("rgb",)).rgb
    assert lime is not None and lime.shape == (6, 48, 64, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VehicleWorld(low=0), "1 to 10 vehicles"),
        (lambda: VehicleWorld(complexity="odd"), "no complexity 'odd'"),
        (lambda: Fleet.of("tank"), "there is no vehicle 'tank'; choose from suv"),
        (lambda: Fleet((("car", ("sedan", "sedan")),)), "'sedan' is the name of two vehicles"),
        (lambda: VehicleWorld(colors=("red", "mauve")), "'mauve' is no color"),
        (lambda: VehicleWorld(textures=("none", "plaid")), "'plaid' is no texture"),
        (lambda: VehicleWorld(weights=(("color", (0.5, 0.4, 0, 0, 0, 0, 0, 0)),)), "sum to 0.9, not to 1"),
        (lambda: VehicleWorld(weights=(("material", (1.0,)),)), "are 2 numbers, not 1"),
        (lambda: VehicleWorld(color_given_shape=((1.0,),)), "1 rows for 21 shapes"),
        (lambda: VehicleWorld(color_given_shape=((0.2,) * 8,) * 21), "the colours of suv sum to 1.6"),
        (lambda: VehicleWorld(parts=PartRules(most=9)), "0 to 5 recorded parts"),
    ],
)
def test_what_cannot_be_is_refused(make, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()


def test_names_of_parts() -> None:
    raw = {part for one in MEASURED.values() for part in one.parts}
    assert (len(raw), len({*map(spoken, raw)}), len({super_name(spoken(part)) for part in raw})) == (85, 68, 35)
    for one in MEASURED.values():
        assert len({*map(spoken, one.parts)}) == len(one.parts)
    assert spoken("footrest_left_s") == "left footrest" and spoken("left_head_light") == "left head light"
