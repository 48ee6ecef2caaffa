"""CURI from scenes to gaps, on a tiny world."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from recombine import Curi
from recombine.benchmarks.curi.language import CURI_LOT
from recombine.benchmarks.curi.meaning import Plainly
from recombine.benchmarks.curi.pipeline import Scale
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.curi.study import own_split
from recombine.language.query import uses
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.store import Store

SMALL = Scale("small", scenes=40_000, draws=20_000, train=30, validation=10, test=40)
"""Three blocks of scenes, so that there is something to share among workers."""


def files_of(home: Path) -> dict[str, bytes]:
    """Every data file of a store, by stage, recipe and name."""
    return {
        str(f.relative_to(home)): f.read_bytes() for f in sorted(home.glob("*/*/*")) if f.suffix in (".parquet", ".npy")
    }


def test_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    made = []
    for workers in (1, 2):
        store = Store(tmp_path / str(workers))
        with Curi(SMALL, "release", workers=workers, store=store) as curi:
            curi.gap(["counting"])
            curi.make(splits=["counting"], negatives="easy")
        made.append(files_of(store.home))
    assert made[0].keys() == made[1].keys()
    assert [name for name in made[0] if made[0][name] != made[1][name]] == []
    assert {name.split("/")[0] for name in made[0]} == {
        "scenes",
        "candidates",
        "concepts",
        "table",
        "episodes",
        "answers",
    }


def test_another_seed_makes_another_world(tmp_path: Path, tiny: Curi) -> None:
    with Curi(tiny.study.setup.scale, "release", seed=1, store=Store(tmp_path)) as other:
        assert not np.array_equal(other.study.scenes.position, tiny.study.scenes.position)


def test_the_gap_is_zero_when_nothing_is_held_out(tiny: Curi) -> None:
    found = tiny.gap(["instance-iid"])
    assert [trial.metric for trial in found.trials] == ["mAP", "accuracy"]
    for trial in found.trials:
        assert trial.gap.gap.value == trial.gap.gap.low == trial.gap.gap.high == 0


def test_the_strong_oracle_is_at_least_as_good(tiny: Curi) -> None:
    for trial in tiny.gap(["binding-color", "binding-shape", "boolean"]).of("mAP"):
        assert trial.gap.gap.low > 0, trial.split


@pytest.mark.parametrize("negatives", ["hard", "easy"])
def test_labels_are_what_the_plain_meaning_says(tiny: Curi, negatives: str) -> None:
    study = tiny.study
    episodes = study.episodes("boolean", "test", negatives)
    for e in range(6):
        concept = study.space.concepts[episodes.concept[e]]
        for scene, label in zip(episodes.scene[e], episodes.label[e]):
            plain = Plainly(study.world.vocabulary, study.scenes.objects(int(scene)))
            assert bool(fold(concept, plain, {})) == bool(label)


def test_episodes_ask_about_concepts_of_their_side(tiny: Curi) -> None:
    for part in ("train", "test"):
        side = getattr(tiny.study.sides("boolean"), part)
        assert side[tiny.study.episodes("boolean", part, "hard").concept].all()


def test_the_probe_has_three_scenes_of_every_concept(tiny: Curi) -> None:
    study = tiny.study
    assert len(study.probe_scenes) == 3 * len(study.space)
    for i in range(0, len(study.space), 97):
        accepted = study.table.extension(int(study.space.sense[i]))
        assert accepted[study.probe_scenes[3 * i : 3 * i + 3]].all()


def test_strict_leaves_no_synonym_on_both_sides(tiny: Curi) -> None:
    study = tiny.study
    with Curi(study.setup.scale, "release", strict=True, store=study.store) as strict:
        for split in ("complexity", "boolean", "extrinsic", "concept-iid"):
            found, sense = strict.study.sides(split), strict.study.space.sense
            assert not set(sense[found.train]) & set(sense[found.test])


def test_the_papers_edition_and_the_release_differ_where_they_should(tiny: Curi) -> None:
    with Curi(tiny.study.setup.scale, "paper", store=tiny.study.store) as paper:
        assert paper.study.scenes.codes["locationX"][:, 0].min() >= 1
        assert tiny.study.scenes.codes["locationX"][:, 0].min() == 0
        mixed = tiny.study.sides("binding-color").dropped
        assert mixed.any()
        assert not paper.study.sides("binding-color").dropped.any()


def test_a_split_of_ones_own(tiny: Curi) -> None:
    study = tiny.study
    with Curi(study.setup.scale, "release", hold_out={"mine": "green & ~length>11"}, store=study.store) as curi:
        found = curi.study.sides("mine")
        greens = np.array([uses("green")(c) for c in curi.study.space.concepts])
        assert (found.test == (greens & (curi.study.space.length <= 11))).all()
        assert curi.gap(["mine"]).json()[0]["split"] == "mine"


def test_a_split_without_concepts_is_refused(tiny: Curi) -> None:
    tiny.study.splits["void"] = own_split("void", "green & length>99", CURI_LOT)
    with pytest.raises(UserError, match=r"void.*test side is empty"):
        tiny.gap(["void"])
    del tiny.study.splits["void"]


def test_concepts_of_ones_own(tmp_path: Path, tiny: Curi) -> None:
    own = tmp_path / "own.txt"
    own.write_text("# mine\nall(color?(S), blue)\nx color? green = S shape? cube exists= and lambda S. exists=\n" * 2)
    with Curi(tiny.study.setup.scale, concepts=own, store=tiny.study.store) as curi:
        assert curi.study.space.concepts == tuple(map(Speller().read, own.read_text().splitlines()[1:3]))
        assert len(curi.gap(["instance-iid"]).json()) == 2


def test_data_is_readable_without_our_code(tmp_path: Path, tiny: Curi) -> None:
    out = tiny.make(tmp_path / "data", ["boolean"])
    scenes = pd.read_parquet(out / "scenes")
    assert len(scenes) == 3_000
    assert set(scenes["color"].explode()) <= {"gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"}
    assert (scenes["color"].map(len) == scenes["count"]).all()
    episodes = pd.read_parquet(out / "episodes" / "boolean" / "hard" / "train")
    assert len(episodes) == 40
    assert all(len(row) == 25 for row in episodes["support"])
    file = next((out / "episodes" / "boolean" / "hard" / "train").glob("*.parquet"))
    recipe = json.loads(pq.read_schema(file).metadata[b"recombine.recipe"])
    assert recipe["stage"] == "episodes"
    assert recipe["parameters"]["split"] == "boolean"


def test_an_existing_folder_is_not_overwritten(tmp_path: Path, tiny: Curi) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        tiny.make(tmp_path, ["boolean"])
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_a_scale_too_large_for_the_disk_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    vast = Scale("vast", 10**12, 1_000, 10**9, 1, 1)
    with Curi(vast, store=Store(tmp_path)) as curi, pytest.raises(UserError, match="GB free"):
        curi.make()
    assert not list(tmp_path.glob("drafts/*")) and not list(tmp_path.glob("scenes/*"))


def test_gaps_over_meanings_have_the_same_values_and_wider_bounds(tiny: Curi) -> None:
    episodes, meanings = (tiny.study.gaps("counting", "hard", over) for over in ("episodes", "meanings"))
    for metric, found in meanings.items():
        assert found.gap.value == pytest.approx(episodes[metric].gap.value, abs=1e-9)
        assert found.over == "meanings"
    assert meanings["mAP"].gap.width > episodes["mAP"].gap.width
    with pytest.raises(UserError, match="over episodes or meanings, not over worlds"):
        tiny.study.gaps("counting", "hard", "worlds")


def test_published_numbers_stand_beside_the_published_tests_only(tiny: Curi) -> None:
    (exam,) = tiny.exams(["boolean"])
    assert "paper strong" in tiny.published(exam, "mAP")
    for other in {"strict": True}, {"objects": "2-3"}, {"whole_language": True}:
        with tiny.again(**other) as study:
            assert study.published(exam, "mAP") == {}
