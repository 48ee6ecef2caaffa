"""What one can do with ConceptWorld's experiments; concepts alone are drawn by `drawing`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recombine.benchmarks.concept_world import exam as of_exam
from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.concept_image import Chances, ImageView, graph_of
from recombine.benchmarks.concept_world.definition import Experiment, Line, Object, Point
from recombine.benchmarks.concept_world.drawing import Concepts, checked, library_of
from recombine.benchmarks.concept_world.exam import Ideal
from recombine.benchmarks.concept_world.examples import Painted, examples
from recombine.benchmarks.concept_world.extension import Count
from recombine.benchmarks.concept_world.learners import Learner, strong, weak
from recombine.benchmarks.concept_world.made_experiments import Divided, atom, deal, known_by, to_divide
from recombine.benchmarks.concept_world.objects import ImageSet
from recombine.benchmarks.concept_world.pages import (
    INTRO,
    LEARNERS,
    PUBLISHED,
    ExperimentSheets,
    ExperimentView,
    LineSheet,
    PartView,
    experiment_chapter,
    experiment_sheet,
)
from recombine.benchmarks.concept_world.pipeline import SHARES, ConceptWorldPipeline
from recombine.benchmarks.concept_world.published import macro
from recombine.benchmarks.concept_world.speed import speeds
from recombine.benchmarks.study import Scale, Seed, Splits, Study, Workers
from recombine.language.expr import Symbol
from recombine.metrics.speed import Speed
from recombine.render.grid import paint
from recombine.render.media import Drawing
from recombine.render.png import png
from recombine.render.rendering import Tell, quiet
from recombine.report.document import Chapter
from recombine.report.gaps import Gaps
from recombine.report.table import Cell, Column, Table
from recombine.store.engine import InProcess, Progress
from recombine.store.errors import UserError, none_such
from recombine.store.key import Key
from recombine.store.outputs import write_bytes
from recombine.store.store import Store
from recombine.tasks.exam import Exam
from recombine.tasks.made_splits import MadeSplit, is_file
from recombine.tasks.rows import Piece, RowSet

Counts = dict[tuple[str, str], Count]
"""How many images a concept has, where its derivations satisfy a condition."""
SHOWN = 8
"""Images of a line that a sheet shows."""


class ConceptWorld(Study):
    """ConceptWorld's experiments at one scale and seed.

    The images of an experiment depend on one another, for none may occur twice: they are made in this process,
    whatever the number of workers.
    """

    name = "concept-world"
    asks = "Name the class of the image."
    unit = "images"
    intro = INTRO
    published_note: ClassVar[str] = PUBLISHED
    baselines: ClassVar[tuple[str, ...]] = (*Study.baselines, "definition-learner")
    solvers: ClassVar[Mapping[str, str]] = {"definition-learner": "definition_learner:named"}
    inducing: ClassVar[Mapping[str, str]] = dict.fromkeys(("images", "words", "None"), "definition-learner")

    def __init__(
        self,
        scale: Scale = "demo",
        seed: Seed = 0,
        *,
        workers: Workers = 1,
        concepts: Annotated[Concepts, "A .concepts file with experiments of your own, in place of the four."] = None,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        library = library_of(concepts)
        self.scale_name, self.seed = scale, seed
        self._open(workers, store, progress)
        self.study = ConceptWorldPipeline(scale, seed, self.store, library, self.progress)
        own = [name for name in library.experiments if name not in library_of(None).experiments]
        if concepts is not None and not own:
            raise UserError(f"{concepts} defines no experiment; add one, or draw its concepts: recombine draw")
        self.experiments = tuple(own or library.experiments)

    @classmethod
    def files_among(cls, options: Mapping[str, Any]) -> Sequence[str]:
        return [name for name in ("concepts",) if isinstance(options.get(name), str | Path)]

    def list(self) -> Table:
        """The experiments: what is trained, what is tested, and how many images."""
        found = map(self.study.experiment, self.experiments)
        rows = tuple(
            (experiment.name, part, sum(line.count for line in lines), _lines_in_words(lines))
            for experiment in found
            for part, lines in parts_of(experiment).items()
        )
        columns = (Column("experiment"), Column("part"), Column("images", "right"), Column("classes"))
        titles = "; ".join(f"{name}: {self.study.experiment(name).title}" for name in self.experiments)
        return Table("ConceptWorld's experiments", columns, rows, f"{titles}. Scale {self.study.scale}.")

    def images(self, experiment: str, part: str = "train") -> ImageSet:
        """The images of an experiment: train, or one of its tests."""
        self.need_room([experiment])
        table = self.study.samples(self._experiment(experiment).name, part)
        return ImageSet(table, self.study.images(table), self.study.library.grid, f"{experiment}/{part}")

    def show(
        self,
        split: str,
        number: int = 0,
        part: Annotated[str | None, "train, test for all tests, or the name of one test. Default: all."] = None,
    ) -> ExperimentView:
        """The images with this number in every line of an experiment, or of one part of it."""
        found = self._experiment(split)
        parts = tuple(self._part(found, name, number) for name in _chosen(found, part))
        return ExperimentView(found.name, found.title, number, found.classes, parts)

    def exams(self, splits: Splits = (), part: Annotated[str, "test."] = "test") -> Sequence[Exam]:
        """An exam for each test of these experiments: name the class of an image."""
        if part != "test":
            raise UserError("ConceptWorld's exams are its tests; leave part out")
        chosen = self._named(splits)
        self.need_room(chosen)
        return of_exam.exams(self.study, chosen)

    def gap(self, splits: Splits = (), part: str = "test") -> Gaps:
        """The compositionality gap of each test of these experiments."""
        return super().gap(splits, part)

    def score(self, solver: Any = None, splits: Splits = (), part: str = "test") -> Table:
        """The scores of solvers on each test of these experiments."""
        return super().score(solver, splits, part)

    def row_sets(self, splits: Splits = (), part: Annotated[str, "train or test."] = "test") -> Sequence[RowSet]:
        """The images of the tests of some experiments, or those that are trained on; by default of all experiments."""
        if part not in ("train", "test"):
            raise UserError(f"ConceptWorld has no part '{part}'; choose train or test")
        chosen = self._named(splits)
        self.need_room(chosen)
        found = [
            (name, f"{name}/{test}" if part == "test" else name, test)
            for name in chosen
            for test in (self.study.experiment(name).tests if part == "test" else ("train",))
        ]
        exams = {exam.name: exam for exam in self.exams(chosen)}
        return [
            RowSet(
                name,
                experiment,
                part,
                partial(self._row_pieces, experiment, test),
                self.asks,
                f"{experiment}/{test}",
                exams.get(name) or next(one for one in exams.values() if one.split == experiment),
            )
            for experiment, name, test in found
        ]

    def _row_pieces(self, experiment: str, test: str) -> Iterator[Piece]:
        """The images of a test; they are made class by class, so they are mixed before the first of them are taken."""
        made = examples(self.study, experiment, test)
        order = (self.study.key / "order" / experiment / test).rng().permutation(len(made.scene))
        columns = {name: getattr(made, name)[order] for name in ("concept", "target")}
        yield Piece(replace(made, scenes=made.scenes[order], **columns), order)

    def scales_for(self, rows: int) -> Iterable[str]:
        """The scales at which some test has so many images."""
        found = (self.study.library.experiments[name] for name in self.experiments)
        most = max(sum(line.count for line in lines) for one in found for lines in one.tests.values())
        return [name for name in ("demo", "laptop") if SHARES[name] * most >= rows]

    def drawing(self, kind: str, size: tuple[int, int] | None = None) -> Drawing:
        if kind != "images" or size is not None:
            raise UserError("ConceptWorld has images of its grid, and neither sounds nor other sizes; render images")
        grid = self.study.library.grid
        return Painted(grid.width, grid.height, grid.colors)

    def learners(self, exam: Exam) -> Mapping[str, Ideal]:
        """Strong, weak, and one weaker still that goes by membership alone."""
        return of_exam.learners(self.study, exam)

    def published(self, exam: Exam, metric: str) -> Mapping[str, Cell]:
        return macro(*exam.name.split("/"))

    def gap_note(self) -> str:
        missing = [text for name in self.experiments for text in self.study.shortfalls(name)] if self._made() else []
        return " ".join(["Expected accuracy.", *(f"{text}." for text in missing)])

    def _made(self) -> bool:
        return all(self.store.has(self.study.recipe(name)) for name in self.experiments)

    def _part(self, experiment: Experiment, part: str, number: int) -> PartView:
        lines = dict.fromkeys(parts_of(experiment)[part])
        return PartView(part, tuple(self._image(experiment, part, line, number) for line in lines))

    def _image(self, experiment: Experiment, part: str, line: Line, number: int) -> ImageView:
        table = self._rows(experiment, part, line)
        if not 0 <= number < len(table):
            where = f" of '{line.label}' in {part} of {experiment.name}"
            raise none_such("image", number, len(table), where)
        row = table.slice(number, 1)
        grid, image = self.study.library.grid, self.study.images(row)
        graph = graph_of(self.study.library, line.concept, _object(row.to_pylist()[0], grid.colors))
        said = (self._chances(experiment, image, learner) for learner in (strong, weak))
        return ImageView(line.concept, grid.width, grid.height, graph, line.label, line.where, *said)

    def _rows(self, experiment: Experiment, part: str, line: Line) -> pa.Table:
        """The samples of one line."""
        table = self.study.samples(experiment.name, part)
        said = (pc.equal(table[name], getattr(line, name)) for name in ("label", "concept", "where"))
        return table.filter(reduce(pc.and_, said))

    def _chances(self, experiment: Experiment, image: np.ndarray, learner: Learner) -> Chances:
        classes = self.study.classes(experiment.name)
        return dict(zip(classes.concepts, learner(classes, image)[0].tolist()))

    def make(  # type: ignore[override]
        self,
        out: str | Path | None = None,
        splits: Splits = (),
        *,
        sheets: Annotated[bool, "Also a PNG sheet of each experiment."] = False,
        tell: Tell = quiet,
    ) -> Path:
        """The images of all experiments as Parquet files, a folder for each."""
        chosen = [*map(self._experiment, self._named(splits))]

        def write(folder: Path) -> None:
            for one in chosen:
                (folder / one.name).mkdir(exist_ok=True)
                write_bytes(folder / one.name / "sheet.png", png(experiment_sheet(self._sheets(one, {}))))

        asked = {"splits": [one.name for one in chosen], "sheets": sheets, "concepts": self._digests(chosen)}
        artefacts = lambda: self.artefacts(splits)  # noqa: E731
        return self._make(out, asked, artefacts, None, None, None, "parquet", tell, also=write if sheets else None)

    def split_names(self) -> Sequence[str]:
        return self.experiments

    notes = ("Images stand class by class: shuffle them, or take rows (`recombine rows`), which are mixed.",)

    def _digests(self, experiments: Sequence[Experiment]) -> dict[str, str]:
        return {one.name: self.study.recipe(one.name).digest for one in experiments}

    def artefacts(self, splits: Splits = ()) -> dict[str, Path]:
        return {name: self.study.folder(name) for name in self._named(splits)}

    def chapters(self) -> Iterable[Chapter]:
        yield self.gap_chapter(self.gap())
        yield from self.world_chapters()
        yield Chapter("The learners", LEARNERS)
        chosen = [self._experiment(name) for name in self.experiments]
        counts = self._counts(chosen)
        for one in chosen:
            yield experiment_chapter(ExperimentSheets(one, self._sheets(one, counts), self.show(one.name)))
        grid = self.study.library.grid
        more = [("grid", f"{grid.width} by {grid.height}"), ("colours", ", ".join(grid.colors))]
        yield Chapter("Settings", (self.settings_table(more),))

    def _counts(self, experiments: Sequence[Experiment]) -> Counts:
        """How many images every line has."""
        lines = [line for one in experiments for lines in parts_of(one).values() for line in lines]
        asked = list(dict.fromkeys((line.concept, line.where) for line in lines))
        return dict(zip(asked, InProcess(self.progress).map(self._count, asked, "counts")))

    def _count(self, said: tuple[str, str]) -> Count:
        concept, where = said
        return extension_of(self.study.library, Line("", 1, concept, where)).count(self.study.key / "count" / concept)

    def _sheets(self, experiment: Experiment, counts: Counts) -> dict[str, tuple[LineSheet, ...]]:
        return {
            part: tuple(self._sheet(experiment, part, line, counts) for line in dict.fromkeys(lines))
            for part, lines in parts_of(experiment).items()
        }

    def _sheet(self, experiment: Experiment, part: str, line: Line, counts: Counts) -> LineSheet:
        images = self.study.images(self._rows(experiment, part, line).slice(0, SHOWN))
        pixels = paint(images, self.study.library.grid.colors)
        return LineSheet(line, pixels, counts.get((line.concept, line.where)))

    def speeds(self) -> Iterator[Speed]:
        """What a verified image of each class costs, and its recognition, beside the plain prover."""
        return speeds(self.study)

    def check(self, *, concepts: Annotated[Path | None, "A .concepts file to check."] = None) -> tuple[Table, bool]:
        """Every law on fresh images and derivations; or a file of concepts too."""
        own = [] if concepts is None else [(text, "holds") for text in checked(concepts)]
        table, _ = super().check()
        return self._verdicts([*((str(a), str(b)) for a, b in table.rows), *own])

    def _experiment(self, name: str) -> Experiment:
        """By its name, or the first one of a file of a split."""
        if is_file(name):
            return self.study.experiment(self._made_of(name)[0])
        if name not in (*self.experiments, *self.study.made):
            raise UserError(f"there is no experiment '{name}'; choose one of {', '.join(self.experiments)}")
        return self.study.experiment(name)

    def _named(self, splits: Splits) -> Sequence[str]:
        """The experiments of these names and of these files of splits; by default the benchmark's own."""
        found = (self._made_of(name) if is_file(name) else [self._experiment(name).name] for name in splits)
        return [name for names in found for name in names] if splits else self.experiments

    def _made_of(self, file: str) -> Sequence[str]:
        """The experiments of a split that was written, which are known by their names from now on."""
        return known_by(self.study, self._divided, self.split_of(file), file)

    @cached_property
    def _divided(self) -> Sequence[Divided]:
        return to_divide(self.study.library, self.experiments)

    def atom(self, symbol: Symbol) -> str | None:
        return atom(symbol)

    def dealt(self, name: str, how: str, share: float, divergence: float | None, atoms: float) -> MadeSplit:
        return deal(self._divided, how, name, Key(self.seed) / "split" / how, share, divergence, atoms)

    def need_room(self, splits: Splits = ()) -> None:
        names = [self._experiment(name).name for name in self._named(splits)]
        self.store.need(self.study.size_estimate(names))


def parts_of(experiment: Experiment) -> dict[str, tuple[Line, ...]]:
    """The lines of every part: `train`, and each test."""
    return {"train": experiment.train, **experiment.tests}


def _chosen(experiment: Experiment, part: str | None) -> Sequence[str]:
    known = tuple(parts_of(experiment))
    if part not in (None, "test", *known):
        raise UserError(f"experiment '{experiment.name}' has no part '{part}'; choose one of {', '.join(known)}")
    if part in known:
        return (part,)
    return known if part is None else known[1:]


def _lines_in_words(lines: Sequence[Line]) -> str:
    """The images of each class.

    >>> _lines_in_words([Line("red", 80, "a"), Line("mixed", 160, "c"), Line("red", 80, "b")])
    'red 160, mixed 160'
    """
    classes: dict[str, int] = {}
    for line in lines:
        classes[line.label] = classes.get(line.label, 0) + line.count
    return ", ".join(f"{label} {images:,}" for label, images in classes.items())


def _object(row: Mapping[str, Any], colors: Sequence[str]) -> Object:
    """The object of a sample: its points, put together as the nested lists of their numbers say."""
    points = [Point(x, y, colors[color]) for x, y, color in zip(row["x"], row["y"], row["color"])]

    def build(structure: Any) -> Object:
        return points[structure] if isinstance(structure, int) else tuple(map(build, structure))

    return build(json.loads(row["object"]))
