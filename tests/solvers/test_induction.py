"""Induction by enumeration, against the plain way: one concept and one scene at a time."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from recombine.benchmarks.curi.edition import RELEASE
from recombine.benchmarks.curi.induction import drawn, learnt_prior, reading_of
from recombine.benchmarks.curi.language import CURI_LOT, collapsed
from recombine.benchmarks.curi.meaning import Exact, Plainly
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.curi.world import CuriWorld
from recombine.language.expr import Expr
from recombine.semantics.fold import Plan, fold
from recombine.solvers.induction import SPREAD, Induction, Likelihood
from recombine.store.key import Key
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes

DOUBT = 0.01


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld(first_bin=0).sample(130, Key(1))


@pytest.fixture(scope="module")
def concepts() -> tuple[Expr, ...]:
    grammar, rng = CURI_LOT.grammar(RELEASE.nesting), Key(2).rng()
    return tuple(dict.fromkeys(collapsed(grammar.draw(rng)) for _ in range(150)))


def misread(scenes: Scenes) -> list[Scenes]:
    """Two readings; in the second some objects have another colour."""
    color = scenes.codes["color"].copy()
    wrong = (Key(3).rng().random(color.shape) < 0.3) & (color != 255)
    color[wrong] = (color[wrong] + 1) % 8
    return [scenes, replace(scenes, codes={**scenes.codes, "color": color})]


@pytest.fixture(scope="module")
def learner(concepts: tuple[Expr, ...]) -> Induction:
    prior = Key(4).rng().normal(size=len(concepts))
    return Induction(Plan(concepts), prior, Exact, misread, Likelihood(DOUBT))


def plain_posterior(learner: Induction, scenes: Scenes, shown: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The probability of every concept."""
    readings, found = misread(scenes), []
    for concept, prior in zip(learner.plan.terms, learner.log_prior):
        holds = [
            [fold(concept, Plainly(one.vocabulary, one.objects(i)), {}) for i in range(len(one))] for one in readings
        ]
        share = np.mean(holds, axis=0)
        weight = prior - label.sum() * log(share.sum() + SPREAD) if share.any() else -np.inf
        for scene, yes in zip(shown, label):
            right = share[scene] if yes else 1 - share[scene]
            weight += log(DOUBT + (1 - 2 * DOUBT) * right)
        found.append(weight)
    chances = [exp(weight - max(found)) for weight in found]
    return np.array(chances) / sum(chances)


def test_the_posterior_is_that_of_the_plain_way(learner: Induction, scenes: Scenes) -> None:
    rng = Key(5).rng()
    for _ in range(3):
        shown, label = rng.choice(len(scenes), 8, replace=False), rng.random(8) < 0.4
        plain = plain_posterior(learner, scenes, shown, label)
        found, kinds = learner.posterior(scenes, shown, label), learner.hypotheses(scenes)
        assert found.sum() == pytest.approx(1)
        np.testing.assert_allclose(np.bincount(kinds.sense, plain, len(kinds.first)), found, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("tabled", [True, False])
def test_concepts_of_one_meaning_agree_everywhere(learner: Induction, scenes: Scenes, tabled: bool) -> None:
    kinds = learner.hypotheses(scenes)
    kinds = kinds if tabled else kinds._replace(often=None)
    truth = np.zeros((2, len(learner.plan.terms), len(scenes)), bool)
    for reading, one in enumerate(misread(scenes)):
        for concept, holds in learner.plan.run(Exact(one)):
            truth[reading, concept] = holds
    rows = {truth[:, concept].tobytes() for concept in range(truth.shape[1])}
    assert len(rows) == len(kinds.first) < truth.shape[1]
    assert (truth[:, kinds.first][:, kinds.sense] == truth).all()
    every = np.arange(len(kinds.first))
    np.testing.assert_allclose(kinds.on(every, np.arange(len(scenes))), truth[:, kinds.first].mean(axis=0))


def test_answers_are_what_the_posterior_predicts(learner: Induction, scenes: Scenes) -> None:
    rng = Key(6).rng()
    scene, group = rng.integers(0, len(scenes), 60), np.repeat([0, 1], 30)
    given = np.tile(np.arange(30) < 8, 2)
    target = (rng.random(60) < 0.4).astype(int)
    test = Examples(scenes, (), ("no", "yes"), scene, np.zeros(60, int), target, group, given).observed()
    said = learner.predict(test)
    np.testing.assert_allclose(said.sum(axis=1), 1)
    kinds = learner.hypotheses(scenes)
    for one in (0, 1):
        mine = (group == one) & given
        belief = learner.posterior(scenes, scene[mine], target[mine] == 1)
        asked = (group == one) & ~given
        wanted = belief @ kinds.on(np.arange(len(kinds.first)), scene[asked])
        np.testing.assert_allclose(said[group[~given] == one, 1], DOUBT + (1 - 2 * DOUBT) * wanted, atol=1e-5)


def test_small_concepts_are_likelier_by_the_size_principle() -> None:
    share = np.array([0.01, 0.1, 0.0])
    said = Likelihood().log_chance(share, 1_000, 5)
    assert said[0] - said[1] == pytest.approx(5 * log(100.5 / 10.5))
    assert said[2] == -np.inf
    assert Likelihood(drawn=False).log_chance(share, 1_000, 5)[:2].tolist() == [0.0, 0.0]


def test_a_learnt_prior_does_not_tell_constants_apart_and_leaves_longer_concepts_possible() -> None:
    read = Speller(CURI_LOT).read
    met = [read("any(color?(S), red)"), read("any(color?(S), blue)"), read("all(shape?(S), cube)")]
    asked = [read("any(color?(S), purple)"), read("any(color?(S), red)"), read("any(size?(S), 0.7)")]
    longer = read("and(any(color?(S), red), all(shape?(S), cube))")
    said = learnt_prior(CURI_LOT, RELEASE, [*asked, longer], met, np.array([5, 5, 5]))
    assert said[0] == said[1] > said[2] > said[3] > -np.inf


def test_readings_follow_beliefs() -> None:
    belief = np.tile(np.array([0.2, 0.0, 0.8], np.float32), (1_000, 2, 1))
    said = drawn(belief, Key(7).rng())
    assert set(np.unique(said)) == {0, 2}
    assert np.mean(said == 2) == pytest.approx(0.8, abs=0.03)


def test_a_reading_holds_the_objects_that_are_there_and_at_least_one(scenes: Scenes) -> None:
    few = scenes[:3]
    codes = {name: np.arange(12, dtype=np.uint8).reshape(3, 4) % 2 for name in few.codes}
    there = np.array([[0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
    made = reading_of(few, codes, there)
    assert made.count.tolist() == [2, 1, 4]
    assert made.codes["color"][0].tolist() == [1, 1, 255, 255]
