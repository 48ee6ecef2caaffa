"""CURI's prototype networks on its splits: one run is one modality, pooling, split, kind of negatives and seed.

A run learns from the training episodes of its split and is validated every so many steps on validation episodes: loss,
accuracy, and average precision on the large set of scenes, which decides the best weights. These are
then examined on test episodes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.curi.exam import exam, ranked_precision
from recombine.benchmarks.curi.study import Part, Study
from recombine.benchmarks.curi.words import Words, judge
from recombine.semantics.bits import unpack_bits
from recombine.solvers.kinds import MODALITIES, PICTURE, POOLINGS
from recombine.solvers.records import (
    as_written,
    identity_of,
    last_measured,
    read_config,
    read_results,
    runs_of,
    write_results,
)
from recombine.solvers.training import LENGTH, Training, need_torch
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.paths import within
from recombine.tasks.episodes import Episodes, Negatives

PAPER = Training(
    batch=64,
    rate=1e-3,
    steps=1_000_000,
    validate_every=30_000,
    judge="mAP",
    higher=True,
    slower_by=0.5,
    slower_after=330_000,
    slower_least=1e-3,
    checkpoint_every=60,
)
SETTINGS: dict[str, Training] = {
    "schema": PAPER,
    "image": replace(PAPER, batch=8, rate=1e-4),
    "sound": replace(PAPER, batch=8, rate=5e-5, steps=500_000),
}
"""The paper's settings of each modality, appendix E. The schedule is the released code's: the rate is halved when the
validation's loss has not fallen by a thousandth in eleven validations."""
STEPS, VALIDATE_EVERY = 5_000, 500
"""The default length, which a laptop can do."""
VALIDATED, RANKED = 512, 200
"""Validation episodes for the accuracy, and for the average precision."""
TESTED = 2_000
"""Test episodes of a run."""
LEARNT: tuple[Part, ...] = ("train", "validation")


@dataclass(frozen=True)
class Job:
    """One run: what is trained, on what, from which seed."""

    split: str
    pooling: str = "relation-net"
    modality: str = "schema"
    negatives: Negatives = "hard"
    alpha: float = 0.0
    """How much writing the concept counts."""
    seed: int = 0
    edition: str = "release"
    scale: str = "paper"
    data_seed: int = 0
    size: tuple[int, int] = PICTURE
    """The width and height of a picture."""
    training: Training = field(default=PAPER)

    @property
    def name(self) -> str:
        parts = ["curi", self.modality, self.pooling, self.split, self.negatives]
        parts += [f"alpha{self.alpha:g}"] if self.alpha else []
        return "-".join([*parts, str(self.seed)])

    @property
    def key(self) -> Key:
        return Key(self.seed) / "curi" / self.modality / self.pooling / self.split / self.negatives


def check(job: Job, study: Study, out: Path | None = None) -> None:
    """Refuse a job that cannot be done, before anything is."""
    need_torch()
    from recombine.solvers.run import must_be_same
    from recombine.solvers.train import need_device

    need_device(job.training.device)
    for what, value, known in (
        ("pooling", job.pooling, POOLINGS),
        ("modality", job.modality, MODALITIES),
        ("kind of negatives", job.negatives, ("hard", "easy")),
    ):
        if value not in known:
            raise UserError(f"there is no {what} '{value}'; choose one of {', '.join(known)}")
    if not 0 <= job.alpha < inf:
        raise UserError(f"alpha must be a number of at least 0, such as 1, not {job.alpha:g}")
    if out is not None:
        must_be_same(out / job.name, _plainly(job))  # before any data are made
    study.split(job.split)
    if out is not None:
        must_be_same(out / job.name, identity(job, study))


# --- a run


def identity(job: Job, study: Study) -> dict[str, Any]:
    """What decides the weights that a run ends with."""
    data = {part: study.episodes_recipe(job.split, part, job.negatives).digest for part in LEARNT}
    return {**_plainly(job), "data": data}


def _plainly(job: Job) -> dict[str, Any]:
    """The same but for the data, which must be made to be known."""
    from recombine.solvers.networks.prototype import VERSION

    network = {"modality": job.modality, "pooling": job.pooling, "size": list(job.size)}
    return {
        "benchmark": "curi",
        "split": job.split,
        "negatives": job.negatives,
        "edition": job.edition,
        "scale": job.scale,
        "data_seed": job.data_seed,
        "network": {**network, "version": VERSION[job.pooling]},
        "alpha": job.alpha,
        "seed": job.seed,
        "training": job.training.fixed(),
    }


def learn(job: Job, study: Study, out: Path, watch: Any = None, episodes: int = TESTED) -> Path:
    """Do a job, or go on with it: the folder of its run, with its results on so many test episodes."""
    need_torch()
    from recombine.solvers.prototypes import EpisodeLesson, PrototypeSolver
    from recombine.solvers.run import Run
    from recombine.solvers.train import unwatched

    check(job, study)
    length = {name: value for name, value in asdict(job.training).items() if name in LENGTH}
    run = Run(within(out, job.name), identity(job, study), length)
    network, modality = _network(job, study), _modality(job, study)
    solver = PrototypeSolver(network, modality, job.training, run, watch or unwatched)
    lesson = EpisodeLesson(
        network,
        modality.open(study.scenes),
        study.episodes(job.split, "train", job.negatives),
        Validation(study, job),
        job.alpha,
        _words(study).numbers(study.space.concepts) if job.alpha else None,
    )
    with run.alone():
        solver.learn(lesson, job.key)
        if not _tested(run.folder, min(episodes, study.setup.episodes("test"))):
            write_results(run.folder, evaluate(run.folder, study, episodes))
    return run.folder


def _modality(job: Job, study: Study) -> Any:
    from recombine.solvers.sights import Modality

    return Modality(job.modality, job.size, study.setup.edition.first_bin)


def _network(job: Job, study: Study) -> Any:
    from recombine.solvers.networks.prototype import Plan, build

    words = len(_words(study)) if job.alpha else 0
    shape = _modality(job, study).shape(study.scenes)
    return build(Plan(job.modality, job.pooling, shape, study.setup.edition.relation_norm, words), job.key / "network")


def _words(study: Study) -> Words:
    return Words(study.setup.edition.auxiliary, study.setup.lot)


def _tested(folder: Path, episodes: int) -> bool:
    """Whether the results are those of the end of the training."""
    found = read_results(folder)
    with as_written(folder):
        return found is not None and (found["steps"], found["episodes"]) == (last_measured(folder).step, episodes)


class Validation:
    """Loss, accuracy and average precision on the first validation episodes."""

    def __init__(self, study: Study, job: Job) -> None:
        columns = study.episodes(job.split, "validation", job.negatives)
        fewer = 1 if job.modality == "schema" else 8  # a picture costs more than a list of properties
        self.some = Episodes(*(column[: VALIDATED // fewer] for column in columns))
        self.ranked = Episodes(*(column[:RANKED] for column in self.some))
        probe = study.probe_scenes[:: fewer**2]
        self.scenes, self.place = np.unique(probe, return_inverse=True)
        bits = study.probe.bits[study.table.sense[self.ranked.concept]]
        self.truth = unpack_bits(bits, len(study.probe_scenes))[:, :: fewer**2]  # bool[episodes, probe]

    def __call__(self, network: Any, sight: Any) -> dict[str, float]:
        from recombine.solvers.prototypes import embed, on_episodes, read

        vectors = embed(network, sight, self.scenes)
        precision = []
        for start in range(0, len(self.truth), 16):
            some = Episodes(*(column[start : start + 16] for column in self.ranked))
            found, _ = read(network, sight, some)
            scores = rank(found, vectors)[:, self.place]
            precision += [ranked_precision(*row) for row in zip(self.truth[start : start + 16], scores)]
        return {**on_episodes(network, sight, self.some), "mAP": float(np.mean(precision))}


def rank(found: Any, vectors: Any) -> np.ndarray:
    """Numbers in the order of the log-odds of every scene in every episode, float64[episodes, scenes]."""
    from recombine.solvers.networks.prototype import log_odds

    scores: np.ndarray = log_odds(found.double(), vectors.double()[None]).cpu().numpy()
    return scores


# --- tests


def evaluate(folder: Path, study: Study, episodes: int = TESTED) -> dict[str, Any]:
    """Examine the best network of a run on the first test episodes."""
    need_torch()
    from recombine.solvers.networks.images import parameters
    from recombine.solvers.prototypes import PrototypeSolver
    from recombine.solvers.sitting import sit
    from recombine.solvers.train import devices, load_best

    config = read_config(folder)
    job = job_of(config, folder)
    for part in LEARNT:
        if config["data"][part] != study.episodes_recipe(job.split, part, job.negatives).digest:
            raise UserError(f"{folder} was trained on other episodes than these of '{job.split}'; train again")
    episodes = min(episodes, study.setup.episodes("test"))
    network = _network(job, study)
    standing = load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    solver = PrototypeSolver(network, _modality(job, study), job.training.here(devices()))
    found = sit(solver, exam(study, job.split, job.negatives, episodes), job.name)
    last = last_measured(folder)
    return {
        "scores": {name: asdict(value) for name, value in found.scores.items()},
        "episodes": episodes,
        "written": written(job, study, network, min(episodes, WRITTEN)) if job.alpha else None,
        "parameters": parameters(network),
        "validation": standing.best,
        "best_step": standing.best_step,
        "steps": last.step,
        "seconds": last.seconds,
        "cpu_seconds": last.cpu_seconds,
    }


WRITTEN = 500
"""Test episodes whose concept is written out."""
EXAMPLES = 8
"""Written concepts that are kept to be looked at."""


def written(job: Job, study: Study, network: Any, episodes: int) -> dict[str, Any]:
    """What the decoder writes after the support of the first test episodes, judged, and a few examples."""
    from torch import no_grad

    from recombine.solvers.prototypes import read
    from recombine.solvers.train import devices, settled

    words, sight = _words(study), _modality(job, study).open(study.scenes)
    some = Episodes(*(column[:episodes] for column in study.episodes(job.split, "test", job.negatives)))
    longest = words.numbers(study.space.concepts).shape[1]
    texts: list[str] = []
    with settled(job.training.here(devices())), no_grad():
        for start in range(0, episodes, 16):
            found, _ = read(network, sight, Episodes(*(column[start : start + 16] for column in some)))
            texts += map(words.text, network.decoder.write(found.flatten(1), longest).cpu().numpy())
    meant = [study.space.concepts[concept] for concept in some.concept]
    label = some.label[:, : some.size]
    verdict = judge([words.read(text) for text in texts], meant, some.support, label, study.scenes, study.setup.lot)
    meant_texts = [words.text(row) for row in words.numbers(meant[:EXAMPLES])]
    return {**verdict.shares(), "episodes": episodes, "examples": list(zip(meant_texts, texts))}


def job_of(config: Mapping[str, Any], folder: Path) -> Job:
    """The job that a run's config tells of."""
    if config.get("benchmark") != "curi":
        raise UserError(f"{folder} is a run of {config.get('benchmark')}, not of curi")
    with as_written(folder):
        network = config["network"]
        job = Job(
            config["split"],
            network["pooling"],
            network["modality"],
            config["negatives"],
            config["alpha"],
            config["seed"],
            config["edition"],
            config["scale"],
            config["data_seed"],
            tuple(network["size"]),
            Training(**config["training"], **config["length"]),
        )
        for name, known in ((job.pooling, POOLINGS), (job.modality, MODALITIES)):
            known.index(name)
        return job


def results(out: Path) -> Iterator[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """The finished runs of a folder: config and results."""
    return ((folder, config, found) for folder, config, found in runs_of(out, "curi") if found is not None)
