"""CURI's networks from the command line: train, test, table; and what is refused."""

import json
from pathlib import Path

import pytest

from tests.commands import Run, refused

TRAIN = ("train", "curi", "--split", "counting", "--model", "avg-pool", "--scale", "demo", "--workers", "1")
SHORT = ("--steps", "2", "--validate-every", "1", "--episodes", "8")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def test_train_test_and_table(invoke: Run, out: Path):
    made = invoke(*TRAIN, *SHORT, "--alpha", "1", "--out", str(out), "--json")
    (row,) = json.loads(made.out)
    assert row["run"] == "schema-avg-pool-counting-hard-alpha1-0" and row["steps"] == 2
    folder = out / f"curi-{row['run']}"
    assert "on cpu, float32, 1 thread" in made.err
    again = invoke("eval", str(folder), "--episodes", "8")
    assert again.code == 0 and "strong oracle" in again.out and "written" in again.out
    page = invoke("table", "curi", str(out), "--out", str(out / "page.md"))
    assert page.code == 0 and "Table 2, mAP" in (out / "page.md").read_text()
    shown = invoke("table", "curi", str(out))
    assert shown.code == 0 and "Table 2, accuracy" in shown.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "vgg"), "no pooling 'vgg'"),
        (("--split", "nowhere"), "no split 'nowhere'"),
        (("--modality", "smell"), "no modality 'smell'"),
        (("--alpha", "-1"), "alpha must be a number of at least 0"),
        (("--epochs", "3"), "curi has no option --epochs"),
        (("--device", "tpu"), "no device 'tpu'"),
        (("--size", "huge"), "'huge' is no size"),
        (("--experiment", "sequences"), "not both"),
        (("--negatives", "medium"), "no kind of negatives 'medium'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_made(
    invoke: Run, tmp_path: Path, options: tuple[str, ...], said: str
):
    runs = tmp_path / "runs"
    refused(invoke(*TRAIN, *SHORT, "--out", str(runs), *options), said)
    assert not runs.exists()


def test_an_empty_folder_has_no_table(invoke: Run, tmp_path: Path):
    refused(invoke("table", "curi", str(tmp_path)), "no finished runs of curi")


def test_a_run_of_another_benchmark_is_refused(invoke: Run, out: Path, tmp_path: Path):
    (run,) = out.glob("curi-*-0")
    config = json.loads((run / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"benchmark": "super-clevr"}))
    refused(invoke("eval", str(tmp_path)), "no networks for 'super-clevr'")
