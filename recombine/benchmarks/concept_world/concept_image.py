"""One image of a concept to look at: its points, what it is made of, and what the learners say.

`graph_of` finds the hierarchical scene graph of an object: the parts that its vectors have, each named after the
concepts that the proof used about it, and the relations that it used between parts of one object.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from recombine.benchmarks.concept_world.definition import Library, Object, Point, points
from recombine.benchmarks.concept_world.reference import Calls, Miss, Plainly
from recombine.language.expr import Expr
from recombine.render.grid import codes, paint, terminal
from recombine.render.png import png
from recombine.report.scene_graph import Edge, Node, SceneGraph, draw

Chances = dict[str, float]
"""How likely each class is."""


@dataclass(frozen=True)
class ImageView:
    """An image that satisfies a concept."""

    concept: str
    width: int
    height: int
    graph: SceneGraph
    label: str = ""
    """Its class in an experiment."""
    where: str = ""
    strong: Chances | None = None
    weak: Chances | None = None

    @property
    def says(self) -> str:
        """What was asked for, in the words of an experiment."""
        return f"{self.concept} where {self.where}" if self.where else self.concept

    @property
    def pixels(self) -> np.ndarray:
        """uint8[height, width, 3]."""
        return paint(*self._codes())

    def _codes(self) -> tuple[np.ndarray, list[str]]:
        shown = self.graph.root.points
        colors = list(dict.fromkeys(color for _, _, color in shown))
        x, y = (np.array([[point[i] for point in shown]], int) for i in (0, 1))
        color = np.array([[colors.index(color) for _, _, color in shown]], int)
        return codes(x, y, color, self.width, self.height)[0], colors

    def terminal(self) -> Text:
        """The coloured part in half blocks."""
        return terminal(*self._codes())

    def svg(self) -> str:
        """The scene graph beside the image."""
        return draw(self.graph, self.width, self.height)


# --- the scene graph ----------------------------------------------------------------------------------------------

Fact = tuple[str, tuple[Object, ...]]
"""A definition, and the objects that it holds of."""


class _Witness(Plainly):
    """Remembers which definitions were proved of which objects, inside which others."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._held: dict[Calls, dict[Fact, Expr]] = {}

    def _name(self, name: str, objects: tuple[Object, ...], above: Calls) -> Expr | Miss:
        proof = super()._name(name, objects, above)
        if isinstance(proof, Expr):
            self._held.setdefault(above, {})[name, objects] = proof
        return proof

    def facts(self, name: str, objects: tuple[Object, ...]) -> Iterator[Fact]:
        """What the derivation says of these objects and their parts, each in the widest words that it uses."""
        derivation = self.derivation(name, *objects)
        assert derivation is not None, f"{name} is false of {objects}"
        return self._inside((name, objects), derivation, ())

    def _inside(self, fact: Fact, derivation: Expr, above: Calls) -> Iterator[Fact]:
        """A fact, unless another was said of its objects before, and those that its derivation rests on."""
        if not any(set(objects) == set(fact[1]) for _, objects in above):
            yield fact
        here = (*above, fact)
        for inner, proof in self._held.get(here, {}).items():
            if proof in derivation.args:  # others were tried in an alternative that failed, or under a quantifier
                yield from self._inside(inner, proof, here)


def graph_of(library: Library, name: str, thing: Object) -> SceneGraph:
    """What an object of a concept is made of."""
    facts = [(name, (thing,)), *_Witness(library).facts(name, arguments(library, name, thing))]
    parts: Places = dict(_parts(thing, None, count()))
    said: dict[Object, dict[str, None]] = {}
    for fact, about in facts:
        if len(about) == 1:
            said.setdefault(about[0], {})[fact] = None
    nodes = tuple(
        Node(number, parent, ", ".join(said.get(part, ())) or _plain(part), _coloured(part))
        for part, (number, parent) in parts.items()
    )
    pairs = dict.fromkeys((*about, fact) for fact, about in facts if len(about) == 2)
    edges = (Edge(parts[a][0], parts[b][0], fact) for a, b, fact in pairs if _beside(a, b, parts))
    return SceneGraph(nodes, tuple(edges))


def arguments(library: Library, name: str, thing: Object) -> tuple[Object, ...]:
    """What a definition is said of: a concept of several objects is about the vector of them."""
    if len(library.definitions[name].parameters) == 1:
        return (thing,)
    assert not isinstance(thing, Point)
    return thing


def _coloured(part: Object) -> tuple[tuple[int, int, str], ...]:
    return tuple((point.x, point.y, point.color) for point in points(part))


Places = dict[Object, tuple[int, int | None]]
"""The number of each part, and that of the part it belongs to."""


def _parts(
    thing: Object, parent: int | None, numbers: Iterator[int]
) -> Iterator[tuple[Object, tuple[int, int | None]]]:
    """An object, its parts, and theirs. No two are equal, because no two points are."""
    number = next(numbers)
    yield thing, (number, parent)
    if not isinstance(thing, Point):
        for item in thing:
            yield from _parts(item, number, numbers)


def _beside(a: Object, b: Object, parts: Places) -> bool:
    return a in parts and b in parts and a != b and parts[a][1] == parts[b][1]


def _plain(part: Object) -> str:
    """The name of a part that no definition speaks of."""
    return part.color if isinstance(part, Point) else f"vector of {len(part)}"


# --- the terminal -------------------------------------------------------------------------------------------------


def graph_tree(graph: SceneGraph) -> Tree:
    """The scene graph as a tree of words."""
    tree = Tree(_branch(graph, graph.root, None))
    _grow(tree, graph, graph.root)
    return tree


def _grow(tree: Tree, graph: SceneGraph, node: Node) -> None:
    parts = graph.divided(node)
    for i, part in enumerate(parts, 1):
        _grow(tree.add(_branch(graph, part, i)), graph, part)
    for (a, b), names in graph.relations(parts).items():
        tree.add(Text(f"{a + 1} → {b + 1}: {', '.join(names)}", style="dim"))


def _branch(graph: SceneGraph, node: Node, number: int | None) -> Text:
    text = Text("" if number is None else f"{number} ", style="dim").append(node.label, style="bold not dim")
    return text if graph.divided(node) else text.append(f"  {points_in_words(node.points)}", style="not bold not dim")


def points_in_words(shown: Sequence[tuple[int, int, str]]) -> str:
    """Points, with their colour once where they share it.

    >>> points_in_words([(3, 4, "red"), (4, 4, "red")])
    'red (3, 4) (4, 4)'
    """
    colors = {color for _, _, color in shown}
    if len(colors) == 1:
        return f"{colors.pop()} {' '.join(f'({x}, {y})' for x, y, _ in shown)}"
    return ", ".join(f"{color} ({x}, {y})" for x, y, color in shown)


def derivation_tree(derivation: Expr) -> Tree:
    """Which definitions were used inside which; what is used again is not told again."""
    return _derived(Tree(derivation.head.index[0]), derivation, set())


def _derived(tree: Tree, derivation: Expr, told: set[Expr]) -> Tree:
    for child, many in Counter(derivation.args).items():
        name = Text(child.head.index[0]).append(f" × {many}" if many > 1 else "", style="dim")
        again = child in told and bool(child.args)
        branch = tree.add(name.append(", as above" if again else "", style="dim"))
        told.add(child)
        if not again:
            _derived(branch, child, told)
    return tree


def image_terminal(view: ImageView) -> RenderableType:
    """The image in half blocks, and what it is made of."""
    return Group(view.terminal(), Text(), graph_tree(view.graph))


# --- the page -----------------------------------------------------------------------------------------------------

_PIXELS = "display:block;width:100%;height:auto;image-rendering:pixelated"


def picture(pixels: np.ndarray, alt: str) -> str:
    """An image with square pixels, as wide as there is room."""
    data = b64encode(png(pixels)).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}" style="{_PIXELS}">'


def shots(views: Sequence[ImageView]) -> str:
    """Images side by side, each with its class, its concept, and what the learners say."""
    return f'<div class="images">{"".join(map(_shot, views))}</div>'


def _shot(view: ImageView) -> str:
    frame = f'<div class="frame" style="--edge:var(--line)">{picture(view.pixels, view.says)}</div>'
    label = f'<b style="font-size:.85rem">{escape(view.label)}</b><br>' if view.label else ""
    caption = f"<figcaption>{label}{escape(view.says).replace('_', '_<wbr>')}</figcaption>"
    said = "".join(_belief(view, name, chances) for name, chances in (("strong", view.strong), ("weak", view.weak)))
    return f'<figure class="shot">{frame}{caption}{said}</figure>'


def _belief(view: ImageView, learner: str, chances: Chances | None) -> str:
    """The probability of the right class."""
    if chances is None:
        return ""
    right = chances.get(view.label, 0.0)
    about = escape(f"{learner} learner: {chances_in_words(chances)}")
    meter = f'<span class="meter"><i style="width:{100 * right:.1f}%"></i></span>'
    wrong = right < max(chances.values())
    value = f'<span class="p{" wrong" if wrong else ""}">{right:.2f}{" ✗" if wrong else ""}</span>'
    return f'<div class="belief {learner}" title="{about}"><span>{learner}</span>{meter}{value}</div>'


def chances_in_words(chances: Chances) -> str:
    """The likeliest classes first.

    >>> chances_in_words({"red": 0.5, "blue": 0.0, "mixed": 0.5})
    'red 0.50, mixed 0.50'
    """
    order = sorted(chances, key=lambda label: -chances[label])
    return ", ".join(f"{label} {chances[label]:.2f}" for label in order if chances[label])
