"""Trains the scene parsers that stand beside their benchmarks; goes on where it was stopped.

A training has two halves: the second begins from the weights of the first, with half of the rate, twice as many
pictures, which are others, and looks closer.

python experiments/parsers.py clevr --runs runs           trains, calibrates, writes parser.safetensors
python experiments/parsers.py clevr --runs runs --scores  says how well it does on pictures held back
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import torch

from recombine.benchmarks import get
from recombine.solvers.parser_training import Lesson, taught
from recombine.solvers.scene_parsing import scores
from recombine.solvers.training.loop import Progress
from recombine.store.engine import engine
from recombine.store.store import Store


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("benchmark")
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--steps", type=int, help="other than usual: another run")
    options.add_argument("--width", type=int, help="of the network where it begins")
    options.add_argument("--closer", type=int, default=240, help="pixels along a picture in the second half")
    options.add_argument("--more", type=int, default=2_000, help="steps of the second half")
    options.add_argument("--out", type=Path, help="another file for the weights")
    options.add_argument("--scores", action="store_true")
    given = options.parse_args()
    torch.set_num_threads(1)
    benchmark = get(given.benchmark)
    lesson: Lesson = benchmark.part("sight:LESSON")
    chosen = {name: value for name in ("steps", "width") if (value := getattr(given, name)) is not None}
    lesson = replace(lesson, **chosen)
    folder = given.runs / f"parser-{given.benchmark}-{lesson.width}-{lesson.steps}"
    first, file = folder / "parser.safetensors", given.out or benchmark.part("sight:FILE")
    store = Store.default()
    with engine(given.workers) as workers:
        if not given.scores:
            if not first.exists():
                taught(lesson, folder, store, workers, told()).save(first)
            more = replace(
                lesson,
                seed=lesson.seed + 1,
                rate=lesson.rate / 2,
                pictures=2 * lesson.pictures,
                steps=given.more,
                along=given.closer,
                begin=first,
            )
            taught(
                more, folder.with_name(f"{folder.name}-more-{given.closer}-{given.more}"), store, workers, told()
            ).save(file)
        parser = benchmark.part("sight:parser")(file)
        found = scores(parser, replace(lesson, seed=lesson.seed + 1, along=parser.along).held(store, workers))
    print(file, {name: round(value, 4) for name, value in found.items()})


def told():
    """Says every 50 steps how far it is."""
    began = time.process_time()

    def watch(progress: Progress) -> None:
        if progress.step % 50 == 0:
            held = {name: round(value, 4) for name, value in progress.validation.items()}
            print(progress.step, round(progress.loss, 3), round(time.process_time() - began), held, flush=True)

    return watch


if __name__ == "__main__":
    main()
