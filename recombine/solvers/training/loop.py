"""The one loop: every network of this package is trained by it.

What is learnt is an `Objective`: a network, its rows, what is lost on some of them, a validation. The loop takes the
steps, lowers the rate, keeps the best, stops, measures, and writes checkpoints. On a CPU with one thread a training
that was stopped at any moment, however rudely, ends in the same checkpoints as one that was not, bit for bit: the order
of the rows comes from the key, and a checkpoint holds all else, PyTorch's random numbers included.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, process_time
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from recombine.solvers.training import checkpoint
from recombine.solvers.training.batches import Batches, Stage
from recombine.solvers.training.interrupts import deferred
from recombine.solvers.training.memory import keep_memory
from recombine.solvers.training.run import Run
from recombine.solvers.training.seeding import seeded
from recombine.solvers.training.settings import Training, ValidationState
from recombine.store.errors import UserError
from recombine.store.key import Key


class Objective(Protocol):
    """What is learnt."""

    @property
    def network(self) -> nn.Module: ...

    @property
    def stages(self) -> tuple[Stage, ...]: ...

    def loss(self, rows: np.ndarray) -> Tensor:
        """What the network loses on these rows, one number."""
        ...

    def validate(self) -> Mapping[str, float]:
        """How well the network does on what is held back."""
        ...


@dataclass(frozen=True)
class Progress:
    """How far a training is, for those who watch."""

    step: int
    steps: int
    epoch: int
    loss: float
    validation: Mapping[str, float]
    each: float
    """The seconds of a step, by the mean of this sitting."""

    @property
    def left(self) -> float:
        """The seconds that it takes at most; early stopping may end it sooner."""
        return self.each * (self.steps - self.step)


Watch = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Show nothing."""


def train(objective: Objective, training: Training, run: Run, key: Key, watch: Watch = unwatched) -> ValidationState:
    """Train to the end, from the last checkpoint of the run if it has one."""
    with run.alone(), settled(training), seeded(key / "noise"):
        return _Loop(objective, training, run, key, watch).go()


class _Loop:
    def __init__(self, objective: Objective, training: Training, run: Run, key: Key, watch: Watch) -> None:
        self.objective, self.training, self.run, self.watch = objective, training, run, watch
        self.network = objective.network.to(training.device)
        self.batches = Batches(objective.stages, training.batch, key)
        self.steps = self._end(training)
        self.optimiser = _optimiser(self.network, training)
        self.step, self.validated = 0, ValidationState()
        self.losses: list[float] = []  # since the last validation
        self.validation: Mapping[str, float] = {}
        self.best: dict[str, Tensor] | None = None  # not yet written
        run.need_room(sum(parameter.nbytes for parameter in self.network.parameters()))
        if run.last.exists():
            self._restore(checkpoint.load(run.last, run.identity))
        run.begin(self.step)
        self.spent = run.spent()  # in earlier sittings
        self.began, self.first = (monotonic(), process_time()), self.step
        self.saved = self.began[0]

    def _end(self, training: Training) -> int:
        """The last step: a validation, so that a training that is extended later takes no other turn."""
        steps = training.steps or self.batches.steps(training.epochs)
        if training.validate_every is not None:
            return -(-steps // training.validate_every) * training.validate_every
        return self.batches.epoch(steps - 1).end

    def go(self) -> ValidationState:
        if self._over():
            return self.validated
        self.run.write_sitting(_where(self.training))
        with deferred() as asked:
            while not self._over() and not asked:
                self._learn(self.batches.rows(self.step))
                self.step += 1
                if self._due():
                    self._validate()
                self.watch(self._progress())
                if monotonic() - self.saved >= self.training.checkpoint_every:
                    self._save()
            self._save()
        return self.validated

    def _over(self) -> bool:
        return self.step >= self.steps or self.validated.over(self.training)

    def _learn(self, rows: np.ndarray) -> None:
        self.network.train()
        self._set_rate()
        self.optimiser.zero_grad(set_to_none=True)
        with self._precisely():
            loss = self.objective.loss(rows)
        self.losses.append(loss.item())
        if not np.isfinite(self.losses[-1]):
            raise self._lost("the loss is no longer a number")
        loss.backward()
        if self.training.clip is not None:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.training.clip)
        self.optimiser.step()

    def _set_rate(self) -> None:
        if self.training.warm_up or self.training.fall:
            lowered = self.training.slower_by**self.validated.lowered
            for group in self.optimiser.param_groups:
                group["lr"] = self.training.rate * lowered * self.training.share_of_rate(self.step)

    def _due(self) -> bool:
        """Whether this is the moment for a validation."""
        every = self.training.validate_every
        if every is not None:
            return self.step % every == 0
        return self.step == self.batches.epoch(self.step - 1).end

    def _validate(self) -> None:
        self.network.eval()
        with torch.no_grad(), self._precisely():
            self.validation = dict(self.objective.validate())
        if not np.isfinite(list(self.validation.values())).all():
            raise self._lost("the validation gives no number any more")
        loss, self.losses = float(np.mean(self.losses)), []
        epoch = self.batches.epoch(self.step - 1)
        if epoch.stage == len(self.batches.stages) - 1:  # an early stage is no measure of the whole
            self._judge(self.validated.after(self.validation, self.step, self.training))
        self._measure(epoch.number, {"loss": loss, "rate": self._rate, **_named(self.validation)})

    def _judge(self, validated: ValidationState) -> None:
        if validated.best_step == self.step:
            self.best = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        if validated.lowered > self.validated.lowered:
            for group in self.optimiser.param_groups:
                group["lr"] *= self.training.slower_by
        self.validated = validated

    @property
    def _rate(self) -> float:
        return float(self.optimiser.param_groups[0]["lr"])

    def _measure(self, epoch: int, values: Mapping[str, float]) -> None:
        self.run.measure(self.step, epoch, *self._times(), values)

    def _times(self) -> tuple[float, float]:
        """Seconds and CPU seconds of all sittings."""
        wall, cpu = monotonic() - self.began[0], process_time() - self.began[1]
        return self.spent[0] + wall, self.spent[1] + cpu

    def _progress(self) -> Progress:
        loss = float(np.mean(self.losses)) if self.losses else float("nan")
        each = (monotonic() - self.began[0]) / (self.step - self.first)
        return Progress(self.step, self.steps, self.batches.epoch(self.step - 1).number, loss, self.validation, each)

    def _save(self) -> None:
        """The best first: a last checkpoint that knew of a better network than there is would be wrong for good."""
        if not all(bool(torch.isfinite(parameter).all()) for parameter in self.network.parameters()):
            raise self._lost("the weights are no longer numbers")
        if self.best is not None:
            checkpoint.save(
                self.run.best, {"network": self.best, "standing": asdict(self.validated)}, self.run.identity
            )
            self.best = None
        self.run.write_metrics()
        self.run.write_spent(self.step, *self._times())
        checkpoint.save(self.run.last, self._state(), self.run.identity)
        self.saved = monotonic()

    def _state(self) -> dict[str, Any]:
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "standing": asdict(self.validated),
            "step": self.step,
            "losses": self.losses,
            "validation": self.validation,
            "noise": {"cpu": torch.get_rng_state(), **_cuda_noise(self.training)},
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        with checkpoint.sound(self.run.last):
            self._take_up(state)

    def _take_up(self, state: Mapping[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self._lay_out()
        self.validated = ValidationState(**state["standing"])
        self.step, self.losses, self.validation = state["step"], state["losses"], state["validation"]
        torch.set_rng_state(state["noise"]["cpu"])
        if "cuda" in state["noise"]:
            torch.cuda.set_rng_state(state["noise"]["cuda"])

    def _lay_out(self) -> None:
        """Lay the optimiser's tensors out in memory as they were: another layout may round differently."""
        for parameter, state in self.optimiser.state.items():
            for name, value in state.items():
                if isinstance(value, Tensor) and value.shape == parameter.shape:
                    state[name] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)

    def _precisely(self) -> Any:
        mixed = self.training.precision == "bfloat16"
        return torch.autocast(self.training.device, torch.bfloat16, enabled=mixed)

    def _lost(self, what: str) -> UserError:
        there = self.run.last.exists()
        kept = f"the last good checkpoint is {self.run.last}" if there else "there is no checkpoint yet"
        where = " in another folder" if there else ""
        return UserError(f"{what} at step {self.step:,}; {kept}; lower the rate, now {self._rate:g}{where}")


def load_best(file: Path, network: nn.Module, identity: checkpoint.Identity) -> ValidationState:
    """Give a network the weights that did best in validation."""
    if not file.exists():
        raise UserError(f"{file} does not exist; train a little longer, or if it was lost, again in another folder")
    state = checkpoint.load(file, identity)
    with checkpoint.sound(file):
        network.load_state_dict(state["network"])
        return ValidationState(**state["standing"])


def devices() -> list[str]:
    """The devices that are here, the fastest first."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [device for device, is_there in there.items() if is_there]


def need_device(device: str) -> None:
    """Refuse a device that is not there."""
    if device not in devices():
        named = {"cuda": "CUDA device", "mps": "Apple GPU"}[device]
        raise UserError(f"there is no {named} here; leave device out to train on the CPU")


@contextmanager
def settled(training: Training) -> Iterator[None]:
    """PyTorch with the threads and the device of a training, and the same sums every time."""
    need_device(training.device)
    keep_memory()
    threads, chosen = torch.get_num_threads(), torch.backends.cudnn.deterministic
    torch.set_num_threads(training.threads)
    torch.backends.cudnn.deterministic = True
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.backends.cudnn.deterministic = chosen


def _optimiser(network: nn.Module, training: Training) -> torch.optim.Optimizer:
    wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
    rate, decay = training.rate, training.weight_decay
    if training.optimiser == "sgd":
        return torch.optim.SGD(wanted, rate, momentum=0.9, weight_decay=decay)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[training.optimiser]
    return kind(wanted, rate, weight_decay=decay, fused=training.device != "mps")


def _where(training: Training) -> dict[str, Any]:
    gpu = {"gpu": torch.cuda.get_device_name()} if training.device == "cuda" else {}
    return {"device": training.device, **gpu, "threads": training.threads, "precision": training.precision}


def _named(validation: Mapping[str, float]) -> dict[str, float]:
    return {f"validation/{name}": value for name, value in validation.items()}


def _cuda_noise(training: Training) -> dict[str, Tensor]:
    return {"cuda": torch.cuda.get_rng_state()} if training.device == "cuda" else {}
