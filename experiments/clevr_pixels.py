"""CLEVR from pixels: the parser on new pictures, and NS-VQA's accuracy with what it sees.

    python experiments/clevr_pixels.py --scenes 300

Questions are read by CLEVR's own English, which gives their programs exactly, and run on the likeliest scene.
"""

import argparse
import json
import time

import numpy as np
import torch

from recombine.benchmarks.clevr import sight
from recombine.benchmarks.clevr.english import read
from recombine.benchmarks.clevr.meaning import answer_text, trace
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, clevr_scale
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.trace import plain_scene
from recombine.render.raytrace import raytrace
from recombine.solvers.perception import AT_ONCE
from recombine.solvers.scene_labels import labels_of
from recombine.solvers.scene_parsing import CLOSE, matched
from recombine.store.store import Store, read_table


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scenes", type=int, default=100, help="of the validation part, at scale demo")
    given = options.parse_args()
    torch.set_num_threads(1)
    study = ClevrPipeline(clevr_scale("demo"), 0, Store.default())
    scenes = study.scenes("val")[: given.scenes]
    parser = sight.parser()
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
    rows = [row for row in table.to_pylist() if row["image_index"] < len(scenes)]
    related = sight.related(said)
    right, same = 0, 0
    for row in rows:
        program = read(row["question"])
        same += program is read_program(json.loads(row["program"]), scenes.vocabulary)
        last = trace(program, plain_scene(said, row["image_index"], related))[-1]
        right += last.value is not None and answer_text(last.kind, last.value) == row["answer"]
    print(f"{len(rows)} questions: right {right / len(rows):.4f}; read as their own program {same / len(rows):.4f}")
    print("beliefs:", {name: calibration(seen, scenes, pairs, name) for name in said.codes})


def calibration(seen, scenes, pairs, name):
    """The mean belief in the likeliest value, how often it is right, and the mean gap between them in ten bins."""
    belief = seen.beliefs[name][pairs.picture, pairs.said]
    top, right = belief.max(axis=1), belief.argmax(axis=1) == scenes.codes[name][pairs.picture, pairs.true]
    bins = np.minimum((10 * top).astype(int), 9)
    gap = sum(abs(top[bins == b].sum() - right[bins == b].sum()) for b in range(10)) / len(top)
    return round(float(top.mean()), 4), round(float(right.mean()), 4), round(float(gap), 4)


if __name__ == "__main__":
    main()
