"""ConceptWorld beside a general solver: the same concepts as answer set programs, drawn from by clingo.

    python experiments/concept_world_solver.py

A concept about objects of one structure becomes one answer set program. What the definitions say of the points is
translated condition by condition. The structure is given; what else our plans find out (what stands rigidly together,
which alternatives are left) is the solver's to find. Its answer sets are the objects of the concept: a column, a row
and a colour for every point, no two points on one cell.

Both sides' samples are checked by `samples.verified`; times are CPU times of one core and include that. There are two
ways to draw from clingo: a new search with a seed of its own for each sample, on what was grounded and learned before;
or one search that goes on from answer set to answer set, which is faster, but each is a neighbour of the last: in paths
of 3 pairs, four points of five stay where they are. (Much of the latter's time goes into reading answers through
clingo's Python interface.)

Several encodings and settings were tried; these were the fastest or close to it: coordinates by their order (`least`)
rather than by their value alone, points kept apart in pairs rather than cell by cell, configuration frumpy. Saved
phases are off, because with them new seeds give old answers: `handy`, which saves them, answered 363 seeds with one and
the same path of 3 pairs. Other signs and the default configuration, or a new program for each sample, were no more
uniform. Samplers that add random parity conditions to a program were not tried.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from time import process_time
from typing import NamedTuple

import clingo
import numpy as np
from rich.console import Console
from scipy.stats import chisquare

from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.definition import Grid, Library, Line
from recombine.benchmarks.concept_world.extension import Drawn, Extension
from recombine.benchmarks.concept_world.reader import load_library
from recombine.benchmarks.concept_world.reference import FIELD
from recombine.benchmarks.concept_world.samples import verified
from recombine.benchmarks.concept_world.unfold import Leaves, Structure, leaves_of, of_structure
from recombine.language.expr import Expr
from recombine.metrics.speed import cpu
from recombine.report.table import Cell, Column, Table
from recombine.store.durations import duration
from recombine.store.key import Key

FIELDS = tuple(FIELD.values())
"""The predicates of a point: x(point, column), y(point, row), color(point, code)."""


# Translation.


class Value(NamedTuple):
    """A number or a colour: a field of an object of the program, plus a constant."""

    field: str
    thing: str
    plus: int


class Program:
    """The rules whose answer sets are the objects of a concept that have this structure.

    Points are numbers. Other names stand for argmin and argmax (`pick0`), conditions (`says0`) and constants.
    """

    def __init__(self, library: Library, name: str, structure: Structure) -> None:
        self.grid, self.rules = library.grid, list[str]()
        self._names: dict[Expr, str] = {}
        self._said: set[str] = set()
        thing = of_structure(structure)
        self.points = len(list(leaves_of(thing)))
        self._canvas()
        one = len(library.definitions[name].parameters) == 1
        self.require(Leaves(library).call(name, (thing,) if one or isinstance(thing, Expr) else thing))

    @property
    def text(self) -> str:
        shown = (f"#show {field}(P, V) : {field}(P, V), point(P)." for field in FIELDS)
        return "\n".join([*self.rules, "#show.", *shown, ""])

    def _canvas(self) -> None:
        """Every point has a column, a row and a colour; no two points have both column and row in common."""
        self.rules.append(f"point(0..{self.points - 1}).")
        self.rules.append(f"1 {{ color(P, 0..{len(self.grid.colors) - 1}) }} 1 :- point(P).")
        for field in ("x", "y"):
            self.rules += [
                f"{{ least({field}, P, 1..{self._size(field) - 1}) }} :- point(P).",
                f":- point(P), least({field}, P, V), V > 1, not least({field}, P, V - 1).",
                *_exactly(field, "P", "point(P), "),
                f"same_{field}(P, Q) :- point(P), point(Q), P < Q, {field}(P, V), {field}(Q, V).",
            ]
        self.rules.append(":- same_x(P, Q), same_y(P, Q).")

    def _size(self, field: str) -> int:
        return {"x": self.grid.width, "y": self.grid.height, "color": len(self.grid.colors)}[field]

    def _once(self, *rules: str) -> None:
        """Add the rules that are not there yet."""
        self.rules += [rule for rule in rules if rule not in self._said]
        self._said.update(rules)

    # Objects and values.

    def thing(self, term: Expr) -> str:
        """The name of a point, or of the pick of one."""
        if term.head.family == "var":
            return term.head.index[0]
        return self._names.setdefault(term, f"pick{len(self._names)}")

    def has(self, field: str, term: Expr) -> str:
        """The name of an object for which `field(name, V)` is defined."""
        name = self.thing(term)
        if _picks_by(field, term):
            self.at_least(field, term)
            self._once(*_exactly(field, name))
        elif term.head.family == "pick":
            self._first(term)
            items = [self.has(field, item) for item in term.args]
            self._once(*(f"{field}({name}, V) :- is({name}, {item}), {field}({item}, V)." for item in items))
        return name

    def at_least(self, field: str, term: Expr) -> str:
        """The name of an object for which `least(field, name, V)` is defined: the value is V or more, for V > 0."""
        name = self.thing(term)
        if _picks_by(field, term):
            items = [f"least({field}, {self.at_least(field, item)}, V)" for item in term.args]
            bodies = items if term.head.index[0] == "argmax" else [", ".join(items)]
            self._once(*(f"least({field}, {name}, V) :- {body}." for body in bodies))
        elif term.head.family == "pick":
            self.has(field, term)
            self._once(
                f"least({field}, {name}, V) :- {field}({name}, V), V > 0.",
                f"least({field}, {name}, V - 1) :- least({field}, {name}, V), V > 1.",
            )
        return name

    def _first(self, pick: Expr) -> None:
        """Define `is(pick, item)` for the first item that has the extreme value."""
        field = FIELD[pick.head.index[1]]
        name, items = self.has(field, pick), [self.has(field, item) for item in pick.args]
        for i, item in enumerate(items):
            later = "".join(f", not is({name}, {before})" for before in items[:i])
            self._once(f"is({name}, {item}) :- {field}({name}, V), {field}({item}, V){later}.")

    def value(self, term: Expr, define: Callable[[str, Expr], str]) -> Value:
        """A value of which `define`, one of `has` and `at_least`, says what is needed."""
        family, word = term.head.family, term.head.index[0]
        if family == "property":
            return Value(FIELD[word], define(FIELD[word], term.args[0]), 0)
        if family == "plus":
            value = self.value(term.args[0], define)
            return value._replace(plus=value.plus + int(word))
        if family == "color":
            return self._constant("color", self.grid.colors.index(word))
        sizes = {"width": self.grid.width, "height": self.grid.height}
        return self._constant("x", 0)._replace(plus=sizes[word] if family == "size" else int(word))

    def _constant(self, field: str, value: int) -> Value:
        self._once(f"{field}(constant{value}, {value}).")
        return Value(field, f"constant{value}", 0)

    # Conditions.

    def require(self, condition: Expr) -> None:
        """Only answer sets in which the condition holds."""
        family = condition.head.family
        if family == "and":
            for part in condition.args:
                self.require(part)
        elif family == "or":
            self._once(f":- {', '.join(f'not {self.literal(part)}' for part in condition.args) or '#true'}.")
        elif family == "not":
            self._once(f":- {self.literal(condition.args[0])}.")
        else:
            self._once(*(f":- {body}." for body in self._broken(condition)))

    def literal(self, condition: Expr) -> str:
        """An atom that is true where the condition holds."""
        if condition not in self._names:
            name = self._names[condition] = f"says{len(self._names)}"
            self._once(*(f"{name} :- {body or '#true'}." for body in self._bodies(name, condition)))
        return self._names[condition]

    def _bodies(self, name: str, condition: Expr) -> list[str]:
        """Bodies of rules, of which one holds where the condition does."""
        family, args = condition.head.family, condition.args
        if family == "and":
            return [", ".join(map(self.literal, args))]
        if family == "or":
            return [self.literal(part) for part in args]
        if family == "not":
            return [f"not {self.literal(args[0])}"]
        if condition.head.index == ("==",):
            return [_equal(*(self.value(side, self.has) for side in args))]
        self._once(*(f"{name}_broken :- {body}." for body in self._broken(condition)))
        return [f"not {name}_broken"]

    def _broken(self, condition: Expr) -> list[str]:
        """Bodies of rules, of which one holds where a comparison of values or points does not."""
        left, right = condition.args
        if condition.head.family == "same":
            pairs = ((Value(f, self.has(f, left), 0), Value(f, self.has(f, right), 0)) for f in FIELDS)
            return [body for a, b in pairs for body in _unequal(a, b)]
        kind = condition.head.index[0]
        if kind in ("==", "!="):
            a, b = self.value(left, self.has), self.value(right, self.has)
            return _unequal(a, b) if kind == "==" else [_equal(a, b)]
        if kind in (">", ">="):
            left, right = right, left
        return self._more(self.value(left, self.at_least), self.value(right, self.at_least), kind in ("<", ">"))

    def _more(self, a: Value, b: Value, or_equal: bool) -> list[str]:
        """Where a is more than b (or equal): a exceeds a bound that b keeps, or b is less than a can ever be."""
        plus = b.plus - a.plus - or_equal
        bound = f"V = {max(0, -plus)}..{self._size(b.field) - 1}"
        bodies = [f"{bound}, least({a.field}, {a.thing}, V + {plus + 1}), not least({b.field}, {b.thing}, V + 1)"]
        return bodies if plus >= 0 else [*bodies, f"not least({b.field}, {b.thing}, {-plus})"]


def _picks_by(field: str, term: Expr) -> bool:
    return term.head.family == "pick" and field == FIELD[term.head.index[1]]


def _exactly(field: str, name: str, known: str = "") -> list[str]:
    """The value, where `least` is known."""
    return [
        f"{field}({name}, 0) :- {known}not least({field}, {name}, 1).",
        f"{field}({name}, V) :- {known}least({field}, {name}, V), not least({field}, {name}, V + 1).",
    ]


def _equal(a: Value, b: Value) -> str:
    return f"{a.field}({a.thing}, V), {b.field}({b.thing}, V + {a.plus - b.plus})"


def _unequal(a: Value, b: Value) -> list[str]:
    both_ways = ((a, b), (b, a))
    return [f"{u.field}({u.thing}, V), not {v.field}({v.thing}, V + {u.plus - v.plus})" for u, v in both_ways]


# Drawing.


class Solver:
    """A program in clingo, grounded; a sample is an array of three rows: columns, rows and colours of the points."""

    def __init__(self, program: Program, options: tuple[str, ...]) -> None:
        self.points, self._read = program.points, dict[clingo.Symbol, tuple[int, int]]()
        self.control = clingo.Control(["--warn=none", *options])
        self.control.add("base", [], program.text)
        self.control.ground([("base", [])])

    def by_seeds(self, key: Key) -> Iterator[np.ndarray]:
        """The first answer set of one search after the other, each with a seed of its own."""
        rng = key.rng()
        while True:
            self._set("solver", "seed", int(rng.integers(1, 1 << 31)))
            found = next(self._found(1), None)
            if found is None:
                return
            yield found

    def in_a_row(self) -> Iterator[np.ndarray]:
        """Every answer set once, in the order in which one search comes to them."""
        return self._found(0)

    def _found(self, most: int) -> Iterator[np.ndarray]:
        self._set("solve", "models", most)
        self._set("solve", "solve_limit", MOST_CONFLICTS)
        with self.control.solve(yield_=True) as handle:
            for model in handle:
                yield self._sample(model)

    def _set(self, part: str, setting: str, value: int) -> None:
        setattr(getattr(self.control.configuration, part), setting, str(value))

    def _sample(self, model: clingo.Model) -> np.ndarray:
        sample = [0] * (len(FIELDS) * self.points)
        for atom in model.symbols(shown=True):
            at, value = self._read.get(atom) or self._learn(atom)
            sample[at] = value
        return np.array(sample, np.int16).reshape(len(FIELDS), self.points)

    def _learn(self, atom: clingo.Symbol) -> tuple[int, int]:
        """Where a shown atom stands in a sample, and its value; remembered, since taking atoms apart is slow."""
        point, value = atom.arguments
        self._read[atom] = FIELDS.index(atom.name) * self.points + point.number, value.number
        return self._read[atom]


def drawn_of(samples: list[np.ndarray], plan: int) -> Drawn:
    """Samples as draws from a plan that has their structure."""
    x, y, color = np.stack(samples, axis=1)
    return Drawn(x, y, color.astype(np.uint8), np.full(len(x), plan, np.int32))


def within(samples: Iterator[np.ndarray], seconds: float, most: int) -> list[np.ndarray]:
    """As many samples as come in so much time, at most so many."""
    found, end = [], process_time() + seconds
    for sample in islice(samples, most):
        found.append(sample)
        if process_time() > end:
            break
    return found


# Measuring.

SEEDED = ("--configuration=frumpy", "--save-progress=0", "--rand-freq=1", "--sign-def=rnd")
PLAIN: tuple[str, ...] = ()
MOST_CONFLICTS = 300_000
"""Conflicts after which one search is given up."""
SECONDS = 3.0
"""Time for the samples of one concept and one way of drawing."""
BATCH = 10_000
"""Samples that are checked together, and the most that are drawn."""


class Case(NamedTuple):
    """A concept, all of whose objects have one structure."""

    title: str
    concept: str
    where: str = ""

    def extension(self, library: Library) -> Extension:
        return extension_of(library, Line("", 1, self.concept, self.where))

    def structure(self, library: Library) -> Structure:
        """What the solver is given for nothing."""
        [structure] = {plan.structure for plan in self.extension(library).plans}
        return structure


class Cost(NamedTuple):
    """CPU seconds up to the first verified sample, and for each further one; None where there was none."""

    first: float | None
    each: float | None
    samples: int


CASES = (
    Case("red_square", "red_square"),
    Case("f_pent_west_z_pent", "f_pent_west_z_pent"),
    Case("red_seq of 3", "red_seq", "depth(east_seq) == 3"),
    Case("red_seq of 7", "red_seq", "depth(east_seq) == 7"),
    Case("mixed_seq of 3", "mixed_seq", "depth(east_seq) == 3"),
    Case("path of 1 pair", "path", "depth(solution) == 1"),
    Case("path of 2 pairs", "path", "depth(solution) == 2"),
    Case("path of 3 pairs", "path", "depth(solution) == 3"),
    Case("path of 5 pairs", "path", "depth(solution) == 5"),
    Case("4x4 checkerboard", "2x2_square_of_squares_checkerboard"),
    Case("composite_x_pent", "composite_x_pent"),
    Case("loose_stack of 2", "loose_stack", "depth(loose_stack) == 2"),
)


def check(extension: Extension, drawn: Drawn) -> None:
    """Draw the images and verify the objects."""
    extension.images(drawn)
    if not verified(extension, drawn).all():
        raise AssertionError(f"a sample of {extension.name} does not satisfy it")


def checking(extension: Extension, drawn: Drawn) -> float:
    """Seconds to check one sample among many, however few there are."""
    many = drawn.take(np.arange(BATCH) % drawn.size)
    return cpu(lambda: check(extension, many), BATCH)


def ours(case: Case, library: Library, key: Key) -> Cost:
    extension = case.extension(library)
    first = cpu(lambda: check(extension, extension.draw(1, key / "first")), 1)
    start = process_time()
    drawn = extension.draw(BATCH, key / "further")
    return Cost(first, (process_time() - start) / BATCH + checking(extension, drawn), BATCH)


def clingos(case: Case, library: Library, options: tuple[str, ...], key: Key | None) -> Cost:
    """The cost of drawing with seeds from a key, or in a row where there is none."""
    extension, structure = case.extension(library), case.structure(library)
    start = process_time()
    solver = Solver(Program(library, case.concept, structure), options)
    samples = solver.in_a_row() if key is None else solver.by_seeds(key)
    found = within(samples, 0, 1)
    if not found:
        return Cost(None, None, 0)
    check(extension, drawn_of(found, 0))
    middle = process_time()
    found = within(samples, SECONDS, BATCH) or found
    end = process_time()
    return Cost(middle - start, (end - middle) / len(found) + checking(extension, drawn_of(found, 0)), len(found))


def shown(seconds: float | None) -> str:
    return "none was found" if seconds is None else duration(seconds)


def times(mine: float | None, other: float | None) -> Cell:
    """How many times as much the other costs."""
    if mine is None or other is None:
        return None
    return f"{other / mine:,.{0 if other >= 10 * mine else 1}f}"


def speed_table(library: Library, key: Key) -> Table:
    rows = []
    for case in CASES:
        mine = ours(case, library, key / "ours" / case.title)
        seeded = clingos(case, library, SEEDED, key / "clingo" / case.title)
        row = clingos(case, library, PLAIN, None)
        costs = (shown(cost) for cost in (mine.first, seeded.first, mine.each, seeded.each))
        rows.append((case.title, *costs, times(mine.each, seeded.each), shown(row.each), times(mine.each, row.each)))
    columns = ("concept", "first: ours", "clingo", "further: ours", "clingo", "times", "clingo in a row", "times")
    note = (
        f"CPU time on a grid of 32 by 32 in five colours; clingo {clingo.__version__}, one thread. "
        "First: with planning, or with translation and grounding. "
        f"clingo: a new seed for each sample, {' '.join(SEEDED)}. In a row: one enumeration with default settings, "
        f"each sample near the last. Ours: {BATCH:,} samples; clingo: as many in {SECONDS:g} s."
    )
    return Table("Per verified sample", _columns(columns), tuple(rows), note)


def _columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name, "right" if i else "left") for i, name in enumerate(names))


# Uniformity.

PER_IMAGE = 10
"""Samples per image that uniformity is judged by, where the time suffices."""
UNIFORMITY_SECONDS = 15.0


class Fit(NamedTuple):
    """How well counts fit equal chances."""

    statistic: float
    p: float


def fit(extension: Extension, every: list[bytes], drawn: Drawn) -> Fit:
    """The chi-square test of the images drawn against all images being equally likely."""
    number = {image: i for i, image in enumerate(every)}
    seen = [number[image.tobytes()] for image in extension.images(drawn)]
    return Fit(*map(float, chisquare(np.bincount(seen, minlength=len(every)))))


def uniformity_row(title: str, case: Case, library: Library, key: Key) -> tuple[Cell, ...]:
    extension = case.extension(library)
    every = [image.tobytes() for image in extension.images(extension.everything())]
    program = Program(library, case.concept, case.structure(library))
    seeded = Solver(program, SEEDED).by_seeds(key / "clingo")
    samples = within(seeded, UNIFORMITY_SECONDS, PER_IMAGE * len(every))
    theirs = fit(extension, every, drawn_of(samples, 0))
    mine = fit(extension, every, extension.draw(len(samples), key / "ours"))
    fits = (
        text for one in (mine, theirs) for text in (f"{one.statistic:,.0f}", f"{one.p:.2g}" if one.p else "< 1e-300")
    )
    return title, len(every), len(samples), len(every) - 1, *fits, listing(program, len(every))


def listing(program: Program, images: int) -> str:
    """How long clingo takes to list all answer sets."""
    start = process_time()
    found = within(Solver(program, PLAIN).in_a_row(), UNIFORMITY_SECONDS, images + 1)
    if len(found) == images:
        return duration(process_time() - start)
    return f"more than {UNIFORMITY_SECONDS:g} s"


def uniformity_table(library: Library, key: Key) -> Table:
    small = replace(library, grid=Grid(8, 8, library.grid.colors))
    squares, pentomino, row = CASES[0], Case("f_pent", "f_pent"), CASES[3]
    rows = (
        uniformity_row("f_pent, 8 by 8", pentomino, small, key / "f_pent"),
        uniformity_row("red_square, 32 by 32", squares, library, key / "red_square"),
        uniformity_row("red_seq of 7, 32 by 32", row, library, key / "red_seq"),
    )
    names = ("concept", "images", "samples", "expected χ²", "ours: χ²", "p", "clingo: χ²", "p", "clingo lists all in")
    note = (
        "Chi-square test of equal chances for all images, with equally many samples of both; p near 0: not uniform. "
        "Where all images can be listed, drawing from the list is uniform too; the last column is what it costs clingo."
    )
    return Table("Uniformity", _columns(names), rows, note)


if __name__ == "__main__":
    everything = load_library()
    ours(CASES[0], everything, Key(0) / "warm-up")  # compiled loops are loaded before the clock starts
    for table in (speed_table(everything, Key(1) / "speed"), uniformity_table(everything, Key(1) / "uniformity")):
        Console(width=140).print(table.rich())
