"""The paper's networks on ConceptWorld's experiments: one run is one network, one experiment, one seed.

A run trains on the experiment's training images, of which a tenth of every class is held back for validation, and is
tested with the weights that did best there. An experiment with a curriculum has a variant of it under its name with
`-curriculum`: its first classes are learnt alone for some epochs, then all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from recombine.benchmarks.concept_world import published
from recombine.benchmarks.concept_world.definition import Experiment
from recombine.benchmarks.concept_world.examples import Eye, examples
from recombine.benchmarks.concept_world.findings import CURRICULUM, FROM_SCRATCH, PRETRAINED, theirs, verdicts
from recombine.benchmarks.concept_world.made_experiments import atom, known_by, to_divide
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.benchmarks.concept_world.reader import load_library, read_file
from recombine.benchmarks.networks import Job, Networks, Published
from recombine.benchmarks.reference_scores import score_of
from recombine.benchmarks.run_tables import bar, score_table
from recombine.benchmarks.runs import Group, Outcomes
from recombine.metrics.confusion import confusion, f1
from recombine.metrics.intervals import Interval
from recombine.report.document import Chapter, Figure
from recombine.report.findings import Verdict
from recombine.report.score_charts import Confusion, confusion_chart, score_chart
from recombine.report.table import Column, Table
from recombine.solvers.training.settings import Training
from recombine.store.checksums import checksum
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.store.untrusted import read_text
from recombine.tasks.made_splits import read_split

PAPER = Training(batch=128, rate=1e-3, epochs=100, patience=10, least=1e-4)
MODELS = {
    "mlp": PAPER,
    "cnn": PAPER,
    "resnet": PAPER,
    "wren": replace(PAPER, rate=1e-5),
    "predinet": replace(PAPER, rate=1e-5, batch=64),
}
"""Appendix 2.1. It says that training stops early, not when: the patience is ours."""
PRINTED = {"mlp": "MLP", "cnn": "CNN", "resnet": PRETRAINED, "wren": "WReN", "predinet": "PrediNet"}
OWN = "own.concepts"
HELD_BACK = 0.1
"""The share of every class that validates a training (`solvers.pictures`, which needs PyTorch)."""
TABLES = {
    "sequences": "Table 4",
    "boxworld": "Table 6",
    "patterns": "Table 8",
    "substitution": "Table 10",
    "substitution" + CURRICULUM: "Table 11",
}
"""Where the paper prints the F1 of an experiment."""
FIGURES = {"sequences": "Figure 2b", "boxworld": "Figure 3a"}
"""Where the paper draws the mean F1."""
MATRICES = {
    ("boxworld", "length_5"): "Figure 3b is the panel of WReN.",
    ("patterns", "squares_4x4"): "Figure 4b is the panel of the MLP.",
    ("substitution", "one_substitution"): "Figure 5b is the panel of the ResNet, pretrained there.",
}
"""Where the paper draws a confusion matrix; it does not print its numbers."""


@dataclass(frozen=True)
class Options:
    """What only ConceptWorld's networks have."""

    epochs: Annotated[int | None, "The most epochs. Default: the paper's."] = None
    patience: Annotated[int | None, "Epochs without progress before it stops. Default: 10."] = None
    weights: Annotated[Path | None, "ResNet-18's ImageNet weights (.pth or .safetensors), to begin from."] = None
    concepts: Annotated[Path | None, "A .concepts file with experiments of your own."] = None


class ConceptWorldNetworks(Networks[ConceptWorldPipeline]):
    """The paper's five networks."""

    benchmark = "concept-world"
    models = MODELS
    options = Options
    of_name = ("weights", "concepts")
    title = "ConceptWorld"
    intro = (
        "The paper's five networks, trained on its four experiments and on the curriculum variant of the last, tested "
        "on longer rows and paths, larger squares and substituted parts. A score is the F1 of a class; the paper's "
        f"stand beside ours. {HELD_BACK:.0%} of every class is held back for validation."
    )
    highest = 1.0
    format = ".3f"
    note = "F1."
    judged_by = "loss"
    reference_note = (
        "The mean F1 over classes, with 95 % intervals over images. Nearest goes by the most similar training images, "
        "statistics is a logistic regression; both know only how many points there are of each colour. The definition "
        "learner is given the language with points, colours and relations, and looks for short definitions."
    )
    known_splits = tuple(TABLES)
    known_networks = (FROM_SCRATCH, *published.MODELS)

    # --- a run

    def study(self, job: Job, store: Store, engine: Engine) -> ConceptWorldPipeline:
        own = job.options.concepts
        library = None if own is None else read_file(Path(own), load_library())
        return ConceptWorldPipeline(job.scale, job.data_seed, store, library, engine.progress)

    def splits(self, study: ConceptWorldPipeline) -> tuple[str, ...]:
        """Every experiment of the paper, or every one of one's own, and its curriculum variant where it has one."""
        shipped = load_library().experiments
        own = [one for one in study.library.experiments.values() if one.name not in shipped]
        return _variants(own or shipped.values())

    def know(self, study: ConceptWorldPipeline, file: str) -> Sequence[str]:
        shipped = load_library().experiments
        own = [name for name in study.library.experiments if name not in shipped]
        return known_by(study, to_divide(study.library, own or shipped), read_split(file, self.benchmark, atom), file)

    def data(self, job: Job, study: ConceptWorldPipeline) -> str:
        return study.recipe(_base(job)).digest

    def concerning(self, options: Options, model: str) -> Options:
        """The weights are ResNet-18's."""
        own = None if options.concepts is None else Path(options.concepts).absolute()
        return replace(options, concepts=own, weights=options.weights if model == "resnet" else None)

    def check(self, job: Job, study: ConceptWorldPipeline) -> None:
        known = _variants([*study.library.experiments.values(), *study.made.values()])
        if job.split not in known:
            raise UserError(f"there is no experiment '{job.split}'; choose one of {', '.join(known)}")
        if job.options.weights is not None:
            _check_weights(Path(job.options.weights))

    def size(self, jobs: Sequence[Job], study: ConceptWorldPipeline) -> int:
        return study.size_estimate({_base(job) for job in jobs})

    def weights(self, job: Job, study: ConceptWorldPipeline) -> int:
        return sum(parameter.nbytes for parameter in self.network(job, study).parameters())

    def prepare(self, job: Job, study: ConceptWorldPipeline) -> None:
        study.folder(_base(job))

    def beside(self, job: Job) -> dict[str, str]:
        return {} if job.options.concepts is None else {OWN: read_text(Path(job.options.concepts))}

    def config(self, job: Job) -> dict[str, Any]:
        from recombine.solvers.networks.images import VERSION

        file = job.options.weights
        digest = None if file is None else checksum(Path(file))
        return {
            "experiment": job.split,
            "scale": job.scale,
            "images": job.data_seed,
            "data": None,
            "network": {"name": job.model, "version": VERSION, "weights": digest},
            "seed": job.seed,
        }

    def read(self, config: Mapping[str, Any], folder: Path) -> Job:
        own = Options(concepts=folder / OWN if (folder / OWN).exists() else None)
        network, data = config["network"]["name"], (config["scale"], config["images"])
        return Job("concept-world", config["experiment"], network, config["seed"], *data, own)

    def network(self, job: Job, study: ConceptWorldPipeline) -> Any:
        from recombine.solvers.networks.images import build

        grid, classes, weights = study.library.grid, study.experiment(_base(job)).classes, job.options.weights
        if grid.width != grid.height:
            raise UserError(f"the networks look at square images, not at {grid.width}x{grid.height}; use a square grid")
        return build(
            job.model, grid.width, len(classes), job.key / "network", None if weights is None else Path(weights)
        )

    def objective(self, job: Job, study: ConceptWorldPipeline, network: Any) -> Any:
        from recombine.solvers.pictures import classes

        experiment = study.experiment(_base(job))
        staged = job.split.endswith(CURRICULUM)
        first, epochs = (experiment.first, experiment.first_epochs) if staged else ((), 0)
        return classes(network, _eye(study), examples(study, _base(job), "train"), job.key, first, epochs)

    def solver(self, job: Job, study: ConceptWorldPipeline, network: Any) -> Any:
        from recombine.solvers.pictures import PictureSolver

        return PictureSolver(network, _eye(study), job.training)

    def examine(self, job: Job, study: ConceptWorldPipeline, network: Any) -> dict[str, Any]:
        from recombine.solvers.pictures import answer

        experiment, found = study.experiment(_base(job)), {}
        for name in experiment.tests:
            asked = examples(study, _base(job), name)
            said = answer(network, _eye(study), asked.observed(), job.training).argmax(axis=1)
            found[name] = confusion(asked.asked, said, len(experiment.classes))
        return {
            "classes": list(experiment.classes),
            "confusion": {name: matrix.tolist() for name, matrix in found.items()},
            "f1": {name: f1(matrix).tolist() for name, matrix in found.items()},
        }

    # --- results

    def scores(self, results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
        return {test: dict(zip(results["classes"], values, strict=True)) for test, values in results["f1"].items()}

    def published(self, group: Group) -> dict[str, dict[str, Published]]:
        return {test: dict(zip(group.classes, theirs(group.job.split, test, group.network))) for test in group.tests}

    def printed(self, job: Job, config: Mapping[str, Any]) -> str:
        scratch = job.model == "resnet" and config["network"]["weights"] is None
        return FROM_SCRATCH if scratch else PRINTED[job.model]

    def expected(self, there: Sequence[str]) -> Sequence[str]:
        return [name for name in self.known_networks if name != (PRETRAINED if FROM_SCRATCH in there else FROM_SCRATCH)]

    def reference(self, job: Job, study: ConceptWorldPipeline) -> dict[str, Any]:
        """Of the paper's experiments alone."""
        if job.options.concepts is not None or job.made:
            return {}
        return {"split": _base(job), "data": self.data(job, study), "scale": job.scale, "seed": job.data_seed}

    def sat(self, row: Mapping[str, Any]) -> dict[str, Interval]:
        return {row["test"].partition("/")[2]: score_of(row, "F1", 0.01)}

    def told(self, results: Mapping[str, Any]) -> list[Table]:
        """What was taken for what."""
        classes = results["classes"]
        columns = (Column("is"), *(Column(f"said {name}", "right") for name in classes))
        return [
            Table(f"{test}: what was taken for what", columns, tuple((name, *row) for name, row in zip(classes, rows)))
            for test, rows in results["confusion"].items()
        ]

    def tables(self, outcomes: Outcomes) -> list[Table]:
        return [_score_table(world, groups) for world, groups in outcomes.worlds()]

    def verdicts(self, outcomes: Outcomes) -> list[Verdict]:
        return verdicts(outcomes)

    def chapters(self, outcomes: Outcomes, reference: Mapping[str, Table]) -> list[Chapter]:
        distances = agreement(outcomes)
        parts = [Chapter("Ours minus the paper's", (distances,))] if distances.rows else []
        for world, groups in outcomes.worlds():
            others = [reference[world]] if world in reference else []
            parts.append(Chapter(world, (_score_table(world, groups), *others, *figures(groups))))
        return parts


NETWORKS = ConceptWorldNetworks()


def _variants(known: Iterable[Experiment]) -> tuple[str, ...]:
    return tuple(name for one in known for name in (one.name, one.name + CURRICULUM)[: 2 if one.first_epochs else 1])


def _base(job: Job) -> str:
    """The experiment whose images are used."""
    return job.split.removesuffix(CURRICULUM)


def _eye(study: ConceptWorldPipeline) -> Eye:
    return Eye(study.library.grid.width, study.library.grid.height)


@cache
def _check_weights(file: Path) -> None:
    """Refuse a file of weights that no ResNet can begin from."""
    from recombine.solvers.networks.images import build

    build("resnet", 32, 2, Key(0), file)


# --- tables and figures


def _score_table(world: str, groups: Sequence[Group]) -> Table:
    split = groups[0].job.split
    title = f"{TABLES[split]}: ConceptWorld, {world}" if split in TABLES else f"ConceptWorld, {world}"
    table = score_table(title, groups, {})
    pretrained = any(group.network == FROM_SCRATCH for group in groups) and split != "sequences"
    said = f"{table.note} The paper's ResNet is the pretrained one here: it prints no other."
    return replace(table, note=said) if pretrained else table


def agreement(outcomes: Outcomes) -> Table:
    """How near the mean F1 of each network comes to the paper's: the mean distance over the tests of an experiment."""
    groups = outcomes.as_published().compared
    names = tuple(dict.fromkeys(group.network for group in groups))
    rows = [
        (
            split,
            *(_distance([one for one in groups if (one.job.split, one.network) == (split, name)]) for name in names),
        )
        for split in dict.fromkeys(group.job.split for group in groups)
    ]
    columns = (Column("experiment"), *(Column(name, "right", "+.3f") for name in names))
    note = "The mean F1 over classes minus the paper's, averaged over the tests: above zero, ours does better."
    note += " The paper's ResNet is pretrained, but for sequences; ours is not." if FROM_SCRATCH in names else ""
    return Table("", columns, tuple(rows), note)


def _distance(groups: Sequence[Group]) -> float | None:
    pairs = [(group.of(test).mean(), group.paper(test)) for group in groups for test in group.tests]
    known = [ours - paper for ours, paper in pairs if isinstance(paper, float)]
    return float(np.mean(known)) if known else None


def figures(groups: Sequence[Group]) -> list[Figure]:
    """The mean F1 on each test, or the F1 of each class where there is one test, and the confusion matrices."""
    return [_scores(groups), *_matrices(groups)]


def _file(group: Group, what: str) -> str:
    return f"{group.world.replace(', ', '-').replace(' ', '-')}-{what}"


def _scores(groups: Sequence[Group]) -> Figure:
    split, tests = groups[0].job.split, groups[0].tests
    if len(tests) > 1:
        parts = [(test, [bar(group, test) for group in groups]) for test in tests]
        said = f"F1, the mean over classes ({FIGURES[split]})" if split in FIGURES else "F1, mean over classes"
    else:
        parts = [(label, [bar(group, tests[0], label) for group in groups]) for label in groups[0].classes]
        said = f"F1 of each class, {tests[0]}"
    scratch = any(group.network == FROM_SCRATCH for group in groups) and split != "sequences"
    caption = f"{said}; the paper's in brackets." + (" Its ResNet is pretrained, ours is not." if scratch else "")
    return Figure.drawn(_file(groups[0], "f1"), caption, partial(score_chart, parts, f"{groups[0].world}: {said}"))


def _matrices(groups: Sequence[Group]) -> Iterator[Figure]:
    first = groups[0]
    for test in first.tests:
        panels = [Confusion(group.name, _confusion(group, test)) for group in groups]
        title = f"{first.world}, {test}: what was taken for what"
        said = [f"What was taken for what on {test}, summed over seeds.", MATRICES.get((first.job.split, test), "")]
        said += [f"* {FROM_SCRATCH}." if any(group.network == FROM_SCRATCH for group in groups) else ""]
        draw = partial(confusion_chart, first.classes, panels, title)
        yield Figure.drawn(_file(first, test), " ".join(filter(None, said)), draw)


def _confusion(group: Group, test: str) -> np.ndarray:
    """How often each class was taken for which, summed over seeds, int[classes, classes]."""
    return np.sum([run.results["confusion"][test] for run in group.runs], axis=0)
