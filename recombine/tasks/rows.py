"""Rows for everyone: one self-contained row per episode or question, in an order that tells nothing.

A *row set* is what a benchmark asks of one split and part. From its examples come rows: the scenes that are shown with
their answers, the scenes that are asked about, a text with a mark where each scene belongs, and the right answers.
Benchmarks write positives first; here shown and asked scenes are mixed, each episode with a key of its own.

| form    | a row is                                                                      |
|---------|-------------------------------------------------------------------------------|
| `all`   | an episode or question with everything that it asks                           |
| `query` | the same with one asked scene; an episode of 25 queries gives 25 rows         |
| `sheet` | the same as `all`, with its scenes on one numbered contact sheet              |
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from recombine.language.expr import Expr
from recombine.render.schematic import phrases
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples, numbered
from recombine.world.scenes import Scenes

FORMS = ("all", "query", "sheet")
MARKS = {"images": "<image>", "sounds": "<sound>"}
"""What stands in the text where a picture or a sound belongs."""
TOGETHER = 1_000
"""Rows that are mixed with each other, and a file."""
Answer = Callable[[Examples, np.ndarray], np.ndarray]
"""What a learner says of those of some rows of examples that are asked: probabilities, float[asked, answers]."""
Keep = Callable[[Expr, Scenes], bool]
"""Whether a row is wanted, by its concept and its scenes."""


class Piece(NamedTuple):
    """Some examples, the number that files give to the scene of each of their rows, and to their first group."""

    examples: Examples
    scene: np.ndarray  # int[rows]
    first: int = 0


@dataclass(frozen=True, eq=False)
class RowSet:
    """What a benchmark asks of one split and part."""

    name: str
    """Names files and ids, such as boolean/hard."""
    split: str
    part: str
    pieces: Callable[[], Iterator[Piece]]
    """The examples, as many at a time as fit in memory."""
    intro: str = ""
    """What stands before everything."""
    scenes: str = ""
    """Tells scenes of the same number apart: the part or the file that they belong to."""
    exam: Exam | None = None
    """The exam whose learners answer its rows."""


@dataclass(frozen=True)
class Row:
    """An episode or a question, whole in itself."""

    id: str
    benchmark: str
    split: str
    part: str
    seed: int
    digest: str
    """Stands for everything that decided it."""
    intro: str
    question: str
    """Empty where the answer is about the scene alone."""
    concept: str
    """What is hidden: for whoever scores, not for whoever answers."""
    scenes: tuple[int, ...]
    """Their numbers in the files: those that are shown, then those that are asked about."""
    shown: tuple[str, ...]
    """The answers of the scenes that are shown."""
    answers: tuple[str, ...]
    """The right answers to what is asked, in order."""
    options: tuple[str, ...]
    """What an answer may be."""
    sheet: bool = False
    words: tuple[str, ...] = ()
    """The scenes in words, where they stand in the text as such."""
    media: tuple[bytes, ...] = field(default=(), repr=False)
    """The files of the marks, in order."""
    said: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    """What a learner says, if one was asked: for every answer, the probability of each option."""

    @property
    def episode(self) -> str:
        """The id of what it belongs to, if it is one query of several."""
        return self.id.rpartition("-q")[0] if "-q" in self.id[-4:] else self.id

    @property
    def number(self) -> int:
        """Of the episode or question in its set."""
        return int(self.episode[-7:])

    @property
    def cluster(self) -> str:
        """What is the same for rows that are not independent: an episode, or the scene that questions are about."""
        return self.episode if self.shown else f"{self.benchmark}-{self.part}-scene-{self.scenes[0]:07}"

    def text(self, mark: str = MARKS["images"]) -> str:
        """What is asked, with a mark where each picture or sound belongs.

        >>> print(Row("a", "b", "c", "test", 0, "", "", "Is it red?", "", (3,), (), ("no",), ("no", "yes")).text())
        <image>
        Is it red?
        Answer with one of: no, yes.
        """
        return "\n".join(line for line in self._lines(mark) if line)

    def _lines(self, mark: str) -> Iterator[str]:
        yield self.intro
        scenes = self.words or (mark,) * len(self.scenes)
        count, first = len(self.shown), len(self.shown) + 1
        if self.sheet and not self.words:
            yield mark
            scenes = tuple(f"scene {place}" for place in range(1, len(scenes) + 1))
        single = len(scenes) == 1
        yield from (f"{i}. {scene}: {said}" for i, (scene, said) in enumerate(zip(scenes, self.shown), 1))
        if self.shown:
            yield "Now these:" if len(self.answers) > 1 else "Now this:"
        yield from (scene if single else f"{i}. {scene}" for i, scene in enumerate(scenes[count:], first))
        yield self.question
        options = ", ".join(self.options)
        several = f"Answer each with one of: {options}; one answer per line, in order."
        yield several if len(self.answers) > 1 else f"Answer with one of: {options}."

    def record(self, kind: str | None = None) -> dict[str, Any]:
        """The columns of a file, without the media."""
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in UNWRITTEN}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
        return {**plain, "text": self.text(MARKS.get(kind or "images", "")), "answer": ", ".join(self.answers)}


UNWRITTEN = ("intro", "sheet", "words", "media", "said")


class _Unit(NamedTuple):
    """A row, and where it is from."""

    row: Row
    scenes: Scenes
    examples: Examples
    mine: np.ndarray  # int[scenes]: its rows among the examples


def rows(
    given: RowSet,
    made: Mapping[str, Any],
    form: str = "all",
    first: int | None = None,
    describe: bool = False,
    keep: Keep | None = None,
    answer: Answer | None = None,
) -> Iterator[tuple[Row, Scenes]]:
    """The rows of a set, and of each its scenes; only those of the first so many episodes or questions.

    `made` gives benchmark, seed and digest. `describe` puts the scenes in words; `keep` leaves rows out; what `answer`
    says comes with the rows.
    """
    if form not in FORMS:
        raise UserError(f"there is no form '{form}'; choose one of {', '.join(FORMS)}")
    key = Key(int(made["seed"])) / "rows" / given.name / given.part
    units = islice(_units(given, made, key, describe, keep), first)
    number = 0
    while some := list(islice(units, TOGETHER)):
        order = (key / "order" / number).rng().permutation(len(some))
        if answer is not None:
            some = _answered(some, answer)
        for place in order:
            yield from _formed(some[place].row, some[place].scenes, form)
        number += 1


def _answered(units: Sequence[_Unit], answer: Answer) -> list[_Unit]:
    """The rows with what a learner says of them; it is asked once about all that come from the same examples."""
    found, low = [], 0
    while low < len(units):
        examples, high = units[low].examples, low
        while high < len(units) and units[high].examples is examples:
            high += 1
        mine = np.sort(np.concatenate([unit.mine for unit in units[low:high]]))
        said = answer(examples, mine)
        place = np.empty(len(examples.scene), np.int64)
        asked = mine[~examples.given[mine]]
        place[asked] = np.arange(len(asked))
        for unit in units[low:high]:
            told = said[place[unit.mine[len(unit.row.shown) :]]]
            found.append(unit._replace(row=replace(unit.row, said=tuple(map(tuple, told.tolist())))))
        low = high
    return found


def _units(given: RowSet, made: Mapping[str, Any], key: Key, describe: bool, keep: Keep | None) -> Iterator[_Unit]:
    for piece in given.pieces():
        yield from _of_piece(given, piece, made, key, describe, keep)


def _of_piece(
    given: RowSet, piece: Piece, made: Mapping[str, Any], key: Key, describe: bool, keep: Keep | None
) -> Iterator[_Unit]:
    examples = piece.examples
    number, groups = numbered(examples.group)
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(groups + 1))
    units: Sequence[int] = range(groups)
    if groups == len(order) > len(np.unique(piece.scene)):
        # Questions about one scene stand side by side, so that it is drawn once; whatever their order was, it is gone.
        units = np.argsort(piece.scene[order], kind="stable").tolist()
    for unit in units:
        mine = order[bounds[unit] : bounds[unit + 1]]
        name = piece.first + unit
        if len(mine) > 1:
            mine = mine[(key / name).rng().permutation(len(mine))]
            mine = mine[np.argsort(~examples.given[mine], kind="stable")]  # what is shown comes first
        scenes = examples.scenes[examples.scene[mine]]
        said = [examples.answers[target] for target in examples.target[mine]]
        count = int(np.count_nonzero(examples.given[mine]))
        asked = mine[count] if count < len(mine) else mine[0]
        concept = examples.concepts[examples.concept[asked]]
        if keep is not None and not keep(concept, scenes):
            continue
        yield _Unit(
            Row(
                row_id(made["benchmark"], given, name),
                str(made["benchmark"]),
                given.split,
                given.part,
                int(made["seed"]),
                str(made["digest"]),
                given.intro,
                _question(examples, asked),
                repr(concept),
                tuple(piece.scene[mine].tolist()),
                tuple(said[:count]),
                tuple(said[count:]),
                examples.answers,
                words=tuple("; ".join(phrases(scenes.objects(i))) for i in range(len(scenes))) if describe else (),
            ),
            scenes,
            examples,
            mine,
        )


def row_id(benchmark: str, given: RowSet, number: int) -> str:
    """What a row is called."""
    return f"{benchmark}-{given.name.replace('/', '-')}-{given.part}-{number:07}"


def _question(examples: Examples, row: int) -> str:
    """The text of a question; a concept that is visible is asked about as it is written."""
    if examples.text is not None:
        return str(examples.text[row])
    return f"{examples.concepts[examples.concept[row]]!r}?" if examples.concept_visible else ""


def _formed(row: Row, scenes: Scenes, form: str) -> Iterator[tuple[Row, Scenes]]:
    if form != "query":
        yield replace(row, sheet=form == "sheet"), scenes
        return
    count = len(row.shown)
    for place, answer in enumerate(row.answers):
        kept = np.array([*range(count), count + place])
        yield (
            replace(
                row,
                id=f"{row.id}-q{place:02}",
                scenes=tuple(row.scenes[i] for i in kept),
                answers=(answer,),
                words=tuple(row.words[i] for i in kept) if row.words else (),
                said=row.said[place : place + 1],
            ),
            scenes[kept],
        )
