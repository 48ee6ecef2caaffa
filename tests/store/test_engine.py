import os
import signal
import subprocess
import sys
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from recombine.store import progress
from recombine.store.engine import Engine, InProcess, Processes, engine, shard_bounds
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.progress import Bars

# A program whose two workers write one part and then hang in the next, having said so.
HANGING = """
import os, sys, time
from functools import partial
from pathlib import Path
from recombine.store.engine import Processes
from recombine.store.store import write_atomically

def write(name, part):
    part.write_text("half")
    if name >= 2:
        os.write(1, b"hanging\\n")
        time.sleep(600)
    part.write_text("whole")

def work(folder, name):
    write_atomically(folder / str(name), partial(write, name))

if __name__ == "__main__":
    with Processes(2) as engine:
        engine.map(partial(work, Path(sys.argv[1])), range(100), "parts")
"""


def numbers(key: Key, bounds: tuple[int, int]) -> list[float]:
    return [float((key / index).rng().random()) for index in range(*bounds)]


def threads(shard: int) -> tuple[str, str, int]:
    return os.environ["OMP_NUM_THREADS"], os.environ["NUMBA_NUM_THREADS"], pa.cpu_count()


def process_id(shard: int) -> int:
    return os.getpid()


def refuse_three(folder: Path, shard: int) -> int:
    if shard == 3:
        raise UserError("Three is not allowed.")
    (folder / str(shard)).touch()
    return shard


def die(shard: int) -> None:
    os._exit(1)


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as engine:
        yield engine


@pytest.fixture(params=["in process", "processes"])
def either(request, processes) -> Engine:
    return InProcess() if request.param == "in process" else processes


def test_results_do_not_depend_on_the_engine_or_the_number_of_workers(processes):
    work = partial(numbers, Key(7))
    shards = shard_bounds(50, 3)
    expected = InProcess().map(work, shards, "numbers")
    assert processes.map(work, shards, "numbers") == expected
    with engine(3) as three:
        assert three.map(work, shards, "numbers") == expected


def test_results_have_the_order_of_the_shards(either):
    assert either.map(abs, range(-30, 0), "sizes") == list(range(30, 0, -1))


def test_no_shards_give_no_results(either):
    assert either.map(abs, [], "nothing") == []


def test_work_is_done_by_workers_that_are_kept(processes):
    first = set(processes.map(process_id, range(20), "ids"))
    second = set(processes.map(process_id, range(20), "ids"))
    assert os.getpid() not in first
    assert len(first | second) <= 2


def test_one_shard_or_one_worker_runs_in_process(processes):
    assert processes.map(process_id, [0], "ids") == [os.getpid()]
    assert engine(1).map(process_id, [0, 1], "ids") == [os.getpid()] * 2


def test_workers_use_one_thread_and_the_parent_keeps_its_own(processes, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    with Processes(2) as fresh:
        assert fresh.map(threads, range(2), "threads") == [("1", "1", 1)] * 2
    assert os.environ["OMP_NUM_THREADS"] == "5"


def test_an_error_in_the_work_ends_the_map_and_not_the_engine(either, tmp_path):
    with pytest.raises(UserError, match="Three is not allowed"):
        either.map(partial(refuse_three, tmp_path), range(1000), "numbers")
    assert len(list(tmp_path.iterdir())) < 996
    assert either.map(abs, [-1, -2], "sizes") == [1, 2]


def test_a_worker_that_dies_is_reported_and_replaced(processes):
    with pytest.raises(UserError, match=r"worker was killed.*parts"):
        processes.map(die, range(10), "parts")
    assert processes.map(abs, [-1, -2], "sizes") == [1, 2]


def test_progress_counts_from_none_to_all():
    seen = []
    with Processes(2, lambda *report: seen.append(report)) as two:
        two.map(abs, range(9), "sizes")
    assert seen == [("sizes", done, 9) for done in range(10)]
    again = seen.copy()
    seen.clear()
    InProcess(lambda *report: seen.append(report)).map(abs, range(9), "sizes")
    assert seen == again


def test_few_shards_are_in_flight():
    taken, ahead = [], []

    class Shards(list):
        def __iter__(self):
            for shard in super().__iter__():
                taken.append(shard)
                yield shard

    with Processes(2, lambda label, done, total: ahead.append(len(taken) - done)) as two:
        two.map(abs, Shards(range(100)), "sizes")
    assert max(ahead) <= 8


def test_there_is_at_least_one_worker():
    with pytest.raises(UserError, match="at least 1"):
        engine(0)


@pytest.fixture
def hanging(tmp_path):
    """A running program with two workers that hang halfway through a part."""
    (tmp_path / "parts").mkdir()
    script = tmp_path / "hanging.py"
    script.write_text(HANGING)
    command = [sys.executable, script, tmp_path / "parts"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # Programs started in the background by some shells are deaf to Ctrl-C, and so are their children.
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(command, **pipes, **heed, text=True, start_new_session=True) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["hanging\n"] * 2
        yield process
        process.kill()


def test_ctrl_c_ends_the_program_and_its_workers_with_nothing_half_written(hanging, tmp_path):
    os.killpg(hanging.pid, signal.SIGINT)
    # The pipe closes when the last process that holds it has ended: the workers, too.
    _, errors = hanging.communicate(timeout=20)
    assert hanging.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert whole_parts(tmp_path) == {"0": "whole", "1": "whole"}


def test_killing_the_program_leaves_no_workers(hanging, tmp_path):
    hanging.kill()
    hanging.communicate(timeout=20)
    assert whole_parts(tmp_path) == {"0": "whole", "1": "whole"}


def whole_parts(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in (folder / "parts").glob("[!.]*")}


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(1, 50))
def test_shards_cover_everything_once(total, size):
    bounds = shard_bounds(total, size)
    assert [index for start, end in bounds for index in range(start, end)] == list(range(total))
    assert all(0 < end - start <= size for start, end in bounds)


def test_bars_show_label_count_and_rate_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BRIEF", 0.0)
    console = Console(file=StringIO(), force_terminal=True, width=100)
    with Bars(console) as bars:
        InProcess(bars).map(np.sqrt, [1.0, 4.0], "[roots]")
    assert "[roots]" in console.file.getvalue()
    assert "2/2" in console.file.getvalue()
    assert "/s" in console.file.getvalue()


def test_bars_print_one_line_per_label_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BRIEF", 0.0)
    console = Console(file=StringIO())
    with Bars(console) as bars:
        InProcess(bars).map(np.sqrt, [1.0, 4.0], "[roots]")
        assert console.file.getvalue() == "[roots]: 2 in 0 s\n"
        bars._started["[roots]"] -= 150
        bars("[roots]", 2, 2)
    assert console.file.getvalue().endswith("[roots]: 2 in 2 min 30 s\n")


def test_bars_are_silent_about_what_is_quick() -> None:
    console = Console(file=StringIO())
    with Bars(console) as bars:
        InProcess(bars).map(np.sqrt, [1.0, 4.0], "[roots]")
    assert console.file.getvalue() == ""
