"""Every factor changes one thing only."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.families import build
from recombine.benchmarks.clevr.questions import filling, look
from recombine.benchmarks.super_clevr.english import english_of, say_slots
from recombine.benchmarks.super_clevr.exam import answers
from recombine.benchmarks.super_clevr.factors import COLORS, VARIANTS, composition, distribution, variant
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.benchmarks.super_clevr.questions import Asking, look_at_parts
from recombine.benchmarks.super_clevr.redundancy import REDUNDANCIES, Things, addable, meant, removable, reworded
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.world.scenes import ABSENT

WORLD = VehicleWorld()
MANY = WORLD.sample(150, Key(0) / "many")


def test_compositions_change_colours_alone() -> None:
    one, other = (variant(WORLD, pairs=name).sample(60, Key(3)) for name in ("co-1", "co-2"))
    plain = WORLD.sample(60, Key(3))
    for found in (one, other):
        assert (found.position == plain.position).all() and (found.codes["shape"] == plain.codes["shape"]).all()
        assert (found.codes["material"] == plain.codes["material"]).all()
        assert (found.codes["color"] != plain.codes["color"]).any()


@pytest.mark.parametrize("name", ["co-1", "co-2"])
def test_colours_are_as_frequent_as_the_matrix_says(name: str) -> None:
    found = variant(WORLD, pairs=name).sample(400, Key(4))
    there = found.codes["shape"] != ABSENT
    pairs = Counter(zip(found.codes["shape"][there].tolist(), found.codes["color"][there].tolist()))
    for place, shape in enumerate(WORLD.fleet.shapes):
        seen = np.array([pairs[place, code] for code in range(len(WORLD.colors))])
        expected = np.array([composition(name)[shape][color] for color in WORLD.colors]) * seen.sum()
        assert (np.abs(seen - expected) < 5 * np.sqrt(expected + 1)).all()


@pytest.mark.parametrize("name", ["long", "tail", "1.6"])
def test_values_are_as_frequent_as_the_distribution_says(name: str) -> None:
    world = variant(WORLD, name)
    found = world.sample(300, Key(5))
    there = found.codes["shape"] != ABSENT
    for attribute in ("color", "material"):
        seen = np.bincount(found.codes[attribute][there], minlength=len(world.vocabulary[attribute].values))
        chances = np.array([distribution(name)[attribute][value] for value in world.vocabulary[attribute].values])
        assert (np.abs(seen - chances * there.sum()) < 5 * np.sqrt(chances * there.sum() + 1)).all()


@pytest.mark.parametrize("kind", ["object", "part"])
@pytest.mark.parametrize("edition", ["paper", "release"])
def test_questions_of_other_redundancy_speak_of_the_same(kind: str, edition: str) -> None:
    asking = Asking(edition=edition)
    families = asking.families(kind)
    found, dialect, rng = asking.find(MANY, kind, 10, Key(1)), families.dialect, np.random.default_rng(0)
    looked = (look if kind == "object" else look_at_parts)(MANY, dialect)
    read, longer, shorter, both = english_of(WORLD, edition).read, 0, 0, 0
    rows = range(0, len(found.scene), 3)
    programs: dict[str, list] = {level: [] for level in REDUNDANCIES}
    for q in rows:
        family, things = families[found.family[q]], Things(looked, int(found.scene[q]), dialect)
        slots = filling(family, found.described[q], found.related[q])
        wanted = meant(family, slots, things).referents
        for level in REDUNDANCIES:
            said = reworded(family, slots, things, level, families, edition)
            program = build(family, said)
            programs[level].append(program)
            if edition == "paper":
                assert meant(family, said, things).referents == wanted
                assert read(say_slots(*families.recognise(program), edition, rng)) is program
            if level == "rd-" and edition == "paper":
                assert [*removable(family, said, things, families)] == []
            if level == "rd+" and edition == "paper":  # only "which are cubes or spheres" can not say more
                short = {slot for slot, _ in addable(family, said, things)}
                assert short <= ({family.slots[-1]} if family.name == "single_or" else set())
            longer += level == "rd+" and program.size > build(family, slots).size
            shorter += level == "rd-" and program.size < build(family, slots).size
            both += "+" in repr(program)
    assert longer > len(rows) / 4 and shorter > len(rows) / 4
    assert (both > 0) == (kind == "object" and edition == "paper")
    said = [answers(programs[level], MANY, found.scene[rows], asking.dialect) for level in REDUNDANCIES]
    if edition == "paper":
        assert (said[0] == said[1]).all() and (said[1] == said[2]).all()
    assert (said[1] == said[2]).all()


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SuperClevr]:
    store, scale = Store(tmp_path_factory.mktemp("store")), SuperClevrScale("few", 12, 12, 12, 4, 4)
    return {level: SuperClevr(scale, redundancy=level, store=store) for level in REDUNDANCIES}


def test_levels_of_redundancy_are_aligned_question_by_question(studies: dict[str, SuperClevr]) -> None:
    tables = {level: one.study.questions("val", "object") for level, one in studies.items()}
    for column in ("image_index", "answer", "referents", "question_family_index"):
        assert tables["rd-"][column] == tables["rd"][column] == tables["rd+"][column]
    lengths = [sum(map(len, tables[level]["program"].to_pylist())) for level in REDUNDANCIES]
    assert lengths == sorted(lengths) and lengths[0] < lengths[1] < lengths[2]
    assert studies["rd+"].gap(["object"]).trials[0].gap.gap.value == 0


def test_factors_are_combined_and_told(tmp_path: Path) -> None:
    few = SuperClevrScale("few", 4, 4, 4, 1, 1)
    given = {"distribution": "long", "composition": "co-2", "redundancy": "rd+", "complexity": "hard"}
    study = SuperClevr(few, **given, store=Store(tmp_path))
    assert given.items() <= study.settings.items()
    assert len(study.questions("object", "val")) == 4


def test_a_matrix_of_ones_own(tmp_path: Path) -> None:
    rows = {shape: {"red": 0.5, "blue": 0.5} for shape in WORLD.fleet.shapes}
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    found = variant(WORLD, pairs=str(tmp_path / "mine.json")).sample(20, Key(0))
    used = {WORLD.colors[code] for code in np.unique(found.codes["color"]) if code != ABSENT}
    assert used == {"red", "blue"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"sedan": {"red": 1}}, "must have a row of colors for each of"),
        ({shape: {"red": 0.5} for shape in WORLD.fleet.shapes}, "sum to 0.5, not to 1"),
        ({shape: {"mauve": 1} for shape in WORLD.fleet.shapes}, "needs probabilities by color"),
        ({shape: {"red": "1"} for shape in WORLD.fleet.shapes}, "needs probabilities by color"),
        ({shape: [1] for shape in WORLD.fleet.shapes}, "needs probabilities by color"),
    ],
)
def test_a_bad_matrix_is_refused(tmp_path: Path, rows: object, said: str) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    with pytest.raises(UserError, match=said):
        variant(WORLD, pairs=str(tmp_path / "mine.json"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"redundancy": "rd++"}, "no redundancy 'rd\\+\\+'"),
        ({"hold_out": "sedan"}, "no pair to hold out"),
        ({"hold_out": "sedan: red", "composition": "co-1"}, "give one of the two"),
        ({"hold_out": "sedan: " + ",".join(COLORS)}, "'sedan' has no color left"),
        ({"hold_out": "cart: red"}, "no vehicle 'cart'"),
        ({"hold_out": "sedan: pink"}, "no color 'pink' to hold out"),
        ({"swapped": True}, "swapped is for hold_out"),
        ({"composition": "co-9"}, "no composition 'co-9'"),
        ({"composition": "absent.json"}, "absent.json"),
        ({"distribution": "fat"}, "no distribution 'fat'"),
        ({"world": WORLD, "distribution": "long"}, "settings of the world"),
    ],
)
def test_what_is_no_variant_is_refused(given: dict, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        SuperClevr(**given, store=Store(tmp_path))


def test_held_out_pairs_never_occur_but_in_their_test(tmp_path: Path) -> None:
    few = SuperClevrScale("few", 150, 4, 4, 1, 1)
    for swapped in (False, True):
        study = SuperClevr(few, hold_out="car: red; suv: blue", swapped=swapped, store=Store(tmp_path))
        scenes, of = study.scenes("train"), {}
        for scene in range(len(scenes)):
            for one in scenes.objects(scene):
                of.setdefault(one["shape"], set()).add(one["color"])
        out = {"suv": {"red", "blue"}, "sedan": {"red"}}
        for shape, colors in out.items():
            assert of[shape] <= (colors if swapped else {*COLORS} - colors) and len(of[shape]) >= len(colors)
        assert len(of["jet"]) > 4


def test_all_variants_of_a_factor_are_made_side_by_side(tmp_path: Path) -> None:
    few = SuperClevrScale("few", 3, 3, 3, 1, 1)
    study = SuperClevr(few, store=Store(tmp_path / "store"))
    for factor, names in VARIANTS.items():
        made = study.make(tmp_path / factor, factor=factor)
        assert {one.name for one in made.iterdir()} == {*names}
    with pytest.raises(UserError, match="there is no factor 'taste'"):
        study.make(tmp_path / "taste", factor="taste")
