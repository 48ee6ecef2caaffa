"""The exams of every benchmark: what they score is what the studies score, and nobody sees what is hidden."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recombine import Curi
from recombine.benchmarks.clevr import exam as clevr
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, ClevrScale
from recombine.benchmarks.clevr.runner import clevr_functions
from recombine.benchmarks.clevr.tallies import tallied
from recombine.benchmarks.closure import exam as closure
from recombine.benchmarks.closure.pipeline import ClosurePipeline
from recombine.benchmarks.concept_world import exam as concept_world
from recombine.benchmarks.concept_world import pipeline as of_study
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.benchmarks.curi import exam as curi
from recombine.benchmarks.curi.edition import IDEAL, RELEASE
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.metrics.confusion import confusion, f1
from recombine.metrics.scores import average_precision
from recombine.solvers.baselines import BASELINES, Chance
from recombine.solvers.questions import Questions
from recombine.solvers.sitting import Answering, answered, sit, taught
from recombine.solvers.user_solver import own
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples

FEW = ClevrScale("few", 40, 40, 20, 5)
EPISODES = 12


@pytest.fixture(autouse=True, scope="module")
def tiny_scale() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(of_study.SHARES, "tiny", 0.02)
        yield


@pytest.fixture(scope="module")
def closures(own_home: Path) -> ClosurePipeline:
    return ClosurePipeline(ClevrPipeline(FEW, 0, Store(own_home)), (36, 36, 36))


@pytest.fixture(scope="module")
def worlds(own_home: Path, tiny_scale: None) -> ConceptWorldPipeline:
    return ConceptWorldPipeline("tiny", 0, Store(own_home))


@pytest.fixture(scope="module")
def study(tiny: Curi) -> CuriPipeline:
    return tiny.study


# --- the ideal learners score what the studies say


@pytest.fixture(scope="module")
def ideal(tiny: Curi) -> CuriPipeline:
    return CuriPipeline(replace(tiny.study.setup, edition=IDEAL), tiny.study.store)


@pytest.mark.parametrize("negatives", ["hard", "easy"])
@pytest.mark.parametrize("split", ["boolean", "instance-iid"])
@pytest.mark.parametrize("edition", ["release", "ideal"])
def test_curis_oracles_score_as_in_the_gap(
    study: CuriPipeline, ideal: CuriPipeline, edition: str, split: str, negatives: Any
) -> None:
    """With easy negatives the released oracles look at what no solver is told."""
    if (edition, negatives) == ("release", "easy"):
        study = CuriPipeline(replace(study.setup, edition=replace(RELEASE, easy_consistency="labels")), study.store)
    study = ideal if edition == "ideal" else study
    (exam,) = curi.exams(study, [split], negatives)
    gaps = study.gaps(split, negatives)
    for name, oracle in curi.learners(study, exam).items():
        found = sit(oracle, exam).scores
        assert found.keys() == gaps.keys()
        for score, gap in gaps.items():
            expected = getattr(gap, name)
            for bound in ("value", "low", "high"):
                assert 100 * getattr(found[score], bound) == pytest.approx(getattr(expected, bound), abs=1e-9)


@pytest.mark.parametrize("kind", closure.KINDS)
def test_closures_learners_score_as_in_the_gap(closures: ClosurePipeline, kind: Any) -> None:
    exam = next(exam for exam in closure.exams(closures, ["or_mat"]) if exam.name == f"or_mat/{kind}")
    gap, scores = closures.gaps("or_mat", "test", kind), closures.scores("or_mat", "test", kind)
    found = {name: sit(learner, exam).scores for name, learner in closure.learners().items()}
    for name in found:
        assert 100 * found[name]["probability"].value == pytest.approx(getattr(gap, name).value)
    assert found["weak"]["accuracy"].value == pytest.approx(scores.weak_best.mean())


def test_concept_worlds_learners_score_as_in_the_gap(worlds: ConceptWorldPipeline) -> None:
    exam = concept_world.exams(worlds, ["sequences"])[1]
    gap = worlds.gap(*exam.name.split("/"))
    for name, learner in concept_world.learners(worlds, exam).items():
        if name == "definitions":
            continue  # a learner that the pipeline does not know
        expected = worlds.membership(*exam.name.split("/")) if name == "membership" else getattr(gap, name).value
        assert 100 * sit(learner, exam).scores["probability"].value == pytest.approx(expected)


def test_clevrs_learners_answer_every_question(closures: ClosurePipeline) -> None:
    (exam,) = clevr.exams(closures.clevr)
    for learner in clevr.learners().values():
        assert sit(learner, exam).scores["accuracy"].value == 1
    assert sit(clevr.learners()["strong"], exam).units == 20 * 5


# --- what is asked


def test_curi_asks_for_the_query_and_for_the_large_set(study: CuriPipeline) -> None:
    (exam,) = curi.exams(study, ["boolean"], "hard", EPISODES)
    (piece,) = exam.pieces()
    episodes, size = study.episodes("boolean", "test", "hard"), 25
    scene = piece.scene.reshape(EPISODES, -1)
    np.testing.assert_array_equal(scene[:, : 2 * size], episodes.scene[:EPISODES])
    np.testing.assert_array_equal(scene[:, 2 * size :], np.tile(study.probe_scenes, (EPISODES, 1)))
    np.testing.assert_array_equal(piece.given.reshape(EPISODES, -1).sum(axis=1), size)
    senses = study.table.sense[piece.concept]
    asked = Key(0).rng().choice(np.flatnonzero(~piece.given), 200)
    holds = [study.table.extension(senses[row])[piece.scene[row]] for row in asked]
    np.testing.assert_array_equal(piece.target[asked], holds)


def test_all_episodes_are_asked_once_whatever_the_pieces(study: CuriPipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    (exam,) = curi.exams(study, ["boolean"], "hard")
    whole = sit(Chance(), exam)
    monkeypatch.setattr(curi, "PIECE", 16)
    pieces = list(exam.pieces())
    assert [len(np.unique(piece.group)) for piece in pieces] == [16, 16, 16, 12]
    assert sit(Chance(), exam) == whole and whole.units == 60


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1e-20, 1e-9, 0.3, 0.5, 0.7])), min_size=1, max_size=40))
def test_the_ranking_is_scored_as_by_the_plain_definition(rows: list[tuple[bool, float]]) -> None:
    truth, score = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    assert curi.ranked_precision(truth, score) == pytest.approx(average_precision(truth, score))
    likely = curi.ranked_precision(truth, curi.odds(score, 1 - score))
    assert likely == pytest.approx(average_precision(truth, score))


@given(st.lists(st.floats(-600, 600), min_size=2, max_size=20))
def test_the_odds_order_what_rounds_to_one(logits: list[float]) -> None:
    margin = np.array(logits)
    yes, no = (np.exp(-np.logaddexp(0, sign * margin)) for sign in (-1, 1))
    found = curi.odds(yes, no)
    below = margin[:, None] < margin - 1e-6 * (1 + np.abs(margin))
    assert (found[:, None] < found)[below].all()


def test_chance_is_what_chance_must_be(
    study: CuriPipeline, closures: ClosurePipeline, worlds: ConceptWorldPipeline
) -> None:
    (exam,) = curi.exams(study, ["boolean"], "hard", EPISODES)
    (piece,) = exam.pieces()
    found = sit(Chance(), exam).scores
    assert found["accuracy"].value == 0.5
    share = piece.target.reshape(EPISODES, -1)[:, 50:].mean()  # ranking nothing has the precision of the base rate
    assert found["mAP"].value == pytest.approx(share)
    assert sit(Chance(), clevr.exams(closures.clevr)[0]).scores["accuracy"].value == pytest.approx(1 / 28)
    assert sit(Chance(), concept_world.exams(worlds, ["sequences"])[0]).scores["F1"].value == pytest.approx(1 / 3)


def test_concept_worlds_f1_is_that_of_the_confusion_matrix(worlds: ConceptWorldPipeline) -> None:
    exam = concept_world.exams(worlds, ["patterns"])[0]
    (asked,) = exam.pieces()
    said = Key(0).rng().dirichlet(np.ones(4), len(asked.asked))
    each = f1(confusion(asked.asked, said.argmax(axis=1), 4))
    found = sit(own(lambda test: said[test.scene]), exam).scores
    assert [found[f"F1 {name}"].value for name in exam.answers] == pytest.approx(each.tolist())
    assert found["F1"].value == pytest.approx(each.mean())


@pytest.mark.parametrize("negatives", ["hard", "easy"])
def test_no_baseline_beats_the_strong_oracle(study: CuriPipeline, negatives: Any) -> None:
    (exam,) = curi.exams(study, ["boolean"], negatives, EPISODES)
    best = sit(curi.learners(study, exam)["strong"], exam).scores
    for name in ("chance", "majority", "nearest", "statistics"):
        scores = sit(taught(BASELINES[name](), exam, Key(0)), exam).scores
        assert all(scores[score].value < best[score].value for score in best)


def test_what_is_not_there_is_refused(
    study: CuriPipeline, closures: ClosurePipeline, worlds: ConceptWorldPipeline
) -> None:
    with pytest.raises(UserError, match="CURI has no split 'chess'"):
        curi.exams(study, ["chess"])
    with pytest.raises(UserError, match="has 60 test episodes at this scale, not 61"):
        curi.exams(study, ["boolean"], "hard", 61)
    with pytest.raises(UserError, match="CLOSURE has no test 'chess'"):
        closure.exams(closures, ["chess"])
    with pytest.raises(UserError, match="there is no experiment 'chess'"):
        concept_world.exams(worlds, ["chess"])


# --- the leak barrier


@dataclass(frozen=True, repr=False)
class Case:
    """A piece of an exam, and everyone who can sit it."""

    exam: Exam
    piece: Examples
    solvers: Mapping[str, Answering]


@pytest.fixture(scope="module")
def cases(study: CuriPipeline, closures: ClosurePipeline, worlds: ConceptWorldPipeline) -> dict[str, Case]:
    exams: dict[str, tuple[Exam, Mapping[str, Answering]]] = {}
    for exam in curi.exams(study, ["boolean"], "hard", 3):
        exams["curi"] = exam, curi.learners(study, exam)
    exams["clevr"] = clevr.exams(closures.clevr)[0], clevr.learners()
    exams["closure"] = closure.exams(closures, ["or_mat"])[0], closure.learners()
    exam = concept_world.exams(worlds, ["sequences"])[0]
    exams["concept-world"] = exam, {**concept_world.learners(worlds, exam), **_networks(exam)}
    return {
        name: Case(exam, next(exam.pieces()), {**_baselines(exam), "own": own(_odd), **ideal})
        for name, (exam, ideal) in exams.items()
    }


def _baselines(exam: Exam) -> dict[str, Answering]:
    return {name: make().fit(exam.train(), Key(0)) for name, make in BASELINES.items()}


def _networks(exam: Exam) -> dict[str, Answering]:
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    from recombine.benchmarks.concept_world.examples import Eye
    from recombine.benchmarks.concept_world.networks import PAPER
    from recombine.solvers.networks.images import build
    from recombine.solvers.pictures import PictureSolver

    network = build("mlp", 32, len(exam.answers), Key(0))
    return {"network": PictureSolver(network, Eye(32, 32), PAPER)}


def _odd(test: Any) -> np.ndarray:
    """A function that uses all it is handed."""
    asked = test.scene[~test.given]
    weight = np.ones((len(asked), len(test.answers)))
    weight[:, 0] += test.scenes.count[asked] + test.group[~test.given] + test.shown.sum()
    return weight / weight.sum(axis=1, keepdims=True)


BENCHMARKS = ("curi", "clevr", "closure", "concept-world")


@pytest.mark.parametrize("name", BENCHMARKS)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_predictions_ignore_hidden_columns_and_marks_do_not(cases: dict[str, Case], name: str, seed: int) -> None:
    case = cases[name]
    other = hidden_changed(case.piece, np.random.default_rng(seed))
    for solver in case.solvers.values():
        said, again = (answered(solver, piece) for piece in (case.piece, other))
        np.testing.assert_array_equal(said, again)
    said = answered(case.solvers["strong"], case.piece)
    before, after = (case.exam.mark(piece, said) for piece in (case.piece, other))
    assert all(not np.array_equal(before[mark], after[mark]) for mark in before)


def hidden_changed(piece: Examples, rng: np.random.Generator) -> Examples:
    """The same with other answers to all that is asked, and where the concept is not seen, with other concepts."""
    answers = len(piece.answers)
    target = (piece.target + rng.integers(1, answers, len(piece.target))) % answers
    other = replace(piece, target=np.where(piece.given, piece.target, target))
    if piece.concept_visible:
        return other
    return replace(other, concept=rng.permutation(piece.concept), concepts=piece.concepts[::-1])


@pytest.mark.parametrize("solver", ["chance", "majority", "nearest", "statistics", "strong", "weak"])
def test_what_other_groups_show_does_not_matter(cases: dict[str, Case], solver: str) -> None:
    piece, who = cases["curi"].piece, cases["curi"].solvers[solver]
    mine = piece.group == piece.group[0]
    target = np.where(mine | ~piece.given, piece.target, 1 - piece.target)
    scene = np.where(mine | ~piece.given, piece.scene, np.roll(piece.scene, 1))
    other = replace(piece, target=target, scene=scene)
    rows = mine[~piece.given]
    said, again = (answered(who, one)[rows] for one in (piece, other))
    np.testing.assert_array_equal(said, again)


def test_what_is_shown_does_matter(cases: dict[str, Case]) -> None:
    """The counterpart: a barrier that let nothing through would pass the tests above."""
    piece = cases["curi"].piece
    other = replace(piece, target=np.where(piece.given, 1 - piece.target, piece.target))
    for name in ("majority", "nearest", "statistics", "strong"):
        who = cases["curi"].solvers[name]
        assert not np.array_equal(answered(who, piece), answered(who, other)), name


def by_place(test: Any) -> np.ndarray:
    """Looks at nothing but where a row stands: the classes of a table are written down one after the other."""
    n, k = np.count_nonzero(~test.given), len(test.answers)
    return np.eye(k)[np.arange(n) * k // n]


def by_number(test: Any) -> np.ndarray:
    """Looks at the number of a scene alone."""
    k = len(test.answers)
    return np.eye(k)[test.scene[~test.given] * k // len(test.scenes)]


def first_five(test: Any) -> np.ndarray:
    """Says yes to the first five that every group asks about."""
    rows = np.flatnonzero(~test.given)
    place = np.arange(len(rows)) - np.searchsorted(test.group[rows], test.group[rows])
    return np.eye(2)[(place < 5).astype(int)]


@pytest.mark.parametrize("cheat", [by_place, by_number])
@pytest.mark.parametrize("experiment", ["sequences", "boxworld", "patterns"])
def test_the_order_of_images_tells_nothing(worlds: ConceptWorldPipeline, experiment: str, cheat: Any) -> None:
    for exam in concept_world.exams(worlds, [experiment]):
        (piece,) = exam.pieces()
        guess, spread = 1 / len(exam.answers), 4 * (0.25 / len(piece.asked)) ** 0.5
        assert sit(own(cheat), exam).scores["accuracy"].value == pytest.approx(guess, abs=spread)


def test_points_stand_in_rows_from_the_top(worlds: ConceptWorldPipeline) -> None:
    (piece,) = concept_world.exams(worlds, ["sequences"])[0].pieces()
    for scene in range(0, len(piece.scenes), 7):
        place = piece.scenes.position[scene, : piece.scenes.count[scene], :2].tolist()
        assert place == sorted(place, key=lambda point: (point[1], point[0])) or len(place) < 2


def test_the_order_of_an_episode_tells_nothing(study: CuriPipeline) -> None:
    (exam,) = curi.exams(study, ["boolean"], "hard")
    scores, guess = (sit(solver, exam).scores["accuracy"].value for solver in (own(first_five), Chance()))
    assert scores == pytest.approx(guess, abs=0.02)


def test_answers_are_put_back_where_the_rows_stood(cases: dict[str, Case]) -> None:
    for case in cases.values():
        weight = np.random.default_rng(0).dirichlet(np.ones(len(case.exam.answers)), len(case.piece.scenes))
        said = answered(own(lambda test, weight=weight: weight[test.scene[~test.given]]), case.piece)
        np.testing.assert_array_equal(said, weight[case.piece.scene[~case.piece.given]])


def test_a_solver_that_peeks_is_caught(cases: dict[str, Case]) -> None:
    piece = cases["curi"].piece

    class Peeking:
        """Holds on to what it should not have been handed."""

        def __init__(self, piece: Examples) -> None:
            self.piece = piece

        def predict(self, test: Any) -> np.ndarray:
            return np.eye(2)[self.piece.asked]

    def differs(make: Callable[[Examples], Answering]) -> bool:
        other = hidden_changed(piece, np.random.default_rng(0))
        return not np.array_equal(answered(make(piece), piece), answered(make(other), other))

    assert differs(Peeking) and not differs(lambda piece: Chance())


def test_a_test_without_questions_has_no_scores() -> None:
    """Their mean would be no number, with which results could not be read again."""
    none = Questions(*(np.zeros((0, 1), np.int64) for _ in fields(Questions)))
    with pytest.raises(UserError, match="a test has no questions"):
        tallied(none, lambda _: {"right": np.zeros(0, bool)}, clevr_functions())
