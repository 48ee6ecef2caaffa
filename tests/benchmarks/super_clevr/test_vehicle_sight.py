"""Looking at pictures of vehicles: the parser of the repository, `perceive`, `answer`, and the solvers that use it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.super_clevr import sight
from recombine.benchmarks.super_clevr.exam import examples
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline, SuperClevrScale
from recombine.benchmarks.super_clevr.questions import Asking
from recombine.benchmarks.super_clevr.symbolic import NAMES, ByType, Symbolic
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.render.png import png
from recombine.render.raytrace import raytrace
from recombine.solvers.attribute_training import AttributeLesson, closer_taught
from recombine.solvers.closer import both_ways, logits_of
from recombine.solvers.closeups import KEPT, OFF, beside, closeups, cut_out, places
from recombine.solvers.networks.attribute_net import SIDE, AttributeNet
from recombine.solvers.networks.scene_parser import SceneParser
from recombine.solvers.parser_training import with_closer
from recombine.solvers.perception import Calibration, Parser, Usual
from recombine.solvers.scene_labels import labels_of
from recombine.solvers.scene_parsing import CLOSE, matched
from recombine.solvers.sitting import answered
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from tests.commands import Run

MOST_BYTES = 8 * 2**20
WORLD = VehicleWorld(low=3, high=6)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("image") / "vehicles.png"
    pixels = WORLD.stage.draw(WORLD.sample(1, Key(4)), 320, 240, ("rgb",)).rgb
    assert pixels is not None
    file.write_bytes(png(pixels[0]))
    return file


def test_it_sees_vehicles_in_new_pictures() -> None:
    assert sight.FILE.stat().st_size <= MOST_BYTES
    scenes = WORLD.sample(16, Key(11))
    pictures = WORLD.stage.draw(scenes, 320, 240, ("rgb", "objects"))
    assert pictures.rgb is not None and pictures.objects is not None
    seen = sight.in_order(sight.parser(), sight.vehicle_parser().perceive(pictures.rgb), WORLD)
    pairs = matched(labels_of(scenes, pictures.objects), seen.centre, seen.count, CLOSE)
    assert len(pairs.picture) >= 0.92 * pairs.objects
    assert (seen.strange <= 1).all()
    for name, least in (("size", 0.97), ("color", 0.92), ("shape", 0.85)):
        right = seen.beliefs[name].argmax(axis=-1)[pairs.picture, pairs.said]
        assert (right == scenes.codes[name][pairs.picture, pairs.true]).mean() >= least, name
    assert seen.parts is not None and seen.parts.chance.shape[-1] == len(WORLD.fleet.part_names)


def test_perceive_and_answer_look_at_vehicles(invoke: Run, image: Path) -> None:
    said = json.loads(invoke("perceive", str(image), "--parser", "super-clevr", "--json").out)
    assert said["objects"] and {*sight.READS, "place", "box", "confidence", "parts", "beliefs"} <= {*said["objects"][0]}
    question = ("--question", "How many things are there?")
    found = json.loads(invoke("answer", str(image), "--parser", "super-clevr", *question, "--json").out)
    assert found["answer"] == str(len(said["objects"])) and 0 < found["confidence"] <= 1
    assert invoke("perceive", str(image), "--parser", str(sight.FILE)).code == 0


def test_solids_are_refused_by_the_parser_of_vehicles(invoke: Run, tmp_path: Path) -> None:
    pixels = raytrace(ClevrWorld(low=5).sample(1, Key(3)), 320, 240, ("rgb",)).rgb
    assert pixels is not None
    (tmp_path / "solids.png").write_bytes(png(pixels[0]))
    for words in (["perceive"], ["answer", "--question", "How many cubes are there?"]):
        said = invoke(*words, str(tmp_path / "solids.png"), "--parser", "super-clevr")
        assert said.code == 2 and "does not look like a picture of super-clevr" in said.err.replace("\n", " ")


def test_all_solvers_sit_the_exam(tmp_path: Path) -> None:
    study = SuperClevrPipeline(SuperClevrScale("tiny", 4, 1, 4, 5, 3), 0, Store(tmp_path), asking=Asking(WORLD))
    for kind in ("object", "part"):
        train, test = (
            examples(study.questions(part, kind), study.scenes(part), 0, study.asking) for part in ("train", "test")
        )
        for name in NAMES:
            solver = Symbolic(study.asking, name) if "nsvqa" in name else ByType(study.asking, name).fit(train, Key(0))
            said = answered(solver, test, name)
            np.testing.assert_allclose(said.sum(axis=1), 1)


def test_squares_are_cut_out_around_boxes() -> None:
    pictures = np.zeros((1, 240, 320, 3), np.uint8)
    pictures[0, 100:140, 200:240] = 255
    box = np.array([[40 / 320, -20 / 320, 80 / 320, 20 / 320]], np.float32)
    cut = cut_out(pictures, np.array([0]), box)[0, ..., 0]
    assert cut[32, 32] == 255 and cut[0, 0] == 0 and cut[32, 0] == 0
    assert (cut > 127).mean() == pytest.approx(1 / 1.15**2, abs=0.04)
    np.testing.assert_allclose(places(box)[0], [60 / 320, 0, 40 / 320, 40 / 320], atol=1e-6)


def test_a_picture_in_which_nothing_is_found_has_no_parts() -> None:
    told = AttributeNet(2, (2, 3), 68, (8, 2)).eval()(torch.zeros(0, 3, 64, 64), torch.zeros(0, 4))
    assert told.parts.shape == (0, 68) and [tuple(look.shape) for look in told.looks] == [(0, 68, 8), (0, 68, 2)]


def test_a_closer_look_is_trained_saved_and_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    words = sight.part_words(WORLD)
    size = 160, 120
    lesson = AttributeLesson(
        "super-clevr", WORLD, size, sight.READS, words, pictures=6, held=4, width=2, steps=2, batch=8
    )
    closer = closer_taught(lesson, tmp_path / "run", store, InProcess())
    found = closeups(WORLD, 4, size, lesson.key / "held", store, InProcess(), "")
    assert found.pixels.shape[1:] == (KEPT, KEPT, 3)
    usual = Usual(np.zeros(16, np.float32), np.eye(16, dtype=np.float32), 1.0, 1.0)
    detector = Parser(SceneParser(2, ()), "super-clevr", (), Calibration(), usual)
    pixels = WORLD.stage.draw(WORLD.sample(2, Key(1)), *size, ("rgb",)).rgb
    assert pixels is not None
    made = with_closer(detector, closer, pixels)
    made.save(tmp_path / "parser.safetensors")
    read = Parser.load(tmp_path / "parser.safetensors")
    assert read.names == made.names and read.closer is not None and read.closer.parts == words
    first, second = (one.perceive(pixels) for one in (made, read))
    np.testing.assert_allclose(first.beliefs["shape"], second.beliefs["shape"], atol=0.02)
    told = logits_of(closer.network, np.zeros((3, SIDE, SIDE, 3), np.uint8), np.zeros((3, 4), np.float32))
    assert told.parts.shape == (3, len(words.names)) and told.looks[0].shape == (3, len(words.names), 8)
    longer = replace(lesson, seed=1, begin=tmp_path / "parser.safetensors")
    assert closer_taught(longer, tmp_path / "longer", store, InProcess()).names == closer.names
    with pytest.raises(UserError, match="other things"):
        closer_taught(replace(longer, parts=None), tmp_path / "other", store, InProcess())


def test_a_mirror_image_changes_nothing_but_the_parts() -> None:
    torch.manual_seed(0)
    network = AttributeNet(2, (3,), 4, (2,)).eval()
    cut = Key(5).rng().integers(0, 256, (2, SIDE, SIDE, 3)).astype(np.uint8)
    place = np.array([[0.1, 0.2, 0.1, 0.1], [-0.3, 0.1, 0.2, 0.1]], np.float32)
    there = both_ways(network, cut, place)
    mirrored = both_ways(network, cut[:, :, ::-1], place * np.array([-1, 1, 1, 1], np.float32))
    np.testing.assert_allclose(there.values[0], mirrored.values[0], atol=1e-5)
    assert not np.allclose(there.parts, mirrored.parts)


def test_boxes_that_are_learnt_from_are_a_little_off() -> None:
    box = np.tile(np.array([[-0.1, -0.05, 0.1, 0.05]], np.float32), (500, 1))
    off = beside(box, Key(0)) - box
    assert off.std() == pytest.approx(OFF * 0.2, rel=0.1) and (beside(box, Key(0)) == beside(box, Key(0))).all()
