"""NSVQA and P-NSVQA: who sees everything as it is answers as the benchmark does."""

import numpy as np
import pytest

from recombine.benchmarks.clevr.answers import answers_of
from recombine.benchmarks.super_clevr.exam import examples
from recombine.benchmarks.super_clevr.meaning import Soft, parts_of
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline, SuperClevrScale
from recombine.benchmarks.super_clevr.questions import Asking
from recombine.benchmarks.super_clevr.reasoning import REASONERS, Joint, beliefs_of, how_many, likeliest, on_the_ground
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.solvers.closer import PartsSeen
from recombine.solvers.perception import Perceived
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.tasks.examples import Examples
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes

WORLD = VehicleWorld()


def as_seen(scenes: Scenes, world: VehicleWorld) -> Perceived:
    """What someone perceives who sees everything as it is."""
    n, k = len(scenes), scenes.places
    there = places_taken(scenes.count, k)
    beliefs = {
        name: np.eye(len(world.vocabulary[name].values))[np.where(there, scenes.codes[name], 0)]
        for name in ("size", "color", "material", "shape", "texture")
    }
    parts, names = parts_of(scenes), len(world.fleet.part_names)
    chance, looks = np.zeros((n, k, names)), {}
    for look in ("color", "material", "texture"):
        looks[look] = np.zeros((n, k, names, len(world.vocabulary[look].values)))
    for scene, part in np.argwhere(parts.owner < k):
        spot = scene, parts.owner[scene, part], parts.codes["partname"][scene, part]
        chance[spot] = 1
        for look in ("color", "material"):
            looks[look][(*spot, parts.codes[look][scene, part])] = 1
    blank = np.zeros((n, k, 2))
    return Perceived(
        scenes.count,
        there.astype(float),
        blank,
        blank,
        np.zeros((n, k, 4)),
        scenes.position[..., :2],
        np.full((n, k, 2), 1e-4),
        beliefs,
        np.zeros(n),
        PartsSeen(chance, looks),
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> SuperClevrPipeline:
    scale = SuperClevrScale("tiny", 2, 2, 12, 10, 6)
    return SuperClevrPipeline(scale, 0, Store(tmp_path_factory.mktemp("store")), asking=Asking(WORLD))


def asked(study: SuperClevrPipeline, kind: str) -> Examples:
    return examples(study.questions("test", kind), study.scenes("test"), 0, study.asking, True)


@pytest.mark.parametrize("kind", ["object", "part"])
@pytest.mark.parametrize("name", ["nsvqa", "p-nsvqa-joint"])
def test_who_sees_everything_answers_as_the_benchmark_does(study: SuperClevrPipeline, kind: str, name: str) -> None:
    test = asked(study, kind)
    programs = [test.concepts[i] for i in test.concept]
    seen = as_seen(test.scenes, WORLD)
    said = REASONERS[name](programs, test.scene, seen, WORLD, study.asking.dialect)
    assert said.shape == (len(programs), len(answers_of(study.asking.dialect)))
    np.testing.assert_allclose(said.sum(axis=1), 1)
    np.testing.assert_array_equal(said.argmax(axis=1), test.target)


def test_the_likeliest_scene_of_who_sees_everything_is_the_scene(study: SuperClevrPipeline) -> None:
    scenes = study.scenes("test")
    found = likeliest(as_seen(scenes, WORLD), WORLD)
    for i in range(len(scenes)):
        for mine, true in zip(found.objects(i), scenes.objects(i), strict=True):
            assert {mine[f"part_{slot}"] for slot in (1, 2, 3)} == {true[f"part_{slot}"] for slot in (1, 2, 3)}
            assert all(mine[name] == true[name] for name in ("size", "color", "material", "shape"))


def test_appendix_e_counts_what_is_surer_than_its_threshold(study: SuperClevrPipeline) -> None:
    dialect = study.asking.dialect
    program = dialect.signature.parse("count(filter[color,red](scene))")
    seen = as_seen(study.scenes("test"), WORLD)
    red = WORLD.vocabulary["color"].code("red")
    belief = np.zeros_like(seen.beliefs["color"])
    belief[..., red] = 0.72
    belief[:, 0, red] = 0.69
    doubtful = Perceived(**{**vars(seen), "beliefs": {**seen.beliefs, "color": belief}})
    said = REASONERS["p-nsvqa"]([program], np.array([0]), doubtful, WORLD, dialect)
    assert said.argmax() == 2 + int(seen.count[0]) - 1  # after no and yes, numbers


def test_a_description_of_one_object_fits_this_one_and_no_other(study: SuperClevrPipeline) -> None:
    """Appendix E shares attention in proportion; jointly, the surer one leaves less to the others."""
    beliefs = beliefs_of(as_seen(study.scenes("test")[:1], WORLD), study.asking.dialect)
    fits = np.zeros((1, 10))
    fits[0, :2] = 0.9, 0.3
    assert Soft(beliefs, study.asking.dialect).unique(fits)[0, :2].tolist() == pytest.approx([0.75, 0.25])
    odds = np.array([9.0, 3 / 7])
    assert Joint(beliefs, study.asking.dialect).unique(fits)[0, :2].tolist() == pytest.approx(odds / odds.sum())


def test_how_many_agrees_with_all_cases() -> None:
    chances = Key(1).rng().random(6)
    wanted = np.zeros(11)
    for case in range(2**6):
        there = np.array([case >> i & 1 for i in range(6)], bool)
        wanted[there.sum()] += np.where(there, chances, 1 - chances).prod()
    np.testing.assert_allclose(how_many(chances[None])[0], wanted)


def test_what_is_surely_placed_is_surely_beyond(study: SuperClevrPipeline) -> None:
    from recombine.benchmarks.clevr.meaning import Beliefs

    scenes = study.scenes("test")
    certain, soft = Beliefs.certain(scenes), on_the_ground(as_seen(scenes, WORLD))
    there = places_taken(scenes.count, scenes.places)
    both = there[:, None, :] & there[:, :, None]
    for way, chance in soft.items():
        np.testing.assert_array_equal(chance[both] > 0.5, certain.beyond[way][both] > 0.5)
