"""Laws of the view of a question."""

import hashlib
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from io import StringIO
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family, build
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, signature
from recombine.benchmarks.clevr.meaning import UNDEFINED, answer_text, execute
from recombine.benchmarks.clevr.program import in_order
from recombine.benchmarks.clevr.question_page import (
    ProgramNode,
    QuestionView,
    program_graph,
    question_card,
    question_page,
    question_terminal,
    question_view,
)
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.shapes import Description, Filling
from recombine.benchmarks.clevr.trace import NO_VALUE, trace_text
from recombine.language.expr import Expr
from recombine.render.schematic import FAINT, cards, draw, phrase, top_down
from recombine.report.page import Section, page
from recombine.world.scenes import Scenes

SVG = "{http://www.w3.org/2000/svg}"
THINGS = (
    ("large", "brown", "rubber", "cylinder"),
    ("large", "gray", "rubber", "cube"),
    ("small", "green", "metal", "sphere"),
    ("small", "gray", "metal", "cube"),
)
PLACES = ((-2.0, 0.5, 0.7), (0.5, -1.0, 0.7), (2.0, 2.5, 0.35), (-2.5, -2.0, 0.35))


def made() -> Scenes:
    """One scene of four objects, with room for five."""
    codes = {
        attribute.name: np.array([[attribute.code(thing[i]) for thing in THINGS] + [255]], np.uint8)
        for i, attribute in enumerate(CLEVR_VOCABULARY)
    }
    position = np.zeros((1, 5, 3), np.float32)
    position[0, :4] = PLACES
    return Scenes(
        CLEVR_VOCABULARY, np.array([4], np.uint8), codes, position, {"rotation": np.full((1, 5), 20, np.float32)}
    )


SCENES = made()
PARSE = signature().parse
CUBE = "filter[shape,cube](filter[size,large](scene))"
PROGRAM = PARSE(f"count(union(relate[left](unique({CUBE})), filter[material,metal](filter[color,gray](scene))))")
STRANGE = PARSE("exist(filter[color,red](same[size](unique(filter[shape,cube](scene)))))")


def seen(program: Expr = PROGRAM, question: str = 'How <many> & "which"?', number: int = 3) -> QuestionView:
    return question_view(
        program,
        question,
        "2",
        SCENES,
        0,
        "or_mat <3>",
        number,
        scene_number=4101,
        weak=(("<b>", 0.625), ("2", 0.375)),
        strong="2",
    )


class Balance(HTMLParser):
    """Checks that every element that opens is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


# --- words --------------------------------------------------------------------------------------------------------


def test_a_trace_says_every_step_in_plain_language() -> None:
    assert trace_text(PROGRAM, SCENES, 0).splitlines() == [
        "everything: objects 0, 1, 2 and 3",
        "the 2 large things: objects 0 and 1",
        "the large cube: object 1",
        "the only one: object 1",
        "left of object 1: objects 0 and 3",
        "everything: objects 0, 1, 2 and 3",
        "the 2 gray things: objects 1 and 3",
        "the gray metal thing: object 3",
        "in either (objects 0 and 3) or (object 3): objects 0 and 3",
        "how many: 2",
    ]


def test_a_trace_says_why_there_is_no_answer() -> None:
    *_, failed, after, last, end = trace_text(STRANGE, SCENES, 0).splitlines()
    assert failed == "the only one: undefined, for there are 2"
    assert {after, last, end} == {"not reached"}
    none = PARSE("query[size](unique(filter[color,red](scene)))")
    assert "the only one: undefined, for there is none" in trace_text(none, SCENES, 0)


def one_of(color: str) -> str:
    return f"unique(filter[color,{color}](scene))"


SENTENCES = {
    f"query[size]({one_of('green')})": "the size of object 2: small",
    f"exist(filter[shape,cube](same[size]({one_of('green')})))": "of these, the cube: object 3",
    f"count(same[material]({one_of('brown')}))": "the same material as object 0: object 1",
    f"exist(relate[front]({one_of('brown')}))": "in front of object 0: objects 1, 2 and 3",
    "exist(filter[color,red](scene))": "red things: none",
    "count(filter[color,gray](filter[shape,cube](scene)))": "the 2 gray cubes: objects 1 and 3",
    "count(intersect(filter[size,small](scene), filter[color,gray](scene)))": (
        "in both (objects 2 and 3) and (objects 1 and 3): object 3"
    ),
    f"equal[color](query[color]({one_of('green')}), query[color]({one_of('brown')}))": (
        "green is the same color as brown: no"
    ),
    "equal_integer(count(scene), count(scene))": "4 is as many as 4: yes",
    "less_than(count(scene), count(filter[shape,cube](scene)))": "4 is fewer than 2: no",
    "greater_than(count(scene), count(filter[shape,cube](scene)))": "4 is more than 2: yes",
}


@pytest.mark.parametrize("program", SENTENCES)
def test_each_family_of_symbols_has_its_sentence(program: str) -> None:
    assert SENTENCES[program] in trace_text(PARSE(program), SCENES, 0).splitlines()


def test_every_symbol_has_words() -> None:
    said = {step.head.family for text in [*SENTENCES, repr(PROGRAM)] for step in in_order(PARSE(text))}
    assert said == {symbol.family for symbol in signature().values()}


FILLING = {f"D{i}": Description() for i in range(3, 10)}
FILLING |= {"D1": Description(color="brown"), "D2": Description(size="large", color="gray")}


@pytest.mark.parametrize("family", CLEVR_FAMILIES, ids=lambda family: str(family.index))
def test_the_last_step_gives_the_answer(family: Family) -> None:
    filling: Filling = {slot: FILLING[slot] if slot[0] == "D" else "left" for slot in family.slots}
    program = build(family, filling)
    code = int(execute([program], SCENES)[0, 0])
    view = question_view(program, "", "", SCENES, 0, family.name, 0)
    assert view.steps[-1].value == (NO_VALUE if code == UNDEFINED else answer_text(program.head.out, code))
    assert "\n".join(step.english for step in view.steps) == trace_text(program, SCENES, 0)


def test_relations_that_a_file_says_count_before_places() -> None:
    related = all_beyond(SCENES)
    assert trace_text(PROGRAM, SCENES, 0, related) == trace_text(PROGRAM, SCENES, 0)
    nobody = {way: np.zeros_like(masks) for way, masks in related.items()}
    assert "left of object 1: none" in trace_text(PROGRAM, SCENES, 0, nobody)


# --- the view and the graph ---------------------------------------------------------------------------------------


def test_steps_name_objects_only_where_they_give_some() -> None:
    steps = seen().steps
    assert [step.text for step in steps] == [str(step.head) for step in in_order(PROGRAM)]
    assert [step.objects for step in steps[2:5]] == [(1,), (1,), (0, 3)]
    assert steps[-1].objects is None
    assert [step.objects for step in seen(STRANGE).steps[2:]] == [None] * 4
    assert question_view(PARSE("exist(filter[color,red](scene))"), "", "no", SCENES, 0, "", 0).steps[1].objects == ()


def test_a_run_of_filters_is_one_node() -> None:
    assert seen().program == (
        ProgramNode(0, "scene", "", ()),
        ProgramNode(2, "filter", "large cube", (0,)),
        ProgramNode(3, "unique", "", (2,)),
        ProgramNode(4, "relate", "left", (3,)),
        ProgramNode(5, "scene", "", ()),
        ProgramNode(7, "filter", "gray metal", (5,)),
        ProgramNode(8, "union", "", (4, 7)),
        ProgramNode(9, "count", "", (8,)),
    )


def test_the_graph_goes_from_left_to_right_and_boxes_keep_apart() -> None:
    graph = ElementTree.fromstring(program_graph(seen()))
    boxes = [
        tuple(float(box.attrib[name]) for name in ("x", "y", "width", "height")) for box in graph.iter(f"{SVG}rect")
    ]
    at = {node.id: box for node, box in zip(seen().program, boxes, strict=True)}
    for node in seen().program:
        assert all(at[i][0] + at[i][2] < at[node.id][0] for i in node.inputs)
    for i, (x, y, width, height) in enumerate(boxes):
        assert not any(x < X + W and x + width > X and y < Y + H and y + height > Y for X, Y, W, H in boxes[:i])


def test_the_graph_says_its_words_its_values_and_what_it_is() -> None:
    graph = ElementTree.fromstring(program_graph(seen()))
    assert {"large cube", "gray metal", "left", "union", "count", "0", "3", "2"} <= set(graph.itertext())
    assert graph.attrib["role"] == "img"
    assert graph.attrib["aria-label"] == "Program of CLEVR, or_mat <3>, question 3"
    assert all(step.english in (graph.findtext(f"{SVG}desc") or "") for step in seen().steps)
    titles = [group.findtext(f"{SVG}title") for group in graph.iter(f"{SVG}g")]
    assert titles == [seen().steps[node.id].english for node in seen().program]


def test_where_tags_find_no_room_the_graph_says_how_many() -> None:
    first, *others = seen().steps
    crowd = replace(seen(), steps=(replace(first, objects=tuple(range(10))), *others))
    assert "10 objects" in program_graph(crowd)


def test_a_box_has_room_for_a_long_name() -> None:
    first, *others = seen().program
    named = replace(seen(), program=(replace(first, label="objects2parts"), *others))
    box = next(ElementTree.fromstring(program_graph(named)).iter(f"{SVG}rect"))
    assert float(box.attrib["width"]) > 7.4 * len("objects2parts") + 8


def test_the_graph_has_room_for_every_tag() -> None:
    graph = ElementTree.fromstring(program_graph(seen()))
    width = float(graph.attrib["viewBox"].split()[2])
    tags = [(float(tag.attrib["cx"]), float(tag.attrib["rx"])) for tag in graph.iter(f"{SVG}ellipse")]
    assert len(tags) > 4
    assert all(x - half > 0 and x + half < width for x, half in tags)


def test_the_graph_takes_its_colours_from_the_page() -> None:
    graph = program_graph(seen())
    assert not re.search(r"(?:fill|stroke):(?!var\(--|none)", graph.replace("stroke-width", ""))
    assert ' id="' not in graph


# --- page and terminal --------------------------------------------------------------------------------------------


def test_everything_is_on_the_card_and_in_the_terminal() -> None:
    view, out = seen(), StringIO()
    Console(file=out, width=200).print(question_terminal(view))
    values = [view.question, view.answer, view.family, "question 3", "scene 4101", "<b>"]
    values += [text for step in view.steps for text in (step.english, step.text)] + [
        phrase(one) for one in view.objects
    ]
    for text in (unescape(question_card(view)), out.getvalue()):
        assert [value for value in values if value not in text] == []
    assert "<b> (0.62), 2 (0.38)" in out.getvalue()
    assert "&lt;b&gt; ✗" in question_card(view)


def test_a_question_that_no_learner_saw_says_nothing_of_them() -> None:
    view = question_view(PROGRAM, "How many?", "2", SCENES, 0, "single_or 71", 0)
    out = StringIO()
    Console(file=out, width=200).print(question_terminal(view))
    assert "learner" not in question_card(view) + out.getvalue()


def test_the_page_is_well_formed_and_so_are_its_drawings() -> None:
    html = question_page(seen())
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    drawings = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(drawings) == 2 + sum(step.objects is not None for step in seen().steps)
    for drawing in drawings:
        ElementTree.fromstring(drawing)


def test_text_is_escaped() -> None:
    html = question_page(seen(question="<script>x</script> & more"))
    assert "&lt;script&gt;x&lt;/script&gt; &amp; more" in html
    assert "<script" not in html
    assert "<3>" not in html


def test_ids_are_unique_on_a_page_of_questions() -> None:
    cards = [seen(), seen(number=4), seen(STRANGE)]
    html = page("Questions", [Section("All", "".join(map(question_card, cards)))])
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(ids)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    html = question_page(seen()).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in html
    assert not re.search(r"<(script|link|img|iframe)|@import|url\((?!#)", html)


# --- drawings with some objects lit -------------------------------------------------------------------------------


def test_lit_objects_stand_out_and_the_others_fade() -> None:
    objects = seen().objects
    lit = ElementTree.fromstring(draw(objects, 320, 240, lit=(1, 3)))
    faded = [
        title.text for group in lit.iter(f"{SVG}g") if "opacity" in group.attrib for title in group.iter(f"{SVG}title")
    ]
    assert sorted(map(str, faded)) == sorted(phrase(objects[i]) for i in (0, 2))
    haloed = [
        group.findtext(f"{SVG}title")
        for group in lit.iter(f"{SVG}g")
        if group.find(f"{SVG}title") is not None and any("--scene-lit" in part.get("stroke", "") for part in group)
    ]
    assert sorted(map(str, haloed)) == sorted(phrase(objects[i]) for i in (1, 3))
    assert lit.attrib["aria-label"] == "2 of 4 objects: large gray rubber cube, small gray metal cube"


def test_every_choice_of_lit_objects_is_another_drawing() -> None:
    drawings = [draw(seen().objects, lit=lit, prefix="p") for lit in (None, (), (0,), (1,), (0, 1))]
    assert len(set(drawings)) == len(drawings)
    assert drawings[1].count(f'opacity="{FAINT}"') == 2 * len(THINGS)  # each solid and its shade


def test_cards_fade_too() -> None:
    drawing = cards([{"kind": "bus"}, {"kind": "car"}], lit=(0,))
    assert drawing.count(f'opacity="{FAINT}"') == 1
    assert draw([{"kind": "bus"}, {"kind": "car"}], 240, 0, lit=(0,)) == drawing


def test_numbers_tag_the_objects() -> None:
    texts = [text.text for text in ElementTree.fromstring(draw(seen().objects, numbered=True)).iter(f"{SVG}text")]
    assert sorted(map(str, texts)) == ["0", "1", "2", "3"]


def test_a_drawing_without_a_choice_is_as_it_was() -> None:
    cube = {
        "color": "red",
        "shape": "cube",
        "material": "metal",
        "size": "0.7",
        "position": (1, 2, 0.7),
        "rotation": 20,
    }
    ball = {"color": "cyan", "shape": "sphere", "material": "rubber", "size": "small", "pixel": (100, 85, 11.0)}
    drum = {"color": "gray", "shape": "cylinder", "material": "metal", "size": "large", "pixel": (160, 60, 12.0)}
    text = draw([cube, ball, drum]) + cards([cube, {"a": "b"}]) + top_down([cube])
    assert hashlib.blake2s(text.encode()).hexdigest() == (
        "85daaf24b7a7b4abcb10ba080c74725a58d7ff686d8e3e73a9d431b9727d4c0f"
    )
