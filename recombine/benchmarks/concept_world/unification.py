"""Objects that are partly known: holes, vectors whose first items are known, and what conditions say about them."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from recombine.benchmarks.concept_world.reference import free
from recombine.language.expr import Expr


@dataclass(frozen=True)
class Hole:
    """An object that may be anything yet."""

    number: int


@dataclass(frozen=True)
class Vector:
    """A vector whose first items are known; without a rest they are all."""

    items: tuple["Node", ...]
    rest: Hole | None = None


Node = Hole | Vector


class Task(NamedTuple):
    """A condition, what its variables stand for, and the calls that it is part of."""

    condition: Expr
    binding: Mapping[str, Node]
    above: tuple[tuple[str, tuple[Node, ...]], ...]


class Clash(Exception):
    """A sketch of no object."""


class Sketch:
    """An object that is partly known."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.bound: dict[Hole, Node] = {}
        self.points: frozenset[Hole] = frozenset()
        self.rests: frozenset[Hole] = frozenset()
        self.todo: list[Task] = []
        self.choices: list[Task] = []
        self.waiting: list[Task] = []

    def copy(self) -> "Sketch":
        other = copy(self)
        other.bound = dict(self.bound)
        other.todo, other.choices, other.waiting = list(self.todo), list(self.choices), list(self.waiting)
        return other

    def seen(self, node: Node) -> Node:
        """What is known of a node at its top."""
        while isinstance(node, Hole) and node in self.bound:
            node = self.bound[node]
        if isinstance(node, Vector) and node.rest is not None:
            rest = self.seen(node.rest)
            return Vector(node.items + rest.items, rest.rest) if isinstance(rest, Vector) else Vector(node.items, rest)
        return node

    def is_same(self, one: Node, other: Node) -> bool:
        """Are these one object, whatever is not known of it?"""
        one, other = self.seen(one), self.seen(other)
        if isinstance(one, Hole) or isinstance(other, Hole):
            return one == other
        alike = len(one.items) == len(other.items) and one.rest == other.rest
        return alike and all(map(self.is_same, one.items, other.items))

    def holes(self, node: Node) -> Iterator[Hole]:
        """What is not known of a node, in order; points are not known."""
        node = self.seen(node)
        if isinstance(node, Hole):
            yield node
            return
        for item in node.items:
            yield from self.holes(item)
        if node.rest is not None:
            yield node.rest

    def unify(self, one: Node, other: Node) -> None:
        """Make two nodes the same object."""
        one, other = self.seen(one), self.seen(other)
        if one == other:
            return
        if isinstance(one, Hole):
            self._bind(one, other)
        elif isinstance(other, Hole):
            self._bind(other, one)
        else:
            self._unify_vectors(one, other)

    def _unify_vectors(self, one: Vector, other: Vector) -> None:
        if len(one.items) > len(other.items):
            one, other = other, one
        for a, b in zip(one.items, other.items):
            self.unify(a, b)
        more = other.items[len(one.items) :]
        if one.rest is not None:
            self.unify(one.rest, Vector(more, other.rest) if more or other.rest is None else other.rest)
        elif more:
            raise Clash
        elif other.rest is not None:
            self.unify(other.rest, Vector(()))

    def _bind(self, hole: Hole, node: Node) -> None:
        if hole in self.holes(node) or (hole in self.points and isinstance(node, Vector)):
            raise Clash
        self.bound[hole] = node
        if isinstance(node, Hole) and hole in self.points:
            self.is_point(node)
        if isinstance(node, Hole) and hole in self.rests:
            self.is_rest(node)

    def is_point(self, node: Node) -> None:
        node = self.seen(node)
        if isinstance(node, Vector) or node in self.rests:
            raise Clash
        self.points |= {node}

    def is_rest(self, node: Node) -> None:
        node = self.seen(node)
        if isinstance(node, Hole):
            if node in self.points:
                raise Clash
            self.rests |= {node}

    def node(self, term: Expr, binding: Mapping[str, Node]) -> Node:
        """What a term stands for."""
        if term.head.family == "var":
            return binding[term.head.index[0]]
        items = tuple(self.node(arg, binding) for arg in term.args)
        if term.head.family == "vector":
            return Vector(items)
        rest = self.seen(items[-1])
        self.is_rest(rest)
        return Vector(items[:-1], rest) if isinstance(rest, Hole) else Vector(items[:-1] + rest.items, rest.rest)

    def arguments(self, task: Task) -> tuple[Node, ...]:
        return tuple(self.node(arg, task.binding) for arg in task.condition.args)

    def nodes(self, task: Task) -> tuple[Node, ...]:
        """What a task speaks of."""
        if task.condition.head.family == "call":
            return self.arguments(task)
        return tuple(task.binding[name] for name in sorted(free(task.condition)))

    def is_full(self, nodes: tuple[Node, ...]) -> bool:
        """Is all of these known but which points they have?"""
        return all(hole in self.points for node in nodes for hole in self.holes(node))

    def pattern(self, nodes: tuple[Node, ...]) -> Node:
        """The nodes with their holes numbered as they come: equal for equal structures."""
        number: dict[Hole, int] = {}

        def numbered(node: Node) -> Node:
            node = self.seen(node)
            if isinstance(node, Hole):
                return Hole(number.setdefault(node, len(number)))
            return Vector(tuple(map(numbered, node.items)))

        return numbered(Vector(nodes))

    def without(self, choice: Task) -> "Sketch":
        other = self.copy()
        other.choices.remove(choice)
        return other

    def wait_for(self, task: Task) -> "Sketch":
        self.waiting.append(task)
        return self

    def fewest(self) -> int:
        """A lower bound on the points of the object."""
        open_tasks = (*self.todo, *self.choices)
        nodes = (task.binding[name] for task in open_tasks for name in free(task.condition) if name in task.binding)
        described = {hole for node in nodes for hole in self.holes(node)} - self.points
        return sum(hole not in self.rests and hole not in described for hole in self.holes(self.root))
