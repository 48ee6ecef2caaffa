"""The learner that knows the definitions but not the classes."""

from collections.abc import Iterator

import numpy as np
import pytest

from recombine.benchmarks.concept_world import pipeline as of_study
from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.definitions import Fitting, by_definitions, fitting, fitting_of
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.store.store import Store


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConceptWorldPipeline]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(of_study.SHARES, "tiny", 0.02)
        yield ConceptWorldPipeline("tiny", 0, Store(tmp_path_factory.mktemp("worlds")))


def test_what_fits_holds_of_a_line_and_of_no_other_class(worlds: ConceptWorldPipeline) -> None:
    classes, table = worlds.classes("sequences"), worlds.samples("sequences", "train")
    images, labels = worlds.images(table), np.array(table["label"].to_pylist())
    where = np.array(table["where"].to_pylist())
    found = fitting_of(worlds, "sequences")
    names = list(classes.concepts)
    assert [(names[one.label], len(one.definitions)) for one in found] == [
        ("red", 3),
        ("red", 2),
        ("blue", 3),
        ("blue", 2),
        ("mixed", 2),
    ]
    for one, depth in zip(found, (1, 2, 1, 2, 2)):
        mine = (labels == names[one.label]) & (where == f"depth(east_seq) == {depth}")
        for name in one.definitions:
            holds = classes.recogniser.holds(name, images)
            assert holds[mine].all() and not holds[labels != names[one.label]].any()
    everything = [name for name, each in worlds.library.definitions.items() if len(each.parameters) == 1]
    red = labels == "red"
    plain = [
        name
        for name in everything
        if (holds := classes.recogniser.holds(name, images))[red & (where == "depth(east_seq) == 2")].all()
        and not holds[~red].any()
    ]
    assert set(found[1].definitions) == set(plain)


def test_rows_of_any_length_have_a_definition_and_larger_squares_have_none(worlds: ConceptWorldPipeline) -> None:
    for test in ("length_3", "length_7"):
        assert (worlds.scores("sequences", test, by_definitions(fitting_of(worlds, "sequences"))) == 1).all()
    guess = worlds.scores("patterns", "squares_4x4", by_definitions(fitting_of(worlds, "patterns")))
    assert guess == pytest.approx(np.full(len(guess), 0.25))


def test_what_was_trained_is_known(worlds: ConceptWorldPipeline) -> None:
    for name in ("sequences", "patterns"):
        assert worlds.scores(name, "train", by_definitions(fitting_of(worlds, name))) == pytest.approx(1)


def test_beliefs_are_shared_alike(worlds: ConceptWorldPipeline) -> None:
    """Two definitions fit the first class and one holds of the image; the only one of the second class holds too."""
    classes: Classes = worlds.classes("sequences")
    table = worlds.samples("sequences", "train")
    red = worlds.images(table)[np.array(table["label"].to_pylist()) == "red"][:3]
    said = by_definitions((Fitting(0, ("red_seq", "blue_seq")), Fitting(1, ("squares",))))(classes, red)
    assert said == pytest.approx(np.tile([1 / 3, 2 / 3, 0], (3, 1)))
    assert by_definitions((Fitting(0, ()),))(classes, red) == pytest.approx(np.full((3, 3), 1 / 3))


def test_a_line_that_nothing_fits_has_no_definition(worlds: ConceptWorldPipeline) -> None:
    """One image under two labels."""
    table = worlds.samples("sequences", "train")
    twice = np.repeat(worlds.images(table)[:1], 2, axis=0)
    found = fitting(worlds.classes("sequences"), twice, np.array([0, 1]), np.array([0, 1]))
    assert found == (Fitting(0, ()), Fitting(1, ()))
