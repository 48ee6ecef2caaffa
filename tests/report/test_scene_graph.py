"""Laws of drawn scene graphs: all is shown, nothing overlaps, nothing sticks out."""

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from recombine.render.grid import COLORS
from recombine.report.figures import stand_alone
from recombine.report.scene_graph import Edge, Node, Point, SceneGraph, draw
from recombine.store.errors import UserError

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("red", "f_pent", "2x2_square", "red_2x2_square_of_squares", "key, 2x2_square", "<odd & long>")
RELATIONS = ("east_1", "west", "south_1_same_color")

F: tuple[Point, ...] = ((6, 9, "green"), (7, 9, "green"), (5, 10, "green"), (6, 10, "green"), (6, 11, "green"))
Z: tuple[Point, ...] = ((20, 15, "red"), (21, 15, "red"), (21, 16, "red"), (21, 17, "red"), (22, 17, "red"))
WEST = SceneGraph(
    (Node("z", None, "f_pent_west_of_z_pent", Z + F), Node("x", "z", "z_pent", Z), Node("y", "z", "f_pent", F)),
    (Edge("x", "y", "west"),),
)
POINTS = tuple(Node(f"y{i}", "y", "green", (point,)) for i, point in enumerate(F))
WITH_POINTS = SceneGraph(
    WEST.nodes + POINTS,
    (*WEST.edges, Edge("y0", "y1", "east_1"), Edge("y3", "y0", "north_1"), Edge("y3", "y2", "west_1")),
)


@some.composite
def graphs(draw_from: some.DrawFn) -> SceneGraph:
    """Trees of up to a dozen squares, in rows with any relations between the parts of each."""
    parents = [None] + [draw_from(some.integers(0, i)) for i in range(draw_from(some.integers(0, 11)))]
    leaves = [i for i in range(len(parents)) if i not in parents]
    square = {i: tuple((2 * k + dx, 3 + dy, "blue") for dx in (0, 1) for dy in (0, 1)) for k, i in enumerate(leaves)}
    points: dict[int, tuple[Point, ...]] = {}
    for i in reversed(range(len(parents))):
        points[i] = square.get(i) or tuple(p for k in range(len(parents)) if parents[k] == i for p in points[k])
    nodes = tuple(Node(i, parent, draw_from(some.sampled_from(NAMES)), points[i]) for i, parent in enumerate(parents))
    pairs = [(a.id, b.id) for a in nodes for b in nodes if a.parent == b.parent and a.id != b.id]
    chosen = draw_from(some.lists(some.sampled_from(pairs), max_size=12)) if pairs else []
    return SceneGraph(nodes, tuple(Edge(*pair, draw_from(some.sampled_from(RELATIONS))) for pair in chosen))


def row(n: int, label: str = "red_2x2_square", relation: str = "east_1") -> SceneGraph:
    """So many squares, each in this relation to the next."""
    squares = [tuple((2 * i + dx, 5 + dy, "red") for dx in (0, 1) for dy in (0, 1)) for i in range(n)]
    nodes = (
        Node(n, None, "red_seq", sum(squares, ())),
        *(Node(i, n, label, s) for i, s in enumerate(squares)),
    )
    return SceneGraph(nodes, tuple(Edge(i, i + 1, relation) for i in range(n - 1)))


class Rect(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "Rect") -> bool:
        across = self.x < other.x + other.width and other.x < self.x + self.width
        return across and self.y < other.y + other.height and other.y < self.y + self.height


def rect(element: ElementTree.Element) -> Rect:
    return Rect(*(float(element.get(name, 0)) for name in ("x", "y", "width", "height")))


def tree(svg: str) -> ElementTree.Element:
    """The part of the drawing without the image."""
    return ElementTree.fromstring(svg).findall(f"{SVG}g")[0]


def boxes(svg: str) -> list[tuple[str, Rect]]:
    """What the labels say, and where they are."""
    groups = [group for group in tree(svg).iter(f"{SVG}g") if group.find(f"{SVG}rect") is not None]
    framed = [group for group in groups if group.find(f"{SVG}title") is not None]
    return [("".join(t.text or "" for t in g.iter(f"{SVG}text")), rect(g.find(f"{SVG}rect"))) for g in framed]  # type: ignore[arg-type]


def tiles(svg: str) -> list[Rect]:
    return [rect(one) for one in tree(svg).iter(f"{SVG}rect") if "fill:#000" in one.get("style", "")]


def relations(svg: str) -> list[tuple[str, Rect]]:
    """The names over the arrows, with the room they take."""
    named = [one for one in tree(svg).iter(f"{SVG}text") if "--strong" in one.get("style", "")]
    return [(one.text or "", _room(one)) for one in named]


def _room(text: ElementTree.Element) -> Rect:
    width = 6 * len(text.text or "")
    return Rect(float(text.get("x", 0)) - width / 2, float(text.get("y", 0)) - 8, width, 10)


def squares(svg: str) -> Counter[str]:
    """How many squares there are of each colour."""
    return Counter(one.get("fill", "") for one in ElementTree.fromstring(svg).iter(f"{SVG}rect") if one.get("fill"))


def joined(label: str) -> str:
    return re.sub(r"[ ]", "", label)


@given(graphs())
def test_every_object_and_relation_is_shown(graph: SceneGraph) -> None:
    svg = draw(graph, 32, 32)
    assert Counter(joined(text) for text, _ in boxes(svg)) == Counter(joined(node.label) for node in graph.nodes)
    assert Counter(name for name, _ in relations(svg)) == Counter(edge.relation for edge in graph.edges)
    assert squares(svg) == {"#0000ff": 2 * len(graph.root.points)}


@given(graphs())
@example(row(4, "red", "south_1_same_color"))
def test_nothing_overlaps_and_nothing_sticks_out(graph: SceneGraph) -> None:
    svg = draw(graph, 32, 32)
    shown = [place for _, place in boxes(svg)] + tiles(svg) + [place for _, place in relations(svg)]
    assert not [(a, b) for a, b in combinations(shown, 2) if a.meets(b)]
    width = float(ElementTree.fromstring(svg).get("width", 0)) - 256
    assert all(place.x >= 0 and place.x + place.width <= width and place.y >= 0 for place in shown)


@given(graphs())
def test_parts_lie_below_their_whole_in_order(graph: SceneGraph) -> None:
    spots = iter(boxes(draw(graph, 32, 32)))
    placed = {node.id: next(spots)[1] for node in graph.below(graph.root)}
    for parent, parts in graph.parts.items():
        assert parent is None or all(placed[part.id].y > placed[parent].y for part in parts)
        lefts = [placed[part.id].x for part in parts]
        assert lefts == sorted(lefts)
        assert len({placed[part.id].y for part in parts}) == 1


@pytest.mark.parametrize("n", range(2, 13))
def test_a_row_of_squares_is_readable(n: int) -> None:
    root = ElementTree.fromstring(draw(row(n), 32, 32))
    assert float(root.get("width", 0)) < 480 + 100 * n
    assert float(root.get("height", 0)) < 400


@pytest.mark.parametrize("svg", [draw(WEST, 32, 32), stand_alone(draw(WEST, 32, 32))])
def test_a_graph_describes_itself(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "Scene graph of f_pent_west_of_z_pent"
    told = "f_pent_west_of_z_pent has the parts z_pent, f_pent; west holds from z_pent to f_pent"
    assert root.findtext(f"{SVG}desc") == told
    assert "32 × 32" in [text.text for text in root.iter(f"{SVG}text")]


def test_points_are_squares_in_their_object_and_not_boxes() -> None:
    svg = draw(WITH_POINTS, 32, 32)
    assert [text for text, _ in boxes(svg)] == ["f_pent_west_of_z_pent", "z_pent", "f_pent"]
    assert squares(svg) == squares(draw(WEST, 32, 32)) == {"#ff0000": 10, "#00ff00": 10}
    below = [text.text for text in tree(svg).iter(f"{SVG}text") if "--muted" in text.get("style", "")]
    assert below == ["east_1", "north_1", "west_1"]


def test_the_points_of_a_tile_lie_as_on_the_grid() -> None:
    lefts = [rect(one) for one in tree(draw(WEST, 32, 32)).iter(f"{SVG}rect") if one.get("fill") == "#00ff00"]
    side = lefts[1].x - lefts[0].x
    origin = lefts[0].x - 6 * side, lefts[0].y - 9 * side
    found = [(round((one.x - origin[0]) / side), round((one.y - origin[1]) / side), "green") for one in lefts]
    assert found == list(F)


def test_one_object_alone_is_a_graph() -> None:
    svg = draw(SceneGraph((Node(0, None, "red", ((3, 4, "red"),)),)), 16, 8)
    assert [text for text, _ in boxes(svg)] == ["red"]
    assert "16 × 8" in svg
    assert draw(SceneGraph((Node(0, None, "nothing", ()),)), 16, 8)


@pytest.mark.parametrize(
    ("nodes", "edges", "sentence"),
    [
        ((), (), "one node has no parent"),
        (WEST.nodes[1:], (), "one node has no parent"),
        ((*WEST.nodes, replace(WEST.nodes[0], id="w")), (), "one node has no parent"),
        ((*WEST.nodes, Node("v", "w", "red", ()), Node("w", "v", "red", ())), (), "every other node lies below it"),
        ((*WEST.nodes, WEST.nodes[1]), (), "two nodes have the same id"),
        (WEST.nodes, (Edge("x", "z", "west"),), r"west\(x, z\) is not about two parts"),
        (WEST.nodes, (Edge("x", "x", "west"),), "not about two parts"),
        (WEST.nodes, (Edge("x", "none", "west"),), "not about two parts"),
    ],
)
def test_what_is_no_scene_graph_is_refused(nodes: tuple[Node, ...], edges: tuple[Edge, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        SceneGraph(nodes, edges)


def test_only_known_colours_are_drawn() -> None:
    with pytest.raises(UserError, match="'mauve' is not a colour"):
        draw(SceneGraph((Node(0, None, "odd", ((0, 0, "mauve"),)),)), 4, 4)
    assert all(draw(SceneGraph((Node(0, None, name, ((0, 0, name),)),)), 4, 4) for name in COLORS)
