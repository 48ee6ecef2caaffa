"""What Piantadosi, Tenenbaum and Goodman (2016) report of their best model, fitted to list 1, on list 2."""

CORRELATION = 0.892
"""Pearson's r with the share of people who say yes."""
LOG_LIKELIHOOD = -98_285.0
"""Of all judgements of list 2."""
JUDGEMENTS = 389_458
"""Of both lists."""
LIST_1 = 196_380
"""Judgements in the public file of list 1."""


def per_judgement() -> float:
    """The log-likelihood of a judgement of list 2.

    >>> round(per_judgement(), 4)
    -0.509
    """
    return LOG_LIKELIHOOD / (JUDGEMENTS - LIST_1)
