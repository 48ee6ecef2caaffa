"""Trains the scene parsers that stand beside their benchmarks; goes on where it was stopped.

A parser finds objects in the whole picture and then looks closer at each: two networks, one trained after the other.
What finds solids learns first to find them and to say what they are, then only to find them.

python experiments/parsers.py clevr --runs runs           trains, calibrates, writes parser.safetensors
python experiments/parsers.py clevr --runs runs --scores  says how well it does on pictures held back
python experiments/parsers.py super-clevr --runs runs     the same for vehicles: a detector, then a closer look
python experiments/parsers.py clevr --against super-clevr shows a parser another world, whose objects it then refuses
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import torch

from recombine.benchmarks import get
from recombine.solvers.attribute_training import AttributeLesson, closer_taught
from recombine.solvers.parser_training import Lesson, against, taught, with_closer
from recombine.solvers.perception import Parser
from recombine.solvers.scene_labels import pictures_of
from recombine.solvers.scene_parsing import scores
from recombine.solvers.training.loop import Progress
from recombine.store.engine import engine
from recombine.store.key import Key
from recombine.store.store import Store

SIZE = 320, 240
LOOKED_AT = 300
"""Pictures from which it is known how unsure a parser usually is."""
SHOWN = 200
"""Pictures of each world from which a parser learns to tell them."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("benchmark")
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--steps", type=int, help="other than usual: another run")
    options.add_argument("--width", type=int, help="of the network where it begins")
    options.add_argument("--begin", type=Path, help="a parser of the same width, in place of the first training")
    options.add_argument("--out", type=Path, help="another file for the weights")
    options.add_argument("--scores", action="store_true")
    options.add_argument("--against", help="a benchmark whose pictures the parser is to refuse; trains nothing")
    given = options.parse_args()
    torch.set_num_threads(1)
    benchmark = get(given.benchmark)
    if given.against:
        refuse(benchmark, get(given.against), given.out or benchmark.part("sight:FILE"))
    elif given.benchmark == "super-clevr":
        vehicles(given, benchmark)
    else:
        solids(given, benchmark)


def solids(given, benchmark) -> None:
    """The parser of solids: what finds them learns to say what they are too, then something looks closer."""
    lesson: Lesson = benchmark.part("sight:LESSON")
    chosen = {name: value for name in ("steps", "width") if (value := getattr(given, name)) is not None}
    lesson = replace(lesson, **chosen)
    folder = given.runs / f"parser-{given.benchmark}-{lesson.width}-{lesson.steps}"
    first, file = given.begin or folder / "parser.safetensors", given.out or benchmark.part("sight:FILE")
    store = Store.default()
    with engine(given.workers) as workers:
        if not given.scores:
            if not first.exists():
                taught(lesson, folder, store, workers, told()).save(first)
            finding = replace(benchmark.part("sight:FINDING"), width=lesson.width, begin=first)
            where = folder.with_name(f"{folder.name}-finding-{finding.along}-{finding.steps}")
            detector = taught(finding, where, store, workers, told())
            closer: AttributeLesson = benchmark.part("sight:CLOSER")
            where = given.runs / f"parser-{given.benchmark}-closer-{closer.pictures}-{closer.steps}"
            look = closer_taught(closer, where, store, workers, told())
            scenes = closer.world.sample(LOOKED_AT, closer.key / "usual")
            with_closer(detector, look, pictures_of(closer.world, scenes, SIZE)[0]).save(file)
        parser = Parser.load(file)
        found = scores(parser, replace(lesson, seed=lesson.seed + 1, along=SIZE[0]).held(store, workers))
    print(file, {name: round(value, 4) for name, value in found.items()})


def vehicles(given, benchmark) -> None:
    """The parser of vehicles: with parts and textures, so that plain ones are seen too."""
    from recombine.benchmarks.super_clevr.trained import Parsers

    chosen = {} if given.steps is None else {"steps": given.steps}
    file = given.out or benchmark.part("sight:FILE")
    with engine(given.workers) as workers:
        Parsers(given.runs, Store.default(), workers, told, **chosen).parser("hard").save(file)
    print(file)


def refuse(benchmark, other, file: Path) -> None:
    """Teach a parser to tell objects of another world from its own."""
    pictures = {}
    for one in (benchmark, other):
        lesson: Lesson = one.part("sight:LESSON")
        scenes = lesson.world.sample(SHOWN, lesson.key / "shown to another")
        pictures[one.name] = pictures_of(lesson.world, scenes, lesson.size)[0]
    found = against(Parser.load(file), *pictures.values(), Key(0) / "against" / other.name)
    found.save(file)
    for name, some in pictures.items():
        print(name, "refused", float((found.perceive(some).strange > 1).mean()))


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
