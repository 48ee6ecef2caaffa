"""Exploring: what a benchmark shows to a person who plays, writes and looks around.

An `Explorer` is opened on a study. What is here works for every benchmark: rounds come from its exams, answers from its
learners. A benchmark with pictures, sounds or a language that people can write in brings a subclass, and says where in
`Benchmark.explorer_at`. Scenes go by one number each, from 0 to `scenes` - 1; nothing here opens a file by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recombine.benchmarks.study import Study
from recombine.render.png import png
from recombine.render.schematic import phrases
from recombine.report.picture import outline_path
from recombine.report.table import Table
from recombine.solvers.sitting import Answering, answered
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes

ASKED = 8
"""Questions or images of a round, where an exam has no episodes."""
PAGE = 24
"""Scenes that are shown at once."""
SAME = 0.02
"""A learner is right about an item if it holds the right answer likelier than any other, by more than this."""


@dataclass(frozen=True)
class Shot:
    """A scene or an image: its number, or its pixels as a data address, and what it shows in words."""

    number: int | None
    words: str = ""
    picture: str = ""


@dataclass(frozen=True)
class Item:
    """What is shown with its answer, or asked with its choices."""

    shot: Shot
    text: str = ""
    """A question about it."""
    choices: tuple[str, ...] = ()
    answer: str = ""
    """Empty where it is asked."""


@dataclass(frozen=True)
class Round:
    """An episode, some questions or some images: what a person sees before answering."""

    title: str
    about: str
    shown: tuple[Item, ...]
    asked: tuple[Item, ...]
    rounds: int
    """How many there are in the split."""
    seen: tuple[str, ...] = ("pictures",)
    """How it can be looked at: pictures, sounds."""


@dataclass(frozen=True)
class Hypothesis:
    """An explanation that fits what was shown; spellings of the same meaning are one."""

    text: str
    words: str
    chance: float
    known: bool
    """Whether the weak learner has it."""
    true: bool
    spellings: int = 1


@dataclass(frozen=True)
class Solution:
    """What came out: the truth, and what the learners say of every item, by the probability of each choice."""

    answers: tuple[str, ...]
    said: Mapping[str, tuple[Mapping[str, float], ...]]
    concept: str = ""
    spelling: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    total: int = 0
    """Hypotheses in all."""
    why: tuple[str, ...] = ()
    """Of each item, how its answer comes about."""


@dataclass(frozen=True)
class Group:
    """The scenes that go together: where a concept holds, or a question has this answer."""

    label: str
    count: int
    shots: tuple[Shot, ...]


@dataclass(frozen=True)
class Reading:
    """A text that was understood: its spellings, where it holds, and what else is known of it."""

    forms: tuple[tuple[str, str], ...]
    groups: tuple[Group, ...]
    total: int
    notes: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    same: int = 0
    """Known concepts of this meaning in all."""
    files: tuple[tuple[str, str], ...] = ()
    """Name and content of what can be saved."""
    commands: tuple[str, ...] = ()
    """What to do with these files."""


@dataclass(frozen=True)
class Part:
    """An object of a picture, or a part of one: its outline as an SVG path."""

    name: str
    outline: str
    of: int | None = None
    """The object that it is a part of, by its place among them."""


@dataclass(frozen=True)
class SceneCard:
    """Everything about one scene."""

    number: int
    words: tuple[str, ...]
    size: tuple[int, int]
    parts: tuple[Part, ...]
    data: Any
    """As JSON."""
    plays: tuple[str, ...] = ()
    """Its sound in words."""


@dataclass(frozen=True)
class Factor:
    """One property varied while all else stays: a picture for each level, by its number."""

    name: str
    about: str
    levels: tuple[tuple[str, int], ...]
    said: tuple[str, ...] = ()
    """What is asked at each level, where that is what varies."""


@dataclass(frozen=True)
class Opinion:
    """What a learner says of an item: its likeliest answer, if that is one, and how likely it holds the right one."""

    answer: str
    chance: float
    right: bool


@dataclass(frozen=True)
class Difference:
    """An item that one learner gets right and another wrong."""

    number: int
    shot: Shot
    text: str
    answer: str
    one: Opinion
    other: Opinion


@dataclass(frozen=True)
class Differences:
    """How many items each of two learners alone gets right, of how many, and the items where they are widest apart."""

    one: int
    other: int
    of: int
    items: tuple[Difference, ...]


class Explorer:
    """What every benchmark can show."""

    languages: ClassVar[Mapping[str, str]] = {}
    """What can be written, and an example of it."""
    asks: ClassVar[bool] = False
    """Whether what is written are questions; else concepts."""
    seen: ClassVar[tuple[str, ...]] = ()
    """What there is of every scene: pictures, sounds."""
    thinker: ClassVar[str] = ""
    """A learner that weighs a whole language and is taught nothing; it takes a while at first."""
    whom: ClassVar[Mapping[str, str]] = {
        "strong": "knows the whole language",
        "weak": "knows only what it was trained on",
    }
    """What each of the learners knows that answer beside a person."""
    heard: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Properties of a scene, and how each is heard."""
    pixels: ClassVar[tuple[int, int]] = (0, 0)
    pixelated: ClassVar[bool] = False
    """Whether pictures are enlarged with hard edges."""
    layouts: ClassVar[int] = 0
    """Layouts on which single factors are varied."""

    def __init__(self, study: Study) -> None:
        self.study = study

    # --- what there is

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        """What can be played: name, title, and what is held out."""
        found = self.study.benchmark.language.splits.values()
        return [(split.name, split.title, split.about) for split in found]

    @property
    def scenes(self) -> int:
        """How many scenes there are to look at."""
        return 0

    def tables(self) -> Sequence[Table]:
        """What `recombine list` lists, and what belongs to it."""
        return [self.study.list()]

    def factors(self, layout: int = 0) -> Sequence[Factor]:
        """Every factor varied on one layout."""
        raise UserError(f"{self.study.benchmark.title} varies no single factor on a fixed layout")

    # --- playing

    @cached_property
    def _exams(self) -> dict[str, Exam]:
        return {}

    def exam(self, split: str) -> Exam:
        """The exam of a split; of several the first that holds something out."""
        if split not in {name for name, *_ in self.splits}:
            raise UserError(f"there is no split '{split[:80]}'; choose one of {', '.join(n for n, *_ in self.splits)}")
        if split not in self._exams:
            found = self.study.exams([split])
            self._exams[split] = next((exam for exam in found if not exam.control), found[0])
        return self._exams[split]

    @cached_property
    def _pieces(self) -> dict[str, Examples]:
        return {}

    def whole(self, split: str) -> Examples:
        """The first piece of the exam."""
        if split not in self._pieces:
            self._pieces[split] = next(iter(self.exam(split).pieces()))
        return self._pieces[split]

    def rounds(self, split: str) -> int:
        piece = self.whole(split)
        groups = len(np.unique(piece.group))
        return groups if self.exam(split).few_shot else max(1, groups // ASKED)

    def rows(self, split: str, number: int) -> tuple[Examples, np.ndarray]:
        """The examples of a round, and in which order its questions are asked: an order that tells nothing."""
        piece, rounds = self.whole(split), self.rounds(split)
        if not 0 <= number < rounds:
            raise UserError(f"there is no round {number} of {split}; choose one from 0 to {rounds - 1}")
        groups = np.unique(piece.group)
        each = 1 if self.exam(split).few_shot else ASKED
        some = chosen(piece, np.isin(piece.group, groups[number * each : (number + 1) * each]))
        return some, order_of(some, split, number)

    def shot(self, examples: Examples, row: int) -> Shot:
        """What a row shows."""
        things = examples.scenes.objects(int(examples.scene[row]))
        return Shot(None, "; ".join(" ".join(one.values()) for one in things))

    def choices(self, examples: Examples, row: int) -> tuple[str, ...]:
        return examples.answers

    def about(self, split: str) -> str:
        return self.study.benchmark.about

    def round(self, split: str, number: int) -> Round:
        """What is seen of a round, and nothing that gives an answer away."""
        examples, order = self.rows(split, number)
        text = examples.text
        shown = (
            Item(self.shot(examples, int(i)), "", (), examples.answers[examples.target[i]])
            for i in np.flatnonzero(examples.given)
        )
        asked = (
            Item(self.shot(examples, int(i)), "" if text is None else str(text[i]), self.choices(examples, int(i)))
            for i in order
        )
        title = f"{dict((name, title) for name, title, _ in self.splits)[split]}, {number}"
        seen = self.seen or ("words",)
        return Round(title, self.about(split), tuple(shown), tuple(asked), self.rounds(split), seen)

    def solution(self, split: str, number: int, others: Mapping[str, Answering] | None = None) -> Solution:
        """The truth, and what the ideal learners and some others say."""
        examples, order = self.rows(split, number)
        who = {**self.study.learners(self.exam(split)), **(others or {})}
        said = {name: said_of(learner, examples, order, name) for name, learner in who.items()}
        answers = tuple(examples.answers[examples.target[i]] for i in order)
        return Solution(answers, said)

    # --- writing and looking

    def read(self, text: str, first: int = 0) -> Reading:
        """What a text means, with a page of scenes from the first of each group on."""
        raise UserError(f"{self.study.benchmark.title} has no language that can be written here")

    def filtered(self, text: str, first: int = 0) -> Reading:
        """The scenes of the benchmark that a text chooses: what it means, unless it draws scenes of its own."""
        return self.read(text, first)

    def scene(self, number: int) -> SceneCard:
        raise UserError(f"the scenes of {self.study.benchmark.title} are not drawn")

    def picture(self, number: int) -> bytes:
        """PNG."""
        raise UserError(f"the scenes of {self.study.benchmark.title} are not drawn")

    def large(self, number: int) -> bytes:
        """PNG, to be looked at closely."""
        return self.picture(number)

    def sound(self, number: int) -> bytes:
        """WAV."""
        raise UserError(f"the scenes of {self.study.benchmark.title} have no sound")

    def numbered(self, number: int) -> int:
        """A number of a scene, or a sentence about how many there are."""
        if not 0 <= number < self.scenes:
            raise UserError(f"there is no scene {number}; choose one from 0 to {self.scenes - 1}")
        return number

    # --- comparing

    def differences(self, split: str, one: Answering, other: Answering, most: int = PAGE) -> Differences:
        """The rounds' items that one learner gets right and another wrong, the widest apart first."""
        piece = self.whole(split)
        said = [answered(learner, piece, "") for learner in (one, other)]
        right = [_lead(chances, piece.asked) > SAME for chances in said]
        by = np.abs(np.subtract(*(_of_the_right(chances, piece.asked) for chances in said)))
        apart = np.flatnonzero(right[0] != right[1])
        apart = apart[np.argsort(-by[apart], kind="stable")]
        alone = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
        rows = np.flatnonzero(~piece.given)
        _, number = np.unique(piece.group, return_inverse=True)
        each = 1 if self.exam(split).few_shot else ASKED

        def difference(i: int) -> Difference:
            row, answer = int(rows[i]), int(piece.asked[i])
            one, other = (
                Opinion(_likeliest(says[i], piece.answers), float(says[i, answer]), bool(ok[i]))
                for says, ok in zip(said, right)
            )
            text = "" if piece.text is None else str(piece.text[row])
            return Difference(int(number[row]) // each, self.shot(piece, row), text, piece.answers[answer], one, other)

        return Differences(alone[0], alone[1], len(rows), tuple(map(difference, apart[:most].tolist())))


class TracedExplorer(Explorer, ABC):
    """One whose scenes are drawn by the ray tracer."""

    pixels: ClassVar[tuple[int, int]]
    close: ClassVar[tuple[int, int]]
    """The size at which a scene is looked at closely."""

    @abstractmethod
    def _alone(self, number: int) -> Scenes:
        """The scene of a number."""

    def outlined(self, alone: Scenes) -> tuple[Part, ...]:
        """The objects of a scene in words, with their outlines."""
        from recombine.render.raytrace import raytrace

        masks = raytrace(alone, *self.close, ("objects",)).objects
        assert masks is not None
        return tuple(Part(name, outline_path(masks[0] == i)) for i, name in enumerate(phrases(alone.objects(0))))

    def picture(self, number: int) -> bytes:
        from recombine.render.raytrace import raytrace

        rgb = raytrace(self._alone(number), *self.pixels, ("rgb",)).rgb
        assert rgb is not None
        return png(rgb[0], 1)

    def large(self, number: int) -> bytes:
        from recombine.render.fine import traced

        return png(traced(self._alone(number), *self.close)[0], 1)


def _of_the_right(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The probability of the right answer, float[asked]."""
    chances: np.ndarray = np.take_along_axis(said, truth[:, None], axis=1)[:, 0]
    return chances


def _lead(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """By how much the right answer is likelier than the likeliest of the others, float[asked]."""
    others = said.copy()
    np.put_along_axis(others, truth[:, None], 0, axis=1)
    lead: np.ndarray = _of_the_right(said, truth) - others.max(axis=1)
    return lead


def _likeliest(chances: np.ndarray, answers: Sequence[str]) -> str:
    """The answer with the most chance; empty where several have as much."""
    best = np.flatnonzero(chances > chances.max() - SAME)
    return answers[best[0]] if len(best) == 1 else ""


def chosen(piece: Examples, rows: np.ndarray) -> Examples:
    """Some rows of examples."""
    return piece.take(rows)


def order_of(examples: Examples, split: str, number: int) -> np.ndarray:
    """The rows that are asked in an order that tells nothing: files have the positives first."""
    asked = np.flatnonzero(~examples.given)
    mixed: np.ndarray = (Key(0) / "round" / split / number).rng().permutation(asked)
    return mixed


def said_of(learner: Answering, examples: Examples, order: np.ndarray, name: str) -> tuple[dict[str, float], ...]:
    """What a learner says of some rows: the probability of every answer that it holds possible."""
    place, table = np.cumsum(~examples.given) - 1, answered(learner, examples, name)
    said = (zip(examples.answers, table[place[i]]) for i in order)
    return tuple({answer: round(float(chance), 4) for answer, chance in row if chance > 0.005} for row in said)


def page_of(numbers: np.ndarray, first: int) -> list[int]:
    """A page of them."""
    found: list[int] = numbers[first : first + PAGE].tolist()
    return found


def explorer(study: Study) -> Explorer:
    """What a benchmark brings, or what every benchmark has."""
    where = study.benchmark.explorer_at
    kind: type[Explorer] = study.benchmark.part(where) if where else Explorer
    return kind(study)
