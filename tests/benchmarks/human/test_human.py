"""People's judgements: their file, the language of thoughts, the learner and its fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.human.fit import answers_of, correlation, fit, fitted, log_likelihood, near
from recombine.benchmarks.human.judgements import VOCABULARY, Judgements, read
from recombine.benchmarks.human.language import ATOMS, PARTS, Thoughts, length, parts, signature, thoughts
from recombine.benchmarks.human.learner import Mind, answers, beliefs, courses, mind_of, slopes
from recombine.benchmarks.human.meaning import Exact, Plainly, Words
from recombine.benchmarks.human.page import in_words
from recombine.benchmarks.human.study import Beside, beside_people, carried_over, folds_of, held_out
from recombine.language.expr import Expr
from recombine.semantics.fold import Plan, fold, method
from recombine.store.errors import UserError
from recombine.store.key import Key

REAL = Path(__file__).parents[4] / "shared" / "data" / "human" / "responses_list1.txt"
MIND = Mind(trust=0.8, lean=0.4, forgetting=0.3, lapse=0.1)
CONCEPTS = {
    "blue": "equal[color](of[color],const[color,blue])",
    "another of its shape": "any[shape](others,of[shape])",
    "largest": "beats[all,from](everything)",
    "not circle": "not(equal[shape](of[shape],const[shape,circle]))",
    "one blue": "equal[number](count[color](everything,const[color,blue]),const[number,1])",
    "green or triangle": "or(equal[color](of[color],const[color,green]),equal[shape](of[shape],const[shape,triangle]))",
}


def file_of(folder: Path, people: int = 20, sets: int = 12, mind: Mind = MIND) -> Path:
    """A file in the public format: random sets, concepts of the language, answers of a learner with this mind."""
    rng, lines = Key(1).rng(), []
    for name in CONCEPTS:
        for number in range(1, sets + 1):
            for item in range(1, rng.integers(1, 6) + 1):
                values = [rng.choice(attribute.values) for attribute in VOCABULARY]
                lines.append([name.replace(" ", "_"), "L1", number, item, "False", *values, 0, people])
    path = folder / "judgements.txt"
    path.write_text("\n".join(" ".join(map(str, line)) for line in lines) + "\n")
    blank = read(path, "L1")
    masks = dict(zip(CONCEPTS, masks_of([signature().parse(text) for text in CONCEPTS.values()], blank)))
    labels = np.array([masks[blank.concepts[c].replace("_", " ")][s] >> p & 1 == 1
                       for c, s, p in zip(blank.concept, blank.scene, blank.place)])  # fmt: skip
    labelled = replace(blank, truth=labels)
    said = answers_of(labelled, few(labelled), mind)
    for line, label, yes in zip(lines, labels, rng.binomial(people, said)):
        line[4], line[-2:] = label, (yes, people - yes)
    path.write_text("\n".join(" ".join(map(str, line)) for line in lines) + "\n")
    return path


def masks_of(terms: list[Expr], judgements: Judgements) -> list[np.ndarray]:
    found = dict(Plan(dict.fromkeys(terms)).run(Exact(judgements.scenes)))
    return [found[i] for i in range(len(found))]


def few(judgements: Judgements) -> Thoughts:
    return thoughts(judgements.scenes, 5.0, 5.0)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return file_of(tmp_path_factory.mktemp("human"))


@pytest.fixture(scope="module")
def people(path: Path) -> Judgements:
    return read(path, "L1")


@pytest.fixture(scope="module")
def known(people: Judgements) -> Thoughts:
    return few(people)


# --- the file


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    lines = ["b L1 1 2 False circle blue 3 0 4", "b L1 1 1 True triangle green 1 3 1", ""]
    path.write_text("\n".join([*lines, "b L2 1 1 True circle blue 1 1 1", "a L1 1 1 True circle blue 2 2 2"]))
    found = read(path, "L1")
    assert found.concepts == ("b", "a")
    assert found.scenes.objects(0) == [
        {"shape": "triangle", "color": "green", "size": "1"},
        {"shape": "circle", "color": "blue", "size": "3"},
    ]
    assert found.truth.tolist() == [True, False, True]
    assert (found.yes.tolist(), found.no.tolist(), found.share.tolist()) == ([3, 0, 2], [1, 4, 2], [0.75, 0, 0.5])


GOOD = "b L1 1 1 True circle blue 3 4 5"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("b L1 1 1 True circle blue 3 4", "line 1 has 9 columns, not the 10 concept list set"),
        (f"{GOOD} 6", "line 1 has 11 columns"),
        ("b L1 1 1 true circle blue 3 4 5", "line 1: the truth must be True or False, not 'true'"),
        ("b L1 1 1 True heart blue 3 4 5", "line 1: 'heart' is not a shape; choose one of circle"),
        ("b L1 1 1 True circle blue 4 4 5", "line 1: '4' is not a size"),
        ("b L1 1 1 True circle blue 3 4.5 5", "line 1: 'yes' must be a whole number from 0 on, not '4.5'"),
        ("b L1 1 1 True circle blue 3 4 -5", "line 1: 'no' must be a whole number from 0 on, not '-5'"),
        ("b L1 1 1 True circle blue 3 ٣ 5", "line 1: 'yes' must be a whole number"),
        ("b L1 0 1 True circle blue 3 4 5", "line 1: 'set' must be a whole number from 1 on, not '0'"),
        ("b L1 1 2 True circle blue 3 4 5", "line 1: item 2 of set 1 of concept b is out of step; expected item 1"),
        (f"{GOOD}\n{GOOD}", "line 2: item 1 of set 1 of concept b comes twice; expected item 2"),
        ("b L1 2 1 True circle blue 3 4 5", "line 1: concept b has set 2, but no set 1"),
        ("b L2 1 1 True circle blue 3 4 5", r"has no list 'L1'; it has L2"),
        ("", "has no list 'L1'; it is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text(line)
    with pytest.raises(UserError, match=says):
        read(path, "L1")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path / "nowhere.txt", "L1")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="is not text"):
        read(tmp_path / "binary.txt", "L1")


# --- thoughts


def test_every_symbol_has_all_meanings_and_is_read_as_it_is_written(people: Judgements) -> None:
    for symbol in signature().values():
        for meaning in (Exact(people.scenes), Plainly(VOCABULARY, people.scenes.objects(0), 0), Words()):
            assert callable(method(meaning, symbol.family))
    for term in ATOMS.enumerate().terms[::37]:
        assert signature().parse(repr(term)) is term


def test_the_fast_meaning_is_the_plain_one(people: Judgements) -> None:
    terms = [*ATOMS.enumerate().terms, *(signature().parse(text) for text in CONCEPTS.values())]
    scenes = range(0, len(people.scenes), 7)
    for term, mask in zip(dict.fromkeys(terms), masks_of(terms, people)):
        for scene in scenes:
            objects = people.scenes.objects(scene)
            plain = [fold(term, Plainly(VOCABULARY, objects, x), {}) for x in range(len(objects))]
            assert [mask[scene] >> x & 1 == 1 for x in range(len(objects))] == plain


def test_no_two_thoughts_mean_the_same_and_each_is_a_shortest(people: Judgements, known: Thoughts) -> None:
    assert len({row.tobytes() for row in known.truth}) == len(known) > 300
    lengths = [length(term) for term in known.terms]
    assert lengths == sorted(lengths) and lengths[-1] <= 5
    meant = {row.tobytes(): here for row, here in zip(known.truth, lengths)}
    for term, mask in zip(ATOMS.enumerate().terms, masks_of(list(ATOMS.enumerate().terms), people)):
        assert length(term) > 5 or meant[mask.tobytes()] <= length(term)
    for i in range(0, len(known), 53):
        np.testing.assert_array_equal(masks_of([known.terms[i]], people)[0], known.truth[i])
        assert known.parts[i].tolist() == list(parts(known.terms[i]))


def test_a_language_may_lack_parts(people: Judgements) -> None:
    plain = thoughts(people.scenes, 5.0, 5.0, without=("having", "beats"))
    assert not plain.parts[:, [PARTS.index("having"), PARTS.index("beats")]].any()
    with pytest.raises(UserError, match="no part colour"):
        thoughts(people.scenes, without=("colour",))


def test_thoughts_in_english() -> None:
    said = [fold(signature().parse(text), Words(), {}) for text in CONCEPTS.values()]
    assert said[0] == "it is blue"
    assert len(set(said)) == len(said)


# --- the learner


def test_without_forgetting_and_doubt_it_is_the_ideal_learner(people: Judgements, known: Thoughts) -> None:
    """The prior among the thoughts that agree with all labels so far."""
    mind = Mind(trust=1 - 1e-9, lean=0.5, forgetting=1e-9, lapse=1e-9)
    for concept, course in enumerate(courses(people, known)):
        rows = people.rows(concept)
        prior, agrees = np.exp(-2.0 * known.parts.sum(axis=1)), course.accepts == people.truth[rows]
        for number in range(people.number[rows].max() + 1):
            before = people.number[rows] < number
            weight = prior * agrees[:, before].all(axis=1)
            np.testing.assert_allclose(beliefs(course, mind)[:, number], weight / weight.sum(), atol=1e-5)


def test_answers_are_the_definition_written_out(people: Judgements, known: Thoughts) -> None:
    course, rows = next(courses(people, known)), people.rows(0)
    truth, number = people.truth[rows], people.number[rows]
    t, g = MIND.trust, MIND.lean
    chance = t * (course.accepts == truth) + (1 - t) * np.where(truth, g, 1 - g)
    for row in range(0, len(rows), 5):
        fading = np.array([max(number[row] - n, 0) ** -MIND.forgetting if n < number[row] else 0 for n in number])
        weight = np.exp(-2.0 * known.parts.sum(axis=1) + np.log(chance) @ fading)
        thought = weight @ course.accepts[:, row] / weight.sum()
        assert answers(course, MIND)[row] == pytest.approx((1 - MIND.lapse) * thought + MIND.lapse * g, abs=1e-4)


def test_the_first_set_is_answered_from_the_prior_and_the_labels_of_a_set_come_after_it(
    people: Judgements, known: Thoughts
) -> None:
    turned = replace(people, truth=np.where(people.number == 11, ~people.truth, people.truth))
    np.testing.assert_array_equal(answers_of(turned, known, MIND), answers_of(people, known, MIND))
    turned = replace(people, truth=np.where(people.number == 0, ~people.truth, people.truth))
    same = answers_of(turned, known, MIND) == answers_of(people, known, MIND)
    assert same[people.number == 0].all() and not same[people.number == 1].all()


def test_slopes_are_those_of_small_steps(people: Judgements, known: Thoughts) -> None:
    course = next(courses(people, known))
    exact = course._replace(
        **{name: getattr(course, name).astype(np.float64) for name in ("parts", "accepts", "right", "wrong")}
    )
    numbers = MIND.numbers()
    said, slope = slopes(exact, mind_of(numbers))
    np.testing.assert_allclose(said, answers(exact, MIND), atol=1e-6)
    for i in range(len(numbers)):
        step = np.zeros(len(numbers))
        step[i] = 1e-2
        apart = answers(exact, mind_of(numbers + step)) - answers(exact, mind_of(numbers - step))
        np.testing.assert_allclose(slope[:, i], apart / 2e-2, atol=2e-4)


def test_a_mind_and_its_numbers() -> None:
    again = mind_of(MIND.numbers())
    assert (*again.costs, again.trust, again.lean, again.forgetting, again.lapse) == pytest.approx(
        (*MIND.costs, MIND.trust, MIND.lean, MIND.forgetting, MIND.lapse)
    )


# --- the fit


def test_the_fit_finds_the_mind_that_made_the_answers(tmp_path: Path) -> None:
    people = read(file_of(tmp_path, people=4_000, sets=20), "L1")
    known = few(people)
    found = fitted(people, known, range(len(people.concepts)))
    gain = log_likelihood(people, answers_of(people, known, found)).sum()
    assert gain >= log_likelihood(people, answers_of(people, known, MIND)).sum() - 1
    assert (found.trust, found.lean, found.forgetting, found.lapse) == pytest.approx((0.8, 0.4, 0.3, 0.1), abs=0.06)


def test_a_better_start_is_no_better(people: Judgements, known: Thoughts) -> None:
    every = [near(course, [Mind()], 0.0) for course in courses(people, known)]
    said = [
        np.concatenate([answers(course, fit(people, every, range(len(every)), start)) for course in every])
        for start in (Mind(), MIND, replace(MIND, costs=(1.0,) * len(PARTS), trust=0.5))
    ]
    gains = [log_likelihood(people, one).sum() for one in said]
    assert np.ptp(gains) < 5


def test_thoughts_that_nobody_has_may_be_left_out(people: Judgements, known: Thoughts) -> None:
    mind = replace(MIND, costs=(3.0,) * len(PARTS))
    for course in courses(people, known):
        some = near(course, [mind], 1e-6)
        assert len(some.which) < len(known)
        np.testing.assert_allclose(answers(some, mind), answers(course, mind), atol=1e-3)


def test_what_people_say_of_a_concept_has_no_part_in_its_own_answers(people: Judgements, known: Thoughts) -> None:
    key = Key(3)
    fold_of = folds_of(len(people.concepts), 3, key / "folds")
    mine = fold_of[people.concept] == 0
    turned = replace(people, yes=np.where(mine, people.no, people.yes), no=np.where(mine, people.yes, people.no))
    one, other = (held_out(each, known, key, 3) for each in (people, turned))
    np.testing.assert_array_equal(one[mine], other[mine])
    assert (one[~mine] != other[~mine]).any()


def test_folds_are_equal_and_no_more_than_concepts() -> None:
    assert np.bincount(folds_of(11, 3, Key(1))).tolist() == [4, 4, 3]
    with pytest.raises(UserError, match="2 to 6 folds, not 7"):
        folds_of(6, 7, Key(1))


def test_one_call_puts_the_learner_beside_people(path: Path) -> None:
    found = beside_people(path, folds=2, longest=4.0, longest_simple=4.0)
    r, gain = found.scores["correlation"], found.scores["per_judgement"]
    assert 0.7 < r.low <= r.value <= r.high < 1
    assert gain.value == pytest.approx(found.log_likelihood / found.judgements.asked.sum())
    assert r.value == pytest.approx(correlation(found.judgements, found.said))
    worst = found.by_concept()
    assert {one.concept for one in worst} == set(found.judgements.concepts)
    assert all(one.per_judgement <= one.floor for one in worst)
    again = carried_over(found.mind, path, "L1")
    assert isinstance(again, Beside) and again.scores["correlation"].value > 0.7


# --- the real file


@pytest.mark.skipif(not REAL.exists(), reason="the judgements of list 1 are not here (../shared/data/human)")
def test_list_1_is_read_whole() -> None:
    people = read(REAL, "L1")
    assert (len(people), len(people.concepts), people.asked.sum()) == (8_670, 114, 196_380)
    with pytest.raises(UserError, match="has no list 'L2'; it has L1"):
        read(REAL, "L2")


def test_words_of_concepts_have_no_line_breaks_of_a_page(tmp_path: Path) -> None:
    file = tmp_path / "words.json"
    file.write_text('{"hg75": "of the same shape<br>that is blue", "hg1": "a <br /> b"}')
    assert in_words(file) == {"hg75": "of the same shape that is blue", "hg1": "a b"}
