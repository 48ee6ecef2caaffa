"""Predicates on derivations: they mean what they say, and their limits hold."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.benchmarks.concept_world.where import COMPARE, count, depth, limits, read_where
from recombine.language.expr import Expr, Symbol
from recombine.language.query import anything
from recombine.store.errors import UserError

NAMES = ("a", "b", "row")


def by(name: str, *children: Expr) -> Expr:
    return Expr(Symbol("by", (name, str(len(children))), ("proof",) * len(children), "proof"), children)


derivations = st.recursive(
    st.sampled_from(NAMES).map(by),
    lambda inner: st.builds(lambda name, parts: by(name, *parts), st.sampled_from(NAMES), st.lists(inner, max_size=3)),
    max_leaves=12,
)
names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(", ".join)
measures = st.sampled_from(NAMES).map("depth({})".format) | names.map("count({})".format)
atoms = (
    st.builds("{} {} {}".format, measures, st.sampled_from(sorted(COMPARE)), st.integers(0, 4))
    | st.sampled_from(NAMES).map("uses({})".format)
)  # fmt: skip
texts = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(" and ".join)
        | st.lists(inner, min_size=1, max_size=3).map(" or ".join)
        | inner.map("not ({})".format)
        | inner.map("({})".format)
    ),
    max_leaves=6,
)


def paths(derivation: Expr) -> Iterator[tuple[str, ...]]:
    """The names on every way from the root to a leaf."""
    name = derivation.head.index[0]
    if not derivation.args:
        yield (name,)
    for child in derivation.args:
        yield from ((name, *rest) for rest in paths(child))


def plainly(text: str, derivation: Expr) -> bool:
    """What Python says of the same text."""
    nodes: list[str] = []

    def walk(node: Expr) -> None:
        nodes.append(node.head.index[0])
        for child in node.args:
            walk(child)

    walk(derivation)
    meaning = {
        "depth": lambda name: max(path.count(name) for path in paths(derivation)),
        "count": lambda *names: sum(node in names for node in nodes),
        "uses": lambda name: name in nodes,
    }
    return bool(eval(text, meaning | {name: name for name in NAMES}))


@given(texts, derivations)
def test_a_predicate_means_what_it_says(text: str, derivation: Expr) -> None:
    assert read_where(text, NAMES)(derivation) == plainly(text, derivation)


@given(texts, derivations)
def test_a_predicate_prints_itself_and_is_read_back(text: str, derivation: Expr) -> None:
    where = read_where(text, NAMES)
    again = read_where(where.text, NAMES)
    assert again.text == where.text
    assert again(derivation) == where(derivation)


@given(texts, derivations)
def test_what_is_accepted_keeps_the_limits(text: str, derivation: Expr) -> None:
    if read_where(text, NAMES)(derivation):
        assert all(depth(name)(derivation) <= most for name, most in limits(text).items())


@pytest.mark.parametrize(
    "text",
    [
        "(uses(a) or uses(b)) and uses(row)",
        "uses(a) or uses(b) and uses(row)",
        "not (uses(a) and depth(row) == 3)",
        "not (uses(a) or count(a, b) != 0)",
    ],
)
def test_parentheses_are_kept_where_they_matter(text: str) -> None:
    assert read_where(text, NAMES).text == text


def test_depth_is_along_one_path_and_count_is_everywhere() -> None:
    proof = by("row", by("a"), by("row", by("a"), by("b", by("a"))), by("row"))
    assert (depth("row")(proof), depth("a")(proof), depth("none")(proof)) == (2, 1, 0)
    assert (count("row")(proof), count("a", "b")(proof), count("none")(proof)) == (3, 4, 0)


def test_deep_derivations_are_measured() -> None:
    proof = by("row")
    for _ in range(5_000):
        proof = by("row", proof)
    assert depth("row")(proof) == count("row")(proof) == 5_001


def test_no_text_accepts_everything() -> None:
    assert read_where(" \n", NAMES) is anything
    assert limits("") == {}


@pytest.mark.parametrize(
    "text, found",
    [
        ("depth(row) == 3", {"row": 3}),
        ("depth(row) <= 3 and depth(row) < 3", {"row": 2}),
        ("depth(row) >= 3 and uses(a)", {}),
        ("count(a, b) == 1 and (depth(row) <= 7)", {"a": 1, "b": 1, "row": 7}),
        ("(count(a) < 0 and not uses(b)) and depth(row) != 2", {"a": 0, "b": 0}),
        ("depth(row) == 3 or depth(row) == 4", {}),
        ("not depth(row) == 3", {}),
    ],
)
def test_limits_come_from_what_must_hold(text: str, found: dict[str, int]) -> None:
    assert limits(text) == found


@pytest.mark.parametrize(
    "text, place, said",
    [
        ("depth(rwo) == 3", "1:7", "there is no concept 'rwo'; did you mean 'row'?"),
        ("uses(a) and\n  count(a, zebra) == 1", "2:12", "there is no concept 'zebra'"),
        ("dpth(row) == 3", "1:1", "there is no measure 'dpth'; did you mean 'depth'?"),
        ("zzz(row) == 3", "1:1", "there are depth, count and uses"),
        ("depth(row)", "1:1", "depth(...) needs a comparison, such as '== 1'"),
        ("uses(row) == 1", "1:1", "uses(...) is compared with nothing"),
        ("depth(row, a) == 1", "1:12", "depth takes one name"),
        ("depth(row) == -1", "1:15", "expected a number"),
        ("depth(row) == 1000001", "1:15", "larger than the 1,000,000 allowed"),
        ("depth(row) = 1", "1:12", "write '=='"),
        ("(uses(a)", "1:9", "ends too early"),
        ("(" * 500 + "uses(a)" + ")" * 500, "1:101", "deeper than the 100 levels"),
    ],
)
def test_a_bad_predicate_is_explained(text: str, place: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read_where(text, NAMES)
    assert str(caught.value).startswith(f"<where>:{place}: ")
    assert said in str(caught.value)
