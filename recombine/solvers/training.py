"""How a network is trained: the settings, as one value, and when to stop. Nothing here needs PyTorch."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from math import cos, inf, pi
from typing import Any

from recombine.store.errors import UserError

OPTIMISERS = ("adam", "adamw", "sgd")
DEVICES = ("cpu", "cuda", "mps")
PRECISIONS = ("float32", "bfloat16")
LENGTH = ("epochs", "steps", "checkpoint_every")
"""Settings that may change when a training goes on: they decide where it ends, not the way."""


@dataclass(frozen=True)
class Training:
    """The settings of one training."""

    batch: int = 128
    rate: float = 1e-3
    optimiser: str = "adam"
    weight_decay: float = 0.0
    epochs: int = 100
    steps: int | None = None
    """The most steps, in place of epochs; training ends with the validation that is due then, or is due next."""
    patience: int | None = None
    """Validations without progress after which training stops."""
    least: float = 0.0
    """How much better is progress."""
    slower_by: float = 1.0
    """What the rate is multiplied with when the validation's loss has reached a plateau."""
    slower_after: int = 1
    """Steps without progress of the loss that are a plateau."""
    slower_least: float = 0.0
    """The share by which the loss must fall to be progress."""
    warm_up: int = 0
    """Steps in which the rate rises."""
    fall: tuple[int, int] | None = None
    """The steps between which the rate falls to zero, as a cosine does."""
    clip: float | None = None
    """The largest norm of a gradient."""
    judge: str = "loss"
    """The validation's value that is to become best."""
    higher: bool = False
    """Whether more of it is better."""
    validate_every: int | None = None
    """In steps; by default once an epoch."""
    checkpoint_every: float = 20.0
    """In seconds."""
    device: str = "cpu"
    precision: str = "float32"
    threads: int = 1

    def __post_init__(self) -> None:
        _one_of("optimiser", self.optimiser, OPTIMISERS)
        _one_of("device", self.device, DEVICES)
        _one_of("precision", self.precision, PRECISIONS)
        for name in ("batch", "epochs", "steps", "patience", "slower_after", "validate_every", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"{name} must be at least 1, not {value}")
        if self.fall is not None:
            object.__setattr__(self, "fall", tuple(self.fall))  # files have lists
        if self.fall is not None and not 0 <= self.fall[0] < self.fall[1]:
            raise UserError(f"the rate falls from one step to a later one, not from {self.fall[0]} to {self.fall[1]}")
        if not 0 < self.rate < inf:
            raise UserError(f"the rate must be a number above 0, such as 0.001, not {self.rate:g}")

    @property
    def where(self) -> str:
        """Device, precision and threads in words."""
        return f"on {self.device}, {self.precision}, {self.threads} thread{'s' if self.threads > 1 else ''}"

    def here(self, devices: Sequence[str]) -> "Training":
        """The same on one of these devices: its own if it is among them, else the last."""
        return self if self.device in devices else replace(self, device=devices[-1])

    def fixed(self) -> dict[str, Any]:
        """What must be the same for a training to go on."""
        unused = [name for name in ("warm_up", "fall") if not getattr(self, name)]
        unused += ["slower_after", "slower_least"] if self.slower_by == 1.0 else []
        return {name: value for name, value in asdict(self).items() if name not in (*LENGTH, *unused)}

    def share_of_rate(self, step: int) -> float:
        """How much of the rate a step has, as far as that is known beforehand.

        >>> [Training(warm_up=2, fall=(4, 8)).share_of_rate(step) for step in (0, 1, 4, 6)]
        [0.5, 1.0, 1.0, 0.5]
        """
        risen = min(1.0, (step + 1) / self.warm_up) if self.warm_up else 1.0
        if self.fall is None:
            return risen
        done = (step - self.fall[0]) / (self.fall[1] - self.fall[0])
        return risen * round((1 + cos(pi * min(max(done, 0.0), 1.0))) / 2, 12)


@dataclass(frozen=True)
class Standing:
    """How a training stands after its validations."""

    best: float | None = None
    best_step: int = 0
    mark: float | None = None
    """The value at the last progress."""
    waited: int = 0
    """Validations since then."""
    low: float | None = None
    """The loss at its last progress."""
    since: int = 0
    """The step of that, or of the last lowering of the rate."""
    lowered: int = 0
    """How often the rate was lowered."""

    def after(self, validation: Mapping[str, float], step: int, training: Training) -> "Standing":
        """How it stands after one more validation."""
        value, new = validation[training.judge], self._rated(validation, step, training)
        if _better(value, self.best, training, 0.0):
            new = replace(new, best=value, best_step=step)
        if _better(value, self.mark, training, training.least):
            return replace(new, mark=value, waited=0)
        return replace(new, waited=self.waited + 1)

    def _rated(self, validation: Mapping[str, float], step: int, training: Training) -> "Standing":
        """Whether the rate has to be lower from now on."""
        if training.slower_by == 1.0:
            return self
        if self.low is None or validation["loss"] < self.low * (1 - training.slower_least):
            return replace(self, low=validation["loss"], since=step)
        if step - self.since < training.slower_after:
            return self
        return replace(self, since=step, lowered=self.lowered + 1)

    def over(self, training: Training) -> bool:
        """Whether nothing better is to be expected."""
        return training.patience is not None and self.waited >= training.patience


def _better(value: float, than: float | None, training: Training, least: float) -> bool:
    if than is None:
        return True
    return value > than + least if training.higher else value < than - least


def need_torch() -> None:
    """Refuse where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise UserError("networks need PyTorch: pip install 'recombine[models]'")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UserError(f"there is no {name} '{value}'; choose one of {', '.join(known)}")
