"""The shapes that objects of a concept can have: structures with so many points, and what must be true of the points.

A sketch is an object that is partly known, with the conditions that may still say more about its structure: patterns,
and calls of definitions that have patterns. Patterns are unified; where definitions have alternatives, each is tried.
What nothing describes further is a point, or an empty rest. All other conditions wait until the structure is known.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import NamedTuple

from recombine.benchmarks.concept_world.definition import Library
from recombine.benchmarks.concept_world.formula import either
from recombine.benchmarks.concept_world.reference import DEPTH, definition_of, free, too_deep
from recombine.benchmarks.concept_world.unfold import Leaves, Thing, conjunction, leaf, leaves_of, pick
from recombine.benchmarks.concept_world.unification import Clash, Hole, Node, Sketch, Task, Vector
from recombine.language.expr import Expr, subterms
from recombine.store.errors import UserError
from recombine.store.limit import check


class Steps:
    """Counts work, and ends what takes too much."""

    def __init__(self, limit: int, about: str) -> None:
        self.left, self.limit, self.about = limit, limit, about

    def take(self) -> None:
        check()
        self.left -= 1
        if self.left < 0:
            raise UserError(f"{self.about} is not decided after {self.limit} steps; raise the limit or simplify it")


class Shape(NamedTuple):
    """A structure over leaves, and conditions on its leaves."""

    thing: Thing
    conditions: tuple[Expr, ...]


class Shapes:
    """The shapes of the objects of a concept with so many points, each once, as they are found."""

    def __init__(self, leaves: Leaves, name: str, size: int, steps: Steps) -> None:
        self.library, self.leaves, self.name, self.size, self.steps = leaves.library, leaves, name, size, steps
        self.sizes: set[int] = set()  # how many points the objects found have
        self.larger = False  # whether there may be objects of more points
        self.describing, self.about_points = describing(self.library), about_points(self.library)
        self._number = count()

    def __iter__(self) -> Iterator[Shape]:
        found: set[tuple[Thing, frozenset[Expr]]] = set()
        for sketch in self._sketches():
            shape = self._closed(sketch)
            if shape is not None and (shape.thing, frozenset(shape.conditions)) not in found:
                found.add((shape.thing, frozenset(shape.conditions)))
                yield shape

    def _sketches(self) -> Iterator[Sketch]:
        """All that patterns say, one alternative of each choice at a time."""
        queue = deque(self._started())  # few choices first: what has an end is found though something else has none
        while queue:
            sketch = queue.popleft()
            if sketch.choices:
                queue.extend(self._branches(sketch))
            else:
                yield sketch

    def _started(self) -> list[Sketch]:
        if self.name not in self.library.definitions:
            definition_of(self.library, self.name, 0)
        definition = self.library.definitions[self.name]
        holes = {name: self._hole() for name in definition.parameters}
        unary = len(holes) == 1
        sketch = Sketch(*holes.values() if unary else [Vector(tuple(holes.values()))])
        self._expand(sketch, self.name, tuple(holes.values()), ())
        return [sketch] if self._worked(sketch) else []

    def _hole(self) -> Hole:
        return Hole(next(self._number))

    def _branches(self, sketch: Sketch) -> list[Sketch]:
        """The sketch with one choice made: the first, or one that leaves no choice."""
        best: list[Sketch] | None = None
        for choice in list(sketch.choices):
            if self._decided(sketch, choice):
                return [sketch.without(choice).wait_for(choice)]
            made = ((part, self._made(sketch, choice, part)) for part in self._parts(choice))
            branches = self._merged(sketch, choice, [(part, other) for part, other in made if other is not None])
            if len(branches) < 2:
                return branches
            best = best or branches
        assert best is not None
        return best

    def _merged(self, sketch: Sketch, choice: Task, made: list[tuple[Expr, Sketch]]) -> list[Sketch]:
        """Alternatives that describe the same structure in full are one: which of them is true can wait."""
        groups: dict[object, list[tuple[Expr, Sketch]]] = {}
        for part, other in made:
            full = len(other.choices) < len(sketch.choices) and other.is_full(other.nodes(choice))
            full &= choice.condition.head.family == "call" or not _picks(part)  # what is picked may be needed elsewhere
            groups.setdefault(other.pattern(other.nodes(choice)) if full else part, []).append((part, other))
        return [self._either(sketch, choice, group) if len(group) > 1 else group[0][1] for group in groups.values()]

    def _either(self, sketch: Sketch, choice: Task, group: list[tuple[Expr, Sketch]]) -> Sketch:
        """The structure that the alternatives describe, and that one of them is true."""
        first = group[0][1]
        first.waiting = list(sketch.waiting)
        condition = either(*(part for part, _ in group))
        if choice.condition.head.family == "or":
            return first.wait_for(choice._replace(condition=condition))
        name, nodes = choice.condition.head.index[0], first.nodes(choice)
        own = dict(zip(self.library.definitions[name].parameters, nodes))
        return first.wait_for(Task(condition, own, (*choice.above, (name, nodes))))

    def _decided(self, sketch: Sketch, task: Task) -> bool:
        """Can a call no longer say anything about the structure?"""
        return task.condition.head.family == "call" and sketch.is_full(sketch.nodes(task))

    def _parts(self, choice: Task) -> tuple[Expr, ...]:
        if choice.condition.head.family == "or":
            return choice.condition.args
        return self.library.definitions[choice.condition.head.index[0]].body.args

    def _made(self, sketch: Sketch, choice: Task, part: Expr) -> Sketch | None:
        """The sketch with this alternative of the choice."""
        made = sketch.without(choice)
        if choice.condition.head.family == "or":
            made.todo.append(choice._replace(condition=part))
        elif not self._expand(made, choice.condition.head.index[0], made.arguments(choice), choice.above, part):
            return None
        return made if self._worked(made) else None

    def _expand(
        self, sketch: Sketch, name: str, nodes: tuple[Node, ...], above: tuple, part: Expr | None = None
    ) -> bool:
        """Put what a definition says in the place of its call; false for a call that needs itself."""
        self.steps.take()
        if len(above) == DEPTH:
            raise too_deep(self.name)
        definition = definition_of(self.library, name, len(nodes))
        if any(other == name and all(map(sketch.is_same, nodes, args)) for other, args in above):
            return False
        body = part if part is not None else definition.body
        own = dict(zip(definition.parameters, nodes))
        binding = {name: self._hole() for name in sorted(free(body)) if name not in own} | own
        sketch.todo.append(Task(body, binding, (*above, (name, nodes))))
        return True

    def _worked(self, sketch: Sketch) -> bool:
        """Do all that leaves no choice; false where the sketch turns out to be of no object, or of too many points."""
        try:
            while sketch.todo:
                self._work(sketch, sketch.todo.pop(0))
                if not sketch.todo and self._too_large(sketch):
                    return False
        except Clash:
            return False
        return True

    def _work(self, sketch: Sketch, task: Task) -> None:
        self.steps.take()
        condition, family = task.condition, task.condition.head.family
        if family == "and":
            sketch.todo[:0] = [task._replace(condition=part) for part in condition.args]
        elif family == "same":
            sketch.unify(*sketch.arguments(task))
        elif family == "point":
            sketch.is_point(*sketch.arguments(task))
        elif family == "call":
            self._call(sketch, task)
        elif family == "or" and self._chooses(condition):
            sketch.choices.append(task)
        else:
            self._wait(sketch, task)

    def _wait(self, sketch: Sketch, task: Task) -> None:
        for name in sorted(points_in(task.condition, self.about_points)):
            sketch.is_point(task.binding[name])
        sketch.waiting.append(task)

    def _call(self, sketch: Sketch, task: Task) -> None:
        name = task.condition.head.index[0]
        body = definition_of(self.library, name, len(task.condition.args)).body
        if name not in self.describing or self._decided(sketch, task):
            self._wait(sketch, task)
        elif body.head.family == "or" and self._chooses(body):
            sketch.choices.append(task)
        elif not self._expand(sketch, name, sketch.arguments(task), task.above) or self._too_large(sketch):
            raise Clash

    def _too_large(self, sketch: Sketch) -> bool:
        large = sketch.fewest() > self.size
        self.larger |= large
        return large

    def _chooses(self, condition: Expr) -> bool:
        """Do alternatives make objects known?"""
        return describes(condition, self.describing) or _picks(condition)

    def _closed(self, sketch: Sketch) -> Shape | None:
        """The shape of a sketch that nothing describes further."""
        open_holes = list(sketch.holes(sketch.root))
        places = [hole for hole in open_holes if hole not in sketch.rests]
        self.sizes.add(len(places))
        if len(places) != self.size or len(set(places)) != self.size:
            return None
        for hole in set(open_holes) & sketch.rests:
            sketch.bound[hole] = Vector(())
        known: dict[Hole, Thing] = {hole: leaf(i) for i, hole in enumerate(places)}
        _pick_points(sketch, known)
        thing = _thing(sketch, sketch.root, known)
        assert thing is not None
        return Shape(thing, self._conditions(sketch, known))

    def _conditions(self, sketch: Sketch, known: Mapping[Hole, Thing]) -> tuple[Expr, ...]:
        parts = []
        for task in sketch.waiting:
            things = {name: _thing(sketch, node, known) for name, node in task.binding.items()}
            binding = {name: thing for name, thing in things.items() if thing is not None}
            parts.append(self.leaves.formula(task.condition, binding, tuple(name for name, _ in task.above)))
        whole = conjunction(parts)
        return whole.args if whole.head.family == "and" else (whole,)


def _pick_points(sketch: Sketch, known: dict[Hole, Thing]) -> None:
    """Find the points that argmin and argmax name, where they are no leaves themselves."""
    open_tasks = [task for task in sketch.waiting if task.condition.head.family in ("argmin", "argmax")]
    while True:
        left = []
        for task in open_tasks:
            picked, node = sketch.arguments(task)
            thing, hole = _thing(sketch, node, known), sketch.seen(picked)
            if thing is None:
                left.append(task)
            elif isinstance(hole, Hole) and hole not in known:
                found = pick(task.condition.head.family, task.condition.head.index[0], leaves_of(thing))
                known |= {hole: found} if found is not None else {}
        if len(left) == len(open_tasks):
            return
        open_tasks = left


def _thing(sketch: Sketch, node: Node, known: Mapping[Hole, Thing]) -> Thing | None:
    """A node over leaves and picks; None where it is not known."""
    node = sketch.seen(node)
    if isinstance(node, Hole):
        return known.get(node)
    if node.rest is not None:
        return None
    items = tuple(thing for item in node.items if (thing := _thing(sketch, item, known)) is not None)
    return items if len(items) == len(node.items) else None


def positive(condition: Expr) -> Iterator[Expr]:
    """The conditions in a formula outside quantifiers and not."""
    if condition.head.family in ("and", "or"):
        for part in condition.args:
            yield from positive(part)
    else:
        yield condition


def _picks(condition: Expr) -> bool:
    return any(part.head.family in ("argmin", "argmax") for part in positive(condition))


def describes(condition: Expr, describing: frozenset[str]) -> bool:
    """Does it have a pattern, or call a definition that has?"""
    return any(
        part.head.family == "same" or (part.head.family == "call" and part.head.index[0] in describing)
        for part in positive(condition)
    )


def describing(library: Library) -> frozenset[str]:
    """The definitions that say something about the structure of objects."""
    found: frozenset[str] = frozenset()
    while True:
        more = frozenset(d.name for d in library.definitions.values() if describes(d.body, found))
        if more == found:
            return found
        found = more


def points_in(condition: Expr, about: Mapping[str, frozenset[int]]) -> frozenset[str]:
    """The variables that must be points for it to be true; `about` says so of the parameters of definitions."""
    family, args = condition.head.family, condition.args
    if family in ("and", "or"):
        each = [points_in(part, about) for part in args]
        return frozenset().union(*each) if family == "and" else each[0].intersection(*each[1:])
    if family == "compare":
        owners = [part.args[0] for part in subterms(condition) if part.head.family == "property"]
    elif family == "call":
        owners = [arg for i, arg in enumerate(args) if i in about.get(condition.head.index[0], ())]
    else:
        owners = list(args[:1]) if family in ("point", "argmin", "argmax") else []
    return frozenset(owner.head.index[0] for owner in owners if owner.head.family == "var")


def about_points(library: Library) -> dict[str, frozenset[int]]:
    """Which parameters of a definition must be points for it to be true."""
    found: dict[str, frozenset[int]] = dict.fromkeys(library.definitions, frozenset())
    while True:
        named = {d: points_in(d.body, found) for d in library.definitions.values()}
        more = {d.name: frozenset(i for i, p in enumerate(d.parameters) if p in named[d]) for d in named}
        if more == found:
            return found
        found = more
