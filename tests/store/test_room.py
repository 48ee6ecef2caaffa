"""What a command will write is estimated before it works: never less than it writes, and not many times more."""

from pathlib import Path

import pytest

from recombine.benchmarks import networks
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, ClevrScale
from recombine.benchmarks.closure.pipeline import ClosurePipeline
from recombine.benchmarks.curi.pipeline import CuriPipeline, Scale, Setup
from recombine.store import room
from recombine.store.errors import UserError
from recombine.store.store import Store
from tests.commands import Run, refused


def used(store: Store) -> int:
    return sum(file.stat().st_size for file in store.home.rglob("*") if file.is_file())


def test_clevr_and_closure_know_what_they_will_write(tmp_path: Path) -> None:
    clevr = ClevrPipeline(ClevrScale("tiny", 200, 100, 50), 0, Store(tmp_path))
    closure = ClosurePipeline(clevr, (36, 36, 36))
    expected = clevr.size_estimate(["val"])
    clevr.questions_folder("val")
    assert used(clevr.store) <= expected <= 10 * used(clevr.store)
    assert clevr.size_estimate(["val"]) == 0
    expected, before = closure.size_estimate(["or_mat"], ["val"]), used(clevr.store)
    closure.questions_file("or_mat", "val")
    closure.questions_file("or_mat", "val", "baseline")
    assert used(clevr.store) - before <= expected
    assert closure.size_estimate(["or_mat"], ["val"]) == 0
    assert closure.size_estimate(["or_mat"], ["train"]) > 0


def test_curi_does_not_forget_the_table_once_the_scenes_are_there(tmp_path: Path) -> None:
    study = CuriPipeline(Setup(scale=Scale("large", 990_000, 1_000, 1, 1, 1)), Store(tmp_path))
    everything = study.size_estimate([], 0, 0)
    assert everything > 1.5e9
    folder = study.store.path(study.scenes_recipe)
    folder.mkdir(parents=True)
    assert everything - study.size_estimate([], 0, 0) == 990_000 * 170
    study.store.path(study.table_recipe).mkdir(parents=True)
    assert study.size_estimate([], 0, 0) < 10e6


def test_a_training_is_refused_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    from tests.solvers.objectives import learn

    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000}))
    with pytest.raises(UserError, match=r"The training in .* needs 1\.\d MB, but .* has 1\.0 kB free"):
        learn(tmp_path / "run")
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("curi", "--split", "counting"),
        ("closure", "--model", "lstm"),
        ("concept-world", "--split", "sequences", "--model", "mlp"),
        ("super-clevr", "--split", "default", "--model", "film"),
    ],
)
def test_a_training_asks_for_the_room_of_its_data_before_it_makes_them(
    words: tuple[str, ...], invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 100_000}))
    refused(invoke("train", *words, "--out", tmp_path / "runs"), "free: choose a smaller scale")
    assert not [*(tmp_path / "home").rglob("*.parquet")] and not (tmp_path / "runs").exists()


@pytest.mark.parametrize("words", [("curi", "--split", "counting"), ("clevr",), ("concept-world",), ("super-clevr",)])
@pytest.mark.parametrize("verb", ["eval", "gap"])
def test_who_scores_asks_for_the_room_of_the_data(
    verb: str, words: tuple[str, ...], invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 100_000}))
    refused(invoke(verb, *words), "free: choose a smaller scale")
    assert not [*(tmp_path / "home").rglob("*.parquet")]


@pytest.mark.parametrize("benchmark", ["clevr", "closure", "super-clevr"])
def test_who_splits_asks_for_the_room_of_the_data(
    benchmark: str, invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10_000}))
    refused(invoke("split", benchmark, "--out", tmp_path / "split.json"), "free: choose a smaller scale")
    assert not [*(tmp_path / "home").rglob("*.parquet")] and not (tmp_path / "split.json").exists()


def test_a_training_asks_for_the_room_of_its_runs_before_it_makes_its_data(
    invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the runs are on a disk of their own, which is the full one."""
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(networks, "same_disk", lambda one, other: False)
    free = {tmp_path / "home": 10**9, tmp_path: 10**6}
    monkeypatch.setattr(room.shutil, "disk_usage", lambda place: type("Usage", (), {"free": free[place]}))
    ran = invoke("train", "concept-world", "--split", "sequences", "--model", "mlp", "--out", tmp_path / "runs")
    refused(ran, "Training in")
    assert not [*(tmp_path / "home").rglob("*.parquet")] and not (tmp_path / "runs").exists()
