"""ConceptWorld from a library of concepts to the samples of its experiments and their gaps."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.definition import Experiment, Library, Line
from recombine.benchmarks.concept_world.formula import write
from recombine.benchmarks.concept_world.learners import Learner, by_membership, strong, weak
from recombine.benchmarks.concept_world.reader import load_library
from recombine.benchmarks.concept_world.samples import Sample, parts
from recombine.language.expr import Expr
from recombine.metrics.gap import Gap, gap
from recombine.render.grid import paint
from recombine.render.png import png
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table, write_table

VERSION = 2
SHARES = {"demo": 0.1, "laptop": 1.0, "paper": 1.0}
"""How much of the printed counts a scale makes."""


class ConceptWorldPipeline:
    """The experiments of a library, at one scale and seed."""

    def __init__(
        self, scale: str, seed: int, store: Store, library: Library | None = None, progress: Progress = silent
    ) -> None:
        if scale not in SHARES:
            raise UserError(f"there is no scale '{scale}'; choose one of {', '.join(SHARES)}")
        self.scale, self.seed, self.store, self.progress = scale, seed, store, progress
        self.library = library or load_library()
        self._classes: dict[str, Classes] = {}
        self.made: dict[str, Experiment] = {}
        """Experiments of splits that were read from files."""

    @property
    def key(self) -> Key:
        return Key(self.seed) / "concept-world"

    def experiment(self, name: str) -> Experiment:
        """The experiment with the counts of this scale."""
        known = {**self.library.experiments, **self.made}
        if name not in known:
            raise UserError(f"there is no experiment '{name}'; choose one of {', '.join(known)}")
        share = SHARES[self.scale]
        found = known[name]
        tests = {test: tuple(_less(line, share) for line in lines) for test, lines in found.tests.items()}
        return replace(found, train=tuple(_less(line, share) for line in found.train), tests=tests)

    def classes(self, name: str) -> Classes:
        if name not in self._classes:
            self._classes[name] = Classes(self.library, self.experiment(name))
        return self._classes[name]

    def recipe(self, name: str) -> Recipe:
        """All that decides the samples of an experiment: its lines, the definitions they use, the grid, the seed."""
        experiment, grid = self.experiment(name), self.library.grid
        lines = {"train": experiment.train, **experiment.tests}
        parameters = {
            "experiment": {part: [_plain(line) for line in rows] for part, rows in lines.items()},
            "definitions": {d: _text(self.library, d) for d in sorted(self._used(experiment))},
            "grid": [grid.width, grid.height, *grid.colors],
            "seed": self.seed,
        }
        return Recipe("concept-world-samples", VERSION, parameters, {})

    def _used(self, experiment: Experiment) -> set[str]:
        """The definitions that an experiment rests on."""
        todo = [line.concept for lines in (experiment.train, *experiment.tests.values()) for line in lines]
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += _called(self.library.definitions[name].body)
        return found

    def size_estimate(self, names: Iterable[str]) -> int:
        """Bytes of the samples of experiments that are still to be written, roughly."""
        grid, missing = self.library.grid, [name for name in names if not self.store.has(self.recipe(name))]
        lines = [
            line
            for name in missing
            for part in (self.experiment(name).train, *self.experiment(name).tests.values())
            for line in part
        ]
        return sum(line.count for line in lines) * (grid.width * grid.height + 1_000)

    def folder(self, name: str) -> Path:
        """The samples of an experiment, one Parquet file for training and one for each test."""
        recipe = self.recipe(name)

        def make(draft: Path) -> None:
            for part, samples in parts(self.classes(name), self.key / name, self.progress).items():
                write_table(draft / f"{part}.parquet", self._table(samples), recipe)

        return self.store.get(recipe, make)

    def _table(self, samples: list[Sample]) -> pa.Table:
        """A row for each image: the picture, its class, its points, and how they make the concept."""
        images = np.concatenate([sample.images for sample in samples])
        pictures = [{"bytes": png(picture), "path": None} for picture in paint(images, self.library.grid.colors)]
        return pa.table(
            {
                "image": pa.array(pictures, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
                "label": pa.array([sample.line.label for sample in samples for _ in sample.images]),
                "codes": pa.array([image.tobytes() for image in images], pa.binary()),
                "concept": pa.array([sample.line.concept for sample in samples for _ in sample.images]),
                "where": pa.array([sample.line.where for sample in samples for _ in sample.images]),
                "derivation": pa.array([text for sample in samples for text in sample.derivations()]),
                "object": pa.array([text for sample in samples for text in sample.objects()]),
                **{name: _points(samples, name) for name in ("x", "y", "color")},
            }
        )

    def samples(self, name: str, part: str) -> pa.Table:
        """The samples of one part of an experiment."""
        known = ("train", *self.experiment(name).tests)
        if part not in known:
            raise UserError(f"experiment '{name}' has no part '{part}'; choose one of {', '.join(known)}")
        return read_table(self.folder(name) / f"{part}.parquet")

    def images(self, table: pa.Table) -> np.ndarray:
        """The colour codes of samples, uint8[n, height, width]."""
        grid = self.library.grid
        flat = np.frombuffer(b"".join(table["codes"].to_pylist()), np.uint8)
        return flat.reshape(len(table), grid.height, grid.width)

    def shortfalls(self, name: str) -> list[str]:
        """Where an experiment asks for more images than there are, in words."""
        found = []
        experiment = self.experiment(name)
        for part, lines in {"train": experiment.train, **experiment.tests}.items():
            table = self.samples(name, part)
            made = _counts(table["label"].to_pylist())
            asked = _counts([line.label for line in lines for _ in range(line.count)])
            found += [
                f"{name}, {part}: {wanted:,} images of '{label}' were asked for, only {made.get(label, 0):,} were found"
                for label, wanted in asked.items()
                if made.get(label, 0) < wanted
            ]
        return found

    def scores(self, name: str, part: str, learner: Learner) -> np.ndarray:
        """The probability that a learner gives to the right class of each image, float[n]."""
        table, classes = self.samples(name, part), self.classes(name)
        chances = learner(classes, self.images(table))
        numbers = {label: i for i, label in enumerate(classes.concepts)}
        target = np.array([numbers[label] for label in table["label"].to_pylist()])
        return chances[np.arange(len(target)), target]

    def gap(self, name: str, part: str) -> Gap:
        """Strong minus weak learner on one test, by the probability of the right class."""
        good, poor = (self.scores(name, part, learner) for learner in (strong, weak))
        return gap(f"{name}/{part}", "accuracy", good, poor, len(good), self.key / "bootstrap" / name / part)

    def membership(self, name: str, part: str) -> float:
        """The percentage that the learner gets right that guesses wherever it has not seen the image whole."""
        return 100 * float(self.scores(name, part, by_membership).mean())


def _less(line: Line, share: float) -> Line:
    return replace(line, count=max(1, round(line.count * share)))


def _plain(line: Line) -> list[str | int]:
    return [line.label, line.count, line.concept, line.where]


def _text(library: Library, name: str) -> str:
    definition = library.definitions[name]
    return f"{name}({', '.join(definition.parameters)}): {write(definition.body)}"


def _called(term: Expr) -> list[str]:
    """The definitions that a formula names."""
    found, todo = [], [term]
    while todo:
        term = todo.pop()
        if term.head.family == "call":
            found.append(term.head.index[0])
        todo += term.args
    return found


def _points(samples: list[Sample], name: str) -> pa.Array:
    """One column of the points of all samples, without the places where there is no point."""
    rows = []
    for sample in samples:
        there = sample.drawn.color != 255
        column = getattr(sample.drawn, name)
        rows += [column[i][there[i]].tolist() for i in range(sample.drawn.size)]
    return pa.array(rows, pa.list_(pa.uint16()))


def _counts(labels: list[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for label in labels:
        found[label] = found.get(label, 0) + 1
    return found
