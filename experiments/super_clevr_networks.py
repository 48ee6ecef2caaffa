"""What a step of Super-CLEVR's networks costs at laptop size and at the paper's: CPU time and memory.

    python experiments/super_clevr_networks.py [NETWORK ...] [--size paper] [--steps 3]

Each network is trained for a few steps on the demo's questions, in a process of its own.
"""

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from recombine.benchmarks.networks import Job, settings
from recombine.benchmarks.super_clevr.networks import LAPTOP, NAMES, NETWORKS, Options
from recombine.store.engine import InProcess
from recombine.store.store import Store


def measured(model: str, size: str, steps: int, picture: str) -> tuple[int, int, float, float, list[float]]:
    """Parameters, batch, CPU seconds of a step, gigabytes at most, and the losses."""
    import numpy as np
    import torch

    from recombine.solvers.training.loop import settled

    options = NETWORKS.concerning(Options(size=size, picture=picture), model)  # type: ignore[arg-type]
    training = settings(NETWORKS, model, options)
    job = Job("super-clevr", "default", model, 0, "demo", 0, options, training)
    study = NETWORKS.study(job, Store.default(), InProcess())
    network = NETWORKS.network(job, study)
    objective, times, losses = NETWORKS.objective(job, study, network), [], []
    with settled(training):
        optimiser = torch.optim.AdamW(network.train().parameters(), training.rate)
        for step in range(steps):
            start = time.process_time()
            rows = np.arange(step * training.batch, (step + 1) * training.batch) % len(objective.questions)
            optimiser.zero_grad()
            lost = objective.loss(np.sort(rows))
            lost.backward()
            optimiser.step()
            times.append(time.process_time() - start)
            losses.append(lost.item())
    parameters = sum(parameter.numel() for parameter in network.parameters())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return parameters, training.batch, min(times), peak, losses


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("networks", nargs="*", default=[*LAPTOP])
    asked.add_argument("--size", default="laptop", choices=("laptop", "paper"))
    asked.add_argument("--steps", type=int, default=3)
    asked.add_argument("--picture", default="160x120")
    given = asked.parse_args()
    for model in given.networks:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            found = pool.submit(measured, model, given.size, given.steps, given.picture).result()
        parameters, batch, each, peak, losses = found
        told = " ".join(f"{one:.2f}" for one in losses)
        print(
            f"{NAMES[model]}, {given.size}, {given.picture}: {parameters:,} parameters, batch {batch}, "
            f"{each:.2f} s of CPU a step, {peak:.1f} GB, losses {told}",
            flush=True,
        )


if __name__ == "__main__":
    main()
