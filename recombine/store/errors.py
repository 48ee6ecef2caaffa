"""The one exception that speaks to the user."""

from recombine.store.text import plain, shortened

LONGEST = 4_000
"""Letters of a complaint."""


class UserError(Exception):
    """What is wrong, where, and how to fix it, in one sentence; the command line prints it and exits with 2.

    It may quote files that are not ours: their control characters do not come through, nor all of a text without end.
    """

    def __str__(self) -> str:
        return shortened(plain(super().__str__()), LONGEST)
