"""Splits: sides, random deals that keep synonyms together, and leaks."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recombine.language.expr import Expr, Symbol
from recombine.language.query import nothing, uses, uses_any
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.splits import Sides, at_random, hold_out, leaks, nothing_held_out, sides, without_leaks

LAW = settings(deadline=None, max_examples=60)
WORDS = "abcdef"
CONCEPTS = tuple(Expr(Symbol("say", (a, b))) for a in WORDS for b in WORDS)
OWN_SENSES = np.arange(len(CONCEPTS), dtype=np.int32)
DEALT = at_random("random", "Random", "at random")

some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Sides, np.ndarray]:
    """Any sides of any concepts with any synonyms."""
    n = draw(st.integers(1, 30))
    side = st.lists(st.booleans(), min_size=n, max_size=n).map(lambda side: np.array(side, bool))
    sense = draw(st.lists(st.integers(0, 7), min_size=n, max_size=n))
    return Sides(draw(side), draw(side), draw(side)), np.array(sense)


@LAW
@given(some_words)
def test_every_concept_is_trained_on_or_held_out(held_out: list[str]) -> None:
    split = hold_out("some", "Some", "some words are new", uses_any(*held_out))
    found = sides(split, CONCEPTS, OWN_SENSES, Key(1))
    assert found.test.tolist() == [bool({*concept.head.index} & {*held_out}) for concept in CONCEPTS]
    np.testing.assert_array_equal(found.train, ~found.test)
    np.testing.assert_array_equal(found.validation, found.test)
    assert not found.dropped.any()


@LAW
@given(some_words, some_words)
def test_what_neither_side_wants_is_dropped(train: list[str], test: list[str]) -> None:
    found = sides(hold_out("", "", "", uses_any(*test), uses_any(*train)), CONCEPTS, OWN_SENSES, Key(1))
    wanted = {*train, *test}
    assert found.dropped.tolist() == [not ({*concept.head.index} & wanted) for concept in CONCEPTS]


@LAW
@given(st.integers(0, 1000), st.integers(1, 20))
def test_a_random_deal_keeps_synonyms_together_at_about_80_5_15(seed: int, synonyms: int) -> None:
    sense = Key(seed).rng().integers(0, 2_000 // synonyms, 2_000)
    sense = np.unique(sense, return_inverse=True)[1]
    found = sides(DEALT, (), sense, Key(seed) / "deal")
    np.testing.assert_array_equal(found.train.astype(int) + found.validation + found.test, 1)
    for side in found:
        assert len(np.intersect1d(sense[side], sense[~side])) == 0
    largest = np.bincount(sense).max() / len(sense)
    np.testing.assert_allclose([side.mean() for side in found], [0.80, 0.05, 0.15], atol=1.01 * largest)
    assert not leaks(found, sense).any()


def test_the_key_decides_the_deal() -> None:
    one, again, other = (sides(DEALT, (), np.arange(500), Key(seed)).test for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@LAW
@given(cases())
def test_a_leak_is_a_test_concept_with_a_synonym_in_training(case: tuple[Sides, np.ndarray]) -> None:
    found, sense = case
    expected = [
        found.test[i] and any(found.train[j] and sense[i] == sense[j] for j in range(len(sense)))
        for i in range(len(sense))
    ]
    assert leaks(found, sense).tolist() == expected


@LAW
@given(cases())
def test_without_leaks_nothing_leaks_and_the_rest_stays(case: tuple[Sides, np.ndarray]) -> None:
    found, sense = case
    clean = without_leaks(found, sense)
    assert not leaks(clean, sense).any()
    np.testing.assert_array_equal(clean.train, found.train)
    np.testing.assert_array_equal(clean.test, found.test & ~leaks(found, sense))
    assert not (clean.validation & ~found.validation).any()


@LAW
@given(cases())
def test_validation_on_the_test_concepts_loses_the_same_leaks(case: tuple[Sides, np.ndarray]) -> None:
    found, sense = case
    assume(found.test.any())
    clean = without_leaks(found._replace(validation=found.test), sense)
    np.testing.assert_array_equal(clean.validation, clean.test)


@pytest.mark.parametrize(
    ("held_out", "sentence"),
    [
        (uses("z"), r"split 'mine': the test side is empty \(uses 'z'\); nothing to test"),
        (uses_any(*WORDS), r"split 'mine': the train side is empty \(not uses one of a, b, c, d, e, f\)"),
        (nothing, "the test side is empty"),
    ],
)
def test_an_empty_side_is_refused(held_out: object, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        sides(hold_out("mine", "Mine", "", held_out), CONCEPTS, OWN_SENSES, Key(1))


def test_a_deal_of_one_sense_is_refused() -> None:
    with pytest.raises(UserError, match="split 'random': the test side is empty"):
        sides(DEALT, (), np.zeros(30, int), Key(1))


def test_nothing_held_out_trains_and_tests_on_everything() -> None:
    found = sides(nothing_held_out("iid", "IID", ""), CONCEPTS, OWN_SENSES, Key(1))
    assert found.train.all()
    assert found.test.all()


def test_a_synonym_of_a_training_concept_leaks() -> None:
    found = Sides(*(np.array(side, bool) for side in ([1, 0, 0], [0, 1, 1], [0, 1, 1])))
    assert leaks(found, np.array([0, 0, 1])).tolist() == [False, True, False]
    assert without_leaks(found, np.array([0, 0, 1])).test.tolist() == [False, False, True]
