"""How many CURI episodes of 50 pictures a second become rows: python experiments/rows.py [EPISODES] [WORKERS] [FORM]

FORM is all, query (25 rows to an episode, each with 26 pictures) or sheet (one picture of 50).

The pictures are drawn before, and kept; what is timed is the export alone, by the clock and by processor time.
Memory is the most that a process held, with the pages of the mapped pictures that it had in sight.
"""

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import recombine as rc
from recombine.store.cards import rows_of


def spent() -> float:
    """Seconds of processor time, of this process and of workers that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in each)


def held() -> tuple[float, float]:
    """The most memory in GB: of this process, and of the largest of the workers that have ended."""
    each = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    mine, theirs = (one / 2**20 for one in each)
    return mine, theirs


def main(episodes: int, workers: int, form: str) -> None:
    settings = {"render": "images", "splits": ["counting"], "form": form}
    with TemporaryDirectory() as place:
        with rc.Curi("demo", "release", workers=workers, episodes=episodes) as curi:
            next(iter(curi.rows(**settings)))
        cpu, start = spent(), time.monotonic()
        with rc.Curi("demo", "release", workers=workers, episodes=episodes) as curi:
            curi.export(Path(place) / "rows", **settings)
        wall, cpu = time.monotonic() - start, spent() - cpu
        files = [*Path(place).rglob("*.parquet")]
        size, rows = sum(file.stat().st_size for file in files), sum(map(rows_of, files))
    print(f"{rows:,} rows, {size / 1e6:,.0f} MB, {workers} workers, started and ended: {wall:.1f} s by the clock,")
    print(f"{cpu:.1f} s of processor time: {rows / wall:,.0f} and {rows / cpu:,.0f} rows a second;")
    print("{:.2f} GB of memory here, at most {:.2f} GB in a worker".format(*held()))


if __name__ == "__main__":
    given = [*sys.argv[1:], *("300", "2", "all")[len(sys.argv) - 1 :]]
    main(int(given[0]), int(given[1]), given[2])
