"""What rows are wanted, in words: the options of a benchmark and of its rows, as harnesses hand them over."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from recombine import benchmarks
from recombine.benchmarks.endless import Endless
from recombine.store.errors import UserError
from recombine.tasks.rows import Row

NAMES = {"split": "splits", "episodes": "first", "questions": "first", "images": "first"}
"""What options are called on the command line, and what rows call them."""


def sorted_options(benchmark: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a study, and those of its rows."""
    options = {NAMES.get(name, name): value for name, value in given.items()}
    if isinstance(options.get("first"), str):
        options["first"] = int(options["first"]) if options["first"].isdecimal() else None
    options["first"] = options.get("first") or None
    for name in ("splits", "difficulty"):
        if isinstance(options.get(name), str):
            options[name] = [one for one in options[name].split(",") if one]
    if isinstance(options.get("difficulty"), Sequence):
        options["difficulty"] = dict(one.partition("=")[::2] for one in options["difficulty"])
    kind = benchmarks.get(benchmark).study
    rows, world = signature(kind.rows).parameters, signature(kind).parameters
    if unknown := [name for name in options if name not in rows and name not in world]:
        known = ", ".join(sorted({*NAMES, *rows, *world} - {"self", "splits", "first", "store", "progress", "workers"}))
        raise UserError(f"{benchmark} has no option '{unknown[0]}'; it has {known}")
    made = {name: value for name, value in options.items() if name not in rows}
    return made, {name: value for name, value in options.items() if name in rows}


def rows_of(benchmark: str, given: Mapping[str, Any], seed: int = 0, endless: bool = False) -> Iterator[Row]:
    """Rows by their options: those of one world, or world after world."""
    made, asked = sorted_options(benchmark, given)
    if endless:
        yield from Endless(benchmark, **{**made, **asked}, seed=seed)
        return
    with benchmarks.load(benchmark, **{**made, "seed": seed}) as study:
        yield from study.rows(**asked)
