"""The loop: a training that was stopped ends as one that was not, and says in one sentence what is wrong."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.solvers.training import checkpoint, loop
from recombine.solvers.training.batches import Stage
from recombine.solvers.training.events import read_scalars
from recombine.solvers.training.loop import Progress, load_best, train
from recombine.solvers.training.records import read_metrics
from recombine.solvers.training.run import Run
from recombine.solvers.training.settings import Training, ValidationState
from recombine.solvers.training.tensors import read_tensors
from recombine.solvers.training.tracking import tracked
from recombine.solvers.training.weights import write_weights
from recombine.store.errors import UserError
from tests.solvers.objectives import KEY, TRAINING, Tiny, checkpoints, learn, run_in


class Stopped(Exception):
    pass


def stop_at(step: int) -> Callable[[Progress], None]:
    def watch(progress: Progress) -> None:
        if progress.step == step:
            raise Stopped

    return watch


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was never stopped."""
    folder = tmp_path_factory.mktemp("whole")
    learn(folder)
    return folder


@pytest.mark.parametrize("checkpoint_every", [0, 4])
def test_a_training_that_was_stopped_ends_in_the_same_bytes(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint_every: int
) -> None:
    now = iter(range(10**9))
    monkeypatch.setattr(loop, "monotonic", lambda: next(now))  # checkpoints come after so many looks at the clock
    training = replace(TRAINING, checkpoint_every=checkpoint_every)
    for step in (1, 2, 7, 8, 15, 23, 29):
        with pytest.raises(Stopped):
            learn(tmp_path, training, stop_at(step))
    learn(tmp_path, training)
    assert checkpoints(tmp_path) == checkpoints(whole)
    assert [row[:2] + row[4:] for row in read_metrics(tmp_path)] == [row[:2] + row[4:] for row in read_metrics(whole)]


def test_a_training_that_was_killed_ends_in_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.solvers.objectives", str(tmp_path)]
    process = subprocess.Popen(command, cwd=root, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    while process.stdout.readline().strip() != "11":
        process.stdin.write("\n")
        process.stdin.flush()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL and checkpoints(tmp_path) != checkpoints(whole)
    learn(tmp_path)
    assert checkpoints(tmp_path) == checkpoints(whole)


def test_a_training_that_was_stopped_between_two_files_measures_nothing_twice(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(file: Path, state: dict[str, Any], identity: checkpoint.Identity) -> None:
        if state.get("step") == 12:
            raise Stopped
        checkpoint.save(file, state, identity)

    monkeypatch.setattr(loop, "checkpoint", SimpleNamespace(save=save, load=checkpoint.load))
    with pytest.raises(Stopped):
        learn(tmp_path)
    assert max(row.step for row in read_metrics(tmp_path)) == 12
    monkeypatch.undo()
    learn(tmp_path)
    assert checkpoints(tmp_path) == checkpoints(whole)
    assert [row.step for row in read_metrics(tmp_path)] == [row.step for row in read_metrics(whole)]


def test_another_key_ends_elsewhere(whole: Path, tmp_path: Path) -> None:
    train(Tiny(), TRAINING, run_in(tmp_path), KEY / "other")
    assert checkpoints(tmp_path) != checkpoints(whole)


def test_more_epochs_go_on_as_if_they_had_been_asked_for_at_once(whole: Path, tmp_path: Path) -> None:
    learn(tmp_path, replace(TRAINING, epochs=2))
    learn(tmp_path, TRAINING)
    assert checkpoints(tmp_path) == checkpoints(whole)


def test_a_finished_training_takes_no_step_more(whole: Path) -> None:
    before = checkpoints(whole)
    assert not learn(whole).asked
    assert checkpoints(whole) == before


def test_every_row_comes_once_in_an_epoch_and_in_another_order_in_the_next(tmp_path: Path) -> None:
    asked = learn(tmp_path, replace(TRAINING, epochs=2, validate_every=None)).asked
    first, second = np.concatenate(asked[:5]), np.concatenate(asked[5:])
    assert sorted(first) == sorted(second) == list(range(36)) and list(first) != list(second)


def test_an_early_stage_has_its_rows_and_is_not_judged(tmp_path: Path) -> None:
    objective = Tiny(stages=(Stage(np.arange(8), epochs=3), Stage(np.arange(36))))
    training = replace(TRAINING, epochs=1, validate_every=None)
    validated = train(objective, training, run_in(tmp_path, training), KEY)
    assert [set(rows) <= set(range(8)) for rows in objective.asked] == [True] * 3 + [False] * 5
    assert validated.best_step == 8


def test_training_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    training = replace(TRAINING, epochs=1_000, patience=2)
    validated = train(Tiny(), training, run_in(tmp_path, training), KEY)
    values = [row.value for row in read_metrics(tmp_path) if row.name == "validation/loss"]
    assert len(values) < 1_000 and np.argmin(values) == len(values) - 3
    assert validated.best == min(values) and validated.waited == 2


def test_very_small_steps_are_no_progress_but_the_best_is_kept() -> None:
    training, validated = Training(patience=3, least=0.1), ValidationState()
    for step, value in enumerate([1.0, 0.95, 0.92, 0.85, 0.84, 0.83, 0.82]):
        validated = validated.after({"loss": value}, step, training)
    assert (validated.best, validated.best_step, validated.mark, validated.waited) == (0.82, 6, 0.85, 3)
    assert validated.over(training) and not validated.over(replace(training, patience=4))


@given(st.lists(st.floats(0, 1, width=16), min_size=1, max_size=12), st.booleans())
def test_the_best_is_the_first_of_the_best(values: list[float], higher: bool) -> None:
    validated = ValidationState()
    for step, value in enumerate(values):
        validated = validated.after({"loss": value}, step, Training(higher=higher, least=0.3))
    best = max(values) if higher else min(values)
    assert (validated.best, validated.best_step) == (best, values.index(best))


def test_the_rate_falls_on_a_plateau(whole: Path) -> None:
    values = [row.value for row in read_metrics(whole) if row.name == "validation/loss"]
    rates = [row.value for row in read_metrics(whole) if row.name == "rate"]
    assert rates[-1] < TRAINING.rate and len(values) == len(rates)
    for i in range(1, len(values)):  # with a patience of one, every validation without a new best lowers it
        assert rates[i] == (rates[i - 1] if values[i] < min(values[:i]) else rates[i - 1] / 2)


@given(st.lists(st.floats(0.125, 1, width=16), max_size=40), st.integers(0, 4), st.sampled_from([0.0, 1e-3, 0.2]))
def test_the_rate_falls_when_that_of_pytorchs_schedule_does(losses: list[float], patience: int, least: float) -> None:
    optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=0.5, patience=patience, threshold=least, eps=0
    )
    training = Training(slower_by=0.5, slower_after=(patience + 1) * 30, slower_least=least, judge="mAP", higher=True)
    ours = ValidationState()
    for place, loss in enumerate(losses, 1):
        theirs.step(loss)
        ours = ours.after({"loss": loss, "mAP": 0.5}, 30 * place, training)
        assert optimiser.param_groups[0]["lr"] == 0.5**ours.lowered


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C is heeded, even where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_who_asks_to_stop_finds_a_checkpoint_of_that_moment(whole: Path, tmp_path: Path) -> None:
    def ask(progress: Progress) -> None:
        if progress.step == 5:
            signal.raise_signal(signal.SIGINT)

    seldom = replace(TRAINING, checkpoint_every=1e9)
    with pytest.raises(KeyboardInterrupt):
        learn(tmp_path, watch=ask, training=seldom)
    assert json.loads((tmp_path / "spent.json").read_text())["step"] == 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    learn(tmp_path)
    assert checkpoints(tmp_path) == checkpoints(whole)


@pytest.mark.usefixtures("heeded")
def test_a_training_in_the_background_goes_on_ignoring_ctrl_c(whole: Path, tmp_path: Path) -> None:
    def ask(progress: Progress) -> None:
        if progress.step == 5:
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    learn(tmp_path, watch=ask)
    assert checkpoints(tmp_path) == checkpoints(whole)


@pytest.mark.usefixtures("heeded")
def test_who_asks_twice_is_not_made_to_wait(tmp_path: Path) -> None:
    def ask(progress: Progress) -> None:
        for _ in range(2 if progress.step == 5 else 0):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        learn(tmp_path, watch=ask, training=replace(TRAINING, checkpoint_every=1e9))
    assert not (tmp_path / "spent.json").exists()


def test_the_time_of_all_sittings_is_counted(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(tmp_path, watch=stop)
    spent = json.loads((tmp_path / "spent.json").read_text())
    assert spent["step"] == 4  # the last checkpoint, later than the last validation, and all of its time
    spent["seconds"] += 1_000
    (tmp_path / "spent.json").write_text(json.dumps(spent))
    learn(tmp_path)
    assert 1_000 < read_metrics(tmp_path)[-1].seconds < 1_100


def test_the_best_network_is_kept(whole: Path) -> None:
    objective = Tiny(KEY / "elsewhere")
    validated = load_best(run_in(whole).best, objective.network, run_in(whole).identity)
    objective.network.eval()
    with torch.no_grad():
        assert objective.validate()["loss"] == validated.best


def test_tensorboard_sees_what_the_metrics_say(whole: Path, tmp_path: Path) -> None:
    learn(tmp_path)
    (file,) = tmp_path.glob("events.*")
    seen = [(scalar.step, scalar.name) for scalar in read_scalars(file)]
    panels = [name if "/" in name else f"train/{name}" for name in (row.name for row in read_metrics(tmp_path))]
    assert [name for _, name in seen] == panels and {name.partition("/")[0] for name in panels} == {
        "train",
        "validation",
    }
    assert [step for step, _ in seen] == [row.step for row in read_metrics(tmp_path)]
    assert [s.value for s in read_scalars(file)] == pytest.approx([row.value for row in read_metrics(tmp_path)])


def test_the_best_network_goes_to_others_with_plain_names(whole: Path, tmp_path: Path) -> None:
    folder = write_weights(whole, tmp_path / "weights")
    tensors, _ = read_tensors(folder / "model.safetensors")
    network = Tiny(KEY / "elsewhere").network
    network.load_state_dict(tensors)
    best = Tiny(KEY).network
    load_best(run_in(whole).best, best, run_in(whole).identity)
    assert all(torch.equal(one, two) for one, two in zip(network.state_dict().values(), best.state_dict().values()))
    config = json.loads((folder / "config.json").read_text())
    assert config["network"]["name"] == "tiny" and config["parameters"] == sum(one.numel() for one in tensors.values())
    assert "# tiny on" in (folder / "README.md").read_text()
    with pytest.raises(UserError, match="exists and is not empty"):
        write_weights(whole, folder)
    with pytest.raises(UserError, match="not the folder of a run"):
        write_weights(tmp_path, tmp_path / "none")


def test_whoever_tracks_is_told_everything_and_decides_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, object]] = []
    package = ModuleType("trackio")
    package.__spec__ = ModuleSpec("trackio", None, origin="here")
    for name in ("init", "log", "finish"):
        monkeypatch.setattr(package, name, lambda *a, _said=name, **k: told.append((_said, a or k)), raising=False)
    monkeypatch.setitem(sys.modules, "trackio", package)
    with tracked("trackio"):
        learn(tmp_path)
    names = [name for name, _ in told]
    assert names[0] == "init" and names[-1] == "finish" and names.count("log") == len(names) - 2 > 0
    assert (run_in(tmp_path).best).read_bytes() == run_in(whole).best.read_bytes()
    monkeypatch.setattr(package, "init", lambda **k: [][0])
    with tracked("trackio"), pytest.raises(UserError, match="trackio could not begin: list index out of range"):
        learn(tmp_path / "again")
    (tmp_path / "wandb").mkdir()  # as wandb leaves one behind
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="there is no tracker 'chess'"), tracked("chess"):
        raise AssertionError
    with pytest.raises(UserError, match="wandb is not installed; install it with"), tracked("wandb"):
        raise AssertionError


def test_the_folder_says_what_and_where(whole: Path) -> None:
    config, where = (json.loads((whole / f"{name}.json").read_text()) for name in ("config", "environment"))
    assert config["network"]["name"] == "tiny" and config["training"]["rate"] == 0.05
    (sitting,) = where
    assert (sitting["from_step"], sitting["device"], sitting["threads"]) == (0, "cpu", 1) and sitting["torch"]


def test_the_folder_says_where_every_sitting_was(tmp_path: Path) -> None:
    for step in (7, 15):
        with pytest.raises(Stopped):
            learn(tmp_path, watch=stop_at(step))
    learn(tmp_path)
    sittings = json.loads((tmp_path / "environment.json").read_text())
    assert [sitting["from_step"] for sitting in sittings] == [0, 6, 14]


def test_what_a_killed_training_left_half_written_goes(whole: Path, tmp_path: Path) -> None:
    left = [tmp_path / ".part-f00d-spent.json", tmp_path / "checkpoints" / ".part-f00d-last.safetensors"]
    left[1].parent.mkdir()
    for file in left:
        file.write_bytes(b"half")
    learn(tmp_path)
    assert checkpoints(tmp_path) == checkpoints(whole) and not any(file.exists() for file in left)


def test_a_run_is_trained_by_one_at_a_time(whole: Path, tmp_path: Path) -> None:
    def meddle(progress: Progress) -> None:
        with pytest.raises(UserError, match="is being trained by another process; wait until it is done"):
            learn(tmp_path)

    learn(tmp_path, watch=meddle)
    assert checkpoints(tmp_path) == checkpoints(whole)


def test_others_random_numbers_and_threads_are_left_alone(tmp_path: Path) -> None:
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    learn(tmp_path)
    assert torch.equal(before, torch.get_rng_state()) and torch.get_num_threads() == threads


# --- bad input


class Diverging(Tiny):
    def loss(self, rows: np.ndarray) -> torch.Tensor:
        return super().loss(rows) * (float("nan") if len(self.asked) > 9 else 1.0)


def test_a_loss_that_is_no_number_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"no longer a number at step 9; the last good checkpoint is .*; lower the rate"
    ):
        train(Diverging(), TRAINING, run_in(tmp_path), KEY)
    with pytest.raises(Stopped):
        learn(tmp_path / "same", watch=stop_at(10))
    assert checkpoints(tmp_path) == checkpoints(tmp_path / "same")


def test_weights_that_are_no_numbers_are_not_written(tmp_path: Path) -> None:
    objective = Tiny()

    def spoil(progress: Progress) -> None:
        if progress.step == 4:
            next(objective.network.parameters()).data[0] = float("inf")

    with pytest.raises(UserError, match="the weights are no longer numbers"):
        train(objective, TRAINING, run_in(tmp_path), KEY, spoil)
    with pytest.raises(Stopped):
        learn(tmp_path / "same", watch=stop_at(4))
    assert checkpoints(tmp_path) == checkpoints(tmp_path / "same")


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line says it in one sentence; here it is that the file is whole or as it was."""

    def fill(progress: Progress) -> None:
        if progress.step == 7:
            monkeypatch.setattr(Path, "write_bytes", cut_off)

    def cut_off(file: Path, data: bytes) -> int:
        with file.open("wb") as part:
            part.write(data[:100])
        raise OSError(errno.ENOSPC, "No space left on device", str(file))

    with pytest.raises(OSError, match="No space left"):
        learn(tmp_path, watch=fill)
    monkeypatch.undo()
    with pytest.raises(Stopped):
        learn(tmp_path / "same", watch=stop_at(7))
    assert checkpoints(tmp_path) == checkpoints(tmp_path / "same")
    assert not list((tmp_path / "checkpoints").glob(".part*"))


def test_a_folder_of_another_model_is_refused(whole: Path) -> None:
    with pytest.raises(UserError, match=r"holds another run: its network.name is 'tiny', here it is 'big'"):
        run_in(whole, name="big")


def test_other_settings_are_refused(whole: Path) -> None:
    with pytest.raises(UserError, match=r"its training.rate is 0.05, here it is 0.1; choose another folder"):
        run_in(whole, replace(TRAINING, rate=0.1))


def opened(folder: Path, name: str = "tiny") -> Run:
    """A run whose training has not come to its first checkpoint."""
    run = run_in(folder, name=name)
    with run.alone():
        return run


def test_a_checkpoint_of_another_model_is_refused(whole: Path, tmp_path: Path) -> None:
    run = opened(tmp_path, name="big")
    run.last.write_bytes(run_in(whole).last.read_bytes())
    with pytest.raises(UserError, match=r"is the checkpoint of another run: its network.name is 'tiny'"):
        train(Tiny(), TRAINING, run, KEY)


@pytest.mark.parametrize("keep", [0, 5, 200, -1])
def test_a_damaged_checkpoint_is_refused(whole: Path, tmp_path: Path, keep: int) -> None:
    run = opened(tmp_path)
    run.last.write_bytes(run_in(whole).last.read_bytes()[:keep])
    with pytest.raises(UserError, match="is damaged or no file of tensors"):
        train(Tiny(), TRAINING, run, KEY)


@pytest.mark.parametrize(("device", "said"), [("cuda", "no CUDA device"), ("mps", "no Apple GPU")])
def test_a_device_that_is_not_there_is_refused(
    tmp_path: Path, device: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(UserError, match=said):
        train(Tiny(), replace(TRAINING, device=device), run_in(tmp_path), KEY)


@pytest.mark.parametrize(
    "settings", [{"batch": 0}, {"rate": 0.0}, {"optimiser": "magic"}, {"device": "tpu"}, {"precision": "int4"}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(UserError):
        Training(**settings)  # type: ignore[arg-type]
