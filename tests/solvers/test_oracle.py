"""The oracles: compiled answers against dense matrices, scikit-learn and `Belief.posterior`."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import AND, Lot, collapsed
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.spelling import length
from recombine.benchmarks.curi.world import CuriWorld
from recombine.language.expr import Expr
from recombine.metrics.gap import gap
from recombine.metrics.intervals import Interval
from recombine.metrics.scores import batch_accuracy
from recombine.semantics.table import Table, build
from recombine.solvers.oracle import Answers, Belief, Oracle, Probe, answer
from recombine.store.key import Key
from recombine.tasks.episodes import Episodes, Shape, draw_episodes
from recombine.tasks.examples import from_episodes
from recombine.world.scenes import Scenes

EPISODES = 60


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld().sample(1_500, Key(1))


@pytest.fixture(scope="module")
def concepts() -> tuple[Expr, ...]:
    """Drawn concepts, some of which are synonyms."""
    grammar, rng = Lot().grammar(PAPER.nesting), Key(2).rng()
    drawn = [collapsed(grammar.draw(rng)) for _ in range(300)]
    twice = [Expr(c.head, (Expr(AND, (c.args[0], c.args[0])),)) for c in drawn[:60]]
    return tuple(dict.fromkeys([*drawn, *twice]))


@pytest.fixture(scope="module")
def table(scenes: Scenes, concepts: tuple[Expr, ...]) -> Table:
    return build(concepts, scenes, Exact(scenes))


@pytest.fixture(scope="module")
def episodes(table: Table) -> Episodes:
    return draw_episodes(table, np.ones(len(table.sense)), EPISODES, Shape(), Key(3))


@pytest.fixture(scope="module")
def probed(table: Table) -> np.ndarray:
    """Scenes for average precision; some come twice."""
    return Key(4).rng().integers(0, table.scenes, 700)


@pytest.fixture(scope="module")
def strong(table: Table) -> Belief:
    return Belief(table, Key(5).rng().normal(size=len(table.sense)) * 3)


def half_known(belief: Belief) -> Belief:
    return belief.known(Key(6).rng().random(len(belief.log_weight)) < 0.5)


def plainly(belief: Belief, episodes: Episodes, probed: np.ndarray) -> Answers:
    """The definition: a dense matrix of concepts by scenes, and one posterior per episode."""
    table, size = belief.table, episodes.size
    accepts = np.stack([table.extension(sense) for sense in table.sense])  # bool[concepts, scenes]
    rows = []
    for concept, scene, label in zip(*episodes):
        posterior = belief.posterior(scene[:size], label[:size])
        score = (posterior @ accepts).round(12)  # equal sums may differ in their last bits
        truth = accepts[concept, probed]
        precision = average_precision_score(truth, score[probed]) if truth.any() else 0.0
        entropy = -sum(p * np.log(p) for p in posterior if p > 0)
        rows.append((precision, score[scene[size:]], entropy, (posterior > 0).sum()))
    return Answers(*(np.array(column) for column in zip(*rows)))


def drawing(belief: Belief) -> Belief:
    return replace(belief, from_rivals=True)


KNOW = {
    "strong": lambda belief: belief,
    "weak": half_known,
    "strong, drawing": drawing,
    "weak, drawing": lambda belief: half_known(drawing(belief)),
}


@pytest.mark.parametrize("know", KNOW.values(), ids=KNOW)
def test_answers_are_those_of_the_definition(
    strong: Belief, episodes: Episodes, probed: np.ndarray, know: object
) -> None:
    belief = know(strong)
    found, expected = answer(belief, episodes, Probe(belief.table, probed)), plainly(belief, episodes, probed)
    np.testing.assert_array_equal(found.explanations, expected.explanations)
    np.testing.assert_allclose(found.query, expected.query, atol=1e-9)
    np.testing.assert_allclose(found.entropy, expected.entropy, atol=1e-9)
    np.testing.assert_allclose(found.precision, expected.precision, atol=1e-9)
    assert (expected.explanations > 1).any()


def test_answers_are_those_of_the_definition_where_many_concepts_weigh_the_same(
    table: Table, concepts: tuple[Expr, ...], episodes: Episodes, probed: np.ndarray
) -> None:
    belief = Belief(table, -0.2 * np.array([length(concept) for concept in concepts]))
    found, expected = answer(belief, episodes, Probe(table, probed)), plainly(belief, episodes, probed)
    np.testing.assert_array_equal(found.explanations, expected.explanations)
    np.testing.assert_allclose(found.query, expected.query, atol=1e-9)
    np.testing.assert_allclose(found.precision, expected.precision, atol=1e-9)


def test_the_posterior_is_the_prior_among_the_explanations(strong: Belief, episodes: Episodes) -> None:
    table, size = strong.table, episodes.size
    for scene, label in zip(episodes.scene[:20, :size], episodes.label[:20, :size]):
        weight = [
            np.exp(log_weight) * (table.extension(sense)[scene] == label).all()
            for sense, log_weight in zip(table.sense, strong.log_weight)
        ]
        np.testing.assert_allclose(strong.posterior(scene, label), np.array(weight) / sum(weight), atol=1e-12)


def released(belief: Belief, concept: int, support: np.ndarray) -> np.ndarray:
    """The released code's posterior with easy negatives, string by string, float[concepts]."""
    accepts = np.stack([belief.table.extension(sense)[support] for sense in belief.table.sense])
    kept = accepts[:, :5].all(axis=1) & ~accepts[:, 5:].any(axis=1)
    kept[concept] = True
    weight = np.where(kept, np.exp(belief.log_weight), 0.0)
    return weight / max(weight.sum(), 1e-300)


@pytest.mark.parametrize("know", [lambda belief: belief, half_known], ids=["strong", "weak"])
def test_the_released_oracles_drop_what_accepts_a_relabelled_negative_but_never_the_truth(
    strong: Belief, probed: np.ndarray, know: object
) -> None:
    belief, table = know(strong), strong.table
    easy = draw_episodes(table, np.ones(len(table.sense)), EPISODES, Shape(kind="easy"), Key(8))
    found = answer(belief, easy, Probe(table, probed), candidates_from=5)
    relabelled = easy.label[:, 5 : easy.size].any(axis=1)
    assert 5 < relabelled.sum() < EPISODES
    accepts = np.stack([table.extension(sense) for sense in table.sense])
    for i, (concept, scene, _) in enumerate(zip(*easy)):
        posterior = released(belief, concept, scene[: easy.size])
        np.testing.assert_allclose(found.query[i], posterior @ accepts[:, scene[easy.size :]], atol=1e-12)
        truth, score = accepts[concept, probed], (posterior @ accepts[:, probed]).round(12)
        assert found.precision[i] == pytest.approx(average_precision_score(truth, score) if truth.any() else 0.0)
        assert found.entropy[i] == pytest.approx(-sum(p * np.log(p) for p in posterior if p > 0), abs=1e-12)
        assert found.explanations[i] == (posterior > 0).sum()


def test_where_nothing_is_relabelled_the_released_oracles_believe_the_labels(
    strong: Belief, episodes: Episodes, probed: np.ndarray
) -> None:
    probe = Probe(strong.table, probed)
    for one, other in zip(answer(strong, episodes, probe), answer(strong, episodes, probe, candidates_from=5)):
        np.testing.assert_array_equal(one, other)


def test_the_weight_of_a_sense_is_the_sum_over_its_synonyms(strong: Belief) -> None:
    belief = half_known(strong)
    log_weight, entropy = belief.of_senses()
    for sense in range(belief.table.senses):
        weight = np.exp(belief.log_weight[belief.table.sense == sense])
        assert np.exp(log_weight[sense]) == pytest.approx(weight.sum())
        part = weight[weight > 0] / max(weight.sum(), 1e-300)
        assert entropy[sense] == pytest.approx(-(part * np.log(part)).sum(), abs=1e-12)


def test_the_learner_that_knows_the_concept_scores_at_least_the_base_rate(
    strong: Belief, episodes: Episodes, probed: np.ndarray
) -> None:
    found = answer(strong, episodes, Probe(strong.table, probed))
    assert (found.explanations >= 1).all()
    assert (found.query[episodes.label[:, episodes.size :]] > 0).all()
    base = np.array([strong.table.extension(strong.table.sense[c])[probed].mean() for c in episodes.concept])
    assert found.precision.mean() > base.mean() + 0.3


def test_a_learner_that_knows_nothing_relevant_says_no_and_has_the_base_rate(
    strong: Belief, episodes: Episodes, probed: np.ndarray
) -> None:
    ignorant = strong.known(np.zeros(len(strong.log_weight), bool))
    found = answer(ignorant, episodes, Probe(strong.table, probed))
    assert not found.query.any()
    assert not found.explanations.any()
    assert not found.entropy.any()
    base = [strong.table.extension(strong.table.sense[c])[probed].mean() for c in episodes.concept]
    np.testing.assert_allclose(found.precision, base, atol=1e-12)


def test_the_gap_is_zero_when_nothing_is_held_out(strong: Belief, episodes: Episodes, probed: np.ndarray) -> None:
    weak = strong.known(np.ones(len(strong.log_weight), bool))
    ours, theirs = (answer(belief, episodes, Probe(strong.table, probed)) for belief in (strong, weak))
    truth = episodes.label[:, episodes.size :]
    for one, other in (
        (ours.precision, theirs.precision),
        (batch_accuracy(truth, ours.query > 0.5), batch_accuracy(truth, theirs.query > 0.5)),
    ):
        assert gap("iid", "", one, other, EPISODES, Key(1)).gap == Interval(0.0, 0.0, 0.0)


def test_holding_concepts_out_costs_the_weak_oracle(strong: Belief, episodes: Episodes, probed: np.ndarray) -> None:
    weak = strong.known(~np.isin(strong.table.sense, strong.table.sense[episodes.concept]))
    ours, theirs = (answer(belief, episodes, Probe(strong.table, probed)).precision for belief in (strong, weak))
    assert ours.mean() > theirs.mean() + 0.1


def test_a_synonym_that_takes_a_share_of_the_weight_leaves_predictions_as_they_were(
    scenes: Scenes, concepts: tuple[Expr, ...], strong: Belief, episodes: Episodes, probed: np.ndarray
) -> None:
    synonyms = tuple(Expr(c.head, (Expr(AND, (c.args[0], c.args[0])),)) for c in concepts)
    added = [i for i, synonym in enumerate(synonyms) if synonym not in concepts][:100]
    table = build((*concepts, *(synonyms[i] for i in added)), scenes, Exact(scenes))
    log_weight = strong.log_weight.copy()
    log_weight[added] += np.log(0.25)
    shared = Belief(table, np.append(log_weight, strong.log_weight[added] + np.log(0.75)))
    before, after = (answer(b, episodes, Probe(b.table, probed)) for b in (strong, shared))
    np.testing.assert_allclose(after.query, before.query, atol=1e-9)
    np.testing.assert_allclose(after.precision, before.precision, atol=1e-9)
    assert (after.explanations >= before.explanations).all()
    assert (after.entropy >= before.entropy - 1e-12).all()
    assert (after.entropy > before.entropy + 1e-6).any()


def test_adding_a_constant_to_all_log_weights_changes_nothing(
    strong: Belief, episodes: Episodes, probed: np.ndarray
) -> None:
    probe = Probe(strong.table, probed)
    before, after = (answer(Belief(strong.table, strong.log_weight + c), episodes, probe) for c in (0.0, -5_000.0))
    for one, other in zip(before, after):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_an_oracle_is_a_solver_with_nothing_to_learn(
    strong: Belief, episodes: Episodes, scenes: Scenes, concepts: tuple[Expr, ...]
) -> None:
    examples = from_episodes(episodes, scenes, concepts)
    oracle = Oracle(strong)
    assert oracle.fit(replace(examples, target=1 - examples.target), Key(1)) is oracle
    right = oracle.predict(examples.observed()).argmax(axis=1) == examples.asked
    assert right.mean() > 0.9


def test_two_concepts_share_their_belief() -> None:
    scenes = CuriWorld().sample(300, Key(9))
    a, b, c = (Lot().signature().parse(f"holds(any[color](each[color](everything, function[color]), {v}))") for v in
               ("const[color,red]", "const[color,blue]", "const[color,cyan]"))  # fmt: skip
    table = build((a, b, c), scenes, Exact(scenes))
    red, blue, _ = (table.extension(sense) for sense in table.sense)
    both, only_red = np.flatnonzero(red & blue), np.flatnonzero(red & ~blue)
    posterior = Belief(table, np.log([3.0, 1.0, 1.0])).posterior(both[:1], np.array([True]))
    cyan = table.extension(table.sense[2])[both[0]]
    assert posterior == pytest.approx(np.array([3, 1, cyan]) / (4 + cyan))
    assert Belief(table, np.zeros(3)).known(np.array([0, 1, 0], bool)).posterior(
        only_red[:1], np.array([True])
    ) == pytest.approx([0, 0, 0])


def test_predictions_are_the_posteriors_over_concepts(
    strong: Belief, episodes: Episodes, scenes: Scenes, concepts: tuple[Expr, ...]
) -> None:
    """The plain way: the posterior of every concept, and what each says of the scene."""
    table, size = strong.table, episodes.size
    for belief in (*(know(strong) for know in KNOW.values()), strong.known(np.zeros(len(table.sense), bool))):
        said = Oracle(belief).predict(from_episodes(episodes, scenes, concepts).observed()).reshape(EPISODES, -1, 2)
        for answers, scene, label in zip(said, episodes.scene, episodes.label):
            accepts = table.senses_of(scene[size:])[:, table.sense]
            np.testing.assert_allclose(
                answers[:, 1], accepts @ belief.posterior(scene[:size], label[:size]), atol=1e-12
            )
        np.testing.assert_allclose(said.sum(axis=2), 1)
        assert (said >= 0).all()
