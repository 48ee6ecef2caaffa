"""Run folders and checkpoints that are damaged, tampered with, or shared by two trainings."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from recombine.solvers.training import checkpoint
from recombine.solvers.training.loop import load_best, train
from recombine.solvers.training.records import keep, read_config, read_metrics, read_results, write_results
from recombine.solvers.training.tensors import METADATA, read_tensors, write_tensors
from recombine.solvers.training.weights import write_weights
from recombine.store.errors import UserError
from recombine.store.key import Key
from tests.solvers.objectives import KEY, TRAINING, Tiny, learn, run_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that came to its end."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    learn(folder)
    return folder


def copied(whole: Path, folder: Path) -> Path:
    for file in whole.rglob("*"):
        if file.is_file():
            target = folder / file.relative_to(whole)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return folder


# --- two trainings


def test_nothing_is_written_before_the_lock(whole: Path, tmp_path: Path) -> None:
    """A second training with another length may not touch what the first has written."""
    folder = copied(whole, tmp_path / "run")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.solvers.objectives", str(tmp_path / "busy")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout and process.stdout.readline()  # it has begun, and waits
    before = {file: file.read_bytes() for file in (tmp_path / "busy").rglob("*") if file.is_file()}
    with pytest.raises(UserError, match="is being trained by another process"):
        learn(tmp_path / "busy", replace(TRAINING, epochs=(TRAINING.epochs or 0) + 1))
    assert {file: file.read_bytes() for file in (tmp_path / "busy").rglob("*") if file.is_file()} == before
    process.kill()
    process.communicate()
    assert read_config(folder)["length"] == {"epochs": TRAINING.epochs}


def test_a_run_that_is_only_looked_at_is_not_written(tmp_path: Path) -> None:
    run_in(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_can_be_tested_under_its_own_lock(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run")
    with run.alone():
        train(Tiny(), TRAINING, run, KEY)
        with pytest.raises(UserError, match="another process"), run_in(tmp_path / "run").alone():
            pass


# --- checksums


def flipped(file: Path, bit: int) -> None:
    content = bytearray(file.read_bytes())
    content[bit // 8 % len(content)] ^= 1 << bit % 8
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["last", "best"])
def test_a_flipped_bit_of_a_checkpoint_is_always_seen(whole: Path, tmp_path: Path, name: str) -> None:
    folder = copied(whole, tmp_path / "run")
    file = folder / "checkpoints" / f"{name}.safetensors"
    sound, length = file.read_bytes(), 8 + int.from_bytes(file.read_bytes()[:8], "little")
    rng = (Key(0) / "bits" / name).rng()
    places = [*rng.integers(0, 8 * length, 60), *rng.integers(8 * length, 8 * len(sound), 60)]
    for bit in map(int, places):
        flipped(file, bit)
        try:
            found = checkpoint.load(file, run_in(folder).identity)
        except UserError:
            pass
        else:  # spaces at the end of the header
            file.write_bytes(sound)
            assert repr(found) == repr(checkpoint.load(file, run_in(folder).identity))
        file.write_bytes(sound)
    for bit in range(8):  # the name of the checksum, without which a file is taken for one of before
        flipped(file, 8 * sound.index(b"recombine.checksum") + bit)
        with pytest.raises(UserError):
            checkpoint.load(file, run_in(folder).identity)
        file.write_bytes(sound)


def test_flipped_weights_do_not_score(whole: Path, tmp_path: Path) -> None:
    file = copied(whole, tmp_path / "run") / "checkpoints" / "best.safetensors"
    flipped(file, 8 * (file.stat().st_size - 100))
    with pytest.raises(UserError, match="does not have the bytes it was written with"):
        load_best(file, Tiny().network, run_in(tmp_path / "run").identity)


def test_a_checkpoint_from_before_there_were_checksums_is_read(whole: Path, tmp_path: Path) -> None:
    file = copied(whole, tmp_path / "run") / "checkpoints" / "best.safetensors"
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    assert header[METADATA].pop("recombine.checksum")
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])
    assert load_best(file, Tiny().network, run_in(tmp_path / "run").identity).best_step > 0


# --- damage


def header(text: str) -> bytes:
    return len(text.encode()).to_bytes(8, "little") + text.encode()


STATE = '{"mapping": [["network", {"tensor": "none"}]]}'
TENSORS = {
    "huge header": (2**62).to_bytes(8, "little") + b"{}",
    "deep": header("[" * 100_000),
    "list": header("[]"),
    "words": header('{"__metadata__": {"format": 2}}'),
    "no words": header('{"__metadata__": 7}'),
    "no tensor": header('{"a": 1}'),
    "negative": header('{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]}}') + bytes(8),
    "huge shape": header('{"a": {"dtype": "F32", "shape": [99999999999999], "data_offsets": [0, 8]}}') + bytes(8),
    "infinite": header('{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 1e999]}}') + bytes(8),
    "unknown": header('{"a": {"dtype": "F999", "shape": [2], "data_offsets": [0, 8]}}') + bytes(8),
    "odd": header('{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 7]}}') + bytes(8),
}


@pytest.mark.parametrize("case", TENSORS)
def test_a_file_that_is_no_checkpoint_is_refused(case: str, tmp_path: Path) -> None:
    (tmp_path / "last.safetensors").write_bytes(TENSORS[case])
    with pytest.raises(UserError, match=r"last\.safetensors"):
        checkpoint.load(tmp_path / "last.safetensors", {})


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"network": {}},
        {"network": 7, "optimiser": 8},
        {"step": "x"},
        {"network": {"0.weight": np.zeros(2).tolist()}},
    ],
    ids=str,
)
def test_a_checkpoint_of_other_things_is_refused(whole: Path, tmp_path: Path, state: dict) -> None:
    folder = copied(whole, tmp_path / "run")
    run = run_in(folder)
    checkpoint.save(run.last, state, run.identity)
    checkpoint.save(run.best, state, run.identity)
    with pytest.raises(UserError, match=r"last\.safetensors is damaged"):
        train(Tiny(), TRAINING, run, KEY)
    with pytest.raises(UserError, match=r"best\.safetensors is damaged"):
        load_best(run.best, Tiny().network, run.identity)


JSON = ["[" * 100_000, '{"format": Infinity}', "[]", "", "\xff", '{"format": ' + "1" * 5000 + "}", '{"a": "\\ud800"}']


@pytest.mark.parametrize("text", JSON, ids=lambda text: text[:12])
def test_a_damaged_run_folder_is_named(whole: Path, tmp_path: Path, text: str) -> None:
    folder = copied(whole, tmp_path / "run")
    for name, read in (("config.json", read_config), ("results.json", read_results)):
        (folder / name).write_text(text, encoding="latin-1")
        with pytest.raises(UserError, match=name):
            read(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan")])
def test_results_that_could_not_be_read_again_are_not_written(whole: Path, tmp_path: Path, value: float) -> None:
    folder = copied(whole, tmp_path / "run")
    write_results(folder, {"scores": {"easy": {"right": 0.5}}, "f1": [[0.5]]})
    before = read_results(folder)
    for results, name in (
        ({"scores": {"easy": {"right": value}}}, "scores easy right"),
        ({"f1": [[0, value]]}, "f1 0 1"),
    ):
        with pytest.raises(UserError, match=f"gives no number for '{name}'"):
            write_results(folder, results)
        assert read_results(folder) == before


@pytest.mark.parametrize(
    "text", [*JSON, '[{"from_step": "x"}, 7]', '{"step": 12, "seconds": []}'], ids=lambda t: t[:12]
)
def test_what_decides_nothing_may_be_damaged(whole: Path, tmp_path: Path, text: str) -> None:
    folder = copied(whole, tmp_path / "run")
    for name in ("environment.json", "spent.json"):
        (folder / name).write_text(text, encoding="latin-1")
    run = run_in(folder)
    with run.alone():
        run.begin(12)
        run.spent()
        run.write_sitting({})


METRICS = {
    "other columns": pa.table({"n": [1]}),
    "other types": pa.table({name: ["x"] for name in ("step", "epoch", "seconds", "cpu_seconds", "name", "value")}),
    "nothing": pa.table(
        {name: pa.array([None], pa.float64()) for name in ("step", "epoch", "seconds", "cpu_seconds", "name", "value")}
    ),
}


@pytest.mark.parametrize("case", METRICS)
def test_damaged_metrics_are_named(tmp_path: Path, case: str) -> None:
    pq.write_table(METRICS[case], tmp_path / "metrics.parquet")
    with pytest.raises(UserError, match=r"metrics\.parquet"):
        read_metrics(tmp_path)


def test_a_run_folder_of_pipes_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(UserError, match="it is no file"):
        read_config(tmp_path)


def test_a_pipe_that_a_run_names_is_not_waited_for(tmp_path: Path) -> None:
    from recombine.benchmarks.closure.networks import _weights
    from recombine.benchmarks.super_clevr.arrays import digest_of

    (tmp_path / "checkpoints").mkdir()
    os.mkfifo(tmp_path / "checkpoints" / "best.safetensors")
    with pytest.raises(UserError, match="is not there"):
        _weights(str(tmp_path))
    with pytest.raises(UserError, match="there is no parser"):
        digest_of(tmp_path / "checkpoints" / "best.safetensors")


def test_tensors_that_lie_over_one_another_are_refused(tmp_path: Path) -> None:
    """Each is copied, so a small file could ask for any amount of memory."""
    about = {"dtype": "U8", "shape": [1_000_000], "data_offsets": [0, 1_000_000]}
    text = json.dumps({f"t{number}": about for number in range(10_000)}).encode()
    (tmp_path / "bomb.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(1_000_000))
    with pytest.raises(UserError, match="lie over one another"):
        read_tensors(tmp_path / "bomb.safetensors")


def test_the_card_of_foreign_weights_is_text(whole: Path, tmp_path: Path) -> None:
    folder = copied(whole, tmp_path / "run")
    config = json.loads((folder / "config.json").read_text())
    odd = "x](javascript:1) <script>|\n# Title"
    config |= {"network": {"name": odd}, "benchmark": "a]\nlicense: none", "note": odd}
    (folder / "config.json").write_text(json.dumps(config))
    card = (write_weights(folder, tmp_path / "weights") / "README.md").read_text()
    assert "<script>" not in card and "\n# Title" not in card and "x](" not in card
    assert card.count("\nlicense:") == 1


def test_numbers_that_no_score_is_are_refused_before_weights_are_written(whole: Path, tmp_path: Path) -> None:
    folder = copied(whole, tmp_path / "run")
    (folder / "results.json").write_text(json.dumps({"scores": {"test": 10**400}}))
    with pytest.raises(UserError, match="is no run that can be read"):
        write_weights(folder, tmp_path / "weights")
    assert not (tmp_path / "weights").exists()


def test_what_a_run_links_to_is_not_kept_for_others(whole: Path, tmp_path: Path) -> None:
    run = copied(whole, tmp_path / "runs" / "one")
    config = json.loads((run / "config.json").read_text()) | {"benchmark": "curi"}
    (run / "config.json").write_text(json.dumps(config))
    (run / "results.json").write_text(json.dumps({"length": config["length"]}))
    (tmp_path / "secret").write_text("secret")
    (run / "metrics.parquet").unlink(missing_ok=True)
    (run / "metrics.parquet").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match="leads out of"):
        keep(run.parent, tmp_path / "kept", "curi")
    (run / "metrics.parquet").unlink()
    os.mkfifo(run / "metrics.parquet")
    with pytest.raises(UserError, match="it is no file"):
        keep(run.parent, tmp_path / "kept", "curi")


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"width": 5_000}, "5,000 channels; 1 to 64 are possible"),
        ({"width": 10**400}, "is damaged or of another version"),
        ({"along": 10**6}, "1,000,000 pixels; 1 to 2,048"),
        ({"attributes": [["shape", ["a"] * 30_000]]}, "30,001 values; 1 to 20,000"),
        ({"limits": [10**400, 1]}, "is damaged or of another version"),
        ({"calibration": 3}, "is damaged or of another version"),
    ],
)
def test_a_parser_of_a_size_that_none_has_is_not_built(said: dict[str, Any], match: str, tmp_path: Path) -> None:
    """A few bytes that say how wide a network is would take any amount of memory."""
    from recombine.solvers.networks.scene_parser import SceneParser
    from recombine.solvers.perception import Calibration, Parser

    file = tmp_path / "parser.safetensors"
    Parser(SceneParser(1, (2,)), "clevr", (("shape", ("a", "b")),), Calibration(values=(1.0,))).save(file)
    tensors, words = read_tensors(file)
    about = json.loads(words["parser"]) | said
    write_tensors(file, tensors, {"parser": json.dumps(about)})
    with pytest.raises(UserError, match=match):
        Parser.load(file)


def test_nothing_is_written_through_a_link_inside_a_run(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoints").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="leads out of"):
        learn(tmp_path / "run")
    runs, kept = copied(whole, tmp_path / "runs" / "one").parent, tmp_path / "kept"
    config = json.loads((runs / "one" / "config.json").read_text()) | {"benchmark": "curi"}
    (runs / "one" / "config.json").write_text(json.dumps(config))
    (runs / "one" / "results.json").write_text(json.dumps({"length": config["length"]}))
    kept.mkdir()
    (kept / "one").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="leads out of"):
        keep(runs, kept, "curi")
    assert not list((tmp_path / "elsewhere").iterdir())
