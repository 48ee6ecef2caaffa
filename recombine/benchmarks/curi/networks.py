"""CURI's prototype networks: train them, test them, and put many runs into the paper's Table 2."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recombine.benchmarks.curi import training
from recombine.benchmarks.curi.edition import edition as edition_of
from recombine.benchmarks.curi.network_pages import markdown_page, tables
from recombine.benchmarks.curi.runs import METRICS, Group, Oracles, named, read_groups, world_of
from recombine.benchmarks.curi.study import Setup, Study
from recombine.benchmarks.curi.study import scale as scale_of
from recombine.benchmarks.curi.training import Job
from recombine.benchmarks.reference_scores import beside, score_of, solver_of
from recombine.metrics.intervals import Interval
from recombine.report.table import Column, Table
from recombine.report.times import time_of
from recombine.report.training_progress import Teller
from recombine.solvers.jobs import train_all
from recombine.solvers.kinds import PICTURE, POOLINGS
from recombine.solvers.records import read_config, read_results
from recombine.solvers.training import Training
from recombine.store.engine import Progress, engine, silent
from recombine.store.errors import UserError
from recombine.store.outputs import folder_for_runs, free_file, positive
from recombine.store.store import Store
from recombine.tasks.episodes import Negatives


@dataclass(frozen=True)
class _Learn:
    """Does a job in a process of its own, with the places it needs."""

    home: Path
    out: Path
    episodes: int

    def __call__(self, job: Job) -> Path:
        teller = Teller(job.name, where=job.training.where)
        return training.learn(job, _study(job, Store(self.home)), self.out, teller, self.episodes)


def train(
    splits: Sequence[str] = (),
    models: Sequence[str] = (),
    *,
    modality: str = "schema",
    negatives: Negatives = "hard",
    alpha: float = 0.0,
    edition: str = "release",
    size: tuple[int, int] = PICTURE,
    seed: int = 0,
    seeds: int = 1,
    out: str | Path = "runs",
    scale: str = "paper",
    data_seed: int = 0,
    workers: int = 1,
    steps: int | None = None,
    validate_every: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    device: str = "cpu",
    precision: str = "float32",
    episodes: int = training.TESTED,
    store: Store | None = None,
    progress: Progress = silent,
) -> Table:
    """Train networks, each split with each pooling from each of so many seeds; what is done already is kept."""
    positive(workers=workers, seeds=seeds, episodes=episodes)
    place, store = folder_for_runs(out), store or Store.default()
    chosen = _training(modality, steps, validate_every, batch, rate, device, precision)
    job = Job("", "", modality, negatives, alpha, 0, edition, scale, data_seed, size, chosen)
    with engine(workers, progress) as running:
        study = _study(job, store)
        study.engine = running
        jobs = [
            replace(job, split=split, pooling=pooling, seed=number)
            for number in range(seed, seed + seeds)
            for split in dict.fromkeys(splits or study.usable_splits())
            for pooling in dict.fromkeys(models or POOLINGS)
        ]
        for one in jobs:
            training.check(one, study, place)
        for split in dict.fromkeys(one.split for one in jobs):  # once, before several processes would each make them
            for part in (*training.LEARNT, "test"):
                study.episodes_folder(split, part, negatives)
        return _runs_table(train_all(running, _Learn(store.home, place, episodes), jobs))


def _training(
    modality: str,
    steps: int | None,
    validate_every: int | None,
    batch: int | None,
    rate: float | None,
    device: str,
    precision: str,
) -> Training:
    """The paper's settings, shorter by default, with those that were given in their place."""
    if modality not in training.SETTINGS:
        raise UserError(f"there is no modality '{modality}'; choose one of {', '.join(training.SETTINGS)}")
    steps = training.STEPS if steps is None else steps
    every = min(training.VALIDATE_EVERY, steps) if validate_every is None else validate_every
    given: dict[str, Any] = {"steps": steps, "batch": batch, "rate": rate}
    given |= {"validate_every": every, "device": device, "precision": precision}
    return replace(training.SETTINGS[modality], **{name: value for name, value in given.items() if value is not None})


def _study(job: Job, store: Store) -> Study:
    return Study(Setup(edition_of(job.edition), scale_of(job.scale), job.data_seed), store)


def _runs_table(found: Sequence[tuple[str, dict[str, Any]]]) -> Table:
    names = ("steps", "mAP", "accuracy", "CPU")
    columns = (Column("run"), *(Column(name, "right") for name in names))
    rows = tuple(
        (
            name.removeprefix("curi-"),
            one["steps"],
            *(100 * one["scores"][metric]["value"] for metric in ("mAP", "accuracy")),
            time_of(one["cpu_seconds"]),
        )
        for name, one in found
    )
    return Table("Runs of curi", columns, rows, "Percent. recombine eval RUN tells more of one of them.")


def _percent(score: dict[str, float]) -> Interval:
    return Interval(*(100 * score[bound] for bound in ("value", "low", "high")))


def evaluate(
    run: str | Path, episodes: int | None = None, store: Store | None = None, progress: Progress = silent
) -> list[Table]:
    """Test a run again with its best weights, on so many test episodes, by default as many as before."""
    folder = Path(run)
    before = (read_results(folder) or {}).get("episodes", training.TESTED)
    job = training.job_of(read_config(folder), folder)
    study = _study(job, store or Store.default())
    study.engine.progress = progress
    found = training.evaluate(folder, study, before if episodes is None else episodes)
    ideal = study.gaps(job.split, job.negatives)
    columns = tuple(Column(name, "left" if name == "score" else "right") for name in ("score", "this run", *ORACLES))
    rows = tuple(
        (name, _percent(score), *(getattr(ideal[name], who) for who in ORACLES.values()))
        for name, score in found["scores"].items()
    )
    title = f"{job.modality} {job.pooling} on {job.split}, {job.negatives} negatives"
    note = f"Percent. {found['episodes']:,} test episodes (the oracles: all {study.setup.episodes('test'):,}), "
    note += f"{found['parameters']:,} parameters, best at step {found['best_step']:,}."
    made = [Table(title, columns, rows, note)]
    return [*made, _written(found["written"])] if found["written"] else made


BESIDE = 200
"""The test episodes of baselines on a page."""
ORACLES = {"weak oracle": "weak", "strong oracle": "strong"}
JUDGED = {"well_formed": "well formed", "consistent": "consistent with the support", "synonym": "synonyms of the truth"}


def _written(found: dict[str, Any]) -> Table:
    said = ", ".join(f"{100 * found[name]:.1f} % {words}" for name, words in JUDGED.items())
    rows = tuple(row for meant, text in found["examples"] for row in (("meant", meant), ("written", text)))
    return Table("Concepts", (Column(""), Column("concept")), rows, f"Of {found['episodes']:,} written: {said}.")


def table(runs: str | Path = "runs", store: Store | None = None, progress: Progress = silent) -> list[Table]:
    """The finished runs of a folder as the paper's Table 2, beside the oracles."""
    groups = read_groups(Path(runs))
    return tables(groups, oracles(groups, store or Store.default(), progress))


def brief(table: Table) -> Table:
    """What does not differ goes into the note."""
    return table.without_what_all_share("steps", "seeds")


def results_page(runs: str | Path, out: str | Path, store: Store | None = None, progress: Progress = silent) -> Path:
    """The results page of the finished runs of a folder, as Markdown with figures beside it."""
    groups, file = read_groups(Path(runs)), free_file(out, (".md",))
    store = store or Store.default()
    markdown_page(groups, oracles(groups, store, progress), _beside(groups, store, progress), file)
    return file


def _beside(groups: Sequence[Group], store: Store, progress: Progress) -> Table:
    """Baselines and ideal learners on the first test episodes of these runs."""
    rows = []
    for job in {world_of(group.job): group.job for group in groups}.values():
        data = _study(job, store).episodes_recipe(job.split, "test", job.negatives).digest
        world = {"scale": job.scale, "edition": job.edition, "seed": job.data_seed, "negatives": job.negatives}
        found = beside("curi", job.split, data, store, progress, **world, episodes=BESIDE)
        rows += [{**row, "test": named(job)} for row in found]
    note = (
        f"Percent, with 95 % intervals over the first {BESIDE} test episodes. Nearest goes by the most similar support "
        "scenes, statistics is a logistic regression; both know only how many objects have each value, and learn from "
        "the support alone."
    )
    columns = (Column("split"), Column("solver"), *(Column(metric, "right") for metric in METRICS))
    cells = tuple((row["test"], solver_of(row), *(score_of(row, metric) for metric in METRICS)) for row in rows)
    return Table("Baselines and ideal learners", columns, cells, note)


def oracles(groups: Sequence[Group], store: Store, progress: Progress = silent) -> Oracles:
    """What the ideal learners score on the test episodes of these runs."""
    found = {}
    for job in {world_of(group.job): group.job for group in groups}.values():
        study = _study(job, store)
        study.engine.progress = progress
        found[world_of(job)] = study.gaps(job.split, job.negatives)
    return found
