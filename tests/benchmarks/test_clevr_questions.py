"""Questions that are found: what they must be, by the plain meaning of their programs."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family, build, clevr_families
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, SCENE
from recombine.benchmarks.clevr.laws import plainly
from recombine.benchmarks.clevr.meaning import Plainly, Undefined, trace
from recombine.benchmarks.clevr.pipeline import questions_table
from recombine.benchmarks.clevr.questions import (
    LARGEST_SHARE,
    MOST_REFERENTS,
    MOST_RELATIONS,
    MOST_SLOTS,
    NONE,
    Found,
    Rules,
    balance,
    distinct,
    filling,
    look,
    search,
    share,
)
from recombine.benchmarks.clevr.shapes import Description, Filling, parts_of
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES, FAMILIES
from recombine.language.expr import Expr, subterms
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

SCENES = ClevrWorld().sample(80, Key(5))
GROUPS = {"clevr": CLEVR_FAMILIES, **CLOSURE_FAMILIES}
EVERY_FAMILY = [(group, family) for group, families in GROUPS.items() for family in families]
every_group = pytest.mark.parametrize("group", GROUPS)
every_family = pytest.mark.parametrize(
    ("group", "family"), EVERY_FAMILY, ids=[f"{group}-{family.index}" for group, family in EVERY_FAMILY]
)


class Question(NamedTuple):
    family: Family
    filling: Filling
    program: Expr
    scene: int
    answer: int
    referents: tuple[int, ...]


def rules_of(group: str, strict: bool = True) -> Rules:
    return Rules(strict) if group == "clevr" else Rules(strict, counts=(1, 3))


def questions(found: Found, families: tuple[Family, ...], scenes: Scenes) -> Iterator[Question]:
    for scene, number, answer, described, related, referents in zip(*found):
        family = families[number]
        slots = filling(family, described, related)
        spoken_of = tuple(int(one) for one in referents if one != NONE)
        yield Question(family, slots, build(family, slots), int(scene), int(answer), spoken_of)


@cache
def asked(group: str, strict: bool = True) -> tuple[Question, ...]:
    """Questions of every family about every scene on which one is found."""
    families = GROUPS[group]
    found = search(SCENES, families, len(families), Key(1) / group, rules_of(group, strict))
    return tuple(questions(found, families, SCENES))


@cache
def plain(scene: int) -> Plainly:
    return Plainly.of(SCENES, scene)


def value(term: Expr, scene: int) -> object:
    """The plain value; None where there is none."""
    try:
        return fold(term, plain(scene), {})
    except Undefined:
        return None


# ---- What is found ----


@every_group
def test_a_program_belongs_to_its_family(group: str) -> None:
    for question in asked(group):
        assert FAMILIES.family_of(question.program) is question.family


@every_group
def test_an_answer_is_what_the_plain_meaning_says(group: str) -> None:
    for question in asked(group):
        assert plainly(question.program, SCENES, question.scene) == question.answer, question


@every_group
def test_referents_are_what_unique_denotes(group: str) -> None:
    for question in asked(group):
        steps = trace(question.program, plain(question.scene))
        assert question.referents == tuple(step.value for step in steps if step.symbol == "unique")


@every_group
def test_no_description_names_what_is_asked_or_matched(group: str) -> None:
    for question in asked(group):
        for slot, attribute in question.family.unnamed:
            description = question.filling[slot]
            assert isinstance(description, Description)
            assert attribute not in description.named, question


@every_group
def test_the_outermost_description_names_what_its_family_names(group: str) -> None:
    for question in asked(group):
        outermost = [slot for slot in question.family.slots if slot[0] == "D"][-1]
        description = question.filling[outermost]
        assert isinstance(description, Description)
        assert question.family.outer is None or description.named == {*question.family.outer}


@every_group
def test_two_parts_that_must_be_apart_denote_different_things(group: str) -> None:
    for question in asked(group):
        parts = parts_of(question.program)
        denoted = [value(parts[slot], question.scene) for slot in question.family.apart]
        assert not denoted or denoted[0] != denoted[1], question


def test_scenes_of_which_nothing_can_be_asked_have_no_questions() -> None:
    nothing = Found(*(np.zeros(shape, np.uint8) for shape in (0, 0, 0, (0, 2, 3), (0, 2), (0, 2))))
    assert all(len(column) == 0 for column in distinct([nothing, nothing]))


@every_family
def test_no_family_and_no_answer_starves(group: str, family: Family) -> None:
    answers = [question.answer for question in asked(group) if question.family is family]
    kind = family.shape.head.out
    assert len(answers) >= len(SCENES) // 5
    if kind == "number":
        assert len(set(answers)) >= 3
    else:
        assert len(set(answers)) == (2 if kind == "bool" else len(CLEVR_VOCABULARY[kind].values))


@pytest.mark.parametrize("index", range(9))
def test_integers_that_are_compared_give_both_answers_often(index: int) -> None:
    answers = [question.answer for question in asked("clevr") if question.family.index == index]
    assert min(answers.count(0), answers.count(1)) >= len(SCENES) // 4


@pytest.mark.parametrize("group", ["or_mat", "or_mat_spa"])
def test_closure_counts_from_one_to_three(group: str) -> None:
    assert {question.answer for question in asked(group)} == {1, 2, 3}


def test_a_scene_gets_as_many_questions_as_are_wanted_of_different_families() -> None:
    found = search(SCENES, CLEVR_FAMILIES, 10, Key(2))
    assert (np.bincount(found.scene) == 10).all()
    assert len({*zip(found.scene.tolist(), found.family.tolist())}) == len(found.scene)


# ---- Superfluous relations ----


def loosened(term: Expr) -> Iterator[Expr]:
    """The term with one of its relations replaced by the whole scene, in every way."""
    if term.head.family in ("relate", "same"):
        yield Expr(SCENE)
    for i, arg in enumerate(term.args):
        for other in loosened(arg):
            yield Expr(term.head, (*term.args[:i], other, *term.args[i + 1 :]))


def said(program: Expr, scene: int) -> list[object]:
    """The answer, and the sets that are counted or looked for."""
    sets = [term.args[0] for term in subterms(program) if term.head.family in ("count", "exist")]
    return [value(term, scene) for term in (program, *sets)]


def degenerate(question: Question) -> bool:
    before = said(question.program, question.scene)
    return any(said(other, question.scene) == before for other in loosened(question.program))


@every_group
def test_no_relation_is_superfluous(group: str) -> None:
    assert not [question for question in asked(group) if degenerate(question)]


def test_an_answer_about_an_object_needs_every_relation() -> None:
    for question in asked("clevr"):
        if question.family.shape.head.family in ("query", "equal"):
            answer = value(question.program, question.scene)
            assert all(value(other, question.scene) != answer for other in loosened(question.program))


def test_rules_that_are_not_strict_leave_superfluous_relations_but_in_single_and() -> None:
    names = [question.family.name for question in asked("clevr", strict=False) if degenerate(question)]
    assert len(names) > 100
    assert {"one_hop", "same_relate", "comparison"} <= set(names)
    assert "single_and" not in names


# ---- Keys and vocabularies ----


def test_the_key_decides_the_questions() -> None:
    one, again, other = (search(SCENES, CLEVR_FAMILIES, 4, Key(seed)) for seed in (3, 3, 4))
    for column, same in zip(one, again):
        np.testing.assert_array_equal(column, same)
    assert not np.array_equal(one.family, other.family)


def test_scenes_that_were_looked_at_before_give_the_same_questions() -> None:
    one = search(SCENES, CLEVR_FAMILIES, 2, Key(3))
    for column, same in zip(one, search(SCENES, CLEVR_FAMILIES, 2, Key(3), looked=look(SCENES))):
        np.testing.assert_array_equal(column, same)


def with_orange() -> Vocabulary:
    color = CLEVR_VOCABULARY["color"]
    more = Attribute("color", (*color.values, "orange"))
    return Vocabulary(tuple(more if each is color else each for each in CLEVR_VOCABULARY))


def test_a_further_colour_is_named_asked_and_answered() -> None:
    scenes = ClevrWorld(vocabulary=with_orange()).sample(60, Key(6))
    families = clevr_families(scenes.vocabulary)
    found = search(scenes, families, 20, Key(7))
    some = list(questions(found, families, scenes))
    for question in some:
        assert plainly(question.program, scenes, question.scene) == question.answer
    assert any("orange" in repr(question.program) for question in some)
    table = questions_table(found, families, scenes, 0, 0, Key(8))
    assert "orange" in table["answer"].to_pylist()
    assert any(" orange " in text for text in table["question"].to_pylist())


def test_a_vocabulary_without_one_of_the_four_attributes_is_refused() -> None:
    fewer = Vocabulary(tuple(each for each in CLEVR_VOCABULARY if each.name != "material"))
    scenes = ClevrWorld(vocabulary=fewer).sample(2, Key(1))
    with pytest.raises(UserError, match="these questions need the attributes size, color, material, shape"):
        search(scenes, CLEVR_FAMILIES, 1, Key(1))


# ---- The choice among candidates ----


def candidates(scene: np.ndarray, family: np.ndarray, answer: np.ndarray) -> Found:
    """Candidates whose slots do not matter."""
    n = len(scene)
    rest = [np.full((n, *shape), NONE, np.uint8) for shape in ((MOST_SLOTS, 4), (MOST_RELATIONS,), (MOST_REFERENTS,))]
    return Found(scene.astype(np.int32), family.astype(np.int16), answer.astype(np.uint8), *rest)


def skewed(scenes: int = 3_000, families: int = 8, answers: int = 5) -> Found:
    """Every family in every scene; each answer much rarer than the one before."""
    rng = np.random.default_rng(0)
    chances = 0.45 ** np.arange(answers)
    drawn = rng.choice(answers, (scenes, families), p=chances / chances.sum())
    order = rng.permuted(np.tile(np.arange(families), (scenes, 1)), axis=1)
    return candidates(np.repeat(np.arange(scenes), families), order.ravel(), drawn.ravel())


def two_largest(answers: np.ndarray) -> tuple[int, int]:
    counts = np.sort(np.bincount(answers, minlength=2))
    return int(counts[-1]), int(counts[-2])


def test_no_answer_of_a_family_is_far_ahead_of_the_second_where_there_is_a_choice() -> None:
    found = skewed()
    chosen = found.rows(balance(found, 2))
    for family in range(8):
        before, after = (two_largest(each.answer[each.family == family]) for each in (found, chosen))
        assert before[0] > 2 * before[1]
        assert after[1] >= 10
        assert after[0] <= LARGEST_SHARE * after[1]


def test_a_scene_without_a_choice_keeps_what_it_has() -> None:
    found = skewed()
    assert (np.bincount(found.scene[balance(found, 6)]) == 6).all()
    alone = candidates(np.arange(500), np.zeros(500), np.zeros(500))
    assert len(balance(alone, 1)) == 500


def test_a_scene_keeps_at_most_what_is_wanted_once_per_family() -> None:
    found = skewed()
    chosen = found.rows(balance(found, 3))
    assert np.bincount(chosen.scene).max() == 3
    assert len({*zip(chosen.scene.tolist(), chosen.family.tolist())}) == len(chosen.scene)


def test_what_is_even_is_kept_whole() -> None:
    scene, family = np.repeat(np.arange(900), 3), np.tile(np.arange(3), 900)
    found = candidates(scene, family, scene % 3)
    assert len(balance(found, 3)) == 2_700


def test_a_rare_family_comes_first() -> None:
    scene, family = np.repeat(np.arange(900), 8), np.tile(np.arange(8), 900)
    there = (family != 7) | (scene % 9 < 2)
    found = candidates(scene[there], family[there], scene[there] % 2)
    chosen = found.rows(balance(found, 3))
    assert np.count_nonzero(chosen.family == 7) >= 195  # of 200; at first all families are alike
    others = np.bincount(chosen.family)[:7]
    assert others.max() <= others.min() + 5


def test_the_choice_is_the_same_every_time() -> None:
    np.testing.assert_array_equal(balance(skewed(), 5), balance(skewed(), 5))


def test_a_choice_among_nothing_is_nothing() -> None:
    assert len(balance(candidates(np.zeros(0), np.zeros(0), np.zeros(0)), 5)) == 0


def dealt(there: list[list[int]]) -> Found:
    """So many candidates of each answer of each family, in a random order."""
    pairs = [(f, a) for f, counts in enumerate(there) for a, count in enumerate(counts) for _ in range(count)]
    order = np.random.default_rng(2).permutation(len(pairs))
    rows = np.array(pairs, int).reshape(-1, 2)[order]
    return candidates(np.arange(len(rows)), rows[:, 0], rows[:, 1])


@given(st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=2, max_size=2), st.integers(1, 20))
def test_answers_have_equal_parts_as_far_as_there_are_enough(there: list[list[int]], each: int) -> None:
    found = dealt(there)
    chosen = share(found, (np.arange(3), np.arange(3)), (each, each), Key(1))
    assert list(chosen) == sorted(set(chosen.tolist()))
    for family, counts in enumerate(there):
        got = np.bincount(found.answer[chosen][found.family[chosen] == family], minlength=3)
        assert got.sum() == min(each, sum(counts))
        for answer, count in enumerate(counts):
            assert got[answer] == count or got[answer] >= got.max() - 1


def test_a_rare_answer_is_filled_up_by_the_others() -> None:
    found = dealt([[100, 100, 2]])
    chosen = found.rows(share(found, (np.arange(3),), (30,), Key(1)))
    assert np.bincount(chosen.answer).tolist() == [14, 14, 2]


def test_the_key_decides_which_questions_are_shared_out() -> None:
    found = dealt([[50, 50]])
    one, again, other = (share(found, (np.arange(2),), (20,), Key(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
