"""CLEVR from scenes to files, on a tiny scale."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine.benchmarks.clevr import pipeline
from recombine.benchmarks.clevr.english import read
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES
from recombine.benchmarks.clevr.formats import read_questions, read_scenes
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY
from recombine.benchmarks.clevr.laws import plainly
from recombine.benchmarks.clevr.pipeline import PARTS, ClevrPipeline, ClevrScale, clevr_scale
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.questions import LARGEST_SHARE, SLACK
from recombine.benchmarks.clevr.study import Clevr, check_files
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.closure.families import FAMILIES
from recombine.benchmarks.closure.pipeline import ClosurePipeline
from recombine.language.expr import Expr
from recombine.metrics.intervals import Interval
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store, read_table
from recombine.world.columns import from_table, to_table

TINY = ClevrScale("tiny", 60, 30, 30)
COLUMNS = [
    "question_index",
    "image_index",
    "question",
    "answer",
    "question_family_index",
    "family",
    "program",
    "referents",
    "trace",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clevr")


@pytest.fixture(scope="module")
def clevr(home: Path) -> Iterator[Clevr]:
    """Made in shards of 16 scenes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClevrPipeline, "shard", 16)
        with Clevr(TINY, store=Store(home / "store")) as loaded:
            yield loaded


@pytest.fixture(scope="module")
def train(clevr: Clevr) -> pa.Table:
    return clevr.questions(part="train").table


def programs(table: pa.Table) -> list[Expr]:
    return [read_program(json.loads(text)) for text in table["program"].to_pylist()]


def data_files(home: Path) -> dict[str, bytes]:
    return {str(f.relative_to(home)): f.read_bytes() for f in sorted(home.glob("*/*/*.parquet"))}


# ---- The table ----


def test_the_columns_of_questions(train: pa.Table) -> None:
    assert train.column_names == COLUMNS
    assert train["question_index"].to_pylist() == list(range(len(train)))


def test_every_scene_has_ten_questions_of_different_families(train: pa.Table) -> None:
    images = train["image_index"].to_numpy()
    assert (np.bincount(images) == 10).all() and len(np.unique(images)) == TINY.train
    assert (np.diff(images) >= 0).all()
    assert len({*zip(images.tolist(), train["question_family_index"].to_pylist())}) == len(train)


def test_an_answer_is_what_the_program_says_of_its_image(clevr: Clevr, train: pa.Table) -> None:
    scenes = clevr.scenes("train")
    for program, image, answer in zip(programs(train), train["image_index"].to_pylist(), train["answer"].to_pylist()):
        found, kind = plainly(program, scenes, image), program.head.out
        words = {"bool": ("no", "yes"), "number": tuple(map(str, range(11)))}
        assert (words[kind] if kind in words else CLEVR_VOCABULARY[kind].values)[found] == answer


def test_a_question_is_read_back_as_its_program(train: pa.Table) -> None:
    for text, program in zip(train["question"].to_pylist(), programs(train)):
        assert read(text) is program, text


def test_a_question_is_told_which_family_it_has(train: pa.Table) -> None:
    for program, row in zip(programs(train), train.to_pylist()):
        family = CLEVR_FAMILIES[row["question_family_index"]]
        assert FAMILIES.family_of(program) is family and row["family"] == family.name


def test_a_trace_has_a_line_per_step_and_ends_with_the_answer(train: pa.Table) -> None:
    for row in train.to_pylist():
        lines = row["trace"].split("\n")
        assert len(lines) == len(json.loads(row["program"]))
        assert lines[-1].endswith(f": {row['answer']}")
        spoken_of = [int(line.split()[-1]) for line in lines if line.startswith("the only one: object ")]
        assert spoken_of == row["referents"]


def test_every_family_occurs(clevr: Clevr) -> None:
    found = {index for part in PARTS for index in clevr.questions(part=part).table["question_family_index"].to_pylist()}
    assert found == set(range(90))


def test_no_answer_leads_by_more_than_the_balance_allows(home: Path) -> None:
    with Clevr(ClevrScale("more", 300, 1, 1), store=Store(home / "more")) as more:
        table = more.questions(part="train").table
    family, answer = table["question_family_index"].to_numpy(), np.array(table["answer"].to_pylist())
    for index in range(90):
        counts = np.sort(np.unique(answer[family == index], return_counts=True)[1])[::-1]
        assert len(counts) > 1
        assert counts[0] <= max(LARGEST_SHARE * counts[1], counts[1] + 1, SLACK), index


# ---- Seeds, workers, interruptions ----


def test_another_seed_makes_other_scenes_and_questions(home: Path, train: pa.Table) -> None:
    few = ClevrScale("few", 10, 1, 1)
    with Clevr(few, 1, store=Store(home / "store")) as other, Clevr(few, 0, store=Store(home / "store")) as same:
        assert other.questions(part="train").table["question"] != same.questions(part="train").table["question"]
        assert not np.array_equal(other.scenes("train").position, same.scenes("train").position)


def test_parts_have_different_scenes_and_questions(clevr: Clevr) -> None:
    val, test = clevr.questions(part="val").table, clevr.questions(part="test").table
    assert val["question"] != test["question"]
    assert not np.array_equal(clevr.scenes("val").position, clevr.scenes("test").position)


def test_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClevrPipeline, "shard", 300)
    scale = ClevrScale("two", 400, 10, 10, questions=1)  # two shards to share out
    made = []
    for workers in (1, 2):
        store = Store(tmp_path / str(workers))
        with Clevr(scale, workers=workers, store=store) as loaded:
            loaded.make()
            for kind in ("closure", "baseline"):
                ClosurePipeline(loaded.study).questions_file("or_mat", "train", kind)
        made.append(data_files(store.home))
    assert made[0].keys() == made[1].keys()
    assert [name for name in made[0] if made[0][name] != made[1][name]] == []
    assert {name.split("/")[0] for name in made[0]} == {"clevr-scenes", "clevr-questions", "closure-questions"}
    assert len(made[0]) == 4 + 4 + 2


def test_an_interrupted_search_goes_on_where_it_was(
    tmp_path: Path, home: Path, clevr: Clevr, train: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, searched = pipeline.search, []

    def stopping(*given: Any) -> Any:
        if len(searched) == 3:
            raise KeyboardInterrupt
        searched.append(given)
        return search(*given)

    store = Store(tmp_path)
    monkeypatch.setattr(pipeline, "search", stopping)
    with pytest.raises(KeyboardInterrupt):
        ClevrPipeline(TINY, 0, store).questions_folder("train")
    assert len({file.name for file in tmp_path.glob("drafts/*/candidates-?????.npz")}) == 3
    monkeypatch.setattr(pipeline, "search", lambda *given: searched.append(given) or search(*given))
    folder = ClevrPipeline(TINY, 0, store).questions_folder("train")
    assert len(searched) == 4  # shards, each once
    assert [f.name for f in sorted(folder.glob("*.parquet"))] == [
        f"questions-0000{shard}.parquet" for shard in range(4)
    ]
    assert not list(tmp_path.glob("drafts/*")) and not list(folder.glob("*.np[yz]"))
    whole = clevr.study.questions_folder("train")
    assert [f.read_bytes() for f in sorted(folder.glob("*.parquet"))] == [
        f.read_bytes() for f in sorted(whole.glob("*.parquet"))
    ]


def test_what_was_made_is_not_made_again(home: Path, clevr: Clevr, train: pa.Table) -> None:
    clevr.make()

    def never(*_: object) -> None:
        raise AssertionError("nothing is missing")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "search", never)
        patch.setattr(ClevrWorld, "sample", never)
        with Clevr(TINY, store=Store(home / "store")) as again:
            again.make()
            assert again.questions(part="train").table == train


# ---- Files for others ----


def test_questions_are_readable_without_our_code(clevr: Clevr, home: Path) -> None:
    out = clevr.make(home / "parquet")
    questions = pd.read_parquet(out / "questions" / "train")
    scenes = pd.read_parquet(out / "scenes" / "train")
    assert list(questions.columns) == COLUMNS and len(scenes) == TINY.train
    assert scenes["scene"].tolist() == list(range(TINY.train))
    assert (scenes["color"].map(len) == scenes["count"]).all()
    counted = questions[(questions.question_family_index == 84) & questions.program.str.contains("filter").eq(False)]
    for row in counted.itertuples():
        assert int(row.answer) == scenes.loc[row.image_index, "count"]
    file = next((out / "questions" / "train").glob("*.parquet"))
    recipe = json.loads(pq.read_schema(file).metadata[b"recombine.recipe"])
    assert recipe["stage"] == "clevr-questions" and recipe["parameters"]["questions"] == 10


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_official_files_agree_with_themselves_and_are_read_back(clevr: Clevr, home: Path, format: str) -> None:
    out = clevr.make(home / format, format=format)
    assert {f.name for f in out.iterdir()} == {
        "recipe.json",
        "README.md",
        "croissant.json",
        *(f"CLEVR_{p}_{w}.{format}" for p in PARTS for w in ("scenes", "questions")),
    }
    for part in PARTS:
        scenes, questions = (out / f"CLEVR_{part}_{what}.{format}" for what in ("scenes", "questions"))
        table, fine = check_files([scenes], questions)
        assert fine and sum(row[3] for row in table.rows) == 10 * clevr.study.count(part)
        made = clevr.questions(part=part).table
        again = read_questions(questions)
        assert [record.program for record in again] == programs(made)
        for field, column in (("question", "question"), ("answer", "answer"), ("family", "question_family_index")):
            assert [getattr(record, field) for record in again] == made[column].to_pylist()
        drawn, file = clevr.scenes(part), read_scenes(scenes).scenes
        for name in ("camera", "lamps"):
            np.testing.assert_array_equal(file.extra[name], drawn.extra[name])
        np.testing.assert_array_equal(file.position, drawn.position)
        assert all(np.array_equal(file.codes[name], drawn.codes[name]) for name in drawn.codes)


def test_official_files_without_programs_agree_too(clevr: Clevr, home: Path, tmp_path: Path) -> None:
    out = clevr.make(tmp_path / "json", format="json")
    whole = json.loads((out / "CLEVR_val_questions.json").read_text())
    for question in whole["questions"]:
        del question["program"]
    (tmp_path / "bare.json").write_text(json.dumps(whole))
    table, fine = check_files([out / "CLEVR_val_scenes.json"], tmp_path / "bare.json")
    assert fine and sum(row[2] for row in table.rows) == 0


def test_an_existing_folder_is_not_overwritten(clevr: Clevr, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for format in ("parquet", "json"):
        with pytest.raises(UserError, match="not empty"):
            clevr.make(tmp_path, format=format)
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


# ---- Scenes as tables ----


@pytest.mark.parametrize("n", [1, 7])
def test_a_scene_survives_its_table_with_its_lamps(n: int) -> None:
    scenes = ClevrWorld().sample(n, Key(3))
    again = from_table(scenes.vocabulary, to_table(scenes), scenes.places)
    assert again.extra["lamps"].shape == (n, 3, 3)
    assert again.extra.keys() == scenes.extra.keys()
    for name, column in {"position": scenes.position, **scenes.extra}.items():
        other = again.position if name == "position" else again.extra[name]
        np.testing.assert_array_equal(other, column, err_msg=name)
    for name, codes in scenes.codes.items():
        np.testing.assert_array_equal(again.codes[name], codes)


def test_the_lamps_of_a_scene_are_those_of_its_file(clevr: Clevr) -> None:
    table = read_table(clevr.study.scenes_folder("train"))
    first = clevr.study.scene("train", 0)[0].extra["lamps"][0]
    np.testing.assert_array_equal(np.array(table["lamps"][0].as_py(), np.float32).reshape(3, 3), first)


def test_a_scene_is_found_in_its_shard(clevr: Clevr) -> None:
    everything = clevr.scenes("train")
    for number in (0, 15, 16, 59):
        shard, place = clevr.study.scene("train", number)
        assert shard.objects(place) == everything.objects(number)
        np.testing.assert_array_equal(shard.extra["lamps"][place], everything.extra["lamps"][number])


# ---- What is refused ----


def test_what_is_not_there_is_refused(clevr: Clevr, home: Path) -> None:
    with pytest.raises(UserError, match="no scene 60 in train; choose one from 0 to 59"):
        clevr.study.scene("train", 60)
    with pytest.raises(UserError, match="no part 'dev'"):
        clevr.questions(part="dev")
    with pytest.raises(UserError, match="no scale 'huge'"):
        clevr_scale("huge")
    with pytest.raises(UserError, match="at least 1"):
        Clevr(replace(TINY, questions=0), store=Store(home / "store"))


def test_solvers_are_scored_on_so_many_questions_of_one_family(tmp_path: Path) -> None:
    study = Clevr(ClevrScale("small", 12, 6, 6), store=Store(tmp_path))
    table = study.score("majority", family="one_hop", questions=12)
    assert {row[:3] for row in table.rows} == {("one_hop", who, 12) for who in ("majority", "strong", "weak")}
    strong = next(row for row in table.rows if row[1] == "strong")
    assert isinstance(strong[3], Interval) and strong[3].value == 100
    assert study.score("majority", part="val").rows != study.score("majority").rows
    for said, wrong in {
        "questions is for family": {"questions": 3},
        "no part of a split": {"family": "one_hop"},
    }.items():
        with pytest.raises(UserError, match=said):
            study.score("majority", ["iid"] if "family" in wrong else (), **wrong)
