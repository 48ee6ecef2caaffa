"""Questions about vehicles and parts: all families, balanced, shuffled; the study, its files and its pictures."""

import json
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import recombine as rc
from recombine.benchmarks.clevr.questions import balance
from recombine.benchmarks.super_clevr.meaning import Plainly, parts_of
from recombine.benchmarks.super_clevr.objects import scene_picture
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline, SuperClevrScale
from recombine.benchmarks.super_clevr.questions import KINDS, Asking, look_at_parts
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.render.masks import decode
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from tests.commands import Run, refused

SCALE = SuperClevrScale("tiny", 40, 12, 12)
ASKING = Asking()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SuperClevr]:
    with SuperClevr(SCALE, 3, store=Store(tmp_path_factory.mktemp("store"))) as made:
        yield made


def test_things_are_looked_at_as_they_are() -> None:
    scenes = ASKING.world.sample(12, Key(1))
    looked, parts, k = look_at_parts(scenes, ASKING.dialect), parts_of(scenes), scenes.places
    for row in range(12):
        plain = Plainly.of(scenes, row, ASKING.dialect)
        assert int(parts.count[row]) == len(plain.parts) == looked.spans[row, 1, 1]
        for number in range(len(plain.objects)):
            mask = int(looked.links[row, 0, number]) >> k
            assert {i for i in range(30) if mask >> i & 1} == plain.object2part(number)
        for number, part in enumerate(plain.parts):
            assert int(looked.links[row, 2, k + number]) == 1 << int(part["owner"])
            names = ASKING.dialect.sorts[1].vocabulary["partname"].values
            assert names[parts.codes["partname"][row, number]] == part["partname"]


def test_every_family_makes_questions_and_families_are_shuffled() -> None:
    scenes = ASKING.world.sample(60, Key(2))
    for kind in KINDS:
        found = ASKING.find(scenes, kind, 16, Key(3))
        families = ASKING.families(kind)
        assert {*found.family.tolist()} == {*range(len(families))}
        firsts = [int(found.family[np.flatnonzero(found.scene == row)[0]]) for row in range(60)]
        assert len({*firsts}) > (5 if kind == "part" else 30)
        chosen = found.rows(balance(found, 10))
        assert (np.bincount(chosen.scene, minlength=60) == 10).all()


def test_part_questions_keep_their_rules() -> None:
    scenes = ASKING.world.sample(40, Key(7))
    found = ASKING.find(scenes, "part", 9, Key(8))
    families = ASKING.families("part")
    for f, program in zip(found.family.tolist(), ASKING.programs(found, families)):
        text = repr(program)
        assert "partfilter[size" not in text
        asked = families[f].shape.head.index[0]
        if f < 3 or f >= 6:
            outer = text.split("object2part")[0]
            assert f"partfilter[{asked}" not in outer
        else:
            assert f"filter[{asked}" not in text.split("objects2parts")[1]
        if f >= 6:
            assert "objects2parts(scene)" in text


def test_questions_about_objects_are_those_of_every_complexity() -> None:
    tables = []
    for complexity in ("easy", "mid", "hard"):
        asking = replace(ASKING, world=replace(ASKING.world, complexity=complexity))
        scenes = asking.world.sample(8, Key(5))
        found = asking.find(scenes, "object", 10, Key(6))
        tables.append(asking.table(found, asking.families("object"), scenes, 0, 0, Key(7)))
    assert tables[0].equals(tables[1]) and tables[1].equals(tables[2])


def test_a_study_asks_ten_and_ten(study: SuperClevr) -> None:
    for kind in KINDS:
        table = study.study.questions("train", kind)
        assert Counter(table["image_index"].to_pylist()) == dict.fromkeys(range(40), 10)
        assert len({(i, q) for i, q in zip(table["image_index"].to_pylist(), table["question"].to_pylist())}) > 395


def test_the_same_bytes_for_any_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that was sent elsewhere, and done from the last shard to the first."""

    class Elsewhere(InProcess):
        def map(self, work: Any, shards: Any, label: str) -> list[Any]:
            return super().map(pickle.loads(pickle.dumps(work)), [*reversed(shards)], label)

    monkeypatch.setattr(SuperClevrPipeline, "shard", 8)
    small = SuperClevrScale("few", 16, 4, 4, 3, 3)
    one = SuperClevrPipeline(small, 1, Store(tmp_path / "a"))
    again = SuperClevrPipeline(small, 1, Store(tmp_path / "b"), Elsewhere())
    for kind in KINDS:
        here, there = (study.questions_folder("train", kind) for study in (one, again))
        files = sorted(file.name for file in here.glob("*.parquet"))
        assert len(files) == 2
        assert all((here / name).read_bytes() == (there / name).read_bytes() for name in files)


def test_questions_are_objects(study: SuperClevr) -> None:
    question = study.questions("part/7", "train")[0]
    assert question.text.startswith("What is the name of the ") and "belongs to the same object" in question.text
    assert question.scene.pixels(64, 48).shape == (48, 64, 3)
    view = study.show("part/7", 0, "train", pictures=True)
    assert view.picture is not None and len(view.picture.masks) == len(view.objects) + len(view.parts)
    lit = [step for step in view.steps if step.sort == "parts"]
    assert lit and "clipPath" in view.html()
    assert json.dumps(view.json())
    easy = SuperClevr(SCALE, 3, complexity="easy", store=study.store)
    with pytest.raises(UserError, match="no questions about parts in this world"):
        easy.questions("part")


def test_masks_of_pictures_are_those_of_parts() -> None:
    scenes = ASKING.world.sample(1, Key(9))
    shown = scene_picture(ASKING, scenes, (160, 120))
    assert len(shown.masks) == int(scenes.count[0]) + int(parts_of(scenes).count[0])
    assert len(shown.middles) == int(scenes.count[0])


def test_the_gap_is_zero_where_nothing_is_held_out(study: SuperClevr) -> None:
    for trial in study.gap(["object", "part"]).trials:
        assert trial.gap.strong.value == trial.gap.weak.value == 100


def test_official_files_come_back(study: SuperClevr, tmp_path: Path) -> None:
    folder = study.make(tmp_path / "json", format="json")
    for middle in ("_", "_part_"):
        table, fine = study.check(
            scenes=[folder / "superCLEVR_val_scenes.json"], questions=folder / f"superCLEVR_val{middle}questions.json"
        )
        assert fine, table
    record = json.loads((folder / "superCLEVR_val_part_questions.json").read_text())["questions"][0]
    assert record["template_filename"] == "part.json" and record["image_index"] >= 40
    assert {"type", "inputs", "value_inputs"} == {*record["program"][0]}


@pytest.mark.parametrize(("family", "folder"), [("one_hop", "questions"), ("part/3", "part_questions")])
def test_so_many_questions_of_one_family(study: SuperClevr, tmp_path: Path, family: str, folder: str) -> None:
    made = study.make(tmp_path / "some", family=family, questions=7, render="images", size="32x24")
    assert not {"questions", "part_questions"} - {folder} & {one.name for one in made.iterdir()}
    for part, scenes in (("train", 40), ("val", 12), ("test", 12)):
        rows = pq.read_table(made / folder / part).to_pylist()
        assert len(rows) == 7 and all(0 <= row["image_index"] < scenes for row in rows)
        kind, families = ASKING.named(family)
        assert {row["question_family_index"] for row in rows} <= {one.index for one in families}
        drawn = pq.read_table(made / "images" / part, columns=["scene"])["scene"].to_pylist()
        assert sorted(drawn) == sorted({row["image_index"] for row in rows})
    official = study.make(tmp_path / "json", family=family, questions=7, format="json")
    middle = "_" if kind == "object" else "_part_"
    assert len(json.loads((official / f"superCLEVR_val{middle}questions.json").read_text())["questions"]) == 7


def test_images_have_the_masks_of_parts(study: SuperClevr, tmp_path: Path) -> None:
    folder = study.make(tmp_path / "drawn", render="images", size="160x120", first=3)
    row = pq.read_table(folder / "images" / "val").to_pylist()[0]
    scenes = study.scenes("val")[:1]
    seen = study.world.stage.draw(scenes, 160, 120, ("objects", "parts"))
    assert len(row["part"]) == len(row["part_masks"]) > 3
    for owner, name, box, visible, runs in zip(
        row["part_object"], row["part"], row["part_boxes"], row["part_visible"], row["part_masks"]
    ):
        place = study.world.fleet.parts[scenes.objects(0)[owner]["shape"]].index(name)
        mask = (seen.objects[0] == owner) & (seen.parts[0] == place)
        np.testing.assert_array_equal(decode(np.array(runs), 160, 120), mask)
        assert visible == mask.sum() and box[2] <= 160
    again = rc.render_dataset(folder, tmp_path / "again", "images")
    assert pq.read_table(again / "images" / "val")["image"][0] is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "super-clevr/six_hop"), "Super-CLEVR has no family 'six_hop'"),
        (("show", "super-clevr/part/9"), "Super-CLEVR has no family 'part/9'"),
        (("make", "super-clevr", "--complexity", "odd"), "there is no complexity 'odd'"),
        (("make", "super-clevr", "--edition", "odd"), "there is no edition 'odd'"),
        (("make", "super-clevr", "--family", "six_hop"), "there is no family 'six_hop'"),
        (("make", "super-clevr", "--questions", "5"), "questions is for family"),
        (("make", "super-clevr", "--family", "one_hop", "--factor", "visual"), "leave family out, or factor"),
        (("check", "super-clevr", "--scenes", "nowhere.json"), "belong together"),
    ],
)
def test_mistakes_are_one_sentence(invoke: Run, words: tuple[str, ...], message: str) -> None:
    refused(invoke(*words), message)


@pytest.mark.full
def test_two_workers_make_the_bytes_of_one(tmp_path: Path) -> None:
    scale = SuperClevrScale("two shards", 1_200, 4, 4)
    made = []
    for workers in (1, 2):
        with SuperClevr(scale, 1, workers=workers, store=Store(tmp_path / str(workers))) as study:
            made.append([study.study.scenes_folder("train"), study.study.questions_folder("train", "part")])
    for one, two in zip(*made):
        names = sorted(file.name for file in one.glob("*.parquet"))
        assert len(names) == 2 and all((one / name).read_bytes() == (two / name).read_bytes() for name in names)
