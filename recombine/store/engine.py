"""Engines: map a pure function over shards, in this process or in several.

A *shard* is a piece of the work that fits in memory. The results come in the order of the shards, so they do not
depend on the engine or on the number of workers.

>>> engine(workers=1).map(abs, [-1, 2, -3], "sizes")
[1, 2, 3]
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Protocol, Self, TypeVar

import pyarrow as pa

from recombine.store.errors import UserError

S = TypeVar("S")
R = TypeVar("R")
Progress = Callable[[str, int, int], None]  # label, shards done, shards in all

# The shards are the parallelism; threads below them would only compete.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def silent(label: str, done: int, total: int) -> None:
    """Show no progress."""


class Engine(Protocol):
    """Something that maps a function over shards; use it in a `with` block."""

    progress: Progress

    def map(self, work: Callable[[S], R], shards: Sequence[S], label: str) -> list[R]:
        """The results in the order of the shards; `work` must be picklable."""
        ...

    def ready(self, folder: str | None = None) -> None:
        """Refuse, before any work is done, workers that cannot do it; some work may be asked to go to a folder."""
        return

    def close(self) -> None:
        """End what the engine has started."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class InProcess(Engine):
    """One shard after the other, here."""

    def __init__(self, progress: Progress = silent) -> None:
        self.progress = progress

    def map(self, work: Callable[[S], R], shards: Sequence[S], label: str) -> list[R]:
        self.progress(label, 0, len(shards))
        results = []
        for shard in shards:
            results.append(work(shard))
            self.progress(label, len(results), len(shards))
        return results


class Processes(Engine):
    """Several shards at once, in processes of this machine that are started when first needed."""

    def __init__(self, workers: int, progress: Progress = silent) -> None:
        self.workers = workers
        self.progress = progress
        self._pool: ProcessPoolExecutor | None = None

    def map(self, work: Callable[[S], R], shards: Sequence[S], label: str) -> list[R]:
        if self.workers == 1 or len(shards) <= 1:
            return InProcess(self.progress).map(work, shards, label)
        try:
            return self._map(work, shards, label)
        except BrokenProcessPool as error:
            self._terminate()
            raise UserError(
                f"A worker was killed while making {label}, perhaps for want of memory: use fewer workers."
            ) from error
        except BaseException:
            self._terminate()
            raise

    def close(self) -> None:
        if self._pool:
            self._pool.shutdown()
            self._pool = None

    def _map(self, work: Callable[[S], R], shards: Sequence[S], label: str) -> list[R]:
        self.progress(label, 0, len(shards))
        waiting = iter(enumerate(shards))
        running: dict[Future[R], int] = {}
        results: dict[int, R] = {}
        while len(results) < len(shards):
            # A few shards per worker keep all of them busy; submitting every shard would hold them all in memory.
            for place, shard in islice(waiting, 4 * self.workers - len(running)):
                running[self._submit(work, shard)] = place
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                results[running.pop(future)] = future.result()
                self.progress(label, len(results), len(shards))
        return [results[place] for place in range(len(shards))]

    def _submit(self, work: Callable[[S], R], shard: S) -> Future[R]:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, initializer=become_worker)
        # The pool starts its processes as shards are submitted.
        with as_workers_inherit():
            return self._pool.submit(work, shard)

    def _terminate(self) -> None:
        """End the workers now, in the middle of their shards."""
        if self._pool:
            # `shutdown` alone would wait for the running shards; Python 3.14 offers `terminate_workers`.
            workers = list((self._pool._processes or {}).values())
            manager: threading.Thread | None = vars(self._pool)["_executor_manager_thread"]
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()
            if manager:
                # Python wakes this thread as it exits; one that is just closing its pipe then would be a traceback.
                manager.join(timeout=10)


def engine(workers: "int | Engine", progress: Progress = silent) -> Engine:
    """The engine for this number of workers; an engine is taken as it is."""
    if not isinstance(workers, int):
        workers.progress = progress if progress is not silent else workers.progress
        return workers
    if workers < 1:
        raise UserError(f"There must be at least 1 worker, not {workers}.")
    return InProcess(progress) if workers == 1 else Processes(workers, progress)


def shard_bounds(total: int, size: int) -> list[tuple[int, int]]:
    """Start and end of each shard, when `total` things are dealt out `size` at a time.

    >>> shard_bounds(10, 4)
    [(0, 4), (4, 8), (8, 10)]
    """
    return [(start, min(start + size, total)) for start in range(0, total, size)]


@contextmanager
def as_workers_inherit() -> Iterator[None]:
    """Environment and signal mask as a new worker should find them when it starts, before it imports anything."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    # A Ctrl-C that reaches a worker while it still imports would print its traceback.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def become_remote_worker() -> None:
    """Use one thread: the shards are the parallelism."""
    pa.set_cpu_count(1)


def become_worker() -> None:
    """Leave Ctrl-C to the parent, use one thread, and end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
