"""PyTorch's random numbers, decided by a key."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from recombine.store.key import Key


def seed_of(key: Key) -> int:
    """The seed that a key is for PyTorch."""
    return int(key.rng().integers(2**63))


@contextmanager
def seeded(key: Key) -> Iterator[None]:
    """Draw as the key says, and leave the random numbers of others as they were."""
    with torch.random.fork_rng():
        torch.manual_seed(seed_of(key))
        yield
