"""Subjects: what `recombine report` writes a page about that is no benchmark.

A subject is a class with a method `report`, whose keywords that carry a help text are the options of the command line.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from recombine.store.engine import Progress, silent

SUBJECTS = {
    "human": "human.page:People",
    "prediction": "prediction:Predictions",
    "ledger": "ledger:Ledger",
}
"""Where each stands: `module:Name`, seen from here."""


class Subject(ABC):
    """A page of its own."""

    def __init__(self, *, progress: Progress = silent) -> None:
        self.progress = progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.progress = silent

    @abstractmethod
    def report(self, out: str | Path, **asked: Any) -> Path:
        """Write the page (.html), or Markdown with figures (.md)."""


def subject(name: str) -> type[Subject]:
    """The subject of this name."""
    module, _, what = SUBJECTS[name].partition(":")
    found: type[Subject] = getattr(import_module(f"recombine.benchmarks.{module}"), what)
    return found
