"""NSVQA and P-NSVQA on Super-CLEVR's four factors: trains their parsers, tests them across, writes the page.

    python experiments/super_clevr_models.py train --runs RUNS             what is missing of the parsers
    python experiments/super_clevr_models.py test --runs RUNS --keep DATA  their scores, one file for each parser
    python experiments/super_clevr_models.py page --keep DATA --out PAGE   the page, from the scores alone

All of it goes on where it was stopped. Other sizes: --pictures and --steps of a training, --images of a test.
"""

import argparse
import json
import time
from pathlib import Path

import torch

from recombine.benchmarks.super_clevr.model_page import write_page
from recombine.benchmarks.super_clevr.model_scores import Tests, read_kept, scores
from recombine.benchmarks.super_clevr.trained import Parsers
from recombine.benchmarks.super_clevr.variants import FACTORS, LEARNT
from recombine.solvers.training.loop import Progress
from recombine.store.engine import engine
from recombine.store.store import Store
from recombine.store.writing import write_text


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("train", "test", "page"))
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--keep", type=Path, default=Path("docs/results/runs/super-clevr"))
    options.add_argument("--out", type=Path, default=Path("docs/results/super-clevr-models.md"))
    options.add_argument("--variant", action="append", help="only these")
    options.add_argument("--factor", action="append", help="tests only these factors")
    options.add_argument("--longer", action="store_true", help="trains or tests a second time as long, in domain only")
    options.add_argument("--pictures", type=int, default=Parsers.pictures)
    options.add_argument("--steps", type=int, default=Parsers.steps)
    options.add_argument("--images", type=int, default=200, help="of every test")
    options.add_argument("--seed", type=int, default=0, help="of the tests")
    options.add_argument("--workers", type=int, default=1)
    given = options.parse_args()
    torch.set_num_threads(1)
    with engine(given.workers) as workers:
        parsers = Parsers(given.runs, Store.default(), workers, told, given.pictures, given.steps)
        if given.what == "train":
            for name in given.variant or LEARNT:
                print(name, flush=True)
                (parsers.longer if given.longer else parsers.parser)(name)
        if given.what == "test":
            tests = Tests(given.images, parsers.store, workers, given.seed)
            given.keep.mkdir(parents=True, exist_ok=True)
            for name in given.variant or LEARNT:
                file = given.keep / (f"longer-{name}.json" if given.longer else f"{name}.json")
                if not file.exists():
                    times = 2 if given.longer else 1
                    sizes = {"pictures": times * parsers.pictures, "steps": times * parsers.steps}
                    parser = (parsers.longer if given.longer else parsers.parser)(name)
                    found = {**sizes, **scores(parser, name, tests, given.longer, given.factor or tuple(FACTORS))}
                    write_text(file, json.dumps(found) + "\n")
                    print(name, {test: summary(right) for test, right in found["tests"].items()}, flush=True)

    if given.what == "page":
        print(write_page(read_kept(given.keep), given.out))


def summary(right):
    """Percent of each model."""
    return {model: round(100 * sum(row) / sum(right["asked"]), 1) for model, row in right.items() if model != "asked"}


def told():
    """Says every 200 steps how far it is."""
    began = time.process_time()

    def watch(progress: Progress) -> None:
        if progress.step % 200 == 0:
            held = {name: round(value, 4) for name, value in progress.validation.items()}
            print(progress.step, round(progress.loss, 3), round(time.process_time() - began), held, flush=True)

    return watch


if __name__ == "__main__":
    main()
