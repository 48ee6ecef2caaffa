"""What is made opens right in other people's hands: Hugging Face `datasets` and Croissant, for every benchmark."""

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from recombine import Clevr, Closure, ConceptWorld, Curi, SuperClevr, render_dataset
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.shapes import shape_of
from recombine.benchmarks.closure.pipeline import ClosureScale
from recombine.benchmarks.concept_world import pipeline as of_concept_world
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.store.cards import CROISSANT, README, configs_of, is_signed
from recombine.store.errors import UserError
from recombine.store.store import Store

datasets = pytest.importorskip("datasets")
mlcroissant = pytest.importorskip("mlcroissant")
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, not ours
FEW = ClosureScale("few", 40, 60, 20, 4, (36, 36, 36))
LOOK: dict[str, Any] = {"render": "images", "size": "24x16", "first": 5}


@pytest.fixture(scope="module")
def folders(tiny: Curi, own_home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What every benchmark makes, with and without pictures."""
    place, store = tmp_path_factory.mktemp("made"), Store(own_home)
    vehicles = SuperClevr(SuperClevrScale("few", 3, 2, 2, 2, 2), store=store)
    few = ClevrScale(*(getattr(FEW, name) for name in ("name", "train", "val", "test", "questions")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(of_concept_world.SHARES, "demo", 0.02)
        some = ["boolean", "counting"]
        return {
            "curi": tiny.make(place / "curi", some),
            "curi-seen": tiny.make(place / "curi-seen", some, negatives="both", **{**LOOK, "render": "images,sounds"}),
            "clevr": Clevr(few, store=store).make(place / "clevr"),
            "clevr-seen": Clevr(few, store=store).make(place / "clevr-seen", **LOOK),
            "clevr-json": Clevr(few, store=store).make(place / "clevr-json", format="json"),
            "closure": Closure(FEW, store=store).make(place / "closure"),
            "closure-seen": Closure(FEW, store=store).make(place / "closure-seen", ["or_mat"], **LOOK),
            "rows-closure": Closure(FEW, store=store).export(
                place / "rows-closure", ["or_mat"], first=4, render="images", size="24x16"
            ),
            "concept-world": ConceptWorld("demo", store=store).make(place / "concept-world"),
            "super-clevr": vehicles.make(place / "super-clevr"),
            "super-clevr-seen": vehicles.make(place / "super-clevr-seen", **{**LOOK, "first": 2}),
            "super-clevr-json": vehicles.make(place / "super-clevr-json", format="json"),
            "super-clevr-jsonl": vehicles.make(place / "super-clevr-jsonl", format="jsonl"),
            "rows-vehicles": vehicles.export(place / "rows-vehicles", first=2, render="images", size="24x16"),
            "rows": tiny.export(place / "rows", some, first=4, render="images", size="24x16"),
            "rows-jsonl": tiny.export(place / "rows-jsonl", some, first=4, render="words", format="jsonl"),
            "rendered": render_dataset(tiny.make(place / "plain", some), place / "rendered", "images"),
        }


NAMES = (
    "curi",
    "curi-seen",
    "clevr",
    "clevr-seen",
    "clevr-json",
    "closure",
    "closure-seen",
    "concept-world",
    "super-clevr",
    "super-clevr-seen",
    "super-clevr-json",
    "super-clevr-jsonl",
    "rows-vehicles",
    "rows-closure",
    "rows",
    "rows-jsonl",
    "rendered",
)
DEFAULT = {
    "curi": "boolean-hard",
    "curi-seen": "boolean-hard",
    "clevr": "questions",
    "clevr-seen": "questions",
    "clevr-json": "questions",
    "closure": "closure-or_mat",
    "closure-seen": "closure-or_mat",
    "concept-world": "boxworld",
    "super-clevr": "questions",
    "super-clevr-seen": "questions",
    "super-clevr-json": "questions",
    "super-clevr-jsonl": "questions",
    "rows-vehicles": "object",
    "rows-closure": "or_mat-closure",
    "rows": "boolean-hard",
    "rows-jsonl": "boolean-hard",
    "rendered": "images",
}


def opened(folder: Path, config: str | None = None) -> Any:
    datasets.disable_progress_bars()
    return datasets.load_dataset(str(folder), config, cache_dir=str(folder.with_name("cache")))


@pytest.mark.parametrize("name", NAMES)
def test_every_config_opens_with_its_rows(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    configs = configs_of(folder)
    assert datasets.get_dataset_config_names(str(folder)) == [config.name for config in configs]
    for config in configs:
        found = opened(folder, config.name)
        assert {*found} == {*config.files}
        for split, files in config.files.items():
            if config.suffix == ".parquet":
                assert len(found[split]) == sum(pq.read_metadata(folder / file).num_rows for file in files) > 0
            assert len(found[split])
    whole = opened(folder)
    assert {name: len(one) for name, one in whole.items()} == {
        name: len(one) for name, one in opened(folder, DEFAULT[name]).items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_no_file_belongs_to_two_configs_and_none_is_forgotten(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    configs = configs_of(folder)
    files = [file for config in configs for some in config.files.values() for file in some]
    data = {str(f.relative_to(folder)) for f in folder.rglob(f"*{configs[0].suffix}")} - {CROISSANT, "recipe.json"}
    assert len(files) == len({*files}) and {*files} == data
    for config in configs:
        for split, patterns in config.patterns().items():
            reached = {str(f.relative_to(folder)) for one in patterns for f in folder.glob(one)}
            assert reached == {*config.files[split]}


def test_a_config_is_one_split_and_leaks_nothing(folders: dict[str, Path], tiny: Curi) -> None:
    """A concept that one split trains on may be another's test; within a config none is both."""
    sides = {}
    for split in ("boolean", "counting"):
        found = opened(folders["curi"], f"{split}-hard")
        assert {word for part in found.values() for word in part["split"]} == {split}
        sides[split] = {part: {*found[part]["concept"]} for part in found}
        assert not sides[split]["train"] & sides[split]["test"]
    held_out = {split: tiny.study.split(split).test for split in sides}
    concepts = dict(zip(_concepts(tiny), tiny.study.space.concepts))
    assert all(held_out[split](concepts[text]) for split in sides for text in sides[split]["test"])
    assert any(held_out["boolean"](concepts[text]) for text in sides["counting"]["train"])  # so they must be apart


@pytest.mark.parametrize(("name", "configs"), [("clevr", 1), ("super-clevr", 2), ("super-clevr-json", 2)])
def test_no_part_of_questions_asks_about_the_scenes_of_another(
    folders: dict[str, Path], name: str, configs: int
) -> None:
    scenes = opened(folders[name], "scenes")
    known = {part: _contents(found, "scene") for part, found in scenes.items()}
    assert all(not {*known[one]} & {*known[other]} for one, other in combinations(known, 2))
    asking = [config.name for config in configs_of(folders[name]) if config.name != "scenes"]
    assert len(asking) == configs
    for config in asking:
        for part, found in opened(folders[name], config).items():
            assert {*found["image_index"]} <= {*range(len(known[part]))}


def test_a_test_of_closure_is_apart_from_its_control_and_from_other_tests(folders: dict[str, Path]) -> None:
    folder, shapes, asked = folders["closure"], defaultdict(set), defaultdict(set)
    for config in configs_of(folder):
        kind, _, test = config.name.partition("-")
        if kind not in ("closure", "baseline"):
            continue
        found = opened(folder, config.name)
        assert {word for part in found.values() for word in part["split"]} == {test}
        for part, some in found.items():
            shapes[kind] |= {shape_of(read_program(json.loads(text))) for text in some["program"]}
            asked[part] |= {*some["image_index"]}
            if kind == "closure":
                about = {*zip(some["image_index"], some["question"])}
                assert not about & asked[f"{part} of closure"]
                asked[f"{part} of closure"] |= about
    assert shapes["closure"] and not shapes["closure"] & shapes["baseline"]
    assert not asked["validation"] & asked["test"]  # both are about scenes of CLEVR's validation
    known = {part: {*_contents(some, "scene")} for part, some in opened(folder, "scenes").items()}
    assert {*known} == {"train", "validation"} and not known["train"] & known["validation"]


def test_an_experiment_of_concept_world_is_a_config_of_its_own(folders: dict[str, Path]) -> None:
    folder = folders["concept-world"]
    for config in configs_of(folder):
        found = opened(folder, config.name)
        assert {word for part in found.values() for word in part["split"]} == {config.name}
        seen = {part: some.cast_column("image", datasets.Image(decode=False)) for part, some in found.items()}
        drawn = {part: {*_contents(some)} for part, some in seen.items()}
        assert all(not drawn["train"] & drawn[part] for part in drawn if part != "train")


@pytest.mark.parametrize("name", ["rows", "rows-jsonl", "rows-vehicles", "rows-closure"])
def test_a_row_is_in_one_config_and_says_in_which(folders: dict[str, Path], name: str) -> None:
    ids = list[str]()
    for config in configs_of(folders[name]):
        for part, found in opened(folders[name], config.name).items():
            ids += found["id"]
            assert all(f"-{config.name}-" in one for one in found["id"]) and {*found["part"]} == {part}
    assert len(ids) == len({*ids})


def _contents(found: Any, *but: str) -> list[str]:
    """What rows hold, but for some columns."""
    kept = found.remove_columns([*but])
    return [json.dumps(row, default=str, sort_keys=True) for row in kept]


def _concepts(curi: Curi) -> list[str]:
    return pq.read_table(curi.study.concepts_file)["concept"].to_pylist()


def test_no_place_of_an_episode_tells_its_label(folders: dict[str, Path], tiny: Curi) -> None:
    import numpy as np

    made = opened(folders["curi"], "boolean-hard")["test"]
    plain = tiny.study.episodes("boolean", "test", "hard")
    for side, columns in (("support", slice(0, 25)), ("query", slice(25, 50))):
        labels, scenes = np.array(made[f"{side}_label"]), np.array(made[side])
        assert labels.mean(axis=0).max() < 0.5 and labels.mean(axis=0).min() > 0.02
        for row in range(5):
            expected = sorted(zip(plain.scene[row, columns].tolist(), plain.label[row, columns].tolist()))
            assert sorted(zip(scenes[row].tolist(), labels[row].tolist())) == expected


def test_features_are_what_they_should_be(folders: dict[str, Path]) -> None:
    seen = opened(folders["curi-seen"], "images")["full"]
    assert isinstance(seen.features["image"], datasets.Image) and seen[0]["image"].size == (24, 16)
    assert isinstance(opened(folders["curi-seen"], "sounds")["full"].features["sound"], datasets.Audio)
    questions = opened(folders["clevr"], "questions")["validation"]
    assert isinstance(questions.features["answer"], datasets.ClassLabel)
    plain = pq.read_table(folders["clevr"] / "questions" / "val")["answer"].to_pylist()
    assert [questions.features["answer"].int2str(one) for one in questions["answer"]] == plain
    images = opened(folders["concept-world"], "sequences")["train"]
    assert isinstance(images.features["image"], datasets.Image) and images[0]["image"].size == (32, 32)
    assert {*images.features["label"].names} == {"red", "blue", "mixed"}
    seen = opened(folders["closure-seen"], "images")
    assert {part: len(some) for part, some in seen.items()} == {"train": 5, "validation": 5}
    assert isinstance(seen["validation"].features["image"], datasets.Image)
    rows = opened(folders["rows-closure"], "or_mat-closure")["test"]
    assert isinstance(rows.features["images"].feature, datasets.Image) and rows[0]["images"][0].size == (24, 16)
    rows = opened(folders["rows"], "boolean-hard")["test"]
    assert isinstance(rows.features["images"].feature, datasets.Image) and len(rows[0]["images"]) == 50


@pytest.mark.parametrize("name", NAMES)
def test_croissant_is_valid_and_says_what_it_must(folders: dict[str, Path], name: str) -> None:
    file = folders[name] / CROISSANT
    said = json.loads(file.read_text())
    for key in ("name", "description", "url", "license", "creator", "datePublished", "version", "citeAs"):
        assert said[key]
    assert said["rai:hasSyntheticData"] is True and "rai:dataLimitations" in said
    found = mlcroissant.Dataset(jsonld=str(file)).metadata.issues
    assert not found.errors


@pytest.mark.parametrize(
    ("name", "config", "column"),
    [
        ("super-clevr-seen", "images", "image"),
        ("curi-seen", "images", "image"),
        ("clevr-seen", "images", "image"),
        ("closure-seen", "images", "image"),
        ("concept-world", "sequences", "image"),
        ("rendered", "images", "image"),
    ],
)
def test_croissant_reads_pictures_back(folders: dict[str, Path], name: str, config: str, column: str) -> None:
    rows: Iterator[Any] = iter(mlcroissant.Dataset(jsonld=str(folders[name] / CROISSANT)).records(config))
    picture = next(rows)[f"{config}/{column}"]
    assert picture.size == {"concept-world": (32, 32), "rendered": (240, 160)}.get(name, (24, 16))


@pytest.mark.parametrize(
    ("name", "config", "pictures"),
    [("rows", "boolean-hard", 50), ("rows-closure", "or_mat-closure", 1), ("rows-vehicles", "object", 1)],
)
def test_croissant_reads_all_pictures_of_a_row(folders: dict[str, Path], name: str, config: str, pictures: int) -> None:
    row = next(iter(mlcroissant.Dataset(jsonld=str(folders[name] / CROISSANT)).records(config)))
    theirs = opened(folders[name], config)["test"]
    found = theirs[theirs["id"].index(row[f"{config}/id"].decode())]
    assert [picture.tobytes() for picture in row[f"{config}/images"]] == [one.tobytes() for one in found["images"]]
    assert len(found["images"]) == pictures and found["images"][0].size == (24, 16)


def test_croissant_reads_questions_and_episodes(folders: dict[str, Path]) -> None:
    question = next(iter(mlcroissant.Dataset(jsonld=str(folders["clevr"] / CROISSANT)).records("questions")))
    assert question["questions/question"] and b"questions/" in question["questions/file"]
    episode = next(iter(mlcroissant.Dataset(jsonld=str(folders["curi"] / CROISSANT)).records("boolean-hard")))
    assert len(episode["boolean-hard/support"]) == 25 and episode["boolean-hard/split"] == b"boolean"


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_the_published_form_of_vehicles_opens_by_the_tables_beside_it(folders: dict[str, Path], form: str) -> None:
    """Its answers are words, numbers and truth values in one column, which no table holds."""
    folder = folders[f"super-clevr-{form}"]
    published = (folder / f"superCLEVR_val_questions.{form}").read_text()
    questions = json.loads(published)["questions"] if form == "json" else [*map(json.loads, published.splitlines())]
    found = opened(folder, "questions")["validation"]
    assert found["question"] == [one["question"] for one in questions]
    words = {True: "yes", False: "no"}
    said = [words[one] if isinstance(one, bool) else str(one) for one in (one["answer"] for one in questions)]
    assert [found.features["answer"].int2str(one) for one in found["answer"]] == said


def test_a_card_that_was_edited_is_refused_and_one_that_is_missing_comes_back(
    folders: dict[str, Path], tiny: Curi, tmp_path: Path
) -> None:
    folder = tmp_path / "curi"
    shutil.copytree(folders["curi"], folder)
    card = (folder / README).read_text()
    assert is_signed(card) and "recombine make curi" in card and "Vedantam" in card
    tiny.make(folder, ["boolean", "counting"])
    (folder / README).write_text(card.replace("CURI", "My CURI"))
    with pytest.raises(UserError, match="was edited, and is kept"):
        tiny.make(folder, ["boolean", "counting"])
    assert "My CURI" in (folder / README).read_text()
    (folder / README).unlink()
    tiny.make(folder, ["boolean", "counting"])
    assert (folder / README).read_text() == card


@pytest.mark.parametrize("edit", ["another licence", "no checksum", "no JSON", "no object"])
def test_metadata_that_were_edited_are_refused_and_kept(
    folders: dict[str, Path], tiny: Curi, tmp_path: Path, edit: str
) -> None:
    folder = tmp_path / "curi"
    shutil.copytree(folders["curi"], folder)
    file = folder / CROISSANT
    written = file.read_text()
    lines = [line for line in written.splitlines(keepends=True) if '"identifier"' not in line]
    edited = {
        "another licence": written.replace("LICENSE-2.0", "LICENSE-3.0"),
        "no checksum": "".join(lines).replace('"rai:personalSensitiveInformation"', '"mine"'),
        "no JSON": written[:-3],
        "no object": "[]",
    }
    file.write_text(edited[edit])
    with pytest.raises(UserError, match=r"croissant\.json was edited, and is kept"):
        tiny.make(folder, ["boolean", "counting"])
    assert file.read_text() == edited[edit]
    (folder / README).unlink()  # what was edited is kept even where the other card is missing
    with pytest.raises(UserError, match="was edited"):
        tiny.make(folder, ["boolean", "counting"])
    file.unlink()
    tiny.make(folder, ["boolean", "counting"])
    assert file.read_text() == written
