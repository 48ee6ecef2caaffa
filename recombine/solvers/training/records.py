"""What a run has written, read back: what was trained, what was measured, what came out. Nothing here needs PyTorch."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from recombine.store.errors import UserError
from recombine.store.paths import within
from recombine.store.store import read_table
from recombine.store.untrusted import read_bytes, read_json
from recombine.store.writing import alone, write_atomically, write_text

FORMAT = 2
RESULTS = "results.json"
SPLIT = "split.json"
"""The split of a run, where it was made automatically."""
KEPT = ("config.json", RESULTS, "metrics.parquet", SPLIT)
"""What tables need of a run."""
AGAIN = "remove the folder of this run, and train it again"
MOST_MEASURED = 2**22
"""Values of one run."""
SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("epoch", pa.int64()),
        ("seconds", pa.float64()),
        ("cpu_seconds", pa.float64()),
        ("name", pa.string()),
        ("value", pa.float64()),
    ]
)


class Measured(NamedTuple):
    """One value of a training."""

    step: int
    epoch: int
    seconds: float
    cpu_seconds: float
    name: str
    value: float


def read_config(folder: Path) -> dict[str, Any]:
    """What was trained in a folder."""
    file = folder / "config.json"
    if not file.exists():
        inside = next(folder.glob("*/config.json"), None)
        hint = f"; give one of its folders, such as {inside.parent}" if inside else "; train makes such folders"
        raise UserError(f"{folder} is not the folder of a run: it has no config.json{hint}")
    found = _read_whole(file)
    if found.get("format") != FORMAT:
        raise UserError(f"{folder} was written by another version of recombine; train again in another folder")
    return found


def read_results(folder: Path) -> dict[str, Any] | None:
    """What a run scored; nothing where its training was not brought to an end."""
    file = folder / RESULTS
    advice = "remove it and repeat the command that trained this run, which then tests it again"
    return _read_whole(file, advice) if file.exists() else None


def write_results(folder: Path, results: Mapping[str, Any]) -> None:
    """Keep what a run scored, with the length of its training, which may be extended later."""
    if lost := next(_no_numbers(results), None):
        raise UserError(
            f"the test of {folder} gives no number for {lost}; test it on more, or train it again elsewhere"
        )
    length = {"length": read_config(folder)["length"]}
    write_text(folder / RESULTS, json.dumps({**results, **length}, indent=1) + "\n")


def _no_numbers(found: Any, name: str = "") -> Iterator[str]:
    """The names of what is not finite, which could not be read again."""
    if isinstance(found, Mapping | list | tuple):
        inside = found.items() if isinstance(found, Mapping) else enumerate(found)
        for key, one in inside:
            yield from _no_numbers(one, f"{name} {key}".strip())
    elif isinstance(found, float) and not isfinite(found):
        yield f"'{name}'"


def keep(out: Path, kept: Path, benchmark: str) -> list[str]:
    """Copy what finished runs have written into another folder, without their weights; the names of these runs.

    Tables are made of it as of the runs themselves. A run that is kept already is written again.
    """
    with alone(kept):
        return _kept(out, kept, benchmark)


def _kept(out: Path, kept: Path, benchmark: str) -> list[str]:
    names = []
    for run, config, results in runs_of(out, benchmark):
        if results is None:
            continue
        place = within(kept, run.name)
        there = place / "config.json"
        if there.exists() and identity_of(read_config(there.parent)) != identity_of(config):
            raise UserError(f"{there.parent} holds another run than {run}; keep this one in another folder")
        for name in KEPT:
            if (run / name).exists():
                content = read_bytes(within(run, name), advice=AGAIN)
                place.mkdir(parents=True, exist_ok=True)
                write_atomically(place / name, partial(_written, content))
        names.append(run.name)
    return names


def _written(content: bytes, draft: Path) -> None:
    draft.write_bytes(content)


def runs_of(out: Path, benchmark: str) -> Iterator[tuple[Path, dict[str, Any], dict[str, Any] | None]]:
    """The runs of a benchmark in a folder: config and results, as long as the training was when it was tested."""
    for file in sorted(out.glob("*/config.json")):
        if _read_whole(file).get("benchmark") == benchmark:
            config, results = read_config(file.parent), read_results(file.parent)
            with as_written(file.parent):
                yield file.parent, config if results is None else {**config, "length": results["length"]}, results


def _read_whole(file: Path, advice: str = AGAIN) -> dict[str, Any]:
    found: dict[str, Any] = read_json(file, advice=advice)
    return found


@contextmanager
def as_written(folder: Path) -> Iterator[None]:
    """Say which folder is to blame where a config or results are not as we write them."""
    try:
        yield
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        what = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{folder} is no run that can be read ({what}); remove it, or train again in another folder"
        ) from error


def identity_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a config that every checkpoint of the run carries."""
    return {name: value for name, value in config.items() if name != "length"}


def read_metrics(folder: Path) -> list[Measured]:
    """What was measured in a run, as far as it was written."""
    file = folder / "metrics.parquet"
    if not file.exists():
        return []
    table = read_table(file, most=MOST_MEASURED)
    try:
        table = table.select(SCHEMA.names).cast(SCHEMA)
        if any(column.null_count for column in table.columns):
            raise ValueError("a value is missing")
        return [Measured(**row) for row in table.to_pylist()]
    except (KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise UserError(f"{file} cannot be read; {AGAIN}") from error


def last_measured(folder: Path) -> Measured:
    """The last value of a run."""
    found = read_metrics(folder)
    if not found:
        raise UserError(f"{folder} has no metrics.parquet; train a little longer, or if it was lost, again elsewhere")
    return found[-1]
