"""Laws of the vehicles: boxes as measured, every part there, triangles that a renderer can trust."""

import numpy as np
import pytest

from recombine.benchmarks.super_clevr.vehicles import FACELESS, MEASURED, VEHICLES, vehicle
from recombine.render.instances import Instance, gather
from recombine.render.mesh_visibility import visible_pixels
from recombine.store.errors import UserError

NAMES = [name for names in VEHICLES.values() for name in names]


def test_there_are_twenty_one_of_five_kinds() -> None:
    assert len(VEHICLES) == 5 and len(NAMES) == len({*NAMES}) == 21 and {*NAMES} == {*MEASURED}


@pytest.mark.parametrize("name", NAMES)
def test_a_box_is_as_measured(name: str) -> None:
    points = vehicle(name).points
    np.testing.assert_allclose(np.ptp(points, axis=0), MEASURED[name].box, rtol=0.05)
    assert points[:, 2].min() == pytest.approx(-MEASURED[name].ground, abs=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_every_part_that_has_a_face_is_there(name: str) -> None:
    model = vehicle(name)
    assert model.parts == MEASURED[name].parts
    seen = {model.parts[i] for i in np.unique(model.part) if i >= 0}
    assert {*model.parts} - seen <= {*FACELESS.get(name, ())}


@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_often_seen(name: str) -> None:
    """More than 20 pixels of a large vehicle at 640 x 480, in a quarter of all views, as a part needs to be painted."""
    rng, size, views = np.random.default_rng(0), 3.5, 150
    places, turns = rng.uniform(-3, 3, (views, 2)), rng.uniform(0, 360, views)
    scenes = [
        [Instance(0, name, (x, y, MEASURED[name].ground * size), turn, size)]
        for (x, y), turn in zip(places.tolist(), turns.tolist())
    ]
    jitter = rng.uniform(-0.5, 0.5, (views, 3))
    seen = visible_pixels(gather(scenes, [vehicle(name)], jitter, np.zeros((views, 3, 3))), 640, 480)
    often = dict(zip(MEASURED[name].parts, (seen.parts > 20).mean(axis=0).tolist()))
    rare = {part: share for part, share in often.items() if share < 0.25}
    assert {*rare} == {*FACELESS.get(name, ())}, rare


@pytest.mark.parametrize("name", NAMES)
def test_triangles_are_sound(name: str) -> None:
    model = vehicle(name)
    assert 1_500 <= len(model.triangles) <= 4_500 and np.isfinite(model.points).all()
    assert model.triangles.min() >= 0 and model.triangles.max() < len(model.points)
    np.testing.assert_allclose(np.linalg.norm(model.normals, axis=2), 1, atol=1e-6)
    np.testing.assert_array_equal(np.round(model.points, 5), model.points)
    a, b, c = (model.points[model.triangles[:, i]] for i in range(3))
    facing = np.einsum("ij,ij->i", np.cross(b - a, c - a), model.normals.mean(axis=1))
    assert (facing > 0).mean() > 0.98  # the light sees the side that looks out
    assert ((model.tint > 0) & (model.tint <= 1)).all() and (model.tint < 1).any()


def test_an_unknown_vehicle_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="there is no vehicle 'tank'; choose one of suv"):
        vehicle("tank")
