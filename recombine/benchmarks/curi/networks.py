"""CURI's prototype networks: one run is one modality, pooling, split, kind of negatives and seed.

A run learns from the training episodes of its split and is validated every so many steps on validation episodes: loss,
accuracy, and average precision on the large set of scenes, which decides the best weights. These are then examined on
test episodes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

from recombine.benchmarks.curi import published
from recombine.benchmarks.curi.edition import edition
from recombine.benchmarks.curi.exam import exam
from recombine.benchmarks.curi.findings import verdicts
from recombine.benchmarks.curi.pipeline import CuriPipeline, Part, Setup
from recombine.benchmarks.curi.pipeline import scale as scale_of
from recombine.benchmarks.curi.validation import Validation, words_of, written
from recombine.benchmarks.networks import Job, Networks, Published
from recombine.benchmarks.reference_scores import score_of
from recombine.benchmarks.run_tables import bar, curve_figure, growth_table, levels, score_table
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.intervals import Interval
from recombine.render.rendering import picture_size
from recombine.report.document import Chapter, Figure
from recombine.report.findings import Verdict
from recombine.report.score_charts import score_chart
from recombine.report.table import Cell, Column, Table
from recombine.solvers.kinds import MODALITIES, PICTURE, POOLINGS
from recombine.solvers.training.settings import Training
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.store import Store
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
VALIDATE_EVERY = 500
LEARNT: tuple[Part, ...] = ("train", "validation")
METRICS = ("mAP", "accuracy")
DATA = {"negatives": "hard", "edition": "release"}
"""What most of the paper's networks learnt from."""
WRITTEN = 500
"""Test episodes whose concept is written out."""
REFERENCE = 200
"""The test episodes of baselines."""
JUDGED = {"well_formed": "well formed", "consistent": "consistent with the support", "synonym": "synonyms of the truth"}
INTRO = (
    "Prototype networks that learn CURI's concepts from five positive and twenty negative scenes, scored on held-out "
    "concepts beside the paper's networks and the ideal learners: the strong oracle knows every concept, the weak one "
    "only the training concepts. What is tested are the weights that did best on validation episodes; as in the "
    "released code these are other episodes of the same held-out concepts (but for Instance IID and Concept IID), so "
    "the choice of the moment has seen them. Our runs are far shorter than the paper's. "
    "Repeating `make table-curi` adds what is missing."
)
FOUND = (
    "By the mAP of networks on schemas with hard negatives (sections of the ICLR text). The paper's were trained for a "
    "million steps: what does not hold after fewer may hold later."
)


@dataclass(frozen=True)
class Options:
    """What only CURI's networks have."""

    modality: Annotated[Literal["schema", "image", "sound"], "How scenes are seen."] = "schema"
    negatives: Annotated[Negatives, "hard: scenes that a rival explanation accepts; easy: random scenes."] = "hard"
    alpha: Annotated[float, "How much writing the concept counts."] = 0.0
    edition: Annotated[Literal["paper", "release"], "As the papers say, or as the released code and its networks."] = (
        "paper"
    )
    size: Annotated[str, "Width and height of images."] = "{}x{}".format(*PICTURE)
    episodes: Annotated[int, "Test episodes of a run, at most."] = 2_000
    steps: Annotated[int, "How many steps, up to the next validation."] = 5_000
    validate_every: Annotated[int | None, "Steps between validations. Default: 500."] = None
    batch: Annotated[int | None, "Episodes of a step. Default: the paper's."] = None
    decay: Annotated[bool, "Let the rate fall to zero over the second half of the steps, as a cosine does."] = False


class CuriNetworks(Networks[CuriPipeline]):
    """The paper's four poolings, on three modalities."""

    benchmark = "curi"
    models = dict.fromkeys(POOLINGS, PAPER)
    options = Options
    examined = ("episodes",)
    of_data = DATA
    of_name = ("modality",)
    free = ("steps", "validate_every", "fall")
    title = "CURI"
    intro, found = INTRO, FOUND
    note = "Percent; the paper's with the standard deviation of three runs of a million steps (sound: half a million)."
    judged_by = "mAP"
    reference_note = (
        f"Percent, with 95 % intervals over the first {REFERENCE} test episodes. Nearest goes by the most similar "
        "support scenes, statistics is a logistic regression; both know only how many objects have each value, and "
        "learn from the support alone."
    )
    known_splits = published.SPLITS
    known_networks = tuple(f"{modality} {pooling}" for modality in MODALITIES for pooling in POOLINGS)

    # --- a run

    def study(self, job: Job, store: Store, engine: Engine) -> CuriPipeline:
        return CuriPipeline(Setup(edition(job.options.edition), scale_of(job.scale), job.data_seed), store, engine)

    def splits(self, study: CuriPipeline) -> Sequence[str]:
        return study.usable_splits()

    def know(self, study: CuriPipeline, file: str) -> Sequence[str]:
        return [study.split(file).name]

    def data(self, job: Job, study: CuriPipeline) -> dict[str, str]:
        return {part: study.episodes_recipe(job.split, part, job.options.negatives).digest for part in LEARNT}

    def usual(self, model: str, options: Options) -> Training:
        fall = (options.steps // 2, options.steps) if options.decay else None
        return replace(SETTINGS[options.modality], validate_every=min(VALIDATE_EVERY, options.steps), fall=fall)

    def check(self, job: Job, study: CuriPipeline) -> None:
        if not 0 <= job.options.alpha < inf:
            raise UserError(f"alpha must be a number of at least 0, such as 1, not {job.options.alpha:g}")
        picture_size(job.options.size)
        if job.options.episodes < 1:
            raise UserError(f"episodes must be at least 1, not {job.options.episodes}")
        study.split(job.split)

    def size(self, jobs: Sequence[Job], study: CuriPipeline) -> int:
        return study.size_estimate((*LEARNT, "test"), len({job.split for job in jobs}), 1)

    def prepare(self, job: Job, study: CuriPipeline) -> None:
        for part in (*LEARNT, "test"):
            study.episodes_folder(job.split, part, job.options.negatives)

    def tested(self, job: Job, study: CuriPipeline) -> dict[str, int]:
        return {"episodes": min(job.options.episodes, study.setup.episodes("test"))}

    def words(self, job: Job) -> tuple[str, ...]:
        return job.options.modality, job.model, job.split, job.options.negatives

    def ending(self, job: Job) -> tuple[str, ...]:
        return (f"alpha{job.options.alpha:g}",) if job.options.alpha else ()

    def config(self, job: Job) -> dict[str, Any]:
        from recombine.solvers.networks.prototype import VERSION

        own = job.options
        network = {"modality": own.modality, "pooling": job.model, "size": list(picture_size(own.size))}
        return {
            "split": job.split,
            "negatives": own.negatives,
            "edition": own.edition,
            "scale": job.scale,
            "data_seed": job.data_seed,
            "network": {**network, "version": VERSION[job.model]},
            "alpha": own.alpha,
            "seed": job.seed,
        }

    def read(self, config: Mapping[str, Any], folder: Path) -> Job:
        network, size = config["network"], "{}x{}".format(*config["network"]["size"])
        own = Options(network["modality"], config["negatives"], config["alpha"], config["edition"], size)
        data = config["scale"], config["data_seed"]
        return Job("curi", config["split"], network["pooling"], config["seed"], *data, own)

    def modality(self, job: Job, study: CuriPipeline) -> Any:
        from recombine.solvers.modalities import Modality

        return Modality(job.options.modality, picture_size(job.options.size), study.setup.edition.first_bin)

    def network(self, job: Job, study: CuriPipeline) -> Any:
        from recombine.solvers.networks.prototype import Plan, build

        words = len(words_of(study)) if job.options.alpha else 0
        shape, norm = self.modality(job, study).shape(study.scenes), study.setup.edition.relation_norm
        return build(Plan(job.options.modality, job.model, shape, norm, words), job.key / "network")

    def objective(self, job: Job, study: CuriPipeline, network: Any) -> Any:
        from recombine.solvers.prototypes import EpisodeObjective

        own, seen = job.options, self.modality(job, study).open(study.scenes)
        validation = Validation(study, job.split, own.negatives, own.modality)
        texts = words_of(study).numbers(study.space.concepts) if own.alpha else None
        episodes = study.episodes(job.split, "train", own.negatives)
        return EpisodeObjective(network, seen, episodes, validation, own.alpha, texts)

    def solver(self, job: Job, study: CuriPipeline, network: Any) -> Any:
        from recombine.solvers.prototypes import PrototypeSolver

        return PrototypeSolver(network, self.modality(job, study), job.training)

    def examine(self, job: Job, study: CuriPipeline, network: Any) -> dict[str, Any]:
        from recombine.solvers.sitting import sit
        from recombine.solvers.training.loop import settled

        episodes, modality = self.tested(job, study)["episodes"], self.modality(job, study)
        solver = self.solver(job, study, network)
        found = sit(solver, exam(study, job.split, job.options.negatives, episodes), job.name)
        said = None
        if job.options.alpha:
            columns = study.episodes(job.split, "test", job.options.negatives)
            some = Episodes(*(column[: min(episodes, WRITTEN)] for column in columns))
            with settled(job.training):
                said = written(study, some, network, modality.open(study.scenes))
        scores = {name: value.plain() for name, value in found.scores.items()}
        return {"scores": scores, "episodes": episodes, "written": said}

    # --- results

    def scores(self, results: Mapping[str, Any]) -> dict[str, dict[str, Interval]]:
        return {metric: {"": score_of(results["scores"], metric, 100)} for metric in METRICS}

    def published(self, group: Group) -> dict[str, dict[str, Published]]:
        """What the paper prints of this network, unless ours learns from other data."""
        own, network = group.job.options, (group.job.options.modality, group.job.model)
        if own.edition != "release":
            return {}
        known = published.NETWORKS if own.negatives == "hard" else published.EASY
        rows = {metric: known.get(metric, {}).get(network, {}) for metric in METRICS}
        return {metric: {"": row[group.job.split]} for metric, row in rows.items() if group.job.split in row}

    def printed(self, job: Job, config: Mapping[str, Any]) -> str:
        return f"{job.options.modality} {job.model}"

    def expected(self, there: Sequence[str]) -> Sequence[str]:
        return self.known_networks[: len(POOLINGS)]

    def ideal(self, job: Job, study: CuriPipeline) -> dict[str, dict[str, float]]:
        gaps = study.gaps(job.split, job.options.negatives)
        return {name: {"weak oracle": one.weak.value, "strong oracle": one.strong.value} for name, one in gaps.items()}

    def reference(self, job: Job, study: CuriPipeline) -> dict[str, Any]:
        if job.made:
            return {}
        data = study.episodes_recipe(job.split, "test", job.options.negatives).digest
        own = {"edition": job.options.edition, "negatives": job.options.negatives, "episodes": REFERENCE}
        return {"split": job.split, "data": data, "scale": job.scale, "seed": job.data_seed, **own}

    def sat(self, row: Mapping[str, Any]) -> dict[str, Interval]:
        return {metric: score_of(row, metric) for metric in METRICS}

    def told(self, results: Mapping[str, Any]) -> list[Table]:
        found = results["written"]
        if not found:
            return []
        said = ", ".join(f"{100 * found[name]:.1f} % {words}" for name, words in JUDGED.items())
        rows = tuple(row for meant, text in found["examples"] for row in (("meant", meant), ("written", text)))
        note = f"Of {found['episodes']:,} written: {said}."
        return [Table("Concepts", (Column(""), Column("concept")), rows, note)]

    def tables(self, outcomes: Outcomes) -> list[Table]:
        scores = [score_table(f"Table 2, {one}", outcomes.groups, outcomes.ideal, [one]) for one in METRICS]
        noisy = "On 200 episodes (image and sound: 64, and a 64th of the scenes), so noisier than the tests."
        return [*scores, *filter(None, (growth_table(outcomes.groups, noisy), written_table(outcomes.groups)))]

    def verdicts(self, outcomes: Outcomes) -> list[Verdict]:
        return verdicts(outcomes)

    def chapters(self, outcomes: Outcomes, reference: Mapping[str, Table]) -> list[Chapter]:
        curves = (curve_figure(world, groups, outcomes.ideal) for world, groups in outcomes.worlds())
        figures = [*(_figure(outcomes, metric) for metric in METRICS), *filter(None, curves)]
        return [
            Chapter("Scores", (*self.tables(outcomes), *examples_tables(outcomes.groups), *reference.values())),
            Chapter("Figures", tuple(figures)),
        ]


NETWORKS = CuriNetworks()


def _figure(outcomes: Outcomes, metric: str) -> Figure:
    """Figure 3 of the paper: networks, and the oracles as lines."""
    parts = [(world, [bar(group, metric) for group in groups]) for world, groups in outcomes.worlds()]
    lines = {world: levels(outcomes.ideal, world, metric) for world, _ in parts}
    said = f"Figure 3, {metric}, percent: networks, and the oracles as lines; the paper's in brackets."
    return Figure.drawn(f"figure-3-{metric}", said, partial(score_chart, parts, said, metric, 100.0, lines))


def written_table(groups: Sequence[Group]) -> Table | None:
    """What the concept decoders wrote, judged by the parser."""
    columns = (Column("split"), Column("network"), *(Column(name, "right") for name in ("episodes", *JUDGED.values())))
    rows = tuple(_written(group) for group in groups if group.job.options.alpha)
    gain, error = published.LANGUAGE_GAIN
    note = (
        "Percent of test episodes; the first seed. Most likely word by word. In the paper, learning to write brings "
        f"{gain} ± {error} points of mAP on average over splits and networks, and no significant gain on Counting."
    )
    return Table("Concepts that were written", columns, rows, note) if rows else None


def _written(group: Group) -> tuple[Cell, ...]:
    found = group.runs[0].results["written"]
    return group.world, group.name, found["episodes"], *(100 * found[name] for name in JUDGED)


def examples_tables(groups: Sequence[Group], most: int = 4) -> list[Table]:
    """A few of them beside what was meant."""
    rows = tuple(
        (group.world, meant, said)
        for group in groups
        if group.job.options.alpha
        for meant, said in group.runs[0].results["written"]["examples"][:most]
    )
    return [Table("Some of them", tuple(map(Column, ("split", "meant", "written"))), rows)] if rows else []
