"""CURI's networks from the command line: train, test, table; and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch as Patch

from recombine.benchmarks import networks
from recombine.benchmarks.curi import networks as of_curi
from recombine.store.errors import UserError
from recombine.verbs import learners
from tests.commands import Run, refused

TRAIN = ("train", "curi", "--split", "counting", "--model", "avg-pool", "--edition", "release", "--workers", "1")
SHORT = ("--steps", "2", "--validate-every", "1", "--episodes", "8")


@pytest.fixture(scope="module")
def runs(own_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One short run."""
    out = tmp_path_factory.mktemp("runs")
    short = {"steps": 2, "validate_every": 1, "episodes": 8, "workers": 1}
    learners.train("curi", ["counting"], ["avg-pool"], out=out, edition="release", alpha=1, **short)
    return out


def test_train_test_and_table(invoke: Run, tmp_path: Path, monkeypatch: Patch):
    monkeypatch.setattr(of_curi, "REFERENCE", 16)
    out = tmp_path / "runs"
    made = invoke(*TRAIN, *SHORT, "--alpha", "1", "--out", str(out), "--json")
    (row,) = json.loads(made.out)
    assert row["run"] == "schema-avg-pool-counting-hard-alpha1-0" and row["steps"] == 2
    folder = out / f"curi-{row['run']}"
    assert "on cpu, float32, 1 thread" in made.err
    results = (folder / "results.json").read_bytes()
    again = invoke("eval", str(folder))
    assert again.code == 0 and "oracle" in again.out and "written" in again.out
    assert "8 episodes" in again.said
    assert "4 episodes" in learners.evaluate(folder, episodes=4)[0].note
    assert (folder / "results.json").read_bytes() == results
    told = json.loads(invoke("eval", str(folder), "--json").out)
    assert isinstance(told, list) and told[0][0]["mAP, strong oracle"] > 80
    assert told[0][0]["mAP"]["value"] == pytest.approx(row["mAP"]), "as many episodes as before"
    page = invoke("table", "curi", str(out), "--out", str(out / "page.md"))
    text = (out / "page.md").read_text()
    assert page.code == 0 and "Table 2, mAP" in text
    assert "**Baselines and ideal learners, counting, scale demo**" in text and "| nearest | " in text
    shown = invoke("table", "curi", str(out))
    assert shown.code == 0 and "Table 2, accuracy" in shown.out
    assert len(json.loads(invoke("table", "curi", str(out), "--json").out)) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "vgg"), "no network 'vgg'"),
        (("--split", "nowhere"), "no split 'nowhere'"),
        (("--modality", "smell"), "'smell' is not one of 'schema', 'image', 'sound'"),
        (("--alpha", "-1"), "alpha must be a number of at least 0"),
        (("--epochs", "3"), "No such option: --epochs"),
        (("--rate", "0"), "the rate must be a number above 0, such as 0.001, not 0"),
        (("--rate", "inf"), "the rate must be a number above 0, such as 0.001, not inf"),
        (("--device", "tpu"), "'tpu' is not one of 'auto', 'cpu'"),
        (("--size", "huge"), "'huge' is no size"),
        (("--concepts", "my.concepts"), "No such option: --concepts"),
        (("--negatives", "medium"), "'medium' is not one of 'hard', 'easy'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_made(
    invoke: Run, tmp_path: Path, options: tuple[str, ...], said: str
):
    runs = tmp_path / "runs"
    refused(invoke(*TRAIN, *SHORT, "--out", str(runs), *options), said)
    assert not runs.exists()


def test_options_that_a_run_decides_are_refused(invoke: Run, runs: Path):
    (run,) = runs.glob("curi-*-0")
    for option in (("--scale", "paper"), ("--seed", "3"), ("--workers", "2")):
        refused(invoke("eval", str(run), *option), f"No such option: {option[0]}")
    for option in (("--solver", "chance"), ("--seeds", "2")):
        refused(invoke("eval", str(run), *option), "are for benchmarks; leave them out to test a run")
    with pytest.raises(UserError, match="curi has no option 'steps' to test a run"):
        learners.evaluate(run, steps=3)
    with pytest.raises(
        UserError, match="curi has no option 'epochs' to train; it has modality, negatives, alpha, edition"
    ):
        learners.train("curi", epochs=3)
    with pytest.raises(UserError, match="modality must be one of schema, image, sound, not 'smell'"):
        learners.train("curi", modality="smell")
    refused(invoke("eval", str(runs)), f"give one of its folders, such as {run}")


def test_a_short_training_is_as_short_as_it_was_asked_to_be(invoke: Run, tmp_path: Path):
    made = invoke(*TRAIN, "--steps", "3", "--episodes", "8", "--out", str(tmp_path), "--json")
    assert json.loads(made.out)[0]["steps"] == 3


def test_a_run_without_a_checkpoint_does_not_stand_in_the_way(invoke: Run, tmp_path: Path):
    ran = invoke(*TRAIN, *SHORT, "--rate", "1e30", "--out", str(tmp_path))
    assert ran.code == 2 and "lower the rate" in ran.err.splitlines()[-1]
    assert not list(tmp_path.glob("*/checkpoints/*"))
    assert invoke(*TRAIN, *SHORT, "--out", str(tmp_path)).code == 0


def test_one_run_that_fails_does_not_keep_the_others_from_being_done(invoke: Run, tmp_path: Path, monkeypatch: Patch):
    learn = networks.learn

    def failing(job: networks.Job, *words: Any) -> Path:
        if job.seed == 0:
            raise UserError("the loss is no longer a number")
        return learn(job, *words)

    monkeypatch.setattr(networks, "learn", failing)
    said = "1 of 2 runs failed, the others are done; curi-schema-avg-pool-counting-hard-0: the loss is no longer"
    ran = invoke(*TRAIN, *SHORT, "--seeds", "2", "--out", str(tmp_path))
    assert ran.code == 2 and ran.err.splitlines()[-1].startswith(f"Error: {said}")
    assert [run.parent.name for run in tmp_path.glob("*/results.json")] == ["curi-schema-avg-pool-counting-hard-1"]


def test_another_run_is_refused_before_data_are_made(invoke: Run, runs: Path, monkeypatch: Patch):
    monkeypatch.setattr(of_curi.CuriPipeline, "split", None)
    words = (*TRAIN, *SHORT, "--alpha", "1", "--out", str(runs), "--seed", "5")
    refused(invoke(*words), "its data_seed is 0, here it is 5; choose another folder")


def test_a_file_is_no_folder_for_runs(invoke: Run, tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "runs"):
        refused(invoke(*TRAIN, *SHORT, "--out", str(out)), f"{tmp_path / 'file'} is a file, not a folder")


def test_an_empty_folder_has_no_table(invoke: Run, tmp_path: Path):
    refused(invoke("table", "curi", str(tmp_path)), "no finished runs of curi")


def test_a_run_of_another_benchmark_is_refused(invoke: Run, runs: Path, tmp_path: Path):
    (run,) = runs.glob("curi-*-0")
    config = json.loads((run / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"benchmark": "clevr"}))
    refused(invoke("eval", str(tmp_path)), "no networks for 'clevr'")
