"""Commands that are killed while they write, and run again: nothing is lost, nothing is mixed, nothing stays behind.

    python -m experiments.trust.kills                    every command, at every file operation and at random moments
    python -m experiments.trust.kills --most 40          at most so many operations of each command more
    python -m experiments.trust.kills --command "show"   one command
    python -m experiments.trust.kills --random 4         so many kills more of each command at random moments
    python -m experiments.trust.kills --workers 20       so many kills more of each command with workers

Three ways to die. *At every operation*: the command runs in a process that has been forked from one in which everything
is loaded and compiled, and kills itself at its k-th file operation, for every k: before a file is opened, written to
the disk (with half of its bytes), renamed, linked or removed, and before a folder is made or removed. *With workers*:
the same with a pool of two workers, forked too; at the k-th operation of all of them a worker dies, or the whole group,
or the process that has started them, alone, after which the workers must end by themselves. *At random moments*: the
command runs as people run it, in processes that are started from nothing; a worker, or the whole group, is killed after
a random time.

Then the same command is run again, and what is there must be, byte for byte, what an undisturbed run leaves; of times
and places of work, which differ between any two runs, the names alone. What was found is kept in
docs/results/trust/kills.json and told in docs/results/trust.md. It adds up: a stopped run is taken up where it was, for
operations are tried in a mixed order that is always the same. A command that has come to have other operations begins
anew.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import wraps
from importlib.machinery import ModuleSpec
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from experiments.trust.page import KILLS, keep, rows_of, write_page

ROOT = Path(__file__).parents[2]
EVENTS = {
    "open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "os.symlink", "os.chmod", "os.truncate",
    "shutil.rmtree", "shutil.copyfile",
}  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SPENT = ("seconds", "cpu_seconds")
TIMED = ("spent.json", "environment.json", "metrics.parquet")
STATED_TIMES = re.compile(
    rb'<figure class="table"><figcaption>(Times|What it cost)<.*?</figure>|\*\*(Times|What it cost)\*\*\n\n(\|.*\n)+',
    re.S,
)
"""The tables of pages that tell how long something took; everything else on a page is the same in every run."""
REFUSED = 2
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
FOREVER = 180.0
"""Seconds of processor time after which a command of this process hangs."""
LONGEST = 3_600.0
"""The same for a command with workers, beside which others may work."""


@dataclass(frozen=True)
class Command:
    """What is run in a folder that holds what `ready` has put there; `make` are commands that are run before."""

    words: Sequence[str]
    make: Sequence[Sequence[str]] = ()
    goes: bool = False
    """Whether it removes things, so that a second run finds nothing to do."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts that lie there before, by their names."""


TINY = ("--scale", "tiny", "--workers", "1")
DEMO = ("--scale", "demo", "--workers", "1")
FEW = ("--scale", "few", "--workers", "1")
MANY = ("--scale", "many", "--workers", "1")
"""Questions enough that those of tests have no new words."""
RESULTS = ("--results", str(ROOT / "docs" / "results"))
CURI = ("make", "curi", *TINY, "--split", "counting")
CLEVR = ("make", "clevr", *TINY)
CLOSURE = ("make", "closure", *TINY)
LEARN = ("train", "concept-world", "--split", "sequences", "--model", "mlp", "--epochs", "1")
TRAIN = (*LEARN, *TINY, "--seeds", "2", "--out", "runs")
RUN = "runs/concept-world-sequences-mlp-0"
PLAIN = ("make", "concept-world", *TINY, "--split", "sequences", "--out", "data")
PIXELS = ("--render", "images", "--size", "8x8")
VEHICLES = ("make", "super-clevr", *TINY)
BRIEF = ("--steps", "2", "--validate-every", "1", "--batch", "2", "--out", "runs")
STEPS = (*BRIEF, *TINY)
DRIVER = ("train", "super-clevr", "--model", "lstm", "--split", "default", "--questions", "2", *STEPS)
DRAWN = ("draw", "red", "--n", "1", "--out", "one.png")
LEARNT = "curi-schema-avg-pool-counting-hard-0"
READER = ("train", "closure", "--model", "generator", "--questions", "2", *BRIEF, *MANY)
LEARNER = ("train", "curi", "--model", "avg-pool", "--split", "counting", "--episodes", "2", *STEPS)
AGAIN = ("render", "data", "--size", "8x8", "--workers", "1")
ROWS = ("--split", "or_mat", "--questions", "2", *PIXELS)
PEOPLE = "\n".join(
    f"hg{concept:02} L1 {number} {place} {(concept + number + place) % 2 == 1} {('circle', 'triangle')[concept % 2]} "
    f"{('blue', 'green')[(place + concept) % 2]} {1 + place % 3} {3 + place} {9 - place}"
    for concept, number, place in product(range(10), (1, 2), (1, 2, 3))
)
COMMANDS = {
    "make curi": Command([*CURI, "--out", "data"]),
    "make curi --render": Command([*CURI, *PIXELS, "--first", "4", "--out", "data"], [CURI]),
    "make curi --episodes --render": Command(
        ["make", "curi", *TINY, "--split", "counting", "--episodes", "2", *PIXELS, "--out", "data"], [CURI]
    ),
    "make clevr --format json": Command([*CLEVR, "--format", "json", "--out", "data"]),
    "make clevr --render": Command([*CLEVR, *PIXELS, "--out", "data"]),
    "make closure": Command([*CLOSURE, "--out", "data"]),
    "make super-clevr": Command(["make", "super-clevr", *TINY, "--out", "data"]),
    "make super-clevr --render": Command(
        ["make", "super-clevr", *TINY, *PIXELS, "--first", "1", "--out", "data"], [["make", "super-clevr", *TINY]]
    ),
    "make super-clevr --format json": Command([*VEHICLES, "--format", "json", "--out", "data"], [VEHICLES]),
    "make super-clevr --factor": Command([*VEHICLES, "--factor", "composition", "--out", "data"], [VEHICLES]),
    "make clevr --family": Command([*CLEVR, "--family", "one_hop", "--questions", "3", "--out", "data"]),
    "make concept-world --sheets": Command(
        ["make", "concept-world", *TINY, "--split", "sequences", "--sheets", "--out", "data"]
    ),
    "rows --render": Command(
        ["rows", "curi", *TINY, "--split", "counting", "--episodes", "2", *PIXELS, "--out", "rows"], [CURI]
    ),
    "rows --format webdataset": Command(
        ["rows", "closure", *TINY, *ROWS, "--format", "webdataset", "--out", "rows"], [CLOSURE]
    ),
    "rows concept-world": Command(
        ["rows", *PLAIN[1:-1], "rows", "--images", "2", "--render", "images"],
        [PLAIN[:-2]],
    ),
    "rows --form sheet": Command(
        ["rows", "curi", *TINY, "--split", "counting", "--episodes", "2", "--form", "sheet", *PIXELS, "--out", "rows"],
        [CURI],
    ),
    "rows --render sounds": Command(
        ["rows", "curi", *TINY, "--split", "counting", "--episodes", "2", "--render", "sounds", "--out", "rows"], [CURI]
    ),
    "fresh curi": Command(
        ["fresh", "curi", *TINY, "--split", "counting", "--n", "2", "--size", "8x8", "--out", "fresh"]
    ),
    "fresh concept-world": Command(["fresh", *PLAIN[1:-1], "fresh", "--n", "3"]),
    "fresh": Command(["fresh", "clevr", *TINY, "--n", "30", "--size", "8x8", "--out", "fresh"]),
    "export trl": Command(["export", "trl", "closure", *TINY, *ROWS, "--out", "export"], [CLOSURE]),
    "export vlmevalkit": Command(["export", "vlmevalkit", "closure", *TINY, *ROWS, "--out", "export"], [CLOSURE]),
    "export lmms-eval": Command(["export", "lmms-eval", "closure", *TINY, *ROWS, "--out", "export"], [CLOSURE]),
    "export verl": Command(["export", "verl", "closure", *TINY, *ROWS, "--out", "export"], [CLOSURE]),
    "export ms-swift": Command(["export", "ms-swift", "closure", *TINY, *ROWS, "--out", "export"], [CLOSURE]),
    "export verifiers": Command(["export", "verifiers", "closure", *TINY, *ROWS, "--out", "export"], [CLOSURE]),
    "split": Command(["split", "closure", *TINY, "--how", "orthotopic", "--out", "split.json"], [CLOSURE]),
    "split curi": Command(["split", "curi", *TINY, "--how", "pairwise", "--out", "split.json"], [CURI]),
    "make curi --split FILE": Command(
        ["make", "curi", *TINY, "--split", "split.json", "--out", "data"],
        [CURI, ["split", "curi", *TINY, "--how", "pairwise", "--out", "split.json"]],
    ),
    "render": Command(
        ["render", "data", "--size", "8x8", "--first", "4", "--workers", "1", "--out", "pics"],
        [[*CURI, "--out", "data"]],
    ),
    "render --kind sounds": Command(
        ["render", "data", "--kind", "sounds", "--first", "2", "--workers", "1", "--out", "heard"],
        [[*CURI, "--out", "data"]],
    ),
    "render --format webdataset": Command(
        [*AGAIN, "--first", "2", "--format", "webdataset", "--out", "tars"],
        [[*CURI, "--out", "data"]],
    ),
    "render SCENES.json": Command(
        ["render", "data/CLEVR_val_scenes.json", "--size", "8x8", "--first", "2", "--workers", "1", "--out", "pics"],
        [[*CLEVR, "--format", "json", "--out", "data"]],
    ),
    "list": Command(["list", "curi", *TINY]),
    "gap --out": Command(["gap", "curi", *TINY, "--split", "counting", "--out", "gap.json"], [CURI]),
    "gap super-clevr --out": Command(["gap", "super-clevr", *TINY, "--split", "rd+", "--out", "gap.json"], [VEHICLES]),
    "eval": Command(["eval", "curi", *TINY, "--split", "counting", "--solver", "nearest"], [CURI]),
    "eval RUN": Command(["eval", f"runs/{LEARNT}"], [LEARNER]),
    "report curi": Command(["report", "curi", *TINY, "--episodes", "9", "--out", "page/report.md"], [CURI]),
    "report (.md)": Command(["report", "concept-world", *TINY, "--out", "page/report.md"], [PLAIN[:-2]]),
    "report (.html)": Command(["report", "concept-world", *TINY, "--out", "report.html"], [PLAIN[:-2]]),
    "report clevr": Command(["report", "clevr", *DEMO, "--out", "page/report.md"], [["make", "clevr", *DEMO]]),
    "report closure": Command(["report", "closure", *FEW, "--out", "page/report.md"], [["make", "closure", *FEW]]),
    "report super-clevr": Command(
        ["report", "super-clevr", *FEW, "--out", "page/report.md"], [["make", "super-clevr", *FEW]]
    ),
    "report human": Command(
        ["report", "human", "--judgements", "people.txt", "--out", "page/report.md"], files={"people.txt": PEOPLE}
    ),
    "report prediction": Command(["report", "prediction", *RESULTS, "--out", "page/report.md"]),
    "report ledger": Command(["report", "ledger", *RESULTS, "--out", "page/report.html"]),
    "show --out": Command(["show", "curi/counting", *TINY, "--out", "episode.html"], [CURI]),
    "show --out (.svg)": Command(["show", "curi/counting", *TINY, "--out", "episode.svg"], [CURI]),
    "draw --out": Command(["draw", "red", "--n", "3", "--out", "sheet.png", "--graph", "graph.svg"]),
    "draw --out FOLDER": Command(["draw", "red", "--n", "3", "--out", "images"]),
    "recognise --graph": Command(["recognise", "one.png", "red", "--graph", "graph.svg"], [DRAWN]),
    "train curi": Command(LEARNER, [CURI]),
    "train closure": Command(READER, [["make", "closure", *MANY]]),
    "train super-clevr": Command(DRIVER, [VEHICLES]),
    "train": Command(TRAIN, [PLAIN[:-2]]),
    "train --track": Command([*TRAIN, "--track", "trackio"], [PLAIN[:-2]]),
    "train, and its data": Command([*LEARN, *TINY, "--out", "runs"]),
    "table --out": Command(["table", "concept-world", "runs", "--out", "page/runs.md"], [TRAIN]),
    "table --keep": Command(["table", "concept-world", "runs", "--keep", "kept"], [TRAIN]),
    "weights": Command(["weights", RUN, "--out", "weights"], [TRAIN]),
    "check --store": Command(["check", "clevr", *TINY, "--store"], [CLEVR]),
    "push": Command(["push", "data", "place"], [PLAIN]),
    "pull": Command(["pull", "place", "--out", "copy"], [PLAIN, ["push", "data", "place"]]),
    "pull, of an artefact": Command(
        ["pull", "place"],
        [CLEVR, ["push", "home/clevr-scenes/*", "place"], ["store", "prune", "--older", "0h", "--do"]],
    ),
    "check --certificate": Command(
        ["check", "--certificate", "fresh"], [["fresh", "clevr", *TINY, "--n", "3", "--size", "8x8", "--out", "fresh"]]
    ),
    "store prune --do": Command(["store", "prune", "--recipe", "episodes", "--do"], [CURI], goes=True),
    "store sweep --do": Command(["store", "sweep", "--do"], [CURI], goes=True),
    "demo": Command(["demo", "--out", "demo.html", "--workers", "1"]),
}
WHOLE = ("demo",)
"""Commands that have processes of their own beside them, so that operations of this process are not all of theirs."""
POOLS = (
    "make curi", "make curi --render", "make clevr --format json", "make clevr --render", "make closure",
    "make super-clevr", "rows --render", "fresh", "export trl", "render", "train",
)  # fmt: skip
"""Commands that are killed with two workers, at the operations of all."""
GROUPS = (
    "make curi", "make clevr --format json", "make clevr --render", "make super-clevr", "rows --render", "render",
    "gap --out", "report (.md)", "train", "demo",
)  # fmt: skip
"""Commands that are killed at random moments, with two workers."""


@dataclass
class Found:
    """What came of a command that was killed in one way."""

    command: str
    way: str
    """operations, workers, pairs (of operations, one after the other) or moments."""
    operations: int | None = None
    tried: int = 0
    """Operations, pairs or moments, from the first of their order on."""
    kills: int = 0
    wrong: int = 0
    litter: int = 0
    failures: list[str] = field(default_factory=list)

    @classmethod
    def kept(cls, command: str, way: str, operations: int | None = None) -> "Found":
        """What was found before, where it is of the same operations."""
        for row in rows_of(KILLS):
            if (row["command"], row["way"], row["operations"]) == (command, way, operations):
                return cls(**row)
        return cls(command, way, operations)

    def note(self, wrong: str, left: Sequence[str], at: object) -> None:
        self.wrong += bool(wrong)
        self.litter += bool(left)
        if wrong or left:
            self.failures.append(f"{at}: {wrong or 'left ' + ', '.join(left[:3])}")
        self.tried += 1

    def keep(self) -> None:
        """Put it in place of what was."""
        key = self.command, self.way
        row = {**asdict(self), "failures": self.failures[:20]}
        rows = {(one["command"], one["way"]): one for one in rows_of(KILLS)} | {key: row}
        keep(KILLS, list(rows.values()))


SOME = 10
"""Kills after which what was found is kept."""


def some_of(all_: int, done: int, most: int | None) -> Iterator[int]:
    """The next numbers, from 0 on, of an order that is mixed and always the same."""
    order = random.Random(all_).sample(range(all_), all_)
    yield from order[done:] if most is None else order[done : done + most]


# --- running ------------------------------------------------------------------------------------------------------


def scales() -> None:
    """Scales that are small enough to be made a thousand times."""
    from recombine.benchmarks import row_export
    from recombine.benchmarks.clevr import pipeline as clevr
    from recombine.benchmarks.closure import pipeline as closure
    from recombine.benchmarks.concept_world import pipeline as concept_world
    from recombine.benchmarks.concept_world.study import ConceptWorld
    from recombine.benchmarks.curi import pipeline as curi
    from recombine.benchmarks.super_clevr import pipeline as super_clevr
    from recombine.render import rendering

    curi.SCALES["tiny"] = curi.Scale("tiny", 1_500, 20_000, 6, 3, 6)
    clevr.CLEVR_SCALES["tiny"] = clevr.ClevrScale("tiny", 4, 2, 2, 2)
    concept_world.SHARES["tiny"] = 0.001
    # Small files too, so that there is something to do for two workers.
    clevr.ClevrPipeline.shard, super_clevr.SuperClevrPipeline.shard, curi.SHARD = 2, 1, 3
    rendering.PER_FILE = row_export.PER_FILE = 2
    begin = ConceptWorld.__init__

    @wraps(begin)
    def with_one_experiment(self: ConceptWorld, *said: Any, **asked: Any) -> None:
        begin(self, *said, **asked)
        self.experiments = self.experiments[:1]

    ConceptWorld.__init__ = with_one_experiment  # type: ignore[method-assign]
    closure.CLOSURE_SCALES["tiny"] = closure.ClosureScale("tiny", 20, 30, 10, 5, closure=(2, 8, 8))
    closure.CLOSURE_SCALES["many"] = closure.ClosureScale("many", 150, 20, 1, 10, closure=(36, 36, 36))
    closure.CLOSURE_SCALES["few"] = closure.ClosureScale("few", 40, 60, 20, 4, closure=(36, 36, 36))
    super_clevr.SCALES["tiny"] = super_clevr.SuperClevrScale("tiny", 2, 1, 1, 2, 2)
    super_clevr.SCALES["few"] = super_clevr.SuperClevrScale("few", 10, 10, 10, 10, 10)
    sys.modules["trackio"] = tracker()


def tracker() -> ModuleType:
    """A package that is told what is measured, and keeps nothing."""
    package = ModuleType("trackio")
    package.__spec__ = ModuleSpec("trackio", None, origin="here")
    for name in ("init", "log", "finish"):
        setattr(package, name, lambda *_, **__: None)
    return package


def run(words: Sequence[str], place: Path) -> int:
    """A command in this process; a word with a * is the first file that it fits."""
    from recombine import cli

    os.chdir(place)
    os.environ["RECOMBINE_HOME"] = str(place / "home")
    named = (sorted(map(str, Path().glob(word))) if "*" in word else [word] for word in words)
    sys.argv = ["recombine", *(one for some in named for one in some[:1])]
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def forked(work: Callable[[], int], log: Path) -> int:
    """What a piece of work ends with in a process of its own: its code, or less than 0 where it was killed."""
    child = os.fork()
    if child == 0:
        try:
            said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(said, 1), os.dup2(said, 2)
            code = work()
        except BaseException as error:
            import traceback

            traceback.print_exception(error)
            code = 99
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(code)
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and _spent(child) < FOREVER:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 98


def _spent(process: int) -> float:
    """Seconds of processor time of a process, where the system tells."""
    try:
        user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except (OSError, ValueError):
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Dying:
    """Counts the file operations of this process and of those that it starts, and ends one or all of them at one.

    Who dies: "self", the process that is at the operation; "worker", the same, where only those of workers count;
    "parent", the process that has started the worker; "group", all.
    """

    def __init__(self, at: int | None, who: str = "self") -> None:
        self.at, self.who, self.first = at, who, 0
        self.count, self.group = (multiprocessing.get_context("fork").Value("q", 0) for _ in range(2))

    @property
    def done(self) -> int:
        return int(self.count.value)

    def begin(self) -> None:
        self.first = self.group.value = os.getpid()
        sys.addaudithook(self._heard)
        sync = os.fsync

        def fsync(descriptor: int) -> None:
            self._count(lambda: self._tear(descriptor))
            sync(descriptor)

        os.fsync = fsync

    def _heard(self, event: str, words: tuple[Any, ...]) -> None:
        if event not in EVENTS:
            return
        if event == "open" and not self._writes(words):
            return
        self._count(lambda: None)

    def _writes(self, words: tuple[Any, ...]) -> bool:
        path, _, flags = words
        if isinstance(flags, int) and flags & os.O_TMPFILE == os.O_TMPFILE:  # has no name, and leaves none
            return False
        return isinstance(flags, int) and bool(flags & WRITING) and str(path) not in ("/dev/null", "/dev/tty")

    def _count(self, last: Callable[[], None]) -> None:
        if self.who in ("worker", "parent") and os.getpid() == self.first:
            return
        with self.count.get_lock():
            self.count.value += 1
            now = self.count.value
        if now != self.at:
            return
        if self.who == "parent":
            os.kill(self.first, signal.SIGKILL)
            return  # and this one goes on, until it sees that
        last()
        os.killpg(0, signal.SIGKILL) if self.who == "group" else os.kill(os.getpid(), signal.SIGKILL)

    @staticmethod
    def _tear(descriptor: int) -> None:
        """A write that was not finished: half of the bytes."""
        try:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
        except OSError:  # a folder, or opened for reading
            return


def operations(words: Sequence[str], place: Path, log: Path, who: str = "self") -> int:
    """How many file operations a command has; with workers, how many theirs or all are."""
    dying = Dying(None, who)

    def work() -> int:
        dying.begin()
        return run(words, place) if who == "self" else pooled(words, place)

    code = forked(work, log)
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(words)} ends with {code}: {log.read_text()[-2000:]}")
    return dying.done


def killed(words: Sequence[str], place: Path, at: int, log: Path, who: str = "self") -> int:
    """What a command ends with that is killed at an operation."""
    dying = Dying(at, who)

    def work() -> int:
        dying.begin()
        return run(words, place) if who == "self" else pooled(words, place)

    code = forked(work, log)
    if who != "self" and not _gone(int(dying.group.value)):
        return 97
    return code


def _gone(group: int) -> bool:
    """Whether the workers of a command that has ended end too, by themselves."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except OSError:
            return True
        time.sleep(0.005)
    os.killpg(group, signal.SIGKILL)
    return False


def pooled(words: Sequence[str], place: Path) -> int:
    """A command in a group of its own, whose workers are forked: nothing has to be loaded again."""
    from recombine.store import engine

    os.setpgid(0, 0)
    fork = multiprocessing.get_context("fork")
    engine.multiprocessing = SimpleNamespace(  # type: ignore[attr-defined]
        get_context=lambda _: fork, parent_process=multiprocessing.parent_process
    )
    begin = engine.become_worker
    engine.become_worker = lambda: (_as_started(), begin())[1]  # type: ignore[assignment]
    return run(words, place)


def _as_started() -> None:
    """Leave behind what a process that is started from nothing does not have: open files, locks, ways to end."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and stat.S_ISREG(os.fstat(int(name)).st_mode):
                os.close(int(name))
        except OSError:  # the list of them, which is read here
            continue


def warmed(command: Command, shop: Path) -> None:
    """Run a command here, so that what is forked from now on has loaded and compiled what it needs."""
    place, said = shop / "warm", (os.dup(1), os.dup(2))
    _beginning(command, place)
    quiet = os.open(os.devnull, os.O_WRONLY)
    here = Path.cwd()
    try:
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        for words in (*command.make, command.words):
            run(words, place)
        sys.stdout.flush(), sys.stderr.flush()
    finally:
        for number, one in enumerate(said, 1):
            os.dup2(one, number), os.close(one)
        os.close(quiet)
        os.chdir(here)
        shutil.rmtree(place)


# --- looking ------------------------------------------------------------------------------------------------------


def tree(place: Path) -> dict[str, str]:
    """What every file holds, by name; where times are part of it, without them."""
    files = [file for file in sorted(place.rglob("*")) if file.is_file() and not file.is_symlink()]
    names = {str(file.relative_to(place)): file for file in files}
    return {name: _content(file) for name, file in names.items() if not is_litter(name)}


def is_litter(name: str) -> bool:
    """What only work that is under way may leave: locks of the store stay, by design."""
    last = Path(name).name
    held = last == "training.lock" or "home/locks/" in name or "tfevents" in last
    return held or any(mark in name for mark in (".part-", ".draft-", ".sums/", "/drafts/", ".lock"))


def litter(place: Path) -> list[str]:
    """What is left behind."""
    names = [str(file.relative_to(place)) for file in place.rglob("*") if not file.is_dir()]
    kept = ("training.lock", "tfevents", "home/locks/")
    return [name for name in names if is_litter(name) and not any(mark in name for mark in kept)]


def _content(file: Path) -> str:
    if file.name in TIMED:
        return "of another time"
    content = file.read_bytes()
    if file.name in ("manifest.json", "results.json", "config.json"):
        return json.dumps(_timeless(json.loads(content)), sort_keys=True)
    if file.suffix in (".md", ".html"):
        content = STATED_TIMES.sub(b"", content)
    return hashlib.blake2b(content).hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(one) for name, one in value.items() if name not in ("mtime_ns", *SPENT)}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def difference(expected: dict[str, str], found: dict[str, str]) -> str:
    lost, more = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    other = sorted(name for name in expected.keys() & found.keys() if expected[name] != found[name])
    said = [
        f"{what}: {', '.join(names[:3])}" for what, names in (("lost", lost), ("more", more), ("other", other)) if names
    ]
    return "; ".join(said)


# --- at every operation -------------------------------------------------------------------------------------------


@contextmanager
def workshop() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        yield Path(place)


def _beginning(command: Command, place: Path) -> Path:
    """A folder with nothing but the files that a command is given."""
    place.mkdir()
    for name, text in command.files.items():
        (place / name).write_text(text)
    return place


@contextmanager
def prepared(command: Command) -> Iterator[tuple[Path, Path, Path]]:
    """What a command needs, a place for it, and a log."""
    with workshop() as shop:
        ready, place, log = _beginning(command, shop / "ready"), shop / "place", shop / "log"
        for words in command.make:
            code = forked(lambda words=words: run(words, ready), log)  # type: ignore[misc]
            if code not in (0, 1):
                raise SystemExit(f"{' '.join(words)} ends with {code}: {log.read_text()[-2000:]}")
        warmed(command, shop)
        copy(ready, place)
        yield ready, place, log


def at_every_operation(name: str, most: int | None, keep: bool = False) -> Found:
    command = COMMANDS[name]
    with prepared(command) as (ready, place, log):
        many = operations(command.words, place, log)
        expected = tree(place)
        found = Found.kept(name, "operations", many) if keep else Found(name, "operations", many)
        for at in some_of(many, found.tried, most):
            copy(ready, place)
            log.unlink(missing_ok=True)
            killed_ = killed(command.words, place, at + 1, log) == -signal.SIGKILL  # it may have had fewer operations
            found.kills += killed_
            _again(command.words, place, log, expected, found, f"operation {at + 1}")
            if keep and found.tried % SOME == 0:
                found.keep()
    return found


def _again(
    words: Sequence[str], place: Path, log: Path, expected: dict[str, str], found: Found, at: object, before: str = ""
) -> None:
    """Run a command that was killed again, and look at what is there."""
    code = forked(lambda: run(words, place), log)
    wrong = before or difference(expected, tree(place))
    if code not in ((0, 1, REFUSED) if not wrong else (0, 1)):  # what is there whole already may be refused
        wrong = f"ends with {code}: {_last(log)}"
    found.note(wrong, litter(place), at)


WHO = ("worker", "group", "parent")


def with_workers(name: str, most: int | None, keep: bool = False) -> Found:
    """Kill a worker, the whole group, or the first process alone, and run it again at once."""
    command = COMMANDS[name]
    words = [*command.words]
    words[words.index("--workers") + 1] = "2"
    with prepared(command) as (ready, place, log):
        many = {who: operations(words, fresh(ready, place), log, who) for who in ("worker", "group")}
        many["parent"] = many["worker"]
        expected, total = tree(place), many["group"]
        if not many["worker"]:
            raise SystemExit(f"{name} gives its workers nothing to write")
        # Two workers take what there is to do as it comes, so the number of their operations may differ a little.
        found = next((Found(**row) for row in rows_of(KILLS) if keep and _is(row, name)), Found(name, "workers", total))
        for number in some_of(total, found.tried, most):
            who = WHO[found.tried % len(WHO)]
            fresh(ready, place)
            log.unlink(missing_ok=True)
            code = killed(words, place, 1 + number % many[who], log, who)
            found.kills += code != 0
            ended = code in (0, REFUSED, -signal.SIGKILL) and "Traceback" not in log.read_text()
            wrong = "" if ended else f"{who} killed, ends with {code}: {_last(log)}"
            _again(command.words, place, log, expected, found, f"{who}, operation {number + 1}", wrong)
            if keep and found.tried % SOME == 0:
                found.keep()
    return found


def _is(row: dict[str, Any], name: str) -> bool:
    return (row["command"], row["way"]) == (name, "workers")


def fresh(ready: Path, place: Path) -> Path:
    copy(ready, place)
    return place


def _artefact(place: Path) -> None:
    """Something in the store, made in parts, of which one depends on all others."""
    from recombine.store.recipe import Recipe
    from recombine.store.store import Store
    from recombine.store.writing import write_text

    def make(draft: Path) -> None:
        for part in range(3):
            if not (draft / f"{part}").exists():
                write_text(draft / f"{part}", f"part {part}" * 50)
        write_text(draft / "sum", "".join((draft / f"{part}").read_text() for part in range(3)))

    Store(place / "home", warn=lambda _: None).get(Recipe("parts", 1, {"parts": 3}, {}), make)


def _folder(place: Path) -> None:
    """A folder that people asked for, which is taken up where it was stopped."""
    from recombine.store.outputs import holds
    from recombine.store.writing import write_text, writing

    if holds(place / "out", {"seed": 0}):
        return
    with writing(place / "out", again=True) as draft:
        for part in range(3):
            if not (draft / f"{part}").exists():
                write_text(draft / f"{part}", f"part {part}" * 50)
        write_text(draft / "recipe.json", json.dumps({"parameters": {"made": {"seed": 0}}}))


def _page(place: Path) -> None:
    """A page and its figures."""
    from recombine.store.writing import write_text, writing_page

    with writing_page(place / "page.md") as draft:
        draft.with_suffix("").mkdir()
        for figure in range(3):
            write_text(draft.with_suffix("") / f"{figure}.svg", "<svg/>" * 50)
        write_text(draft, "a page" * 50)


def _array(place: Path) -> None:
    """A table that is made blank and filled in blocks."""
    import numpy as np

    from recombine.store.arrays import blank_array, map_array, place_of
    from recombine.store.checksums import Region, checksum
    from recombine.store.recipe import Recipe
    from recombine.store.store import Store
    from recombine.store.writing import write_atomically

    def make(draft: Path) -> None:
        if not (draft / "table.npy").exists():
            blank_array(draft / "table.npy", np.uint8, (6, 64))
        for block in range(3):
            if not (draft / f"done-{block}").exists():
                table = map_array(draft / "table.npy")
                table[2 * block : 2 * block + 2] = block + 1
                table.flush()
                start, end = place_of(table, block, 2)
                filled = Region("table.npy", checksum(draft / "table.npy", start, end), start, end)
                write_atomically(draft / f"done-{block}", lambda part: part.write_text("done"), [filled])

    Store(place / "home", warn=lambda _: None).get(Recipe("table", 1, {"blocks": 3}, {}), make)


WRITERS: dict[str, Callable[[Path], None]] = {
    "an artefact of the store": _artefact,
    "a table of the store": _array,
    "a folder (--out)": _folder,
    "a page with figures (--out)": _page,
}
"""What all commands write with, small enough to be killed at every pair of operations."""


def at_every_pair(name: str, most: int | None, keep: bool = False) -> Found:
    """Kill a writer at an operation, and the one that takes it up at another; the third must leave all as it should."""
    write = WRITERS[name]
    with workshop() as shop:
        place, log, told_at = shop / "place", shop / "log", shop / "operations"

        def written(at: int | None) -> int:
            dying = Dying(at)

            def work() -> int:
                dying.begin()
                write(place)
                return 0

            done = forked(work, log)
            told_at.write_text(str(dying.done))
            return done

        place.mkdir()
        if written(None):
            raise SystemExit(f"{name}: {log.read_text()[-2000:]}")
        many, expected = int(told_at.read_text()), tree(place)
        found = Found.kept(name, "pairs", many) if keep else Found(name, "pairs", many)
        for pair in some_of(many**2, found.tried, most):
            one, two = divmod(pair, many)
            shutil.rmtree(place)
            place.mkdir()
            found.kills += sum(written(at) == -signal.SIGKILL for at in (one + 1, two + 1))
            code = written(None)
            wrong = difference(expected, tree(place)) or (f"ends with {code}: {_last(log)}" if code else "")
            found.note(wrong, litter(place), (one + 1, two + 1))
            if keep and found.tried % (SOME * SOME) == 0:
                found.keep()
    return found


def _last(log: Path) -> str:
    lines = log.read_text().strip().splitlines() if log.exists() else []
    return " / ".join(lines[-3:])[-500:]


def copy(folder: Path, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, symlinks=True)


# --- at random moments --------------------------------------------------------------------------------------------

SCRIPT = """
import sys
from pathlib import Path
from experiments.trust.kills import run, scales
scales()  # in workers too, which import this file
if __name__ == "__main__":
    sys.exit(run(sys.argv[2:], Path(sys.argv[1])))
"""


def at_random(name: str, kills: int, keep: bool = False) -> Found:
    """Kill a worker or the whole group of a command with two workers, and run it again."""
    found = Found.kept(name, "moments") if keep else Found(name, "moments")
    command = COMMANDS[name]
    words = [*command.words]
    if "--workers" in words:
        words[words.index("--workers") + 1] = "2"
    with workshop() as shop:
        ready, place, script = _beginning(command, shop / "ready"), shop / "place", shop / "script.py"
        script.write_text(SCRIPT)
        log = shop / "log"
        for before in command.make:
            _ended(_started(script, ready, before, log), log)
        for _ in range(2):  # the second finds everything compiled, as those will that are killed
            copy(ready, place)
            start = time.monotonic()
            _ended(_started(script, place, words, log), log)
            took, expected = time.monotonic() - start, tree(place)
        for number in range(found.tried, found.tried + kills):
            copy(ready, place)
            process = _started(script, place, words, log)
            time.sleep(random.Random(number).uniform(0.2, 0.9) * took)
            found.kills += _kill(process, worker=number % 2 == 1)
            process.wait(LONGEST)
            code = _started(script, place, words, log).wait(LONGEST)
            fine = code in (0, REFUSED) and "Traceback" not in log.read_text()  # what is there whole may be refused
            wrong = difference(expected, tree(place)) if fine else f"ends with {code}: {_last(log)}"
            found.note(wrong, litter(place), f"kill {number}")
            if keep:
                found.keep()
    return found


def _started(script: Path, place: Path, words: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-W", "ignore", str(script), str(place), *words]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}  # where `experiments` is, wherever the script is
    with log.open("wb") as said:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True, env=here)


def _ended(process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait for a command that nobody disturbs, which must end well."""
    if process.wait(LONGEST) or "Traceback" in log.read_text():
        raise SystemExit(f"a command ends with {process.returncode}: {_last(log)}")


def _kill(process: "subprocess.Popen[bytes]", worker: bool) -> bool:
    """Kill one of its workers, or all of its group; whether something was there to be killed."""
    if process.poll() is not None:
        return False
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    try:
        if worker and workers:
            os.kill(int(workers[-1]), signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


# --- all of it ----------------------------------------------------------------------------------------------------


def told(found: Found) -> Found:
    said = "" if found.operations is None else f"{found.operations} operations, "
    print(
        f"{found.command}, {found.way}: {said}{found.tried} tried, {found.kills} kills, {found.wrong} wrong, "
        f"{found.litter} with litter",
        flush=True,
    )
    for line in found.failures[:5]:
        print(f"    {line}", flush=True)
    found.keep()
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--most", type=int, help="operations of each command more; default: all")
    words.add_argument("--command", action="append", choices=list(COMMANDS))
    words.add_argument("--writers", action="store_true", help="what all commands write with, and no command")
    words.add_argument("--random", type=int, default=10, help="kills of each command more at random moments")
    words.add_argument("--workers", type=int, help="kills of each command more with workers; default: all")
    asked = words.parse_args()
    os.environ |= ONE_THREAD  # threads would not come along into what is forked
    scales()
    every = not (asked.command or asked.writers)
    for name in WRITERS if asked.writers or every else ():
        told(at_every_pair(name, asked.most, keep=True))
    for name in asked.command or (COMMANDS if every else ()):
        if name not in WHOLE and asked.most != 0:
            told(at_every_operation(name, asked.most, keep=True))
    for name in POOLS if asked.workers != 0 else ():
        if every or name in (asked.command or ()):
            told(with_workers(name, asked.workers, keep=True))
    for name in GROUPS if asked.random else ():
        if every or name in (asked.command or ()):
            told(at_random(name, asked.random, keep=True))
    write_page()
    rows = rows_of(KILLS)
    bad = sum(row["wrong"] + row["litter"] for row in rows)
    print(f"{sum(row['kills'] for row in rows):,} kills, {bad} failures")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
