"""Work for engines, in a file of its own so that a job starts quickly."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.store.errors import UserError
from recombine.store.writing import PART


def square(n: int) -> int:
    return n * n


def always_dies(n: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return n


def no_room(n: int) -> int:
    raise UserError("the disk is full")


def a_bug(n: int) -> int:
    raise ValueError("a bug")


@dataclass(frozen=True)
class Dying:
    """Work whose process is killed, once, in the middle of a shard: what it has begun to write is left behind."""

    work: Callable[[Any], Any]
    folder: str
    mark: str
    shard: Any

    def __call__(self, shard: Any) -> Any:
        if shard == self.shard and not Path(self.mark).exists():
            Path(self.mark).touch()
            (Path(self.folder) / f"{PART}half").write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        return self.work(shard)
