"""CLOSURE's networks: one run is one network, one view of the scenes, one seed; all learn from CLEVR.

Networks that answer learn CLEVR's answers, module networks run its programs; a program generator learns to write them,
and with an exact executor behind it is NS-VQA. A run on the split `few-shot` begins from a run on `zero-shot`: 36
questions of each test come among CLEVR's, each 300 times, with their programs (strong) or with answers alone (weak).
On a split that was made automatically a run learns from those of CLEVR's training questions that it does not hold out,
and is asked the validation questions that it does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.arrays import by_pairs, need_questions
from recombine.benchmarks.clevr.pipeline import ClevrPipeline
from recombine.benchmarks.clevr.pipeline import Part as ClevrPart
from recombine.benchmarks.clevr.runner import ANSWER_KINDS, clevr_functions
from recombine.benchmarks.clevr.tallies import Asked, answered, parsed, parsing_validated, percent, tallied, validated
from recombine.benchmarks.closure import published
from recombine.benchmarks.closure.arrays import Data
from recombine.benchmarks.closure.findings import verdicts
from recombine.benchmarks.closure.network_tables import CLEVR, GENERATED, HELD_OUT, chapters, named, tables
from recombine.benchmarks.closure.pipeline import KINDS, ClosurePipeline, closure_scale
from recombine.benchmarks.closure.published import TESTS
from recombine.benchmarks.networks import Job, Networks, Published
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.intervals import Interval
from recombine.report.document import Chapter
from recombine.report.findings import Verdict
from recombine.report.table import Table
from recombine.solvers.programs import SPECIAL, lay_out, well_formed
from recombine.solvers.questions import Questions, joined
from recombine.solvers.training.records import as_written, identity_of, read_config
from recombine.solvers.training.settings import Training
from recombine.store.checksums import checksum
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.paths import within
from recombine.store.store import Store
from recombine.tasks.made_splits import read_split
from recombine.world.scenes import Scenes

GENERATOR, SPANS = "generator", "span-parser"
PARSERS = (GENERATOR, SPANS)
"""What writes programs."""
MODULAR = ("tensor-nmn", "tensor-nmn-shortcut", "tensor-nmn-film", "vector-nmn", "vector-nmn-1")
ZERO_SHOT, FEW_SHOT = "zero-shot", "few-shot"
TIMES = 300
"""How often each few-shot question comes among CLEVR's."""
VALIDATED = 2_000
"""Validation questions of CLEVR that are asked while a network is trained."""
PICTURE = (128, 96)
"""Width and height of the pictures that networks look at."""
FALLS = 0.7
"""At laptop size the rate falls after this share of the steps."""
WARM_UP = 100

_PAPER = Training(batch=64, judge="loss", validate_every=1_000, checkpoint_every=60.0)
PAPER: dict[str, Training] = {
    "film": replace(_PAPER, rate=3e-4, weight_decay=1e-5, steps=500_000),
    "mac": replace(_PAPER, rate=1e-4, weight_decay=1e-5, steps=1_000_000, clip=8.0),
    GENERATOR: replace(_PAPER, rate=7e-4, steps=100_000),
    **{name: replace(_PAPER, rate=1e-4, steps=500_000) for name in MODULAR[:3]},
    **{name: replace(_PAPER, rate=1e-4, steps=500_000, batch=128) for name in MODULAR[3:]},
    **{name: replace(_PAPER, rate=5e-4, steps=100_000) for name in ("lstm", "cnn-lstm")},
    SPANS: replace(_PAPER, steps=6, validate_every=1),
}
"""The paper's settings (appendix G); it has neither the two LSTMs nor our span parser, whose steps are rounds."""
REWARDED = replace(_PAPER, rate=1e-5, steps=200_000, batch=128)
"""Its settings of REINFORCE."""
LAPTOP: dict[str, Training] = {
    **{name: replace(one, rate=1e-3, steps=100_000, clip=8.0) for name, one in PAPER.items()},
    **{name: replace(_PAPER, rate=7e-4, steps=100_000, clip=1.0) for name in MODULAR},
    GENERATOR: replace(_PAPER, rate=1e-3, steps=20_000, clip=1.0),
    SPANS: PAPER[SPANS],
}
"""Shorter, with larger rates that fall at the end."""
NAMES = {
    "film": "FiLM",
    "mac": "MAC",
    GENERATOR: "NS-VQA",
    SPANS: "NS-VQA, span parser",
    "tensor-nmn": "GT-Tensor-NMN",
    "tensor-nmn-shortcut": "GT-Tensor-NMN-Shortcut",
    "tensor-nmn-film": "GT-Tensor-NMN-FiLM",
    "vector-nmn": "GT-Vector-NMN",
    "vector-nmn-1": "GT-Vector-NMN, 1 block",
    "lstm": "LSTM",
    "cnn-lstm": "CNN+LSTM",
}
INTRO = (
    "Networks that learn from CLEVR's questions alone and are asked CLOSURE's: what they lose against the CLEVR "
    "questions nearest to each test is what they cannot recombine. Where nothing else is said a network sees objects: "
    "exact attributes and coordinates in the place of an image. That takes perception out of the task, which CLOSURE "
    "asks nothing about, and makes a training a matter of hours on one thread; it also makes CLEVR easier, so a "
    "network's accuracy is not that of the same network on images, and the paper's numbers stand beside ours for the "
    "pattern over tests, not for their height. Our networks are narrower and trained for fewer steps than the paper's "
    "(size laptop; the tables have the steps). Repeating `make table-closure` adds what is missing."
)
FOUND = (
    "By accuracy on the tests and on their baselines, the CLEVR questions nearest to them. The paper's networks saw "
    "images and were trained for longer: what does not hold here may hold there."
)


@dataclass(frozen=True)
class Options:
    """What only CLOSURE's networks have."""

    size: Annotated[Literal["laptop", "paper"], "How large a network is, and how long it is trained."] = "laptop"
    view: Annotated[Literal["objects", "detections", "features", "pixels"], "What a network sees of a scene."] = (
        "objects"
    )
    noise: Annotated[float, "The deviation of noise on every number of an object."] = 0.0
    features: Annotated[str, "A folder with train.npy and val.npy: images x height x width x channels."] = ""
    supervision: Annotated[Literal["strong", "weak"], "Few-shot generators: told programs, or answers alone."] = (
        "strong"
    )
    begin: Annotated[str, "The folder of the run that a few-shot one begins from."] = ""
    generator: Annotated[str, "A generator's run, whose programs module networks are tested with too."] = ""
    shown: Annotated[int | None, "Learn from so many of CLEVR's questions, drawn by the seed. Default: all."] = None
    questions: Annotated[int, "Validation questions of CLEVR that are asked at the end, at most."] = 10_000
    steps: Annotated[int | None, "How many steps, up to the next validation. Default: by size."] = None
    validate_every: Annotated[int | None, "Steps between validations. Default: 1,000."] = None
    batch: Annotated[int | None, "Questions of a step. Default: by size."] = None


class ClosureNetworks(Networks[Data]):
    """The paper's networks, and two that read without looking closely."""

    benchmark = "closure"
    models = PAPER
    options = Options
    examined = ("questions", "generator")
    of_name = ("supervision", "begin")
    free = ("steps", "validate_every", "fall", "warm_up")
    title = "CLOSURE"
    intro, found = INTRO, FOUND
    note = "Percent; the paper's with the standard deviation over 5 or 10 runs."
    judged_by = "accuracy"
    known_splits = (ZERO_SHOT,)
    known_networks = tuple(NAMES.values())

    # --- a run

    def study(self, job: Job, store: Store, engine: Engine) -> Data:
        scale = closure_scale(job.scale)
        return Data(ClosurePipeline(ClevrPipeline(scale, job.data_seed, store, engine), scale.closure))

    def splits(self, study: Data) -> Sequence[str]:
        return (ZERO_SHOT,)

    def know(self, study: Data, file: str) -> Sequence[str]:
        made = by_pairs(read_split(file, self.benchmark))
        if made.name in (ZERO_SHOT, FEW_SHOT, *TESTS) or study.made.setdefault(made.name, made).pairs != made.pairs:
            raise UserError(f"{file}: there is a split '{made.name}' already; give it another name")
        return [made.name]

    def data(self, job: Job, study: Data) -> dict[str, Any]:
        few = {test: study.recipe(study.study.questions_recipe(test, "train", "closure")).digest for test in TESTS}
        clevr = {"clevr": study.recipe(study.study.clevr.questions_recipe("train")).digest}
        if job.options.view == "detections":
            from recombine.benchmarks.clevr.sight import FILE

            clevr["parser"] = checksum(FILE)
        if job.split in study.made:
            return {**clevr, "held out": [list(pair) for pair in study.made[job.split].pairs]}
        return {**clevr, **few} if job.split == FEW_SHOT else clevr

    def usual(self, model: str, options: Options) -> Training:
        chosen = (PAPER if options.size == "paper" else LAPTOP)[model]
        if model == GENERATOR and options.supervision == "weak":
            chosen = REWARDED
        steps = options.steps or chosen.steps
        assert steps is not None
        if model == SPANS:
            return replace(chosen, steps=steps)
        chosen = replace(chosen, steps=steps, validate_every=min(options.validate_every or 1_000, steps))
        if options.size == "paper" or options.begin:
            return chosen
        return replace(chosen, fall=(round(FALLS * steps), steps), warm_up=min(WARM_UP, steps))

    def concerning(self, options: Options, model: str) -> Options:
        if model == SPANS:
            options = replace(options, size="laptop", supervision="strong")
        if model in PARSERS:
            return replace(options, view="objects", noise=0.0, features="", generator="")
        return replace(options, supervision="strong", generator=options.generator if model in MODULAR else "")

    def check(self, job: Job, study: Data) -> None:
        own = job.options
        if job.split not in (ZERO_SHOT, FEW_SHOT, *study.made):
            raise UserError(
                f"there is no split '{job.split}'; choose {ZERO_SHOT} or {FEW_SHOT}, or give the file of a split"
            )
        if (job.split == FEW_SHOT) != bool(own.begin):
            raise UserError(f"runs on {FEW_SHOT}, and no others, need begin: a run on {ZERO_SHOT}")
        if (own.view == "features") != bool(own.features):
            raise UserError("the view 'features', and no other, needs features: the folder that has them")
        if not 0 <= own.noise < inf or (own.noise and own.view != "objects"):
            raise UserError(f"noise is a number above 0 for the view 'objects', not {own.noise:g} for '{own.view}'")
        if job.model == SPANS and job.split == FEW_SHOT:
            raise UserError(f"the span parser learns on {ZERO_SHOT} alone; leave split out")
        scale = study.study.clevr.scale
        _check_shown(own.shown, scale.train * scale.questions)  # at most: some scenes have fewer
        if own.questions < 1:
            raise UserError(f"questions must be at least 1, not {own.questions}")
        if own.begin:
            _begun(job)
        if own.generator:
            self._programs_of(job, study)
        if own.view == "features":
            self.view(job, study, "train"), self.view(job, study, "val")

    def size(self, jobs: Sequence[Job], study: Data) -> int:
        return study.study.clevr.size_estimate() + study.study.size_estimate(TESTS)

    def prepare(self, job: Job, study: Data) -> None:
        _check_shown(job.options.shown, len(_trained(job, study)))
        study.clevr("val")
        for test in () if job.made else TESTS:
            for kind in KINDS:
                study.test(test, "test", kind)
        if job.made:
            study.held_out(job.split, "train"), study.held_out(job.split, "val")
        if job.options.view == "detections":
            self.view(job, study, "train"), self.view(job, study, "val")
        if job.split == FEW_SHOT:
            study.few_shot(TESTS)

    def version(self, model: str) -> int:
        return 2 if model in ("mac", *MODULAR) else 1

    def tested(self, job: Job, study: Data) -> dict[str, Any]:
        return {"questions": self._questions(job, study), "generator": Path(job.options.generator).name}

    def _questions(self, job: Job, study: Data) -> int:
        return min(job.options.questions, len(study.clevr("val")))

    def ending(self, job: Job) -> tuple[str, ...]:
        own = job.options
        said = [own.size] if own.size != "laptop" else []
        said += [own.view] if own.view != "objects" else []
        said += [f"noise{own.noise:g}"] if own.noise else []
        said += [f"shown{own.shown}"] if own.shown else []
        return (*said, *([own.supervision] if own.begin and job.model == GENERATOR else []))

    def config(self, job: Job) -> dict[str, Any]:
        own = job.options
        begun = {"run": Path(own.begin).name, "weights": _weights(own.begin)} if own.begin else None
        return {
            "split": job.split,
            "scale": job.scale,
            "data_seed": job.data_seed,
            "network": {"name": job.model, "size": own.size, "version": self.version(job.model)},
            "view": {"name": own.view, "noise": own.noise, "features": own.features},
            "supervision": own.supervision,
            "begin": begun,
            **({"shown": own.shown} if own.shown else {}),
            "seed": job.seed,
        }

    def without_seed(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        begin, own = config["begin"], f"-{config['seed']}"
        if begin and begin["run"].endswith(own):  # it begins from the run of its own seed
            return {**config, "begin": begin["run"].removesuffix(own)}
        return config

    def read(self, config: Mapping[str, Any], folder: Path) -> Job:
        view, network, begin = config["view"], config["network"], config["begin"]
        begun = str(within(folder.parent, begin["run"])) if begin else ""
        own = Options(network["size"], view["name"], view["noise"], view["features"], config["supervision"], begun)
        own = replace(own, shown=config.get("shown"))
        data = config["scale"], config["data_seed"]
        return Job("closure", config["split"], network["name"], config["seed"], *data, own)

    def view(self, job: Job, study: Data, source: ClevrPart) -> Any:
        """How a network sees the scenes of a part of CLEVR."""
        from recombine.solvers.views import FeatureMaps, detections, noisy

        own = job.options
        if own.view == "features":
            return FeatureMaps(Path(own.features) / f"{source}.npy")
        if own.view == "detections":
            from recombine.benchmarks.clevr.detections import detected

            return detections(*detected(study.study.clevr, source))
        seen = _seen(own.view, study.scenes(source))
        return noisy(seen, own.noise, Key(job.data_seed) / "closure" / "noise" / source) if own.noise else seen

    def opened(self, study: Any) -> Data:
        return Data(study.study)

    def sits(self, job: Job, split: str) -> bool:
        return split == job.split if job.made else split in TESTS

    def solver(self, job: Job, study: Data, network: Any) -> Any:
        from recombine.benchmarks.closure.run_solver import RunSolver

        if job.options.noise or job.options.view == "features":
            return None
        view = None if job.model in PARSERS else partial(_seen, job.options.view)
        inner = network.generator if _weak(job) else network
        return RunSolver(inner, job.model, study.vocabulary, view, job.training)

    def network(self, job: Job, study: Data) -> Any:
        from recombine.solvers.networks import readers
        from recombine.solvers.networks.program_generator import GeneratorPlan, ProgramGenerator
        from recombine.solvers.parsing import Rewarded
        from recombine.solvers.spans.grammar import Grammar
        from recombine.solvers.spans.span_parser import SpanParser
        from recombine.solvers.training.seeding import seeded

        words, functions, key = len(study.vocabulary), clevr_functions(), job.key / "network"
        if job.model == SPANS:
            return SpanParser(Grammar(functions, words, ANSWER_KINDS))
        if job.model != GENERATOR:
            shape = self.view(job, study, "val").shape
            return readers.build(job.model, job.options.size, words, functions, len(ANSWERS), shape, key)
        plan = GeneratorPlan.paper if job.options.size == "paper" else GeneratorPlan
        with seeded(key):
            network = ProgramGenerator(plan(words, len(functions)))
        return Rewarded(network) if _weak(job) else network

    def teach(self, job: Job, study: Data, network: Any, run: Any, watch: Any) -> None:
        if job.model != SPANS:
            return super().teach(job, study, network, run, watch)
        from recombine.solvers.spans.learning import learn
        from recombine.solvers.spans.span_parser import Rounds, SpanParser

        questions, rows = _rows(job, study)
        held = _asked(job, study, VALIDATED)
        rounds = Rounds(network, questions.rows(rows if len(rows) < len(questions) else slice(None)))
        validation = partial(parsing_validated, study.runner("val"), SpanParser.surprise, held)
        return learn(rounds, job.training, run, validation, watch)

    def objective(self, job: Job, study: Data, network: Any) -> Any:
        from recombine.solvers.answering import AnswerObjective, alike
        from recombine.solvers.parsing import ProgramObjective, RewardObjective, by_length, surprise
        from recombine.solvers.training.batches import Stage
        from recombine.solvers.views import must_fit

        if job.options.begin:
            _begin(job, network)
        questions, rows = _rows(job, study)
        held = _asked(job, study, VALIDATED)
        if job.model != GENERATOR:
            view, seen = (self.view(job, study, source) for source in ("train", "val"))
            must_fit(view, seen.shape, "the view of training scenes")
            near = alike(job.model, questions, view)
            stages = _lessons(job, questions, rows, near, view) or (Stage(rows, alike=near[rows]),)
            return AnswerObjective(network, view, questions, stages, partial(validated, job.model, seen, held))
        stages = (Stage(rows, alike=by_length(questions)[rows]),)
        validation = partial(parsing_validated, study.runner("val"), surprise, held)
        if not _weak(job):
            return ProgramObjective(network, questions, stages, validation)
        return RewardObjective(network, questions, stages, _Reward(study, questions), validation)

    def examine(self, job: Job, study: Data, network: Any) -> dict[str, Any]:
        from recombine.solvers.training.loop import settled

        with settled(job.training):
            network.to(job.training.device).eval()
            if job.model in PARSERS:
                found = {"scores": self._examined(job, study, partial(_parsed, network, study))}
            else:
                answers = partial(answered, job.model, network, self.view(job, study, "val"))
                found = {"scores": self._examined(job, study, answers)}
                if job.options.generator:
                    generator = self._generator(job, study)
                    found["generated"] = self._examined(job, study, partial(_by_generator, generator, answers))
        return {**found, **self.tested(job, study)}

    def _examined(self, job: Job, study: Data, asked: Asked) -> dict[str, Any]:
        """What someone makes of CLEVR's first validation questions, of the tests and of their baselines.

        Where a split was made, its test is what it holds out of these questions, and the rest are the control.
        """
        clevr = _asked(job, study, self._questions(job, study))
        if job.made:
            held = _asked(job, study, self._questions(job, study), held=True)
            return {name: tallied(some, asked, clevr_functions()) for name, some in ((CLEVR, clevr), (HELD_OUT, held))}
        return {
            CLEVR: tallied(clevr, asked, clevr_functions()),
            **{
                named(test, kind): tallied(study.test(test, "test", kind), asked, clevr_functions())
                for kind in KINDS
                for test in TESTS
            },
        }

    def _generator(self, job: Job, study: Data) -> Any:
        """The generator of another run."""
        from recombine.solvers.training.loop import load_best

        weights, config, other = self._programs_of(job, study)
        network = self.network(other, study)
        load_best(weights, network, identity_of(config))
        return (network.generator if _weak(other) else network).to(job.training.device).eval()

    def _programs_of(self, job: Job, study: Data) -> tuple[Path, dict[str, Any], Job]:
        """The run of a generator, as far as it is known without a network: its weights, its config, its job."""
        from recombine.benchmarks.networks import job_of

        folder = Path(job.options.generator)
        config, weights = read_config(folder), folder / "checkpoints" / "best.safetensors"
        other = job_of(config, folder)
        if other.model not in PARSERS or clevr_of(config, folder) != self.data(job, study)["clevr"]:
            raise UserError(f"{folder} is no run of a generator or parser on the same questions; give one as generator")
        if not weights.is_file():
            raise UserError(f"{weights} is not there; train that run first, or give another as generator")
        return weights, config, other

    # --- results

    def scores(self, results: Mapping[str, Any]) -> dict[str, dict[str, Interval]]:
        found = {test: {"": percent(one)} for test, one in results["scores"].items()}
        pairs = results.get("generated", {}).items()
        return {**found, **{f"{test}{GENERATED}": {"": percent(one)} for test, one in pairs}}

    def published(self, group: Group) -> dict[str, dict[str, Published]]:
        found: dict[str, dict[str, Published]] = {}
        for name, ending in ((group.network, ""), (group.network.replace("GT-", "PG-"), GENERATED)):
            first = published.TABLE_2 if group.job.split == FEW_SHOT else published.TABLE_1
            for kind, table in zip(KINDS, (first, published.TABLE_3)):
                found |= {named(test, kind) + ending: {"": one} for test, one in table.get(name, {}).items()}
            if name in published.TABLE_5 and group.job.split == ZERO_SHOT:
                found[f"CLEVR{ending}"] = {"": published.TABLE_5[name]}
        return found

    def printed(self, job: Job, config: Mapping[str, Any]) -> str:
        few = job.split == FEW_SHOT and job.model == GENERATOR
        return f"{NAMES[job.model]} ({job.options.supervision})" if few else NAMES[job.model]

    def tables(self, outcomes: Outcomes) -> list[Table]:
        return tables(outcomes)

    def verdicts(self, outcomes: Outcomes) -> list[Verdict]:
        return verdicts(outcomes)

    def chapters(self, outcomes: Outcomes, reference: Mapping[str, Table]) -> list[Chapter]:
        return chapters(outcomes)


NETWORKS = ClosureNetworks()


def _weak(job: Job) -> bool:
    return bool(job.options.begin) and job.model == GENERATOR and job.options.supervision == "weak"


def _seen(view: str, scenes: Scenes) -> Any:
    """What a network sees of scenes that it may never have seen before."""
    from recombine.solvers.views import Pixels, detections, objects

    if view == "detections":
        from recombine.benchmarks.clevr.detections import perceived

        return detections(*perceived(scenes))
    return Pixels(scenes, PICTURE) if view == "pixels" else objects(scenes)


# --- few-shot


def _check_shown(shown: int | None, there: int) -> None:
    if shown is not None and not 1 <= shown <= there:
        raise UserError(f"{shown:,} questions cannot be shown; there are 1 to {there:,}")


def _weights(folder: str) -> str:
    """A digest of the weights that a run begins from."""
    file = Path(folder) / "checkpoints" / "best.safetensors"
    if not file.is_file():  # a pipe would be waited for
        raise UserError(f"{file} is not there; train a run on {ZERO_SHOT} to begin from")
    return checksum(file)


def _begun(job: Job) -> Job:
    """The job of the run that another one begins from."""
    from recombine.benchmarks.networks import job_of

    folder = Path(job.options.begin)
    before = job_of(read_config(folder), folder)
    alike = replace(job.options, begin="", supervision="strong", generator="", questions=before.options.questions)
    if (before.split, before.model, before.options) != (ZERO_SHOT, job.model, alike):
        raise UserError(f"{folder} is no run of {job.model} on {ZERO_SHOT} with the same view and size; begin from one")
    return before


def _begin(job: Job, network: Any) -> None:
    """Give a network the weights of the run that it begins from."""
    from recombine.solvers.training.loop import load_best

    inner = network.generator if _weak(job) else network
    folder = Path(job.options.begin)
    load_best(folder / "checkpoints" / "best.safetensors", inner, identity_of(read_config(folder)))


def _rows(job: Job, study: Data) -> tuple[Questions, np.ndarray]:
    """What is learnt from: CLEVR's training questions, and among them the few-shot ones, many times."""
    questions, rows = study.clevr("train"), _trained(job, study)
    if job.options.shown:
        chosen = (Key(job.seed) / "closure" / "shown").rng().permutation(len(rows))
        rows = rows[np.sort(chosen[: job.options.shown])]
    if job.split != FEW_SHOT:
        return questions, rows
    few = study.few_shot(TESTS)
    return joined([questions, few]), np.concatenate([rows, np.tile(len(questions) + np.arange(len(few)), TIMES)])


def _lessons(job: Job, questions: Questions, rows: np.ndarray, near: np.ndarray, view: Any) -> tuple[Any, ...] | None:
    """The stages of a module network at laptop size, easy questions first; nothing for others, and for what goes on."""
    from recombine.solvers.curriculum import MODULES, stages, steps_of

    if job.model not in MODULAR or job.options.size == "paper" or job.options.begin:
        return None
    functions, length = clevr_functions(), job.training.steps
    assert length is not None
    filters = frozenset(SPECIAL + n for n, word in enumerate(functions.words) if word.startswith("filter"))
    objects = view.cells(questions.image) if view.shape.grid is None else np.zeros(len(questions), np.int64)
    key = job.key / "curriculum"
    return stages(MODULES, rows, objects, steps_of(questions.token, filters), near, length, job.training.batch, key)


def _trained(job: Job, study: Data) -> np.ndarray:
    """Which of CLEVR's training questions may be learnt from: those that no split holds out, int[n]."""
    many = len(study.clevr("train"))
    return np.flatnonzero(~study.held_out(job.split, "train")) if job.made else np.arange(many)


def _asked(job: Job, study: Data, most: int, held: bool = False) -> Questions:
    """CLEVR's first validation questions, as many as that; where a split was made, of one side of it."""
    questions = study.clevr("val")
    if not job.made:
        return questions.rows(slice(0, most))
    rows = np.flatnonzero(study.held_out(job.split, "val") == held)[:most]
    return questions.rows(need_questions(rows, job.split, "test" if held else "validation"))


class _Reward:
    """1 where the program of a training question gets the right answer."""

    def __init__(self, study: Data, questions: Questions) -> None:
        self.run, self.questions = study.runner("train"), questions

    def __call__(self, token: np.ndarray, rows: np.ndarray) -> np.ndarray:
        said = self.run(token, self.questions.image[rows])
        return (said == self.questions.answer[rows]).astype(np.float32)


# --- questions asked


def _parsed(network: Any, study: Data, questions: Questions) -> dict[str, np.ndarray]:
    """Which of CLEVR's validation questions a generator reads rightly."""
    from recombine.solvers.parsing import Rewarded

    inner = network.generator if isinstance(network, Rewarded) else network
    return parsed(inner, study.runner("val"), questions)


def clevr_of(config: Mapping[str, Any], folder: Path) -> Any:
    """Which questions of CLEVR a run says that it was trained on."""
    with as_written(folder):
        return config["data"]["clevr"]


def _by_generator(generator: Any, answers: Any, questions: Questions) -> dict[str, np.ndarray]:
    """The same with the programs that a generator writes; those that are ill-formed are wrong."""
    from recombine.solvers.parsing import write

    layout, functions = lay_out(write(generator, questions), clevr_functions()), clevr_functions()
    formed = well_formed(layout, functions, ANSWER_KINDS)
    right = np.zeros(len(questions), bool)
    if formed.any():
        right[formed] = answers(questions.rows(formed), layout.rows(formed))["right"]
    return {"right": right, "formed": formed}
