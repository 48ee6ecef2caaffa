"""CLEVR from pixels: the parser on new pictures, and NS-VQA's accuracy with what it sees.

    python experiments/clevr_pixels.py --scenes 300 --run runs/closure-zero-shot-span-parser-0

Questions are read by a trained span parser or generator (`recombine train closure --model span-parser`), or without a
run by CLEVR's own English, which gives their programs exactly. They are run on the likeliest scene.
"""

import argparse
import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from recombine.benchmarks.clevr import sight
from recombine.benchmarks.clevr.english import read
from recombine.benchmarks.clevr.meaning import answer_text, trace
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, clevr_scale
from recombine.benchmarks.clevr.program import TOKENS, read_program
from recombine.benchmarks.clevr.trace import plain_scene
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.language.expr import Expr
from recombine.metrics.intervals import Interval, share
from recombine.render.raytrace import raytrace
from recombine.report.figures import stand_alone
from recombine.report.scatter import Dot, scatter_chart
from recombine.solvers.perception import AT_ONCE
from recombine.solvers.programs import NULL
from recombine.solvers.scene_labels import labels_of
from recombine.solvers.scene_parsing import CLOSE, matched
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store, read_table
from recombine.store.writing import write_text

BINS = (0.0, 0.6, 0.8, 0.95, 0.99, 0.999, 1.0)
FRESH = 600
"""Pictures for the figure."""
NAMED = 0.97
"""Mean beliefs below which a dot has a name: above they stand too close."""
FEWEST = 15
"""Objects without which a dot says nothing."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scenes", type=int, default=100, help="of the validation part, at scale demo")
    options.add_argument("--seed", type=int, default=0, help="of the world whose scenes are looked at")
    options.add_argument("--run", type=Path, help="a span parser or generator of closure, trained at scale demo")
    options.add_argument("--parser", type=Path, default=sight.FILE)
    options.add_argument("--figure", type=Path, help="writes how sure the parser is, and how often it is right")
    given = options.parse_args()
    torch.set_num_threads(1)
    study = ClevrPipeline(clevr_scale("demo"), given.seed, Store.default())
    scenes = study.scenes("val")[: given.scenes]
    parser = sight.parser(given.parser)
    pictures = raytrace(scenes, 320, 240, ("rgb", "objects"))
    assert pictures.rgb is not None and pictures.objects is not None
    parser.perceive(pictures.rgb[:AT_ONCE])  # the first time takes longer
    began = time.process_time()
    seen = sight.in_order(parser, parser.perceive(pictures.rgb))
    spent = (time.process_time() - began) / len(scenes)
    print(f"{1 / spent:.0f} pictures a second on one thread")
    pairs = matched(labels_of(scenes, pictures.objects), seen.centre, seen.count, CLOSE)
    said = sight.likeliest(seen)
    print(f"objects found {len(pairs.picture) / pairs.objects:.4f} of {pairs.objects}, perceived {pairs.perceived}")
    for name in said.codes:
        right = said.codes[name][pairs.picture, pairs.said] == scenes.codes[name][pairs.picture, pairs.true]
        print(f"{name} {right.mean():.4f}")
    table = read_table(study.questions_folder("val"))
    programs = (
        [read(text) for text in table["question"].to_pylist()] if given.run is None else written(given.run, study)
    )
    rows = [(row, one) for row, one in zip(table.to_pylist(), programs) if row["image_index"] < len(scenes)]
    related = sight.related(said)
    right, same = 0, 0
    for row, program in rows:
        same += program is read_program(json.loads(row["program"]), scenes.vocabulary)
        last = None if program is None else trace(program, plain_scene(said, row["image_index"], related))[-1]
        right += last is not None and last.value is not None and answer_text(last.kind, last.value) == row["answer"]
    print(f"{len(rows)} questions: right {right / len(rows):.4f}; read as their own program {same / len(rows):.4f}")
    if given.figure:
        drawn(given.figure, parser)
    print("beliefs:", {name: calibration(seen, scenes, pairs, name) for name in said.codes})


def written(run: Path, study: ClevrPipeline) -> list[Expr | None]:
    """The programs that a run writes for all validation questions; None for what is no program."""
    from recombine.benchmarks.closure.arrays import Data
    from recombine.benchmarks.closure.networks import NETWORKS
    from recombine.benchmarks.closure.pipeline import ClosurePipeline, closure_scale
    from recombine.benchmarks.networks import job_of
    from recombine.solvers.parsing import write
    from recombine.solvers.training.loop import load_best
    from recombine.solvers.training.records import identity_of, read_config

    config = read_config(run)
    job, data = job_of(config, run), Data(ClosurePipeline(study, closure_scale("demo").closure))
    network = NETWORKS.network(job, data)
    load_best(run / "checkpoints" / "best.safetensors", network, identity_of(config))
    found: list[Expr | None] = []
    for tokens in write(getattr(network, "generator", network).eval(), data.clevr("val")):
        try:
            found.append(TOKENS.read(TOKENS.words[t] for t in tokens if t != NULL))
        except UserError:
            found.append(None)
    return found


def drawn(file: Path, parser) -> None:
    """How often the likeliest value is right, by how sure the parser is of it, in new pictures."""
    scenes, dots = ClevrWorld().sample(FRESH, Key(0) / "calibration figure"), []
    pictures = raytrace(scenes, 320, 240, ("rgb", "objects"))
    seen = sight.in_order(parser, parser.perceive(pictures.rgb))
    pairs = matched(labels_of(scenes, pictures.objects), seen.centre, seen.count, CLOSE)
    for name in scenes.codes:
        belief = seen.beliefs[name][pairs.picture, pairs.said]
        top, right = belief.max(axis=1), belief.argmax(axis=1) == scenes.codes[name][pairs.picture, pairs.true]
        for low, high in pairwise(BINS):
            mine = (top > low) & (top <= high)
            if mine.sum() >= FEWEST:
                many, hits = int(mine.sum()), int(right[mine].sum())
                one = share(hits, many)
                value = Interval(100 * one.value, 100 * one.low, 100 * one.high)
                dots.append(
                    Dot(
                        f"{name}, {many} objects" if top[mine].mean() < NAMED else "",
                        100 * float(top[mine].mean()),
                        value,
                    )
                )
    title = "How often the likeliest value is right, by how sure the parser is of it"
    write_text(file, stand_alone(scatter_chart(dots, title, "belief, percent", "right, percent", diagonal=True)))


def calibration(seen, scenes, pairs, name):
    """The mean belief in the likeliest value, how often it is right, and the mean gap between them in ten bins."""
    belief = seen.beliefs[name][pairs.picture, pairs.said]
    top, right = belief.max(axis=1), belief.argmax(axis=1) == scenes.codes[name][pairs.picture, pairs.true]
    bins = np.minimum((10 * top).astype(int), 9)
    gap = sum(abs(top[bins == b].sum() - right[bins == b].sum()) for b in range(10)) / len(top)
    return round(float(top.mean()), 4), round(float(right.mean()), 4), round(float(gap), 4)


if __name__ == "__main__":
    main()
