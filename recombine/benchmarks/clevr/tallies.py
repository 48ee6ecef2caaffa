"""What networks make of questions, counted: which they answer rightly, by family, depth and type."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.runner import ILL_FORMED, Runner
from recombine.metrics.intervals import Interval, share
from recombine.solvers.programs import SPECIAL, Functions, Layout
from recombine.solvers.questions import Questions
from recombine.store.errors import UserError

Asked = Callable[[Questions], Mapping[str, np.ndarray]]
"""What someone makes of questions about scenes: which are `right`, and more, bool[n] each."""


def validated(model: str, view: Any, questions: Questions, network: Any) -> dict[str, float]:
    """The loss and the accuracy of a network on some questions."""
    from recombine.solvers.answering import alike, on_questions

    return on_questions(network, view, questions, alike(model, questions, view))


def answered(
    model: str, network: Any, view: Any, questions: Questions, programs: Layout | None = None
) -> dict[str, np.ndarray]:
    """Which questions a network answers rightly."""
    from recombine.solvers.answering import alike, answer

    said = answer(network, view, questions, alike(model, questions, view), programs)
    return {"right": said.argmax(axis=1) == questions.answer}


def parsed(network: Any, run: Runner, questions: Questions) -> dict[str, np.ndarray]:
    """Which questions a generator reads rightly: by the answer that its program gets, and token for token."""
    from recombine.solvers.parsing import exact, write

    token = write(network, questions)
    said = run(token, questions.image)
    return {"right": said == questions.answer, "exact": exact(token, questions), "formed": said != ILL_FORMED}


def parsing_validated(
    run: Runner, surprise: Callable[[Any, Questions], float], questions: Questions, network: Any
) -> dict[str, float]:
    """The surprise, the accuracy and the exactness of a generator on some questions."""
    marks = parsed(network, run, questions)
    shares = {"accuracy": float(marks["right"].mean()), "exact": float(marks["exact"].mean())}
    return {"loss": surprise(network, questions), **shares}


def tallied(questions: Questions, asked: Asked, functions: Functions, images: bool = False) -> dict[str, Any]:
    """Shares of questions, and how many of each family, depth and type are right: [right, asked].

    With `images`, also how many of the questions about each image are right, and how many there are.
    """
    if not len(questions):
        raise UserError("a test has no questions, so that nothing can be said of it; take a larger scale")
    marks = asked(questions)
    right, many = marks["right"], np.bincount(questions.image)
    by_image = {"right": np.bincount(questions.image, right).astype(int).tolist(), "asked": many.tolist()}
    return {
        "questions": len(questions),
        **{name: float(values.mean()) for name, values in marks.items()},
        "families": counted_by(questions.family, right),
        "depths": counted_by(questions.depth, right),
        "types": counted_by(np.array(("",) * SPECIAL + functions.words)[questions.token[:, 0]], right),
        **({"images": by_image} if images else {}),
    }


def counted_by(group: np.ndarray, right: np.ndarray) -> dict[str, list[int]]:
    """For every value of a column, how many rows are right and how many there are."""
    return {str(one): [int(right[group == one].sum()), int((group == one).sum())] for one in np.unique(group).tolist()}


def percent(found: Mapping[str, Any]) -> Interval:
    """The share that is right, with an interval over questions."""
    one = share(round(found["right"] * found["questions"]), found["questions"])
    return Interval(*(100 * bound for bound in (one.value, one.low, one.high)))
