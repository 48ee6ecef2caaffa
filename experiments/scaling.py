"""How many scenes a second one, two and more workers make: python experiments/scaling.py [WORKERS ...]"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import recombine as rc

SCENES = 655_360


def scenes_a_second(workers: int) -> float:
    """With workers that are there already, and have everything compiled."""
    scale = rc.Scale("scaling", SCENES, 2_000_000, 10, 10, 10)
    with TemporaryDirectory() as home, rc.Curi(scale, workers=workers, store=rc.Store(Path(home))) as curi:
        curi.engine.map(abs, range(4 * workers), "warm")
        start = time.monotonic()
        curi.scenes_given()
        return SCENES / (time.monotonic() - start)


if __name__ == "__main__":
    for workers in map(int, sys.argv[1:] or ("1", "2")):
        print(f"{workers} workers: {scenes_a_second(workers):,.0f} scenes a second", flush=True)
