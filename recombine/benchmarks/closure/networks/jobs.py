"""Runs of CLOSURE's networks: one run is one network, one size, one view, one seed; all learn from CLEVR alone.

Networks that answer are trained with CLEVR's answers, module networks with its programs too; a program generator with
questions and programs. A run that begins from another one is few-shot: 36 questions of each CLOSURE test, each 300
times among CLEVR's, with their programs (strong) or with their answers only (weak).
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.runner import ANSWERS, ILL_FORMED, clevr_functions
from recombine.benchmarks.clevr.study import ClevrStudy
from recombine.benchmarks.clevr.study import Part as ClevrPart
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.networks.data import Data
from recombine.benchmarks.closure.study import ClosureStudy, Kind, closure_scale
from recombine.solvers.questions import Questions, joined
from recombine.solvers.training.records import (
    as_written,
    identity_of,
    last_measured,
    read_config,
    read_results,
    write_results,
)
from recombine.solvers.training.settings import LENGTH, Training, need_torch
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store

VERSION = 1
GENERATOR = "generator"
SIZES = ("laptop", "paper")
PICTURE = (128, 96)
"""Width and height of the pictures that networks look at."""
TIMES = 300
"""How often each few-shot question comes among CLEVR's."""
VALIDATED = 2_000
"""Validation questions of CLEVR that are asked while a network is trained."""
TESTED = 10_000
"""Validation questions of CLEVR that are asked at the end."""
KINDS: tuple[Kind, ...] = ("closure", "baseline")
TESTS = ("and_mat_spa", "or_mat", "or_mat_spa", "embed_spa_mat", "embed_mat_spa", "compare_mat", "compare_mat_spa")
"""In the order of the paper's tables."""
assert {*TESTS} == {*CLOSURE_FAMILIES}

_EVERY = Training(batch=64, clip=8.0, judge="loss", validate_every=1_000, checkpoint_every=60.0)
PAPER: dict[str, Training] = {
    "mac": replace(_EVERY, rate=1e-4, weight_decay=1e-5, steps=1_000_000),
    "film": replace(_EVERY, rate=3e-4, weight_decay=1e-5, steps=500_000, clip=None),
    "tensor-nmn": replace(_EVERY, rate=1e-4, steps=500_000, clip=None),
    "tensor-nmn-shortcut": replace(_EVERY, rate=1e-4, steps=500_000, clip=None),
    "tensor-nmn-film": replace(_EVERY, rate=1e-4, steps=500_000, clip=None),
    "vector-nmn": replace(_EVERY, rate=1e-4, batch=128, steps=500_000, clip=None),
    "vector-nmn-1": replace(_EVERY, rate=1e-4, batch=128, steps=500_000, clip=None),
    "lstm": replace(_EVERY, rate=5e-4, steps=100_000, clip=None),
    "cnn-lstm": replace(_EVERY, rate=5e-4, steps=100_000, clip=None),
    GENERATOR: replace(_EVERY, rate=7e-4, steps=100_000, clip=None),
}
"""The paper's settings (appendix G); it says nothing of the two LSTMs."""
LAPTOP: dict[str, Training] = {
    **{name: replace(one, rate=1e-3, steps=100_000, clip=8.0) for name, one in PAPER.items()},
    "vector-nmn": replace(_EVERY, rate=7e-4, batch=64, steps=100_000, clip=1.0),
    "vector-nmn-1": replace(_EVERY, rate=7e-4, batch=64, steps=100_000, clip=1.0),
    GENERATOR: replace(_EVERY, rate=1e-3, steps=20_000, clip=1.0),
}
"""Shorter, with larger rates that fall at the end: what a thread of a CPU can do in an hour or two."""
REWARDED = replace(_EVERY, rate=1e-5, batch=128, steps=200_000)
"""The paper's settings of REINFORCE."""
MODELS = tuple(PAPER)


@dataclass(frozen=True)
class Job:
    """One run. `begin` is the folder of the run that a few-shot one starts from, `few_shot` what it is told."""

    model: str
    seed: int = 0
    size: str = "laptop"
    view: str = "objects"
    noise: float = 0.0
    features: Path = Path("features")
    """A folder with train.npy and val.npy, for the view of that name."""
    few_shot: str = ""
    begin: Path | None = None
    scale: str = "paper"
    data_seed: int = 0
    training: Training = LAPTOP[GENERATOR]

    @property
    def name(self) -> str:
        parts = ["closure", self.model, self.size]
        parts += [] if self.model == GENERATOR else [self.view]
        parts += [f"noise{self.noise:g}"] if self.noise else []
        return "-".join([*parts, *filter(None, [self.few_shot]), str(self.seed)])

    @property
    def key(self) -> Key:
        return Key(self.seed) / "closure" / self.model / self.size / self.view / self.few_shot


def training_of(
    model: str, size: str = "laptop", steps: int | None = None, few_shot: str = "", **given: Any
) -> Training:
    """The settings of a network; at laptop size the rate falls over the last 30 % of the steps."""
    chosen = (PAPER if size == "paper" else LAPTOP)[model]
    if few_shot == "weak":
        chosen = REWARDED
    steps = steps or chosen.steps
    assert steps is not None
    chosen = replace(chosen, **{"steps": steps, "validate_every": min(chosen.validate_every or steps, steps), **given})
    if size == "paper" or few_shot:
        return chosen
    return replace(chosen, fall=(round(0.7 * steps), steps), warm_up=min(100, steps))


def check(job: Job, out: Path | None = None) -> None:
    """Refuse a job that cannot be done, before anything is."""
    need_torch()
    from recombine.solvers.training.loop import need_device
    from recombine.solvers.views import VIEWS

    need_device(job.training.device)
    for what, value, known in (
        ("network", job.model, MODELS),
        ("size", job.size, SIZES),
        ("view", job.view, VIEWS),
        ("supervision", job.few_shot, ("", "strong", "weak", "answers")),
    ):
        if value not in known:
            raise UserError(f"there is no {what} '{value}'; choose one of {', '.join(filter(None, known))}")
    told = ("strong", "weak") if job.model == GENERATOR else ("answers",)
    if job.few_shot and job.few_shot not in told:
        raise UserError(f"a few-shot run of {job.model} learns from {' or '.join(told)}, not from {job.few_shot}")
    if bool(job.few_shot) != (job.begin is not None):
        raise UserError("a few-shot run, and no other, begins from the run of a network that was trained on CLEVR")


def study_of(job: Job, store: Store) -> ClosureStudy:
    scale = closure_scale(job.scale)
    return ClosureStudy(ClevrStudy(scale, job.data_seed, store), scale.closure)


# --- a run


def identity(job: Job, data: Data) -> dict[str, Any]:
    """What decides the weights that a run ends with."""
    clevr = data.study.clevr
    begin = None if job.begin is None else hashlib.blake2b(_best(job.begin).read_bytes(), digest_size=16).hexdigest()
    return {
        "benchmark": "closure",
        "network": {"name": job.model, "size": job.size, "version": VERSION},
        "view": _view(job),
        "few_shot": job.few_shot,
        "begin": begin,
        "scale": job.scale,
        "data_seed": job.data_seed,
        "data": data.recipe(clevr.questions_recipe("train")).digest,
        "seed": job.seed,
        "training": job.training.fixed(),
    }


def _view(job: Job) -> dict[str, Any]:
    return {"name": job.view, "noise": job.noise, "features": str(job.features) if job.view == "features" else None}


def _best(folder: Path) -> Path:
    return folder / "checkpoints" / "best.safetensors"


def learn(job: Job, data: Data, out: Path, watch: Any = None) -> Path:
    """Do a job, or go on with it: the folder of its run, with its results."""
    need_torch()
    from recombine.solvers.training.loop import train, unwatched
    from recombine.solvers.training.run import Run

    check(job, out)
    length = {name: value for name, value in asdict(job.training).items() if name in LENGTH}
    run = Run(out / job.name, identity(job, data), length)
    train(_lesson(job, data), job.training, run, job.key, watch or unwatched)
    if not _tested(run.folder):
        write_results(run.folder, evaluate(run.folder, data))
    return run.folder


def _tested(folder: Path) -> bool:
    """Whether the results are those of the end of the training."""
    found = read_results(folder)
    with as_written(folder):
        return found is not None and bool(found["steps"] == last_measured(folder).step)


def _lesson(job: Job, data: Data) -> Any:
    from recombine.solvers.answering import AnswerLesson, alike
    from recombine.solvers.parsing import ProgramLesson, Rewarded, RewardLesson, by_length
    from recombine.solvers.training.batches import Stage

    questions, rows = _training_rows(job, data)
    network = build(job, data)
    if job.begin is not None:
        _begin(network, job.begin)
    held = data.clevr("val").rows(slice(0, VALIDATED))
    if job.model != GENERATOR:
        view = view_of(job, data, "train")
        stages = (Stage(rows, alike=alike(job.model, questions, view)[rows]),)
        return AnswerLesson(network, view, questions, stages, AnswerValidation(job, data, held))
    stages = (Stage(rows, alike=by_length(questions)[rows]),)
    validation = GeneratorValidation(data, held)
    if job.few_shot != "weak":
        return ProgramLesson(network, questions, stages, validation)
    runner = data.runner("train")

    def reward(token: np.ndarray, some: np.ndarray) -> np.ndarray:
        return (runner(token, questions.image[some]) == questions.answer[some]).astype(np.float32)

    return RewardLesson(Rewarded(network), questions, stages, reward, validation)


def _training_rows(job: Job, data: Data) -> tuple[Questions, np.ndarray]:
    """What is learnt from: CLEVR's training questions, and among them the few-shot ones, many times."""
    questions = data.clevr("train")
    rows = np.arange(len(questions))
    if not job.few_shot:
        return questions, rows
    few = data.few_shot(TESTS)
    return joined([questions, few]), np.concatenate([rows, np.tile(len(rows) + np.arange(len(few)), TIMES)])


def build(job: Job, data: Data) -> Any:
    """The network of a job as its key begins it."""
    from recombine.solvers.networks import readers
    from recombine.solvers.networks.program_generator import GeneratorPlan, ProgramGenerator
    from recombine.solvers.training.seeding import seeded

    words, functions = len(data.vocabulary), clevr_functions()
    if job.model != GENERATOR:
        shape = view_of(job, data, "val").shape
        return readers.build(job.model, job.size, words, functions, len(ANSWERS), shape, job.key / "network")
    with seeded(job.key / "network"):
        plan = GeneratorPlan.paper if job.size == "paper" else GeneratorPlan
        return ProgramGenerator(plan(words, len(functions)))


def view_of(job: Job, data: Data, source: ClevrPart) -> Any:
    """How a network of a job sees the scenes of a part of CLEVR."""
    from recombine.solvers.views import FeatureMaps, Pixels, noisy, objects

    if job.view == "features":
        return FeatureMaps(job.features / f"{source}.npy")
    scenes = data.scenes(source)
    if job.view == "pixels":
        return Pixels(scenes, PICTURE)
    view = objects(scenes)
    return noisy(view, job.noise, Key(job.data_seed) / "view" / source) if job.noise else view


def _begin(network: Any, folder: Path) -> None:
    """Give a network the best weights of an earlier run."""
    from recombine.solvers.training.loop import load_best

    load_best(_best(folder), network, identity_of(read_config(folder)))


class GeneratorValidation:
    """Surprise, exact programs and right answers on some questions of CLEVR's validation."""

    def __init__(self, data: Data, questions: Questions) -> None:
        self.questions, self.runner = questions, data.runner("val")

    def __call__(self, network: Any) -> dict[str, float]:
        from recombine.solvers.parsing import exact, surprise, write

        token = write(network, self.questions)
        right = self.runner(token, self.questions.image) == self.questions.answer
        return {
            "loss": surprise(network, self.questions),
            "exact": float(exact(token, self.questions).mean()),
            "accuracy": float(right.mean()),
        }


class AnswerValidation:
    """Loss and accuracy on some questions of CLEVR's validation."""

    def __init__(self, job: Job, data: Data, questions: Questions) -> None:
        from recombine.solvers.answering import alike

        self.questions, self.view = questions, view_of(job, data, "val")
        self.order = alike(job.model, questions, self.view)

    def __call__(self, network: Any) -> dict[str, float]:
        from recombine.solvers.answering import on_questions

        return on_questions(network, self.view, self.questions, self.order)


# --- tests


def evaluate(folder: Path, data: Data) -> dict[str, Any]:
    """Ask the best network of a run all questions: CLEVR's validation, the seven tests and their baselines."""
    need_torch()
    from recombine.solvers.networks.images import parameters
    from recombine.solvers.training.loop import devices, load_best, settled

    config = read_config(folder)
    job = job_of(config, folder)
    if config["data"] != identity(replace(job, begin=None), data)["data"]:
        raise UserError(f"{folder} was trained on other questions than these; train again")
    network = build(job, data)
    validated = load_best(_best(folder), _wrapped(job, network), identity_of(config))
    with settled(job.training.here(devices())):
        network.to(job.training.here(devices()).device).eval()
        found = examined(data, _asked(job, network, data))
    last = last_measured(folder)
    return {
        **found,
        "parameters": parameters(network),
        "validation": validated.best,
        "best_step": validated.best_step,
        "steps": last.step,
        "seconds": last.seconds,
        "cpu_seconds": last.cpu_seconds,
    }


def _wrapped(job: Job, network: Any) -> Any:
    from recombine.solvers.parsing import Rewarded

    return Rewarded(network) if job.few_shot == "weak" else network


Asked = Callable[[Questions], Mapping[str, np.ndarray]]
"""What someone makes of questions about CLEVR's validation scenes: which they get right, and more, bool[n] each."""


def _asked(job: Job, network: Any, data: Data) -> Asked:
    if job.model == GENERATOR:
        return partial(parsed, network, data)
    view = view_of(job, data, "val")
    return partial(answered, network, view, job.model)


def parsed(network: Any, data: Data, questions: Questions) -> dict[str, np.ndarray]:
    """Which questions a generator reads rightly: by the answer that its program gets, and token for token."""
    from recombine.solvers.parsing import exact, write

    token = write(network, questions)
    said = data.runner("val")(token, questions.image)
    return {"right": said == questions.answer, "exact": exact(token, questions), "formed": said != ILL_FORMED}


def answered(network: Any, view: Any, model: str, questions: Questions) -> dict[str, np.ndarray]:
    """Which questions a network answers rightly."""
    from recombine.solvers.answering import alike, answer

    said = answer(network, view, questions, alike(model, questions, view)).argmax(axis=1)
    return {"right": said == questions.answer}


def examined(data: Data, asked: Asked, clevr: int = TESTED) -> dict[str, Any]:
    """What someone who answers makes of CLEVR's first validation questions, the tests and their baselines."""
    found: dict[str, Any] = {"clevr": tallied(data.clevr("val").rows(slice(0, clevr)), asked)}
    found["tests"] = {test: {kind: tallied(data.test(test, "test", kind), asked) for kind in KINDS} for test in TESTS}
    return found


def tallied(questions: Questions, asked: Asked) -> dict[str, Any]:
    """Shares of questions, and how many of each family and of each depth are answered rightly: [right, asked]."""
    marks = asked(questions)
    right = marks["right"]
    return {
        "questions": len(questions),
        **{name: float(values.mean()) for name, values in marks.items()},
        "families": _by(questions.family, right),
        "depths": _by(questions.depth, right),
        "types": _by(questions.token[:, 0], right, clevr_functions().words, 4),
    }


def _by(group: np.ndarray, right: np.ndarray, names: tuple[str, ...] = (), first: int = 0) -> dict[str, list[int]]:
    return {
        names[number - first] if names else str(number): [
            int(right[group == number].sum()),
            int((group == number).sum()),
        ]
        for number in np.unique(group).tolist()
    }


def job_of(config: Mapping[str, Any], folder: Path) -> Job:
    """The job that a run's config tells of, but for where it began."""
    if config.get("benchmark") != "closure":
        raise UserError(f"{folder} is a run of {config.get('benchmark')}, not of closure")
    with as_written(folder):
        fall = config["training"].get("fall")
        training = Training(**{**config["training"], "fall": tuple(fall) if fall else None}, **config["length"])
        job = Job(
            config["network"]["name"],
            config["seed"],
            config["network"]["size"],
            config["view"]["name"],
            config["view"]["noise"],
            Path(config["view"].get("features") or "features"),
            config["few_shot"],
            None,
            config["scale"],
            config["data_seed"],
            training,
        )
        MODELS.index(job.model)
        return job
