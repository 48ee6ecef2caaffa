"""The search for objects in images: it finds exactly those that the plain meaning accepts."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest

from recombine.benchmarks.concept_world.definition import Definition, Grid, Library, Object, Point, points
from recombine.benchmarks.concept_world.formula import both, call, either, point, same, var, vector
from recombine.benchmarks.concept_world.reader import read
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.benchmarks.concept_world.search import Failure, Proof, Prover, all_objects, image_points, prove
from recombine.benchmarks.concept_world.shapes import Shapes, Steps
from recombine.benchmarks.concept_world.unfold import Leaves, Structure
from recombine.language.expr import Expr
from recombine.store.errors import UserError

RELATIONS = """
concept red(X): all x in X: x.color == red
concept blue(X): all x in X: x.color == blue
concept east_point_1(a, b): b.x_loc == a.x_loc + 1 and b.y_loc == a.y_loc and point(a) and point(b)
concept south_point_1(a, b): b.y_loc == a.y_loc + 1 and b.x_loc == a.x_loc
concept east_point(a, b): b.x_loc > a.x_loc and b.y_loc == a.y_loc
concept east(A, B): a == argmax(A, x_loc) and b == argmin(B, x_loc) and east_point(a, b)
concept east_1(A, B): east(A, B) and some a in A, b in B: east_point_1(a, b)
concept adj(a, b): east_point_1(a, b) or east_point_1(b, a) or south_point_1(a, b) or south_point_1(b, a)
concept same_color(A, B): all a in A, b in B: a.color == b.color
concept square(X):
    X == (x1, x2, x3, x4) and east_point_1(x1, x2) and south_point_1(x2, x3)
    and east_point_1(x4, x3) and south_point_1(x1, x4)
concept east_seq(X):
    X == (x)
    or (X == x :: XS and XS == y :: YS and east_1(x, y) and east_seq(XS))
concept squares(X): (X == (x) and square(x)) or (X == x :: XS and squares(XS) and square(x))
concept red_seq(X): east_seq(X) and squares(X) and red(X)
concept key(X): square(X) and (red(X) or blue(X))
concept path(S):
    (S == (g) and key(g))
    or (S == (k, l) :: REST and key(k) and key(l) and same_color(k, l)
        and REST == next :: MORE and east_1(next, l) and path(REST))
concept tee(X): X == (a, b, c, d) and east_point_1(a, b) and east_point_1(b, c) and south_point_1(b, d)
concept ell(X): X == (a, b, c, d) and east_point_1(a, b) and east_point_1(b, c) and south_point_1(c, d)
concept bend(X): X == (a, b, c) and south_point_1(a, b) and east_point_1(b, c)
concept piece(X): tee(X) or ell(X) or bend(X) or square(X)
concept two_pieces(X): X == (a, b) and piece(a) and piece(b) and all p in a, q in b: p.x_loc < q.x_loc
"""
SMALL = read(f"""
grid 3 by 3
colors red, blue
{RELATIONS}
concept point_(x): point(x)
concept nothing(X): X == ()
concept pair(X): X == (a, b) and east_point_1(a, b)
concept loose_pair(X): X == (a, b) and east(a, b)
concept two_rows(X): X == (A, B) and A == (a, b) and B == (c, d) and east_1(a, b) and east_1(c, d)
concept nested_row(X): X == (A, b) and A == (c, d) and south_point_1(c, d) and east_1(A, b)
concept line(X): red(X) and east_seq(X)
concept dot_or_pair(X): (X == (a) and red(a)) or (X == (a, b) and adj(a, b) and blue(a)) or blue(X)
concept opposite(X): X == (a, b) and not same_color(a, b) and a.x_loc != b.x_loc and X != (c, c)
concept not_touching(X): X == (a, b) and not adj(a, b) and not (a.x_loc == b.x_loc or a.y_loc < b.y_loc)
concept head(X): X == (a, b) :: R and adj(a, b)
concept under_the_eastmost(X): X == (A, b) and A == (p, q) and t == argmax(A, x_loc) and south_point_1(t, b)
concept corner(x): x.x_loc == width - 1 and x.y_loc == 0
concept diagonal(X): X == (a, b) and a.x_loc == a.y_loc and b.x_loc == a.x_loc + 1 and b.y_loc == b.x_loc
concept twice(X): X == (a, a)
concept either_end(X): X == (a, b, c) and (m == a or m == b) and adj(m, c)
concept tip(X):
    X == (a, b, c) and point(a) and point(b)
    and (m == argmin(X, x_loc) or m == argmax(X, y_loc)) and south_point_1(m, c)
concept lonely(X): X == x :: XS and (XS == () or (XS == y :: YS and not adj(x, y) and lonely(XS)))
concept ringed(X): X == (a, b) and ringed_by(a, b)
concept round(X): X == (a, b) and east_1(a, b) and (round(X) or red(a))
concept ringed_by(a, b): adj(a, b) and (ringed_by(b, a) or red(a))
""")


def images(grid: Grid, colors: tuple[str, ...], most: int) -> Iterator[frozenset[Point]]:
    """All images of up to so many points."""
    places = list(product(range(grid.width), range(grid.height)))
    for size in range(most + 1):
        for chosen in combinations(places, size):
            for colored in product(colors, repeat=size):
                yield frozenset(Point(*place, color) for place, color in zip(chosen, colored))


def filled(structure: Structure, chosen: tuple[Point, ...]) -> Object:
    """An object of this structure with these points."""
    left = iter(chosen)

    def of(part: Structure) -> Object:
        return next(left) if isinstance(part, int) else tuple(map(of, part))

    return of(structure)


def size_of(structure: Structure) -> int:
    return 1 if isinstance(structure, int) else sum(map(size_of, structure))


def accepted(library: Library, name: str, structures: tuple[Structure, ...], image: frozenset[Point]) -> set[Object]:
    """The objects with exactly these points that the plain meaning accepts."""
    plainly, one = Plainly(library), len(library.definitions[name].parameters) == 1
    fitting = [structure for structure in structures if size_of(structure) == len(image)]
    tried = (filled(structure, order) for structure in fitting for order in permutations(image))
    return {thing for thing in tried if plainly.holds(name, *((thing,) if one else thing))}


PAIR, ROWS = (0, 0), ((0,), (0, 0), (0, 0, 0), (0, 0, 0, 0))


@pytest.mark.parametrize(
    ("name", "structures", "colors"),
    [
        ("red", (0,), 2),  # an object that nothing describes is a point
        ("point_", (0,), 2),
        ("nothing", ((),), 1),
        ("east_1", (PAIR,), 2),  # a relation is about the vector of its objects
        ("adj", (PAIR,), 2),
        ("pair", (PAIR,), 2),
        ("loose_pair", (PAIR,), 1),
        ("square", ((0, 0, 0, 0),), 1),
        ("two_rows", (((0, 0), (0, 0)),), 1),
        ("nested_row", (((0, 0), 0),), 1),
        ("east_seq", ROWS, 1),
        ("line", ROWS, 2),
        ("opposite", (PAIR,), 2),
        ("not_touching", (PAIR,), 1),
        ("head", (PAIR,), 2),  # a rest that nothing describes is empty
        ("under_the_eastmost", (((0, 0), 0),), 1),
        ("corner", (0,), 1),
        ("diagonal", (PAIR,), 1),
        ("twice", (), 1),  # two leaves are at two places
        ("either_end", ((0, 0, 0),), 1),
        ("tip", ((0, 0, 0),), 1),
        ("lonely", ROWS[:3], 1),
        ("ringed", (PAIR,), 2),
        ("round", (PAIR,), 2),
        ("piece", ((0, 0, 0), (0, 0, 0, 0)), 1),
    ],
)
def test_the_search_finds_exactly_the_objects_that_the_plain_meaning_accepts(
    name: str, structures: tuple[Structure, ...], colors: int
) -> None:
    most = max(map(size_of, structures), default=1)
    library = SMALL if most < 4 else replace(SMALL, grid=Grid(4, 2, SMALL.grid.colors))
    prover, found = Prover(library), 0
    for image in images(library.grid, library.grid.colors[:colors], min(most + 1, 4 if colors == 1 else 3)):
        if name == "lonely" and len(image) > 3:
            continue
        expected = accepted(library, name, structures, image)
        assert prover.all_objects(name, image) == expected, image
        assert isinstance(prover.prove(name, image), Proof) == bool(expected), image
        found += bool(expected)
    assert found or not structures


def test_what_an_alternative_does_not_describe_is_a_point_though_another_describes_it() -> None:
    one, other = Point(0, 0, "blue"), Point(2, 2, "blue")
    assert all_objects(SMALL, "dot_or_pair", {one}) == {one}
    assert all_objects(SMALL, "dot_or_pair", {one._replace(color="red")}) == {(one._replace(color="red"),)}
    assert Plainly(SMALL).holds("dot_or_pair", (one, other))
    assert not all_objects(SMALL, "dot_or_pair", {one, other})


LARGE = read(RELATIONS)


def square(x: int, y: int, color: str = "red") -> Object:
    return tuple(Point(x + i, y + j, color) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))


def row(n: int, y: int = 5) -> tuple[Object, ...]:
    return tuple(square(2 + 2 * i, y) for i in range(n))


def shuffled(*things: Object) -> list[Point]:
    """The points of objects in no order of theirs."""
    return sorted(points(things), key=lambda point: (point.x * 7 + point.y * 5) % 11)


def test_a_row_of_seven_squares_is_found_and_no_other_object() -> None:
    assert all_objects(LARGE, "red_seq", shuffled(*row(7))) == {row(7)}
    found = prove(LARGE, "red_seq", shuffled(*row(7)))
    assert isinstance(found, Proof)
    assert found == Proof(row(7), Plainly(LARGE).derivation("red_seq", row(7)))  # type: ignore[arg-type]


# A free red key; its lock east of a blue key; and so on to a lock east of the last key, which is what is wanted.
CHAIN = (
    square(1, 1, "red"), square(8, 4, "red"), square(6, 4, "blue"), square(20, 3, "blue"), square(18, 3, "red"),
    square(12, 12, "red"), square(10, 12, "blue"), square(30, 30, "blue"), square(28, 30, "red"),
    square(22, 20, "red"), square(20, 20, "blue"),
)  # fmt: skip


def test_a_chain_of_eleven_loose_squares_is_found_where_there_is_one() -> None:
    found = prove(LARGE, "path", shuffled(*CHAIN))
    assert isinstance(found, Proof)
    assert set(points(found.object)) == set(points(CHAIN))
    broken = (*CHAIN[:-2], square(22, 20, "green"), CHAIN[-1])
    assert isinstance(prove(LARGE, "path", shuffled(*broken)), Failure)


def test_alternatives_of_one_structure_are_tried_where_points_are_and_not_all_together() -> None:
    tee, ell = ("###", ".#."), ("###", "..#")
    drawn = [(tee, 0), (ell, 9)]
    image = [
        Point(x + i, j, "red")
        for rows, x in drawn
        for j, line in enumerate(rows)
        for i, c in enumerate(line)
        if c == "#"
    ]
    found = prove(LARGE, "two_pieces", image)
    assert isinstance(found, Proof)
    names = [child.head.index[0] for piece in found.derivation.args for child in piece.args]
    assert names == ["tee", "ell"]


@pytest.mark.parametrize(("size", "sizes"), [(8, [[4, 4]]), (7, [[3, 4], [4, 3]]), (6, [[3, 3]]), (5, [])])
def test_alternatives_of_one_structure_are_one_shape(size: int, sizes: list[list[int]]) -> None:
    found = [shape.thing for shape in Shapes(Leaves(LARGE), "two_pieces", size, Steps(1_000, ""))]
    assert sorted([len(half) for half in thing] for thing in found) == sizes  # type: ignore[arg-type,union-attr]


def test_an_image_is_points_or_codes() -> None:
    codes = np.zeros((32, 32), np.uint8)
    for x, y, _ in points(row(2)):
        codes[y, x] = 1 + LARGE.grid.colors.index("red")
    assert set(image_points(codes, LARGE.grid)) == set(points(row(2)))
    assert prove(LARGE, "red_seq", codes) == prove(LARGE, "red_seq", shuffled(*row(2)))


@pytest.mark.parametrize(
    ("name", "image", "said"),
    [
        ("red_seq", shuffled(*row(2), square(9, 5)), "red_seq → east_seq → east_seq → east_1: some a in A: "
         "some b in B: east_point_1(a, b) fails for A = ((4, 5) red, (5, 5) red, (5, 6) red, (4, 6) red), "
         "B = ((9, 5) red, (10, 5) red, (10, 6) red, (9, 6) red)"),
        ("square", [*list(points(square(3, 3)))[:3], Point(9, 9, "red")],
         "square → east_point_1: no point lies one west of (4, 4) red"),
        ("red", [Point(3, 4, "blue")], "red: x.color == red fails for x = (3, 4) blue"),
        ("square", row(2), "the image has 8 points; the objects of 'square' have 4"),
        ("squares", [Point(0, 0, "red")], "the image has 1 point; the objects of 'squares' have more than 1"),
        ("red_seq", shuffled(*row(2))[1:], "the image has 7 points; the objects of 'red_seq' have 4 or more than 7"),
    ],
)  # fmt: skip
def test_a_failure_names_what_is_wrong_where_the_search_got_furthest(name: str, image: list, said: str) -> None:
    assert prove(LARGE, name, list(points(tuple(image)))) == Failure(said)


def test_a_failure_says_where_no_point_could_be_tried() -> None:
    image = [Point(0, 0, "red"), Point(1, 0, "red")]
    assert prove(SMALL, "twice", image) == Failure("the conditions of 'twice' contradict one another for 2 points")
    assert prove(SMALL, "corner", image[:1]) == Failure("corner: no point lies in column 2 and in row 0")


X, Y = var("X"), var("Y")
TOWER = both(same(X, vector(Y)), call("tower", Y))
ONE = {Point(0, 0, "red")}


def tower(body: Expr) -> Library:
    return Library({"tower": Definition("tower", ("X",), body)})


def test_a_search_without_end_says_so_and_says_it_again() -> None:
    prover = Prover(tower(TOWER))
    for _ in range(2):
        with pytest.raises(UserError, match="'tower' is still not decided"):
            prover.prove("tower", ONE)
    with pytest.raises(UserError, match="which shapes 'tower' has with 1 point is not decided after 50 steps"):
        prove(tower(TOWER), "tower", ONE, 50)


def test_an_object_is_found_though_there_are_others_without_end() -> None:
    library = tower(either(TOWER, point(X)))
    assert isinstance(prove(library, "tower", ONE), Proof)
    with pytest.raises(UserError, match="'tower' is still not decided"):
        all_objects(library, "tower", ONE)


def test_too_many_points_to_try_say_so() -> None:
    crowd = [Point(x, y, "red") for x in range(7) for y in range(4)]
    with pytest.raises(UserError, match="whether an image is of 'path' is not decided after 300 steps"):
        prove(LARGE, "path", [*crowd, *points(row(4, 20))], 300)


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ([Point(0, 0, "red"), Point(0, 0, "blue")], r"two points of the image are at \(0, 0\)"),
        ([Point(32, 0, "red")], r"\(32, 0\) is outside the grid of 32 by 32"),
        (np.zeros((3, 3), np.uint8), "is not of a grid 32 by 32"),
        (np.full((32, 32), 9, np.uint8), "colour code 9 is beyond the 5 colours"),
    ],
)
def test_what_is_no_image_is_refused(image: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        prove(LARGE, "red", image)  # type: ignore[arg-type]


def test_an_unknown_concept_is_refused() -> None:
    with pytest.raises(UserError, match="there is no concept 'purple'"):
        prove(LARGE, "purple", [Point(0, 0, "red")])
