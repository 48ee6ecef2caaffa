"""The paper's networks on ConceptWorld's experiments: one run is one network, one experiment, one seed.

A run trains on the experiment's training images, of which a tenth of every class is held back for validation, and is
tested with the weights that did best there. An experiment with a curriculum has a variant of it under its name with
`-curriculum`: its first classes are learnt alone for some epochs, then all.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from recombine.benchmarks.concept_world.definition import Experiment
from recombine.benchmarks.concept_world.reader import load_library, read_file
from recombine.benchmarks.concept_world.study import ConceptWorldStudy
from recombine.metrics.confusion import confusion, f1
from recombine.render.grid import grid_images, scenes
from recombine.solvers.records import as_written, identity_of, last_measured, read_config, read_results, write_results
from recombine.solvers.training import LENGTH, Training, need_torch
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.paths import within
from recombine.store.store import Store
from recombine.store.untrusted import read_text
from recombine.tasks.examples import Examples
from recombine.world.scenes import ABSENT, Scenes

PAPER = Training(batch=128, rate=1e-3, epochs=100, patience=10, least=1e-4)
MODELS: dict[str, Training] = {
    "mlp": PAPER,
    "cnn": PAPER,
    "resnet": PAPER,
    "wren": replace(PAPER, rate=1e-5),
    "predinet": replace(PAPER, rate=1e-5, batch=64),
}
"""The settings of each network: appendix 2.1. It says that training stops early, not when: the patience is ours."""
PRINTED = {"mlp": "MLP", "cnn": "CNN", "resnet": "ResNet", "wren": "WReN", "predinet": "PrediNet"}
CURRICULUM = "-curriculum"
OWN = "own.concepts"


@dataclass(frozen=True)
class Job:
    """One run: what is trained, on what, from which seed. `scale` and `images` decide the images."""

    experiment: str
    model: str
    seed: int
    scale: str = "paper"
    images: int = 0
    training: Training = PAPER
    weights: Path | None = None
    concepts: Path | None = None
    """A file with experiments of one's own; a copy goes into the folder of the run."""

    @property
    def name(self) -> str:
        return f"concept-world-{self.experiment}-{self.model}-{self.seed}"

    @property
    def base(self) -> str:
        """The experiment whose images are used."""
        return self.experiment.removesuffix(CURRICULUM)

    @property
    def key(self) -> Key:
        return Key(self.seed) / "concept-world" / self.experiment / self.model


def experiments(study: ConceptWorldStudy) -> tuple[str, ...]:
    """Every experiment of the paper, or every one of one's own, and its curriculum variant where it has one."""
    shipped = load_library().experiments
    own = [one for one in study.library.experiments.values() if one.name not in shipped]
    return _variants(own or shipped.values())


def _variants(known: Iterable[Experiment]) -> tuple[str, ...]:
    return tuple(name for one in known for name in (one.name, one.name + CURRICULUM)[: 2 if one.first_epochs else 1])


def check(job: Job, study: ConceptWorldStudy, out: Path | None = None) -> None:
    """Refuse a job that cannot be done, before anything is."""
    need_torch()
    from recombine.solvers.run import must_be_same
    from recombine.solvers.train import need_device

    need_device(job.training.device)
    known = _variants(study.library.experiments.values())
    if job.experiment not in known:
        raise UserError(f"there is no experiment '{job.experiment}'; choose one of {', '.join(known)}")
    if job.model not in MODELS:
        raise UserError(f"there is no network '{job.model}'; choose one of {', '.join(MODELS)}")
    if job.weights is not None and not job.weights.is_file():
        raise UserError(f"there is no file {job.weights}; give the path of ResNet-18's ImageNet weights")
    if out is not None:
        must_be_same(out / job.name, identity(job, study))


def check_weights(file: Path) -> None:
    """Refuse a file of weights that no ResNet can begin from."""
    need_torch()
    from recombine.solvers.networks.images import build

    build("resnet", 32, 2, Key(0), file)


def study_of(job: Job, store: Store, progress: Progress = silent) -> ConceptWorldStudy:
    """The study whose images a job needs."""
    library = None if job.concepts is None else read_file(job.concepts, load_library())
    return ConceptWorldStudy(job.scale, job.images, store, library, progress)


# --- examples


def examples(study: ConceptWorldStudy, experiment: str, part: str) -> Examples:
    """The images of a part of an experiment as examples: what is seen is the scene, all else is hidden."""
    table = study.samples(experiment, part)
    classes, names = study.experiment(experiment).classes, table["concept"].to_pylist()
    concepts = tuple(dict.fromkeys(names))
    everything = np.arange(len(table))
    return Examples(
        _scenes(table, study.library.grid.colors),
        tuple(study.library.definitions[name].body for name in concepts),
        classes,
        everything,
        np.array([concepts.index(name) for name in names]),
        np.array([classes.index(label) for label in table["label"].to_pylist()]),
        everything,
        np.zeros(len(table), bool),
    )


def _scenes(table: pa.Table, colors: tuple[str, ...]) -> Scenes:
    """The points of images as objects, in rows from the top: the order of drawing would tell of the concept."""
    x, y, color = _padded(table["x"], 0), _padded(table["y"], 0), _padded(table["color"], ABSENT)
    order = np.lexsort((x, y, color == ABSENT), axis=1)
    x, y, color = (np.take_along_axis(column, order, axis=1) for column in (x, y, color))
    return scenes(x, y, color, colors)


def _padded(column: pa.ChunkedArray, blank: int) -> np.ndarray:
    """Lists of different lengths as one array, int[n, longest]."""
    rows = column.to_pylist()
    padded = np.full((len(rows), max(map(len, rows), default=0)), blank)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


@dataclass(frozen=True)
class Eye:
    """Draws scenes of points on the study's grid."""

    width: int
    height: int

    def __call__(self, scenes: Scenes) -> np.ndarray:
        return grid_images(scenes, self.width, self.height)


# --- a run


def identity(job: Job, study: ConceptWorldStudy) -> dict[str, Any]:
    """What decides the weights that a run ends with."""
    from recombine.solvers.networks.images import VERSION

    weights = None if job.weights is None else hashlib.blake2b(job.weights.read_bytes(), digest_size=16).hexdigest()
    return {
        "benchmark": "concept-world",
        "experiment": job.experiment,
        "scale": job.scale,
        "images": job.images,
        "data": study.recipe(job.base).digest,
        "network": {"name": job.model, "version": VERSION, "weights": weights},
        "seed": job.seed,
        "training": job.training.fixed(),
    }


def learn(job: Job, study: ConceptWorldStudy, out: Path, watch: Any = None) -> Path:
    """Do a job, or go on with it: the folder of its run, with its results."""
    need_torch()
    from recombine.solvers.networks.images import build
    from recombine.solvers.pictures import PictureSolver
    from recombine.solvers.run import Run
    from recombine.solvers.train import unwatched

    check(job, study)
    grid, experiment = study.library.grid, study.experiment(job.base)
    network = build(job.model, _side(study), len(experiment.classes), job.key / "network", job.weights)
    length = {name: value for name, value in asdict(job.training).items() if name in LENGTH}
    beside = {} if job.concepts is None else {OWN: read_text(job.concepts)}
    run = Run(within(out, job.name), identity(job, study), length, beside)
    first, epochs = _curriculum(job, experiment)
    eye = Eye(grid.width, grid.height)
    solver = PictureSolver(network, eye, job.training, run, first, epochs, watch or unwatched)
    with run.alone():
        solver.learn(examples(study, job.base, "train"), job.key)
        if not _tested(run.folder):
            write_results(run.folder, evaluate(run.folder, study))
    return run.folder


def _tested(folder: Path) -> bool:
    """Whether the results are those of the end of the training."""
    found = read_results(folder)
    with as_written(folder):
        return found is not None and bool(found["steps"] == last_measured(folder).step)


def _curriculum(job: Job, experiment: Experiment) -> tuple[tuple[str, ...], int]:
    return (experiment.first, experiment.first_epochs) if job.experiment.endswith(CURRICULUM) else ((), 0)


def _side(study: ConceptWorldStudy) -> int:
    grid = study.library.grid
    if grid.width != grid.height:
        raise UserError(f"the networks look at square images, not at {grid.width}x{grid.height}; use a square grid")
    return grid.width


def evaluate(folder: Path, study: ConceptWorldStudy) -> dict[str, Any]:
    """Test the best network of a run on every test of its experiment."""
    need_torch()
    from recombine.solvers.networks.images import build, parameters
    from recombine.solvers.pictures import answer
    from recombine.solvers.train import devices, load_best

    config = read_config(folder)
    job = job_of(config, folder)
    if config["data"] != study.recipe(job.base).digest:
        raise UserError(f"{folder} was trained on other images than these of '{job.base}'; train again")
    grid, experiment = study.library.grid, study.experiment(job.base)
    network = build(job.model, _side(study), len(experiment.classes), job.key / "network")
    standing = load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    found, where = {}, job.training.here(devices())
    for name in experiment.tests:
        asked = examples(study, job.base, name)
        said = answer(network, Eye(grid.width, grid.height), asked.observed(), where).argmax(axis=1)
        found[name] = confusion(asked.asked, said, len(experiment.classes))
    last = last_measured(folder)
    return {
        "classes": list(experiment.classes),
        "confusion": {name: matrix.tolist() for name, matrix in found.items()},
        "f1": {name: f1(matrix).tolist() for name, matrix in found.items()},
        "parameters": parameters(network),
        "pretrained": config["network"]["weights"] is not None,
        "validation": standing.best,
        "best_step": standing.best_step,
        "steps": last.step,
        "epochs": last.epoch + 1,
        "seconds": last.seconds,
        "cpu_seconds": last.cpu_seconds,
    }


def job_of(config: Mapping[str, Any], folder: Path) -> Job:
    """The job that a run's config tells of."""
    if config.get("benchmark") != "concept-world":
        raise UserError(f"{folder} is a run of {config.get('benchmark')}, not of concept-world")
    own = folder / OWN
    with as_written(folder):
        job = Job(
            config["experiment"],
            config["network"]["name"],
            config["seed"],
            config["scale"],
            config["images"],
            Training(**config["training"], **config["length"]),
            concepts=own if own.exists() else None,
        )
        if job.model not in MODELS:
            raise KeyError(job.model)
        return job
