"""The learner by definitions: they fit training, and nest nothing."""

import numpy as np
import pytest

from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.drawing import library_of
from recombine.benchmarks.concept_world.fitting_definitions import belief, by_definitions, contains, fitting
from recombine.store.key import Key


@pytest.fixture(scope="module")
def patterns() -> Classes:
    library = library_of(None)
    return Classes(library, library.experiments["patterns"])


def test_what_training_shows_is_known(patterns: Classes) -> None:
    for i, (label, thing) in enumerate(patterns.trained_lines):
        images = thing.images(thing.draw(5, Key(i)))
        assert by_definitions(patterns, images)[:, label].min() == 1
        assert contains(thing, images).all()


def test_every_line_has_definitions_of_one_or_two_statements(patterns: Classes) -> None:
    assert all({len(one) for one in definitions} <= {1, 2} and definitions for definitions in fitting(patterns))


def test_shorter_definitions_weigh_more() -> None:
    said = np.array([[True, False, False, False], [False, True, True, False]])
    assert belief(said, [(0,), (1, 2)]).tolist() == [0.8, 0.2]
    assert belief(said, []).tolist() == [0, 0]
