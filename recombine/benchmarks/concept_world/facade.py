"""What one can do with ConceptWorld's experiments; concepts alone are drawn by `drawing`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.concept_image import Chances, ImageView, graph_of
from recombine.benchmarks.concept_world.definition import Experiment, Line, Object, Point
from recombine.benchmarks.concept_world.drawing import Concepts, library_of
from recombine.benchmarks.concept_world.extension import Count
from recombine.benchmarks.concept_world.learners import Learner, strong, weak
from recombine.benchmarks.concept_world.pages import (
    ConceptWorldGaps,
    ExperimentSheets,
    ExperimentView,
    LineSheet,
    PartView,
    Trial,
    experiment_page,
    experiment_sheet,
    html_report,
    markdown_report,
    settings_table,
)
from recombine.benchmarks.concept_world.speed import speeds
from recombine.benchmarks.concept_world.study import ConceptWorldStudy
from recombine.metrics.speed import Speed
from recombine.render.grid import paint
from recombine.render.png import png
from recombine.report.table import Column, Table
from recombine.store.engine import InProcess, Progress, silent
from recombine.store.errors import UserError
from recombine.store.outputs import export, free_file, free_folder, positive
from recombine.store.store import Store, write_atomically

Counts = dict[tuple[str, str], Count]
"""How many images a concept has, where its derivations satisfy a condition."""
SHOWN = 8
"""Images of a line that a sheet shows."""


class ConceptWorld:
    """ConceptWorld's experiments at one scale and seed.

    `concepts` is a .concepts file of your own: its experiments are listed, made and measured in place of the four that
    come with the package. The images of an experiment depend on one another, for none may occur twice: they are made in
    this process, whatever the number of workers.
    """

    def __init__(
        self,
        scale: str = "demo",
        seed: int = 0,
        *,
        workers: int = 1,
        store: Store | None = None,
        progress: Progress = silent,
        concepts: Concepts = None,
    ) -> None:
        positive(workers=workers)
        library = library_of(concepts)
        self.progress = progress
        self.study = ConceptWorldStudy(scale, seed, store or Store.default(), library, progress)
        own = [name for name in library.experiments if name not in library_of(None).experiments]
        if concepts is not None and not own:
            raise UserError(f"{concepts} defines no experiment; add one, or draw its concepts: recombine draw")
        self.experiments = tuple(own or library.experiments)

    def close(self) -> None:
        """There is nothing to end."""

    def __enter__(self) -> "ConceptWorld":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

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

    def show(self, experiment: str, number: int = 0, part: str | None = None) -> ExperimentView:
        """The images with this number in every line of an experiment, or of one part of it."""
        found = self._experiment(experiment)
        parts = tuple(self._part(found, name, number) for name in _chosen(found, part))
        return ExperimentView(found.name, found.title, number, found.classes, parts)

    def _part(self, experiment: Experiment, part: str, number: int) -> PartView:
        lines = dict.fromkeys(parts_of(experiment)[part])
        return PartView(part, tuple(self._image(experiment, part, line, number) for line in lines))

    def _image(self, experiment: Experiment, part: str, line: Line, number: int) -> ImageView:
        table = self._rows(experiment, part, line)
        if not 0 <= number < len(table):
            raise UserError(
                f"there is no image {number} of '{line.label}' in {part} of {experiment.name}; "
                f"choose one from 0 to {len(table) - 1}"
            )
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

    def make(self, out: str | Path | None = None, splits: Sequence[str] = (), sheets: bool = False) -> Path:
        """The images of all experiments as Parquet files, a folder for each; with `sheets` also a PNG of some."""
        free_folder(out)
        chosen = [self._experiment(name) for name in splits or self.experiments]
        self._room(chosen)
        folders = {experiment.name: self.study.folder(experiment.name) for experiment in chosen}
        if out is None:
            return self.study.store.home
        pages = {one.name: png(experiment_sheet(self._sheets(one, {}))) for one in chosen} if sheets else {}
        export(folders, Path(out))
        for name, page in pages.items():
            (Path(out) / name / "sheet.png").write_bytes(page)
        return Path(out)

    def gap(self, experiments: Sequence[str] = ()) -> ConceptWorldGaps:
        """Strong minus weak learner on every test."""
        chosen = [self._experiment(name) for name in experiments or self.experiments]
        self._room(chosen)
        for experiment in chosen:
            self.study.folder(experiment.name)
        asked = [(experiment.name, test) for experiment in chosen for test in experiment.tests]
        found = InProcess(self.progress).map(lambda test: self._tested(*test), asked, "tests")
        missing = tuple(text for experiment in chosen for text in self.study.shortfalls(experiment.name))
        return ConceptWorldGaps(self.study.scale, self.study.seed, tuple(found), missing)

    def _tested(self, experiment: str, test: str) -> Trial:
        found = self.study.gap(experiment, test)
        return Trial(experiment, test, found, self.study.membership(experiment, test))

    def report(self, out: str | Path) -> Path:
        """The gaps, images of every line and their numbers as a page (.html), or as Markdown with pictures (.md)."""
        out = free_file(out, (".html", ".md"))
        gaps = self.gap()
        chosen = [self._experiment(name) for name in self.experiments]
        counts = self._counts(chosen)
        sheets = [ExperimentSheets(one, self._sheets(one, counts), self.show(one.name)) for one in chosen]
        settings = settings_table(self.study.scale, self.study.seed, self.study.library.grid)
        if out.suffix == ".md":
            markdown_report(gaps, sheets, settings, out)
            return out
        text = html_report(gaps, sheets, settings)
        write_atomically(out, lambda draft: draft.write_text(text, encoding="utf-8"))
        return out

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

    def _experiment(self, name: str) -> Experiment:
        if name not in self.experiments:
            raise UserError(f"there is no experiment '{name}'; choose one of {', '.join(self.experiments)}")
        return self.study.experiment(name)

    def _room(self, experiments: Sequence[Experiment]) -> None:
        """Refuse before anything is written if the disk is too small."""
        grid = self.study.library.grid
        for one in experiments:
            images = sum(line.count for lines in parts_of(one).values() for line in lines)
            self.study.store.need(images * (grid.width * grid.height + 1_000))


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


def write_experiment(view: ExperimentView, out: Path) -> Path:
    """The images of an experiment as a self-contained page."""
    out = free_file(out, (".html",))
    write_atomically(out, lambda draft: draft.write_text(experiment_page(view), encoding="utf-8"))
    return out
