"""Commands that are killed while they write, and run again: nothing is lost, nothing is mixed, nothing stays behind.

    python -m experiments.trust.kills                    every command, at every file operation and at random moments
    python -m experiments.trust.kills --most 40          at most so many kills of each command
    python -m experiments.trust.kills --command "show"   one command

Two ways to die. *At every operation*: the command runs in a process that has been forked from one in which everything
is compiled, and kills itself at its k-th file operation, for every k: before a file is opened, written to the disk
(with half of its bytes), renamed, linked or removed, and before a folder is made or removed. *At random moments*: the
command runs as people run it, with two workers; a worker, or the whole group, is killed after a random time.

Then the same command is run again, and what is there must be, byte for byte, what an undisturbed run leaves; of times
and places of work, which differ between any two runs, the names alone. What was found is kept in
docs/results/trust/kills.json and told in docs/results/trust.md.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from experiments.trust.page import KILLS, keep, rows_of, write_page

EVENTS = {
    "open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "os.symlink", "os.chmod", "os.truncate",
    "shutil.rmtree", "shutil.copyfile",
}  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SPENT = ("seconds", "cpu_seconds")
TIMED = ("spent.json", "environment.json", "metrics.parquet")
REFUSED = 2
FOREVER = 180.0
"""Seconds after which a command hangs."""


@dataclass(frozen=True)
class Command:
    """What is run in a folder that holds what `ready` has put there; `make` are commands that are run before."""

    words: Sequence[str]
    make: Sequence[Sequence[str]] = ()
    goes: bool = False
    """Whether it removes things, so that a second run finds nothing to do."""


TINY = ("--scale", "tiny", "--workers", "1")
CURI = ("make", "curi", *TINY, "--split", "counting")
LEARN = ("train", "concept-world", "--split", "sequences", "--model", "mlp", "--epochs", "1")
TRAIN = (*LEARN, *TINY, "--out", "runs")
DRAW = ("--render", "images", "--size", "8x8", "--first", "2")
COMMANDS = {
    "make curi": Command([*CURI, "--out", "data"]),
    "make curi --render": Command(
        [*CURI, "--render", "images", "--size", "8x8", "--first", "2", "--out", "data"], [CURI]
    ),
    "make clevr --format json": Command(["make", "clevr", *TINY, "--format", "json", "--out", "data"]),
    "make concept-world --sheets": Command(
        ["make", "concept-world", *TINY, "--split", "sequences", "--sheets", "--out", "data"]
    ),
    "render": Command(
        ["render", "data", "--size", "8x8", "--first", "2", "--workers", "1", "--out", "pics"],
        [[*CURI, "--out", "data"]],
    ),
    "gap --out": Command(["gap", "curi", *TINY, "--split", "counting", "--out", "gap.json"], [CURI]),
    "report (.md)": Command(["report", "concept-world", *TINY, "--out", "page/report.md"]),
    "show --out": Command(["show", "curi/counting", *TINY, "--out", "episode.html"], [CURI]),
    "draw --out": Command(["draw", "red", "--n", "3", "--out", "sheet.png", "--graph", "graph.svg"]),
    "draw --out FOLDER": Command(["draw", "red", "--n", "3", "--out", "images"]),
    "train": Command(TRAIN),
    "table --out": Command(["table", "concept-world", "runs", "--out", "page/runs.md"], [TRAIN]),
    "check --store": Command(["check", "concept-world", *TINY, "--store"], [CURI]),
    "store prune --do": Command(["store", "prune", "--recipe", "episodes", "--do"], [CURI], goes=True),
    "store sweep --do": Command(["store", "sweep", "--do"], [CURI], goes=True),
}
GROUPS = ("make curi", "make clevr --format json", "render", "train", "demo")
"""Commands that are killed at random moments, with two workers."""


@dataclass
class Found:
    command: str
    how: str
    operations: int | None = None
    kills: int = 0
    wrong: int = 0
    litter: int = 0
    failures: list[str] = field(default_factory=list)


# --- running ------------------------------------------------------------------------------------------------------


def scales() -> None:
    """Scales that are small enough to be made a thousand times."""
    from recombine.benchmarks.clevr import pipeline as clevr
    from recombine.benchmarks.concept_world import pipeline as concept_world
    from recombine.benchmarks.curi import pipeline as curi

    curi.SCALES["tiny"] = curi.Scale("tiny", 1_500, 20_000, 6, 3, 6)
    clevr.CLEVR_SCALES["tiny"] = clevr.ClevrScale("tiny", 4, 2, 2, 2)
    concept_world.SHARES["tiny"] = 0.001


def run(words: Sequence[str], place: Path) -> int:
    """A command in this process."""
    from recombine import cli

    os.chdir(place)
    os.environ["RECOMBINE_HOME"] = str(place / "home")
    sys.argv = ["recombine", *words]
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
    end = time.monotonic() + FOREVER
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 98


class Dying:
    """Counts the file operations of this process, and ends it at one of them."""

    def __init__(self, inside: Path, at: int | None) -> None:
        self.inside, self.at, self.done = str(inside), at, 0

    def begin(self) -> None:
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
        return isinstance(flags, int) and bool(flags & WRITING) and str(path) not in ("/dev/null", "/dev/tty")

    def _count(self, last: Callable[[], None]) -> None:
        self.done += 1
        if self.done == self.at:
            last()
            os.kill(os.getpid(), signal.SIGKILL)

    @staticmethod
    def _tear(descriptor: int) -> None:
        """A write that was not finished: half of the bytes."""
        try:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
        except OSError:  # a folder, or opened for reading
            return


def operations(words: Sequence[str], place: Path, log: Path) -> int:
    """How many file operations a command has."""
    told = place.parent / "operations"

    def work() -> int:
        dying = Dying(place, None)
        dying.begin()
        code = run(words, place)
        told.write_text(str(dying.done))
        return code

    code = forked(work, log)
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(words)} ends with {code}: {log.read_text()[-2000:]}")
    return int(told.read_text())


def killed(words: Sequence[str], place: Path, at: int, log: Path) -> int:
    def work() -> int:
        Dying(place, at).begin()
        return run(words, place)

    return forked(work, log)


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
    if file.suffix in (".md", ".html"):  # pages of runs tell what they cost
        return "a page" if b"What it cost" in content else hashlib.blake2b(content).hexdigest()
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


def at_every_operation(name: str, most: int | None) -> Found:
    command, found = COMMANDS[name], Found(name, "at every file operation")
    with workshop() as shop:
        ready, log = shop / "ready", shop / "log"
        ready.mkdir()
        for words in command.make:
            code = forked(lambda words=words: run(words, ready), log)  # type: ignore[misc]
            if code not in (0, 1):
                raise SystemExit(f"{' '.join(words)} ends with {code}: {log.read_text()[-2000:]}")
        place = shop / "place"
        copy(ready, place)
        forked(lambda: run(command.words, place), log)  # what is compiled is kept beside the sources
        copy(ready, place)
        found.operations = operations(command.words, place, log)
        expected = tree(place)
        step = 1 if most is None else max(1, -(-found.operations // most))
        found.how = "at every file operation" if step == 1 else f"at one of {step} file operations"
        for at in range(1, found.operations + 1, step):
            copy(ready, place)
            log.unlink(missing_ok=True)
            code = killed(command.words, place, at, log)
            if code != -signal.SIGKILL:
                continue  # it had fewer operations this time
            found.kills += 1
            code = forked(lambda: run(command.words, place), log)
            wrong = difference(expected, tree(place))
            if code not in ((0, 1, REFUSED) if not wrong else (0, 1)):  # what is there whole already may be refused
                wrong = f"ends with {code}: {_last(log)}"
            left = litter(place)
            if wrong:
                found.wrong += 1
                found.failures.append(f"operation {at}: {wrong}")
            if left:
                found.litter += 1
                found.failures.append(f"operation {at}: left {', '.join(left[:3])}")
    return found


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


def at_every_pair(name: str, most: int | None) -> Found:
    """Kill a writer at an operation, and the one that takes it up at another; the third must leave all as it should."""
    write, found = WRITERS[name], Found(name, "twice, at every pair of file operations")
    with workshop() as shop:
        place, log, told_at = shop / "place", shop / "log", shop / "operations"

        def written(at: int | None) -> int:
            dying = Dying(place, at)

            def work() -> int:
                dying.begin()
                write(place)
                told_at.write_text(str(dying.done))
                return 0

            return forked(work, log)

        place.mkdir()
        if written(None):
            raise SystemExit(f"{name}: {log.read_text()[-2000:]}")
        found.operations, expected = int(told_at.read_text()), tree(place)
        if most is not None and most < found.operations**2:
            found.how = f"twice, at {most:,} pairs of file operations"
        pairs = [(one, two) for one in range(1, found.operations + 1) for two in range(1, found.operations + 1)]
        for one, two in pairs if most is None or len(pairs) <= most else random.Random(0).sample(pairs, most):
            shutil.rmtree(place)
            place.mkdir()
            found.kills += sum(written(at) == -signal.SIGKILL for at in (one, two))
            code = written(None)
            wrong = difference(expected, tree(place)) or (f"ends with {code}: {_last(log)}" if code else "")
            left = litter(place)
            found.wrong += bool(wrong)
            found.litter += bool(left)
            found.failures += [f"{one}, {two}: {wrong or left[:3]}"] if wrong or left else []
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
if __name__ == "__main__":
    scales()
    sys.exit(run(sys.argv[2:], Path(sys.argv[1])))
"""
DEMO = Command(["demo", "--out", "demo.html", "--workers", "2"])


def at_random(name: str, kills: int, chance: random.Random) -> Found:
    """Kill a worker or the whole group of a command with two workers, and run it again."""
    found = Found(name, "workers and groups, at random moments")
    command = DEMO if name == "demo" else COMMANDS[name]
    words = [*command.words]
    if "--workers" in words:
        words[words.index("--workers") + 1] = "2"
    with workshop() as shop:
        ready, place, script = shop / "ready", shop / "place", shop / "script.py"
        ready.mkdir()
        script.write_text(SCRIPT)
        for before in command.make:
            _started(script, ready, before).wait(FOREVER)
        copy(ready, place)
        start = time.monotonic()
        whole = _started(script, place, words)
        if whole.wait(FOREVER) not in (0, 1):
            raise SystemExit(f"{name} ends with {whole.returncode}")
        took, expected = time.monotonic() - start, tree(place)
        for number in range(kills):
            copy(ready, place)
            process = _started(script, place, words)
            time.sleep(chance.uniform(0.3, 1.0) * took)
            found.kills += _kill(process, worker=number % 2 == 1)
            process.wait(FOREVER)
            again = _started(script, place, words)
            code = again.wait(FOREVER)
            wrong = difference(expected, tree(place)) if code in (0, 1) else f"ends with {code}"
            left = litter(place)
            found.wrong += bool(wrong)
            found.litter += bool(left)
            found.failures += [f"kill {number}: {wrong or left[:3]}"] if wrong or left else []
    return found


def _started(script: Path, place: Path, words: Sequence[str]) -> "subprocess.Popen[bytes]":
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-W", "ignore", str(script), str(place), *words]
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)


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
        f"{found.command}, {found.how}: {said}{found.kills} kills, {found.wrong} wrong, {found.litter} with litter",
        flush=True,
    )
    for line in found.failures[:5]:
        print(f"    {line}", flush=True)
    return found


def kept(found: Found) -> Found:
    """Kept command by command, in place of what was."""
    told(found)
    row = {**asdict(found), "failures": found.failures[:20]}
    rows = {(one["command"], one["how"]): one for one in rows_of(KILLS)} | {(found.command, found.how): row}
    keep(KILLS, list(rows.values()))
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--most", type=int, help="kills of each command; default: at every operation")
    words.add_argument("--command", action="append", choices=list(COMMANDS))
    words.add_argument("--writers", action="store_true", help="what all commands write with, and no command")
    words.add_argument("--random", type=int, default=10, help="kills of each command at random moments")
    asked = words.parse_args()
    scales()
    results = [kept(at_every_pair(name, asked.most)) for name in WRITERS if asked.writers or not asked.command]
    results += [
        kept(at_every_operation(name, asked.most)) for name in asked.command or (() if asked.writers else COMMANDS)
    ]
    chance, often = random.Random(0), [name for name in GROUPS if asked.random and not (asked.command or asked.writers)]
    results += [kept(at_random(name, asked.random, chance)) for name in often]
    write_page()
    bad = sum(one.wrong + one.litter for one in results)
    print(f"{sum(one.kills for one in results):,} kills, {bad} failures")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
