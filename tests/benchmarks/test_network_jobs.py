"""Runs that were made before stay readable: frozen jobs of every benchmark with their folders, keys and identities."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from recombine.benchmarks.concept_world.networks import ConceptWorldNetworks
from recombine.benchmarks.curi.networks import SETTINGS
from recombine.benchmarks.networks import Job, identity, job_of, names, networks_of
from recombine.solvers.training.settings import LENGTH
from recombine.store.engine import InProcess
from recombine.store.store import Store

HERE = Path(__file__).parent
FROZEN = [row for file in sorted(HERE.glob("*/jobs.json")) for row in json.loads(file.read_text())]
WEIGHTS = b"weights"


class Digests:
    """A study that knows the names of its data alone."""

    def episodes_recipe(self, *words: str) -> Any:
        return SimpleNamespace(digest=" ".join(words))


def job_and_study(row: dict[str, Any], folder: Path) -> tuple[Job, Any]:
    networks = networks_of(row["benchmark"])
    own = {name: folder / value if name == "weights" else value for name, value in row["options"].items()}
    (folder / "weights.bin").write_bytes(WEIGHTS)
    usual = SETTINGS[own.get("modality", "schema")] if row["benchmark"] == "curi" else networks.models[row["model"]]
    training, data = replace(usual, **row["training"]), (row["scale"], row["data_seed"])
    job = Job(row["benchmark"], row["split"], row["model"], row["seed"], *data, networks.options(**own), training)
    whole = isinstance(networks, ConceptWorldNetworks)
    return job, networks.study(job, Store.default(), InProcess()) if whole else Digests()


def test_every_benchmark_with_networks_has_frozen_jobs() -> None:
    assert {row["benchmark"] for row in FROZEN} | {"closure", "super-clevr"} == set(
        names()
    )  # none of theirs is older than this


@pytest.mark.parametrize("row", FROZEN, ids=lambda row: row["name"])
def test_a_job_is_what_it_was_byte_for_byte(row: dict[str, Any], tmp_path: Path) -> None:
    job, study = job_and_study(row, tmp_path)
    assert json.dumps(identity(job, study)) == json.dumps(row["identity"])
    assert (job.name, str(job.key)) == (row["name"], row["key"])


@pytest.mark.parametrize("row", FROZEN, ids=lambda row: row["name"])
def test_a_config_gives_its_job_again(row: dict[str, Any], tmp_path: Path) -> None:
    job, _ = job_and_study(row, tmp_path)
    length = {name: getattr(job.training, name) for name in LENGTH}
    again = job_of({**row["identity"], "length": length}, tmp_path)
    begun = {"weights": None} if row["benchmark"] == "concept-world" else {}
    assert again == replace(job, options=replace(job.options, **begun))  # weights are begun from once
