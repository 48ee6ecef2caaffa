"""The plain meaning by hand: what holds, by which definitions, and what is said where something does not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.concept_world.definition import Definition, Library, Object, Point
from recombine.benchmarks.concept_world.formula import both, call, either, prop, same, var, vector
from recombine.benchmarks.concept_world.formula import compare as compared
from recombine.benchmarks.concept_world.reader import read
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.store.errors import UserError

LIBRARY = read("""
concept red_point(x): point(x) and x.color == red
concept red(X): all x in X: red_point(x)
concept blue(X): all x in X: x.color == blue
concept red_or_blue(X): red(X) or blue(X)
concept east_point_1(a, b): b.x_loc == a.x_loc + 1 and b.y_loc == a.y_loc and point(a) and point(b)
concept east_1(A, B):
    east_point_1(a, b) and b == argmin(B, x_loc) and a == argmax(A, x_loc)
concept east_seq(X):
    X == (x)
    or (X == x :: XS and XS == y :: YS and east_1(x, y) and east_seq(XS))
concept red_seq(X): east_seq(X) and red(X)
concept two_colored_seq(X): (red(X) or blue(X)) and east_seq(X)
concept pair(X): X == (a, b)
concept no_pair(X): X != (a, b)
concept first_column(X): all x in X: x.x_loc == 0
concept not_in_first_column(x): not x.x_loc == 0
concept elsewhere(x): x.x_loc != 0
concept last(x): x.x_loc == width - 1 and x.y_loc < height
concept twins(X): X == (a, a)
concept ends(X): (X == (a) or X == (a, b) or X == (b, c, a)) and a.color == red
concept lowest(X, x): x == argmax(X, y_loc)
concept somewhere_red(X): some x in X: red_point(x)
concept beside_red(X): X == (a, b) and some x in a, y in b: (east_point_1(x, y) and red(y))
concept not_red(X): not red(X) and (pair(X) or point(X))
""")
PLAINLY = Plainly(LIBRARY)


def at(x: int, y: int, color: str = "red") -> Point:
    return Point(x, y, color)


ROW = (at(0, 0), at(1, 0), at(2, 0, "blue"))


@pytest.mark.parametrize(
    ("name", "objects", "expected"),
    [
        ("red", (at(0, 0),), True),  # a point's points are itself
        ("red", ((),), True),
        ("red", (((at(0, 0),), at(1, 1)),), True),
        ("red", (ROW,), False),
        ("pair", ((at(0, 0), ()),), True),
        ("pair", (at(0, 0),), False),
        ("no_pair", (at(0, 0),), True),  # a and b are objects that not alone speaks of
        ("no_pair", ((at(0, 0), at(0, 0)),), False),
        ("twins", ((at(0, 0), at(0, 0)),), True),
        ("twins", ((at(0, 0), at(0, 0, "blue")),), False),
        ("twins", (((at(0, 0),), (at(0, 0),)),), True),
        ("elsewhere", (at(1, 0),), True),
        ("elsewhere", ((at(1, 0),),), False),  # a vector has no place
        ("not_in_first_column", ((at(0, 0),),), True),
        ("last", (at(31, 31),), True),
        ("last", (at(30, 31),), False),
        ("ends", ((at(0, 0, "blue"), at(1, 0), at(2, 0)),), True),
        ("ends", ((at(0, 0), at(1, 0, "blue")),), True),
        ("ends", ((at(0, 0, "blue"), at(1, 0)),), False),
        ("ends", (((at(0, 0),),),), False),  # a vector has no colour
        ("lowest", (ROW, at(0, 0)), True),  # the first of ties
        ("lowest", (ROW, at(1, 0)), False),
        ("lowest", ((at(0, 0), at(5, 1)), at(5, 1)), True),
        ("lowest", ((), at(0, 0)), False),
        ("lowest", (at(3, 3), at(3, 3)), True),
        ("somewhere_red", (ROW,), True),
        ("somewhere_red", ((),), False),
        ("beside_red", ((ROW[:1], ROW[1:]),), True),
        ("beside_red", ((ROW[:2], ROW[2:]),), False),
        ("east_seq", (ROW,), True),
        ("east_seq", (((at(0, 0), at(0, 1)), at(1, 0)),), True),
        ("east_seq", (((at(0, 1), at(0, 0)), at(1, 0)),), False),
        ("east_seq", ((),), False),
        ("east_seq", (at(0, 0),), False),
    ],
)
def test_meanings_by_hand(name: str, objects: tuple[Object, ...], expected: bool) -> None:
    assert PLAINLY.holds(name, *objects) is expected


points_ = st.builds(Point, st.integers(0, 3), st.integers(0, 1), st.sampled_from(["red", "blue"]))
objects_ = st.recursive(points_, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)
UNARY = sorted(name for name, definition in LIBRARY.definitions.items() if len(definition.parameters) == 1)


@settings(deadline=None)
@given(st.sampled_from(UNARY), objects_)
def test_what_holds_has_a_derivation_and_what_does_not_has_a_reason(name: str, thing: Object) -> None:
    holds = PLAINLY.holds(name, thing)
    assert holds == (PLAINLY.derivation(name, thing) is not None) == (PLAINLY.why_not(name, thing) == "")
    assert holds or PLAINLY.why_not(name, thing).startswith(name)


@pytest.mark.parametrize(
    ("name", "objects", "said"),
    [
        ("red", (ROW,), "red → red_point: x.color == red fails for x = (2, 0) blue"),
        ("red_seq", (ROW,), "red_seq → red → red_point: x.color == red fails for x = (2, 0) blue"),
        ("pair", (at(1, 2),), "pair: X == (a, b) fails for X = (1, 2) red"),
        ("no_pair", (((), at(1, 2)),), "no_pair: not X == (a, b) fails for X = ((), (1, 2) red)"),
        ("lowest", (ROW, at(1, 0)), "lowest: x == argmax(X, y_loc) fails for "
         "X = ((0, 0) red, (1, 0) red, (2, 0) blue), x = (1, 0) red"),
        ("red", ((*ROW, ROW, ROW),), "red → red_point: x.color == red fails for x = (2, 0) blue"),
        ("somewhere_red", (ROW[2:] * 9,), "somewhere_red: some x in X: red_point(x) fails for "
         "X = a vector of 9 with 9 points"),
        # of the alternatives, that of a longer row gets further: to its second step
        ("east_seq", ((*ROW, at(3, 1)),), "east_seq → east_seq → east_seq → east_1 → east_point_1: "
         "b.y_loc == a.y_loc fails for a = (2, 0) blue, b = (3, 1) red"),
    ],
)  # fmt: skip
def test_the_condition_that_fails_is_named(name: str, objects: tuple[Object, ...], said: str) -> None:
    assert PLAINLY.why_not(name, *objects) == said


def test_a_derivation_has_the_calls_of_the_alternative_that_holds_in_their_order() -> None:
    found = PLAINLY.derivation("red_seq", ROW[:2])
    step = "by[east_1,1](by[east_point_1,0])"
    assert repr(found) == f"by[red_seq,2](by[east_seq,2]({step}, by[east_seq,0]), by[red,0])"


def test_a_derivation_leaves_out_quantifiers_not_and_alternatives_of_color_alone() -> None:
    assert repr(PLAINLY.derivation("red_or_blue", ROW[:2])) == "by[red_or_blue,0]"
    assert repr(PLAINLY.derivation("two_colored_seq", ROW[:1])) == "by[two_colored_seq,1](by[east_seq,0])"
    assert repr(PLAINLY.derivation("not_red", ROW[1:])) == "by[not_red,1](by[pair,0])"
    assert PLAINLY.derivation("red_seq", ROW) is None


X, Y = var("X"), var("Y")


def library(**bodies: object) -> Library:
    """Definitions about X, also such as no file may have."""
    return Library({name: Definition(name, ("X",), body) for name, body in bodies.items()})  # type: ignore[arg-type]


def test_what_can_only_be_proved_by_itself_is_false() -> None:
    red = compared("==", prop("x_loc", X), prop("x_loc", X))
    alone = library(loop=call("loop", X), one=call("other", X), other=call("one", X))
    assert not any(Plainly(alone).holds(name, at(0, 0)) for name in ("loop", "one", "other"))
    assert Plainly(alone).why_not("loop", at(0, 0)) == "loop → loop: needs itself with the same objects"
    # while one is being proved the other is false, and then it is true
    grounded = library(
        one=either(call("other", X), red), other=call("one", X), each=both(call("one", X), call("other", X))
    )
    assert all(Plainly(grounded).holds(name, at(0, 0)) for name in ("one", "other", "each"))


@pytest.mark.parametrize(
    ("bodies", "name", "said"),
    [
        ({"grow": both(same(Y, vector(X)), call("grow", Y))}, "grow", "does it ever end"),
        ({"loose": call("loose", Y)}, "loose", "nothing ties Y"),
        ({"lost": call("nothing", X)}, "lost", "there is no concept 'nothing'"),
        ({"many": call("many", X, X)}, "many", "'many' is about 1 object, not 2"),
        ({"one": call("one", X)}, "other", "there is no concept 'other'"),
    ],
)
def test_what_cannot_be_decided_is_said(bodies: dict[str, object], name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        Plainly(library(**bodies)).holds(name, at(0, 0))
