"""Train CLOSURE's networks and write their page.

    python experiments/closure_networks.py train generator --seed 0 --steps 20000 --out runs
    python experiments/closure_networks.py train generator --few-shot strong --begin runs/closure-generator-laptop-0
    python experiments/closure_networks.py page runs --out docs/results/closure-networks.md

A command that was stopped goes on where it was when it is repeated; what is done already is kept.
"""

import argparse
import sys
import time
from pathlib import Path

from recombine.benchmarks.closure.networks import jobs
from recombine.benchmarks.closure.networks.data import Data
from recombine.store.errors import UserError
from recombine.store.store import Store


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(dest="verb", required=True)
    train = verbs.add_parser("train")
    train.add_argument("model", choices=jobs.MODELS)
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--size", choices=jobs.SIZES, default="laptop")
    train.add_argument("--view", default="objects")
    train.add_argument("--noise", type=float, default=0.0)
    train.add_argument("--features", type=Path, default=Path("features"))
    train.add_argument("--steps", type=int)
    train.add_argument("--rate", type=float)
    train.add_argument("--batch", type=int)
    train.add_argument("--validate-every", type=int)
    train.add_argument("--few-shot", choices=("strong", "weak", "answers"), default="")
    train.add_argument("--begin", type=Path)
    train.add_argument("--scale", default="paper")
    train.add_argument("--out", type=Path, default=Path("runs"))
    given = options.parse_args()
    try:
        learn(given)
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


def learn(given: argparse.Namespace) -> None:
    named = {"rate": given.rate, "batch": given.batch, "validate_every": given.validate_every}
    chosen = {name: value for name, value in named.items() if value is not None}
    training = jobs.training_of(given.model, given.size, given.steps, given.few_shot, **chosen)
    job = jobs.Job(
        given.model,
        given.seed,
        given.size,
        given.view,
        given.noise,
        given.features,
        given.few_shot,
        given.begin,
        given.scale,
        training=training,
    )
    data = Data(jobs.study_of(job, Store.default()))
    folder = jobs.learn(job, data, given.out, ProgressPrinter())
    print(folder)


class ProgressPrinter:
    """Prints a line at every validation."""

    def __init__(self) -> None:
        self.last: object = None
        self.began = time.process_time()

    def __call__(self, progress) -> None:
        if progress.validation and progress.validation is not self.last:
            self.last = progress.validation
            values = " ".join(f"{name} {value:.4f}" for name, value in progress.validation.items())
            spent = time.process_time() - self.began
            print(f"{progress.step:,} of {progress.steps:,}: {values} ({spent:.0f} s of CPU)", flush=True)


if __name__ == "__main__":
    main()
