"""Rewards: what a completion is worth, exactly, by the verifier of its benchmark."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from recombine import benchmarks
from recombine.store.errors import UserError
from recombine.tasks.rows import Row
from recombine.tasks.verifier import Verdict, Verifier


def reward(
    completions: Sequence[Any],
    answers: Sequence[Sequence[str]],
    options: Sequence[Sequence[str]],
    benchmark: Sequence[str] | str,
    shown: Sequence[Sequence[str]] | None = None,
    log_metric: Callable[[str, float], None] | None = None,
    **columns: Any,
) -> list[float]:
    """The reward of each completion, between 0 and 1, as TRL's GRPOTrainer asks for it.

    The columns of the rows come by name, all others are ignored. What cannot be read earns 0, and its share is logged.

    >>> reward(["It is red.", "?"], [["red"]] * 2, [["red", "blue"]] * 2, "clevr")
    [1.0, 0.0]
    """
    names = [benchmark] * len(completions) if isinstance(benchmark, str) else benchmark
    first = [1] * len(completions) if shown is None else [len(some) + 1 for some in shown]
    columns_given = (completions, answers, options, names, first)
    if len({len(one) for one in columns_given}) != 1:
        said = ", ".join(str(len(one)) for one in columns_given[:4])
        raise UserError(f"completions, answers, options and benchmark belong together, but there are {said} of them")
    found = [verifier(name).score(*rest) for *rest, name in zip(completions, answers, options, first, names)]
    if log_metric is not None and found:
        log_metric("unreadable", sum(one.unreadable for one in found) / sum(len(one.right) for one in found))
    return [one.score for one in found]


@cache
def verifier(benchmark: str) -> Verifier:
    """How answers to a benchmark are read and scored."""
    return benchmarks.get(benchmark).verifier


def verdict(row: Row, completion: Any) -> Verdict:
    """What a completion has earned on a row."""
    return verifier(row.benchmark).score(completion, row.answers, row.options, len(row.shown) + 1)
