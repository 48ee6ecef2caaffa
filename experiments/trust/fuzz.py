"""Mutated inputs for every reader: no traceback, no hang, no bomb.

    python -m experiments.trust.fuzz                      a million inputs over all readers (`make fuzz`)
    python -m experiments.trust.fuzz --inputs 40000       fewer
    python -m experiments.trust.fuzz --reader "pictures (PNG)" --inputs 2000 --more    after those that were kept
    python -m experiments.trust.fuzz --reader "pictures (PNG)" --number 123    one input again, with its traceback

Every reader has an interpreter of its own. Its inputs are numbered, and the same number is the same input everywhere.
What was found is kept in docs/results/trust/fuzz.json and told in docs/results/trust.md.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path

from experiments.trust.more_readers import MORE
from experiments.trust.new_readers import NEW
from experiments.trust.page import FUZZ, keep, rows_of, write_page
from experiments.trust.readers import READERS as FIRST
from experiments.trust.readers import Reader, wellbehaved
from recombine.store.errors import UserError

READERS = {**FIRST, **MORE, **NEW}
INPUTS, LEAST = 1_000_000, 10_000
LIMIT = 2.0
"""Seconds of CPU time that an input may take."""
MOST_MEMORY = 2**30
ROOM = 12 * 2**30
"""Bytes of address space: what wants more gets a MemoryError, which is a failure."""


class Hang(BaseException):
    """An input took too long."""


@dataclass
class Found:
    """What came of a reader."""

    reader: str
    inputs: int = 0
    refused: int = 0
    tracebacks: int = 0
    hangs: int = 0
    slowest: float = 0.0
    memory: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


def fuzz(name: str, numbers: range) -> Found:
    """Read the inputs of these numbers."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        os.environ["RECOMBINE_HOME"] = f"{place}/home"
        folder = Path(place) / "reader"
        folder.mkdir()
        reader, found, start = READERS[name](folder), Found(name), time.process_time()
        warm(reader)
        before = signal.signal(signal.SIGPROF, _hang)
        try:
            for number in numbers:
                _try(reader, number, found)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    found.seconds = time.process_time() - start
    found.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


def warm(reader: Reader) -> None:
    """Every sample once: loops are compiled and modules imported before time is taken."""
    for sample in reader.samples:
        try:
            reader.read(sample)
        except UserError as error:
            wellbehaved(error)


def _hang(*_: object) -> None:
    raise Hang


def _try(reader: Reader, number: int, found: Found, limit: float = LIMIT) -> None:
    data, start = reader.input(number), time.process_time()
    found.inputs += 1
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        reader.read(data)
        signal.setitimer(signal.ITIMER_PROF, 0)
    except UserError as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        found.refused += 1
        try:
            wellbehaved(error)
        except Exception as odd:
            found.tracebacks += 1
            found.failures.append(f"{number}: {odd!r:.300}")
    except Hang:
        found.hangs += 1
        found.failures.append(f"{number}: over {LIMIT:g} s")
    except Exception as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        found.tracebacks += 1
        place = traceback.extract_tb(error.__traceback__)[-1]
        found.failures.append(f"{number}: {type(error).__name__}: {error!s:.200} ({place.filename}:{place.lineno})")
    found.slowest = max(found.slowest, time.process_time() - start)


def again(name: str, number: int) -> None:
    """One input, with all that it says."""
    with tempfile.TemporaryDirectory() as place:
        os.environ["RECOMBINE_HOME"] = f"{place}/home"
        folder = Path(place) / "reader"
        folder.mkdir()
        reader = READERS[name](folder)
        data = reader.input(number)
        print(f"{len(data):,} bytes: {data[:2_000]!r}")
        print(reader.read(data))


def in_process_of_its_own(name: str, inputs: int, first: int) -> Found:
    words = [f"--reader={name}", "--inputs", str(inputs), "--first", str(first), "--as-json"]
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "experiments.trust.fuzz", *words], capture_output=True, text=True
    )
    if ran.returncode:
        died = f"the interpreter ended with {ran.returncode}: {ran.stderr[-600:]}"
        return Found(name, tracebacks=1, failures=[died])
    return Found(**json.loads(ran.stdout.splitlines()[-1]))


def joined(one: Found, two: Found) -> Found:
    return Found(
        one.reader,
        *(getattr(one, n) + getattr(two, n) for n in ("inputs", "refused", "tracebacks", "hangs")),
        max(one.slowest, two.slowest),
        max(one.memory, two.memory),
        one.seconds + two.seconds,
        one.failures + two.failures,
    )


def all_readers(inputs: int, names: list[str]) -> list[Found]:
    """Every reader its least; the rest goes to those that are quick. Kept reader by reader, in place of what was."""
    least = min(LEAST, -(-inputs // len(names)))
    found = {name: _kept(in_process_of_its_own(name, least, 0)) for name in names}
    left = inputs - sum(one.inputs for one in found.values())
    quick = sorted(found.values(), key=lambda one: one.seconds / max(1, one.inputs))[: max(1, len(names) // 3)]
    for place, one in enumerate(quick):
        share = -(-left // (len(quick) - place))
        if share > 0:
            more = in_process_of_its_own(one.reader, share, one.inputs)
            found[one.reader] = _kept(joined(one, more))
            left -= more.inputs
    return list(found.values())


def more_of(name: str, inputs: int) -> Found:
    """So many inputs after those that were kept before."""
    before = next((Found(**row) for row in rows_of(FUZZ) if row["reader"] == name), Found(name))
    return _kept(joined(before, in_process_of_its_own(name, inputs, before.inputs)))


def _kept(found: Found) -> Found:
    rows = {row["reader"]: row for row in rows_of(FUZZ)} | {found.reader: asdict(_told(found))}
    keep(FUZZ, [rows[name] for name in READERS if name in rows])
    return found


def _told(found: Found) -> Found:
    bad = found.tracebacks + found.hangs
    speed = found.inputs / max(found.seconds, 1e-9)
    print(f"{found.reader}: {found.inputs:,} inputs, {speed:,.0f} a second, {bad} failures", flush=True)
    for line in found.failures[:5]:
        print(f"    {line}", flush=True)
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--inputs", type=int, default=INPUTS)
    words.add_argument("--reader", action="append", choices=list(READERS))
    words.add_argument("--number", type=int)
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--more", action="store_true", help="go on after what was kept of these readers")
    words.add_argument("--as-json", action="store_true")
    asked = words.parse_args()
    names = asked.reader or list(READERS)
    if asked.number is not None:
        again(names[0], asked.number)
    elif asked.as_json:
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
        numbers = range(asked.first, asked.first + asked.inputs)
        found = fuzz(names[0], numbers)
        print(json.dumps({**asdict(found), "failures": found.failures[:100]}))
    else:
        results = [more_of(name, asked.inputs) for name in names] if asked.more else all_readers(asked.inputs, names)
        bad = sum(one.tracebacks + one.hangs for one in results)
        write_page()
        print(f"{sum(one.inputs for one in results):,} inputs, {bad} failures")
        sys.exit(1 if bad or max(one.memory for one in results) > MOST_MEMORY else 0)


if __name__ == "__main__":
    main()
