"""Slurm's engine and Ray, with any number of workers, and with nodes that are killed: `make cluster`."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from recombine import Clevr
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.render import rendering
from recombine.store.cluster import Ray, Slurm
from recombine.store.errors import UserError
from recombine.store.store import Store

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
FEW = ClevrScale("few", 36, 6, 6, 2)
LONG = 120
"""Seconds that nodes have to come up: the machine may be busy with other things."""
os.environ["RAY_memory_monitor_refresh_ms"] = "0"  # noqa: SIM112 - what else takes memory is no reason to end a worker


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A head and another node, one slot each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.other = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes(LONG)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def kill(node: Any) -> None:
    """Kill -9 of everything that a node is."""
    for processes in node.all_processes.values():
        for one in processes:
            with suppress(ProcessLookupError):  # some end with the first of them
                os.kill(one.process.pid, signal.SIGKILL)


def made(folder: Path, hands: Any, progress: Any = None) -> dict[str, bytes]:
    """CLEVR with pictures, three to a file."""
    more = {"progress": progress} if progress else {}
    with (
        pytest.MonkeyPatch.context() as patch,
        Clevr(FEW, workers=hands, store=Store(folder / "store"), **more) as clevr,
    ):
        patch.setattr(rendering, "PER_FILE", 3)
        out = clevr.make(folder / "out", render="images", size="96x64")
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process makes."""
    return made(tmp_path_factory.mktemp("plain"), 1)


def test_a_killed_node_changes_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: Any, plain: dict[str, bytes]
) -> None:
    """Kill -9 of a node in the middle of `make clevr --render images`."""
    killed: list[str] = []

    def progress(label: str, done: int, total: int) -> None:
        if label.startswith("images: train") and 0 < done < total - 4 and not killed:
            kill(nodes.other)
            killed.append(label)

    hands, told = Ray(2, address=nodes.address), list[str]()
    monkeypatch.setattr(hands, "warn", told.append)
    assert made(tmp_path / "ray", hands, progress) == plain and killed
    lost = "Ray lost a node while making images: {}; what was made there is made again elsewhere."
    assert told in [[lost.format(part)] for part in ("train", "val", "test")]


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("engine", ["slurm", "ray"])
def test_any_number_of_workers_gives_the_same(
    engine: str, workers: int, tmp_path: Path, plain: dict[str, bytes]
) -> None:
    local = {"cluster": "local", "folder": str(tmp_path / "jobs")}
    hands = Ray(workers) if engine == "ray" else Slurm(workers, settings=local)
    assert made(tmp_path / "made", hands) == plain


HEADLESS = """
import os, subprocess, sys, time
from recombine.store.cluster import Ray
from recombine.store.errors import UserError

def kill_the_head(label, done, total):
    if not done:
        return
    found = subprocess.run(["pgrep", "-P", str(os.getpid()), "gcs_server"], capture_output=True, text=True).stdout
    for one in found.split():
        os.kill(int(one), 9)

try:
    with Ray(1, kill_the_head) as hands:
        hands.map(time.sleep, [0.1, 60], "pauses")
except UserError as error:
    print(error)
    sys.exit(2)
"""


def test_a_head_that_dies_is_a_sentence() -> None:
    """Ray by itself would end the process with exit code 1 after a minute."""
    ran = subprocess.run([sys.executable, "-c", HEADLESS], capture_output=True, text=True, timeout=LONG)
    assert (ran.returncode, ran.stdout) == (
        2,
        "the head of Ray is gone while making pauses; start Ray again and give the same command: it goes on\n",
    )


def no_room(n: int) -> int:
    raise UserError("the disk is full")


def a_bug(n: int) -> int:
    raise ValueError("a bug")


def test_errors_come_back_as_they_are() -> None:
    with Ray(1) as hands:
        with pytest.raises(UserError, match="the disk is full"):
            hands.map(no_room, range(2), "numbers")
        with pytest.raises(ValueError, match="a bug"):
            hands.map(a_bug, range(2), "numbers")
