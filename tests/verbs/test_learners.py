"""The verbs of networks: several runs at once, tested again, in one table beside the paper."""

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pytest
from rich.console import Console

from recombine.benchmarks import reference_scores as of_beside
from recombine.benchmarks.concept_world import pipeline as of_study
from recombine.benchmarks.concept_world.published import F1, FURTHER, MODELS
from recombine.report.training_progress import ProgressPrinter
from recombine.solvers.training import settings
from recombine.store.errors import UserError
from recombine.verbs import learners
from tests.commands import Run, refused


@pytest.fixture(scope="module")
def runs(own_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short runs in processes of their own."""
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    out = tmp_path_factory.mktemp("runs")
    learners.train("concept-world", ["sequences"], ["mlp"], seeds=2, out=out, scale="demo", workers=2, epochs=1)
    return out


def test_every_seed_is_a_run_of_its_own(runs: Path) -> None:
    assert sorted(run.name for run in runs.iterdir()) == [f"concept-world-sequences-mlp-{seed}" for seed in (0, 1)]


def test_a_run_is_the_same_in_whatever_process(runs: Path, tmp_path: Path) -> None:
    learners.train("concept-world", ["sequences"], ["mlp"], first_seed=1, out=tmp_path, scale="demo", epochs=1)
    here, there = (
        (folder / "concept-world-sequences-mlp-1/checkpoints/last.safetensors").read_bytes()
        for folder in (runs, tmp_path)
    )
    assert here == there


def test_runs_on_less_data_have_none_of_the_papers_numbers_beside_them(runs: Path) -> None:
    (table,) = learners.table("concept-world", runs)
    assert table.title == "Table 4: ConceptWorld, sequences, scale demo"
    rows = table.json()
    assert {row["network"] for row in rows} == {"MLP (epochs 1)"} and {row["seeds"] for row in rows} == {2}
    assert [row["class"] for row in rows] == ["red", "blue", "mixed", "mean"]
    assert not [name for name in rows[0] if "paper" in name]


def test_the_terminal_shows_the_means_and_json_everything(runs: Path, invoke: Run) -> None:
    (table,) = learners.table("concept-world", runs)
    short = learners.brief(table)
    assert [column.name for column in short.columns] == ["network", "length_3", "length_5", "length_7"]
    assert short.note.startswith("All: seeds 2, steps ") and len(short.rows) == 1
    assert len(json.loads(invoke("table", "concept-world", runs, "--json").out)[0]) == 4
    assert "MLP (epochs 1)" in invoke("table", "concept-world", runs).out


def test_the_table_is_a_page(runs: Path, tmp_path: Path, invoke: Run) -> None:
    for name in ("networks.md", "networks.html"):
        ran = invoke("table", "concept-world", runs, "--out", tmp_path / name)
        assert ran.code == 0 and ran.err.endswith(f"wrote {tmp_path / name}\n")
        text = (tmp_path / name).read_text()
        assert "Table 4: ConceptWorld, sequences, scale demo" in text
        assert "0 of 75 runs are finished, 75 are missing; with other data or settings: 2." in text
        assert "MLP (epochs 1)" in text
    assert (tmp_path / "networks" / "sequences-scale-demo-length_5.svg").is_file()
    refused(invoke("table", "concept-world", runs, "--out", tmp_path / "networks.pdf"), "choose an ending")


def test_baselines_stand_beside_the_networks_and_are_scored_once(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learners.results_page("concept-world", runs, tmp_path / "page.md")
    monkeypatch.setattr(of_beside, "score", None)
    learners.results_page("concept-world", runs, tmp_path / "again.md")
    lines = (tmp_path / "again.md").read_text().splitlines()
    assert "| solver | length_3 | length_5 | length_7 |" in lines
    rows = {line.split(" | ")[0]: line.split(" | ")[1] for line in lines if " | " in line}
    assert rows["| chance"].startswith("0.333 [") and rows["| strong oracle"].startswith("1.000 [")
    assert {"| majority", "| nearest", "| statistics", "| weak oracle"} <= set(rows)


class Progress(NamedTuple):
    epoch: int = 41
    step: int = 1_234
    steps: int = 3_400
    loss: float = 0.25
    validation: Mapping[str, float] = {"loss": 0.5, "accuracy": 0.875}
    left: float = 7_500.0
    each: float = 20.0


def test_what_is_told_of_a_training_is_one_line_however_narrow_the_console() -> None:
    said = StringIO()
    printer = ProgressPrinter("concept-world-substitution-curriculum-predinet-0", Console(file=said, width=40))
    printer(Progress())
    printer(Progress(each=1.0))
    printer(Progress())
    first, second = said.getvalue().splitlines()
    assert first == second == printer.line(Progress()) and len(first) > 80


def test_tables_need_no_pytorch(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    (table,) = learners.table("concept-world", runs)
    assert table.rows and learners.results_page("concept-world", runs, tmp_path / "page.md").is_file()
    with pytest.raises(UserError, match="networks need PyTorch"):
        learners.evaluate(runs / "concept-world-sequences-mlp-0")


def test_a_run_is_tested_again(runs: Path) -> None:
    scores, others, *confusions = learners.evaluate(runs / "concept-world-sequences-mlp-0")
    assert others.title == "Baselines and ideal learners, sequences"
    assert scores.title == "MLP (epochs 1), sequences, scale demo, seed 0" and len(confusions) == 3
    assert scores.note.startswith("410,243 parameters, best at step 4, 1 epochs, 0 s of CPU.")


def test_every_published_score_is_of_a_class_of_its_experiment() -> None:
    study = of_study.ConceptWorldPipeline("demo", 0, of_study.Store.default())
    for (experiment, test), models in (F1 | FURTHER).items():
        found = study.experiment(experiment.removesuffix("-curriculum"))
        assert test in found.tests
        assert all(len(scores) == len(found.classes) for scores in models.values())
        assert set(models) <= {*MODELS, "ResNet from scratch"}


def test_bad_words_are_refused(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    with pytest.raises(UserError, match="there are no networks for 'clevr'"):
        learners.train("clevr")
    with pytest.raises(UserError, match="there is no network 'vgg'"):
        learners.train("concept-world", models=["vgg"], out=tmp_path, scale="demo")
    with pytest.raises(UserError, match="there is no device 'tpu'"):
        learners.train("concept-world", ["sequences"], ["mlp"], out=tmp_path, scale="demo", device="tpu")
    with pytest.raises(UserError, match="there is no Apple GPU here"):
        learners.train("concept-world", ["sequences"], ["mlp"], out=tmp_path, scale="demo", device="mps")
    with pytest.raises(UserError, match="has no finished runs of concept-world"):
        learners.table("concept-world", tmp_path)
    with pytest.raises(UserError, match="is not the folder of a run"):
        learners.evaluate(tmp_path)
    with pytest.raises(UserError, match=r"its training.rate is 0.001, here it is 0.1"):
        learners.train("concept-world", ["sequences"], ["mlp"], out=runs, scale="demo", rate=0.1)
    (tmp_path / "bad.pth").write_text("no weights")
    with pytest.raises(UserError, match=r"bad\.pth cannot be read as PyTorch weights"):
        learners.train(
            "concept-world", ["sequences"], ["mlp", "resnet"], out=tmp_path, scale="demo", weights=tmp_path / "bad.pth"
        )
    (tmp_path / "bad.pth").unlink()
    with pytest.raises(UserError, match="the option 'weights' says nothing to mlp"):
        learners.train("concept-world", ["sequences"], ["mlp"], out=tmp_path, scale="demo", weights="none.pth")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lost", ["metrics.parquet", "results.json", "config.json", "checkpoints/best.safetensors"])
@pytest.mark.parametrize("how", ["gone", "cut short"])
def test_a_run_with_a_broken_file_is_refused_in_a_sentence(
    runs: Path, tmp_path: Path, invoke: Run, lost: str, how: str
) -> None:
    run = copytree(runs / "concept-world-sequences-mlp-0", tmp_path / "concept-world-sequences-mlp-0")
    (run / lost).unlink() if how == "gone" else (run / lost).write_bytes((run / lost).read_bytes()[:5])
    if lost != "results.json":
        refused(invoke("eval", run), str(run))
    train = ("train", "concept-world", "--split", "sequences", "--model", "mlp", "--scale", "demo", "--epochs", 1)
    again = invoke(*train, "--out", tmp_path)
    whole = (lost, how) in {("results.json", "gone"), ("config.json", "gone"), ("checkpoints/best.safetensors", "gone")}
    if again.code:
        refused(again, str(run))
    assert whole or again.code or lost.startswith("checkpoints")


def test_a_run_that_is_named_twice_is_trained_once(runs: Path) -> None:
    table = learners.train("concept-world", ["sequences"] * 2, ["mlp"] * 2, out=runs, scale="demo", epochs=1)
    assert len(table.rows) == 1


def test_without_pytorch_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'recombine\[models\]'"):
        learners.train("concept-world")
