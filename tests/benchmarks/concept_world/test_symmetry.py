"""Twins: reading interchangeable pieces in one order divides the ways to read an image, and nothing else."""

from dataclasses import replace
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.match import pattern, ways
from recombine.benchmarks.concept_world.plan import Plan
from recombine.benchmarks.concept_world.reader import load_library, read
from recombine.benchmarks.concept_world.symmetry import in_order, orders, twins
from recombine.store.key import Key

LOOSE = """
grid 4 by 3
concept three(X) "three points, one of them red": X == (a, b, c) and a.color == red and point(b) and point(c)
concept row(X) "two points in a row, and two anywhere":
    X == (a, b, c, d) and a.y_loc == b.y_loc and point(c) and point(d)
concept ordered(X) "three points from west to east": X == (a, b, c) and a.x_loc < b.x_loc and b.x_loc < c.x_loc
concept unlike(X) "a point of another colour than two others":
    X == (a, b, c) and a.color != b.color and a.color != c.color
concept two_squares(X) "two squares of points": X == (a, b) and 2x2_square_point(a) and 2x2_square_point(b)
"""
LIBRARY = read(LOOSE, known=load_library())


def plan_of(name: str) -> Plan:
    (plan,) = Extension(LIBRARY, name).plans
    return plan


@pytest.mark.parametrize(
    ("name", "sizes"), [("three", [2]), ("row", [2]), ("ordered", []), ("unlike", [2]), ("two_squares", [2])]
)
def test_pieces_that_nothing_tells_apart_are_twins(name: str, sizes: list[int]) -> None:
    groups = twins(plan_of(name))
    assert [len(group) for group in groups] == sizes
    assert orders(groups) == np.prod([factorial(n) for n in sizes])


@pytest.mark.parametrize("name", ["three", "row", "ordered", "unlike"])
def test_one_order_divides_the_ways_by_the_number_of_orders(name: str) -> None:
    extension = Extension(LIBRARY, name)
    images = extension.images(extension._proposed(50, Key(3).rng()))
    one = pattern(plan_of(name))
    every_order = one._replace(twins=np.full_like(one.twins, -1))
    assert np.array_equal(ways([every_order], images), orders(twins(plan_of(name))) * ways([one], images))


def test_exactly_one_order_of_twins_is_in_order() -> None:
    plan = plan_of("three")
    (group,) = twins(plan)
    spots = np.array([[0, 0], [1, 2], [3, 1]])
    points = [piece.points[0] for piece in group]
    (other,) = set(range(3)) - set(points)
    good = 0
    for order in permutations(range(2)):
        x, y = np.zeros((1, 3), int), np.zeros((1, 3), int)
        x[0, other], y[0, other] = spots[0]
        for point, spot in zip(points, order):
            x[0, point], y[0, point] = spots[1 + spot]
        good += int(in_order([group], x, y)[0])
    assert good == 1


def test_what_tells_pieces_apart_makes_them_no_twins() -> None:
    plan = plan_of("three")
    (group,) = twins(plan)
    slider = group[0].sliders[0]
    low = plan.low.copy()
    low[slider] += 1
    assert twins(replace(plan, low=low)) == []
