"""The one exception that speaks to the user."""


class UserError(Exception):
    """What is wrong, where, and how to fix it, in one sentence; the command line prints it and exits with 2."""
