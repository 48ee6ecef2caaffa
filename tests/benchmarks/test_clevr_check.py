"""Released files agree with themselves, and a planted mistake is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from recombine.benchmarks.clevr.check import Check, check, check_questions, check_relations
from recombine.benchmarks.clevr.formats import QuestionRecord, SceneFile, read_scenes, write_questions, write_scenes
from recombine.benchmarks.clevr.language import signature
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key

DATA = Path(__file__).parents[2].parent / "shared" / "data"
TRAIN, VAL = DATA / "clevr/CLEVR_train_scenes_first400.json", DATA / "clevr/CLEVR_val_scenes_first8.json"
QUESTIONS, CLOSURE = DATA / "clevr/questions_with_programs_47.json", DATA / "closure/closure_val_images0-7.json"
needs_data = pytest.mark.skipif(not CLOSURE.exists(), reason=f"the real files are not in {DATA}")

COUNT = signature().parse("count(scene)")
SCENES = ClevrWorld().sample(4, Key(1))


def total(found: Check, column: str) -> int:
    return sum(getattr(row, column) for row in found.families)


@needs_data
def test_real_clevr_agrees_with_itself() -> None:
    train, val = check(TRAIN, QUESTIONS), check(VAL, QUESTIONS)
    assert (train.relations.agree, val.relations.agree) == (400, 8)
    assert total(train, "agree") + total(val, "agree") == 47
    assert total(train, "no_scene") == total(val, "agree")
    assert not train.fine and not val.fine  # each lacks the other's images
    assert check([TRAIN, VAL], QUESTIONS).fine


@needs_data
def test_real_closure_agrees_with_itself() -> None:
    found = check(VAL, CLOSURE)
    assert found.fine and total(found, "agree") == total(found, "with_program") == 305
    assert [row.family for row in found.families][:2] == ["and_mat_spa", "compare_mat"] and len(found.families) == 7


@needs_data
def test_a_planted_wrong_answer_is_found_in_real_questions(tmp_path: Path) -> None:
    whole: dict[str, Any] = json.loads(CLOSURE.read_text())
    whole["questions"][3]["answer"] = "purple"
    (tmp_path / "wrong.json").write_text(json.dumps(whole))
    found = check(VAL, tmp_path / "wrong.json")
    (row,) = [row for row in found.families if row.differ]
    assert row.differ == 1 and whole["questions"][3]["question"] in row.first_difference and not found.fine


def asked(image: int, answer: str | None, program: Expr | None = COUNT, family: int = 0) -> QuestionRecord:
    return QuestionRecord(f"How many things are in {image}?", answer, program, family, image)


def counts() -> list[str]:
    return [str(count) for count in SCENES.count.tolist()]


def test_a_planted_wrong_answer_is_found(tmp_path: Path) -> None:
    write_scenes(tmp_path / "s.json", SceneFile.of(SCENES))
    write_questions(
        tmp_path / "q.json", [asked(0, counts()[0]), asked(1, "1"), asked(2, "2"), asked(3, None, family=9)]
    )
    zero, nine = check(tmp_path / "s.json", tmp_path / "q.json").families
    assert (zero.family, zero.questions, zero.with_program, zero.agree, zero.differ) == ("0", 3, 3, 1, 2)
    assert zero.first_difference == (
        f"How many things are in 1? (scene 1 of the file): the file says 1, the program {counts()[1]}"
    )
    assert (nine.family, nine.no_answer) == ("9", 1)


def test_a_planted_wrong_relation_is_found(tmp_path: Path) -> None:
    write_scenes(tmp_path / "s.json", SceneFile.of(SCENES))
    whole = json.loads((tmp_path / "s.json").read_text())
    whole["scenes"][2]["relationships"]["front"][1] = [1]
    del whole["scenes"][0]["relationships"]
    (tmp_path / "s.json").write_text(json.dumps(whole))
    write_questions(tmp_path / "q.json", [])
    found = check_relations(read_scenes(tmp_path / "s.json"))
    assert (found.scenes, found.with_relations, found.agree, found.differ) == (4, 3, 2, 1)
    assert found.first_difference.startswith("scene 2: front of object 1 the file has [1], its places [")


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    write_scenes(tmp_path / "s.json", SceneFile.of(SCENES))
    write_questions(tmp_path / "q.json", [])
    with pytest.raises(UserError, match="holds no questions"):
        check(tmp_path / "s.json", tmp_path / "q.json")


def test_a_scene_that_comes_twice_is_refused(tmp_path: Path) -> None:
    write_scenes(tmp_path / "s.json", SceneFile.of(SCENES))
    write_questions(tmp_path / "q.json", [QuestionRecord("How many things are there?", "3", image_index=0)])
    with pytest.raises(UserError, match="two scenes are of the image"):
        check([tmp_path / "s.json"] * 2, tmp_path / "q.json")


def test_a_question_without_a_program_is_read() -> None:
    def read(question: str) -> Expr:
        if "0" in question:
            raise UserError("no idea")
        return COUNT

    questions = [asked(i, count, None) for i, count in enumerate(counts())]
    (blind,) = check_questions(SceneFile.of(SCENES), questions)
    (row,) = check_questions(SceneFile.of(SCENES), questions, read)
    assert (blind.unread, blind.agree) == (4, 0)
    assert (row.with_program, row.agree, row.unread) == (0, 3, 1)


def test_an_undefined_program_differs_and_an_unknown_image_has_no_scene() -> None:
    program = signature().parse("query[color](unique(scene))")
    (row,) = check_questions(SceneFile.of(SCENES), [asked(0, "red", program), asked(99, "3")])
    assert (row.differ, row.no_scene) == (1, 1) and row.first_difference.endswith("the program undefined")


def test_families_come_in_the_order_of_their_numbers() -> None:
    questions = [asked(0, "3", family=family) for family in (10, 9, 2)]
    assert [row.family for row in check_questions(SceneFile.of(SCENES), questions)] == ["2", "9", "10"]
