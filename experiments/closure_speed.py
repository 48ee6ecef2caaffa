"""What a training step of CLOSURE's networks costs on one thread, beside the plain way.

    python experiments/closure_speed.py                     every network at laptop size, on objects
    python experiments/closure_speed.py --size paper        the paper's sizes, with the memory they take
    python experiments/closure_speed.py --model vector-nmn --bfloat16

The plain way fills every question up to the longest and every scene up to ten objects, in batches as they come, and
runs module networks one program at a time; the generator writes token by token under PyTorch's own differentiation. The
fast way puts questions together that are alike, and runs equal modules of a whole batch together. The span parser is
timed at reading, after a short training; the plain way of that leaves no span out.
"""

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from recombine.benchmarks.closure.networks import GENERATOR, NETWORKS, PAPER, SPANS, TESTS, Options
from recombine.benchmarks.networks import Job
from recombine.solvers.answering import alike, scores
from recombine.solvers.networks import program_generator
from recombine.solvers.networks.readers import MODULAR
from recombine.solvers.parsing import by_length, ended, words
from recombine.solvers.programs import NULL
from recombine.solvers.questions import Questions
from recombine.solvers.spans import chart
from recombine.solvers.spans.span_parser import Rounds, SpanParser
from recombine.solvers.training.batches import Batches, Stage
from recombine.solvers.training.memory import keep_memory
from recombine.solvers.views import CellSets
from recombine.store.engine import InProcess
from recombine.store.key import Key
from recombine.store.store import Store

WORDS, OBJECTS = 43, 10
"""The longest question and the largest scene."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", choices=PAPER, action="append", help="repeat for several")
    options.add_argument("--size", choices=("laptop", "paper"), default="laptop")
    options.add_argument("--scale", default="laptop", help="how many questions there are to choose from")
    options.add_argument("--batches", type=int, default=8)
    options.add_argument("--bfloat16", action="store_true")
    given = options.parse_args()
    torch.set_num_threads(1)
    keep_memory()
    for model in given.model or PAPER:
        job = Job("closure", "zero-shot", model, scale=given.scale, options=Options(size=given.size))
        print(reading(job) if model == SPANS else measured(job, given.batches, given.bfloat16), flush=True)


def reading(job: Job, shown: int = 5_000, asked: int = 1_000) -> str:
    """The span parser: questions of CLEVR and of CLOSURE's seven tests that it reads in a second of CPU."""
    study = NETWORKS.study(job, Store.default(), InProcess())
    parser = NETWORKS.network(job, study)
    rounds = Rounds(parser, study.clevr("train").rows(slice(0, shown)))
    for number in range(4):
        rounds.count(first=number == 0)
    sets = {"CLEVR": study.clevr("val"), **{test: study.test(test, "test") for test in TESTS}}
    chart.read(parser.scores(), sets["CLEVR"].word[:2], sets["CLEVR"].length[:2])  # compiled
    fast, plain = (
        [seconds(parser, some.rows(slice(0, asked)), whole) for some in sets.values()] for whole in (False, True)
    )
    told = ", ".join(f"{name} {1 / one:,.0f}" for name, one in zip(sets, fast))
    return (
        f"{job.model:20} reads questions a second of CPU: {told}; {sum(plain) / sum(fast):.1f}x of leaving no span out"
    )


def seconds(parser: SpanParser, questions: Questions, whole: bool) -> float:
    """CPU seconds for a question."""
    word, length = questions.word, questions.length
    start = time.process_time()
    chart.read(parser.scores(), word, length, chart.LAST_SLACK if whole else chart.FIRST_SLACK)
    return (time.process_time() - start) / len(questions)


def measured(job: Job, batches: int, mixed: bool) -> str:
    """One network: samples per second of CPU, fast and plain."""
    study = NETWORKS.study(job, Store.default(), InProcess())
    questions, size = study.clevr("train"), NETWORKS.usual(job.model, job.options).batch
    network = NETWORKS.network(job, study)
    if job.model == GENERATOR:
        near, fast, plain = by_length(questions), partial(written, network), partial(plainly_written, network)
    else:
        view = NETWORKS.view(job, study, "train")
        near = alike(job.model, questions, view)
        fast, plain = partial(answered, network, view), partial(plainly_answered, network, view, job.model)
    course = Batches((Stage(np.arange(len(questions)), alike=near),), size, Key(0))
    some = [course.rows(step) for step in range(batches)]
    any_ = np.array_split((Key(1)).rng().permutation(len(questions))[: size * batches], batches)
    with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
        quick = milliseconds(network, partial(fast, questions), some)
    slow = milliseconds(network, partial(plain, questions), any_[: max(1, batches // 4)])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    count = sum(parameter.numel() for parameter in network.parameters())
    return (
        f"{job.model:20} {count:>11,} parameters, {size} questions a step: {quick:7.1f} ms of CPU "
        f"({1000 * size / quick:5.0f} a second), plain {slow:7.1f} ms ({slow / quick:4.1f}x), {memory:.1f} GB"
    )


def milliseconds(network: torch.nn.Module, loss: Callable[[np.ndarray], torch.Tensor], some: list[np.ndarray]) -> float:
    """The mean CPU time of a step: forward, backward, Adam; the first step is not counted."""
    optimiser, spent = torch.optim.Adam(network.parameters(), 1e-4, fused=True), []
    network.train()
    for rows in [some[0], *some]:
        start = time.process_time()
        optimiser.zero_grad(set_to_none=True)
        loss(rows).backward()
        optimiser.step()
        spent.append(1000 * (time.process_time() - start))
    return float(np.mean(spent[1:]))


# --- networks that answer


def answered(network: torch.nn.Module, view: CellSets, questions: Questions, rows: np.ndarray) -> torch.Tensor:
    said = scores(network, view, questions, rows)
    return cross_entropy(said.float(), torch.from_numpy(questions.answer[rows].astype(np.int64)))


def plainly_answered(
    network: torch.nn.Module, view: CellSets, model: str, questions: Questions, rows: np.ndarray
) -> torch.Tensor:
    images, answer = questions.image[rows], torch.from_numpy(questions.answer[rows].astype(np.int64))
    there = torch.from_numpy(np.arange(OBJECTS) < view.count[images][:, None])
    seen = view(images)
    wide = [torch.from_numpy(column[images]) for column in (view.features, view.place)]
    seen = seen._replace(features=wide[0], place=wide[1], there=there)
    if model in MODULAR:
        return cross_entropy(network.one_by_one(seen, questions.programs.rows(rows)), answer)
    word, length = filled(questions, rows)
    return cross_entropy(network(word, length, seen, questions.programs.rows(rows)), answer)


def filled(questions: Questions, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Questions filled up to the longest."""
    word, length = words(questions, rows, torch.device("cpu"))
    return torch.nn.functional.pad(word, (0, WORDS - word.shape[1])), length


# --- the generator


def written(network: torch.nn.Module, questions: Questions, rows: np.ndarray) -> torch.Tensor:
    token = torch.from_numpy(ended(questions.token[rows], questions.size[rows]))
    return network.loss(*words(questions, rows, torch.device("cpu")), token)


def plainly_written(network: torch.nn.Module, questions: Questions, rows: np.ndarray) -> torch.Tensor:
    word, length = filled(questions, rows)
    token = torch.from_numpy(ended(questions.token[rows], questions.size[rows]))
    token = torch.nn.functional.pad(token, (0, program_generator.LONGEST - token.shape[1]), value=NULL)
    by_hand = program_generator.by_hand_decode
    program_generator.by_hand_decode = program_generator.plain_decode
    try:
        return network.loss(word, length, token)
    finally:
        program_generator.by_hand_decode = by_hand


if __name__ == "__main__":
    main()
