"""The ideal learners of CLOSURE: what the weak one takes a question for, and how well both answer."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from recombine.benchmarks.clevr import answers
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family, build
from recombine.benchmarks.clevr.formats import read_questions, read_scenes
from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, DIRECTIONS, signature
from recombine.benchmarks.clevr.meaning import UNDEFINED, Plainly, Undefined, answer_text, execute
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.shapes import Description, Filling, describe, parts_of
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.closure.families import BASELINES, CLOSURE_FAMILIES, FAMILIES
from recombine.benchmarks.closure.learners import (
    ANSWERS,
    GUESSES,
    closest,
    score,
    strong_answers,
    weak_answers,
)
from recombine.benchmarks.closure.tests import possible_in_clevr
from recombine.language.expr import Expr, Symbol, subterms
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from recombine.world.vocabulary import Vocabulary

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the real samples are not at {DATA}")
TESTS = list(CLOSURE_FAMILIES)
SIGNATURE = signature()
parse = SIGNATURE.parse


def programs(family: Family, number: int) -> list[Expr]:
    """Random programs that obey the family's conditions on names."""
    rng = np.random.default_rng(family.index)
    outermost = [slot for slot in family.slots if slot[0] == "D"][-1]
    found = []
    for _ in range(number):
        filling: Filling = {slot: str(rng.choice(DIRECTIONS)) for slot in family.slots if slot[0] == "R"}
        for slot in (slot for slot in family.slots if slot[0] == "D"):
            named = {attribute.name for attribute in CLEVR_VOCABULARY if rng.random() < 0.4}
            if slot == outermost and family.outer is not None:
                named = set(family.outer)
            named -= {attribute for other, attribute in family.unnamed if other == slot}
            filling[slot] = Description(**{each: str(rng.choice(CLEVR_VOCABULARY[each].values)) for each in named})
        found.append(build(family, filling))
    return found


class Questions(NamedTuple):
    programs: list[Expr]
    answers: list[str]
    scenes: Scenes
    scene: np.ndarray


SCENES = ClevrWorld().sample(150, Key(0) / "closure")


def questions(families: tuple[Family, ...], number: int = 60) -> Questions:
    """Random programs of the families, each on the scenes that give it its answers for the first time."""
    some = [program for family in families for program in programs(family, number)]
    table = execute(some, SCENES)
    rows = [
        (program, answer_text(program.head.out, answer), int(place))
        for program, row in zip(some, table)
        for answer, place in zip(*np.unique(row, return_index=True))
        if answer != UNDEFINED
    ]
    return Questions([p for p, _, _ in rows], [a for _, a, _ in rows], SCENES, np.array([s for _, _, s in rows]))


ASKED = {test: questions(families) for test, families in CLOSURE_FAMILIES.items()}


# What a question is taken for.


def spelled(program: Expr) -> list[Symbol]:
    return [term.head for term in subterms(program)]


def rebuilt(symbols: list[Symbol]) -> Expr:
    head = symbols.pop(0)
    return Expr(head, tuple(rebuilt(symbols) for _ in head.args))


def closest_by_search(program: Expr, radius: int) -> set[Expr]:
    """Try every exchange of symbols, descriptions included, at every distance up to a radius."""
    symbols = spelled(program)
    alike = [[s for s in SIGNATURE.values() if (s.args, s.out) == (o.args, o.out) and s != o] for o in symbols]
    for distance in range(radius + 1):
        found = set()
        for places in combinations(range(len(symbols)), distance):
            for others in product(*(alike[place] for place in places)):
                other = rebuilt([dict(zip(places, others)).get(i, symbol) for i, symbol in enumerate(symbols)])
                if possible_in_clevr(other):
                    found.add(other)
        if found:
            return found
    return set()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.name}-{family.index}")
def test_no_known_program_is_closer(family: Family) -> None:
    for program in programs(family, 3):
        if family.test != "clevr" or possible_in_clevr(program):
            assert set(closest(program)) == closest_by_search(program, 1)


def test_no_known_program_is_closer_at_a_distance_of_two() -> None:
    program = parse("exist(same[size](unique(same[color](unique(filter[shape,cube](scene))))))")
    assert set(closest(program)) == closest_by_search(program, 2)
    assert len(closest(program)) == 16


def test_what_is_possible_in_clevr_is_taken_as_it_is() -> None:
    for family in FAMILIES:
        for program in programs(family, 10):
            assert possible_in_clevr(program) == (closest(program) == (program,))


@pytest.mark.parametrize("test", TESTS)
def test_a_closure_question_is_taken_for_its_baseline_in_each_direction(test: str) -> None:
    for program in ASKED[test].programs:
        found = closest(program)
        assert {FAMILIES.family_of(other) for other in found} <= set(BASELINES[test])
        said = Counter(way for other in found for way in relations(other))
        said.subtract(way for way in relations(program) for _ in found)
        assert set((+said).values()) == {1}
        assert len(found) == 4 or (len(found) == 3 and says_one_thing_twice(program))


def relations(program: Expr) -> list[str]:
    return [term.head.index[0] for term in subterms(program) if term.head.family == "relate"]


def says_one_thing_twice(program: Expr) -> bool:
    """Whether one of the four would set a part beside itself."""
    described = [describe(part)[0] for slot, part in parts_of(program).items() if slot[0] == "D"]
    return len(set(described)) < len(described)


def test_a_closest_program_keeps_to_the_names_of_its_family() -> None:
    """So whether a family's conditions on names belong to what is known makes no difference."""
    for asked in ASKED.values():
        for other in (other for program in asked.programs for other in closest(program)):
            family = FAMILIES.family_of(other)
            assert family is not None
            named = {
                (s, name) for s, part in parts_of(other).items() if s[0] == "D" for name in describe(part)[0].named
            }
            assert not named & family.unnamed


def test_a_part_is_not_set_beside_itself() -> None:
    cube = "unique(filter[shape,cube](scene))"
    found = closest(parse(f"query[size](unique(intersect(same[color]({cube}), relate[left]({cube}))))"))
    assert [relations(program) for program in found] == [[way, "left"] for way in ("right", "front", "behind")]


def hops(*relations: str, start: str = "scene") -> Expr:
    """Whether something stands in these relations, the last of them first."""
    return parse("exist(" + "".join(f"{each}(unique(" for each in relations) + start + "))" * len(relations) + ")")


def test_a_link_goes_where_no_known_program_has_the_structure() -> None:
    red, left, right, same = "filter[color,red](scene)", "relate[left]", "relate[right]", "same[size]"
    assert set(closest(hops(left, left, left, right, start=red))) == {
        hops(left, left, left),  # with the innermost link goes the description of its object
        hops(left, left, right, start=red),
    }
    assert closest(hops(same, left, left, right, start=red)) == (hops(left, left, right, start=red),)
    assert len(closest(hops(same, same, left, right, start=red))) == 4  # one match goes, the other is exchanged


@pytest.mark.parametrize(
    "text",
    [
        "exist(" + "relate[left](unique(" * 5 + "scene" + "))" * 5 + ")",  # two links too many
        "exist(union(scene, relate[left](unique(scene))))",
        "count(filter[size,small](filter[color,red](scene)))",  # no description: not in the order of filters
    ],
)
def test_some_programs_are_like_nothing_known(text: str) -> None:
    assert closest(parse(text)) == ()
    answers = weak_answers([parse(text)], SCENES, np.array([0]))[0]
    kind = parse(text).head.out
    assert {word for word, p in zip(ANSWERS, answers) if p} == set(GUESSES[kind])


# How well the learners answer.


def plain_answer(program: Expr, scene: int) -> str | None:
    try:
        return answer_text(program.head.out, fold(program, PLAIN[scene], {}))
    except Undefined:
        return None


PLAIN = [Plainly.of(SCENES, i) for i in range(len(SCENES))]


def plainly(program: Expr, scene: int) -> dict[str, Fraction]:
    """The weak learner's answers, one program after the other."""
    found = [plain_answer(other, scene) for other in closest(program)]
    votes = Counter(answer for answer in found if answer is not None) or Counter(GUESSES[program.head.out])
    return {answer: Fraction(number, votes.total()) for answer, number in votes.items()}


@pytest.mark.parametrize("test", TESTS)
def test_the_fast_learner_equals_the_plain_one(test: str) -> None:
    asked = ASKED[test]
    answers = weak_answers(asked.programs, asked.scenes, asked.scene)
    scores = score(*asked)
    for i, (program, right, scene) in enumerate(zip(asked.programs, asked.answers, asked.scene)):
        plain = plainly(program, scene)
        assert {word: p for word, p in zip(ANSWERS, answers[i]) if p} == {word: float(p) for word, p in plain.items()}
        most = [word for word, p in plain.items() if p == max(plain.values())]
        assert scores.weak[i] == float(plain.get(right, 0))
        assert scores.weak_best[i] == (1 / len(most) if right in most else 0)


@pytest.mark.parametrize("test", TESTS)
def test_there_is_a_gap_on_every_test(test: str) -> None:
    scores = score(*ASKED[test])
    assert (scores.strong == 1).all()
    assert 0.3 < scores.weak.mean() < 0.9
    assert 0.3 < scores.weak_best.mean() < 0.9


@pytest.mark.parametrize("test", TESTS)
def test_there_is_no_gap_on_the_baselines(test: str) -> None:
    asked = questions(BASELINES[test], 100)
    possible = [possible_in_clevr(program) for program in asked.programs]
    scores = score(*asked)
    assert sum(possible) > 50
    for column in scores:
        assert (column[possible] == 1).all()


def test_there_is_no_gap_on_any_family_of_clevr() -> None:
    asked = questions(CLEVR_FAMILIES, 5)
    strong = strong_answers(asked.programs, asked.scenes, asked.scene)
    weak = weak_answers(asked.programs, asked.scenes, asked.scene)
    possible = [possible_in_clevr(program) for program in asked.programs]
    assert np.array_equal(strong[possible], weak[possible])
    assert {program.head.family for program in asked.programs} >= {"less_than", "equal_integer", "count", "query"}


def test_an_answer_has_the_type_of_its_question() -> None:
    for test, asked in ASKED.items():
        answers = weak_answers(asked.programs, asked.scenes, asked.scene)
        assert np.allclose(answers.sum(axis=1), 1), test
        for program, row in zip(asked.programs, answers):
            kind = program.head.out
            words = CLEVR_VOCABULARY[kind].values if kind in CLEVR_VOCABULARY.by_name else GUESSES[kind]
            known = [str(number) for number in range(11)] if kind == "number" else words
            assert {word for word, p in zip(ANSWERS, row) if p} <= set(known)


def test_without_a_defined_program_the_learner_guesses() -> None:
    asked = ASKED["compare_mat"]
    lost = [
        i
        for i, (program, scene) in enumerate(zip(asked.programs, asked.scene))
        if not [other for other in closest(program) if plain_answer(other, scene) is not None]
    ]
    assert lost
    answers = weak_answers(asked.programs, asked.scenes, asked.scene)[lost]
    assert (answers[:, [ANSWERS.index("yes"), ANSWERS.index("no")]] == 0.5).all()
    sure = weak_answers(asked.programs, asked.scenes, asked.scene, guesses={**GUESSES, "bool": ("yes",)})[lost]
    assert (sure[:, ANSWERS.index("yes")] == 1).all()


def test_a_program_that_is_undefined_has_no_strong_answer_either() -> None:
    program = parse("query[size](unique(scene))")
    assert score([program], ["small"], SCENES, np.array([0])).strong == [0.5]


def test_answers_do_not_depend_on_who_is_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ASKED["or_mat_spa"]
    whole = weak_answers(asked.programs, asked.scenes, asked.scene)
    monkeypatch.setattr(answers, "CHUNK", 7)
    assert np.array_equal(weak_answers(asked.programs, asked.scenes, asked.scene), whole)
    assert weak_answers([], SCENES, np.array([], int)).shape == (0, len(ANSWERS))


def test_relations_may_come_from_a_file() -> None:
    asked = ASKED["and_mat_spa"]
    related = all_beyond(SCENES)
    whole = weak_answers(asked.programs, asked.scenes, asked.scene)
    assert np.array_equal(weak_answers(asked.programs, asked.scenes, asked.scene, related), whole)
    swapped = {"left": related["right"], "right": related["left"], **{w: related[w] for w in ("front", "behind")}}
    strong = strong_answers(asked.programs, asked.scenes, asked.scene)
    assert not np.array_equal(strong_answers(asked.programs, asked.scenes, asked.scene, swapped), strong)


def test_clevr_has_28_answers() -> None:
    assert len(set(ANSWERS)) == len(ANSWERS) == 28


def test_mistakes_are_told() -> None:
    yes_no, scene = parse("exist(scene)"), np.array([0])
    with pytest.raises(UserError, match="no answer 'maybe'"):
        score([yes_no], ["maybe"], SCENES, scene)
    with pytest.raises(UserError, match="1 programs, but 2 answers"):
        score([yes_no], ["yes", "no"], SCENES, scene)
    with pytest.raises(UserError, match="1 programs, but scenes for 2"):
        weak_answers([yes_no], SCENES, np.array([0, 1]))
    with pytest.raises(UserError, match="gives objects, which is no answer"):
        weak_answers([parse("scene")], SCENES, scene)
    with pytest.raises(UserError, match="at most 10 objects with the attributes size, color"):
        weak_answers([yes_no], replace(SCENES, vocabulary=Vocabulary(tuple(CLEVR_VOCABULARY)[:2])), scene)


@needs_data
def test_real_questions_are_answered() -> None:
    file = read_scenes(DATA / "clevr/CLEVR_val_scenes_first8.json")
    real = read_questions(DATA / "closure/closure_val_images0-7.json")
    asked = [question.program for question in real if question.program is not None]
    answers = [question.answer for question in real if question.answer is not None]
    scores = score(asked, answers, file.scenes, np.array([question.image_index for question in real]), file.related)
    assert len(asked) == 305
    assert (scores.strong == 1).all()
    assert 0.5 < scores.weak.mean() < 0.7
    assert {len(closest(program)) for program in asked} == {4}
