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
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.solvers.checkpoint import Identity, difference
from recombine.solvers.events import Events
from recombine.solvers.records import FORMAT, SCHEMA, Measured, identity_of, read_config, read_metrics
from recombine.store.errors import UserError
from recombine.store.store import write_atomically


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
