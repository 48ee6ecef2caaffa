"""Predicates over terms: a boolean algebra that says itself in English."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.language.expr import Expr, Symbol
from recombine.language.query import Where, any_of, anything, nothing, parse_where, uses, uses_any, uses_pair
from recombine.language.query import words as words_of
from recombine.store.errors import UserError

LAW = settings(deadline=None, max_examples=60)
WORDS = ("red", "blue", "both", "no", "is")
IS = {color: Symbol("is", (color,)) for color in ("red", "blue", "green")}
NO, BOTH = Symbol("no", (), ("bool",)), Symbol("both", (), ("bool", "bool"))

terms = st.recursive(
    st.sampled_from([Expr(symbol) for symbol in IS.values()]),
    lambda inner: inner.map(lambda a: Expr(NO, (a,))) | st.tuples(inner, inner).map(lambda args: Expr(BOTH, args)),
    max_leaves=5,
)

# A predicate in three forms: as Where, as plain Python over a set of words, and as text for parse_where.
Formula = tuple[Where, Callable[[frozenset[str]], bool], str]


def atom(word: str) -> Formula:
    return uses(word), lambda words: word in words, word


def negated(a: Formula) -> Formula:
    return ~a[0], lambda words: not a[1](words), f"~({a[2]})"


def joined(a: Formula, b: Formula, both: bool) -> Formula:
    if both:
        return a[0] & b[0], lambda words: a[1](words) and b[1](words), f"({a[2]}) & ({b[2]})"
    return a[0] | b[0], lambda words: a[1](words) or b[1](words), f"({a[2]}) | ({b[2]})"


formulas = st.recursive(
    st.sampled_from(WORDS).map(atom),
    lambda inner: inner.map(negated) | st.builds(joined, inner, inner, st.booleans()),
    max_leaves=8,
)


def plainly(term: Expr) -> frozenset[str]:
    """The words of a term, the slow way."""
    own = {term.head.family, *term.head.index}
    return frozenset(own.union(*map(plainly, term.args)))


def read_english(text: str) -> Where:
    """A printed predicate, read back: the parentheses that are printed must suffice."""
    text = text.replace("uses ", "").replace("'", "")
    return parse_where(text.replace(" and ", " & ").replace(" or ", " | ").replace("not ", "~"))


@LAW
@given(terms)
def test_the_words_of_a_term_are_its_families_and_indices(term: Expr) -> None:
    assert words_of(term) == plainly(term)


@LAW
@given(formulas, terms)
def test_predicates_combine_as_truth_values_do(formula: Formula, term: Expr) -> None:
    where, expected, _ = formula
    assert where(term) == expected(plainly(term))


@LAW
@given(formulas, terms)
def test_a_predicate_read_from_text_accepts_the_same_terms(formula: Formula, term: Expr) -> None:
    where, _, text = formula
    assert parse_where(text)(term) == where(term)
    assert parse_where(text.replace(" ", "")).text == where.text


@LAW
@given(formulas, terms)
def test_the_printed_parentheses_suffice_to_read_the_sentence_back(formula: Formula, term: Expr) -> None:
    again = read_english(str(formula[0]))
    assert again.text == formula[0].text
    assert again(term) == formula[0](term)


@LAW
@given(st.lists(formulas, min_size=1, max_size=4), terms)
def test_any_of_is_a_chain_of_or(several: list[Formula], term: Expr) -> None:
    assert any_of(formula[0] for formula in several)(term) == any(formula[0](term) for formula in several)


@LAW
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), terms)
def test_uses_any_is_a_chain_of_or(options: list[str], term: Expr) -> None:
    assert uses_any(*options)(term) == any(uses(word)(term) for word in options)


@LAW
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=3), terms)
def test_uses_pair_is_a_chain_of_or_over_and(pairs: list[tuple[str, str]], term: Expr) -> None:
    assert uses_pair(iter(pairs))(term) == any((uses(a) & uses(b))(term) for a, b in pairs)


@LAW
@given(terms)
def test_anything_accepts_all_and_nothing_none(term: Expr) -> None:
    assert anything(term)
    assert not nothing(term)


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        (uses("a") & uses("b") & uses("c"), "uses 'a' and uses 'b' and uses 'c'"),
        (uses("a") | uses("b") & uses("c"), "uses 'a' or uses 'b' and uses 'c'"),
        ((uses("a") | uses("b")) & uses("c"), "(uses 'a' or uses 'b') and uses 'c'"),
        (~(uses("a") & uses("b")), "not (uses 'a' and uses 'b')"),
        (~uses("a") & ~~uses("b"), "not uses 'a' and not not uses 'b'"),
        (~uses_any("a", "b"), "not uses one of a, b"),
        (uses_pair([("a", "b"), ("c", "d")]), "uses one of the pairs a+b, c+d"),
    ],
)
def test_predicates_say_themselves_in_english(where: Where, sentence: str) -> None:
    assert str(where) == sentence


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("", "⟨here⟩", "expected a word, '~' or '('"),
        ("a &", "a &⟨here⟩", "expected a word, '~' or '('"),
        ("a & | b", "a & ⟨here⟩| b", "expected a word, '~' or '('"),
        ("(a | b", "(a | b⟨here⟩", "expected ')'"),
        ("()", "(⟨here⟩)", "expected a word, '~' or '('"),
        ("a b", "a ⟨here⟩b", "expected '&', '|' or the end"),
        ("a ~b", "a ⟨here⟩~b", "expected '&', '|' or the end"),
        ("a)", "a⟨here⟩)", "expected '&', '|' or the end"),
    ],
)
def test_an_error_points_at_the_place(text: str, place: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        parse_where(text)
    assert str(error.value) == f"'{place}': {why}"


def test_and_binds_tighter_than_or_and_not_tightest() -> None:
    red, blue = Expr(IS["red"]), Expr(IS["blue"])
    assert parse_where("red | blue & no")(red)
    assert not parse_where("(red | blue) & no")(red)
    assert parse_where("~red & blue")(blue)
    assert not parse_where("~(red | blue)")(blue)
