"""Taking points of an image for the leaves of a shape, turn by turn.

What is still possible depends on the stage, on the unused points, and on the points of those leaves that the conditions
left speak of, the frontier: where nothing was found once, nothing is tried again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from recombine.benchmarks.concept_world.definition import Grid, Object, Point
from recombine.benchmarks.concept_world.reference import failing, said
from recombine.benchmarks.concept_world.shapes import Steps
from recombine.benchmarks.concept_world.unfold import Thing, leaves_of, numbers
from recombine.benchmarks.concept_world.variable_order import Checks, Choose, Equation, Order, Placed, Stage, Take, X, Y
from recombine.language.expr import Expr
from recombine.semantics.fold import fold


class Furthest:
    """What failed where most leaves had points, and of these where most conditions held."""

    def __init__(self) -> None:
        self.reached = -1, 0
        self.reason = ""

    def note(self, leaves: int, held: int, reason: Callable[[], str]) -> None:
        if (leaves, held) > self.reached:
            self.reached, self.reason = (leaves, held), reason()


class Taking:
    """A search for points of an image for the leaves of a shape."""

    def __init__(self, order: Order, image: Sequence[Point], steps: Steps, furthest: Furthest) -> None:
        self.order, self.image, self.steps, self.furthest = order, image, steps, furthest
        self.placed: Placed = [None] * len(image)
        self.failed: set[tuple[Stage, int, tuple[Point | None, ...]]] = set()
        self.at_place = {(point.x, point.y): number for number, point in enumerate(image)}
        self.on_line: tuple[dict[int, list[int]], dict[int, list[int]]] = defaultdict(list), defaultdict(list)
        for number, point in enumerate(image):
            self.on_line[X][point.x].append(number)
            self.on_line[Y][point.y].append(number)

    def objects(self) -> Iterator[Object]:
        """The objects of the shape with exactly the points of the image, each once."""
        if self._hold(self.order.due, self.order.first):
            yield from self._rest(self.order.first, (1 << len(self.image)) - 1)

    def _rest(self, stage: Stage, unused: int) -> Iterator[Object]:
        """The objects with the points taken so far."""
        if not unused:
            yield _object(self.order.thing, self.placed)
            return
        key = stage, unused, tuple(self.placed[leaf] for leaf in stage.frontier)
        if key in self.failed:
            return
        found = False
        for then, left in self._ways(stage, unused):
            for thing in self._rest(then, left):
                found = True
                yield thing
        if not found:
            self.failed.add(key)

    def _ways(self, stage: Stage, unused: int) -> Iterator[tuple[Stage, int]]:
        """The next stages that nothing contradicts, with the points unused then."""
        turn = stage.turn
        if isinstance(turn, Choose):
            for due, then in turn.alternatives:
                self.steps.take()
                if self._hold(due, stage):
                    yield then, unused
            return
        for number in self._candidates(stage, turn, unused):
            self.steps.take()
            self.placed[turn.leaf] = self.image[number]
            if self._hold(turn.due, turn.then):
                yield turn.then, unused & ~(1 << number)

    def _candidates(self, stage: Stage, turn: Take, unused: int) -> list[int]:
        """The unused points where the leaf may be."""
        if turn.x and turn.y:
            there = self.at_place.get((turn.x.value(self.placed), turn.y.value(self.placed)))
            numbers = [] if there is None else [there]
        elif equation := turn.x or turn.y:
            numbers = self.on_line[equation.at].get(equation.value(self.placed), [])
        else:
            numbers = list(range(len(self.image)))
        left = [number for number in numbers if unused >> number & 1]
        if not left:
            self.furthest.note(len(stage.placed), 0, lambda: self._nowhere(turn, bool(numbers)))
        return left

    def _hold(self, due: Sequence[Expr], stage: Stage) -> bool:
        """Do these conditions hold, with points for the leaves of this stage?"""
        for held, part in enumerate(due):
            if not self.order.facts(part).check(self.placed):
                if part in self.order.sources:
                    self.furthest.note(len(stage.placed) - 1, held + 1, partial(self._failing, part, stage))
                return False
        return True

    def _nowhere(self, turn: Take, taken: bool) -> str:
        """'domino: no point lies one east of (5, 7) red'."""
        decided = [equation for equation in (turn.x, turn.y) if equation]
        path = " → ".join(self.order.sources[decided[0].condition].path)
        where = self._beside(turn) or " and ".join(map(self._where, decided))
        return f"{path}: the point {where} is taken already" if taken else f"{path}: no point lies {where}"

    def _where(self, equation: Equation) -> str:
        return f"in {'column' if equation.at == X else 'row'} {equation.value(self.placed)}"

    def _beside(self, turn: Take) -> str:
        """'one east of (5, 7) red'; empty where the place is decided by more than the place of another point."""
        x, y = turn.x, turn.y
        if x is None or y is None or x.source is None or (x.source, X, Y) != (y.source, x.source_at, y.source_at):
            return ""
        ways = ((x.more, "east"), (-x.more, "west"), (y.more, "south"), (-y.more, "north"))
        steps = " and ".join(f"{'one' if n == 1 else n} {way}" for n, way in ways if n > 0)
        source = self.placed[x.source]
        return f"{steps} of {said(source)}" if steps and source else ""

    def _failing(self, part: Expr, stage: Stage) -> str:
        """'red_seq → red: x.color == red fails for x = (3, 4) blue'."""
        path, condition, binding = self.order.sources[part]
        known = {
            name: _object(thing, self.placed)
            for name, thing in binding.items()
            if all(numbers(leaf) <= stage.placed for leaf in leaves_of(thing))
        }
        return f"{' → '.join(path)}: {failing(condition, known)}"


def _object(thing: Thing, placed: Placed) -> Object:
    """The object with points for leaves and picks."""
    if isinstance(thing, tuple):
        return tuple(_object(item, placed) for item in thing)
    return fold(thing, Checks(Grid()), {})(placed)
