"""Runs: the folder of one training, that it writes while it goes on and finds again when it is repeated.

config.json                     what is trained, on what, how
environment.json                where: machine and versions
results.json                    what the best network scored in the tests, when the training was at its end
spent.json                      the time that it took until the last checkpoint
metrics.parquet                 every value that was measured, with its step and the time since the beginning
events.out.tfevents.*           the same for TensorBoard
checkpoints/last.safetensors    to go on from
checkpoints/best.safetensors    the network that did best in validation
"""

import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.solvers.checkpoint import Identity, difference
from recombine.solvers.events import Events
from recombine.store.errors import UserError
from recombine.store.store import write_atomically

FORMAT = 2
RESULTS = "results.json"
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


class Run:
    """The folder of a training, opened for it: new, or with the same identity as before."""

    def __init__(self, folder: Path, identity: Identity, length: Mapping[str, Any]) -> None:
        self.folder, self.identity = folder, {"format": FORMAT, **identity}
        must_be_same(folder, identity)
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        _write_json(self.config, {**self.identity, "length": dict(length)})
        self.measured: list[Measured] = []
        self.first = 0
        self.events: Events | None = None

    @property
    def config(self) -> Path:
        return self.folder / "config.json"

    @property
    def last(self) -> Path:
        return self.folder / "checkpoints" / "last.safetensors"

    @property
    def best(self) -> Path:
        return self.folder / "checkpoints" / "best.safetensors"

    def begin(self, step: int, environment: Mapping[str, Any]) -> None:
        """Go on from a step: what was measured after it, before an interruption, will be measured again."""
        _write_json(self.folder / "environment.json", {**machine(), **environment})
        self.measured = [row for row in read_metrics(self.folder) if row.step <= step]
        self.first, self.events = step, None

    def spent(self) -> tuple[float, float]:
        """Seconds and CPU seconds of the sittings before this one, as far as they led to the last checkpoint."""
        found = _read_json(self.folder / "spent.json")
        if found.get("step") == self.first:
            return found["seconds"], found["cpu_seconds"]
        return (self.measured[-1].seconds, self.measured[-1].cpu_seconds) if self.measured else (0.0, 0.0)

    def write_spent(self, step: int, seconds: float, cpu_seconds: float) -> None:
        """In a file of its own: the bytes of a checkpoint do not depend on the time it took."""
        _write_json(self.folder / "spent.json", {"step": step, "seconds": seconds, "cpu_seconds": cpu_seconds})

    def measure(self, step: int, epoch: int, seconds: float, cpu_seconds: float, values: Mapping[str, float]) -> None:
        self.measured += [Measured(step, epoch, seconds, cpu_seconds, *value) for value in values.items()]
        if self.events is None:
            self.events = Events(self.folder, self.first)
        self.events.add(step, values)

    def write_metrics(self) -> None:
        columns = dict(zip(Measured._fields, zip(*self.measured))) if self.measured else {n: () for n in SCHEMA.names}
        table = pa.table({name: list(column) for name, column in columns.items()}, SCHEMA)
        write_atomically(self.folder / "metrics.parquet", lambda draft: pq.write_table(table, draft))


def must_be_same(folder: Path, identity: Identity) -> None:
    """Refuse a folder that holds the checkpoints of another run."""
    if not any((folder / "checkpoints").glob("*.safetensors")):
        return
    differ = difference(identity_of(read_config(folder)), json.loads(json.dumps({"format": FORMAT, **identity})))
    if differ:
        raise UserError(f"{folder} holds another run: {differ}; choose another --out")


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
    return _read_whole(file) if file.exists() else None


def write_results(folder: Path, results: Mapping[str, Any]) -> None:
    """Keep what a run scored, with the length of its training, which may be extended later."""
    length = {"length": read_config(folder)["length"]}
    text = json.dumps({**results, **length}, indent=1) + "\n"
    write_atomically(folder / RESULTS, lambda draft: draft.write_text(text))


def finished(out: Path, benchmark: str) -> Iterator[tuple[Path, dict[str, Any], dict[str, Any] | None]]:
    """The runs of a benchmark in a folder: config and results, as long as the training was when it was tested."""
    for file in sorted(out.glob("*/config.json")):
        if _read_whole(file).get("benchmark") == benchmark:
            config, results = read_config(file.parent), read_results(file.parent)
            with as_written(file.parent):
                yield file.parent, config if results is None else {**config, "length": results["length"]}, results


def _read_whole(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UserError(f"{file} cannot be read; remove the folder of this run, and train it again")
    return found


@contextmanager
def as_written(folder: Path) -> Iterator[None]:
    """Say which folder is to blame where a config or results are not as we write them."""
    try:
        yield
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
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
    try:
        return [Measured(**row) for row in pq.read_table(file, schema=SCHEMA).to_pylist()]
    except pa.ArrowException as error:
        raise UserError(f"{file} cannot be read; remove the folder of this run, and train it again") from error


def last_measured(folder: Path) -> Measured:
    """The last value of a run."""
    found = read_metrics(folder)
    if not found:
        raise UserError(f"{folder} has no metrics.parquet; train a little longer, or if it was lost, again elsewhere")
    return found[-1]


def machine() -> dict[str, Any]:
    """The machine and the versions that a run depends on."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        **{name: _version(name) for name in ("recombine", "numpy", "pyarrow", "torch")},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read_json(file: Path) -> dict[str, Any]:
    """What is in a file; nothing where there is none, or it cannot be read."""
    try:
        return dict(json.loads(file.read_text()))
    except (OSError, ValueError):
        return {}


def _write_json(file: Path, value: object) -> None:
    text = json.dumps(value, indent=2) + "\n"
    write_atomically(file, lambda draft: draft.write_text(text))
