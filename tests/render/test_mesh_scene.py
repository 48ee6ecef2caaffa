"""Laws of pictures of models: the same pixels in any batch, what rays see, and light that behaves as light."""

from dataclasses import replace
from hashlib import blake2s

import numpy as np
import pytest

from recombine.render.instances import Instance, Instances, Look, gather
from recombine.render.mesh_reference import cast
from recombine.render.mesh_scene import draw_models
from recombine.render.mesh_visibility import visible_pixels
from recombine.render.models import Model
from recombine.render.primitives import assemble
from recombine.render.raytrace import LAYERS, NOTHING, raytrace
from recombine.store.errors import UserError
from recombine.world.camera import Camera
from tests.render.toys import TOYS, ball, box, model_of, scene, street

WIDTH, HEIGHT = 64, 48
CAR = Instance(0, "car", (0, 0, 0), turn=20.0, size=3.0)


def picture(instances: Instances, width: int = WIDTH, height: int = HEIGHT) -> tuple[np.ndarray, np.ndarray]:
    """The colours, as float64[height, width, 3], and the object ids of one scene."""
    found = draw_models(instances, width, height, ("rgb", "objects"))
    assert found.rgb is not None and found.objects is not None
    return found.rgb[0].astype(float), found.objects[0]


def ground(width: int, height: int) -> np.ndarray:
    """The ray tracer's picture of nothing."""
    found = raytrace(assemble([[]], np.zeros((1, 3)), np.zeros((1, 3, 3))), width, height, ("rgb",)).rgb
    assert found is not None
    return found[0].astype(float)


# --- batches --------------------------------------------------------------------------------------------------------


def test_a_scene_has_the_same_pixels_in_any_batch() -> None:
    scenes = street(4, 1)
    together = draw_models(scenes, WIDTH, HEIGHT, LAYERS)
    assert len(together) == 4
    for i in range(4):
        alone = draw_models(scenes[i], WIDTH, HEIGHT, LAYERS)
        for name in LAYERS:
            np.testing.assert_array_equal(getattr(together, name)[i], getattr(alone, name)[0])


def test_layers_have_their_type_and_shape_and_do_not_depend_on_each_other() -> None:
    scenes = street(2, 2)
    everything = draw_models(scenes, WIDTH, HEIGHT, LAYERS)
    for name, (dtype, last) in LAYERS.items():
        layer, alone = getattr(everything, name), draw_models(scenes, WIDTH, HEIGHT, [name])
        assert (layer.shape, layer.dtype) == ((2, HEIGHT, WIDTH, *last), dtype)
        np.testing.assert_array_equal(getattr(alone, name), layer)
        assert all(getattr(alone, other) is None for other in LAYERS if other != name)


def test_a_small_picture_does_not_drift() -> None:
    found = draw_models(street(1, 5, pattern="checkered"), WIDTH, HEIGHT, LAYERS)
    digest = {name: blake2s(getattr(found, name).tobytes()).hexdigest()[:16] for name in LAYERS}
    assert digest == GOLDEN


GOLDEN = {
    "rgb": "808bd14d70f6dfad",
    "objects": "3592db93199a540e",
    "parts": "06abe4d923bafa85",
    "depth": "cd06b6664547e950",
    "normals": "64dfe1ccafd0cb9d",
}


def test_an_empty_scene_is_the_ground_of_the_ray_tracer() -> None:
    rgb, objects = picture(scene())
    assert (objects == NOTHING).all()
    np.testing.assert_array_equal(rgb, ground(WIDTH, HEIGHT))
    assert len(draw_models(gather([], TOYS, np.zeros((0, 3)), np.zeros((0, 3, 3))), 8, 8)) == 0


def test_a_picture_may_be_one_pixel() -> None:
    found = draw_models(scene(CAR), 1, 1, LAYERS)
    assert found.objects is not None and found.objects[0, 0, 0] == 0


# --- what is seen ---------------------------------------------------------------------------------------------------


def test_the_middle_of_every_pixel_shows_what_a_ray_meets() -> None:
    scenes = street(3, 3)
    found = draw_models(scenes, WIDTH, HEIGHT, ("objects", "parts", "depth"))
    for i in range(3):
        seen = cast(scenes, i, WIDTH, HEIGHT)
        np.testing.assert_array_equal(found.objects[i], seen.objects)  # type: ignore[index]
        np.testing.assert_array_equal(found.parts[i], seen.parts)  # type: ignore[index]
        np.testing.assert_allclose(found.depth[i], seen.depth, rtol=1e-6)  # type: ignore[index]


def test_many_thin_triangles_leave_no_gap_and_hide_each_other_as_rays_say() -> None:
    """Slivers and needles at random places, seen from both sides; ties at edges aside."""
    rng = np.random.default_rng(0)
    corners = rng.uniform(-0.4, 0.4, (60, 1, 3)) + rng.normal(size=(60, 3, 3)) * [0.3, 0.1, 0.01]
    points, faces = corners.reshape(-1, 3) + np.array([0, 0, 0.6]), np.arange(180).reshape(-1, 3).astype(np.int32)
    normals = np.tile([0.0, 0.0, 1.0], (60, 3, 1))
    soup = Model("soup", points, faces, normals, np.arange(60).astype(np.int16), np.ones(60, np.float32), ("p",) * 60)
    scenes = gather([[Instance(0, "soup", (0, 0, 0), 33.0, 4.0)]], [soup], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    found, seen = draw_models(scenes, 96, 72, ("parts", "depth")), cast(scenes, 0, 96, 72)
    assert found.parts is not None and found.depth is not None
    assert (found.parts[0] == seen.parts).mean() > 0.999
    np.testing.assert_allclose(found.depth[0], seen.depth, rtol=1e-6)


def test_a_sheet_is_seen_from_both_sides_and_faces_the_eye() -> None:
    corners, faces = (
        np.array([(0, -0.5, 0), (0, 0.5, 0), (0, 0.5, 0.5), (0, -0.5, 0.5)]),
        np.array([(0, 1, 2), (0, 2, 3)]),
    )
    normals = np.tile([1.0, 0.0, 0.0], (2, 3, 1))
    sheet = Model(
        "sheet", corners, faces.astype(np.int32), normals, np.full(2, -1, np.int16), np.ones(2, np.float32), ()
    )
    counts = []
    for turn in (0.0, 180.0):
        one = gather([[Instance(0, "sheet", (0, 0, 0), turn, 2.0)]], [sheet], np.zeros((1, 3)), np.zeros((1, 3, 3)))
        found = draw_models(one, WIDTH, HEIGHT, ("objects", "normals", "rgb"))
        assert found.objects is not None and found.normals is not None
        shown = found.objects[0] == 0
        counts.append(shown.sum())
        np.testing.assert_allclose(found.normals[0][shown], np.tile([1, 0, 0], (shown.sum(), 1)), atol=1e-6)
    assert counts[0] == counts[1] > 50


def test_normals_are_those_of_the_surface() -> None:
    round_one = model_of("ball", [(None, 1.0, ball((0, 0, 0.5), (0.5, 0.5, 0.5), 48, 32))])
    one = gather([[Instance(0, "ball", (0, 0, 0), 70.0, 2.0)]], [round_one], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    found = draw_models(one, WIDTH, HEIGHT, ("objects", "normals", "depth"))
    assert found.objects is not None and found.normals is not None and found.depth is not None
    camera, shown = Camera(WIDTH, HEIGHT), found.objects[0] == 0
    points = camera.view(np.zeros(3))[0] + found.depth[0][..., None] * camera.rays(np.zeros(3))
    np.testing.assert_allclose(found.normals[0][shown], (points - [0, 0, 1])[shown], atol=0.06)
    assert (found.normals[0][~shown] == [0, 0, 1]).all()


def test_what_is_below_the_ground_is_not_seen() -> None:
    sunk = replace(scene(CAR), position=np.array([[0.0, 0.0, -3.0]]))
    _, objects = picture(sunk)
    assert (objects == NOTHING).all()


def test_visible_pixels_are_those_of_the_picture() -> None:
    scenes = street(6, 4)
    found = draw_models(scenes, 80, 60, ("objects", "parts"))
    visible = visible_pixels(scenes, 80, 60)
    assert found.objects is not None and found.parts is not None
    for row, (i, thing) in enumerate(zip(scenes.scene, scenes.object)):
        shown = found.objects[i] == thing
        assert visible.objects[row] == shown.sum()
        counts = [(shown & (found.parts[i] == part)).sum() for part in range(visible.parts.shape[1])]
        np.testing.assert_array_equal(visible.parts[row], counts)
    assert visible.objects.sum() > 0 and visible.parts.sum() > 0


# --- light ----------------------------------------------------------------------------------------------------------


def test_parts_have_looks_of_their_own_and_tints_darken() -> None:
    look = CAR._replace(look=Look("blue"), paint={"roof": Look("red", "metal")})
    found = draw_models(scene(look), 160, 120, ("rgb", "parts", "objects"))
    assert found.rgb is not None and found.parts is not None and found.objects is not None
    rgb, parts = found.rgb[0].astype(float), found.parts[0]
    roof, body = rgb[parts == TOYS[0].parts.index("roof")], rgb[(parts == NOTHING) & (found.objects[0] == 0)]
    assert roof[:, 0].mean() > 1.3 * roof[:, 2].mean() and body[:, 2].mean() > 1.3 * body[:, 0].mean()
    clear = replace(TOYS[0], tint=np.ones_like(TOYS[0].tint))
    without = draw_models(replace(scene(look), models=(clear, TOYS[1])), 160, 120, ("rgb",))
    assert without.rgb is not None
    assert body.mean() < without.rgb[0][(parts == NOTHING) & (found.objects[0] == 0)].mean() - 2


def test_a_mirror_shows_its_neighbour() -> None:
    """A white ball of metal beside a red box."""
    things = [
        model_of("ball", [(None, 1.0, ball((0, 0, 0.5), (0.5, 0.5, 0.5), 48, 32))]),
        model_of("box", [(None, 1.0, box((-0.5, -0.5, 0), (0.5, 0.5, 1)))]),
    ]
    for material, least, most in (("metal", 20, 255), ("rubber", -255, 12)):
        first = Instance(0, "ball", (0, 0, 0), 0.0, 1.4, Look((0.9, 0.9, 0.9), material))
        second = Instance(1, "box", (0.95, 1.1, 0), 0.0, 1.1, Look("red"))
        still = np.zeros((1, 3)), np.zeros((1, 3, 3))
        (alone, shown), (beside, hidden) = (
            picture(gather([some], things, *still), 120, 90) for some in ([first], [first, second])
        )
        both = (shown == 0) & (hidden == 0)
        redder = (beside - alone)[both] @ [1, -0.5, -0.5]
        assert least <= redder.max() <= most


def test_shadows_are_soft_and_end() -> None:
    rgb, shown = picture(scene(CAR), 160, 120)
    left = (rgb.mean(axis=-1) / ground(160, 120).mean(axis=-1))[shown == NOTHING]
    assert left.min() < 0.75
    assert ((left > 0.82) & (left < 0.98)).sum() > 100
    assert (np.abs(left - 1) < 0.02).mean() > 0.5
    assert left.max() < 1.1


def test_a_lit_side_has_no_shadow_of_itself() -> None:
    """A large flat roof that nothing stands on is lit evenly: no stripes of its own shadow."""
    table = model_of("table", [(None, 1.0, box((-0.5, -0.5, 0), (0.5, 0.5, 0.2)))])
    for turn in (0.0, 17.0, 41.0):
        one = gather([[Instance(0, "table", (0, 0, 0), turn, 3.0)]], [table], np.zeros((1, 3)), np.zeros((1, 3, 3)))
        found = draw_models(one, 160, 120, ("rgb", "normals"))
        assert found.rgb is not None and found.normals is not None
        top = np.isclose(found.normals[0, ..., 2], 1) & (found.rgb[0].std(axis=-1) < 12)
        light, inner = found.rgb[0].mean(axis=-1), erode(erode(top & shown_by(one)))
        across, down = np.abs(np.diff(light, axis=1)), np.abs(np.diff(light, axis=0))
        assert across[inner[:, 1:] & inner[:, :-1]].max() < 4
        assert down[inner[1:] & inner[:-1]].max() < 4


def shown_by(instances: Instances) -> np.ndarray:
    found = draw_models(instances, 160, 120, ("objects",)).objects
    assert found is not None
    return found[0] == 0


def erode(mask: np.ndarray) -> np.ndarray:
    padded = np.pad(mask, 1)
    return mask & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]


# --- edges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("material", ["rubber", "metal"])
def test_a_picture_is_what_a_larger_one_shrinks_to(material: str) -> None:
    scenes = scene(
        CAR._replace(look=Look("yellow", material)),
        Instance(1, "bike", (1.5, 1.7, 0), 100.0, 2.5, Look("green", material)),
    )
    (rgb, shown), (large, _) = picture(scenes, 96, 72), picture(scenes, 384, 288)
    light = linear(large).reshape(72, 4, 96, 4, 3)
    shrunk, one_spot = screened(light.mean(axis=(1, 3))), screened(light[:, 2, :, 2])
    outline = ~(erode(shown == NOTHING) | erode(shown == 0) | erode(shown == 1))
    outline[[0, -1]], outline[:, [0, -1]] = False, False
    off, without = np.abs(rgb - shrunk).mean(axis=-1), np.abs(one_spot - shrunk).mean(axis=-1)
    assert off.mean() < 1.5
    assert off[outline].mean() < 0.6 * without[outline].mean()


def linear(rgb: np.ndarray) -> np.ndarray:
    share = rgb / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def screened(light: np.ndarray) -> np.ndarray:
    return 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


# --- bad input ------------------------------------------------------------------------------------------------------


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
        draw_models(scene(CAR), width, height, want)
