"""The planner: every way for an object to satisfy a concept.

The definition is unfolded goal by goal. Patterns build the object; comparisons become constraints on coordinates and
colours; a condition that needs to know the object's points waits until they are known; what is left open are choices,
of which the one with the fewest options is tried first. Alternatives that contradict what is known fall away before
they are tried, so rigid shapes decide almost everything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.constraint_trees import Ground, free, outer_variables
from recombine.benchmarks.concept_world.constraints import Contradiction, Tree, x_of, y_of
from recombine.benchmarks.concept_world.definition import Library
from recombine.benchmarks.concept_world.derivation import Call, derivation, only_colors
from recombine.benchmarks.concept_world.formula import call, var
from recombine.benchmarks.concept_world.partial_object import EMPTY, OPEN, SPOT, UNKNOWN, Env, Sketch, TooMany
from recombine.benchmarks.concept_world.plan import Plan, Structure, make_plan
from recombine.benchmarks.concept_world.sample_placements import Placer
from recombine.benchmarks.concept_world.size_bound import Fewest
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.limit import check, tell

STEPS = 200_000
"""Options that a search tries before it gives up."""
DEPTH = 4
"""How often a definition may stand inside itself where nothing else is said."""


@dataclass(frozen=True)
class Limits:
    """What bounds a search: nesting per definition, and the number of points of the whole object."""

    depth: Mapping[str, int]
    otherwise: int = DEPTH
    points: int | None = None
    steps: int = STEPS


class Goal(NamedTuple):
    """A formula to make true."""

    formula: Expr
    env: Env
    proof: int
    """The call that it belongs to."""
    order: tuple[int, ...]
    """Where it stands in that call's text."""


class Pick(NamedTuple):
    """An option of argmin or argmax: this point, on this condition."""

    condition: Tree
    picked: int
    point: int


class Draft(Sketch):
    """A sketch with what is still to do."""

    def __init__(self, library: Library, limits: Limits, fewest: Fewest) -> None:
        super().__init__(library)
        self.limits, self.fewest, self.root = limits, fewest, -1
        self.calls: list[Call] = []
        self.agenda: list[Goal] = []
        self.waiting: list[Goal] = []
        self.choices: list[Goal] = []
        self.cut = False
        """Whether a nesting limit cut something off."""

    def copy(self) -> "Draft":
        twin = super().copy()
        assert isinstance(twin, Draft)
        for name in ("calls", "agenda", "waiting", "choices"):
            setattr(twin, name, list(getattr(self, name)))
        return twin

    # Goals.

    def step(self, goal: Goal) -> None:
        """Do what can be done about a goal at once, or let it wait."""
        check()
        formula, env, proof, order = goal
        family = formula.head.family
        if family == "and":
            self.agenda += [Goal(part, env, proof, (*order, i)) for i, part in enumerate(formula.args)][::-1]
        elif family == "same":
            self.unify(self.build(formula.args[0], env), self.build(formula.args[1], env))
        elif family == "point":
            self.make_point(self.build(formula.args[0], env))
        elif family == "call":
            self.enter(goal)
        elif family == "or" and not only_colors(formula, self.library):
            self.choices.append(goal)
        elif family in ("argmin", "argmax"):
            self.need_point(self.build(formula.args[0], env))
            self.choices.append(goal)
        else:
            if family == "compare":
                for name in free(formula):
                    self.need_point(env[name])
            if not self.grounded(goal):
                self.waiting.append(goal)

    def enter(self, goal: Goal) -> None:
        """Replace a call by its definition."""
        name, args = goal.formula.head.index[0], tuple(self.build(arg, goal.env) for arg in goal.formula.args)
        nested, above = 1, goal.proof
        while above >= 0:
            before = self.calls[above]
            if before.name == name:
                nested += 1
                if all(map(self.is_same, before.args, args)):
                    raise Contradiction  # a proof that needs itself
            above = before.parent
        if nested > self.limits.depth.get(name, self.limits.otherwise):
            self.cut = True
            raise Contradiction
        self.calls.append(Call(name, goal.proof, goal.order, args))
        self.agenda.append(Goal(self.library.definitions[name].body, self._env(name, args), len(self.calls) - 1, ()))

    def _env(self, name: str, args: tuple[int, ...]) -> Env:
        definition = self.library.definitions[name]
        env = dict(zip(definition.parameters, args))
        for local in outer_variables(definition.body):
            if local not in env:
                env[local] = self.new()
        return env

    def grounded(self, goal: Goal) -> bool:
        """Turn a goal whose objects are known into constraints."""
        formula, env = goal.formula, goal.env
        if any(self.points(env[name]) is None for name in free(formula) if name in env):
            return False
        self.assert_tree(Ground(self).tree([formula], env))
        return True

    # Going on.

    def propagate(self) -> None:
        """Do everything that follows without a choice."""
        busy = True
        while busy:
            self._work()
            waiting, self.waiting = self.waiting, []
            self.agenda += waiting[::-1]
            self._work()
            self.constraints.settle()
            check()
            self._check_places()
            busy = self._forced() or (len(self.waiting) < len(waiting))

    def _work(self) -> None:
        while self.agenda:
            self.step(self.agenda.pop())

    def _check_places(self) -> None:
        """Two points of the whole object never share a cell, and there are not too many."""
        if self.limits.points is not None and self._least() > self.limits.points:
            raise Contradiction
        placed = self._points_inside()
        if len(placed) > 1:
            known = self.constraints.known
            together = np.ones((len(placed), len(placed)), bool)
            for at in (x_of, y_of):
                rows = [at(point) for point in placed]
                square = known[np.ix_(rows, rows)]
                together &= (square == 0) & (square.T == 0)
            if together.sum() > len(placed):
                raise Contradiction

    def _points_inside(self) -> list[int]:
        """The points of the whole object, as far as they are known; one that occurs twice comes twice."""
        found, todo = [], [self.root]
        while todo:
            thing = self.see(todo.pop())
            if self.objects[thing][0] == "p":
                found.append(self.point(thing))
            elif self.objects[thing][0] == ":":
                todo += self.objects[thing][1:]
        return found

    def _least(self) -> int:
        """The fewest points that the whole object will have."""
        needed, described = dict[int, int](), set[int]()
        for goal in self.choices:
            if goal.formula.head.family == "or":
                things = {name: self.see(goal.env[name]) for name in free(goal.formula) if name in goal.env}
                for thing in things.values():
                    described |= self.inside(thing)
                for name, least in (self.fewest.bounds(goal.formula) or {}).items():
                    if name in things:
                        needed[things[name]] = max(needed.get(things[name], 0), least)
        return self._least_of(self.root, needed, described)

    def _least_of(self, thing: int, needed: Mapping[int, int], described: set[int]) -> int:
        thing, vectors = self.see(thing), list[int]()
        while self.objects[thing][0] == ":":
            vectors.append(thing)
            thing = self.see(self.objects[thing][2])
        point = self.objects[thing][0] in ("p", "!") or (self.objects[thing] == UNKNOWN and thing not in described)
        least = max(int(point), needed.get(thing, 0))
        for vector in reversed(vectors):
            items = self._least_of(self.objects[vector][1], needed, described)
            least = max(least + items, needed.get(vector, 0))
        return least

    def _forced(self) -> bool:
        """Simplify what is open, and take options that are the only ones left."""
        trees, self.trees = self.trees, []
        for tree in trees:
            self.assert_tree(tree)
        progress = len(self.trees) < len(trees)
        for goal in list(self.choices):
            check()
            options = self.options(goal)
            if options is not None and len(options) <= 1:
                self.choices.remove(goal)
                if not options:
                    raise Contradiction
                self.take(options[0])
                progress = True
        return progress

    def assume_points(self) -> bool:
        """Let the objects that nothing describes be points, and open ends of vectors be closed."""
        unknown = [thing for thing in sorted(self.inside(self.root)) if self.objects[thing] in (UNKNOWN, SPOT, OPEN)]
        for thing in unknown:
            if self.objects[thing] == OPEN:
                self.objects[thing] = EMPTY
            else:
                self.make_point(thing)
        return bool(unknown)

    # Choices.

    def options(self, goal: Goal) -> list[Any] | None:
        """What may be chosen for an open goal; None where it cannot be told yet."""
        formula, env = goal.formula, goal.env
        if formula.head.family == "or":
            return [
                Goal(part, env, goal.proof, (*goal.order, i))
                for i, part in enumerate(formula.args)
                if self._may_hold(part, env)
            ]
        if self.points(self.build(formula.args[1], env)) is None:
            return None
        picked, extremes = self.build(formula.args[0], env), Ground(self).extremes(formula, env)
        found = [(self.constraints.simplify(condition), thing) for thing, condition in extremes]
        return [Pick(condition, picked, thing) for condition, thing in found if condition is not False]

    def _may_hold(self, part: Expr, env: Env) -> bool:
        """Whether the patterns of an alternative fit what is built so far."""
        inner = part.args if part.head.family == "and" else (part,)
        patterns = [p for p in inner if p.head.family == "same" and p.args[1].head.family in ("vector", "split")]
        return all(self._may_fit(pattern.args[1], self.build(pattern.args[0], env)) for pattern in patterns)

    def _may_fit(self, pattern: Expr, thing: int) -> bool:
        thing = self.see(thing)
        if self.objects[thing][0] in ("p", "!"):
            return False
        length = 0
        while self.objects[thing][0] == ":":
            length, thing = length + 1, self.see(self.objects[thing][2])
        closed = self.objects[thing] == EMPTY
        wanted = len(pattern.args) - (pattern.head.family == "split")
        if pattern.head.family == "split":
            return not closed or length >= wanted
        return length <= wanted and (not closed or length == wanted)

    def take(self, option: Any) -> None:
        """Take one option of a choice."""
        if isinstance(option, Goal):
            self.agenda.append(option)
        elif isinstance(option, Pick):
            self.assert_tree(option.condition)
            self.unify(option.picked, option.point)
        else:
            self.assert_tree(option)

    def next_options(self) -> list[Any] | None:
        """The options of the choice that has fewest, taken off the list; None where nothing is open."""
        best: tuple[int, list[Any], Any] | None = None
        for tree in self.trees:
            if best is None or len(tree[1]) < best[0]:
                best = (len(tree[1]), list(tree[1]), tree)
        for goal in self.choices:
            check()
            options = self.options(goal)
            if options is not None and (best is None or len(options) < best[0]):
                best = (len(options), options, goal)
        if best is None:
            return None
        if isinstance(best[2], Goal):
            self.choices.remove(best[2])
        else:
            self.trees.remove(best[2])
        return best[1]

    # The end.

    def finish(self) -> Plan:
        """The plan of a finished draft."""
        if self.waiting or self.choices or self.agenda:
            open_goal = (self.waiting + self.choices + self.agenda)[0]
            names = [name for name in sorted(free(open_goal.formula)) if name in open_goal.env]
            loose = [name for name in names if self.points(open_goal.env[name]) is None]
            raise UserError(f"nothing says what {', '.join(loose)} is made of; tie it to a parameter by a pattern")
        leaves = self.points(self.root) or []
        number = {thing: i for i, thing in enumerate(leaves)}
        if self.limits.points is not None and len(leaves) != self.limits.points:
            raise Contradiction
        if len(number) < len(leaves):
            raise Contradiction
        if any(kind[0] == "p" and thing not in number for thing, kind in enumerate(self.objects)):
            raise UserError("a point is used that is not part of the object; tie it to a parameter by a pattern")
        calls = tuple((c.name, tuple(self._structure(arg, number) for arg in c.args)) for c in self.calls)
        structure = self._structure(self.root, number)
        points = [self.point(thing) for thing in leaves]
        return make_plan(self.constraints, points, structure, derivation(self.calls, 0), calls)

    def _structure(self, thing: int, number: dict[int, int]) -> Structure:
        thing = self.see(thing)
        if self.objects[thing][0] == "p":
            return number.get(thing, -1)
        return tuple(self._structure(item, number) for item in self.items(thing) or ())


def start(library: Library, name: str, limits: Limits) -> Draft:
    """A draft of an object of the concept; a concept of several parameters is about the vector of them."""
    if name not in library.definitions:
        raise UserError(f"there is no concept '{name}'; the library has {', '.join(sorted(library.definitions))}")
    draft, parameters = Draft(library, limits, Fewest(library, name)), library.definitions[name].parameters
    things = [draft.new() for _ in parameters]
    draft.root = things[0] if len(things) == 1 else draft.vector(things, draft.new(EMPTY))
    draft.agenda.append(Goal(call(name, *map(var, parameters)), dict(zip(parameters, things)), -1, ()))
    return draft


class Search:
    """Walks through the plans of a concept, one by one."""

    def __init__(self, library: Library, name: str, limits: Limits, rng: np.random.Generator | None = None) -> None:
        self.name, self.limits, self.rng = name, limits, rng
        self.steps, self.cut = 0, False
        self.first = start(library, name, limits)

    def plans(self) -> Iterator[Plan]:
        """Every plan; in random order where there is a generator of random numbers."""
        stack: list[tuple[Draft, Any]] = [(self.first, None)]
        while stack:
            parent, option = stack.pop()
            self._count()
            draft = parent if option is None else parent.copy()
            try:
                if option is not None:
                    draft.take(option)
                options = self._go_on(draft)
                if options is None:
                    plan = draft.finish()
                    if Placer(plan).colors:  # clauses between colours may still exclude one another
                        yield plan
                    continue
                if self.rng is not None:
                    options = [options[i] for i in self.rng.permutation(len(options))]
                stack += [(draft, option) for option in reversed(options)]
            except Contradiction:
                self.cut |= draft.cut

    def _count(self) -> None:
        check()
        tell("alternatives", self.steps, self.limits.steps)
        self.steps += 1
        if self.steps > self.limits.steps:
            raise TooMany(
                f"{self.name}: the search was stopped after {self.limits.steps:,} alternatives; "
                "make the concept narrower, or limit its depth"
            )

    @staticmethod
    def _go_on(draft: Draft) -> list[Any] | None:
        while True:
            draft.propagate()
            options = draft.next_options()
            if options is not None:
                return options
            if not draft.assume_points():
                return None
