"""The ideal learner knows how episodes are drawn: its posterior is what counting episodes gives."""

from collections import Counter, defaultdict
from itertools import permutations
from math import comb, perm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recombine.language.expr import Expr, Symbol
from recombine.semantics.bits import unpack_bits
from recombine.semantics.table import Table, build
from recombine.solvers.oracle import Belief
from recombine.store.key import Key
from recombine.tasks.episodes import Shape, draw_episodes, log_chance, reach, rival_scenes

SHAPE = Shape(positives=2, negatives=3)
LAW = settings(deadline=None, max_examples=60)


class Rows:
    """A meaning that looks truth up."""

    def __init__(self, truth: np.ndarray) -> None:
        self.truth = truth

    def row(self, i: str) -> np.ndarray:
        return self.truth[int(i)]


def table_of(truth: np.ndarray) -> Table:
    concepts = [Expr(Symbol("row", (str(i),))) for i in range(len(truth))]
    return build(concepts, range(truth.shape[1]), Rows(truth))


def chance_of(table: Table, sense: int, positives: frozenset[int], negatives: frozenset[int]) -> float:
    """The chance that drawing for a sense gives these sets: every order of drawing, step by step."""
    own = table.extension(sense)
    if not all(own[scene] for scene in positives) or any(own[scene] for scene in negatives):
        return 0.0
    pool = set(np.flatnonzero(rival_scenes(table, sense, np.array(sorted(positives)))).tolist())
    others = set(np.flatnonzero(~own).tolist())
    total = 0.0
    for order in permutations(negatives):
        chance, left, rest = 1.0, set(pool), set(others)
        for scene in order:
            source = left or rest
            chance *= (scene in source) / len(source)
            left.discard(scene)
            rest.discard(scene)
        total += chance
    return total / comb(int(own.sum()), len(positives))


truths = arrays(bool, st.tuples(st.integers(1, 5), st.just(9)))


@LAW
@given(truths, st.data())
def test_the_chance_of_a_support_set_is_that_of_every_order_of_drawing_it(
    truth: np.ndarray, data: st.DataObject
) -> None:
    table = table_of(truth)
    scenes = data.draw(st.permutations(range(9)))
    positives, negatives = frozenset(scenes[:2]), frozenset(scenes[2:5])
    support, label = np.array([*positives, *negatives]), np.arange(5) < 2
    (found,) = zip(*reach(table, support, label, np.array([0, 5])))
    accepts = table.senses_of(support)
    explain = [s for s in range(table.senses) if (accepts[:, s] == label).all()]
    expected = np.array([chance_of(table, s, positives, negatives) for s in explain])
    ours = np.exp([log_chance(*found, table.count[s]) for s in explain])
    ours /= [perm(int(table.count[s]), 2) for s in explain]
    assert ((expected > 0) == (ours > 0)).all()
    if expected.any():
        np.testing.assert_allclose(ours / ours.sum(), expected / expected.sum(), atol=1e-12)


@LAW
@given(truths, st.data())
def test_reach_is_the_concepts_own_scenes_and_its_rivals(truth: np.ndarray, data: st.DataObject) -> None:
    table = table_of(truth)
    senses = [s for s in range(table.senses) if table.count[s] >= 2]
    if not senses:
        return
    sense = data.draw(st.sampled_from(senses))
    positives = np.flatnonzero(table.extension(sense))[:2]
    found = reach(table, positives, np.ones(2, bool), np.array([0, 2]))
    assert found.scenes[0] == table.count[sense] + rival_scenes(table, sense, positives).sum()


@LAW
@given(truths)
def test_the_widest_senses_are_those_that_no_other_contains(truth: np.ndarray) -> None:
    table = table_of(truth)
    rows = [table.extension(sense) for sense in range(table.senses)]
    plain = [not any((one <= other).all() and not (one == other).all() for other in rows) for one in rows]
    assert unpack_bits(table.widest, table.senses).tolist() == plain


WORLD = np.array(
    [
        [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0],
        [0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0],  # a synonym of the first
    ],
    bool,
)


def test_of_all_episodes_with_one_support_set_each_concept_has_its_share() -> None:
    """Draw, count, compare: the posterior is a fact about episodes."""
    table, weight = table_of(WORLD), np.array([3.0, 2.0, 2.0, 1.0, 1.0])
    size = np.array([perm(int(table.count[s]), 2) for s in table.sense])
    belief = Belief(table, np.log(weight / size), from_rivals=True)
    drawn = draw_episodes(table, weight, 200_000, SHAPE, Key(1))
    seen: defaultdict[tuple, Counter[int]] = defaultdict(Counter)
    for concept, support in zip(drawn.concept.tolist(), drawn.support.tolist()):
        seen[tuple(sorted(support[:2])), tuple(sorted(support[2:]))][concept] += 1
    common = [(sets, concepts) for sets, concepts in seen.items() if concepts.total() > 200]
    assert len(common) > 30 and any(len(concepts) > 2 for _, concepts in common)
    off = []
    for (positives, negatives), concepts in common:
        posterior = belief.posterior(np.array([*positives, *negatives]), np.arange(5) < 2)
        n, counted = concepts.total(), np.array([concepts[c] for c in range(5)])
        assert not counted[posterior == 0].any()
        open_ = (posterior > 0) & (posterior < 1)
        off += ((counted - n * posterior)[open_] / np.sqrt(n * posterior * (1 - posterior))[open_]).tolist()
    assert len(off) > 60
    assert np.abs(off).max() < 4.5 and np.mean(np.square(off)) == pytest.approx(1, abs=0.3)


def test_no_other_weights_are_surer_of_the_concept_on_average() -> None:
    """The logarithmic score is proper, so whoever knows less about the drawing has less of it."""
    table, weight = table_of(WORLD), np.array([3.0, 2.0, 2.0, 1.0, 1.0])
    size = np.log([perm(int(table.count[s]), 2) for s in table.sense])
    drawn = draw_episodes(table, weight, 3_000, SHAPE, Key(2))

    def surprise(belief: Belief) -> float:
        told = ((belief.posterior(s, np.arange(5) < 2), c) for c, s in zip(drawn.concept, drawn.support))
        return -float(np.mean([np.log(posterior[concept]) for posterior, concept in told]))

    ideal = surprise(Belief(table, np.log(weight) - size, from_rivals=True))
    others = [Belief(table, np.log(weight) - size), Belief(table, np.log(weight), from_rivals=True)]
    others += [Belief(table, np.log(weight)), Belief(table, -size, from_rivals=True)]
    assert all(surprise(other) > ideal + 0.002 for other in others)
