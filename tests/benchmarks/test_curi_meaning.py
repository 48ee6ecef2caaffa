"""What concepts mean: the fast meaning equals the plain one on any scene, and both equal hand-made examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import Lot, collapsed
from recombine.benchmarks.curi.meaning import Exact, Plainly
from recombine.benchmarks.curi.spelling import Speller, postfix
from recombine.benchmarks.curi.world import CURI_VOCABULARY
from recombine.language.expr import Expr
from recombine.semantics.fold import Plan, fold
from recombine.store.key import Key
from recombine.world.scenes import ABSENT, Scenes

GRAMMAR, SPELLER = Lot().grammar(PAPER.nesting), Speller()
NAMES = [attribute.name for attribute in CURI_VOCABULARY]
SIZES = [len(attribute.values) for attribute in CURI_VOCABULARY]

# An object is a code for each attribute; few codes make ties, so that all and count are often true.
any_object = st.tuples(*(st.integers(0, size - 1) for size in SIZES))
similar = st.tuples(*(st.integers(0, min(size, 2) - 1) for size in SIZES))
scene_lists = st.lists(st.lists(any_object | similar, min_size=1, max_size=5), min_size=1, max_size=8)
concepts = st.integers(0, 10**6).map(lambda seed: GRAMMAR.draw(Key(seed).rng()))


def scenes_of(listed: list[list[tuple[int, ...]]], places: int = 5) -> Scenes:
    """Scenes from lists of objects."""
    codes = np.full((len(SIZES), len(listed), places), ABSENT, np.uint8)
    for i, objects in enumerate(listed):
        for k, thing in enumerate(objects):
            codes[:, i, k] = thing
    count = np.array([len(objects) for objects in listed], np.uint8)
    position = np.zeros((len(listed), places, 3), np.float32)
    return Scenes(CURI_VOCABULARY, count, dict(zip(NAMES, codes)), position)


def things(*described: str) -> list[tuple[int, ...]]:
    """Objects in words: 'red cube metal 0.7 3 5'."""
    return [tuple(a.code(word) for a, word in zip(CURI_VOCABULARY, text.split(), strict=True)) for text in described]


def plainly(concept: Expr, scenes: Scenes) -> list[bool]:
    return [bool(fold(concept, Plainly(scenes.vocabulary, scenes.objects(i)), {})) for i in range(len(scenes))]


@settings(deadline=None, max_examples=150)
@given(scene_lists, st.lists(concepts, min_size=1, max_size=10), st.sampled_from([5, 9]))
def test_the_fast_meaning_equals_the_plain_one(listed: list, several: list[Expr], places: int) -> None:
    scenes = scenes_of(listed, places)  # nine places need a wider mask
    distinct = list(dict.fromkeys([*several, *map(collapsed, several)]))
    for i, found in Plan(distinct).run(Exact(scenes)):
        assert found.dtype == bool
        assert found.tolist() == plainly(distinct[i], scenes), postfix(distinct[i])


@settings(deadline=None, max_examples=60)
@given(scene_lists, concepts)
def test_dropping_a_quantifier_that_makes_no_difference_makes_no_difference(listed: list, concept: Expr) -> None:
    scenes = scenes_of(listed)
    assert plainly(concept, scenes) == plainly(collapsed(concept), scenes)


@settings(deadline=None, max_examples=60)
@given(scene_lists, concepts)
def test_objects_have_no_order(listed: list, concept: Expr) -> None:
    turned = [objects[::-1] for objects in listed]
    found, again = (fold(concept, Exact(scenes_of(scenes)), {}) for scenes in (listed, turned))
    np.testing.assert_array_equal(found, again)


ALONE = things("red cube metal 0.7 3 5")
PAIR = things("red cube metal 0.7 3 5", "red sphere rubber 0.35 0 8")
TRIO = things("red cube metal 0.7 3 5", "blue cube metal 0.35 4 5", "blue sphere rubber 0.7 8 1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # alone, pair, trio: the others of a lone object are the empty set, where all and any are false and count is 0
        ("exists x in S all(color?(S_{-x}), red)", (False, True, False)),
        ("exists x in S any(color?(S_{-x}), red)", (False, True, True)),
        ("exists x in S =(1, count=(color?(S_{-x}), red))", (False, True, True)),
        ("exists x in S >(1, count=(color?(S_{-x}), red))", (True, False, True)),
        ("for-all x in S any(color?(S_{-x}), red)", (False, True, False)),
        ("all(color?(S), red)", (True, True, False)),
        ("any(shape?(S), sphere)", (False, True, True)),
        ("=(count=(color?(S), blue), 2)", (False, False, True)),
        ("exists x in S all(color?(S), color?(x))", (True, True, False)),
        ("exists x in S =(count=(shape?(S), shape?(x)), 2)", (False, False, True)),
        ("exists x in S >(locationX?(x), locationY?(x))", (False, False, True)),
        ("for-all x in S >(locationY?(x), locationX?(x))", (True, True, False)),
        ("exists x in S =(locationX?(x), 8)", (False, False, True)),
        ("exists x in S =(8, locationY?(x))", (False, True, False)),
        ("exists x in S >(1, locationX?(x))", (False, True, False)),
        ("exists x in S >(size?(x), 0.35)", (True, True, True)),
        ("for-all x in S >(size?(x), 0.35)", (True, False, False)),
        ("exists x in S not(=(material?(x), metal))", (False, True, True)),
        ("exists x in S and(=(color?(x), blue), all(color?(S_{-x}), red))", (False, False, False)),
        ("exists x in S or(=(color?(x), blue), all(color?(S), red))", (True, True, True)),
    ],
)  # fmt: skip
def test_meanings_by_hand(text: str, expected: tuple[bool, ...]) -> None:
    concept, scenes = SPELLER.read(text), scenes_of([ALONE, PAIR, TRIO])
    assert plainly(concept, scenes) == list(expected)
    assert fold(concept, Exact(scenes), {}).tolist() == list(expected)
