"""CLEVR and CLOSURE on the command line: every verb, real files, and bad input of every kind."""

import json
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recombine.benchmarks import study as of_studies
from recombine.benchmarks.clevr.formats import SceneFile, write_scenes
from recombine.benchmarks.clevr.pipeline import CLEVR_SCALES, PARTS, ClevrScale
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.pipeline import CLOSURE_SCALES, ClosureScale
from recombine.store.key import Key
from tests.commands import Run, refused

DATA = Path(__file__).parents[1].parent / "shared" / "data"
REAL_SCENES = (DATA / "clevr/CLEVR_train_scenes_first400.json", DATA / "clevr/CLEVR_val_scenes_first8.json")
REAL_CLEVR, REAL_CLOSURE = DATA / "clevr/questions_with_programs_47.json", DATA / "closure/closure_val_images0-7.json"
needs_data = pytest.mark.skipif(not REAL_CLOSURE.exists(), reason=f"the real files are not in {DATA}")
TINY = ("--scale", "tiny", "--workers", "1")
TESTS = tuple(CLOSURE_FAMILIES)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, invoke: Run) -> Run:
    """Run a command in this process; `tiny` is a scale."""
    monkeypatch.setitem(CLEVR_SCALES, "tiny", ClevrScale("tiny", 60, 160, 20, 4))
    monkeypatch.setitem(CLOSURE_SCALES, "tiny", ClosureScale("tiny", 60, 160, 20, 4, (36, 36, 36)))
    monkeypatch.setattr(of_studies, "LAWS", {})  # they take their time, in tests/test_benchmarks.py
    return invoke


# ---- Verbs ----


def test_list_clevr_has_90_families(run: Run) -> None:
    rows = json.loads(run("list", "clevr", *TINY, "--json").out)
    assert [row["family"] for row in rows] == list(range(90))
    assert rows[72]["name"] == "one_hop" and rows[72]["answers with"] == "count"
    assert run("list", "clevr", *TINY).code == 0


def test_list_closure_says_why_each_test_is_new(run: Run) -> None:
    rows = json.loads(run("list", "closure", *TINY, "--json").out)
    assert [row["test"] for row in rows] == list(TESTS)
    assert [row["templates"] for row in rows] == [len(families) for families in CLOSURE_FAMILIES.values()]
    assert "union of a matching set and a simple set" in rows[5]["what"]
    people = run("list", "closure", *TINY)
    assert people.code == 0 and all(test in people.out for test in TESTS)


@pytest.mark.parametrize("family", ["one_hop", "76"])
def test_show_clevr_prints_a_question_and_its_steps(run: Run, family: str) -> None:
    view = json.loads(run("show", f"clevr/{family}", *TINY, "--json").out)
    ran = run("show", f"clevr/{family}", *TINY)
    assert view["question"] in ran.said and view["answer"] in ran.said
    assert view["family"].startswith("one_hop")
    assert view["steps"][-1]["value"] == view["answer"]
    assert all(step["text"] in ran.said for step in view["steps"])


def test_show_closure_prints_a_question_and_writes_a_page(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    words = ("show", "closure/and_mat_spa", "--question", "3", *TINY)
    ran = run(*words, "--out", page)
    view = json.loads(run(*words, "--json").out)
    assert ran.code == 0 and str(page) in "".join(ran.err.split("\n"))
    shown = run(*words)
    assert ran.said == "" and view["question"] in shown.said and "question 3" in shown.said
    assert view["strong"] == view["answer"]
    assert sum(chance for _, chance in view["weak"]) == pytest.approx(1)
    text = page.read_text()
    assert view["question"] in unescape(text) and "src=" not in text and 'href="http' not in text
    assert all(step["english"] in unescape(text) for step in view["steps"])
    assert [f.name for f in page.parent.iterdir()] == ["page.html"]


def test_show_closure_has_parts_of_its_own(run: Run) -> None:
    scenes = [
        json.loads(run("show", "closure/or_mat", "--part", part, "--question", "5", *TINY, "--json").out)["scene"]
        for part in ("val", "test")
    ]
    assert scenes[0] < 80 <= scenes[1]


def test_make_clevr_writes_parquet(run: Run, tmp_path: Path) -> None:
    ran = run("make", "clevr", "--out", tmp_path / "made", *TINY, "--json")
    assert ran.code == 0 and json.loads(ran.out) == {"folder": str(tmp_path / "made")}
    for part, count in zip(PARTS, (60, 160, 20)):
        assert len(pd.read_parquet(tmp_path / "made" / "scenes" / part)) == count
        assert len(pd.read_parquet(tmp_path / "made" / "questions" / part)) == 4 * count


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_made_files_pass_the_check_and_planted_mistakes_do_not(run: Run, tmp_path: Path, format: str) -> None:
    assert run("make", "clevr", "--out", tmp_path / "made", "--format", format, *TINY).code == 0
    scenes, questions = (tmp_path / "made" / f"CLEVR_test_{what}.{format}" for what in ("scenes", "questions"))
    fine = run("check", "clevr", "--scenes", scenes, "--questions", questions, "--json")
    assert fine.code == 0
    assert sum(row["agree"] for row in json.loads(fine.out)) == 80
    text = questions.read_text()
    questions.write_text(text.replace('"answer": "yes"', '"answer": "no"', 1))
    wrong = run("check", "clevr", "--scenes", scenes, "--questions", questions, "--json")
    assert wrong.code == 1
    assert [row["differ"] for row in json.loads(wrong.out) if row["differ"]] == [1]


def test_make_clevr_in_a_condition_of_cogent(run: Run, tmp_path: Path) -> None:
    assert run("make", "clevr", "--cogent", "A", "--out", tmp_path / "a", *TINY).code == 0
    scenes = pd.read_parquet(tmp_path / "a" / "scenes" / "test")
    things = [thing for row in scenes.itertuples() for thing in zip(row.shape, row.color)]
    assert ("cube", "gray") in things and ("cylinder", "gray") not in things


def test_make_closure_writes_all_tests_and_baselines(run: Run, tmp_path: Path) -> None:
    assert run("make", "closure", "--out", tmp_path / "made", *TINY).code == 0
    assert {f.name for f in (tmp_path / "made").iterdir()} == {
        "scenes", "closure", "baseline", "recipe.json", "README.md", "croissant.json"
    }  # fmt: skip
    for kind in ("closure", "baseline"):
        for test in TESTS:
            for part in PARTS:
                assert len(pd.read_parquet(tmp_path / "made" / kind / test / part)) == 36


def test_gap_closure_prints_the_same_numbers_for_people_and_machines(run: Run, tmp_path: Path) -> None:
    words = ("gap", "closure", "--split", "or_mat", "--split", "embed_mat_spa", *TINY)
    ran = run(*words, "--json", "--out", tmp_path / "gap.json")
    records = json.loads(ran.out)
    assert records == json.loads((tmp_path / "gap.json").read_text())
    assert [r["test"] for r in records] == [
        f"{test}/{kind}" for test in ("or_mat", "embed_mat_spa") for kind in ("closure", "baseline")
    ]
    assert all(r["strong"] == 100 and r["units"] == 36 for r in records)
    assert all((r["gap"] == 0) == r["control"] == r["test"].endswith("baseline") for r in records)
    people = run(*words)
    assert people.code == 0 and f"{records[0]['weak']:.1f}" in people.out


def test_gap_closure_has_all_seven_tests(run: Run) -> None:
    records = json.loads(run("gap", "closure", *TINY, "--json").out)
    assert (
        [r["split"] for r in records if not r["control"]] == [*TESTS] == [r["split"] for r in records if r["control"]]
    )


def test_report_closure_is_one_self_contained_file(run: Run, tmp_path: Path) -> None:
    assert run("report", "closure", *TINY, "--out", tmp_path / "report.html").code == 0
    text = (tmp_path / "report.html").read_text()
    assert [f.name for f in tmp_path.iterdir()] == ["report.html"]
    assert "src=" not in text and 'href="http' not in text
    assert all(test in text for test in TESTS)


def test_report_closure_as_markdown_has_its_figure_beside_it(run: Run, tmp_path: Path) -> None:
    assert run("report", "closure", *TINY, "--out", tmp_path / "closure.md").code == 0
    text = (tmp_path / "closure.md").read_text()
    drawn = {f"closure/{file.name}" for file in (tmp_path / "closure").iterdir()}
    assert drawn and all(f"]({name})" in text for name in drawn)
    assert all(f"| {test} |" in text for test in TESTS)


# ---- Real files ----


def both() -> list[Path | str]:
    return [word for file in REAL_SCENES for word in ("--scenes", file)]


def without_programs(file: Path, to: Path) -> Path:
    whole = json.loads(file.read_text())
    questions = whole["questions"] if isinstance(whole, dict) else whole
    for question in questions:
        del question["program"]
    to.write_text(json.dumps({"questions": questions}))
    return to


@needs_data
@pytest.mark.parametrize(("file", "asked"), [(REAL_CLEVR, 47), (REAL_CLOSURE, 305)], ids=["clevr", "closure"])
@pytest.mark.parametrize("programs", [True, False], ids=["programs", "text alone"])
def test_real_questions_all_agree(run: Run, tmp_path: Path, file: Path, asked: int, programs: bool) -> None:
    given = file if programs else without_programs(file, tmp_path / "bare.json")
    ran = run("check", "clevr", *both(), "--questions", given, "--json")
    rows = json.loads(ran.out)
    assert ran.code == 0
    assert sum(row["agree"] for row in rows) == sum(row["asked"] for row in rows) == asked
    assert sum(row["programs"] for row in rows) == (asked if programs else 0)
    assert "408 of 408 scenes agree" in run("check", "clevr", *both(), "--questions", given).said


@needs_data
def test_a_planted_wrong_answer_among_real_ones_is_named(run: Run, tmp_path: Path) -> None:
    whole = json.loads(REAL_CLOSURE.read_text())
    whole["questions"][3]["answer"] = "purple"
    (tmp_path / "wrong.json").write_text(json.dumps(whole))
    ran = run("check", "closure", *both(), "--questions", tmp_path / "wrong.json", "--json")
    assert ran.code == 1
    (row,) = [row for row in json.loads(ran.out) if row["differ"]]
    assert row["differ"] == 1 and whole["questions"][3]["question"] in row["first difference"]


@needs_data
def test_a_planted_wrong_relation_among_real_ones_is_named(run: Run, tmp_path: Path) -> None:
    whole = json.loads(REAL_SCENES[1].read_text())
    whole["scenes"][2]["relationships"]["left"][0] = [0]
    (tmp_path / "scenes.json").write_text(json.dumps(whole))
    ran = run("check", "closure", "--scenes", tmp_path / "scenes.json", "--questions", REAL_CLOSURE)
    assert ran.code == 1
    assert "7 of 8 scenes agree" in ran.said and "scene 2: left of object 0" in ran.said


@needs_data
def test_real_questions_need_their_scenes(run: Run) -> None:
    refused(
        run("check", "clevr", "--scenes", REAL_SCENES[1], "--questions", REAL_CLEVR),
        "is not among the scenes; give its",
    )


# ---- Bad words ----

BAD_WORDS = {
    "unknown family": (("show", "clevr/one_hops", *TINY), "no family 'one_hops'"),
    "unknown family index": (("show", "clevr/90", *TINY), "no family '90'"),
    "no family": (("show", "clevr", *TINY), "clevr/one_hop"),
    "unknown test": (("show", "closure/or_mats", *TINY), "no test 'or_mats'"),
    "no test": (("show", "closure", *TINY), "closure/or_mat"),
    "no such question of CLEVR": (("show", "clevr/zero_hop", "--question", "9999", *TINY), "no question 9999"),
    "no such question of CLOSURE": (("show", "closure/or_mat", "--question", "36", *TINY), "from 0 to 35"),
    "negative question": (("show", "closure/or_mat", "--question", "-1", *TINY), "count from 0"),
    "unknown part": (("show", "clevr/one_hop", "--part", "dev", *TINY), "one of train, validation, test"),
    "unknown part of CLOSURE": (("show", "closure/or_mat", "--part", "dev", *TINY), "one of train, validation, test"),
    "unknown edition": (("make", "clevr", "--edition", "second", *TINY), "no edition 'second'"),
    "no editions": (("gap", "closure", "--edition", "release", *TINY), "No such option: --edition"),
    "unknown split": (("gap", "closure", "--split", "or_mats", *TINY), "no test 'or_mats'"),
    "no negatives": (("make", "clevr", "--negatives", "hard", *TINY), "No such option: --negatives"),
    "no negatives to show": (("show", "closure/or_mat", "--negatives", "hard", *TINY), "No such option: --negatives"),
    "no concepts": (("check", "clevr", "--concepts", "mine.txt"), "No such option: --concepts"),
    "unknown scale": (("make", "clevr", "--scale", "huge"), "no scale 'huge'"),
    "unknown format": (("make", "clevr", "--format", "xml", *TINY), "no format 'xml'"),
    "no formats": (("make", "closure", "--format", "json", *TINY), "no format 'json'"),
    "unknown condition": (("make", "clevr", "--cogent", "C", *TINY), "--cogent"),
    "bad ending of a report": (("report", "closure", "--out", "report.pdf", *TINY), ".html"),
    "scenes alone": (("check", "clevr", "--scenes", "s.json"), "belong together"),
    "questions alone": (("check", "clevr", "--questions", "q.json"), "belong together"),
    "files for CURI": (("check", "curi", "--scenes", "s.json", "--questions", "q.json"), "No such option: --scenes"),
}


@pytest.mark.parametrize("case", list(BAD_WORDS))
def test_bad_words_get_one_sentence_and_exit_code_2(run: Run, case: str) -> None:
    words, expected = BAD_WORDS[case]
    refused(run(*words), expected)


@pytest.mark.parametrize("benchmark", ["clevr", "closure"])
def test_a_folder_that_is_not_empty_is_left_alone(run: Run, tmp_path: Path, benchmark: str) -> None:
    (tmp_path / "file").write_text("mine")
    refused(run("make", benchmark, "--out", tmp_path, *TINY), "exists and is not empty")
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_official_files_do_not_go_into_a_folder_that_is_not_empty(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused(run("make", "clevr", "--out", tmp_path, "--format", "json", *TINY), "exists and is not empty")
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_a_page_has_the_ending_of_a_page(run: Run, tmp_path: Path) -> None:
    """It is refused before anything is made."""
    for name in ("clevr/one_hop", "closure/or_mat", "concept-world/sequences"):
        ran = run("show", name, "--scale", "paper", "--out", tmp_path / "page.svg")
        assert ran.code == 2 and ".html" in ran.err and "scenes" not in ran.err and not list(tmp_path.iterdir())


def test_a_stopped_export_leaves_nothing_in_the_next(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".made.draft").mkdir()
    (tmp_path / ".made.draft" / "CLEVR_train_scenes.jsonl").write_text("half")
    assert run("make", "clevr", "--out", tmp_path / "made", "--format", "json", *TINY).code == 0
    assert {f.suffix for f in (tmp_path / "made").iterdir()} == {".json", ".md"}


# ---- Bad files ----

SCENES = ClevrWorld().sample(3, Key(1))
COUNTED = str(int(SCENES.count[0]))


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """A file of three good scenes."""
    write_scenes(tmp_path / "scenes.json", SceneFile.of(SCENES))
    return tmp_path / "scenes.json"


def node(function: str, *inputs: int, values: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"function": function, "inputs": [*inputs], "value_inputs": [*values]}


GOOD: dict[str, Any] = {
    "question": "How many things are there?",
    "answer": COUNTED,
    "image_index": 0,
    "program": [node("scene"), node("count", 0)],
}


def question_file(folder: Path, **changes: Any) -> Path:
    """A file of one good question, then one with these changes."""
    record = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
    file = folder / "questions.json"
    file.write_text(json.dumps({"questions": [GOOD, record]}))
    return file


BAD_QUESTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "cycle": (
        {"program": [node("scene"), node("union", 0, 2), node("union", 0, 1), node("count", 2)]},
        "node 1: the input 2 is not the number of an earlier node",
    ),
    "node that takes itself": ({"program": [node("scene"), node("count", 1)]}, "not the number of an earlier node"),
    "unknown function": ({"program": [node("scene"), node("counts", 0)]}, "no function 'counts'"),
    "wrong arity": ({"program": [node("scene"), node("union", 0), node("count", 1)]}, "union takes 2 inputs, not 1"),
    "wrong type": ({"program": [node("scene"), node("relate", 0, values=("left",))]}, "relate takes object"),
    "missing inputs": ({"program": [node("scene"), {"function": "count"}]}, "node 1: the node has no inputs"),
    "unknown value": (
        {"program": [node("scene"), node("filter_color", 0, values=("pink",)), node("count", 1)]},
        "filter_color takes one value of gray",
    ),
    "no value": ({"program": [node("scene"), node("filter_color", 0), node("count", 1)]}, "filter_color takes one"),
    "program without an answer": ({"program": [node("scene")]}, "scene gives objects, which is no answer"),
    "empty program": ({"program": []}, "the program is empty"),
    "program that is a number": ({"program": 7}, "a program is a list of nodes, not 7"),
    "no question": ({"question": ...}, "there is no question"),
    "answer of a wrong kind": ({"answer": [1]}, "an answer is a word or a number"),
    "image index that is a word": ({"image_index": "first"}, "image_index is not a whole number"),
    "no such image": ({"image_index": 99}, "question 1 is about image 99, which is not among the scenes"),
    "no image at all": ({"image_index": ...}, "not among the scenes"),
}


@pytest.mark.parametrize("case", BAD_QUESTIONS)
def test_a_bad_question_is_named_with_its_file_and_number(run: Run, tmp_path: Path, scenes: Path, case: str) -> None:
    changes, expected = BAD_QUESTIONS[case]
    file = question_file(tmp_path, **changes)
    ran = run("check", "clevr", "--scenes", scenes, "--questions", file)
    refused(ran, expected)
    assert str(file) in ran.err and "question 1" in ran.err


def test_a_good_question_is_fine(run: Run, tmp_path: Path, scenes: Path) -> None:
    assert run("check", "clevr", "--scenes", scenes, "--questions", question_file(tmp_path)).code == 0


BAD_SCENES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "object without coordinates": (lambda scene: scene["objects"][0].pop("3d_coords"), "object 0: 3d_coords is not"),
    "two coordinates": (lambda scene: scene["objects"][0]["3d_coords"].pop(), "3d_coords is not a list of 3"),
    "coordinate that is no number": (
        lambda scene: scene["objects"][0].update({"3d_coords": [0, "no", 0]}),
        "no",
    ),
    "unknown colour": (lambda scene: scene["objects"][0].update(color="pink"), "'pink' is not a color"),
    "object without a shape": (lambda scene: scene["objects"][0].pop("shape"), "is not a shape"),
    "no objects": (lambda scene: scene.pop("objects"), "objects is not a list"),
    "relation to an object that is not there": (
        lambda scene: scene["relationships"]["left"][0].append(64),
        "object 64",
    ),
    "too few relations": (lambda scene: scene["relationships"]["left"].pop(), "relationships left has"),
}


@pytest.mark.parametrize("case", BAD_SCENES)
def test_a_bad_scene_is_named_with_its_file_and_number(run: Run, tmp_path: Path, scenes: Path, case: str) -> None:
    spoil, expected = BAD_SCENES[case]
    whole = json.loads(scenes.read_text())
    spoil(whole["scenes"][1])
    scenes.write_text(json.dumps(whole))
    ran = run("check", "clevr", "--scenes", scenes, "--questions", question_file(tmp_path))
    refused(ran, expected)
    assert str(scenes) in ran.err and "scene 1" in ran.err


LONG = 10_000_000
BAD_FILES: dict[str, tuple[str, bytes | None, str]] = {
    "truncated": ("it.json", json.dumps({"questions": [GOOD], "scenes": []}).encode()[:60], "not complete JSON"),
    "empty": ("it.json", b"", "not complete JSON"),
    "foreign": ("it.json", b'{"foo": 1}', "holds no list of"),
    "numbers": ("it.json", b"[1, 2, 3]", "is not an object of JSON but 1"),
    "null": ("it.json", b"null", "holds no list of"),
    "too deep": ("it.json", b"[" * 100_000, "nests deeper than"),
    "long number": ("it.json", b"1" * 100_000, "digits"),
    "binary": ("it.json", bytes(range(256)) * 100, "is not text"),
    "line of 10 MB": ("it.jsonl", b"x" * LONG, "line 1 is not complete JSON"),
    "second line of 10 MB": ("it.jsonl", b'\n{"question": "' + b"a" * LONG, "line 2 is not complete JSON"),
    "record of 10 MB": ("it.jsonl", b'["' + b"a" * LONG + b'"]', "line 1: the record is not an object"),
    "not there": ("it.json", None, "No such file"),
}


@pytest.mark.parametrize("which", ["scenes", "questions"])
@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_named(run: Run, tmp_path: Path, scenes: Path, case: str, which: str) -> None:
    name, content, expected = BAD_FILES[case]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    files = {"scenes": scenes, "questions": question_file(tmp_path), which: tmp_path / name}
    ran = run("check", "clevr", "--scenes", files["scenes"], "--questions", files["questions"])
    refused(ran, expected)
    assert str(tmp_path / name) in ran.err


def test_a_folder_is_no_file(run: Run, tmp_path: Path, scenes: Path) -> None:
    refused(run("check", "clevr", "--scenes", tmp_path, "--questions", question_file(tmp_path)), "cannot be read")


def test_a_question_that_cannot_be_read_fails_the_check_and_is_shown(run: Run, tmp_path: Path, scenes: Path) -> None:
    file = question_file(tmp_path, program=..., question="How many wugs are there?")
    ran = run("check", "clevr", "--scenes", scenes, "--questions", file, "--json")
    (row,) = json.loads(ran.out)
    assert ran.code == 1
    assert (row["agree"], row["not compared"]) == (1, 1) and "wugs" in row["first difference"]


@pytest.mark.parametrize(
    "changes",
    [{"program": ...}, {"answer": "77"}],
    ids=["unread", "wrong"],
)
def test_a_long_question_is_shown_in_short(run: Run, tmp_path: Path, scenes: Path, changes: dict[str, Any]) -> None:
    file = question_file(tmp_path, question="thing " * 10_000, **changes)
    ran = run("check", "clevr", "--scenes", scenes, "--questions", file)
    assert ran.code == 1
    assert len(ran.out) < 10_000


def test_half_a_character_in_a_question_is_no_crash(run: Run, tmp_path: Path, scenes: Path) -> None:
    file = question_file(tmp_path, program=..., question="How many \ud800 things are there?")
    assert run("check", "clevr", "--scenes", scenes, "--questions", file).code in (1, 2)
