"""What a million scenes, pictures, questions and episodes cost, with one, two and more workers: by the clock, and by
the processor time of all workers, which other work on the machine changes little.

    python experiments/scaling.py [WORKERS ...]
"""

import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import recombine as rc
from recombine.benchmarks.clevr.pipeline import ClevrScale

SCENES, PICTURES, IMAGES, EPISODES, TABLE = 1_310_720, 8_000, 4_000, 4_000, 262_144


def spent() -> float:
    """Seconds of processor time, of this process and of workers that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in each)


def stages(home: Path, workers: int) -> Iterator[tuple[str, int, Callable[[], object]]]:
    """What is made, how much of it, and what makes it; workers start and end within."""
    store = rc.Store(home)

    def curi(work: Callable[[rc.Curi], object], scenes: int, test: int = 10) -> None:
        scale = rc.Scale("scaling", scenes, 20_000, 10, 10, test)
        with rc.Curi(scale, "release", workers=workers, store=store) as study:
            work(study)

    def clevr() -> None:
        with rc.Clevr(ClevrScale("scaling", IMAGES, 10, 10, 10), workers=workers, store=store) as study:
            study.make()

    yield "CURI scenes", SCENES, lambda: curi(lambda study: study.scenes_given(), SCENES)
    yield (
        "pictures of 240 x 160",
        PICTURES,
        lambda: curi(lambda study: study.make(render="images", first=PICTURES), 16_384),
    )
    yield "scenes in the truth table", TABLE, lambda: curi(lambda study: study.study.table_folder, TABLE, EPISODES)
    yield (
        "CURI episodes",
        EPISODES,
        lambda: curi(lambda study: study.study.episodes_folder("counting", "test", "hard"), TABLE, EPISODES),
    )
    yield "CLEVR questions, with their scenes", 10 * (IMAGES + 20), clevr


def main(several: list[int]) -> None:
    for workers in several:
        with TemporaryDirectory() as place:
            for name, many, make in stages(Path(place), workers):
                cpu, start = spent(), time.monotonic()
                make()
                wall, cpu = time.monotonic() - start, spent() - cpu
                million = cpu / many * 1e6 / 3600
                print(
                    f"{name}, {workers} workers: {many:,} in {wall:.1f} s by the clock, {cpu:.1f} s of processor time: "
                    f"{million:.3g} core-hours a million",
                    flush=True,
                )


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [1, 2])
