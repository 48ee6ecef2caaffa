"""Laws of solids: objects rest on the ground, are as large as their size and look as their words say."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.materials import COLORS, MATERIALS, PLAIN, TEXTURES
from recombine.render.primitives import KINDS, NO_PART
from recombine.render.solids import SHAPES, solids
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

WORLD = ClevrWorld()


def with_values(scenes: Scenes, attribute: str, values: tuple[str, ...], codes: np.ndarray) -> Scenes:
    """The scenes with other values of an attribute, or with a further one."""
    others = tuple(one for one in scenes.vocabulary if one.name != attribute)
    vocabulary = Vocabulary((*others, Attribute(attribute, values)))
    return replace(scenes, vocabulary=vocabulary, codes={**scenes.codes, attribute: codes})


def lone(shape: str) -> Scenes:
    """One large object of a shape, turned."""
    scene = ClevrWorld(low=1, high=1).sample(1, Key(3))
    return with_values(scene, "shape", (shape,), np.zeros((1, 1), np.uint8))


def test_every_object_is_drawn_as_its_words_say() -> None:
    scenes = WORLD.sample(40, Key(1))
    made = solids(scenes)
    words = [word for scene in range(len(scenes)) for word in scenes.objects(scene)]
    assert len(made) == len(scenes)
    assert len(words) == len(made.kind)  # CLEVR's shapes are one primitive each
    kinds = {"cube": "box", "sphere": "sphere", "cylinder": "cylinder"}
    assert [KINDS[kind] for kind in made.kind] == [kinds[word["shape"]] for word in words]
    assert [[*MATERIALS][number] for number in made.material] == [word["material"] for word in words]
    np.testing.assert_array_equal(made.color, [COLORS[word["color"]] for word in words])
    np.testing.assert_allclose(made.scale[:, 2], [dict(WORLD.radii)[word["size"]] for word in words], rtol=1e-6)
    assert (made.texture == PLAIN).all()
    assert (made.part == NO_PART).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_rests_on_the_ground_within_its_size(shape: str) -> None:
    scene = lone(shape)
    made, size = solids(scene), float(scene.position[0, 0, 2])
    low, high = made.position[:, 2] - made.scale[:, 2], made.position[:, 2] + made.scale[:, 2]
    assert low.min() == pytest.approx(0, abs=1e-6)
    assert high.max() <= 2 * size + 1e-6
    assert (made.scale[:, :2] <= size + 1e-6).all()
    np.testing.assert_allclose(made.position[:, :2], np.broadcast_to(scene.position[0, 0, :2], (len(made.kind), 2)))


def test_rotation_turns_about_the_upright_axis() -> None:
    scene = lone("cube")
    turned = replace(scene, extra={**scene.extra, "rotation": np.array([[90.0]], np.float32)})
    np.testing.assert_allclose(solids(turned).rotation[0] @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    without = replace(scene, extra={name: scene.extra[name] for name in ("camera", "lamps")})
    np.testing.assert_array_equal(solids(without).rotation[0], np.eye(3))


def test_jitter_goes_along_and_is_zero_where_it_is_not_kept() -> None:
    scenes = WORLD.sample(3, Key(4))
    np.testing.assert_array_equal(solids(scenes).camera, scenes.extra["camera"])
    np.testing.assert_array_equal(solids(scenes).lamps, scenes.extra["lamps"])
    bare = solids(replace(scenes, extra={}))
    assert not bare.camera.any() and not bare.lamps.any()


def test_one_scene_of_many_is_the_same_scene() -> None:
    scenes = WORLD.sample(5, Key(5))
    alone, among = solids(scenes, 3), solids(scenes)[3]
    for name in vars(among):
        if name != "first":
            np.testing.assert_array_equal(getattr(alone, name), getattr(among, name))


def test_textures_are_drawn_where_scenes_speak_of_them() -> None:
    scenes = WORLD.sample(6, Key(6))
    codes = np.where(scenes.codes["color"] == 255, 255, scenes.codes["color"] % len(TEXTURES)).astype(np.uint8)
    textured = with_values(scenes, "texture", TEXTURES, codes)
    np.testing.assert_array_equal(solids(textured).texture, codes[codes != 255])


@pytest.mark.parametrize(
    ("attribute", "value"), [("shape", "teapot"), ("material", "velvet"), ("color", "ultraviolet")]
)
def test_what_cannot_be_drawn_is_named_with_its_scene_and_object(attribute: str, value: str) -> None:
    scenes = WORLD.sample(3, Key(7))
    codes = np.where(scenes.codes[attribute] == 255, 255, 0).astype(np.uint8)
    codes[2, 1] = 1
    known = {"shape": "cube", "material": "metal", "color": "red"}[attribute]
    with pytest.raises(UserError, match=rf"object 1 of scene 2 has the {attribute} '{value}'.*choose one of") as error:
        solids(with_values(scenes, attribute, (known, value), codes))
    assert ("photo renderer" in str(error.value)) == (attribute == "shape")
