"""ConceptWorld on the command line: concepts are drawn and recognised, experiments are shown, made and measured."""

import json
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import recombine as rc
from recombine.benchmarks import study as of_studies
from recombine.benchmarks.concept_world import extension
from recombine.benchmarks.concept_world.pipeline import SHARES
from recombine.render.png import decoded, png, read_png
from recombine.store.errors import UserError
from tests.commands import Run, refused

TINY = ("--scale", "tiny", "--workers", "1")
MINE = """
# Towers of points.
colors red, blue
concept tower(X) "points on top of each other": X == (x) and point(x)
    or (X == x :: XS and XS == y :: YS and south_point_1(x, y) and tower(XS))
concept red_tower(X): tower(X) and red(X)
concept mixed_tower(X): tower(X) and not red(X) and not blue(X)

experiment towers "Towers":
    train:
        red   20 of red_tower where depth(tower) <= 2
        mixed 20 of mixed_tower where depth(tower) == 2
    test higher:
        red   10 of red_tower where depth(tower) == 3
        mixed 10 of mixed_tower where depth(tower) == 3
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, invoke: Run) -> Run:
    """Run a command in this process; `tiny` is a scale."""
    monkeypatch.setitem(SHARES, "tiny", 0.02)
    monkeypatch.setattr(of_studies, "LAWS", {})  # they take their time, in tests/test_benchmarks.py
    return invoke


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of one's own."""
    (tmp_path / "mine.concepts").write_text(MINE)
    return tmp_path / "mine.concepts"


# ---- Drawing and recognising ----

DRAWN = ("f_pent west of z_pent", "path", "mixed_seq", "adj", "2x2_square_of_squares_checkerboard", "red")


@pytest.mark.parametrize("target", DRAWN)
def test_what_is_drawn_is_recognised(run: Run, tmp_path: Path, target: str) -> None:
    words = ("draw", target, "--n", "3", "--grid", "14x13", "--depth", "2")
    assert run(*words, "--out", tmp_path / "images").code == 0
    files = sorted((tmp_path / "images").iterdir())
    assert [file.name for file in files] == ["0.png", "1.png", "2.png"]
    pixels = [read_png(file) for file in files]
    assert all(one.shape == (13, 14, 3) for one in pixels)
    assert len({one.tobytes() for one in pixels}) == 3
    for file in files:
        ran = run("recognise", file, target, "--json")
        assert ran.code == 0 and json.loads(ran.out)["holds"]
        assert "14 by 13" in ran.err


def test_a_pixel_more_is_no_longer_recognised(run: Run, tmp_path: Path) -> None:
    run("draw", "f_pent", "--n", "1", "--out", tmp_path / "f.png")
    pixels = read_png(tmp_path / "f.png").copy()
    pixels[tuple(np.argwhere(pixels.sum(axis=2) == 0)[0])] = (255, 0, 0)
    (tmp_path / "more.png").write_bytes(png(pixels))
    ran = run("recognise", tmp_path / "more.png", "f_pent")
    assert ran.code == 1
    assert "no: " in ran.out and "6 points" in ran.said
    assert json.loads(run("recognise", tmp_path / "more.png", "f_pent", "--json").out)["object"] is None


def test_recognise_says_what_the_image_is_made_of(run: Run, tmp_path: Path) -> None:
    run("draw", "red_seq", "--where", "depth(east_seq) == 2", "--n", "1", "--out", tmp_path / "row.png")
    ran = run("recognise", tmp_path / "row.png", "red_seq", "--graph", tmp_path / "row.svg")
    assert ran.code == 0 and ran.out.startswith("yes: ")
    assert "2x2_square red (" in ran.said and "1 → 2: east_1" in ran.said and "as above" in ran.said
    assert "red_seq" in (tmp_path / "row.svg").read_text()
    other = run("recognise", tmp_path / "row.png", "blue_seq")
    assert other.code == 1 and "x.color == blue fails" in other.said


def test_draw_shows_an_image_its_graph_and_how_many_there_are(run: Run) -> None:
    ran = run("draw", "f_pent west of z_pent", "--grid", "12x8")
    assert ran.code == 0 and "▀" in ran.out
    assert "1 z_pent" in ran.said and "1 → 2: west" in ran.said
    number = json.loads(run("count", "f_pent west of z_pent", "--grid", "12x8", "--json").out)
    assert number["exact"] and f"exactly {number['images']:,} images" in ran.said


def test_a_sheet_holds_all_images(run: Run, tmp_path: Path) -> None:
    ran = run("draw", "x_pent", "--n", "12", "--out", tmp_path / "deep" / "sheet.png", "--graph", tmp_path / "x.svg")
    assert ran.code == 0 and ran.err.count("wrote") == 2
    sheet = decoded((tmp_path / "deep" / "sheet.png").read_bytes())
    black = (sheet == 0).all(axis=2).sum()
    scale = round(np.sqrt(black / (12 * (32 * 32 - 5))))
    assert black == 12 * (32 * 32 - 5) * scale**2
    assert "<svg" in (tmp_path / "x.svg").read_text()


def test_more_images_than_exist_are_not_made_twice(run: Run) -> None:
    ran = run("draw", "red_square", "--grid", "4x4", "--n", "50", "--json")
    found = json.loads(ran.out)
    assert len({json.dumps(thing) for thing in found["objects"]}) == 9
    assert found["count"] == {"images": 9, "low": 9, "high": 9, "exact": True}
    assert "only 9 images exist; making all of them" in ran.err


def test_the_seed_decides_the_images(run: Run) -> None:
    words = ("draw", "f_pent", "--n", "4", "--json", "--seed")
    assert run(*words, "1").out == run(*words, "1").out != run(*words, "2").out


def test_what_the_depth_leaves_out_is_said(run: Run) -> None:
    assert "more than 3 times are left out" in run("draw", "red_seq", "--depth", "3").err
    assert run("draw", "red_seq", "--where", "depth(east_seq) == 3").err == ""
    assert run("draw", "f_pent").err == ""


def test_too_many_alternatives_are_drawn_and_not_counted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "MOST_PLANS", 5)
    ran = run("draw", "any_pent", "--n", "3", "--json")
    assert ran.code == 0 and "not uniformly" in ran.err
    found = json.loads(ran.out)
    assert found["count"] is None and len(found["objects"]) == 3
    refused(run("count", "any_pent"), "too many alternatives to be counted")


def test_a_file_draws_its_last_concept_or_the_one_that_is_named(run: Run, mine: Path) -> None:
    assert json.loads(run("draw", mine, "--json").out)["concept"] == "mixed_tower"
    assert json.loads(run("draw", mine, "--concept", "tower", "--json").out)["concept"] == "tower"
    phrase = run("draw", "red_tower west of mixed_tower", "--concepts", mine, "--json")
    assert json.loads(phrase.out)["concept"] == "red_tower_west_of_mixed_tower"


def test_draw_alone_lists_the_concepts(run: Run, mine: Path) -> None:
    listed = {row["concept"] for row in json.loads(run("draw", "--concepts", mine, "--json").out)}
    assert {"f_pent", "path", "red_tower"} <= listed
    assert "f_pent" in run("draw").out


COUNTED = {
    "every pair of neighbours": (("adj", "--grid", "3x2"), 7 * 25),
    "every place for a square": (("red_square",), 31 * 31),
    "a row of three squares": (("red_seq", "--where", "depth(east_seq) == 3"), 31 * (33 - 2 * 3)),
    "a red point": (("red", "--grid", "5x4"), 20),
}


@pytest.mark.parametrize("case", COUNTED)
def test_counts_are_those_of_a_short_calculation(run: Run, case: str) -> None:
    words, expected = COUNTED[case]
    assert json.loads(run("count", *words, "--json").out)["images"] == expected
    assert f"exactly {expected:,} images" in run("count", *words).said


def test_an_estimate_says_so(run: Run) -> None:
    number = json.loads(run("count", "path", "--depth", "1", "--json").out)
    assert not number["exact"] and number["low"] < number["images"] < number["high"]
    assert "95 % between" in run("count", "path", "--depth", "1").out


def test_the_same_from_python(tmp_path: Path, mine: Path) -> None:
    drawing = rc.draw("mixed_tower", 5, concepts=mine, grid=(6, 6))
    assert drawing.images.shape == (5, 6, 6) and drawing.pixels.shape == (5, 6, 6, 3)
    assert all(rc.recognise(codes, "mixed_tower", concepts=mine) for codes in drawing.images)
    assert not rc.recognise(drawing.pixels[0], "red_tower", concepts=mine)
    assert rc.count("red_tower", concepts=mine, grid="6x6", depth=1).images == 36
    assert read_png(rc.draw("red").write(tmp_path / "one.png")).shape == (32, 32, 3)
    with pytest.raises(UserError, match="too many for one sheet"):
        rc.draw("east_point", 20_000).write(tmp_path / "sheet.png")
    assert not (tmp_path / "sheet.png").exists()


# ---- Experiments ----


def test_list_has_every_part_of_every_experiment(run: Run) -> None:
    rows = json.loads(run("list", "concept-world", "--scale", "paper", "--json").out)
    images = {(row["experiment"], row["part"]): row["images"] for row in rows}
    assert images["sequences", "train"] == 4_800 and images["sequences", "length_7"] == 1_500
    assert len(images) == 4 + 8
    assert "type_1 800, type_2 800" in rows[-3]["classes"]


def test_show_has_an_image_of_every_line(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    words = ("show", "concept-world/patterns", "--image", "1", *TINY)
    ran = run(*words, "--out", page)
    view = json.loads(run(*words, "--json").out)
    assert ran.code == 0 and [part["name"] for part in view["parts"]] == ["train", "squares_4x4"]
    assert [image["label"] for image in view["parts"][1]["images"]] == view["classes"]
    striped = view["parts"][1]["images"][2]
    assert striped["strong"]["stripes"] == 1 and 0 < striped["weak"]["stripes"] < 1
    shown = run(*words)
    assert all(name in shown.said for name in ("2x2_vert_stripe", "weak: blue 0.33, red 0.33, stripes 0.33"))
    text = unescape(page.read_text())
    assert "2x2_square_of_squares_blue" in text and text.count("src=") == text.count('src="data:image/png') == 8
    assert [f.name for f in page.parent.iterdir()] == ["page.html"]


def test_show_has_parts_of_its_own(run: Run) -> None:
    def shown(part: str) -> list[str]:
        view = json.loads(run("show", "concept-world/patterns", "--part", part, *TINY, "--json").out)
        return [part["name"] for part in view["parts"]]

    assert shown("train") == ["train"]
    assert shown("test") == shown("squares_4x4") == ["squares_4x4"]


def test_made_images_are_those_of_their_class(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "made"
    ran = run("make", "concept-world", "--split", "patterns", "--sheets", "--out", out, *TINY, "--json")
    assert ran.code == 0 and json.loads(ran.out) == {"folder": str(out)}
    assert {f.name for f in (out / "patterns").iterdir()} == {"train.parquet", "squares_4x4.parquet", "sheet.png"}
    rows = pq.read_table(out / "patterns" / "squares_4x4.parquet").to_pylist()
    assert len(rows) == 4 * 7
    for row in rows[::7]:
        assert rc.recognise(decoded(row["image"]["bytes"]), row["concept"])


def test_gap_prints_the_same_numbers_for_people_and_machines(run: Run, tmp_path: Path) -> None:
    words = ("gap", "concept-world", "--split", "patterns", *TINY)
    (record,) = json.loads(run(*words, "--json", "--out", tmp_path / "gap.json").out)
    assert [record] == json.loads((tmp_path / "gap.json").read_text())
    assert record["strong"] == 100 and record["gap"] == pytest.approx(100 - record["weak"])
    assert record["units"] == 28 and record["published"]["MLP"] == pytest.approx(75.57, abs=0.01)
    assert f"{record['weak']:.1f}" in run(*words).said


def test_an_experiment_of_ones_own_takes_the_place_of_the_four(run: Run, mine: Path, tmp_path: Path) -> None:
    own = ("--concepts", mine, "--scale", "paper")
    assert {row["experiment"] for row in json.loads(run("list", "concept-world", *own, "--json").out)} == {"towers"}
    (record,) = json.loads(run("gap", "concept-world", *own, "--json").out)
    assert record["test"] == "towers/higher" and record["strong"] == 100 and 0 < record["gap"] < 100
    view = json.loads(run("show", "concept-world/towers", *own, "--json").out)
    assert view["classes"] == ["red", "mixed"]
    assert run("make", "concept-world", *own, "--out", tmp_path / "made").code == 0
    assert len(pq.read_table(tmp_path / "made" / "towers" / "higher.parquet")) == 20
    checked = json.loads(run("check", "concept-world", "--concepts", mine, "--json").out)
    assert "3 concepts and 1 experiments" in checked[0]["law"] and {row["verdict"] for row in checked} == {"holds"}


def test_a_report_is_one_self_contained_file(run: Run, mine: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "report.html"
    assert run("report", "concept-world", "--concepts", mine, "--scale", "paper", "--out", out).code == 0
    text = out.read_text()
    assert [f.name for f in out.parent.iterdir()] == ["report.html"]
    assert text.count("src=") == text.count('src="data:image/png') and 'href="http' not in text
    assert all(word in unescape(text) for word in ("towers/higher", "mixed_tower where depth(tower) == 3", "1,984"))


def test_a_report_as_markdown_has_its_pictures_beside_it(run: Run, mine: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "own.md"
    assert run("report", "concept-world", "--concepts", mine, "--scale", "paper", "--out", out).code == 0
    drawn = {f"own/{file.name}" for file in (out.parent / "own").iterdir()}
    assert drawn == {"own/gap-accuracy.svg", "own/towers.png", "own/towers-graph.svg"}
    assert all(f"]({name})" in out.read_text() for name in drawn)


def test_substitutions_have_a_gap(run: Run) -> None:
    chosen = ("--split", "substitution", "--split", "patterns")
    records = json.loads(run("gap", "concept-world", *chosen, *TINY, "--json").out)
    assert [record["test"] for record in records] == [
        "substitution/one_substitution",
        "substitution/two_substitutions",
        "patterns/squares_4x4",
    ]
    assert all(record["strong"] == 100 and record["gap"] > 0 for record in records)


# ---- Bad input ----

BAD = {
    "unknown concept": (("draw", "f_pents"), "no concept 'f_pents'"),
    "unknown relation": (("draw", "f_pent wst of z_pent"), "did you mean 'west'"),
    "half a phrase": (("draw", "f_pent west of"), "<phrase>:1:"),
    "unknown file": (("draw", "nowhere.concepts"), "no file nowhere.concepts"),
    "concept of no file": (("draw", "f_pent", "--concept", "z_pent"), "concept names a concept of a .concepts file"),
    "bad grid": (("draw", "f_pent", "--grid", "32"), "WIDTHxHEIGHT"),
    "no grid": (("draw", "f_pent", "--grid", "0x5"), "1 to 512"),
    "small grid": (("draw", "f_pent", "--grid", "2x2"), "f_pent"),
    "huge grid": (("draw", "f_pent", "--grid", "100000x5"), "1 to 512"),
    "no image": (("draw", "f_pent", "--n", "0"), "at least 1"),
    "too many images": (("draw", "east_point", "--n", "999999999"), "200,000"),
    "bad condition": (("draw", "red_seq", "--where", "depth(east_seq)"), "<where>:1:"),
    "unknown name in a condition": (("draw", "red_seq", "--where", "depth(east_sq) == 1"), "east_seq"),
    "condition that nothing satisfies": (("draw", "f_pent", "--where", "uses(z_pent)"), "loosen the condition"),
    "no depth": (("count", "red_seq", "--depth", "0"), "from 1 to 64"),
    "too deep": (("count", "red_seq", "--depth", "1000"), "from 1 to 64"),
    "bad ending": (("draw", "f_pent", "--out", "sheet.gif"), ".png"),
    "bad ending of a graph": (("draw", "f_pent", "--graph", "graph.png"), ".svg"),
    "missing image": (("recognise", "nowhere.png", "f_pent"), "nowhere.png"),
    "unknown experiment": (("show", "concept-world/box", *TINY), "no experiment 'box'"),
    "no experiment": (("show", "concept-world", *TINY), "concept-world/boxworld"),
    "unknown part": (("show", "concept-world/patterns", "--part", "dev", *TINY), "one of train, squares_4x4"),
    "no such image": (("show", "concept-world/patterns", "--image", "999", *TINY), "from 0 to 13"),
    "unknown split": (("gap", "concept-world", "--split", "box", *TINY), "no experiment 'box'"),
    "unknown scale": (("gap", "concept-world", "--scale", "huge"), "no scale 'huge'"),
    "no editions": (("gap", "concept-world", "--edition", "release"), "No such option: --edition"),
    "no negatives": (("gap", "concept-world", "--negatives", "easy", *TINY), "No such option: --negatives"),
    "bad ending of a report": (("report", "concept-world", "--out", "report.pdf", *TINY), ".html"),
    "sheets of CLEVR": (("make", "clevr", "--sheets"), "No such option: --sheets"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_words_get_one_sentence_and_exit_code_2(
    run: Run, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, expected = BAD[case]
    refused(run(*words), expected)
    assert not list(tmp_path.iterdir())


BAD_FILES = {
    "syntax": ("concept a(X): X ==", "mine.concepts:1:"),
    "undefined": ("concept a(X): X == (x, y) and bleu(x)", "mine.concepts:1:"),
    "arity": ("concept a(X): X == (x, y) and east_1(x)", "mine.concepts:1:"),
    "no end": ("concept a(X): a(X)", "a"),
    "contradiction": ("concept a(X): red(X) and blue(X)", "exclude one another"),
    "taken name": ("concept red(X): blue(X)", "already defined"),
    "nothing": ("# only words", "defines no concept"),
    "not text": (b"\xff\xfe\x00", "UTF-8"),
}


@pytest.mark.parametrize("case", list(BAD_FILES))
def test_a_bad_file_is_named_with_the_place(
    run: Run, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content, expected = BAD_FILES[case]
    Path("mine.concepts").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(run("draw", "mine.concepts", "--out", "sheet.png"), expected)
    assert [f.name for f in tmp_path.iterdir()] == ["mine.concepts"]


OWN = "concept one(X): red(X)\nexperiment mine:\n train:\n {} of one\n {}\n test t:\n a 5 of one"
BAD_EXPERIMENTS = {
    "no experiment": ("concept one(X): red(X)", "defines no experiment"),
    "classes that are the same": (OWN.format("a 5", "b 5 of one"), "make the classes exclude one another"),
    "too many images": (OWN.format("a 999999", "b 5 of blue"), "ask for fewer"),
}


@pytest.mark.parametrize("case", list(BAD_EXPERIMENTS))
def test_a_bad_experiment_is_refused(run: Run, case: str, tmp_path: Path) -> None:
    text, expected = BAD_EXPERIMENTS[case]
    (tmp_path / "mine.concepts").write_text(text)
    refused(run("gap", "concept-world", "--concepts", tmp_path / "mine.concepts", "--scale", "paper"), expected)


def test_images_that_run_out_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "few.concepts").write_text("grid 4 by 4\n" + OWN.format("a 9", "b 99 of blue"))
    ran = run("gap", "concept-world", "--concepts", tmp_path / "few.concepts", "--scale", "paper")
    assert ran.code == 0 and "99 images of 'b' were asked for, only 16 were found" in ran.said


BAD_IMAGES = {
    "not an image": (b"hello", "is not a PNG image"),
    "cut off": (png(np.zeros((32, 32, 3), np.uint8))[:40], "is damaged"),
    "another colour": (png(np.full((4, 4, 3), 7, np.uint8)), "neither black nor exactly"),
    "too large": (png(np.zeros((4, 600, 3), np.uint8)), "at most 512 a side"),
}


@pytest.mark.parametrize("case", list(BAD_IMAGES))
def test_a_bad_image_is_refused(run: Run, case: str, tmp_path: Path) -> None:
    content, expected = BAD_IMAGES[case]
    (tmp_path / "image.png").write_bytes(content)
    refused(run("recognise", tmp_path / "image.png", "f_pent"), expected)


def test_a_folder_that_is_not_empty_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused(run("make", "concept-world", "--out", tmp_path, *TINY), "exists and is not empty")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "file").write_text("mine")
    refused(run("draw", "f_pent", "--out", tmp_path / "images"), "exists and is not empty")
    assert [f.name for f in (tmp_path / "images").iterdir()] == ["file"]


@pytest.mark.parametrize("command", ["draw", "count", "recognise"])
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert ran.code == 0 and f"Example: recombine {command}" in ran.said
