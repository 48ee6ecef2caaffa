"""CLOSURE's learners of order k: what they know, what they take the rest for, and the laws of their gaps."""

from itertools import combinations, product

import numpy as np
import pytest

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS, signature
from recombine.benchmarks.clevr.meaning import UNDEFINED, answer_text, execute
from recombine.benchmarks.clevr.shapes import Description, Filling, fill
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.learners import closest, score
from recombine.benchmarks.closure.orders import (
    closest_of_order,
    deepest,
    first_new,
    fragments,
    known_fragments,
    knows,
    normalised,
    order_gaps,
    order_scores,
    tree_of,
)
from recombine.language.expr import Expr, subterms
from recombine.store.errors import UserError
from recombine.store.key import Key

SCENES = ClevrWorld().sample(60, Key(0) / "orders")
SIGNATURE = signature()
parse = SIGNATURE.parse
FIRST_NEW = {
    **dict.fromkeys(("and_mat_spa", "or_mat", "or_mat_spa"), 2),
    **dict.fromkeys(("embed_spa_mat", "embed_mat_spa"), 3),
    **dict.fromkeys(("compare_mat", "compare_mat_spa"), 4),
}
ORDERS = range(1, 7)


def program(family: Family, rng: np.random.Generator) -> Expr:
    """A random program of a family."""
    filling: Filling = {}
    outermost = [slot for slot in family.slots if slot[0] == "D"][-1]
    for slot in family.slots:
        if slot[0] == "R":
            filling[slot] = str(rng.choice(DIRECTIONS))
            continue
        named = {a.name for a in CLEVR_VOCABULARY if rng.random() < 0.3} - {a for s, a in family.unnamed if s == slot}
        if slot == outermost and family.outer is not None:
            named = set(family.outer)
        filling[slot] = Description(**{each: str(rng.choice(CLEVR_VOCABULARY[each].values)) for each in named})
    return fill(family.shape, filling)


def questions(test: str) -> tuple[list[Expr], list[str], np.ndarray]:
    """Programs of a test on scenes where they are defined, with their answers."""
    rng = (Key(1) / test).rng()
    some = list(dict.fromkeys(program(family, rng) for family in CLOSURE_FAMILIES[test] for _ in range(15)))
    rows = [
        (one, answer_text(one.head.out, answer), int(place))
        for one, row in zip(some, execute(some, SCENES))
        for answer, place in zip(*np.unique(row, return_index=True))
        if answer != UNDEFINED
    ]
    return [p for p, _, _ in rows], [a for _, a, _ in rows], np.array([s for _, _, s in rows])


@pytest.fixture(scope="module")
def scores() -> dict[str, dict[str | int, np.ndarray]]:
    found = {}
    for test in CLOSURE_FAMILIES:
        programs, answers, scene = questions(test)
        found[test] = order_scores(programs, answers, SCENES, scene, ORDERS)
    return found


# --- what is known


@pytest.mark.parametrize("test", CLOSURE_FAMILIES)
def test_each_test_is_new_from_a_certain_order_on(test: str) -> None:
    rng = Key(2).rng()
    assert {first_new(program(family, rng)) for family in CLOSURE_FAMILIES[test]} == {FIRST_NEW[test]}


def test_nothing_of_clevr_is_new_at_any_order() -> None:
    rng = Key(3).rng()
    assert {first_new(program(family, rng)) for family in CLEVR_FAMILIES} == {None}


def test_who_knows_larger_fragments_knows_no_more_programs() -> None:
    """A program that is known at an order is known at every lower one."""
    rng = Key(4).rng()
    shapes = [program(f, rng) for some in (CLEVR_FAMILIES, *CLOSURE_FAMILIES.values()) for f in some]
    odd = [parse("exist(same[size](unique(same[color](unique(scene)))))"), parse("count(intersect(scene,scene))")]
    for one in (*shapes, *odd):
        known = [knows(tree_of(one), order) for order in range(1, deepest() + 3)]
        assert known == sorted(known, reverse=True)
    assert [first_new(one) for one in odd] == [3, 2]


def test_fragments_are_what_stands_within_so_many_levels() -> None:
    tree = tree_of(parse("count(filter[color,red](relate[left](unique(filter[shape,cube](scene)))))"))
    cut = ("…", ())
    assert fragments(tree, 1) == {("count", (cut,)), ("relate", (cut,)), ("unique", (cut,)), ("scene", ())}
    assert ("relate", (("unique", (cut,)),)) in fragments(tree, 2)
    assert fragments(tree, 9) == {tree, tree[1][0], tree[1][0][1][0], ("scene", ())}


def test_beyond_the_deepest_program_nothing_changes() -> None:
    assert known_fragments(deepest()) == known_fragments(deepest() + 1)
    assert known_fragments(deepest()) != known_fragments(deepest() - 2)
    with pytest.raises(UserError, match="at least 1 level deep, not 0"):
        known_fragments(0)


# --- what the rest is taken for


def by_search(asked: Expr, order: int) -> set[Expr]:
    """Every exchange of functions for others of their type, nearest first."""
    symbols = [term.head for term in subterms(asked)]
    alike = [
        [] if o.family == "filter" else [s for s in SIGNATURE.values() if (s.args, s.out) == (o.args, o.out) and s != o
                                         and s.family != o.family and s.family != "filter"] for o in symbols
    ]  # fmt: skip

    def rebuilt(left: list) -> Expr:
        head = left.pop(0)
        return Expr(head, tuple(rebuilt(left) for _ in head.args))

    for distance in range(3):
        found = {
            other
            for places in combinations(range(len(symbols)), distance)
            for some in product(*(alike[place] for place in places))
            for other in [rebuilt([dict(zip(places, some)).get(i, symbol) for i, symbol in enumerate(symbols)])]
            if knows(tree_of(other), order)
        }
        if found:
            return found
    return set()


@pytest.mark.parametrize("test", CLOSURE_FAMILIES)
def test_no_known_program_is_closer(test: str) -> None:
    rng = Key(5).rng()
    asked = program(CLOSURE_FAMILIES[test][0], rng)
    for order in (1, 2, 3, 4, 9):
        assert set(closest_of_order(asked, order)) == by_search(asked, order)


@pytest.mark.parametrize("test", CLOSURE_FAMILIES)
def test_the_highest_order_is_the_learner_of_clevrs_programs(test: str) -> None:
    rng = Key(6).rng()
    for family in CLOSURE_FAMILIES[test]:
        asked = program(family, rng)
        assert set(closest(asked)) <= set(closest_of_order(asked, deepest()))


def test_where_no_program_of_the_structure_is_known_one_link_may_go() -> None:
    three = "unique(relate[left](unique(relate[left](unique(relate[left](unique(scene)))))))"
    asked = parse(f"exist(relate[left]({three}))")
    found = closest_of_order(asked, deepest())
    assert found and all(other.size < asked.size for other in found)


# --- gaps


@pytest.mark.parametrize("test", CLOSURE_FAMILIES)
def test_the_gap_is_zero_where_nothing_is_new_and_only_there(
    scores: dict[str, dict[str | int, np.ndarray]], test: str
) -> None:
    for order, (gap, share) in order_gaps(test, scores[test], Key(1)).items():
        if order < FIRST_NEW[test]:
            assert gap.gap.value == gap.gap.low == gap.gap.high == share.value == 0
        else:
            assert gap.gap.value > 0 and share.value > 0


def test_at_the_highest_order_the_scores_are_those_of_the_closest_programs(
    scores: dict[str, dict[str | int, np.ndarray]],
) -> None:
    for test in ("embed_mat_spa", "or_mat_spa"):
        programs, answers, scene = questions(test)
        weak = score(programs, answers, SCENES, scene).weak
        assert scores[test][6].mean() == pytest.approx(weak.mean(), abs=0.02)


def test_a_guess_has_the_chance_of_its_type(scores: dict[str, dict[str | int, np.ndarray]]) -> None:
    assert set(scores["compare_mat"]["guess"]) == {0.5}
    assert set(scores["or_mat"]["guess"]) <= {0.0, 1 / 3}
    assert (scores["or_mat"]["strong"] == 1).all()


def test_losing_all_above_a_guess_is_100_percent() -> None:
    strong, guess = np.ones(50), np.full(50, 0.25)
    assert normalised(strong, guess, guess, Key(1)).value == 100
    assert normalised(strong, strong, guess, Key(1)).value == 0
    assert normalised(strong, np.full(50, 0.625), guess, Key(1)).value == pytest.approx(50)
