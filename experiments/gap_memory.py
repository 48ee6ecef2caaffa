"""The most memory that `gap curi` holds: python experiments/gap_memory.py [SCENES] [SPLIT ...]

Scenes and truth table are made first, in a store of its own, which goes at the end.
"""

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import recombine as rc
from recombine.benchmarks.curi.pipeline import Scale
from recombine.store.store import Store


def main(scenes: int = 4_000_000, *splits: str) -> None:
    with TemporaryDirectory() as place:
        scale = Scale(f"{scenes} scenes", scenes, 2_000_000, 200, 50, 200)
        with rc.Curi(scale, "release", store=Store(Path(place))) as curi:
            for one in curi.gap(splits).of():
                print(f"{one.split}, {one.gap.metric}: a gap of {one.gap.gap.value:.2f}")
        size = sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file())
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{scenes:,} scenes, a store of {size / 2**30:.1f} GB: at most {held:.2f} GB of memory, ", end="")
    print(f"{time.process_time() / 60:.1f} minutes of processor time")


if __name__ == "__main__":
    main(*(int(one) if one.isdigit() else one for one in sys.argv[1:]))  # type: ignore[arg-type]
