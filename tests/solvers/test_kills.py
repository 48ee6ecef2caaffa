"""Kill a training at ten random moments, in the middle of a write or not: it ends in the same bytes."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from tests.solvers.objectives import KEY, LONG, TRAINING, checkpoints, learn

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]


def test_ten_kills_at_random_moments_leave_no_trace(tmp_path: Path) -> None:
    training, cut = replace(TRAINING, epochs=LONG), tmp_path / "cut"
    learn(tmp_path / "whole", training)
    for steps in (KEY / "kills").rng().integers(1, 40, size=10):
        command = [sys.executable, "-m", "tests.solvers.objectives", str(cut), "at once"]
        process = subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
        assert process.stdout
        for _ in range(steps):
            assert process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)  # it goes on meanwhile: in a step, or in the middle of a write
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    learn(cut, training)
    assert checkpoints(cut) == checkpoints(tmp_path / "whole")
    assert not list(cut.rglob(".part-*"))
