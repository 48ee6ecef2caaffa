"""A concept as an answer set program: its answer sets are the objects of the concept."""

import importlib.util
import sys
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.definition import Definition, Grid, Library, Line, Object, Point
from recombine.benchmarks.concept_world.extension import Drawn, Extension, join
from recombine.benchmarks.concept_world.formula import (
    COMPARISONS,
    both,
    color,
    compare,
    either,
    extreme,
    no,
    number,
    plus,
    prop,
    same,
    size,
    var,
    vector,
)
from recombine.benchmarks.concept_world.plan import Structure
from recombine.benchmarks.concept_world.reader import load_library
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.benchmarks.concept_world.samples import verified
from recombine.language.expr import Expr
from recombine.store.key import Key

pytest.importorskip("clingo", reason="the general solver is a development dependency: pip install 'recombine[dev]'")

SCRIPT = Path(__file__).parents[3] / "experiments" / "concept_world_solver.py"
SMALL = replace(load_library(), grid=Grid(4, 4, ("blue", "red")))
TINY = Grid(3, 2, ("blue", "red"))


def loaded(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


solver = loaded(SCRIPT)


def answers(library: Library, name: str, structure: Structure) -> list[np.ndarray]:
    """Every answer set: columns, rows and colours of the points."""
    return list(solver.Solver(solver.Program(library, name, structure), solver.PLAIN).in_a_row())


# The library's concepts, beside the images that our plans give.

CONCEPTS = (
    ("red_square", ""),
    ("square", ""),
    ("2x2_checkerboard", ""),
    ("2x2_square_of_squares_checkerboard", ""),
    ("f_pent", ""),
    ("pentomino", ""),
    ("x_pent", ""),
    ("east", ""),
    ("adj", ""),
    ("type_1_pair", ""),
    ("red_seq", "depth(east_seq) == 2"),
    ("mixed_seq", "depth(east_seq) == 2"),
    ("path", "depth(solution) == 1"),
    ("distractor", "count(distractor, solution) == 2"),
    ("loose_stack", "depth(loose_stack) == 1"),
)


def answered(extension: Extension) -> Drawn:
    """All answer sets of all structures."""
    first = {plan.structure: i for i, plan in reversed(list(enumerate(extension.plans)))}
    found = ((answers(extension.library, extension.name, structure), i) for structure, i in first.items())
    return join([solver.drawn_of(samples, i) for samples, i in found if samples])


@pytest.mark.parametrize(("concept", "where"), CONCEPTS)
def test_the_answer_sets_of_a_concept_are_its_images(concept: str, where: str) -> None:
    extension = extension_of(SMALL, Line("", 1, concept, where))
    drawn = answered(extension)
    everything = {image.tobytes() for image in extension.images(extension.everything())}
    assert everything
    assert {image.tobytes() for image in extension.images(drawn)} == everything
    assert verified(extension, drawn).all()


# Any formula, beside the plain meaning of every object there is.

POINTS = [Point(x, y, c) for x, y, c in product(range(TINY.width), range(TINY.height), TINY.colors)]
OBJECTS = [o for o in permutations(POINTS, 3) if len({(p.x, p.y) for p in o}) == 3]
KNOWN = both(
    same(var("X"), vector(var("a"), var("b"), var("c"))),
    extreme("argmax", "x_loc", var("m"), var("X")),
    extreme("argmin", "y_loc", var("n"), vector(var("b"), var("c"))),
    extreme("argmin", "x_loc", var("o"), vector(var("n"), var("m"))),
)
NAMES = st.sampled_from("abcmno").map(var)
PLACES = st.builds(prop, st.sampled_from(("x_loc", "y_loc")), NAMES)
NUMBERS = st.one_of(PLACES, PLACES, st.integers(-1, 3).map(number), st.sampled_from(("width", "height")).map(size))
SHIFTED = st.builds(plus, NUMBERS, st.integers(-3, 3))
COLORED = st.builds(prop, st.just("color"), NAMES)
CONDITIONS = st.recursive(
    st.one_of(
        st.builds(compare, st.sampled_from(COMPARISONS), SHIFTED, SHIFTED),
        st.builds(
            compare, st.sampled_from(COMPARISONS[:2]), COLORED, COLORED | st.sampled_from(TINY.colors).map(color)
        ),
        st.builds(same, NAMES, NAMES),
    ),
    lambda inner: st.builds(no, inner) | st.builds(both, inner, inner) | st.builds(either, inner, inner, inner),
    max_leaves=5,
)


def object_of(sample: np.ndarray) -> Object:
    return tuple(Point(int(x), int(y), TINY.colors[code]) for x, y, code in sample.T)


@settings(max_examples=12, deadline=None)
@given(CONDITIONS)
@example(compare("<", prop("x_loc", var("a")), prop("y_loc", var("b"))))
@example(compare(">=", prop("y_loc", var("o")), plus(prop("x_loc", var("m")), -1)))
@example(no(compare("!=", prop("color", var("m")), prop("color", var("n")))))
@example(either(same(var("o"), var("a")), no(compare("<=", prop("x_loc", var("n")), number(0)))))
def test_the_answer_sets_of_any_formula_are_the_objects_of_which_it_is_true(condition: Expr) -> None:
    library = Library({"concept": Definition("concept", ("X",), both(KNOWN, condition))}, grid=TINY)
    found = [object_of(sample) for sample in answers(library, "concept", (0, 1, 2))]
    plainly = Plainly(library)
    assert len(set(found)) == len(found)
    assert set(found) == {thing for thing in OBJECTS if plainly.holds("concept", thing)}


# Drawing.


def test_seeds_decide_the_samples_and_differ() -> None:
    program = solver.Program(SMALL, "red_square", (0, 1, 2, 3))

    def draw(key: Key) -> list[Object]:
        samples = solver.Solver(program, solver.SEEDED).by_seeds(key)
        return [object_of(sample) for sample in solver.within(samples, 60, 20)]

    assert draw(Key(1)) == draw(Key(1))
    assert draw(Key(1)) != draw(Key(2))
    assert len(set(draw(Key(1)))) > 1


def test_a_test_of_uniformity_tells_equal_from_unequal_chances() -> None:
    extension = extension_of(SMALL, Line("", 1, "red_square"))
    everything = extension.everything()
    every = [image.tobytes() for image in extension.images(everything)]
    assert solver.fit(extension, every, extension.draw(900, Key(1))).p > 0.001
    one_more_often = np.append(np.arange(900) % everything.size, np.zeros(200, np.int64))
    assert solver.fit(extension, every, everything.take(one_more_often)).p < 1e-6
