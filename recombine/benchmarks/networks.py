"""Networks: what a benchmark brings that has some, and how one of them is trained and tested.

A *job* is one run: a network, what it learns from, how, and from which seed. Its folder is found again when the job is
repeated: a training goes on where it was stopped, and what is finished is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import reduce
from operator import truediv
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from recombine import benchmarks
from recombine.metrics.intervals import Interval
from recombine.report.document import Chapter
from recombine.report.findings import Verdict
from recombine.report.table import Table
from recombine.solvers.training.records import (
    SPLIT,
    as_written,
    identity_of,
    last_measured,
    read_config,
    read_results,
    write_results,
)
from recombine.solvers.training.settings import LENGTH, Training, need_torch
from recombine.store.engine import Engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.paths import within
from recombine.store.room import need_room as need_room_at
from recombine.store.room import same_disk
from recombine.store.store import Store
from recombine.store.untrusted import read_text

if TYPE_CHECKING:
    from torch import nn

    from recombine.benchmarks.runs import Group, Outcomes
    from recombine.solvers.sitting import Answering
    from recombine.solvers.training.loop import Objective, Watch
    from recombine.solvers.training.run import Run

S = TypeVar("S")
"""What opens the data of a benchmark."""
SETTINGS = tuple(one.name for one in fields(Training))
Published = float | tuple[float, float | None]
"""A printed score, and its spread where that is printed too."""


@dataclass(frozen=True)
class Options:
    """The options of a benchmark that has none of its own."""


@dataclass(frozen=True)
class Job:
    """One run: what is trained, on what, from which seed."""

    benchmark: str
    split: str = ""
    model: str = ""
    seed: int = 0
    scale: str = "paper"
    data_seed: int = 0
    options: Any = field(default_factory=Options)
    training: Training = field(default_factory=Training)
    made: str = ""
    """The file of the split, where it was made automatically."""

    @property
    def networks(self) -> Networks[Any]:
        return networks_of(self.benchmark)

    @property
    def name(self) -> str:
        """That of its folder."""
        return "-".join([self.benchmark, *self.networks.words(self), *self.networks.ending(self), str(self.seed)])

    @property
    def key(self) -> Key:
        return reduce(truediv, (self.benchmark, *self.networks.words(self)), Key(self.seed))


class Networks(ABC, Generic[S]):
    """What a benchmark with networks brings: its folder has a `networks.py` with one of these, called NETWORKS."""

    benchmark: ClassVar[str]
    models: ClassVar[Mapping[str, Training]]
    """The settings of each network, as the paper has them."""
    options: ClassVar[type[Any]] = Options
    """A frozen dataclass of the options that no other benchmark has, each with a default and a help text (Annotated).

    An option with the name of a setting of `Training` takes its place, unless it is None.
    """
    examined: ClassVar[tuple[str, ...]] = ()
    """Options that decide the tests alone: a run can be tested again with others."""
    of_data: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Options that decide the data, and what they were for the paper's networks."""
    of_name: ClassVar[tuple[str, ...]] = ()
    """Options that the name of a network or a split tells of."""
    free: ClassVar[tuple[str, ...]] = ()
    """Settings in which a run may depart from the paper's and still be compared: a column of the tables has them."""
    title: ClassVar[str]
    intro: ClassVar[str] = ""
    """What the results page begins with."""
    found: ClassVar[str] = ""
    """How its findings are judged."""
    highest: ClassVar[float] = 100.0
    """The best score there is."""
    format: ClassVar[str] = ".1f"
    """How scores are written."""
    note: ClassVar[str] = ""
    """What is to be said of the scores."""
    judged_by: ClassVar[str] = "accuracy"
    """The validation's value that learning curves show."""
    reference_note: ClassVar[str] = ""
    """What is to be said of baselines and ideal learners."""
    known_splits: ClassVar[tuple[str, ...]] = ()
    known_networks: ClassVar[tuple[str, ...]] = ()
    """In the order of the paper's tables, by their printed names."""

    # --- a run

    @abstractmethod
    def study(self, job: Job, store: Store, engine: Engine) -> S:
        """What opens the data of a job."""

    @abstractmethod
    def splits(self, study: S) -> Iterable[str]:
        """What networks are trained on where no split is named."""

    @abstractmethod
    def data(self, job: Job, study: S) -> Any:
        """The digests of what is learnt from."""

    @abstractmethod
    def network(self, job: Job, study: S) -> nn.Module:
        """The network as its key begins it."""

    @abstractmethod
    def objective(self, job: Job, study: S, network: nn.Module) -> Objective:
        """What the network learns."""

    @abstractmethod
    def examine(self, job: Job, study: S, network: nn.Module) -> dict[str, Any]:
        """What a trained network scores in the tests, for the results of its run."""

    def know(self, study: S, file: str) -> Sequence[str]:
        """The splits of a file, which the study knows by their names from now on."""
        raise UserError(f"the networks of {self.benchmark} learn no splits from files; name one of its own")

    def open(self, job: Job, store: Store, engine: Engine) -> S:
        """What opens the data of a job, and knows its split."""
        found = self.study(job, store, engine)
        if job.made:
            self.know(found, job.made)
        return found

    def opened(self, study: Any) -> S:
        """What opens the data of a benchmark's `Study`, as `study` does for a job."""
        return study.study

    def sits(self, job: Job, split: str) -> bool:
        """Whether the exam of a split is one that a run was trained for."""
        return job.split == split

    def solver(self, job: Job, study: S, network: nn.Module) -> Answering | None:
        """A trained network as one that answers the exams; None where it reads other data than they have."""
        return None

    def teach(self, job: Job, study: S, network: nn.Module, run: Run, watch: Watch) -> None:
        """Train a network to its end, or go on with that."""
        from recombine.solvers.training.loop import train

        train(self.objective(job, study, network), job.training, run, job.key, watch)

    def usual(self, model: str, options: Any) -> Training:
        """The paper's settings of a network."""
        return self.models[model]

    def concerning(self, options: Any, model: str) -> Any:
        """The options without those that say nothing to a network."""
        return options

    def check(self, job: Job, study: S) -> None:
        """Refuse what cannot be done, before anything is made."""

    def size(self, jobs: Sequence[Job], study: S) -> int:
        """Bytes that the data of jobs still take, roughly."""
        return 0

    def weights(self, job: Job, study: S) -> int:
        """Bytes of the weights of a network, as far as they are known before there are data: at least so many."""
        return FEWEST_WEIGHTS

    def prepare(self, job: Job, study: S) -> None:
        """Make the data of a job: once, before several processes would each make them."""

    def beside(self, job: Job) -> Mapping[str, str]:
        """Texts that a run cannot do without later, by the names of their files in its folder."""
        return {}

    def tested(self, job: Job, study: S) -> Mapping[str, Any]:
        """What results say of the tests they are from."""
        return {}

    def words(self, job: Job) -> tuple[str, ...]:
        """What decides the seed of a run, and names its folder."""
        return job.split, job.model

    def ending(self, job: Job) -> tuple[str, ...]:
        """What else the name of its folder says."""
        return ()

    def version(self, model: str) -> int:
        """Counts the changes of a network after which older weights no longer fit, or mean something else."""
        return 1

    def config(self, job: Job) -> dict[str, Any]:
        """What a run writes down of its job, but for the training; `data` may mark the place of the data."""
        own = {name: getattr(job.options, name) for name in self._written}
        network = {"name": job.model, "version": self.version(job.model)}
        data = {"scale": job.scale, "data_seed": job.data_seed}
        return {"split": job.split, **own, **data, "network": network, "seed": job.seed}

    def without_seed(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """A config as it is with every seed, but for the seed itself."""
        return config

    def read(self, config: Mapping[str, Any], folder: Path) -> Job:
        """The job that was written down, but for the training."""
        options = self.options(**{name: config[name] for name in self._written})
        data = config["scale"], config["data_seed"]
        return Job(self.benchmark, config["split"], config["network"]["name"], config["seed"], *data, options)

    @property
    def _written(self) -> list[str]:
        return [one.name for one in fields(self.options) if one.name not in (*SETTINGS, *self.examined)]

    # --- results

    @abstractmethod
    def scores(self, results: Mapping[str, Any]) -> Mapping[str, Mapping[str, float | Interval]]:
        """What a run scored in each test, by class; one class without a name where there are none."""

    def published(self, group: Group) -> Mapping[str, Mapping[str, Published]]:
        """What the paper prints of the same network, by test and class."""
        return {}

    def printed(self, job: Job, config: Mapping[str, Any]) -> str:
        """The name of a network as the paper prints it."""
        return job.model

    def expected(self, there: Sequence[str]) -> Sequence[str]:
        """The networks of a whole table, where these are there."""
        return self.known_networks

    def ideal(self, job: Job, study: S) -> Mapping[str, Mapping[str, float]]:
        """What the ideal learners score in each test, by their names."""
        return {}

    def told(self, results: Mapping[str, Any]) -> list[Table]:
        """What else there is to say of one run that was tested again."""
        return []

    def reference(self, job: Job, study: S) -> dict[str, Any]:
        """Split, digest of the test and options of the data for those who sit the same tests; empty if nobody can."""
        return {}

    def sat(self, row: Mapping[str, Any]) -> Mapping[str, Interval]:
        """What such a one scored, from a row of `score`, by test."""
        return {}

    def tables(self, outcomes: Outcomes) -> list[Table]:
        """The scores of all runs beside the paper's."""
        from recombine.benchmarks.run_tables import score_table

        return [score_table(f"{self.title}, {world}", groups, outcomes.ideal) for world, groups in outcomes.worlds()]

    def verdicts(self, outcomes: Outcomes) -> list[Verdict]:
        """What the paper finds, and whether our runs say the same."""
        return []

    def chapters(self, outcomes: Outcomes, reference: Mapping[str, Table]) -> list[Chapter]:
        """Scores and figures, with the tables of baselines by world."""
        return [Chapter("Scores", (*self.tables(outcomes), *reference.values()))]


FEWEST_WEIGHTS = 4 * 300_000
"""Bytes of the weights of the smallest networks of our benchmarks."""


def names() -> list[str]:
    """The benchmarks that have networks."""
    return [one.name for one in benchmarks.every() if one.networks_at]


def networks_of(benchmark: str) -> Networks[Any]:
    """The networks of a benchmark."""
    found = benchmarks.get(benchmark).networks if benchmark in names() else None
    if found is None:
        raise UserError(f"there are no networks for '{benchmark}'; choose {' or '.join(names())}")
    return found


# --- options


def chosen(networks: Networks[Any], given: Mapping[str, Any]) -> Any:
    """The options of a benchmark, with those that were given."""
    known = [one.name for one in fields(networks.options)]
    if unknown := sorted(set(given) - set(known)):
        there = ", ".join(known) or "none of its own"
        raise UserError(f"{networks.benchmark} has no option '{unknown[0]}' to train; it has {there}")
    options = networks.options(**given)
    refuse_unknown(options)
    return options


def refuse_unknown(options: Any) -> None:
    """Refuse a word that is not among those an option has."""
    for name, kind in get_type_hints(type(options)).items():
        known = get_args(kind) if get_origin(kind) is Literal else ()
        if known and getattr(options, name) not in known:
            raise UserError(f"{name} must be one of {', '.join(known)}, not '{getattr(options, name)}'")


def settings(networks: Networks[Any], model: str, options: Any, **given: Any) -> Training:
    """The paper's settings of a network, with those that were given in their place."""
    if model not in networks.models:
        raise UserError(f"there is no network '{model}'; choose one of {', '.join(networks.models)}")
    own = {one.name: getattr(options, one.name) for one in fields(options) if one.name in SETTINGS}
    changed = {name: value for name, value in {**own, **given}.items() if value is not None}
    return replace(networks.usual(model, options), **changed)


def changes(options: Any) -> dict[str, Any]:
    """The options that are not as usual, but for settings of the training."""
    own = [one for one in fields(options) if one.name not in SETTINGS]
    return {one.name: getattr(options, one.name) for one in own if getattr(options, one.name) != one.default}


# --- a run


def check(job: Job, study: Any, out: Path | None = None) -> None:
    """Refuse a job that cannot be done, before anything is; `out` is where runs of the same name may be."""
    need_torch()
    from recombine.solvers.training.loop import need_device
    from recombine.solvers.training.run import must_be_same, refuse_trained

    need_device(job.training.device)
    refuse_unknown(job.options)
    settings(job.networks, job.model, job.options)
    if out is not None:
        refuse_trained(out / job.name)
        must_be_same(out / job.name, identity(job))  # before any data are made
    job.networks.check(job, study)


def check_data(job: Job, study: Any, out: Path) -> None:
    """Refuse a run of the same name with other data; these may have to be made for it."""
    from recombine.solvers.training.run import must_be_same

    must_be_same(out / job.name, identity(job, study))


def need_room(jobs: Sequence[Job], study: Any, store: Store, out: Path) -> None:
    """Refuse disks without room for the data of jobs and for their runs, before anything is made."""
    from recombine.solvers.training.run import room_of

    networks = jobs[0].networks
    data = networks.size(jobs, study)
    begun = [(out / job.name / "checkpoints" / "best.safetensors").exists() for job in jobs]
    runs = sum(room_of(networks.weights(job, study)) for job, there in zip(jobs, begun) if not there)
    if same_disk(store.home, out):
        data = runs = data + runs
    store.need(data)
    need_room_at(out, runs, f"Training in {out}", "choose another folder")


def identity(job: Job, study: Any = None) -> dict[str, Any]:
    """What decides the weights that a run ends with; without a study, what is known of it before the data are made."""
    told = {"benchmark": job.benchmark, **job.networks.config(job), "training": job.training.fixed()}
    if study is None:
        return {name: value for name, value in told.items() if name != "data"}
    return {**told, "data": job.networks.data(job, study)}


def learn(job: Job, study: Any, out: Path, watch: Watch | None = None) -> Path:
    """Do a job, or go on with it: the folder of its run, with its results."""
    need_torch()
    from recombine.solvers.training.loop import unwatched
    from recombine.solvers.training.run import Run

    check(job, study)
    networks = job.networks
    network = networks.network(job, study)
    length = {name: value for name, value in asdict(job.training).items() if name in LENGTH}
    run = Run(within(out, job.name), identity(job, study), length, {**networks.beside(job), **_split(job)})
    with run.alone():
        networks.teach(job, study, network, run, watch or unwatched)
        if not _tested(job, study, run.folder):
            write_results(run.folder, examine(run.folder, study, job))
    return run.folder


def _split(job: Job) -> dict[str, str]:
    """The split of a job, if it was made, by the name of its file in the run."""
    return {SPLIT: read_text(job.made)} if job.made else {}


def _tested(job: Job, study: Any, folder: Path) -> bool:
    """Whether the results are those of the end of the training."""
    found = read_results(folder)
    if found is None:
        return False
    with as_written(folder):
        wanted = {"steps": last_measured(folder).step, **job.networks.tested(job, study)}
        return {name: found[name] for name in wanted} == wanted


def examine(folder: Path, study: Any, job: Job | None = None) -> dict[str, Any]:
    """Test the best network of a run; a job of its own may say how."""
    need_torch()
    from recombine.solvers.networks.images import parameters
    from recombine.solvers.training.loop import devices, load_best

    config = read_config(folder)
    job = job or job_of(config, folder)
    if config["data"] != job.networks.data(job, study):
        raise UserError(f"{folder} was trained on other data than these of '{job.split}'; train again")
    network = job.networks.network(job, study)
    validated = load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    here = replace(job, training=job.training.here(devices()))
    last = last_measured(folder)
    return {
        **job.networks.examine(here, study, network),
        "parameters": parameters(network),
        "validation": validated.best,
        "best_step": validated.best_step,
        "steps": last.step,
        "epochs": last.epoch + 1,
        "seconds": last.seconds,
        "cpu_seconds": last.cpu_seconds,
    }


def job_of(config: Mapping[str, Any], folder: Path) -> Job:
    """The job that a run's config tells of."""
    networks = networks_of(str(config.get("benchmark")))
    with as_written(folder):
        job = replace(networks.read(config, folder), made=str(folder / SPLIT) if (folder / SPLIT).exists() else "")
        if job.model not in networks.models:
            raise KeyError(job.model)
        if not isinstance(config["data"], Mapping | str):
            raise TypeError("data")
        refuse_unknown(job.options)
        job = replace(job, training=Training(**config["training"], **config["length"]))
        for part in (job, job.options, job.training):
            _refuse_misfits(part)
        return job


def _refuse_misfits(thing: Any) -> None:
    """Refuse a dataclass that was made from a file, and holds what its fields cannot."""
    for name, kind in get_type_hints(type(thing)).items():
        if not _fits(getattr(thing, name), kind):
            raise ValueError(f"{name} cannot be {getattr(thing, name)!r:.80}")


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, as annotations say it.

    >>> _fits(1, float), _fits(True, int), _fits(None, int | None), _fits("x", Literal["x", "y"]), _fits([], str)
    (True, False, True, True, False)
    """
    if isinstance(kind, UnionType) or get_origin(kind) is Union:
        return any(_fits(value, one) for one in get_args(kind))
    if get_origin(kind) is Literal:
        return any(value == one for one in get_args(kind))
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and len(value) == len(get_args(kind)) and all(map(_fits, value, get_args(kind)))
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool) and abs(value) < LARGEST
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


LARGEST = 2**63
"""Of the numbers of a run."""


def solver_of(folder: Path, study: Any) -> Answering | None:
    """The best network of a run as one that answers the exams of a study, where its networks can do so."""
    need_torch()
    from recombine.solvers.training.loop import devices, load_best

    config = read_config(folder)
    job = job_of(config, folder)
    pipeline = job.networks.opened(study)
    if job.made:
        job.networks.know(pipeline, job.made)
    if config["data"] != job.networks.data(job, pipeline):
        raise UserError(f"{folder.name} was trained on other data than these: another scale, seed or edition")
    network = job.networks.network(job, pipeline)
    load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    here = replace(job, training=job.training.here(devices()))
    return job.networks.solver(here, pipeline, network)
