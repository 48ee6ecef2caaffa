"""Answers: what a command has to say, to people, to machines, on the side; and its exit code."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What a command has to say."""

    shown: tuple[Any, ...] = ()
    """What the terminal shows: tables, views, sentences."""
    data: Any = None
    """What --json prints."""
    notes: tuple[str, ...] = ()
    code: int = 0
