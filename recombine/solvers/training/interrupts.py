"""Interrupts that wait: after Ctrl-C, what is being done is brought to a good end first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred() -> Iterator[list[int]]:
    """The list stays empty until someone asks to stop; then the block should end soon, and is stopped at its end.

    Who asks a second time is not made to wait. Only the main thread can be asked.
    """
    asked: list[int] = []
    before: dict[int, Any] = {}

    def note(number: int, frame: object) -> None:
        if asked:
            signal.signal(number, before[number])
            signal.raise_signal(number)
        asked.append(number)

    if threading.current_thread() is threading.main_thread():
        known = {number: signal.getsignal(number) for number in SIGNALS}
        before = {number: how for number, how in known.items() if how not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, how in before.items():
            signal.signal(number, how)
    for number in asked[:1]:
        signal.raise_signal(number)
