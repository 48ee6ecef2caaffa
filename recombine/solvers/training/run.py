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

from recombine.solvers.training.checkpoint import Identity, difference
from recombine.solvers.training.events import Events
from recombine.solvers.training.records import FORMAT, SCHEMA, Measured, read_config, read_metrics
from recombine.solvers.training.tracking import Tracker, panel_names, tracker
from recombine.store.errors import UserError
from recombine.store.paths import within
from recombine.store.room import need_room
from recombine.store.untrusted import read_json
from recombine.store.writing import clear_parts, held, locked, write_atomically, write_text

LOCK = "training.lock"
BUSY = "{} is being trained by another process; wait until it is done, or choose another folder"
SAID = {"images": "data seed"}
"""What a part of an identity is called on the command line, where that is another word."""


class Run:
    """The folder of a training, opened for it: new, or with the same identity as before."""

    def __init__(
        self, folder: Path, identity: Identity, length: Mapping[str, Any], beside: Mapping[str, str] | None = None
    ) -> None:
        """`beside` are further files by their names, with what is in them."""
        self.folder, self.identity, self.length = folder, {"format": FORMAT, **identity}, dict(length)
        self.beside = dict(beside or {})
        must_be_same(folder, identity)
        self.held = False
        self.measured: list[Measured] = []
        self.first = 0
        self.events: Events | None = None
        self.tracker: Tracker | None = None

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
        """Keep others out while it is trained or tested. Nothing is written before, and nothing half written stays."""
        if self.held:
            yield
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{self.folder} cannot be made ({error.strerror}); choose another folder") from None
        with locked(self.folder / LOCK, BUSY.format(self.folder)):
            within(self.folder, "checkpoints").mkdir(exist_ok=True)
            clear_parts(self.folder)
            must_be_same(self.folder, {name: value for name, value in self.identity.items() if name != "format"})
            _write_json(self.config, {**self.identity, "length": self.length})
            for name, text in self.beside.items():
                write_text(within(self.folder, name), text)
            self.held = True
            try:
                yield
            finally:
                self.held = False
                if self.tracker is not None:
                    self.tracker.finish()
                    self.tracker = None

    def need_room(self, weights: int) -> None:
        """Refuse a disk without room for checkpoints of so many bytes of weights."""
        need_room(self.folder, room_of(weights), f"The training in {self.folder}", "choose another folder")

    def begin(self, step: int) -> None:
        """Go on from a step: what was measured after it, before an interruption, will be measured again."""
        self.measured = [row for row in read_metrics(self.folder) if row.step <= step]
        self.first, self.events = step, None

    def write_sitting(self, environment: Mapping[str, Any]) -> None:
        """Where it goes on now; a sitting that led to no checkpoint is forgotten."""
        file = self.folder / "environment.json"
        before = [sitting for sitting in _read_json(file, list) if _number(sitting, "from_step") < self.first]
        _write_json(file, [*before, {"from_step": self.first, **machine(), **environment}])

    def spent(self) -> tuple[float, float]:
        """Seconds and CPU seconds of the sittings before this one, as far as they led to the last checkpoint."""
        found = _read_json(self.folder / "spent.json", dict)
        if found.get("step") == self.first:
            return _number(found, "seconds"), _number(found, "cpu_seconds")
        return (self.measured[-1].seconds, self.measured[-1].cpu_seconds) if self.measured else (0.0, 0.0)

    def write_spent(self, step: int, seconds: float, cpu_seconds: float) -> None:
        """In a file of its own: the bytes of a checkpoint do not depend on the time it took."""
        _write_json(self.folder / "spent.json", {"step": step, "seconds": seconds, "cpu_seconds": cpu_seconds})

    def measure(self, step: int, epoch: int, seconds: float, cpu_seconds: float, values: Mapping[str, float]) -> None:
        self.measured += [Measured(step, epoch, seconds, cpu_seconds, *value) for value in values.items()]
        if self.events is None:
            self.events = Events(self.folder, self.first)
        named = panel_names(values)
        self.events.add(step, named)
        if self.tracker is None:
            self.tracker = tracker(self.folder, self.identity)
        self.tracker.log(named, step)

    def write_metrics(self) -> None:
        columns = dict(zip(Measured._fields, zip(*self.measured))) if self.measured else {n: () for n in SCHEMA.names}
        table = pa.table({name: list(column) for name, column in columns.items()}, SCHEMA)
        write_atomically(self.folder / "metrics.parquet", lambda draft: pq.write_table(table, draft))


def room_of(weights: int) -> int:
    """Bytes of a run with so many bytes of weights, where each checkpoint is written before the old one goes.

    The last has the weights and up to two numbers of the optimiser for each; the best has the weights.
    """
    return 2 * 4 * weights + 2**20


def must_be_same(folder: Path, identity: Identity) -> None:
    """Refuse a folder that holds the checkpoints of another run, as far as this part of an identity tells."""
    if not any((folder / "checkpoints" / f"{name}.safetensors").exists() for name in ("last", "best")):
        return
    there, here = read_config(folder), json.loads(json.dumps({"format": FORMAT, **identity}))
    asked, found = ({SAID.get(name, name): tree.get(name) for name in here} for tree in (here, there))
    differ = difference(found, asked)
    if differ:
        raise UserError(f"{folder} holds another run: {differ}; choose another folder")


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


def refuse_trained(folder: Path) -> None:
    """Refuse, before any work is done, a run that another process trains."""
    if held(folder / LOCK):
        raise UserError(BUSY.format(folder))


def _read_json(file: Path, kind: type) -> Any:
    """What is in a file; nothing where there is none, or it is not of this kind."""
    try:
        return read_json(file, kind)
    except UserError:
        return kind()


def _number(found: Any, name: str) -> float:
    """A number of a file that does not decide anything; 0 where it is none."""
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, int | float) else 0.0


def _write_json(file: Path, value: object) -> None:
    write_text(file, json.dumps(value, indent=2) + "\n")
