"""Engines for clusters: Slurm by submitit, and Ray. Both map over shards as `Processes` does, and give the same bytes.

    processes                              this machine
    slurm                                  array jobs; slurm:partition=cpu,time=120 says where and how long (minutes)
    slurm:cluster=local                    the same without Slurm, on this machine
    ray                                    the cluster at RAY_ADDRESS, or one that is started here
    ray:HOST:PORT                          the cluster whose head is there

A shard writes whole files into a folder that all nodes see, and leaves alone what is there. So a node may die at any
time: its shards are given to others, and nothing depends on who made what. The driver alone holds locks.

Nodes are looked at before any work is done: Ray's when the engine is made, one of Slurm's before the first shard. Every
worker compares its versions with the driver's once more before it begins, for nodes may come later and differ.
"""

import os
import platform
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic

from recombine.store.engine import ONE_THREAD, Engine, InProcess, Progress, R, S, as_workers_inherit, engine, silent
from recombine.store.errors import UserError
from recombine.store.store import print_warning
from recombine.store.writing import PART

ENGINES = ("processes", "slurm", "ray")
TRIES = 5
"""How often a shard is given out before its worker is to blame."""
PACKAGES = ("numpy", "pyarrow", "numba")
"""What decides bytes, and must be the same on all nodes."""
LARGEST_ARRAY = 1_000
"""Jobs of an array: what most clusters allow."""
ANSWER = 5.0
"""Seconds that an address has to answer."""
LOOK = 5.0
"""Seconds between two looks at who is still there."""


def engine_named(said: str, workers: int, progress: Progress = silent) -> Engine:
    """The engine that people name: processes, slurm or ray, with settings after a colon."""
    name, _, settings = said.partition(":")
    if name not in ENGINES:
        raise UserError(f"there is no engine '{name}'; choose one of {', '.join(ENGINES)}")
    if name == "processes":
        if settings:
            raise UserError(f"the engine processes has no settings such as '{settings}'; leave them out")
        return engine(workers, progress)
    if name == "slurm":
        return Slurm(workers, progress, _pairs(settings))
    ray = Ray(workers, progress, settings)
    ray.ready()
    return ray


def _pairs(text: str) -> dict[str, str]:
    """Settings such as partition=cpu,time=120."""
    found = {}
    for one in filter(None, text.split(",")):
        name, equals, value = one.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise UserError(f"'{one}' is no setting of Slurm; write them as slurm:partition=cpu,time=120")
        found[name.strip()] = value.strip()
    return found


def _need(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise UserError(f"the engine {extra} needs {package}: pip install 'recombine[{extra}]'") from error


# --- nodes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """What a node runs, and whether it sees what the driver has written."""

    name: str
    software: Mapping[str, str]
    sees: bool = True


Software = tuple[tuple[str, str], ...]
"""Names and versions."""


def this_node(name: str = "this machine") -> Node:
    return Node(name, dict(software()))


@cache
def software() -> Software:
    """What decides bytes here."""
    own = {"Python": ".".join(platform.python_version_tuple()[:2]), "recombine": _own_version()}
    return (*own.items(), *((package, version(package)) for package in PACKAGES))


def _own_version() -> str:
    from recombine import __version__

    return __version__


@dataclass(frozen=True)
class Look:
    """Run on a node: what is there, and whether the file of the driver is."""

    file: str | None

    def __call__(self, _: int) -> Node:
        here = this_node(socket.gethostname())
        return Node(here.name, here.software, self.file is None or _appears(Path(self.file)))


def _appears(file: Path, within: float = 5.0) -> bool:
    """Whether a file is there, given a moment: on NFS a listing may be some seconds old."""
    end = time.monotonic() + within
    while not file.exists():
        if time.monotonic() > end:
            return False
        os.scandir(file.parent).close() if file.parent.is_dir() else None
        time.sleep(0.2)
    return True


def refuse_others(nodes: Sequence[Node], folder: str | None, driver: Software | None = None) -> None:
    """Refuse nodes that would make other bytes than the driver's, or write them where nobody sees them."""
    for node in nodes:
        for name, wanted in driver or software():
            if (found := node.software.get(name)) != wanted:
                raise UserError(
                    f"node {node.name} has {name} {found}, where the command was given {wanted}; "
                    "use the same environment on all nodes, or bytes may differ"
                )
        if not node.sees:
            raise UserError(
                f"node {node.name} does not see {folder}; the disk must be shared: set RECOMBINE_HOME (and out) to "
                "a folder that all nodes see"
            )


@contextmanager
def _seen_by_all(folder: str | None) -> Iterator[str | None]:
    """A file of the driver's in the folder that shards are written to."""
    if folder is None or not Path(folder).is_dir():
        yield None
        return
    file = Path(folder) / f"{PART}{secrets.token_hex(8)}-seen"
    file.write_text("seen", encoding="utf-8")
    try:
        yield str(file)
    finally:
        file.unlink(missing_ok=True)


# --- Slurm ----------------------------------------------------------------------------------------------------------


class Refused(tuple[str]):
    """What a user can do about a shard that cannot be made: travels as a value, not as a traceback."""


@dataclass(frozen=True)
class Group(Generic[S, R]):
    """Some shards that one job does, one after the other. It may be stopped at any time, and submitted again."""

    work: Callable[[S], R]
    shards: tuple[S, ...]
    driver: Software = field(default_factory=lambda: software())
    """What the driver has, and every node must have."""

    def __call__(self) -> "list[R] | Refused":
        from recombine.store.engine import become_remote_worker

        become_remote_worker()
        try:
            refuse_others([this_node(socket.gethostname())], None, self.driver)
            return [self.work(shard) for shard in self.shards]
        except UserError as error:
            return Refused((str(error),))

    def checkpoint(self) -> Any:
        """What Slurm runs when it has taken the node away: the same again, for finished files are left alone."""
        return import_module("submitit.helpers").DelayedSubmission(self)


class Slurm(Engine):
    """Shards in jobs of an array. A job that is taken away, killed or lost is submitted again."""

    SETTINGS: ClassVar[Mapping[str, str]] = {
        "partition": "slurm_partition",
        "account": "slurm_account",
        "qos": "slurm_qos",
        "constraint": "slurm_constraint",
        "time": "timeout_min",
        "memory": "mem_gb",
        "gpus": "gpus_per_node",
        "cpus": "cpus_per_task",
    }
    NUMBERS: ClassVar[tuple[str, ...]] = ("time", "memory", "gpus", "cpus")
    warn: Callable[[str], None] = staticmethod(print_warning)

    def __init__(self, workers: int, progress: Progress = silent, settings: Mapping[str, str] | None = None) -> None:
        engine(workers)  # refuses none
        self.workers, self.progress = workers, progress
        self.settings = dict(settings or {})
        self.local = self.settings.pop("cluster", "slurm") == "local"
        known = ("cluster", "folder", "pause", *self.SETTINGS)
        if unknown := [name for name in self.settings if name not in known]:
            raise UserError(f"Slurm has no setting '{unknown[0]}'; choose from {', '.join(known)}")
        self._submitit = _need("submitit", "slurm")
        if not self.local and shutil.which("srun") is None:
            raise UserError(
                "there is no Slurm here (no srun): run it where jobs are submitted; slurm:cluster=local tries it here"
            )
        self._begun = self._looked = False

    def _executor(self, jobs: int) -> Any:
        home = Path(os.environ.get("RECOMBINE_HOME") or "~/.cache/recombine").expanduser().absolute()
        folder = Path(self.settings.get("folder") or home / ".jobs")
        executor = self._submitit.AutoExecutor(folder=folder, cluster="local" if self.local else "slurm")
        options: dict[str, Any] = {"timeout_min": 120, "name": "recombine"}
        for name, value in self.settings.items():
            if name in self.SETTINGS:
                options[self.SETTINGS[name]] = _number(name, value) if name in self.NUMBERS else value
        if not self.local:
            options["slurm_array_parallelism"] = min(self.workers, jobs)
        executor.update_parameters(**options)
        return executor

    def map(self, work: Callable[[S], R], shards: Sequence[S], label: str) -> list[R]:
        self.ready(getattr(work, "folder", None))
        if len(shards) <= 1:  # not worth a place in a queue
            return InProcess(self.progress).map(work, shards, label)
        self.progress(label, 0, len(shards))
        count = min(len(shards), self.workers if self.local else LARGEST_ARRAY)
        places = [range(start, len(shards), count) for start in range(count)]
        groups = [Group(work, tuple(shards[place] for place in some)) for some in places]
        done = 0

        def tell(group: int) -> None:
            nonlocal done
            done += len(places[group])
            self.progress(label, done, len(shards))

        found = self._run(groups, label, tell)
        results: dict[int, R] = {}
        for some, values in zip(places, found):
            results |= dict(zip(some, values))
        return [results[place] for place in range(len(shards))]

    def ready(self, folder: str | None = None) -> None:
        """Look at a node before any work is done, and once more where shards go to a folder."""
        if self._looked or (folder is None and self._begun):
            return
        with _seen_by_all(folder) as file:
            ((node,),) = self._run([Group(Look(file), (0,))], "a look at a node", lambda _: None)
        refuse_others([node], folder)
        self._begun, self._looked = True, folder is not None

    def _run(self, groups: Sequence[Group[Any, Any]], label: str, tell: Callable[[int], None]) -> list[list[Any]]:
        """What every group gives, in order; what is lost on the way is submitted again."""
        waiting, found = dict(self._submit(dict(enumerate(groups)))), dict[int, list[Any]]()
        tries = dict.fromkeys(range(len(groups)), 1)
        try:
            while waiting:
                lost = {}
                for number, job in [(n, job) for n, job in waiting.items() if job.done()]:
                    del waiting[number]
                    values = self._result(job, label)
                    if values is None:
                        lost[number] = groups[number]
                        continue
                    found[number] = values
                    tell(number)
                for number in lost:
                    tries[number] += 1
                    if tries[number] > TRIES:
                        raise UserError(
                            f"a job was lost {TRIES} times while making {label}, perhaps for want of memory or time: "
                            "ask for more, such as slurm:memory=8,time=240"
                        )
                if lost:
                    self.warn(
                        f"{len(lost)} of {len(groups)} jobs were lost while making {label}; they are submitted again."
                    )
                waiting |= self._submit(lost)
                if waiting:
                    time.sleep(float(self.settings.get("pause", 0.1 if self.local else 5)))
        finally:
            for job in waiting.values():
                job.cancel()
        return [found[number] for number in range(len(groups))]

    def _submit(self, groups: Mapping[int, Group[Any, Any]]) -> dict[int, Any]:
        if not groups:
            return {}
        executor = self._executor(len(groups))
        with as_workers_inherit(), executor.batch():
            jobs = [executor.submit(group) for group in groups.values()]
        for job in jobs if self.local else ():
            job._results_timeout_s = 1  # on one disk, what is not there when a job has ended does not come
        return dict(zip(groups, jobs))

    def _result(self, job: Any, label: str) -> list[Any] | None:
        """What a job gives; nothing if it was lost."""
        utils = import_module("submitit.core.utils")
        try:
            values = job.result()
        except utils.FailedJobError as error:
            raise RuntimeError(
                f"a job failed while making {label}; its log is in {job.paths.stderr}:\n{error}"
            ) from None
        except utils.UncompletedJobError:
            return None
        if isinstance(values, Refused):
            raise UserError(values[0])
        return list(values)


def _number(name: str, value: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise UserError(f"the setting {name} of Slurm is a whole number, not '{value}'")
    return int(value)


# --- Ray ------------------------------------------------------------------------------------------------------------


class Ray(Engine):
    """Shards as tasks of Ray. A node that dies takes nothing with it: its shards go to others."""

    warn: Callable[[str], None] = staticmethod(print_warning)

    def __init__(self, workers: int, progress: Progress = silent, address: str = "") -> None:
        engine(workers)
        self.workers, self.progress, self.address = workers, progress, address
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        self._ray: Any = None
        self._looked = False
        if address and address != "auto":
            _answers(address)
        self._module = _need("ray", "ray")

    def ready(self, folder: str | None = None) -> None:
        """Reach the cluster and look at its nodes, and once more where shards go to a folder."""
        try:
            if self._ray is None:
                self._open()
                self._look(None)
            if folder is not None and not self._looked:
                self._look(folder)
                self._looked = True
        except UserError:
            self.close()
            raise

    def _open(self) -> None:
        """Join the cluster, or start one here."""
        ray = self._module
        variables = {
            **ONE_THREAD,
            **{n: os.environ[n] for n in ("RECOMBINE_HOME", "PYTHONPATH") if n in os.environ},
        }
        # Without "local" Ray would join whatever was last started on this machine, even if that is gone.
        address = self.address or os.environ.get("RAY_ADDRESS") or "local"
        own = {"num_cpus": self.workers, "include_dashboard": False} if address == "local" else {}
        try:
            ray.init(
                address=address,
                runtime_env={"env_vars": variables},
                log_to_driver=False,
                logging_level="error",
                **own,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UserError(
                f"no Ray that fits answers at {address}: {_line(error)}; use the version and the "
                "RAY_AUTH_MODE of its nodes"
            ) from error
        self._ray, self._nodes, self._looked_at = ray, _alive(ray), time.monotonic()

    def _tell_of_dead(self, label: str) -> None:
        """Say once of each node that has died; refuse to go on without the head, for Ray ends a process that does."""
        self._looked_at = time.monotonic()
        if _refuses(self._ray.get_runtime_context().gcs_address):
            raise UserError(
                f"the head of Ray is gone while making {label}; start Ray again and give the same command: it goes on"
            )
        alive = _alive(self._ray)
        # Ray itself says so only after some ten seconds.
        dead = {node for node, address in self._nodes.items() if node not in alive or _refuses(address)}
        if dead:
            count = "a node" if len(dead) == 1 else f"{len(dead)} nodes"
            self.warn(f"Ray lost {count} while making {label}; what was made there is made again elsewhere.")
            self._nodes = {node: address for node, address in self._nodes.items() if node not in dead}

    def _look(self, folder: str | None) -> None:
        """Look at every node before any work is done there."""
        ray = self._ray
        strategy = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        alive = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        with _seen_by_all(folder) as file:
            look = ray.remote(num_cpus=1, max_retries=0)(_do)
            there = [look.options(scheduling_strategy=strategy(node, soft=True)) for node in alive]
            found = ray.get([one.remote(Look(file), 0, software()) for one in there])
        for one in found:
            if isinstance(one, Refused):
                raise UserError(one[0])
        refuse_others(found, folder)

    def map(self, work: Callable[[S], R], shards: Sequence[S], label: str) -> list[R]:
        self.ready(getattr(work, "folder", None))
        if len(shards) <= 1:
            return InProcess(self.progress).map(work, shards, label)
        ray = self._ray
        if time.monotonic() > self._looked_at + LOOK:
            self._tell_of_dead(label)
        self.progress(label, 0, len(shards))
        task = ray.remote(num_cpus=1, max_retries=TRIES, retry_exceptions=False, scheduling_strategy="SPREAD")(_do)
        common, driver = ray.put(work), software()
        waiting, running, results = iter(enumerate(shards)), dict[Any, int](), dict[int, R]()
        try:
            while len(results) < len(shards):
                for place, shard in islice(waiting, 4 * self.workers - len(running)):
                    running[task.remote(common, shard, driver)] = place
                for reference in ray.wait(list(running), num_returns=1, timeout=LOOK)[0]:
                    value = ray.get(reference)
                    if isinstance(value, Refused):
                        raise UserError(value[0])
                    results[running.pop(reference)] = value
                    self.progress(label, len(results), len(shards))
                if time.monotonic() > self._looked_at + LOOK or len(results) == len(shards):
                    self._tell_of_dead(label)
        except (
            ray.exceptions.WorkerCrashedError,
            ray.exceptions.NodeDiedError,
            ray.exceptions.OutOfMemoryError,
        ) as error:
            raise UserError(
                f"a worker died {TRIES + 1} times while making {label}, perhaps for want of memory: use fewer workers"
            ) from error
        except ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from None
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
        return [results[place] for place in range(len(shards))]

    def close(self) -> None:
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None


def _do(work: Callable[[S], R], shard: S, driver: Software) -> "R | Refused":
    """One shard, on a node that has what the driver has."""
    from recombine.store.engine import become_remote_worker

    become_remote_worker()
    try:
        refuse_others([this_node(socket.gethostname())], None, driver)
        return work(shard)
    except UserError as error:
        return Refused((str(error),))


def _alive(ray: Any) -> dict[str, str]:
    """The nodes that Ray knows to be there, and their addresses."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    return {node["NodeID"]: f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}" for node in nodes}


def _refuses(address: str) -> bool:
    """Whether a machine that is there says that nobody listens; one that says nothing may be slow."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), 1.0).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _answers(address: str) -> None:
    """Refuse an address that nobody answers, at once."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and host and port.isdigit()):
        raise UserError(f"'{address}' is no address of Ray; write ray:HOST:PORT, such as ray:10.0.0.1:6379")
    try:
        socket.create_connection((host, int(port)), ANSWER).close()
    except OSError as error:
        raise UserError(
            f"nobody answers at {address} ({error.strerror or error}); start Ray there: ray start --head --port {port}"
        ) from None


def _line(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split())[:300]
