"""Runs: the folder of one training, that it writes while it goes on and finds again when it is repeated.

config.json                     what is trained, on what, how
environment.json                where: machine and versions
metrics.parquet                 every value that was measured, with its step and the time since the beginning
events.out.tfevents.*           the same for TensorBoard
checkpoints/last.safetensors    to go on from
checkpoints/best.safetensors    the network that did best in validation
"""

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.solvers.checkpoint import Identity, difference
from recombine.solvers.events import Events
from recombine.store.errors import UserError
from recombine.store.store import write_atomically

FORMAT = 1
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
        if self.config.exists():
            self._must_be_same()
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

    @property
    def spent(self) -> tuple[float, float]:
        """Seconds and CPU seconds until the last value that was measured."""
        return (self.measured[-1].seconds, self.measured[-1].cpu_seconds) if self.measured else (0.0, 0.0)

    def measure(self, step: int, epoch: int, seconds: float, cpu_seconds: float, values: Mapping[str, float]) -> None:
        self.measured += [Measured(step, epoch, seconds, cpu_seconds, *value) for value in values.items()]
        if self.events is None:
            self.events = Events(self.folder, self.first)
        self.events.add(step, values)

    def write_metrics(self) -> None:
        columns = dict(zip(Measured._fields, zip(*self.measured))) if self.measured else {n: () for n in SCHEMA.names}
        table = pa.table({name: list(column) for name, column in columns.items()}, SCHEMA)
        write_atomically(self.folder / "metrics.parquet", lambda draft: pq.write_table(table, draft))

    def _must_be_same(self) -> None:
        found = read_config(self.folder)
        differ = difference({k: v for k, v in found.items() if k != "length"}, json.loads(json.dumps(self.identity)))
        if differ:
            raise UserError(f"{self.folder} holds another run: {differ}; choose another --out")


def read_config(folder: Path) -> dict[str, Any]:
    """What was trained in a folder."""
    try:
        found = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} is not the folder of a run: it has no config.json that can be read") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UserError(f"{folder} was written by another version of recombine; train again in another folder")
    return found


def identity_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a config that every checkpoint of the run carries."""
    return {name: value for name, value in config.items() if name != "length"}


def read_metrics(folder: Path) -> list[Measured]:
    """What was measured in a run, as far as it was written."""
    file = folder / "metrics.parquet"
    if not file.exists():
        return []
    return [Measured(**row) for row in pq.read_table(file, schema=SCHEMA).to_pylist()]


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


def _write_json(file: Path, value: object) -> None:
    text = json.dumps(value, indent=2) + "\n"
    write_atomically(file, lambda draft: draft.write_text(text))
