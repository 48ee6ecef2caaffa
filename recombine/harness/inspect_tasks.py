"""Tasks, score and learners for Inspect: `inspect eval recombine/curi -T split=boolean --model recombine/strong`.

Every benchmark is a task of its name, with `_` for `-`; one whose scenes have sound is a second one, `..._sounds`. What
`recombine rows` takes, a task takes with `-T`. The models `recombine/strong`, `recombine/weak`, `recombine/induction`
and every other learner of a benchmark answer the prompts that any model gets.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    ContentAudio,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    ci,
    grouped,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from recombine import benchmarks
from recombine.benchmarks.rewards import verifier
from recombine.harness.book import Book, Content
from recombine.harness.versions import need
from recombine.harness.wanted import sorted_options
from recombine.metrics.scores import BATCH, balanced_accuracy
from recombine.store.errors import UserError
from recombine.tasks.prompts import data_address, mime_of, parts
from recombine.tasks.rows import Row

need("inspect-ai")
FIRST = 50
"""Episodes, questions or images of each set, where it is not said."""
books: list[Book] = []
"""The prompts of all tasks that were made in this process."""


def _task(benchmark: str, render: str) -> Callable[..., Task]:
    def made(**given: Any) -> Task:
        try:
            book = _book(benchmark, {"render": render, "first": FIRST, **given})
        except UserError as error:
            raise PrerequisiteError(str(error)) from error
        books.append(book)
        return Task(
            dataset=MemoryDataset([sample(row) for row in book], name=f"recombine/{benchmark}"),
            solver=generate(),
            scorer=verified(),
            metadata={"benchmark": benchmark, **book.study.settings},
        )

    made.__doc__ = f"{benchmarks.get(benchmark).title}: {benchmarks.get(benchmark).about}."
    return made


def _book(benchmark: str, given: Mapping[str, Any]) -> Book:
    """The rows that are asked for, with the names of the command line."""
    made, asked = sorted_options(benchmark, given)
    study = benchmarks.load(benchmark, **made)
    return Book(study, study.asked_rows(**asked))


def sample(row: Row) -> Sample:
    """A row as Inspect knows it."""
    return Sample(
        id=row.id,
        input=[ChatMessageUser(content=[_content(one) for one in parts(row)])],
        target=", ".join(row.answers),
        metadata={
            "benchmark": row.benchmark,
            "split": row.split,
            "set": row.episode[: -len("-0000000")],
            "number": row.number,
            "cluster": row.cluster,
            "answers": list(row.answers),
            "options": list(row.options),
            "shown": len(row.shown),
            "concept": row.concept,
        },
    )


def _content(one: str | bytes) -> Any:
    if isinstance(one, str):
        return ContentText(text=one)
    if mime_of(one) == "audio/wav":
        return ContentAudio(audio=data_address(one), format="wav")
    return ContentImage(image=data_address(one))


@metric(name="balanced_accuracy")
def balanced() -> Metric:
    """Class-balanced accuracy, pooled as the gap of episodes is: `recombine gap` prints the same."""

    def found(scores: list[SampleScore]) -> float:
        if not scores:
            return 0.0
        about = [dict(one.sample_metadata or {}) for one in scores]
        unit = [(one["set"], int(one["number"])) for one in about]
        right = [list((one.score.metadata or {})["right"]) for one in scores]
        batch = BATCH if verifier(about[0]["benchmark"]).balanced else 10**9
        return balanced_accuracy(unit, [one["answers"] for one in about], right, batch)

    return found


@metric(name="unreadable")
def unreadable() -> Metric:
    """The share of answers that could not be read."""

    def found(scores: list[SampleScore]) -> float:
        asked = sum(len((one.score.metadata or {})["right"]) for one in scores)
        return sum((one.score.metadata or {})["unreadable"] for one in scores) / max(asked, 1)

    return found


@scorer(
    metrics=[
        mean(),
        stderr(cluster="cluster"),
        ci(method="bootstrap", cluster="cluster"),
        balanced(),
        unreadable(),
        grouped(mean(), "split"),
    ]
)
def verified() -> Scorer:
    """The benchmark's own score of what a model wrote."""

    async def score(state: TaskState, target: Target) -> Score:
        about = state.metadata
        asked = (about["answers"], about["options"], about["shown"] + 1)
        found = verifier(about["benchmark"]).score(state.output.completion, *asked)
        return Score(
            value=found.score,
            answer=", ".join("unreadable" if one is None else str(one) for one in found.said),
            explanation=f"{sum(found.right):g} of {len(found.right)} right, {found.unreadable} unreadable",
            metadata={"right": list(found.right), "unreadable": found.unreadable},
        )

    return score


@modelapi(name="recombine")
class Learners(ModelAPI):
    """The learners of the benchmarks as models: they answer the very prompt that any model gets."""

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        content = content_of(input[-1])
        book = next((one for one in reversed(books) if one.row(content) is not None), books[-1] if books else None)
        if book is None:
            raise PrerequisiteError("these models answer recombine's own tasks, such as recombine/curi, and no others")
        try:
            said = book.reply(self.model_name, content)
        except UserError as error:
            raise PrerequisiteError(str(error)) from error
        made = ModelOutput.from_content(self.model_name, said)
        made.usage = ModelUsage()
        return made


def content_of(message: ChatMessage) -> Content:
    """Texts and files of a message."""
    if isinstance(message.content, str):
        return [message.content]
    found: list[str | bytes] = []
    for one in message.content:
        if isinstance(one, ContentText):
            found.append(one.text)
        elif isinstance(one, ContentImage | ContentAudio):
            address = one.image if isinstance(one, ContentImage) else one.audio
            found.append(base64.b64decode(address.partition(",")[2]))
    return found


for _one in benchmarks.every():
    _name = _one.name
    globals()[_name.replace("-", "_")] = task(name=_name.replace("-", "_"))(_task(_name, "images"))
    if _one.sounds:
        globals()[f"{_name}_sounds"] = task(name=f"{_name}_sounds")(_task(_name, "sounds"))
