"""Compiled loops are made anew when a loop that they call changes, wherever it lives."""

import os
import subprocess
import sys
from pathlib import Path

from recombine.store.compiled import digest_of

CALLEE = "from recombine.store.compiled import compiled\n\n@compiled\ndef add(a):\n    return a + {}\n"
CALLER = """from recombine.store.compiled import compiled
from recombine_probe.callee import add

@compiled
def twice(a):
    return add(add(a))
"""


def ran(folder: Path) -> str:
    script = "from recombine_probe.caller import twice; print(twice(1), sum(twice.stats.cache_hits.values()))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    env.pop("NUMBA_DISABLE_JIT", None)
    return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout


def test_editing_a_callee_in_another_file_recompiles_the_caller(tmp_path: Path) -> None:
    package = tmp_path / "recombine_probe"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "callee.py").write_text(CALLEE.format(1))
    (package / "caller.py").write_text(CALLER)
    assert ran(tmp_path) == "3 0\n"
    assert ran(tmp_path) == "3 1\n"  # kept
    (package / "callee.py").write_text(CALLEE.format(10))
    assert ran(tmp_path) == "21 0\n"


def test_a_digest_follows_imports_through_files_with_loops() -> None:
    import recombine.solvers.oracle as oracle
    import recombine.tasks.episodes as episodes

    assert digest_of(Path(oracle.__file__)) != digest_of(Path(episodes.__file__))
