"""Looking at pictures: the parser of the repository, `recombine perceive` and `recombine answer`."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from recombine.benchmarks.clevr import sight
from recombine.benchmarks.clevr.formats import read_scenes
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.render.png import png, read_png
from recombine.render.raytrace import raytrace
from recombine.solvers.networks.scene_parser import SceneParser
from recombine.solvers.perception import Calibration, Parser
from recombine.solvers.scene_labels import labels_of
from recombine.solvers.scene_parsing import CLOSE, matched
from recombine.store.key import Key
from tests.commands import Run

DATA = Path(__file__).parents[2].parent / "shared" / "data"
MOST_BYTES = 8 * 2**20


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("image") / "scene.png"
    pixels = raytrace(ClevrWorld(low=4, high=4).sample(1, Key(3)), 320, 240, ("rgb",)).rgb
    assert pixels is not None
    file.write_bytes(png(pixels[0]))
    return file


@pytest.mark.parametrize("size", [(320, 240), (480, 320)])
def test_it_sees_what_stands_in_new_pictures(size: tuple[int, int]) -> None:
    assert sight.FILE.stat().st_size <= MOST_BYTES
    scenes = ClevrWorld().sample(24, Key(11))
    pictures = raytrace(scenes, *size, ("rgb", "objects"))
    assert pictures.rgb is not None and pictures.objects is not None
    parser = sight.parser()
    seen = sight.in_order(parser, parser.perceive(pictures.rgb))
    pairs = matched(labels_of(scenes, pictures.objects), seen.centre, seen.count, CLOSE)
    assert len(pairs.picture) >= 0.97 * pairs.objects
    assert pairs.perceived <= 1.03 * len(pairs.picture)
    said = sight.likeliest(seen)
    for name in said.codes:
        right = said.codes[name][pairs.picture, pairs.said] == scenes.codes[name][pairs.picture, pairs.true]
        assert right.mean() >= 0.95, name
    off = np.abs(said.position[pairs.picture, pairs.said, :2] - scenes.position[pairs.picture, pairs.true, :2])
    assert off.mean() < 0.2
    assert (seen.strange <= 1).all()


def test_relations_of_true_places_are_those_of_the_benchmark() -> None:
    scenes = ClevrWorld().sample(50, Key(12))
    for way, masks in all_beyond(scenes).items():
        np.testing.assert_array_equal(sight.related(scenes)[way], masks)


@pytest.mark.skipif(not (DATA / "clevr" / "images").exists(), reason="needs real images of CLEVR")
def test_it_sees_nine_of_ten_objects_of_real_images() -> None:
    found = there = 0
    for part, name in (("train", "CLEVR_train_scenes_first400.json"), ("val", "CLEVR_val_scenes_first8.json")):
        file = read_scenes(DATA / "clevr" / name)
        for image in sorted((DATA / "clevr" / "images").glob(f"CLEVR_{part}_*.png")):
            row = file.image_filename.index(image.name)
            seen = sight.look(image)
            n, pixel = int(file.scenes.count[row]), file.scenes.extra["pixel"]
            said = [one["pixel"] for one in seen.objects()]
            far = np.linalg.norm(pixel[row, :n, None, :2] - np.array(said)[None], axis=-1)
            found, there = found + int((far.min(axis=1) < 15).sum()), there + n
    assert found >= 0.9 * there


def test_perceive_lists_the_objects(invoke: Run, image: Path) -> None:
    said = json.loads(invoke("perceive", str(image), "--json").out)
    assert said["size"] == [320, 240]
    assert len(said["objects"]) == 4
    for one in said["objects"]:
        assert {"size", "color", "material", "shape", "place", "pixel", "box", "confidence", "beliefs"} <= {*one}
        assert sum(one["beliefs"]["color"].values()) == pytest.approx(1, abs=0.01)
    shown = invoke("perceive", str(image))
    assert "4 objects" in shown.out and shown.code == 0


def test_answer_reads_looks_and_answers(invoke: Run, image: Path) -> None:
    found = json.loads(invoke("answer", str(image), "--question", "How many things are there?", "--json").out)
    assert found["answer"] == "4"
    assert [step["function"] for step in found["program"]] == ["scene", "count"]
    assert found["trace"][-1] == "how many: 4"
    assert "Answer: 4" in invoke("answer", str(image), "--question", "How many things are there?").out


def test_what_cannot_be_answered_says_why(invoke: Run, image: Path) -> None:
    said = invoke("answer", str(image), "--question", "What color is the thing?")
    assert said.code == 2 and "has no answer" in said.err and "there are 4" in said.err
    said = invoke("answer", str(image), "--question", "Why is the sky blue?")
    assert said.code == 2


def test_bad_pictures_are_refused_in_a_sentence(invoke: Run, image: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "damaged.png").write_bytes(image.read_bytes()[:2_000])
    (tmp_path / "text.png").write_text("a picture")
    (tmp_path / "square.png").write_bytes(png(np.full((200, 200, 3), 128, np.uint8)))
    (tmp_path / "tiny.png").write_bytes(png(np.full((20, 30, 3), 128, np.uint8)))
    (tmp_path / "black.png").write_bytes(png(np.zeros((240, 320, 3), np.uint8)))
    noise = Key(0).rng().integers(0, 256, (240, 320, 3)).astype(np.uint8)
    (tmp_path / "noise.png").write_bytes(png(noise))
    for name in ("empty", "damaged", "text", "square", "tiny", "black", "noise", "missing"):
        said = invoke("perceive", str(tmp_path / f"{name}.png"))
        assert said.code == 2 and f"{name}.png" in said.err.replace("\n", ""), name
        assert "Traceback" not in said.err


def test_a_parser_of_another_world_is_refused(invoke: Run, image: Path, tmp_path: Path) -> None:
    file = tmp_path / "vehicles.safetensors"
    names = (("shape", ("jet", "bus")), ("color", ("red", "blue")))
    torch.manual_seed(0)
    Parser(SceneParser(2, (2, 2)), "vehicles", names, Calibration(values=(1.0, 1.0))).save(file)
    said = invoke("perceive", str(image), "--parser", str(file))
    assert said.code == 2 and "a parser for vehicles" in said.err.replace("\n", " ")
    assert invoke("perceive", str(image), "--parser", str(tmp_path / "none.safetensors")).code == 2


def test_the_png_that_is_looked_at_may_be_a_user_s_own_size(image: Path, tmp_path: Path) -> None:
    larger = np.repeat(np.repeat(read_png(image), 2, axis=0), 2, axis=1)
    (tmp_path / "large.png").write_bytes(png(larger))
    words = [
        sorted(f"{one['size']} {one['color']} {one['shape']}" for one in sight.look(file).objects())
        for file in (image, tmp_path / "large.png")
    ]
    assert words[0] == words[1]


def test_vehicles_are_refused_by_the_parser_of_solids(invoke: Run, tmp_path: Path) -> None:
    world = VehicleWorld()
    pixels = world.stage.draw(world.sample(8, Key(5)), 320, 240, ("rgb",)).rgb
    assert pixels is not None and (sight.parser().perceive(pixels).strange > 1).all()
    (tmp_path / "vehicles.png").write_bytes(png(pixels[0]))
    for words in (["perceive"], ["answer", "--question", "How many buses are there?"]):
        said = invoke(*words, str(tmp_path / "vehicles.png"))
        assert said.code == 2 and "does not look like a picture of clevr" in said.err.replace("\n", " ")


@pytest.mark.skipif(not (DATA / "super-clevr" / "images").exists(), reason="needs real images of Super-CLEVR")
def test_real_vehicles_are_refused_and_real_solids_are_not() -> None:
    for folder, refused in (("super-clevr", True), ("clevr", False)):
        for image in sorted((DATA / folder / "images").glob("*.png")):
            assert (sight.parser().perceive(read_png(image)[None]).strange[0] > 1) == refused, image.name
