"""Laws of ConceptWorld's views: what a scene graph says is true, and pages and tables show what there is."""

import json
import re
from dataclasses import asdict
from functools import cache
from html import unescape
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from recombine.benchmarks.concept_world.concept_image import (
    ImageView,
    arguments,
    derivation_tree,
    graph_of,
    graph_tree,
    shots,
)
from recombine.benchmarks.concept_world.definition import Line, Object, Point, points
from recombine.benchmarks.concept_world.drawing import Drawing, draw
from recombine.benchmarks.concept_world.extension import Count
from recombine.benchmarks.concept_world.pages import (
    ExperimentSheets,
    ExperimentView,
    LineSheet,
    PartView,
    experiment_chapter,
    experiment_page,
    experiment_sheet,
    experiment_terminal,
)
from recombine.benchmarks.concept_world.published import F1, MODELS, macro
from recombine.benchmarks.concept_world.reader import load_library, phrase, read
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.report.scene_graph import SceneGraph

NAMES = ("path", "distractor", "mixed_seq", "adj", "composite_x_pent", "type_1_pair", "red", "f_pent west of z_pent")


@cache
def drawn(name: str) -> Drawing:
    return draw(name, 3, depth=3, grid=(16, 15), seed=5)


def things(thing: Object) -> list[Object]:
    """An object, its parts, and theirs."""
    inner = [] if isinstance(thing, Point) else [part for item in thing for part in things(item)]
    return [thing, *inner]


def said(drawing: Drawing, thing: Object) -> SceneGraph:
    return graph_of(drawing.library, drawing.concept, thing)


# ---- Scene graphs ----


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_has_the_parts_of_the_object(name: str) -> None:
    for thing in drawn(name).objects:
        graph = said(drawn(name), thing)
        assert [node.points for node in graph.nodes] == [tuple(map(tuple, points(part))) for part in things(thing)]
        assert graph.root.label == drawn(name).concept


@pytest.mark.parametrize("name", NAMES)
def test_what_a_graph_says_is_true(name: str) -> None:
    drawing = drawn(name)
    plainly, known = Plainly(drawing.library), drawing.library.definitions
    for thing in drawing.objects:
        graph, parts = said(drawing, thing), things(thing)
        assert plainly.holds(drawing.concept, *arguments(drawing.library, drawing.concept, thing))
        for node, part in list(zip(graph.nodes, parts))[1:]:
            assert all(plainly.holds(label, part) for label in node.label.split(", ") if label in known)
        objects = dict(zip((node.id for node in graph.nodes), parts))
        assert all(plainly.holds(edge.relation, objects[edge.a], objects[edge.b]) for edge in graph.edges)


def test_a_path_goes_from_key_to_lock_to_gem() -> None:
    drawing = draw("path", where="depth(solution) == 2")
    graph = said(drawing, drawing.objects[0])
    parts = [node.label.split(", ")[-1] for node in graph.parts[graph.root.id]]
    assert parts == ["key", "lock", "key", "lock", "gem"]
    squares = {node.id for node in graph.parts[graph.root.id]}
    said_of_squares = [edge.relation for edge in graph.edges if edge.a in squares]
    assert sorted(said_of_squares) == ["locks", "locks", "unlocks_lock", "unlocks_lock"]


def test_what_another_alternative_proved_on_its_way_is_not_said() -> None:
    library = read(
        """
        concept left(a, b): b.x_loc < a.x_loc
        concept here(a, b): a.x_loc >= 0 and point(b)
        concept pair(X): X == (a, b) and (here(a, b) and left(a, b) or below(a, b))
        concept below(a, b): b.y_loc > a.y_loc
        """
    )
    graph = graph_of(library, "pair", (Point(1, 1, "red"), Point(2, 2, "red")))
    assert [edge.relation for edge in graph.edges] == ["below"]


def test_a_relation_is_about_the_vector_of_its_objects() -> None:
    graph = said(drawn("adj"), drawn("adj").objects[0])
    assert graph.root.label == "adj" and [edge.relation for edge in graph.edges] == ["adj"]


def view_of(drawing: Drawing, i: int = 0, **more: object) -> ImageView:
    grid, graph = drawing.library.grid, said(drawing, drawing.objects[i])
    return ImageView(drawing.concept, grid.width, grid.height, graph, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_a_view_has_the_pixels_of_its_image(name: str) -> None:
    for i, pixels in enumerate(drawn(name).pixels):
        assert np.array_equal(view_of(drawn(name), i).pixels, pixels)
        assert np.array_equal(drawn(name).view(i).pixels, pixels)


def written(*things: object) -> str:
    console = Console(width=200, record=True, file=StringIO())
    console.print(*things)
    return console.export_text()


def test_trees_name_all_parts_and_definitions() -> None:
    drawing = drawn("composite_x_pent")
    view = view_of(drawing)
    text = written(graph_tree(view.graph))
    assert all(f"{i} {name}_pent" in text for i, name in enumerate("iufzx", 1)) and "3 → 4: east_1" in text
    derivation = Plainly(drawing.library).derivation("composite_x_pent", drawing.objects[0])
    assert derivation is not None
    names = set(re.findall(r"[a-z]\w+", written(derivation_tree(derivation))))
    assert {"composite_x_pent", "x_shape", "i_pent", "z_pent", "south_1_same_color", "uniform"} <= names


# ---- Experiments ----

LINE = Line("row <1>", 40, "mixed_seq", "depth(east_seq) == 2")


def shown(weak: float = 0.5) -> ImageView:
    return view_of(
        drawn("mixed_seq"),
        label="row <1>",
        where=LINE.where,
        strong={"row <1>": 1.0, "b": 0.0},
        weak={"row <1>": weak, "b": 1 - weak},
    )


VIEW = ExperimentView("rows", "Rows & more", 3, ("row <1>", "b"), (PartView("train", (shown(),)), PartView("long", ())))


def test_a_shot_shows_the_chance_of_the_right_class() -> None:
    assert "✗" not in shots([shown()])
    assert "0.25 ✗" in shots([shown(0.25)]) and "weak learner: b 0.75, row &lt;1&gt; 0.25" in shots([shown(0.25)])


def test_an_experiment_is_json() -> None:
    assert json.loads(json.dumps(asdict(VIEW)))["parts"][0]["images"][0]["weak"] == {"row <1>": 0.5, "b": 0.5}


def test_a_page_and_a_terminal_show_the_same() -> None:
    words = ("Rows & more", "row <1>", "mixed_seq where depth(east_seq) == 2", "Training", "Test long", "images 3")
    html = experiment_page(VIEW)
    assert all(word in unescape(html) for word in words)
    assert "<1>" not in html and html.count("src=") == html.count('src="data:image/png;base64,') == 1
    text = written(experiment_terminal(VIEW))
    assert all(word in text for word in (*words, "weak: row <1> 0.50, b 0.50"))


# ---- The report ----


def test_every_test_of_the_paper_has_every_model_and_class() -> None:
    library = load_library()
    tests = {(name, test) for name, experiment in library.experiments.items() for test in experiment.tests}
    assert F1.keys() == tests
    for (name, test), scores in F1.items():
        assert tuple(scores) == MODELS
        assert {len(values) for values in scores.values()} == {len(library.experiments[name].classes)}
        assert all(0 <= value <= 100 for value in macro(name, test).values())


def sheets() -> ExperimentSheets:
    library = load_library()
    one = LineSheet(LINE, drawn("mixed_seq").pixels, Count(1.5e6, 1.4e6, 1.6e6))
    return ExperimentSheets(library.experiments["substitution"], {"train": (one,), "long": (one,)}, VIEW2)


VIEW2 = ExperimentView("rows", "Rows", 0, ("row <1>",), (PartView("long", (shown(),)),))


def test_a_chapter_shows_images_and_counts() -> None:
    chapter = experiment_chapter(sheets())
    card, picture, graph, table = chapter.items
    assert card.html.count("<img ") == card.html.count('src="data:image/png;base64,') == 2 * 3 + 1  # type: ignore[union-attr]
    assert isinstance(picture.content, bytes) and isinstance(graph.content, str)  # type: ignore[union-attr]
    assert "40 of about 1,500,000" in unescape(card.html) and "<1>" not in card.html  # type: ignore[union-attr]
    assert "95 % between 1,400,000" in table.markdown()  # type: ignore[union-attr]
    assert "20 epochs on type_1, type_2" in chapter.intro


def test_a_sheet_holds_every_line() -> None:
    small = experiment_sheet({"train": sheets().parts["train"]})
    assert small.ndim == 3 and len(experiment_sheet(sheets().parts)) > 1.5 * len(small)


def test_a_phrase_has_a_graph() -> None:
    library, name = phrase("f_pent west of z_pent", load_library())
    assert library.definitions[name].parameters == ("Z",)
    assert "west" in view_of(drawn("f_pent west of z_pent")).svg()
