"""Who is left of whom: the fast masks equal the plain lists and those of real scenes."""

import json
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS
from recombine.benchmarks.clevr.relations import all_beyond, beyond, listed, members, plainly_beyond
from recombine.world.scenes import Scenes

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "clevr"
REAL = ("CLEVR_train_scenes_first400.json", "CLEVR_val_scenes_first8.json")


def placed(places: np.ndarray, count: np.ndarray) -> Scenes:
    """Scenes with objects in these places; the rest does not matter."""
    return Scenes(CLEVR_VOCABULARY, count.astype(np.uint8), {}, places.astype(np.float32))


@pytest.mark.parametrize("room", [3, 10, 20])
def test_the_fast_masks_equal_the_plain_lists(room: int) -> None:
    rng = np.random.default_rng(room)
    scenes = placed(rng.uniform(-1, 1, (50, room, 3)), rng.integers(0, room + 1, 50))
    for direction, masks in all_beyond(scenes).items():
        for i, count in enumerate(scenes.count):
            plain = plainly_beyond(scenes.position[i, :count].tolist(), direction)
            assert listed(masks[i], count) == plain
            assert not masks[i, count:].any()


def test_left_and_right_are_each_others_converse() -> None:
    scenes = placed(np.random.default_rng(1).uniform(-3, 3, (20, 10, 3)), np.full(20, 10))
    for one, other in (("left", "right"), ("front", "behind")):
        for i in range(20):
            pairs, converse = (listed(beyond(scenes, way)[i], 10) for way in (one, other))
            assert {(a, b) for a in range(10) for b in pairs[a]} == {(b, a) for a in range(10) for b in converse[a]}


def test_an_object_within_the_margin_is_on_no_side() -> None:
    scenes = placed(np.array([[[0, 0, 0], [0.1, 0.05, 0]]]), np.array([2]))
    assert not any(masks.any() for masks in all_beyond(scenes).values())


def test_members_lists_the_bits() -> None:
    assert members(0) == [] and members(0b1010) == [1, 3]


@pytest.mark.parametrize("name", REAL)
def test_the_relations_of_real_scenes_follow_from_their_places(name: str) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"the real scenes are not in {DATA}")
    for record in json.loads((DATA / name).read_text())["scenes"]:
        places = np.array([thing["3d_coords"] for thing in record["objects"]])
        scene = placed(places[None], np.array([len(places)]))
        for direction in DIRECTIONS:
            said = record["relationships"][direction]
            assert listed(beyond(scene, direction)[0], len(places)) == said == plainly_beyond(places, direction)
