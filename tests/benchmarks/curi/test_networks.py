"""CURI's networks on its splits: the runs they leave, and the jobs that cannot be done."""

import json
from dataclasses import fields, replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine import Curi
from recombine.benchmarks import networks as of_networks
from recombine.benchmarks.curi.edition import edition
from recombine.benchmarks.curi.exam import ANSWERS, mark, piece
from recombine.benchmarks.curi.networks import NETWORKS, PAPER, SETTINGS, Options
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.benchmarks.curi.validation import Validation, words_of
from recombine.benchmarks.networks import Job, examine, job_of, learn
from recombine.solvers.modalities import Modality
from recombine.solvers.networks.images import parameters
from recombine.solvers.networks.prototype import Plan, build
from recombine.solvers.prototypes import EpisodeObjective, PrototypeSolver
from recombine.solvers.sitting import answered
from recombine.solvers.training.records import read_config, read_metrics, runs_of
from recombine.store.errors import UserError
from recombine.tasks.episodes import Episodes

BRIEFLY = replace(PAPER, batch=8, steps=4, validate_every=2, checkpoint_every=0.0)
JOB = Job("curi", "boolean", "avg-pool", scale="tiny", options=Options(edition="release"), training=BRIEFLY)
BRIEF = replace(JOB, options=replace(JOB.options, episodes=8))


def but(job: Job = JOB, **changed: Any) -> Job:
    """A job with some of its fields or options changed."""
    own = {one.name: changed.pop(one.name) for one in fields(Options) if one.name in changed}
    return replace(job, options=replace(job.options, **own), **changed)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def study(tiny: Curi) -> CuriPipeline:
    return tiny.study


@pytest.fixture(scope="module")
def finished(study: CuriPipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nobody changes."""
    return learn(BRIEF, study, tmp_path_factory.mktemp("runs"))


@pytest.fixture
def elsewhere(study: CuriPipeline) -> CuriPipeline:
    """The same scenes and concepts, with other episodes."""
    return CuriPipeline(replace(study.setup, scale=replace(study.setup.scale, train=41)), study.store)


def checkpoints(folder: Path) -> list[bytes]:
    return [(folder / "checkpoints" / f"{name}.safetensors").read_bytes() for name in ("last", "best")]


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text())


# --- runs


@pytest.mark.parametrize("pooling", ["avg-pool", "relation-net"])
def test_a_run_in_mixed_precision_writes_concepts_too(study: CuriPipeline, tmp_path: Path, pooling: str) -> None:
    mixed = replace(BRIEFLY, steps=2, precision="bfloat16")
    found = told(learn(but(BRIEF, model=pooling, alpha=1.0, training=mixed), study, tmp_path))
    assert found["steps"] == 2 and found["written"]["episodes"] == 8


def test_the_editions_have_networks_and_words_of_their_own(study: CuriPipeline) -> None:
    paper = CuriPipeline(replace(study.setup, edition=edition("paper")), study.store)
    job = but(model="relation-net", alpha=1.0)
    sizes = [parameters(NETWORKS.network(job, one)) for one in (study, paper)]
    assert sizes[1] - sizes[0] == 4 * 2 * 256  # the norms of g
    concept = study.space.concepts[0]
    words = [words_of(one) for one in (study, paper)]
    release, prefix = (one.text(one.numbers([concept])[0]) for one in words)
    assert sorted(release.split()) == sorted(prefix.split()) and release != prefix


@pytest.mark.parametrize(("alpha", "sized", "ending"), [(0, 460_980, "hard-0"), (1, 932_449, "hard-alpha1-0")])
def test_a_run_is_trained_tested_and_found_again(
    study: CuriPipeline, tmp_path: Path, alpha: float, sized: int, ending: str
) -> None:
    job = but(alpha=alpha)
    folder = learn(job, study, tmp_path)
    found = told(folder)
    assert folder.name == f"curi-schema-avg-pool-boolean-{ending}" and found["parameters"] == sized
    assert (found["steps"], found["episodes"]) == (4, 60) and found["best_step"] in (2, 4)
    assert all(0 <= score["low"] <= score["value"] <= score["high"] <= 1 for score in found["scores"].values())
    assert list(found["scores"]) == ["mAP", "accuracy"]
    ((run, config, result),) = runs_of(tmp_path, "curi")
    assert (run, job_of(config, run), result) == (folder, job, found)
    length = {"length": read_config(folder)["length"]}
    assert json.loads(json.dumps(examine(folder, study))) | length == found == told(folder)
    measured = {row.name: row.value for row in read_metrics(folder) if row.step == found["best_step"]}
    assert measured["validation/mAP"] == found["validation"]


def test_what_the_decoder_writes_is_judged(study: CuriPipeline, tmp_path: Path) -> None:
    found = told(learn(but(alpha=1.0, episodes=20), study, tmp_path))["written"]
    assert found["episodes"] == 20 and len(found["examples"]) == 8
    assert all(0 <= found[name] <= 1 for name in ("well_formed", "consistent", "synonym"))
    assert all(meant.split()[-1] in ("S.", "exists=", "for-all=") for meant, _ in found["examples"])  # postfix
    assert told(learn(but(episodes=20), study, tmp_path))["written"] is None


@pytest.mark.parametrize("episodes", [20, 2_000])
def test_a_finished_run_is_not_tested_again(
    study: CuriPipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, episodes: int
) -> None:
    """Also where there are fewer test episodes than were asked for."""
    folder = learn(but(episodes=episodes), study, tmp_path)
    before = told(folder)
    monkeypatch.setattr(of_networks, "examine", None)
    assert learn(but(episodes=episodes), study, tmp_path) == folder and told(folder) == before


def test_more_steps_go_on_as_if_they_had_been_asked_for_at_once(
    study: CuriPipeline, finished: Path, tmp_path: Path
) -> None:
    learn(but(BRIEF, training=replace(BRIEFLY, steps=2)), study, tmp_path)
    folder = learn(BRIEF, study, tmp_path)
    assert checkpoints(folder) == checkpoints(finished)
    one, other = ({**told(run), "seconds": None, "cpu_seconds": None} for run in (folder, finished))
    assert one == other


def test_a_concept_that_does_not_count_is_not_learnt(study: CuriPipeline) -> None:
    """Without alpha there is no decoder; with it, the network begins the same."""
    plain, writing = (NETWORKS.network(but(alpha=alpha), study) for alpha in (0.0, 1.0))
    assert plain.decoder is None and writing.decoder is not None
    assert all(torch.equal(value, writing.state_dict()[name]) for name, value in plain.state_dict().items())


@pytest.mark.parametrize(("modality", "size"), [("image", "36x24"), ("sound", "240x160")])
def test_pictures_and_sounds_are_learnt_from(study: CuriPipeline, modality: str, size: str) -> None:
    """One step of two episodes, as a run takes it."""
    job = but(modality=modality, size=size, training=SETTINGS[modality])
    network, sight = NETWORKS.network(job, study), NETWORKS.modality(job, study).open(study.scenes)
    episodes = study.episodes("boolean", "train", "hard")
    few = Episodes(episodes.concept[:2], *(column[:2, [0, 1, 5, 6, 25, 30]] for column in episodes[1:]))
    loss = EpisodeObjective(network, sight, few, lambda *_: {}).loss(np.arange(2))
    loss.backward()
    assert torch.isfinite(loss) and all(weight.grad is not None for weight in network.parameters())


# --- validation


@pytest.mark.parametrize("pooling", ["avg-pool", "relation-net"])
def test_validation_measures_what_the_exam_does(study: CuriPipeline, pooling: str) -> None:
    validation, modality = Validation(study, "boolean", "hard"), Modality("schema")
    network = build(Plan("schema", pooling, (5, 19)), but(model=pooling).key).eval()
    with torch.no_grad():
        found = validation(network, modality.open(study.scenes))
    asked = piece(study, validation.some)
    said = answered(PrototypeSolver(network, modality, BRIEFLY), asked)
    marks = mark(validation.some.size, asked, said)
    assert found["mAP"] == pytest.approx(marks["mAP"].mean(), rel=1e-3)
    assert found["accuracy"] == pytest.approx(marks["accuracy"].mean(), rel=1e-3)
    query = np.tile(np.arange(len(said) // len(validation.some.concept)) < validation.some.size, len(marks["mAP"]))
    right = said[query, asked.asked[query]]
    assert ANSWERS == ("no", "yes") and found["loss"] == pytest.approx(-np.log(right).mean(), rel=1e-4)


# --- what cannot be done


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (but(seed=1), "its seed is 0, here it is 1"),
        (but(model="concat"), "its network.pooling is 'avg-pool', here it is 'concat'"),
        (but(negatives="easy"), "its negatives is 'hard', here it is 'easy'"),
        (but(training=replace(BRIEFLY, rate=0.01)), "its training.rate is 0.001, here it is 0.01"),
        (but(alpha=0.5), "its alpha is 0.0, here it is 0.5"),
    ],
)
def test_a_folder_of_another_run_is_refused(
    study: CuriPipeline, finished: Path, tmp_path: Path, other: Job, said: str
) -> None:
    copytree(finished, tmp_path / other.name)
    with pytest.raises(UserError, match=f"holds another run: {said}; choose another folder"):
        learn(other, study, tmp_path)
    assert checkpoints(tmp_path / other.name) == checkpoints(finished)


def test_other_episodes_are_refused(study: CuriPipeline, elsewhere: CuriPipeline, finished: Path) -> None:
    before = told(finished)
    with pytest.raises(UserError, match="was trained on other data than these of 'boolean'; train again"):
        examine(finished, elsewhere)
    with pytest.raises(UserError, match=r"holds another run: its data\.train is"):
        learn(BRIEF, elsewhere, finished.parent)
    assert told(finished) == before


def test_a_run_of_another_benchmark_is_refused(study: CuriPipeline, finished: Path, tmp_path: Path) -> None:
    folder = copytree(finished, tmp_path / "other")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "benchmark": "concept-world"}))
    with pytest.raises(UserError, match="other is no run that can be read"):
        examine(folder, study)
    assert not list(runs_of(tmp_path, "curi"))


@pytest.mark.parametrize("name", ["data", "benchmark", "split", "network", "seed", "training", "length", "scale"])
def test_a_run_whose_config_lacks_something_is_refused(
    study: CuriPipeline, finished: Path, tmp_path: Path, name: str
) -> None:
    folder = copytree(finished, tmp_path / "other")
    config = json.loads((folder / "config.json").read_text())
    for damaged in ({key: one for key, one in config.items() if key != name}, {**config, name: None}):
        (folder / "config.json").write_text(json.dumps(damaged))
        with pytest.raises(UserError):
            examine(folder, study)


def test_a_loss_that_is_no_number_leaves_the_last_good_checkpoint(
    study: CuriPipeline, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copytree(finished, tmp_path / JOB.name)
    loss = EpisodeObjective.loss
    monkeypatch.setattr(EpisodeObjective, "loss", lambda self, rows: loss(self, rows) * float("nan"))
    with pytest.raises(UserError, match=r"the loss is no longer a number at step 4; the last good checkpoint is"):
        learn(but(training=replace(BRIEFLY, steps=6)), study, tmp_path)
    assert checkpoints(folder) == checkpoints(finished) and told(folder) == told(finished)


def test_a_rate_far_too_high_is_told(study: CuriPipeline, tmp_path: Path) -> None:
    fast = but(training=replace(BRIEFLY, rate=1e30, checkpoint_every=1e9))
    with pytest.raises(UserError, match=r"no longer (a number|numbers) at step \d; .*lower the rate, now 1e\+30"):
        learn(fast, study, tmp_path)
    assert not [results for _, _, results in runs_of(tmp_path, "curi") if results]


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (but(model="max-pool"), "there is no network 'max-pool'; choose one of avg-pool"),
        (but(modality="smell"), "modality must be one of schema, image, sound, not 'smell'"),
        (but(negatives="soft"), "negatives must be one of hard, easy, not 'soft'"),
        (but(size="huge"), "'huge' is no size"),
        (but(episodes=0), "episodes must be at least 1, not 0"),
        (but(split="moon"), "CURI has no split 'moon'; choose one of"),
        (but(alpha=-1.0), "alpha must be a number of at least 0, such as 1, not -1"),
        (but(alpha=float("nan")), "alpha must be a number of at least 0, such as 1, not nan"),
    ],
)
def test_a_job_that_cannot_be_done_is_refused(study: CuriPipeline, tmp_path: Path, job: Job, said: str) -> None:
    with pytest.raises(UserError, match=said):
        learn(job, study, tmp_path)
    assert not list(tmp_path.iterdir())
