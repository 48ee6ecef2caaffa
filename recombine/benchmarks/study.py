"""A study: a benchmark at one scale and seed, and everything that one can do with it.

A benchmark brings a subclass. What it must say is how its splits are listed, which exams they give, and who its ideal
learners are; gaps, scores, pages and files follow from these. The keywords of `__init__` and of the methods that carry
a help text are the options of the command line, and those of Python: there is one list of them.
"""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recombine import __version__, benchmarks
from recombine.benchmarks.carried import digests
from recombine.benchmarks.laws import LAWS, LawBroken
from recombine.benchmarks.row_export import Asked, stream
from recombine.benchmarks.row_export import write as write_rows
from recombine.benchmarks.scoring import Scored, answered_by, score_table, scores, solvers_named
from recombine.language.expr import Expr, Symbol
from recombine.metrics.comparisons import ordered
from recombine.metrics.gap import FEWEST_WORLDS, Gap, gap, gap_to_best
from recombine.metrics.speed import Speed
from recombine.render.folders import Dataset
from recombine.render.media import Drawing, Played, Traced
from recombine.render.rendering import Given, Tell, Used, Wanted, announce, deliver, quiet, refuse_format, wanted, works
from recombine.report.document import Card, Chapter, Figure, Item, write_document
from recombine.report.gaps import Gaps, Trial, over_worlds
from recombine.report.table import Cell, Column, Table
from recombine.report.view import ExampleView, View
from recombine.solvers.baselines import BASELINES
from recombine.solvers.sitting import Answering, pooled, taught
from recombine.solvers.solver import Solver
from recombine.store.cards import About
from recombine.store.engine import Engine, Progress, engine
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import free_file, holds, place_for
from recombine.store.paths import plain_name
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table, write_table
from recombine.tasks.difficulty import Difficulty
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples
from recombine.tasks.made_splits import MOST_ATOMS, Items, MadeSplit, check_wish, is_file, make_split, read_split
from recombine.tasks.rows import Answer, Piece, Row, RowSet

if TYPE_CHECKING:
    from recombine.benchmarks import Benchmark

Scale = Annotated[str, "How much: demo, laptop or paper; every command takes demo where it is not said."]
Seed = Annotated[int, "Another seed gives another world, the same seed the same bytes."]
Workers = Annotated[int | Engine, "Processes or tasks at once. Default: all cores here, one in Python."]
Splits = Annotated[Sequence[str], "A split, test or experiment; repeat for several. Default: all."]
Part = Annotated[str, "train, validation (or val) or test."]
Render = Annotated[str | Wanted | None, "Also draw the scenes: images; where they have sound, sounds or images,sounds."]
Size = Annotated[str | None, "Width and height of images, such as 480x320. Default: the paper's."]
First = Annotated[int | None, "Render only the first so many scenes, of each part."]
Form = Annotated[str, "all (everything asked at once), query (one asked scene per row) or sheet (one picture of all)."]
FirstRows = Annotated[
    int | None, "Only the first so many episodes, questions or images.", ("--episodes", "--questions", "--images")
]
RenderRows = Annotated[str | None, "images, sounds or words inside the rows. Default: the numbers of the scenes."]
Difficulties = Annotated[
    Mapping[str, str] | Difficulty | None,
    "Only such rows: objects=3-6, depth=-8, novelty=3; or noise=0.1 for what is seen or heard. Repeat for several.",
    ("--difficulty",),
]
Worlds = Annotated[int, "Also compare so many worlds of laptop scale, at least 5: intervals over them."]
PARTS = ("train", "validation", "test")
USED_NOTE = "Pictures and sounds are those of the scenes that the test episodes or the questions use, and no others."
INSTEAD = "leave render out; rows can have words instead: render words"
SHOWN = 12
"""Rows of a group that a plain view shows."""


def part_named(name: str) -> str:
    """A part as it is called everywhere."""
    name = {"val": "validation"}.get(name, name)
    if name not in PARTS:
        raise UserError(f"there is no part '{name}'; choose one of {', '.join(PARTS)}")
    return name


class Opened(ABC):
    """Remembers what it was opened with; a class of its own, so that signatures are read off `__init__`."""

    opened_with: Mapping[str, Any]

    def __new__(cls, *args: Any, **options: Any) -> Self:
        made, known = super().__new__(cls), signature(cls)
        try:
            made.opened_with = known.bind(*args, **options).arguments
        except TypeError as error:
            raise TypeError(f"{cls.__name__} {error}; it takes {', '.join(known.parameters)}") from None
        return made


def _shown(label: str, done: int, total: int) -> None:
    """Bars, where somebody looks on."""
    from recombine.store.progress import watched

    watched(label, done, total)


class Study(Opened):
    """What one can do with a benchmark."""

    name: ClassVar[str]
    """Of the benchmark."""
    metrics: ClassVar[tuple[str, ...]] = ("probability",)
    """The marks that gaps are measured by."""
    called: ClassVar[Mapping[str, str]] = {"probability": "accuracy"}
    """What a metric is called in tables, where that is another word."""
    unit: ClassVar[str] = "questions"
    baselines: ClassVar[tuple[str, ...]] = ("chance", "majority", "nearest", "statistics")
    solvers: ClassVar[Mapping[str, str]] = {}
    """Learners of its own: where in its package each is made, `module:name`, from the study and its own name."""
    inducing: ClassVar[Mapping[str, str]] = {}
    """Which of these weighs a whole language, by what it perceives: images, sounds, words or None for the scenes."""
    formats: ClassVar[tuple[str, ...]] = ("parquet",)
    """Of files without pictures."""
    shown_as: ClassVar[tuple[str, ...]] = (".html",)
    """The endings of files that one example is written to."""
    scales: ClassVar[tuple[str, ...]] = ("demo", "laptop", "paper")
    intro: ClassVar[str] = ""
    """What the report begins with."""
    published_note: ClassVar[str] = ""
    asks: ClassVar[str] = ""
    """What every row of it begins with."""

    def __init__(
        self,
        scale: Scale = "demo",
        seed: Seed = 0,
        *,
        workers: Workers = 1,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        if scale not in self.scales:
            raise UserError(f"there is no scale '{scale}'; choose one of {', '.join(self.scales)}")
        self.scale_name, self.seed = scale, seed
        self._open(workers, store, progress)

    def again(self, **instead: Any) -> Self:
        """The same in the same store, with other options in the place of these."""
        same = {"workers": self.engine, "store": self.store, "progress": self.progress}
        return type(self)(**{**self.opened_with, **same, **instead})

    def _open(self, workers: int | Engine, store: Store | None, progress: Progress | None) -> None:
        self.store, self.progress = store or Store.default(), progress or _shown
        self.engine: Engine = engine(workers, self.progress)

    def close(self) -> None:
        """End the workers."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @classmethod
    def files_among(cls, options: Mapping[str, Any]) -> Sequence[str]:
        """Which of some options name a file or a folder, from which it is made."""
        return ()

    @property
    def benchmark(self) -> Benchmark:
        return benchmarks.get(self.name)

    @property
    def settings(self) -> dict[str, str | int]:
        """What decides its numbers."""
        return {"scale": self.scale_name, "seed": self.seed}

    @property
    def named(self) -> dict[str, str | int]:
        """Its settings but for the names of files; what is in these, `own` says."""
        files = self.files_among(self.opened_with)
        return {name: value for name, value in self.settings.items() if name not in files}

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({said})"

    def _repr_html_(self) -> str:
        return self.list().html()

    # --- what a benchmark says

    def list(self) -> Table:
        """The splits."""
        splits = self.benchmark.language.splits.values()
        rows = tuple((split.name, split.title, split.about) for split in splits)
        return Table(f"{self.benchmark.title}'s splits", (Column("split"), Column("title"), Column("held out")), rows)

    @abstractmethod
    def exams(self, splits: Splits = (), part: Part = "test") -> Sequence[Exam]:
        """The exams of some splits, by default of all."""

    @abstractmethod
    def learners(self, exam: Exam) -> Mapping[str, Answering]:
        """The ideal learners of an exam, strong and weak among them."""

    def ideal(self, exam: Exam) -> Mapping[str, Marks]:
        """What each ideal learner earns in an exam, unit by unit."""
        pieces = list(exam.pieces())
        return {
            name: pooled([exam.mark(piece, answered_by(learner, piece, name)) for piece in pieces])
            for name, learner in self.learners(exam).items()
        }

    def published(self, exam: Exam, metric: str) -> Mapping[str, Cell]:
        """What was printed of an exam: `paper strong` and `paper weak`, or the scores of models by name."""
        return {}

    def speeds(self) -> Iterator[Speed]:
        """What every part costs beside its plain reference."""
        return iter(())

    @property
    def dataset(self) -> Dataset:
        """What it takes to draw the scenes."""
        raise UserError(f"the scenes of {self.name} are not drawn; {INSTEAD}")

    def scenes_given(self) -> Mapping[str, Given]:
        """Where the scenes of every part are."""
        raise UserError(f"the scenes of {self.name} are not drawn; {INSTEAD}")

    def row_sets(self, splits: Splits = (), part: Part = "test") -> Sequence[RowSet]:
        """What rows are made of: the episodes, questions or images of some splits, by default of all."""
        if part_named(part) == "validation":
            raise UserError(f"{self.name} has no rows of its part validation; choose train or test")
        return [
            RowSet(
                exam.name, exam.split or exam.name, part, partial(_row_pieces, exam, part), self.asks, exam.name, exam
            )
            for exam in self.exams(splits)
        ]

    def novelty(self, concept: Expr) -> int | None:
        """The depth of the smallest fragment of a concept that training does not have; nothing if it has them all."""
        raise UserError(f"{self.name} has no orders of novelty, closure has; leave novelty out")

    def drawing(self, kind: str, size: tuple[int, int] | None = None) -> Drawing:
        """What gives the picture or the sound of a scene; by default the ray tracer, and CURI's instruments."""
        dataset = self.dataset
        if kind == "images":
            return Traced(dataset.images(*(size or (dataset.width, dataset.height)), False).look)
        if dataset.first_bin is None:
            raise UserError(f"the scenes of {self.name} have no sound, those of curi have; render images")
        return Played(dataset.first_bin)

    def need_room(self, splits: Sequence[str] = ()) -> None:
        """Refuse before anything is written if the disk is too small."""
        self.store.need(0)

    # --- what follows from it

    def show(self, split: str, number: int = 0, part: Part = "test") -> View:
        """One example: what is given, what is asked, and what the ideal learners make of it."""
        exam = self.exams([split], part)[0]
        for piece in exam.pieces():
            groups = np.unique(piece.group)
            if number < len(groups):
                return self._example(exam, piece, piece.group == groups[number], number)
            number -= len(groups)
        raise UserError(f"{exam.name} has no example of this number; choose a smaller one")

    def _example(self, exam: Exam, piece: Examples, mine: np.ndarray, number: int) -> View:
        said = {name: answered_by(learner, piece, name) for name, learner in self.learners(exam).items()}
        asked = np.cumsum(~piece.given) - 1
        rows = []
        for row in np.flatnonzero(mine)[:SHOWN]:
            things = "; ".join(" ".join(one.values()) for one in piece.scenes.objects(int(piece.scene[row])))
            target = piece.answers[piece.target[row]]
            chances = [
                None if piece.given[row] else f"{100 * float(all_[asked[row], piece.target[row]]):.0f} %"
                for all_ in said.values()
            ]
            rows.append((things, "shown" if piece.given[row] else "asked", target, *chances))
        columns = (Column("scene"), Column(""), Column("answer"), *(Column(name, "right") for name in said))
        table = Table("", columns, tuple(rows), "The learners' columns: the probability of the right answer.")
        return ExampleView(f"{self.benchmark.title}, {exam.name}, example {number}", self.benchmark.about, table)

    def gap(self, splits: Splits = (), part: Part = "test") -> Gaps:
        """The compositionality gap: strong minus weak ideal learner, beside published values where there are any."""
        self.need_room(splits)
        return self._gap(self.exams(splits, part))

    def _gap(self, exams: Sequence[Exam]) -> Gaps:
        trials = []
        for number, exam in enumerate(exams):
            self.progress("ideal learners", number, len(exams))
            marks = self.ideal(exam)
            trials += [self._trial(exam, metric, marks) for metric in self.metrics]
        self.progress("ideal learners", len(exams), len(exams))
        if not trials:
            raise UserError(f"{self.name} holds nothing out, so it has no gap")
        note = self.gap_note()
        return Gaps(self.name, self.benchmark.title, self.settings, tuple(trials), self.unit, note, self.published_note)

    def gap_note(self) -> str:
        """What else is to be said of the gaps."""
        return ""

    def _trial(self, exam: Exam, metric: str, marks: Mapping[str, Marks]) -> Trial:
        others = {who: 100 * float(one[metric].mean()) for who, one in marks.items() if who not in ("strong", "weak")}
        return Trial(
            exam.split or exam.name,
            exam.name,
            exam.title or exam.name,
            self.measured(exam, metric, marks),
            others,
            {} if exam.control or self.settings.get("scale") == self.scales[0] else self.published(exam, metric),
            exam.control,
            self.to_best(exam, metric, marks) if others else None,
        )

    def measured(self, exam: Exam, metric: str, marks: Mapping[str, Marks]) -> Gap:
        """Strong minus weak, with the widest intervals that one world can give."""
        key = exam.key / metric if len(self.metrics) > 1 else exam.key
        strong, weak = (np.asarray(marks[who][metric], np.float64) for who in ("strong", "weak"))
        return gap(exam.split or exam.name, self.called.get(metric, metric), strong, weak, exam.units(marks), key)

    def to_best(self, exam: Exam, metric: str, marks: Mapping[str, Marks]) -> tuple[Gap, str]:
        """Strong minus the best of all learners that do not recombine, and who that is."""
        earned = {who: np.asarray(one[metric], np.float64) for who, one in marks.items()}
        strong, name = earned.pop("strong"), self.called.get(metric, metric)
        return gap_to_best(exam.split or exam.name, name, strong, earned, exam.key / "best" / metric, None)

    def score(self, solver: Any = None, splits: Splits = (), part: Part = "test") -> Table:
        """The scores of solvers on every exam, in percent, and those of the ideal learners beside them.

        `solver` is the name of a baseline, "strong" or "weak"; FILE.py:NAME; a function, a class or an object with
        `predict`; a list of such; or None for all baselines.
        """
        self.need_room(splits)
        return self._score(solver, self.exams(splits, part))

    def _score(self, solver: Any, exams: Sequence[Exam]) -> Table:
        chosen = self.solvers_named(self.baselines if solver is None else solver)
        found: Scored = scores(chosen, exams, self.learners, Key(self.seed) / "score", self.progress)
        said = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return score_table(f"{self.benchmark.title}, {said}", found, self.unit)

    def rows(
        self,
        splits: Splits = (),
        part: Part = "test",
        *,
        form: Form = "all",
        first: FirstRows = None,
        render: RenderRows = None,
        size: Size = None,
        difficulty: Difficulties = None,
    ) -> Iterator[Row]:
        """Self-contained rows, one per episode or question, mixed; `row.text()` is a prompt."""
        return stream(self.asked_rows(splits, part, form, first, render, size, difficulty))

    def asked_rows(
        self,
        splits: Sequence[str] = (),
        part: str = "test",
        form: str = "all",
        first: int | None = None,
        render: str | None = None,
        size: str | None = None,
        difficulty: Mapping[str, str] | Difficulty | None = None,
        **more: Any,
    ) -> Asked:
        """The rows that are wanted; `more` is what a benchmark can be asked for besides."""
        sets, hard = self.row_sets(splits, part_named(part), **more), Difficulty.read(difficulty)
        return Asked(self, sets, form, first, render, size, hard, self.own(splits))

    def own(self, splits: Sequence[str] = ()) -> dict[str, Any]:
        """What else decides its rows, besides its settings and the names of splits: what files of one's own say."""
        options = [str(self.opened_with[name]) for name in self.files_among(self.opened_with)]
        found = digests({name: Path(name) for name in (*filter(is_file, splits), *options)})
        return {"own": sorted(found.values())} if found else {}

    def answers(self, asked: Asked, learner: str, seen: str | None = None) -> Iterator[Row]:
        """The rows with what a learner says of each: strong, weak, induction, or another that the benchmark has.

        `seen` says how induction perceives the scenes, if not as the rows are rendered.
        """
        return stream(asked, partial(self._answer, learner, seen or asked.render))

    def _answer(self, name: str, render: str | None, one: RowSet) -> Answer:
        assert one.exam is not None
        learner, ideal = self._answering(name, render, one.exam), name in self.learners(one.exam)

        def answer(examples: Examples, rows: np.ndarray) -> np.ndarray:
            if not ideal:  # one that is slow is asked about no more than is wanted
                return answered_by(learner, examples.take(rows), name)
            said = answered_by(learner, examples, name)  # as the gap asks: what is drawn may depend on all rows
            return said[(np.cumsum(~examples.given) - 1)[rows[~examples.given[rows]]]]

        return answer

    def _answering(self, name: str, render: str | None, exam: Exam) -> Answering:
        """The learner of a name; one of the benchmark's own or a baseline is taught first."""
        ideal = self.learners(exam)
        if name in ideal:
            return ideal[name]
        own = self.inducing.get(str(render), "") if name == "induction" else name
        if own in self.solvers:
            return taught(self._learner(own), exam, Key(self.seed) / "score" / own / exam.name)
        if own in BASELINES:
            return taught(BASELINES[own](), exam, Key(self.seed) / "score" / own / exam.name)
        known = [*ideal, *(["induction"] if self.inducing else []), *self.solvers, *self.baselines]
        raise UserError(f"{self.name} has no learner '{name}'; choose one of {', '.join(known)}")

    def export(
        self,
        out: str | Path,
        splits: Splits = (),
        part: Part = "test",
        *,
        form: Form = "all",
        first: FirstRows = None,
        render: RenderRows = None,
        size: Size = None,
        difficulty: Difficulties = None,
        format: Annotated[str, "parquet, jsonl or webdataset."] = "parquet",
        tell: Tell = quiet,
    ) -> Path:
        """Write rows to a new folder, with the pictures or sounds that they use. Goes on where it was stopped."""
        place, asked = place_for(out), self.asked_rows(splits, part, form, first, render, size, difficulty)
        return write_rows(asked, place, format, {}, tell)

    def atom(self, symbol: Symbol) -> str | None:
        """What a symbol is called when combinations are held out; nothing where it says nothing."""
        return str(symbol)

    def split_items(self) -> Items:
        """The concepts or programs that a split divides."""
        raise UserError(
            f"{self.name} has no concepts that could be dealt to two sides; write an experiment of your own"
        )

    def split_of(self, file: str) -> MadeSplit:
        """A split that was written as data."""
        return read_split(file, self.name, self.atom)

    def made_split(
        self,
        out: str | Path,
        *,
        how: Annotated[str, "mcd (maximum compound divergence), orthotopic or pairwise."] = "mcd",
        share: Annotated[float, "The part that is tested, at most."] = 0.2,
        divergence: Annotated[float | None, "For mcd: stop at this compound divergence."] = None,
        atoms: Annotated[float, "For mcd: the divergence of atoms that is allowed."] = MOST_ATOMS,
    ) -> MadeSplit:
        """Make a split that holds combinations out and keeps every atom, and write it as data."""
        free_file(out, (".json",))
        check_wish(how, share, divergence, atoms)
        found = self.dealt(plain_name(Path(out).stem), how, share, divergence, atoms)
        found.write(out)
        return found

    def dealt(self, name: str, how: str, share: float, divergence: float | None, atoms: float) -> MadeSplit:
        """The split that `made_split` writes."""
        items = self.split_items()._replace(word=self.atom, most_atoms=atoms)
        return make_split(items, how, name, self.name, Key(self.seed) / "split" / how, share, divergence)

    def scales_for(self, rows: int) -> Iterable[Any]:
        """Scales to try, one after the other, for so many rows of each test."""
        return self.scales[self.scales.index(self.scale_name) :] if self.scale_name in self.scales else ("demo",)

    def scales_for_made(self, rows: int) -> Iterable[Any]:
        """The same where splits are read from files, which need something to train on."""
        return self.scales_for(rows)

    def fresh(
        self,
        out: str | Path,
        splits: Splits = (),
        *,
        n: Annotated[int, "So many rows, in equal parts of every test."] = 100,
        form: Form = "all",
        render: Annotated[
            str, "images, sounds or words inside the rows; none for the numbers of the scenes."
        ] = "images",
        size: Size = None,
        format: Annotated[str, "parquet, jsonl or webdataset."] = "parquet",
        tell: Tell = quiet,
    ) -> Path:
        """Write a test that nobody has seen to a new folder, with what the ideal learners score on exactly its rows."""
        from recombine.benchmarks.fresh import make, order_of

        place, drawn = place_for(out), None if render == "none" else render
        order = order_of(self, n, splits, form=form, render=drawn, size=size, format=format)
        return make(self, place, order, tell)

    def solvers_named(self, wanted: Any) -> dict[str, Solver | None]:
        """Solvers by name, with the benchmark's own."""
        return solvers_named(wanted, {name: partial(self._learner, name) for name in self.solvers})

    def _learner(self, name: str) -> Any:
        return self.benchmark.part(self.solvers[name])(self, name)

    def artefacts(self, splits: Splits = ()) -> Mapping[str, Path]:
        """What `make` delivers: folders of the store by the name that they have among the files."""
        return {exam.name: self._examples_folder(exam) for exam in self.exams(splits)}

    def _examples_folder(self, exam: Exam) -> Path:
        """The rows of an exam's test as a Parquet file."""
        parameters = {"benchmark": self.name, "exam": exam.name, **self.settings}
        recipe = Recipe("examples", 1, parameters, {})

        def make(draft: Path) -> None:
            tables = [_rows(piece) for piece in exam.pieces()]
            write_table(draft / "examples.parquet", pa.concat_tables(tables), recipe)

        return self.store.get(recipe, make)

    def make(
        self,
        out: str | Path | None = None,
        splits: Splits = (),
        *,
        render: Render = None,
        size: Size = None,
        first: First = None,
        format: Annotated[str, "parquet; with render also webdataset."] = "parquet",
        tell: Tell = quiet,
    ) -> Path:
        """Make the data; copy them to `out`, or leave them in the store. Goes on where it was stopped."""
        return self._make(out, {"splits": splits}, lambda: self.artefacts(splits), render, size, first, format, tell)

    def _make(
        self,
        out: str | Path | None,
        chosen: Mapping[str, Any],
        artefacts: Callable[[], Mapping[str, Path]],
        render: str | Wanted | None,
        size: str | None,
        first: int | None,
        format: str,
        tell: Tell,
        write: Callable[[Path], None] | None = None,
        also: Callable[[Path], None] | None = None,
        used: Callable[[], Used] | None = None,
    ) -> Path:
        """Deliver artefacts and what is rendered of the scenes.

        `write` puts other files into the folder in place of the artefacts, `also` further ones. `used` are the scenes
        that are rendered, where these are not all.
        """
        if used is not None and first is not None:
            raise UserError("first and the number of episodes or questions both say what is rendered: give one of them")
        if render is None and (size is not None or first is not None):
            raise UserError(
                f"{'size' if size is not None else 'first'} is for render; say what to render, such as images"
            )
        if not render:
            refuse_format(format, self.formats)
        pixels = wanted(render, size, first) if isinstance(render, str) else render
        made = {"benchmark": self.name, **self.settings, **chosen, "format": format, "render": pixels}
        made |= self.own(chosen.get("splits", ()))
        folder = None if out is None else Path(out)
        about = self.card(made)
        if pixels and used:
            about = replace(about, notes=(*about.notes, USED_NOTE))
        if folder is not None and holds(folder, made, about):
            tell(f"{folder} holds exactly this already")
            return folder
        self.need_room(chosen.get("splits", ()))
        todo = works(self.dataset, self.scenes_given, pixels, format, used() if used else None) if pixels else []
        if todo:
            announce(todo, self.store, folder, self.engine, tell)
        dataset = self.dataset if type(self).dataset is not Study.dataset else None
        return deliver(
            dataset,
            self._world,
            artefacts(),
            todo,
            self.store,
            self.engine,
            folder,
            made,
            write,
            also,
            about,
            self._dress,
        )

    def split_names(self) -> Sequence[str]:
        """The splits that are folders of what it makes."""
        return tuple(self.benchmark.language.splits)

    notes: ClassVar[tuple[str, ...]] = ()
    """What else the card of its data says."""

    def card(self, made: Mapping[str, Any], verb: str = "make") -> About:
        """What the card of a folder says that was made of it."""
        known = self.benchmark
        return About(
            self.name,
            known.title,
            known.about,
            known.paper,
            self.settings,
            __version__,
            command_for(verb, self.name, made),
            known.example,
            self.split_names(),
            self.notes,
        )

    def dressed(self, name: str, table: pa.Table) -> pa.Table:
        """A table of an artefact as others see it: with the split that it belongs to."""
        split = next((word for word in name.split("/") if word in self.split_names()), None)
        if split is None or "split" in table.column_names:
            return table
        return table.append_column("split", pa.array([split] * len(table), pa.string()))

    def _dress(self, name: str, file: Path) -> Callable[[Path], object] | None:
        if file.suffix != ".parquet" or not any(word in self.split_names() for word in name.split("/")):
            return None

        def write(part: Path) -> None:
            table = self.dressed(name, read_table(file))
            pq.write_table(table, part, compression="zstd", write_page_index=True)

        return write

    @property
    def _world(self) -> object:
        """The world, for the recipe of a dataset."""
        return None

    def report(self, out: str | Path, *, worlds: Worlds = 0) -> Path:
        """Everything about it as one self-contained page (.html), or as Markdown with figures (.md)."""
        self.worlds = worlds
        return self._report(out)

    def _report(self, out: str | Path) -> Path:
        free_file(out, (".html", ".md"))
        if 0 < self.worlds < FEWEST_WORLDS:
            raise UserError(f"an interval over worlds needs at least {FEWEST_WORLDS} of them, not {self.worlds}")
        title = f"{self.benchmark.title}: how far from the ideal learner?"
        return write_document(out, title, self.intro, self.chapters())

    worlds = 0
    """So many worlds of laptop scale that the report compares."""
    claimed: ClassVar[tuple[str, ...]] = ()
    """The splits in the order of their published gaps, the largest first, where that is claimed."""

    def another(self, seed: int) -> Self:
        """The same at laptop scale, with another seed."""
        return type(self)("laptop", seed, store=self.store, progress=self.progress)

    def world_chapters(self) -> Iterable[Chapter]:
        """The gaps over several worlds, and what they say of a published order."""
        if not self.worlds:
            return
        found = []
        for seed in range(self.seed, self.seed + self.worlds):
            with self.another(seed) as other:
                found.append(other.gap())
        items: list[Item] = [over_worlds(found).table(metric) for metric in found[0].metrics]
        if self.claimed:
            values = {split: np.array([gaps[split].gap.value for gaps in found]) for split in self.claimed}
            items.append(f"The published order of the gaps, tested over worlds: {ordered(values, self.claimed).text()}")
        intro = (
            "Everything made anew from other seeds, at laptop scale: scenes, concepts, examples. What is said of the "
            "benchmark, and not of one world, needs these intervals."
        )
        yield Chapter("Over worlds", tuple(items), intro)

    def chapters(self) -> Iterable[Chapter]:
        """The parts of its report."""
        yield self.gap_chapter(self.gap())
        yield from self.world_chapters()
        yield Chapter("Splits", (self.list(),))
        shown = self.show(self.benchmark.example)
        yield Chapter("An example", (Card(shown.rows.html()),) if isinstance(shown, ExampleView) else ())
        yield Chapter("Settings", (self.settings_table(),))

    def gap_chapter(self, gaps: Gaps, intro: str = "") -> Chapter:
        items: Iterable[Item] = chain.from_iterable(
            (
                Figure.drawn(f"gap-{metric.lower()}", "Both ideal learners.", partial(gaps.chart, metric)),
                *gaps.tables(metric),
            )
            for metric in gaps.metrics
        )
        return Chapter("The compositionality gap", tuple(items), intro)

    def settings_table(self, more: Sequence[tuple[str, str]] = ()) -> Table:
        """What the numbers depend on."""
        software = f"recombine {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
        rows = (*((name, str(value)) for name, value in self.settings.items()), *more, ("software", software))
        return Table("Settings", (Column("setting"), Column("value")), rows)

    def check(self) -> tuple[Table, bool]:
        """Every law, on fresh scenes and concepts; and whether all hold."""
        rows = tuple((text, self._verdict(law)) for text, law in LAWS.items())
        return self._verdicts(rows)

    def _verdicts(self, rows: Sequence[tuple[str, str]]) -> tuple[Table, bool]:
        title = f"Laws of {self.benchmark.title}, seed {self.seed}"
        return Table(title, (Column("law"), Column("verdict", keep=True)), tuple(rows)), all(
            row[1] == "holds" for row in rows
        )

    def _verdict(self, law: Callable[..., None]) -> str:
        try:
            law(self.benchmark.language, Key(self.seed) / "check")
        except LawBroken as broken:
            return f"broken: {broken}"
        return "holds"


def command_for(verb: str, benchmark: str, made: Mapping[str, Any]) -> str:
    """The command that makes something again, by what decided it."""
    words = ["recombine", verb, benchmark]
    for name, value in made.items():
        if (
            name in ("benchmark", "rows", "concepts", "held out", "held_out", "condition", "own", "language")
            or not value
        ):
            continue
        if isinstance(value, Wanted):
            words += ["--render", ",".join(value.kinds)]
            words += ["--size", "x".join(map(str, value.size))] if value.size else []
            words += ["--first", str(value.first)] if value.first else []
            continue
        flag = {"splits": "--split", "first": "--episodes"}.get(name, f"--{name.replace('_', '-')}")
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [flag] if one is True or name == "strict" else [flag, str(one)]
    return " ".join([*words, "--out", "FOLDER"])


def _row_pieces(exam: Exam, part: str) -> Iterator[Piece]:
    """The examples of an exam; its scenes are counted through all pieces."""
    first = scenes = 0
    for examples in exam.pieces() if part == "test" else [exam.train()]:
        yield Piece(examples, examples.scene + scenes, first)
        first, scenes = first + len(np.unique(examples.group)), scenes + len(examples.scenes)


def _rows(piece: Examples) -> pa.Table:
    """Examples with their scenes in full."""
    objects = [piece.scenes.objects(int(scene)) for scene in piece.scene]
    return pa.table(
        {
            "group": piece.group,
            "objects": [[dict(one) for one in some] for some in objects],
            "shown": piece.given,
            "concept": [repr(piece.concepts[i]) for i in piece.concept],
            "answer": [piece.answers[i] for i in piece.target],
        }
    )
