"""The demonstration: a small CURI with its ideal learners, and questions about a picture, as one page."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from recombine.benchmarks.clevr import formats
from recombine.benchmarks.clevr.question_page import QuestionView, question_card, question_view
from recombine.benchmarks.closure.families import FAMILIES
from recombine.benchmarks.curi.facade import Curi
from recombine.report.page import Section
from recombine.store.engine import Progress, silent
from recombine.store.store import Store

EXAMPLES = Path(formats.__file__).parent / "examples"
SOUNDS = 5
"""Scenes of each episode that can be heard: the positives that a learner is shown."""


def write_demo(out: str | Path, *, workers: int = 1, store: Store | None = None, progress: Progress = silent) -> Path:
    """The report of a small CURI, with pictures, sounds, and two questions step by step."""
    curi = Curi("demo", "release", workers=workers, store=store, progress=progress)
    with curi, ProcessPoolExecutor(1, get_context("spawn")) as meanwhile:
        questions = meanwhile.submit(_questions)  # the first picture takes half a minute to compile
        curi.gap()
        return curi.report(out, sounds=SOUNDS, more=[questions.result()])


def _questions() -> Section:
    intro = "CLEVR asks the first. It never puts parts together as the second does: CLOSURE tests who can."
    return Section("Questions", "".join(map(question_card, example_questions())), intro)


def example_questions() -> Iterator[QuestionView]:
    """Questions about a scene that comes with the package."""
    file, names = formats.read_scenes(EXAMPLES / "scenes.json"), {family.index: family.name for family in FAMILIES}
    for number, asked in enumerate(formats.read_questions(EXAMPLES / "questions.json")):
        assert asked.program is not None and asked.answer is not None and asked.family is not None
        benchmark = "CLEVR" if number == 0 else "CLOSURE"
        yield question_view(
            asked.program,
            asked.question,
            asked.answer,
            file.scenes,
            0,
            names.get(asked.family, str(asked.family)),
            number,
            benchmark=benchmark,
            pictured=True,
        )
