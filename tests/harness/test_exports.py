"""Exports: every tool's own reward gives the strong learner what the benchmark's verifier gives it."""

import csv
import importlib.util
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

from recombine import Closure, Curi
from recombine.benchmarks import get
from recombine.benchmarks.closure.pipeline import ClosureScale
from recombine.benchmarks.row_export import stream
from recombine.harness.exports import TOOLS, Made, choices, export
from recombine.harness.wanted import rows_of
from recombine.store import room
from recombine.store.errors import UserError
from recombine.store.store import Store
from recombine.tasks.rows import Row
from tests.commands import Run, refused

Write = Callable[..., Path]


@pytest.fixture(scope="module")
def questions(own_home: Path) -> Closure:
    return Closure(ClosureScale("few", 40, 60, 20, 4, (36, 36, 36)), store=Store(own_home))


@pytest.fixture
def write(tmp_path: Path, questions: Closure) -> Write:
    def written(tool: str, study: Any = questions, splits: tuple[str, ...] = ("or_mat",), **more: Any) -> Path:
        asked = {"splits": splits, "first": 3, "render": "images", "size": "24x16", **more}
        made = Made(study.benchmark, tmp_path / tool, {"split": splits[0], "scale": "demo"}, 0)
        export(tool, study.rows(**asked), tmp_path / tool, made)
        assert (tmp_path / tool / "README.md").read_text().count("\n") <= 5
        return tmp_path / tool

    return written


def module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def rows(study: Any, split: str) -> dict[str, Row]:
    return {row.id: row for row in study.rows([split], first=3)}


def test_lmms_eval_scores_by_the_verifier(write: Write, tiny: Curi) -> None:
    folder = write("lmms-eval", tiny, ("boolean",))
    utils, docs = module(folder / "utils.py"), pq.read_table(folder / "test.parquet").to_pylist()
    for doc in docs:
        assert utils.process_results(doc, ["\n".join(doc["answers"])]) == {
            "score": 1.0,
            "accuracy": 1.0,
            "unreadable": 0.0,
        }
        assert utils.process_results(doc, ["?"])["unreadable"] == 1.0
        (message,) = utils.doc_to_messages(doc)
        assert [one["type"] for one in message["content"]].count("image") == 50 == len(utils.doc_to_visual(doc))
        assert "<image>" not in utils.doc_to_text(doc)
    text = (folder / "recombine_curi.yaml").read_text()
    assert f'test: "{folder}/test.parquet"' in text and "cluster_key: cluster" in text


def test_the_name_of_a_folder_is_text(questions: Closure, tmp_path: Path) -> None:
    asked = questions.rows(["or_mat"], first=1, render="images", size="24x16")
    out = tmp_path / 'a: "b" #`<script>'
    export("lmms-eval", asked, out, Made(get("closure"), out, {}, 0))
    (line,) = (line for line in (out / "recombine_closure.yaml").read_text().splitlines() if "test.parquet" in line)
    assert json.loads(line.partition(": ")[2]) == str(out / "test.parquet")
    assert "<script>" not in (out / "README.md").read_text()


def test_vlmevalkit_asks_with_letters(write: Write, questions: Closure) -> None:
    file = write("vlmevalkit") / "RecombineClosure.tsv"
    csv.field_size_limit(2**24)
    records = [*csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")), delimiter="\t")]
    truth = [row.answers[0] for row in questions.rows(["or_mat"], first=3)]
    assert [record[record["answer"]] for record in records] == truth
    assert all(record["image"] and record["question"].endswith(("?", ".")) for record in records)


def test_options_are_of_the_kind_of_the_right_answer(questions: Closure) -> None:
    for row in questions.rows(["embed_mat_spa"], first=20):
        found = choices(row, get("closure"))
        assert row.answers[0] in found and len(found) <= 11
        assert ("yes" in found) == (row.answers[0] in ("yes", "no"))


def test_trl_and_verl_and_ms_swift_reward_alike(write: Write, tiny: Curi, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine import reward

    whole = rows(tiny, "boolean")
    for doc in pq.read_table(write("trl", tiny, ("boolean",)) / "train.parquet").to_pylist():
        right, first = "\n".join(doc["answers"]), whole[doc["id"]].shown
        columns = {name: [doc[name]] * 2 for name in ("answers", "options", "shown", "benchmark")}
        assert reward(completions=[right, "?"], **columns) == [1.0, 0.0] and doc["shown"] == [*first]
        assert [one["type"] for one in doc["prompt"][0]["content"]].count("image") == len(doc["images"]) == 50
    folder = write("verl", tiny, ("boolean",))
    score = module(folder / "reward.py").compute_score
    for doc in pq.read_table(folder / "train.parquet").to_pylist():
        truth = doc["reward_model"]["ground_truth"]
        said = "\n".join(json.loads(truth)["answers"])
        assert score(doc["data_source"], said, truth, doc["extra_info"]) == {"score": 1.0, "unreadable": 0}
        assert doc["prompt"][0]["content"].count("<image>") == len(doc["images"]) == 50
    swift = ModuleType("swift.rewards")
    swift.ORM, swift.orms = object, {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swift", ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", swift)
    folder = write("ms-swift", tiny, ("boolean",))
    made = module(folder / "plugin.py").Recombine()
    for line in (folder / "train.jsonl").read_text().splitlines():
        doc = json.loads(line)
        columns = {name: [doc[name]] for name in ("solution", "options", "shown", "benchmark")}
        assert made(["\n".join(doc["solution"])], **columns) == [1.0]


def test_a_taskset_makes_the_same_rows_again(write: Write, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (write("verifiers") / "recombine_closure.py").read_text()
    compile(text, "recombine_closure.py", "exec")
    assert 'rows_of("closure"' in text and "{'split': 'or_mat', 'scale': 'demo'}" in text
    monkeypatch.setenv("RECOMBINE_HOME", str(own_home))
    options = {"split": "object", "scale": "demo", "questions": "2", "difficulty": "objects=3-5"}
    with pytest.raises(Exception, match="no option 'colour'"):
        next(rows_of("super-clevr", {**options, "colour": "red"}))


def test_a_disk_without_room_is_seen_before_anything_is_drawn(
    questions: Closure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = questions.asked_rows(["or_mat"], first=3, render="images", size="25x16")
    drawing = asked.drawing
    assert drawing is not None
    pack = questions.store.path(asked.used().recipe(drawing))
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 100}))
    with pytest.raises(UserError, match=r"This needs .* kB, but .* has 100 bytes free"):
        next(stream(asked))
    assert not pack.exists()
    monkeypatch.undo()
    list(stream(asked))
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 100}))
    with pytest.raises(UserError, match=r"Writing 6 rows needs .* kB, but .* has 100 bytes free"):
        next(stream(asked, out=tmp_path / "export"))


def test_what_cannot_be_exported_is_refused(invoke: Run, tmp_path: Path, tiny: Curi, write: Write) -> None:
    refused(invoke("export", "nothing", "curi"), "there is no tool 'nothing'; choose one of lmms-eval")
    for more, why in (
        ({"form": "all"}, "one thing at a time"),
        ({"render": "words", "size": None}, "about images|one thing"),
    ):
        with pytest.raises(Exception, match=why):
            write("vlmevalkit", tiny, ("boolean",), **more)
    with pytest.raises(Exception, match="not sounds"):
        write("trl", tiny, ("boolean",), render="sounds", size=None)
    assert not [*tmp_path.glob("*")] and set(TOOLS) == {
        "lmms-eval",
        "vlmevalkit",
        "trl",
        "verl",
        "ms-swift",
        "verifiers",
    }
