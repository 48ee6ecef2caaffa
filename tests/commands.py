"""Commands in tests: what one prints, and what it is to be refused."""

from collections.abc import Callable
from typing import NamedTuple


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """What was printed, with the breaks of its lines undone."""
        return " ".join(self.out.split())


Run = Callable[..., Ran]


def refused(ran: Ran, expected: str) -> None:
    """Exit code 2, one sentence, and nothing else."""
    assert ran.code == 2
    assert expected in ran.err
    assert ran.err.startswith("Error: ") and ran.err.count("\n") == 1 and len(ran.err) < 1_000
    assert "Traceback" not in ran.err
    assert ran.out == ""
