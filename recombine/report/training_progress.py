"""How far a training is, in a line now and then."""

import math
from typing import Any

from rich.console import Console

from recombine.store import text
from recombine.store.durations import time_of

TOLD_EVERY = 15.0
"""Seconds between two lines about a training."""


class ProgressPrinter:
    """Says now and then how far a training is: loss, validation, time left."""

    def __init__(self, name: str, console: Console | None = None, every: float = TOLD_EVERY, where: str = "") -> None:
        self.name, self.every, self.where = name, every, where
        self.console = console or text.console(stderr=True)
        self.told = 0.0

    def __call__(self, progress: Any) -> None:
        if self.where:
            self._say(f"{self.name}: {self.where}, from step {progress.step:,}")
            self.where = ""
        self.told += progress.each
        if self.told >= self.every:
            self.told = 0.0
            self._say(self.line(progress))

    def _say(self, sentence: str) -> None:
        self.console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def line(self, progress: Any) -> str:
        said = [f"epoch {progress.epoch + 1}", f"step {progress.step:,} of at most {progress.steps:,}"]
        said += [] if math.isnan(progress.loss) else [f"loss {progress.loss:.4f}"]
        said += [f"validation {name} {value:.4f}" for name, value in progress.validation.items()]
        return f"{self.name}: {', '.join(said)}, at most {time_of(progress.left)} left"
