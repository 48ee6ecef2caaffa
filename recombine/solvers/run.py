"""Runs: the folder of one training, that it writes while it goes on and finds again when it is repeated.

config.json                     what is trained, on what, how
environment.json                where: machine and versions of every sitting
results.json                    what the best network scored in the tests, when the training was at its end
spent.json                      the time that it took until the last checkpoint
metrics.parquet                 every value that was measured, with its step and the time since the beginning
events.out.tfevents.*           the same for TensorBoard
checkpoints/last.safetensors    to go on from
checkpoints/best.safetensors    the network that did best in validation
training.lock                   held while it is trained
"""

import fcntl
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.solvers.checkpoint import Identity, difference
from recombine.solvers.events import Events
from recombine.solvers.records import FORMAT, SCHEMA, Measured, read_config, read_metrics
from recombine.store.errors import UserError
from recombine.store.store import PART, write_atomically

SAID = {"images": "data seed"}
"""What a part of an identity is called on the command line, where that is another word."""


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

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others out while it is trained. What a training that was killed left half written goes."""
        with (self.folder / "training.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UserError(
                    f"{self.folder} is being trained by another process; wait until it is done, or choose another --out"
                ) from error
            for left in [*self.folder.glob(f"{PART}*"), *self.last.parent.glob(f"{PART}*")]:
                left.unlink()
            yield

    def begin(self, step: int) -> None:
        """Go on from a step: what was measured after it, before an interruption, will be measured again."""
        self.measured = [row for row in read_metrics(self.folder) if row.step <= step]
        self.first, self.events = step, None

    def write_sitting(self, environment: Mapping[str, Any]) -> None:
        """Where it goes on now; a sitting that led to no checkpoint is forgotten."""
        file = self.folder / "environment.json"
        before = [sitting for sitting in _read_json(file, list) if sitting["from_step"] < self.first]
        _write_json(file, [*before, {"from_step": self.first, **machine(), **environment}])

    def spent(self) -> tuple[float, float]:
        """Seconds and CPU seconds of the sittings before this one, as far as they led to the last checkpoint."""
        found = _read_json(self.folder / "spent.json", dict)
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
    """Refuse a folder that holds the checkpoints of another run, as far as this part of an identity tells."""
    if not any((folder / "checkpoints" / f"{name}.safetensors").exists() for name in ("last", "best")):
        return
    there, here = read_config(folder), json.loads(json.dumps({"format": FORMAT, **identity}))
    asked, found = ({SAID.get(name, name): tree.get(name) for name in here} for tree in (here, there))
    differ = difference(found, asked)
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


def _read_json(file: Path, kind: type) -> Any:
    """What is in a file; nothing where there is none, or it is not of this kind."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        found = None
    return found if isinstance(found, kind) else kind()


def _write_json(file: Path, value: object) -> None:
    text = json.dumps(value, indent=2) + "\n"
    write_atomically(file, lambda draft: draft.write_text(text))
