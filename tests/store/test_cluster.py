"""Engines for clusters: the same bytes as one process, whoever dies on the way; Slurm by submitit's local executor."""

import errno
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recombine import Clevr
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.render import rendering
from recombine.store import cluster, writing
from recombine.store.cluster import Look, Node, Slurm, engine_named, refuse_others, this_node
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.store import Store
from tests.commands import Run, refused
from tests.store.shards import Dying, a_bug, always_dies, no_room, square

pytest.importorskip("submitit")
pytestmark = pytest.mark.filterwarnings("ignore")
FEW = ClevrScale("few", 6, 3, 3, 2)


def slurm(workers: int, folder: Path, progress: Any = None) -> Slurm:
    settings = {"cluster": "local", "folder": str(folder / "jobs")}
    return Slurm(workers, progress or (lambda *_: None), settings)


@pytest.mark.parametrize("workers", [2, 8])
def test_results_come_in_the_order_of_the_shards(workers: int, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with slurm(workers, tmp_path, lambda _, done, total: told.append((done, total))) as hands:
        assert hands.map(square, range(11), "squares") == InProcess().map(square, range(11), "squares")
    assert told[0] == (0, 11) and told[-1] == (11, 11)


class Deadly(Slurm):
    """Kills the job of a shard of the images."""

    mark: Path

    def map(self, work: Any, shards: Sequence[Any], label: str) -> list[Any]:
        if label.startswith("images: train"):
            work = Dying(work, work.folder, str(self.mark), shards[1])
        return super().map(work, shards, label)


def made(folder: Path, hands: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """CLEVR with pictures, three to a file."""
    monkeypatch.setattr(rendering, "PER_FILE", 3)
    with Clevr(FEW, workers=hands, store=Store(folder / "store")) as clevr:
        out = clevr.make(folder / "out", render="images", size="24x16")
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()}


def test_a_killed_job_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill -9 of a job in the middle of `make clevr --render images`."""
    hands = Deadly(2, settings={"cluster": "local", "folder": str(tmp_path / "jobs")})
    hands.mark, told = tmp_path / "killed", list[str]()
    monkeypatch.setattr(hands, "warn", told.append)
    for name in ("plain", "killed-too"):
        (tmp_path / name).mkdir()
    plain = made(tmp_path / "plain", 1, monkeypatch)
    assert made(tmp_path / "killed-too", hands, monkeypatch) == plain
    assert hands.mark.exists() and told == [
        "1 of 2 jobs were lost while making images: train; they are submitted again."
    ]
    assert len([name for name in plain if name.startswith("images/")]) == 4


def test_a_job_that_always_dies_is_given_up_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "TRIES", 2)
    hands = slurm(2, tmp_path)
    hands._begun = hands._looked = True
    with pytest.raises(UserError, match="a job was lost 2 times while making numbers"):
        hands.map(always_dies, range(2), "numbers")


def test_what_a_user_can_mend_comes_back_as_such_and_a_bug_as_a_bug(tmp_path: Path) -> None:
    hands = slurm(2, tmp_path)
    hands._begun = hands._looked = True
    with pytest.raises(UserError, match="the disk is full"):
        hands.map(no_room, range(2), "numbers")
    with pytest.raises(RuntimeError, match="a bug"):
        hands.map(a_bug, range(2), "numbers")


def test_a_preempted_group_is_submitted_again_as_it_is() -> None:
    group = cluster.Group(square, (1, 2))
    assert group.checkpoint().function is group and group() == [1, 4]


# --- nodes ------------------------------------------------------------------------------------------------------------


def test_nodes_that_differ_are_refused() -> None:
    mine = this_node()
    refuse_others([mine], None)
    for name in ("Python", "recombine", "numpy", "pyarrow", "numba"):
        other = Node("n7", {**mine.software, name: "0.0"})
        with pytest.raises(UserError, match=f"node n7 has {name} 0.0, where the command was given"):
            refuse_others([mine, other], None)
    with pytest.raises(UserError, match="node n7 does not see /data/x; the disk must be shared"):
        refuse_others([Node("n7", mine.software, sees=False)], "/data/x")


def test_a_node_that_differs_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are real processes with what is installed; the driver here says that it has something else."""
    monkeypatch.setattr(cluster, "software", lambda: (("numpy", "0.0"),))
    for shards in (range(1), range(2)):  # a stage of one shard, which is done here, waits for the look as well
        with pytest.raises(UserError, match=r"has numpy .*, where the command was given 0\.0; use the same"):
            slurm(2, tmp_path).map(a_bug, shards, "numbers")


def test_a_node_that_comes_later_is_compared_as_its_job_begins() -> None:
    assert cluster.Group(square, (2,))() == [4]
    other = cluster.Group(a_bug, (2,), (("Python", "2.7"),))()
    assert isinstance(other, cluster.Refused) and "where the command was given 2.7" in other[0]
    assert isinstance(cluster._do(a_bug, 2, (("numba", "0.1"),)), cluster.Refused)


def test_a_file_of_the_driver_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").touch()
    assert Look(str(tmp_path / "there"))(0).sees
    monkeypatch.setattr(cluster._appears, "__defaults__", (0.0,))
    assert not Look(str(tmp_path / "elsewhere" / "gone"))(0).sees


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_a_disk_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(writing.fcntl, "flock", flock)
    with pytest.raises(UserError, match=r"knows no file locks .* have it mounted with flock"):
        writing.write_text(tmp_path / "file", "text")
    with pytest.raises(UserError, match="knows no file locks"), writing.locked(tmp_path / "lock"):
        pass
    assert not (tmp_path / "file").exists()


# --- the command line -------------------------------------------------------------------------------------------------


def test_engines_that_are_not_there_are_refused(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    make = ("make", "clevr", "--engine")
    refused(invoke(*make, "dask"), "there is no engine 'dask'; choose one of processes, slurm, ray")
    refused(invoke(*make, "processes:fast"), "no settings such as 'fast'")
    refused(invoke(*make, "slurm:speed=9"), "Slurm has no setting 'speed'")
    refused(invoke(*make, "slurm:cpu"), "is no setting of Slurm")
    monkeypatch.setattr(cluster.shutil, "which", lambda _: None)
    refused(invoke(*make, "slurm"), "there is no Slurm here (no srun)")
    refused(invoke(*make, "ray:head"), "'head' is no address of Ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused(invoke(*make, f"ray:127.0.0.1:{port}"), f"nobody answers at 127.0.0.1:{port}")
    refused(invoke("train", "pairs-of-none", "--engine", "dask"), "")


def test_what_an_engine_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(cluster, "import_module", missing)
    for said, package in (("slurm:cluster=local", "submitit"), ("ray", "ray")):
        extra = said.partition(":")[0]
        with pytest.raises(UserError, match=rf"needs {package}: pip install 'recombine\[{extra}\]'"):
            engine_named(said, 1)


def test_processes_are_an_engine_too() -> None:
    with engine_named("processes", 1) as hands:
        assert hands.map(square, range(3), "squares") == [0, 1, 4]
