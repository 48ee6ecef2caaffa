"""A short version of `make kills`: a command that is killed at any of its file operations, and run again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.trust import kills

ROOT = Path(__file__).parents[1]
SCRIPT = """
import sys
from experiments.trust.kills import at_every_operation, scales
scales()
TRIED = {"draw --out": None, "draw --out FOLDER": None, "store prune --do": 4, "make concept-world --sheets": 3}
for name, most in TRIED.items():
    found = at_every_operation(name, most)
    print(found)
    assert found.kills and not found.failures, found
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_a_command_that_is_killed_anywhere_ends_in_the_same_bytes() -> None:
    """In an interpreter of its own: it forks, and forks of a test run would carry its threads along."""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, f"{ran.stdout[-2000:]} {ran.stderr[-2000:]}"


def test_a_command_is_started_from_nothing_wherever_the_caller_is(tmp_path: Path) -> None:
    """As those are that are killed at random moments."""
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(kills.SCRIPT)
    assert kills._started(script, tmp_path, ["list"], log).wait() == 0, log.read_text()
