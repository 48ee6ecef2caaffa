"""Laws of pictures: the same pixels in any batch, ids that agree with the world, and light that behaves as light."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.curi.world import CuriWorld
from recombine.render.masks import seen
from recombine.render.materials import CHECKERED, DARKER, DOTTED, PLAIN, STRIPED, painted
from recombine.render.primitives import NO_PART, Part, Primitives, assemble
from recombine.render.raytrace import LAYERS, NOTHING, raytrace
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import Camera
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes

WIDTH, HEIGHT = 120, 80
BALL = Part("sphere", (0, 0, 0.7), (0.7, 0.7, 0.7))


def scene(*parts: Part) -> Primitives:
    """One scene, nothing jittered."""
    return assemble([parts], np.zeros((1, 3)), np.zeros((1, 3, 3)))


def picture(*parts: Part, width: int = WIDTH, height: int = HEIGHT) -> tuple[np.ndarray, np.ndarray]:
    """The colours, as float64[height, width, 3], and the object ids of one scene."""
    found = raytrace(scene(*parts), width, height, ("rgb", "objects"))
    assert found.rgb is not None and found.objects is not None
    return found.rgb[0].astype(float), found.objects[0]


def inner(mask: np.ndarray) -> np.ndarray:
    """The pixels of a mask, but for its outline."""
    padded = np.pad(mask, 1)
    return mask & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]


def linear(rgb: np.ndarray) -> np.ndarray:
    """Colours of the screen, 0 to 255, as shares of light."""
    share = rgb / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


# --- batches --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [ClevrWorld(), CuriWorld()])
def test_a_scene_has_the_same_pixels_in_any_batch(world: ClevrWorld | CuriWorld) -> None:
    scenes = world.sample(6, Key(1))
    together, backwards = raytrace(scenes, 48, 32, LAYERS), raytrace(scenes[::-1], 48, 32, LAYERS)
    assert len(together) == len(scenes)
    for i in range(len(scenes)):
        alone = raytrace(scenes[i : i + 1], 48, 32, LAYERS)
        for name in LAYERS:
            np.testing.assert_array_equal(getattr(together, name)[i], getattr(alone, name)[0])
            np.testing.assert_array_equal(getattr(backwards, name)[-1 - i], getattr(alone, name)[0])


def test_layers_have_their_type_and_shape_and_do_not_depend_on_each_other() -> None:
    scenes = ClevrWorld().sample(2, Key(2))
    everything = raytrace(scenes, 50, 30, LAYERS)
    for name, (dtype, last) in LAYERS.items():
        layer = getattr(everything, name)
        assert (layer.shape, layer.dtype) == ((2, 30, 50, *last), dtype)
        alone = raytrace(scenes, 50, 30, [name])
        np.testing.assert_array_equal(getattr(alone, name), layer)
        assert all(getattr(alone, other) is None for other in LAYERS if other != name)


def test_no_scenes_give_no_pictures() -> None:
    assert len(raytrace(ClevrWorld().sample(2, Key(2))[:0], 32, 24)) == 0


# --- what is seen ---------------------------------------------------------------------------------------------------


def test_a_lone_object_is_seen_where_its_centre_is_projected() -> None:
    scenes = ClevrWorld(low=1, high=1).sample(40, Key(3))
    found = raytrace(scenes, 320, 240, ("objects", "depth"))
    assert found.objects is not None and found.depth is not None
    pixel = scenes.extra["pixel"][:, 0]
    column, row = np.floor(pixel[:, :2]).astype(int).T
    i = np.arange(len(scenes))
    assert (found.objects[i, row, column] == 0).all()
    size = scenes.position[:, 0, 2]
    before = pixel[:, 2] - found.depth[i, row, column]
    assert (before > 0.85 * size).all() and (before < 1.8 * size).all()


def test_visible_pixels_agree_with_the_world() -> None:
    """Spheres and cylinders are the same solids in both; the renderer's cubes have round edges."""
    world = ClevrWorld()
    scenes = world.sample(40, Key(4))
    found = raytrace(scenes, 320, 240, ("objects",))
    assert found.objects is not None
    visible, expected = seen(found.objects, scenes.places).visible, world.placement.visible_pixels(scenes)
    there = places_taken(scenes.count, scenes.places)
    assert (visible[~there] == 0).all()
    assert np.abs(visible - expected)[there].max() <= 0.15 * expected.max()
    cube = (scenes.codes["shape"] == scenes.vocabulary["shape"].code("cube")) & there
    uncut = ~cube.any(axis=1)
    assert uncut.any()
    assert np.abs(visible - expected)[uncut].max() <= 1
    assert (visible[cube] > 0.8 * expected[cube] - 10).all()


def test_parts_have_materials_and_colors_of_their_own() -> None:
    body = BALL._replace(color="blue", part=0, position=(0, 0, 0.7))
    hat = Part("cone", (0, 0, 1.7), (0.5, 0.5, 0.4), color="red", material="metal", part=1)
    found = raytrace(scene(body, hat), WIDTH, HEIGHT, ("rgb", "objects", "parts"))
    assert found.rgb is not None and found.parts is not None and found.objects is not None
    rgb, parts = found.rgb[0].astype(float), found.parts[0]
    assert (parts[found.objects[0] == NOTHING] == NO_PART).all()
    blue, red = rgb[parts == 0].mean(axis=0), rgb[parts == 1].mean(axis=0)
    assert blue[2] > 1.3 * blue[0] and red[0] > 1.3 * red[2]


# --- light ----------------------------------------------------------------------------------------------------------


def test_metal_mirrors_and_rubber_does_not() -> None:
    rubber, shown = picture(BALL)
    metal, _ = picture(BALL._replace(material="metal"))
    assert metal[shown == 0].std() > 1.5 * rubber[shown == 0].std()
    assert metal[shown == 0].max() > rubber[shown == 0].max() + 40


def test_a_mirror_shows_its_neighbour() -> None:
    neighbour = Part("box", (0.95, 1.1, 0.6), (0.5, 0.5, 0.6), color="red", object=1)
    for material, least, most in (("metal", 20, 255), ("rubber", -255, 12)):
        ball = BALL._replace(material=material, color=(0.9, 0.9, 0.9))
        (alone, shown), (beside, hidden) = picture(ball), picture(ball, neighbour)
        both = inner((shown == 0) & (hidden == 0))
        redder = (beside - alone)[both] @ [1, -0.5, -0.5]
        assert least <= redder.max() <= most


def test_thin_highlights_on_round_edges_are_the_mean_of_a_larger_picture() -> None:
    """They are thinner than a pixel: too few looks at a pixel break them into dashes."""
    turn = ((0.17, -0.985444, 0), (0.985444, 0.17, 0), (0, 0, 1))
    cube = Part("box", (0, 0, 0.7), (0.7, 0.7, 0.7), material="metal", rotation=turn, detail=0.126)
    (small, shown), (large, _) = picture(cube, width=240, height=160), picture(cube, width=960, height=640)
    expected = linear(large).reshape(160, 4, 240, 4, 3).mean(axis=(1, 3))
    off = (linear(small) - expected)[inner(inner(shown == 0))]
    assert np.sqrt((off**2).mean()) < 0.014


def test_shadows_are_soft_and_end() -> None:
    (empty, _), (rgb, shown) = picture(width=240, height=160), picture(BALL, width=240, height=160)
    left = (rgb.mean(axis=-1) / empty.mean(axis=-1))[shown == NOTHING]
    assert left.min() < 0.8
    assert ((left > 0.82) & (left < 0.98)).sum() > 200  # half-shadows
    assert (np.abs(left - 1) < 0.02).mean() > 0.5
    assert left.max() < 1.1


def test_the_ground_fades_out_and_the_sky_is_black() -> None:
    low = assemble([[]], np.array([[0.0, 0.0, -5.0]]), np.zeros((1, 3, 3)))  # close to the ground, the sky is seen
    found = raytrace(low, WIDTH, HEIGHT, ("rgb", "depth"))
    assert found.rgb is not None and found.depth is not None
    light, depth = found.rgb[0].mean(axis=(1, 2)), found.depth[0][:, 0]
    assert (light[np.isinf(depth)] == 0).all() and np.isinf(depth).any()
    horizon = int(np.isinf(depth).sum())
    assert light[horizon] < 20 < 60 < light[-1]


def test_lamps_move_with_their_jitter() -> None:
    moved = np.zeros((1, 3, 3))
    moved[0, 0] = (-1, 1, 1)
    one, other = (
        raytrace(replace(scene(BALL), lamps=lamps), 48, 32, ("rgb",)).rgb for lamps in (np.zeros((1, 3, 3)), moved)
    )
    assert one is not None and other is not None
    assert (one != other).mean() > 0.2


# --- edges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("material", ["rubber", "metal"])
def test_a_picture_is_what_a_larger_one_shrinks_to(material: str) -> None:
    parts = [
        BALL._replace(material=material),
        Part("box", (1.4, 1.2, 0.5), (0.5, 0.5, 0.5), "red", material, object=1, detail=0.09),
        Part("cylinder", (1.2, -1.2, 0.4), (0.4, 0.4, 0.4), "yellow", material, object=2, detail=0.02),
    ]
    (rgb, shown), (large, _) = picture(*parts), picture(*parts, width=4 * WIDTH, height=4 * HEIGHT)
    shrunk, one_spot = shrink(large), large[2::4, 2::4]
    outline = ~np.logical_or.reduce([inner(shown == thing) for thing in (NOTHING, 0, 1, 2)])
    outline[[0, -1]], outline[:, [0, -1]] = False, False
    off, without = np.abs(rgb - shrunk).mean(axis=-1), np.abs(one_spot - shrunk).mean(axis=-1)
    assert off.mean() < 1
    assert off[outline].mean() < 0.7 * without[outline].mean()


def shrink(large: np.ndarray) -> np.ndarray:
    """A quarter of a picture: the mean light of six by six pixels around the middle of each, one and a half wide."""
    share = np.pad(large, ((1, 1), (1, 1), (0, 0)), mode="edge") / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    mean = np.lib.stride_tricks.sliding_window_view(light, (6, 6), axis=(0, 1))[::4, ::4].mean(axis=(-2, -1))
    return 255 * np.where(mean <= 0.0031308, 12.92 * mean, 1.055 * mean ** (1 / 2.4) - 0.055)


# --- textures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texture", "dark"),
    [
        (PLAIN, lambda a, b: False),
        (STRIPED, lambda a, b: int(b // 1) % 2 == 1),
        (CHECKERED, lambda a, b: (int(a // 1) + int(b // 1)) % 2 == 1),
        (DOTTED, lambda a, b: (a % 1 - 0.5) ** 2 + (b % 1 - 0.5) ** 2 < 0.09),
    ],
)
def test_textures_have_two_tones(texture: int, dark: Callable[[float, float], bool]) -> None:
    tone: Any = painted
    for a, b in np.random.default_rng(0).uniform(-5, 5, (200, 2)):
        assert tone.py_func(texture, a, b) == (DARKER if dark(a, b) else 1)


@pytest.mark.parametrize(
    ("texture", "least", "most"), [("striped", 0.3, 0.7), ("checkered", 0.3, 0.7), ("dotted", 0.15, 0.4)]
)
def test_textures_darken_their_share_of_a_surface(texture: str, least: float, most: float) -> None:
    box = Part("box", (0, 0, 0.9), (0.9, 0.9, 0.9), "cyan", grain=0.3)
    (plain, shown), (textured, _) = (
        picture(one, width=240, height=160) for one in (box, box._replace(texture=texture))
    )
    left = (textured / np.maximum(plain, 1)).mean(axis=-1)[inner(shown == 0)]
    assert least < (left < 0.85).mean() < most
    assert (left > 0.97).mean() > 0.25
    floor = np.abs(textured - plain)[shown == NOTHING]
    assert floor.max() < 40 and floor.mean() < 1


# --- bad input ------------------------------------------------------------------------------------------------------


def moved(scenes: Scenes, place: tuple[int, int], position: tuple[float, float, float]) -> Scenes:
    changed = scenes.position.copy()
    changed[place] = position
    return replace(scenes, position=changed)


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        ((0, 0, 0), "object 1 of scene 2 has a size that is not positive"),
        ((0, 0, -0.7), "object 1 of scene 2 has a size that is not positive"),
        ((0, 0, 1e6), "object 1 of scene 2 is larger than 100"),
        ((1e6, 0, 0.7), "object 1 of scene 2 is farther than 100"),
        ((np.nan, 0, 0.7), "object 1 of scene 2 has a number that is not finite"),
        ((0, np.inf, 0.7), "object 1 of scene 2 has a number that is not finite"),
        ((12, -11, 0.7), "object 1 of scene 2 is behind the camera"),
        ((7.4, -6.5, 4.0), "object 1 of scene 2 is behind the camera, or reaches it"),
    ],
)
def test_impossible_places_and_sizes_are_named(position: tuple[float, float, float], sentence: str) -> None:
    scenes = moved(ClevrWorld().sample(3, Key(5)), (2, 1), position)
    with pytest.raises(UserError, match=sentence):
        raytrace(scenes, 32, 24)


def test_objects_inside_each_other_are_named() -> None:
    scenes = ClevrWorld().sample(3, Key(5))
    inside = moved(scenes, (1, 2), tuple(scenes.position[1, 0] + [0.1, 0, 0]))
    with pytest.raises(UserError, match="object 0 of scene 1 and object 2 are inside each other"):
        raytrace(inside, 32, 24)


def test_parts_of_one_object_may_be_inside_each_other() -> None:
    raytrace(scene(BALL._replace(part=0), BALL._replace(part=1, scale=(0.6, 0.6, 0.6))), 32, 24)


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (BALL._replace(rotation=((1, 0, 0), (0, 1, 0), (0, 0, 2))), "is not turned by a rotation"),
        (BALL._replace(color=(0.5, 0.5, 1.5)), "has a color that is not three shares"),
        (BALL._replace(kind="capsule", scale=(1, 0.5, 2)), "is a capsule"),
        (BALL._replace(kind="torus", scale=(1, 1, 0.9)), "is a torus"),
        (BALL._replace(kind="box", detail=2), "has edges wider than itself"),
        (BALL._replace(object=3), "is out of order"),
        (BALL._replace(texture="striped", grain=0), "has a texture whose grain is not positive"),
    ],
)
def test_impossible_parts_are_named(part: Part, sentence: str) -> None:
    with pytest.raises(UserError, match=f"object {part.object} of scene 0 {sentence}"):
        raytrace(scene(part), 32, 24)


@pytest.mark.parametrize(
    "part", [BALL._replace(kind="teapot"), BALL._replace(material="velvet"), BALL._replace(texture="tartan")]
)
def test_unknown_words_are_refused(part: Part) -> None:
    with pytest.raises(UserError, match="can be drawn; choose one of"):
        scene(part)


@pytest.mark.parametrize(
    ("width", "height", "want", "sentence"),
    [
        (0, 10, ["rgb"], "1 to 8192 pixels a side"),
        (10, 10_000, ["rgb"], "1 to 8192 pixels a side"),
        (10, 10, ["smell"], "has no smell; choose from rgb"),
        (10, 10, [], "picture of nothing"),
    ],
)
def test_impossible_pictures_are_refused(width: int, height: int, want: list[str], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        raytrace(scene(BALL), width, height, want)


def test_a_picture_may_be_one_pixel() -> None:
    found = raytrace(scene(BALL), 1, 1, LAYERS)
    assert found.objects is not None and found.objects[0, 0, 0] == 0
    assert Camera(1, 1).project(np.array([0, 0, 0.7]), np.zeros(3))[0] == pytest.approx(0.5)
