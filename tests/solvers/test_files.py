"""The files of a training: tensors and states come back as they were, and TensorBoard's records hold together."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.solvers.training import checkpoint
from recombine.solvers.training.batches import Batches, Stage
from recombine.solvers.training.events import Events, Scalar, _record, read_scalars
from recombine.solvers.training.tensors import DTYPES, read_tensors, write_tensors
from recombine.store.errors import UserError
from recombine.store.key import Key

SHAPES = st.lists(st.integers(0, 3), max_size=3)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
KEYS = st.text(max_size=4) | st.integers(0, 9)
TREES = st.recursive(
    LEAVES | st.builds(lambda values: torch.tensor(values), st.lists(st.floats(-9, 9, width=32), max_size=3)),
    lambda tree: st.lists(tree, max_size=3) | st.tuples(tree) | st.dictionaries(KEYS, tree, max_size=3),
    max_leaves=6,
)


@settings(max_examples=30)
@given(st.dictionaries(st.text(max_size=6), st.tuples(st.sampled_from(sorted(DTYPES)), SHAPES), max_size=4))
def test_tensors_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, wanted: dict[str, Any]) -> None:
    wanted.pop("__metadata__", None)
    file = tmp_path_factory.mktemp("tensors") / "some.safetensors"
    given = {name: (torch.rand(shape) * 5).to(DTYPES[dtype]) for name, (dtype, shape) in wanted.items()}
    write_tensors(file, given, {"about": "some"})
    found, metadata = read_tensors(file)
    assert metadata == {"about": "some"} and found.keys() == given.keys()
    for name, tensor in given.items():
        assert found[name].dtype == tensor.dtype and torch.equal(found[name], tensor)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from("abc"), TREES, max_size=3))
def test_states_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, state: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("states")
    checkpoint.save(folder / "a", state, {"run": 1})
    found = checkpoint.load(folder / "a", {"run": 1})
    assert repr(found) == repr(state)
    checkpoint.save(folder / "b", found, {"run": 1})
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    write_tensors(tmp_path / "a", {"weight": torch.zeros(2)}, {})
    with pytest.raises(UserError, match="is no checkpoint of recombine"):
        checkpoint.load(tmp_path / "a", {})


def test_a_checkpoint_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FORMAT", 99)
    checkpoint.save(tmp_path / "a", {}, {})
    monkeypatch.undo()
    with pytest.raises(UserError, match="another version of recombine"):
        checkpoint.load(tmp_path / "a", {})


# --- TensorBoard


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 2**40), st.text(max_size=5), st.floats(width=32, allow_nan=False)), max_size=9)
)
def test_scalars_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, told: list[Any]) -> None:
    events = Events(tmp_path_factory.mktemp("events"), 0)
    for step, name, value in told:
        events.add(step, {name: value})
    assert list(read_scalars(events.file)) == [Scalar(*one) for one in told]


def test_a_record_that_was_cut_off_is_left_out_and_a_damaged_one_is_seen(tmp_path: Path) -> None:
    events = Events(tmp_path, 5)
    events.add(6, {"loss": 0.5})
    whole = events.file.read_bytes()
    events.file.write_bytes(whole[:-3])
    assert not list(read_scalars(events.file))
    events.file.write_bytes(whole[:-6] + b"?" + whole[-5:])
    with pytest.raises(UserError, match="is damaged"):
        list(read_scalars(events.file))


def test_the_first_record_is_as_tensorboard_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.solvers.training.events.time.time", lambda: 0.0)
    events = Events(tmp_path, 0)
    # wall_time 0, step 0, file_version: 26 bytes
    assert events.file.read_bytes()[12:-4] == b"\x09" + bytes(8) + b"\x10\x00" + b"\x1a\x0dbrain.Event:2"
    assert events.file.read_bytes()[:8] == (26).to_bytes(8, "little")


def test_checksums_are_turned_as_tensorboard_turns_them() -> None:
    """Every event file that TensorFlow writes begins with a record of 24 bytes, and so with these twelve."""
    assert _record(bytes(24))[:12].hex() == "1800000000000000a37f4b22"


# --- courses


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=3),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_every_epoch_has_every_row_of_its_stage_once(stages: list[tuple[int, int]], batch: int, epochs: int) -> None:
    batches = Batches(tuple(Stage(np.arange(n), many) for n, many in stages), batch, Key(0))
    met: dict[int, list[int]] = {}
    for step in range(batches.steps(epochs)):
        met.setdefault(batches.epoch(step).number, []).extend(batches.rows(step).tolist())
    lengths = [n for n, many in [*stages[:-1], (stages[-1][0], epochs)] for _ in range(many)]
    assert [sorted(rows) for rows in met.values()] == [list(range(n)) for n in lengths]
