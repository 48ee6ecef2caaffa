"""Every command that writes: what another is writing is refused before any work is done, and nothing is touched."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recombine.benchmarks import networks
from recombine.benchmarks.clevr import formats
from recombine.store import writing
from recombine.store.errors import UserError
from recombine.store.outputs import write_file
from recombine.store.store import Store
from recombine.store.writing import alone, locked
from recombine.verbs import learners
from tests.commands import Run, refused

TORCH = "networks need PyTorch: pip install 'recombine[models]'"
SCENES = str(Path(formats.__file__).parent / "examples" / "scenes.json")
BENCHMARKS = ("curi", "clevr", "closure", "super-clevr", "concept-world")
FOLDERS = {
    **{f"make {name}": ["make", name] for name in BENCHMARKS},
    **{f"rows {name}": ["rows", name] for name in BENCHMARKS},
    **{f"fresh {name}": ["fresh", name] for name in BENCHMARKS},
    **{
        f"export {tool}": ["export", tool, "closure"]
        for tool in ("lmms-eval", "vlmevalkit", "trl", "verl", "ms-swift", "verifiers")
    },
    "make --render": ["make", "super-clevr", "--render", "images"],
    "make --episodes": ["make", "curi", "--episodes", "2", "--render", "images"],
    "make --sheets": ["make", "concept-world", "--sheets"],
    "render": ["render", SCENES],
    "draw": ["draw", "red"],
    "weights": ["weights", "run"],
    "pull": ["pull", "place"],
}
FILES = {
    **{f"report {name}": (["report", name], "page.html") for name in (*BENCHMARKS, "human", "prediction", "ledger")},
    **{f"split {name}": (["split", name], "split.json") for name in BENCHMARKS},
    **{f"gap {name}": (["gap", name], "gap.json") for name in BENCHMARKS},
    "report (.md)": (["report", "curi"], "page.md"),
    "show": (["show", "curi/counting"], "one.html"),
    "draw": (["draw", "red"], "one.png"),
    "table": (["table", "concept-world", "runs"], "page.md"),
    "demo": (["demo"], "demo.html"),
}


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing may be made meanwhile."""

    def made(*_: Any) -> Path:
        raise AssertionError("it works before it refuses")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Store, "get", made)


def there(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    before = there(folder)
    yield
    assert there(folder) == before


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_another_command_writes_is_refused(tmp_path: Path, invoke: Run, name: str) -> None:
    if name == "weights":
        pytest.importorskip("torch", reason=TORCH)
    with alone(tmp_path / "data"), untouched(tmp_path):
        refused(invoke(*FOLDERS[name], "--out", "data"), "data is being written by another command; wait until")


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_another_command_writes_is_refused(tmp_path: Path, invoke: Run, name: str) -> None:
    words, file = FILES[name]
    with alone(tmp_path / file), untouched(tmp_path):
        refused(invoke(*words, "--out", file), f"{file} is being written by another command; wait until")


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("words", [["draw", "red"], ["recognise", "one.png", "red"]])
def test_a_drawing_that_another_command_writes_is_refused(tmp_path: Path, invoke: Run, words: list[str]) -> None:
    with alone(tmp_path / "graph.svg"), untouched(tmp_path):
        refused(invoke(*words, "--graph", "graph.svg"), "graph.svg is being written by another command")


@pytest.mark.usefixtures("idle")
def test_runs_are_kept_by_one_command_at_a_time(tmp_path: Path, invoke: Run) -> None:
    (tmp_path / "runs").mkdir()
    with alone(tmp_path / "kept"), untouched(tmp_path):
        refused(invoke("table", "concept-world", "runs", "--keep", "kept"), "kept is being written by another command")


# --- trainings

RUNS = {
    "curi": ("avg-pool", "counting"),
    "closure": ("generator", "clevr"),
    "super-clevr": ("lstm", "default"),
    "concept-world": ("mlp", "sequences"),
}


def job_of(name: str) -> networks.Job:
    known, (model, split) = networks.networks_of(name), RUNS[name]
    return replace(learners._job(known, model, networks.chosen(known, {}), "demo", 0, {}), split=split)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_being_trained_is_refused(tmp_path: Path, invoke: Run, name: str) -> None:
    pytest.importorskip("torch", reason=TORCH)
    job = job_of(name)
    (tmp_path / "runs" / job.name).mkdir(parents=True)
    words = ("--model", job.model, "--split", job.split, "--device", "cpu", "--workers", "1", "--out", "runs")
    with locked(tmp_path / "runs" / job.name / "training.lock"), untouched(tmp_path):
        refused(invoke("train", name, *words), "is being trained by another process")


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_written_in_a_run_before_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Where another has begun in the meantime."""
    pytest.importorskip("torch", reason=TORCH)
    known = networks.networks_of(name)
    for part in ("check", "network", "data"):
        monkeypatch.setattr(type(known), part, lambda *_: {})
    job = job_of(name)
    (tmp_path / job.name).mkdir()
    with (
        locked(tmp_path / job.name / "training.lock"),
        untouched(tmp_path),
        pytest.raises(UserError, match="is being trained by another process"),
    ):
        networks.learn(job, None, tmp_path)


# --- files that need no lock


def test_of_two_that_write_a_file_at_once_one_is_there_whole(tmp_path: Path) -> None:
    file, texts = tmp_path / "gap.json", [letter * 200_000 for letter in "ab"]
    begin = threading.Barrier(2)

    def write(text: str) -> None:
        begin.wait()
        for _ in range(20):
            write_file(file, text)

    both = [threading.Thread(target=write, args=(text,)) for text in texts]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert file.read_text() in texts and os.listdir(tmp_path) == ["gap.json"]


def test_a_part_that_is_cleared_before_it_is_locked_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes it for abandoned."""
    real, cleared = writing.flock, list[Path]()

    def late(descriptor: int, how: int, file: Path) -> None:
        if not cleared:
            assert writing.abandoned(file, clear=True) and not file.exists()
            cleared.append(file)
        real(descriptor, how, file)

    monkeypatch.setattr(writing, "flock", late)
    write_file(tmp_path / "gap.json", "whole")
    assert cleared and (tmp_path / "gap.json").read_text() == "whole" and os.listdir(tmp_path) == ["gap.json"]


def test_what_is_being_written_is_not_cleared(tmp_path: Path) -> None:
    def write(part: Path) -> None:
        part.write_text("whole")
        assert not writing.abandoned(part, clear=True) and part.exists()

    writing.write_atomically(tmp_path / "gap.json", write)
    assert (tmp_path / "gap.json").read_text() == "whole"
