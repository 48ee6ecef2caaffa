"""Terms: interned, typed, and the same after printing, pickling and reading."""

import copy
import pickle
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.language.expr import Expr, Signature, Symbol, subterms
from recombine.store.errors import UserError

LAW = settings(deadline=None, max_examples=60)
RED, BLUE = (Symbol("const", ("color", value), (), "color") for value in ("red", "blue"))
YES = Symbol("yes")
NOT = Symbol("not", (), ("bool",))
AND = Symbol("and", (), ("bool", "bool"))
SAME = Symbol("same", ("color",), ("color", "color"))
SIGNATURE = Signature.of([RED, BLUE, YES, NOT, AND, SAME])

colors = st.sampled_from([RED, BLUE]).map(Expr)
bools = st.recursive(
    st.just(Expr(YES)) | st.tuples(colors, colors).map(lambda args: Expr(SAME, args)),
    lambda inner: inner.map(lambda a: Expr(NOT, (a,))) | st.tuples(inner, inner).map(lambda args: Expr(AND, args)),
    max_leaves=12,
)


def rebuilt(term: Expr) -> Expr:
    """The same term from fresh symbols."""
    head = Symbol(term.head.family, term.head.index, term.head.args, term.head.out)
    return Expr(head, tuple(rebuilt(arg) for arg in term.args))


@LAW
@given(bools)
def test_equal_terms_are_one_object(term: Expr) -> None:
    assert rebuilt(term) is term


@LAW
@given(bools)
def test_reading_what_is_printed_gives_the_same_object(term: Expr) -> None:
    assert SIGNATURE.parse(repr(term)) is term


@LAW
@given(bools, st.sampled_from([" ", "  ", "\n", "\t"]))
def test_spaces_between_the_signs_do_not_matter(term: Expr, space: str) -> None:
    text = repr(term)
    for sign in "[](),":
        text = text.replace(sign, space + sign + space)
    assert SIGNATURE.parse(text) is term


@LAW
@given(bools)
def test_pickles_and_copies_are_the_same_object(term: Expr) -> None:
    assert pickle.loads(pickle.dumps(term)) is term
    assert copy.deepcopy(term) is term


@LAW
@given(bools)
def test_the_size_is_the_number_of_parts(term: Expr) -> None:
    parts = list(subterms(term))
    assert parts[0] is term
    assert term.size == len(parts)


@LAW
@given(bools, bools)
def test_digests_are_equal_exactly_where_terms_are(a: Expr, b: Expr) -> None:
    assert (a.digest == b.digest) == (a is b)


def test_the_digest_is_the_same_in_another_process() -> None:
    term = Expr(AND, (Expr(YES), Expr(SAME, (Expr(RED), Expr(BLUE)))))
    script = f"import pickle; print(pickle.loads({pickle.dumps(term)!r}).digest)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == term.digest


@LAW
@given(st.text(alphabet="yes not and same color red [](), "))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    try:
        term = SIGNATURE.parse(text)
    except UserError as error:
        assert "⟨here⟩" in str(error)
        assert str(error).replace("⟨here⟩", "").startswith(f"'{text}': ")
    else:
        assert SIGNATURE.parse(repr(term)) is term


@pytest.mark.parametrize(
    ("head", "args", "sentence"),
    [
        (NOT, (), r"not takes \(bool\), got \(\)"),
        (NOT, (Expr(RED),), r"not takes \(bool\), got \(color\)"),
        (AND, (Expr(YES),), r"and takes \(bool, bool\), got \(bool\)"),
        (SAME, (Expr(RED), Expr(YES)), r"same\[color\] takes \(color, color\), got \(color, bool\)"),
        (YES, (Expr(YES),), r"yes takes \(\), got \(bool\)"),
    ],
)
def test_arguments_of_other_types_are_refused(head: Symbol, args: tuple[Expr, ...], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        Expr(head, args)


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("", "⟨here⟩", "the text ends too early"),
        ("not(", "not(⟨here⟩", "the text ends too early"),
        ("not(yes", "not(yes⟨here⟩", "the text ends too early"),
        ("and(yes, maybe)", "and(yes, ⟨here⟩maybe)", "there is no symbol 'maybe'"),
        ("const[color,green]", "⟨here⟩const[color,green]", "there is no symbol 'const[color,green]'"),
        ("const[color", "const⟨here⟩[color", "this '[' is never closed"),
        ("and(yes yes)", "and(yes ⟨here⟩yes)", "expected ',' or ')'"),
        ("yes)", "yes⟨here⟩)", "expected the end here"),
        ("not(not(const[color,red]))", "not(⟨here⟩not(const[color,red]))", "not takes (bool), got (color)"),
    ],
)
def test_an_error_points_at_the_place(text: str, place: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        SIGNATURE.parse(text)
    assert str(error.value) == f"'{place}': {why}"


def test_a_term_prints_as_function_calls() -> None:
    term = Expr(AND, (Expr(NOT, (Expr(YES),)), Expr(SAME, (Expr(RED), Expr(BLUE)))))
    assert repr(term) == "and(not(yes), same[color](const[color,red], const[color,blue]))"
    assert term.size == 6


def test_one_index_word_makes_another_term() -> None:
    assert Expr(RED) is not Expr(BLUE)
    assert Expr(RED).digest != Expr(BLUE).digest
