"""Splits of ConceptWorld's experiments: combinations of definitions are held out, every definition is still trained."""

import json
from pathlib import Path

import numpy as np
import pytest

from recombine import ConceptWorld, Key, UserError
from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.exam import scores
from recombine.benchmarks.concept_world.made_experiments import TEST, Divided, experiments, holds_out
from recombine.benchmarks.concept_world.reader import load_library, read_file
from recombine.store.store import Store
from recombine.tasks.made_splits import HOWS, MadeSplit, make_split

LIBRARY = load_library()
OWN = """
experiment bars "Rows of squares":
    train:
        red  40 of red_seq where depth(east_seq) == 1
        red  40 of red_seq where depth(east_seq) == 2
        blue 40 of blue_seq where depth(east_seq) == 1
    test longer:
        blue 40 of blue_seq where depth(east_seq) == 2
"""


@pytest.fixture(scope="module")
def divided() -> dict[str, Divided]:
    return {name: Divided(LIBRARY, LIBRARY.experiments[name]) for name in ("sequences", "patterns", "substitution")}


def test_atoms_are_definitions_their_nesting_and_classes(divided: dict[str, Divided]) -> None:
    found = {name: {word for some in one.atoms for atoms in some for word in atoms} for name, one in divided.items()}
    rows = {"blue_seq", "mixed_seq", "red_seq", "squares", *(f"depth(east_seq) {n}" for n in (1, 2, 3, 5, 7))}
    assert found["sequences"] == {f"sequences: {word}" for word in rows}
    assert {"patterns: class stripes", "patterns: 2x2_square_of_squares"} <= found["patterns"]
    assert {"substitution: f_pent", "substitution: mixed_pair"} <= found["substitution"]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", ["sequences", "patterns", "substitution"])
def test_held_out_combinations_are_tested_and_no_others(divided: dict[str, Divided], name: str, how: str) -> None:
    one = divided[name]
    made = make_split(one.items(), how, "made", "concept-world", Key(2) / how)
    ((_, experiment),) = experiments([one], made)
    assert made.measured["atoms only tested"] == 0 and made.measured["new compounds"] > 0
    assert experiment.classes == one.experiment.classes
    sides = {"train": experiment.train, TEST: experiment.tests[TEST]}
    derived = {
        side: {plan.derivation for line in lines for plan in extension_of(LIBRARY, line).plans}
        for side, lines in sides.items()
    }
    known = dict(zip((d for some in one.derived for d in some), (a for some in one.atoms for a in some)))
    assert derived["train"] | derived[TEST] == set(known)
    assert all(holds_out(made.pairs, known[d]) == (side == TEST) for side, some in derived.items() for d in some)


def test_the_file_is_a_split_wherever_splits_are_named(own_home: Path, tmp_path: Path) -> None:
    concepts, file = tmp_path / "bars.concepts", str(tmp_path / "mine.json")
    concepts.write_text(OWN)
    with ConceptWorld(concepts=concepts, store=Store(own_home)) as world:
        made = world.made_split(file, how="pairwise", share=0.5)
        assert made.measured["leaks"] == 0 and json.loads(Path(file).read_text())["pairs"]
        (trial,) = world.gap([file]).of()
        assert trial.gap.strong.value == 100
        rows = list(world.rows([file], first=3))
        assert {row.split for row in rows} == {"mine-bars"}
        assert world.show(file).experiment == "mine-bars"
        images = {part: world.images(file, part) for part in ("train", TEST)}
        seen = {one.tobytes() for one in np.asarray(images["train"].codes)}
        assert not any(one.tobytes() in seen for one in np.asarray(images[TEST].codes))


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        (("bars: red_seq", "bars: depth(east_seq) 9"), "which no image of bars has"),
        (("red_seq", "depth(east_seq) 2"), "both must begin with one experiment of bars"),
        (("bars: red_seq", "chess: rook"), "both must begin with one experiment of bars"),
        (("bars: red_seq", "bars: red_seq"), "on the test side and nowhere on the training side"),
    ],
)
def test_a_split_that_cannot_be_is_refused(pair: tuple[str, str], told: str, tmp_path: Path) -> None:
    concepts = tmp_path / "bars.concepts"
    concepts.write_text(OWN)
    library = read_file(concepts, LIBRARY)
    one = Divided(library, library.experiments["bars"])
    with pytest.raises(UserError, match=told):
        experiments([one], MadeSplit("mine", "own", "concept-world", (pair,)))


def test_classes_that_are_not_asked_for_do_not_count() -> None:
    marks = {"confusion": np.array([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0]]), "accuracy": 1.0, "probability": 1.0}
    assert scores(("red", "blue", "mixed"), marks)["F1"] == 1  # type: ignore[arg-type]
