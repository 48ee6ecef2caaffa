"""Speed: what a part costs beside its plain reference, in CPU time of one core and one run."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Speed:
    """Seconds per item: ours, the plain reference's (if there is one), the target, and the released code's if known."""

    what: str
    ours: float
    plain: float | None
    target: float
    released: float | None


def cpu(run: Callable[[], object], items: int) -> float:
    """CPU seconds per item."""
    start = time.process_time()
    run()
    return (time.process_time() - start) / items


def interpreted(setup: str, statement: str, items: int) -> float:
    """CPU seconds per item of a statement whose compiled loops run as plain Python, in a process of its own."""
    script = f"import time\n{setup}\nstart = time.process_time()\n{statement}\nprint(time.process_time() - start)"
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run([sys.executable, "-c", script], env=plain, capture_output=True, text=True, check=True)
    return float(ran.stdout) / items
