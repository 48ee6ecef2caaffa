"""Spellings: what was published is read and printed back, and errors point at the token."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.language import HOLDS, Lot, collapsed
from recombine.benchmarks.curi.spelling import Speller, infix, length, postfix, postfix_tokens, prefix
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "curi" / "real_concepts_150.json"
GRAMMAR, SIGNATURE, SPELLER = Lot().grammar(PAPER.nesting), Lot().signature(), Speller()

drawn = st.integers(0, 10**6).map(lambda seed: GRAMMAR.draw(Key(seed).rng()))
concepts = drawn | drawn.map(collapsed)


@pytest.fixture(scope="module")
def published() -> list[str]:
    if not PUBLISHED.exists():
        pytest.skip(f"the 150 published concepts are not at {PUBLISHED}")
    return json.loads(PUBLISHED.read_text())


def test_the_150_published_concepts_come_back_from_every_spelling(published: list[str]) -> None:
    assert len(set(published)) == 150
    for text in published:
        concept = SPELLER.read(text)
        assert postfix(concept) == text
        assert SPELLER.read_postfix(text) is concept
        assert SPELLER.read(infix(concept)) is concept
        assert SPELLER.read_infix(infix(concept)) is concept
        assert SIGNATURE.parse(repr(concept)) is concept


def test_the_lengths_of_the_published_concepts_are_their_tokens(published: list[str]) -> None:
    for text in published:
        assert length(SPELLER.read(text)) == len(text.split())
    assert {len(text.split()) for text in published} <= set(range(6, 15))


def test_prefix_has_the_same_tokens_and_tells_concepts_apart(published: list[str]) -> None:
    written = [prefix(SPELLER.read(text)) for text in published]
    assert [sorted(one.split()) for one in written] == [sorted(text.split()) for text in published]
    assert len(set(written)) == len(published)


@settings(deadline=None, max_examples=150)
@given(concepts)
def test_drawn_concepts_come_back_from_every_spelling(concept: Expr) -> None:
    assert SPELLER.read(postfix(concept)) is concept
    assert SPELLER.read(infix(concept)) is concept
    assert SIGNATURE.parse(repr(concept)) is concept
    assert length(concept) == len(postfix_tokens(concept)) == len(prefix(concept).split())


@settings(deadline=None, max_examples=100)
@given(concepts, st.sampled_from(["", " ", "\n  "]), st.sampled_from(["", " "]))
def test_spaces_around_the_signs_of_infix_do_not_matter(concept: Expr, inside: str, before: str) -> None:
    text = infix(concept).replace("(", f"{before}({inside}").replace(")", f"{inside})").replace(", ", f"{inside},")
    assert SPELLER.read(text) is concept


@settings(deadline=None, max_examples=100)
@given(concepts, st.data())
def test_a_concept_with_a_token_missing_or_moved_is_read_otherwise_or_refused(
    concept: Expr, data: st.DataObject
) -> None:
    tokens = list(postfix_tokens(concept))
    at = data.draw(st.integers(0, len(tokens) - 1))
    token = tokens.pop(at)
    if data.draw(st.booleans()):
        tokens.insert(data.draw(st.integers(0, len(tokens))), token)
    try:
        again = SPELLER.read_postfix(" ".join(tokens))
    except UserError as error:
        assert "⟨here⟩" in str(error)
    else:
        assert postfix(again) == " ".join(tokens)


IN_THE_PAPERS = {
    # appendix A
    "for-all x in S and(>(8, locationX?(x)), =(purple, color?(x)))": (
        "8 x locationX? > purple x color? = and lambda S. for-all="
    ),
    "for-all x in S =(color?(x), purple)": "x color? purple = lambda S. for-all=",
    "exists x in S and(=(metal, material?(x)), all(color?(S), purple))": (
        "metal x material? = S color? purple for-all= and lambda S. exists="
    ),
    "exists x in S and (all(locationY?(S_{-x}), 7), any (color?(S_{-x}), red))": (
        "non-x-S locationY? 7 for-all= non-x-S color? red exists= and lambda S. exists="
    ),
    "exists x in S > (locationY?(x), 6)": "x locationY? 6 > lambda S. exists=",
    "any(locationY?(S), 7)": "S locationY? 7 exists= lambda S.",
    "for-all x in S or(all(shape?(S), sphere), =(3, locationX?(x)))": (
        "S shape? sphere for-all= 3 x locationX? = or lambda S. for-all="
    ),
    "exists x in S and(all(locationY?(S_{-x}), 6), any(size?(S_{-x}), 0.7))": (
        "non-x-S locationY? 6 for-all= non-x-S size? 0.7 exists= and lambda S. exists="
    ),
    "exists x in S >(count=(locationY?(S_{-x}), 6), count=(size?(S_{-x}), 0.35))": (
        "non-x-S locationY? 6 count= non-x-S size? 0.35 count= > lambda S. exists="
    ),
    "for-all x in S =(count=(locationY?(S), 6), count=(shape?(S), shape?(x)))": (
        "S locationY? 6 count= S shape? x shape? count= = lambda S. for-all="
    ),
    ">(count=(color?(S), cyan), count=(material?(S), metal))": (
        "S color? cyan count= S material? metal count= > lambda S."
    ),
    "and(any(size?(S), 0.7), any(locationY?(S), 6))": "S size? 0.7 exists= S locationY? 6 exists= and lambda S.",
    # appendix B.2 and B.3
    "exists=x \\in S or(\n =(locationX?( x ), locationY?( x ) ),\n any(color?( S ), brown )\n)": (
        "x locationX? x locationY? = S color? brown exists= or lambda S. exists="
    ),
    "exists=x \\in S and(\n exists=(locationY?( S ), locationX?( x ) ),\n any(color?( S ), brown )\n)": (
        "S locationY? x locationX? exists= S color? brown exists= and lambda S. exists="
    ),
    "exists x in S =(2, count=(color?( S_{-x} ), cyan ) )": "2 non-x-S color? cyan count= = lambda S. exists=",
    "exists x in S >(locationY?( x ), 6 )": "x locationY? 6 > lambda S. exists=",
    "=(count=(color?( S ), brown ), 3 )": "S color? brown count= 3 = lambda S.",
    ">(count=(locationX?( S ), 3 ), 2 )": "S locationX? 3 count= 2 > lambda S.",
    "=(1, count=(locationY?( S ), 7 ) )": "1 S locationY? 7 count= = lambda S.",
    "all(locationX?( S ), 2 )": "S locationX? 2 for-all= lambda S.",
    "for-all x in S not( >(6, locationX?( x ) ) )": "6 x locationX? > not lambda S. for-all=",
    # other ways to write the same
    "exists x ∈ S all(color?(S_-x), red)": "non-x-S color? red for-all= lambda S. exists=",
    "exists x in S all(color?(non-x-S), red)": "non-x-S color? red for-all= lambda S. exists=",
    "  for-all  x in S  =(size?(x),0.35) ": "x size? 0.35 = lambda S. for-all=",
    "=(count(color?(S), blue), 2)": (
        "S color? blue count= 2 = lambda S."
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", IN_THE_PAPERS)
def test_the_infix_of_the_papers_is_read(text: str) -> None:
    assert postfix(SPELLER.read(text)) == IN_THE_PAPERS[text]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("S color? blue for-all= lambda S.", 6),
        ("S color? blue count= 2 = lambda S.", 8),
        ("x color? red = lambda S. exists=", 7),
        ("x locationX? x locationY? > S color? blue for-all= and lambda S. exists=", 13),
    ],
)
def test_lambda_and_s_are_two_tokens_of_the_length(text: str, tokens: int) -> None:
    assert length(SPELLER.read(text)) == tokens


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        # unknown words
        ("S colour? blue for-all= lambda S.", "S ⟨here⟩colour? blue", "did you mean 'color?'?"),
        ("S color? blu for-all= lambda S.", "S color? ⟨here⟩blu ", "did you mean 'blue'?"),
        ("S color? zzzzzz for-all= lambda S.", "S color? ⟨here⟩zzzzzz", "the words are 1 2 3 gray"),
        ("exists x in S =(colr?(x), blue)", "=(⟨here⟩colr?(x)", "did you mean 'color?'?"),
        ("all(color?(T), red)", "all(color?(⟨here⟩T)", "'T' is not a word of this language"),
        # types
        ("x color? cube = lambda S. exists=", "x color? ⟨here⟩cube =", "is a shape where a color is needed"),
        ("x color? 3 = lambda S. exists=", "x color? ⟨here⟩3 =", "is a number or a location where a color is needed"),
        ("S color? blue count= 7 = lambda S.", "count= ⟨here⟩7 =", "'7' is a location where a number is needed"),
        ("x color? red > lambda S. exists=", "red ⟨here⟩> lambda", "'>' needs an order, and a color has none"),
        ("S color? red = lambda S.", "red ⟨here⟩= lambda", "cannot compare the colors of a set; use all, any or count"),
        ("x color? x shape? = lambda S. exists=", "shape? ⟨here⟩= lambda", "needs a color and finds a shape"),
        ("1 2 = lambda S.", "1 2 ⟨here⟩= lambda", "compares two constants"),
        ("x red for-all= lambda S. exists=", "red ⟨here⟩for-all= lambda", "takes a property of S or non-x-S first"),
        ("red color? lambda S.", "red ⟨here⟩color? lambda", "asks for a property of x, S or non-x-S"),
        ("S color? red for-all= x and lambda S. exists=", "x ⟨here⟩and lambda", "needs a bool and finds an object"),
        ("S color? red count= lambda S.", "lambda S.⟨here⟩", "needs a bool and finds a number"),
        # operands
        ("red = lambda S.", "red ⟨here⟩= lambda", "'=' takes 2 operands and finds 1"),
        ("color? lambda S.", "⟨here⟩color? lambda", "'color?' takes 1 operand and finds 0"),
        ("S color? red for-all= x lambda S.", "⟨here⟩", "the body leaves 2 values, not one"),
        ("lambda S. exists=", "⟨here⟩", "the body leaves 0 values, not one"),
        # parentheses and ends
        ("all(color?(S), blue", "blue⟨here⟩", "expected ',' or ')'"),
        ("all(color?(S), blue))", "blue)⟨here⟩)", "expected the end"),
        ("all(color?(S,, blue)", "color?(S,⟨here⟩, blue)", "takes 1 operand"),
        ("all color?(S), blue", "all ⟨here⟩color?(S)", "expected '(' after 'for-all='"),
        ("all(color? S, blue)", "all(color? ⟨here⟩S, blue)", "expected '(' after 'color?'"),
        ("", "⟨here⟩", "expected a word"),
        ("S color? blue for-all= lambda", "lambda⟨here⟩", "a postfix concept ends in 'lambda S.'"),
        ("S color? red for-all= lambda S. exists= exists=", "⟨here⟩", "at most a quantifier"),
        # quantifiers
        ("x color? blue = lambda S.", "⟨here⟩x color?", "speaks of x or S_-x needs a quantifier"),
        ("all(color?(S_{-x}), blue)", "⟨here⟩all(", "speaks of x or S_-x needs a quantifier"),
        ("x color? blue = lambda S. most=", "lambda S. ⟨here⟩most=", "'most=' is not a quantifier"),
    ],
)  # fmt: skip
def test_an_error_points_at_the_token(text: str, place: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        SPELLER.read(text)
    assert place in str(error.value)
    assert why in str(error.value)
    assert text in str(error.value).replace("⟨here⟩", "")


@pytest.mark.parametrize(
    "text",
    [
        "exists x in S or(=(color?(x), red), and(=(shape?(x), cube)), =(size?(x), 0.7))",
        "exists x in S =(red(color?(x)))",
        "exists x in S and(not(=(color?(x), red), =(shape?(x), cube)))",
    ],
)
def test_infix_arguments_belong_to_the_word_before_their_parenthesis(text: str) -> None:
    with pytest.raises(UserError):
        SPELLER.read(text)


def test_a_call_with_an_argument_too_many_is_refused() -> None:
    with pytest.raises(UserError):
        SPELLER.read("exists x in S and(=(color?(x), red), =(shape?(x), cube), =(size?(x), 0.7))")


def test_a_concept_without_quantifier_holds() -> None:
    assert SPELLER.read("all(color?(S), blue)").head is HOLDS
    assert repr(SPELLER.read("all(color?(S), blue)")) == (
        "holds(all[color](each[color](everything, function[color]), const[color,blue]))"
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [("S locationX? 3 for-all= lambda S.", "location"), ("S color? red count= 3 = lambda S.", "number")],
)
def test_the_other_side_decides_whether_three_is_a_number_or_a_place(text: str, kind: str) -> None:
    assert f"const[{kind},3]" in repr(SPELLER.read(text))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("S color? blue for-all= lambda S.", "all objects are blue"),
        ("S shape? cube exists= lambda S.", "some object is a cube"),
        ("non-x-S size? 0.7 for-all= lambda S. exists=", "there is an object x such that all other objects are large"),
        ("S color? blue count= 2 = lambda S.", "the number of objects that are blue equals 2"),
        (
            "5 x locationX? = gray x color? = and lambda S. for-all=",
            "for every object x, x is in column 5 and x is gray",
        ),
        (
            "x locationX? x locationY? > S color? blue for-all= and lambda S. exists=",
            "there is an object x such that the column of x is greater than the row of x and all objects are blue",
        ),
        (
            "6 x locationX? > not lambda S. for-all=",
            "for every object x, it is not so that 6 is greater than the column of x",
        ),
    ],
)
def test_concepts_in_english(text: str, sentence: str) -> None:
    assert english(SPELLER.read(text)) == sentence


@settings(deadline=None, max_examples=100)
@given(concepts)
def test_english_uses_words_only(concept: Expr) -> None:
    assert not set(english(concept)) & set("[](){}?='\"_")
