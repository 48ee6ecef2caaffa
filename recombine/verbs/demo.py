"""`recombine demo`: a small CURI with its ideal learners, and questions about a picture, as one page."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

from recombine.benchmarks.clevr import formats
from recombine.benchmarks.clevr.question_page import QuestionView, question_card, question_view
from recombine.benchmarks.closure.families import FAMILIES
from recombine.benchmarks.curi.facade import Curi
from recombine.report.document import Card, Chapter
from recombine.store.engine import Progress, silent
from recombine.store.outputs import free_file
from recombine.store.store import Store
from recombine.verbs import Answer

EXAMPLES = Path(formats.__file__).parent / "examples"
SOUNDS = 5
"""Scenes of each episode that can be heard: the positives that a learner is shown."""


def run(
    what: None,
    asked: Mapping[str, Any],
    progress: Any,
    *,
    out: Annotated[Path, "The page (.html)."] = Path("demo.html"),
    workers: Annotated[int, "Processes. Default: all cores."] = 1,
) -> Answer:
    written = write_demo(out, workers=workers, progress=progress)
    return Answer((f"wrote {written}",), {"file": str(written)})


def write_demo(out: str | Path, *, workers: int = 1, store: Store | None = None, progress: Progress = silent) -> Path:
    """The report of a small CURI, with pictures, sounds, and two questions step by step."""
    free_file(out, (".html",))
    curi = Curi("demo", "release", workers=workers, store=store, progress=progress)
    with curi, ProcessPoolExecutor(1, get_context("spawn")) as meanwhile:
        questions = meanwhile.submit(_questions)  # the first picture takes half a minute to compile
        curi.gap()
        curi.sounds, curi.more = SOUNDS, [questions.result()]
        return curi.report(out)


def _questions() -> Chapter:
    intro = "CLEVR asks the first. It never puts parts together as the second does: CLOSURE tests who can."
    return Chapter("Questions", tuple(Card(question_card(view)) for view in example_questions()), intro)


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
