"""Vehicles and parts in words and programs: three meanings that agree, English both ways, real files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.check import check_questions
from recombine.benchmarks.clevr.meaning import UNDEFINED, Undefined
from recombine.benchmarks.clevr.program import read_program, write_program
from recombine.benchmarks.super_clevr.check import check
from recombine.benchmarks.super_clevr.english import article, english_of
from recombine.benchmarks.super_clevr.formats import answer_word, read_mask, read_questions, read_scenes, write_scenes
from recombine.benchmarks.super_clevr.language import dialect_of, release_world
from recombine.benchmarks.super_clevr.meaning import PartBeliefs, Plainly, execute, soft_execute
from recombine.benchmarks.super_clevr.questions import KINDS, Asking
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Expr
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from tests.commands import Run, refused

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "super-clevr"
real = pytest.mark.skipif(not DATA.is_dir(), reason="needs samples of the public dataset in ../shared/data")
WORLD = VehicleWorld()
ASKING = Asking(WORLD)
DIALECT = ASKING.dialect


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return WORLD.sample(30, Key(3))


@pytest.fixture(scope="module")
def asked(scenes: Scenes) -> dict[str, tuple[list[Expr], np.ndarray, np.ndarray]]:
    found = {}
    for kind in KINDS:
        rows = ASKING.find(scenes, kind, 10, Key(4) / kind)
        found[kind] = (ASKING.programs(rows, ASKING.families(kind)), rows.scene, rows.answer)
    return found


# --- meanings


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_both_meanings(asked, scenes: Scenes, kind: str) -> None:
    programs, scene, answer = asked[kind]
    table = execute(programs, scenes, DIALECT)
    np.testing.assert_array_equal(table[np.arange(len(programs)), scene], answer)
    for program, row, code in zip(programs[::5], scene[::5].tolist(), answer[::5].tolist()):
        value = fold(program, Plainly.of(scenes, row, DIALECT), {})
        assert answer_word(program.head.out, value, DIALECT) == answer_word(program.head.out, code, DIALECT)


def test_the_fast_meaning_is_the_plain_one_everywhere(asked, scenes: Scenes) -> None:
    programs = asked["part"][0][::9]
    table = execute(programs, scenes[:10], DIALECT)
    for row in range(10):
        plain = Plainly.of(scenes, row, DIALECT)
        for program, code in zip(programs, table[:, row].tolist()):
            try:
                value = fold(program, plain, {})
            except Undefined:
                assert code == UNDEFINED
                continue
            assert code == DIALECT.answers[program.head.out].index(value)


@pytest.mark.parametrize("kind", KINDS)
def test_certain_beliefs_give_exact_answers(asked, scenes: Scenes, kind: str) -> None:
    programs = asked[kind][0][:150]
    exact = execute(programs, scenes, DIALECT)
    for row, soft in zip(exact, soft_execute(programs, PartBeliefs.knowing(scenes, DIALECT), DIALECT)):
        np.testing.assert_array_equal(soft[row != UNDEFINED], row[row != UNDEFINED])


def test_uncertain_owners_share_an_answer(scenes: Scenes) -> None:
    known = PartBeliefs.knowing(scenes, DIALECT)
    program = DIALECT.signature.parse(
        "query[color](part2object(unique_part(partfilter[partname,wheel](objects2parts(scene)))))"
    )
    unsure = replace(known, owner=np.full_like(known.owner, 1 / known.owner.shape[-1]))
    assert soft_execute([program], unsure, DIALECT)[0].shape == (len(scenes),)


def test_a_super_name_lets_all_its_parts_through(scenes: Scenes) -> None:
    count = {}
    for row in range(len(scenes)):
        plain = Plainly.of(scenes, row, DIALECT)
        wheels = plain.partfilter(plain.objects2parts(plain.scene()), "partname", "wheel")
        said = {plain.parts[part]["partname"] for part in wheels}
        assert all(name.endswith("wheel") for name in said)
        count |= dict.fromkeys(said, 1)
    assert len(count) > 4
    sort = DIALECT.sorts[1]
    assert sort.accepts("partname", "front left wheel") == ("front left wheel",)
    assert sort.accepts("partname", "license plate") == (
        "front license plate", "back license plate", "license plate",
    )  # fmt: skip


def test_light_of_cars_and_of_motorbikes_are_never_one() -> None:
    sort = DIALECT.sorts[1]
    assert not {*sort.accepts("partname", "headlight")} & {*sort.accepts("partname", "head light")}
    assert sort.accepts("partname", "rearlight") == ("rearlight",)


# --- English


@pytest.mark.parametrize("edition", ["paper", "release"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_is_read_back(asked, kind: str, edition: str) -> None:
    english, rng = english_of(WORLD if edition == "paper" else release_world(WORLD), edition), np.random.default_rng(0)
    texts = []
    for program in asked[kind][0][::3]:
        texts.append(english.say(program, rng))
        assert english.read(texts[-1]) is program
    joined = " ".join(texts)
    published = any(word in joined for word in ("buss", " a articulated", " a engine", " a exhaust", " a aeroplane"))
    if kind == "object":
        assert published == (edition == "release")


def test_articles() -> None:
    assert article("There is a utility bike and a suv and a exhaust.") == (
        "There is a utility bike and an suv and an exhaust."
    )
    assert article("There is a articulated bus; is there a aeroplane?") == (
        "There is an articulated bus; is there an aeroplane?"
    )
    assert article("a tiny engine") == "a tiny engine"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("How many buses are there?", "count(filter[shape,bus](scene))"),
        ("How many regular buss are there?", "count(filter[shape,regular](scene))"),
        (
            "What is the name of the metallic part of the big mountain bike?",
            "partquery[partname](unique_part(partfilter[material,metal](object2part(unique(filter[shape,mountain]"
            "(filter[size,large](scene)))))))",
        ),
        (
            "What is the name of the thing that has an exhaust?",
            "query[shape](part2object(unique_part(partfilter[partname,exhaust](objects2parts(scene)))))",
        ),
        (
            "What is the color of the wheel that belongs to the same object as the red roof?",
            "partquery[color](unique_part(partfilter[partname,wheel](object2part(part2object(unique_part("
            "partfilter[partname,roof](partfilter[color,red](objects2parts(scene)))))))))",
        ),
    ],
)
def test_sentences(text: str, program: str) -> None:
    assert english_of(WORLD).read(text) is DIALECT.signature.parse(program)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("What is the color of the red wheeel of the bus?", "'wheeel' is not known; did you mean 'wheel'"),
        ("How many tanks are there?", "'tanks' is not known"),
    ],
)
def test_what_is_not_understood_is_said(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        english_of(WORLD).read(text)


# --- files


def test_programs_are_written_and_read(asked) -> None:
    for kind in KINDS:
        for program in asked[kind][0][::7]:
            nodes = write_program(program, "type", DIALECT)
            assert read_program(json.loads(json.dumps(nodes)), DIALECT) is program
            names = {node["type"] for node in nodes}
            assert not names & {"unique_part", "objects2parts"}


def test_scenes_are_written_and_read(scenes: Scenes, tmp_path: Path) -> None:
    hard = replace(WORLD, complexity="hard").sample(3, Key(3))
    write_scenes(tmp_path / "s.json", hard, WORLD, "new", 7)
    file = read_scenes([tmp_path / "s.json"], WORLD)
    assert file.image_filename[0] == "superCLEVR_new_000007.png" and file.image_index.tolist() == [7, 8, 9]
    for name in hard.codes:
        np.testing.assert_array_equal(file.scenes.codes[name], hard.codes[name])
    np.testing.assert_allclose(file.scenes.position, hard.position)
    np.testing.assert_allclose(file.scenes.extra["rotation"], hard.extra["rotation"], atol=1e-4)
    record = json.loads((tmp_path / "s.json").read_text())["scenes"][0]
    assert record["objects"][0]["pixel_coords"][1] == [640, 480]
    seen = WORLD.stage.draw(hard[:1], 640, 480, ("objects", "parts"))
    for number, entry in record["obj_mask_box"].items():
        whole = read_mask(entry["obj"], "it")
        np.testing.assert_array_equal(whole, seen.objects[0] == int(number))
        parts = [read_mask(mask, raw) for raw, mask in entry.items() if raw not in ("info", "obj")]
        assert len(parts) == len(WORLD.fleet.parts[record["objects"][int(number)]["shape"]])
        assert np.sum(parts, axis=0).max() == 1 and not (np.any(parts, axis=0) & ~whole).any()


BROKEN = {
    "'tank' is not a vehicle": lambda scene: scene["objects"][0].update(shape="tank"),
    "has no part 'wing'": lambda scene: scene["objects"][0].update(shape="sedan", parts={"wing": {}}),
    "'mauve' is not a color": lambda scene: scene["objects"][0].update(color="mauve"),
    "at most 3 recorded parts, not 4": lambda scene: scene["objects"][0].update(
        shape="sedan",
        parts={name: {"color": "red", "material": "metal"} for name in ("roof", "hood", "trunk", "left_mirror")},
    ),
    "has 100 pixels, but its image of 640 x 480": lambda scene: scene["obj_mask_box"]["0"].update(
        obj=[[0, 0, 0, 0], "100"]
    ),
    "speaks of object '77'": lambda scene: scene["obj_mask_box"].update({"77": {}}),
    "is no list of run lengths": lambda scene: scene["obj_mask_box"]["0"].update(obj=[[0, 0, 0, 0], "x"]),
    "the box of obj of object 0 is": lambda scene: scene["obj_mask_box"]["0"]["obj"].__setitem__(0, [1, 2, 3, 4]),
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_files_are_refused_in_one_sentence(scenes: Scenes, tmp_path: Path, message: str, invoke: Run) -> None:
    write_scenes(tmp_path / "s.json", scenes[:1], WORLD, "new")
    whole = json.loads((tmp_path / "s.json").read_text())
    BROKEN[message](whole["scenes"][0])
    (tmp_path / "s.json").write_text(json.dumps(whole))
    (tmp_path / "q.json").write_text('{"questions": [{"question": "How many buses are there?", "image_index": 0}]}')
    ran = invoke("check", "super-clevr", "--scenes", tmp_path / "s.json", "--questions", tmp_path / "q.json")
    refused(ran, message)
    assert "s.json, scene 0: " in ran.err


@real
@pytest.mark.parametrize("file, many", [("superCLEVR_questions_images0-2.json", 146),
                                        ("superCLEVR_questions_part_images0-2.json", 135)])  # fmt: skip
def test_real_questions_are_answered_from_their_text(file: str, many: int) -> None:
    found = check([DATA / "scenes"], DATA / file, WORLD)
    assert found.fine and sum(row.agree for row in found.families) == many
    assert found.relations.agree == 5


@real
def test_real_questions_are_said_as_published() -> None:
    world = release_world(WORLD)
    english = english_of(world, "release")
    rng = np.random.default_rng(1)
    some = [q.question for q in read_questions(DATA / "superCLEVR_questions_part_images0-2.json", world)][::15]
    for text in some:
        program = english.read(text)
        assert text in {english.say(program, rng) for _ in range(300)}


@real
def test_unrecorded_parts_would_make_answers_ambiguous() -> None:
    """The check can fail: with the parts of other objects every answer about parts would be another."""
    world = release_world(WORLD)
    file = read_scenes([DATA / "scenes"], world)
    turned = {name: np.roll(c, 1, axis=0) if name.startswith("part") else c for name, c in file.scenes.codes.items()}
    there = file.scenes.codes["shape"] != 255
    moved = {
        name: np.where(there & (c == 255), 0, np.where(there, c, 255)).astype(np.uint8) for name, c in turned.items()
    }
    asked = read_questions(DATA / "superCLEVR_questions_part_images0-2.json", world)
    other = replace(file, scenes=replace(file.scenes, codes=moved))
    english, dialect = english_of(world, "release"), dialect_of(world, "release")
    word = lambda kind, value: answer_word(kind, value, dialect)  # noqa: E731
    rows = check_questions(other, asked, english.read, dialect, Plainly, word)
    assert sum(row.agree for row in rows) < 60
