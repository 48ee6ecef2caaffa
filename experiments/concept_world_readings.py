"""Readings of the ConceptWorld paper, beside its scores: the tables of the notes on its networks.

    recombine train concept-world --concepts experiments/concept_world_readings.concepts \\
        --experiment substitution_three_colours --model mlp --model cnn --model predinet --seeds 3 --out RUNS
    python experiments/concept_world_readings.py RUNS

Rows: the networks that were trained on `sequences` are tested on mixed rows with one square of the other colour, on
rows with one or two, and on ours. Pairs: networks that were trained with pentominoes of three colours, and of five.
"""

import argparse
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from recombine.benchmarks.concept_world.findings import FROM_SCRATCH, PRETRAINED, theirs
from recombine.benchmarks.concept_world.networks import NETWORKS, Options
from recombine.benchmarks.concept_world.published import F1
from recombine.benchmarks.networks import Job, job_of
from recombine.metrics.confusion import f1
from recombine.solvers.training.loop import load_best
from recombine.solvers.training.records import identity_of, runs_of
from recombine.store.engine import InProcess
from recombine.store.store import Store

READINGS = Path(__file__).with_suffix(".concepts")
ROWS = "sequences"
ODD = {"sequences_one_odd": "one odd square", "sequences_few_odd": "one or two"}
PAIRS, THREE = "substitution", "substitution_three_colours"
ORDER = (FROM_SCRATCH, PRETRAINED, "WReN", "CNN", "PrediNet", "MLP")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("runs", type=Path, nargs="+", help="folders of runs")
    runs = [
        (run, job_of(config, run), config, results)
        for folder in options.parse_args().runs
        for run, config, results in runs_of(folder, "concept-world")
        if results is not None
    ]
    print(f"| network | seeds | test | paper | {' | '.join(ODD.values())} | at random |")
    print(f"| :--- | ---: | :--- | ---: |{' ---: |' * (len(ODD) + 1)}")
    rows(runs)
    print("\n| network | pentominoes | seeds | one substitution | two substitutions |")
    print("| :--- | :--- | ---: | ---: | ---: |")
    pairs(runs)


def rows(runs: list) -> None:
    """F1 of mixed rows on all kinds of tests, the mean over seeds."""
    found: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for run, job, config, results in runs:
        if job.split == ROWS:
            name = NETWORKS.printed(job, config)
            others = [tested(run, replace(job, split=split), config) for split in ODD]
            for test, ours in results["f1"].items():
                found[name, test].append([*(f1(other[test])[2] for other in others), ours[2]])
    for name, test in sorted(found, key=lambda one: (ORDER.index(one[0]), one[1])):
        paper, means = theirs(ROWS, test, name)[2], np.mean(found[name, test], axis=0)
        print(f"| {name} | {len(found[name, test])} | {test} | {paper:.3f} | {' | '.join(f'{x:.3f}' for x in means)} |")


def tested(run: Path, job: Job, config: dict) -> dict[str, np.ndarray]:
    """What a network of `sequences` takes for what on the tests of another reading."""
    other = replace(job, options=Options(concepts=READINGS))
    study = NETWORKS.study(other, Store.default(), InProcess())
    network = NETWORKS.network(other, study)
    load_best(run / "checkpoints" / "best.safetensors", network, identity_of(config))
    return {test: np.array(rows) for test, rows in NETWORKS.examine(other, study, network)["confusion"].items()}


def pairs(runs: list) -> None:
    """F1 of the three kinds of pairs, the mean over seeds."""
    found: dict[tuple[str, str], list[dict[str, list[float]]]] = defaultdict(list)
    for _, job, config, results in runs:
        if job.split in (PAIRS, THREE):
            found[NETWORKS.printed(job, config), job.split].append(results["f1"])
    for name in ORDER:
        if (name, PAIRS) not in found and (name, THREE) not in found:
            continue
        paper = [F1[PAIRS, test][PRETRAINED if name == FROM_SCRATCH else name][2:] for test in tests()]
        print(row(name, "paper (pretrained)" if name == FROM_SCRATCH else "paper", "10", paper))
        for experiment, colours in ((PAIRS, "five colours"), (THREE, "green, yellow, white")):
            seeds = found[name, experiment]
            if seeds:
                means = [np.mean([one[test] for one in seeds], axis=0)[2:] for test in tests()]
                print(row(name, colours, str(len(seeds)), means))


def tests() -> tuple[str, ...]:
    return "one_substitution", "two_substitutions"


def row(name: str, colours: str, seeds: str, scores: list) -> str:
    return f"| {name} | {colours} | {seeds} | {' | '.join(', '.join(f'{x:.3f}' for x in some) for some in scores)} |"


if __name__ == "__main__":
    main()
