"""Tracking: what is measured, also for trackio or Weights & Biases, if that is asked for.

Both share three calls: `init(project, name, config)`, `log(values, step)`, `finish()`. Who watches decides nothing: a
tracker is no part of what a run is. It is said in the environment, so that runs in other processes hear of it too.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from recombine.store.errors import UserError

TRACKERS = ("trackio", "wandb")
ASKED = "RECOMBINE_TRACK"
PROJECT = "recombine"


class Tracker(Protocol):
    """Whoever keeps values."""

    def log(self, values: dict[str, float], step: int) -> None: ...

    def finish(self) -> None: ...


class Nobody:
    """Keeps nothing."""

    def log(self, values: dict[str, float], step: int) -> None: ...

    def finish(self) -> None: ...


class Package:
    """A package with the three calls."""

    def __init__(self, name: str, folder: Path, config: Mapping[str, Any]) -> None:
        self.package = import_module(name)
        try:
            self.package.init(project=PROJECT, name=folder.name, config=dict(config))
        except Exception as error:  # whatever it lacks: an account, a network, room
            why = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
            raise UserError(f"{name} could not begin: {why}; mend that, or leave track out") from error

    def log(self, values: dict[str, float], step: int) -> None:
        self.package.log(values, step=step)

    def finish(self) -> None:
        self.package.finish()


def panel_names(values: Mapping[str, float]) -> dict[str, float]:
    """Values as panels show them together: train/..., validation/...

    >>> panel_names({"loss": 1.0, "validation/loss": 2.0})
    {'train/loss': 1.0, 'validation/loss': 2.0}
    """
    return {name if "/" in name else f"train/{name}": value for name, value in values.items()}


def tracker(folder: Path, config: Mapping[str, Any]) -> Tracker:
    """The tracker that was asked for."""
    asked = os.environ.get(ASKED, "")
    return Package(asked, folder, config) if asked in TRACKERS else Nobody()


@contextmanager
def tracked(name: str | None) -> Iterator[None]:
    """Have all runs of this command tracked, in whichever process."""
    if name is None:
        yield
        return
    if name not in TRACKERS:
        raise UserError(f"there is no tracker '{name}'; choose one of {', '.join(TRACKERS)}, or leave track out")
    found = find_spec(name)
    if found is None or found.origin is None:  # a folder of that name is no package
        raise UserError(f"{name} is not installed; install it with pip install {name}, or leave track out")
    before = os.environ.get(ASKED)
    os.environ[ASKED] = name
    try:
        yield
    finally:
        os.environ.pop(ASKED) if before is None else os.environ.update({ASKED: before})
