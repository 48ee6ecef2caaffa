"""Limits: how long, and with how much memory, a search may go on.

    with limited(60, 2**30, "counting 'f_pent'", bars):
        ...       # whatever searches calls `check()` now and then, and `tell("images", done, total)`

Seconds are those that this process works, so that a busy machine stops nothing that a quiet one would not. Where
nobody has set a limit both do nothing. A limit decides whether there is a result, never which.
"""

import os
import resource
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from pathlib import Path
from time import monotonic, process_time
from typing import TypeVar

from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.room import size_text

T = TypeVar("T")
EVERY = 0.05
"""Seconds between two looks at the memory."""


class Exceeded(UserError):
    """Something took too long, or too much memory."""


class _Limit:
    def __init__(self, seconds: float, size: float, what: str, progress: Progress) -> None:
        self.seconds, self.size, self.what, self.progress = seconds, size, what, progress
        self.told: dict[str, float] = {}
        self.end, self.look = process_time() + seconds, 0.0
        self.before = memory() if size < inf else 0

    def check(self) -> None:
        if process_time() > self.end:
            raise Exceeded(f"{self.what} was stopped after {self.seconds:g} s; allow more with limit, {ADVICE}")
        now = monotonic()
        if now > self.look and self.size < inf:
            self.look = now + EVERY
            if memory() - self.before > self.size:
                took = f"it took over {size_text(self.size)}"
                raise Exceeded(f"{self.what} was stopped for want of memory: {took}; {ADVICE}")

    def tell(self, stage: str, done: int, total: int) -> None:
        now = monotonic()
        if done == total or now > self.told.get(stage, 0.0) + EVERY:
            self.told[stage] = now
            self.progress(f"{self.what}: {stage}", done, total)


ADVICE = "or make it smaller"
_current: ContextVar[_Limit | None] = ContextVar("limit", default=None)


@contextmanager
def limited(seconds: float = inf, size: float = inf, what: str = "this", progress: Progress = silent) -> Iterator[None]:
    """So many seconds, and so many bytes of memory beyond what is in use now, for what is done in the block."""
    if not seconds >= 0:  # no number is neither reached nor passed
        raise UserError(f"limit is a number of seconds from 0 on, not {seconds:g}")
    token = _current.set(_Limit(seconds, size, what, progress))
    try:
        check()
        yield
    finally:
        _current.reset(token)


def check() -> None:
    """Stop here if a limit is exceeded."""
    limit = _current.get()
    if limit is not None:
        limit.check()


def tell(stage: str, done: int, total: int) -> None:
    """Say how far a search is, if someone listens."""
    limit = _current.get()
    if limit is not None:
        limit.tell(stage, done, total)


def watched(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """The result of a compiled loop that lets other threads run; `stop` has it end soon where a limit is exceeded."""
    if _current.get() is None:
        return work()
    check()
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(work)
        try:
            while True:
                try:
                    return running.result(EVERY)
                except TimeoutError:
                    check()
        except BaseException:
            stop()
            raise


def memory() -> int:
    """The bytes of memory that this process has; where the system does not tell, the most that it has had."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
