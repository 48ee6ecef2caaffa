"""Super-CLEVR's networks: one run is one network, one view of the scenes, one seed, trained on one variant.

It is tested on that variant and on all others that the factors compare it to, so three runs of a factor give a cell of
Table 2. NSCL runs programs and is given the boxes of objects; mDETR learns to find what the words speak of before it
answers; the generator writes the program of a question, which is run on the exact scene; all others read the question
and look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from recombine.benchmarks.clevr.arrays import by_pairs
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.clevr.pipeline import Part
from recombine.benchmarks.clevr.program import ProgramTokens
from recombine.benchmarks.clevr.runner import functions_of
from recombine.benchmarks.clevr.tallies import answered, parsed, parsing_validated, tallied, validated
from recombine.benchmarks.networks import Job, Networks, Published, job_of
from recombine.benchmarks.runs import Group, Outcomes
from recombine.benchmarks.super_clevr import published
from recombine.benchmarks.super_clevr.arrays import CONTROL, Data, digest_of
from recombine.benchmarks.super_clevr.network_tables import chapters, scores, tables
from recombine.benchmarks.super_clevr.pipeline import scale_named
from recombine.benchmarks.super_clevr.variants import (
    FACTORS,
    LEARNT,
    SAME,
    TRAINED,
    VARIANTS,
    learnt,
    tests_of,
)
from recombine.language.expr import Expr
from recombine.metrics.intervals import Interval
from recombine.render.rendering import picture_size
from recombine.report.document import Chapter
from recombine.report.table import Table
from recombine.solvers.programs import lay_out, well_formed
from recombine.solvers.questions import Questions, spoken
from recombine.solvers.training.records import identity_of, read_config
from recombine.solvers.training.settings import Training
from recombine.store.engine import Engine, InProcess
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.tasks.made_splits import read_split

NSCL, MDETR, LSTM, GENERATOR = "nscl", "mdetr", "lstm", "generator"
NAMES = {
    LSTM: "LSTM",
    "cnn-lstm": "CNN+LSTM",
    "film": "FiLM",
    MDETR: "mDETR",
    NSCL: "NSCL",
    GENERATOR: "Programs written, exact scenes",
}
BLIND = (LSTM, GENERATOR)
"""What does not look at scenes."""
GIVEN_BOXES = (NSCL, MDETR)
"""What looks at pictures with the boxes of their objects: NSCL always, mDETR to learn."""
VALIDATED = 2_000
"""Validation questions that are asked while a network is trained, at most."""
FALLS = 0.7
"""At laptop size the rate falls after this share of the steps."""
WARM_UP = 100
PICTURE = "160x120"
WIDTHS = (16, 32, 48, 64, 64)
"""The channels of the convolutions that look at pictures at laptop size."""
NARROW = 64
"""The width of networks that look at pictures at laptop size."""
QUESTION_BYTES = 200
"""Bytes of a question in arrays, at most."""
GROUNDING = {"laptop": 0.3, "paper": 0.5}
"""The share of mDETR's steps in which it learns to find objects alone, by size."""

_PAPER = Training(batch=64, judge="loss", validate_every=1_000, checkpoint_every=60.0)
PAPER: dict[str, Training] = {
    LSTM: replace(_PAPER, rate=5e-4, steps=100_000),
    "cnn-lstm": replace(_PAPER, rate=5e-4, steps=100_000),
    "film": replace(_PAPER, rate=3e-4, weight_decay=1e-5, batch=256, steps=100_000),
    MDETR: replace(_PAPER, rate=1e-4, weight_decay=1e-4, optimiser="adamw", clip=0.1, steps=187_500),
    NSCL: replace(_PAPER, rate=1e-3, weight_decay=1e-4, optimiser="adamw", batch=32, steps=500_000),
    GENERATOR: replace(_PAPER, rate=7e-4, steps=100_000),
}
"""The paper's settings (4.4), and the released code's where it gives none: 30 + 30 epochs of mDETR, 80 of NSCL."""
LAPTOP: dict[str, Training] = {
    LSTM: replace(_PAPER, rate=1e-3, steps=5_000, clip=8.0),
    "cnn-lstm": replace(_PAPER, rate=1e-3, batch=128, steps=5_000, clip=8.0),
    "film": replace(_PAPER, rate=1e-3, batch=128, steps=10_000, clip=8.0),
    MDETR: replace(_PAPER, rate=5e-4, weight_decay=1e-4, optimiser="adamw", clip=1.0, steps=10_000),
    NSCL: replace(_PAPER, rate=1e-3, weight_decay=1e-4, optimiser="adamw", batch=128, steps=20_000, clip=8.0),
    GENERATOR: replace(_PAPER, rate=1e-3, steps=4_000, clip=1.0),
}
"""Shorter, with rates that fall at the end."""
INTRO = (
    "Networks trained on one variant of Super-CLEVR and tested on those that differ from it in one factor. Our "
    "vehicles, our pictures, our questions. Where nothing else is said a network sees pictures of 160x120 pixels; NSCL "
    "is given the boxes of objects and the programs of questions, and learns from answers alone; mDETR also learns "
    "which words speak of which boxes. Networks are smaller than the paper's, none begins from weights that were "
    "trained before, and trainings are far shorter (size laptop; the tables have the steps): the paper's numbers stand "
    "beside ours for the pattern, not for the height. Repeating `make table-super-clevr` adds what is missing."
)


@dataclass(frozen=True)
class Options:
    """What only Super-CLEVR's networks have."""

    size: Annotated[Literal["laptop", "paper"], "How large a network is, and how long it is trained."] = "laptop"
    view: Annotated[Literal["pixels", "objects", "detections", "features"], "What a network sees of a scene."] = (
        "pixels"
    )
    picture: Annotated[str, "Width and height of the pictures that are seen."] = PICTURE
    noise: Annotated[float, "The deviation of noise on every number of an object."] = 0.0
    features: Annotated[str, "A folder with VARIANT-PART.npy: images x height x width x channels."] = ""
    parser: Annotated[str, "The file of the scene parser that detects. Default: the one of Super-CLEVR."] = ""
    about: Annotated[Literal["object", "part"], "Questions about objects, or about their parts."] = "object"
    questions: Annotated[int, "Test questions of each variant, at most."] = 2_000
    steps: Annotated[int | None, "How many steps, up to the next validation. Default: by size."] = None
    validate_every: Annotated[int | None, "Steps between validations. Default: 1,000."] = None
    batch: Annotated[int | None, "Questions of a step. Default: by size."] = None


class SuperClevrNetworks(Networks[Data]):
    """The paper's neural models."""

    benchmark = "super-clevr"
    models = PAPER
    options = Options
    examined = ("questions",)
    of_name = ("view",)
    free = ("steps", "validate_every", "fall", "warm_up")
    title = "Super-CLEVR"
    intro = INTRO
    note = "Percent of answers that are right."
    judged_by = "accuracy"
    known_splits = LEARNT
    known_networks = tuple(NAMES.values())

    # --- a run

    def study(self, job: Job, store: Store, engine: Engine) -> Data:
        return Data(scale_named(job.scale), job.data_seed, store, engine)

    def splits(self, study: Data) -> Sequence[str]:
        return LEARNT

    def know(self, study: Data, file: str) -> Sequence[str]:
        made = by_pairs(read_split(file, self.benchmark))
        if made.name in (*VARIANTS, *SAME) or study.made.setdefault(made.name, made).pairs != made.pairs:
            raise UserError(f"{file}: there is a split '{made.name}' already; give it another name")
        return [made.name]

    def data(self, job: Job, study: Data) -> dict[str, Any]:
        images = study.at(job.split).count("train")
        found: dict[str, Any] = {"questions": study.arrays_recipe(job.split, "train", job.options.about, images).digest}
        if job.made:
            found["held out"] = [list(pair) for pair in study.made[job.split].pairs]
        if self._looks_at_pictures(job):
            found["pictures"] = study.pictures_recipe(
                job.split, "train", picture_size(job.options.picture), images
            ).digest
        if job.options.view == "detections":
            found["detections"] = study.detections_recipe(job.split, "train", images, _parser(job)).digest
        return found

    def usual(self, model: str, options: Options) -> Training:
        chosen = (PAPER if options.size == "paper" else LAPTOP)[model]
        steps = options.steps or chosen.steps
        assert steps is not None
        chosen = replace(chosen, steps=steps, validate_every=min(options.validate_every or 1_000, steps))
        if options.size == "paper":
            return chosen
        return replace(chosen, fall=(round(FALLS * steps), steps), warm_up=min(WARM_UP, steps))

    def concerning(self, options: Options, model: str) -> Options:
        if model in BLIND:
            return replace(options, view="pixels", picture=PICTURE, noise=0.0, features="", parser="")
        return options

    def check(self, job: Job, study: Data) -> None:
        own = job.options
        if not job.made:
            learnt(job.split)
        elif own.about == "part":
            raise UserError("splits are made of questions about objects; leave about out")
        width, height = picture_size(own.picture)
        if min(width, height) < 32 or max(width, height) > 1_024:
            raise UserError(f"the sides of a picture have 32 to 1,024 pixels, not {own.picture}")
        if (own.view == "features") != bool(own.features):
            raise UserError("the view 'features', and no other, needs features: the folder that has them")
        if own.parser and own.view != "detections":
            raise UserError(f"the view '{own.view}' needs no parser; leave parser out, or choose the view detections")
        if own.view == "detections" and own.about == "part":
            raise UserError("detections are of objects; leave about out, or choose another view")
        if own.view == "detections":
            digest_of(_parser(job))
        if own.picture != PICTURE and own.view != "pixels":
            raise UserError(f"the view '{own.view}' shows no pictures; leave picture out")
        if not 0 <= own.noise < inf or (own.noise and own.view != "objects"):
            raise UserError(f"noise is a number above 0 for the view 'objects', not {own.noise:g} for '{own.view}'")
        if own.questions < 1:
            raise UserError(f"questions must be at least 1, not {own.questions}")
        if own.about == "part" and job.model in GIVEN_BOXES:
            raise UserError(f"{NAMES[job.model]} is given objects, not their parts; leave about out")
        if own.about == "part" and job.split == "easy":
            raise UserError("the variant 'easy' has no parts to ask about; choose another split")
        if job.model == NSCL and own.view == "features":
            raise UserError("NSCL is given the boxes of objects; choose the view pixels or objects")
        if job.model == MDETR and own.view != "pixels":
            raise UserError(f"mDETR finds objects in pictures; it cannot see the view '{own.view}'")
        if own.view == "features":
            for part in ("train", "val"):
                self.view(job, study, job.split, part, None)

    def size(self, jobs: Sequence[Job], study: Data) -> int:
        found: dict[str, int] = {}
        for job in jobs:
            places: list[tuple[str, Part]] = [(job.split, "train"), (job.split, "val")]
            places += [(variant, "test") for variant in _tests(job)]
            for variant, part in places:
                pipeline, about = study.at(variant), job.options.about
                images, size = pipeline.count(part), picture_size(job.options.picture)
                found[pipeline.scenes_recipe(part).digest] = pipeline.size_estimate((part,))
                asked = study.arrays_recipe(variant, part, about, images)
                found[asked.digest] = images * pipeline.each(about) * QUESTION_BYTES
                if self._looks_at_pictures(job) and not study.store.has(
                    drawn := study.pictures_recipe(variant, part, size, images)
                ):
                    found[drawn.digest] = images * size[0] * size[1] * 3
        return sum(found.values())

    def prepare(self, job: Job, study: Data) -> None:
        self._asked(job, study, job.split, "train")
        self._asked(job, study, job.split, "val")
        if job.model == MDETR:
            study.groundings(job.split, "train")
            study.groundings(job.split, "val", self._images(job, study, "val", VALIDATED))

    def version(self, model: str) -> int:
        return 2 if model == MDETR else 1

    def tested(self, job: Job, study: Data) -> dict[str, Any]:
        return {"questions": job.options.questions}

    def words(self, job: Job) -> tuple[str, ...]:
        return job.split, job.model

    def ending(self, job: Job) -> tuple[str, ...]:
        own = job.options
        said = [own.size] if own.size != "laptop" else []
        said += [own.view] if own.view != "pixels" else []
        said += [own.picture] if own.picture != PICTURE else []
        said += [f"noise{own.noise:g}"] if own.noise else []
        return (*said, *(["parts"] if own.about == "part" else []))

    def config(self, job: Job) -> dict[str, Any]:
        found = super().config(job)
        return found if job.options.parser else {name: value for name, value in found.items() if name != "parser"}

    def read(self, config: Mapping[str, Any], folder: Path) -> Job:
        return super().read({"parser": "", **config}, folder)

    def _looks_at_pictures(self, job: Job) -> bool:
        return job.model not in BLIND and job.options.view == "pixels"

    def _images(self, job: Job, study: Data, part: Part, questions: int) -> int:
        """How many images it takes for so many questions."""
        return min(-(-questions // study.at(job.split).each(job.options.about)), study.at(job.split).count(part))

    def _asked(self, job: Job, study: Data, variant: str, part: Part) -> tuple[Questions, Any]:
        """The questions of a part of a variant that a run asks, and how it sees their scenes."""
        asked = {"train": None, "val": VALIDATED, "test": job.options.questions}[part]
        images = None if asked is None else self._images(job, study, part, asked)
        return study.questions(variant, part, job.options.about, images), self.view(job, study, variant, part, images)

    def view(self, job: Job, study: Data, variant: str, part: Part, images: int | None) -> Any:
        """How a network sees the scenes of a part of a variant."""
        from recombine.solvers.views import DrawnPixels, FeatureMaps, Regions, detections, noisy, objects

        own = job.options
        if job.model in BLIND:
            return _Unseen(images or study.at(variant).count(part))
        if own.view == "features":
            return FeatureMaps(Path(own.features) / f"{study.base(variant)}-{part}.npy")
        if own.view == "objects":
            names = study.dialect("object").objects.attributes if own.about == "object" else None
            seen = objects(study.scenes(variant, part, images), names=names)
            return (
                noisy(seen, own.noise, Key(job.data_seed) / "super-clevr" / "noise" / study.base(variant) / part)
                if own.noise
                else seen
            )
        if own.view == "detections":
            return detections(*study.detections(variant, part, images, _parser(job)))
        size = picture_size(own.picture)
        pictures = study.pictures(variant, part, size, images)
        if job.model in GIVEN_BOXES:
            return Regions(pictures, size, WIDTHS)
        return DrawnPixels(pictures, size, *([WIDTHS] if own.size == "laptop" else []))

    def network(self, job: Job, study: Data) -> Any:
        from recombine.benchmarks.clevr.concepts import concept_language
        from recombine.solvers.networks import readers
        from recombine.solvers.networks.mdetr import AnswerKinds, Mdetr, MdetrPlan
        from recombine.solvers.networks.nscl import ConceptLearner, ConceptPlan
        from recombine.solvers.networks.program_generator import GeneratorPlan, ProgramGenerator
        from recombine.solvers.training.seeding import seeded

        own, key = job.options, job.key / "network"
        dialect, answers = study.dialect(own.about), len(study.answers(own.about))
        shape = self.view(job, study, job.split, "val", 1).shape
        if job.model == GENERATOR:
            writing = GeneratorPlan.paper if own.size == "paper" else GeneratorPlan
            with seeded(key):
                return ProgramGenerator(writing(len(study.vocabulary), len(functions_of(dialect))))
        if job.model == NSCL:
            plan = ConceptPlan.paper if own.size == "paper" else ConceptPlan
            with seeded(key):
                return ConceptLearner(plan(concept_language(dialect), shape))
        if job.model == MDETR:
            own_kinds = concept_language(dialect)
            values = tuple(n for n, value in enumerate(own_kinds.value) if value >= 0)
            kinds = AnswerKinds(own_kinds.truth, own_kinds.numbers, values)
            with seeded(key):
                return Mdetr(
                    (MdetrPlan.paper if own.size == "paper" else MdetrPlan)(len(study.vocabulary), kinds, shape)
                )
        small = {"width": NARROW} if shape.pixels and own.size == "laptop" and job.model != LSTM else {}
        return readers.build(
            job.model, own.size, len(study.vocabulary), functions_of(dialect), answers, shape, key, **small
        )

    def objective(self, job: Job, study: Data, network: Any) -> Any:
        from recombine.solvers.answering import AnswerObjective, ConceptObjective, alike
        from recombine.solvers.curriculum import LAPTOP as SHORT
        from recombine.solvers.curriculum import PAPER as LONG
        from recombine.solvers.curriculum import stages, steps_of
        from recombine.solvers.training.batches import Stage
        from recombine.solvers.views import must_fit

        (questions, view), (held, seen) = (self._asked(job, study, job.split, part) for part in ("train", "val"))
        if job.model == GENERATOR:
            return self._writing(job, study, network, questions, held)
        must_fit(view, seen.shape, "the view of training scenes")
        validation = partial(validated, job.model, seen, held)
        # Questions about one picture go together, so that it is looked at once.
        near = questions.image.astype(np.int64) if view.shape.pixels else alike(job.model, questions, view)
        if job.model == MDETR:
            return self._grounded(job, study, network, near, validation)
        if job.model != NSCL:
            return AnswerObjective(
                network, view, questions, (Stage(np.arange(len(questions)), alike=near),), validation
            )
        filters = frozenset(n for n, act in enumerate(network.plan.language.act) if act == "filter")
        steps, length = steps_of(questions.token, filters), job.training.steps
        assert length is not None
        lessons = LONG if job.options.size == "paper" else SHORT
        objects, key = view.cells(questions.image), job.key / "curriculum"
        found = stages(lessons, np.arange(len(questions)), objects, steps, near, length, job.training.batch, key)
        return ConceptObjective(network, view, questions, found, validation)

    def _writing(self, job: Job, study: Data, network: Any, questions: Questions, held: Questions) -> Any:
        """The generator's lesson: the program of a question, whatever there is to see."""
        from recombine.solvers.parsing import ProgramObjective, by_length, surprise
        from recombine.solvers.training.batches import Stage

        run = study.runner(job.split, "val", job.options.about, self._images(job, study, "val", VALIDATED))
        stages = (Stage(np.arange(len(questions)), alike=by_length(questions)),)
        return ProgramObjective(network, questions, stages, partial(parsing_validated, run, surprise, held))

    def _grounded(self, job: Job, study: Data, network: Any, near: np.ndarray, validation: Any) -> Any:
        """mDETR's two lessons: to find objects, by questions that speak of none twice; then to answer as well."""
        from recombine.solvers.answering import GroundedObjective, located
        from recombine.solvers.curriculum import early_stage
        from recombine.solvers.training.batches import Stage

        (questions, view), (held, seen) = (self._asked(job, study, job.split, part) for part in ("train", "val"))
        images = self._images(job, study, "val", VALIDATED)
        grounding, of_held = study.groundings(job.split, "train"), study.groundings(job.split, "val", images)
        share, length, many = GROUNDING[job.options.size], job.training.steps, len(questions)
        assert length is not None
        wanted = round(share * length) * job.training.batch
        alone = early_stage(np.flatnonzero(grounding.once()), wanted, near, job.key / "grounding")
        first = () if alone is None else (replace(alone, rows=alone.rows + many),)

        def validate(network: Any) -> dict[str, float]:
            return {**validation(network), "found": located(network, seen, held, of_held)}

        return GroundedObjective(
            network, view, questions, (*first, Stage(np.arange(many), alike=near)), validate, grounding=grounding
        )

    def examine(self, job: Job, study: Data, network: Any) -> dict[str, Any]:
        from recombine.solvers.training.loop import settled

        functions, found = functions_of(study.dialect(job.options.about)), {}
        with settled(job.training):
            network.to(job.training.device).eval()
            for variant in _tests(job):
                if job.options.about == "part" and variant == "easy":
                    continue
                questions, view = self._asked(job, study, variant, "test")
                answers = partial(answered, job.model, network, view)
                if job.model == GENERATOR:
                    images = self._images(job, study, "test", job.options.questions)
                    answers = partial(parsed, network, study.runner(variant, "test", job.options.about, images))
                found[variant] = tallied(questions, answers, functions, True)
        return {"scores": found, **self.tested(job, study)}

    # --- results

    def scores(self, results: Mapping[str, Any]) -> dict[str, dict[str, Interval]]:
        return scores(results)

    def published(self, group: Group) -> dict[str, dict[str, Published]]:
        found: dict[str, dict[str, Published]] = {}
        if NAMES[group.job.model] not in published.MODELS or group.job.options.about != "object":
            return found
        for factor, names in TRAINED.items():
            table = published.accuracy(NAMES[group.job.model], factor)
            for trained in (name for name, variant in names.items() if variant == group.job.split):
                for tested, variant in FACTORS[factor].items():
                    found.setdefault(variant, {"": table[tested][trained]})
        return found

    def printed(self, job: Job, config: Mapping[str, Any]) -> str:
        view = job.options.view if job.options.view != "pixels" else ""
        return f"{NAMES[job.model]} ({view})" if view else NAMES[job.model]

    def tables(self, outcomes: Outcomes) -> list[Table]:
        return tables(outcomes)

    def chapters(self, outcomes: Outcomes, reference: Mapping[str, Table]) -> list[Chapter]:
        return chapters(outcomes)


NETWORKS = SuperClevrNetworks()


def generator_of(folder: Path) -> Job:
    """The job of a generator's run."""
    job = job_of(read_config(folder), folder)
    if job.networks is not NETWORKS or job.model != GENERATOR:
        raise UserError(f"{folder} is no run of a generator of Super-CLEVR; train one: train super-clevr, generator")
    return job


def programs_written(folder: Path, texts: Sequence[str], dialect: Dialect) -> list[Expr | None]:
    """The programs that the generator of a run writes for questions; None where it writes no program."""
    from recombine.solvers.parsing import write
    from recombine.solvers.training.loop import devices, load_best, settled

    job, config = generator_of(folder), read_config(folder)
    study = Data(scale_named("demo"), 0, Store.default(), InProcess())  # words and functions are those of any scale
    own = study.dialect(job.options.about)
    if not set(functions_of(own).words) <= set(functions_of(dialect).words):
        raise UserError(f"{folder} writes programs about other vehicles or parts than these")
    network, training = NETWORKS.network(job, study), job.training.here(devices())
    load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    with settled(training):
        tokens = write(network.to(training.device).eval(), spoken(study.vocabulary, texts))
    formed = well_formed(lay_out(tokens, functions_of(own)), functions_of(own), tuple(own.answers))
    read = ProgramTokens(own).decode
    return [read(row) if whole else None for row, whole in zip(tokens, formed)]


def _tests(job: Job) -> tuple[str, ...]:
    """What a run is tested on: of a split that was made, what it holds out and the rest."""
    return (job.split, job.split + CONTROL) if job.made else tests_of(job.split)


def _parser(job: Job) -> Path:
    """The file of the parser that detects."""
    return Path(job.options.parser) if job.options.parser else Path(__file__).with_name("parser.safetensors")


class _Unseen:
    """What a network sees that does not look."""

    def __init__(self, images: int) -> None:
        from recombine.solvers.networks.cells import CellShape

        self.images, self.shape = images, CellShape(0, 0)

    def cells(self, images: np.ndarray) -> np.ndarray:
        return np.zeros(len(images), np.int64)

    def __call__(self, images: np.ndarray) -> Any:
        import torch

        from recombine.solvers.networks.cells import Cells

        return Cells(torch.zeros(len(images), 1, 0), torch.zeros(len(images), 1, 0))
