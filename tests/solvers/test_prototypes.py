"""Prototype networks as solvers: what they answer depends on what they may see, and a run goes on as it was."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.exam import odds
from recombine.benchmarks.curi.language import Lot
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.world import CuriWorld
from recombine.language.expr import Expr
from recombine.semantics.table import Table, build
from recombine.solvers import prototypes
from recombine.solvers.modalities import Modality
from recombine.solvers.networks.prototype import Plan, PrototypeNetwork
from recombine.solvers.networks.prototype import build as build_network
from recombine.solvers.prototypes import EpisodeObjective, PrototypeSolver, as_episodes, embed, on_episodes, read
from recombine.solvers.training.loop import Progress, Watch, unwatched
from recombine.solvers.training.records import read_metrics
from recombine.solvers.training.run import Run
from recombine.solvers.training.settings import Training
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.episodes import Episodes, Shape, draw_episodes
from recombine.tasks.examples import Examples, Observed, from_episodes
from recombine.world.scenes import Scenes

KEY = Key(7) / "prototypes"
SCHEMA = Modality("schema")
TRAINING = Training(batch=4, rate=1e-3, steps=6, validate_every=3, checkpoint_every=0.0)
WORDS = 9


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return CuriWorld().sample(400, Key(1))


@pytest.fixture(scope="module")
def concepts() -> tuple[Expr, ...]:
    grammar, rng = Lot().grammar(PAPER.nesting), Key(2).rng()
    return tuple({grammar.draw(rng): None for _ in range(60)})


@pytest.fixture(scope="module")
def table(scenes: Scenes, concepts: tuple[Expr, ...]) -> Table:
    return build(concepts, scenes, Exact(scenes))


@pytest.fixture(scope="module")
def episodes(table: Table) -> Episodes:
    """Drawn with the positives first, in support and query alike; here each is in an order of its own."""
    drawn = draw_episodes(table, np.ones(len(table.sense)), 24, Shape(3, 5), Key(3))
    halves = [8 * half + Key(4).rng().permuted(np.tile(np.arange(8), (24, 1)), axis=1) for half in (0, 1)]
    order = np.concatenate([halves[0], halves[1][::-1]], axis=1)
    return Episodes(drawn.concept, *(np.take_along_axis(column, order, axis=1) for column in drawn[1:]))


@pytest.fixture(scope="module")
def examples(episodes: Episodes, scenes: Scenes, concepts: tuple[Expr, ...]) -> Examples:
    return from_episodes(episodes, scenes, concepts)


def network_of(pooling: str = "avg-pool", words: int = 0) -> PrototypeNetwork:
    return build_network(Plan("schema", pooling, (5, 19), words=words), KEY / "network")


def solver_of(pooling: str = "avg-pool") -> PrototypeSolver:
    return PrototypeSolver(network_of(pooling), SCHEMA, TRAINING)


def rows_of(examples: Examples, rows: np.ndarray) -> Examples:
    columns = ("scene", "concept", "target", "group", "given")
    return replace(examples, **{name: getattr(examples, name)[rows] for name in columns})


# --- answers


def plainly(network: PrototypeNetwork, test: Observed) -> np.ndarray:
    """The probability of "yes" for each asked row, one at a time."""
    network.eval()
    vectors = embed(network, SCHEMA.open(test.scenes), np.arange(len(test.scenes))).double().numpy()
    shown = dict(zip(np.flatnonzero(test.given), test.shown))
    said = []
    for row in np.flatnonzero(~test.given):
        near = {}
        for side, answer in enumerate(test.answers):
            rows = [given for given in shown if test.group[given] == test.group[row] and shown[given] == side]
            near[answer] = -np.sum((vectors[test.scene[row]] - vectors[test.scene[rows]].mean(axis=0)) ** 2)
        said.append(1 / (1 + np.exp(near["no"] - near["yes"])))
    return np.array(said)


@pytest.mark.parametrize("pooling", ["avg-pool", "relation-net"])
def test_answers_are_those_of_a_plain_loop(examples: Examples, pooling: str) -> None:
    solver = solver_of(pooling)
    said = solver.predict(examples.observed())
    assert said.shape == (len(examples.asked), 2) and np.allclose(said.sum(axis=1), 1)
    assert np.allclose(said[:, 1], plainly(solver.network, examples.observed()), rtol=1e-4, atol=1e-6)
    assert np.ptp(said[:, 1]) > 0.01


def test_the_answers_are_in_the_order_of_their_names(examples: Examples) -> None:
    other = replace(examples, answers=("yes", "no"), target=1 - examples.target)
    said, swapped = (solver_of().predict(one.observed()) for one in (examples, other))
    assert np.array_equal(said, swapped[:, ::-1])


def test_answers_ignore_hidden_columns(examples: Examples) -> None:
    hidden = np.where(examples.given, examples.target, 1 - examples.target)
    other = replace(examples, target=hidden, concept=examples.concept[::-1], concepts=examples.concepts[::-1])
    said = solver_of().predict(examples.observed())
    assert np.array_equal(said, solver_of().predict(other.observed()))
    shown = replace(examples, target=np.where(examples.given, 1 - examples.target, examples.target))
    assert not np.allclose(said, solver_of().predict(shown.observed()))


def test_the_order_of_the_rows_does_not_matter(examples: Examples) -> None:
    order = Key(6).rng().permutation(len(examples.scene))
    mixed = rows_of(examples, order)
    said = np.zeros((len(order), 2))
    said[order[~mixed.given]] = solver_of().predict(mixed.observed())
    assert np.allclose(said[~examples.given], solver_of().predict(examples.observed()), rtol=1e-5)


@pytest.mark.parametrize("at_once", [7, 1_024])
def test_pieces_of_a_test_are_answered_as_the_whole(
    monkeypatch: pytest.MonkeyPatch, examples: Examples, at_once: int
) -> None:
    """In any order and by one solver, which remembers the vectors of the piece before."""
    monkeypatch.setattr(prototypes, "AT_ONCE", at_once)
    whole, solver = solver_of().predict(examples.observed()), solver_of()
    said = np.zeros((len(examples.scene), 2))
    for groups in ([20, 3, 4], [5], [5], np.arange(6, 20), [0, 1, 2], [21, 22, 23]):
        rows = np.isin(examples.group, groups)
        said[rows & ~examples.given] = solver.predict(rows_of(examples, rows).observed())
    assert np.allclose(said[~examples.given], whole, rtol=1e-5)


def test_vectors_of_other_scenes_are_not_remembered(examples: Examples) -> None:
    solver = solver_of()
    solver.predict(examples.observed())
    elsewhere = replace(examples, scenes=examples.scenes[::-1]).observed()
    assert np.array_equal(solver.predict(elsewhere), solver_of().predict(elsewhere))


def test_a_test_that_asks_nothing_has_no_answers(examples: Examples) -> None:
    for rows in (np.zeros(0, int), np.flatnonzero(examples.given)):
        assert solver_of().predict(rows_of(examples, rows).observed()).shape == (0, 2)


def test_very_sure_answers_keep_their_order(monkeypatch: pytest.MonkeyPatch, examples: Examples) -> None:
    """Up to odds of e^745 the smaller probability tells how sure; beyond that it is 0 and the other one is 1."""
    log_odds = np.array([-np.inf, -1e30, -800, -700, -699, -40, -1e-3, 0, 1e-3, 40, 699, 700, 800, 1e30, np.inf])
    monkeypatch.setattr(PrototypeSolver, "_odds", lambda self, test: log_odds)
    said = solver_of().predict(examples.observed())
    assert np.isfinite(said).all() and np.allclose(said.sum(axis=1), 1) and (said >= 0).all()
    order = odds(said[:, 1], said[:, 0])
    between = np.abs(log_odds) < 745
    assert (np.diff(order[between]) > 0).all() and (np.diff(order) >= 0).all()
    assert np.array_equal(said[:, 1] > said[:, 0], log_odds > 0)


def test_scenes_are_encoded_alike_in_any_number(scenes: Scenes) -> None:
    network, sight = network_of("transformer").eval(), SCHEMA.open(scenes)
    whole, some = embed(network, sight, np.arange(40)), embed(network, sight, np.array([30, 2]))
    assert torch.allclose(whole[[30, 2]], some, atol=1e-5) and not whole.requires_grad


# --- episodes


def test_episodes_come_back_from_their_rows(episodes: Episodes, examples: Examples) -> None:
    mixed = rows_of(examples, np.argsort(Key(8).rng().random(24)[examples.group], kind="stable"))
    for found in (as_episodes(examples), as_episodes(mixed)):
        assert all(np.array_equal(one, other) for one, other in zip(found, episodes))


def test_the_loss_of_an_episode_is_that_of_its_query(episodes: Episodes, examples: Examples, scenes: Scenes) -> None:
    network, sight = network_of().eval(), SCHEMA.open(scenes)
    said = np.log(solver_of().predict(examples.observed()))
    expected = -said[np.arange(len(said)), examples.asked].mean()
    objective = EpisodeObjective(network, sight, episodes, lambda *_: {})
    assert float(objective.loss(np.arange(24)).detach()) == pytest.approx(expected, rel=1e-4)
    assert on_episodes(network, sight, episodes, at_once=5)["loss"] == pytest.approx(expected, rel=1e-4)


def test_writing_the_concept_counts_alpha_as_much(episodes: Episodes, scenes: Scenes) -> None:
    network, sight = network_of(words=WORDS).eval(), SCHEMA.open(scenes)
    text = (KEY / "text").rng().integers(4, WORDS, (60, 5))
    text[:, -1] = 1
    rows = np.array([5, 9, 0])
    none, some, more = (
        EpisodeObjective(network, sight, episodes, lambda *_: {}, alpha, text).loss(rows).detach()
        for alpha in (0.0, 1.0, 3)
    )
    assert network.decoder is not None
    found, _ = read(network, sight, Episodes(*(column[rows] for column in episodes)))
    writing = network.decoder.loss(found.flatten(1), torch.from_numpy(text[episodes.concept[rows]])).detach()
    assert torch.allclose(some - none, writing, rtol=1e-4) and torch.allclose(more - none, 3 * writing, rtol=1e-4)


# --- learning


class Stopped(Exception):
    pass


def stop_after(step: int) -> Watch:
    def watch(progress: Progress) -> None:
        if progress.step > step:  # the checkpoint of a step is written after it was watched
            raise Stopped

    return watch


def learner(folder: Path, pooling: str, training: Training = TRAINING, watch: Watch = unwatched) -> PrototypeSolver:
    run = Run(folder, {"network": pooling, "training": training.fixed()}, {"steps": training.steps})
    return PrototypeSolver(network_of(pooling), SCHEMA, training, run, watch)


def checkpoints(folder: Path) -> list[bytes]:
    return [(folder / "checkpoints" / f"{name}.safetensors").read_bytes() for name in ("last", "best")]


@pytest.mark.parametrize("pooling", ["transformer", "relation-net"])
def test_a_run_that_was_stopped_ends_in_the_same_bytes(examples: Examples, tmp_path: Path, pooling: str) -> None:
    """The transformer leaves values out at random, and goes on with the same random numbers."""
    learner(tmp_path / "whole", pooling).fit(examples, KEY)
    for step in (2, 4):
        with pytest.raises(Stopped):
            learner(tmp_path / "parts", pooling, watch=stop_after(step)).fit(examples, KEY)
    learner(tmp_path / "parts", pooling).fit(examples, KEY)
    assert checkpoints(tmp_path / "parts") == checkpoints(tmp_path / "whole")
    learner(tmp_path / "other", pooling).fit(examples, KEY / "other")
    assert checkpoints(tmp_path / "other") != checkpoints(tmp_path / "whole")


def test_a_tenth_of_the_episodes_is_held_back_and_the_rest_is_learnt(
    monkeypatch: pytest.MonkeyPatch, examples: Examples, episodes: Episodes, tmp_path: Path
) -> None:
    objectives: list[EpisodeObjective] = []
    monkeypatch.setattr(PrototypeSolver, "learn", lambda self, objective, key: objectives.append(objective))
    solver = learner(tmp_path, "avg-pool")
    assert solver.fit(examples, KEY) is solver
    learnt = {row.tobytes() for row in objectives[0].episodes.scene}
    back = np.array([row.tobytes() not in learnt for row in episodes.scene])
    assert len(learnt) == 22 and back.sum() == 2
    held = Episodes(*(column[back] for column in episodes))
    assert objectives[0].validate() == on_episodes(solver.network, objectives[0].sight, held)


def test_learning_lowers_the_loss(examples: Examples, episodes: Episodes, scenes: Scenes, tmp_path: Path) -> None:
    training = replace(TRAINING, batch=12, steps=100, validate_every=20)
    solver = learner(tmp_path, "avg-pool", training)
    before = on_episodes(solver.network.eval(), SCHEMA.open(scenes), episodes)
    solver.fit(examples, KEY)
    after = on_episodes(solver.network.eval(), SCHEMA.open(scenes), episodes)
    assert after["accuracy"] > before["accuracy"]
    losses = [row.value for row in read_metrics(tmp_path) if row.name == "loss"]
    assert losses[-1] < losses[0]


def test_a_solver_forgets_its_vectors_when_it_learns(examples: Examples, tmp_path: Path) -> None:
    solver = learner(tmp_path, "avg-pool")
    before = solver.predict(examples.observed())
    solver.fit(examples, KEY)
    after, fresh = solver.predict(examples.observed()), solver_of()
    fresh.network.load_state_dict(solver.network.state_dict())
    assert np.array_equal(after, fresh.predict(examples.observed())) and not np.allclose(before, after)


def test_a_solver_without_a_run_does_not_learn(examples: Examples) -> None:
    with pytest.raises(ValueError, match="a solver without a run cannot be trained"):
        solver_of().fit(examples, KEY)


def test_rows_that_are_no_episodes_are_refused(examples: Examples) -> None:
    for given in (np.zeros_like(examples.given), np.arange(len(examples.given)) % 5 == 0):
        with pytest.raises(UserError, match="half of each shown"):
            as_episodes(replace(examples, given=given))
