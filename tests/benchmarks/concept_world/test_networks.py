"""Networks on ConceptWorld's experiments: what they see, what they cannot see, and the runs they leave."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from recombine.benchmarks.concept_world import pipeline as of_study
from recombine.benchmarks.concept_world.examples import Eye, examples
from recombine.benchmarks.concept_world.findings import CURRICULUM
from recombine.benchmarks.concept_world.networks import NETWORKS, PAPER, Options
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.benchmarks.networks import Job, examine, job_of, learn
from recombine.metrics.confusion import f1
from recombine.render.grid import paint
from recombine.solvers.networks.images import build
from recombine.solvers.pictures import answer, held_back
from recombine.solvers.training.records import read_config
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.tasks.made_splits import MadeSplit

BRIEFLY = replace(PAPER, epochs=2)


def a_job(split: str, model: str = "mlp", **own: Path) -> Job:
    return Job("concept-world", split, model, scale="tiny", options=Options(**own), training=BRIEFLY)


def study_of(job: Job, home: Path) -> ConceptWorldPipeline:
    return NETWORKS.study(job, Store(home), InProcess())


@pytest.fixture(scope="module")
def study(own_home: Path) -> ConceptWorldPipeline:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(of_study.SHARES, "tiny", 0.02)
        return ConceptWorldPipeline("tiny", 0, Store(own_home))


@pytest.fixture(autouse=True)
def tiny_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(of_study.SHARES, "tiny", 0.02)


def test_a_solver_sees_the_images_of_the_experiment(study: ConceptWorldPipeline) -> None:
    table = study.samples("sequences", "length_5")
    seen = Eye(32, 32)(examples(study, "sequences", "length_5").scenes)
    assert np.array_equal(seen, paint(study.images(table), study.library.grid.colors))


def test_predictions_ignore_hidden_columns(study: ConceptWorldPipeline) -> None:
    asked = examples(study, "sequences", "length_3")
    other = replace(asked, concept=asked.concept[::-1], target=(asked.target + 1) % 3, concepts=asked.concepts[::-1])
    network = build("cnn", 32, 3, Key(0))
    said, again = (answer(network, Eye(32, 32), one.observed(), BRIEFLY) for one in (asked, other))
    assert np.array_equal(said, again) and said.sum(axis=1) == pytest.approx(np.ones(len(said)))
    assert len(asked.observed().shown) == 0


def test_a_tenth_of_every_class_is_held_back() -> None:
    target = np.repeat([0, 1, 2], [100, 50, 4])
    held = held_back(target, Key(0))
    assert np.bincount(target[held]).tolist() == [10, 5, 1]
    assert not np.array_equal(held, held_back(target, Key(1)))


def test_a_run_is_trained_tested_and_found_again(study: ConceptWorldPipeline, tmp_path: Path) -> None:
    job = a_job("sequences", "mlp")
    folder = learn(job, study, tmp_path)
    found = json.loads((folder / "results.json").read_text())
    assert folder.name == "concept-world-sequences-mlp-0" and found["epochs"] == 2 and found["parameters"] == 410_243
    for test, matrix in found["confusion"].items():
        asked = np.bincount(examples(study, "sequences", test).target)
        assert np.array_equal(np.sum(matrix, axis=1), asked) and f1(np.array(matrix)).tolist() == found["f1"][test]
    assert examine(folder, study) | {"length": read_config(folder)["length"]} == found
    (folder / "results.json").unlink()
    assert json.loads((learn(job, study, tmp_path) / "results.json").read_text()) == found


def test_a_curriculum_learns_its_first_classes_first(study: ConceptWorldPipeline, tmp_path: Path) -> None:
    assert [name for name in NETWORKS.splits(study) if name.endswith(CURRICULUM)] == ["substitution-curriculum"]
    plain, staged = (
        json.loads((learn(a_job(name, "mlp"), study, tmp_path) / "results.json").read_text())
        for name in ("substitution", "substitution-curriculum")
    )
    assert plain["epochs"] == 2 and staged["epochs"] == 22
    assert staged["best_step"] > 20 and plain["classes"] == staged["classes"]


def test_images_of_another_kind_are_refused(study: ConceptWorldPipeline, tmp_path: Path) -> None:
    job = a_job("sequences", "mlp")
    folder = learn(job, study, tmp_path)
    other = ConceptWorldPipeline("tiny", 1, study.store)
    with pytest.raises(UserError, match="was trained on other data"):
        examine(folder, other)
    with pytest.raises(UserError, match="holds another run: its data is"):
        learn(job, other, tmp_path)


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (a_job("chess"), "there is no experiment 'chess'; choose one of sequences"),
        (a_job("sequences", "vgg"), "there is no network 'vgg'; choose one of mlp"),
        (a_job("sequences", "resnet", weights=Path("nowhere.pth")), "there is no file nowhere.pth"),
    ],
)
def test_a_job_that_cannot_be_done_is_refused(study: ConceptWorldPipeline, tmp_path: Path, job: Job, said: str) -> None:
    with pytest.raises(UserError, match=said):
        learn(job, study, tmp_path)
    assert not list(tmp_path.iterdir())


def test_experiments_of_ones_own_are_trained_and_tested_again_without_their_file(
    own_home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.concepts"
    file.write_text(
        'experiment mine "Red and blue squares":\n'
        "    train:\n        red  800 of red_square\n        blue 800 of blue_square\n"
        "    test rows:\n        red  400 of red_seq where depth(east_seq) == 2\n"
        "        blue 400 of blue_seq where depth(east_seq) == 2\n"
    )
    job = a_job("mine", concepts=file)
    study = study_of(job, own_home)
    assert NETWORKS.splits(study) == ("mine",)
    folder = learn(job, study, tmp_path)
    found = json.loads((folder / "results.json").read_text())
    file.unlink()
    again = job_of(read_config(folder), folder)
    assert again == replace(job, options=Options(concepts=folder / "own.concepts"))
    assert examine(folder, study_of(again, own_home)).items() <= found.items()


def test_the_other_readings_of_the_paper_can_be_drawn(own_home: Path) -> None:
    file = Path(__file__).parents[3] / "experiments" / "concept_world_readings.concepts"
    study = study_of(a_job("", concepts=file), own_home)
    assert NETWORKS.splits(study) == ("sequences_one_odd", "sequences_few_odd", "substitution_three_colours")
    for split, many in (("sequences_one_odd", {4}), ("sequences_few_odd", {4, 8})):
        rows = [row for row in study.samples(split, "length_5").to_pylist() if row["label"] == "mixed"]
        assert {min(row["color"].count(color) for color in set(row["color"])) for row in rows} == many


def test_a_split_that_was_made_is_learnt_experiment_by_experiment(own_home: Path, tmp_path: Path) -> None:
    pairs = (("sequences: depth(east_seq) 3", "sequences: red_seq"),)
    file = MadeSplit("mine", "own", "concept-world", pairs).write(tmp_path / "mine.json")
    study = study_of(a_job(""), own_home)
    assert NETWORKS.know(study, str(file)) == ["mine-sequences"]
    job = replace(a_job("mine-sequences"), made=str(file))
    folder = learn(job, study, tmp_path)
    found = json.loads((folder / "results.json").read_text())
    assert {*found["f1"]} == {"held_out"} and found["classes"] == list(study.experiment("sequences").classes)
    file.unlink()
    again = job_of(read_config(folder), folder)
    assert again == replace(job, made=str(folder / "split.json"))
    assert examine(folder, NETWORKS.open(again, Store(own_home), InProcess())).items() <= found.items()
