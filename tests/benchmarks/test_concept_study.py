"""The shortest way to a benchmark: its learners are ideal, and lose nothing where nothing is held out."""

import numpy as np
import pytest

from recombine.benchmarks.concept_study import ANSWERS, Runs
from recombine.benchmarks.language import Language
from recombine.language.expr import Expr, Signature, Symbol
from recombine.store.key import Key
from recombine.tasks.examples import Examples
from recombine.world.distribution import Uniform
from recombine.world.vocabulary import Attribute, Vocabulary

COLOR = Attribute("color", ("red", "blue", "green"))
CONCEPTS = [Expr(Symbol("has", (value,))) for value in COLOR.values]


class Exact:
    def __init__(self, scenes):
        self.scenes = scenes

    def has(self, value):
        return self.scenes.having("color", value) != 0


class Plainly:
    def __init__(self, scenes, scene):
        self.objects = scenes.objects(scene)

    def has(self, value):
        return any(one["color"] == value for one in self.objects)


LANGUAGE = Language(
    Uniform(Vocabulary((COLOR,)), 1, 3),
    Signature.of(one.head for one in CONCEPTS),
    lambda n, key: tuple(CONCEPTS[i] for i in key.rng().integers(0, len(CONCEPTS), n)),
    Exact,
    Plainly,
    {},
    {},
)


@pytest.fixture(scope="module")
def rows() -> Examples:
    scenes = LANGUAGE.world.sample(50, Key(0))
    all_ = np.arange(50)
    target = LANGUAGE.values(CONCEPTS, scenes)[all_ % 3, all_].astype(np.int64)
    return Examples(scenes, tuple(CONCEPTS), ANSWERS, all_, all_ % 3, target, all_, np.zeros(50, bool), True)


def test_who_knows_every_concept_is_always_right(rows: Examples) -> None:
    said = Runs(LANGUAGE, CONCEPTS).predict(rows.observed())
    assert (said[np.arange(50), rows.target] == 1).all()


def test_a_new_concept_is_taken_for_the_known_ones_equally(rows: Examples) -> None:
    said = Runs(LANGUAGE, CONCEPTS[:2]).predict(rows.observed())
    for row in range(50):
        plain = [LANGUAGE.value(one, rows.scenes, row) for one in CONCEPTS]
        expected = plain[row % 3] if row % 3 < 2 else (plain[0] + plain[1]) / 2
        assert said[row].tolist() == [1 - expected, expected]
