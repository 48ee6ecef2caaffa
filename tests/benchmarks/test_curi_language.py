"""CURI's language of thought: its size, its weights and its editions, against the numbers known of the release."""

import math
from collections import defaultdict
from dataclasses import fields

import numpy as np
import pytest

from recombine.benchmarks.curi.edition import EDITIONS, IDEAL, PAPER, RELEASE, Edition, edition
from recombine.benchmarks.curi.language import EXISTS, FOR_ALL, HOLDS, Lot, banned, collapsed, depends_on_x
from recombine.benchmarks.curi.space import log_probability
from recombine.benchmarks.curi.spelling import Speller, postfix
from recombine.language.expr import Expr
from recombine.language.grammar import Language
from recombine.store.errors import UserError
from recombine.store.key import Key

CHECKED = "x locationX? x locationY? > S color? blue for-all= and lambda S. exists="
CHECK_VALUE = -15.829473047456954

FACTS = [
    # choice, paper, release: one line per row of the table of facts
    ("prior", "length", "grammar"),
    ("likelihood", "consistent", "size"),
    ("query_negatives", "rivals", "random"),
    ("test_episodes", 20_000, 12_500),
    ("first_bin", 1, 0),
    ("longest_simple", 10, 9),
    ("mixed_binding", "test", "drop"),
    ("at_most_share", True, False),
    ("fewest_scenes", 10, 11),
    ("auxiliary", "prefix", "postfix"),
    ("relation_norm", True, False),
    ("easy_negatives", "anywhere", "block"),
    ("easy_consistency", "labels", "candidates"),
]


@pytest.fixture(scope="module")
def language() -> Language:
    """Listed once: it takes seconds."""
    return Lot().grammar(RELEASE.nesting).enumerate()


@pytest.fixture(scope="module")
def allowed(language: Language) -> list[Expr]:
    return [concept for concept in language.terms if not banned(concept)]


@pytest.mark.parametrize("name", EDITIONS)
def test_the_check_value_of_the_log_probability(name: str) -> None:
    concept = Speller().read_postfix(CHECKED)
    grammar = Lot().grammar(EDITIONS[name].nesting)
    assert grammar.log_probability(concept) == pytest.approx(CHECK_VALUE, abs=1e-12)
    assert log_probability(concept, Lot(), EDITIONS[name]) == pytest.approx(CHECK_VALUE, abs=1e-12)


def test_the_language_has_312_432_strings(language: Language) -> None:
    assert len(language.terms) == len(set(language.terms)) == 312_432
    assert {concept.head for concept in language.terms} == {EXISTS, FOR_ALL}


def test_173_272_concepts_are_left_after_the_bans_and_the_collapse(allowed: list[Expr]) -> None:
    assert len({collapsed(concept) for concept in allowed}) == 173_272


def test_the_listed_check_value_is_the_same(language: Language) -> None:
    at = language.terms.index(Speller().read_postfix(CHECKED))
    assert language.log_prob[at] == pytest.approx(CHECK_VALUE, abs=1e-12)


def test_two_million_draws_bring_up_about_94_450_strings(language: Language) -> None:
    distinct = [np.count_nonzero(language.draw(2_000_000, Key(seed).rng())) for seed in range(3)]
    assert np.mean(distinct) == pytest.approx(94_450, rel=0.01)


def test_about_44_340_of_them_are_not_banned_and_42_900_differ(language: Language) -> None:
    drawn = np.flatnonzero(language.draw(2_000_000, Key(1).rng()))
    kept = [language.terms[i] for i in drawn if not banned(language.terms[i])]
    assert len(kept) == pytest.approx(44_340, rel=0.02)
    assert len({collapsed(concept) for concept in kept}) == pytest.approx(42_900, rel=0.02)


def test_at_most_one_connective_and_no_count_below_and_or_or(language: Language) -> None:
    for concept in language.terms[:: len(language.terms) // 5_000]:
        words = postfix(concept).split()
        connectives = [word for word in words if word in ("and", "or", "not")]
        assert len(connectives) <= 1
        assert "count=" not in words or not {"and", "or"} & {*words}


def test_both_editions_nesting_gives_the_same_language() -> None:
    assert PAPER.nesting != RELEASE.nesting
    assert Lot().grammar(PAPER.nesting) == Lot().grammar(RELEASE.nesting)


def test_the_weights_of_bool_sum_to_28_and_have_the_published_shares() -> None:
    weight: dict[str, float] = defaultdict(float)
    for rule in Lot().grammar(PAPER.nesting).rules:
        if rule.left == "BOOL":
            weight[str(rule.head)] += rule.weight
    kinds = ("color", "shape", "material", "size", "location")
    assert sum(weight.values()) == pytest.approx(28)
    assert dict(weight) == {
        "and": 3,
        "or": 0.5,
        "not": 1,
        **{f"equal[{kind}]": 3 for kind in kinds[:3]},
        **{f"equal[{kind}]": 0.5 for kind in ("size", "location", "number")},
        **{f"greater[{kind}]": 1 for kind in ("size", "location", "number")},
        **{f"{family}[{kind}]": 1 for family in ("all", "any") for kind in kinds},
    }


def test_the_other_choices_have_the_published_shares() -> None:
    choices = Lot().grammar(PAPER.nesting).choices
    shares = {left: {str(rule.head): share for rule, share in of} for left, of in choices.items()}
    assert shares["START"] == {"exists": 0.5, "for_all": 0.5}
    assert shares["SET"] == {"everything": 0.5, "others": 0.5}
    assert shares["F location"] == {"function[locationX]": 0.5, "function[locationY]": 0.5}
    assert [shares["number"][f"const[number,{n}]"] for n in "123"] == pytest.approx([1 / 6] * 3)
    counts = [share for head, share in shares["number"].items() if head.startswith("count")]
    assert counts == pytest.approx([1 / 10] * 5)
    for kind, constants in (("color", 8), ("shape", 3), ("material", 2), ("size", 2), ("location", 8)):
        assert shares[kind].pop(f"of[{kind}]") == pytest.approx(1 / 2)
        assert list(shares[kind].values()) == pytest.approx([1 / 2 / constants] * constants)


def test_every_row_of_the_facts_is_a_field_of_an_edition() -> None:
    assert {name for name, _, _ in FACTS} | {"name", "nesting"} == {field.name for field in fields(Edition)}


@pytest.mark.parametrize(("choice", "paper", "release"), FACTS)
def test_editions_choose_as_the_facts_say(choice: str, paper: object, release: object) -> None:
    assert getattr(PAPER, choice) == paper
    assert getattr(RELEASE, choice) == release


def test_the_ideal_edition_asks_what_the_release_asks() -> None:
    """It differs in what the oracles know, and in nothing that decides concepts and episodes."""
    differ = {field.name for field in fields(Edition) if getattr(IDEAL, field.name) != getattr(RELEASE, field.name)}
    assert differ == {"name", "prior", "likelihood", "easy_consistency"}


def test_the_paper_counts_six_levels_and_the_release_from_zero() -> None:
    assert PAPER.nesting.deepest == 6
    assert RELEASE.nesting.start == 0
    assert RELEASE.nesting.deepest == 4  # nothing may stand at depth 5
    assert PAPER.nesting.levels == RELEASE.nesting.levels == 5


def test_an_unknown_edition_names_the_known_ones() -> None:
    assert edition("paper") is PAPER
    with pytest.raises(UserError, match="there is no edition 'draft'; choose one of paper, release"):
        edition("draft")


BANNED = [
    "x color? x color? = lambda S. exists=",
    "x locationX? x locationX? > lambda S. exists=",
    "S shape? x shape? for-all= lambda S. exists=",
    "non-x-S shape? x shape? exists= lambda S. exists=",
    "non-x-S shape? cube for-all= lambda S. for-all=",
    "x color? x color? = S shape? cube for-all= and lambda S. for-all=",
]
ALLOWED = [
    "x locationX? x locationY? > lambda S. exists=",
    "S locationX? x locationY? for-all= lambda S. exists=",
    "S shape? x shape? count= 2 = lambda S. exists=",
    "non-x-S shape? cube for-all= lambda S. exists=",
    "S shape? cube for-all= lambda S. for-all=",
]


@pytest.mark.parametrize(("text", "expected"), [(t, True) for t in BANNED] + [(t, False) for t in ALLOWED])
def test_concepts_that_say_nothing_are_banned(text: str, expected: bool) -> None:
    assert banned(Speller().read_postfix(text)) == expected


def test_a_quantifier_that_makes_no_difference_is_dropped(allowed: list[Expr]) -> None:
    for concept in allowed[:: len(allowed) // 3_000]:
        spoken = {"x", "non-x-S"} & {*postfix(concept).split()}
        assert depends_on_x(concept) == bool(spoken)
        assert collapsed(concept) is (concept if spoken else Expr(HOLDS, concept.args))
        assert collapsed(collapsed(concept)) is collapsed(concept)


def test_a_concept_without_quantifier_counts_as_if_it_had_one() -> None:
    read = Speller().read_postfix
    some, every = (read(f"S color? blue for-all= lambda S. {q}=") for q in ("exists", "for-all"))
    found = [log_probability(c, Lot(), PAPER) for c in (some, every, collapsed(some))]
    # START 1/2, all 1/28, S 1/2, blue 1/2 * 1/8
    assert found == pytest.approx([math.log(1 / 2 / 28 / 2 / 16)] * 3)
