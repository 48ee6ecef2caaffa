"""Baselines: the answers that can be worked out by hand, and the fast ways beside the plain ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from recombine.benchmarks.clevr.language import signature
from recombine.benchmarks.curi.world import CuriWorld
from recombine.solvers.baselines import BASELINES, RIDGE, FormMajority, distances, form, logistic, nearest, statistics
from recombine.solvers.features import bindings, values
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes

GROUPS, WIDTH = 6, 30


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld().sample(300, Key(0))


@pytest.fixture(scope="module")
def examples(scenes: Scenes) -> Examples:
    """Groups of rows; the target is whether a scene has a cube; the first third is given."""
    scene = Key(1).rng().integers(0, len(scenes), GROUPS * WIDTH)
    target = (scenes.having("shape", "cube") != 0)[scene].astype(int)
    group = np.repeat(np.arange(GROUPS), WIDTH)
    given_ = np.tile(np.arange(WIDTH) < WIDTH // 3, GROUPS)
    return Examples(scenes, (), ("no", "yes"), scene, np.zeros_like(scene), target, group, given_)


def some_rows(examples: Examples, rows: np.ndarray) -> Examples:
    names = ("scene", "concept", "target", "group", "given")
    return replace(examples, **{name: getattr(examples, name)[rows] for name in names})


def nothing_shown(examples: Examples) -> Examples:
    return replace(examples, given=np.zeros_like(examples.given))


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("shown", [True, False])
def test_every_baseline_gives_distributions(examples: Examples, name: str, shown: bool) -> None:
    test = examples if shown else nothing_shown(examples)
    said = BASELINES[name]().fit(examples, Key(0)).predict(test.observed())
    assert said.shape == (len(test.asked), 2) and (said >= 0).all()
    np.testing.assert_allclose(said.sum(axis=1), 1)


@pytest.mark.parametrize("name", BASELINES)
def test_the_order_of_the_rows_does_not_matter(examples: Examples, name: str) -> None:
    order = Key(2).rng().permutation(len(examples.scene))
    solver = BASELINES[name]().fit(examples, Key(0))
    said = np.zeros((len(order), 2))
    said[order[~examples.given[order]]] = solver.predict(some_rows(examples, order).observed())
    np.testing.assert_allclose(said[~examples.given], solver.predict(examples.observed()), atol=1e-9)


@pytest.mark.parametrize("name", ["majority", "nearest", "statistics"])
def test_a_group_that_shows_something_is_judged_by_it_alone(examples: Examples, name: str) -> None:
    solver = BASELINES[name]()
    together = solver.predict(examples.observed()).reshape(GROUPS, -1, 2)
    for group in range(GROUPS):
        alone = solver.predict(some_rows(examples, examples.group == group).observed())
        np.testing.assert_allclose(alone, together[group], atol=1e-12)


def test_the_majority_is_what_was_frequent(examples: Examples) -> None:
    said = BASELINES["majority"]().predict(examples.observed()).reshape(GROUPS, -1, 2)
    shown = examples.observed().shown.reshape(GROUPS, -1)
    np.testing.assert_allclose(said[:, :, 1], np.repeat(shown.mean(axis=1, keepdims=True), said.shape[1], axis=1))
    trained = BASELINES["majority"]().fit(examples, Key(0)).predict(nothing_shown(examples).observed())
    np.testing.assert_allclose(trained[:, 1], examples.target.mean())


def test_what_was_never_trained_says_so_where_nothing_is_shown(examples: Examples) -> None:
    with pytest.raises(UserError, match="must be trained where a test shows no answers"):
        nearest().predict(nothing_shown(examples).observed())


def test_a_scene_that_was_seen_has_the_answer_that_it_had(examples: Examples) -> None:
    said = nearest().fit(examples, Key(0)).predict(nothing_shown(examples).observed())
    np.testing.assert_array_equal(said.argmax(axis=1), examples.target)


def test_a_regression_finds_what_a_count_decides(examples: Examples) -> None:
    said = statistics().fit(examples, Key(0)).predict(nothing_shown(examples).observed())
    assert (said.argmax(axis=1) == examples.target).mean() > 0.97


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 9), st.integers(1, 6))
def test_distances_are_those_of_the_plain_definition(seed: int, n: int, m: int, answers: int) -> None:
    rng = np.random.default_rng(seed)
    asked, seen = (rng.integers(0, 6, (rows, 11)).astype(np.uint8) for rows in (n, m))
    has = rng.random((m, answers)) < 0.4
    apart = np.abs(asked[:, None].astype(int) - seen.astype(int)).sum(axis=2)
    expected = np.where(has, apart[:, :, None], np.inf).min(axis=1)
    np.testing.assert_array_equal(distances(asked, seen, has), expected)


def test_the_distance_is_the_symmetric_difference_of_bags(scenes: Scenes) -> None:
    bags = [[*objects_bag(scenes, number)] for number in range(12)]
    counts = bindings(scenes)[:12].astype(int)
    for one, other in [(0, 1), (2, 7), (11, 3), (4, 4)]:
        apart = sum(abs(bags[one].count(thing) - bags[other].count(thing)) for thing in {*bags[one], *bags[other]})
        assert np.abs(counts[one] - counts[other]).sum() == apart


def objects_bag(scenes: Scenes, number: int) -> list[tuple]:
    """The values of a scene's objects, and the pairs of values that one object has."""
    found: list[tuple] = []
    for one in scenes.objects(number):
        items = list(one.items())
        found += [(item,) for item in items]
        found += [(a, b) for i, a in enumerate(items) for b in items[i + 1 :]]
    return found


def test_values_count_objects_and_their_values(scenes: Scenes) -> None:
    found, column = values(scenes), 1
    np.testing.assert_array_equal(found[:, 0], scenes.count)
    for attribute in scenes.vocabulary:
        for value in attribute.values:
            np.testing.assert_array_equal(found[:, column], np.bitwise_count(scenes.having(attribute.name, value)))
            column += 1
    assert column == found.shape[1]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_the_regression_is_the_one_of_scikit_learn(share: float) -> None:
    rng = Key(3).rng()
    seen = rng.integers(0, 5, (80, 7)).astype(float)
    truth = rng.random(80) < share
    found = logistic(seen, truth)
    chance = 1 / (1 + np.exp(-seen @ found))
    np.testing.assert_allclose(seen.T @ (chance - truth) + RIDGE * found, 0, atol=1e-3)
    if 0 < truth.mean() < 1:
        other = LogisticRegression(C=1 / RIDGE, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(seen, truth)
        np.testing.assert_allclose(found, other.coef_[0], atol=1e-4)


def test_the_form_of_a_question_has_no_words() -> None:
    parse = signature().parse
    one, other, third = map(
        parse,
        (
            "exist(relate[left](unique(filter[shape,cube](scene))))",
            "exist(relate[front](unique(filter[color,red](scene))))",
            "count(relate[left](unique(filter[shape,cube](scene))))",
        ),
    )
    assert form(one) == form(other) == "exist(relate(unique(filter(scene))))" != form(third)


def test_a_form_that_was_never_seen_is_judged_by_its_outermost_symbol(scenes: Scenes) -> None:
    parse = signature().parse
    known = (parse("exist(scene)"), parse("count(scene)"))
    rows = np.arange(4)
    train = Examples(
        scenes, known, ("no", "yes", "1"), rows, np.array([0, 0, 0, 1]), np.array([1, 1, 0, 2]), rows, rows < 0, True
    )
    asked = replace(train, concepts=(known[0], parse("exist(filter[shape,cube](scene))"), known[1]))
    asked = replace(asked, concept=np.array([0, 1, 2, 2]))
    said = FormMajority().fit(train, Key(0)).predict(asked.observed())
    assert said.tolist() == [[1 / 3, 2 / 3, 0], [1 / 3, 2 / 3, 0], [0, 0, 1], [0, 0, 1]]
