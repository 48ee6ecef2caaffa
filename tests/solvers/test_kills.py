"""Kill a training at ten random moments, in the middle of a write or not: it ends in the same bytes."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from tests.solvers.lessons import KEY, LONG, TRAINING, checkpoints, learn

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]


def test_ten_kills_at_random_moments_leave_no_trace(tmp_path: Path) -> None:
    training, rng = replace(TRAINING, epochs=LONG), (KEY / "kills").rng()
    learn(tmp_path / "whole", training)
    cut, kills = tmp_path / "cut", 0
    while kills < 10:
        command = [sys.executable, "-m", "tests.solvers.lessons", str(cut), "at once"]
        process = subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
        assert process.stdout and process.stdout.readline()  # it has begun
        time.sleep(rng.uniform(0, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was at its end before it was killed: make it longer"
        kills += 1
    learn(cut, training)
    assert checkpoints(cut) == checkpoints(tmp_path / "whole")
    assert not list(cut.rglob(".part-*"))
