"""Vehicles of one's own: a folder of models takes the place of ours."""

from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.benchmarks.super_clevr.vehicles import vehicle
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.render.model_files import write_obj
from recombine.store.errors import UserError
from recombine.store.key import Key


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("fleet")
    (found / "farm").mkdir()
    write_obj(vehicle("truck"), found / "farm" / "pickup.obj")
    write_obj(vehicle("biplane"), found / "duster.obj")
    return found


def test_a_world_is_made_of_them(folder: Path) -> None:
    world = VehicleWorld(fleet=Fleet.in_folder(folder), high=4)
    assert world.fleet.categories == (("vehicle", ("duster",)), ("farm", ("pickup",)))
    assert "front bumper" in world.fleet.part_names and world.fleet.raw_parts["duster"] == (
        "wheel_front", "fin", "propeller", "tailplane_left", "tailplane_right", "wing_right", "wing_left"
    )  # fmt: skip
    scenes = world.sample(5, Key(0))
    assert world.contains(scenes).all()
    pictures = world.stage.draw(scenes, 96, 72, ("rgb", "objects", "parts"))
    assert pictures.objects is not None
    for layer, count in zip(pictures.objects, scenes.count):
        assert set(np.unique(layer)) >= {*range(int(count))}


def test_what_is_in_the_folder_decides_not_where_it_is(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    (other / "farm").mkdir(parents=True)
    for file in folder.rglob("*.obj"):
        (other / file.relative_to(folder)).write_bytes(file.read_bytes())
    one, two = (SuperClevr(vehicles=place).study.scenes_recipe("train") for place in (folder, other))
    assert one.digest == two.digest != SuperClevr().study.scenes_recipe("train").digest
    write_obj(vehicle("sedan"), other / "duster.obj")
    assert SuperClevr(vehicles=other).study.scenes_recipe("train").digest != one.digest


def test_a_folder_that_changes_is_noticed(folder: Path, tmp_path: Path) -> None:
    made = Fleet.in_folder(folder)
    write_obj(vehicle("sedan"), tmp_path / "duster.obj")
    with pytest.raises(UserError, match="does not hold the vehicles any more"):
        _ = Fleet(made.categories, str(tmp_path), "another").models


@pytest.mark.parametrize(
    ("file", "groups", "sentence"),
    [
        ("red.obj", "g hood", "'red' .* says something else already"),
        ("cart.obj", "g metal", "'metal' .* says something else already"),
        ("wheel.obj", "g wheel", "'wheel' .* says something else already"),
        ("cart.obj", "", "has no named groups"),
        ("cart.obj", "g wheel_left\nf 1 3 2\ng left_wheel", "'cart' has two parts that are called 'left wheel'"),
    ],
)
def test_names_that_mean_something_else_are_refused(tmp_path: Path, file: str, groups: str, sentence: str) -> None:
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (tmp_path / file).write_text(f"{corners}{groups}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    with pytest.raises(UserError, match=sentence):
        SuperClevr(vehicles=tmp_path)
