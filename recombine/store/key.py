"""Keys: named random streams.

A key is a seed and a path of names. Every independent draw has its own path, so adding a draw leaves the others as
they were, and any part of an artefact can be made on any worker in any order.

>>> key = Key(7) / "scenes" / 3
>>> key
Key(7)/scenes/3
>>> bool(key.rng().random() == (Key(7) / "scenes" / 3).rng().random())
True
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from recombine.store.errors import UserError

MOST = 2**63
"""What a seed is below: as large as the columns that hold it."""


@dataclass(frozen=True)
class Key:
    """A seed and a path; the same key always gives the same numbers."""

    entropy: int
    path: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.entropy < MOST:
            raise UserError(f"a seed is a number from 0 to {MOST - 1:,}, not {self.entropy:,}")

    def __truediv__(self, part: str | int) -> "Key":
        return Key(self.entropy, (*self.path, part))

    def rng(self) -> np.random.Generator:
        """A fresh generator for this key."""
        words = tuple(word for part in self.path for word in _words(part))
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.entropy, spawn_key=words)))

    def __repr__(self) -> str:
        return "/".join([f"Key({self.entropy})", *map(str, self.path)])


def _words(part: str | int) -> tuple[int, ...]:
    """Two 32-bit words for a path part; 1 and "1" differ."""
    digest = hashlib.blake2b(f"{type(part).__name__}:{part}".encode(), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")
