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


def none_such(what: str, number: int, count: int, where: str = "") -> UserError:
    """That there is no such number.

    >>> str(none_such("question", 7, 3, " of or_mat")), str(none_such("image", 0, 0))
    ('there is no question 7 of or_mat; choose one from 0 to 2', 'there is no image 0; there are none')
    """
    choice = f"choose one from 0 to {count - 1}" if count > 1 else "the only one is 0" if count else "there are none"
    return UserError(f"there is no {what} {number}{where}; {choice}")
