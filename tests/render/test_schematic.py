"""Laws of the drawings of scenes."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from recombine.render.schematic import (
    CAMERA,
    MATERIALS,
    RGB,
    SHAPES,
    SIZES,
    Camera,
    Drawable,
    cards,
    draw,
    drawable,
    perspective,
    phrases,
    top_down,
)
from recombine.store.errors import UserError

SVG = "{http://www.w3.org/2000/svg}"
CUBE = {"color": "red", "shape": "cube", "material": "metal", "size": "0.7", "position": (1, 2, 0.7), "rotation": 20}
BALL = {"color": "cyan", "shape": "sphere", "material": "rubber", "size": "small", "pixel": (100, 85, 11.0)}

coordinates = some.floats(-3, 3)
objects = some.fixed_dictionaries(
    {
        "color": some.sampled_from(sorted(RGB)),
        "shape": some.sampled_from(SHAPES),
        "material": some.sampled_from(MATERIALS),
        "size": some.sampled_from(sorted(SIZES)),
        "position": some.tuples(coordinates, coordinates, some.just(0.7)),
        "rotation": some.floats(0, 360),
    }
)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def solids(svg: str) -> list[str]:
    """The names of the drawn objects, from the first drawn to the last."""
    return [group.findtext(f"{SVG}title", "") for group in parsed(svg).iter(f"{SVG}g")]


@given(some.lists(objects, max_size=5))
def test_every_view_is_valid_and_shows_every_object(scene: list[Drawable]) -> None:
    for svg in (perspective(scene), perspective(scene, bins=True), top_down(scene), top_down(scene, bins=True)):
        assert parsed(svg).get("role") == "img"
        assert len(solids(svg)) == len(scene)


@given(some.lists(objects, min_size=1, max_size=5))
def test_references_meet_definitions(scene: list[Drawable]) -> None:
    for svg in (perspective(scene), top_down(scene)):
        defined = re.findall(r' id="([^"]+)"', svg)
        assert len(defined) == len(set(defined))
        assert set(defined) == set(re.findall(r"url\(#([^)]+)\)", svg))


def test_ids_differ_between_scenes_and_follow_the_prefix() -> None:
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (perspective([CUBE]), perspective([CUBE, BALL]))]
    assert not ids[0] & ids[1]
    assert all(name.startswith("mine-") for name in re.findall(r' id="([^"]+)"', perspective([CUBE], prefix="mine")))


def test_near_objects_are_drawn_last() -> None:
    far, near = BALL | {"pixel": (100, 60, 14.0)}, BALL | {"color": "gray", "pixel": (100, 70, 8.0)}
    assert solids(perspective([near, far])) == ["small cyan rubber sphere", "small gray rubber sphere"]


def test_the_image_and_the_world_agree() -> None:
    """The pixel that the camera gives to a position leads back to the same drawing."""
    view = Camera(CAMERA, 240, 160)
    centre = view.axes @ (np.array(CUBE["position"]) - CAMERA)
    pixel = (*view.image(centre, (0, 0, 0)), centre[2])
    by_pixel, by_position = perspective([CUBE | {"pixel": pixel}], prefix="a"), perspective([CUBE], prefix="a")
    assert by_pixel == by_position


def test_a_sphere_is_as_large_as_its_depth_says() -> None:
    circle = next(parsed(perspective([BALL])).iter(f"{SVG}circle"))
    assert (circle.get("cx"), circle.get("cy")) == ("100", "85")
    assert float(circle.get("r", 0)) == pytest.approx(0.35 * 35 / 32 * 240 / 11, abs=0.06)


def test_numpy_places_are_places() -> None:
    assert perspective([BALL | {"pixel": np.array([100, 85, 11.0])}], prefix="a") == perspective([BALL], prefix="a")


def test_phrases_name_the_location_bin() -> None:
    assert phrases([BALL, CUBE]) == ("small cyan rubber sphere at (3,4)", "large red metal cube")


def test_other_worlds_are_drawn_as_cards() -> None:
    scene = [{"kind": "suv", "color": "red"}, {"kind": "<bus & co>"}]
    assert not drawable(scene)
    assert draw(scene) == cards(scene, 240, 160)
    assert solids(cards(scene)) == ["suv red", "<bus & co>"]
    with pytest.raises(UserError, match="use cards"):
        perspective(scene)


def test_a_long_card_is_cut_but_keeps_its_name() -> None:
    name = "a thing with a name that is much longer than the drawing is wide"
    svg = cards([{"kind": name}])
    assert solids(svg) == [name]
    assert "…" in svg


def test_a_floor_plan_needs_positions() -> None:
    with pytest.raises(UserError, match="has no position"):
        top_down([BALL])
