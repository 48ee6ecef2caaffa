"""Every long verb on the engines of clusters: make, render, rows, gap, report and train give what one process gives."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recombine.benchmarks.concept_world import pipeline as concept_world
from recombine.benchmarks.curi import pipeline as curi
from tests.commands import Run

pytest.importorskip("submitit")
pytest.importorskip("ray")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
ENGINES = ("slurm:cluster=local", "ray")
SEVERAL = ("--scale", "several", "--split", "counting")
COMMANDS = {
    "make": ["make", "curi", *SEVERAL, "--render", "images", "--size", "8x8", "--episodes", "60", "--out", "{}/data"],
    "render": ["render", "{}/data", "--size", "9x8", "--first", "1500", "--out", "{}/pictures"],
    "rows": ["rows", "curi", *SEVERAL, "--render", "images", "--size", "8x8", "--episodes", "60", "--out", "{}/rows"],
    "gap": ["gap", "curi", *SEVERAL, "--out", "{}/gap.json"],
    "report": ["report", "concept-world", "--scale", "several", "--out", "{}/report.md"],
    "train": ["train", "concept-world", "--scale", "demo", "--split", "sequences", "--model", "mlp", "--epochs", "1",
              "--seeds", "2", "--out", "{}/runs"],
}  # fmt: skip
TIMED = ("environment.json", "spent.json", "metrics.parquet", "training.lock")


@pytest.fixture(scope="module", autouse=True)
def several() -> Iterator[None]:
    """Scales of several shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(curi.SCALES, "several", curi.Scale("several", 33_000, 20_000, 6, 3, 60))
        patch.setitem(concept_world.SHARES, "several", 0.02)
        yield


def timeless(text: str) -> str:
    return re.sub(r'"(cpu_)?seconds": [\d.e-]+|"mtime_ns": \d+', "", text)


def left(place: Path) -> dict[str, object]:
    """What is there, but for times."""
    files = [file for file in sorted(place.rglob("*")) if file.is_file() and "store" not in file.parts]
    kept = [file for file in files if file.name not in TIMED and "tfevents" not in file.name]
    return {
        str(file.relative_to(place)): timeless(file.read_text()) if file.suffix == ".json" else file.read_bytes()
        for file in kept
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A node of Ray with two slots, for all commands."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield cluster.address
    cluster.shutdown()


@pytest.mark.parametrize("engine", ("", *ENGINES))
def test_every_long_verb_gives_the_same_bytes(
    engine: str,
    plain: Path,
    tmp_path: Path,
    invoke: Run,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    place = tmp_path if engine else plain
    monkeypatch.setenv("RECOMBINE_HOME", str(place / "store"))
    if engine == "ray":
        engine = f"ray:{request.getfixturevalue('address')}"
    for name, words in COMMANDS.items():
        more = ["--engine", engine] if engine else []
        ran = invoke(*(word.format(place) for word in words), *more, "--workers", "2" if engine else "1")
        assert ran.code == 0, f"{name}: {ran.out}{ran.err}"
    made = left(place)
    assert {name.partition("/")[0] for name in made} >= {"data", "pictures", "rows", "gap.json", "report.md", "runs"}
    assert json.loads((place / "gap.json").read_text())
    expected = left(plain)
    assert made.keys() == expected.keys()
    assert [name for name in made if made[name] != expected[name]] == []
