"""Episodes: true labels, and negatives drawn exactly as described, checked against `rival_scenes` in plain NumPy."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare

from recombine import Curi
from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import Lot
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.pipeline import probe_scenes
from recombine.benchmarks.curi.world import CuriWorld
from recombine.language.expr import Expr, Symbol
from recombine.semantics import table as table_module
from recombine.semantics.fold import Plan
from recombine.semantics.table import BLOCK, Table, build
from recombine.solvers.oracle import answer
from recombine.store import arrays as arrays_module
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks import episodes as episodes_module
from recombine.tasks.episodes import (
    Episodes,
    Shape,
    _from_rivals,
    askable,
    draw_episodes,
    rival_scenes,
    rivals_of,
    scenes_at,
)

SURELY = 1e-4
"""The seeds are fixed, so each p-value is a constant; only a wrong distribution falls below this."""
HARD = Shape()
SHAPES = {
    "hard": HARD,
    "hard, random query": replace(HARD, query_from_rivals=False),
    "easy": replace(HARD, kind="easy"),
    "easy, one block": replace(HARD, kind="easy", easy_block=30),
    "small": Shape(positives=2, negatives=3),
}


class Rows:
    """A meaning that looks truth up: row[i] is row i of a bool[rows, scenes]."""

    def __init__(self, truth: np.ndarray) -> None:
        self.truth = truth

    def row(self, i: str) -> np.ndarray:
        return self.truth[int(i)]


def table_of(truth: np.ndarray) -> Table:
    """The table of this truth, bool[concepts, scenes]."""
    concepts = [Expr(Symbol("row", (str(i),))) for i in range(len(truth))]
    return build(concepts, range(truth.shape[1]), Rows(truth))  # of the scenes it needs the number only


@pytest.fixture(scope="module")
def table() -> Table:
    """Some 370 concepts, each true on at most a tenth of 2,000 scenes, so that some have few rivals."""
    scenes, grammar, rng = CuriWorld().sample(2_000, Key(1)), Lot().grammar(PAPER.nesting), Key(2).rng()
    drawn = tuple({grammar.draw(rng): None for _ in range(2_000)})
    truth = dict(Plan(drawn).run(Exact(scenes)))
    kept = [concept for i, concept in enumerate(drawn) if truth[i].mean() <= 0.1]
    return build(kept, scenes, Exact(scenes))


@pytest.fixture(scope="module")
def drawn(table: Table) -> dict[str, Episodes]:
    weight = np.ones(len(table.sense))
    return {name: draw_episodes(table, weight, 200, shape, Key(3)) for name, shape in SHAPES.items()}


class Half(NamedTuple):
    """A support or query set."""

    sense: int
    positives: np.ndarray
    negatives: np.ndarray
    label: np.ndarray  # of the negatives


def halves(table: Table, episodes: Episodes, shape: Shape, only: slice = slice(0, 2)) -> list[Half]:
    found = []
    for concept, scene, label in zip(*episodes):
        for start in (0, shape.size)[only]:
            split, end = start + shape.positives, start + shape.size
            found.append(Half(int(table.sense[concept]), scene[start:split], scene[split:end], label[split:end]))
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_labels_are_true(table: Table, drawn: dict[str, Episodes], name: str) -> None:
    for concept, scene, label in zip(*drawn[name]):
        np.testing.assert_array_equal(label, table.extension(table.sense[concept])[scene])


@pytest.mark.parametrize("name", SHAPES)
def test_the_positives_of_an_episode_are_distinct_scenes_of_its_concept(drawn: dict[str, Episodes], name: str) -> None:
    episodes, shape = drawn[name], SHAPES[name]
    assert episodes.scene.shape == episodes.label.shape == (200, 2 * shape.size)
    shown = np.arange(2 * shape.size) % shape.size < shape.positives
    assert episodes.label[:, shown].all()
    assert all(len(set(row)) == 2 * shape.positives for row in episodes.scene[:, shown].tolist())


def test_support_and_query_are_the_two_halves(drawn: dict[str, Episodes]) -> None:
    episodes = drawn["hard"]
    np.testing.assert_array_equal(np.hstack([episodes.support, episodes.query]), episodes.scene)
    assert episodes.support.shape == episodes.query.shape == (200, episodes.size)


def assert_from_rivals(table: Table, half: Half) -> str:
    """All from the rivals' scenes, or all of these and then other non-positives. Says which."""
    pool = np.flatnonzero(rival_scenes(table, half.sense, half.positives))
    assert len(set(half.negatives.tolist())) == len(half.negatives)
    assert not table.extension(half.sense)[half.negatives].any()
    if len(pool) >= len(half.negatives):
        assert np.isin(half.negatives, pool).all()
        return "rivals only"
    assert np.isin(pool, half.negatives).all()
    return "topped up" if len(pool) else "no rivals"


def test_hard_negatives_are_scenes_of_rivals_or_all_of_them_and_others(
    table: Table, drawn: dict[str, Episodes]
) -> None:
    ways = [assert_from_rivals(table, half) for half in halves(table, drawn["hard"], HARD)]
    assert {"rivals only", "topped up"} <= set(ways)


def test_the_query_may_take_random_negatives_where_the_support_takes_rivals(
    table: Table, drawn: dict[str, Episodes]
) -> None:
    episodes, shape = drawn["hard, random query"], SHAPES["hard, random query"]
    for half in halves(table, episodes, shape, slice(0, 1)):
        assert_from_rivals(table, half)
    elsewhere = []
    for half in halves(table, episodes, shape, slice(1, 2)):
        assert not half.label.any()
        assert len(set(half.negatives.tolist())) == shape.negatives
        pool = rival_scenes(table, half.sense, half.positives)
        if pool.sum() >= shape.negatives:
            elsewhere.append(not pool[half.negatives].all())
    assert np.mean(elsewhere) > 0.5


def test_random_query_negatives_are_uniform_over_the_scenes_that_are_not_positive(table: Table) -> None:
    concept = int(np.flatnonzero(askable(table, HARD))[0])
    weight = np.arange(len(table.sense)) == concept
    episodes = draw_episodes(table, weight.astype(float), 2_000, SHAPES["hard, random query"], Key(4))
    rest = np.flatnonzero(~table.extension(table.sense[concept]))
    rank = np.searchsorted(rest, episodes.scene[:, [HARD.size + HARD.positives, -1]])
    counts = np.bincount(rank.reshape(-1) * 20 // len(rest), minlength=20)
    share = np.bincount(np.arange(len(rest)) * 20 // len(rest)) / len(rest)
    assert chisquare(counts, share * counts.sum()).pvalue > SURELY


def test_easy_negatives_are_distinct_random_scenes_that_are_positive_where_the_concept_holds(
    table: Table, drawn: dict[str, Episodes]
) -> None:
    found = halves(table, drawn["easy"], SHAPES["easy"])
    assert any(half.label.any() for half in found)
    assert all(len({*half.positives, *half.negatives}) == HARD.size for half in found)
    cells = np.concatenate([half.negatives for half in found]) // 100
    assert chisquare(np.bincount(cells, minlength=20)).pvalue > SURELY


def test_easy_negatives_of_a_block_stay_in_it_and_may_repeat(table: Table, drawn: dict[str, Episodes]) -> None:
    found = halves(table, drawn["easy, one block"], SHAPES["easy, one block"])
    blocks = [set((half.negatives // 30).tolist()) for half in found]
    assert all(len(block) == 1 for block in blocks)
    assert len(set().union(*blocks)) > 50  # of 67
    assert any(len(set(half.negatives.tolist())) < HARD.negatives for half in found)
    assert any(half.label.any() for half in found)


def test_a_block_larger_than_the_world_is_the_world(table: Table) -> None:
    shape = replace(HARD, kind="easy", easy_block=5_000)
    episodes = draw_episodes(table, np.ones(len(table.sense)), 100, shape, Key(3))
    assert episodes.scene.max() < table.scenes
    assert np.ptp(episodes.scene[:, HARD.positives : HARD.size]) > table.scenes / 2


def test_concepts_come_up_in_proportion_to_their_weight(table: Table) -> None:
    fine = np.flatnonzero(askable(table, HARD))[:30]
    weight = np.zeros(len(table.sense))
    weight[fine] = np.arange(1, 31)
    found = draw_episodes(table, weight, 5_000, replace(HARD, kind="easy"), Key(5)).concept
    counts = np.bincount(found, minlength=len(weight))
    assert counts.sum() == counts[fine].sum() == 5_000
    assert chisquare(counts[fine], 5_000 * weight[fine] / weight.sum()).pvalue > SURELY


def test_positives_are_uniform_over_the_scenes_of_the_concept(table: Table) -> None:
    concept = int(np.flatnonzero(askable(table, HARD))[0])
    weight = (np.arange(len(table.sense)) == concept).astype(float)
    episodes = draw_episodes(table, weight, 4_000, replace(HARD, kind="easy"), Key(6))
    accepted = np.flatnonzero(table.extension(table.sense[concept]))
    for column in (0, HARD.size + HARD.positives - 1):  # the first and the last that is drawn
        counts = np.bincount(np.searchsorted(accepted, episodes.scene[:, column]), minlength=len(accepted))
        bins = np.arange(len(accepted)) * 20 // len(accepted)
        found, share = np.bincount(bins, counts), np.bincount(bins) / len(accepted)
        assert chisquare(found, share * found.sum()).pvalue > SURELY


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_key_gives_the_same_episodes_and_another_key_others(
    table: Table, drawn: dict[str, Episodes], name: str
) -> None:
    again, other = (draw_episodes(table, np.ones(len(table.sense)), 200, SHAPES[name], Key(k)) for k in (3, 4))
    for column, same in zip(drawn[name], again):
        np.testing.assert_array_equal(column, same)
    assert not np.array_equal(drawn[name].concept, other.concept)
    assert not np.array_equal(drawn[name].scene, other.scene)


def test_concepts_with_too_few_scenes_on_a_side_are_never_asked(table: Table) -> None:
    accepted = table.count[table.sense]
    fine = askable(table, HARD)
    np.testing.assert_array_equal(fine, (accepted >= 10) & (table.scenes - accepted >= 40))
    assert (~fine).any()
    concepts = draw_episodes(table, np.ones(len(fine)), 500, replace(HARD, kind="easy"), Key(7)).concept
    assert fine[concepts].all()


def test_weight_on_unaskable_concepts_alone_is_refused(table: Table) -> None:
    with pytest.raises(UserError, match="no concept on this side is true on enough scenes"):
        draw_episodes(table, np.where(askable(table, HARD), 0.0, 1.0), 1, HARD, Key(1))


@settings(deadline=None, max_examples=40)
@given(arrays(bool, (6, 40)), st.lists(st.integers(0, 39), min_size=1, max_size=4))
def test_rivals_accept_all_positives_and_are_other_senses(truth: np.ndarray, shown: list[int]) -> None:
    table, positives = table_of(truth), np.array(shown)
    accepts = np.stack([table.extension(sense) for sense in range(table.senses)])
    for sense in range(table.senses):
        expected = [rival != sense and accepts[rival][shown].all() for rival in range(table.senses)]
        assert rivals_of(table, sense, positives).tolist() == expected
        union = accepts[expected].any(axis=0) & ~accepts[sense]
        np.testing.assert_array_equal(rival_scenes(table, sense, positives), union)


@pytest.fixture(scope="module", params=[(500, 0.3), (BLOCK + 2_000, 0.0015)], ids=["by tries", "from the union"])
def crowd(request: pytest.FixtureRequest) -> Table:
    """Sense 0 and two rivals, where a random scene is often (or hardly ever in 64 tries) of a rival."""
    scenes, share = request.param
    truth = Key(scenes).rng().random((3, scenes)) < share
    truth[:, [4, scenes - 1]] = True
    return table_of(truth)


def rivals_drawn(table: Table, positives: list[int], negatives: int, times: int) -> np.ndarray:
    """The negatives that the kernel finds for sense 0 and these positives, int[times, found]."""
    rivals = np.bitwise_and.reduce(table.by_scene[positives], axis=0) & ~np.uint64(1)
    union = np.zeros((table.by_sense.shape[0], table.by_sense.shape[2]), np.uint64)
    rng, drawn = Key(8).rng(), []
    for _ in range(times):
        chosen = np.full(len(positives) + negatives, -1, np.int32)
        chosen[: len(positives)] = positives
        found = _from_rivals(
            rng,
            0,
            rivals,
            table.by_sense,
            table.by_scene,
            table.before,
            table.scenes,
            union,
            chosen,
            len(positives),
        )
        assert (chosen[found:] == -1).all()
        drawn.append(chosen[len(positives) : found])
    return np.array(drawn)


def test_hard_negatives_are_uniform_over_the_rivals_scenes(crowd: Table) -> None:
    positives = [4, crowd.scenes - 1]
    pool = np.flatnonzero(rival_scenes(crowd, 0, np.array(positives)))
    assert len(pool) > 20
    drawn = rivals_drawn(crowd, positives, 20, 4_000)
    for place in (0, 10, 19):  # each place alone is uniform, although the places of one draw are distinct
        counts = np.bincount(np.searchsorted(pool, drawn[:, place]), minlength=len(pool))
        assert len(counts) == len(pool)
        assert chisquare(counts).pvalue > SURELY


def test_where_rivals_have_fewer_scenes_than_asked_all_of_them_are_taken(crowd: Table) -> None:
    positives = [4, crowd.scenes - 1]
    pool = np.flatnonzero(rival_scenes(crowd, 0, np.array(positives)))
    for found in rivals_drawn(crowd, positives, len(pool) + 5, 20):
        np.testing.assert_array_equal(np.sort(found), pool)


def test_scenes_at_counts_through_the_extension(table: Table) -> None:
    sense = int(np.argmax(table.count))
    ranks = np.arange(table.count[sense])
    found = scenes_at(table, np.full(len(ranks), sense), ranks)
    np.testing.assert_array_equal(found, np.flatnonzero(table.extension(sense)))


def test_two_rivals_by_hand() -> None:
    # Scenes 0..9. The concept accepts 0..3; one rival 0..5, another 1..8 (not scene 0).
    truth = np.array([[1] * 4 + [0] * 6, [1] * 6 + [0] * 4, [0] + [1] * 8 + [0]], bool)
    table = table_of(truth)
    assert np.flatnonzero(rival_scenes(table, 0, np.array([0, 1]))).tolist() == [4, 5]
    assert np.flatnonzero(rival_scenes(table, 0, np.array([1, 2]))).tolist() == [4, 5, 6, 7, 8]
    shape = Shape(positives=2, negatives=3)
    episodes = draw_episodes(table, np.array([1.0, 0, 0]), 50, shape, Key(1))
    for half in halves(table, episodes, shape):
        allowed = {4, 5, 6, 7, 8} if 0 not in half.positives else {4, 5, 6, 7, 8, 9}
        assert set(half.negatives.tolist()) <= allowed
        assert {4, 5} <= set(half.negatives.tolist()) or 0 not in half.positives


@pytest.mark.parametrize("kind", ["hard", "easy"])
def test_pieces_that_spare_memory_change_no_episode(tiny: Curi, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    """The generator goes on from piece to piece; a table that gives back its memory has the same bytes."""
    study, found = tiny.study, []
    for at_once, large in ((10**6, 2**40), (7, 0)):
        monkeypatch.setattr(episodes_module, "AT_ONCE", at_once)
        monkeypatch.setattr(episodes_module, "ROWS_AT_ONCE", at_once)
        monkeypatch.setattr(table_module, "AT_ONCE", at_once)
        monkeypatch.setattr(arrays_module, "LARGE", large)
        drawn = draw_episodes(study.table, np.ones(len(study.table.sense)), 50, study.shape(kind), Key(5))
        told = answer(study.beliefs("boolean", kind)["strong"], drawn, study.probe)
        found.append([*drawn, *told, probe_scenes(study.table, Key(6)), study.table.on(drawn.scene[0])])
    assert all(np.array_equal(one, other) for one, other in zip(*found))
