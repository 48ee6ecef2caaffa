"""A hierarchical scene graph as a drawing: what an image is made of, level by level.

The root on top is the whole image. Under every object lies the panel of its parts, each labelled with the concepts that
it satisfies; arrows between parts are the relations among them. At the bottom every object that is not divided further
shows its own points as they lie on the grid, and the image stands at the right.

Points may be nodes too. An object that consists of them alone is not divided further: its points are squares anyway,
and the relations among them become small arrows from square to square, explained below.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from recombine.render.grid import rgb
from recombine.render.schematic import canvas, element, number, words
from recombine.report.figures import COLOURS, FONT

Id = int | str
Point = tuple[int, int, str]
"""x from the west, y from the north, and the name of a colour."""
Relations = dict[tuple[int, int], list[str]]
"""From place to place in a row of objects: what holds between the two."""


@dataclass(frozen=True)
class Node:
    """An object: the concepts it satisfies, and its points in the image."""

    id: Id
    parent: Id | None
    label: str
    points: tuple[Point, ...]


class Edge(NamedTuple):
    """A relation between two parts of the same object."""

    a: Id
    b: Id
    relation: str


@dataclass(frozen=True)
class SceneGraph:
    """Objects, of which one has no parent, and the relations among the parts of each."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        if len(self.by_id) != len(self.nodes):
            raise ValueError("two nodes have the same id")
        if len(self.parts.get(None, ())) != 1 or len(list(self.below(self.root))) != len(self.nodes):
            raise ValueError("one node has no parent, and every other node lies below it")
        for a, b, relation in self.edges:
            if a == b or not {a, b} <= set(self.by_id) or self.by_id[a].parent != self.by_id[b].parent:
                raise ValueError(f"{relation}({a}, {b}) is not about two parts of the same object")

    @cached_property
    def by_id(self) -> dict[Id, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def parts(self) -> dict[Id | None, list[Node]]:
        """The parts of every object that has some, in order; under None the root."""
        parents = dict.fromkeys(node.parent for node in self.nodes)
        return {parent: [node for node in self.nodes if node.parent == parent] for parent in parents}

    @property
    def root(self) -> Node:
        return self.parts[None][0]

    def below(self, node: Node) -> Iterator[Node]:
        """The node itself, its parts, and theirs."""
        yield node
        for part in self.parts.get(node.id, ()):
            yield from self.below(part)

    def relations(self, among: Sequence[Node]) -> Relations:
        """What holds among the parts of one object."""
        places, found = {node.id: i for i, node in enumerate(among)}, Relations()
        for a, b, relation in self.edges:
            if a in places:
                found.setdefault((places[a], places[b]), []).append(relation)
        return found

    def divided(self, node: Node) -> list[Node]:
        """The parts that have a place of their own; none where all of them are points."""
        parts = self.parts.get(node.id, [])
        return [] if all(len(part.points) == 1 and part.id not in self.parts for part in parts) else parts


# --- room ---------------------------------------------------------------------------------------------------------

_LETTER, _FINE = 7.25, 6.05  # the width of a letter of 12 and of 10 pixels, in a font where all are as wide
_LINE, _FINE_LINE = 15, 12
_PAD, _GAP, _LINK, _EDGE = 10, 14, 22, 18
_ARC = 14  # from the parts up to the lowest relation
_TILE, _IMAGE = 88, 256
_MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_CROWDS = ((3, 16), (12, 12), (math.inf, 8))
"""Up to so many leaves, their labels have lines of so many letters."""


def _lines(label: str, longest: int) -> list[str]:
    """A label in lines, broken between its names, and within a name after an underscore where it is too long.

    >>> _lines("red, f_pent_west_of_z_pent", 16)
    ['red,', 'f_pent_west_of_', 'z_pent']
    """
    lines: list[str] = []
    for name in label.split(", "):
        if lines and len(f"{lines[-1]} {name}") <= longest:
            lines[-1] += f" {name}"
        else:
            lines += _broken(name, longest)
        lines[-1] += ","
    return [*lines[:-1], lines[-1].removesuffix(",")]


def _broken(name: str, longest: int) -> list[str]:
    lines = [""]
    for piece in re.findall(r"[^_ ]*[_ ]+|[^_ ]+", name):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > longest:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


class _Frame(NamedTuple):
    """The smallest rectangle around some points."""

    west: int
    north: int
    wide: int
    high: int


def _frame(points: Sequence[Point]) -> _Frame:
    if not points:
        return _Frame(0, 0, 0, 0)
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    return _Frame(min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)


@dataclass(frozen=True)
class _Arc:
    """A relation on its way from one place in a row to another, and on which level above the row it lies."""

    start: int
    end: int
    names: list[str]
    level: int

    @property
    def ends(self) -> tuple[int, int]:
        """The place at the left and the one at the right."""
        return min(self.start, self.end), max(self.start, self.end)

    @property
    def width(self) -> float:
        """Room for the names."""
        return _FINE * max(map(len, self.names)) + 24


def _arcs(relations: Relations) -> list[_Arc]:
    """Short ones lie low, and arcs above the same gap lie on different levels."""
    arcs: list[_Arc] = []
    for start, end in sorted(relations, key=lambda pair: (abs(pair[0] - pair[1]), pair)):
        low, high = min(start, end), max(start, end)
        taken = {arc.level for arc in arcs if arc.ends[0] < high and low < arc.ends[1]}
        level = next(i for i in range(len(arcs) + 1) if i not in taken)
        arcs.append(_Arc(start, end, relations[start, end], level))
    return arcs


class _Row(NamedTuple):
    """The middles of the parts of a node, measured from the left end of the row, and how long that is."""

    middles: list[float]
    length: float


class _Level(NamedTuple):
    """Where the labels of a level begin, and how high they are."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(frozen=True)
class _Plan:
    """The room that everything in a graph takes."""

    graph: SceneGraph

    @cached_property
    def leaves(self) -> list[Node]:
        return [node for node in self.graph.below(self.graph.root) if not self.graph.divided(node)]

    @cached_property
    def cell(self) -> float:
        """The side of a point in a tile: the same in all of them, so that objects compare."""
        frames = [_frame(leaf.points) for leaf in self.leaves]
        largest = 22.0 if any(map(self.legend, self.leaves)) else 18.0  # arrows need room
        return min(largest, _TILE / (1 + max(max(frame.wide, frame.high) for frame in frames)))

    @cached_property
    def tile(self) -> tuple[float, float]:
        """The width and height of a tile: room for the largest leaf, and half a point around it."""
        frames = [_frame(leaf.points) for leaf in self.leaves]
        return self.cell * (1 + max(f.wide for f in frames)), self.cell * (1 + max(f.high for f in frames))

    @cached_property
    def levels(self) -> list[_Level]:
        levels, nodes, y = list[_Level](), [self.graph.root], 0.0
        while nodes:
            levels.append(_Level(y, _LINE * max(len(self.lines(node)) for node in nodes) + _PAD))
            parents = [node for node in nodes if self.graph.divided(node)]
            y = levels[-1].bottom + _LINK + (_PAD if len(levels) > 1 else 0)
            y += max((self.arc_room(node) + _PAD for node in parents), default=0)
            nodes = [part for node in parents for part in self.graph.divided(node)]
        return levels

    @property
    def points(self) -> float:
        """Where the tiles begin."""
        return self.levels[-1].bottom + _LINK + (_PAD if len(self.levels) > 1 else 0)

    @property
    def height(self) -> float:
        most = max(len(self.legend(leaf)) for leaf in self.leaves)
        return self.points + self.tile[1] + (6 + _FINE_LINE * most if most else 0)

    def lines(self, node: Node) -> list[str]:
        """The label of a node."""
        if node is self.graph.root:
            return _lines(node.label, 26)
        return _lines(node.label, self.longest if node in self.leaves else 16)

    @property
    def longest(self) -> int:
        """The letters in a line of a leaf's label: fewer where there are many leaves."""
        return next(letters for most, letters in _CROWDS if len(self.leaves) <= most)

    def box(self, node: Node) -> float:
        """The width of the label in its box."""
        return 2 * _PAD + _LETTER * max(map(len, self.lines(node)))

    def span(self, node: Node) -> float:
        """The width of a node with all that lies below it."""
        if self.graph.divided(node):
            return max(self.box(node), self.row(node).length + 2 * _GAP)
        return max([self.box(node), self.tile[0], *(_FINE * len(name) for name in self.legend(node))])

    def row(self, node: Node) -> _Row:
        """Its parts beside each other, with room for the names of the relations between them."""
        spans, arcs = [self.span(part) for part in self.graph.divided(node)], self.arcs(node)
        middles = [spans[0] / 2]
        for i, (last, span) in enumerate(pairwise(spans)):
            names = (middles[arc.ends[0]] + arc.width for arc in arcs if arc.ends[1] == i + 1)
            middles.append(max([middles[-1] + (last + span) / 2 + _GAP, *names]))
        return _Row(middles, middles[-1] + spans[-1] / 2)

    def arcs(self, node: Node) -> list[_Arc]:
        """The relations among the parts of a node."""
        return _arcs(self.graph.relations(self.graph.divided(node)))

    def arc_step(self, node: Node) -> float:
        """From one level of relations to the next."""
        return 12 + _FINE_LINE * max((len(arc.names) for arc in self.arcs(node)), default=1)

    def arc_room(self, node: Node) -> float:
        """The height of all relations among the parts."""
        levels = max((arc.level + 1 for arc in self.arcs(node)), default=0)
        return levels * self.arc_step(node) + (_ARC - 6 if levels else 0)

    def legend(self, leaf: Node) -> list[str]:
        """The names of the relations among the points of a leaf."""
        found = self.graph.relations(self.graph.parts.get(leaf.id, [])).values()
        return list(dict.fromkeys(name for names in found for name in names))


# --- the drawing --------------------------------------------------------------------------------------------------


def draw(graph: SceneGraph, grid_width: int, grid_height: int) -> str:
    """The graph and the image, as SVG text; `figures.stand_alone` gives it its own colours for light and dark."""
    plan = _Plan(graph)
    image, image_width, image_height = _image(graph.root.points, grid_width, grid_height)
    tree_width, inner = plan.span(graph.root), max(plan.height, image_height)
    width, height = 2 * _EDGE + tree_width + 3 * _GAP + image_width, 2 * _EDGE + inner
    tree = _subtree(plan, graph.root, 0, tree_width / 2)
    size = f"width:100%;min-width:{number(0.72 * width)}px;max-width:{number(width)}px;height:auto"
    title = f"Scene graph of {graph.root.label}"
    return canvas(
        title,
        width,
        height,
        element("rect", width=width, height=height, rx=8, style=f"fill:{_ink('surface')}"),
        _moved(tree, _EDGE, _EDGE + (inner - plan.height) / 2),
        _moved(image, width - _EDGE - image_width, _EDGE + (inner - image_height) / 2),
        description=_told(graph),
        class_="graph",
        style=f"display:block;{size};font-family:{FONT};font-size:12px",
    )


def _told(graph: SceneGraph) -> str:
    """The graph in words."""
    names = {node.id: node.label for node in graph.nodes}
    parts = (
        f"{names[node]} has the parts {', '.join(part.label for part in parts)}"
        for node, parts in graph.parts.items()
        if node is not None
    )
    relations = (f"{relation} holds from {names[a]} to {names[b]}" for a, b, relation in graph.edges)
    return "; ".join((*parts, *relations)) or names[graph.root.id]


def _subtree(plan: _Plan, node: Node, depth: int, x: float) -> str:
    """A node with its middle at x, and what lies below it."""
    level, parts = plan.levels[depth], plan.graph.divided(node)
    box = _box(node, plan.lines(node), x, level, whole=depth == 0)
    if not parts:
        link = _path(f"M{number(x)},{number(level.bottom)}V{number(plan.points)}", "muted", 1.2, "1.5 3")
        return link + box + _tile(plan, node, x)
    row, under = plan.row(node), plan.levels[depth + 1]
    left, top = x - row.length / 2, under.top - plan.arc_room(node) - _PAD
    middles = [left + middle for middle in row.middles]
    link = _path(f"M{number(x)},{number(level.bottom)}V{number(top)}", "muted", 1.2)
    panel = _panel(left - _GAP, top, row.length + 2 * _GAP, under.bottom + _PAD - top)
    below = (_subtree(plan, part, depth + 1, middle) for part, middle in zip(parts, middles))
    return link + panel + box + "".join(below) + _relations(plan, node, middles, under.top)


def _box(node: Node, lines: Sequence[str], x: float, level: _Level, whole: bool) -> str:
    width = 2 * _PAD + _LETTER * max(map(len, lines))
    look = ("gap", "strong", 1.6) if whole else ("surface", "muted", 1.2)
    style = f"fill:{_ink(look[0])};stroke:{_ink(look[1])};stroke-width:{look[2]}"
    frame = element("rect", x=x - width / 2, y=level.top, width=width, height=level.height, rx=7, style=style)
    first = level.top + level.height / 2 - _LINE * (len(lines) - 1) / 2 + 4.2
    text = (_name(line, x, first + _LINE * i, "ink", 12, "font-weight:600") for i, line in enumerate(lines))
    count = f"{len(node.points)} point{'' if len(node.points) == 1 else 's'}"
    return element("g", words("title", f"{node.label}: {count}"), frame, *text)


def _panel(x: float, y: float, width: float, height: float) -> str:
    style = f"fill:{_ink('ground')};stroke:{_ink('line')}"
    return element("rect", x=x, y=y, width=width, height=height, rx=10, style=style)


# --- relations ----------------------------------------------------------------------------------------------------


def _relations(plan: _Plan, node: Node, middles: Sequence[float], top: float) -> str:
    """The arrows from part to part, above the row of them."""
    arcs, parts = plan.arcs(node), plan.graph.divided(node)
    docks = [_docks(arcs, i, middle, plan.box(part)) for i, (middle, part) in enumerate(zip(middles, parts))]
    ways = [(docks[arc.start][i], docks[arc.end][i]) for i, arc in enumerate(arcs)]
    heights = [top - _ARC - arc.level * plan.arc_step(node) for arc in arcs]
    arrows = (_arrow(*way, top, y) for way, y in zip(ways, heights))
    names = (_names(arc.names, sum(way) / 2, y - 7) for arc, way, y in zip(arcs, ways, heights))
    return "".join((*arrows, *names))  # the names last, for no arrow may cross them


def _docks(arcs: Sequence[_Arc], part: int, x: float, width: float) -> dict[int, float]:
    """Where each arc meets a part: those to the left at the left, and higher ones nearer to the middle."""
    sides = {i: 1 if part == arc.ends[0] else -1 for i, arc in enumerate(arcs) if part in arc.ends}
    order = sorted(sides, key=lambda i: (sides[i], -sides[i] * arcs[i].level))
    if len(order) == 1:
        return {order[0]: x + 8 * sides[order[0]]}
    step = min(16.0, (width - 16) / max(1, len(order) - 1))
    return {i: x + step * (place - (len(order) - 1) / 2) for place, i in enumerate(order)}


def _arrow(start: float, end: float, top: float, y: float) -> str:
    """Up, along at the height y, and down to an arrowhead."""
    a, b, along, corner = number(start), number(end), number(y), number(y + 6)
    turn = 6 if end > start else -6
    over = f"Q{a},{along} {number(start + turn)},{along}H{number(end - turn)}Q{b},{along} {b},{corner}"
    line = _path(f"M{a},{number(top)}V{corner}{over}V{number(top - 6)}", "strong", 1.5)
    return line + element("path", d=f"M{b},{number(top)}l-3.8,-7h7.6z", style=f"fill:{_ink('strong')}")


def _names(names: Sequence[str], x: float, bottom: float) -> str:
    """The names of relations, one above the other, on a ground that hides what lies below."""
    halo = f"paint-order:stroke;stroke:{_ink('ground')};stroke-width:3px"
    lines = enumerate(reversed(names))
    return "".join(
        _name(name, x, bottom - _FINE_LINE * i, "strong", 10, f"font-weight:600;{halo}") for i, name in lines
    )


# --- points and pixels --------------------------------------------------------------------------------------------


def _tile(plan: _Plan, leaf: Node, x: float) -> str:
    """The points of a leaf, arrows for the relations among them, and the names of these."""
    (width, height), cell, frame = plan.tile, plan.cell, _frame(leaf.points)
    left, top = x - frame.wide * cell / 2, plan.points + (height - frame.high * cell) / 2

    def corner(point: Point) -> tuple[float, float]:
        return left + (point[0] - frame.west) * cell, top + (point[1] - frame.north) * cell

    cells = (_cell(*corner(point), cell, point[2]) for point in leaf.points)
    points = plan.graph.parts.get(leaf.id, [])
    middles = [(x + cell / 2, y + cell / 2) for x, y in (corner(point.points[0]) for point in points)]
    steps = (_step(middles[a], middles[b], names) for (a, b), names in plan.graph.relations(points).items())
    first = plan.points + height + 6 + 0.7 * _FINE_LINE
    legend = (_name(name, x, first + _FINE_LINE * i, "muted", 10) for i, name in enumerate(plan.legend(leaf)))
    return "".join((_black(x - width / 2, plan.points, width, height), *cells, *steps, *legend))


def _step(start: tuple[float, float], end: tuple[float, float], names: Sequence[str]) -> str:
    """A small arrow from square to square, dark on light, so that it is seen on every colour."""
    (x, y), (X, Y) = start, end
    far = math.hypot(X - x, Y - y) or 1.0
    dx, dy = (X - x) / far, (Y - y) / far
    x, y, X, Y = x + 3 * dx, y + 3 * dy, X - 2 * dx, Y - 2 * dy
    wings = f"L{number(X - 4 * dx - 3 * dy)},{number(Y - 4 * dy + 3 * dx)}M{number(X)},{number(Y)}"
    wings += f"L{number(X - 4 * dx + 3 * dy)},{number(Y - 4 * dy - 3 * dx)}"
    path = f"M{number(x)},{number(y)}L{number(X)},{number(Y)}{wings}"
    strokes = (("#fff", 3), ("#000", 1.3))
    drawn = (f"stroke:{ink};stroke-width:{width};stroke-linecap:round;fill:none" for ink, width in strokes)
    return element("g", words("title", ", ".join(names)), *(element("path", d=path, style=style) for style in drawn))


def _cell(x: float, y: float, size: float, color: str) -> str:
    gap = min(0.5, size / 12)
    return element("rect", x=x + gap, y=y + gap, width=size - 2 * gap, height=size - 2 * gap, fill=_hex(color))


def _image(points: Sequence[Point], width: int, height: int) -> tuple[str, float, float]:
    """The whole image on its grid: drawing, width, height."""
    cell = _IMAGE / max(width, height)
    w, h = width * cell, height * cell
    cells = "".join(_cell(x * cell, y * cell, cell, color) for x, y, color in points)
    style = f"fill:{_ink('muted')};font-size:11px"
    size = words("text", f"{width} × {height}", x=w / 2, y=h + 16, text_anchor="middle", style=style)
    return _black(0, 0, w, h) + _mesh(width, height, cell) + cells + size, w, h + 20


def _mesh(width: int, height: int, cell: float) -> str:
    """Faint lines between the pixels, where there is room for them."""
    if cell < 4:
        return ""
    columns = "".join(f"M{number(cell * i)},0v{number(cell * height)}" for i in range(1, width))
    rows = "".join(f"M0,{number(cell * i)}h{number(cell * width)}" for i in range(1, height))
    return element("path", d=columns + rows, style="stroke:#fff;stroke-opacity:.09;stroke-width:.6")


def _black(x: float, y: float, width: float, height: float) -> str:
    """The ground of points."""
    return element("rect", x=x, y=y, width=width, height=height, rx=4, style=f"fill:#000;stroke:{_ink('line')}")


def _hex(color: str) -> str:
    return "#{:02x}{:02x}{:02x}".format(*rgb(color))


# --- SVG ----------------------------------------------------------------------------------------------------------


def _name(text: str, x: float, y: float, ink: str, size: int, more: str = "") -> str:
    """A name of the language, centred."""
    style = f"fill:{_ink(ink)};font-family:{_MONO};font-size:{size}px;{more}"
    return words("text", text, x=x, y=y, text_anchor="middle", style=style)


def _path(path: str, ink: str, width: float, dashes: str = "none") -> str:
    style = f"stroke:{_ink(ink)};stroke-width:{width:g};stroke-dasharray:{dashes};fill:none"
    return element("path", d=path, style=style)


def _moved(drawing: str, x: float, y: float) -> str:
    return element("g", drawing, transform=f"translate({number(x)} {number(y)})")


def _ink(name: str) -> str:
    return f"var(--{name},{COLOURS[name][0]})"
