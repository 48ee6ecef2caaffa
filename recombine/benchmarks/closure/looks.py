"""What a trained network does with one question: what it attends to, what its modules give, what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.program import TOKENS
from recombine.benchmarks.clevr.question_page import QuestionView, question_card
from recombine.benchmarks.closure.arrays import Data
from recombine.benchmarks.closure.networks import GENERATOR, MODULAR, NETWORKS, SPANS, clevr_of
from recombine.benchmarks.networks import job_of
from recombine.report.heat import Heat, heat_map
from recombine.report.page import Section, page
from recombine.report.view import View
from recombine.solvers.programs import NULL
from recombine.solvers.questions import Questions, words_of
from recombine.solvers.training.records import identity_of, read_config
from recombine.solvers.training.settings import need_torch
from recombine.store.errors import UserError


@dataclass(frozen=True)
class RunView(View):
    """A question, and what a run makes of it."""

    question: QuestionView
    run: str
    network: str
    answer: str
    program: str
    looks: tuple[Heat, ...]

    @property
    def said(self) -> str:
        right = "right" if self.answer == self.question.answer else f"the answer is {self.question.answer}"
        return f"{self.network} says {self.answer}: {right}."

    def terminal(self) -> RenderableType:
        lines = [Text(f"{self.run}: {self.said}", style="bold")]
        lines += [Text(f"program: {self.program}")] if self.program else []
        for heat in self.looks:
            lines.append(Text(f"\n{heat.title}", style="bold"))
            says = heat.says or ("",) * len(heat.rows)
            lines += [Text(f"  {row}: {heat.strongest(i)}  {says[i]}") for i, row in enumerate(heat.rows)]
        return Group(self.question.terminal(), *lines)

    def html(self) -> str:
        written = f"<p>It writes <code>{escape(self.program)}</code></p>" if self.program else ""
        maps = "".join(
            f'<h4>{escape(heat.title)}</h4><div class="scroll" tabindex="0" role="region" '
            f'aria-label="{escape(heat.title)}">{heat_map(heat)}</div>'
            for heat in self.looks
        )
        sections = [
            Section(
                f"What {self.run} makes of it",
                f'<article class="episode question"><p>{escape(self.said)}</p>{written}{maps}</article>',
            ),
            Section(f"About scene {self.question.scene}", question_card(self.question)),
        ]
        return page(self.question.title, sections)


def look_into(folder: Path, study: Data, one: Questions, view: QuestionView) -> RunView:
    """What a run makes of one question, about a scene of CLEVR's validation part."""
    need_torch()
    import torch

    from recombine.solvers.training.loop import load_best

    config = read_config(folder)
    job = job_of(config, folder)
    if job.benchmark != "closure" or clevr_of(config, folder) != NETWORKS.data(job, study)["clevr"]:
        raise UserError(
            f"{folder} is no run of closure on the questions of this scale and seed; give its scale and seed"
        )
    network = NETWORKS.network(job, study)
    load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    network.eval()
    said = words_of(view.question)
    objects = tuple(f"{i} {text}" for i, text in enumerate(view.phrases))
    with torch.no_grad():
        if job.model in (SPANS, GENERATOR):
            generator = getattr(network, "generator", network)
            token, looks = (_spans if job.model == SPANS else _attention)(generator, one, said)
            number = int(study.runner("val")(token, one.image)[0])
            answer = ANSWERS[number] if number < len(ANSWERS) else "nothing that can be run"
            program = " ".join(TOKENS.words[t] for t in token[0] if t != NULL)
        else:
            program, cells = "", NETWORKS.view(job, study, "val")(one.image)
            number, looks = _seen(job.model, network, one, cells, said, objects)
            answer = ANSWERS[number]
    return RunView(view, folder.name, NETWORKS.printed(job, config), answer, program, looks)


def _spans(parser: Any, one: Questions, said: Sequence[str]) -> tuple[np.ndarray, tuple[Heat, ...]]:
    """Which word denotes which function."""
    from recombine.solvers.spans.chart import read

    found, by, score = read(parser.scores(), one.word, one.length)
    nodes = [(int(t), int(w)) for t, w in zip(found.token[0], by[0]) if t != NULL and w >= 0]
    rows = tuple(TOKENS.words[token] for token, _ in nodes)
    values = tuple(tuple(float(w == at) for w in range(len(said))) for _, at in nodes)
    title = f"Which word denotes which function (log-probability {score[0]:.1f})"
    return parser.grammar.abridge.restore(found, 40), (Heat(title, rows, tuple(said), values),)


def _attention(generator: Any, one: Questions, said: Sequence[str]) -> tuple[np.ndarray, tuple[Heat, ...]]:
    """What a generator attends to while it writes."""
    from recombine.solvers.parsing import words
    from recombine.solvers.programs import END

    word, length = words(one, np.arange(1), next(generator.parameters()).device)
    written, weights = generator.look(word, length)
    token = written.numpy().astype(np.uint8)
    rows = tuple(TOKENS.words[t] for t in token[0])
    heat = Heat("What it attends to while it writes", rows, tuple(said), _rows(weights[0]))
    return np.where(token == END, NULL, token), (heat,)


def _seen(
    model: str, network: Any, one: Questions, cells: Any, said: Sequence[str], objects: tuple[str, ...]
) -> tuple[int, tuple[Heat, ...]]:
    """The answer of a network that looks at the scene, and what there is to see of how it came about."""
    from recombine.solvers.parsing import words

    places = objects if cells.features.shape[1] == len(objects) else tuple(map(str, range(cells.features.shape[1])))
    word, length = words(one, np.arange(1), cells.features.device)
    if model == "mac":
        scores, steps = network.look(word, length, cells)
        rows = tuple(f"step {i}" for i in range(1, len(steps) + 1))
        heard, seen = (tuple(_rows(step[part])[0] for step in steps) for part in (0, 1))
        places = places if network.nothing is None else (*places, "nothing")
        looks = (
            Heat("Attention to words", rows, tuple(said), heard),
            Heat("Attention to the scene", rows, places, seen),
        )
        return int(scores[0].argmax()), looks
    if model in MODULAR:
        nodes = network.look(cells, one.programs)
        rows = tuple(TOKENS.words[int(one.token[0, at])] for at in nodes)
        shares = tuple(_rows(share)[0] for share, _ in nodes.values())
        says = tuple(_told(scores) for _, scores in nodes.values())
        title = "Where what a module gives comes from, and what would be answered from it"
        return int(nodes[0][1].argmax()), (Heat(title, rows, places, shares, says),)
    scores = network(word, length, cells, one.programs)
    return int(scores[0].argmax()), ()


def _told(scores: Any) -> str:
    odds = scores[0].softmax(dim=-1)
    return f"{ANSWERS[int(odds.argmax())]} {float(odds.max()):.2f}"


def _rows(weights: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in weights.tolist())
