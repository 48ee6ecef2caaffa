"""What the rooms ask for: the same as the command line says, and nothing that gives an answer away."""

import json
from pathlib import Path

import numpy as np
import pytest

from recombine import Curi, UserError
from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.english_reading import read_concept, read_english
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.spelling import Speller, infix
from recombine.benchmarks.exploring import Explorer, explorer
from recombine.explorer.rooms import Rooms
from recombine.language.expr import place_of
from recombine.render.png import decoded
from recombine.semantics.fold import fold
from recombine.store.store import Store
from recombine.tasks.examples import Observed
from tests.explorer.conftest import Server

PLAYED = {"curi": "boolean", "closure": "or_mat", "concept-world": "sequences"}


def test_every_concept_can_be_said_in_english_and_read_again(tiny: Curi) -> None:
    study = tiny.study
    meaning = Exact(study.scenes[:256])
    for concept in study.space.concepts[::7]:
        again = read_english(english(concept))
        assert np.array_equal(fold(concept, meaning, {}), fold(again, meaning, {})), english(concept)
        assert read_concept(infix(concept)) is concept


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("all objects are bleu", "bleu", "did you mean 'blue'"),
        ("all objects are blue and some object is red or x is a cube", "or", "with brackets"),
        ("there is an object x such that x is blue and all", "", "expected 'objects'"),
        ("the number of objects that are blue equals", "", "expected a value"),
        ("the weight of x is greater than 3", "weight", "expected a property"),
        ("some object is 3", "3", "in column 3"),
        ("all objects are blue cubes", "cubes", "expected the end"),
        ("there is a red cube", "a ", "expected 'an object x such that'"),
        ("for every cube x, x is red", "cube", "expected 'object x'"),
        ("red is the color of x and every object is blue", "every", "no sentence begins with 'every'"),
    ],
)
def test_an_error_points_at_the_word(text: str, word: str, why: str) -> None:
    with pytest.raises(UserError, match=why) as error:
        read_concept(text)
    assert place_of(str(error.value), text) == (text.rindex(word) if word else len(text))


def test_a_sentence_that_speaks_of_x_needs_a_quantifier() -> None:
    with pytest.raises(UserError, match="needs a quantifier"):
        read_concept("x is blue")
    with pytest.raises(UserError, match="longer than"):
        read_concept("all objects are " * 200)


@pytest.mark.parametrize("name", PLAYED)
def test_a_round_shows_no_answer_and_the_solution_has_all(server: Server, name: str) -> None:
    split = PLAYED[name]
    seen = server.json(f"/api/{name}/round?split={split}&number=1")
    assert seen["asked"] and all(item["answer"] == "" and item["choices"] for item in seen["asked"])
    found = server.json(f"/api/{name}/solution?split={split}&number=1")
    assert len(found["answers"]) == len(seen["asked"])
    for item, answer in zip(seen["asked"], found["answers"]):
        assert answer in item["choices"]
    for learner in ("strong", "weak"):
        assert all(sum(chances.values()) == pytest.approx(1, abs=0.05) for chances in found["said"][learner])
    sure = [chances.get(answer, 0) for chances, answer in zip(found["said"]["strong"], found["answers"])]
    assert np.mean(sure) > 0.75
    assert server.json(f"/api/{name}/round?split={split}&number=1") == seen


def test_an_episode_is_that_of_the_command_line(server: Server, tiny: Curi) -> None:
    view = tiny.show("boolean", 3)
    seen = server.json("/api/curi/round?split=boolean&number=3")
    found = server.json("/api/curi/solution?split=boolean&number=3")
    shown = {(item["shot"]["number"], item["answer"]) for item in seen["shown"]}
    assert shown == {(scene.scene, "yes" if scene.label else "no") for scene in view.support}
    said = {
        item["shot"]["number"]: (answer, strong.get("yes", 0.0))
        for item, answer, strong in zip(seen["asked"], found["answers"], found["said"]["strong"])
    }
    for scene in view.query:
        answer, strong = said[scene.scene]
        assert answer == ("yes" if scene.label else "no") and strong == pytest.approx(scene.strong, abs=0.006)
    assert found["concept"] == view.concept_english
    assert sum(one["true"] for one in found["hypotheses"]) == 1


def test_what_is_asked_comes_in_an_order_that_tells_nothing(server: Server) -> None:
    first = [server.json(f"/api/curi/solution?split=counting&number={n}")["answers"][:5] for n in range(4)]
    assert any("no" in answers for answers in first)


def test_a_concept_is_read_counted_and_shown(server: Server, tiny: Curi) -> None:
    text = "there is an object x such that x is blue and all other objects are cubes"
    found = server.json("/api/curi/read", {"text": text})
    concept = read_concept(text)
    holds = np.flatnonzero(fold(concept, Exact(tiny.study.scenes), {}))
    assert [(group["label"], group["count"]) for group in found["groups"]] == [
        ("holds", len(holds)),
        ("does not hold", tiny.study.setup.scale.scenes - len(holds)),
    ]
    assert [shot["number"] for shot in found["groups"][0]["shots"]] == holds[:24].tolist()
    later = server.json("/api/curi/read", {"text": infix(concept), "first": 24})
    assert [shot["number"] for shot in later["groups"][0]["shots"]] == holds[24:48].tolist()
    assert dict(found["forms"])["infix"] == infix(concept)
    files = dict(found["files"])
    assert Speller().read(files["mine.txt"].strip()) is concept
    name, _, where = files["mine.split"].strip().partition("=")
    assert name == "mine" and {"blue", "cube", "exists"} <= set(where.split(" & "))
    Curi(tiny.study.setup.scale, "release", hold_out={"mine": where}, store=tiny.store)


def test_synonyms_are_those_of_the_same_meaning(server: Server, tiny: Curi) -> None:
    space = tiny.study.space
    sense = int(np.bincount(space.sense).argmax())
    mine = np.flatnonzero(space.sense == sense)
    found = server.json("/api/curi/read", {"text": infix(space.concepts[mine[0]])})
    assert found["same"] == len(mine) > 1 and "It is one of them." in found["notes"]


@pytest.mark.parametrize(
    ("name", "text", "at"),
    [
        ("curi", "exists x in S and(=(color?(x), bleu), all(shape?(S), cube))", 31),
        ("closure", "How many reed cubes are there?", 9),
        ("concept-world", "f_pent west of z_pint", 15),
        ("concept-world", "concept a(X):\n    X == (b) and pint(b)", 31),
    ],
)
def test_a_text_that_cannot_be_read_says_where(server: Server, name: str, text: str, at: int) -> None:
    found = server.json(f"/api/{name}/read", {"text": text})
    assert found["error"] and found["at"] == at


def test_a_question_has_an_answer_on_every_scene_where_it_has_one(server: Server) -> None:
    found = server.json("/api/closure/read", {"text": "Are there any red cubes?"})
    assert {group["label"] for group in found["groups"]} <= {"yes", "no"}
    assert sum(group["count"] for group in found["groups"]) == found["total"] == 120
    asked = json.loads(dict(found["files"])["questions.json"])["questions"]
    assert len(asked) == 120 and asked[0]["program"][-1]["function"] == "exist"


def test_a_definition_is_drawn_and_never_taken_for_a_file(server: Server) -> None:
    found = server.json("/api/concept-world/read", {"text": "f_pent west of z_pent"})
    assert len(found["groups"][0]["shots"]) == 16 and "exactly" in found["notes"][0]
    for text in ("/etc/passwd.concepts", "mine.concepts", "../x.concepts"):
        assert "error" in server.json("/api/concept-world/read", {"text": text})


def test_pictures_and_sounds_are_those_of_the_scene_and_kept(server: Server, tiny: Curi) -> None:
    status, headers, body = server.ask("/picture/curi/7.png")
    assert (status, headers["content-type"]) == (200, "image/png") and "max-age" in headers["cache-control"]
    batch, place = tiny.study.scene(7)
    from recombine.render.raytrace import raytrace

    assert np.array_equal(decoded(body), raytrace(batch[place : place + 1], 240, 160, ("rgb",)).rgb[0])
    status, headers, body = server.ask("/sound/curi/7.wav")
    assert (status, headers["content-type"], body[:4]) == (200, "audio/wav", b"RIFF")
    assert ("curi", "picture", 7) in server.rooms.kept.found
    card = server.json("/api/curi/scene?number=7")
    assert len(card["parts"]) == len(card["plays"]) == len(card["data"]) and card["parts"][0]["outline"].startswith("M")


def test_only_so_much_is_kept() -> None:
    from recombine.explorer.rooms import Kept

    kept = Kept(10)
    for number in range(5):
        kept.get(("a", "b", number), lambda: b"1234")
    assert kept.size <= 10 and list(kept.found) == [("a", "b", 3), ("a", "b", 4)]
    assert kept.get(("a", "b", 4), lambda: b"new") == b"1234"


def test_two_learners_are_compared_item_by_item(server: Server) -> None:
    found = server.json("/api/closure/differences?split=or_mat&one=strong&other=weak")
    assert found["items"] and found["one"] >= len(found["items"]) and found["other"] == 0
    for item in found["items"]:
        assert item["one"] == {"answer": item["answer"], "chance": 1, "right": True} and not item["other"]["right"]
    same = server.json("/api/closure/differences?split=or_mat&one=strong&other=strong")
    assert (same["items"], same["one"], same["other"]) == ([], 0, 0) and same["of"] > 0
    found = server.json("/api/curi/differences?split=boolean&one=strong&other=nearest")
    assert all(item["one"]["right"] != item["other"]["right"] for item in found["items"])


class Says:
    """A learner that says the same of every item: its favourite as likely as `chance`, all others alike."""

    def __init__(self, favourite: str, chance: float) -> None:
        self.favourite, self.chance = favourite, chance

    def predict(self, seen: Observed) -> np.ndarray:
        others = (1 - self.chance) / (len(seen.answers) - 1)
        row = np.where(np.array(seen.answers) == self.favourite, self.chance, others)
        return np.tile(row, ((~seen.given).sum(), 1))


def test_right_is_whose_likeliest_answer_is_right_however_unsure(server: Server) -> None:
    """Among many answers a learner may be right with little belief, and one that is undecided is not."""
    opened = server.rooms.explorer("closure")
    piece = opened.whole("or_mat")
    unsure, undecided = Says("2", 0.2), Says("2", 1 / len(piece.answers))
    found = opened.differences("or_mat", unsure, undecided)
    asked = np.array(piece.answers)[piece.asked]
    assert (found.one, found.other, found.of) == ((asked == "2").sum(), 0, len(asked)) and found.one > 0
    for item in found.items:
        assert item.answer == item.one.answer == "2" and item.one.chance == pytest.approx(0.2)
        assert item.other.answer == ""


def test_images_are_chosen_by_a_concept(server: Server) -> None:
    """The experiments' images that satisfy what is written, and the definition that was understood."""
    found = server.json("/api/concept-world/filtered", {"text": "red_seq"})
    holds, rest = found["groups"]
    opened = server.rooms.explorer("concept-world")
    assert holds["count"] + rest["count"] == found["total"] and found["notes"] == []
    labels = [opened.scene(shot["number"]).data["label"] for shot in holds["shots"]]
    assert "red" in labels and "mixed" not in labels
    assert dict(found["forms"])["definition"].startswith("concept red_seq(")
    later = server.json("/api/concept-world/filtered", {"text": "red_seq", "first": 24})
    assert later["groups"][0]["count"] == holds["count"] and later["groups"][0]["shots"] != holds["shots"]
    wrong = server.json(
        "/api/concept-world/filtered", {"text": "grid 8 by 8\nconcept a(X):\n    X == (b) and point(b)"}
    )
    assert "leave 'grid' and 'colors' out" in wrong["error"]
    assert server.json("/api/concept-world/filtered", {"text": "red_sq"})["at"] == 0


def test_judging_images_ends_in_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.benchmarks.concept_world import explore

    text = "concept stack(X):\n    loose_stack(X)"
    server.json("/api/concept-world/filtered", {"text": "red_point"})
    monkeypatch.setattr(explore, "SECONDS", 0.5)
    found = server.json("/api/concept-world/filtered", {"text": text})
    assert "could be judged" in " ".join(found.get("notes", [found.get("error")]))


def test_a_phrase_can_be_saved_as_a_file_of_concepts(server: Server, tmp_path: Path) -> None:
    found = server.json("/api/concept-world/read", {"text": "f_pent west of z_pent"})
    ((name, text),) = found["files"]
    assert f"draw {name} --concept f_pent_west_of_z_pent" in found["commands"][0]
    (tmp_path / name).write_text(text, encoding="utf-8")
    from recombine.benchmarks.concept_world.reader import load_library, read_file

    known = load_library()
    kept = set(read_file(tmp_path / name, known).definitions) - set(known.definitions)
    assert kept == {"f_pent_west_of_z_pent"}
    assert server.json("/api/concept-world/read", {"text": "red_seq"})["files"] == []


def test_who_weighs_the_whole_language_says_what_it_thinks(server: Server) -> None:
    assert (
        server.json("/api/curi/about")["thinker"] == "enumeration" and not server.json("/api/closure/about")["thinker"]
    )
    said = server.json("/api/curi/thought?split=boolean&number=0")
    assert len(said) == 25 and said[0] == {"no": 0.5, "yes": 0.5}
    assert server.ask("/api/closure/thought?split=or_mat&number=0")[0] == 400
    assert server.ask("/api/curi/thought?split=nowhere&number=0")[0] == 400


def test_runs_stand_beside_the_paper_and_their_networks_answer(server: Server) -> None:
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    (found,) = server.json("/api/runs")
    assert found["benchmark"] == "concept-world" and found["tables"][0]["rows"]
    for curve in found["curves"]:
        for name in (curve["name"], f"{curve['name']}-narrow"):
            status, headers, body = server.ask(f"/figure/{name}.svg")
            assert status == 200 and body.startswith(b"<svg") and "script" not in headers["content-security-policy"]
    solution = server.json("/api/concept-world/solution?split=sequences&number=0")
    assert {"concept-world-sequences-mlp-0", "concept-world-sequences-mlp-1"} <= set(solution["said"])
    server.json("/api/concept-world/differences?split=sequences&one=strong&other=concept-world-sequences-mlp-0")


def test_any_benchmark_can_be_played(tiny: Curi) -> None:
    """What a benchmark without an explorer of its own has."""
    plain = Explorer(tiny)
    seen, found = plain.round("counting", 2), plain.solution("counting", 2)
    assert len(seen.asked) == len(found.answers) and seen.asked[0].shot.words
    assert type(explorer(tiny)).__name__ == "CuriExplorer"
    for call in (
        lambda: plain.read("x"),
        lambda: plain.scene(0),
        lambda: plain.picture(0),
        lambda: plain.sound(0),
        plain.factors,
    ):
        with pytest.raises(UserError):
            call()


def test_what_the_command_says(invoke, tmp_path) -> None:
    from tests.commands import refused

    refused(invoke("explore", "--runs", tmp_path / "nowhere"), "is no folder")
    refused(invoke("explore", "--port", "99999"), "choose another port")


def test_questions_with_more_words_are_about_the_scenes_that_are_shown_and_have_a_gap(own_home: Path) -> None:
    from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
    from recombine.benchmarks.super_clevr.study import SuperClevr

    rooms = Rooms(studies={"super-clevr": SuperClevr(SuperClevrScale("tiny", 4, 4, 12, 3, 3), store=Store(own_home))})
    opened = rooms.explorer("super-clevr")
    said = dict.fromkeys(("strong", "weak"), 0.0)
    for number in range(opened.rounds("rd+")):
        found, (examples, order) = rooms.solution("super-clevr", "rd+", number), opened.rows("rd+", number)
        for i, (row, answer) in enumerate(zip(order, found["answers"])):
            shown = opened.scene(opened.shot(examples, int(row)).number).data["objects"]
            true = examples.scenes.objects(int(examples.scene[row]))
            assert [one["color"] for one in shown] == [one["color"] for one in true]
            for who in said:
                said[who] += found["said"][who][i].get(answer, 0)
    assert said["strong"] > said["weak"]


def test_vehicles_have_parts_and_one_layout_at_every_complexity(own_home: Path) -> None:
    from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
    from recombine.benchmarks.super_clevr.study import SuperClevr

    study = SuperClevr(SuperClevrScale("tiny", 4, 4, 12, 3, 3), store=Store(own_home))
    rooms = Rooms(studies={"super-clevr": study})
    seen, found = rooms.round("super-clevr", "part", 0), rooms.solution("super-clevr", "part", 0)
    assert all(answer in item["choices"] for item, answer in zip(seen["asked"], found["answers"]))
    card = rooms.scene("super-clevr", 5)
    assert len(card["parts"]) == len(card["data"]["objects"]) + len(card["data"]["parts"])
    factor, redundancy, composition, distribution = rooms.factors("super-clevr")
    assert [level for level, _ in factor["levels"]] == ["easy", "mid", "hard"]
    assert [level for level, _ in composition["levels"]] == ["co-0", "co-1", "co-2"]
    assert len(distribution["levels"]) == 6 and not distribution["said"]
    assert len({number for _, number in redundancy["levels"]}) == 1 and len({*redundancy["said"]}) == 3
    cards = [rooms.scene("super-clevr", number) for _, number in factor["levels"]]
    shapes = [[one["shape"] for one in card["data"]["objects"]] for card in cards]
    assert shapes[0] == shapes[1] == shapes[2] and not cards[0]["data"]["parts"] and cards[1]["data"]["parts"]
    assert len({rooms.picture("super-clevr", number) for _, number in factor["levels"]}) == 3
    worn = [rooms.scene("super-clevr", number)["data"]["objects"] for _, number in composition["levels"]]
    assert len({str([one["shape"] for one in some]) for some in worn}) == 1
    assert len({str([one["color"] for one in some]) for some in worn}) == 3
    assert {part["of"] for part in cards[1]["parts"]} <= {None, *range(len(shapes[1]))}
    answered = rooms.read("super-clevr", "How many red cars are there?", 0)
    assert sum(group["count"] for group in answered["groups"]) == answered["total"] == 20
    with pytest.raises(UserError, match="there is no scene"):
        rooms.scene("super-clevr", 20 + 4 * 12)
    with pytest.raises(UserError, match="there is no layout 4"):
        rooms.factors("super-clevr", 4)


def test_an_error_of_a_file_points_without_saying_line_and_column(server: Server) -> None:
    for text in ("f_pnt", "concept a(X):\n  f_pnt(X)"):
        found = server.json("/api/concept-world/read", {"text": text})
        assert found["error"].startswith("there is no concept 'f_pnt'") and found["at"] == text.index("f_pnt")
