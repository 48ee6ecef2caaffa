"""Examples: rows that equal their episodes, and an observed view without what a solver may not see."""

from dataclasses import fields, replace

import numpy as np
import pytest

from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import Lot
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.world import CuriWorld
from recombine.semantics.table import Table, build
from recombine.solvers.oracle import Belief, Oracle, Probe, answer
from recombine.store.key import Key
from recombine.tasks.episodes import Episodes, Shape, draw_episodes
from recombine.tasks.examples import Examples, Observed, from_episodes
from recombine.world.scenes import Scenes

EPISODES = 30


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld().sample(1_000, Key(1))


@pytest.fixture(scope="module")
def concepts() -> tuple:
    grammar, rng = Lot().grammar(PAPER.nesting), Key(2).rng()
    return tuple({grammar.draw(rng): None for _ in range(200)})


@pytest.fixture(scope="module")
def table(scenes: Scenes, concepts: tuple) -> Table:
    return build(concepts, scenes, Exact(scenes))


@pytest.fixture(scope="module")
def episodes(table: Table) -> Episodes:
    return draw_episodes(table, np.ones(len(table.sense)), EPISODES, Shape(), Key(3))


@pytest.fixture(scope="module")
def examples(episodes: Episodes, scenes: Scenes, concepts: tuple) -> Examples:
    return from_episodes(episodes, scenes, concepts)


@pytest.fixture(scope="module")
def belief(table: Table) -> Belief:
    return Belief(table, np.log(Key(4).rng().random(len(table.sense))))


def seen(observed: Observed) -> dict[str, object]:
    return {field.name: getattr(observed, field.name) for field in fields(observed)}


def test_rows_are_the_episodes_scenes_labels_and_concepts(examples: Examples, episodes: Episodes) -> None:
    shape = episodes.scene.shape
    np.testing.assert_array_equal(examples.scene.reshape(shape), episodes.scene)
    np.testing.assert_array_equal(examples.target.reshape(shape), episodes.label)
    np.testing.assert_array_equal(examples.concept.reshape(shape), np.tile(episodes.concept[:, None], shape[1]))
    np.testing.assert_array_equal(examples.group.reshape(shape), np.tile(np.arange(EPISODES)[:, None], shape[1]))
    assert examples.answers == ("no", "yes")


def test_the_support_is_given_and_the_query_is_asked(examples: Examples, episodes: Episodes) -> None:
    given = examples.given.reshape(EPISODES, 2, episodes.size)
    assert given[:, 0].all()
    assert not given[:, 1].any()
    observed = examples.observed()
    np.testing.assert_array_equal(observed.shown.reshape(EPISODES, -1), episodes.label[:, : episodes.size])
    np.testing.assert_array_equal(examples.asked.reshape(EPISODES, -1), episodes.label[:, episodes.size :])


def test_nothing_observed_depends_on_hidden_targets_or_concepts(examples: Examples) -> None:
    hidden = np.where(examples.given, examples.target, 1 - examples.target)
    other = replace(examples, target=hidden, concept=np.roll(examples.concept, 7), concepts=examples.concepts[::-1])
    for (name, before), after in zip(seen(examples.observed()).items(), seen(other.observed()).values()):
        assert before is after or np.array_equal(before, after), name


def test_predictions_ignore_hidden_columns(examples: Examples, belief: Belief) -> None:
    hidden = np.where(examples.given, examples.target, 1 - examples.target)
    other = replace(examples, target=hidden, concept=np.zeros_like(examples.concept))
    solver = Oracle(belief).fit(examples, Key(5))
    said = solver.predict(examples.observed())
    np.testing.assert_array_equal(said, solver.predict(other.observed()))
    shown = replace(examples, target=np.where(examples.given, 1 - examples.target, examples.target))
    assert not np.array_equal(said, solver.predict(shown.observed()))


def test_predictions_are_probabilities_and_those_of_the_fast_oracle(
    examples: Examples, belief: Belief, episodes: Episodes, table: Table
) -> None:
    said = Oracle(belief).predict(examples.observed())
    assert said.shape == (len(examples.asked), 2)
    np.testing.assert_allclose(said.sum(axis=1), 1)
    fast = answer(belief, episodes, Probe(table, np.arange(10))).query
    np.testing.assert_allclose(said[:, 1].reshape(fast.shape), fast, atol=1e-12)


def test_the_order_of_the_rows_does_not_matter(examples: Examples, belief: Belief) -> None:
    order = Key(6).rng().permutation(len(examples.scene))
    mixed = replace(
        examples,
        **{name: getattr(examples, name)[order] for name in ("scene", "concept", "target", "group", "given")},
    )
    said = np.zeros((len(order), 2))
    said[order[~mixed.given]] = Oracle(belief).predict(mixed.observed())
    np.testing.assert_allclose(said[~examples.given], Oracle(belief).predict(examples.observed()), atol=1e-12)


def test_a_question_shows_its_concept(examples: Examples) -> None:
    assert examples.observed().concepts is None
    shown = replace(examples, concept_visible=True).observed().concepts
    assert shown == tuple(examples.concepts[i] for i in examples.concept)


def test_an_image_class_is_a_row_of_its_own_that_shows_nothing(scenes: Scenes, concepts: tuple) -> None:
    rows = np.arange(5)
    targets = np.array([2, 0, 1, 2, 0])
    examples = Examples(scenes, concepts, ("a", "b", "c"), rows, rows, targets, rows, np.zeros(5, bool))
    assert len(examples.observed().shown) == 0
    np.testing.assert_array_equal(examples.asked, targets)
