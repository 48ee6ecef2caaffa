"""CURI's splits on hand-written concepts, in both editions; and the words of a user's own predicate."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.curi.edition import EDITIONS, PAPER, RELEASE
from recombine.benchmarks.curi.language import Lot, collapsed
from recombine.benchmarks.curi.spelling import Speller, length, postfix
from recombine.benchmarks.curi.splits import BOOLEAN, COUNTING, EXTRINSIC, INTRINSIC, curi_splits, where_word
from recombine.language.expr import Expr
from recombine.language.query import anything, parse_where
from recombine.store.errors import UserError
from recombine.store.key import Key

BOTH = tuple(EDITIONS)
read = Speller().read
drawn = st.integers(0, 10**6).map(lambda seed: collapsed(Lot().grammar(PAPER.nesting).draw(Key(seed).rng())))


def side(split: str, text: str, edition: str) -> str:
    """Where a concept goes."""
    found, concept = curi_splits(EDITIONS[edition])[split], read(text)
    sides = [name for name in ("train", "test") if getattr(found, name)(concept)]
    return "+".join(sides) or "dropped"


@pytest.mark.parametrize("edition", BOTH)
@settings(deadline=None, max_examples=200)
@given(concept=drawn)
def test_no_concept_is_on_both_sides(edition: str, concept: Expr) -> None:
    for split in curi_splits(EDITIONS[edition]).values():
        if split.test is not anything:
            assert not (split.train(concept) and split.test(concept))
        if not (edition != "paper" and split.name.startswith("binding")):
            assert split.train(concept) or split.test(concept)


@settings(deadline=None, max_examples=200)
@given(drawn)
def test_both_tokens_anywhere_in_the_string_suffice(concept: Expr) -> None:
    tokens, splits = {*postfix(concept).split()}, curi_splits(PAPER)
    located, counted = bool(tokens & {"locationX?", "locationY?"}), "count=" in tokens
    for name, pairs, needed in (
        ("intrinsic", INTRINSIC, True),
        ("boolean", BOOLEAN, True),
        ("extrinsic", EXTRINSIC, located),
        ("counting", COUNTING, counted),
    ):
        assert splits[name].test(concept) == (needed and any({*pair} <= tokens for pair in pairs)), name
    assert splits["binding-color"].test(concept) == bool(tokens & {"purple", "cyan", "yellow"})
    assert splits["binding-shape"].test(concept) == ("cylinder" in tokens)


@pytest.mark.parametrize("edition", BOTH)
@pytest.mark.parametrize(
    ("split", "text", "expected"),
    [
        ("binding-color", "all(color?(S), purple)", "test"),
        ("binding-color", "all(color?(S), blue)", "train"),
        ("binding-color", "any(shape?(S), cylinder)", "train"),
        ("binding-shape", "any(shape?(S), cylinder)", "test"),
        ("binding-shape", "any(shape?(S), cube)", "train"),
        ("binding-shape", "all(color?(S), purple)", "train"),
        ("intrinsic", "and(all(color?(S), green), any(material?(S), metal))", "test"),
        ("intrinsic", "and(all(color?(S), red), any(material?(S), metal))", "test"),
        ("intrinsic", "and(all(color?(S), red), any(material?(S), rubber))", "train"),
        ("intrinsic", "all(color?(S), green)", "train"),
        ("boolean", "or(all(color?(S), green), any(material?(S), metal))", "test"),
        ("boolean", "and(all(color?(S), red), any(material?(S), metal))", "train"),
        ("boolean", "or(all(color?(S), red), any(material?(S), metal))", "test"),
        ("boolean", "or(all(color?(S), purple), any(material?(S), metal))", "train"),
        ("extrinsic", "exists x in S and(=(locationX?(x), 7), all(color?(S), gray))", "test"),
        ("extrinsic", "exists x in S and(=(locationX?(x), 6), all(color?(S), gray))", "train"),
        ("extrinsic", ">(count=(color?(S), red), 1)", "train"),  # 1 and red, but no location
        ("extrinsic", ">(count=(color?(S), red), count=(locationY?(S), 1))", "test"),
        ("counting", "=(count=(color?(S), red), 3)", "test"),
        ("counting", "=(count=(color?(S), red), 2)", "train"),
        ("counting", "exists x in S and(=(locationX?(x), 3), all(color?(S), red))", "train"),  # no count
        ("counting", ">(count=(color?(S), red), count=(locationY?(S), 3))", "test"),
        ("instance-iid", "all(color?(S), blue)", "train+test"),
    ],
)
def test_where_a_concept_goes(edition: str, split: str, text: str, expected: str) -> None:
    assert side(split, text, edition) == expected


@pytest.mark.parametrize(("edition", "expected"), [("paper", "test"), ("release", "dropped")])
@pytest.mark.parametrize(
    ("split", "text"),
    [
        ("binding-color", "and(any(color?(S), purple), any(color?(S), blue))"),
        ("binding-shape", "and(any(shape?(S), cylinder), any(shape?(S), cube))"),
    ],
)
def test_a_concept_with_old_and_new_words_is_tested_on_or_dropped(
    edition: str, expected: str, split: str, text: str
) -> None:
    assert side(split, text, edition) == expected


@pytest.mark.parametrize(
    ("text", "tokens", "paper", "release"),
    [
        (">(count=(color?(S), red), 1)", 8, "train", "train"),
        ("exists x in S =(count=(color?(S_{-x}), red), 1)", 9, "train", "train"),
        ("exists x in S =(count=(color?(S_{-x}), color?(x)), 1)", 10, "train", "test"),
        ("and(any(color?(S), red), any(shape?(S), cube))", 11, "test", "test"),
    ],
)
def test_short_concepts_train_and_long_ones_test(text: str, tokens: int, paper: str, release: str) -> None:
    assert length(read(text)) == tokens
    assert side("complexity", text, "paper") == paper
    assert side("complexity", text, "release") == release


def test_there_are_nine_splits_and_one_is_dealt() -> None:
    splits = curi_splits(RELEASE)
    assert len(splits) == 9
    assert [name for name, split in splits.items() if split.shuffled] == ["concept-iid"]
    assert all(name == split.name and split.title and split.about for name, split in splits.items())


def test_the_lists_of_pairs_are_the_published_ones() -> None:
    published = (
        "7gray 1red 3purple 1blue 8cyan 5yellow 5green 3yellow 7purple 2blue 3cyan 3blue 8yellow 3brown 1yellow "
        "6blue 2cyan 4brown 7green 5cyan"
    )
    assert [number + color for number, color in EXTRINSIC] == published.split()
    counted = "3red 3brown 3yellow 1yellow 2blue 2cyan 3green 1cyan"
    assert [number + color for number, color in COUNTING] == counted.split()


@pytest.mark.parametrize(
    ("where", "text", "expected"),
    [
        ("green", "all(color?(S), green)", True),
        ("color", "all(color?(S), green)", True),
        ("color?", "all(color?(S), green)", True),
        ("count & ~green", "=(count=(color?(S), red), 3)", True),
        ("locationX | locationY", "=(count=(color?(S), red), 3)", False),
        ("length>7", "=(count=(color?(S), red), 3)", True),
        ("length>8", "=(count=(color?(S), red), 3)", False),
        ("length>=8", "=(count=(color?(S), red), 3)", True),
        ("length<8", "=(count=(color?(S), red), 3)", False),
        ("length<=8 & 3", "=(count=(color?(S), red), 3)", True),
    ],
)
def test_a_users_predicate_speaks_of_words_and_length(where: str, text: str, expected: bool) -> None:
    assert parse_where(where, where_word(Lot()))(read(text)) == expected


def test_a_users_predicate_says_itself() -> None:
    found = parse_where("green & length>10 | ~count", where_word(Lot()))
    assert str(found) == "uses 'green' and has a length > 10 or not uses 'count'"


@pytest.mark.parametrize("word", ["gren", "length=10", "length>", "length>ten"])
def test_an_unknown_word_of_a_predicate_is_refused(word: str) -> None:
    with pytest.raises(UserError, match=r"is not a word of the language; use .* or length>N"):
        parse_where(word, where_word(Lot()))
