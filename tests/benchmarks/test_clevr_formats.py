"""CLEVR's files: what is written comes back, and a broken file says what is wrong with which record."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recombine.benchmarks.clevr.formats import (
    QuestionRecord,
    SceneFile,
    read_questions,
    read_scenes,
    write_questions,
    write_scenes,
)
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, signature
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

DATA = Path(__file__).parents[2].parent / "shared" / "data"
THING = {"size": "small", "color": "red", "material": "metal", "shape": "cube", "3d_coords": [0, 1.5, 0.35]}
FEW = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(one: Scenes, other: Scenes) -> None:
    np.testing.assert_array_equal(one.count, other.count)
    np.testing.assert_array_equal(one.position, other.position)
    for mine, yours in ((one.codes, other.codes), (one.extra, other.extra)):
        assert mine.keys() == yours.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], yours[name])


@pytest.mark.parametrize("name", ["scenes.json", "scenes.jsonl"])
def test_made_scenes_come_back_exactly(name: str, tmp_path: Path) -> None:
    scenes = ClevrWorld().sample(30, Key(1))
    write_scenes(tmp_path / name, SceneFile.of(scenes, "train", first=5))
    file = read_scenes(tmp_path / name)
    same(scenes, file.scenes)
    assert file.image_filename[0] == "CLEVR_train_000005.png" and file.split[3] == "train"
    assert list(file.image_index) == [*range(5, 35)] and file.has_relations.all()
    assert all((file.related[way] == masks).all() for way, masks in all_beyond(scenes).items())
    assert ClevrWorld().contains(file.scenes).all()


@pytest.mark.parametrize("name", ["CLEVR_train_scenes_first400.json", "CLEVR_val_scenes_first8.json"])
def test_real_scenes_are_written_as_they_were(name: str, tmp_path: Path) -> None:
    path = DATA / "clevr" / name
    if not path.exists():
        pytest.skip(f"the real scenes are not in {DATA}")
    write_scenes(tmp_path / name, read_scenes(path))
    assert json.loads((tmp_path / name).read_text()) == json.loads(path.read_text())


@pytest.mark.parametrize("name", ["clevr/questions_with_programs_47.json", "closure/closure_val_images0-7.json"])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_real_questions_come_back(name: str, suffix: str, tmp_path: Path) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"the real questions are not in {DATA}")
    questions = read_questions(DATA / name)
    copy = tmp_path / f"questions{suffix}"
    write_questions(copy, questions)
    assert read_questions(copy) == questions
    assert all(question.program is not None and question.answer for question in questions)


def test_questions_keep_what_they_do_not_know(tmp_path: Path) -> None:
    program = signature().parse("count(scene)")
    question = QuestionRecord("How many things are there?", "3", program, 1, 7, "a.png", "new", 0, {"family": "own"})
    write_questions(tmp_path / "q.json", [question, QuestionRecord("Why?")], {"split": "new"})
    assert read_questions(tmp_path / "q.json") == [question, QuestionRecord("Why?")]
    whole = json.loads((tmp_path / "q.json").read_text())
    assert whole["info"] == {"split": "new"} and whole["questions"][1] == {"question": "Why?"}


@pytest.mark.parametrize(("said", "answer"), [(True, "yes"), (False, "no"), (3, "3"), ("red", "red"), (None, None)])
def test_answers_of_json_are_read_as_words(said: Any, answer: str | None, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "?", "answer": said}))
    assert read_questions(tmp_path / "q.jsonl")[0].answer == answer


def test_what_a_scene_file_may_lack(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps([{"objects": [THING, {**THING, "3d_coords": [2, 2, 0.35]}]}]))
    file = read_scenes(tmp_path / "s.json")
    assert not file.has_relations.any() and not file.scenes.extra and list(file.image_index) == [0]
    write_scenes(tmp_path / "again.json", file)
    written = json.loads((tmp_path / "again.json").read_text())["scenes"][0]
    assert written["relationships"]["right"] == [[1], []] and "pixel_coords" not in written["objects"][0]


def test_an_empty_file_has_no_scenes(tmp_path: Path) -> None:
    write_scenes(tmp_path / "s.json", SceneFile.of(ClevrWorld().sample(4, Key(1))[:0]))
    assert len(read_scenes(tmp_path / "s.json")) == 0


def test_own_vocabularies_and_crowded_scenes(tmp_path: Path) -> None:
    own = Vocabulary((*CLEVR_VOCABULARY, Attribute("pattern", ("plain", "dotted"))))
    (tmp_path / "s.json").write_text(json.dumps([{"objects": [{**THING, "pattern": "dotted"}] * 20}]))
    scenes = read_scenes(tmp_path / "s.json", own).scenes
    assert scenes.places == 20 and (scenes.codes["pattern"] == 1).all()
    with pytest.raises(UserError, match="is not a pattern"):
        (tmp_path / "s.json").write_text(json.dumps([{"objects": [THING]}]))
        read_scenes(tmp_path / "s.json", own)


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in THING.items() if name != key}


def related(lists: Any) -> dict[str, Any]:
    return {"objects": [THING], "relationships": {way: lists for way in ("left", "right", "front", "behind")}}


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        (3, "the record is not an object of JSON but 3"),
        ({}, "objects is not a list but None"),
        ({"objects": [3]}, "object 0: it is not an object"),
        ({"objects": [THING, without("3d_coords")]}, "object 1: 3d_coords is not a list of 3 but missing"),
        ({"objects": [{**THING, "3d_coords": [1, 2]}]}, "object 0: 3d_coords is not a list of 3"),
        ({"objects": [{**THING, "3d_coords": [1, 2, "3"]}]}, "object 0: 3d_coords has '3' where a number"),
        ({"objects": [{**THING, "3d_coords": [1, 2, 1e300]}]}, "object 0: 3d_coords has 1e\\+300"),
        ({"objects": [{**THING, "rotation": True}]}, "object 0: rotation has True"),
        ({"objects": [{**THING, "pixel_coords": [1]}]}, "object 0: pixel_coords"),
        ({"objects": [without("color")]}, "object 0: None is not a color"),
        ({"objects": [{**THING, "shape": "cone"}]}, "object 0: 'cone' is not a shape; choose one of cube"),
        ({"objects": [THING] * 65}, "at most 64 objects"),
        ({"objects": [THING], "image_index": "3"}, "image_index is not a whole number"),
        ({"objects": [THING], "image_index": 10**30}, "image_index is not a whole number"),
        ({"objects": [THING], "split": 3}, "split is not a text"),
        ({"objects": [THING], "camera_jitter": [1]}, "camera_jitter is not a list of 3"),
        ({"objects": [THING], "lamp_jitter": [[1, 2, 3], 4, 5]}, "lamp_jitter is not a list of 3"),
        ({"objects": [THING], "relationships": {"left": [[]]}}, "relationships right is not a list"),
        (related([]), "relationships left has 0 lists for 1 objects"),
        (related([[1]]), "relationships speak of object 1 of 1"),
        (related([3]), "relationships left 0 is not a list"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_broken_scene_is_named(scene: Any, said: str, suffix: str, tmp_path: Path) -> None:
    path, fine = tmp_path / f"scenes{suffix}", {"objects": [THING]}
    lines = "\n".join(map(json.dumps, [fine, scene]))
    path.write_text(lines if suffix == ".jsonl" else json.dumps({"scenes": [fine, scene]}))
    with pytest.raises(UserError, match=f"scenes{suffix}, {'line 2' if suffix == '.jsonl' else 'scene 1'}: .*{said}"):
        read_scenes(path)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ([], "the record is not an object"),
        ({}, "there is no question"),
        ({"question": 3}, "question is not a text"),
        ({"question": "?", "answer": [1]}, "an answer is a word or a number"),
        ({"question": "?", "question_family_index": "a"}, "question_family_index is not a whole number"),
        ({"question": "?", "program": []}, "program: the program is empty"),
        ({"question": "?", "program": [{"function": "count", "inputs": [0]}]}, "program: node 0: the input 0"),
    ],
)
def test_a_broken_question_is_named(question: Any, said: str, tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps({"questions": [{"question": "?"}, question]}))
    with pytest.raises(UserError, match=f"q.json, question 1: {said}"):
        read_questions(tmp_path / "q.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"scenes": [{"objects": [', "is not complete JSON"),
        (b"", "is not complete JSON"),
        (b'{"images": []}', "holds no list of scenes"),
        (b'{"scenes": {}}', "holds no list of scenes"),
        (b"17", "holds no list of scenes"),
        (b"\x89PNG\r\n", "is not text: byte 0"),
        (b"[" * 100_000, "nests deeper than 100 levels"),
        (b"[" + b"9" * 5000 + b"]", "has a number of 5,000 digits"),
    ],
)
def test_a_file_that_is_none_of_clevrs_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(UserError, match=f"s.json.* {said}"):
        read_scenes(tmp_path / "s.json")


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"s.json cannot be read: No such file"):
        read_scenes(tmp_path / "s.json")
    with pytest.raises(UserError, match=r"q.json cannot be written: No such file"):
        write_questions(tmp_path / "nowhere" / "q.json", [])


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    long = {"question": "?" * 10_000_000}
    (tmp_path / "q.jsonl").write_text(json.dumps(long) + "\n\n" + '{"question": ')
    with pytest.raises(UserError, match=r"q.jsonl, line 3 is not complete JSON") as error:
        read_questions(tmp_path / "q.jsonl")
    assert len(str(error.value)) < 1000


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["red", "cube"])
anything = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
SCENE = {"objects": [THING], "image_index": 0, "relationships": related([[]])["relationships"], "split": "new"}
QUESTION = {"question": "?", "answer": "3", "program": [], "image_index": 0, "question_family_index": 1}


def near(record: dict[str, Any]) -> st.SearchStrategy:
    """A record with one key replaced by anything."""
    return st.tuples(st.sampled_from([*record]), anything).map(lambda change: {**record, change[0]: change[1]})


near_scenes = near(SCENE) | near(THING).map(lambda thing: {"objects": [thing]})


@settings(FEW, max_examples=150)
@given(scenes=st.lists(near_scenes | anything, max_size=3) | anything)
def test_whatever_is_read_is_scenes_or_a_clear_error(scenes: Any, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"scenes": scenes}))
    try:
        file = read_scenes(path)
    except UserError:
        return
    write_scenes(path, file)
    same(read_scenes(path).scenes, file.scenes)


@settings(FEW, max_examples=150)
@given(questions=st.lists(near(QUESTION) | anything, max_size=3) | anything)
def test_whatever_is_read_is_questions_or_a_clear_error(questions: Any, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"questions": questions}))
    try:
        found = read_questions(path)
    except UserError:
        return
    write_questions(path, found)
    assert repr(read_questions(path)) == repr(found)


@settings(FEW, max_examples=100)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_clear_error(content: bytes, tmp_path: Path) -> None:
    for name in ("s.json", "s.jsonl"):
        (tmp_path / name).write_bytes(content)
        try:
            read_scenes(tmp_path / name)
        except UserError:
            continue
