"""Progress for people: one bar per label, on stderr."""

from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from recombine.store.durations import time_of
from recombine.store.text import console as terminal
from recombine.store.text import plain

BRIEF = 2.0
"""Seconds of work that leave no trace."""


class _Rate(ProgressColumn):
    """Shards per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.3g}/s")


class Bars:
    """Progress bars for an engine; where there is no terminal, a line for each label that took a while."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or terminal(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not (self._console.is_terminal or self._console.is_jupyter),
        )
        self._tasks: dict[str, TaskID] = {}
        self._started: dict[str, float] = {}

    def __call__(self, label: str, done: int, total: int) -> None:
        """Show that `done` of `total` shards are done."""
        if done == 0 or label not in self._tasks:
            self._tasks[label] = self._bars.add_task(plain(label), total=total)
            self._started[label] = monotonic()
        self._bars.update(self._tasks[label], completed=done)
        if done == total:
            self._finish(label, total)

    def _finish(self, label: str, total: int) -> None:
        """Leave a trace of what took a while, and none of what did not."""
        seconds = monotonic() - self._started[label]
        if seconds < BRIEF:
            self._bars.update(self._tasks[label], visible=False)
        elif self._bars.disable:
            self._console.print(f"{plain(label)}: {total} in {time_of(seconds)}", markup=False, highlight=False)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()


class _Watched:
    """Progress from Python: bars where somebody looks on, in a terminal or a notebook, and nothing elsewhere."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._running: set[str] = set()

    def __call__(self, label: str, done: int, total: int) -> None:
        console = terminal(stderr=True)
        if not (console.is_terminal or console.is_jupyter):
            return
        if self._bars is None:
            self._bars = Bars(console).__enter__()
        self._bars(label, done, total)
        self._running.add(label)
        if done >= total:
            self._running.discard(label)
        if not self._running:
            self._bars.__exit__()
            self._bars = None


watched = _Watched()
