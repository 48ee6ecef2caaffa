"""Views: every one gives cells with features and places; what does not fit is refused in one sentence."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.solvers.networks.cells import CellShape
from recombine.solvers.views import FeatureMaps, Pixels, detections, must_fit, noisy, objects
from recombine.store.errors import UserError
from recombine.store.key import Key

SCENES = ClevrWorld().sample(12, Key(2))


def maps(folder: Path, array: np.ndarray) -> FeatureMaps:
    np.save(folder / "maps.npy", array)
    return FeatureMaps(folder / "maps.npy")


def test_objects_tell_attributes_numbers_and_places() -> None:
    view = objects(SCENES)
    seen = view(np.array([3]))
    count = int(SCENES.count[3])
    assert seen.features.shape == (1, count, view.shape.features) and seen.there is None
    told = seen.features[0].numpy()
    for i, thing in enumerate(SCENES.objects(3)):
        at = 0
        for attribute in SCENES.vocabulary:
            one_hot = told[i, at : at + len(attribute.values)]
            assert attribute.values[one_hot.argmax()] == thing[attribute.name] and one_hot.sum() == 1
            at += len(attribute.values)
        assert told[i, at:].tolist() == np.eye(SCENES.places)[i].tolist()
    assert np.allclose(seen.place[0].numpy(), SCENES.position[3, :count, :2] / 3)


def test_scenes_of_different_sizes_come_with_a_mask() -> None:
    view = objects(SCENES)
    seen = view(np.arange(len(SCENES)))
    assert seen.there is not None
    assert seen.there.sum(dim=1).tolist() == SCENES.count.tolist()
    assert seen.features[~seen.there].abs().max() == 0 and seen.place[~seen.there].abs().max() == 0


def test_noise_is_the_same_every_time_and_leaves_empty_places_empty() -> None:
    plain = objects(SCENES)
    one, again, other = (noisy(plain, 0.1, Key(seed)) for seed in (1, 1, 2))
    assert (one.features == again.features).all() and (one.place == again.place).all()
    assert (one.features != other.features).any() and (one.place != plain.place).any()
    empty = np.arange(SCENES.places) >= SCENES.count[:, None]
    assert not one.features[empty].any() and not one.place[empty].any()
    assert 0.09 < (one.features - plain.features)[~empty].std() < 0.11


def test_certain_detections_are_the_objects() -> None:
    values = {
        a.name: np.eye(len(a.values) + 1)[np.minimum(SCENES.codes[a.name], len(a.values))] for a in SCENES.vocabulary
    }
    seen = detections({name: one[..., :-1] for name, one in values.items()}, SCENES.position[..., :2], SCENES.count)
    assert (seen.features == objects(SCENES).features).all() and seen.shape == objects(SCENES).shape


def test_features_and_pixels_are_grids(tmp_path: Path) -> None:
    array = np.random.default_rng(0).normal(size=(3, 4, 5, 6)).astype(np.float16)
    view = maps(tmp_path, array)
    assert view.shape == CellShape(6, sides=(4, 5)) and view.cells(np.arange(3)).tolist() == [20] * 3
    seen = view(np.array([2, 0]))
    assert seen.features.shape == (2, 20, 6) and seen.place.shape == (2, 20, 2)
    assert np.allclose(seen.features[0].numpy(), array[2].reshape(20, 6))
    assert seen.place[0, 0].tolist() == [-1, -1] and seen.place[0, -1].tolist() == [1, 1]
    drawn = Pixels(SCENES, (32, 24))
    assert drawn(np.array([1])).features.shape == (1, 3, 24, 32) and drawn.shape.grid == (3, 4)


def test_features_of_another_shape_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has the shape \(3, 4, 5\) of float64; .* images x height x width x channels"):
        maps(tmp_path, np.zeros((3, 4, 5)))
    with pytest.raises(UserError, match="of int64"):
        maps(tmp_path, np.zeros((3, 4, 5, 6), np.int64))
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(UserError, match=r"text\.npy is no array that NumPy can map"):
        FeatureMaps(tmp_path / "text.npy")
    with pytest.raises(UserError, match="there are no features in"):
        FeatureMaps(tmp_path / "nowhere.npy")


def test_images_that_are_missing_are_named(tmp_path: Path) -> None:
    view = maps(tmp_path, np.zeros((3, 1, 1, 2), np.float32))
    with pytest.raises(UserError, match=r"image 7, but .*maps\.npy has only the images 0 to 2"):
        view(np.array([1, 7]))
    with pytest.raises(UserError, match="image 12, but the view has only the images 0 to 11"):
        objects(SCENES)(np.array([12]))


def test_a_view_that_a_network_was_not_made_for_is_refused(tmp_path: Path) -> None:
    view = maps(tmp_path, np.zeros((3, 4, 5, 6), np.float32))
    must_fit(view, view.shape, "this view")
    with pytest.raises(
        UserError, match="shows feature maps of 4x5x6, but the network was made for sets of cells with 25"
    ):
        must_fit(view, objects(SCENES).shape, "this view")
