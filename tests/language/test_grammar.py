"""Grammars: what is listed is what is drawn, with the same probabilities."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from recombine.language import grammar as grammar_module
from recombine.language.expr import Expr, Symbol
from recombine.language.grammar import Grammar, Rule
from recombine.store.errors import UserError
from recombine.store.key import Key

A, B = Symbol("a"), Symbol("b")
NOT, AND = Symbol("not", (), ("bool",)), Symbol("and", (), ("bool", "bool"))
DRAWS = 20_000
SURELY = 1e-4
"""A fixed seed makes each of these p-values a constant; only a wrong distribution falls below."""


def only_words(head: Symbol, args: tuple[Expr, ...]) -> bool:
    """A node above words alone is dull."""
    return bool(args) and all(not arg.args for arg in args)


def same_twice(head: Symbol, args: tuple[Expr, ...]) -> bool:
    return len(args) == 2 and args[0] is args[1]


def tiny(levels: int, tries: int = 12, dull: grammar_module.Callable = grammar_module.never) -> Grammar:
    rules = (
        Rule("B", 3.0, AND, ("B", "B")),
        Rule("B", 1.0, NOT, ("B",)),
        Rule("B", 2.0, A),
        Rule("B", 0.5, B),
    )
    return Grammar("B", rules, levels, tries, dull)


GRAMMARS = {
    "shallow": tiny(2),
    "deep": tiny(3),
    "one try": tiny(3, tries=1),
    "two tries": tiny(3, tries=2),
    "dull equals": tiny(3, tries=2, dull=same_twice),
    "dull words": tiny(3, tries=1, dull=only_words),
    "dull words, three tries": tiny(3, tries=3, dull=only_words),
}


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_what_is_listed_comes_up_as_often_as_listed(grammar: Grammar) -> None:
    language, rng = grammar.enumerate(), Key(5).rng()
    drawn = Counter(grammar.draw(rng) for _ in range(DRAWS))
    assert set(drawn) <= set(language.terms)
    seen = np.array([drawn[term] for term in language.terms])
    expected = language.chance * DRAWS
    frequent = expected >= 5
    seen, expected = (np.append(v[frequent], v[~frequent].sum()) for v in (seen, expected))
    kept = expected > 0
    assert chisquare(seen[kept], expected[kept]).pvalue > SURELY


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_the_chances_sum_to_one_and_terms_come_once(grammar: Grammar) -> None:
    language = grammar.enumerate()
    assert language.chance.sum() == pytest.approx(1, abs=1e-12)
    assert (language.chance > 0).all()
    assert len(set(language.terms)) == len(language.terms)


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_the_log_probability_of_a_term_is_the_listed_one(grammar: Grammar) -> None:
    language = grammar.enumerate()
    np.testing.assert_allclose(language.log_prob, [grammar.log_probability(t) for t in language.terms], atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
def test_chances_follow_log_probabilities_where_nothing_can_fail(levels: int, weights: list[float]) -> None:
    # One nonterminal per level, so that no node stands too deep.
    rules = [Rule(f"B{n}", weights[0], NOT, (f"B{n + 1}",)) for n in range(levels - 1)]
    rules += [Rule(f"B{n}", w, word) for n in range(levels) for w, word in zip(weights[1:], (A, B))]
    language = Grammar("B0", tuple(rules), levels).enumerate()
    np.testing.assert_allclose(np.exp(language.log_prob), language.chance, rtol=1e-9)


def test_many_draws_at_once_are_one_multinomial() -> None:
    language = GRAMMARS["two tries"].enumerate()
    counts = language.draw(DRAWS, Key(5).rng())
    assert counts.sum() == DRAWS
    assert chisquare(counts, language.chance * DRAWS).pvalue > SURELY


def test_the_same_generator_state_draws_the_same_terms() -> None:
    first, again = ([GRAMMARS["deep"].draw(rng) for _ in range(50)] for rng in (Key(1).rng(), Key(1).rng()))
    assert first == again


def test_no_term_stands_deeper_than_the_levels() -> None:
    def depth(term: Expr) -> int:
        return 1 + max(map(depth, term.args), default=0)

    assert {depth(term) for term in tiny(3).enumerate().terms} == {1, 2, 3}


def test_no_listed_term_has_a_dull_part() -> None:
    for term in GRAMMARS["dull equals"].enumerate().terms:
        assert not same_twice(term.head, term.args)
        assert not any(same_twice(arg.head, arg.args) for arg in term.args)


def test_a_language_too_large_to_list_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar_module, "LARGEST", 1_000)
    with pytest.raises(UserError, match="with 5 levels the grammar has more than the 1,000 terms"):
        tiny(5).enumerate()


def test_a_grammar_without_a_shallow_term_says_so() -> None:
    endless = Grammar("B", (Rule("B", 1, NOT, ("B",)),), levels=2, tries=1)
    with pytest.raises(UserError, match="no term was found in 10,000 draws; are 2 levels enough"):
        endless.draw(Key(1).rng())


def test_a_term_that_no_rule_makes_has_probability_zero() -> None:
    grammar = Grammar("B", (Rule("B", 1, NOT, ("B",)), Rule("B", 1, A)), levels=3)
    assert grammar.log_probability(Expr(NOT, (Expr(B),))) == -math.inf
    assert grammar.log_probability(Expr(NOT, (Expr(A),))) == pytest.approx(2 * math.log(1 / 2))


def test_a_failed_child_is_drawn_again_before_its_parent_fails() -> None:
    # At the last level only a word (1/2) fits under `not` (1/2). Per try: a 1/2; not(a) 1/2 * 1/2 * (1 + 1/2).
    grammar = Grammar("B", (Rule("B", 1, NOT, ("B",)), Rule("B", 1, A)), levels=2, tries=2)
    language = grammar.enumerate()
    chance = dict(zip(map(repr, language.terms), language.chance))
    assert chance == pytest.approx({"a": 4 / 7, "not(a)": 3 / 7})
