"""Scene parsing: labels, places on the ground, what is learnt, calibration, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.raytrace import raytrace
from recombine.solvers.eyesight import WIDTH, fitted, heights
from recombine.solvers.networks.fused import fused
from recombine.solvers.networks.scene_parser import SceneParser, peaks
from recombine.solvers.parser_training import Lesson, factor_of, logistic_of, taught
from recombine.solvers.perception import HEIGHT, Parser, ground, unsureness
from recombine.solvers.scene_labels import Labels, labels_of
from recombine.solvers.scene_parsing import augmented, cropped, matched, parse_loss
from recombine.solvers.training.tensors import write_tensors
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.world.camera import Camera
from recombine.world.scenes import Scenes

WORLD = ClevrWorld(low=2, high=4)


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return WORLD.sample(4, Key(1))


@pytest.fixture(scope="module")
def seen(scenes: Scenes) -> tuple[np.ndarray, Labels]:
    pictures = raytrace(scenes, 320, 240, ("rgb", "objects"))
    assert pictures.rgb is not None and pictures.objects is not None
    return pictures.rgb, labels_of(scenes, pictures.objects)


def test_labels_say_where_objects_are_seen(scenes: Scenes, seen: tuple[np.ndarray, Labels]) -> None:
    labels = seen[1]
    for i in range(len(scenes)):
        for k in range(int(scenes.count[i])):
            pixel = labels.centre[i, k] * 320 + (160, 120)
            np.testing.assert_allclose(pixel, scenes.extra["pixel"][i, k, :2], atol=0.01)
            left, top, right, bottom = labels.box[i, k]
            assert left < right and top < bottom


def test_the_ground_is_where_the_camera_sees_it() -> None:
    camera = Camera(48, 36)
    places = Key(2).rng().uniform(-3, 3, (20, 2))
    px, py, _ = camera.project(np.column_stack([places, np.full(20, HEIGHT)]), np.zeros(3))
    found = ground(torch.from_numpy(np.stack([px, py], axis=1)), 36, 48)
    np.testing.assert_allclose(found.numpy(), places, atol=1e-9)


def test_a_step_of_learning_lowers_the_loss(seen: tuple[np.ndarray, Labels]) -> None:
    torch.manual_seed(0)
    network = SceneParser(4, (2, 8, 2, 3))
    pictures = augmented(torch.from_numpy(fitted(seen[0])))
    optimiser = torch.optim.Adam(network.parameters(), 5e-3)
    lost = []
    for _ in range(8):
        optimiser.zero_grad()
        torch.manual_seed(1)
        loss = parse_loss(network, pictures, seen[1])
        loss.backward()
        optimiser.step()
        lost.append(loss.item())
    assert lost[-1] < lost[0] / 2


def test_objects_outside_of_a_crop_are_not_asked_for(seen: tuple[np.ndarray, Labels]) -> None:
    pictures = cropped(augmented(torch.from_numpy(fitted(seen[0]))), heights(WIDTH)[0])
    away = seen[1]._replace(centre=seen[1].centre + np.float32(5))
    network = SceneParser(4, (2, 8, 2, 3))
    assert pictures.shape == (4, 3, heights(WIDTH)[0], WIDTH)
    assert torch.isfinite(parse_loss(network, pictures, seen[1]))
    nothing = seen[1]._replace(count=np.zeros(4, np.uint8))
    assert parse_loss(network, pictures, away).item() == parse_loss(network, pictures, nothing).item()


def test_peaks_are_hotter_than_what_is_around_them() -> None:
    heat = torch.zeros(1, 6, 6)
    heat[0, 2, 3], heat[0, 2, 4], heat[0, 5, 0] = 3.0, 2.0, 1.0
    found, row, column = peaks(heat, 2)
    assert list(zip(row[0].tolist(), column[0].tolist())) == [(2, 3), (5, 0)]
    assert found[0].tolist() == [3.0, 1.0]


def test_a_fused_network_says_the_same() -> None:
    torch.manual_seed(0)
    network = SceneParser(2, (3,)).train()
    pictures = torch.rand(2, 3, 24, 32)
    network(pictures)  # its batch norms have seen something
    fast, slow = fused(network), network.eval()
    assert len([*fast.named_buffers()]) < len([*slow.named_buffers()])
    with torch.no_grad():
        for one, other in zip(fast(pictures), slow(pictures)):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_centres_are_matched_closest_first_and_once() -> None:
    labels = Labels(
        np.array([2], np.uint8),
        np.array([[[0.0, 0.0], [0.1, 0.0]]], np.float32),
        *(np.zeros((1, 2, size)) for size in (4, 2, 4)),
    )
    said = np.array([[[0.02, 0.0], [0.09, 0.0], [0.5, 0.5]]])
    found = matched(labels, said, np.array([3]), 0.05)
    assert sorted(zip(found.true.tolist(), found.said.tolist())) == [(0, 0), (1, 1)]
    assert (found.objects, found.perceived) == (2, 3)


def test_calibration_finds_the_temperature_that_was_there() -> None:
    rng = Key(3).rng()
    logits = rng.normal(size=(20_000, 4))
    chance = np.exp(2 * logits) / np.exp(2 * logits).sum(axis=1, keepdims=True)
    truth = (rng.random((20_000, 1)) > chance.cumsum(axis=1)).sum(axis=1)
    assert factor_of(logits, truth) == pytest.approx(2, rel=0.1)
    sure = rng.random(20_000)
    odds = 3 * np.log(sure / (1 - sure)) - 1
    factor, summand = logistic_of(sure, rng.random(20_000) < 1 / (1 + np.exp(-odds)))
    assert (factor, summand) == pytest.approx((3, -1), rel=0.15)


def test_unsureness_is_about_the_least_sure_value() -> None:
    beliefs = {"a": np.array([[[0.9, 0.1], [0.5, 0.5]]]), "b": np.array([[[0.6, 0.4], [1.0, 0.0]]])}
    assert unsureness(np.array([2]), beliefs).tolist() == pytest.approx([0.9 / 4])
    assert unsureness(np.array([0]), beliefs).tolist() == [0.0]


@pytest.mark.parametrize(("size", "said"), [((200, 320), "wrong shape"), ((50, 75), "too small")])
def test_pictures_that_do_not_fit_are_refused(size: tuple[int, int], said: str) -> None:
    with pytest.raises(UserError, match=said):
        fitted(np.zeros((1, *size, 3), np.uint8))


def test_a_parser_is_trained_saved_and_read(tmp_path: Path, scenes: Scenes, seen: tuple[np.ndarray, Labels]) -> None:
    lesson = Lesson("clevr", WORLD, (160, 120), pictures=20, width=2, steps=1, held_back=10)
    parser = taught(lesson, tmp_path / "run", Store(tmp_path / "store"), InProcess())
    again = taught(lesson, tmp_path / "run", Store(tmp_path / "store"), InProcess())
    parser.save(tmp_path / "parser.safetensors")
    read = Parser.load(tmp_path / "parser.safetensors")
    first, second, third = (one.perceive(seen[0]) for one in (parser, again, read))
    np.testing.assert_array_equal(first.sure, second.sure)
    np.testing.assert_allclose(first.sure, third.sure, atol=0.02)
    assert read.names == parser.names and read.world == "clevr"
    assert replace(read.calibration) == parser.calibration


def test_a_file_that_is_no_parser_is_refused(tmp_path: Path) -> None:
    write_tensors(tmp_path / "other.safetensors", {"x": torch.zeros(1)}, {})
    with pytest.raises(UserError, match="no scene parser"):
        Parser.load(tmp_path / "other.safetensors")
    write_tensors(tmp_path / "odd.safetensors", {"x": torch.zeros(1)}, {"parser": '{"format": 9}'})
    with pytest.raises(UserError, match="another version"):
        Parser.load(tmp_path / "odd.safetensors")
