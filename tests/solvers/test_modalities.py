"""Sights: what a learner sees of a scene is what is there, made now or remembered."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor

from recombine.benchmarks.curi.world import CURI_VOCABULARY, CuriWorld
from recombine.render.raytrace import raytrace
from recombine.render.sound import Voicing, sounds
from recombine.render.spectrogram import spectrograms
from recombine.solvers import modalities
from recombine.solvers.kinds import PICTURE
from recombine.solvers.modalities import Modality, Seen
from recombine.solvers.networks.objects import ObjectSets
from recombine.solvers.networks.schema import properties
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import ABSENT, Scenes

SMALL = (36, 24)
ROWS = np.array([3, 0, 3, 4, 1])


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld().sample(6, Key(1))


def looked(modality: Modality, scenes: Scenes, rows: np.ndarray = ROWS) -> Tensor:
    seen = modality.open(scenes)(rows)
    assert isinstance(seen, Tensor)
    return seen


# --- schemas


def by_hand() -> Scenes:
    """A small red metal sphere in the middle and a large gray rubber cube in a corner; a cylinder alone."""

    def codes(*values: int) -> np.ndarray:
        return np.array([[*values[:2], ABSENT], [values[2], ABSENT, ABSENT]], np.uint8)

    named = {"color": (1, 0, 7), "shape": (1, 0, 2), "material": (1, 0, 0), "size": (0, 1, 1)}
    named |= {"locationX": (5, 1, 8), "locationY": (5, 1, 8)}
    pixel = np.array([[[120, 80, 8], [0, 0, 16], [9, 9, 9]], [[240, 160, 4], [9, 9, 9], [9, 9, 9]]], np.float32)
    rotation = np.array([[90, 0, 9], [360, 9, 9]], np.float32)
    columns = {name: codes(*values) for name, values in named.items()}
    extra = {"pixel": pixel, "rotation": rotation}
    return Scenes(CURI_VOCABULARY, np.array([2, 1], np.uint8), columns, np.zeros((2, 3, 3), np.float32), extra)


RED_SPHERE = [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0.5, 0.5, 0.5, 0.25]
GRAY_CUBE = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0]
YELLOW_CYLINDER = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0.25, 1]


def test_a_schema_is_nineteen_numbers_for_each_object() -> None:
    modality = Modality("schema")
    assert modality.shape(by_hand()) == (3, 19)
    seen = modality.open(by_hand())(np.array([0, 1, 0]))
    assert isinstance(seen, ObjectSets) and [group.dtype for group in seen.groups] == [torch.float32] * 2
    alone, pair = (group.tolist() for group in seen.groups)
    assert alone == [[YELLOW_CYLINDER]] and pair == [[RED_SPHERE, GRAY_CUBE]] * 2
    assert not properties(by_hand(), PICTURE)[[0, 1, 1], [2, 1, 2]].any()  # where there is no object


def test_a_schema_says_nothing_of_the_grid_and_of_objects_that_are_not_there() -> None:
    """The columns and rows follow from the picture, and a learner must find them there."""
    scenes = by_hand()
    moved = {name: np.where(codes == ABSENT, codes, 3).astype(np.uint8) for name, codes in scenes.codes.items()}
    kept = {name: scenes.codes[name] for name in ("color", "shape", "material", "size")}
    elsewhere = replace(scenes, codes={**moved, **kept})
    absent = replace(scenes, extra={name: np.where(column == 9, 77, column) for name, column in scenes.extra.items()})
    for other in (elsewhere, absent):
        before, after = (Modality("schema").open(one)(np.arange(2)) for one in (scenes, other))
        assert isinstance(before, ObjectSets) and isinstance(after, ObjectSets)
        assert all(torch.equal(*pair) for pair in zip(before.groups, after.groups))


# --- pictures and sounds


def test_a_picture_is_that_of_the_ray_tracer(scenes: Scenes) -> None:
    modality, pixels = Modality("image", SMALL), raytrace(scenes, *SMALL, ("rgb",)).rgb
    assert pixels is not None and modality.shape(scenes) == (3, 24, 36)
    seen = looked(modality, scenes)
    for channel in range(3):
        assert np.array_equal(np.rint(seen[:, channel].numpy() * 255), pixels[ROWS][..., channel])
    assert 0 <= seen.min() < 0.4 and 0.6 < seen.max() <= 1


def test_a_sound_is_heard_to_a_fifth_of_a_decibel(scenes: Scenes) -> None:
    modality = Modality("sound")
    seen = looked(modality, scenes, np.array([2, 5]))
    assert seen.shape[1:] == modality.shape(scenes) == (201, 601)
    heard = spectrograms(sounds(scenes[np.array([2, 5])], Voicing(1)))
    decibels = (seen.numpy().astype(np.float64) + 1) * 50 - 100
    assert np.abs(decibels - np.clip(heard, -100, 2)).max() < 0.2001
    assert heard.max() > -30 and np.ptp(decibels) > 60


def test_the_grid_is_heard_as_it_is_numbered(scenes: Scenes) -> None:
    """A world that counts its columns and rows from 0 sounds as one that counts from 1."""
    from_zero = replace(scenes, codes={**scenes.codes, **CuriWorld(first_bin=0).locations(scenes)})
    one, zero = (
        looked(Modality("sound", first_bin=first), there, np.array([1]))
        for first, there in ((1, scenes), (0, from_zero))
    )
    assert torch.equal(one, zero)


@pytest.mark.parametrize("modality", [Modality("image", SMALL), Modality("sound")])
def test_what_is_remembered_is_what_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, scenes: Scenes, modality: Modality
) -> None:
    monkeypatch.setattr(modalities, "AT_ONCE", 2)
    remembered = looked(modality, scenes)
    monkeypatch.setattr(modalities, "REMEMBERED", 0)
    sight = modality.open(scenes)
    assert isinstance(sight, Seen) and not len(sight.kept) and torch.equal(remembered, sight(ROWS))


def test_each_picture_is_made_once(scenes: Scenes) -> None:
    made: list[int] = []

    def make(some: Scenes) -> np.ndarray:
        made.extend(some.extra["number"].tolist())
        return some.extra["number"][:, None].repeat(2, axis=1)

    sight = Seen(replace(scenes, extra={"number": np.arange(6)}), (2,), make, lambda seen: seen)
    for rows in (ROWS, np.array([1, 2, 3]), ROWS[::-1]):
        assert sight(rows).tolist() == [[row, row] for row in rows]
    assert sorted(made) == [0, 1, 2, 3, 4]


def test_a_modality_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UserError, match="there is no modality 'smell'; choose one of schema, image, sound"):
        Modality("smell")
