"""What a training step of CURI's networks costs, on one thread.

    python experiments/curi_networks.py                  schema, 64 episodes of 50 scenes, beside the plain way
    python experiments/curi_networks.py --bfloat16       the same in mixed precision, for processors with AMX
    python experiments/curi_networks.py --paper-size     image and sound at the paper's size, with the memory they take

The plain way is that of the released code: every scene is filled up to five objects, all 25 pairs are looked at as a
long list, support and query one after the other. It does more than the same work; that is what the fast way saves.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from recombine.benchmarks.curi.edition import RELEASE
from recombine.benchmarks.curi.pipeline import SCALES, CuriPipeline, Setup
from recombine.solvers.kinds import POOLINGS
from recombine.solvers.modalities import Modality
from recombine.solvers.networks.objects import alike
from recombine.solvers.networks.prototype import Plan, PrototypeNetwork, build, log_odds, prototypes
from recombine.solvers.prototypes import EpisodeObjective
from recombine.solvers.training.memory import keep_memory
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.tasks.episodes import Episodes

RELEASED = {"avg-pool": 177, "relation-net": 2_391, "transformer": 1_921}
"""Milliseconds of the released code's step, as reported for it: another machine."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = options.add_mutually_exclusive_group()
    kind.add_argument("--paper-size", action="store_true")
    kind.add_argument("--bfloat16", action="store_true")
    options.add_argument("--one", nargs=2, metavar=("MODALITY", "POOLING"), help=argparse.SUPPRESS)
    options.add_argument("--steps", type=int, default=5)
    given = options.parse_args()
    torch.set_num_threads(1)
    if given.one:
        paper_size(*given.one, given.steps)
    elif given.paper_size:
        for modality in ("image", "sound"):  # each in a process of its own, for its memory alone
            for pooling in POOLINGS:
                command = [sys.executable, __file__, "--one", modality, pooling, "--steps", str(given.steps)]
                subprocess.run(command, check=True)
    else:
        schema(given.steps, given.bfloat16)


def demo() -> CuriPipeline:
    return CuriPipeline(Setup(RELEASE, SCALES["demo"]), Store.default())


def schema(steps: int, mixed: bool) -> None:
    study = demo()
    sight, shape = Modality("schema").open(study.scenes), Modality("schema").shape(study.scenes)
    episodes = study.episodes("instance-iid", "train", "hard")
    rows = np.arange(64)
    pairs = study.scenes.count[episodes.scene[rows]].astype(int) ** 2
    print(f"64 episodes of {episodes.scene.shape[1]} scenes, {pairs.mean():.2f} pairs of objects each")
    networks = {pooling: build(Plan("schema", pooling, shape), Key(0)) for pooling in POOLINGS}
    plainly = {
        pooling: milliseconds(network, partial(plain_loss, network, sight.told, study, episodes, rows), steps)
        for pooling, network in networks.items()
    }
    keep_memory()
    for pooling, network in networks.items():
        objective = EpisodeObjective(network, sight, episodes, lambda network, sight: {})
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            fast = milliseconds(network, partial(objective.loss, rows), steps)
        plain = plainly[pooling]
        said = f"{pooling:13} {fast:6.0f} ms of CPU, plain {plain:6.0f} ms ({plain / fast:.1f}x)"
        if pooling in RELEASED:
            said += f", released code {RELEASED[pooling]:,} ms ({RELEASED[pooling] / fast:.1f}x)"
        print(said, flush=True)


def milliseconds(network: PrototypeNetwork, loss: Callable[[], torch.Tensor], steps: int) -> float:
    """The CPU time of the best of some steps: forward, backward, Adam."""
    optimiser, spent = torch.optim.Adam(network.parameters(), fused=True), []
    network.train()
    for _ in range(steps + 1):
        start = time.process_time()
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()
        spent.append(1000 * (time.process_time() - start))
    return min(spent[1:])


def plain_loss(network: PrototypeNetwork, told: np.ndarray, study: CuriPipeline, episodes: Episodes, rows: np.ndarray):
    """The loss on padded scenes, support and query each by itself."""
    some = Episodes(*(column[rows] for column in episodes))
    there = np.arange(told.shape[1]) < study.scenes.count[:, None]

    def vectors(scenes: np.ndarray) -> torch.Tensor:
        padded = np.where(there[scenes][..., None], told[scenes], np.float32(-1)).reshape(-1, *told.shape[1:])
        seen = network.encoder(alike(torch.from_numpy(padded)))
        pooling = network.pooling
        found = pooling.reading(pooling.by_pairs(seen)) if hasattr(pooling, "by_pairs") else pooling(seen)
        return found.view(*scenes.shape, -1)

    label = torch.from_numpy(np.ascontiguousarray(some.label[:, : some.size]))
    asked = torch.from_numpy(some.label[:, some.size :]).float()
    odds = log_odds(prototypes(vectors(some.support), label), vectors(some.query))
    return torch.nn.functional.binary_cross_entropy_with_logits(odds, asked)


def paper_size(modality: str, pooling: str, steps: int) -> None:
    keep_memory()
    study = demo()
    seen = Modality(modality, first_bin=RELEASE.first_bin)
    network = build(Plan(modality, pooling, seen.shape(study.scenes)), Key(0)).train()
    episodes = study.episodes("instance-iid", "train", "hard")
    rows = np.arange(8)
    sight = seen.open(study.scenes)
    start = time.process_time()
    sight(episodes.scene[rows].reshape(-1))
    made = time.process_time() - start
    objective = EpisodeObjective(network, sight, episodes, lambda network, sight: {})
    optimiser, losses, spent = torch.optim.Adam(network.parameters(), 1e-4, fused=True), [], []
    for _ in range(steps):
        start = time.process_time()
        optimiser.zero_grad(set_to_none=True)
        loss = objective.loss(rows)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        spent.append(time.process_time() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    shape = "x".join(map(str, seen.shape(study.scenes)))
    print(
        f"{modality} {shape} {pooling:13} 8 episodes of 50: {np.min(spent):6.1f} s of CPU a step, {memory:5.1f} GB; "
        f"scenes made in {made:.1f} s; loss {losses[0]:.3f} -> {losses[-1]:.3f} in {steps} steps",
        flush=True,
    )


if __name__ == "__main__":
    main()
